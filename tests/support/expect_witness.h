/* Mappings that searches pass over without a bound, compared with those that stand for them. */
#ifndef SX_TESTS_EXPECT_WITNESS_H
#define SX_TESTS_EXPECT_WITNESS_H

#include "support/random_space.h"

#include "mappers/optimal/witness.h"
#include "verify/verify_witness.h"

/* The rules of the search (sx_skip_rule), then of the verifier's walk, then the one form of mappings: places of loops of one
 * iteration. */
enum { SX_N_WITNESS_RULES = SX_N_SKIP_RULES + SX_N_VERIFY_SKIPS + 1 };

/* Mappings that were passed over and compared, by rule and by kind of the space; spaces by kind; last witnesses of
 * chains; and optima of searches. */
typedef struct sx_witness_tally {
    uint64_t compared[SX_N_WITNESS_RULES][SX_N_KINDS], all[SX_N_WITNESS_RULES], spaces[SX_N_KINDS], roots,
        optima;
} sx_witness_tally;

/* Takes legal mappings of a space, all constructions or (where draws is not 0) that many drawn ones, and each rule that
 * passes over one: the mapping that stands for it must be in the space and cost the same bits. Where all are taken, the last
 * one of a chain of these must be evaluated by a search without bounds, and met by the verifier's walk; and searches without
 * heuristics must find the optimum of all. */
void sx_expect_witnesses(const sx_small_space *small, uint64_t number, uint64_t draws, sx_rng *rng,
                         sx_witness_tally *tally);

const char *sx_witness_rule_name(int rule);

#endif
