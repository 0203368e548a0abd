/* Which mappings there are: limits of factors, room for spatial loops, what levels keep, what fits. */
#include "check/space.h"

#include "check/nest.h"
#include "ir/axes.h"

#include <stdlib.h>
#include <string.h>

/* Lists the divisors of a dimension, ascending. */
static sx_status list_divisors(sx_check_space *space, int d) {
    int64_t size = space->c->problem.size[d];
    int n = 0, k = 0;
    for (int64_t f = 1; f * f <= size; f++) n += size % f ? 0 : f * f == size ? 1 : 2;
    space->divisor[d] = malloc((size_t)n * sizeof *space->divisor[d]);
    if (!space->divisor[d]) return sx_error_memory();
    space->n_divisors[d] = n;
    for (int64_t f = 1; f * f <= size; f++)
        if (size % f == 0) {
            space->divisor[d][n - 1 - k] = size / f;
            space->divisor[d][k++] = f;
        }
    return SX_OK;
}

/* Ranks the loops of a slot: those of the innermost list by their place, then all others alike, then those of the
 * outermost list by theirs. */
static void set_ranks(const sx_loop_limits *limits, uint8_t *rank) {
    memset(rank, SX_MAX_DIMS, SX_MAX_DIMS);
    for (int i = 0; i < limits->n_inner; i++) rank[limits->inner[i]] = (uint8_t)i;
    for (int i = 0; i < limits->n_outer; i++) rank[limits->outer[i]] = (uint8_t)(SX_MAX_DIMS + 1 + i);
}

/* Sets the limits of a dimension's factors. Outside a slot that takes all that is left there are no loops; levels
 * without a fan-out have no spatial loops, and fan-outs only no temporal ones beyond those they must have. */
static void set_ranges(sx_check_space *space, int d) {
    bool taken = false;
    for (int s = 0; s < space->n_levels; s++) {
        const sx_level_limits *limits = &space->c->limits.level[s];
        const sx_check_level *level = &space->c->machine.level[s];
        bool alone = level->fanout[0] * level->fanout[1] == 1;
        bool idle = level->transparent && !limits->temporal.rest[d];
        space->spatial[s][d] =
            (sx_check_range){limits->spatial.min[d], taken || alone ? 1 : limits->spatial.max[d]};
        taken |= limits->spatial.rest[d];
        space->temporal[s][d] = (sx_check_range){limits->temporal.min[d], taken  ? 1
                                                                          : idle ? limits->temporal.min[d]
                                                                                 : limits->temporal.max[d]};
        taken |= limits->temporal.rest[d];
    }
}

/* Sets what a level keeps, and how its banks and axes are used. */
static void set_level(sx_check_space *space, int s) {
    const sx_level_limits *limits = &space->c->limits.level[s];
    const sx_check_level *level = &space->c->machine.level[s];
    bool outermost = s + 1 == space->n_levels;
    unsigned may = level->may & ~(unsigned)limits->must_bypass;
    int sharers = __builtin_popcount(may);
    space->may[s] = may;
    space->must[s] = outermost || space->c->keep_all ? may : limits->must_keep;
    space->banked[s] = sharers > 1 && level->banks >= sharers && level->banks < sharers + 255 && !outermost &&
                       level->entries >= 0 && !space->c->no_banks;
    space->splits[s] = space->c->split_axes && level->fanout[0] > 1 && level->fanout[1] > 1 &&
                       limits->split < 0 && limits->spatial.n_inner + limits->spatial.n_outer == 0;
    set_ranks(&limits->temporal, space->rank[s][SX_TEMPORAL]);
    set_ranks(&limits->spatial, space->rank[s][SX_SPATIAL]);
}

sx_status sx_check_space_init(sx_check_space *space, const sx_check_case *c) {
    memset(space, 0, sizeof *space);
    space->c = c;
    space->n_levels = c->machine.n_levels;
    space->n_dims = c->problem.n_dims;
    space->n_tensors = c->problem.n_tensors;
    for (int s = 0; s < space->n_levels; s++) set_level(space, s);
    for (int d = 0; d < space->n_dims; d++) {
        set_ranges(space, d);
        SX_TRY(list_divisors(space, d));
    }
    return SX_OK;
}

void sx_check_space_fini(sx_check_space *space) {
    for (int d = 0; d < SX_MAX_DIMS; d++) {
        free(space->divisor[d]);
        space->divisor[d] = NULL;
    }
}

