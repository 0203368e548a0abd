/* The path of an einsum in a fused mapping: from the outermost memory to the compute unit, the loops and the
 * places from which a tile of a tensor is held in a memory. docs/fusion.md has the words. */
#ifndef SX_LOOPTREE_PATH_H
#define SX_LOOPTREE_PATH_H

#include "sextant/arch.h"
#include "sextant/problem.h"

#define SX_MAX_PATH 64 /* nodes of a path */

typedef enum sx_path_kind {
    SX_PATH_HOLD,   /* from here inward a tile of a tensor lives in a memory */
    SX_PATH_LOOP,   /* iterations one after the other */
    SX_PATH_SPREAD, /* iterations side by side, on instances of a level */
} sx_path_kind;

typedef struct sx_path_node {
    uint8_t kind;  /* sx_path_kind */
    uint8_t index; /* of a holder: the einsum's tensor; of a loop: its dimension */
    int8_t level;  /* of a holder: its memory; of a spread: whose instances, -1: compute units; else 0 */
    uint8_t axis;  /* of a spread: 0 is X, 1 is Y; else 0 */
    bool sinks;    /* of a holder: it reserves room only where its tile is needed */
    uint32_t tile; /* of a loop: iterations of the dimension that it leaves to one step */
} sx_path_node;

typedef struct sx_path {
    uint8_t n_nodes;
    sx_path_node node[SX_MAX_PATH];
} sx_path;

/* How a dimension moves a tensor: not at all, together with others of one rank, or alone in a rank. */
typedef enum sx_relevance { SX_IRRELEVANT, SX_PARTLY_RELEVANT, SX_FULLY_RELEVANT } sx_relevance;

/* The first rank that has the dimension decides; *rank, where not NULL, becomes it (-1: none). */
sx_relevance sx_relevance_of(const sx_problem *einsum, int tensor, int dim, int *rank);

/* Bits of a level that tiles may take. */
uint64_t sx_path_room(const sx_storage *level);

/* Words of a tile of a tensor: the box that the extents span. */
uint64_t sx_tile_words(const sx_problem *einsum, int tensor, const uint32_t *extent);

/* A node with what the path says of its place: loops of one iteration are left out. */
typedef struct sx_path_step {
    sx_path_node node;
    uint32_t bound;               /* of a loop: its iterations */
    uint32_t extent[SX_MAX_DIMS]; /* outside of the node */
} sx_path_step;

typedef struct sx_path_layout {
    uint8_t n_steps, n_loops;
    sx_path_step step[SX_MAX_PATH];
} sx_path_layout;

/* Why a path is none. */
typedef enum sx_path_fault {
    SX_PATH_OK,
    SX_PATH_NO_DIVISOR, /* a tile does not divide what is outside of the loop */
    SX_PATH_UNFINISHED, /* the innermost tile of a dimension is above 1 */
    SX_PATH_NO_HOLDER,  /* nothing holds a tensor */
    SX_PATH_INWARD,     /* a holder stands above one of a memory further out of the same tensor */
    SX_PATH_FANOUT,     /* a spread takes more instances than there are */
} sx_path_fault;

/* Lays a path out. *index becomes the dimension or the tensor of a fault, the level of a fan-out. */
sx_path_fault sx_path_lay_out(const sx_arch *arch, const sx_problem *einsum, const sx_path *path,
                              sx_path_layout *layout, int *index);

#endif
