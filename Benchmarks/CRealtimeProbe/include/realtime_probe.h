#pragma once

/// Whether RealtimeSanitizer is linked in.
int realtime_probe_is_live(void);
/// Begins and ends what must be real-time safe; nothing without the sanitizer.
void realtime_probe_enter(void);
void realtime_probe_exit(void);
/// Allocates: the sanitizer ends the program if it works.
void realtime_probe_violate(void);
