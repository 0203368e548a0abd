/* What flows of tensors with windows come to, kept from one spatial mapping to the next: it depends on the spatial loops that index
 * the windows, and on little more of the others, so that many spatial mappings have the same. */
#ifndef SX_BOUND_TRAFFIC_CACHE_H
#define SX_BOUND_TRAFFIC_CACHE_H

#include "bound/bound.h"

#include "base/hash_table.h"

typedef struct sx_traffic_cache {
    sx_hash_table index;        /* of the keys */
    struct sx_traffic_key *key; /* NULL: nothing is kept yet */
    sx_least_traffic *traffic;  /* of each key, `forms` places */
    size_t forms, n, most;      /* keys; most: 0: there is no room for any */
} sx_traffic_cache;

void sx_traffic_cache_fini(sx_traffic_cache *cache);

/* Makes room where the cache is full. What was given out before is lost. */
void sx_traffic_cache_renew(sx_traffic_cache *cache);

/* The place for what flows of a tensor into level `from` from the next one that keeps it, with a given share of accesses that
 * slots between them leave; *made: it was made before. NULL: there is no room. */
sx_least_traffic *sx_traffic_cache_find(sx_traffic_cache *cache, const sx_outline_bound *bounds, int tensor,
                                        int from, double outer, bool *made);

#endif
