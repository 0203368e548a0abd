/* Lower bounds of hops.
 *
 * At each visit, the n children of an instance of level s that want the same words of a tensor V form groups of m, with m
 * the spatial loops there that do not index V. A group's words enter at column 0 in the middle row, go to its farthest
 * column, and up and down in each of its columns (docs/model.md, section 3).
 *
 * Whatever the layout, a group takes at least
 *   - m - 1 hops: k children in a column lie over k - 1 rows or more, so that the column takes k - 1 hops; and the
 *     farthest of C columns is C - 1 from the first;
 *   - the mean of its children's distances from the entry, as the farthest child is at least as far.
 * Children stand at different places. With a row in the middle, one place is at distance 0 and 2 k + 1 at most are at k;
 * with a middle between two rows, 2 k at most are at k - 1/2. So the n distances sum up to D(n) at least, the smaller
 * of the two sums over the n nearest places. All n / m groups together take no less than max(n - n / m, D(n) / m)
 * hops, which is max(1 - 1 / m, D(n) / (n m)) for each word that a child gets. Without multicast each child is a group
 * of its own, and they take D(n) >= n - 1.
 *
 * Words that children get are those of the flow into level s - 1, as if it kept V (docs/model.md, section 4: hops are
 * not scaled where it does not): its tile is what loops at s - 1 and inside make it, whatever levels keep. So to a level
 * that bypasses V belongs a flow, too, which costs hops alone.
 *
 * That holds where no word comes from a neighbour instead: at levels above the first, where children do not share windows
 * in part (no dimension of a window is spread at s) and tiles are not fetched anew while they stay. Loops on dimensions
 * that index a rank alone move a tile clear of all siblings (model/tile_delta.h). Other tensors count nothing, as do
 * routers, outputs with strides, and sparse models, whose flows are not what networks carry.
 *
 * Complexity: O(sqrt(n)). */
#include "bound/network.h"

#include <math.h>

/* The sum of the n smallest distances, of which 2 k + more - 1 are k - less, k from 1 on. */
static double nearest_hops(double n, double more, double less) {
    double sum = 0;
    for (double k = 1; n > 0; k++) {
        double places = fmin(n, 2 * k + more - 1);
        sum += places * (k - less);
        n -= places;
    }
    return sum;
}

/* The hops for each word that one of n children gets, of which m share it, at the least. */
static double least_hops(double n, double m) {
    double distances = fmin(nearest_hops(n, 0, 1), nearest_hops(n, 1, 0.5));
    return fmax(1 - 1 / m, distances / (n * m));
}

/* Whether the rule holds for a tensor at a level, and costs something. */
static bool is_known(const sx_outline_bound *bounds, int v, int s) {
    const sx_bound *b = bounds->bound;
    const sx_model *model = b->model;
    const sx_shape *shape = &model->shape[v];
    if (s < 1 || s >= model->n_levels || !(model->level[s].energy_per_hop > 0)) return false;
    if (model->sparse || model->range || model->formats || (shape->output && !shape->unit)) return false;
    return !(b->renewed[s - 1] >> v & 1) && sx_outline_bound_fanout(bounds, s, b->partly_relevant[v]) == 1;
}

double sx_network_word(const sx_outline_bound *bounds, int v, int s) {
    const sx_bound *b = bounds->bound;
    if (!is_known(bounds, v, s)) return 0;
    const sx_level *level = &b->model->level[s];
    double n = sx_outline_bound_fanout(bounds, s, (1u << b->model->n_dims) - 1);
    double m = sx_outline_bound_fanout(bounds, s, b->irrelevant[v]);
    return level->energy_per_hop * sx_level_width(level, v) * least_hops(n, m);
}
