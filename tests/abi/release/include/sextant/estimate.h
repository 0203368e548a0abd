/* What the components of an architecture cost where no table says it: energies, areas and leakage by the rules of an
 * estimator (docs/estimate.md). */
#ifndef SX_ESTIMATE_H
#define SX_ESTIMATE_H

#include "sextant/read.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Before the architecture is read: by whose rules energies that files do not state are estimated: "accelergy-0.4",
 * "accelergy-0.3", "published" or "timeloop". Those of an architecture of the catalog, if it is added later, are
 * estimated although its text states them. */
SX_API SX_MUST_USE sx_status sx_input_estimate_by(sx_input *input, const char *estimator);

/* Adds an architecture of the catalog, with its constraints where it has any, as if it were a file. */
SX_API SX_MUST_USE sx_status sx_input_add_arch(sx_input *input, const char *name);

/* After the architecture was read: what its components cost, in SX_JSON as `sextant estimate --json` prints it, in
 * SX_YAML as both tables of Accelergy's (ERT and ART). Freed with sx_free(). An error before. */
SX_API SX_MUST_USE sx_status sx_input_estimates(const sx_input *input, const sx_arch *arch, sx_format format,
                                                SX_OWN char **out);

#ifdef __cplusplus
}
#endif

#endif
