/* The energy table beside an architecture. */
#ifndef SX_INPUT_ERT_BESIDE_H
#define SX_INPUT_ERT_BESIDE_H

#include "sextant/input.h"

/* The path of the energy table for the architecture of an input, which has one, in the folder of its file:
 * NAME.ert.yaml where that is NAME.yaml or NAME.something.yaml, else the only one of ERT.yaml, ert.yaml
 * and timeloop-*.ERT.yaml that fits. A table fits if it leaves no energy to a formula. *n is how
 * many fit; *out is NULL unless one does, and freed with free(). */
SX_MUST_USE sx_status sx_ert_beside(const sx_input *input, size_t *n, SX_OWN char **out);

#endif
