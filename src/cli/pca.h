/* `--pca`: the points that searches evaluate, one set for each search method given. */
#ifndef SX_CLI_PCA_H
#define SX_CLI_PCA_H

#include "cli/options.h"
#include "report/space_pca.h"

/* Draws at random and searches by every method that an option gives, with a line of progress, and writes the figure. */
SX_MUST_USE sx_status sx_pca_of_methods(const sx_args *args, const char *option, const sx_space *space,
                                        sx_pca_options *options, sx_pca_study *out);

#endif
