/* Small map spaces in which everything is drawn that a bound depends on: directives of constraints on inputs and outputs, keys
 * of laws at every level, semantics of zeros, options of models and of spaces. */
#ifndef SX_TESTS_MIXED_SPACE_H
#define SX_TESTS_MIXED_SPACE_H

#include "support/random_space.h"

/* Draws a space of at most a given number of constructions; `objective`: what searches of it minimise, of a given text where its
 * model has to know it, otherwise left alone. Free with sx_small_space_fini. */
void sx_random_mixed_space(sx_rng *rng, uint64_t most, SX_OWN sx_small_space *out);

/* The space of the same that has only the mappings whose factors divide; false where there is none. */
bool sx_dividing_space(const sx_small_space *small, SX_OWN sx_small_space *out);

/* Whether the model of a space was made for one objective, energy times delay. */
bool sx_is_aimed(const sx_small_space *small);

/* What a space may have, always the same in the same order, and whether it has it; returns how many. */
enum { SX_MOST_TRAITS = 128 };
typedef struct sx_trait {
    char name[48];
    bool has;
} sx_trait;
size_t sx_mixed_traits(const sx_small_space *small, sx_trait trait[SX_MOST_TRAITS]);

#endif
