/* A fused mapping: a path for each einsum of a cascade, which agree about every tensor that several einsums use.
 * Its cost is the sum of the einsums' costs; what is kept on chip from one einsum to another limits the tiles. */
#ifndef SX_LOOPTREE_FUSED_MAPPING_H
#define SX_LOOPTREE_FUSED_MAPPING_H

#include "looptree/cascade.h"
#include "looptree/looptree.h"

typedef struct sx_fused_mapping {
    size_t n_einsums;
    sx_path *path;
} sx_fused_mapping;

void sx_fused_mapping_fini(sx_fused_mapping *mapping);

typedef enum sx_fused_reason {
    SX_FUSED_OK,
    SX_FUSED_PATH,     /* the path of an einsum is none: see `fault` */
    SX_FUSED_OVERFLOW, /* a count of an einsum is beyond 2^63 */
    SX_FUSED_DISAGREES, /* an einsum has a shared tensor elsewhere or under other loops than the first that uses it */
    SX_FUSED_PASSES,   /* a tensor stays under more loops than an einsum in between can share */
    SX_FUSED_LOOPS,    /* common loops of an einsum and the one before differ */
    SX_FUSED_CAPACITY, /* what is alive while an einsum runs is more than a level has */
} sx_fused_reason;

/* Why a fused mapping cannot run. */
typedef struct sx_fused_verdict {
    sx_fused_reason reason;
    sx_path_fault fault;
    size_t einsum, tensor;      /* of the cascade */
    int index;                  /* of a path's fault: as sx_path_lay_out says; of a capacity: the level */
    uint64_t needed, available; /* bits */
} sx_fused_verdict;

typedef struct sx_fused_cost {
    double energy, latency;
    uint64_t reads[SX_MAX_LEVELS], writes[SX_MAX_LEVELS], peak[SX_MAX_LEVELS]; /* bits */
} sx_fused_cost;

/* What a fused mapping costs by the accounting of LoopTree. An error is only that memory is out; *cost is set
 * where the verdict's reason is SX_FUSED_OK or SX_FUSED_CAPACITY. */
SX_MUST_USE sx_status sx_fused_evaluate(const sx_arch *arch, const sx_cascade *cascade,
                                        const sx_fused_mapping *mapping, sx_fused_cost *cost,
                                        sx_fused_verdict *verdict);

/* Brings loops that have no holder between them into an order in which all einsums agree about their shared
 * tensors, where one is found among the first million tried; else the mapping stays as it is. */
void sx_fused_align(const sx_cascade *cascade, sx_fused_mapping *mapping);

#endif
