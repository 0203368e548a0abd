/* Rules for the latency of the tile pipeline (docs/proof.md): of one mapping, and of all tiles that the outermost level may
 * launch. */
#ifndef SX_CHECK_LATENCY_H
#define SX_CHECK_LATENCY_H

#include "check/space.h"
#include "sextant/independent.h"

/* Decides the claim of a certificate about latency: sets the verdict, and what was shown. */
void sx_check_latency(const sx_check_space *space, sx_independent_report *out, sx_check_doubt *doubt);

#endif
