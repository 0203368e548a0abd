/* A network that is fused: what its search, and the evaluation of a given fused mapping, work on. */
#ifndef SX_SESSION_FUSING_H
#define SX_SESSION_FUSING_H

#include "frontend/keys.h"
#include "fuse/plan_search.h"
#include "session/fuse_inner.h"
#include "sextant/fused.h"

typedef struct sx_fusing {
    const sx_session_options *options;
    const sx_session_result *unfused; /* NULL: a given mapping is evaluated */
    sx_fuse_searcher searcher;
    sx_exchange exchange;
    sx_inner inner;
    size_t best_order; /* of the answer: its number among the orders */
    sx_plan_answer answer;
    sx_vector groups; /* sx_fuse_group */
    sx_vector
        orders;  /* in which the nodes may run (fuse/order.h), the graph's own first; empty: that alone */
    double late; /* of sx_clock_seconds: when no bounds of all plans are looked for any more; 0: never */
    double (*bytes)
        [SX_MAX_TENSORS]; /* by layer of the network: to and from the outermost memory, unfused; NULL: unknown */
    size_t *order;        /* of each step: its number among the layers */
} sx_fusing;

/* Finds the exchange memory (NULL: the level inside the outermost) and what may stay there, the nodes running in `order` (NULL:
 * the graph's own). */
SX_MUST_USE sx_status sx_fusing_init(sx_fusing *fusing, const sx_graph *graph, const sx_network *network,
                                     const char *exchange, const size_t *order);

/* The same as options ask for; *chosen: what stays is searched. An error where what was asked to stay cannot. */
SX_MUST_USE sx_status sx_fusing_prepare(sx_fusing *fusing, const sx_graph *graph, const sx_network *network,
                                        const sx_fusing_options *options, bool *chosen);

/* Goes on with another of the orders: what may stay, and the groups, are found anew. */
SX_MUST_USE sx_status sx_fusing_set_order(sx_fusing *fusing, const sx_fusing_options *options, size_t order);

/* Lists the groups that plans may have. */
SX_MUST_USE sx_status sx_fusing_list_groups(sx_fusing *fusing, const sx_fusing_options *options);
void sx_fusing_fini(sx_fusing *fusing);

/* Sets the names and sizes of the exchange memories. */
void sx_fused_set_memories(const sx_fusing *fusing, sx_fused *out);

/* Sets the layers in order, without their figures; fusing->order is theirs. */
SX_MUST_USE sx_status sx_fused_set_layers(sx_fusing *fusing, sx_fused *out);

/* Adds a run; its mapping, bound and occupied words come from the caller. */
SX_MUST_USE sx_status sx_fused_add_run(const sx_fusing *fusing, const sx_group_run *run, const sx_cut *cut,
                                       sx_fused *out, sx_fused_run **added);

/* How the layer of a run is cut; without sums that are found. */
sx_cut sx_fused_run_cut(const sx_fused_run *run);

/* Makes the figures of a plan whose runs are set. Where a run is illegal out->illegal says why. */
SX_MUST_USE sx_status sx_fused_set_figures(const sx_fusing *fusing, sx_fused *out);

/* Whether a bound was above a value: nothing is proven of the network then. */
bool sx_fusing_refuted(const sx_fusing *fusing);

/* Refuses what a certificate of a fused network cannot state. */
SX_MUST_USE sx_status sx_fused_certifiable(const sx_fusing *fusing);

/* Makes the certificate of a fused network that was found, out->certificate. */
SX_MUST_USE sx_status sx_fused_certify(const sx_fusing *fusing, const sx_fusing_options *options,
                                       sx_fused *out);

/* The keys of a fused mapping. */
extern const sx_keys sx_keys_fused, sx_keys_fused_group, sx_keys_fused_tensor, sx_keys_fused_loop,
    sx_keys_fused_run;

#endif
