/* All mappings of a spatial mapping, in the plainest way: what levels keep, then tile and order of one level
 * after another from the innermost outward, then ways to lay spatial loops on X and Y. A branch is left where
 * the model's lower bound of it (bound/bound.h) is not below the value that is claimed; what comes through to
 * the end is evaluated by the model. There is no incumbent and no order of search.
 *
 * Complexity: exponential at worst; what is visited depends on how close the bounds are. */
#include "verify/enumeration.h"

#include "base/status.h"
#include "model/latency.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sx_enumeration {
    sx_check_context context;
    sx_outline_bound *bounds;
    sx_model_workspace *workspace;
    bool sound; /* the objective does not fall as energy or cycles grow: bounds say something */
    bool whole; /* go through all tiles and orders, not only the innermost tiles */
    sx_check_outcome outcome;
    sx_status failure; /* of the outcome SX_CHECK_FAILED */
    double value, least;
    unsigned beat;
    uint64_t evaluations;
    uint32_t *point[SX_MAX_DIMS]; /* per divisor of a dimension: its number in the lattice */
    sx_partial_mapping partial[SX_MAX_LEVELS + 1];
    sx_launched_tile launched;           /* where there are bounds of the latency */
    unsigned movable[SX_MAX_LEVELS + 1]; /* loops of the level inside that may move here (bound/movable.c) */
    sx_mapping mapping;
    sx_mapping_visitor *listener;
    bool every; /* it is told of mappings from which a loop can move, too */
    void *user;
    void (*tick)(void *user);
    void *tick_user;
};

/* Whether an objective cannot fall as energy, cycles or latency grow. */
static bool is_sound(const sx_objective *objective) {
    const sx_criterion *c = &objective->criterion[0];
    if (c->kind == SX_PRODUCT || c->kind == SX_LATENCY) return c->energy_power >= 0 && c->delay_power >= 0;
    return c->kind == SX_UTILIZATION;
}

/* Numbers the divisors of all dimensions; false when memory is out. */
static bool number_divisors(sx_enumeration *t) {
    const sx_verify_space *space = t->context.space;
    uint32_t extent[SX_MAX_DIMS];
    for (int d = 0; d < SX_MAX_DIMS; d++) extent[d] = 1;
    for (int d = 0; d < space->problem->n_dims; d++) {
        t->point[d] = malloc(space->divisors[d].n * sizeof *t->point[d]);
        if (!t->point[d]) return false;
        for (size_t i = 0; i < space->divisors[d].n; i++) {
            extent[d] = space->divisors[d].divisor[i];
            t->point[d][i] = sx_lattice_point(&t->context.bound->lattice, extent);
        }
        extent[d] = 1;
    }
    return true;
}

sx_status sx_enumeration_new(const sx_check_context *context, sx_enumeration **out) {
    sx_enumeration *t = calloc(1, sizeof *t);
    if (!t) return sx_error_memory();
    t->context = *context;
    t->sound = is_sound(context->objective);
    t->every = context->latency; /* a loop that moves changes the tiles that are launched */
    sx_mapping_init(&t->mapping, context->space->problem, context->space->arch);
    for (int s = 0; s < context->space->arch->n_levels; s++)
        sx_level_limits_impose(&context->space->constraints->level[s], &t->mapping.level[s]);
    sx_status status =
        number_divisors(t) ? sx_outline_bound_new(context->bound, &t->bounds) : sx_error_memory();
    if (!status) status = sx_model_workspace_new(context->space->model, &t->workspace);
    if (status) {
        sx_enumeration_free(t);
        return status;
    }
    *out = t;
    return SX_OK;
}

void sx_enumeration_free(sx_enumeration *t) {
    if (!t) return;
    for (int d = 0; d < SX_MAX_DIMS; d++) free(t->point[d]);
    sx_outline_bound_free(t->bounds);
    sx_model_workspace_free(t->workspace);
    sx_status_free(t->failure);
    free(t);
}

/* Ends a check with an error. */
static void fail_check(sx_enumeration *t, sx_status failure) {
    sx_status_free(t->failure);
    t->failure = failure;
    t->outcome = SX_CHECK_FAILED;
}

sx_status sx_enumeration_failure(sx_enumeration *t) {
    sx_status failure = t->failure;
    t->failure = SX_OK;
    return failure;
}

