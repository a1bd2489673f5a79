/* Stands for the ALSA sequencer in a program under test: appends what is sent to the file SEQUENCER, one message a line. */
#include <alsa/asoundlib.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int file = -1;

int snd_seq_open(snd_seq_t **sequencer, const char *name, int streams, int mode) {
  (void)name, (void)streams, (void)mode;
  file = open(getenv("SEQUENCER"), O_WRONLY | O_CREAT | O_APPEND, 0644);
  *sequencer = (snd_seq_t *)&file;
  return file < 0 ? -1 : 0;
}

int snd_seq_close(snd_seq_t *sequencer) {
  (void)sequencer;
  return close(file);
}

int snd_seq_set_client_name(snd_seq_t *sequencer, const char *name) {
  (void)sequencer, (void)name;
  return 0;
}

int snd_seq_create_simple_port(snd_seq_t *sequencer, const char *name, unsigned caps, unsigned type) {
  (void)sequencer, (void)name, (void)caps, (void)type;
  return 0;
}

int snd_seq_query_next_client(snd_seq_t *sequencer, snd_seq_client_info_t *information) {
  (void)sequencer, (void)information;
  return -1;
}

int snd_seq_event_output_direct(snd_seq_t *sequencer, snd_seq_event_t *event) {
  (void)sequencer;
  int note = event->type == SND_SEQ_EVENT_NOTEON || event->type == SND_SEQ_EVENT_NOTEOFF;
  if (note)
    dprintf(file, "note %d %d %d\n", event->data.note.channel, event->data.note.note,
            event->type == SND_SEQ_EVENT_NOTEON ? event->data.note.velocity : 0);
  else if (event->type == SND_SEQ_EVENT_CONTROLLER)
    dprintf(file, "control %d %u %d\n", event->data.control.channel, event->data.control.param, event->data.control.value);
  return 0;
}
