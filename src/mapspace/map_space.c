/* Making a map space: its slots, what the constraints leave free in them, its genes. And the way between
 * points and mappings. */
#include "mapspace/map_parts.h"
#include "model/latency.h"

#include "base/text.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

static void free_map(sx_space *base) {
    sx_map_space *space = (sx_map_space *)(void *)base;
    for (int d = 0; d < SX_MAX_DIMS; d++) sx_factors_free(space->factors[d]);
    sx_orders_free(space->orders);
    pthread_mutex_destroy(&space->lock);
    free(space->blank);
    free(space);
}

static bool repair_point(const sx_space *space, sx_rng *rng, void *point) {
    return sx_map_repair(sx_map_cast(space), rng, point);
}

static const sx_space_type map_type = {
    .name = "map",
    .free = free_map,
    .count = sx_map_count,
    .size = sx_map_size,
    .at = sx_map_at,
    .draw = sx_map_draw,
    .draw_likely = sx_map_draw_likely,
    .holds = sx_map_holds,
    .check = sx_map_check,
    .reason = sx_map_reason,
    .explain = sx_map_explain,
    .diagnose = sx_map_diagnose,
    .redraw = sx_map_redraw,
    .nudge = sx_map_nudge,
    .take = sx_map_take,
    .repair = repair_point,
    .encode = sx_map_encode,
    .project = sx_map_project,
};

const sx_map_space *sx_map_space_of(const sx_space *space) {
    return space->type == &map_type ? sx_map_cast(space) : NULL;
}

/* Makes slots of levels and fan-outs. With one fan-out over one instance, the model's count of all instances
 * says all there is to say about room. */
static void set_slots(sx_map_space *space) {
    int fanouts = 0, n_levels = space->arch->n_levels;
    for (int s = 0; s < n_levels; s++) {
        uint64_t x = sx_arch_fanout_x(space->arch, s), y = sx_arch_fanout_y(space->arch, s);
        space->planar[s] = x > 1 && y > 1;
        space->room[s][0] = x;
        space->room[s][1] = y;
        fanouts += x > 1 || y > 1;
        space->spatial_slot[s] = -1;
        if (x > 1 || y > 1) {
            space->spatial_slot[s] = (int8_t)space->n_slots;
            space->slot[space->n_slots++] = (sx_map_slot){(uint8_t)s, true};
        }
        space->temporal_slot[s] = (int8_t)space->n_slots;
        space->slot[space->n_slots++] = (sx_map_slot){(uint8_t)s, false};
    }
    space->nested = fanouts > 1 || space->arch->level[n_levels - 1].instances > 1;
}

/* Leaves the loops in time to levels that keep something, as Timeloop does: beside a level that never does,
 * they would only repeat those of the next outer one. */
static void close_transparent(sx_map_space *space) {
    for (int s = 0; s < space->arch->n_levels; s++) {
        sx_loop_limits *limits = &space->constraints.level[s].temporal;
        for (int d = 0; d < space->problem->n_dims && space->arch->level[s].transparent; d++)
            if (!limits->rest[d]) limits->max[d] = limits->min[d];
    }
}

/* The dimensions of a list as a mask. */
static unsigned mask_of(const uint8_t *list, int n) {
    unsigned mask = 0;
    for (int i = 0; i < n; i++) mask |= 1u << list[i];
    return mask;
}

/* Sets which dimensions lie on X, and the order of spatial loops. */
static void set_spread(sx_map_space *space, int s) {
    const sx_level_limits *limits = &space->constraints.level[s];
    const sx_loop_limits *spatial = &limits->spatial;
    int n = space->problem->n_dims, n_inner = spatial->n_inner, n_outer = spatial->n_outer, at = 0;
    unsigned inner = mask_of(spatial->inner, n_inner), outer = mask_of(spatial->outer, n_outer);
    unsigned others = ((1u << n) - 1) & ~inner & ~outer, free = others, x = 0;
    uint8_t *order = space->spatial_order[s];
    for (; at < n_inner; at++) order[at] = spatial->inner[at];
    for (int d = 0; d < n; d++)
        if (others >> d & 1) order[at++] = (uint8_t)d;
    for (int i = 0; i < n_outer; i++) order[at++] = spatial->outer[i];
    if (limits->split < 0) {
        free = (1u << n) - 1;
    } else {
        for (int i = 0; i < n; i++)
            if (i < limits->split) x |= 1u << order[i];
        if (limits->split <= n_inner || limits->split >= n - n_outer) free = 0;
    }
    bool only_x = sx_arch_fanout_y(space->arch, s) == 1;
    if (!space->planar[s]) {
        x = only_x ? x | free : x & ~free;
        free = 0;
    }
    space->splits[s] =
        space->options.split_axes && space->planar[s] && limits->split < 0 && n_inner + n_outer == 0;
    space->free_x[s] = (uint16_t)free;
    space->fixed_x[s] = (uint16_t)(x & ~free);
    space->fixed_order[s] = (uint16_t)(mask_of(limits->temporal.inner, limits->temporal.n_inner) |
                                       mask_of(limits->temporal.outer, limits->temporal.n_outer));
}

