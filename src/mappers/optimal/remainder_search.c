/* All mappings of one spatial mapping that leave remainders and the cutoff admits: what levels keep, then
 * factors and orders from the innermost level outward. Those whose factors all divide are left to descend.c.
 *
 * Bounds (bound/imperfect.c) are weaker than those of mappings that divide: they know what must be fetched
 * at all, what the best tiles of the levels outside all arrays add to that, and how many steps the factors that are
 * decided lead to. Beside these, tiles that do not fit end a branch, as they only grow. So small spaces come to an
 * end, and large ones have a true bound that rises little.
 *
 * A visit that takes too long hands back the choices of kept tensors it has not begun, and the one at hand in
 * several parts, which begin anew.
 *
 * Complexity: exponential; a step per factor that is tried. */
#include "mappers/optimal/remainder_search.h"

#include "base/status.h"
#include "bound/imperfect.h"
#include "mappers/optimal/leaf.h"
#include "model/capacity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 4, MOST_PARTS = 256, POLL = 64 };

/* The steps that an evaluation counts for: by closed forms, and by walking every iteration of a window. */
enum { PLAIN_STEPS = 400, WINDOW_STEPS = 40000 };

/* A choice of kept tensors with its bounds. */
typedef struct choice {
    double value, energy, cycles;
    uint32_t number;
} choice;

struct sx_remainder_search {
    const sx_map_space *space;
    sx_leaf leaf;
    sx_imperfect_bound bounds;
    sx_node_visit *visit;
    bool exhausted;
    uint64_t turn;       /* of looking at the clock */
    uint64_t evaluation; /* the steps that one counts for */
    size_t n_keeps;
    choice *keep;
    uint64_t reach[SX_MAX_LEVELS + 1][SX_MAX_DIMS]; /* product of factors inside a level */
    uint64_t turns[SX_MAX_LEVELS + 1][SX_MAX_DIMS]; /* of temporal ones */
};

sx_status sx_remainder_search_new(sx_map_choices *choices, const sx_map_space *space,
                                  const sx_imperfect_tiles *tiles, sx_remainder_search **out) {
    sx_remainder_search *w = calloc(1, sizeof *w);
    if (!w) return sx_error_memory();
    *w = (sx_remainder_search){.space = space, .leaf = {.space = space, .choices = choices}};
    w->keep = malloc(sx_keep_choices(space) * sizeof *w->keep);
    if (!w->keep) {
        sx_remainder_search_free(w);
        return sx_error_memory();
    }
    sx_imperfect_bound_init(&w->bounds, tiles);
    w->leaf.windows = sx_leaf_windows(space->model);
    w->evaluation = w->leaf.windows ? WINDOW_STEPS : PLAIN_STEPS;
    for (int d = 0; d < SX_MAX_DIMS; d++) w->reach[0][d] = w->turns[0][d] = 1;
    *out = w;
    return SX_OK;
}

void sx_remainder_search_free(sx_remainder_search *w) {
    if (!w) return;
    free(w->keep);
    free(w);
}

/* Sets the bounds of a node. */
static void set_bounds(sx_search_node *node, const sx_prune_rule *rule, const sx_score *bound) {
    node->bound = sx_prune_rule_value(rule, bound);
    node->energy = bound->energy_pj;
    node->cycles = bound->cycles;
}

void sx_remainder_search_bounds(sx_remainder_search *w, const sx_spatial_mappings *spatials,
                                const sx_prune_rule *rule, sx_search_node *node, size_t n) {
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    for (size_t i = 0; i < n; i++) {
        sx_spatial_mappings_get(spatials, node[i].spatial, &outline);
        sx_imperfect_bound_spatial(&w->bounds, &outline);
        sx_score least = sx_imperfect_bound_any(&w->bounds);
        set_bounds(&node[i], rule, &least);
    }
}

void sx_remainder_search_bound_all(const sx_remainder_search *w, const sx_prune_rule *rule,
                                   sx_search_node *node) {
    sx_score least = sx_imperfect_bound_all(&w->bounds);
    set_bounds(node, rule, &least);
}