/* Whether the banks of a level can be shared out so that just these tensors fit: a tensor that is kept takes the banks
 * of its tile or more, one that is bypassed one bank or more but fewer than its tile needs, and all banks are taken. */
static bool banks_share(const sx_check_space *space, int s, unsigned keep, const sx_wide *need) {
    sx_wide banks = space->c->machine.level[s].banks, least = 0, most = 0;
    for (int v = 0; v < space->n_tensors; v++) {
        if (!(space->may[s] >> v & 1)) continue;
        bool kept = keep >> v & 1;
        sx_wide n = need[v] > 1 ? need[v] : 1;
        if (!kept && n < 2) return false;
        least += kept ? n : 1;
        most += kept ? banks : n - 1;
    }
    return least <= banks && banks <= most;
}

/* Whether words in use are at least a share of the room. */
static bool used_enough(sx_wide words, int64_t room, sx_ratio share) {
    return words * share.den >= (sx_wide)room * share.num;
}

/* What the tiles of a level take: words of all that it keeps, and the banks that every tensor's tile needs. */
typedef struct occupancy {
    sx_wide words, banks, need[SX_MAX_TENSORS];
} occupancy;

static occupancy occupied_words(const sx_check_space *space, int s, unsigned keep, const int64_t *extent) {
    const sx_check_level *level = &space->c->machine.level[s];
    occupancy use = {0};
    for (int v = 0; v < space->n_tensors; v++) {
        if (!(keep >> v & 1) && !space->banked[s]) continue;
        sx_wide words =
            sx_check_words(level, &space->c->problem.tensor[v], sx_check_box(&space->c->problem, v, extent));
        if (level->banks && level->usable)
            use.need[v] = (words * level->banks + level->usable - 1) / level->usable;
        if (!(keep >> v & 1)) continue;
        use.words += words;
        use.banks += use.need[v];
    }
    return use;
}

bool sx_check_has_room(const sx_check_space *space, int s, unsigned keep, const int64_t *extent) {
    const sx_check_level *level = &space->c->machine.level[s];
    if (level->usable < 0) return true;
    occupancy use = occupied_words(space, s, keep, extent);
    return use.words <= level->usable && (!level->banks || use.banks <= level->banks);
}

bool sx_check_fits(const sx_check_space *space, int s, unsigned keep, const int64_t *extent) {
    const sx_check_level *level = &space->c->machine.level[s];
    if (level->usable < 0) return true;
    if (!sx_check_has_room(space, s, keep, extent)) return false;
    occupancy use = occupied_words(space, s, keep, extent);
    if (space->banked[s] && !banks_share(space, s, keep, use.need)) return false;
    return used_enough(use.words, level->usable, level->min_utilization) &&
           used_enough(use.words, level->usable, space->c->shares[s].min_utilization);
}

/* Whether a split allows the loops of a level on X and on Y. Its order has a place for every dimension; a loop lies on X
 * if its place is one of the first ones. Loops of neither list may stand in any of the places between the lists. */
static bool split_allows(const sx_check_space *space, int s, unsigned loops, unsigned x) {
    const sx_level_limits *limits = &space->c->limits.level[s];
    const sx_loop_limits *order = &limits->spatial;
    int between = space->n_dims - order->n_inner - order->n_outer;
    unsigned others = loops;
    if (limits->split < 0) return true;
    for (int i = 0; i < order->n_inner + order->n_outer; i++) {
        bool inner = i < order->n_inner;
        int d = inner ? order->inner[i] : order->outer[i - order->n_inner];
        int place = inner ? i : between + i;
        others &= ~(1u << d);
        if (loops >> d & 1 && (x >> d & 1) != (unsigned)(place < limits->split)) return false;
    }
    int for_x = limits->split - order->n_inner;
    if (for_x < 0) for_x = 0;
    if (for_x > between) for_x = between;
    return __builtin_popcount(others & x) <= for_x && __builtin_popcount(others & ~x) <= between - for_x;
}

/* The loops of more than one iteration, as a mask. */
static unsigned loops_of(const sx_check_space *space, const int64_t *factor) {
    unsigned loops = 0;
    for (int d = 0; d < space->n_dims; d++) loops |= (unsigned)(factor[d] > 1) << d;
    return loops;
}

