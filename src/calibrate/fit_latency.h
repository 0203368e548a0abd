/* Fitting keys of an architecture to measured cycles or energies of mappings. */
#ifndef SX_CALIBRATE_FIT_LATENCY_H
#define SX_CALIBRATE_FIT_LATENCY_H

#include "calibrate/fit.h"
#include "calibrate/measured.h"

/* Adds a key by its name: of a law, such as "start" or "caches.1.miss", or of a level or the compute unit, such as
 * "DRAM.shared_bandwidth", "GLB.read_energy" or "MAC.energy"; an error where there is none with a value. */
SX_MUST_USE sx_status sx_fit_free_key(sx_fit *fit, const sx_arch *arch, const char *name);

/* Whether the keys are energies, so that measured energies are fitted, or times; an error where there are both. */
SX_MUST_USE sx_status sx_fit_of_energies(const sx_fit *fit, bool *energies);

/* What was measured of a row: its energy in pJ or its cycles; 0 where it was not. */
static inline double sx_measured_value(const sx_measured *row, bool energies) {
    return energies ? row->energy_pj : row->cycles;
}

/* Fits the keys to the rows, which all have what is fitted. *arch gets the fitted values. folds and samples may be 0. */
SX_MUST_USE sx_status sx_fit_keys(sx_fit *fit, const sx_measurements *rows, sx_arch *arch, unsigned folds,
                                  unsigned samples, uint64_t seed);

#endif
