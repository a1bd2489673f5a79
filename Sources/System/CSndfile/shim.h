#include <sndfile.h>

/* Samples beyond full scale clip instead of wrapping round. */
static inline void alina_sf_set_clipping(SNDFILE *file) { sf_command(file, SFC_SET_CLIPPING, 0, SF_TRUE); }
