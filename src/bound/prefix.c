/* Bounds of mappings whose innermost levels are decided: their flows by decided.c, those of the levels outside by
 * imperfect.c.
 *
 * A flow into a decided level is known but for the edge once the first loop on a dimension of its tensor is. If that is
 * decided, with g its dimension and q the words along g that stand still at its last sweep, every vector of blocks of the
 * tensor's dimensions is fetched at each of the visits of the others (decided.c), except those of the q words, which are
 * fetched once by each instance that needs them:
 *   (product of N over the tensor's other dimensions) ((N_g - q) (product of visits) + q (instances)).
 * If it is not, but the first loop outside the decided levels is on g, a dimension of the tensor, the same holds with the
 * most words that can stand still. If g is none of its dimensions, each instance fetches each word once (L3 without its
 * next loop). The parent makes as many accesses as one child of each group fetches. Through levels that do not keep the
 * tensor accesses are divided as in imperfect.c.
 *
 * Compute units hold one word each. Without neighbours that hand on words they ask at every step, one of each group:
 * the words times the steps of the other dimensions, of which S units share ceil(N / S). With such neighbours a group that
 * asked for the same word a step before need not ask again: as if the units kept their words.
 *
 * A tensor with windows flows into a level of one instance as imperfect_tiles.c says, with loops inside the first one that
 * indexes it as part of the tile. (Not where extents in its dimensions are open: with strides its words do not only grow
 * with blocks.)
 *
 * Where only the innermost loop of the last level is known, flows into levels inside it whose tensors it indexes are; other
 * ones count once. Where some extents of that level's tile are the largest that may be, the blocks are the fewest, and
 * visits only grow with blocks; of the words along such a dimension as the first loop's at least N / max(2, S) move: B
 * blocks of e have (B - 1) e < N, and with M rounds of S blocks at most S of B > 2 S, or 2 S - B of S < B <= 2 S, stand
 * still; with S = 1 one block of three or more.
 *
 * Where extents stand for all that make as many blocks, the largest leaves the fewest visits in the last block, steps are
 * the least of all (decided.c), and of the words that stand still the most over all loops from that level on are taken. Spatial
 * factors outside see the number of blocks alone.
 *
 * Every figure only adds up; so a bound for each first loop, and the least of all of them, holds.
 *
 * Complexity: a step per flow, level and dimension. */
#include "bound/prefix.h"

#include <math.h>
#include <string.h>

void sx_prefix_bound_init(sx_prefix_bound *prefix, const sx_imperfect_bound *bounds, bool usable) {
    const sx_model *model = bounds->model;
    *prefix = (sx_prefix_bound){.bounds = bounds,
                                .usable = usable && !model->sparse && !model->range && !model->formats,
                                .decided.model = model};
    for (int d = 0; d < SX_MAX_DIMS; d++) prefix->decided.reach[0][d] = 1;
}

void sx_prefix_bound_begin(sx_prefix_bound *prefix) {
    const sx_imperfect_bound *bounds = prefix->bounds;
    memcpy(prefix->decided.spatial, bounds->outline.spatial, sizeof prefix->decided.spatial);
    prefix->n_flows = sx_imperfect_flows(bounds, prefix->flow);
    for (int s = 0; s <= bounds->model->n_levels; s++) sx_imperfect_sum_rest(bounds, s, &prefix->rest[s]);
    sx_join_begin(prefix);
}

/* The first loop that moves a tensor's tile, and the words along its dimension that stand still. */
typedef struct mover {
    sx_loop_place loop;
    bool known;
    double still;
} mover;

/* The words along a dimension that may stand still, where the extent of the last level is open. */
static double loose_still(const sx_prefix_bound *prefix, int child, int dim) {
    double size = prefix->bounds->model->size[dim], side = 1;
    for (int s = child + 1; s < prefix->bounds->model->n_levels; s++) side *= prefix->decided.spatial[s][dim];
    return size - size / fmax(2, side);
}

