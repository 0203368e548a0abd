/* The independent check of a certificate, from its text to a verdict. */
#include "sextant/independent.h"

#include "base/clock.h"
#include "check/cost.h"

#include <stdio.h>
#include <string.h>

sx_status sx_independent_check(const char *name, const char *text, size_t size,
                               const sx_independent_options *options, sx_independent_report *out) {
    sx_check_doubt doubt;
    sx_check_case *c;
    sx_check_cost cost;
    double began = sx_clock_seconds();
    (void)options;
    SX_TRY(sx_check_case_read(name, text, size, &c, &doubt));
    memset(out, 0, sizeof *out);
    out->verdict = SX_INDEPENDENT_UNDECIDED;
    if (!*doubt.why && sx_check_evaluate(c, &c->mapping, &cost, &doubt) == SX_COST_ILLEGAL)
        out->verdict = SX_INDEPENDENT_FAILS;
    snprintf(out->why, sizeof out->why, "%s", doubt.why);
    out->seconds = sx_clock_seconds() - began;
    sx_check_case_free(c);
    return SX_OK;
}
