#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Orphans among our descendants become our children, not init's; 0, or -1 with errno. */
static inline int alina_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L); }

/* The processor that runs us. */
static inline int alina_current_core(void) {
  unsigned core = 0;
  return syscall(SYS_getcpu, &core, (void *)0, (void *)0) == 0 ? (int)core : -1;
}

/* Whether a thread (0 is ours) may run on a processor, 0-1023. */
static inline int alina_may_run_on(int thread, int core) {
  unsigned long mask[1024 / (8 * sizeof(long))] = {0};
  if (core < 0 || core > 1023 || syscall(SYS_sched_getaffinity, thread, sizeof mask, mask) < 0) return 0;
  return (int)(mask[core / (8 * sizeof(long))] >> core % (8 * sizeof(long)) & 1);
}

/* Keeps a thread (0 is ours) on one processor, 0-1023. */
static inline int alina_stay_on(int thread, int core) {
  unsigned long mask[1024 / (8 * sizeof(long))] = {0};
  if (core < 0 || core > 1023) return -1;
  mask[core / (8 * sizeof(long))] = 1ul << core % (8 * sizeof(long));
  return (int)syscall(SYS_sched_setaffinity, thread, sizeof mask, mask);
}
