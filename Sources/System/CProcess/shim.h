#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The system's headers declare these functions only with _GNU_SOURCE, which Swift does not define. */
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);

/* Makes orphaned descendants children of this process instead of init; returns 0, or -1 with errno. */
static inline int alina_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L); }

/* Makes a pipe that child processes do not inherit; returns 0, or -1 with errno. */
static inline int alina_pipe(int *ends) { return (int)syscall(SYS_pipe2, ends, O_CLOEXEC); }

/* Returns the processor that runs this thread. */
static inline int alina_current_core(void) {
  unsigned core = 0;
  return syscall(SYS_getcpu, &core, (void *)0, (void *)0) == 0 ? (int)core : -1;
}

/* Returns whether a thread (0: this one) may run on a processor, 0-1023. */
static inline int alina_may_run_on(int thread, int core) {
  unsigned long mask[1024 / (8 * sizeof(long))] = {0};
  if (core < 0 || core > 1023 || syscall(SYS_sched_getaffinity, thread, sizeof mask, mask) < 0) return 0;
  return (int)(mask[core / (8 * sizeof(long))] >> core % (8 * sizeof(long)) & 1);
}

/* Binds a thread (0: this one) to a processor, 0-1023. */
static inline int alina_stay_on(int thread, int core) {
  unsigned long mask[1024 / (8 * sizeof(long))] = {0};
  if (core < 0 || core > 1023) return -1;
  mask[core / (8 * sizeof(long))] = 1ul << core % (8 * sizeof(long));
  return (int)syscall(SYS_sched_setaffinity, thread, sizeof mask, mask);
}

/* Lets a thread run on the processors on which another thread may run. */
static inline int alina_run_as(int thread, int other) {
  unsigned long mask[1024 / (8 * sizeof(long))] = {0};
  if (syscall(SYS_sched_getaffinity, other, sizeof mask, mask) < 0) return -1;
  return (int)syscall(SYS_sched_setaffinity, thread, sizeof mask, mask);
}

/* Compresses blocks of 64 bytes into a SHA-256 state with the processor's SHA instructions; returns 0 if the processor has none. */
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

static const unsigned alina_sha256_constants[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__attribute__((target("sha,sse4.1"))) static inline void alina_sha256_blocks(void *state, const void *bytes, long count) {
  const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0bll, 0x0405060700010203ll);
  const __m128i *in = (const __m128i *)bytes, *k = (const __m128i *)alina_sha256_constants;
  /* The instructions need the words in the order ABEF and CDGH. */
  __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((__m128i *)state), 0xB1);
  __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((__m128i *)state + 1), 0x1B);
  __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xF0);
  for (; count > 0; count--, in += 4) {
    const __m128i abef0 = abef, cdgh0 = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; i++) w[i] = _mm_shuffle_epi8(_mm_loadu_si128(in + i), order);
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i++) {
      __m128i sum = _mm_add_epi32(w[i & 3], _mm_load_si128(k + i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
      if (i < 12) {
        __m128i next = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);
        next = _mm_add_epi32(next, _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
        w[i & 3] = _mm_sha256msg2_epu32(next, w[(i + 3) & 3]);
      }
    }
    abef = _mm_add_epi32(abef, abef0), cdgh = _mm_add_epi32(cdgh, cdgh0);
  }
  low = _mm_shuffle_epi32(abef, 0x1B), high = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(low, high, 0xF0));
  _mm_storeu_si128((__m128i *)state + 1, _mm_alignr_epi8(high, low, 8));
}

static inline int alina_sha256(void *state, const void *bytes, long count) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b >> 29 & 1)) return 0;
  alina_sha256_blocks(state, bytes, count);
  return 1;
}
#else
static inline int alina_sha256(void *state, const void *bytes, long count) { return 0; }
#endif
