/* Checks a mapping against constraints. Searches do so for every candidate: comparisons of integers, and text
 * only where it is wanted. */
#include "sextant/constraints.h"

#include "ir/arch.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What is checked, and where the reason is written. */
typedef struct outside {
    const sx_constraints *limits;
    const sx_mapping *mapping;
    const sx_problem *problem;
    const sx_arch *arch;
    char *text;
    size_t size;
} outside;

void sx_constraints_init(sx_constraints *constraints, const sx_problem *problem, const sx_arch *arch) {
    memset(constraints, 0, sizeof *constraints);
    constraints->n_levels = arch->n_levels;
    constraints->n_dims = problem->n_dims;
    constraints->n_tensors = problem->n_tensors;
    for (int s = 0; s < arch->n_levels; s++) {
        sx_level_limits *level = &constraints->level[s];
        level->split = -1;
        for (int d = 0; d < problem->n_dims; d++) {
            level->temporal.min[d] = level->spatial.min[d] = 1;
            level->temporal.max[d] = level->spatial.max[d] = SX_MAX_DIM_SIZE;
        }
    }
}

/* Says what is broken, where that is wanted; always false. */
static SX_PRINTF(2, 3) bool broken(const outside *j, const char *format, ...) {
    if (!j->text) return false;
    va_list args;
    va_start(args, format);
    vsnprintf(j->text, j->size, format, args);
    va_end(args);
    return false;
}

static const char *kind_of(bool spatial) {
    return spatial ? "spatial" : "temporal";
}

/* Says which factor of a slot is out of its limits; false. */
static bool broken_factor(const outside *j, int s, bool spatial, const sx_loop_limits *limits,
                          const uint32_t *factor) {
    int d = 0;
    while (factor[d] >= limits->min[d] && factor[d] <= limits->max[d]) d++;
    const char *level = j->arch->level[s].name, *dim = j->problem->dim_name[d];
    if (limits->min[d] == limits->max[d])
        return broken(j, "%s: the %s factor of %s must be %u, but is %u", level, kind_of(spatial), dim,
                      limits->min[d], factor[d]);
    bool low = factor[d] < limits->min[d];
    return broken(j, "%s: the %s factor of %s must be at %s %u, but is %u", level, kind_of(spatial), dim,
                  low ? "least" : "most", low ? limits->min[d] : limits->max[d], factor[d]);
}

/* Whether the factors of a slot lie within their limits. Those beyond the dimensions are 0, as their limits
 * are. */
static bool factors_allowed(const outside *j, int s, bool spatial, const sx_loop_limits *limits,
                            const uint32_t *factor) {
    unsigned out = 0;
    for (int d = 0; d < SX_MAX_DIMS; d++)
        out |= (unsigned)(factor[d] < limits->min[d]) | (unsigned)(factor[d] > limits->max[d]);
    return !out || broken_factor(j, s, spatial, limits, factor);
}

/* Whether a slot's loops stand in an order that its limits allow: those of `inner` first, those of `outer`
 * last. A loop of one iteration may stand anywhere. */
static bool order_allowed(const outside *j, int s, bool spatial, const sx_loop_limits *limits,
                          const uint32_t *factor, const uint8_t *order) {
    if (limits->n_inner + limits->n_outer == 0) return true;
    uint8_t rank[SX_MAX_DIMS];
    memset(rank, SX_MAX_DIMS, sizeof rank);
    for (int i = 0; i < limits->n_inner; i++) rank[limits->inner[i]] = (uint8_t)i;
    for (int i = 0; i < limits->n_outer; i++) rank[limits->outer[i]] = (uint8_t)(SX_MAX_DIMS + 1 + i);
    int last = -1;
    for (int i = 0; i < j->limits->n_dims; i++) {
        int d = order[i];
        if (factor[d] == 1) continue;
        if (last >= 0 && rank[d] < rank[last])
            return broken(j, "%s: the %s loop of %s must be inside that of %s", j->arch->level[s].name,
                          kind_of(spatial), j->problem->dim_name[d], j->problem->dim_name[last]);
        last = d;
    }
    return true;
}