/* The largest spatial factor of a dimension that a level's fan-out has room for. */
static uint32_t widest_spatial(const sx_map_space *space, int s, int d) {
    uint64_t x = sx_arch_fanout_x(space->arch, s), y = sx_arch_fanout_y(space->arch, s);
    bool may_x = (space->free_x[s] | space->fixed_x[s]) >> d & 1, may_y = !(space->fixed_x[s] >> d & 1);
    uint64_t most = space->splits[s] ? x * y : may_x && (!may_y || x > y) ? x : y;
    return most < SX_MAX_DIM_SIZE ? (uint32_t)most : SX_MAX_DIM_SIZE;
}

/* Sets the limits of a dimension's factor at one slot, or where there is none (slot < 0) sees that none is
 * asked for; `closed` where an inner slot takes all there is. */
static sx_status set_limit(sx_map_space *space, int d, int s, bool spatial, bool closed) {
    const sx_level_limits *level = &space->constraints.level[s];
    const sx_loop_limits *limits = spatial ? &level->spatial : &level->temporal;
    int slot = spatial ? space->spatial_slot[s] : space->temporal_slot[s];
    uint32_t low = limits->min[d], high = limits->max[d];
    uint32_t most = slot < 0 || closed ? 1 : spatial ? widest_spatial(space, s, d) : space->problem->size[d];
    const char *name = space->arch->level[s].name, *dim = space->problem->dim_name[d];
    const char *kind = spatial ? "spatial" : "temporal";
    if (low > most || low > high) {
        sx_status error =
            sx_error_new(SX_ERR_INPUT, "'%s': the %s factor of %s must be at least %u, but can be at most %u",
                         name, kind, dim, low, most < high ? most : high);
        return closed     ? sx_error_hint(error, "a level inside it takes all of %s that is left", dim)
               : slot < 0 ? sx_error_hint(error, "'%s' has no fan-out", name)
               : spatial  ? sx_error_hint(error, "its fan-out has no room for more")
                          : sx_error_hint(error, "%s has size %u", dim, most);
    }
    if (slot < 0) return SX_OK;
    space->min[d][slot] = low;
    space->max[d][slot] = high < most ? high : most;
    return SX_OK;
}

static sx_status set_limits(sx_map_space *space, int d) {
    bool closed = false;
    for (int s = 0; s < space->arch->n_levels; s++) {
        const sx_level_limits *level = &space->constraints.level[s];
        SX_TRY(set_limit(space, d, s, true, closed));
        closed |= level->spatial.rest[d];
        SX_TRY(set_limit(space, d, s, false, closed));
        closed |= level->temporal.rest[d];
    }
    return SX_OK;
}

static void set_primes(sx_map_space *space, int d) {
    uint32_t left = space->problem->size[d];
    for (uint32_t p = 2; left > 1; p++) {
        if ((uint64_t)p * p > left) p = left;
        if (left % p) continue;
        space->prime[d][space->n_primes[d]++] = p;
        while (left % p == 0) left /= p;
    }
}

/* Adds the limits that hold a dimension, such as "GB spatial 7, RF temporal 1 to 4". */
static void add_limits(const sx_map_space *space, int d, sx_text *text) {
    uint32_t size = space->problem->size[d];
    for (int i = 0; i < space->n_slots; i++) {
        const sx_map_slot *slot = &space->slot[i];
        const sx_level_limits *level = &space->constraints.level[slot->level];
        const sx_loop_limits *limits = slot->spatial ? &level->spatial : &level->temporal;
        uint32_t low = limits->min[d], high = limits->max[d];
        if (low == 1 && high >= size) continue;
        sx_text_add(text, "%s%s %s %u", text->size ? ", " : "", space->arch->level[slot->level].name,
                    slot->spatial ? "spatial" : "temporal", low);
        if (high > low && high < size) sx_text_add(text, " to %u", high);
        if (high > low && high >= size) sx_text_add(text, " and up");
    }
}

