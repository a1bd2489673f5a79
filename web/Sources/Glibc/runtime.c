// Functions that Embedded Swift requires beyond wasi-libc.
#include "shim.h"
#include <stdint.h>

double strtod(const char *, char **);

// For the standard library's `Double(_:)`: returns the end of the parsed text, or NULL.
const char *_swift_stdlib_strtod_clocale(const char *text, double *result) {
  char *end;
  *result = strtod(text, &end);
  return end == text ? (const char *)0 : end;
}

int getentropy(void *, size_t);

// For Swift's random numbers and hash seeds. The sound module uses none and cannot call the browser's generator.
void arc4random_buf(void *buffer, size_t count) {
  static uint64_t state = 0x9E3779B97F4A7C15u;
  // `getentropy` gives at most 256 bytes.
  if (count <= 256 && getentropy(buffer, count) == 0) return;
  for (size_t i = 0; i < count; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    ((uint8_t *)buffer)[i] = (uint8_t)(state >> 56);
  }
}

// `print` writes by this function; the page has no standard output.
int putchar(int c) { return c; }
