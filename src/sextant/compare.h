/* A comparison: several navigators on several spaces with several seeds, all under the same budget. Any space
 * with any model can be compared on; all of them must measure the same metrics. */
#ifndef SX_COMPARE_H
#define SX_COMPARE_H

#include "sextant/run.h"

/* A space to search, with the model of its points. */
typedef struct sx_compare_space {
    const sx_space *space;
    const sx_point_model *model; /* NULL: the one that the space comes with */
    double minimum;              /* a value of the objective that no point is below; 0: not known */
    double bound;                /* likewise, proven by a search of the space; 0: not known */
    bool optimal;                /* that is the optimum */
} sx_compare_space;

typedef struct sx_comparison sx_comparison;

typedef struct sx_comparison_options {
    size_t n_problems, n_navigators, n_seeds;
    const char *const *problem;   /* names, one for each space */
    const char *const *navigator; /* "name:key=value,..." */
    const char *const *label;     /* names of the navigators in answers; NULL: their texts */
    const uint64_t *seed;
    sx_run_options run; /* the objective, and the budget of each run; the seed is not used */
    bool no_clock;      /* all times are 0, so that equal comparisons are equal */
    /* Makes the space of a problem before its runs, and frees it after them. `open` also has to free what it
     * made where it fails. */
    sx_status (*open)(void *user, size_t problem, sx_compare_space *out);
    void (*close)(void *user, size_t problem, sx_compare_space *space); /* may be NULL */
    /* Called before each run, which is number n_runs of the comparison; may be NULL. */
    void (*begins)(void *user, const sx_comparison *comparison, size_t problem, size_t navigator,
                   uint64_t seed);
    /* Called where a navigator refuses a problem (an error of usage or of limits), which then has no runs of it; NULL:
     * the comparison ends with the error. */
    void (*refused)(void *user, const sx_comparison *comparison, size_t problem, size_t navigator,
                    sx_status why);
    void *user; /* of the four */
} sx_comparison_options;

/* One run. */
typedef struct sx_compare_run {
    size_t problem, navigator;
    uint64_t seed;
    bool found;
    sx_metrics metrics; /* of the best point, where found */
    double value;       /* of the objective */
    sx_run_summary summary;
    size_t n_trace;
    sx_trace_point *trace;
} sx_compare_run;

typedef struct sx_compare_problem {
    char *name;
    double minimum;  /* as the space was given with */
    double bound;    /* likewise; else the best proven by a run; 0: not known */
    bool optimal;    /* that is the optimum */
    char *diagnosis; /* where no run found a legal point: why; or NULL */
    bool none;       /* proven: there is no legal point */
} sx_compare_problem;

/* The runs of a comparison, with all that they were made from. */
struct sx_comparison {
    char *model; /* the type of model, such as "map" */
    size_t n_metrics;
    char *metric[SX_MAX_METRICS]; /* names of its metrics */
    size_t n_problems, n_navigators, n_seeds;
    sx_compare_problem *problem;
    char **label, **settings; /* of the navigators; settings: with every setting written out */
    uint64_t *seed;
    char objective[256];
    uint64_t evaluations; /* the budget of each run; 0: no limit */
    double seconds;       /* likewise */
    bool clock;           /* times are part of the answer */
    bool complete;        /* no run is missing, or cut short, because of a cancel */
    size_t n_refused;     /* runs that navigators refused */
    size_t n_runs;
    sx_compare_run *run; /* those that were done: by problem, then by navigator, then by seed */
};

/* Runs every navigator on every problem with every seed. A cancel ends the comparison after the run under
 * way, which has the stop SX_STOP_SIGNAL. *out is freed with sx_comparison_free. */
SX_MUST_USE sx_status sx_comparison_run(const sx_comparison_options *options, SX_OWN sx_comparison **out);
void sx_comparison_free(SX_TAKE sx_comparison *comparison);

/* How many runs a complete comparison has. */
size_t sx_comparison_total(const sx_comparison *comparison);

/* The runs of a navigator on a problem: the first one, *n of them. One that was cut short is not counted. */
const sx_compare_run *sx_comparison_runs(const sx_comparison *comparison, size_t problem, size_t navigator,
                                         size_t *n);

/* Statistics of the runs of a navigator on a problem; those that do not exist are NAN. */
typedef struct sx_compare_summary {
    size_t runs, found;
    /* of the values of the runs that found a point: deviation of a sample, geometric mean of positive values
     */
    double mean, deviation, median, geomean, best, worst;
    double normalised;  /* geometric mean (or mean) over the problem's reference */
    double evaluations; /* mean */
    double seconds;     /* mean */
    double per_second;  /* evaluations per second over all runs */
} sx_compare_summary;
SX_MUST_USE sx_status sx_comparison_summary(const sx_comparison *comparison, size_t problem, size_t navigator,
                                            sx_compare_summary *out);

/* The value that those of a problem are normalised by: its minimum or, where no minimum is known for any
 * problem, the best that any run found; NAN where there is neither. */
double sx_comparison_reference(const sx_comparison *comparison, size_t problem);
/* Whether references are minima. */
bool sx_comparison_has_minima(const sx_comparison *comparison);

#endif