/* The error for a dimension that no factors within the constraints make up. */
static sx_status no_split(const sx_map_space *space, int d) {
    sx_text limits = {0};
    add_limits(space, d, &limits);
    sx_status error =
        sx_error_new(SX_ERR_INPUT, "the constraints leave no way to split %s, of size %u: %s",
                     space->problem->dim_name[d], space->problem->size[d], limits.data ? limits.data : "");
    sx_text_free(&limits);
    return sx_error_hint(error, space->options.remainders
                                    ? "its factors cannot reach the size"
                                    : "its factors must multiply to exactly the size; allow remainders, or "
                                      "loosen a factor");
}

/* Makes the splits of a dimension; an error where there is none. */
static sx_status set_factors(sx_map_space *space, int d) {
    SX_TRY(set_limits(space, d));
    set_primes(space, d);
    uint32_t size = space->problem->size[d];
    bool remainders = space->options.remainders;
    SX_TRY(
        sx_factors_new(size, space->n_slots, space->min[d], space->max[d], remainders, &space->factors[d]));
    if (sx_factors_count(space->factors[d]) > 0) return SX_OK;
    return no_split(space, d);
}

/* Sets what a level keeps, or may keep, or shares out by banks. */
static sx_status set_keep(sx_map_space *space, int s) {
    const sx_level_limits *limits = &space->constraints.level[s];
    const sx_storage *storage = &space->arch->level[s];
    unsigned built = sx_arch_keep_mask(space->arch, s, space->problem);
    unsigned lacking = limits->must_keep & ~built, both = limits->must_keep & limits->must_bypass;
    if (lacking | both)
        return sx_error_new(SX_ERR_INPUT, "a constraint makes '%s' keep %s, but it %s", storage->name,
                            space->problem->tensor[__builtin_ctz(lacking | both)].name,
                            lacking ? "cannot hold it" : "must bypass it by another constraint");
    unsigned may = built & ~(unsigned)limits->must_bypass;
    bool outermost = s + 1 == space->arch->n_levels;
    unsigned must = outermost || space->options.keep_all ? may : limits->must_keep;
    unsigned tensors = (unsigned)__builtin_popcount(may);
    bool banked = storage->banks >= tensors && storage->banks - tensors < 255 && tensors > 1 && !outermost &&
                  storage->entries != SX_UNLIMITED && !space->options.no_banks;
    space->fixed_keep[s] = (uint8_t)must;
    space->free_keep[s] = banked ? 0 : (uint8_t)(may & ~must);
    space->banked[s] = banked ? (uint8_t)may : 0;
    space->bank_words[s] = banked ? (uint64_t)space->model->level[s].bank_words : 0;
    return SX_OK;
}

/* Whether a mask of dimensions has at least n that can have a loop at a slot. */
static bool has_loops(const sx_map_space *space, int slot, unsigned dims, int n) {
    for (int d = 0; d < space->problem->n_dims; d++) n -= dims >> d & 1 && space->max[d][slot] > 1;
    return n <= 0;
}

/* Lists the genes: all that leave a choice. */
static void set_genes(sx_map_space *space) {
    sx_gene *gene = space->gene_of;
    int n_levels = space->arch->n_levels;
    for (int d = 0; d < space->problem->n_dims; d++)
        if (sx_factors_count(space->factors[d]) > 1) *gene++ = (sx_gene){SX_AXIS_TILE, d};
    for (int s = 0; s < n_levels; s++)
        if (has_loops(space, space->temporal_slot[s], ~(unsigned)space->fixed_order[s], 2))
            *gene++ = (sx_gene){SX_AXIS_ORDER, s};
    for (int s = 0; s < n_levels; s++)
        if (space->planar[s] && has_loops(space, space->spatial_slot[s], space->free_x[s], 1))
            *gene++ = (sx_gene){SX_AXIS_PARALLEL, s};
    for (int s = 0; s < n_levels; s++)
        if (space->free_keep[s]) *gene++ = (sx_gene){SX_AXIS_KEEP, s};
    for (int s = 0; s < n_levels; s++)
        if (space->banked[s] && space->arch->level[s].banks > (unsigned)__builtin_popcount(space->banked[s]))
            *gene++ = (sx_gene){SX_AXIS_BANKS, s};
    space->space.gene = space->gene_of;
    space->space.n_genes = (size_t)(gene - space->gene_of);
}

