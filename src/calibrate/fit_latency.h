/* Fitting keys of latency to measured cycles of mappings. */
#ifndef SX_CALIBRATE_FIT_LATENCY_H
#define SX_CALIBRATE_FIT_LATENCY_H

#include "calibrate/fit.h"
#include "calibrate/measured.h"

/* Adds a key by its name, such as "start" or "caches.1.miss"; an error where no law has it. */
SX_MUST_USE sx_status sx_fit_free_key(sx_fit *fit, const sx_arch *arch, const char *name);

/* Fits the keys to the rows. *arch gets the fitted values. folds and samples may be 0. */
SX_MUST_USE sx_status sx_fit_keys(sx_fit *fit, const sx_measurements *rows, sx_arch *arch, unsigned folds,
                                  unsigned samples, uint64_t seed);

#endif
