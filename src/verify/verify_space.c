#include "verify/verify_space.h"

#include "base/status.h"
#include "ir/axes.h"
#include "model/capacity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lists the divisors of a dimension. */
static sx_status list_divisors(uint32_t size, sx_divisors *out) {
    size_t n = 0, room = 0;
    for (uint64_t f = 1; f * f <= size; f++) room += size % f == 0 ? 2 : 0;
    out->divisor = malloc((room + 1) * sizeof *out->divisor);
    if (!out->divisor) return sx_error_memory();
    for (uint64_t f = 1; f * f <= size; f++)
        if (size % f == 0) out->divisor[n++] = (uint32_t)f;
    for (size_t i = n; i-- > 0;) {
        uint32_t other = size / out->divisor[i];
        if (other != out->divisor[i]) out->divisor[n++] = other;
    }
    out->n = n;
    return SX_OK;
}

/* Ranks the dimensions of a slot: those of the innermost list by their place, then all others alike, then
 * those of the outermost list by theirs. */
static void set_ranks(const sx_loop_limits *limits, uint8_t *rank) {
    for (int d = 0; d < SX_MAX_DIMS; d++) rank[d] = SX_MAX_DIMS;
    for (int i = 0; i < limits->n_inner; i++) rank[limits->inner[i]] = (uint8_t)i;
    for (int i = 0; i < limits->n_outer; i++) rank[limits->outer[i]] = (uint8_t)(SX_MAX_DIMS + 1 + i);
}

/* Sets the limits of a dimension's factors, from the innermost slot outward. */
static void set_limits(sx_verify_space *space, int d) {
    bool taken = false;
    for (int s = 0; s < space->arch->n_levels; s++) {
        const sx_level_limits *level = &space->constraints->level[s];
        bool fans_out = space->room[s][0] > 1 || space->room[s][1] > 1;
        bool idle = space->arch->level[s].transparent && !level->temporal.rest[d];
        space->spatial[s][d] =
            (sx_limit){level->spatial.min[d], taken || !fans_out ? 1 : level->spatial.max[d]};
        taken |= level->spatial.rest[d];
        space->temporal[s][d] = (sx_limit){level->temporal.min[d], taken  ? 1
                                                                   : idle ? level->temporal.min[d]
                                                                          : level->temporal.max[d]};
        taken |= level->temporal.rest[d];
    }
}

/* Sets what a level keeps. */
static void set_keep(sx_verify_space *space, int s, const sx_map_space_options *options) {
    const sx_level_limits *limits = &space->constraints->level[s];
    const sx_storage *storage = &space->arch->level[s];
    bool outermost = s + 1 == space->arch->n_levels;
    unsigned may = sx_arch_keep_mask(space->arch, s, space->problem) & ~(unsigned)limits->must_bypass;
    unsigned sharers = (unsigned)__builtin_popcount(may);
    space->may[s] = (uint8_t)may;
    space->must[s] = outermost || options->keep_all ? (uint8_t)may : limits->must_keep;
    space->banked[s] = sharers > 1 && storage->banks >= sharers && storage->banks < sharers + 255 &&
                       !outermost && storage->entries != SX_UNLIMITED && !options->no_banks;
}

sx_status sx_verify_space_init(sx_verify_space *space, const sx_model *model,
                               const sx_constraints *constraints, const sx_map_space_options *options) {
    memset(space, 0, sizeof *space);
    space->model = model;
    space->problem = model->problem;
    space->arch = model->arch;
    space->constraints = constraints;
    space->remainders = options->remainders;
    for (int s = 0; s < space->arch->n_levels; s++) {
        space->room[s][0] = sx_arch_fanout_x(space->arch, s);
        space->room[s][1] = sx_arch_fanout_y(space->arch, s);
        set_ranks(&constraints->level[s].spatial, space->spatial_rank[s]);
        set_ranks(&constraints->level[s].temporal, space->temporal_rank[s]);
        set_keep(space, s, options);
        const sx_level_limits *limits = &constraints->level[s];
        space->splits[s] = options->split_axes && space->room[s][0] > 1 && space->room[s][1] > 1 &&
                           limits->split < 0 && limits->spatial.n_inner + limits->spatial.n_outer == 0;
    }
    for (int d = 0; d < space->problem->n_dims; d++) {
        set_limits(space, d);
        SX_TRY(list_divisors(space->problem->size[d], &space->divisors[d]));
    }
    return SX_OK;
}

void sx_verify_space_fini(sx_verify_space *space) {
    for (int d = 0; d < SX_MAX_DIMS; d++) {
        free(space->divisors[d].divisor);
        space->divisors[d].divisor = NULL;
    }
}

unsigned sx_verify_space_loops(const sx_verify_space *space, const uint32_t *factor) {
    unsigned loops = 0;
    for (int d = 0; d < space->problem->n_dims; d++) loops |= (unsigned)(factor[d] > 1) << d;
    return loops;
}

/* Whether a split allows the loops of a level on X and on Y. Its order has a place for every dimension, those
 * of one iteration too; a loop lies on X if its place is one of the first ones. Loops of neither list may
 * stand in any of the places between the lists. */
static bool split_allows(const sx_verify_space *space, int s, unsigned loops, unsigned x) {
    const sx_level_limits *limits = &space->constraints->level[s];
    int n = space->problem->n_dims, n_inner = limits->spatial.n_inner, n_outer = limits->spatial.n_outer;
    int split = limits->split, between = n - n_inner - n_outer;
    if (split < 0) return true;
    unsigned others = loops;
    for (int i = 0; i < n_inner; i++) {
        int d = limits->spatial.inner[i];
        others &= ~(1u << d);
        if (loops >> d & 1 && (x >> d & 1) != (unsigned)(i < split)) return false;
    }
    for (int i = 0; i < n_outer; i++) {
        int d = limits->spatial.outer[i];
        others &= ~(1u << d);
        if (loops >> d & 1 && (x >> d & 1) != (unsigned)(n_inner + between + i < split)) return false;
    }
    int for_x = split <= n_inner ? 0 : split - n_inner < between ? split - n_inner : between;
    return __builtin_popcount(others & x) <= for_x && __builtin_popcount(others & ~x) <= between - for_x;
}

