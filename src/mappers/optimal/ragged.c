/* All mappings of one array that leave remainders and may be worth a look: what levels keep, then factors and
 * orders from the innermost level outward. Those whose factors all divide are left to descend.c.
 *
 * Bounds (bound/ragged.c) are weaker than those of mappings that divide: they know what must be fetched
 * at all, and how many steps the factors that are decided lead to. Beside these, tiles that do not fit end a
 * branch, as they only grow. So small spaces come to an end, and large ones have a true bound that rises
 * little.
 *
 * A look that takes too long hands back the choices of kept tensors it has not begun, and the one at hand in
 * several parts, which begin anew.
 *
 * Complexity: exponential; a step per factor that is tried. */
#include "mappers/optimal/ragged.h"

#include "base/status.h"
#include "bound/ragged.h"
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

struct sx_ramble {
    const sx_map_space *space;
    sx_leaf leaf;
    sx_rough rough;
    sx_look *look;
    bool tired;
    uint64_t turn;       /* of looking at the clock */
    uint64_t evaluation; /* the steps that one counts for */
    size_t n_keeps;
    choice *keep;
    uint64_t reach[SX_MAX_LEVELS + 1][SX_MAX_DIMS]; /* product of factors inside a level */
    uint64_t turns[SX_MAX_LEVELS + 1][SX_MAX_DIMS]; /* of temporal ones */
};

sx_status sx_ramble_new(sx_map_choices *choices, const sx_map_space *space, sx_ramble **out) {
    sx_ramble *w = calloc(1, sizeof *w);
    if (!w) return sx_error_memory();
    *w = (sx_ramble){.space = space, .leaf = {.space = space, .choices = choices}};
    w->keep = malloc(sx_keep_choices(space) * sizeof *w->keep);
    if (!w->keep) {
        sx_ramble_free(w);
        return sx_error_memory();
    }
    sx_rough_init(&w->rough, space->model);
    for (int v = 0; v < space->problem->n_tensors; v++)
        w->leaf.windows |= (uint32_t)(w->rough.merge[v] & ~w->rough.idle[v]);
    w->evaluation = w->leaf.windows ? WINDOW_STEPS : PLAIN_STEPS;
    for (int d = 0; d < SX_MAX_DIMS; d++) w->reach[0][d] = w->turns[0][d] = 1;
    *out = w;
    return SX_OK;
}

void sx_ramble_free(sx_ramble *w) {
    if (!w) return;
    free(w->keep);
    free(w);
}

/* Sets the bounds of a node. */
static void set_bounds(sx_search_node *node, const sx_judge *judge, const sx_score *bound) {
    node->bound = sx_judge_value(judge, bound);
    node->energy = bound->energy_pj;
    node->cycles = bound->cycles;
}

void sx_ramble_arrays(sx_ramble *w, const sx_arrays *arrays, const sx_judge *judge, sx_search_node *node,
                      size_t n) {
    const sx_map_space *space = w->space;
    uint8_t may[SX_MAX_LEVELS] = {0};
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    for (int l = 0; l < space->arch->n_levels; l++) may[l] = space->free_keep[l] | space->banked[l];
    for (size_t i = 0; i < n; i++) {
        sx_arrays_get(arrays, node[i].array, &outline);
        sx_rough_array(&w->rough, &outline);
        sx_score least = sx_rough_any(&w->rough, space->fixed_keep, may);
        set_bounds(&node[i], judge, &least);
    }
}

void sx_ramble_any(const sx_ramble *w, const sx_judge *judge, sx_search_node *node) {
    sx_score least = sx_rough_all(&w->rough);
    set_bounds(node, judge, &least);
}

static bool cut_off(const sx_ramble *w) {
    return w->leaf.over || w->leaf.failed;
}

/* Counts a step; looks now and then whether the search was stopped. */
static bool goes_on(sx_ramble *w) {
    if (++w->turn % POLL == 0) w->leaf.over |= !sx_worker_goes_on(w->look->worker);
    w->look->steps++;
    w->tired |= w->look->steps > w->look->effort;
    return !cut_off(w) && !w->tired;
}

/* The extents of a level's tile where dimensions up to d are decided: others as if the level had no loop. */
static void set_extents(const sx_ramble *w, int s, int d, uint32_t *extent) {
    const sx_outline *outline = &w->rough.outline;
    for (int i = 0; i < w->space->problem->n_dims; i++) {
        uint64_t reach = i <= d ? w->reach[s + 1][i] : w->reach[s][i] * outline->spatial[s][i];
        extent[i] = reach < w->space->problem->size[i] ? (uint32_t)reach : w->space->problem->size[i];
    }
}

/* Whether the tiles that a level keeps fit, as far as they are decided. */
static bool fits(const sx_ramble *w, int s, int d) {
    const sx_model *model = w->space->model;
    uint32_t extent[SX_MAX_DIMS];
    if (!model->level[s].limited) return true;
    set_extents(w, s, d, extent);
    return sx_level_holds(model, &model->level[s], w->rough.outline.keep[s], extent);
}

static bool hopeful(const sx_ramble *w, const sx_score *bound) {
    double value = sx_judge_value(w->look->hope->judge, bound);
    return sx_hope_open(w->look->hope, value, bound->energy_pj, bound->cycles);
}

