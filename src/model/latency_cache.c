/* Lines that miss a cache behind the port of a level.
 *
 * The walk goes outward over the loops that launch tiles. Of what the loops inside have touched a share h is still in the
 * cache when the next loop comes round: all of it where the tensors' lines fit the sets that they can use, otherwise a
 * share that falls with a power (`soft`) of how much too large they are. */
#include "model/latency.h"

#include <math.h>
#include <string.h>

/* A tile in memory: contiguous runs of so many bytes each, and the bytes from one to the next (0: there is one run). */
typedef struct runs {
    double n, bytes, stride;
} runs;

static runs measure_runs(const sx_stored *stored, const uint32_t *extent) {
    runs out = {1, stored->bytes, stored->bytes};
    int r = stored->n_ranks - 1;
    for (; r >= 0; r--) {
        const double x = sx_stored_extent(stored, r, extent);
        out.bytes *= x;
        out.stride *= stored->whole[r];
        if (x != stored->whole[r]) break;
    }
    if (r < 0) out.stride = 0;
    for (r--; r >= 0; r--) out.n *= sx_stored_extent(stored, r, extent);
    return out;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The share of a cache's sets that the lines of strided runs can be in. */
static double set_share(const runs *t, double line, uint64_t sets) {
    if (t->stride == 0 || t->stride < line || fmod(t->stride, line) != 0) return 1;
    return fmin(1, fmax(1, t->bytes / line) / (double)greatest_divisor((uint64_t)(t->stride / line), sets));
}

/* What the walk knows of a tensor: the lines of its tile, those that its sets must hold, those missed so far. */
typedef struct walked {
    double lines, crowded, missed;
} walked;

static void measure_lines(const sx_stored *stored, const uint32_t *extent, double line, uint64_t sets,
                          walked *out) {
    const runs t = measure_runs(stored, extent);
    out->lines = t.n * fmax(1, t.bytes / line);
    out->crowded = out->lines / set_share(&t, line, sets);
}

/* x to a power, exact and fast where that is a small whole number. */
static double raise(double x, double power) {
    if (power == 4) return x * x * (x * x);
    if (power == 2) return x * x;
    return power == 1 ? x : pow(x, power);
}

/* The share of the lines touched that the cache still holds. */
static double share_kept(const walked *w, int n, const sx_law *law, const sx_law_cache *cache) {
    double bytes = 0;
    for (int v = 0; v < n; v++) bytes += w[v].crowded;
    bytes *= law->line;
    if (bytes <= cache->bytes) return 1;
    return isinf(law->soft) ? 0 : raise(cache->bytes / bytes, law->soft);
}

/* Takes the walk over one more loop outward. */
static void pass_loop(const sx_boundary *b, int n, int dim, double factor, double kept,
                      const uint32_t *extent, uint64_t sets, walked *w) {
    for (int v = 0; v < n; v++) {
        const sx_stored *stored = &b->stored[v];
        const double before = w[v].lines;
        if (stored->dims >> dim & 1) {
            measure_lines(stored, extent, b->law->line, sets, &w[v]);
            const double grown = w[v].lines / before;
            w[v].missed *= grown + fmax(factor - grown, 0) * (1 - kept);
        } else if (!stored->output) {
            w[v].missed *= 1 + (factor - 1) * (1 - kept);
        }
    }
}

void sx_latency_misses(const sx_model *model, const sx_boundary *b, const sx_law_cache *cache,
                       const sx_mapping *mapping, const uint32_t *tile, double *missed) {
    const int n = model->n_tensors;
    const uint64_t sets = (uint64_t)(cache->bytes / (b->law->line * cache->ways));
    uint32_t extent[SX_MAX_DIMS];
    walked w[SX_MAX_TENSORS];
    for (int d = 0; d < model->n_dims; d++) extent[d] = tile[d];
    for (int v = 0; v < n; v++) {
        measure_lines(&b->stored[v], extent, b->law->line, sets, &w[v]);
        w[v].missed = w[v].lines;
    }
    for (int s = b->level; s < b->outer; s++)
        for (int i = 0; i < model->n_dims; i++) {
            const int d = mapping->level[s].temporal_order[i];
            const uint32_t factor = mapping->level[s].temporal[d];
            if (factor == 1) continue;
            const double kept = share_kept(w, n, b->law, cache);
            const uint64_t wide = (uint64_t)extent[d] * factor;
            extent[d] = wide < model->size[d] ? (uint32_t)wide : model->size[d];
            pass_loop(b, n, d, factor, kept, extent, sets, w);
        }
    const double kept = share_kept(w, n, b->law, cache);
    for (int v = 0; v < n; v++) missed[v] = w[v].missed * (1 - kept);
}

enum { MOST_LOOPS = 6, SETS = 1 << MOST_LOOPS };

/* The loops of a level that launch tiles, and per cache and set of them (a mask) the lines of each tensor after those loops,
 * with the share of the lines touched that is lost when the next loop comes round. */
typedef struct loop_sets {
    const sx_model *model;
    const sx_boundary *boundary;
    const sx_law_cache *cache[SX_MAX_CACHES]; /* those that do not hold the whole layer */
    int n_loops, n_caches;
    uint8_t dim[MOST_LOOPS];
    uint32_t factor[MOST_LOOPS];
    double lines[SX_MAX_CACHES][SETS][SX_MAX_TENSORS], lost[SX_MAX_CACHES][SETS];
} loop_sets;

/* Measures the tensors' lines in a cache after the loops of a set. */
static void measure_set(loop_sets *p, const uint32_t *tile, int set, const sx_law_cache *cache) {
    const sx_boundary *b = p->boundary;
    const uint64_t sets = (uint64_t)(cache->bytes / (b->law->line * cache->ways));
    uint32_t extent[SX_MAX_DIMS];
    walked w[SX_MAX_TENSORS];
    for (int d = 0; d < p->model->n_dims; d++) extent[d] = tile[d];
    for (int i = 0; i < p->n_loops; i++)
        if (set >> i & 1) extent[p->dim[i]] *= p->factor[i];
    for (int v = 0; v < p->model->n_tensors; v++) {
        measure_lines(&b->stored[v], extent, b->law->line, sets, &w[v]);
        p->lines[p->n_caches][set][v] = w[v].lines;
    }
    p->lost[p->n_caches][set] = 1 - share_kept(w, p->model->n_tensors, b->law, cache);
}

/* Adds a cache, unless it holds the whole layer: then nothing misses it. */
static void add_cache(loop_sets *p, const uint32_t *tile, const sx_law_cache *cache) {
    const int all = (1 << p->n_loops) - 1;
    measure_set(p, tile, all, cache);
    if (p->lost[p->n_caches][all] == 0) return;
    for (int set = 0; set < all; set++) measure_set(p, tile, set, cache);
    p->cache[p->n_caches++] = cache;
}

/* What passing loop i after those of a set multiplies the lines missed of a tensor by. */
static double pass_factor(const loop_sets *p, int c, int set, int i, int v) {
    const sx_stored *stored = &p->boundary->stored[v];
    const double f = p->factor[i], lost = p->lost[c][set];
    if (!(stored->dims >> p->dim[i] & 1)) return stored->output ? 1 : 1 + (f - 1) * lost;
    const double grown = p->lines[c][set | 1 << i][v] / p->lines[c][set][v];
    return grown + fmax(f - grown, 0) * lost;
}

/* The value of a function after all loops, with the lines missed of each tensor. */
static double value_after(const loop_sets *p, const double (*missed)[SX_MAX_TENSORS], sx_latency_after *after,
                          const void *user) {
    double load = 0, store = 0;
    for (int c = 0; c < p->n_caches; c++)
        for (int v = 0; v < p->model->n_tensors; v++) {
            const double cycles = p->cache[c]->miss * missed[c][v] * p->lost[c][(1 << p->n_loops) - 1];
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
        for (int c = 0; c < p->n_caches; c++)
            for (int v = 0; v < p->model->n_tensors; v++)
                next[c][v] = missed[c][v] * pass_factor(p, c, set, i, v);
        least = fmin(least, least_of_orders(p, set | 1 << i, next, after, user));
    }
    return least;
}

double sx_latency_least_misses(const sx_model *model, const sx_boundary *b, const uint32_t *tile,
                               sx_latency_after *after, const void *user) {
    loop_sets p;
    double missed[SX_MAX_CACHES][SX_MAX_TENSORS];
    p.model = model;
    p.boundary = b;
    p.n_loops = p.n_caches = 0;
    if (b->level != model->n_levels - 1) return after(user, 0, 0);
    for (int d = 0; d < model->n_dims; d++) {
        if (tile[d] == model->size[d]) continue;
        if (p.n_loops == MOST_LOOPS) return after(user, 0, 0);
        p.dim[p.n_loops] = (uint8_t)d;
        p.factor[p.n_loops++] = (uint32_t)(model->size[d] / tile[d]);
    }
    for (int c = 0; c < b->law->n_caches; c++) add_cache(&p, tile, &b->law->cache[c]);
    for (int c = 0; c < p.n_caches; c++) memcpy(missed[c], p.lines[c][0], sizeof missed[c]);
    return least_of_orders(&p, 0, missed, after, user);
}
