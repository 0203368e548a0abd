/* Constraints on loops: factors, permutations and splits. */
#include "frontend/timeloop/constraints_gather.h"
#include "frontend/timeloop/mapping_factors.h"
#include "frontend/timeloop/mapping_names.h"
#include "frontend/timeloop/spec_value.h"

#include <string.h>

/* A constraint whose factors are being added. */
typedef struct adder {
    sx_gathering *g;
    const sx_constraint *c;
    int slot;          /* -1: its target has no loops */
    uint32_t said;     /* the dimensions named so far */
    uint32_t no_upper; /* those of them that have no upper bound */
    uint32_t no_lower;
} adder;

static const char *const words[] = {
    [SX_EXACTLY] = "", [SX_AT_MOST] = "at most ", [SX_AT_LEAST] = "at least "};

static const char contradiction[] = "the two contradict each other: change one of them";

static const char *kind_of(int slot) {
    return slot % 2 ? "temporal" : "spatial";
}

/* The error for a factor that breaks a limit said elsewhere. */
static sx_status factor_clash(const adder *a, const sx_factor_term *term, sx_relation relation,
                              uint32_t limit, sx_place place) {
    const sx_loop_limits *limits = sx_slot_limits(a->g, a->slot);
    if (limits->min[term->dim] == limits->max[term->dim]) relation = SX_EXACTLY;
    return sx_error_hint(sx_error_at(term->place,
                                     "the %s factor of '%s' at '%s' must be %s%u, but %s%u at %s:%d:%d",
                                     kind_of(a->slot), a->g->problem->dim_name[term->dim],
                                     a->g->arch->level[a->slot / 2].name, words[term->relation], term->value,
                                     words[relation], limit, place.file, place.line, place.column),
                         contradiction);
}

/* A factor beyond its dimension: a fixed one is ignored as Timeloop does it, a lower bound leaves nothing. */
static sx_status factor_beyond(const adder *a, const sx_factor_term *term) {
    const char *name = a->g->problem->dim_name[term->dim], *level = a->g->arch->level[a->slot / 2].name;
    uint32_t size = a->g->problem->size[term->dim];
    if (term->relation == SX_EXACTLY)
        return sx_input_warn(a->g->input, term->place,
                             "the %s factor %s=%u of '%s' exceeds the size %u and is ignored, as by Timeloop",
                             kind_of(a->slot), name, term->value, level, size);
    return sx_error_hint(sx_error_at(term->place,
                                     "the %s factor of '%s' at '%s' must be %s%u, but its size is %u",
                                     kind_of(a->slot), name, level, words[term->relation], term->value, size),
                         "ask for at most %u", size);
}

/* Adds what is said of a factor to the limits. */
static sx_status add_term(adder *a, const sx_factor_term *term) {
    if (a->slot < 0) {
        if (term->relation == SX_AT_MOST || term->value == 1) return SX_OK;
        return sx_error_hint(sx_error_at(term->place, "'%.64s' has no loops for this factor", a->c->target),
                             "give it to a storage level or a fan-out");
    }
    sx_loop_limits *limits = sx_slot_limits(a->g, a->slot);
    sx_slot_places *places = &a->g->slot[a->slot];
    int d = term->dim;
    bool upper = term->relation != SX_AT_LEAST, lower = term->relation != SX_AT_MOST;
    if (lower && term->value > a->g->problem->size[d]) return factor_beyond(a, term);
    if (lower && term->value > limits->max[d])
        return factor_clash(a, term, SX_AT_MOST, limits->max[d], places->max[d]);
    if (upper && term->value < limits->min[d])
        return factor_clash(a, term, SX_AT_LEAST, limits->min[d], places->min[d]);
    if (lower && (term->value > limits->min[d] || !places->min[d].file)) {
        limits->min[d] = term->value;
        places->min[d] = term->place;
    }
    if (upper && (term->value < limits->max[d] || !places->max[d].file)) {
        limits->max[d] = term->value;
        places->max[d] = term->place;
    }
    return SX_OK;
}

/* Adds a factor as written; a visitor for sx_factors_visit. */
static sx_status add_written(void *user, const sx_factor_term *term) {
    adder *a = user;
    uint32_t bit = 1u << term->dim;
    if (term->remainder)
        return sx_error_hint(sx_error_at(term->place, "a constraint's factor has no remainder"),
                             "write '%s=%u'", a->g->problem->dim_name[term->dim], term->value);
    a->said |= bit;
    if (term->relation != SX_AT_LEAST) a->no_upper &= ~bit;
    if (term->relation != SX_AT_MOST) a->no_lower &= ~bit;
    return add_term(a, term);
}