static bool cut_off(const sx_remainder_search *w) {
    return w->leaf.over || w->leaf.failed;
}

/* Counts a step; polls whether the search was stopped. */
static bool goes_on(sx_remainder_search *w) {
    if (++w->turn % POLL == 0) w->leaf.over |= !sx_worker_goes_on(w->visit->worker);
    w->visit->steps++;
    w->exhausted |= w->visit->steps > w->visit->effort;
    return !cut_off(w) && !w->exhausted;
}

/* The extents of a level's tile where dimensions up to d are decided: others as if the level had no loop. */
static void set_extents(const sx_remainder_search *w, int s, int d, uint32_t *extent) {
    const sx_outline *outline = &w->bounds.outline;
    for (int i = 0; i < w->space->problem->n_dims; i++) {
        uint64_t reach = i <= d ? w->reach[s + 1][i] : w->reach[s][i] * outline->spatial[s][i];
        extent[i] = reach < w->space->problem->size[i] ? (uint32_t)reach : w->space->problem->size[i];
    }
}

/* Whether the tiles that a level keeps fit, as far as they are decided. */
static bool fits(const sx_remainder_search *w, int s, int d) {
    const sx_model *model = w->space->model;
    uint32_t extent[SX_MAX_DIMS];
    if (!model->level[s].limited) return true;
    set_extents(w, s, d, extent);
    return sx_level_holds(model, &model->level[s], w->bounds.outline.keep[s], extent);
}

static bool admitted(const sx_remainder_search *w, const sx_score *bound) {
    double value = sx_prune_rule_value(w->visit->cutoff->rule, bound);
    return sx_cutoff_admits(w->visit->cutoff, value, bound->energy_pj, bound->cycles);
}

/* Whether a tile of the innermost level is in the part of the node. */
static bool in_part(const sx_remainder_search *w) {
    uint32_t hash = 0;
    for (int d = 0; d < w->space->problem->n_dims; d++)
        hash = (hash ^ (uint32_t)w->reach[1][d]) * 2654435761u;
    return (hash >> 16) % w->visit->node.parts == w->visit->node.part;
}

/* Whether all factors divide. */
static bool is_exact(const sx_remainder_search *w) {
    bool exact = true;
    for (int d = 0; d < w->space->problem->n_dims; d++)
        exact &= w->reach[w->space->arch->n_levels][d] == w->space->problem->size[d];
    return exact;
}

static void choose(sx_remainder_search *w, int s, int d);

/* Goes on from a level whose factors are decided: its orders, and the levels outside it. */
static void finish_level(sx_remainder_search *w, int s) {
    uint32_t extent[SX_MAX_DIMS];
    bool last = s + 1 == w->space->arch->n_levels;
    size_t n;
    sx_score bound = sx_imperfect_bound_score(
        &w->bounds, sx_imperfect_bound_steps(&w->bounds, s, w->reach[s + 1], w->turns[s + 1]));
    if (!admitted(w, &bound) || (s == 0 && !in_part(w)) || (last && is_exact(w))) return;
    set_extents(w, s, SX_MAX_DIMS, extent);
    if (!sx_leaf_keep(&w->leaf, s, w->bounds.outline.keep[s], extent)) return;
    const uint8_t(*order)[SX_MAX_DIMS] = sx_leaf_orders(&w->leaf, s, &n);
    for (size_t i = 0; i < n && goes_on(w) && admitted(w, &bound); i++) {
        memcpy(sx_map_level(w->leaf.point, s)->temporal_order, order[i], SX_MAX_DIMS);
        w->visit->steps += last ? w->evaluation : 0;
        if (last)
            sx_leaf_evaluate(&w->leaf);
        else
            choose(w, s + 1, 0);
    }
}

