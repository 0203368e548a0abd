/* All mappings that leave remainders, in the plainest way that bounds make short: spatial factors, what levels keep, then
 * the innermost loop, the factors and the order of one level after another from the innermost outward, then ways to lay
 * spatial loops on X and Y. A branch is left where its lower bound (bound/imperfect.c, bound/prefix.c, bound/join.c) is not
 * below the value that is claimed; what comes through to the end is evaluated by the model. Factors of a dimension that
 * make as many blocks have one bound first. There is no incumbent, no list of tiles and no order of search.
 *
 * More is enumerated than the space holds: what is below the value counts only if it is a member (verify_space.c).
 *
 * Complexity: exponential at worst; what is visited depends on how close the bounds are. */
#include "verify/remainder_walk.h"

#include "base/status.h"
#include "bound/prefix.h"
#include "model/capacity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_TILES = 1 << 18, /* for the front of a level outside all arrays */
    ANY_LOOP = -2         /* the order of a level does not matter */
};

struct sx_remainder_walk {
    sx_check_context context;
    sx_imperfect_tiles *tiles;
    sx_imperfect_bound bounds;
    sx_prefix_bound prefix;
    sx_model_workspace *workspace;
    sx_mapping mapping;
    uint32_t low[SX_MAX_LEVELS][SX_MAX_DIMS], high[SX_MAX_LEVELS][SX_MAX_DIMS]; /* factors that are alike */
    sx_check_outcome outcome;
    sx_status failure; /* of the outcome SX_CHECK_FAILED */
    double value, least;
    unsigned beat;
    sx_walk_counts counts;
    void (*tick)(void *user);
    void *user;
};

/* Whether tiles are kept from visit to visit, at all levels. */
static bool reuses_tiles(const sx_verify_space *space) {
    unsigned renewed = 0;
    for (int s = 0; s < space->arch->n_levels; s++) renewed |= space->constraints->level[s].no_temporal_reuse;
    return renewed == 0;
}

sx_status sx_remainder_walk_new(const sx_check_context *context, sx_remainder_walk **out) {
    const sx_verify_space *space = context->space;
    sx_remainder_walk *w = calloc(1, sizeof *w);
    if (!w) return sx_error_memory();
    w->context = *context;
    sx_mapping_init(&w->mapping, space->problem, space->arch);
    for (int s = 0; s < space->arch->n_levels; s++)
        sx_level_limits_impose(&space->constraints->level[s], &w->mapping.level[s]);
    sx_status status =
        sx_imperfect_tiles_new(space->model, space->must, space->may, MOST_TILES,
                               &(sx_interrupt){sx_check_budget_over, context->budget}, &w->tiles);
    if (!status) status = sx_model_workspace_new(space->model, &w->workspace);
    if (status) {
        sx_remainder_walk_free(w);
        return status;
    }
    sx_imperfect_bound_init(&w->bounds, w->tiles);
    w->bounds.reuses = reuses_tiles(space);
    sx_prefix_bound_init(&w->prefix, &w->bounds, reuses_tiles(space));
    *out = w;
    return SX_OK;
}

void sx_remainder_walk_free(sx_remainder_walk *w) {
    if (!w) return;
    sx_imperfect_tiles_free(w->tiles);
    sx_model_workspace_free(w->workspace);
    sx_status_free(w->failure);
    free(w);
}

sx_walk_counts sx_remainder_walk_counts(const sx_remainder_walk *w) {
    return w->counts;
}

sx_status sx_remainder_walk_failure(sx_remainder_walk *w) {
    sx_status failure = w->failure;
    w->failure = SX_OK;
    return failure;
}

/* Ends a walk with an error. */
static void fail_walk(sx_remainder_walk *w, sx_status failure) {
    sx_status_free(w->failure);
    w->failure = failure;
    w->outcome = SX_CHECK_FAILED;
}

static bool goes_on(sx_remainder_walk *w) {
    enum { OFTEN = 8192 };
    if (w->tick && w->beat % OFTEN == 0) w->tick(w->user);
    if (!sx_check_budget_step(w->context.budget, &w->beat) && w->outcome == SX_CHECK_NONE_BELOW)
        w->outcome = SX_CHECK_STOPPED;
    return w->outcome == SX_CHECK_NONE_BELOW;
}