/* Says the same of all dimensions of a mask. */
static sx_status add_all(adder *a, uint32_t dims, sx_relation relation, uint32_t value, sx_place place) {
    if (relation == SX_EXACTLY) {
        a->no_upper &= ~dims;
        a->no_lower &= ~dims;
    }
    for (int d = 0; d < a->g->problem->n_dims; d++) {
        const sx_factor_term term = {d, relation, value, 0, place};
        if (dims >> d & 1) SX_TRY(add_term(a, &term));
    }
    return SX_OK;
}

/* Reads `factors`, and `factors_only`, which leaves no loop to the dimensions it does not name. */
static sx_status add_factors(adder *a) {
    const sx_node *factors = sx_node_get(a->c->map, "factors"),
                  *only = sx_node_get(a->c->map, "factors_only");
    if (factors) SX_TRY(sx_factors_visit(a->g->input, factors, a->g->problem, true, add_written, a));
    if (!only || only->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_factors_visit(a->g->input, only, a->g->problem, true, add_written, a));
    return add_all(a, ~a->said, SX_EXACTLY, 1, sx_node_key_place(a->c->map, "factors_only"));
}

/* Reads the bounds for the factors that have none of their own. */
static sx_status add_defaults(adder *a) {
    const sx_pair *max = sx_node_pair(a->c->map, "default_max_factor");
    const sx_pair *min = sx_node_pair(a->c->map, "default_min_factor");
    uint64_t value;
    if (max && max->value->kind != SX_NODE_NULL) {
        SX_TRY(sx_node_range(max->value, "default_max_factor", 1, SX_MAX_DIM_SIZE, &value));
        SX_TRY(add_all(a, a->no_upper, SX_AT_MOST, (uint32_t)value, max->place));
    }
    if (min && min->value->kind != SX_NODE_NULL) {
        SX_TRY(sx_node_range(min->value, "default_min_factor", 1, SX_MAX_DIM_SIZE, &value));
        SX_TRY(add_all(a, a->no_lower, SX_AT_LEAST, (uint32_t)value, min->place));
    }
    return SX_OK;
}

/* A set of dimensions: those of some tensors. */
typedef struct reach {
    const sx_problem *problem;
    uint32_t dims;
} reach;

/* Adds a tensor's dimensions, or those of all tensors ("*"); a visitor for sx_node_names. */
static sx_status add_dims(void *user, const char *name, sx_place place) {
    reach *r = user;
    bool all = strcmp(name, "*") == 0;
    int which = sx_problem_tensor(r->problem, name);
    if (which < 0 && !all) return sx_tensor_unknown(place, name, r->problem);
    for (int v = 0; v < r->problem->n_tensors; v++) {
        const sx_tensor *tensor = &r->problem->tensor[v];
        if (v != which && !all) continue;
        for (int k = 0; k < tensor->n_ranks; k++)
            for (int d = 0; d < r->problem->n_dims; d++) r->dims |= (uint32_t)(tensor->coef[k][d] != 0) << d;
    }
    return SX_OK;
}

/* Reads the keys that forbid loops by tensor: over the dimensions of some, or over all others. */
static sx_status add_iteration(adder *a) {
    static const char *const keys[] = {"no_iteration_over_dataspaces", "must_iterate_over_dataspaces"};
    for (int i = 0; i < 2; i++) {
        const sx_pair *pair = sx_node_pair(a->c->map, keys[i]);
        reach r = {.problem = a->g->problem};
        if (!pair || pair->value->kind == SX_NODE_NULL) continue;
        SX_TRY(sx_node_names(pair->value, keys[i], add_dims, &r));
        SX_TRY(add_all(a, i == 0 ? r.dims : ~r.dims, SX_EXACTLY, 1, pair->place));
    }
    return SX_OK;
}

/* Puts two lists into one where one of them begins the other; false where they disagree. */
static bool join_lists(uint8_t *list, uint8_t *n, const uint8_t *more, int n_more) {
    int common = *n < n_more ? *n : n_more;
    if (memcmp(list, more, (size_t)common) != 0) return false;
    memcpy(list, more, (size_t)n_more > *n ? (size_t)n_more : 0);
    if (n_more > *n) *n = (uint8_t)n_more;
    return true;
}

