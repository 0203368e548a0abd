/* A session: the layers of a network mapped onto one architecture, one after another, identical ones once,
 * each warm started from what was found before. One problem is a network of one layer. */
#ifndef SX_SESSION_H
#define SX_SESSION_H

#include "sextant/network.h"
#include "sextant/outside_evaluator.h"
#include "sextant/run.h"
#include "sextant/store.h"

/* Evaluations of each layer where nothing limits a search, and seconds between two checkpoints unless they are said. */
#define SX_DEFAULT_EVALS 100000
#define SX_CHECKPOINT_SECONDS 5

typedef enum sx_warm { SX_WARM_OFF, SX_WARM_PREVIOUS, SX_WARM_SIMILARITY } sx_warm;

/* The name of a way to begin warm, such as "similarity"; NULL past the last. */
const char *sx_warm_name(sx_warm warm);
/* The way of that name; an error lists the names, beginning with `option`. */
SX_MUST_USE sx_status sx_warm_named(const char *option, const char *name, sx_warm *out);

/* A mapping as a search found it. */
typedef struct sx_answer {
    sx_mapping mapping;
    sx_score score;
    double value;
    uint64_t evaluation; /* the one that found it */
} sx_answer;

/* The best mapping of those whose tiles divide. */
typedef struct sx_dividing {
    double value;       /* of the objective; 0: there is none */
    double lower_bound; /* proven; 0: nothing is */
    bool optimal;       /* proven */
} sx_dividing;

/* What became of a layer. */
typedef struct sx_layer_result {
    size_t same_as; /* the earlier layer that is the same computation and whose result this is; or its own
                       index */
    bool searched;  /* false: a signal or the time limit came first */
    bool found;
    sx_answer best;
    size_t n_best; /* with k_best: all of them, the best first */
    sx_answer *other;
    size_t n_front; /* with pareto: by energy */
    sx_answer *front;
    size_t n_trace;
    sx_trace_point *trace;
    sx_proof *proof;        /* with proof, where something is proven: how the space was closed; or NULL */
    sx_run_summary summary; /* of a layer that was not reached: no evaluations, SX_STOP_SIGNAL */
    double minimum;         /* the algorithmic minimum of the objective */
    int warm_from;          /* the layer that gave the start point; -1: none, -2: the database */
    char warm_name[SX_NAME_SIZE]; /* of the problem that gave it */
    double warm_value;            /* the start point's objective; 0: none */
    char *diagnosis;              /* where nothing was found: why; or NULL */
    bool proven_before;           /* taken from the database, whose run had proven it; nothing was searched */
    double share;    /* of the compute units that tiles which divide can use at the most; 0: not known */
    bool widened;    /* remainders were searched beside tiles that divide; */
    bool remainders; /* they gave the best, and what is proven holds for both; otherwise for tiles that divide
                      */
    sx_dividing dividing; /* where they gave the best: what is known of tiles that divide */
    double
        any_bound; /* where they were searched: no mapping with or without them is below it; 0: not known */
    bool any_optimal; /* and the best is the optimum of these */
} sx_layer_result;

typedef struct sx_session_options {
    const char *mapper; /* "name:key=value,..." */
    const struct sx_navigator
        *navigator;     /* the mapper of that name and these settings, which is the caller's own; NULL: it is
                                             registered */
    sx_run_options run; /* seconds: of all layers, which get equal shares of what is left; the rest of
                           the budget for each layer; starts, checkpoint and resume are the
                           session's own business; user goes to progress */
    sx_map_space_options space;
    bool
        widen; /* after tiles that divide search with remainders, too, and take the better answer: briefly, in what
                   is left of the budget; where tiles that divide must leave more than a quarter of the compute units
                   idle and nothing slides, at length, in the second half of it */
    sx_model_options model;
    sx_outside_evaluator *
        outside; /* what scores mappings, with the objective of sx_outside_evaluator_objective(); NULL: the model. There
                        is no store then */
    sx_warm warm;
    sx_store *store;        /* where answers go to and warm starts come from; may be NULL. An answer that was
                               proven for the same space is taken from it instead of searching again */
    bool again;             /* search also where the store has a proven answer */
    bool once;              /* search every layer once: no rounds for what a limit of time leaves */
    const char *checkpoint; /* a file that keeps the session's state; resumed where it is there. NULL: none */
    /* The constraints for a problem; NULL: none. */
    sx_status (*constraints)(void *user, const sx_problem *problem, const sx_arch *arch, sx_constraints *out);
    /* Told before and after each layer that is searched; may be NULL. */
    void (*layer_begins)(void *user, size_t layer);
    void (*layer_ends)(void *user, size_t layer, const sx_layer_result *result);
    /* Told, once, that the checkpoint cannot be written: the session goes on and tries again later. May be
     * NULL. */
    void (*warn)(void *user, const struct sx_error *error);
    void *user; /* of the four */
} sx_session_options;

/* The mapper "auto" with the run of sx_run_options_init, no warm start, no store and no checkpoint. */
void sx_session_options_init(sx_session_options *options);

typedef struct sx_session_result {
    size_t n_layers;
    sx_layer_result *layer;
    bool complete;  /* every layer was searched (a signal may end a session early) */
    bool found;     /* every layer has an answer */
    bool resumed;   /* began from a checkpoint */
    sx_score total; /* energies and cycles summed over layers and their counts */
    /* With an objective of the network: its value of the total, and what no choice of mappings is below, where tiles divide, or
     * of any tiles if `any_tiles`. Of the layers `best` is the mapping chosen, and `summary.optimal` says that the front of
     * energy and cycles is proven. */
    double network_value, network_bound; /* 0: not known */
    bool any_tiles;
} sx_session_result;

/* Maps every layer. *out is freed with sx_session_result_fini, also after an error, and then holds what was
 * found before. The checkpoint file stays, also once the session is complete: the same session again then
 * gives the same results at once. */
SX_MUST_USE sx_status sx_session_run(const sx_network *network, const sx_arch *arch,
                                     const sx_session_options *options, sx_session_result *out);
void sx_session_result_fini(sx_session_result *result);

/* Removes the checkpoint file of a complete session: call it when everything the session found is written. A
 * file that is not there is no error. */
SX_MUST_USE sx_status sx_session_forget(const char *checkpoint);

/* How many dimensions of two problems differ (Demystifying MSE, section 5.1), or -1 where they are not of one
 * kind: other tensors, other ranks, other dimensions. */
int sx_warm_distance(const sx_problem *a, const sx_problem *b);

/* A mapping of problem `from` made to fit problem `to` of its kind: orders, spatial factors and kept tensors
 * are inherited, tiles scaled (the head of warm.c says how, growing and shrinking). */
void sx_warm_scale(const sx_mapping *mapping, const sx_problem *from, const sx_problem *to, sx_mapping *out);

#endif