/* Goes through the temporal factors of a level from dimension d on. */
static void choose(sx_remainder_search *w, int s, int d) {
    const sx_map_space *space = w->space;
    if (d == space->problem->n_dims) {
        finish_level(w, s);
        return;
    }
    bool last = s + 1 == space->arch->n_levels;
    int slot = space->temporal_slot[s];
    uint64_t size = space->problem->size[d], spatial = w->bounds.outline.spatial[s][d];
    uint64_t base = w->reach[s][d] * spatial;
    if (spatial > 1 && (spatial - 1) * w->reach[s][d] >= size) return;
    for (uint64_t t = space->min[d][slot]; t <= space->max[d][slot] && goes_on(w); t++) {
        if (t > 1 && (t - 1) * base >= size) break;
        if (last && t * base < size) continue;
        w->reach[s + 1][d] = t * base;
        w->turns[s + 1][d] = t * w->turns[s][d];
        sx_map_level(w->leaf.point, s)->temporal[d] = (uint32_t)t;
        if (!fits(w, s, d)) break;
        choose(w, s, d + 1);
    }
}

/* By value, then by number. */
static int compare(const void *a, const void *b) {
    const choice *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Lists the choices of kept tensors of a node that the cutoff admits, the most promising first. */
static void list_keeps(sx_remainder_search *w) {
    uint32_t n = sx_keep_choices(w->space), only = w->visit->node.keep;
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    sx_spatial_mappings_get(w->visit->spatials, w->visit->node.spatial, &outline);
    sx_imperfect_bound_spatial(&w->bounds, &outline);
    w->n_keeps = 0;
    for (uint32_t i = only == SX_ANY_KEEP ? 0 : only; i < n; i++) {
        if (sx_keep_choice(w->space, i, &outline) && sx_outline_legal(w->space, &outline)) {
            sx_imperfect_bound_keep(&w->bounds, outline.keep);
            sx_score bound = sx_imperfect_bound_score(&w->bounds, 0);
            if (admitted(w, &bound))
                w->keep[w->n_keeps++] = (choice){sx_prune_rule_value(w->visit->cutoff->rule, &bound),
                                                 bound.energy_pj, bound.cycles, i};
        }
        w->visit->steps++;
        if (only != SX_ANY_KEEP) break;
    }
    if (w->n_keeps > 1) qsort(w->keep, w->n_keeps, sizeof *w->keep, compare);
}

/* Hands back the choices of kept tensors from number i on, the first of them in several parts. */
static void leave(sx_remainder_search *w, size_t i) {
    for (size_t k = i; k < w->n_keeps; k++) {
        sx_search_node node = w->visit->node;
        bool deal = k == i && node.keep != SX_ANY_KEEP && node.parts < MOST_PARTS;
        uint16_t n = deal ? PARTS : 1, first = node.part, parts = node.parts;
        node.visits = (uint16_t)(k == i ? node.visits + 1 : 1);
        node.keep = w->keep[k].number;
        node.bound = fmax(node.bound, w->keep[k].value);
        node.energy = fmax(node.energy, w->keep[k].energy);
        node.cycles = fmax(node.cycles, w->keep[k].cycles);
        node.parts = (uint16_t)(parts * n);
        for (uint16_t p = 0; p < n; p++) {
            node.part = (uint16_t)(first + parts * p);
            w->leaf.failed |= !sx_search_nodes_add(&w->visit->left, &node);
        }
    }
}

sx_visit_end sx_remainder_search_visit(sx_remainder_search *w, sx_node_visit *visit) {
    w->visit = visit;
    w->leaf.cutoff = visit->cutoff;
    w->leaf.worker = visit->worker;
    w->leaf.over = w->leaf.failed = w->exhausted = false;
    visit->steps = 0;
    visit->left.n = 0;
    list_keeps(w);
    for (size_t i = 0; i < w->n_keeps && !cut_off(w); i++) {
        sx_outline outline = w->bounds.outline;
        if (!sx_cutoff_admits(visit->cutoff, w->keep[i].value, w->keep[i].energy, w->keep[i].cycles))
            continue;
        sx_keep_choice(w->space, w->keep[i].number, &outline);
        sx_imperfect_bound_keep(&w->bounds, outline.keep);
        sx_leaf_begin(&w->leaf, &w->bounds.outline);
        choose(w, 0, 0);
        if (!w->exhausted || cut_off(w)) continue;
        leave(w, i);
        break;
    }
    return sx_leaf_end(&w->leaf, visit);
}