static void reverse_list(uint8_t *list, int n) {
    for (int i = 0, j = n - 1; i < j; i++, j--) {
        uint8_t kept = list[i];
        list[i] = list[j];
        list[j] = kept;
    }
}

/* Joins an order with what a slot has already; false where they disagree. Lists that together name every
 * dimension become one list of all of them. */
static bool join_order(sx_loop_limits *limits, const sx_order *order, int n_dims) {
    int n_inner = order->gap < 0 ? order->n : order->gap, n_outer = order->n - n_inner;
    uint8_t outer[SX_MAX_DIMS];
    uint32_t seen = 0;
    memcpy(outer, order->dim + n_inner, (size_t)n_outer);
    reverse_list(outer, n_outer);
    reverse_list(limits->outer, limits->n_outer);
    bool good = join_lists(limits->inner, &limits->n_inner, order->dim, n_inner) &&
                join_lists(limits->outer, &limits->n_outer, outer, n_outer);
    reverse_list(limits->outer, limits->n_outer);
    for (int i = 0; i < limits->n_inner; i++) seen |= 1u << limits->inner[i];
    if (limits->n_inner == n_dims && limits->n_outer > 0) {
        good = good && memcmp(limits->inner + n_dims - limits->n_outer, limits->outer, limits->n_outer) == 0;
        limits->n_outer = 0;
    }
    for (int i = 0; i < limits->n_outer; i++) good = good && !(seen >> limits->outer[i] & 1);
    return good;
}

/* Puts dimensions that have one iteration in the slot inside of an order that does not name them, as the front end of
 * Timeloop 0.4 does, so that positions of a split count them. */
static sx_status complete_order(adder *a, const sx_pair *split, sx_order *order) {
    const sx_problem *problem = a->g->problem;
    const sx_loop_limits *limits = sx_slot_limits(a->g, a->slot);
    uint8_t all[SX_MAX_DIMS];
    uint32_t named = 0;
    int n = 0;
    for (int i = 0; i < order->n; i++) named |= 1u << order->dim[i];
    for (int d = problem->n_dims - 1; d >= 0; d--)
        if (!(named >> d & 1) && (limits->max[d] == 1 || problem->size[d] == 1)) all[n++] = (uint8_t)d;
    if (n == 0) return SX_OK;
    memcpy(all + n, order->dim, (size_t)order->n);
    memcpy(order->dim, all, (size_t)(n + order->n));
    order->n += n;
    if (order->gap >= 0) order->gap += n;
    return sx_input_warn(
        a->g->input, split->place,
        "'split' counts in the permutation that Timeloop's front end completes: %d dimension%s "
        "of one iteration come%s first",
        n, n == 1 ? "" : "s", n == 1 ? "s" : "");
}

static sx_status add_order(adder *a) {
    const sx_pair *pair = sx_node_pair(a->c->map, "permutation"), *split = sx_node_pair(a->c->map, "split");
    bool completes = split && a->slot >= 0 && split->value->kind != SX_NODE_NULL && a->g->completes;
    sx_order order = {.gap = -1};
    if (!pair && !completes) return SX_OK;
    if (pair) SX_TRY(sx_order_read(pair->value, a->g->problem, true, &order));
    if (!pair) pair = split;
    if (completes) SX_TRY(complete_order(a, split, &order));
    if (a->slot < 0 || order.n == 0) return SX_OK;
    sx_place *before = &a->g->slot[a->slot].order;
    if (!join_order(sx_slot_limits(a->g, a->slot), &order, a->g->problem->n_dims))
        return sx_error_hint(sx_error_at(pair->place,
                                         "this %s permutation of '%s' contradicts the one at %s:%d:%d",
                                         kind_of(a->slot), a->g->arch->level[a->slot / 2].name, before->file,
                                         before->line, before->column),
                             contradiction);
    *before = pair->place;
    return SX_OK;
}

/* Puts what is to lie all on one axis on the other one where only that has a fan-out. */
static sx_status turn_split(const adder *a, const sx_pair *pair, uint64_t *split) {
    uint64_t x = sx_arch_fanout_x(a->g->arch, a->slot / 2), y = sx_arch_fanout_y(a->g->arch, a->slot / 2);
    uint64_t all = a->g->problem->n_dims;
    bool turns = (*split == all && x == 1 && y > 1) || (*split == 0 && y == 1 && x > 1);
    if (!turns) return SX_OK;
    *split = all - *split;
    return sx_input_warn(a->g->input, pair->place,
                         "'split' puts all loops on %s, but '%s' fans out on %s: they lie there",
                         *split ? "Y" : "X", a->g->arch->level[a->slot / 2].name, *split ? "X" : "Y");
}

