#include "realtime_probe.h"

#include <stdlib.h>

// Weak symbols, defined only if linked with -fsanitize=realtime.
__attribute__((weak)) void __rtsan_realtime_enter(void);
__attribute__((weak)) void __rtsan_realtime_exit(void);

int realtime_probe_is_live(void) { return __rtsan_realtime_enter != 0; }

void realtime_probe_enter(void) {
  if (__rtsan_realtime_enter) __rtsan_realtime_enter();
}

void realtime_probe_exit(void) {
  if (__rtsan_realtime_exit) __rtsan_realtime_exit();
}

void realtime_probe_violate(void) {
  void *volatile p = malloc(64);
  free(p);
}
