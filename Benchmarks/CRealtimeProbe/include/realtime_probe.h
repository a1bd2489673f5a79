#pragma once

/// Whether RealtimeSanitizer is linked in.
int realtime_probe_is_live(void);
/// Begin and end a section that must be real-time safe; no effect without the sanitizer.
void realtime_probe_enter(void);
void realtime_probe_exit(void);
/// Allocates memory, upon which a working sanitizer ends the program.
void realtime_probe_violate(void);