/* Reads where X ends and Y begins in a spatial order; more than all dimensions are all of them. */
static sx_status add_split(adder *a) {
    const sx_pair *pair = sx_node_pair(a->c->map, "split");
    uint64_t split;
    if (!pair || pair->value->kind == SX_NODE_NULL) return SX_OK;
    if (a->c->type != SX_SPATIAL_CONSTRAINT)
        return sx_error_hint(sx_error_at(pair->place, "'split' is for spatial constraints only"),
                             "leave it out");
    const sx_spec_scope scope = {.input = a->g->input, .problem = a->g->problem};
    SX_TRY(sx_spec_count(&scope, pair->value, "split", 0, UINT64_MAX, &split));
    if (a->slot < 0) return SX_OK;
    SX_TRY(sx_split_check(a->g->input, pair, split, a->g->problem, false));
    if (split > a->g->problem->n_dims) split = a->g->problem->n_dims;
    int level = a->slot / 2;
    SX_TRY(turn_split(a, pair, &split));
    sx_place *before = &a->g->split[level];
    int8_t *limit = &a->g->limits.level[level].split;
    if (before->file && *limit != (int8_t)split)
        return sx_error_hint(sx_error_at(pair->place, "'%s' must have %d dimensions on X, but %d at %s:%d:%d",
                                         a->g->arch->level[level].name, (int)split, *limit, before->file,
                                         before->line, before->column),
                             contradiction);
    *limit = (int8_t)split;
    *before = pair->place;
    return SX_OK;
}

/* Notes that dimensions are to be maximized, for when all factors are known; without a fan-out there is nothing to do. */
static sx_status add_maximize(adder *a) {
    const sx_pair *pair = sx_node_pair(a->c->map, "maximize_dims");
    const sx_pair *capacity = sx_node_pair(a->c->map, "maximize_dims_capacity");
    if (!pair || sx_node_empty(pair->value)) return SX_OK;
    if (a->slot < 0 && strcmp(a->c->target, a->g->arch->compute.name) == 0)
        return sx_error_at(pair->place, "'%.64s' has no loops whose dimensions could be maximized",
                           a->c->target);
    if (a->slot < 0) return SX_OK;
    if (a->g->slot[a->slot].maximize)
        return sx_error_hint(sx_error_at(pair->place, "a second 'maximize_dims' for these loops"),
                             "write the groups of dimensions as one list of lists");
    if (a->slot % 2 && !capacity)
        return sx_error_hint(sx_error_at(pair->place, "temporal 'maximize_dims' without a capacity"),
                             "add 'maximize_dims_capacity: N', the most that the factors may multiply to");
    a->g->slot[a->slot].maximize = pair->value;
    a->g->slot[a->slot].capacity = capacity ? capacity->value : NULL;
    return SX_OK;
}

/* Reads `remainders`: that there may be some is for the whole search to say. */
static sx_status add_remainders(adder *a) {
    const sx_pair *pair = sx_node_pair(a->c->map, "remainders");
    uint64_t most;
    if (!pair || pair->value->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_u64(pair->value, "remainders", &most));
    if (most == 0)
        return sx_error_hint(sx_error_at(pair->place, "'remainders: 0' cannot be set for one level"),
                             "remove it: factors divide unless the whole search allows remainders");
    a->g->remainders = true;
    return sx_input_add_note(a->g->input, pair->place,
                             "remainders are allowed for a whole search or not at all");
}

sx_status sx_gather_loops(sx_gathering *g, const sx_constraint *c, int level) {
    bool temporal = c->type == SX_TEMPORAL_CONSTRAINT;
    adder a = {
        .g = g, .c = c, .slot = level < 0 ? -1 : 2 * level + temporal, .no_upper = ~0u, .no_lower = ~0u};
    SX_TRY(add_remainders(&a));
    SX_TRY(add_factors(&a));
    SX_TRY(add_iteration(&a));
    SX_TRY(add_defaults(&a));
    SX_TRY(add_order(&a));
    SX_TRY(add_maximize(&a));
    return add_split(&a);
}
