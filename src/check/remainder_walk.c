/* T12 of docs/proof.md: all mappings of given spatial factors, which need not divide, and of what levels keep, from the
 * innermost level outward: tiles first, each level closed by what its tile must fetch at the least, then orders and layouts of
 * what is left, each evaluated exactly. Nothing is passed over but by a bound. */
#include "check/remainders.h"

#include <stdlib.h>

enum { MOST_NODES = 1 << 27, MOST_EVALUATIONS = 1 << 21 };

/* The largest number: there is nothing to fetch it for. */
#define NO_TILE ((sx_wide)1 << 100)

/* What words of a tensor that flow into a level cost there and at the level that they come from, beyond the number of them
 * that every mapping has. */
typedef struct flow_prices {
    bool flows; /* there is such a level */
    int64_t fill, access, read;
    sx_wide filled, accessed, spared;
} flow_prices;

typedef struct walk {
    sx_check_work *work;
    const sx_check_pair *pair;
    sx_check_found *found;
    sx_check_spread spread;
    sx_check_corner base; /* what all mappings cost at least, every word moved once */
    flow_prices prices[SX_MAX_LEVELS][SX_MAX_TENSORS];
    sx_wide rest[SX_MAX_LEVELS + 1]; /* what tiles of a level and of those outside it add at least */
    int64_t places[SX_MAX_LEVELS][SX_MAX_DIMS];     /* instances of a level along a dimension */
    int64_t extent[SX_MAX_LEVELS + 1][SX_MAX_DIMS]; /* of the tile inside a level, before it is cut */
    int64_t steps[SX_MAX_LEVELS + 1]
                 [SX_MAX_DIMS]; /* of the first unit along a dimension, at least, by tiles inside a level */
    sx_wide paid[SX_MAX_LEVELS + 1]; /* what tiles inside a level add at least */
    bool linked;                     /* compute units may hand words to each other */
    bool open;                       /* something was not decided */
    uint64_t nodes, evaluations;
    sx_check_evaluator *evaluator;
    sx_mapping mapping;
} walk;

bool sx_check_may_walk_remainders(const sx_check_work *work) {
    const sx_check_space *space = work->space;
    bool may = space->n_tensors < 32;
    for (int v = 0; v < space->n_tensors; v++) may &= work->shape->solo[v] == work->shape->dims[v];
    for (int v = 0; v < space->n_tensors; v++)
        may &= work->shape->plain >> v & 1 || !space->c->problem.tensor[v].output;
    for (int s = 0; s < space->n_levels; s++)
        may &= !space->c->machine.level[s].hop && !space->c->machine.level[s].router;
    return may;
}

/* Whether the walk must end; counts a step. */
static bool must_end(walk *w) {
    enum { BEAT = 4096 };
    w->open |= ++w->nodes > MOST_NODES || w->evaluations > MOST_EVALUATIONS;
    if (w->nodes % BEAT == 0) w->open |= sx_check_is_over(w->work);
    return w->open || w->found->below;
}

/* Whether no mapping of the walk with so much energy for tiles is below the target. */
static bool is_closed(const walk *w, sx_wide tiles, int64_t cycles) {
    if (w->work->walk_only) return false;
    return sx_check_reaches(&w->work->target, w->base.energy + tiles, cycles);
}

static int64_t size_of(const walk *w, int d) {
    return w->work->space->c->problem.size[d];
}

/* The blocks of a dimension that a tile cuts it into. */
static int64_t count_blocks(const walk *w, int d, int64_t extent) {
    return (size_of(w, d) - 1) / extent + 1;
}

/* The indices of a dimension at which the visits of a level may not move its tile, though the innermost loop outside is on
 * that dimension: those of the last tile of an instance where it is alone in its sweep. extent == 0: of any tile. */
static int64_t count_lost(const walk *w, int c, int d, int64_t extent) {
    int64_t size = size_of(w, d), places = w->places[c][d], lost = 0;
    bool top = c + 2 == w->work->space->n_levels;
    if (places == 1 && (top || extent == 0)) return top ? 0 : size / 3;
    if (places == 1) {
        int64_t blocks = count_blocks(w, d, extent);
        return blocks > 2 ? size - (blocks - 1) * extent : 0;
    }
    if (!top || extent == 0) return extent && places * extent < size ? places * extent : size;
    for (int64_t at = 0; at < places * extent && at < size; at += extent)
        if (size - at <= places * extent) lost += size - at < extent ? size - at : extent;
    return lost;
}

/* A number of words less others; not below 0. */
static sx_wide words_beyond(sx_wide words, sx_wide others) {
    return words > others ? words - others : 0;
}

