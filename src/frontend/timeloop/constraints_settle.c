/* What follows from constraints when all of them are known: fixed factors that cannot be, and dimensions that
 * are to be maximized. Both are as in Timeloop: its v0.4 front end turns `maximize_dims` into fixed factors,
 * which need not divide, and its mapper drops a fixed factor that does not divide what the ones inside it
 * leave of the dimension. */
#include "frontend/timeloop/constraints_gather.h"
#include "frontend/timeloop/mapping_names.h"
#include "frontend/timeloop/spec_value.h"

#include <string.h>

/* Whether a factor is fixed to more than 1. */
static bool is_fixed(sx_gathering *g, int slot, int d) {
    const sx_loop_limits *limits = sx_slot_limits(g, slot);
    return limits->min[d] > 1 && limits->min[d] == limits->max[d];
}

static const char *kind_of(int slot) {
    return slot % 2 ? "temporal" : "spatial";
}

/* Frees fixed factors of a dimension that do not divide, going outward. */
static sx_status free_factors(sx_gathering *g, int d) {
    uint64_t inner = 1;
    uint32_t size = g->problem->size[d];
    for (int slot = 0; slot < 2 * g->arch->n_levels; slot++) {
        sx_loop_limits *limits = sx_slot_limits(g, slot);
        sx_slot_places *places = &g->slot[slot];
        uint32_t value = limits->min[d];
        if (!is_fixed(g, slot, d)) continue;
        if (size % (inner * value) == 0) {
            inner *= value;
            continue;
        }
        SX_TRY(sx_input_warn(g->input, places->min[d],
                             "the %s factor %s=%u of '%s' does not divide %u%s and is ignored, as by "
                             "Timeloop; --remainders keeps it",
                             kind_of(slot), g->problem->dim_name[d], value, g->arch->level[slot / 2].name,
                             (unsigned)(size / inner), inner > 1 ? ", all that inner factors leave," : ""));
        limits->min[d] = 1;
        limits->max[d] = SX_MAX_DIM_SIZE;
        places->min[d] = places->max[d] = (sx_place){0};
    }
    return SX_OK;
}

/* A group of dimensions of which as much as possible is to be placed. */
typedef struct group {
    int n, dim[SX_MAX_DIMS];
    uint32_t left[SX_MAX_DIMS];  /* of each dimension, to be placed anywhere */
    uint32_t taken[SX_MAX_DIMS]; /* the factors found */
    long steps;                  /* that may still be made */
} group;

/* The smallest prime factor of a number beyond 1. */
static uint32_t smallest_prime(uint32_t n) {
    for (uint32_t p = 2; p <= n / p; p++)
        if (n % p == 0) return p;
    return n;
}

/* Takes what is best of a dimension that is larger than the capacity: nearly equal parts, of which the last
 * is smaller. Returns how much of the capacity is in use on average. */
static double take_part(uint32_t left, uint64_t capacity, uint32_t *part) {
    uint32_t parts = (uint32_t)((left - 1) / capacity + 1);
    *part = (left - 1) / parts + 1;
    return ((double)*part * (parts - 1) + left % *part) / parts;
}

/* Finds the factors that use a capacity best, and how much of it; among equals those that take the primes of
 * the first dimensions. */
static double allocate_factors(group *m, uint64_t capacity) {
    uint32_t best[SX_MAX_DIMS];
    double use = 1;
    for (int i = 0; i < m->n; i++) m->taken[i] = 1;
    memcpy(best, m->taken, sizeof best);
    for (int i = 0; i < m->n && capacity > 1 && use < (double)capacity && --m->steps > 0; i++) {
        uint32_t left = m->left[i], rest = left, part = 1;
        double part_use = left > capacity ? take_part(left, capacity, &part) : 0;
        if (part_use > use) {
            use = part_use;
            for (int k = 0; k < m->n; k++) best[k] = k == i ? part : 1;
        }
        while (rest > 1) {
            uint32_t p = smallest_prime(rest);
            while (rest % p == 0) rest /= p;
            if (p > capacity) continue;
            m->left[i] = left / p;
            double found = p * allocate_factors(m, capacity / p);
            m->left[i] = left;
            if (found <= use) continue;
            use = found;
            memcpy(best, m->taken, sizeof best);
            best[i] *= p;
        }
    }
    memcpy(m->taken, best, sizeof best);
    return use;
}

/* What fixed factors leave of a dimension. */
static uint32_t left_of(sx_gathering *g, int d) {
    uint32_t left = g->problem->size[d];
    for (int slot = 0; slot < 2 * g->arch->n_levels; slot++)
        if (is_fixed(g, slot, d)) left = (left - 1) / sx_slot_limits(g, slot)->min[d] + 1;
    return left;
}

/* What is left of a slot's capacity beside the factors it must have. */
static uint64_t room_of(sx_gathering *g, int slot, uint64_t capacity) {
    for (int d = 0; d < g->problem->n_dims; d++) capacity /= sx_slot_limits(g, slot)->min[d];
    return capacity;
}

/* Adds a dimension to a group; a visitor for sx_node_names. */
typedef struct collector {
    sx_gathering *g;
    int slot;
    group *m;
} collector;

static sx_status add_dimension(void *user, const char *name, sx_place place) {
    collector *c = user;
    int d = sx_problem_dim(c->g->problem, name);
    if (d < 0) return sx_dimension_unknown(place, name, c->g->problem);
    for (int i = 0; i < c->m->n; i++)
        if (c->m->dim[i] == d) return sx_error_at(place, "'%s' is named twice", name);
    if (c->g->slot[c->slot].min[d].file || c->g->slot[c->slot].max[d].file)
        return sx_error_hint(sx_error_at(place, "'%s' cannot be maximized: its factor is constrained", name),
                             "leave it out here, or among the factors");
    c->m->dim[c->m->n] = d;
    c->m->left[c->m->n++] = left_of(c->g, d);
    return SX_OK;
}

