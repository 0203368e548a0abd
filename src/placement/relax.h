/* A lower bound of the latency: the capacities are relaxed with Lagrange multipliers, one per memory and step,
 * and what is left is solved exactly by dynamic programming over the nodes. Its state is the memories of the
 * outputs that later nodes read. Where these are too many, the smallest are dropped: later nodes read them for
 * nothing, which keeps the bound a bound. States in which outputs exceed a limit are left out.
 *
 * Tensors have masks of the memories that they may be in. */
#ifndef SX_PLACEMENT_RELAX_H
#define SX_PLACEMENT_RELAX_H

#include "placement/place.h"

/* What is the same for all multipliers. Position j of a state is the memory of one output. */
typedef struct sx_relax_node {
    size_t n_states;      /* before it */
    size_t table, states; /* where its entries and states begin */
    size_t n_entries;     /* of the table: combinations of inputs, times memories of output and weights */
    size_t output_stride; /* of its own output in the next state; 0: it is not tracked */
} sx_relax_node;

typedef struct sx_place_relax {
    const sx_placement_space *space;
    sx_relax_node *node;
    double *table;          /* times of nodes by the memories of their inputs, output and weights */
    double *own;            /* the same before shares of streams are mixed in; NULL: nothing reads ahead */
    double *share;          /* by node: of the stream in its entries */
    uint32_t *combo, *next; /* by node and state: entry of the table, state of the next node */
    double *below, *above, *reduced; /* least cost from a state on, and up to it; room for a node */
    double *price;                   /* by tensor and memory */
    double *marginal;                /* by tensor and memory: least cost with the tensor there */
    double magnitude;                /* of the numbers that the last bound was computed from */
    double worth;                    /* of the capacities, in the last bound */
    uint64_t *use;                   /* by node, state and memory: bytes of the state's outputs */
    uint16_t *fits;                  /* by node and state: memories where its output is within the limits */
    bool complete;                   /* no output is dropped */
} sx_place_relax;

SX_MUST_USE sx_status sx_place_relax_init(const sx_placement_space *space, sx_place_relax *relax);
void sx_place_relax_fini(sx_place_relax *relax);

/* The bound in femtoseconds for multipliers (by memory and step, femtoseconds per byte), and a placement that
 * attains it, which need not be valid. INFINITY: some tensor may be nowhere. */
double sx_place_relax_bound(sx_place_relax *relax, const uint16_t *allowed, const double *lambda,
                            uint8_t *placement);

/* The same with multipliers of the weights alone, one per memory, for memories of these sizes. */
double sx_place_relax_weights(sx_place_relax *relax, const uint16_t *allowed, const double *lambda,
                              const uint64_t *room, uint8_t *placement);

/* Sets the most bytes that outputs of states may have in each memory but the slowest. At first there is no limit. */
void sx_place_relax_limit(sx_place_relax *relax, const uint64_t *most);

/* The most bytes up to `bytes` that outputs may have in a memory at a step, and the fewest above; UINT64_MAX: none. */
void sx_place_relax_peaks(const sx_place_relax *relax, size_t memory, uint64_t bytes, uint64_t *below,
                          uint64_t *above);

/* After a bound: the least bound with each tensor in each memory, in `marginal`. */
void sx_place_relax_marginals(sx_place_relax *relax, const uint16_t *allowed);

/* Where weights are read ahead: mixes a share of the stream of each node, from 0 to 1 and never rising from node to node,
 * into its entries, in place of as much of its own time. For every k the latency is at least the time of the streams of
 * the nodes before k and the own times of the others, so that any such mixture is a lower bound. */
void sx_place_relax_mix(sx_place_relax *relax, const double *share);

/* The time of the stream of a node with weights in a memory; 0 where they do not stream. */
static inline uint64_t sx_place_stream_time(const sx_placement_space *space, size_t node, size_t memory) {
    return sx_place_is_stream(space, node, memory) ? sx_place_transfer(space, 0, space->moved[2 * node]) : 0;
}

/* How many steps a bound takes, about: what effort is counted in. */
uint64_t sx_place_relax_steps(const sx_place_relax *relax);

/* How far rounding may have put the last bound above the true one. */
double sx_place_relax_error(const sx_place_relax *relax);

#endif