/* Makes the point that all constructions begin as: no loops but those without a choice. Its size is a multiple of 8, as searches
 * put points beside numbers. */
static sx_status set_blank(sx_map_space *space) {
    int n_levels = space->arch->n_levels, n_dims = space->problem->n_dims;
    size_t size = offsetof(sx_mapping, level) + (size_t)n_levels * sizeof(sx_mapping_level);
    size = (size + 7) / 8 * 8;
    for (int s = 0; s < n_levels; s++)
        if (space->banked[s]) space->banks_at = size;
    space->space.point_size = size + (space->banks_at ? (size_t)n_levels * SX_MAX_TENSORS : 0);
    space->blank = calloc(1, space->space.point_size);
    if (!space->blank) return sx_error_memory();
    sx_mapping *blank = space->blank;
    blank->n_levels = (uint8_t)n_levels;
    blank->n_dims = (uint8_t)n_dims;
    blank->n_tensors = space->problem->n_tensors;
    for (int s = 0; s < n_levels; s++) {
        sx_mapping_level *at = sx_map_level(space->blank, s);
        for (int d = 0; d < n_dims; d++) {
            at->temporal[d] = at->spatial[d] = 1;
            at->temporal_order[d] = at->spatial_order[d] = (uint8_t)d;
        }
        at->keep = space->fixed_keep[s];
        sx_level_limits_impose(&space->constraints.level[s], at);
        uint32_t left = space->arch->level[s].banks;
        for (unsigned more = space->banked[s]; more; more &= more - 1) {
            uint32_t share = more & (more - 1) ? 1 : left;
            sx_map_banks(space, space->blank, s)[__builtin_ctz(more)] = (uint8_t)share;
            left -= share;
        }
    }
    for (int d = 0; d < n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        if (sx_factors_count(space->factors[d]) != 1) continue;
        sx_factors_at(space->factors[d], 0, factor);
        sx_map_set_factors(space, d, factor, space->blank);
    }
    return SX_OK;
}

static sx_status set_up(sx_map_space *space) {
    int n_levels = space->arch->n_levels;
    set_slots(space);
    close_transparent(space);
    for (int s = 0; s < n_levels; s++) {
        const sx_level_limits *limits = &space->constraints.level[s];
        space->shares |= limits->min_utilization > 0 || limits->min_parallelism > 0;
        set_spread(space, s);
        SX_TRY(set_keep(space, s));
    }
    for (int d = 0; d < space->problem->n_dims; d++) SX_TRY(set_factors(space, d));
    bool every = space->options.remainders || space->model->sparse || sx_latency_sees_orders(space->model);
    SX_TRY(sx_orders_new(space->problem, every, &space->orders));
    set_genes(space);
    space->space.n_values = sx_map_n_values(space);
    SX_TRY(set_blank(space));
    return sx_map_prepare_draws(space);
}

void sx_map_space_options_init(sx_map_space_options *options) {
    *options = (sx_map_space_options){0};
}

sx_status sx_map_space_new(const sx_model *model, const sx_constraints *constraints,
                           const sx_map_space_options *options, sx_space **out) {
    const sx_problem *problem = sx_model_problem(model);
    const sx_arch *arch = sx_model_arch(model);
    if (constraints && (constraints->n_levels != arch->n_levels || constraints->n_dims != problem->n_dims ||
                        constraints->n_tensors != problem->n_tensors))
        return sx_error_new(SX_ERR_USAGE, "the constraints were made for another problem or architecture");
    if (options && options->split_axes && options->remainders)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--split-axes does not go with --remainders"),
                             "a dimension on both axes of an array has a factor that divides");
    sx_map_space *space = calloc(1, sizeof *space);
    if (!space) return sx_error_memory();
    if (pthread_mutex_init(&space->lock, NULL) != 0) {
        free(space);
        return sx_error_memory();
    }
    space->space.type = &map_type;
    space->space.model = &space->point_model;
    space->space.guard = model->guard;
    space->point_model = (sx_point_model){.type = &sx_map_model_type, .user = space};
    space->model = model;
    space->problem = problem;
    space->arch = arch;
    if (constraints)
        space->constraints = *constraints;
    else
        sx_constraints_init(&space->constraints, problem, arch);
    if (options) space->options = *options;
    sx_status status = set_up(space);
    if (!status && atomic_load(&model->guard->unfinished)) status = sx_error_memory();
    if (status) {
        free_map(&space->space);
        return status;
    }
    *out = &space->space;
    return SX_OK;
}