/* Finds the loop that moves a tensor with these dimensions. */
static mover find_mover(const sx_prefix_bound *prefix, const sx_prefix_query *query, int first, int child,
                        unsigned dims) {
    const sx_decided *decided = &prefix->decided;
    int last = query->order ? query->last : query->last - 1;
    sx_loop_place loop = sx_decided_first(decided, child, last < child ? child : last, dims);
    bool open = loop.dim < 0 && !query->order && child < query->last;
    if (loop.dim < 0)
        loop = (sx_loop_place){open ? query->last : query->last + 1, open ? query->inner : first};
    mover at = {loop, loop.dim >= 0 && dims >> loop.dim & 1, 0};
    if (!at.known) return at;
    if (query->loose >> loop.dim & 1 && loop.level >= query->last)
        at.still = loose_still(prefix, child, loop.dim);
    else if (query->ranged >> loop.dim & 1 && loop.level == query->last)
        at.still = (double)sx_decided_still_outside(decided, child, query->last - 1, loop.dim);
    else if (loop.level <= query->last)
        at.still = (double)sx_decided_still(decided, child, &loop);
    else
        at.still = (double)sx_decided_still_outside(decided, child, query->last, loop.dim);
    return at;
}

/* The visits of all dimensions that do not index a tensor, multiplied; `inside` a loop they are one child's. */
static double all_visits(const sx_prefix_bound *prefix, const sx_prefix_query *query, int child,
                         unsigned dims, const sx_loop_place *from, bool alone) {
    int last = query->order || child == query->last ? query->last : query->last - 1;
    double product = 1;
    for (; dims; dims &= dims - 1)
        product *= (double)sx_decided_visits(&prefix->decided, __builtin_ctz(dims), child, last, from, alone);
    return product;
}

/* The words of a tensor with windows that flow into a level of one instance, at the least. */
static double window_flow(const sx_prefix_bound *prefix, const sx_prefix_query *query, const mover *at,
                          const sx_imperfect_flow *flow) {
    const sx_model *model = prefix->bounds->model;
    int last = query->order || flow->child == query->last ? query->last : query->last - 1;
    sx_imperfect_tile tile = {.first = at->loop.dim, .top = flow->child + 2 == model->n_levels};
    for (int d = 0; d < model->n_dims; d++) {
        bool indexes = model->shape[flow->tensor].dims >> d & 1;
        uint64_t extent = prefix->decided.reach[flow->child + 1][d];
        tile.blocks[d] =
            indexes ? (uint32_t)((model->size[d] - 1) / extent + 1)
                    : (uint32_t)sx_decided_visits(&prefix->decided, d, flow->child, last, &at->loop, false);
    }
    return sx_imperfect_tile_flow(model, flow->tensor, &tile);
}

/* The operands that level 0 hands out where units ask at every step. */
static double asked_always(const sx_imperfect_bound *bounds, int v) {
    double asked = 1;
    for (int d = 0; d < bounds->model->n_dims; d++) {
        uint32_t size = bounds->model->size[d], spread = bounds->outline.spatial[0][d];
        asked *= bounds->model->shape[v].dims >> d & 1 ? size : (size - 1) / spread + 1;
    }
    return asked;
}

void sx_prefix_raise(const sx_imperfect_bound *bounds, const sx_imperfect_flow *flow, double still,
                     double visits, double grouped, double *asked, double *filled) {
    const int v = flow->tensor, c = flow->child;
    double held = c >= 0 ? bounds->held[v][c] : 1;
    double all = bounds->words[v] * ((1 - still) * visits + still * held);
    double served = bounds->words[v] * ((1 - still) * grouped + still * bounds->held[v][c + 1]);
    for (int k = c + 2; k <= flow->parent; k++) served /= bounds->group[v][k];
    *asked = fmax(*asked, sx_imperfect_count(bounds, served, flow->parent > c + 1));
    *filled = fmax(*filled, sx_imperfect_count(bounds, all, false));
}

