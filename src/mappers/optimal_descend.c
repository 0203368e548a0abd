/* All mappings of one array that may be better than what is known: what levels keep, then tiles and orders
 * from the innermost level outward, each choice only where its bound leaves hope, the most hopeful first.
 *
 * What is left out without a bound, and why no optimum is lost: ways to lay spatial loops on X and Y at a
 * level where no cost tells them apart. Where they stand decides only hops, which cost nothing without energy
 * in the network, and neighbours, which matter to compute units (level 0) and to sliding windows whose own
 * dimensions are spread at that level (section 4 of the specification; model/express.c holds the same view,
 * bit for bit). Legality is the same for all that have room.
 *
 * Complexity: exponential at worst; what is visited depends on how close the bounds are. */
#include "mappers/optimal_parts.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tile or an order that may be chosen, with its bound. */
typedef struct option {
    double value;
    uint32_t number;
} option;

typedef struct options {
    option *at;
    size_t n, room;
} options;

/* Divisors of a size, ascending, with their numbers in the lattice. */
typedef struct divisors {
    uint32_t *divisor, *code;
    size_t n;
} divisors;

struct sx_descent {
    const sx_bound *bound;
    const sx_map_space *space;
    sx_map_choices *choices;
    const sx_judge *judge;
    sx_rest *rest;
    sx_worker *worker;
    void *point;
    double best;
    bool over, failed, tired;
    uint64_t steps, effort;
    divisors of[SX_MAX_DIMS];
    options tiles[SX_MAX_LEVELS], orders[SX_MAX_LEVELS], keeps;
    const uint16_t *spread[SX_MAX_LEVELS];
    size_t n_spreads[SX_MAX_LEVELS];
    bool laid[SX_MAX_LEVELS]; /* X and Y matter */
    sx_stem stem[SX_MAX_LEVELS + 1];
};

double sx_judge_value(const sx_judge *judge, const sx_score *bound) {
    if (!judge->sound) return -INFINITY;
    sx_score least = *bound;
    least.energy_pj = fmax(least.energy_pj, 0);
    return sx_criterion_value(&judge->objective->criterion[0], &least);
}

bool sx_judge_open(const sx_judge *judge, double bound, double best) {
    const double rounding = 1e-12;
    double tolerance = judge->objective->n_criteria > 1 ? judge->objective->tolerance + rounding : -rounding;
    return bound < best * (1 + tolerance) / (1 + judge->gap) || best == INFINITY;
}

/* Adds an option; notes when memory is out. */
static void add(sx_descent *w, options *list, double value, uint32_t number) {
    if (list->n == list->room) {
        size_t room = list->room ? 2 * list->room : 256;
        option *at = realloc(list->at, room * sizeof *at);
        w->failed |= !at;
        if (!at) return;
        list->at = at;
        list->room = room;
    }
    list->at[list->n++] = (option){value, number};
}

