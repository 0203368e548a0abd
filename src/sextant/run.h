/* A run: one search of a space by a navigator, under a budget. */
#ifndef SX_RUN_H
#define SX_RUN_H

#include "sextant/error.h"
#include "sextant/point_model.h"
#include "sextant/proof.h"
#include "sextant/ranks.h"

typedef struct sx_run sx_run;

/* What a progress line is made of. */
typedef struct sx_progress {
    uint64_t evaluations, limit; /* limit 0: none */
    double seconds, seconds_limit;
    double best;  /* the objective's value; INFINITY: nothing yet */
    double first; /* that of the first legal point */
    double bound; /* proven lower bound; 0: none */
    size_t layer; /* of a session, which sets it; else 0 */
} sx_progress;

typedef struct sx_run_options {
    sx_objective objective;
    uint64_t evaluations; /* points given to the model; 0: no limit */
    double seconds;       /* 0: no limit; makes a run impossible to repeat exactly */
    double target;        /* stop at this value of the objective or below; 0: none */
    uint64_t patience;    /* evaluations without improvement after which it stops; 0: never stops */
    uint64_t seed;
    unsigned threads;   /* 0: 1; results do not depend on it */
    unsigned k_best;    /* how many different best points to remember; 0: 1 */
    bool pareto;        /* also remember the front of the model's two front metrics (energy and cycles) */
    bool proof;         /* also remember how the space was closed, where the navigator proves its answer */
    size_t cache;       /* scores to remember, rounded up to a power of two; 0: none. Changes no result */
    const void *starts; /* points to begin with, n_starts of them one after another; may be NULL */
    size_t n_starts;
    const sx_cancel *cancel; /* when it is set: stop with the best so far; may be NULL */
    void (*progress)(void *user, const sx_progress *progress); /* at most ten times a second; may be NULL */
    /* Called with the state of the run, at safe points and about every checkpoint_seconds; may be NULL. */
    sx_status (*checkpoint)(void *user, const void *bytes, size_t size);
    double checkpoint_seconds;
    void *user; /* of both */
    /* Once there is an incumbent, stop after this many seconds at the next safe point, with the state for another run to
     * resume from (sx_run_take_paused); 0: never. Unlike `seconds`, nothing that the search does depends on it. */
    double pause_seconds;
    const void *resume; /* bytes that a checkpoint of the same run wrote; NULL: begin anew */
    size_t resume_size;
    struct sx_warnings *warnings; /* told of a lower bound that is above an answer; may be NULL */
    sx_ranks *ranks; /* processes that divide the work, all of which make this run; NULL: this one alone.
                        Results do not depend on it */
} sx_run_options;

/* A run with nothing chosen: EDP, no limits, seed 0, one thread. */
void sx_run_options_init(sx_run_options *options);

/* A run over a space whose points are scored by a model, NULL: the one that the space comes with. Both must
 * outlive the run; what the options point to must outlive the search. */
SX_MUST_USE sx_status sx_run_new(const sx_space *space, const sx_point_model *model,
                                 const sx_run_options *options, SX_OWN sx_run **out);
void sx_run_free(SX_TAKE sx_run *run);

/* Searches by a navigator, "name" or "name:key=value,key=value". An exhausted budget is no error, and neither
 * is finding nothing; a run searches once. What was found can also be asked for after an error. */
SX_MUST_USE sx_status sx_run_search(sx_run *run, const char *navigator);

/* The state of a run that was paused, for options.resume; NULL where it was not. */
SX_OWN void *sx_run_take_paused(sx_run *run, size_t *size);

/* The same by a navigator of the caller's own, under that name, with settings "key=value,..." (NULL: as
 * preset). The navigator must outlive the search. */
typedef struct sx_navigator sx_navigator;
SX_MUST_USE sx_status sx_run_search_by(sx_run *run, const char *name, const sx_navigator *navigator,
                                       const char *settings);

typedef enum sx_stop {
    SX_STOP_DONE, /* search complete */
    SX_STOP_EVALUATIONS,
    SX_STOP_TIME,
    SX_STOP_TARGET,
    SX_STOP_PATIENCE,
    SX_STOP_SIGNAL,
    SX_STOP_FAILED, /* an error ended it; what was found before stands */
} sx_stop;
const char *sx_stop_name(sx_stop stop);

/* A point with its metrics and the number of the evaluation that found it. */
typedef struct sx_found {
    const void *point;
    sx_metrics metrics; /* of the run's model */
    double value;
    uint64_t evaluation;
} sx_found;

typedef struct sx_trace_point {
    uint64_t evaluations;
    double seconds, value;
} sx_trace_point;

typedef struct sx_run_summary {
    uint64_t evaluations; /* points given to the model */
    uint64_t valid;       /* those that were legal */
    uint64_t rejected;    /* drawn, found illegal and not given to the model */
    uint64_t cache_hits;
    double seconds;
    sx_stop stop;
    bool repeatable;    /* no clock and no signal decided anything */
    double lower_bound; /* proven; 0: nothing is */
    bool optimal;       /* proven */
    bool none;          /* proven: there is no legal point */
    bool drawn;         /* the best is a random draw of a navigator that found no point of its own */
} sx_run_summary;

sx_run_summary sx_run_result(const sx_run *run);
/* Best point number `index` (0 the best), of the front's points number `index` (by its first metric), line
 * `index` of the trace of improvements; false past the last. */
bool sx_run_best(const sx_run *run, size_t index, sx_found *out);
bool sx_run_front(const sx_run *run, size_t index, sx_found *out);
bool sx_run_trace(const sx_run *run, size_t index, sx_trace_point *out);
/* The whole trace, freed with free(); its seconds are 0 unless `clock`. */
SX_MUST_USE sx_status sx_run_copy_trace(const sx_run *run, bool clock, SX_OWN sx_trace_point **out,
                                        size_t *n);
/* Hands over how the space was closed; NULL where it was not asked for, nothing is proven, or it was handed over
 * before. */
SX_OWN sx_proof *sx_run_take_proof(sx_run *run);

/* The navigators: entry `index`, its name and a line about it; NULL past the last. */
const char *sx_navigator_name(size_t index, const char **about);

/* The type of space that a navigator searches, such as "map"; NULL: any. */
const char *sx_navigator_space(const char *navigator);

/* Whether "name:key=value,..." names a navigator that ends by itself, having searched everything; any other needs a
 * limit. */
bool sx_navigator_complete(const char *navigator);

typedef enum sx_setting_kind { SX_SETTING_NUMBER, SX_SETTING_WHOLE, SX_SETTING_TEXT } sx_setting_kind;

/* A setting of a navigator, number `index`; false past the last. */
typedef struct sx_setting_about {
    const char *name, *text, *source; /* source: the paper's value, in words; may be NULL */
    double preset, low, high;         /* of a text: 0; it is preset to "" */
    sx_setting_kind kind;             /* any number, a whole number, or any text */
    const char *const *words; /* the words it may be (its value is their number); NULL: its kind says */
} sx_setting_about;
bool sx_navigator_setting(const char *navigator, size_t index, sx_setting_about *out);

/* The text of a navigator with every setting written out, "name:key=value,..."; freed with sx_free(). An
 * unknown name is answered with the navigators that search spaces of type `space`; NULL: with all. */
SX_MUST_USE sx_status sx_navigator_text(const char *navigator, const char *space, SX_OWN char **out);

#endif
