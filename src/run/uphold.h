/* Bounds against answers: the check that every result with a lower bound goes through. */
#ifndef SX_RUN_UPHOLD_H
#define SX_RUN_UPHOLD_H

#include "sextant/warnings.h"

#include <stdbool.h>

/* Checks a lower bound against the value of an answer in the space that it bounds; 0 is no bound. A bound that is above
 * the value by rounding becomes the value. One that is further above is false: it becomes 0, *optimal becomes false, the
 * warnings (which may be NULL) have an internal error about `of`, and the result is false. */
bool sx_uphold_bound(sx_warnings *warnings, const char *of, double value, double *bound, bool *optimal);

/* Whether some bound was withdrawn: what rests on several is not proven then. */
bool sx_bounds_withdrawn(const sx_warnings *warnings);

#endif
