/* The space of placements: the inside that its model, its searches and reports see.
 *
 * Times are whole femtoseconds, so that sums are exact in any order. Tensor 2 * node is the weights of a node,
 * tensor 2 * node + 1 its output. */
#ifndef SX_PLACEMENT_PLACE_H
#define SX_PLACEMENT_PLACE_H

#include "sextant/placement.h"
#include "sextant/space_type.h"

#define SX_FEMTO 1e15 /* femtoseconds in a second */

enum sx_place_axis { SX_AXIS_WEIGHTS, SX_AXIS_ACTIVATIONS };

/* The metrics of its model. */
enum { SX_PLACE_ENERGY, SX_PLACE_LATENCY };

typedef struct sx_placement_space {
    sx_space space;
    sx_point_model model;
    sx_place_graph graph;
    sx_chip chip;
    size_t n_tensors;  /* 2 * nodes */
    uint64_t *size;    /* by tensor: bytes that it occupies */
    uint64_t *moved;   /* by tensor: bytes that a node which uses it transfers, re-reads included */
    uint64_t *compute; /* by node: femtoseconds */
    uint64_t overhead; /* femtoseconds */
    bool reads_ahead; /* some weights fit the chip's prefetch buffer, so that nodes may wait for each other */
    double *rate;     /* by memory: femtoseconds per byte */
    size_t *ending;   /* nodes in the order of the last step of their output */
    size_t *first_ended; /* by step: the first of these that ends there; one more at the end */
    uint64_t total;      /* bytes of all tensors */
    double op_energy;    /* pJ of all operations */
    sx_gene *genes;      /* `which` is the tensor */
    uint8_t *compiled;   /* the placement of the compiler's rule */
    uint64_t baseline;   /* its latency */
    uint64_t align;      /* of addresses that a valid placement must have; 0: it need not have any */
    uint64_t *undecided; /* searches for addresses that ended without an answer; NULL: none are demanded */
} sx_placement_space;

/* A space as a space of placements; NULL where it is of another type. */
const sx_placement_space *sx_placement_space_of(const sx_space *space);

/* Sets the head of a space and its genes, once sizes are known; frees a space, also one that is half made. */
void sx_placement_space_head(sx_placement_space *space);
void sx_placement_space_free(SX_TAKE sx_placement_space *space);

/* The femtoseconds that a memory takes for a number of bytes. */
static inline uint64_t sx_place_transfer(const sx_placement_space *space, size_t memory, uint64_t bytes) {
    return (uint64_t)((double)bytes * space->rate[memory] + 0.5);
}

/* Whether the weights of a node stream through the prefetch buffer, and do not fit it: nothing hides them. */
static inline bool sx_place_is_stream(const sx_placement_space *space, size_t node, size_t memory) {
    return memory == 0 && space->chip.prefetch > 0 && space->moved[2 * node] > 0;
}
static inline bool sx_place_exceeds_prefetch(const sx_placement_space *space, size_t node) {
    return space->moved[2 * node] > space->chip.prefetch;
}

/* The time of a node that transfers a number of bytes per memory. Weights that stream are not among them; where they fit
 * the prefetch buffer, the node may end later (stream.h). */
static inline uint64_t sx_place_node_time(const sx_placement_space *space, size_t node, const uint64_t *bytes,
                                          bool streams) {
    uint64_t most = 0, sum = 0;
    for (size_t m = 0; m < space->chip.n_memories; m++) {
        uint64_t time = sx_place_transfer(space, m, bytes[m]);
        sum += time;
        if (time > most) most = time;
    }
    if (space->chip.shared_ports) most = sum;
    if (streams && sx_place_exceeds_prefetch(space, node)) {
        uint64_t time = sx_place_transfer(space, 0, space->moved[2 * node]);
        if (most < time) most = time;
    }
    if (most < space->compute[node]) most = space->compute[node];
    return space->overhead + most;
}