/* Whether a level's spatial loops lie on the axes that its split gives them: dimensions of the inner list by
 * their place in it, those of the outer list by theirs from the end, and of the others any, but not more on
 * an axis than there are places left on it. */
static bool split_allowed(const outside *j, int s) {
    const sx_level_limits *limits = &j->limits->level[s];
    const sx_mapping_level *level = &j->mapping->level[s];
    if (limits->split < 0) return true;
    int n = j->limits->n_dims, n_inner = limits->spatial.n_inner, n_outer = limits->spatial.n_outer;
    int8_t place[SX_MAX_DIMS];
    memset(place, -1, sizeof place);
    for (int i = 0; i < n_inner; i++) place[limits->spatial.inner[i]] = (int8_t)i;
    for (int i = 0; i < n_outer; i++) place[limits->spatial.outer[i]] = (int8_t)(n - n_outer + i);
    int room_x = limits->split > n_inner ? limits->split - n_inner : 0;
    int room[2] = {n - n_inner - n_outer - room_x, room_x};
    for (int i = 0; i < n; i++) {
        int d = level->spatial_order[i];
        bool x = i < level->split;
        if (level->spatial[d] == 1) continue;
        if (place[d] < 0 ? --room[x] < 0 : x != (place[d] < limits->split))
            return broken(j, "%s: the spatial loop of %s must lie on %s: %d dimensions are for X",
                          j->arch->level[s].name, j->problem->dim_name[d], x ? "Y" : "X", limits->split);
    }
    return true;
}

/* Whether a level keeps what it must and bypasses what it must. */
static bool keep_allowed(const outside *j, int s) {
    const sx_level_limits *limits = &j->limits->level[s];
    unsigned keep = j->mapping->level[s].keep;
    unsigned lacking = limits->must_keep & ~keep, beyond = limits->must_bypass & keep;
    if (!(lacking | beyond)) return true;
    if (!j->text) return false;
    return broken(j, "%s: %s must be %s here", j->arch->level[s].name,
                  j->problem->tensor[__builtin_ctz(lacking ? lacking : beyond)].name,
                  lacking ? "kept" : "bypassed");
}

/* Whether a level forbids the kinds of reuse that it must forbid. */
static bool reuse_allowed(const outside *j, int s) {
    const sx_level_limits *limits = &j->limits->level[s];
    const sx_mapping_level *at = &j->mapping->level[s];
    const struct {
        const char *name;
        unsigned lacking;
    } switches[] = {
        {"no_temporal_reuse", limits->no_temporal_reuse & ~(unsigned)at->no_temporal_reuse},
        {"no_multicast", limits->no_multicast & ~(unsigned)at->no_multicast},
        {"no_link_transfer", limits->no_link_transfer & ~(unsigned)at->no_link_transfer},
        {"rmw_first_update", limits->rmw_first_update & ~(unsigned)at->rmw_first_update},
        {"no_coalesce", limits->no_coalesce & ~(unsigned)at->no_coalesce},
    };
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (switches[i].lacking)
            return broken(j, "%s: the mapping must say '%s' of %s", j->arch->level[s].name, switches[i].name,
                          j->problem->tensor[__builtin_ctz(switches[i].lacking)].name);
    return true;
}

/* Whether nothing is left for the slots outside those that take all there is. */
static bool rest_allowed(const outside *j, int s, bool spatial, const sx_loop_limits *limits) {
    static const bool nowhere[SX_MAX_DIMS];
    if (memcmp(limits->rest, nowhere, sizeof nowhere) == 0) return true;
    for (int d = 0; d < j->limits->n_dims; d++) {
        if (!limits->rest[d]) continue;
        bool more = spatial && j->mapping->level[s].temporal[d] > 1;
        for (int t = s + 1; t < j->limits->n_levels; t++)
            more |= j->mapping->level[t].spatial[d] > 1 || j->mapping->level[t].temporal[d] > 1;
        if (more)
            return broken(j, "%s: its %s loop of %s must cover all that the inner loops leave",
                          j->arch->level[s].name, kind_of(spatial), j->problem->dim_name[d]);
    }
    return true;
}

