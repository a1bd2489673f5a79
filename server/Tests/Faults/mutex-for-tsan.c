// Tells ThreadSanitizer of Swift's Mutex, for LD_PRELOAD under what was built with it.
//
// The quick way into and out of a Mutex is compiled into our code, where the sanitizer sees it; the slow one, taken when
// another thread has the lock, is in libswiftSynchronization, where it does not: it would report every lock that was
// waited for. These two stand before the library's and name the order that the futex makes.
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
