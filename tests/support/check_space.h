/* Random small spaces for the independent checker, all their mappings, and claims about them. */
#ifndef SX_TESTS_CHECK_SPACE_H
#define SX_TESTS_CHECK_SPACE_H

#include "support/random_space.h"

#include "check/target.h"

enum { SX_MOST_MAPPINGS = 3000 };

/* Draws a space with exact factors, and energies that doubles hold. */
void sx_draw_check_space(sx_rng *rng, SX_OWN sx_small_space *small);
/* The same of one that was of a kind before its energies and options were drawn again. */
void sx_draw_check_space_of(sx_rng *rng, sx_space_kind kind, SX_OWN sx_small_space *small);

/* Draws a space with remainders, and energies that doubles hold. */
void sx_draw_remainder_space(sx_rng *rng, SX_OWN sx_small_space *small);

/* Takes the directives against reuse off limits. */
void sx_tame_limits(sx_constraints *limits);

/* All legal mappings of a space, as the search's own space lists them, and their scores by the model. */
typedef struct sx_mapping_list {
    sx_mapping *mapping;
    sx_score *score;
    size_t n;
} sx_mapping_list;

void sx_list_mappings(const sx_small_space *small, SX_OWN sx_mapping_list *out);
void sx_free_mappings(sx_mapping_list *list);

/* Reads the certificate that a mapping of a list is optimal and, where n_front is not 0, that some of them are the
 * front. */
SX_OWN sx_check_case *sx_check_case_of(const sx_small_space *small, const char *objective,
                                       const sx_mapping_list *list, size_t best, const size_t *front,
                                       size_t n_front, sx_check_doubt *doubt);

/* The verdict on a case. */
sx_independent_verdict sx_judge_case(const sx_check_case *c, sx_check_doubt doubt, bool walk_only,
                                     int64_t more, sx_independent_report *report);

/* Fails a case with a word about it. */
void sx_fail_case(const sx_small_space *small, uint64_t number, const char *what, const char *why);

#endif
