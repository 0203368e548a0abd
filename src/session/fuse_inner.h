/* Inner optima of a fused network, searched by the mapper of a session. */
#ifndef SX_SESSION_FUSE_INNER_H
#define SX_SESSION_FUSE_INNER_H

#include "fuse/inner.h"
#include "session/fuse_checkpoint.h"
#include "sextant/fused.h"

typedef struct sx_fuse_searcher {
    const sx_arch *arch;
    int exchange, second; /* second: -1: there is none */
    const sx_session_options *options;
    double until;       /* of sx_clock_seconds; 0: no limit */
    uint64_t steps;     /* at most; layers are counted by execution; 0: by the model */
    sx_fuse_memo *memo; /* of answers; NULL: none is kept */
    bool polish;        /* short searches find good mappings */
} sx_fuse_searcher;

/* The functions of sx_inner, whose user is a sx_fuse_searcher. */
sx_inner_search sx_fuse_search_inner;
sx_inner_minimum sx_fuse_inner_minimum;
sx_inner_least sx_fuse_inner_least;
sx_inner_search_power sx_fuse_search_power;
sx_inner_relax sx_fuse_inner_relax;

/* Energy and cycles that no mapping of a layer is below, wherever its tensors are. Parts that compute it
 * together take no less in all. */
SX_MUST_USE sx_status sx_fuse_least_anywhere(const sx_fuse_searcher *searcher, const sx_problem *problem,
                                             sx_score *out);

/* Whether mappings of a layer are constrained. */
SX_MUST_USE sx_status sx_fuse_constrained(const sx_fuse_searcher *searcher, const sx_network *network,
                                          bool *out);

/* Evaluates a mapping of a cut layer: its score, the words of both exchange memories that its tiles take, and the bytes
 * to and from the outermost memory by tensor; each may be NULL. `illegal` gets why the mapping is none, or stays as it is;
 * NULL: that is an error. */
SX_MUST_USE sx_status sx_fuse_evaluate(const sx_fuse_searcher *searcher, const sx_problem *problem,
                                       const sx_cut *cut, const sx_mapping *mapping, sx_score *score,
                                       uint64_t used[2], double bytes[SX_MAX_TENSORS],
                                       char illegal[SX_WHY_SIZE]);

/* The certificate of a result of a cut layer that has a proof; the text is freed with free(). */
SX_MUST_USE sx_status sx_fuse_proof(const sx_fuse_searcher *searcher, const sx_problem *problem,
                                    const sx_cut *cut, const sx_layer_result *result, SX_OWN char **out);

#endif
