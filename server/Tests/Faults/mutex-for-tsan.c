// Reports the contended locks of a Swift Mutex to ThreadSanitizer; preloaded (LD_PRELOAD) into programs built with the sanitizer.
//
// The slow path of a Mutex, for a lock that another thread holds, is in libswiftSynchronization, which the sanitizer does not see. Without
// these reports it would take the accesses that a slow lock protects for races.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

typedef SWIFT void (*Lock)(uint32_t, SELF void *);
typedef SWIFT void (*Unlock)(SELF void *);
typedef void (*Tell)(void *);

SWIFT void lockSlow(uint32_t thread, SELF void *mutex) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void unlockSlow(SELF void *mutex) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

static void tell(const char *what, void *mutex) {
  Tell function = (Tell)dlsym(RTLD_DEFAULT, what);
  if (function) function(mutex);
}

SWIFT void lockSlow(uint32_t thread, SELF void *mutex) {
  Lock real = (Lock)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
  real(thread, mutex);
  tell("__tsan_acquire", mutex);
}

SWIFT void unlockSlow(SELF void *mutex) {
  Unlock real = (Unlock)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
  tell("__tsan_release", mutex);
  real(mutex);
}