uint64_t sx_enumeration_evaluations(const sx_enumeration *t) {
    return t->evaluations;
}

void sx_enumeration_on_tick(sx_enumeration *t, void (*tick)(void *user), void *user) {
    t->tick = tick;
    t->tick_user = user;
}

void sx_enumeration_on_below(sx_enumeration *t, bool every, sx_mapping_visitor *listener, void *user) {
    t->listener = listener;
    t->every = every;
    t->user = user;
}

int sx_verify_space_n_keeps(const sx_verify_space *space) {
    int n = 0;
    for (int s = 0; s < space->arch->n_levels; s++)
        n += __builtin_popcount(space->may[s] & ~(unsigned)space->must[s]);
    return n;
}

/* The least value of the objective for a bound, where the tiles of the first n levels are set, the last of them of that point;
 * -INFINITY where nothing can be said. */
static double value_of(const sx_enumeration *t, sx_score bound, int n, uint32_t point) {
    if (!t->sound) return -INFINITY;
    if (bound.energy_pj < 0) bound.energy_pj = 0;
    bound.latency = bound.cycles;
    if (t->context.latency)
        bound.latency = sx_launched_tile_least(t->context.latency, &t->launched, n, point, bound.cycles);
    return sx_criterion_value(&t->context.objective->criterion[0], &bound);
}

static bool goes_on(sx_enumeration *t) {
    enum { OFTEN = 8192 };
    if (t->tick && t->beat % OFTEN == 0) t->tick(t->tick_user);
    if (!sx_check_budget_step(t->context.budget, &t->beat) && t->outcome == SX_CHECK_NONE_BELOW)
        t->outcome = SX_CHECK_STOPPED;
    return t->outcome == SX_CHECK_NONE_BELOW;
}

/* Whether a branch may hold something below the value. */
static bool is_open(const sx_enumeration *t, double bound) {
    return bound < t->value;
}

/* Notes the spatial factors for bounds of the latency. */
static void begin_launched(sx_enumeration *t, const uint32_t (*spatial)[SX_MAX_DIMS]) {
    if (t->context.latency)
        sx_launched_tile_begin(t->context.latency, &t->context.bound->lattice, spatial, &t->launched);
}

double sx_enumeration_compulsory(sx_enumeration *t, const uint32_t (*spatial)[SX_MAX_DIMS]) {
    const sx_verify_space *space = t->context.space;
    sx_outline outline;
    uint8_t more[SX_MAX_LEVELS] = {0};
    memset(&outline, 0, sizeof outline);
    memcpy(outline.spatial, spatial, sizeof outline.spatial);
    for (int s = 0; s < space->arch->n_levels; s++) {
        outline.keep[s] = space->must[s];
        more[s] = space->may[s];
    }
    begin_launched(t, spatial);
    return value_of(t, sx_outline_bound_spatial(t->bounds, &outline, more), 0, 0);
}

/* Evaluates the mapping. */
static void evaluate_mapping(sx_enumeration *t) {
    const sx_verify_space *space = t->context.space;
    sx_score score;
    sx_verdict verdict =
        sx_evaluate_within(t->workspace, &t->mapping, t->context.objective, t->value, &score);
    t->evaluations++;
    if (verdict.reason >= SX_NO_MEMORY)
        fail_check(t, sx_verdict_status(&verdict, space->problem, space->arch));
    if (verdict.reason != SX_LEGAL) return;
    if (!sx_constraints_allow(space->constraints, &t->mapping, space->problem, space->arch, NULL, 0)) return;
    double value = sx_objective_value(t->context.objective, &score);
    if (value >= t->value) return;
    if (t->listener) {
        t->listener(t->user, &t->mapping);
        return;
    }
    t->least = value;
    t->outcome = SX_CHECK_BELOW;
}

/* Evaluates the mapping in all ways to lay the spatial loops of level s and those inside it. */
static void lay_spatial(sx_enumeration *t, int s) {
    const sx_verify_space *space = t->context.space;
    if (s < 0) {
        evaluate_mapping(t);
        return;
    }
    sx_mapping_level *at = &t->mapping.level[s];
    unsigned loops = sx_verify_space_loops(space, at->spatial), x = 0;
    do {
        if (!goes_on(t)) return;
        if (sx_verify_space_fits(space, s, at->spatial, x)) {
            sx_verify_space_set_layout(space, s, x, at);
            lay_spatial(t, s - 1);
        }
        x = (x - loops) & loops;
    } while (x);
}

