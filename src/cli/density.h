/* Densities on the command line. */
#ifndef SX_CLI_DENSITY_H
#define SX_CLI_DENSITY_H

#include "cli/options.h"
#include "sextant/network.h"

/* Gives the tensors of all layers the densities of --density, and checks --sparse-semantics. */
SX_MUST_USE sx_status sx_density_apply(const sx_args *args, sx_network *network);

#endif
