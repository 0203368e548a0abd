/* All mappings of one spatial mapping that the cutoff admits: what levels keep, then tiles and orders from
 * the innermost level outward, each choice only where its bound is below the cutoff, the most promising
 * first.
 *
 * A visit that takes too long leaves off between two innermost tiles and hands back what is left: the other
 * choices of kept tensors, and of this one the tiles that were not begun, dealt out over several parts so
 * that other threads can take them. Tiles are gone through by their bounds, so the first that is left bounds
 * the rest.
 *
 * Complexity: exponential at worst; what is visited depends on how close the bounds are. */
#include "mappers/optimal/descend.h"

#include "base/status.h"
#include "base/vector.h"
#include "mappers/optimal/leaf.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 4, MOST_PARTS = 256, FEW_TILES = 8, POLL = 256 };

/* Steps that a choice of kept tensors counts for, and an evaluation. */
enum { KEEP_STEPS = 10, EVALUATION_STEPS = 40 };

/* A tile or an order that may be chosen, with its bounds. */
typedef struct option {
    double value, energy, cycles;
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
    const sx_latency_bound *latency; /* NULL: latency is cycles */
    sx_launched_tile launched;
    const sx_map_space *space;
    sx_outline_bound *bounds;
    sx_leaf leaf;
    const sx_cutoff *cutoff;
    sx_node_visit *visit;
    bool exhausted;
    uint64_t turn; /* of looking at the clock */
    uint64_t each; /* the steps that a tile counts for */
    divisors of[SX_MAX_DIMS];
    divisors fit[SX_MAX_DIMS];       /* those that the level at hand may have, */
    uint64_t ways[SX_MAX_DIMS + 1];  /* of the dimensions from one on, multiplied, */
    uint32_t base_code[SX_MAX_DIMS]; /* and the numbers of what is inside the level */
    sx_tile_glance glance;
    options tiles[SX_MAX_LEVELS], orders[SX_MAX_LEVELS], keeps;
    sx_partial_mapping partial[SX_MAX_LEVELS + 1];
    unsigned movable[SX_MAX_LEVELS + 1]; /* loops of the level inside that may move here (bound/movable.c) */
};

/* Adds an option; notes when memory is out. */
static void add_option(sx_descent *w, options *list, double value, const sx_score *bound, uint32_t number) {
    if (!sx_reserve(&list->at, &list->room, list->n + 1, sizeof *list->at)) {
        w->leaf.failed = true;
        return;
    }
    list->at[list->n++] = (option){value, bound->energy_pj, bound->cycles, number};
}

