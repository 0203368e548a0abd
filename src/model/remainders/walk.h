/* The state of the children that a walk carries from visit to visit (see walk.c). */
#ifndef SX_MODEL_REMAINDERS_WALK_H
#define SX_MODEL_REMAINDERS_WALK_H

#include "model/remainders/multicast.h"

#include "base/hash_table.h"

/* Flags of a record: there is a tile held, a last step, something fetched at the last visit. */
enum { HELD = 1, STEPPED = 2, FETCHED = 4 };
enum { MAX_CLASSES = UINT16_MAX + 1, MAX_ITEMS = 2 * MAX_LOOPS, MEMORY = 32 };

/* A loop outside the children: temporal, or spatial above the parent with the parent's place in it. */
typedef struct sx_walk_item {
    const sx_loop *loop;
    bool spatial;
    uint8_t place; /* SX_EARLY, SX_ON or SX_IDLE */
    int64_t move[SX_MAX_RANKS];
} sx_walk_item;

/* All visits of the j innermost items: the state they are entered in and the one they leave. The first three
 * fields are the key. */
typedef struct sx_walk_block {
    int32_t j;
    uint32_t edges, in;
    uint32_t out;
    uint32_t first_child, n_children;
    bool visits; /* there is at least one */
    uint64_t times;
} sx_walk_block;

typedef struct sx_walk_child {
    uint32_t block;
    uint64_t times;
} sx_walk_child;

struct sx_walker {
    sx_model_workspace *workspace;
    const sx_model *model;
    const sx_nest *nest;
    const sx_shape *shape;
    int level, tensor;
    bool links, always;
    uint32_t imperfect; /* dimensions with remainders */
    sx_walk_item items[MAX_ITEMS];
    int n_items;
    uint32_t leaving[MAX_ITEMS + 1]; /* dimensions that can leave the edge inside the j innermost items */
    uint32_t
        dead[MAX_ITEMS + 1]; /* dimensions at whose edge the parent is idle inside the j innermost items */
    /* children */
    sx_fanout slot;
    int n_classes;
    uint8_t (*place)[SX_MAX_DIMS]; /* per class and dimension */
    size_t place_room;
    uint16_t *class_of; /* per sibling */
    size_t class_room;
    sx_box_delta *now, *before; /* per class */
    size_t now_room, before_room;
    uint32_t full[SX_MAX_DIMS], rest[SX_MAX_DIMS]; /* extents of a tile, inside and at the edge */
    /* states: `width` numbers each */
    size_t width, record;
    int64_t *state;
    size_t n_states, state_room;
    sx_hash_table states, blocks_at;
    sx_walk_block *block;
    size_t n_blocks, block_room;
    sx_walk_child *child;
    size_t n_children, child_room;
    int64_t *scratch;
    size_t scratch_room;
    sx_multicast_traffic *traffic;
    size_t traffic_room;
    bool failed;
};

/* Makes room for n items of a growing array; false when memory is out. */
bool sx_walk_reserve(sx_walker *w, void *array, size_t *room, size_t n, size_t size);

/* Ends a walk at a limit of the model. */
void sx_walk_limit(sx_walker *w, sx_reason reason, double have, double limit);

/* The numbers of a state: a record per class. */
const int64_t *sx_walk_state(const sx_walker *w, uint32_t id);

/* The number of the state in w->scratch. */
uint32_t sx_walk_intern(sx_walker *w);

/* Copies a state to w->scratch. */
void sx_walk_load(sx_walker *w, uint32_t id);

/* The tile held in a record: its low corner, then its high one, then the last step. */
int64_t *sx_walk_held(int64_t *record);

/* The state seen after the loops moved on by `times` iterations of an item. */
uint32_t sx_walk_shift(sx_walker *w, uint32_t id, const sx_walk_item *it, int64_t times);

/* Whether a class has no tile at a visit with these edges. */
bool sx_walk_idle(const sx_walker *w, int c, uint32_t edges);

/* What a record says the last visit fetched. */
sx_box_delta sx_walk_recall(const sx_walker *w, int64_t *record);

/* One visit: leaves the new state in w->scratch, and what each class fetches in now[] where that is asked
 * for. */
void sx_walk_visit(sx_walker *w, uint32_t edges, uint32_t in, sx_box_delta *now);

#endif
