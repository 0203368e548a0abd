/* The best placement with outputs within limits and weights within rooms of their own, by dynamic programming with
 * labels: what the nodes so far can cost with how many bytes of weights in each memory. A label that another one of
 * the same state dominates is dropped, and so is one whose relaxed rest does not come below the cutoff. Nodes with
 * equal weights lead to the same labels, so that their symmetry costs nothing. */
#ifndef SX_PLACEMENT_LABELS_H
#define SX_PLACEMENT_LABELS_H

#include "placement/relax.h"

typedef enum sx_labels_end {
    SX_LABELS_NONE,    /* no placement costs at most the cutoff */
    SX_LABELS_FOUND,   /* the best placement is found; it may yet cost more than the cutoff */
    SX_LABELS_LIMIT,   /* there were too many labels */
    SX_LABELS_STOPPED, /* by the caller */
} sx_labels_end;

typedef struct sx_labels_options {
    const uint16_t *allowed;        /* by tensor */
    const double *lambda;           /* by memory: multipliers of weights */
    const uint64_t *room;           /* by memory: bytes of weights */
    double cutoff;                  /* femtoseconds: what costs more is not looked for */
    uint64_t most;                  /* labels */
    bool (*stop)(const void *user); /* asked at every node */
    const void *user;
} sx_labels_options;

typedef struct sx_labels_result {
    sx_labels_end end;
    uint64_t latency; /* of what was found; femtoseconds */
    uint64_t steps;   /* of the search: labels that were looked at */
} sx_labels_result;

/* Searches within the limits that `relax`, which must be complete, has at present; the bound there is computed anew. */
SX_MUST_USE sx_status sx_place_labels(sx_place_relax *relax, const sx_labels_options *options,
                                      uint8_t *placement, sx_labels_result *out);

#endif
