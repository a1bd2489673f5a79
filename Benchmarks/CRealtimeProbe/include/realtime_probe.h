#pragma once

/// Whether RealtimeSanitizer is linked in.
int realtime_probe_is_live(void);
/// Mark the begin and the end of a section that must be real-time safe. They have no effect without the sanitizer.
void realtime_probe_enter(void);
void realtime_probe_exit(void);
/// Allocates memory, which makes the sanitizer end the program.
void realtime_probe_violate(void);