/* Fixes the factors of one group of dimensions. */
static sx_status maximize_group(sx_gathering *g, int slot, const sx_node *names, uint64_t capacity) {
    group m = {.steps = 1000000};
    collector c = {g, slot, &m};
    sx_loop_limits *limits = sx_slot_limits(g, slot);
    SX_TRY(sx_node_names(names, "maximize_dims", add_dimension, &c));
    (void)allocate_factors(&m, room_of(g, slot, capacity));
    if (m.steps <= 0)
        return sx_error_hint(sx_error_at(names->place, "there are too many ways to maximize these"),
                             "write the factors, such as 'factors: [C=4]'");
    for (int i = 0; i < m.n; i++) {
        int d = m.dim[i];
        limits->min[d] = limits->max[d] = m.taken[i];
        g->slot[slot].min[d] = g->slot[slot].max[d] = names->place;
    }
    return SX_OK;
}

/* Fixes the factors that a slot is to have as large as possible. */
static sx_status maximize_slot(sx_gathering *g, int slot) {
    const sx_node *list = g->slot[slot].maximize;
    uint64_t capacity = sx_arch_fanout_x(g->arch, slot / 2) * sx_arch_fanout_y(g->arch, slot / 2);
    if (!list) return SX_OK;
    const sx_spec_scope scope = {
        .input = g->input, .problem = g->problem, .level = &g->arch->level[slot / 2]};
    if (g->slot[slot].capacity)
        SX_TRY(sx_spec_count(&scope, g->slot[slot].capacity, "maximize_dims_capacity", 1, SX_MAX_DIM_SIZE,
                             &capacity));
    bool groups = list->kind == SX_NODE_LIST && list->item[0]->kind == SX_NODE_LIST;
    if (!groups) return maximize_group(g, slot, list, capacity);
    for (size_t i = 0; i < list->n; i++) SX_TRY(maximize_group(g, slot, list->item[i], capacity));
    return SX_OK;
}

sx_status sx_gathering_settle(sx_gathering *g) {
    int slots = 2 * g->arch->n_levels;
    for (int slot = 0; slot < slots; slot += 2) SX_TRY(maximize_slot(g, slot));
    for (int slot = 1; slot < slots; slot += 2) SX_TRY(maximize_slot(g, slot));
    for (int d = 0; d < g->problem->n_dims && !g->remainders; d++) SX_TRY(free_factors(g, d));
    return SX_OK;
}

/* A set of tensors being read. */
typedef struct tensor_set {
    const sx_problem *problem;
    uint8_t mask;
} tensor_set;

/* Adds a tensor by its name, or all of them ("*"); a visitor for sx_node_names. */
static sx_status add_tensor(void *user, const char *name, sx_place place) {
    tensor_set *set = user;
    int v = sx_problem_tensor(set->problem, name);
    if (strcmp(name, "*") == 0) {
        set->mask = (uint8_t)((1u << set->problem->n_tensors) - 1);
        return SX_OK;
    }
    if (v < 0) return sx_tensor_unknown(place, name, set->problem);
    set->mask = (uint8_t)(set->mask | 1u << v);
    return SX_OK;
}

sx_status sx_gather_coalescing(sx_gathering *g, const sx_constraint *c, int level) {
    const sx_pair *pair = sx_node_pair(c->map, "no_coalesce");
    tensor_set set = {.problem = g->problem};
    if (!pair || sx_node_empty(pair->value)) return SX_OK;
    SX_TRY(sx_node_names(pair->value, "no_coalesce", add_tensor, &set));
    if (level < 0) return SX_OK;
    uint8_t *mask = &g->limits.level[level].no_coalesce;
    *mask = (uint8_t)(*mask | set.mask);
    return sx_check_no_coalesce(g->input, pair, g->arch, level, mask);
}

sx_status sx_gather_reuse(sx_gathering *g, const sx_constraint *c, int level) {
    sx_level_limits unused, *limits = level < 0 ? &unused : &g->limits.level[level];
    bool temporal = c->type == SX_TEMPORAL_CONSTRAINT;
    const struct {
        const char *key;
        uint8_t *mask;
        bool temporal;
    } switches[] = {
        {"no_reuse", temporal ? &limits->no_temporal_reuse : &limits->no_multicast, temporal},
        {"no_temporal_reuse", &limits->no_temporal_reuse, true},
        {"rmw_first_update", &limits->rmw_first_update, true},
        {"rmw_on_first_writeback", &limits->rmw_first_update, true},
        {"no_multicast", &limits->no_multicast, false},
        {"no_multicast_no_reduction", &limits->no_multicast, false},
        {"no_link_transfer", &limits->no_link_transfer, false},
    };
    memset(&unused, 0, sizeof unused);
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        const sx_pair *pair = sx_node_pair(c->map, switches[i].key);
        tensor_set set = {.problem = g->problem};
        if (!pair) continue;
        SX_TRY(sx_node_names(pair->value, switches[i].key, add_tensor, &set));
        if (switches[i].temporal != temporal && set.mask)
            return sx_error_at(pair->place, "'%s' is of %s constraints only", switches[i].key,
                               temporal ? "spatial" : "temporal");
        *switches[i].mask = (uint8_t)(*switches[i].mask | set.mask);
    }
    return SX_OK;
}