/* The elements of a tensor's tile at a level: the bounding box of what its loops reach, cut at the sizes. */
static double tile_words(const outside *j, int s, int v) {
    const sx_tensor *tensor = &j->problem->tensor[v];
    double words = 1;
    for (int r = 0; r < tensor->n_ranks; r++) {
        double extent = 1;
        for (int d = 0; d < j->limits->n_dims; d++) {
            if (!tensor->coef[r][d]) continue;
            uint64_t reach = sx_mapping_extent(j->mapping, s, d);
            if (reach > j->problem->size[d]) reach = j->problem->size[d];
            extent += fabs((double)tensor->coef[r][d]) * (double)(reach - 1);
        }
        words *= extent;
    }
    return words;
}

/* Whether enough of a level's words is in use; one without a limit has no share. */
static bool use_allowed(const outside *j, int s) {
    const sx_storage *level = &j->arch->level[s];
    double least = j->limits->level[s].min_utilization, words = 0;
    if (least <= 0 || level->entries == SX_UNLIMITED) return true;
    double room = sx_usable_words(level);
    for (int v = 0; v < j->limits->n_tensors; v++)
        if (j->mapping->level[s].keep >> v & 1)
            words += sx_element_words(level, &j->problem->tensor[v], tile_words(j, s, v));
    if (words >= least * room) return true;
    return broken(j, "%s: %.0f of %.0f words are in use, less than the minimum utilization %g", level->name,
                  words, room, least);
}

/* Whether enough of the compute units inside a level is in use. */
static bool spread_allowed(const outside *j, int s) {
    double least = j->limits->level[s].min_parallelism, used = 1, there = 1;
    if (least <= 0) return true;
    for (int t = 0; t <= s; t++) {
        there *= (double)(sx_arch_fanout_x(j->arch, t) * sx_arch_fanout_y(j->arch, t));
        for (int d = 0; d < j->limits->n_dims; d++) used *= j->mapping->level[t].spatial[d];
    }
    if (used >= least * there) return true;
    return broken(j, "%s: %.0f of %.0f compute units are in use, less than the minimum utilization %g",
                  j->arch->level[s].name, used, there, least);
}

bool sx_constraints_allow(const sx_constraints *constraints, const sx_mapping *mapping,
                          const sx_problem *problem, const sx_arch *arch, char *text, size_t size) {
    const outside j = {constraints, mapping, problem, arch, text, size};
    if (mapping->n_levels != constraints->n_levels || mapping->n_dims != constraints->n_dims ||
        mapping->n_tensors != constraints->n_tensors)
        return broken(&j, "the mapping was made for another problem or architecture");
    for (int s = 0; s < constraints->n_levels; s++) {
        const sx_level_limits *limits = &constraints->level[s];
        const sx_mapping_level *level = &mapping->level[s];
        if (!keep_allowed(&j, s) || !reuse_allowed(&j, s) ||
            !factors_allowed(&j, s, true, &limits->spatial, level->spatial) ||
            !factors_allowed(&j, s, false, &limits->temporal, level->temporal) ||
            !order_allowed(&j, s, true, &limits->spatial, level->spatial, level->spatial_order) ||
            !order_allowed(&j, s, false, &limits->temporal, level->temporal, level->temporal_order) ||
            !split_allowed(&j, s) || !rest_allowed(&j, s, true, &limits->spatial) ||
            !rest_allowed(&j, s, false, &limits->temporal) || !use_allowed(&j, s) || !spread_allowed(&j, s))
            return false;
    }
    return true;
}
