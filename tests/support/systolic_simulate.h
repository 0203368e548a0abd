/* A run of a design, tile by tile: what moves is counted where it moves. */
#ifndef SX_TESTS_SYSTOLIC_SIMULATE_H
#define SX_TESTS_SYSTOLIC_SIMULATE_H

#include "systolic/plan.h"

/* What one way of an array of numbers, in or out, saw. */
typedef struct sx_systolic_traffic {
    uint64_t moves;  /* of tiles */
    uint64_t packs;  /* transfers between the buffers and the level above, one chain after another */
    uint64_t passed; /* the same through each level above the buffers */
    uint64_t rows;   /* of tiles, read from memory or written to it */
    uint64_t beats;  /* of the port for these rows, each row by itself */
    uint64_t words;  /* off the chip, those that only fill a pack too */
    uint64_t at_pes; /* cycles in which the buffers serve the PEs, or words that they pass on */
} sx_systolic_traffic;

typedef struct sx_systolic_counts {
    uint64_t passes; /* of the PEs over tiles */
    uint64_t cycles; /* of the PEs */
    sx_systolic_traffic in[SX_N_OPERANDS], out;
} sx_systolic_counts;

/* Counts a run of tiles that break no rule; an error where it has more than 2^24 passes. */
SX_MUST_USE sx_status sx_systolic_simulate(const sx_systolic_kernel *kernel, const sx_systolic_design *design,
                                           const sx_systolic_limits *limits, const sx_systolic_point *point,
                                           sx_systolic_counts *out);

#endif
