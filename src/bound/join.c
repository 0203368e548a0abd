/* The bound of decided levels joined with the tiles of the next level outward (L3, L4).
 *
 * Levels up to s are decided; A counts the blocks that level s's tiles and the spatial factors of level s + 1 make, B those of the
 * tile of level s + 1. g is the first loop outside level s, h the first outside level s + 1. All tensors are plain.
 *
 * Nesting (L4). B <= A in each dimension, and B is no less than the instances in use outside. If level s + 1 has loops, one
 * of them is on g: 2 iterations at least, so B_g <= ceil(A_g / 2). If it has none, B = A and h = g. A loop on h is left
 * where B_h is beyond the spatial factor of level s + 2.
 *
 * What stood still under g (L3). A tile of a level up to s whose tensor neither decided loops nor g index moves with the
 * first loop on one of its dimensions outside. If that is in level s + 1, or is h, each of the tensor's tiles is wanted
 * again in each block of the other dimensions: all children see the B_d - 1 blocks that are full, one at least sees the
 * last: (B_d - 1) S_d + 1, S_d being the spatial factors on d from the tile to level s + 1. The words that may stand still in
 * the last sweep are those of the worst of the tensor's dimensions. Otherwise level s + 1 has no loop on any of the
 * tensor's dimensions, so B_d = A_d there, and h is none of them: its words count once.
 *
 * What stands still under h. With S the spatial factors on h up to its loop, B blocks have e <= (N - 1) / (B - 1) words
 * at most; up to 2 S of them make two rounds, of which 2 S - B blocks stand still, more make at most S of them stand
 * still, none where the loop is of the outermost level (decided.c). Both shares fall as B grows: the larger is taken, for
 * the least B of each case.
 *
 * Least over tiles. With g and h fixed, and with the set of tensors for which the last case holds, no figure falls as B
 * grows. So only rows of largest.c are tried, raised to what g, h and that set ask for.
 *
 * Complexity: rows * dimensions * sets of tensors that stand still. */
#include "bound/prefix.h"

#include <math.h>
#include <string.h>

enum { BOUND_STEPS = 8, TRY_STEPS = 4 };

/* The work at hand. */
typedef struct join {
    const sx_prefix_bound *prefix;
    const sx_prefix_query *query;
    const sx_prefix_goal *goal;
    int next, first;
    double steps;
    uint32_t all[SX_MAX_DIMS], fewest[SX_MAX_DIMS]; /* A, and the least of B by the spatial factors outside */
    uint32_t blocks[SX_MAX_DIMS];                   /* B */
    sx_imperfect_sum fixed;                         /* flows that do not depend on it */
    int n_still, n_next;
    const sx_imperfect_flow *still[SX_IMPERFECT_FLOWS], *at_next[SX_IMPERFECT_FLOWS];
    double share[SX_IMPERFECT_FLOWS]; /* of still ones: words that stand still at the edge */
    unsigned still_tensors;
    sx_prefix_least least;
    bool enough;
    uint64_t tried; /* bounds */
} join;

static unsigned dims_of(const join *j, int v) {
    return j->prefix->bounds->model->shape[v].dims;
}

/* The share of a tensor's words that may stand still at the edge where some loop outside moves it; 1 where none can. */
static double still_share(const join *j, const sx_imperfect_flow *flow) {
    const sx_decided *decided = &j->prefix->decided;
    double most = 0;
    bool any = false;
    for (unsigned left = dims_of(j, flow->tensor); left; left &= left - 1) {
        int d = __builtin_ctz(left);
        if (j->all[d] == 1) continue;
        uint64_t still = sx_decided_still_outside(decided, flow->child, j->query->last, d);
        most = fmax(most, (double)still / decided->model->size[d]);
        any = true;
    }
    return any ? most : 1;
}

/* Sums up the flows that do not depend on the next level's tile and lists the others. */
static void sort_flows(join *j) {
    const sx_prefix_bound *prefix = j->prefix;
    j->fixed = prefix->rest[j->next + 1];
    for (int i = 0; i < prefix->n_flows; i++) {
        const sx_imperfect_flow *flow = &prefix->flow[i];
        double asked, filled;
        if (flow->child > j->next) continue;
        if (flow->child == j->next) {
            j->at_next[j->n_next++] = flow;
        } else if (sx_prefix_flow(prefix, j->query, j->first, flow, &asked, &filled)) {
            sx_imperfect_sum_flow(prefix->bounds, flow, asked, filled, &j->fixed);
        } else {
            j->share[j->n_still] = still_share(j, flow);
            j->still[j->n_still++] = flow;
            j->still_tensors |= 1u << flow->tensor;
        }
    }
}

