/* All mappings of one spatial mapping that leave remainders and the cutoff admits: what levels keep, then
 * factors and orders from the innermost level outward. Those whose factors all divide are left to descend.c.
 *
 * Bounds are those of decided levels (bound/prefix.c). A level is gone through by its innermost loop, then by factors, then
 * by orders. Factors of a dimension that make as many blocks are taken together, and told apart only if the bound of all
 * of them admits it. After each dimension the others are bounded by the largest tile that has room. Beside these, tiles that
 * do not fit end a branch, as they only grow.
 *
 * A node is a spatial mapping, then one with a choice of kept tensors. Of that the tiles of the innermost level are listed
 * with their bounds, the first visit states the least of these as the node's bound, later ones go through the list in
 * the order of the bounds. Where the cutoff is far above the node's bound a visit looks for mappings near the bound alone,
 * and raises it; the next one looks further. Otherwise a visit that takes too long hands back the node from the tile on that
 * it has not done, in several parts, so that bounds rise as tiles are done. As the list is made anew in each visit, going
 * through it may take WORTH times as long.
 *
 * Complexity: exponential; some steps per bound. */
#include "mappers/optimal/remainder_search.h"

#include "base/status.h"
#include "base/vector.h"
#include "bound/prefix.h"
#include "mappers/optimal/leaf.h"
#include "model/capacity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 4, MOST_PARTS = 256, POLL = 64, MOST_TILES = 100000, WORTH = 2 };

/* The steps that an evaluation counts for: by closed forms, and by walking every iteration of a window. */
enum { PLAIN_STEPS = 400, WINDOW_STEPS = 40000 };

/* A visit looks for mappings this near to the bound, each further one twice as far, up to a last one that looks for all. */
static const double NEAR = 0.01;
enum { FULL_TURN = 12 };

/* No innermost loop is asked for. */
enum { ANY_LOOP = -2 };

/* A tile of the innermost level: factors of each dimension, from the least to the largest, and an order. */
typedef struct first_tile {
    sx_prefix_least bound;
    uint32_t hash;
    uint32_t low[SX_MAX_DIMS], high[SX_MAX_DIMS];
    uint8_t order[SX_MAX_DIMS];
} first_tile;

struct sx_remainder_search {
    const sx_map_space *space;
    sx_leaf leaf;
    sx_imperfect_bound bounds;
    sx_prefix_bound prefix;
    sx_node_visit *visit;
    bool exhausted;
    uint64_t turn;       /* of looking at the clock */
    uint64_t evaluation; /* the steps that one counts for */
    uint64_t listed;     /* steps that the list of tiles took, */
    uint64_t effort;     /* and those that may go through it */
    uint32_t low[SX_MAX_LEVELS][SX_MAX_DIMS], high[SX_MAX_LEVELS][SX_MAX_DIMS]; /* factors that are alike */
    first_tile *tile;
    size_t n_tiles, room;
    bool listing, cut; /* tiles are being listed; some of the list were dropped, */
    double ceiling;    /* from this value on */
    double aim;        /* mappings below this value are looked for */
};

/* Whether tiles are kept from visit to visit, at all levels. */
static bool reuses_tiles(const sx_map_space *space) {
    unsigned renewed = 0;
    for (int s = 0; s < space->arch->n_levels; s++) renewed |= space->constraints.level[s].no_temporal_reuse;
    return renewed == 0;
}

sx_status sx_remainder_search_new(sx_map_choices *choices, const sx_map_space *space,
                                  const sx_imperfect_tiles *tiles, sx_remainder_search **out) {
    sx_remainder_search *w = calloc(1, sizeof *w);
    if (!w) return sx_error_memory();
    *w = (sx_remainder_search){.space = space, .leaf = {.space = space, .choices = choices}};
    sx_imperfect_bound_init(&w->bounds, tiles);
    w->bounds.reuses = reuses_tiles(space);
    sx_prefix_bound_init(&w->prefix, &w->bounds, reuses_tiles(space));
    w->leaf.windows = sx_leaf_windows(space->model);
    w->evaluation = w->leaf.windows ? WINDOW_STEPS : PLAIN_STEPS;
    *out = w;
    return SX_OK;
}

