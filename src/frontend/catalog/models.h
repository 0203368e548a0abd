/* Networks of the catalog that a configuration of sizes describes: files of share/sextant/networks. */
#ifndef SX_FRONTEND_CATALOG_MODELS_H
#define SX_FRONTEND_CATALOG_MODELS_H

#include "sextant/network.h"

#define MODEL(word, name, about) extern const char sx_model_text_##word[];
#include "frontend/catalog/models.def"
#undef MODEL

/* The name of number `index` and a line about it; NULL past the last. */
const char *sx_catalog_model_name(size_t index, const char **about);

/* The graph of one run of such a network, which must be one. */
SX_MUST_USE sx_status sx_catalog_model_graph(const char *name, const sx_network_options *options,
                                             sx_graph *out);

#endif
