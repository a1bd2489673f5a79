#pragma once
#include <stddef.h>

/// Starts counting this thread's calls of malloc and related functions.
void malloc_probe_arm(void);
/// Stops, and returns the number of calls since `malloc_probe_arm`.
long malloc_probe_disarm(void);
/// Allocates and frees memory in C, where Swift's optimiser cannot remove the calls; shows that the probe works.
void malloc_probe_touch(size_t bytes);