void sx_remainder_search_free(sx_remainder_search *w) {
    if (!w) return;
    free(w->tile);
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
        sx_score score = sx_imperfect_bound_any(&w->bounds);
        set_bounds(&node[i], rule, &score);
    }
}

void sx_remainder_search_bound_all(const sx_remainder_search *w, const sx_prune_rule *rule,
                                   sx_search_node *node) {
    sx_score score = sx_imperfect_bound_all(&w->bounds);
    set_bounds(node, rule, &score);
}

static bool cut_off(const sx_remainder_search *w) {
    return w->leaf.over || w->leaf.failed;
}

/* Counts some steps; polls whether the search was stopped. */
static bool goes_on(sx_remainder_search *w, uint64_t steps) {
    if (++w->turn % POLL == 0) w->leaf.over |= !sx_worker_goes_on(w->visit->worker);
    w->visit->steps += steps;
    if (w->listing)
        w->exhausted |= w->visit->listing > 0 && w->visit->steps > w->visit->listing;
    else
        w->exhausted |= w->visit->steps - w->listed > w->effort;
    return !cut_off(w) && !w->exhausted;
}

static bool admits_bound(const sx_remainder_search *w, const sx_prefix_least *bound) {
    return bound->value < w->aim &&
           sx_cutoff_admits(w->visit->cutoff, bound->value, bound->energy, bound->cycles);
}

/* The value of a bound, by a rule. */
static double value_of(const void *rule, const sx_score *score) {
    return sx_prune_rule_value(rule, score);
}

/* The sx_prefix_least bound of what a query leaves open, over all loops that may be the next one outward; with `any` that of some
 * which the cutoff admits, as soon as there is one. */
static sx_prefix_least bound_query(sx_remainder_search *w, const sx_prefix_query *query, bool any) {
    const sx_cutoff *cutoff = w->visit->cutoff;
    const double limit = cutoff->rule->front ? INFINITY : fmin(cutoff->limit, w->aim);
    const sx_prefix_goal goal = {value_of, cutoff->rule, limit,
                                 any ? fmin(cutoff->limit, w->aim) : -INFINITY};
    return sx_prefix_bound_least(&w->prefix, query, &goal, &w->visit->steps);
}

/* The extents of a level's tile. */
static void set_extents(const sx_remainder_search *w, int s, uint32_t *extent) {
    for (int d = 0; d < w->space->problem->n_dims; d++) {
        uint64_t reach = w->prefix.decided.reach[s + 1][d];
        extent[d] = reach < w->space->problem->size[d] ? (uint32_t)reach : w->space->problem->size[d];
    }
}

/* Whether the tiles that a level keeps fit. */
static bool tiles_fit(const sx_remainder_search *w, int s) {
    const sx_model *model = w->space->model;
    uint32_t extent[SX_MAX_DIMS];
    if (!model->level[s].limited) return true;
    set_extents(w, s, extent);
    return sx_level_holds(model, &model->level[s], w->bounds.outline.keep[s], extent);
}

/* Sets a level's factor of a dimension. */
static void set_factor(sx_remainder_search *w, int s, int d, uint64_t factor) {
    sx_decided_set(&w->prefix.decided, s, d, factor);
    sx_map_level(w->leaf.point, s)->temporal[d] = (uint32_t)factor;
}

/* Whether all factors divide. */
static bool is_exact(const sx_remainder_search *w) {
    bool exact = true;
    for (int d = 0; d < w->space->problem->n_dims; d++)
        exact &= w->prefix.decided.reach[w->space->arch->n_levels][d] == w->space->problem->size[d];
    return exact;
}

static void search_level(sx_remainder_search *w, int s);

