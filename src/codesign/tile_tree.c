/* Sunstone-arch's tree of tiles.
 *
 * Source: Sunstone (thesis 2022), section 5.2.1, algorithm 9. The tree has the tile of all ones at its root;
 * a child has the next larger factor in one dimension. Each node is annotated with the smallest memories of
 * the choices that hold it (observation 6: a tile costs least there), and kept if no child has the same ones
 * (a larger tile in the same memory moves fewer words). So the whole tree is walked once for all memories.
 *
 * What differs. With several memories side by side the smallest of each make up the smallest choice; where a
 * limit does not allow that, no choice holds the tile. The algorithm as printed finds the child's memory by
 * the node and not by the child, which is a slip. A node remembers the memories of its children too: with
 * several layers a memory may be larger than a layer's tile needs, and then the node counts only if no child
 * fits that one. The tree is gone through dimension by dimension, as in mappers/sunstone/tiles.c.
 *
 * Complexity: in the number of tiles that fit the largest memories, times dimensions and memories. */
#include "codesign/tile_tree.h"

#include "mapspace/map_parts.h"
#include "model/capacity.h"

#include <math.h>

/* The number of the smallest combination that holds a tile of a plan's first memory, for a partial mapping;
 * SX_TILE_NOWHERE where none that is allowed does. */
static uint32_t smallest_memory(const sx_sunstone *plan, const sx_tile_memories *memories, const void *point,
                                const uint32_t *tile) {
    const sx_model *model = plan->space->model;
    size_t number = 0;
    for (int i = 0; i < memories->n; i++) {
        int s = memories->memory[i].level;
        uint32_t extent[SX_MAX_DIMS];
        size_t option = 0, n = memories->memory[i].n_options;
        for (int d = 0; d < model->n_dims; d++)
            extent[d] = (uint32_t)sx_mapping_extent(sx_map_point(point), s, d) * tile[d];
        while (option < n &&
               !sx_level_holds(model, &memories->memory[i].option[option], plan->keep[s], extent))
            option++;
        if (option == n) return SX_TILE_NOWHERE;
        number += option * memories->memory[i].stride;
    }
    return memories->allowed[number] ? (uint32_t)number : SX_TILE_NOWHERE;
}

bool sx_tile_within(const sx_tile_memories *memories, uint32_t a, uint32_t b) {
    for (int i = 0; i < memories->n; i++)
        if (sx_tile_option(memories, i, a) > sx_tile_option(memories, i, b)) return false;
    return true;
}

enum { POLL = 1024 }; /* steps between two looks at the clock */

/* A walk through the tree. */
typedef struct tree {
    const sx_codesign *c;
    bool over; /* the search ends */
    const sx_sunstone *plan;
    const sx_tile_memories *memories;
    const sx_sunstone_partial *at;
    sx_sunstone_room room;
    uint32_t most[SX_MAX_DIMS];
    int n; /* dimensions that have factors */
    uint8_t dim[SX_MAX_DIMS];
    sx_tile_node node;
    size_t limit;
    sx_vector *out;
    uint64_t walked, steps;
} tree;

/* The next larger factor of a dimension, 0 where there is none. */
static uint32_t larger_factor(const tree *t, int d, uint32_t than) {
    uint32_t f = sx_sunstone_next(&t->plan->divisors, d, than, t->at->left[d]);
    return f <= t->most[d] ? f : 0;
}

/* The smallest memories that hold the tile. */
static uint32_t smallest_memories(const tree *t) {
    const uint32_t *tile = t->node.item.tile.factor;
    if (!sx_sunstone_fits(&t->room, tile)) return SX_TILE_NOWHERE;
    return smallest_memory(t->plan, t->memories, t->at->point, tile);
}

/* Keeps the node unless a child has the same memories. */
static void keep_node(tree *t) {
    t->node.memory = smallest_memories(t);
    t->walked++;
    for (int i = 0; i < t->n; i++) {
        uint32_t *factor = &t->node.item.tile.factor[t->dim[i]], now = *factor,
                 next = larger_factor(t, t->dim[i], now);
        if (next) *factor = next;
        t->node.child[i] = next ? smallest_memories(t) : SX_TILE_NOWHERE;
        *factor = now;
        if (t->node.child[i] == t->node.memory) return;
    }
    sx_tile_node *new = t->out->n < t->limit ? sx_vector_add(t->out) : NULL;
    if (new) *new = t->node;
}

/* Goes through the nodes with the factors of the first `at` dimensions as they are. */
static void walk_nodes(tree *t, int at) {
    if (++t->steps % POLL == 0 && sx_codesign_stopped(t->c)) t->over = true;
    if (t->over || t->out->failed || t->out->n >= t->limit) return;
    if (at == t->n) {
        keep_node(t);
        return;
    }
    uint32_t *factor = &t->node.item.tile.factor[t->dim[at]];
    for (uint32_t next = 1; next; next = larger_factor(t, t->dim[at], next)) {
        *factor = next;
        if (next > 1 && smallest_memories(t) == SX_TILE_NOWHERE) break;
        walk_nodes(t, at + 1);
    }
    *factor = 1;
}

void sx_tile_tree(const sx_codesign *c, const sx_sunstone *plan, const sx_tile_memories *memories,
                  const sx_sunstone_partial *at, uint64_t root, size_t limit, sx_vector *out,
                  uint64_t *walked) {
    tree t = {.c = c, .plan = plan, .memories = memories, .at = at, .limit = limit, .out = out};
    sx_sunstone_make_room(plan, 0, at->point, &t.room);
    sx_sunstone_most(plan, 0, t.most);
    t.node.item.root = root;
    t.node.item.value = INFINITY;
    for (int d = 0; d < SX_MAX_DIMS; d++) {
        t.node.item.tile.factor[d] = 1;
        t.node.child[d] = SX_TILE_NOWHERE;
    }
    for (int d = 0; d < plan->space->problem->n_dims; d++)
        if (larger_factor(&t, d, 1)) t.dim[t.n++] = (uint8_t)d;
    if (smallest_memories(&t) != SX_TILE_NOWHERE) walk_nodes(&t, 0);
    *walked += t.walked;
}
