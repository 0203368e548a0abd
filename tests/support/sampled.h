/* The visits of a nest as Timeloop samples them, one after the other. */
#ifndef SX_TESTS_SAMPLED_H
#define SX_TESTS_SAMPLED_H

#include "support/random_window.h"
#include "support/words.h"

/* One visit: the words the first child fetches, those it fetched at the visit before, and how many visits
 * this one stands for. */
typedef struct sx_visit {
    const sx_words *now, *before;
    uint64_t weight;
} sx_visit;

/* Runs every temporal loop outside a level's children for the indices 0 and 1 only, the latter standing for
 * all but the first iteration, and shows each visit in turn. With `always` a tile is fetched anew each
 * time. */
void sx_sampled_visits(const sx_window *window, int tensor, int level, bool always,
                       void (*show)(void *to, const sx_visit *visit), void *to);

#endif