/* The loop that is the first outside a level to index a tensor: its dimension, its level, or that of the tile where no loop
 * is between them, and the extents inside it, of which only those of the first `known` dimensions are known; all others may be
 * as large as they can. */
typedef struct first_loop {
    int dim, level, known;
    const int64_t *inside;
} first_loop;

/* The visits of children of a tile, or of those that are first among their siblings, along an idle dimension at the loop
 * and outside it, at least. */
static int64_t count_visits(const walk *w, int c, int d, const first_loop *at, bool shared) {
    int64_t tile = w->extent[c + 1][d], inside = at->inside[d],
            passed = w->places[c][d] / w->places[at->level][d];
    int64_t slot = shared ? w->pair->spatial.factor[c + 1][d] : 1;
    if (inside == tile * passed) return count_blocks(w, d, tile * slot);
    return (count_blocks(w, d, inside) - 1) * (passed / slot) + 1;
}

/* What a tensor adds at level c beyond words that move once, where a loop is the first outside to index it. */
static sx_wide price_tensor(const walk *w, int c, int v, const first_loop *at) {
    const flow_prices *prices = &w->prices[c][v];
    const unsigned dims = w->work->shape->dims[v];
    sx_wide fills = 1, accesses;
    if (!prices->flows) return 0;
    for (int d = 0; d < w->work->space->n_dims; d++)
        if (dims >> d & 1)
            fills *= size_of(w, d) -
                     (d == at->dim ? count_lost(w, c, d, d < at->known ? w->extent[c + 1][d] : 0) : 0);
    accesses = fills;
    for (int d = 0; d < at->known; d++) {
        if (dims >> d & 1) continue;
        fills *= count_visits(w, c, d, at, false);
        accesses *= count_visits(w, c, d, at, true);
    }
    if (fills > SX_CHECK_CAP) fills = SX_CHECK_CAP;
    if (accesses > SX_CHECK_CAP) accesses = SX_CHECK_CAP;
    return words_beyond(fills, prices->filled) * prices->fill +
           words_beyond(accesses, prices->accessed) * prices->access +
           words_beyond(accesses, prices->spared) * prices->read;
}

/* The least that the tile of level c adds, over the innermost loops outside it; the extents of its first `known` dimensions
 * are. */
static sx_wide price_tile(const walk *w, int c, int known) {
    const int64_t *extent = w->extent[c + 1];
    sx_wide least = NO_TILE;
    bool whole = true;
    for (int d = 0; d < w->work->space->n_dims; d++) {
        const first_loop first = {d, c, known, extent};
        sx_wide sum = 0;
        if (d < known && extent[d] * w->places[c][d] >= size_of(w, d)) continue;
        whole &= d >= known;
        for (int v = 0; v < w->work->space->n_tensors; v++)
            if (w->pair->keep[c] >> v & w->work->shape->dims[v] >> d & 1)
                sum += price_tensor(w, c, v, &first);
        if (sum < least) least = sum;
    }
    return whole || least == NO_TILE ? 0 : least;
}

/* Evaluates the walk's mapping and holds it against the target. */
static void evaluate_mapping(walk *w) {
    sx_check_cost cost;
    sx_check_doubt doubt = {""};
    w->evaluations++;
    atomic_fetch_add(&w->work->evaluations, 1);
    if (sx_check_evaluator_cost(w->evaluator, &w->mapping, &cost, &doubt) != SX_COST_LEGAL)
        w->open = true;
    else if (!sx_check_reaches(&w->work->target, cost.energy, cost.cycles) &&
             sx_check_contains(w->work->space, &w->mapping, &doubt))
        sx_check_judge(&w->work->target, &w->mapping, &cost, w->found);
    w->open |= w->found->doubt.why[0] != 0;
}

/* Goes through the layouts of a level's spatial loops and of those outside it; one is enough where units have no links. */
static void walk_layouts(walk *w, int s) {
    const sx_check_space *space = w->work->space;
    unsigned loops = 0, x = 0;
    if (s == space->n_levels) {
        evaluate_mapping(w);
        return;
    }
    const int64_t *factor = w->pair->spatial.factor[s];
    for (int d = 0; d < space->n_dims; d++) loops |= (unsigned)(factor[d] > 1) << d;
    do {
        if (sx_check_lies(space, s, factor, x)) {
            sx_check_lay(space, s, factor, x, &w->mapping.level[s]);
            walk_layouts(w, s + 1);
            if (!w->linked) return;
        }
        x = (x - loops) & loops;
    } while (x && !must_end(w));
}

