/* Results of any space that are no answers of searches: all of them. */
#ifndef SX_STORE_POINTS_H
#define SX_STORE_POINTS_H

#include "sextant/store.h"

/* Visits every result of a kind under an objective, those of one space one after another and the best of it first; as
 * sx_store_best_points does. */
SX_MUST_USE sx_status sx_store_all_points(sx_store *store, const char *kind, const char *objective,
                                          sx_store_visit_point *visit, void *user);

#endif