/* Goes on from a level whose factors and order are decided. */
static void leave_level(sx_remainder_search *w, int s) {
    uint32_t extent[SX_MAX_DIMS];
    bool last = s + 1 == w->space->arch->n_levels;
    sx_prefix_query query = {.last = s, .order = true};
    if (last && is_exact(w)) return;
    sx_prefix_least bound = bound_query(w, &query, true);
    if (!admits_bound(w, &bound)) return;
    set_extents(w, s, extent);
    if (!sx_leaf_keep(&w->leaf, s, w->bounds.outline.keep[s], extent)) return;
    if (last && goes_on(w, w->evaluation)) sx_leaf_evaluate(&w->leaf);
    if (!last) search_level(w, s + 1);
}

/* Goes through the factors that are alike from dimension d on. */
static void expand_factors(sx_remainder_search *w, int s, int d) {
    if (d == w->space->problem->n_dims) {
        leave_level(w, s);
        return;
    }
    for (uint32_t t = w->low[s][d]; t <= w->high[s][d] && goes_on(w, 1); t++) {
        set_factor(w, s, d, t);
        if (!tiles_fit(w, s)) break;
        expand_factors(w, s, d + 1);
    }
    set_factor(w, s, d, w->low[s][d]);
}

/* Sets the order of a level. */
static void set_order(sx_remainder_search *w, int s, const uint8_t *order) {
    for (int i = 0; i < w->space->problem->n_dims; i++) w->prefix.decided.place[s][order[i]] = (uint8_t)i;
    memcpy(sx_map_level(w->leaf.point, s)->temporal_order, order, SX_MAX_DIMS);
}

/* Sets the factors of a level's first n dimensions to the least or the largest that are alike; returns the dimensions where these
 * differ. */
static unsigned set_factors(sx_remainder_search *w, int s, int n, bool high) {
    unsigned ranged = 0;
    for (int d = 0; d < n; d++) {
        set_factor(w, s, d, high ? w->high[s][d] : w->low[s][d]);
        ranged |= (unsigned)(w->low[s][d] < w->high[s][d]) << d;
    }
    return ranged;
}

static uint32_t hash_tile(const first_tile *tile, int n_dims) {
    uint32_t hash = 0;
    for (int d = 0; d < n_dims; d++)
        hash = (hash ^ tile->low[d] ^ (uint32_t)tile->order[d] << 24) * 2654435761u;
    return hash ^ hash >> 15;
}