/* A place among the orders: loops of a level so far; levels from `waiting` on have no loop outside them yet. */
typedef struct place {
    int level, n_loops, waiting;
    unsigned done;                 /* dimensions that have one */
    unsigned moved[SX_MAX_LEVELS]; /* tensors of a level that a loop outside indexes */
    sx_wide paid;                  /* for these */
    int64_t cycles, inside[SX_MAX_DIMS];
} place;

/* Adds a loop, and what tensors pay that it is the first to index. */
static void add_loop(walk *w, int d, place *at) {
    const first_loop loop = {d, at->level, w->work->space->n_dims, at->inside};
    for (int c = 0; c < at->level; c++)
        for (int v = 0; v < w->work->space->n_tensors; v++) {
            if (!(w->pair->keep[c] >> v & w->work->shape->dims[v] >> d & ~at->moved[c] >> v & 1)) continue;
            at->moved[c] |= 1u << v;
            at->paid += price_tensor(w, c, v, &loop);
        }
    if (at->waiting < at->level) at->waiting = at->level;
    at->inside[d] *= w->mapping.level[at->level].temporal[d];
    w->mapping.level[at->level].temporal_order[at->n_loops++] = (uint8_t)d;
    at->done |= 1u << d;
}

/* The dimension of a set whose loop limits place innermost at level 0. */
static int find_innermost(const sx_check_space *space, unsigned dims) {
    const uint8_t *rank = space->rank[0][SX_TEMPORAL];
    int best = __builtin_ctz(dims);
    for (; dims; dims &= dims - 1)
        if (rank[__builtin_ctz(dims)] < rank[best]) best = __builtin_ctz(dims);
    return best;
}

/* Goes through the orders of the loops that follow. Inside level 0 they do not matter where units have no links. */
static void walk_orders(walk *w, place at) {
    const sx_check_space *space = w->work->space;
    unsigned all = 0, left;
    if (at.level == space->n_levels) {
        walk_layouts(w, 0);
        return;
    }
    sx_mapping_level *level = &w->mapping.level[at.level];
    for (int d = 0; d < space->n_dims; d++) all |= (unsigned)(level->temporal[d] > 1) << d;
    left = all & ~at.done;
    if (!left) {
        if (!sx_check_order_allowed(space, at.level, level->temporal_order, at.n_loops)) return;
        for (int d = 0, n = at.n_loops; d < space->n_dims; d++)
            if (!(all >> d & 1)) level->temporal_order[n++] = (uint8_t)d;
        at.level++;
        at.n_loops = 0;
        at.done = 0;
        for (int d = 0; d < space->n_dims && at.level < space->n_levels; d++)
            at.inside[d] *= w->pair->spatial.factor[at.level][d];
        walk_orders(w, at);
        return;
    }
    if (at.level == 0 && !w->linked) left = 1u << find_innermost(space, left);
    for (; left && !must_end(w); left &= left - 1) {
        place next = at;
        add_loop(w, __builtin_ctz(left), &next);
        sx_wide rest = w->paid[space->n_levels - 1] - w->paid[next.waiting];
        if (!is_closed(w, next.paid + rest, at.cycles)) walk_orders(w, next);
    }
}

/* The temporal iterations that the first compute unit has along a dimension in a tile of a level that is cut to `left`. */
static int64_t count_steps(const walk *w, int level, int d, int64_t left) {
    int64_t steps = 1, inside = 1;
    for (int s = 0; s <= level; s++) inside *= w->mapping.level[s].temporal[d];
    for (int s = level; s >= 0; s--) {
        int64_t n = w->mapping.level[s].temporal[d], step = w->extent[s][d] * w->pair->spatial.factor[s][d];
        int64_t most = (left - 1) / step < n - 1 ? (left - 1) / step : n - 1;
        inside /= n;
        steps += most * inside;
        left -= most * step;
    }
    return steps;
}

/* The same in all, at least, where only the tile of a level is known: of its blocks the first instance has its share, all of
 * them whole but for the last one. */
static int64_t least_steps(const walk *w, int level, int d) {
    int64_t extent = w->extent[level + 1][d], blocks = count_blocks(w, d, extent),
            places = w->places[level][d];
    int64_t own = (blocks - 1) / places, whole = 1;
    for (int s = 0; s <= level; s++) whole *= w->mapping.level[s].temporal[d];
    return own * whole + count_steps(w, level, d, size_of(w, d) - (blocks - 1) * extent);
}

