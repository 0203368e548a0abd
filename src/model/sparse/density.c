/* Probabilities of occupancies. Hypergeometric ones are computed in double-double arithmetic, so that they
 * are the doubles nearest to the true values: integers that Timeloop floors depend on their last bit. A window
 * holds the probabilities above 1e-60, O(sqrt n) of them: the mode by factorials, the others by ratios. */
#include "model/sparse/density.h"

#include "base/double_double.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_BITS = 14, CACHE_SIZE = 1 << CACHE_BITS, SHORT_PRODUCT = 48, MOST_TERMS = 1 << 22 };
static const double negligible = 1e-60;
static const uint64_t MOST_NONZEROS = UINT32_MAX; /* in place of a block */

struct cached {
    uint64_t marked, n, words,
        block; /* block 0: the probability that a tile is empty; else expected blocks */
    double value;
};

struct sx_density_cache {
    struct cached *entry; /* CACHE_SIZE; NULL: nothing is remembered */
    double *window, *below;
    size_t window_room, below_room;
    bool failed; /* memory ran out, or the steps were ended */
    sx_tile_scratch scratch;
};

sx_density_cache *sx_density_cache_new(bool remembers, sx_steps *steps) {
    sx_density_cache *cache = calloc(1, sizeof *cache);
    if (!cache) return NULL;
    cache->scratch.steps = steps;
    if (!remembers) return cache;
    cache->entry = calloc(CACHE_SIZE, sizeof *cache->entry);
    if (cache->entry) return cache;
    free(cache);
    return NULL;
}

void sx_density_cache_free(sx_density_cache *cache) {
    if (!cache) return;
    free(cache->entry);
    free(cache->window);
    free(cache->below);
    sx_tile_scratch_fini(&cache->scratch);
    free(cache);
}

bool sx_density_cache_failed(sx_density_cache *cache) {
    bool failed = cache->failed;
    cache->failed = false;
    return failed;
}

sx_density sx_density_placed(sx_density_model model, const sx_positions *p) {
    return (sx_density){.model = model,
                        .share = (double)p->nonzeros / (double)p->words,
                        .words = p->words,
                        .nonzeros = p->nonzeros,
                        .word = (double)p->nonzeros / (double)p->words,
                        .placed = p};
}

/* Whether a tile of n words has some of `marked` ones for certain, or all but for a chance below exp(-50). */
static bool some_marked(uint64_t marked, uint64_t n, uint64_t words) {
    return n > words - marked || (double)n * (double)marked > 50.0 * (double)words;
}

sx_density sx_density_make(sx_density_model model, double share, uint64_t words) {
    sx_density density = {.model = model, .share = model == SX_DENSITY_NONE ? 1 : share, .words = words};
    density.nonzeros = (uint64_t)ceil(density.share * (double)words);
    if (density.nonzeros > words) density.nonzeros = words;
    density.word =
        model == SX_DENSITY_HYPERGEOMETRIC ? (double)density.nonzeros / (double)words : density.share;
    for (uint64_t low = 0, high = density.never_empty = words + 1; low < high;) {
        uint64_t middle = low + (high - low) / 2;
        if (some_marked(density.nonzeros, middle, words))
            density.never_empty = high = middle;
        else
            low = middle + 1;
    }
    return density;
}

/* C(words - b, a) / C(words, a), factor by factor. */
static double short_product(uint64_t a, uint64_t b, uint64_t words) {
    sx_dd product = {1, 0};
    for (uint64_t i = 0; i < a; i++)
        product = sx_dd_mul(product, sx_dd_div(sx_dd_from_u64(words - b - i), sx_dd_from_u64(words - i)));
    return product.high;
}

/* The same by factorials. */
static double by_factorials(uint64_t a, uint64_t b, uint64_t words) {
    sx_dd sum = sx_dd_add(sx_dd_log_factorial(words - b), sx_dd_log_factorial(words - a));
    sum = sx_dd_add(sum, sx_dd_neg(sx_dd_log_factorial(words - a - b)));
    return sx_dd_exp(sx_dd_add(sum, sx_dd_neg(sx_dd_log_factorial(words)))).high;
}

static bool slot_holds(const struct cached *at, uint64_t marked, uint64_t n, uint64_t words, uint64_t block) {
    return at->n == n && at->marked == marked && at->words == words && at->block == block;
}

