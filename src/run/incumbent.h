/* The points that a run remembers: the best few, and the front of two metrics. */
#ifndef SX_RUN_INCUMBENT_H
#define SX_RUN_INCUMBENT_H

#include "ir/goal.h"
#include "sextant/run.h"

/* A point that is remembered; `slot` is the place of its bytes. */
typedef struct sx_kept {
    sx_metrics metrics;
    double value;
    uint64_t evaluation;
    size_t slot;
} sx_kept;

/* Points in some order, with copies of their bytes (none where point_size is 0). The slots of kept[0..room)
 * are all different, so that those from n on are free. */
typedef struct sx_shelf {
    size_t point_size, n, room;
    sx_kept *kept;
    unsigned char *points;
} sx_shelf;

#define SX_NOWHERE SIZE_MAX

void sx_shelf_fini(sx_shelf *shelf);
/* Makes room for n points; false when memory is out. */
bool sx_shelf_reserve(sx_shelf *shelf, size_t n);
/* The bytes of point number `index`, owned by the shelf, until it changes. */
const void *sx_shelf_point(const sx_shelf *shelf, size_t index);
/* Makes `to` hold the same scores, without bytes; false when memory is out. */
bool sx_shelf_copy_scores(const sx_shelf *from, sx_shelf *to);

/* The best k: the place that a point would have among them, SX_NOWHERE where it is not better than the last
 * of k or is there already. A point stands before another only when it is better. */
size_t sx_best_place(const sx_shelf *best, size_t k, const sx_goal *goal, const sx_metrics *metrics,
                     const void *point);
/* Puts a point at its place, dropping the last of k; false when memory is out. */
bool sx_best_put(sx_shelf *best, size_t k, size_t place, const sx_kept *kept, const void *point);

/* The front, by the first of the goal's two metrics: the place that a point would have, SX_NOWHERE where one
 * of the front has no more of either. */
size_t sx_front_place(const sx_shelf *front, const sx_goal *goal, const sx_metrics *metrics);
/* Puts a point at its place, dropping those that have no less of either; false when memory is out. */
bool sx_front_put(sx_shelf *front, const sx_goal *goal, size_t place, const sx_kept *kept, const void *point);

#endif
