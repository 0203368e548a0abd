/* The operators of Odyssey's genetic search on points of a systolic space. Their results need not be legal.
 */
#ifndef SX_SYSTOLIC_HYBRID_MOVES_H
#define SX_SYSTOLIC_HYBRID_MOVES_H

#include "systolic/space.h"

typedef struct sx_hybrid_moves {
    const sx_space *space;
    const sx_systolic_space *systolic; /* the same */
    double epsilon;                    /* chance that a mutation is a fresh draw */
    double alpha;                      /* chance that a prime factor is moved, rather than a random part */
    double nudge;                      /* chance that a mutation is a small step instead */
    bool all_loops;                    /* a mutation changes all loops */
    bool as_published;                 /* with the mistakes of the published code */
    bool settle;                       /* tiles that only hide latency are as large as they can be */
    uint64_t *rejected;                /* grows by rejected draws; may be NULL */
} sx_hybrid_moves;

/* Sets second-level tiles that may not be as they are: with `settle` those of loops that are neither space
 * loops nor the SIMD loop, which only hide the latency of adding, become the whole tile; as published, none
 * stays 1 that could be larger. All operators end with it. */
void sx_hybrid_settle(const sx_hybrid_moves *moves, sx_systolic_point *point);

/* A fresh point: any tiles that hide the latency of adding, as far as some tries find them. */
void sx_hybrid_draw(const sx_hybrid_moves *moves, sx_rng *rng, sx_systolic_point *point);

/* Changes a point. */
void sx_hybrid_mutate(const sx_hybrid_moves *moves, sx_rng *rng, sx_systolic_point *point);

/* A child of two: each gene from either. */
void sx_hybrid_cross(const sx_hybrid_moves *moves, sx_rng *rng, const sx_systolic_point *mother,
                     const sx_systolic_point *father, sx_systolic_point *child);

/* Whether two points are arrays of one shape: design, PEs along each side, and lanes. */
bool sx_hybrid_alike(const sx_hybrid_moves *moves, const sx_systolic_point *a, const sx_systolic_point *b);

#endif
