/* Random problems, architectures and mappings that keep every rule but mean nothing: names that must be
 * quoted, odd numbers, all limits. For what is written and read back. */
#ifndef SX_TEST_RANDOM_NOUNS_H
#define SX_TEST_RANDOM_NOUNS_H

#include "sextant/all.h"
#include "sextant/rng.h"

void sx_random_problem(sx_rng *rng, sx_problem *out);
void sx_random_arch(sx_rng *rng, sx_arch *out);

/* A mapping whose factors make up every size, exactly or with remainders. */
void sx_random_mapping(sx_rng *rng, const sx_problem *problem, const sx_arch *arch, bool remainders,
                       sx_mapping *out);

#endif
