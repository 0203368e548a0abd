/* The children under one instance of a level: which of them want the same words, how far these travel, and
 * which could get them from a neighbour. */
#ifndef SX_MODEL_FANOUT_H
#define SX_MODEL_FANOUT_H

#include "model/model.h"

/* Groups of more children than this are not listed one by one (that would take gigabytes). */
enum { SX_MAX_LISTED_CHILDREN = 1 << 24 };

/* `count` groups of m children each that want the same words; `hops` is summed over these groups. */
typedef struct sx_multicast_group {
    uint64_t m, count;
    double hops;
} sx_multicast_group;

/* The spatial loops under one instance of a level, as one tensor sees them. */
typedef struct sx_fanout {
    const sx_shape *shape;
    const sx_loop *loop; /* innermost first: those on X, then those on Y */
    int n_loops, n_x;
    uint64_t siblings;
    uint64_t columns, rows; /* of the mesh the siblings are placed on, row by row */
    bool apart;             /* every sibling is its own group (no multicast) */
    bool uniform; /* siblings want the same words exactly if they agree in all loops that index the tensor */
    bool paired;  /* ... or, in each mixed rank, if at most two loops that move it make up for each other */
    sx_multicast_group one;     /* the groups of a uniform slot */
    bool moved;                 /* move is set */
    int64_t span[SX_MAX_RANKS]; /* largest distance between two siblings' tiles, in the mixed ranks */
    int64_t move[SX_MAX_DIMS][SX_MAX_RANKS]; /* of the tile, per rank, by one iteration of a loop */
} sx_fanout;

/* Whether siblings spread by these loops (n_x of them on X, innermost first on each axis) have a neighbour
 * that agrees with them in all loops on `dims`: all have, or none. */
static inline bool sx_neighbours_agree(const sx_loop *loop, int n_loops, int n_x, uint16_t dims) {
    bool x = n_x > 0 && !(dims >> loop[0].dim & 1);
    bool y = n_loops > n_x && !(dims >> loop[n_x].dim & 1);
    return x || y;
}

/* Whether X loops fill whole rows of the mesh, or everything lies in one row. */
static inline bool sx_fanout_is_aligned(const sx_fanout *slot) {
    if (slot->n_loops == slot->n_x) return true;
    uint64_t width = 1;
    for (int l = 0; l < slot->n_x; l++) width *= slot->loop[l].n;
    return width == slot->columns;
}

/* Describes the slot of a level for a tensor. */
void sx_fanout_init(sx_fanout *slot, const sx_model *model, const sx_nest *nest, int level, int tensor,
                    bool apart);

/* Sets move. */
void sx_fanout_moves(sx_fanout *slot);

/* Writes where every sibling's tile stands, a number per sibling and rank, from the moves. */
void sx_fanout_place(const sx_fanout *slot, int64_t *at);

/* The groups of all siblings, in the scratch's memory (valid until the next call); their number, or 0 when
 * memory is out or there are too many siblings. Hop counts are 0 unless asked for. */
size_t sx_fanout_groups(sx_fanout *slot, sx_fanout_scratch *scratch, bool hops,
                        const sx_multicast_group **out);

/* How many siblings have a neighbour whose tile stands `need` (per rank) from their own, and the groups of
 * those who have none; SIZE_MAX when memory is out or there are too many siblings. */
size_t sx_fanout_served(sx_fanout *slot, sx_fanout_scratch *scratch, const int64_t *need, bool hops,
                        uint64_t *served, const sx_multicast_group **out);

/* Ends an evaluation whose groups under a level could not be found. */
void sx_fanout_fail(const sx_fanout *slot, sx_model_workspace *workspace, int level);

#endif