/* Lays loops on the axes; false where they have no room. */
static bool lay_axes(const sx_check_space *space, int s, const int64_t *factor, unsigned x,
                     sx_axis_split *out) {
    const sx_check_level *level = &space->c->machine.level[s];
    uint32_t narrow[SX_MAX_DIMS];
    for (int d = 0; d < space->n_dims; d++) narrow[d] = (uint32_t)factor[d];
    return sx_axes_lay(narrow, space->n_dims, x,
                       (const uint64_t[2]){(uint64_t)level->fanout[0], (uint64_t)level->fanout[1]},
                       space->splits[s], out);
}

bool sx_check_lies(const sx_check_space *space, int s, const int64_t *factor, unsigned x) {
    const uint8_t *rank = space->rank[s][SX_SPATIAL];
    unsigned loops = loops_of(space, factor);
    sx_axis_split axes;
    if (!lay_axes(space, s, factor, x, &axes) || !split_allows(space, s, loops, x)) return false;
    for (int i = 0; i < space->n_dims; i++)
        for (int j = 0; j < space->n_dims; j++)
            if ((loops & x) >> i & 1 && (loops & ~x) >> j & 1 && rank[i] > rank[j]) return false;
    return true;
}

/* Appends loops of a mask to an order, by rank and then by dimension; returns the new length. */
static int append_loops(const uint8_t *rank, unsigned loops, uint8_t *order, int n) {
    for (int r = 0; r <= 2 * SX_MAX_DIMS; r++)
        for (int d = 0; d < SX_MAX_DIMS; d++)
            if (loops >> d & 1 && rank[d] == r) order[n++] = (uint8_t)d;
    return n;
}

void sx_check_lay(const sx_check_space *space, int s, const int64_t *factor, unsigned x,
                  sx_mapping_level *at) {
    const uint8_t *rank = space->rank[s][SX_SPATIAL];
    unsigned loops = loops_of(space, factor), first = loops & x;
    sx_axis_split axes;
    bool laid = lay_axes(space, s, factor, x, &axes);
    int n = 0;
    for (int d = 0; d < space->n_dims; d++) at->spatial[d] = (uint32_t)factor[d];
    if (laid && axes.both >= 0) first &= ~(1u << axes.both);
    n = append_loops(rank, first, at->spatial_order, n);
    if (laid && axes.both >= 0) at->spatial_order[n++] = (uint8_t)axes.both;
    at->x_part = laid ? axes.x_part : 0;
    at->split = (uint8_t)n;
    n = append_loops(rank, loops & ~x, at->spatial_order, n);
    for (int d = 0; d < space->n_dims; d++)
        if (!(loops >> d & 1)) at->spatial_order[n++] = (uint8_t)d;
}

bool sx_check_order_allowed(const sx_check_space *space, int s, const uint8_t *order, int n) {
    const uint8_t *rank = space->rank[s][SX_TEMPORAL];
    for (int i = 0; i + 1 < n; i++)
        if (rank[order[i]] > rank[order[i + 1]]) return false;
    return true;
}

bool sx_check_lies_somehow(const sx_check_space *space, int s, const int64_t *factor) {
    unsigned loops = loops_of(space, factor), x = 0;
    do {
        if (sx_check_lies(space, s, factor, x)) return true;
        x = (x - loops) & loops;
    } while (x);
    return false;
}

bool sx_check_parallel_enough(const sx_check_space *space, const sx_check_spatial *spatial) {
    sx_wide used = 1, built = 1;
    for (int s = 0; s < space->n_levels; s++) {
        const sx_check_level *level = &space->c->machine.level[s];
        sx_ratio share = space->c->shares[s].min_parallelism;
        built *= level->fanout[0] * level->fanout[1];
        for (int d = 0; d < space->n_dims; d++) used *= spatial->factor[s][d];
        if (used * share.den < built * share.num) return false;
    }
    return true;
}

/* An enumeration of spatial factors. */
typedef struct listing {
    const sx_check_space *space;
    sx_check_spatial_visitor *visit;
    void *user;
    sx_check_spatial now;
    int64_t left[SX_MAX_DIMS];
} listing;

/* Goes through the factors from dimension d of level s on, with so much room left; false to end. */
static bool list_from(listing *l, int s, int d, int64_t room) {
    const sx_check_space *space = l->space;
    if (s == space->n_levels) return l->visit(l->user, &l->now);
    if (d == space->n_dims) {
        const sx_check_level *next = &space->c->machine.level[s + 1];
        if (!sx_check_lies_somehow(space, s, l->now.factor[s])) return true;
        return list_from(l, s + 1, 0, s + 1 < space->n_levels ? next->fanout[0] * next->fanout[1] : 1);
    }
    sx_check_range range = space->spatial[s][d];
    int64_t left = l->left[d];
    bool goes_on = true;
    for (int i = 0; i < space->n_divisors[d] && goes_on; i++) {
        int64_t f = space->divisor[d][i];
        if (f < range.least || f > range.most || f > room || left % f) continue;
        l->now.factor[s][d] = f;
        l->left[d] = left / f;
        goes_on = list_from(l, s, d + 1, room / f);
    }
    l->left[d] = left;
    return goes_on;
}

