/* Lines that miss a cache behind the port of a level.
 *
 * The walk goes outward over the loops that launch tiles. Of what the loops inside have touched a share h is still in the
 * cache when the next loop comes round: all of it where the tensors' lines fit the sets that they can use, otherwise a
 * share that falls with a power (`soft`) of how much too large they are. */
#include "model/latency.h"

#include <math.h>

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