/* Adds a flow into a level up to s that the tile of the next level decides. */
static void add_still(const join *j, int i, sx_imperfect_sum *sum) {
    const sx_imperfect_flow *flow = j->still[i];
    const sx_imperfect_bound *bounds = j->prefix->bounds;
    double asked = flow->asked, filled = flow->filled, visits = 1, grouped = 1;
    for (unsigned left = bounds->irrelevant[flow->tensor]; left; left &= left - 1) {
        int d = __builtin_ctz(left);
        double outer = 1, own = j->prefix->decided.spatial[flow->child + 1][d];
        for (int s = flow->child + 2; s <= j->next; s++) outer *= j->prefix->decided.spatial[s][d];
        visits *= (j->blocks[d] - 1) * outer * own + 1;
        grouped *= (j->blocks[d] - 1) * outer + 1;
    }
    sx_prefix_raise(bounds, flow, j->share[i], visits, grouped, &asked, &filled);
    sx_imperfect_sum_flow(bounds, flow, asked, filled, sum);
}

/* The share of words along a dimension that may stand still in the last sweep outside a level, where its tile makes so
 * many blocks or more. */
static double still_beyond(const sx_decided *decided, int level, int dim, uint64_t blocks) {
    const uint64_t size = decided->model->size[dim];
    uint64_t side = 1, most = 0;
    for (int s = level + 1; s < decided->model->n_levels; s++) {
        side *= decided->spatial[s][dim];
        uint64_t two = blocks > side ? blocks : side + 1, three = blocks > 2 * side ? blocks : 2 * side + 1;
        uint64_t idle = two < 2 * side ? (2 * side - two) * ((size - 1) / (two - 1)) : 0;
        uint64_t ends = s + 1 < decided->model->n_levels ? side * ((size - 1) / (three - 1)) : 0;
        if (idle > most) most = idle;
        if (ends > most) most = ends;
    }
    return most < size ? (double)most / (double)size : 1;
}

/* Adds a flow into the next level, outside which the first loop is on a dimension of the tensor. */
static void add_next_flow(const join *j, const sx_imperfect_flow *flow, int outer, sx_imperfect_sum *sum) {
    const sx_imperfect_bound *bounds = j->prefix->bounds;
    const sx_decided *decided = &j->prefix->decided;
    double asked = flow->asked, filled = flow->filled, visits = 1, grouped = 1;
    for (unsigned left = bounds->irrelevant[flow->tensor]; left; left &= left - 1) {
        int d = __builtin_ctz(left);
        visits *= j->blocks[d];
        grouped *= (j->blocks[d] - 1) / decided->spatial[j->next + 1][d] + 1;
    }
    sx_prefix_raise(bounds, flow, still_beyond(decided, j->next, outer, j->blocks[outer]), visits, grouped,
                    &asked, &filled);
    sx_imperfect_sum_flow(bounds, flow, asked, filled, sum);
}

/* Takes in the bound for blocks, the first loop outside the next level, and tensors that stand still under it, too. */
static void try_blocks(join *j, int outer, unsigned unmoved) {
    sx_imperfect_sum sum = j->fixed;
    j->tried++;
    for (int i = 0; i < j->n_still; i++) {
        const sx_imperfect_flow *flow = j->still[i];
        if (unmoved >> flow->tensor & 1)
            sx_imperfect_sum_flow(j->prefix->bounds, flow, flow->asked, flow->filled, &sum);
        else
            add_still(j, i, &sum);
    }
    for (int i = 0; i < j->n_next; i++) {
        const sx_imperfect_flow *flow = j->at_next[i];
        if (outer >= 0 && dims_of(j, flow->tensor) >> outer & 1)
            add_next_flow(j, flow, outer, &sum);
        else
            sx_imperfect_sum_flow(j->prefix->bounds, flow, flow->asked, flow->filled, &sum);
    }
    sx_score score = sx_imperfect_sum_score(j->prefix->bounds, &sum, j->steps);
    double value = j->goal->value(j->goal->rule, &score);
    j->least.value = fmin(j->least.value, value);
    j->least.energy = fmin(j->least.energy, score.energy_pj);
    j->least.cycles = fmin(j->least.cycles, score.cycles);
    j->enough = j->least.value < j->goal->enough;
}

/* Tries a row with all tensors that may stand still under the first loop outside, `most` being the most blocks. */
static void try_unmoved(join *j, const uint32_t *row, int outer) {
    unsigned may = 0, some = 0;
    for (unsigned left = j->still_tensors; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        if (outer < 0 || !(dims_of(j, v) >> outer & 1)) may |= 1u << v;
    }
    do {
        unsigned dims = 0;
        for (unsigned left = some; left; left &= left - 1) dims |= dims_of(j, __builtin_ctz(left));
        for (int d = 0; d < j->prefix->bounds->model->n_dims; d++)
            j->blocks[d] = dims >> d & 1 ? j->all[d] : row[d];
        try_blocks(j, outer, some);
        some = (some - may) & may;
    } while (some && !j->enough);
}

/* Whether there may be no loop outside the next level with so many blocks of its tile. */
static bool may_end(const join *j, const uint32_t *row) {
    const sx_model *model = j->prefix->bounds->model;
    for (int d = 0; d < model->n_dims; d++) {
        uint64_t outside = 1;
        for (int s = j->next + 1; s < model->n_levels; s++) outside *= j->prefix->decided.spatial[s][d];
        if (row[d] > outside) return false;
    }
    return true;
}