/* Adds up the bytes that a node transfers per memory, but for weights that stream. */
void sx_place_node_bytes(const sx_placement_space *space, const uint8_t *placement, size_t node,
                         uint64_t bytes[SX_MAX_MEMORIES]);

/* The latency of a placement in femtoseconds, valid or not; and its energy in pJ. */
uint64_t sx_place_latency(const sx_placement_space *space, const uint8_t *placement);
double sx_place_energy(const sx_placement_space *space, const uint8_t *placement);

/* The times from the end of the node before to that of each node: they add up to the latency. */
void sx_place_times(const sx_placement_space *space, const uint8_t *placement, uint64_t *time);

/* Set in a placement while tensors are being moved. */
enum { SX_PLACE_MOVED = 0x80 };

/* Whether a placement is valid: everything fits, and has addresses where these are demanded. */
bool sx_place_valid(const sx_placement_space *space, const uint8_t *placement);

/* Whether everything fits at every step; otherwise the first step and memory that overflow and by how many
 * bytes, where asked for (each may be NULL). */
bool sx_place_fits(const sx_placement_space *space, const uint8_t *placement, size_t *step, size_t *memory,
                   uint64_t *over);

/* Whether a tensor is the output of a node; the first and the last step at which it lives. */
static inline bool sx_place_is_output(size_t tensor) {
    return tensor & 1;
}
static inline size_t sx_place_first(const sx_placement_space *space, size_t tensor) {
    (void)space;
    return tensor & 1 ? tensor / 2 : 0;
}
static inline size_t sx_place_last(const sx_placement_space *space, size_t tensor) {
    return tensor & 1 ? space->graph.node[tensor / 2].last : space->graph.n_nodes - 1;
}

/* Places tensors in an order, each in the fastest memory where it fits beside those before it; those of 0
 * bytes and those not listed are in memory 0. */
SX_MUST_USE sx_status sx_place_first_fit(const sx_placement_space *space, const size_t *order, size_t n,
                                         uint8_t *placement);

/* The placement of tensors by the time they save per byte and step. */
SX_MUST_USE sx_status sx_place_density(const sx_placement_space *space, uint8_t *placement);

/* --- a placement that changes tensor by tensor (state.c) --- */

typedef struct sx_place_state {
    const sx_placement_space *space;
    uint8_t *memory; /* by tensor */
    uint64_t *bytes; /* by node and memory: transferred */
    uint64_t *time;  /* by node, without waiting for streams */
    uint64_t *use;   /* by memory and step: bytes of outputs that live there; not of memory 0 */
    uint64_t *block; /* by memory and block of steps: the largest of these */
    size_t n_blocks;
    uint64_t peak[SX_MAX_MEMORIES], weights[SX_MAX_MEMORIES];
    uint64_t sum, latency;        /* of the times; with waiting for streams */
    size_t n_streams;             /* that may hide behind other nodes */
    struct sx_place_clock *clock; /* by node, and one before the first; NULL: nothing reads ahead */
    bool clocked;                 /* the clocks are those of the times */
    bool
        sums_only; /* latencies are sums of times, and no use of memories is kept; set before a placement is */
    uint64_t passed; /* nodes whose clocks were computed, in all */
} sx_place_state;

SX_MUST_USE sx_status sx_place_state_init(const sx_placement_space *space, sx_place_state *state);
void sx_place_state_fini(sx_place_state *state);

/* Takes over a whole placement; moves one tensor, in time proportional to the nodes that use it and the steps
 * at which it lives. */
void sx_place_state_set(sx_place_state *state, const uint8_t *placement);
void sx_place_state_move(sx_place_state *state, size_t tensor, size_t memory);

/* Whether everything fits; whether it still did with one tensor elsewhere. */
static inline bool sx_place_state_fits(const sx_place_state *state) {
    for (size_t m = 1; m < state->space->chip.n_memories; m++)
        if (state->peak[m] + state->weights[m] > state->space->chip.memory[m].capacity) return false;
    return true;
}

#endif
