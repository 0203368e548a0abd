/* Random legal mappings of problems of real size. */
#ifndef SX_TESTS_RANDOM_LEGAL_H
#define SX_TESTS_RANDOM_LEGAL_H

#include "sextant/model.h"
#include "sextant/rng.h"

enum {
    SX_LEGAL_REMAINDERS = 1, /* factors need not divide (by chance they all may) */
    SX_LEGAL_DIRECTIVES = 2, /* now and then bypass a level, or forbid a kind of reuse */
};

/* Draws a legal mapping; false where none was found in a number of attempts. */
bool sx_random_legal(sx_rng *rng, const sx_model *model, unsigned flags, sx_mapping *out);

/* The model and an evaluator of a problem and an architecture of the catalog; fails the test on an error. The
 * problem may also be einsum text. */
void sx_catalog_model(const char *problem, const char *arch, SX_OWN sx_model **model,
                      SX_OWN sx_model_workspace **evaluator);

#endif