bool sx_verify_space_fits(const sx_verify_space *space, int s, const uint32_t *factor, unsigned x) {
    int last_on_x = -1, first_on_y = UINT8_MAX;
    sx_axis_split axes;
    if (!sx_axes_lay(factor, space->problem->n_dims, x, space->room[s], space->splits[s], &axes))
        return false;
    for (int d = 0; d < space->problem->n_dims; d++) {
        if (factor[d] == 1) continue;
        int rank = space->spatial_rank[s][d];
        bool y = !(x >> d & 1);
        if (!y && rank > last_on_x) last_on_x = rank;
        if (y && rank < first_on_y) first_on_y = rank;
    }
    return last_on_x <= first_on_y && split_allows(space, s, sx_verify_space_loops(space, factor), x);
}

/* Appends loops of a mask, by rank and then by dimension; returns how many. */
static int append_loops(const uint8_t *rank, unsigned loops, uint8_t *order) {
    int n = 0;
    for (int r = 0; r <= 2 * SX_MAX_DIMS; r++)
        for (unsigned left = loops; left; left &= left - 1)
            if (rank[__builtin_ctz(left)] == r) order[n++] = (uint8_t)__builtin_ctz(left);
    return n;
}

void sx_verify_space_set_layout(const sx_verify_space *space, int s, unsigned x, sx_mapping_level *at) {
    unsigned loops = sx_verify_space_loops(space, at->spatial);
    sx_axis_split axes = {-1, 0};
    if (space->splits[s])
        sx_axes_lay(at->spatial, space->problem->n_dims, x & loops, space->room[s], true, &axes);
    unsigned both = axes.both < 0 ? 0 : 1u << axes.both;
    int n = append_loops(space->spatial_rank[s], loops & x & ~both, at->spatial_order);
    if (both) at->spatial_order[n++] = (uint8_t)axes.both;
    at->split = (uint8_t)n;
    at->x_part = axes.x_part;
    n += append_loops(space->spatial_rank[s], loops & ~x, at->spatial_order + n);
    for (int d = 0; d < space->problem->n_dims; d++)
        if (!(loops >> d & 1)) at->spatial_order[n++] = (uint8_t)d;
}

bool sx_verify_space_banks_fit(const sx_verify_space *space, int s, unsigned keep, const uint32_t *extent) {
    double least = 0, most = 0, banks = space->arch->level[s].banks;
    if (!space->banked[s]) return true;
    for (unsigned left = space->may[s]; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        double words = (double)sx_shape_words(&space->model->shape[v], extent);
        double need = fmax(1, sx_level_banks(&space->model->level[s], v, words));
        bool kept = keep >> v & 1;
        if (!kept && need < 2) return false;
        least += kept ? need : 1;
        most += kept ? banks : need - 1;
    }
    return least <= banks && banks <= most;
}

/* An enumeration of spatial mappings. */
typedef struct listing {
    const sx_verify_space *space;
    sx_spatial_visitor *visit;
    void *user;
    sx_check_budget *budget;
    bool any; /* factors need not divide */
    unsigned beat;
    uint32_t spatial[SX_MAX_LEVELS][SX_MAX_DIMS], left[SX_MAX_DIMS];
} listing;

/* Whether a level's loops may lie in some way. */
static bool lies_somehow(const sx_verify_space *space, int s, const uint32_t *factor) {
    unsigned loops = sx_verify_space_loops(space, factor), x = 0;
    do {
        if (sx_verify_space_fits(space, s, factor, x)) return true;
        x = (x - loops) & loops;
    } while (x);
    return false;
}

/* Goes through the factors from dimension d of level s on; false to end. */
static bool list_from(listing *l, int s, int d, uint64_t room) {
    const sx_verify_space *space = l->space;
    if (!sx_check_budget_step(l->budget, &l->beat)) return false;
    if (s == space->arch->n_levels) return l->visit(l->user, (const uint32_t(*)[SX_MAX_DIMS])l->spatial);
    if (d == space->problem->n_dims) {
        if (!lies_somehow(space, s, l->spatial[s])) return true;
        uint64_t next = s + 1 < space->arch->n_levels ? space->room[s + 1][0] * space->room[s + 1][1] : 1;
        return list_from(l, s + 1, 0, next);
    }
    sx_limit limit = space->spatial[s][d];
    uint32_t left = l->left[d];
    bool goes_on = true;
    for (uint32_t f = limit.least > 1 ? limit.least : 1; f <= limit.most && f <= left && f <= room && goes_on;
         f++) {
        if (left % f && !l->any) continue;
        l->spatial[s][d] = f;
        l->left[d] = (left - 1) / f + 1;
        goes_on = list_from(l, s, d + 1, room / f);
    }
    l->left[d] = left;
    return goes_on;
}

void sx_verify_space_list_spatial(const sx_verify_space *space, bool any, sx_check_budget *budget,
                                  sx_spatial_visitor *visit, void *user) {
    listing l = {.space = space, .visit = visit, .user = user, .budget = budget, .any = any};
    memcpy(l.left, space->problem->size, sizeof l.left);
    list_from(&l, 0, 0, space->room[0][0] * space->room[0][1]);
}
