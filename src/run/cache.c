#include "run/cache.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>

sx_status sx_cache_init(sx_cache *cache, size_t size) {
    *cache = (sx_cache){0};
    if (size == 0) return SX_OK;
    size_t room = 1;
    while (room < size && room <= SIZE_MAX / 4) room *= 2;
    cache->entry = calloc(room, sizeof *cache->entry);
    if (!cache->entry)
        return sx_error_hint(sx_error_new(SX_ERR_MEMORY, "not enough memory for a cache of %zu scores", room),
                             "a score takes %zu bytes: use a smaller cache", sizeof *cache->entry);
    cache->mask = room - 1;
    return SX_OK;
}

void sx_cache_fini(sx_cache *cache) {
    free(cache->entry);
    *cache = (sx_cache){0};
}

bool sx_cache_find(const sx_cache *cache, const uint64_t key[2], double bound, sx_outcome *out) {
    const sx_cached *entry = &cache->entry[key[0] & cache->mask];
    if (!entry->used || entry->key[0] != key[0] || entry->key[1] != key[1]) return false;
    if (entry->reason == SX_BEYOND && entry->value < bound) return false;
    bool beyond = entry->reason == SX_BEYOND || (entry->reason == 0 && entry->value > bound);
    *out = (sx_outcome){.reason = beyond ? SX_BEYOND : entry->reason, .value = INFINITY};
    if (out->reason != 0) return true;
    out->metrics = entry->metrics;
    out->value = entry->value;
    return true;
}

void sx_cache_put(sx_cache *cache, const sx_cached *entry) {
    sx_cached *place = &cache->entry[entry->key[0] & cache->mask];
    bool same = place->used && place->key[0] == entry->key[0] && place->key[1] == entry->key[1];
    if (same && entry->reason == SX_BEYOND && place->reason != SX_BEYOND) return;
    *place = *entry;
}