bool sx_prefix_flow(const sx_prefix_bound *prefix, const sx_prefix_query *query, int first,
                    const sx_imperfect_flow *flow, double *asked, double *filled) {
    const sx_imperfect_bound *bounds = prefix->bounds;
    const sx_shape *shape = &bounds->model->shape[flow->tensor];
    const int v = flow->tensor, c = flow->child;
    *asked = flow->asked;
    *filled = flow->filled;
    if (!shape->unit && (c < 0 || bounds->model->level[c].instances > 1 || query->loose & shape->dims))
        return true;
    if (c < 0 && !bounds->linked[v]) {
        sx_prefix_raise(bounds, flow, 0, 0, asked_always(bounds, v) / bounds->words[v], asked, filled);
        return true;
    }
    mover at = find_mover(prefix, query, first, c, shape->dims);
    if (!at.known) return false;
    if (!shape->unit) {
        double words = window_flow(prefix, query, &at, flow) / bounds->words[v];
        sx_prefix_raise(bounds, flow, 0, words, words, asked, filled);
        return true;
    }
    unsigned others = bounds->irrelevant[v];
    sx_prefix_raise(bounds, flow, at.still / bounds->model->size[at.loop.dim],
                    all_visits(prefix, query, c, others, &at.loop, false),
                    all_visits(prefix, query, c, others, &at.loop, true), asked, filled);
    return true;
}

/* Whether the innermost loop outside the last level may be on a dimension; -1: whether there may be none. */
static bool may_be_first(const sx_prefix_bound *prefix, const sx_prefix_query *query, int first) {
    const sx_decided *decided = &prefix->decided;
    const sx_model *model = prefix->bounds->model;
    const int next = query->last + 1;
    if (next == model->n_levels) return first < 0;
    if (first >= 0)
        return query->loose >> first & 1 ||
               decided->reach[next][first] * decided->spatial[next][first] < model->size[first];
    for (int d = 0; d < model->n_dims; d++) {
        uint64_t reach = decided->reach[next][d];
        for (int s = next; s < model->n_levels; s++) reach *= decided->spatial[s][d];
        if (reach < model->size[d]) return false;
    }
    return true;
}

/* The steps of the first compute unit, at least. */
static double first_unit_steps(const sx_prefix_bound *prefix, const sx_prefix_query *query) {
    const sx_model *model = prefix->bounds->model;
    double steps = 1;
    for (int d = 0; d < model->n_dims; d++) {
        uint64_t units = 1;
        for (int s = 0; s < model->n_levels; s++) units *= prefix->decided.spatial[s][d];
        steps *= query->loose >> d & 1
                     ? (double)((model->size[d] - 1) / units + 1)
                     : (double)sx_decided_steps(&prefix->decided, query->last, d, query->ranged >> d & 1);
    }
    return steps;
}

bool sx_prefix_bound_score(const sx_prefix_bound *prefix, const sx_prefix_query *query, int first,
                           sx_score *out) {
    const sx_imperfect_bound *bounds = prefix->bounds;
    double steps, asked, filled;
    if (!may_be_first(prefix, query, first)) return false;
    steps = first_unit_steps(prefix, query);
    if (!prefix->usable) {
        *out = sx_imperfect_bound_score(bounds, steps);
        return true;
    }
    sx_imperfect_sum sum = prefix->rest[query->last + 1];
    for (int i = 0; i < prefix->n_flows; i++) {
        const sx_imperfect_flow *flow = &prefix->flow[i];
        if (flow->child > query->last) continue;
        sx_prefix_flow(prefix, query, first, flow, &asked, &filled);
        sx_imperfect_sum_flow(bounds, flow, asked, filled, &sum);
    }
    *out = sx_imperfect_sum_score(bounds, &sum, steps);
    return true;
}
