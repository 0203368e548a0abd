/* What one child fetches of a tensor over the whole run. */
#ifndef SX_CHECK_FETCH_H
#define SX_CHECK_FETCH_H

#include "check/nest.h"

enum { SX_CHECK_SHIFTS = 64 };

/* Words that a child fetches at visits at which a sibling at a certain displacement had fetched the very same words one
 * visit before. */
typedef struct sx_check_shift {
    int64_t by[SX_MAX_RANKS]; /* the displacement of the sibling's tile from the child's */
    sx_wide words;
} sx_check_shift;

typedef struct sx_check_fetches {
    sx_wide words; /* all together, those of the shifts included */
    int n_shifts;
    bool overflow; /* there are more shifts than fit */
    sx_check_shift shift[SX_CHECK_SHIFTS];
} sx_check_fetches;

/* What a child of level s fetches; `within`: the most that siblings can lie apart in each rank, NULL: shifts are not
 * asked for. `always`: it keeps nothing between visits. */
void sx_check_fetch(const sx_check_case *c, const sx_check_nest *nest, int tensor, int s, bool always,
                    const int64_t *within, sx_check_fetches *out);

#endif
