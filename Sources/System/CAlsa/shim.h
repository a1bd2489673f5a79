#include <alsa/asoundlib.h>

/* Sends an event at once from a port to its subscribers. */
static inline int alina_seq_send(snd_seq_t *sequencer, int port, snd_seq_event_t *event) {
  snd_seq_ev_set_source(event, port);
  snd_seq_ev_set_subs(event);
  snd_seq_ev_set_direct(event);
  return snd_seq_event_output_direct(sequencer, event);
}

static inline void alina_alsa_say_nothing(const char *file, int line, const char *function, int error, const char *format, ...) {
  (void)file, (void)line, (void)function, (void)error, (void)format;
}

/* Keeps the library from printing errors, which its callers report. */
static inline void alina_alsa_silence(void) { snd_lib_error_set_handler(alina_alsa_say_nothing); }