/* By value, then by number. */
static int compare_options(const void *a, const void *b) {
    const option *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void sort_options(options *list) {
    if (list->n > 1) qsort(list->at, list->n, sizeof *list->at, compare_options);
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

sx_status sx_descent_new(const sx_bound *bound, const sx_latency_bound *latency, sx_map_choices *choices,
                         const sx_map_space *space, sx_descent **out) {
    sx_descent *w = calloc(1, sizeof *w);
    if (!w) return sx_error_memory();
    *w = (sx_descent){
        .bound = bound, .latency = latency, .space = space, .leaf = {.space = space, .choices = choices}};
    bool good = true;
    w->leaf.windows = sx_leaf_windows(space->model);
    for (int d = 0; d < space->problem->n_dims; d++)
        good &= list_divisors(bound, d, &w->of[d]) && list_divisors(bound, d, &w->fit[d]);
    sx_status status = good ? sx_outline_bound_new(bound, &w->bounds) : sx_error_memory();
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
        free(w->fit[d].divisor);
        free(w->fit[d].code);
    }
    for (int s = 0; s < SX_MAX_LEVELS; s++) {
        free(w->tiles[s].at);
        free(w->orders[s].at);
    }
    free(w->keeps.at);
    sx_outline_bound_free(w->bounds);
    free(w);
}

/* Notes the spatial factors outside each level, up to those of the boundary's. */
static void note_spatial(sx_descent *w, const sx_outline *outline) {
    if (w->latency)
        sx_launched_tile_begin(w->latency, &w->bound->lattice,
                               (const uint32_t(*)[SX_MAX_DIMS])outline->spatial, &w->launched);
}

/* Sets the latency of a bound, where the tiles of the first n levels are set, the last of them of that point. */
static void set_latency(const sx_descent *w, int n, uint32_t point, sx_score *bound) {
    bound->latency = bound->cycles;
    if (w->latency)
        bound->latency = sx_launched_tile_least(w->latency, &w->launched, n, point, bound->cycles);
}

void sx_descent_bounds(sx_descent *w, const sx_spatial_mappings *spatials, const sx_prune_rule *rule,
                       sx_search_node *node, size_t n) {
    const sx_map_space *space = w->space;
    uint8_t may[SX_MAX_LEVELS] = {0};
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    for (int l = 0; l < space->arch->n_levels; l++) {
        outline.keep[l] = space->fixed_keep[l];
        may[l] = space->free_keep[l] | space->banked[l];
    }
    for (size_t i = 0; i < n; i++) {
        sx_spatial_mappings_get(spatials, node[i].spatial, &outline);
        sx_score least = sx_outline_bound_spatial(w->bounds, &outline, may);
        note_spatial(w, &outline);
        set_latency(w, 0, 0, &least);
        node[i].bound = sx_prune_rule_value(rule, &least);
        node[i].energy = least.energy_pj;
        node[i].cycles = least.cycles;
    }
}

static bool is_admitted(const sx_descent *w, const option *o) {
    return sx_cutoff_admits(w->cutoff, o->value, o->energy, o->cycles);
}

/* Whether an option and those after it are beyond the cutoff, whatever the front says. */
static bool is_past(const sx_descent *w, const option *o) {
    return !w->cutoff->rule->front && o->value >= w->cutoff->limit;
}

static bool cut_off(const sx_descent *w) {
    return w->leaf.over || w->leaf.failed;
}

/* Polls whether the search was stopped. */
static void poll_stop(sx_descent *w) {
    if (++w->turn % POLL == 0) w->leaf.over |= !sx_worker_goes_on(w->visit->worker);
}

/* Counts a step. */
static bool goes_on(sx_descent *w) {
    w->visit->steps++;
    poll_stop(w);
    w->exhausted |= w->visit->steps > w->visit->effort;
    return !cut_off(w) && !w->exhausted;
}

static bool is_open(const sx_descent *w, const sx_score *bound) {
    double value = sx_prune_rule_value(w->cutoff->rule, bound);
    return sx_cutoff_admits(w->cutoff, value, bound->energy_pj, bound->cycles);
}

/* Adds an option where its bound is below the cutoff. */
static void offer_option(sx_descent *w, options *list, const sx_score *bound, uint32_t number) {
    if (is_open(w, bound)) add_option(w, list, sx_prune_rule_value(w->cutoff->rule, bound), bound, number);
}

/* Whether the space has the mapping that stands for those in which level s has no loop on a dimension that moves there: the
 * level inside may be without that loop and keep the same, and level s may have it. */
__attribute__((unused)) static bool moved_is_member(const sx_descent *w, int s, int d) {
    const sx_map_space *space = w->space;
    const sx_mapping_level *from = sx_map_level(w->leaf.point, s - 1);
    sx_map_keep choice[1 << SX_MAX_TENSORS];
    uint32_t extent[SX_MAX_DIMS];
    memcpy(extent, w->partial[s].extent, sizeof extent);
    extent[d] /= from->temporal[d];
    if (space->min[d][space->temporal_slot[s - 1]] > 1) return false;
    if (space->max[d][space->temporal_slot[s]] < from->temporal[d]) return false;
    if (!sx_tile_fits(space, s - 1, from->keep, extent)) return false;
    int n = sx_map_keeps_of(space, s - 1, extent, choice);
    while (n > 0 && choice[n - 1].keep != from->keep) n--;
    return n > 0;
}

/* Lists the extents that a level may have of a dimension; not that of no loop, where another mapping stands for those. */
static void list_extents(sx_descent *w, int s, int d) {
    const sx_map_space *space = w->space;
    const int slot = space->temporal_slot[s];
    const uint32_t base = w->partial[s].extent[d] * w->bounds->outline.spatial[s][d],
                   open = w->bounds->open[s + 1][d];
    const bool last = s + 1 == space->arch->n_levels, moves = w->movable[s] >> d & 1;
    divisors *fit = &w->fit[d];
    fit->n = 0;
    for (size_t i = 0; i < w->of[d].n; i++) {
        const uint32_t to = w->of[d].divisor[i];
        if (to == base) w->base_code[d] = w->of[d].code[i];
        if (to % base || open % to || (last && to != open)) continue;
        if (to / base < space->min[d][slot] || to / base > space->max[d][slot]) continue;
        assert(!moves || to != base || moved_is_member(w, s, d));
        if (moves && to == base) continue;
        fit->divisor[fit->n] = to;
        fit->code[fit->n++] = w->of[d].code[i];
    }
}

/* Counts tiles, and looks at the clock. */
static void count_tiles(sx_descent *w, uint64_t n) {
    w->visit->steps += n * w->each;
    poll_stop(w);
}

/* Offers a tile of a level: a glance closes most of those that do not lead to something better. */
static void offer_tile(sx_descent *w, int s, const uint32_t *extent, uint32_t number) {
    count_tiles(w, 1);
    sx_score bound = sx_tile_glance_at(w->bounds, &w->glance, number);
    set_latency(w, s + 1, number, &bound);
    if (!is_open(w, &bound)) return;
    bound = sx_partial_mapping_try(w->bounds, &w->partial[s], s, extent, number);
    set_latency(w, s + 1, number, &bound);
    offer_option(w, &w->tiles[s], &bound, number);
}

/* Lists the tiles of a level from dimension d on that may lead to something better. `number`: of the tile with no loops on
 * these dimensions; what does not fit then does not fit with them. */
static void list_tiles(sx_descent *w, int s, int d, uint32_t *extent, uint32_t number) {
    const divisors *fit = &w->fit[d];
    if (cut_off(w) || w->ways[d] == 0) return;
    if (sx_outline_bound_excludes(w->bounds, s, number)) {
        count_tiles(w, w->ways[d]);
        return;
    }
    if (d == w->space->problem->n_dims) {
        offer_tile(w, s, extent, number);
        return;
    }
    number -= w->base_code[d];
    for (size_t i = 0; i < fit->n; i++) {
        extent[d] = fit->divisor[i];
        list_tiles(w, s, d + 1, extent, number + fit->code[i]);
    }
}

static void descend_level(sx_descent *w, int s);

/* Lists the orders of a level whose tile is set that may lead to something better, the most promising first.
 */
static void list_orders(sx_descent *w, int s, const uint32_t *extent, uint32_t number,
                        const uint8_t (*order)[SX_MAX_DIMS], size_t n) {
    w->orders[s].n = 0;
    for (size_t i = 0; i < n && goes_on(w); i++) {
        sx_partial_mapping_extend(w->bounds, &w->partial[s], s, extent, number, order[i], &w->partial[s + 1]);
        sx_score bound = sx_partial_mapping_bound(w->bounds, &w->partial[s + 1], s);
        set_latency(w, s + 1, number, &bound);
        offer_option(w, &w->orders[s], &bound, (uint32_t)i);
    }
    sort_options(&w->orders[s]);
}

/* Decides the order of a level whose tile is set. */
static void set_order(sx_descent *w, int s, const uint32_t *extent, uint32_t number, const uint8_t *order) {
    sx_mapping_level *at = sx_map_level(w->leaf.point, s);
    memcpy(at->temporal_order, order, SX_MAX_DIMS);
    if (s + 1 == w->space->arch->n_levels) return;
    sx_partial_mapping_extend(w->bounds, &w->partial[s], s, extent, number, order, &w->partial[s + 1]);
    bool one = w->cutoff->rule->k == 1 && !w->cutoff->rule->latency;
    w->movable[s + 1] = one ? sx_bound_movable(w->bound, s, at->keep, at->temporal, order) : 0;
}

/* Goes through the orders of a level whose tile is set. */
static void try_orders(sx_descent *w, int s, const uint32_t *extent, uint32_t number) {
    bool last = s + 1 == w->space->arch->n_levels;
    size_t n;
    const uint8_t(*order)[SX_MAX_DIMS] = sx_leaf_orders(&w->leaf, s, &n);
    options *orders = &w->orders[s];
    list_orders(w, s, extent, number, order, n);
    for (size_t i = 0; i < orders->n && goes_on(w) && !is_past(w, &orders->at[i]); i++) {
        if (!is_admitted(w, &orders->at[i])) continue;
        set_order(w, s, extent, number, order[orders->at[i].number]);
        if (last) {
            sx_leaf_evaluate(&w->leaf);
            w->visit->steps += EVALUATION_STEPS;
        } else {
            descend_level(w, s + 1);
        }
    }
}

/* Lists the tiles of a level, the most promising first. */
static void list_level(sx_descent *w, int s) {
    uint32_t extent[SX_MAX_DIMS] = {0}, number = 0;
    const int n = w->space->problem->n_dims;
    w->tiles[s].n = 0;
    w->ways[n] = 1;
    for (int d = n - 1; d >= 0; d--) {
        list_extents(w, s, d);
        w->ways[d] = w->ways[d + 1] * w->fit[d].n;
        number += w->base_code[d];
    }
    sx_tile_glance_begin(w->bounds, &w->partial[s], s, &w->glance);
    list_tiles(w, s, 0, extent, number);
    sort_options(&w->tiles[s]);
}

/* Gives a level a tile, and what it keeps; false where its banks cannot be distributed so. */
static bool set_tile(sx_descent *w, int s, uint32_t number, uint32_t *extent) {
    sx_mapping_level *at = sx_map_level(w->leaf.point, s);
    sx_lattice_extents(&w->bound->lattice, number, extent);
    if (w->latency) sx_launched_tile_set(w->latency, s, number, &w->launched);
    for (int d = 0; d < w->space->problem->n_dims; d++)
        at->temporal[d] = extent[d] / (w->partial[s].extent[d] * w->bounds->outline.spatial[s][d]);
    return sx_leaf_keep(&w->leaf, s, w->bounds->outline.keep[s], extent);
}

/* Goes through what is inside a tile's choice: its orders and the levels outside. */
static void try_tile(sx_descent *w, int s, uint32_t number) {
    uint32_t extent[SX_MAX_DIMS];
    if (set_tile(w, s, number, extent)) try_orders(w, s, extent, number);
}

/* Goes through the tiles and orders of level s and those outside it. */
static void descend_level(sx_descent *w, int s) {
    const options *tiles = &w->tiles[s];
    list_level(w, s);
    for (size_t i = 0; i < tiles->n && goes_on(w) && !is_past(w, &tiles->at[i]); i++)
        if (is_admitted(w, &tiles->at[i])) try_tile(w, s, tiles->at[i].number);
}

/* Evaluates the mapping that the bounds alone lead to: the most promising tile and order of every level. */
static void dive_to_leaf(sx_descent *w) {
    sx_leaf_begin(&w->leaf, &w->bounds->outline);
    for (int s = 0; s < w->space->arch->n_levels && !cut_off(w); s++) {
        uint32_t extent[SX_MAX_DIMS], number;
        size_t n;
        if (s > 0) list_level(w, s);
        if (w->tiles[s].n == 0) return;
        number = w->tiles[s].at[0].number;
        if (!set_tile(w, s, number, extent)) return;
        const uint8_t(*order)[SX_MAX_DIMS] = sx_leaf_orders(&w->leaf, s, &n);
        list_orders(w, s, extent, number, order, n);
        if (w->orders[s].n == 0) return;
        set_order(w, s, extent, number, order[w->orders[s].at[0].number]);
    }
    if (!cut_off(w)) sx_leaf_evaluate(&w->leaf);
}

/* Begins the outline of a spatial mapping and a choice of kept tensors; false where there is no such choice.
 */
static bool begin_outline(sx_descent *w, uint32_t choice) {
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    sx_spatial_mappings_get(w->visit->spatials, w->visit->node.spatial, &outline);
    if (!sx_keep_choice(w->space, choice, &outline)) return false;
    if (!sx_outline_legal(w->space, &outline)) {
        w->visit->illegal = true;
        return false;
    }
    sx_outline_bound_begin(w->bounds, &outline);
    note_spatial(w, &outline);
    return true;
}

/* Whether the run was stopped meanwhile. */
static bool is_halted(void *user) {
    return !sx_worker_goes_on(user);
}

/* Makes the tables of a choice, and lists the innermost tiles. */
static void begin_tiles(sx_descent *w, uint32_t choice) {
    bool open = true;
    begin_outline(w, choice);
    if (w->cutoff->rule->tables) {
        sx_score bound = sx_outline_bound_tabulate(w->bounds, &(sx_interrupt){is_halted, w->visit->worker});
        set_latency(w, 0, 0, &bound);
        open = is_open(w, &bound);
        w->visit->steps += (uint64_t)w->bounds->tiles.n_points * (uint64_t)w->bounds->n_tabled *
                               (w->space->arch->n_levels - 1u) * (unsigned)w->bound->n_classes / 12 +
                           1;
        w->leaf.over |= !sx_worker_goes_on(w->visit->worker);
    }
    sx_partial_mapping_begin(w->bounds, &w->partial[0]);
    w->each =
        1 + (uint64_t)w->bounds->n_measures * (unsigned)(w->bound->n_classes * w->bound->n_classes) / 16;
    w->tiles[0].n = 0;
    if (open) list_level(w, 0);
}

/* Lists the choices of kept tensors that may lead to something better, with their bounds. */
static void list_keeps(sx_descent *w) {
    uint32_t n = sx_keep_choices(w->space), keep = w->visit->node.keep;
    w->keeps.n = 0;
    for (uint32_t i = keep == SX_ANY_KEEP ? 0 : keep; i < n && !cut_off(w); i++) {
        uint64_t before = w->bounds->work;
        w->visit->steps += KEEP_STEPS;
        if (begin_outline(w, i)) {
            sx_score bound = sx_outline_bound_compulsory(w->bounds);
            set_latency(w, 0, 0, &bound);
            if (is_open(w, &bound)) bound = sx_outline_bound_quick(w->bounds, false);
            set_latency(w, 0, 0, &bound);
            offer_option(w, &w->keeps, &bound, i);
        }
        w->visit->steps += w->bounds->work - before;
        w->leaf.over |= !sx_worker_goes_on(w->visit->worker);
        if (keep != SX_ANY_KEEP) break;
    }
    sort_options(&w->keeps);
}

/* Readies the workspace for a visit. */
static void start_visit(sx_descent *w, sx_node_visit *visit) {
    w->visit = visit;
    w->cutoff = visit->cutoff;
    w->leaf.cutoff = visit->cutoff;
    w->leaf.worker = visit->worker;
    w->leaf.over = w->leaf.failed = w->exhausted = false;
    visit->steps = 0;
    visit->illegal = false;
    visit->left.n = 0;
    list_keeps(w);
}

/* Lowers a node's bounds to those of an option. */
static void include_option(sx_search_node *node, const option *o) {
    node->bound = fmin(node->bound, o->value);
    node->energy = fmin(node->energy, o->energy);
    node->cycles = fmin(node->cycles, o->cycles);
}

/* Whether a tile is one of those that the node has left. */
static bool is_left(const sx_search_node *node, const option *tile) {
    if ((tile->number * 2654435761u >> 16) % node->parts != node->part) return false;
    return tile->value > node->from || (tile->value == node->from && tile->number >= node->from_number);
}

/* Hands back a node whose bound was raised. */
static void leave_sharp(sx_descent *w, sx_search_node *node) {
    const sx_search_node *from = &w->visit->node;
    if (node->bound == INFINITY || cut_off(w)) return;
    node->bound = fmax(node->bound, from->bound);
    node->energy = fmax(node->energy, from->energy);
    node->cycles = fmax(node->cycles, from->cycles);
    node->visits++;
    w->leaf.failed |= !sx_search_nodes_add(&w->visit->left, node);
}

/* Hands back the tiles of a choice from number i on, in several parts where they are many. */
static void leave_tiles(sx_descent *w, uint32_t keep, size_t i) {
    const options *tiles = &w->tiles[0];
    const sx_search_node *from = &w->visit->node;
    bool deal = from->keep != SX_ANY_KEEP && from->parts < MOST_PARTS && tiles->n - i > FEW_TILES;
    uint16_t n = deal ? PARTS : 1;
    for (uint16_t p = 0; p < n; p++) {
        sx_search_node node = *from;
        node.keep = keep;
        node.part = (uint16_t)(from->part + from->parts * p);
        node.parts = (uint16_t)(from->parts * n);
        node.visits++;
        node.bound = node.energy = node.cycles = INFINITY;
        node.from = tiles->at[i].value;
        node.from_number = tiles->at[i].number;
        for (size_t k = i; k < tiles->n; k++)
            if (is_left(&node, &tiles->at[k]) && is_admitted(w, &tiles->at[k]))
                include_option(&node, &tiles->at[k]);
        node.bound = fmax(node.bound, from->bound);
        if (node.bound < INFINITY) w->leaf.failed |= !sx_search_nodes_add(&w->visit->left, &node);
    }
}

/* Hands back choices of kept tensors from number i on. */
static void leave_keeps(sx_descent *w, size_t i) {
    const sx_search_node *from = &w->visit->node;
    for (; i < w->keeps.n; i++) {
        const option *keep = &w->keeps.at[i];
        sx_search_node node = *from;
        if (!is_admitted(w, keep)) continue;
        node.keep = keep->number;
        node.bound = fmax(from->bound, keep->value);
        node.energy = fmax(from->energy, keep->energy);
        node.cycles = fmax(from->cycles, keep->cycles);
        node.visits = 0;
        w->leaf.failed |= !sx_search_nodes_add(&w->visit->left, &node);
    }
}

/* Raises the bound of a spatial mapping to the least of its choices. */
static void sharpen_spatial(sx_descent *w) {
    sx_search_node node = w->visit->node;
    node.bound = node.energy = node.cycles = INFINITY;
    for (size_t i = 0; i < w->keeps.n; i++) include_option(&node, &w->keeps.at[i]);
    leave_sharp(w, &node);
}

/* Raises the bound of a choice by tables, and evaluates the mapping that they lead to. */
static void sharpen_choice(sx_descent *w) {
    sx_search_node node = w->visit->node;
    if (w->keeps.n == 0) return;
    node.bound = node.energy = node.cycles = INFINITY;
    begin_tiles(w, node.keep);
    for (size_t k = 0; k < w->tiles[0].n; k++) include_option(&node, &w->tiles[0].at[k]);
    if (w->tiles[0].n > 0 && w->cutoff->rule->k == 1) dive_to_leaf(w);
    leave_sharp(w, &node);
}

sx_visit_end sx_descent_sharpen(sx_descent *w, sx_node_visit *visit) {
    start_visit(w, visit);
    if (visit->node.keep != SX_ANY_KEEP)
        sharpen_choice(w);
    else if (visit->node.visits == 0)
        sharpen_spatial(w);
    else
        leave_keeps(w, 0);
    return sx_leaf_end(&w->leaf, visit);
}

sx_visit_end sx_descent_search(sx_descent *w, sx_node_visit *visit) {
    const options *tiles = &w->tiles[0];
    start_visit(w, visit);
    for (size_t i = 0; i < w->keeps.n && !cut_off(w); i++) {
        uint32_t keep = w->keeps.at[i].number;
        if (!is_admitted(w, &w->keeps.at[i])) continue;
        begin_tiles(w, keep);
        if (i == 0) visit->effort += visit->steps;
        sx_leaf_begin(&w->leaf, &w->bounds->outline);
        for (size_t k = 0; k < tiles->n && !cut_off(w) && !w->exhausted && !is_past(w, &tiles->at[k]); k++) {
            if (!is_left(&visit->node, &tiles->at[k]) || !is_admitted(w, &tiles->at[k])) continue;
            try_tile(w, 0, tiles->at[k].number);
            if (w->exhausted && !cut_off(w)) leave_tiles(w, keep, k);
        }
        if (!w->exhausted) continue;
        leave_keeps(w, i + 1);
        break;
    }
    return sx_leaf_end(&w->leaf, visit);
}