/* Whether a tile of the innermost level is in the part of the node. */
static bool in_part(const sx_ramble *w) {
    uint32_t hash = 0;
    for (int d = 0; d < w->space->problem->n_dims; d++)
        hash = (hash ^ (uint32_t)w->reach[1][d]) * 2654435761u;
    return (hash >> 16) % w->look->node.parts == w->look->node.part;
}

/* Whether all factors divide. */
static bool is_exact(const sx_ramble *w) {
    bool exact = true;
    for (int d = 0; d < w->space->problem->n_dims; d++)
        exact &= w->reach[w->space->arch->n_levels][d] == w->space->problem->size[d];
    return exact;
}

static void choose(sx_ramble *w, int s, int d);

/* Goes on from a level whose factors are decided: its orders, and the levels outside it. */
static void finish_level(sx_ramble *w, int s) {
    uint32_t extent[SX_MAX_DIMS];
    bool last = s + 1 == w->space->arch->n_levels;
    size_t n;
    sx_score bound =
        sx_rough_score(&w->rough, sx_rough_steps(&w->rough, s, w->reach[s + 1], w->turns[s + 1]));
    if (!hopeful(w, &bound) || (s == 0 && !in_part(w)) || (last && is_exact(w))) return;
    set_extents(w, s, SX_MAX_DIMS, extent);
    if (!sx_leaf_keep(&w->leaf, s, w->rough.outline.keep[s], extent)) return;
    const uint8_t(*order)[SX_MAX_DIMS] = sx_leaf_orders(&w->leaf, s, &n);
    for (size_t i = 0; i < n && goes_on(w) && hopeful(w, &bound); i++) {
        memcpy(sx_map_level(w->leaf.point, s)->temporal_order, order[i], SX_MAX_DIMS);
        w->look->steps += last ? w->evaluation : 0;
        if (last)
            sx_leaf_evaluate(&w->leaf);
        else
            choose(w, s + 1, 0);
    }
}

/* Goes through the temporal factors of a level from dimension d on. */
static void choose(sx_ramble *w, int s, int d) {
    const sx_map_space *space = w->space;
    if (d == space->problem->n_dims) {
        finish_level(w, s);
        return;
    }
    bool last = s + 1 == space->arch->n_levels;
    int slot = space->temporal_slot[s];
    uint64_t size = space->problem->size[d], spatial = w->rough.outline.spatial[s][d];
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

/* Lists the choices of kept tensors of a node that may be worth it, the most hopeful first. */
static void list_keeps(sx_ramble *w) {
    uint32_t n = sx_keep_choices(w->space), only = w->look->node.keep;
    sx_outline outline;
    memset(&outline, 0, sizeof outline);
    sx_arrays_get(w->look->arrays, w->look->node.array, &outline);
    sx_rough_array(&w->rough, &outline);
    w->n_keeps = 0;
    for (uint32_t i = only == SX_ANY_KEEP ? 0 : only; i < n; i++) {
        if (sx_keep_choice(w->space, i, &outline) && sx_outline_lawful(w->space, &outline)) {
            sx_rough_keep(&w->rough, outline.keep);
            sx_score bound = sx_rough_score(&w->rough, 0);
            if (hopeful(w, &bound))
                w->keep[w->n_keeps++] =
                    (choice){sx_judge_value(w->look->hope->judge, &bound), bound.energy_pj, bound.cycles, i};
        }
        w->look->steps++;
        if (only != SX_ANY_KEEP) break;
    }
    if (w->n_keeps > 1) qsort(w->keep, w->n_keeps, sizeof *w->keep, compare);
}

/* Hands back the choices of kept tensors from number i on, the first of them in several parts. */
static void leave(sx_ramble *w, size_t i) {
    for (size_t k = i; k < w->n_keeps; k++) {
        sx_search_node node = w->look->node;
        bool deal = k == i && node.keep != SX_ANY_KEEP && node.parts < MOST_PARTS;
        uint16_t n = deal ? PARTS : 1, first = node.part, parts = node.parts;
        node.looks = (uint16_t)(k == i ? node.looks + 1 : 1);
        node.keep = w->keep[k].number;
        node.bound = fmax(node.bound, w->keep[k].value);
        node.energy = fmax(node.energy, w->keep[k].energy);
        node.cycles = fmax(node.cycles, w->keep[k].cycles);
        node.parts = (uint16_t)(parts * n);
        for (uint16_t p = 0; p < n; p++) {
            node.part = (uint16_t)(first + parts * p);
            w->leaf.failed |= !sx_search_nodes_add(&w->look->left, &node);
        }
    }
}

sx_ending sx_ramble_search(sx_ramble *w, sx_look *look) {
    w->look = look;
    w->leaf.hope = look->hope;
    w->leaf.worker = look->worker;
    w->leaf.over = w->leaf.failed = w->tired = false;
    look->steps = 0;
    look->left.n = 0;
    list_keeps(w);
    for (size_t i = 0; i < w->n_keeps && !cut_off(w); i++) {
        sx_outline outline = w->rough.outline;
        if (!sx_hope_open(look->hope, w->keep[i].value, w->keep[i].energy, w->keep[i].cycles)) continue;
        sx_keep_choice(w->space, w->keep[i].number, &outline);
        sx_rough_keep(&w->rough, outline.keep);
        sx_leaf_begin(&w->leaf, &w->rough.outline);
        choose(w, 0, 0);
        if (!w->tired || cut_off(w)) continue;
        leave(w, i);
        break;
    }
    return sx_leaf_ending(&w->leaf, look);
}
