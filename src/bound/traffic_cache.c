#include "bound/traffic_cache.h"

#include "base/hash.h"
#include "bound/outline.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 25, MOST_KEYS = 4096, FEWEST_KEYS = 16 };

/* All on which window.c's flows of a tensor depend, beside the model. */
typedef struct sx_traffic_key {
    double outer, irrelevant; /* irrelevant: spatial loops just outside the level, multiplied */
    uint32_t spatial
        [SX_MAX_LEVELS]; /* loops on the dimensions of its windows, as a form; inside the level together */
    uint8_t tensor, from, links, padding[5];
} traffic_key;

void sx_traffic_cache_fini(sx_traffic_cache *cache) {
    sx_hash_table_clear(&cache->index);
    free(cache->key);
    free(cache->traffic);
}

void sx_traffic_cache_renew(sx_traffic_cache *cache) {
    if (!cache->key || cache->n < cache->most) return;
    cache->n = 0;
    if (!sx_hash_table_begin(&cache->index, cache->most)) cache->most = 0;
}

/* Makes the room, once. */
static void make_cache(sx_traffic_cache *cache, const sx_bound *b) {
    cache->forms = 1;
    for (int v = 0; v < b->model->n_tensors; v++)
        if (b->n_windows[v] > 0 && b->form[v].n_points > cache->forms) cache->forms = b->form[v].n_points;
    const size_t fit = BYTES / (cache->forms * sizeof *cache->traffic),
                 most = fit < MOST_KEYS ? fit : MOST_KEYS;
    cache->key = malloc(MOST_KEYS * sizeof *cache->key);
    if (most >= FEWEST_KEYS) cache->traffic = malloc(most * cache->forms * sizeof *cache->traffic);
    const bool good = cache->key && cache->traffic && sx_hash_table_begin(&cache->index, most);
    cache->most = good ? most : 0;
}

static void set_key(const sx_outline_bound *bounds, int v, int from, double outer, traffic_key *key) {
    const sx_bound *b = bounds->bound;
    memset(key, 0, sizeof *key);
    key->outer = outer;
    key->irrelevant = sx_outline_bound_fanout(bounds, from + 1, b->irrelevant[v]);
    key->tensor = (uint8_t)v;
    key->from = (uint8_t)from;
    key->links = sx_outline_bound_has_links(bounds, from + 1, v);
    for (int s = 0; s < b->model->n_levels; s++) /* forms of products are sums */
        key->spatial[s <= from ? 0 : s] += sx_lattice_point(&b->form[v], bounds->outline.spatial[s]);
}

sx_least_traffic *sx_traffic_cache_find(sx_traffic_cache *cache, const sx_outline_bound *bounds, int v,
                                        int from, double outer, bool *made) {
    traffic_key key;
    *made = false;
    if (bounds->bound->n_windows[v] == 0 || from < 0) return NULL;
    if (!cache->key) make_cache(cache, bounds->bound);
    if (cache->most == 0) return NULL;
    set_key(bounds, v, from, outer, &key);
    const sx_hash_keys keys = {cache->key, sizeof key, sizeof key};
    const uint64_t hash = sx_hash_words((const int64_t *)&key, sizeof key / sizeof(int64_t));
    uint32_t at = sx_hash_table_find(&cache->index, keys, &key, hash);
    *made = at != SX_HASH_NONE;
    if (*made) return cache->traffic + at * cache->forms;
    if (cache->n == cache->most) return NULL;
    cache->key[cache->n] = key;
    at = sx_hash_table_put(&cache->index, keys, &key, hash, (uint32_t)cache->n);
    return at == SX_HASH_NONE ? NULL : cache->traffic + cache->n++ * cache->forms;
}
