/* The points that a run remembers: the best few, and the front of two metrics. */
#ifndef SX_RUN_INCUMBENT_H
#define SX_RUN_INCUMBENT_H

#include "ir/goal.h"
#include "sextant/run.h"

/* A point that is remembered; `slot` is the place of its bytes. */
typedef struct sx_archived {
    sx_metrics metrics;
    double value;
    uint64_t evaluation;
    size_t slot;
} sx_archived;

/* Points in some order, with copies of their bytes (none where point_size is 0). The slots of kept[0..room)
 * are all different, so that those from n on are free. */
typedef struct sx_archive {
    size_t point_size, n, room;
    sx_archived *kept;
    unsigned char *points;
} sx_archive;

#define SX_NOWHERE SIZE_MAX

void sx_archive_fini(sx_archive *archive);
/* Makes room for n points; false when memory is out. */
bool sx_archive_reserve(sx_archive *archive, size_t n);
/* The bytes of point number `index`, owned by the archive, until it changes. */
const void *sx_archive_point(const sx_archive *archive, size_t index);
/* Makes `to` hold the same scores, without bytes; false when memory is out. */
bool sx_archive_copy_scores(const sx_archive *from, sx_archive *to);

/* The best k: the place that a point would have among them, SX_NOWHERE where it is not better than the last
 * of k or is there already. A point stands before another only when it is better. */
size_t sx_k_best_place(const sx_archive *best, size_t k, const sx_goal *goal, const sx_metrics *metrics,
                       const void *point);
/* Puts a point at its place, dropping the last of k; false when memory is out. */
bool sx_k_best_put(sx_archive *best, size_t k, size_t place, const sx_archived *kept, const void *point);

/* The front, by the first of the goal's two metrics: the place that a point would have, SX_NOWHERE where one
 * of the front has no more of either. */
size_t sx_front_place(const sx_archive *front, const sx_goal *goal, const sx_metrics *metrics);
/* Puts a point at its place, dropping those that have no less of either; false when memory is out. */
bool sx_front_put(sx_archive *front, const sx_goal *goal, size_t place, const sx_archived *kept,
                  const void *point);

#endif
