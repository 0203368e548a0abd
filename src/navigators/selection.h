/* Choosing among evaluated points: what genetic searches share. */
#ifndef SX_NAVIGATORS_SELECTION_H
#define SX_NAVIGATORS_SELECTION_H

#include "sextant/navigator.h"

/* Negative where outcome a is better than b: legal before illegal, then by the objective. */
int sx_outcome_compare(const sx_goal *goal, const sx_outcome *a, const sx_outcome *b);

/* The best of `size` members drawn with replacement from n. */
size_t sx_select_tournament(const sx_goal *goal, const sx_outcome *outcome, size_t n, size_t size,
                            sx_rng *rng);

/* Ranks n members: order[0] is the best one's number. With `pareto` those that no other beats in both of
 * the front's metrics come before all others, and their number is returned (otherwise 1); within each part
 * the objective decides, then the lower number. `order` has room for 2 * n, of which the second half is
 * scratch.
 */
size_t sx_select_rank(const sx_goal *goal, const sx_outcome *outcome, size_t n, bool pareto, uint32_t *order);

/* The number of the worst of n members. */
size_t sx_select_worst(const sx_goal *goal, const sx_outcome *outcome, size_t n);

/* Puts what other navigators have found (sx_run_news) in the place of the worst of n members. */
void sx_select_news(const sx_run *run, size_t n, sx_outcome *outcome, void *points);

#endif
