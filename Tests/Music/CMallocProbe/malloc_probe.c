// Replaces the allocator of the test executable: passes each call on to glibc, and counts the calls of a thread that has armed the probe.
#include "malloc_probe.h"

#include <errno.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static _Thread_local int armed;
static _Thread_local long calls;

static void count(void) {
  if (armed) calls++;
}

void *malloc(size_t n) {
  count();
  return __libc_malloc(n);
}

void *calloc(size_t n, size_t size) {
  count();
  return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n) {
  count();
  return __libc_realloc(p, n);
}

void *memalign(size_t alignment, size_t n) {
  count();
  return __libc_memalign(alignment, n);
}

void *aligned_alloc(size_t alignment, size_t n) {
  count();
  return __libc_memalign(alignment, n);
}

int posix_memalign(void **out, size_t alignment, size_t n) {
  count();
  void *p = __libc_memalign(alignment, n);
  if (!p) return ENOMEM;
  *out = p;
  return 0;
}

void free(void *p) {
  count();
  __libc_free(p);
}

void malloc_probe_arm(void) {
  calls = 0;
  armed = 1;
}

long malloc_probe_disarm(void) {
  armed = 0;
  return calls;
}

void malloc_probe_touch(size_t bytes) {
  void *volatile p = malloc(bytes);
  free(p);
}
