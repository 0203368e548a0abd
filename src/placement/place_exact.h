/* The branch and bound of place_exact: its nodes, their bounds (place_exact_bounds.c) and ranges of peaks
 * (place_exact_ranges.c). */
#ifndef SX_PLACEMENT_PLACE_EXACT_H
#define SX_PLACEMENT_PLACE_EXACT_H

#include "placement/relax.h"
#include "run/navigator.h"

/* What is remembered between safe points; open nodes follow. */
typedef struct sx_place_exact_state {
    uint64_t begun;   /* phases that are done: start points, rules */
    uint64_t n_open;  /* open nodes, the next one last */
    uint64_t visited; /* nodes */
    uint64_t steps;   /* of bounds and descents, the effort so far */
    uint64_t best;    /* latency of the incumbent, UINT64_MAX: none */
    uint64_t labels;  /* the most labels of one dynamic program */
} sx_place_exact_state;

/* An open node; its ranges of peaks, the multipliers and the masks of all tensors follow. */
typedef struct sx_place_exact_node {
    double bound;
    uint64_t ranged; /* the peaks of outputs have ranges, and multipliers are of weights alone */
} sx_place_exact_node;

typedef struct sx_place_exact {
    sx_run *run;
    const sx_placement_space *space;
    sx_place_relax relax;
    sx_place_state work;
    sx_place_exact_state *s;
    size_t n_lambda, node_size;
    bool ranged;                                          /* of the node at hand, as all that follows */
    uint64_t low[SX_MAX_MEMORIES], high[SX_MAX_MEMORIES]; /* by memory: the range of the peak of outputs */
    double *lambda, *trial, *slope, *unit; /* of memory 0: shares of streams, which have no multipliers */
    double *shares;                        /* by node */
    uint16_t *allowed;
    uint8_t *relaxed, *scratch, *rectified;
    uint64_t *use; /* by memory and step: of fixed tensors, or of a placement */
    bool latency_only;
    double tolerance;
} sx_place_exact;

/* The bound from which on a node holds nothing better than the incumbent. */
double sx_place_exact_cutoff(const sx_place_exact *x);

/* Whether the effort is used up. */
bool sx_place_exact_spent(const sx_place_exact *x);

/* Evaluates a placement that fits, with addresses where these are demanded, where it is faster than the incumbent, or
 * anyway. */
void sx_place_exact_offer(sx_place_exact *x, const uint8_t *placement, bool anyway);

/* Open node number i of the stack, its multipliers and masks. */
sx_place_exact_node *sx_place_exact_open(const sx_place_exact *x, size_t i);
double *sx_place_exact_open_lambda(const sx_place_exact *x, sx_place_exact_node *node);
uint16_t *sx_place_exact_open_allowed(const sx_place_exact *x, sx_place_exact_node *node);

/* Puts the node at hand on the stack, with another mask of a tensor (n_tensors: of none); false when memory is out. */
bool sx_place_exact_push(sx_place_exact *x, double bound, size_t tensor, uint16_t mask);

/* --- bounds of the node at hand (place_exact_bounds.c) --- */

/* Improves the multipliers; the bound. Stops early where it closes the node. */
double sx_place_exact_ascend(sx_place_exact *x, bool root);

/* Where weights are read ahead: the latency with the tensors that are fixed alone; nothing that is added, faster or
 * slower, makes any node end earlier. 0 where nothing is read ahead. */
double sx_place_exact_fixed_bound(const sx_place_exact *x);

/* Removes memories where fixed tensors leave no room; false where a tensor has none left. */
bool sx_place_exact_fit(sx_place_exact *x);

/* Removes memories that are part of nothing better than the incumbent; how many were, or -1 where a tensor has
 * none left. */
long sx_place_exact_fix(sx_place_exact *x);

/* Adds a tensor to the use of its memory. */
void sx_place_exact_add_use(sx_place_exact *x, size_t tensor, size_t memory);

/* --- ranges of peaks (place_exact_ranges.c) --- */

/* Replaces all open nodes by one with ranges; false when memory is out. */
bool sx_place_exact_begin_ranges(sx_place_exact *x);

/* Sets the limits of the node at hand. */
void sx_place_exact_set_limits(sx_place_exact *x);

/* Tries to solve the node at hand, which has ranges, by labels: *open becomes false where that closes it. Where it
 * does not, and ranges can be split, their halves are put on the stack and *split becomes true. */
SX_MUST_USE sx_status sx_place_exact_solve_ranges(sx_place_exact *x, double bound, bool *open, bool *split);

#endif
