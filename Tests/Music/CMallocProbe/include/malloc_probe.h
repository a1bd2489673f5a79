#pragma once
#include <stddef.h>

/// Starts counting this thread's calls of malloc and its kin.
void malloc_probe_arm(void);
/// Stops, and gives the calls since `malloc_probe_arm`.
long malloc_probe_disarm(void);
/// Allocates and frees, in C, so that no optimiser removes it: proves that the probe is live.
void malloc_probe_touch(size_t bytes);