/* The value of a bound; -INFINITY where the objective may fall as energy or cycles grow. */
static double value_of(const void *objective, const sx_score *score) {
    const sx_criterion *c = &((const sx_objective *)objective)->criterion[0];
    sx_score bound = *score;
    if (c->kind != SX_PRODUCT || c->energy_power < 0 || c->delay_power < 0) return -INFINITY;
    if (bound.energy_pj < 0) bound.energy_pj = 0;
    return sx_criterion_value(c, &bound);
}

/* Whether the bound of what a query leaves open is below the value. */
static bool is_open(sx_remainder_walk *w, const sx_prefix_query *query) {
    const sx_prefix_goal goal = {value_of, w->context.objective, w->value, w->value};
    uint64_t steps = 0;
    bool open = sx_prefix_bound_least(&w->prefix, query, &goal, &steps).value < w->value;
    w->beat += (unsigned)(steps / 256) * 256;
    sx_check_budget_spend(w->context.budget, steps / 256 * 256);
    return open;
}

/* The extents of a level's tile. */
static void set_extents(const sx_remainder_walk *w, int s, uint32_t *extent) {
    const sx_problem *problem = w->context.space->problem;
    for (int d = 0; d < problem->n_dims; d++) {
        uint64_t reach = w->prefix.decided.reach[s + 1][d];
        extent[d] = reach < problem->size[d] ? (uint32_t)reach : problem->size[d];
    }
}

/* Whether the tiles that a level keeps fit. */
static bool tiles_fit(const sx_remainder_walk *w, int s) {
    const sx_model *model = w->context.space->model;
    uint32_t extent[SX_MAX_DIMS];
    if (!model->level[s].limited) return true;
    set_extents(w, s, extent);
    return sx_level_holds(model, &model->level[s], w->bounds.outline.keep[s], extent);
}

/* Sets a level's factor of a dimension. */
static void set_factor(sx_remainder_walk *w, int s, int d, uint64_t factor) {
    sx_decided_set(&w->prefix.decided, s, d, factor);
    w->mapping.level[s].temporal[d] = (uint32_t)factor;
}

/* Evaluates the mapping. */
static void evaluate_mapping(sx_remainder_walk *w) {
    const sx_verify_space *space = w->context.space;
    sx_score score;
    char why[400];
    sx_verdict verdict =
        sx_evaluate_within(w->workspace, &w->mapping, w->context.objective, w->value, &score);
    w->counts.evaluations++;
    if (verdict.reason >= SX_NO_MEMORY)
        fail_walk(w, sx_verdict_status(&verdict, space->problem, space->arch));
    if (verdict.reason != SX_LEGAL) return;
    double value = sx_objective_value(w->context.objective, &score);
    if (value >= w->value || !sx_verify_space_contains(space, &w->mapping, why, sizeof why)) return;
    w->least = value;
    w->outcome = SX_CHECK_BELOW;
}

/* Evaluates the mapping in all ways to lay the spatial loops of level s and those inside it. */
static void lay_loops(sx_remainder_walk *w, int s) {
    const sx_verify_space *space = w->context.space;
    if (s < 0) {
        evaluate_mapping(w);
        return;
    }
    sx_mapping_level *at = &w->mapping.level[s];
    unsigned loops = sx_verify_space_loops(space, at->spatial), x = 0;
    do {
        if (!goes_on(w)) return;
        if (sx_verify_space_fits(space, s, at->spatial, x)) {
            sx_verify_space_set_layout(space, s, x, at);
            lay_loops(w, s - 1);
        }
        x = (x - loops) & loops;
    } while (x);
}

/* Whether all factors divide. */
static bool is_exact(const sx_remainder_walk *w) {
    const sx_problem *problem = w->context.space->problem;
    bool exact = true;
    for (int d = 0; d < problem->n_dims; d++)
        exact &= w->prefix.decided.reach[w->context.space->arch->n_levels][d] == problem->size[d];
    return exact;
}

static void walk_level(sx_remainder_walk *w, int s);

/* Goes on from a level whose factors and order are decided. */
static void leave_level(sx_remainder_walk *w, int s) {
    const sx_verify_space *space = w->context.space;
    const bool last = s + 1 == space->arch->n_levels;
    const sx_prefix_query query = {.last = s, .order = true};
    uint32_t extent[SX_MAX_DIMS];
    if ((last && is_exact(w)) || !is_open(w, &query)) return;
    set_extents(w, s, extent);
    if (!sx_verify_space_banks_fit(space, s, w->mapping.level[s].keep, extent)) return;
    if (last)
        lay_loops(w, s);
    else
        walk_level(w, s + 1);
}

