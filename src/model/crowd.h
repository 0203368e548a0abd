/* Siblings that do not all want words of the same shape, as remainders make them: groups, hops and links. */
#ifndef SX_MODEL_CROWD_H
#define SX_MODEL_CROWD_H

#include "model/piece.h"
#include "model/slot.h"

/* One visit of a slot: the siblings' classes, and what each class fetches now and fetched at the visit
 * before. */
typedef struct sx_crowd {
    sx_slot *slot;
    const uint16_t *class_of; /* per sibling */
    const sx_piece *now, *before;
    int n_classes;
    bool links;
} sx_crowd;

/* Groups of m siblings: how many, the words they want together, and their hops. */
typedef struct sx_party {
    uint64_t m, count, words;
    double hops;
} sx_party;

/* Groups the siblings of a visit by what they fetch, with links where these save accesses. Fills `party`
 * (room for one entry per sibling), returns how many, and the words handed over links; SIZE_MAX when memory
 * is out. */
size_t sx_crowd_visit(const sx_crowd *crowd, bool hops, sx_party *party, uint64_t *links);

#endif