/* The cycles of all mappings with the tile of a level, of which the first `known` dimensions are. */
static int64_t least_cycles(walk *w, int level, int known) {
    int64_t steps = 1;
    if (known > 0) w->steps[level + 1][known - 1] = least_steps(w, level, known - 1);
    for (int d = 0; d < w->work->space->n_dims; d++)
        steps = sx_capped_mul(steps, w->steps[d < known ? level + 1 : level][d]);
    steps += w->work->latency;
    return steps > w->base.cycles ? steps : w->base.cycles;
}

/* Ends the tiles: the outermost level has all loops that are left. */
static void end_tiles(walk *w) {
    const sx_check_space *space = w->work->space;
    int top = space->n_levels - 1;
    int64_t steps = 1, extent[SX_MAX_DIMS];
    for (int d = 0; d < space->n_dims; d++) {
        int64_t inner = w->extent[top][d] * w->pair->spatial.factor[top][d], t = count_blocks(w, d, inner);
        if (t < space->temporal[top][d].least || t > space->temporal[top][d].most) return;
        w->mapping.level[top].temporal[d] = (uint32_t)t;
        extent[d] = size_of(w, d);
        steps = sx_capped_mul(steps, count_steps(w, top, d, size_of(w, d)));
    }
    if (!sx_check_fits(space, top, w->pair->keep[top], extent)) return;
    steps += w->work->latency;
    int64_t cycles = steps > w->base.cycles ? steps : w->base.cycles;
    place first = {.cycles = cycles};
    for (int d = 0; d < space->n_dims; d++) first.inside[d] = w->pair->spatial.factor[0][d];
    if (!is_closed(w, w->paid[top], cycles)) walk_orders(w, first);
}

/* Whether spatial factors outside a level have no iteration that never happens, if there are no loops between them. */
static bool spatial_fits(const walk *w, int s, int d, int64_t inner) {
    for (int k = s + 1; k < w->work->space->n_levels; k++) {
        int64_t factor = w->pair->spatial.factor[k][d];
        if (factor > count_blocks(w, d, inner)) return false;
        inner *= factor;
    }
    return true;
}

/* Goes through the tiles of level s from dimension d on, and of all levels outside it. */
static void walk_tiles(walk *w, int s, int d) {
    const sx_check_space *space = w->work->space;
    int64_t *extent = w->extent[s + 1], cut[SX_MAX_DIMS];
    if (s + 1 == space->n_levels) {
        end_tiles(w);
        return;
    }
    for (int e = 0; e < space->n_dims; e++) {
        if (e >= d) extent[e] = w->extent[s][e] * w->pair->spatial.factor[s][e];
        cut[e] = extent[e] < size_of(w, e) ? extent[e] : size_of(w, e);
    }
    sx_wide tile = price_tile(w, s, d);
    if (is_closed(w, w->paid[s] + tile + w->rest[s + 1], least_cycles(w, s, d))) return;
    if (d == space->n_dims) {
        w->paid[s + 1] = w->paid[s] + tile;
        if (sx_check_fits(space, s, w->pair->keep[s], cut)) walk_tiles(w, s + 1, 0);
        return;
    }
    const int64_t inner = extent[d];
    sx_check_range range = space->temporal[s][d];
    int64_t most = count_blocks(w, d, inner) < range.most ? count_blocks(w, d, inner) : range.most;
    for (int64_t t = range.least; t <= most && !must_end(w); t++) {
        extent[d] = inner * t;
        cut[d] = extent[d] < size_of(w, d) ? extent[d] : size_of(w, d);
        if (!spatial_fits(w, s, d, extent[d]) || !sx_check_has_room(space, s, w->pair->keep[s], cut)) break;
        w->mapping.level[s].temporal[d] = (uint32_t)t;
        walk_tiles(w, s, d + 1);
    }
    w->mapping.level[s].temporal[d] = 1;
}

/* Sets what words of a tensor cost that flow into level c. Reads and fills of an output are known only beyond what all
 * instances may spare; where groups at levels between share accesses, these count nothing. */
static void set_prices(walk *w, int c, int v) {
    const sx_check_work *work = w->work;
    const sx_check_case *from = work->space->c;
    const bool back = sx_check_comes_back(work, v);
    const bool spares = from->problem.tensor[v].output && !from->no_first_read_elision;
    flow_prices *out = &w->prices[c][v];
    int64_t shared = 1, all = sx_check_touched(from, v);
    int u = c + 1;
    while (u < work->space->n_levels && !(w->pair->keep[u] >> v & 1)) u++;
    out->flows = u < work->space->n_levels;
    if (!out->flows) return;
    for (int k = c + 2; k <= u; k++) shared *= w->spread.group[v][k];
    out->fill = back ? work->energy.of[c][v][SX_FILL] : 0;
    out->filled = (sx_wide)all * (spares ? w->spread.copies[v][c] : w->spread.held[v][c]);
    if (shared > 1) return;
    out->access = sx_check_access_price(work, v, u, !spares);
    out->accessed = (sx_wide)all * w->spread.held[v][c + 1];
    out->read = spares ? work->energy.of[u][v][SX_READ] : 0;
    out->spared = (sx_wide)all * w->spread.copies[v][u];
}

