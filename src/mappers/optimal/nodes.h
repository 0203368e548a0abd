/* Open parts of the space, and a heap of them. */
#ifndef SX_MAPPERS_OPTIMAL_NODES_H
#define SX_MAPPERS_OPTIMAL_NODES_H

#include "mappers/optimal/cutoff.h"
#include "mappers/optimal/spatial_mappings.h"

/* A part of the space that is open: a spatial mapping, with one choice of kept tensors or all of them, and of
 * its innermost tiles those that are left. */
typedef struct sx_search_node {
    double bound, energy, cycles; /* the least value, energy and cycles */
    double from;                  /* tiles of a smaller bound are done, */
    uint32_t from_number;         /* and of this one, those of a smaller number */
    uint32_t spatial, keep;
    uint16_t part, parts; /* of the tiles: those whose numbers leave this remainder */
    uint16_t visits;      /* how often it was visited: first to sharpen its bound, then to search it */
    bool imperfect;       /* of the mappings, those that leave remainders */
} sx_search_node;

#define SX_ANY_KEEP UINT32_MAX

/* The parts that a visit to a node left open, in place of the node. */
typedef struct sx_search_nodes {
    sx_search_node *at;
    size_t n, room;
} sx_search_nodes;

/* Adds a node; false when memory is out. */
bool sx_search_nodes_add(sx_search_nodes *nodes, const sx_search_node *node);

/* A heap of nodes: puts node number n, which is behind it, in its place; takes the first one out to behind
 * the others. The order is by bound, but those that took much effort already give way, and remainders to all
 * others. */
void sx_heap_push(sx_search_node *heap, size_t n);
void sx_heap_pop(sx_search_node *heap, size_t n);

/* How a visit ended: nothing is left, something is, or it was cut off: by the run, or as memory is out. */
typedef enum sx_visit_end { SX_VISIT_CLOSED, SX_VISIT_OPEN, SX_VISIT_STOPPED } sx_visit_end;

/* A visit to a node. */
typedef struct sx_node_visit {
    const sx_spatial_mappings *spatials;
    sx_search_node node;
    sx_cutoff *cutoff;
    sx_worker *worker;
    uint64_t effort;      /* steps, at most, about */
    uint64_t listing;     /* of a list of tiles with remainders, about; 0: any */
    uint64_t steps;       /* that it took */
    bool illegal;         /* some choices were left out as they are not legal */
    sx_search_nodes left; /* what is left, in memory of the caller */
} sx_node_visit;

#endif
