/* The best fused mapping of a cascade by the accounting of LoopTree, proven by complete search: tiles that divide, no
 * value computed twice, tensors exchanged in the outermost memory or in the one below it. */
#ifndef SX_LOOPTREE_FUSE_SEARCH_H
#define SX_LOOPTREE_FUSE_SEARCH_H

#include "looptree/fused_mapping.h"
#include "looptree/join.h"

typedef struct sx_fuse_options {
    sx_fuse_objective objective;
    bool unfused;      /* everything is exchanged in the outermost memory */
    int loops_per_dim; /* that einsums share, of one dimension; 0: 1 */
    const uint32_t (
        *keep)[SX_MAX_FUSED_LEVELS]; /* by einsum: tensors that levels below the exchange memory may keep;
                                                NULL: all */
} sx_fuse_options;

typedef struct sx_fuse_answer {
    bool found; /* else no mapping fits */
    double value, energy, latency;
    sx_fused_mapping mapping; /* freed by the caller (sx_fused_mapping_fini) */
    uint64_t labels, joined, states;
} sx_fuse_answer;

/* An error where the architecture has fewer than two or more than SX_MAX_FUSED_LEVELS levels, or memory is out. */
SX_MUST_USE sx_status sx_fuse_search(const sx_arch *arch, const sx_cascade *cascade,
                                     const sx_fuse_options *options, sx_fuse_answer *answer);

#endif
