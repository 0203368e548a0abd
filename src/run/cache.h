/* Scores remembered by their points' keys: a table in which a newer entry takes an older one's place. */
#ifndef SX_RUN_CACHE_H
#define SX_RUN_CACHE_H

#include "sextant/navigator.h"

typedef struct sx_cached {
    uint64_t key[2];
    bool used;
    unsigned reason;
    double value; /* of a legal point; of one with SX_BEYOND, the bound it is beyond */
    sx_metrics metrics;
} sx_cached;

typedef struct sx_cache {
    sx_cached *entry; /* NULL: no cache */
    size_t mask;
} sx_cache;

/* A cache of at least `size` entries, none where that is 0. */
SX_MUST_USE sx_status sx_cache_init(sx_cache *cache, size_t size);
void sx_cache_fini(sx_cache *cache);

/* Looks a key up: true and the outcome, as an evaluation under the bound would give it, where it is known. */
bool sx_cache_find(const sx_cache *cache, const uint64_t key[2], double bound, sx_outcome *out);
void sx_cache_put(sx_cache *cache, const sx_cached *entry);

#endif