/* Goes through the factors that are alike from dimension d on. */
static void expand_factors(sx_remainder_walk *w, int s, int d) {
    if (d == w->context.space->problem->n_dims) {
        leave_level(w, s);
        return;
    }
    for (uint32_t t = w->low[s][d]; t <= w->high[s][d] && goes_on(w); t++) {
        set_factor(w, s, d, t);
        if (!tiles_fit(w, s)) break;
        expand_factors(w, s, d + 1);
    }
    set_factor(w, s, d, w->low[s][d]);
}

/* Sets the factors of a level's first n dimensions to the least or the largest that are alike; returns the dimensions where these
 * differ. */
static unsigned set_factors(sx_remainder_walk *w, int s, int n, bool high) {
    unsigned ranged = 0;
    for (int d = 0; d < n; d++) {
        set_factor(w, s, d, high ? w->high[s][d] : w->low[s][d]);
        ranged |= (unsigned)(w->low[s][d] < w->high[s][d]) << d;
    }
    return ranged;
}

/* Goes on from a level whose factors are decided but for those that are alike, in all orders with that innermost loop. */
static void try_orders(sx_remainder_walk *w, int s, int inner) {
    const sx_verify_space *space = w->context.space;
    const int n_dims = space->problem->n_dims;
    const unsigned all = (1u << n_dims) - 1, ranged = set_factors(w, s, n_dims, true);
    sx_mapping_level *at = &w->mapping.level[s];
    size_t n;
    const uint8_t(*order)[SX_MAX_DIMS] =
        sx_order_list_of(w->context.order_list, s, sx_verify_space_loops(space, at->temporal), &n);
    if (!order)
        fail_walk(w, n ? sx_error_new(SX_ERR_LIMIT, "%s has more than %zu loop orders",
                                      space->arch->level[s].name, n)
                       : sx_error_memory());
    if (inner == ANY_LOOP && n > 1) n = 1;
    for (size_t i = 0; i < n && goes_on(w); i++) {
        for (int k = 0; k < n_dims; k++) w->prefix.decided.place[s][order[i][k]] = (uint8_t)k;
        memcpy(at->temporal_order, order[i], SX_MAX_DIMS);
        if (inner >= 0 && sx_decided_first(&w->prefix.decided, s - 1, s, all).dim != inner) continue;
        const sx_prefix_query query = {.last = s, .order = true, .ranged = ranged};
        if (!is_open(w, &query)) continue;
        set_factors(w, s, n_dims, false);
        expand_factors(w, s, 0);
        set_factors(w, s, n_dims, true);
    }
    set_factors(w, s, n_dims, false);
}

/* The largest factor of a dimension for which a level has room, where those of the dimensions after it are 1. */
static uint64_t largest_factor(sx_remainder_walk *w, int s, int d) {
    uint64_t low = 1, high = (w->context.space->problem->size[d] - 1) / w->prefix.decided.base[s][d] + 1;
    while (low < high) {
        uint64_t middle = (low + high + 1) / 2;
        sx_decided_set(&w->prefix.decided, s, d, middle);
        if (tiles_fit(w, s))
            low = middle;
        else
            high = middle - 1;
    }
    sx_decided_set(&w->prefix.decided, s, d, 1);
    return low;
}

/* Whether some tile may be below the value that has the largest extents there is room for from dimension d on, and any that are
 * alike before it. */
static bool may_go_on(sx_remainder_walk *w, int s, int d, int inner) {
    const int n = w->context.space->problem->n_dims;
    sx_prefix_query query = {.last = s, .inner = inner};
    uint64_t most[SX_MAX_DIMS];
    if (d == n || !w->prefix.usable) return true;
    for (int k = d; k < n; k++) {
        most[k] = largest_factor(w, s, k);
        query.loose |= 1u << k;
    }
    for (int k = d; k < n; k++) sx_decided_set(&w->prefix.decided, s, k, most[k]);
    query.ranged = set_factors(w, s, d, true);
    bool open = is_open(w, &query);
    set_factors(w, s, d, false);
    for (int k = d; k < n; k++) sx_decided_set(&w->prefix.decided, s, k, 1);
    return open;
}