/* By value, then by number. */
static int compare(const void *a, const void *b) {
    const option *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void sort(options *list) {
    if (list->n > 1) qsort(list->at, list->n, sizeof *list->at, compare);
}

/* Lists the divisors of a dimension; false when memory is out. */
static bool list_divisors(const sx_bound *bound, int d, divisors *out) {
    const sx_lattice *l = &bound->lattice;
    size_t n = 1;
    for (int k = l->first[d]; k < l->first[d + 1]; k++) n *= l->top[k] + 1u;
    out->divisor = malloc(n * sizeof *out->divisor);
    out->code = malloc(n * sizeof *out->code);
    if (!out->divisor || !out->code) return false;
    out->divisor[0] = 1;
    out->code[0] = 0;
    out->n = 1;
    for (int k = l->first[d]; k < l->first[d + 1]; k++) {
        size_t before = out->n;
        for (size_t i = 0; i < before * l->top[k]; i++) {
            out->divisor[out->n] = out->divisor[i] * l->prime[k];
            out->code[out->n++] = out->code[i] + l->stride[k];
        }
    }
    return true;
}

sx_status sx_descent_new(const sx_bound *bound, sx_map_choices *choices, const sx_map_space *space,
                         const sx_judge *judge, sx_descent **out) {
    sx_descent *w = calloc(1, sizeof *w);
    if (!w) return sx_error_memory();
    *w = (sx_descent){.bound = bound, .space = space, .choices = choices, .judge = judge};
    bool good = true;
    for (int d = 0; d < space->problem->n_dims; d++) good &= list_divisors(bound, d, &w->of[d]);
    sx_status status = good ? sx_rest_new(bound, &w->rest) : sx_error_memory();
    if (status) {
        sx_descent_free(w);
        return status;
    }
    *out = w;
    return SX_OK;
}

void sx_descent_free(sx_descent *w) {
    if (!w) return;
    for (int d = 0; d < SX_MAX_DIMS; d++) {
        free(w->of[d].divisor);
        free(w->of[d].code);
    }
    for (int s = 0; s < SX_MAX_LEVELS; s++) {
        free(w->tiles[s].at);
        free(w->orders[s].at);
    }
    free(w->keeps.at);
    sx_rest_free(w->rest);
    free(w);
}

static bool hopeful(const sx_descent *w, double value) {
    return sx_judge_open(w->judge, value, w->best);
}

/* Looks now and then whether the search was stopped. */
static bool goes_on(sx_descent *w) {
    if (w->worker && ++w->steps % 256 == 0 && sx_worker_stopped(w->worker)) w->over = true;
    w->tired |= w->worker && w->steps > w->effort;
    return !w->over && !w->failed && !w->tired;
}

/* Which levels' X and Y matter, and how loops can be laid there. */
static void set_spreads(sx_descent *w) {
    const sx_model *model = w->space->model;
    for (int s = 0; s < model->n_levels; s++) {
        const uint32_t *factor = w->rest->outline.spatial[s];
        uint32_t loops = 0, crowd = 0;
        if (w->space->spatial_slot[s] < 0) continue;
        for (int d = 0; d < model->n_dims; d++) loops |= (uint32_t)(factor[d] > 1) << d;
        for (int v = 0; v < model->n_tensors; v++) crowd |= w->bound->crowd[v];
        w->spread[s] = sx_map_spreads_of(w->choices, s, loops, &w->n_spreads[s]);
        w->failed |= !w->spread[s];
        w->laid[s] = model->net_energy || (!model->options.no_link_transfers && (s == 0 || (loops & crowd)));
    }
}

/* Evaluates the mapping. */
static void evaluate(sx_descent *w) {
    sx_map_settle(w->space, w->point);
    if (w->space->space.type->check(&w->space->space, w->point) != 0) {
        sx_worker_reject(w->worker, 1);
        return;
    }
    sx_outcome outcome = sx_worker_evaluate(w->worker, w->point, true);
    w->over |= outcome.reason == SX_NOT_EVALUATED;
    if (outcome.reason == 0) w->best = fmin(w->best, outcome.value);
}

/* Evaluates the mapping in all ways to lay the spatial loops of the levels up to `level`. */
static void try_spreads(sx_descent *w, int level) {
    while (level >= 0 && w->space->spatial_slot[level] < 0) level--;
    if (level < 0) {
        evaluate(w);
        return;
    }
    for (size_t i = 0; i < w->n_spreads[level] && goes_on(w); i++) {
        if (!sx_array_fits(w->space, level, w->rest->outline.spatial[level], w->spread[level][i])) continue;
        sx_map_lay(w->space, level, w->spread[level][i], w->point);
        try_spreads(w, level - 1);
        if (!w->laid[level]) break;
    }
}

/* Lists the tiles of a level from dimension d on that may lead to something better. */
static void list_tiles(sx_descent *w, int s, int d, uint32_t *extent, uint32_t number) {
    const sx_map_space *space = w->space;
    const sx_stem *stem = &w->stem[s];
    if (!goes_on(w)) return;
    if (d == space->problem->n_dims) {
        sx_score bound = sx_stem_try(w->rest, stem, s, extent, number);
        double value = bound.energy_pj < INFINITY ? sx_judge_value(w->judge, &bound) : INFINITY;
        if (value < INFINITY && hopeful(w, value)) add(w, &w->tiles[s], value, number);
        return;
    }
    int slot = space->temporal_slot[s];
    uint32_t base = stem->extent[d] * w->rest->outline.spatial[s][d], open = w->rest->open[s + 1][d];
    bool last = s + 1 == space->arch->n_levels;
    for (size_t i = 0; i < w->of[d].n; i++) {
        uint32_t to = w->of[d].divisor[i];
        if (to % base || open % to || (last && to != open)) continue;
        if (to / base < space->min[d][slot] || to / base > space->max[d][slot]) continue;
        extent[d] = to;
        list_tiles(w, s, d + 1, extent, number + w->of[d].code[i]);
    }
}

/* Gives a level what the outline keeps; false where its banks cannot be dealt out so. */
static bool set_keep(sx_descent *w, int s, const uint32_t *extent) {
    uint8_t keep = w->rest->outline.keep[s];
    sx_map_level(w->point, s)->keep = keep;
    if (!w->space->banked[s]) return true;
    sx_map_keep choice[1 << SX_MAX_TENSORS];
    int n = sx_map_keeps_of(w->space, s, extent, choice);
    for (int i = 0; i < n; i++) {
        if (choice[i].keep != keep) continue;
        memcpy(sx_map_banks(w->space, w->point, s), choice[i].banks, sizeof choice[i].banks);
        return true;
    }
    return false;
}

static void descend(sx_descent *w, int s);

/* Goes through the orders of a level whose tile is set. */
static void try_orders(sx_descent *w, int s, const uint32_t *extent, uint32_t number) {
    bool spread = false, last = s + 1 == w->space->arch->n_levels;
    uint32_t loops = 0;
    size_t n;
    for (int d = 0; d < w->space->problem->n_dims; d++) {
        loops |= (uint32_t)(sx_map_level(w->point, s)->temporal[d] > 1) << d;
        spread |= w->rest->outline.spatial[0][d] > 1;
    }
    const uint8_t(*order)[SX_MAX_DIMS] =
        sx_map_orders_of(w->choices, s, loops, sx_map_order_matters(w->space, s, spread), &n);
    w->failed |= !order;
    w->orders[s].n = 0;
    for (size_t i = 0; i < n && goes_on(w); i++) {
        sx_stem_grow(w->rest, &w->stem[s], s, extent, number, order[i], &w->stem[s + 1]);
        sx_score bound = sx_stem_bound(w->rest, &w->stem[s + 1], s);
        double value = sx_judge_value(w->judge, &bound);
        if (hopeful(w, value)) add(w, &w->orders[s], value, (uint32_t)i);
    }
    sort(&w->orders[s]);
    for (size_t i = 0; i < w->orders[s].n && goes_on(w) && hopeful(w, w->orders[s].at[i].value); i++) {
        const uint8_t *which = order[w->orders[s].at[i].number];
        memcpy(sx_map_level(w->point, s)->temporal_order, which, SX_MAX_DIMS);
        if (last) {
            try_spreads(w, s);
            continue;
        }
        sx_stem_grow(w->rest, &w->stem[s], s, extent, number, which, &w->stem[s + 1]);
        descend(w, s + 1);
    }
}

/* Goes through the tiles and orders of level s and those outside it. */
static void descend(sx_descent *w, int s) {
    uint32_t extent[SX_MAX_DIMS] = {0};
    options *tiles = &w->tiles[s];
    tiles->n = 0;
    list_tiles(w, s, 0, extent, 0);
    sort(tiles);
    for (size_t i = 0; i < tiles->n && goes_on(w) && hopeful(w, tiles->at[i].value); i++) {
        sx_lattice_extents(&w->bound->lattice, tiles->at[i].number, extent);
        sx_mapping_level *at = sx_map_level(w->point, s);
        for (int d = 0; d < w->space->problem->n_dims; d++)
            at->temporal[d] = extent[d] / (w->stem[s].extent[d] * w->rest->outline.spatial[s][d]);
        if (set_keep(w, s, extent)) try_orders(w, s, extent, tiles->at[i].number);
    }
}

/* Begins the outline of an array and a choice of kept tensors: a subset of those that are free, from the
 * innermost level outward; false where there is no such choice. */
static bool begin(sx_descent *w, const sx_arrays *arrays, size_t index, uint32_t choice) {
    const sx_map_space *space = w->space;
    unsigned kept = 0, all = (1u << space->problem->n_tensors) - 1;
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    sx_arrays_get(arrays, index, &outline);
    for (int s = 0; s < space->arch->n_levels; s++) {
        unsigned may = (unsigned)space->free_keep[s] | (space->banked[s] & ~(unsigned)space->fixed_keep[s]);
        outline.keep[s] = space->fixed_keep[s];
        for (; may; may &= may - 1, choice >>= 1)
            if (choice & 1) outline.keep[s] |= (uint8_t)(may & -may);
        kept |= outline.keep[s];
    }
    if (kept != all) return false;
    sx_rest_begin(w->rest, &outline);
    return true;
}

/* How many such choices there are. */
static uint32_t n_choices(const sx_map_space *space) {
    int bits = 0;
    for (int s = 0; s < space->arch->n_levels; s++)
        bits += __builtin_popcount((unsigned)space->free_keep[s] |
                                   (space->banked[s] & ~(unsigned)space->fixed_keep[s]));
    return 1u << bits;
}

/* The least value over all innermost tiles, with tables. */
static double least_tile(sx_descent *w) {
    uint32_t extent[SX_MAX_DIMS] = {0};
    sx_rest_tabulate(w->rest);
    sx_stem_begin(w->rest, &w->stem[0]);
    w->tiles[0].n = 0;
    list_tiles(w, 0, 0, extent, 0);
    double least = INFINITY;
    for (size_t i = 0; i < w->tiles[0].n; i++) least = fmin(least, w->tiles[0].at[i].value);
    return least;
}

/* Lists the choices of kept tensors that may lead to something better, with their bounds. */
static void list_keeps(sx_descent *w, const sx_arrays *arrays, size_t index) {
    uint32_t n = n_choices(w->space);
    w->keeps.n = 0;
    for (uint32_t i = 0; i < n && goes_on(w); i++) {
        if (!begin(w, arrays, index, i)) continue;
        sx_score bound = sx_rest_flat(w->rest);
        double value = sx_judge_value(w->judge, &bound);
        if (hopeful(w, value)) add(w, &w->keeps, value, i);
    }
    sort(&w->keeps);
}

double sx_descent_bound(sx_descent *w, const sx_arrays *arrays, size_t index, double best) {
    double least = INFINITY;
    w->best = best;
    w->worker = NULL;
    list_keeps(w, arrays, index);
    for (size_t i = 0; i < w->keeps.n && w->judge->tables; i++) {
        if (w->keeps.at[i].value >= least) break;
        begin(w, arrays, index, w->keeps.at[i].number);
        least = fmin(least, least_tile(w));
    }
    if (!w->judge->tables && w->keeps.n > 0) least = w->keeps.at[0].value;
    return w->failed ? -INFINITY : least;
}

sx_ending sx_descent_search(sx_descent *w, const sx_arrays *arrays, size_t index, double best,
                            uint64_t effort, sx_worker *worker) {
    w->best = best;
    w->worker = worker;
    w->steps = 0;
    w->effort = effort;
    w->point = sx_worker_scratch(worker, 0);
    memcpy(w->point, w->space->blank, w->space->space.point_size);
    list_keeps(w, arrays, index);
    for (size_t i = 0; i < w->keeps.n && goes_on(w) && hopeful(w, w->keeps.at[i].value); i++) {
        begin(w, arrays, index, w->keeps.at[i].number);
        set_spreads(w);
        for (int s = 0; s < w->space->arch->n_levels; s++)
            memcpy(sx_map_level(w->point, s)->spatial, w->rest->outline.spatial[s],
                   w->space->problem->n_dims * sizeof(uint32_t));
        if (w->judge->tables) sx_rest_tabulate(w->rest);
        sx_stem_begin(w->rest, &w->stem[0]);
        if (!w->failed) descend(w, 0);
    }
    if (w->over || w->failed) return SX_STOPPED;
    return w->tired ? SX_TIRED : SX_CLOSED;
}