/* Tries a row of the next level's largest tiles with all loops that may be first outside. */
static void try_row(join *j, const uint32_t *largest) {
    const int n = j->prefix->bounds->model->n_dims, g = j->first;
    uint32_t row[SX_MAX_DIMS], half = (j->all[g] + 1) / 2;
    for (int d = 0; d < n; d++) {
        row[d] = largest[d] > j->fewest[d] ? largest[d] : j->fewest[d];
        if (row[d] > (d == g ? half : j->all[d])) return;
    }
    if (may_end(j, row)) try_unmoved(j, row, -1);
    for (int h = 0; h < n && !j->enough; h++) {
        uint32_t was = row[h], least = j->prefix->decided.spatial[j->next + 1][h] + 1;
        if (row[h] < least) row[h] = least;
        if (row[h] <= (h == g ? half : j->all[h])) try_unmoved(j, row, h);
        row[h] = was;
    }
}

/* Tries a next level without loops. */
static void try_empty(join *j, const sx_largest_tiles *rows) {
    const int n = j->prefix->bounds->model->n_dims;
    bool fits = false;
    for (size_t i = 0; i < rows->n && !fits; i++) {
        fits = true;
        for (int d = 0; d < n; d++) fits &= rows->blocks[i * (size_t)n + (size_t)d] <= j->all[d];
    }
    if (!fits || j->all[j->first] <= j->prefix->decided.spatial[j->next + 1][j->first]) return;
    memcpy(j->blocks, j->all, sizeof j->blocks);
    try_blocks(j, j->first, j->still_tensors);
}

/* The instances of a level along a dimension that are in use, at least. */
static uint32_t instances_along(const sx_decided *decided, int level, int dim) {
    uint32_t inner = 1, outer = 1;
    for (int s = level + 1; s < decided->model->n_levels; s++) {
        if (decided->spatial[s][dim] == 1) continue;
        inner *= outer;
        outer = decided->spatial[s][dim];
    }
    return inner * (outer - 1) + 1;
}

/* Sets the blocks that the decided levels allow. */
static void set_blocks(join *j) {
    const sx_decided *decided = &j->prefix->decided;
    for (int d = 0; d < decided->model->n_dims; d++) {
        uint64_t base = decided->reach[j->next][d] * decided->spatial[j->next][d];
        j->all[d] = (uint32_t)((decided->model->size[d] - 1) / base + 1);
        j->fewest[d] = instances_along(decided, j->next, d);
    }
}

sx_prefix_least sx_prefix_bound_joined(const sx_prefix_bound *prefix, const sx_prefix_query *query, int first,
                                       const sx_prefix_goal *goal, uint64_t *steps) {
    const sx_imperfect_bound *bounds = prefix->bounds;
    const sx_model *model = bounds->model;
    const int n = model->n_dims;
    join j = {.prefix = prefix, .query = query, .goal = goal, .next = query->last + 1, .first = first};
    j.least = (sx_prefix_least){INFINITY, INFINITY, INFINITY};
    sx_score score;
    if (!sx_prefix_bound_score(prefix, query, first, &score)) return j.least;
    *steps += BOUND_STEPS;
    double value = goal->value(goal->rule, &score);
    sx_prefix_least alone = {value, score.energy_pj, score.cycles};
    const sx_largest_tiles *rows =
        j.next < model->n_levels && bounds->tiles->largest[j.next] && prefix->usable
            ? &bounds->tiles->largest[j.next][bounds->outline.keep[j.next]]
            : NULL;
    if (!rows || rows->n == 0 || first < 0 || query->loose || value >= goal->limit) return alone;
    j.steps = sx_prefix_steps(prefix, query);
    set_blocks(&j);
    sort_flows(&j);
    try_empty(&j, rows);
    for (size_t i = 0; i < rows->n && !j.enough; i++) try_row(&j, rows->blocks + i * (size_t)n);
    *steps += j.tried * TRY_STEPS;
    j.least.value = fmax(j.least.value, alone.value);
    j.least.energy = fmax(j.least.energy, alone.energy);
    j.least.cycles = fmax(j.least.cycles, alone.cycles);
    return j.least;
}

sx_prefix_least sx_prefix_bound_least(const sx_prefix_bound *prefix, const sx_prefix_query *query,
                                      const sx_prefix_goal *goal, uint64_t *steps) {
    sx_prefix_least all = {INFINITY, INFINITY, INFINITY};
    for (int first = -1; first < prefix->bounds->model->n_dims; first++) {
        sx_prefix_least bound = sx_prefix_bound_joined(prefix, query, first, goal, steps);
        if (bound.value < goal->enough) return bound;
        all.value = fmin(all.value, bound.value);
        all.energy = fmin(all.energy, bound.energy);
        all.cycles = fmin(all.cycles, bound.cycles);
    }
    return all;
}
