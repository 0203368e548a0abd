/* The independent check of a fused network: cut layers by the checker that shares no rule with the search, the steps of groups by
 * sets of rows, and plans joined from the last step to the first. */
#ifndef SX_SESSION_FUSE_INDEPENDENT_H
#define SX_SESSION_FUSE_INDEPENDENT_H

#include "session/fusing.h"
#include "sextant/independent.h"

typedef struct sx_fuse_alone {
    sx_independent_options options;
    double until;                  /* of sx_clock_seconds; 0: no limit */
    size_t undecided;              /* labels */
    sx_independent_report *report; /* of the whole: sums, and the first claim that fails */
} sx_fuse_alone;

/* Begins a check that holds until something speaks against it. */
void sx_fuse_alone_init(sx_fuse_alone *alone, const sx_independent_options *options,
                        sx_independent_report *report);

/* Checks the certificate of a cut layer; *holds is false where it is undecided or fails. */
SX_MUST_USE sx_status sx_fuse_alone_label(sx_fuse_alone *alone, const char *name,
                                          const sx_certificate *certificate, bool *holds);

/* Counts what a fused mapping that was read costs: how often each layer runs on how many rows, what each run costs, and what is
 * moved; fails where that is not what it says. */
SX_MUST_USE sx_status sx_fuse_alone_cost(sx_fuse_alone *alone, const sx_graph *graph,
                                         const sx_network *network, const sx_arch *arch,
                                         const sx_session_options *session, const sx_fused *fused);

/* A lower bound of the objective for a cut problem: every operation once, and every word of a tensor once, in the outermost
 * memory or, of one that stays, in the exchange memory; no fewer cycles than the ports of these take. */
sx_inner_minimum sx_fuse_alone_minimum;

/* The least weight of any plan by the bounds of its inner optima, from the last step to the first. */
SX_MUST_USE sx_status sx_fuse_alone_join(const sx_plan_space *space, double *out);

/* Notes that a claim is undecided, unless there is a reason already. */
void sx_fuse_alone_doubt(sx_fuse_alone *alone, const char *format, ...) SX_PRINTF(2, 3);

#endif