/* The value if it is remembered, in one of two places; else *at is where it is to go, NULL where nothing is
 * remembered. */
static bool recall_value(const sx_density_cache *cache, uint64_t marked, uint64_t n, uint64_t words,
                         uint64_t block, struct cached **at, double *value) {
    *at = NULL;
    if (!cache->entry) return false;
    uint64_t hash = (n ^ block << 40 ^ marked << 20 ^ words) * 0x9e3779b97f4a7c15u;
    struct cached *pair = &cache->entry[(hash >> (64 - CACHE_BITS)) & ~(uint64_t)1];
    for (int i = 0; i < 2; i++)
        if (slot_holds(&pair[i], marked, n, words, block)) {
            *value = pair[i].value;
            return true;
        }
    pair[1] = pair[0];
    *at = pair;
    return false;
}

/* The probability that none of `marked` words chosen at random of `words` is among n of them, where there is a
 * chance of that. */
static double none_marked(sx_density_cache *cache, uint64_t marked, uint64_t n, uint64_t words) {
    struct cached *at;
    double value;
    if (recall_value(cache, marked, n, words, 0, &at, &value)) return value;
    if (n == 0 || marked == 0) return 1;
    uint64_t a = n < marked ? n : marked, b = n < marked ? marked : n;
    value = a <= SHORT_PRODUCT ? short_product(a, b, words) : by_factorials(a, b, words);
    if (at) *at = (struct cached){marked, n, words, 0, value};
    return value;
}

/* The probability of no non-zero where `expected` are expected and every tile has its share. */
static double fixed_empty(double expected) {
    return expected < 1 ? 1 - expected : 0;
}

/* A counted figure of the tiles of a size: of block 0 emptiness, of MOST_NONZEROS the most that a tile holds, else
 * expected blocks. */
static double counted_figure(const sx_density *d, sx_density_cache *cache, uint64_t tile, uint64_t block) {
    uint64_t mark = UINT64_MAX - d->nonzeros; /* no number of non-zeros by chance */
    struct cached *at;
    double value;
    if (recall_value(cache, mark, tile, (uint64_t)(uintptr_t)d->placed, block, &at, &value)) return value;
    sx_tile_counts counts = {1, 0, 0}; /* where it fails: what keeps a lower bound one */
    if (!sx_positions_count(d->placed, tile, block && block < MOST_NONZEROS ? (uint32_t)block : 1,
                            &cache->scratch, &counts))
        cache->failed = true;
    value = block == 0 ? counts.empty : block == MOST_NONZEROS ? (double)counts.most : counts.blocks;
    if (at && !cache->failed) *at = (struct cached){mark, tile, (uint64_t)(uintptr_t)d->placed, block, value};
    return value;
}

uint64_t sx_density_most_counted(const sx_density *d, sx_density_cache *cache, uint64_t tile) {
    if (!d->placed) return sx_density_most(d, tile);
    return (uint64_t)counted_figure(d, cache, tile, MOST_NONZEROS);
}

double sx_density_empty(const sx_density *density, sx_density_cache *cache, uint64_t n) {
    if (density->placed) return counted_figure(density, cache, n, 0);
    if (density->model != SX_DENSITY_HYPERGEOMETRIC) return fixed_empty((double)n * density->share);
    if (n >= density->never_empty) return 0;
    return none_marked(cache, density->nonzeros, n, density->words);
}

double sx_density_empty_given(const sx_density *density, sx_density_cache *cache, uint64_t n, uint64_t whole,
                              uint64_t k) {
    if (density->model != SX_DENSITY_HYPERGEOMETRIC)
        return fixed_empty((double)n * ((double)k / (double)whole));
    return some_marked(k, n, whole) ? 0 : none_marked(cache, k, n, whole);
}

/* The logarithm of C(n, k). */
static sx_dd log_choose(uint64_t n, uint64_t k) {
    return sx_dd_add(sx_dd_log_factorial(n),
                     sx_dd_neg(sx_dd_add(sx_dd_log_factorial(k), sx_dd_log_factorial(n - k))));
}