void sx_check_list_spatial(const sx_check_space *space, sx_check_spatial_visitor *visit, void *user) {
    listing l = {.space = space, .visit = visit, .user = user};
    const sx_check_level *first = &space->c->machine.level[0];
    for (int d = 0; d < space->n_dims; d++) l.left[d] = space->c->problem.size[d];
    list_from(&l, 0, 0, first->fanout[0] * first->fanout[1]);
}

/* Whether a level of a mapping has factors within their limits, and spatial loops as the space lays them. */
static bool level_contained(const sx_check_space *space, int s, const sx_mapping_level *at) {
    sx_mapping_level laid = *at;
    int64_t factor[SX_MAX_DIMS];
    unsigned x = 0;
    uint8_t order[SX_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < space->n_dims; d++) {
        sx_check_range t = space->temporal[s][d], p = space->spatial[s][d];
        if (at->temporal[d] < t.least || at->temporal[d] > t.most) return false;
        if (at->spatial[d] < p.least || at->spatial[d] > p.most) return false;
        factor[d] = at->spatial[d];
    }
    for (int i = 0; i < space->n_dims; i++) {
        if (at->temporal[at->temporal_order[i]] > 1) order[n++] = at->temporal_order[i];
        if (i < at->split && at->spatial[at->spatial_order[i]] > 1) x |= 1u << at->spatial_order[i];
    }
    if (!sx_check_order_allowed(space, s, order, n) || !sx_check_lies(space, s, factor, x)) return false;
    sx_check_lay(space, s, factor, x, &laid);
    for (int i = 0, j = 0; i < space->n_dims && factor[laid.spatial_order[i]] > 1; i++, j++) {
        while (factor[at->spatial_order[j]] == 1) j++;
        if (at->spatial_order[j] != laid.spatial_order[i]) return false;
    }
    return laid.x_part == at->x_part;
}

bool sx_check_contains(const sx_check_space *space, const sx_mapping *mapping, sx_check_doubt *doubt) {
    int64_t extent[SX_MAX_DIMS];
    sx_check_spatial spatial;
    for (int d = 0; d < space->n_dims; d++) extent[d] = 1;
    for (int s = 0; s < space->n_levels; s++) {
        const sx_mapping_level *at = &mapping->level[s];
        const sx_level_limits *limits = &space->c->limits.level[s];
        const char *name = space->c->machine.level[s].name;
        for (int d = 0; d < space->n_dims; d++) {
            spatial.factor[s][d] = at->spatial[d];
            extent[d] *= (int64_t)at->spatial[d] * at->temporal[d];
            if (extent[d] <= space->c->problem.size[d]) continue;
            extent[d] = space->c->problem.size[d];
            if (!space->c->remainders) sx_check_doubt_add(doubt, "its factors do not divide");
        }
        if (!level_contained(space, s, at))
            sx_check_doubt_add(doubt, "%s: its loops are not in the space", name);
        if ((space->must[s] & ~(unsigned)at->keep) | (at->keep & ~space->may[s]))
            sx_check_doubt_add(doubt, "%s: it keeps other tensors than the space allows", name);
        if (doubt->why[0] == 0 && !sx_check_fits(space, s, at->keep, extent))
            sx_check_doubt_add(doubt, "%s: its tiles do not fit", name);
        if (at->no_temporal_reuse != limits->no_temporal_reuse || at->no_multicast != limits->no_multicast ||
            at->no_link_transfer != limits->no_link_transfer ||
            at->rmw_first_update != limits->rmw_first_update)
            sx_check_doubt_add(doubt, "%s: it forbids other kinds of reuse than the space", name);
        if (doubt->why[0]) return false;
    }
    for (int d = 0; d < space->n_dims; d++)
        if (extent[d] != space->c->problem.size[d])
            sx_check_doubt_add(doubt, "its factors do not cover the problem");
    if (!sx_check_parallel_enough(space, &spatial))
        sx_check_doubt_add(doubt, "too few compute units are in use");
    return doubt->why[0] == 0;
}