/* Goes through the temporal factors of a level from dimension d on, where the innermost loop is on a dimension, or
 * there is none (-1). */
static void choose_factors(sx_remainder_walk *w, int s, int d, int inner) {
    const sx_verify_space *space = w->context.space;
    if (d == space->problem->n_dims) {
        try_orders(w, s, inner);
        return;
    }
    const sx_limit limit = space->temporal[s][d];
    const uint64_t tiles = (space->problem->size[d] - 1) / w->prefix.decided.base[s][d] + 1;
    uint64_t most = limit.most < tiles ? limit.most : tiles, next;
    if (inner == -1 && most > 1) most = 1;
    for (uint64_t t = s + 1 == space->arch->n_levels ? tiles : limit.least; t <= most && goes_on(w);
         t = next) {
        next = sx_decided_alike(&w->prefix.decided, s, d, t) + 1;
        if (next > most) next = most + 1;
        if ((inner == d && t == 1) || t < limit.least) continue;
        w->low[s][d] = (uint32_t)t;
        w->high[s][d] = (uint32_t)(next - 1);
        set_factor(w, s, d, t);
        if (!tiles_fit(w, s)) break;
        if (may_go_on(w, s, d + 1, inner)) choose_factors(w, s, d + 1, inner);
    }
    set_factor(w, s, d, 1);
}

/* Goes through all that a level may have. */
static void walk_level(sx_remainder_walk *w, int s) {
    const sx_verify_space *space = w->context.space;
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint64_t spatial = w->bounds.outline.spatial[s][d], reach = w->prefix.decided.reach[s][d];
        if (spatial > 1 && (spatial - 1) * reach >= space->problem->size[d]) return;
        set_factor(w, s, d, 1);
    }
    if (!tiles_fit(w, s)) return;
    if (!sx_verify_order_matters(space, &w->mapping.level[s], s)) {
        if (may_go_on(w, s, 0, ANY_LOOP)) choose_factors(w, s, 0, ANY_LOOP);
        return;
    }
    for (int inner = -1; inner < space->problem->n_dims && goes_on(w); inner++)
        if (inner < 0 || may_go_on(w, s, 0, inner)) choose_factors(w, s, 0, inner);
}

/* Goes through all mappings of a spatial mapping; false to end. */
static bool walk_spatial(void *user, const uint32_t (*spatial)[SX_MAX_DIMS]) {
    sx_remainder_walk *w = user;
    const sx_verify_space *space = w->context.space;
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    memcpy(outline.spatial, spatial, sizeof outline.spatial);
    for (int s = 0; s < space->arch->n_levels; s++)
        for (int d = space->problem->n_dims; d < SX_MAX_DIMS; d++) outline.spatial[s][d] = 1;
    w->counts.spatial++;
    sx_imperfect_bound_spatial(&w->bounds, &outline);
    sx_score score = sx_imperfect_bound_any(&w->bounds);
    if (!(value_of(w->context.objective, &score) < w->value)) return goes_on(w);
    w->counts.searched++;
    for (int s = 0; s < space->arch->n_levels; s++)
        memcpy(w->mapping.level[s].spatial, spatial[s], space->problem->n_dims * sizeof **spatial);
    for (uint32_t i = 0; i < 1u << sx_verify_space_n_keeps(space) && goes_on(w); i++) {
        if (!sx_verify_space_choose_keep(space, i, outline.keep)) continue;
        for (int s = 0; s < space->arch->n_levels; s++) w->mapping.level[s].keep = outline.keep[s];
        sx_imperfect_bound_keep(&w->bounds, outline.keep);
        score = sx_imperfect_bound_score(&w->bounds, 0);
        if (!(value_of(w->context.objective, &score) < w->value)) continue;
        sx_prefix_bound_begin(&w->prefix);
        walk_level(w, 0);
    }
    return goes_on(w);
}

sx_check_outcome sx_remainder_walk_check(sx_remainder_walk *w, double value, void (*tick)(void *user),
                                         void *user, double *least) {
    w->outcome = SX_CHECK_NONE_BELOW;
    w->value = value;
    w->tick = tick;
    w->user = user;
    sx_verify_space_list_spatial(w->context.space, true, w->context.budget, walk_spatial, w);
    if (w->outcome == SX_CHECK_NONE_BELOW && atomic_load(&w->context.budget->over))
        w->outcome = SX_CHECK_STOPPED;
    *least = w->least;
    return w->outcome;
}
