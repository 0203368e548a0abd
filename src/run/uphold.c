#include "run/uphold.h"

#include "base/warnings.h"

#include <math.h>

/* The share by which a bound may be above a value that it bounds: both are sums of doubles, in different orders. */
static const double ROUNDING = 1e-9;

bool sx_uphold_bound(sx_warnings *warnings, const char *of, double value, double *bound, bool *optimal) {
    if (*bound == 0) return true;
    if (*bound <= value + fabs(value) * ROUNDING) {
        *bound = fmin(*bound, value);
        return true;
    }
    if (warnings)
        sx_warnings_fault(warnings,
                          "internal error: %s: the lower bound %.9g is above the value %.9g; the bound and "
                          "what it proves are withdrawn",
                          of, *bound, value);
    *bound = 0;
    *optimal = false;
    return false;
}

bool sx_bounds_withdrawn(const sx_warnings *warnings) {
    return warnings && sx_warnings_faulty(warnings);
}