static void enumerate_tiles(sx_enumeration *t, int s, int d, uint32_t *extent, uint32_t point);

bool sx_verify_order_matters(const sx_verify_space *space, const sx_mapping_level *level, int s) {
    return s > 0 || space->model->sparse || sx_latency_sees_orders(space->model) ||
           (sx_verify_space_loops(space, level->spatial) && !space->model->options.no_link_transfers);
}

/* The orders of a level that differ in cost; just the first where its order does not matter. */
static const uint8_t (*orders_of(sx_enumeration *t, int s, size_t *n))[SX_MAX_DIMS] {
    const sx_verify_space *space = t->context.space;
    const sx_mapping_level *at = &t->mapping.level[s];
    const uint8_t(*order)[SX_MAX_DIMS] =
        sx_order_list_of(t->context.order_list, s, sx_verify_space_loops(space, at->temporal), n);
    if (!order)
        fail_check(t,
                   *n ? sx_error_hint(sx_error_new(SX_ERR_LIMIT,
                                                   "%s has more than %zu partial loop orders to tell apart",
                                                   space->arch->level[s].name, *n),
                                      "constrain the permutation of its temporal loops in the search")
                      : sx_error_memory());
    if (*n > 1 && !sx_verify_order_matters(space, at, s)) *n = 1;
    return order;
}

/* Goes on outward from a level whose tile is set, in all orders. */
static void enumerate_orders(sx_enumeration *t, int s, const uint32_t *extent, uint32_t point) {
    size_t n;
    const uint8_t(*order)[SX_MAX_DIMS] = orders_of(t, s, &n);
    const sx_bound *b = t->context.bound;
    sx_mapping_level *at = &t->mapping.level[s];
    for (size_t i = 0; i < n && goes_on(t); i++) {
        sx_partial_mapping_extend(t->bounds, &t->partial[s], s, extent, point, order[i], &t->partial[s + 1]);
        if (!is_open(t,
                     value_of(t, sx_partial_mapping_bound(t->bounds, &t->partial[s + 1], s), s + 1, point)))
            continue;
        memcpy(at->temporal_order, order[i], SX_MAX_DIMS);
        t->movable[s + 1] = t->every ? 0 : sx_bound_movable(b, s, at->keep, at->temporal, order[i]);
        if (s + 1 == t->context.space->arch->n_levels) {
            lay_spatial(t, s);
        } else {
            uint32_t next[SX_MAX_DIMS] = {0};
            enumerate_tiles(t, s + 1, 0, next, 0);
        }
    }
}

/* Whether the space has the mapping that stands for those in which level s has no loop on a dimension that moves there: the
 * level inside may be without that loop and keep the same, and level s may have it. */
__attribute__((unused)) static bool moved_is_member(const sx_enumeration *t, int s, int d) {
    const sx_verify_space *space = t->context.space;
    const sx_mapping_level *from = &t->mapping.level[s - 1];
    uint32_t extent[SX_MAX_DIMS];
    memcpy(extent, t->partial[s].extent, sizeof extent);
    extent[d] /= from->temporal[d];
    return space->temporal[s - 1][d].least <= 1 && space->temporal[s][d].most >= from->temporal[d] &&
           sx_verify_space_banks_fit(space, s - 1, from->keep, extent);
}

/* Takes a tile of a level whose extents are all set, unless its bound or its banks speak against it. */
static void visit_tile(sx_enumeration *t, int s, const uint32_t *extent, uint32_t point) {
    sx_mapping_level *at = &t->mapping.level[s];
    for (unsigned left = t->movable[s]; left; left &= left - 1) {
        int d = __builtin_ctz(left);
        if (extent[d] != t->partial[s].extent[d] * at->spatial[d]) continue;
        assert(moved_is_member(t, s, d));
        return;
    }
    sx_score bound = sx_partial_mapping_try(t->bounds, &t->partial[s], s, extent, point);
    double value = isinf(bound.energy_pj) ? INFINITY : value_of(t, bound, s + 1, point);
    if (!is_open(t, value)) return;
    if (!t->whole) {
        t->outcome = SX_CHECK_BELOW;
        t->least = value;
        return;
    }
    for (int d = 0; d < t->context.space->problem->n_dims; d++)
        at->temporal[d] = extent[d] / (t->partial[s].extent[d] * at->spatial[d]);
    if (t->context.latency) sx_launched_tile_set(t->context.latency, s, point, &t->launched);
    if (sx_verify_space_banks_fit(t->context.space, s, at->keep, extent))
        enumerate_orders(t, s, extent, point);
}