/* By value, then by hash. */
static int compare_tiles(const void *a, const void *b) {
    const first_tile *x = a, *y = b;
    if (x->bound.value != y->bound.value) return x->bound.value < y->bound.value ? -1 : 1;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* Adds the tile at hand to the list, if it belongs to the node; of a list that is too long the worse half is dropped. */
static void add_tile(sx_remainder_search *w, const sx_prefix_least *bound, const uint8_t *order) {
    const sx_search_node *node = &w->visit->node;
    first_tile tile = {.bound = *bound};
    memcpy(tile.low, w->low[0], sizeof tile.low);
    memcpy(tile.high, w->high[0], sizeof tile.high);
    memcpy(tile.order, order, sizeof tile.order);
    tile.hash = hash_tile(&tile, w->space->problem->n_dims);
    bool done = bound->value < node->from || (bound->value == node->from && tile.hash < node->from_number);
    if (done || (tile.hash >> 8) % node->parts != node->part || (w->cut && bound->value >= w->ceiling))
        return;
    if (w->n_tiles == MOST_TILES) {
        qsort(w->tile, w->n_tiles, sizeof *w->tile, compare_tiles);
        w->n_tiles /= 2;
        w->ceiling = w->tile[w->n_tiles].bound.value;
        w->cut = true;
        while (w->n_tiles > 0 && w->tile[w->n_tiles - 1].bound.value >= w->ceiling) w->n_tiles--;
    }
    if (!sx_reserve(&w->tile, &w->room, w->n_tiles + 1, sizeof *w->tile))
        w->leaf.failed = true;
    else
        w->tile[w->n_tiles++] = tile;
}

/* The dimension of a level's innermost loop; -1: none. */
static int first_loop(const sx_remainder_search *w, int s) {
    return sx_decided_first(&w->prefix.decided, s - 1, s, (1u << w->space->problem->n_dims) - 1).dim;
}

/* Goes on from a level whose factors are decided but for those that are alike. */
static void try_orders(sx_remainder_search *w, int s, int inner) {
    const int n_dims = w->space->problem->n_dims;
    size_t n;
    const uint8_t(*order)[SX_MAX_DIMS] = sx_leaf_orders(&w->leaf, s, &n);
    unsigned ranged = set_factors(w, s, n_dims, true);
    for (size_t i = 0; i < n && goes_on(w, 1); i++) {
        set_order(w, s, order[i]);
        if (inner >= 0 && first_loop(w, s) != inner) continue;
        sx_prefix_query query = {.last = s, .order = true, .ranged = ranged};
        sx_prefix_least bound = bound_query(w, &query, !w->listing);
        if (!admits_bound(w, &bound)) continue;
        if (w->listing) {
            add_tile(w, &bound, order[i]);
            continue;
        }
        set_factors(w, s, n_dims, false);
        expand_factors(w, s, 0);
        set_factors(w, s, n_dims, true);
    }
    set_factors(w, s, n_dims, false);
}

/* Whether some tile may be good enough that has the largest extents there is room for from dimension d on, and any that are alike
 * before it. */
static bool may_go_on(sx_remainder_search *w, int s, int d, int inner) {
    const int n = w->space->problem->n_dims;
    sx_prefix_query query = {.last = s, .inner = inner};
    if (d == n || !w->prefix.usable) return true;
    uint64_t most[SX_MAX_DIMS];
    for (int k = d; k < n; k++) {
        uint64_t low = 1, high = (w->space->problem->size[k] - 1) / w->prefix.decided.base[s][k] + 1;
        while (low < high) {
            uint64_t middle = (low + high + 1) / 2;
            sx_decided_set(&w->prefix.decided, s, k, middle);
            w->visit->steps++;
            if (tiles_fit(w, s))
                low = middle;
            else
                high = middle - 1;
        }
        sx_decided_set(&w->prefix.decided, s, k, 1);
        most[k] = low;
        query.loose |= 1u << k;
    }
    for (int k = d; k < n; k++) sx_decided_set(&w->prefix.decided, s, k, most[k]);
    query.ranged = set_factors(w, s, d, true);
    sx_prefix_least bound = bound_query(w, &query, true);
    set_factors(w, s, d, false);
    for (int k = d; k < n; k++) sx_decided_set(&w->prefix.decided, s, k, 1);
    return admits_bound(w, &bound);
}

/* Goes through the temporal factors of a level from dimension d on, where the innermost loop is on a dimension, or
 * there is none (-1). */
static void choose_factors(sx_remainder_search *w, int s, int d, int inner) {
    const sx_map_space *space = w->space;
    if (d == space->problem->n_dims) {
        try_orders(w, s, inner);
        return;
    }
    const int slot = space->temporal_slot[s];
    const uint64_t tiles = (space->problem->size[d] - 1) / w->prefix.decided.base[s][d] + 1;
    bool last = s + 1 == space->arch->n_levels;
    uint64_t most = space->max[d][slot] < tiles ? space->max[d][slot] : tiles, next;
    if (inner == -1 && most > 1) most = 1;
    for (uint64_t t = last ? tiles : space->min[d][slot]; t <= most && goes_on(w, 1); t = next) {
        next = sx_decided_alike(&w->prefix.decided, s, d, t) + 1;
        if (next > most) next = most + 1;
        if ((inner == d && t == 1) || t < space->min[d][slot]) continue;
        w->low[s][d] = (uint32_t)t;
        w->high[s][d] = (uint32_t)(next - 1);
        set_factor(w, s, d, t);
        if (!tiles_fit(w, s)) break;
        if (may_go_on(w, s, d + 1, inner)) choose_factors(w, s, d + 1, inner);
    }
    set_factor(w, s, d, 1);
}

/* Goes through all that a level may have. */
static void search_level(sx_remainder_search *w, int s) {
    const sx_map_space *space = w->space;
    bool spread = sx_leaf_loops(space, w->bounds.outline.spatial[0]) != 0;
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint64_t spatial = w->bounds.outline.spatial[s][d], reach = w->prefix.decided.reach[s][d];
        if (spatial > 1 && (spatial - 1) * reach >= space->problem->size[d]) return;
        set_factor(w, s, d, 1);
    }
    if (!tiles_fit(w, s)) return;
    if (!sx_map_order_matters(space, s, spread)) {
        if (may_go_on(w, s, 0, ANY_LOOP)) choose_factors(w, s, 0, ANY_LOOP);
        return;
    }
    for (int inner = -1; inner < space->problem->n_dims && goes_on(w, 1); inner++)
        if (inner < 0 || may_go_on(w, s, 0, inner)) choose_factors(w, s, 0, inner);
}