/* Sets what all mappings of a pair have in common. */
static void set_pair(walk *w) {
    const sx_check_space *space = w->work->space;
    sx_check_spread_init(&w->spread, space, w->work->shape, &w->pair->spatial);
    w->base = sx_check_remainder_bound(w->work, &w->spread, w->pair->keep, 0);
    for (int v = 0; v < space->n_tensors; v++) w->linked |= w->spread.linked[v];
    for (int c = 0; c + 1 < space->n_levels; c++)
        for (int v = 0; v < space->n_tensors; v++) set_prices(w, c, v);
    for (int d = 0; d < space->n_dims; d++) {
        int64_t places = 1;
        w->extent[0][d] = 1;
        for (int s = space->n_levels - 1; s >= 0; s--) {
            w->places[s][d] = places;
            places *= w->pair->spatial.factor[s][d];
        }
        w->steps[0][d] = (size_of(w, d) - 1) / places + 1;
    }
    for (int s = space->n_levels - 1; s >= 0; s--) w->rest[s] = w->rest[s + 1] + w->pair->tiles[s];
    sx_check_mapping_init(space->c, w->pair->keep, &w->mapping);
}

/* Raises a bound to another one. */
static void raise_bound(sx_check_corner *bound, sx_wide energy, int64_t cycles) {
    if (energy > bound->energy) bound->energy = energy;
    if (cycles > bound->cycles) bound->cycles = cycles;
}

/* Goes through the tiles of a mapping as the walk does. */
static void follow_tiles(walk *w, const sx_mapping *mapping, sx_check_corner *bound) {
    const int n_dims = w->work->space->n_dims;
    for (int s = 0; s + 1 < w->work->space->n_levels; s++) {
        for (int d = 0; d < n_dims; d++)
            w->extent[s + 1][d] = w->extent[s][d] * w->pair->spatial.factor[s][d];
        for (int known = 0; known <= n_dims; known++) {
            if (known > 0) w->extent[s + 1][known - 1] *= mapping->level[s].temporal[known - 1];
            w->paid[s + 1] = w->paid[s] + price_tile(w, s, known);
            raise_bound(bound, w->base.energy + w->paid[s + 1] + w->rest[s + 1], least_cycles(w, s, known));
        }
    }
}

sx_status sx_check_follow_walk(sx_check_work *work, const sx_check_pair *pair, const sx_mapping *mapping,
                               sx_check_corner *out) {
    const int n_levels = work->space->n_levels, n_dims = work->space->n_dims;
    place at = {0};
    walk *w = calloc(1, sizeof *w);
    if (!w) return sx_error_memory();
    *w = (walk){.work = work, .pair = pair};
    set_pair(w);
    w->mapping = *mapping;
    *out = w->base;
    follow_tiles(w, mapping, out);
    for (int d = 0; d < n_dims; d++) at.inside[d] = 1;
    for (; at.level < n_levels; at.level++, at.n_loops = 0) {
        const sx_mapping_level *level = &mapping->level[at.level];
        for (int d = 0; d < n_dims; d++) at.inside[d] *= level->spatial[d];
        for (int i = 0; i < n_dims; i++) {
            if (level->temporal[level->temporal_order[i]] == 1) continue;
            add_loop(w, level->temporal_order[i], &at);
            raise_bound(out, w->base.energy + at.paid + w->paid[n_levels - 1] - w->paid[at.waiting], 0);
        }
    }
    free(w);
    return SX_OK;
}

sx_status sx_check_walk_remainders(sx_check_work *work, const sx_check_pair *pair, sx_check_found *found,
                                   bool *closed) {
    walk *w = calloc(1, sizeof *w);
    if (!w) return sx_error_memory();
    *w = (walk){.work = work, .pair = pair, .found = found};
    sx_status status = sx_check_evaluator_new(work->space->c, &w->evaluator);
    if (!status) {
        set_pair(w);
        found->walked++;
        walk_tiles(w, 0, 0);
        found->steps += w->nodes;
        sx_check_evaluator_free(w->evaluator);
        *closed = !w->open && !found->below;
    }
    free(w);
    return status;
}
