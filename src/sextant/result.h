/* A result: what a session found, with all that it was made from. */
#ifndef SX_RESULT_H
#define SX_RESULT_H

#include "sextant/certificate.h"
#include "sextant/fused.h"
#include "sextant/search.h"
#include "sextant/session.h"
#include "sextant/timing.h"
#include "sextant/warnings.h"

/* Below this share of compute units in use a result says that tiles which divide cannot use more. */
#define SX_IDLE_SHARE 0.75

/* How a run of a network is served. */
typedef struct sx_served {
    unsigned chips;       /* among which every layer is divided; 0: 1 */
    unsigned stages;      /* groups of layers, each on chips of its own; 0: 1 */
    bool by_experts;      /* experts are divided among chips whole, not by columns and rows */
    bool fused_attention; /* scores, softmax and context are timed as one operator */
} sx_served;

typedef struct sx_result {
    sx_network network; /* the problems */
    sx_arch arch;
    sx_session_options options; /* of the search. A result that was read has those that repeat it: no
                                   callbacks, no files, no database */
    sx_session_result session;  /* of each layer: mappings with their scores, trace, bounds and proof */
    char *mapper;               /* with every setting */
    char objective[256];        /* as text */
    char *version;              /* of the library that searched; NULL: of this one */
    char *problem;              /* what the problem was asked for by; may be NULL */
    char *energies;             /* where they come from; may be NULL */
    char *evaluator;            /* the command of an outside evaluator that scored; NULL: the model did */
    sx_outside_evaluator_account judged; /* what happened with it */
    uint32_t batch;                      /* of a network of the catalog */
    bool training, training_step;
    sx_warnings *warnings; /* about the inputs and the search, owned; may be NULL */
    sx_fused *fused;       /* the network fused, owned; NULL: it was not asked for */
    sx_timing *timing;     /* of a real machine, owned; NULL: the architecture has none */
    sx_graph *graph; /* the run of the network, owned; NULL: it is none, or there is no vector unit either */
    sx_graph *then;  /* the run after it, of --phase both, owned; NULL: there is none */
    sx_served served;
} sx_result;

/* The objective summed over layers and their counts, and what is proven of the sum; an objective of the network: its value. */
typedef struct sx_result_sum {
    double value;       /* 0: a layer has no mapping, or there are several criteria */
    double lower_bound; /* 0: not known of every layer */
    double proven;      /* of the value: what layers that are proven optimal have of it */
} sx_result_sum;
sx_result_sum sx_result_summed(const sx_result *result);

/* A result without layers, with the options of sx_run_options_init. */
SX_MUST_USE sx_status sx_result_new(SX_OWN sx_result **out);

/* The space in which a layer's result is the best. */
typedef struct sx_certified_space {
    const sx_problem *problem;
    const sx_arch *arch;
    const sx_constraints *constraints;
    const sx_session_options *options;
    const char *mapper, *version; /* NULL: not said, this one */
} sx_certified_space;

/* Makes the certificate of a result that has a proof; it is freed with sx_certificate_free. */
SX_MUST_USE sx_status sx_layer_certificate(const sx_layer_result *result, const sx_certified_space *of,
                                           SX_OWN sx_certificate **out);

/* Makes the certificate of a layer, which was searched under these constraints; it is freed with
 * sx_certificate_free. An error where the layer's result has no proof (sx_run_options: proof), or is one that
 * certificates do not cover: remainders, several criteria. */
SX_MUST_USE sx_status sx_result_certificate(const sx_result *result, size_t layer,
                                            const sx_constraints *constraints, SX_OWN sx_certificate **out);

#endif