/* Raises the bounds of a node with a choice of kept tensors to those by what compute units ask for, joined with all tiles of
 * the innermost level. */
static void bound_first_tiles(sx_remainder_search *w, sx_search_node *node) {
    const sx_prefix_query nothing = {.last = -1, .order = true};
    w->aim = INFINITY;
    sx_prefix_bound_begin(&w->prefix);
    const sx_prefix_least bound = bound_query(w, &nothing, false);
    node->bound = fmax(node->bound, bound.value);
    node->energy = fmax(node->energy, bound.energy);
    node->cycles = fmax(node->cycles, bound.cycles);
}

/* Hands back the choices of kept tensors that the cutoff admits, as nodes of their own. */
static void list_keeps(sx_remainder_search *w) {
    uint32_t n = sx_keep_choices(w->space);
    sx_outline outline = w->bounds.outline;
    for (uint32_t i = 0; i < n && !w->leaf.failed; i++) {
        sx_search_node node = w->visit->node;
        w->visit->steps++;
        if (!sx_keep_choice(w->space, i, &outline) || !sx_outline_legal(w->space, &outline)) continue;
        sx_imperfect_bound_keep(&w->bounds, outline.keep);
        sx_score score = sx_imperfect_bound_score(&w->bounds, 0);
        set_bounds(&node, w->visit->cutoff->rule, &score);
        node.bound = fmax(node.bound, w->visit->node.bound);
        node.keep = i;
        if (!sx_cutoff_admits(w->visit->cutoff, node.bound, node.energy, node.cycles)) continue;
        const bool listed = w->visit->listing == 0 || w->visit->steps < w->visit->listing;
        if (w->prefix.usable && listed) bound_first_tiles(w, &node);
        if (!sx_cutoff_admits(w->visit->cutoff, node.bound, node.energy, node.cycles)) continue;
        w->leaf.failed |= !sx_search_nodes_add(&w->visit->left, &node);
    }
}

/* The least bounds of the tiles from number i on, and of those that are not on the list. */
static sx_prefix_least rest_of_tiles(const sx_remainder_search *w, size_t i) {
    const sx_search_node *node = &w->visit->node;
    sx_prefix_least rest = {i < w->n_tiles ? w->tile[i].bound.value : w->ceiling, INFINITY, INFINITY};
    if (w->cut) return (sx_prefix_least){rest.value, node->energy, node->cycles};
    for (; i < w->n_tiles; i++) {
        rest.energy = fmin(rest.energy, w->tile[i].bound.energy);
        rest.cycles = fmin(rest.cycles, w->tile[i].bound.cycles);
    }
    return rest;
}

/* Hands back the node from a tile on, in several parts; or all of it, where tiles before that one are not `done`. */
static void hand_back(sx_remainder_search *w, const sx_prefix_least *from, uint32_t hash, bool done) {
    sx_search_node node = w->visit->node;
    const uint16_t n = done && node.parts < MOST_PARTS ? PARTS : 1, first = node.part, parts = node.parts;
    node.visits++;
    node.bound = fmax(node.bound, from->value);
    node.energy = fmax(node.energy, from->energy);
    node.cycles = fmax(node.cycles, from->cycles);
    if (done) {
        node.from = from->value;
        node.from_number = hash;
    }
    node.parts = (uint16_t)(parts * n);
    for (uint16_t p = 0; p < n; p++) {
        node.part = (uint16_t)(first + parts * p);
        w->leaf.failed |= !sx_search_nodes_add(&w->visit->left, &node);
    }
}