/* Appends probabilities from the mode on, upwards or downwards, until they are negligible or the last. */
static bool extend_probabilities(double **list, size_t *room, size_t *n, sx_dd p, uint64_t k, uint64_t last,
                                 bool up, const sx_density *d, uint64_t tile) {
    uint64_t r = d->nonzeros;
    while (k != last) {
        uint64_t none = up ? d->words - r - tile + k + 1 : d->words - r - tile + k;
        sx_dd over = up ? sx_dd_mul(sx_dd_from_u64(r - k), sx_dd_from_u64(tile - k))
                        : sx_dd_mul(sx_dd_from_u64(k), sx_dd_from_u64(none));
        sx_dd under = up ? sx_dd_mul(sx_dd_from_u64(k + 1), sx_dd_from_u64(none))
                         : sx_dd_mul(sx_dd_from_u64(r - k + 1), sx_dd_from_u64(tile - k + 1));
        p = sx_dd_div(sx_dd_mul(p, over), under);
        if (p.high < negligible) break;
        if (*n == MOST_TERMS) return false;
        if (!sx_reserve(list, room, *n + 1, sizeof **list)) return false;
        (*list)[(*n)++] = p.high;
        k = up ? k + 1 : k - 1;
    }
    return true;
}

/* The window of a hypergeometric tensor. */
static bool random_window(const sx_density *d, sx_density_cache *cache, uint64_t tile, sx_occupancies *out) {
    uint64_t r = d->nonzeros, total = d->words;
    uint64_t low = tile > total - r ? tile - (total - r) : 0, high = tile < r ? tile : r;
    uint64_t mode = (uint64_t)(((double)r + 1) * ((double)tile + 1) / ((double)total + 2));
    mode = mode < low ? low : mode > high ? high : mode;
    sx_dd p = sx_dd_add(log_choose(r, mode), log_choose(total - r, tile - mode));
    p = sx_dd_exp(sx_dd_add(p, sx_dd_neg(log_choose(total, tile))));
    size_t below = 0, n = 0;
    if (!extend_probabilities(&cache->below, &cache->below_room, &below, p, mode, low, false, d, tile))
        return false;
    if (!sx_reserve(&cache->window, &cache->window_room, below + 1, sizeof(double))) return false;
    for (size_t i = 0; i < below; i++) cache->window[n++] = cache->below[below - 1 - i];
    cache->window[n++] = p.high;
    if (!extend_probabilities(&cache->window, &cache->window_room, &n, p, mode, high, true, d, tile))
        return false;
    *out = (sx_occupancies){mode - below, n, cache->window};
    return true;
}

bool sx_density_window(const sx_density *d, sx_density_cache *cache, uint64_t n, sx_occupancies *out) {
    if (d->model == SX_DENSITY_HYPERGEOMETRIC) return random_window(d, cache, n, out);
    if (!sx_reserve(&cache->window, &cache->window_room, 2, sizeof(double))) return false;
    double expected = (double)n * d->share, low = floor(expected), part = expected - low;
    size_t at = 0;
    if (1 - part != 0) cache->window[at++] = 1 - part;
    if (part != 0) cache->window[at++] = part;
    *out = (sx_occupancies){(uint64_t)low + (1 - part == 0), at, cache->window};
    return true;
}

/* The sum over all occupancies. */
static double sum_blocks(const sx_density *d, sx_density_cache *cache, uint64_t n, uint32_t block) {
    sx_occupancies at;
    double sum = 0;
    if (!sx_density_window(d, cache, n, &at)) {
        cache->failed = true;
        return 1;
    }
    for (size_t i = 0; i < at.n; i++) sum += ceil((double)(at.first + i) / block) * at.probability[i];
    return sum;
}

double sx_density_blocks(const sx_density *d, sx_density_cache *cache, uint64_t n, uint32_t block) {
    double words = (double)d->words, share = (double)d->nonzeros / words, tile = (double)n;
    if (d->placed) return counted_figure(d, cache, n, block);
    if (d->model != SX_DENSITY_HYPERGEOMETRIC) return sum_blocks(d, cache, n, block);
    double variance = tile * share * (1 - share) * (words - tile) / fmax(words - 1, 1);
    if (variance > 64.0 * block * block) return tile * share / block + (block - 1) / (2.0 * block);
    struct cached *at;
    double value;
    if (recall_value(cache, d->nonzeros, n, d->words, block, &at, &value)) return value;
    value = sum_blocks(d, cache, n, block);
    if (at && !cache->failed) *at = (struct cached){d->nonzeros, n, d->words, block, value};
    return value;
}
