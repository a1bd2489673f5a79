#include <sndfile.h>

/* Clips samples beyond full scale instead of letting them wrap around. */
static inline void alina_sf_set_clipping(SNDFILE *file) { sf_command(file, SFC_SET_CLIPPING, 0, SF_TRUE); }
