/* Lines that miss a cache behind the port of a level.
 *
 * The walk goes outward over the loops that launch tiles. Of what the loops inside have touched a share h is still in the
 * cache when the next loop comes round: all of it where the tensors' lines fit the sets that they can use, otherwise a
 * share that falls with a power (`soft`) of how much too large they are. */
#include "model/latency.h"

#include <math.h>
#include <string.h>

#define INLINE inline __attribute__((always_inline))

static uint64_t greatest_divisor(uint64_t a, uint64_t b) {
    if ((b & (b - 1)) == 0 && a) { /* a power of two */
        const uint64_t bit = a & (~a + 1);
        return bit < b ? bit : b;
    }
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* What the walk knows of a tensor: the extents of its ranks, the lines of its tile, those that the sets of each cache must
 * hold, those missed so far. */
typedef struct walked {
    double extent[SX_MAX_RANKS], missed[SX_MAX_CACHES];
    sx_lines lines;
} walked;

/* Measures the ranks that have one of these dimensions. */
static void measure_ranks(const sx_stored *stored, const uint32_t *extent, unsigned dims, walked *w) {
    for (int r = 0; r < stored->n_ranks; r++)
        if (stored->rank_dims[r] & dims) w->extent[r] = sx_stored_extent(stored, r, extent);
}

/* Measures the lines of a tile: contiguous runs of equal length, a fixed distance apart. Those
 * of strided runs can be in a share of a cache's sets only. */
static INLINE void measure_lines(const sx_boundary *b, const sx_stored *stored, int room, walked *w) {
    double runs = 1, bytes = stored->bytes;
    int r = stored->n_ranks - 1;
    for (; r >= 0; r--) {
        bytes *= w->extent[r];
        if (w->extent[r] != stored->whole[r]) break;
    }
    const double *spread = r >= 0 ? stored->spread[r] : NULL;
    for (r--; r >= 0; r--) runs *= w->extent[r];
    const double per_run = sx_larger(1, bytes / b->law->line);
    w->lines.n = runs * per_run;
    for (int c = 0; c < room; c++) w->lines.crowded[c] = w->lines.n;
    for (int c = 0; c < b->n_caches && spread; c++)
        if (per_run < spread[c]) w->lines.crowded[c] /= per_run / spread[c];
}

/* Says of the runs of every tensor what they leave of the sets of a cache. */
static void spread_runs(const sx_model *model, sx_boundary *b, int c) {
    for (int v = 0; v < model->n_tensors; v++) {
        sx_stored *stored = &b->stored[v];
        double stride = stored->bytes;
        for (int r = stored->n_ranks - 1; r >= 0; r--) {
            stride *= stored->whole[r];
            const double steps = stride / b->law->line;
            const bool strided = stride >= b->law->line && steps == (double)(int64_t)steps;
            stored->spread[r][c] =
                strided ? (double)(int64_t)greatest_divisor((uint64_t)(int64_t)steps, b->cache[c].sets) : 0;
        }
    }
}

/* x to a power, exact and fast where that is a small whole number. */
static double raise_power(double x, double power) {
    if (power == 4) return x * x * (x * x);
    if (power == 2) return x * x;
    return power == 1 ? x : pow(x, power);
}

/* The share of the lines touched that each cache has lost; 0 beyond those there are. */
static INLINE void set_lost(const sx_boundary *b, const walked *w, int n, int room, double *lost) {
    double lines[SX_MAX_CACHES] = {0};
    for (int v = 0; v < n; v++)
        for (int c = 0; c < room; c++) lines[c] += w[v].lines.crowded[c];
    for (int c = 0; c < room; c++) lost[c] = 0;
    for (int c = 0; c < b->n_caches; c++) {
        const double bytes = lines[c] * b->law->line;
        if (bytes > b->cache[c].bytes)
            lost[c] = isinf(b->law->soft) ? 1 : 1 - raise_power(b->cache[c].bytes / bytes, b->law->soft);
    }
}

/* Measures all tensors of a tile. */
static void measure_all(const sx_model *model, const sx_boundary *b, const uint32_t *extent, walked *w) {
    for (int v = 0; v < model->n_tensors; v++) {
        for (int r = 0; r < b->stored[v].n_ranks; r++)
            w[v].extent[r] = sx_stored_extent(&b->stored[v], r, extent);
        measure_lines(b, &b->stored[v], SX_MAX_CACHES, &w[v]);
    }
}

void sx_latency_compile_caches(const sx_model *model, sx_boundary *b) {
    const sx_law *law = b->law;
    const bool whole = b->outer == model->n_levels;
    for (int i = 0; i < law->n_caches; i++) {
        const int c = b->n_caches++;
        double lost[SX_MAX_CACHES];
        walked w[SX_MAX_TENSORS];
        b->cache[c] = (sx_boundary_cache){
            .bytes = law->cache[i].bytes,
            .miss = law->cache[i].miss,
            .sets = (uint64_t)(law->cache[i].bytes / (law->line * law->cache[i].ways)),
        };
        spread_runs(model, b, c);
        if (!whole) continue;
        measure_all(model, b, model->size, w);
        set_lost(b, w, model->n_tensors, SX_MAX_CACHES, lost);
        b->cache[c].lost = lost[c];
        if (b->cache[c].lost == 0) b->n_caches--;
    }
    walked w[SX_MAX_TENSORS];
    measure_all(model, b, model->size, w);
    for (int v = 0; v < model->n_tensors; v++) b->stored[v].whole_lines = w[v].lines;
}

/* Takes the walk over one more loop outward; dimensions in `open` are not whole after it. */
static INLINE void pass_loop(const sx_boundary *b, int n, int dim, double factor, const uint32_t *extent,
                             unsigned open, int room, walked *w) {
    double lost[SX_MAX_CACHES];
    set_lost(b, w, n, room, lost);
    for (int v = 0; v < n; v++) {
        const sx_stored *stored = &b->stored[v];
        const double before = w[v].lines.n;
        if (before == 0) continue;
        if (stored->dims >> dim & 1) {
            if (stored->dims & open) {
                measure_ranks(stored, extent, 1u << dim, &w[v]);
                measure_lines(b, stored, room, &w[v]);
            } else {
                w[v].lines = stored->whole_lines;
            }
            const double grown = w[v].lines.n / before, again = sx_larger(factor - grown, 0);
            for (int c = 0; c < room; c++) w[v].missed[c] *= grown + again * lost[c];
        } else if (!stored->output) {
            for (int c = 0; c < room; c++) w[v].missed[c] *= 1 + (factor - 1) * lost[c];
        }
    }
}

/* The lines that miss, of a boundary with at most `room` caches: a constant, so that loops over them have a fixed length,
 * which is faster. */
static INLINE void count_misses(const sx_model *model, const sx_boundary *b, const sx_mapping *mapping,
                                unsigned kept, const uint32_t *tile, const double (*rank)[SX_MAX_RANKS],
                                int room, double (*missed)[SX_MAX_TENSORS]) {
    const int n = model->n_tensors;
    uint32_t extent[SX_MAX_DIMS];
    unsigned open = 0;
    walked w[SX_MAX_TENSORS];
    for (int d = 0; d < model->n_dims; d++) {
        extent[d] = tile[d];
        open |= (unsigned)(tile[d] < model->size[d]) << d;
    }
    for (int v = 0; v < n; v++) {
        memcpy(w[v].extent, rank[v], sizeof w[v].extent);
        measure_lines(b, &b->stored[v], room, &w[v]);
        if (!(kept >> v & 1)) w[v].lines = (sx_lines){0};
        for (int c = 0; c < room; c++) w[v].missed[c] = w[v].lines.n;
    }
    for (int s = b->level; s < b->outer; s++)
        for (int i = 0; i < model->n_dims; i++) {
            const int d = mapping->level[s].temporal_order[i];
            const uint32_t factor = mapping->level[s].temporal[d];
            if (factor == 1) continue;
            const uint64_t wide = (uint64_t)extent[d] * factor;
            extent[d] = wide < model->size[d] ? (uint32_t)wide : model->size[d];
            if (extent[d] == model->size[d]) open &= ~(1u << d);
            pass_loop(b, n, d, factor, extent, open, room, w);
        }
    double lost[SX_MAX_CACHES];
    for (int c = 0; c < b->n_caches; c++) lost[c] = b->cache[c].lost;
    if (b->outer < model->n_levels || kept != (1u << n) - 1) set_lost(b, w, n, room, lost);
    for (int c = 0; c < b->n_caches; c++)
        for (int v = 0; v < n; v++) missed[c][v] = w[v].missed[c] * lost[c];
}

void sx_latency_misses(const sx_model *model, const sx_boundary *b, const sx_mapping *mapping, unsigned kept,
                       const uint32_t *tile, const double (*rank)[SX_MAX_RANKS],
                       double (*missed)[SX_MAX_TENSORS]) {
    if (b->n_caches == 1)
        count_misses(model, b, mapping, kept, tile, rank, 1, missed);
    else if (b->n_caches == 2)
        count_misses(model, b, mapping, kept, tile, rank, 2, missed);
    else
        count_misses(model, b, mapping, kept, tile, rank, SX_MAX_CACHES, missed);
}

enum { MOST_LOOPS = 6, SETS = 1 << MOST_LOOPS };

/* The loops of a level that launch tiles, and per set of them (a mask) the lines of each tensor after those loops, and the
 * share of the lines touched that each cache has lost when the next loop comes round. */
typedef struct loop_sets {
    const sx_model *model;
    const sx_boundary *boundary;
    unsigned kept; /* tensors that pass the caches */
    int n_loops;
    uint8_t dim[MOST_LOOPS];
    uint32_t factor[MOST_LOOPS];
    double lines[SETS][SX_MAX_TENSORS], lost[SETS][SX_MAX_CACHES];
} loop_sets;

/* Measures the tensors' lines after the loops of a set. */
static void measure_set(loop_sets *p, const uint32_t *tile, int set) {
    const sx_boundary *b = p->boundary;
    uint32_t extent[SX_MAX_DIMS];
    walked w[SX_MAX_TENSORS];
    for (int d = 0; d < p->model->n_dims; d++) extent[d] = tile[d];
    for (int i = 0; i < p->n_loops; i++)
        if (set >> i & 1) extent[p->dim[i]] *= p->factor[i];
    measure_all(p->model, b, extent, w);
    for (int v = 0; v < p->model->n_tensors; v++) {
        if (!(p->kept >> v & 1)) w[v].lines = (sx_lines){0};
        p->lines[set][v] = w[v].lines.n;
    }
    set_lost(b, w, p->model->n_tensors, SX_MAX_CACHES, p->lost[set]);
}

/* What passing loop i after those of a set multiplies the lines missed of a tensor by. */
static double pass_factor(const loop_sets *p, int c, int set, int i, int v) {
    const sx_stored *stored = &p->boundary->stored[v];
    const double f = p->factor[i], lost = p->lost[set][c];
    if (!(p->kept >> v & 1)) return 1;
    if (!(stored->dims >> p->dim[i] & 1)) return stored->output ? 1 : 1 + (f - 1) * lost;
    const double grown = p->lines[set | 1 << i][v] / p->lines[set][v];
    return grown + fmax(f - grown, 0) * lost;
}

/* The value of a function after all loops, with the lines missed of each tensor. */
static double value_after(const loop_sets *p, const double (*missed)[SX_MAX_TENSORS], sx_latency_after *after,
                          const void *user) {
    double load = 0, store = 0;
    for (int c = 0; c < p->boundary->n_caches; c++)
        for (int v = 0; v < p->model->n_tensors; v++) {
            const double cycles =
                p->boundary->cache[c].miss * missed[c][v] * p->lost[(1 << p->n_loops) - 1][c];
            if (p->boundary->stored[v].output)
                store += cycles * p->boundary->law->write_factor;
            else
                load += cycles;
        }
    return after(user, load, store);
}

/* The least value over all orders of the loops that are not in a set, with the lines missed so far. */
static double least_of_orders(const loop_sets *p, int set, const double (*missed)[SX_MAX_TENSORS],
                              sx_latency_after *after, const void *user) {
    double least = INFINITY;
    if (set == (1 << p->n_loops) - 1) return value_after(p, missed, after, user);
    for (int i = 0; i < p->n_loops; i++) {
        double next[SX_MAX_CACHES][SX_MAX_TENSORS];
        if (set >> i & 1) continue;
        for (int c = 0; c < p->boundary->n_caches; c++)
            for (int v = 0; v < p->model->n_tensors; v++)
                next[c][v] = missed[c][v] * pass_factor(p, c, set, i, v);
        least = fmin(least, least_of_orders(p, set | 1 << i, next, after, user));
    }
    return least;
}

double sx_latency_least_misses(const sx_model *model, const sx_boundary *b, const uint32_t *tile,
                               unsigned kept, sx_latency_after *after, const void *user) {
    double missed[SX_MAX_CACHES][SX_MAX_TENSORS];
    if (b->level != model->n_levels - 1 || !b->n_caches) return after(user, 0, 0);
    loop_sets p = {.model = model, .boundary = b, .kept = kept};
    for (int d = 0; d < model->n_dims; d++) {
        if (tile[d] == model->size[d]) continue;
        if (p.n_loops == MOST_LOOPS) return after(user, 0, 0);
        p.dim[p.n_loops] = (uint8_t)d;
        p.factor[p.n_loops++] = (uint32_t)(model->size[d] / tile[d]);
    }
    for (int set = 0; set < 1 << p.n_loops; set++) measure_set(&p, tile, set);
    for (int c = 0; c < b->n_caches; c++) memcpy(missed[c], p.lines[0], sizeof missed[c]);
    return least_of_orders(&p, 0, missed, after, user);
}
