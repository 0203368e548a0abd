/* What `sextant systolic` searches and finds: for a person, as JSON and as a figure. */
#ifndef SX_CLI_SYSTOLIC_H
#define SX_CLI_SYSTOLIC_H

#include "base/text.h"
#include "sextant/run.h"
#include "sextant/systolic.h"

/* Costs points from outside, a line of JSON each, "-" being standard input; adds a line of JSON for each. */
SX_MUST_USE sx_status sx_systolic_eval(const char *path, const sx_device *device,
                                       const sx_systolic_options *options, sx_text *out);

#endif