/* Goes through the tiles of level s, whose extents before dimension d are set. */
static void enumerate_tiles(sx_enumeration *t, int s, int d, uint32_t *extent, uint32_t point) {
    const sx_verify_space *space = t->context.space;
    if (!goes_on(t)) return;
    if (d == space->problem->n_dims) {
        visit_tile(t, s, extent, point);
        return;
    }
    sx_limit limit = space->temporal[s][d];
    uint32_t base = t->partial[s].extent[d] * t->mapping.level[s].spatial[d], left = space->problem->size[d];
    bool last = s + 1 == space->arch->n_levels;
    for (int r = s + 1; r < space->arch->n_levels; r++) left /= t->mapping.level[r].spatial[d];
    for (size_t i = 0; i < space->divisors[d].n; i++) {
        uint32_t to = space->divisors[d].divisor[i];
        if (to % base || left % to || (last && to != left)) continue;
        if (to / base < limit.least || to / base > limit.most) continue;
        extent[d] = to;
        enumerate_tiles(t, s, d + 1, extent, point + t->point[d][i]);
    }
}

bool sx_verify_space_choose_keep(const sx_verify_space *space, uint32_t choice, uint8_t *keep) {
    unsigned kept = 0;
    for (int s = 0; s < space->arch->n_levels; s++) {
        keep[s] = space->must[s];
        for (unsigned more = space->may[s] & ~(unsigned)keep[s]; more; more &= more - 1, choice >>= 1)
            if (choice & 1) keep[s] |= (uint8_t)(more & -more);
        kept |= keep[s];
    }
    return kept == (1u << space->problem->n_tensors) - 1;
}

/* Looks at a spatial mapping in all choices of what levels keep. */
static sx_check_outcome check_spatial_mapping(sx_enumeration *t, const uint32_t (*spatial)[SX_MAX_DIMS],
                                              double value, bool whole, double *least) {
    const sx_verify_space *space = t->context.space;
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    memcpy(outline.spatial, spatial, sizeof outline.spatial);
    for (int s = 0; s < space->arch->n_levels; s++)
        memcpy(t->mapping.level[s].spatial, spatial[s], space->problem->n_dims * sizeof **spatial);
    t->outcome = SX_CHECK_NONE_BELOW;
    t->value = value;
    t->whole = whole;
    begin_launched(t, spatial);
    for (uint32_t i = 0; i < 1u << sx_verify_space_n_keeps(space) && goes_on(t); i++) {
        uint32_t extent[SX_MAX_DIMS] = {0};
        if (!sx_verify_space_choose_keep(space, i, outline.keep)) continue;
        for (int s = 0; s < space->arch->n_levels; s++) t->mapping.level[s].keep = outline.keep[s];
        sx_outline_bound_begin(t->bounds, &outline);
        if (!is_open(t, value_of(t, sx_outline_bound_compulsory(t->bounds), 0, 0))) continue;
        if (!is_open(t, value_of(t, sx_outline_bound_quick(t->bounds, false), 0, 0))) continue;
        sx_check_budget_spend(t->context.budget, t->context.bound->lattice.n_points);
        sx_outline_bound_tabulate(t->bounds, &(sx_interrupt){sx_check_budget_over, t->context.budget});
        sx_partial_mapping_begin(t->bounds, &t->partial[0]);
        enumerate_tiles(t, 0, 0, extent, 0);
    }
    *least = t->least;
    return t->outcome;
}

sx_check_outcome sx_enumeration_check_bounds(sx_enumeration *t, const uint32_t (*spatial)[SX_MAX_DIMS],
                                             double value, double *least) {
    return check_spatial_mapping(t, spatial, value, false, least);
}

sx_check_outcome sx_enumeration_check_mappings(sx_enumeration *t, const uint32_t (*spatial)[SX_MAX_DIMS],
                                               double value, double *least) {
    return check_spatial_mapping(t, spatial, value, true, least);
}
