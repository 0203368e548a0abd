/* Siblings that do not all want words of the same shape, as remainders make them: groups, hops and links. */
#ifndef SX_MODEL_REMAINDERS_MULTICAST_H
#define SX_MODEL_REMAINDERS_MULTICAST_H

#include "model/fanout.h"
#include "model/remainders/box_delta.h"

/* One visit of a slot: the siblings' classes, and what each class fetches now and fetched at the visit
 * before. */
typedef struct sx_multicast_visit {
    sx_fanout *slot;
    const uint16_t *class_of; /* per sibling */
    const sx_box_delta *now, *before;
    int n_classes;
    bool links;
} sx_multicast_visit;

/* Groups of m siblings: how many, the words they want together, and their hops. */
typedef struct sx_multicast_traffic {
    uint64_t m, count, words;
    double hops;
} sx_multicast_traffic;

/* Groups the siblings of a visit by what they fetch, with links where these save accesses. Fills `traffic`
 * (room for one entry per sibling), returns how many, and the words handed over links; SIZE_MAX when memory
 * is out. */
size_t sx_multicast_visit_groups(const sx_multicast_visit *multicast, bool hops,
                                 sx_multicast_traffic *traffic, uint64_t *links);

#endif