/* Lists the tiles of the innermost level. */
static void list_tiles(sx_remainder_search *w) {
    w->n_tiles = 0;
    w->listing = true;
    w->cut = false;
    search_level(w, 0);
    w->listing = false;
    w->listed = w->visit->steps;
    w->effort = w->visit->effort > WORTH * w->listed ? w->visit->effort : WORTH * w->listed;
    if (w->n_tiles > 1) qsort(w->tile, w->n_tiles, sizeof *w->tile, compare_tiles);
}

/* Goes through the tiles of the innermost level from the best on. */
static void search_tiles(sx_remainder_search *w) {
    for (size_t i = 0; i < w->n_tiles && !cut_off(w); i++) {
        const first_tile *tile = &w->tile[i];
        if (!admits_bound(w, &tile->bound)) continue;
        memcpy(w->low[0], tile->low, sizeof tile->low);
        memcpy(w->high[0], tile->high, sizeof tile->high);
        set_factors(w, 0, w->space->problem->n_dims, false);
        set_order(w, 0, tile->order);
        expand_factors(w, 0, 0);
        if (cut_off(w) || !w->exhausted) continue;
        sx_prefix_least rest = rest_of_tiles(w, i);
        hand_back(w, &rest, tile->hash, w->aim == INFINITY);
        return;
    }
}

/* The value below which a visit looks for mappings: INFINITY where all that the cutoff admits is near the bound. */
static double aim_of(const sx_node_visit *visit) {
    const sx_prune_rule *rule = visit->cutoff->rule;
    const unsigned turn = visit->node.visits < 2 ? 0 : visit->node.visits - 2u;
    if (rule->front || rule->k > 1 || visit->node.visits < 2 || turn >= FULL_TURN) return INFINITY;
    double aim = visit->node.bound * (1 + NEAR * (double)(1u << turn));
    return visit->node.bound > 0 && aim < visit->cutoff->limit ? aim : INFINITY;
}

/* Visits a node with a choice of kept tensors. */
static void visit_keep(sx_remainder_search *w) {
    const sx_search_node *node = &w->visit->node;
    sx_outline outline = w->bounds.outline;
    if (!sx_keep_choice(w->space, node->keep, &outline)) return;
    w->aim = aim_of(w->visit);
    sx_imperfect_bound_keep(&w->bounds, outline.keep);
    sx_prefix_bound_begin(&w->prefix);
    sx_leaf_begin(&w->leaf, &w->bounds.outline);
    list_tiles(w);
    if (w->exhausted && !cut_off(w)) {
        hand_back(w, &(sx_prefix_least){node->bound, node->energy, node->cycles}, 0, false);
        return;
    }
    const bool first = node->visits == 1;
    if (!first) search_tiles(w);
    if (cut_off(w) || w->exhausted) return;
    sx_prefix_least rest = rest_of_tiles(w, first ? 0 : w->n_tiles);
    if (w->aim < INFINITY) rest = (sx_prefix_least){w->aim, node->energy, node->cycles};
    if (w->aim < INFINITY || w->cut || (first && w->n_tiles > 0))
        hand_back(w, &rest, 0, w->cut && w->aim == INFINITY);
}

sx_visit_end sx_remainder_search_visit(sx_remainder_search *w, sx_node_visit *visit) {
    sx_outline outline;
    w->visit = visit;
    w->leaf.cutoff = visit->cutoff;
    w->leaf.worker = visit->worker;
    w->leaf.over = w->leaf.failed = w->exhausted = false;
    visit->steps = w->listed = 0;
    visit->left.n = 0;
    memset(&outline, 0, sizeof outline);
    sx_spatial_mappings_get(visit->spatials, visit->node.spatial, &outline);
    sx_imperfect_bound_spatial(&w->bounds, &outline);
    if (visit->node.keep == SX_ANY_KEEP)
        list_keeps(w);
    else
        visit_keep(w);
    return sx_leaf_end(&w->leaf, visit);
}
