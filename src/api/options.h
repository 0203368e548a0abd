/* The options of models, spaces and searches, as the public API sets them. */
#ifndef SX_API_OPTIONS_H
#define SX_API_OPTIONS_H

#include "sextant/all.h"

struct sx_options {
    uint64_t evals, patience, seed, threads, k_best; /* evals and threads 0: what the command line presets */
    double time, target, checkpoint_seconds;
    bool pareto, proof, again;
    bool remainders, no_remainders, keep_all, no_banks, split_axes;
    bool no_first_read_elision, no_link_transfers;
    char *mapper, *objective, *warm_start, *checkpoint, *sparse_semantics, *like,
        *latency; /* NULL: as preset */
    const sx_cancel *cancel;
    sx_input *input;
    sx_store *store;
    sx_mapping *start; /* n_starts of them */
    size_t n_starts;
    sx_watch *watch;
    void *watch_user;
    sx_objective_function *function; /* the caller's own objective; NULL: `objective` */
    void *function_user;
    char *function_name;
    sx_cost_function *cost; /* the caller's own cost; NULL: the model's */
    void *cost_user;
};

/* Options as the library has them. Texts and functions are borrowed of *options, which may be NULL. */
sx_model_options sx_options_model(const sx_options *options, const sx_problem *problem, const sx_arch *arch);
sx_map_space_options sx_options_space(const sx_options *options);
SX_MUST_USE sx_status sx_options_session(const sx_options *options, sx_session_options *out);

/* Option number `index` and a line about it; NULL past the last. */
const char *sx_options_name(size_t index, const char **about);

/* A total of a score. */
double sx_score_total(const sx_score *score, sx_total total);

#endif
