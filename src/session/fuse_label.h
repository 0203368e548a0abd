/* Labels of a fused network: cut layers with the certificates of their lower bounds. */
#ifndef SX_SESSION_FUSE_LABEL_H
#define SX_SESSION_FUSE_LABEL_H

#include "session/fusing.h"

typedef struct sx_fuse_label {
    sx_problem problem; /* without its name */
    sx_cut cut;
    double bound;
    bool alone; /* the independent check holds */
} sx_fuse_label;

/* The least weight of any plan, by the labels' bounds and, for all others, by compulsory minima; *n_groups is how many
 * groups plans may have. `alone`: by labels that hold independently, and by the join and the minima of the independent check. */
SX_MUST_USE sx_status sx_fuse_label_bound(const sx_graph *graph, const sx_network *network,
                                          const sx_arch *arch, const sx_session_options *session,
                                          const sx_fusing_options *options, const sx_fuse_label *label,
                                          size_t n, bool alone, double *out, size_t *n_groups);

#endif
