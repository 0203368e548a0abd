/* Densities on the command line. */
#ifndef SX_INPUT_DENSITY_H
#define SX_INPUT_DENSITY_H

#include "input/args.h"
#include "sextant/model.h"
#include "sextant/network.h"

/* Gives the tensors of all layers the densities of --density, and checks --sparse-semantics. */
SX_MUST_USE sx_status sx_density_apply(const sx_args *args, sx_network *network);

/* Refuses a range of densities of a tensor that no layer has. */
SX_MUST_USE sx_status sx_densities_check(const sx_density_range *range, const sx_network *network);

/* Sets what --search-formats and --formats say of the formats, for an objective. */
SX_MUST_USE sx_status sx_formats_read(const sx_args *args, const sx_objective *objective,
                                      sx_format_search *out);

#endif
