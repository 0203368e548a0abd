/* `sextant compare`: every mapper on every problem with every seed, and what comes of it. */
#ifndef SX_REPORT_COMPARE_H
#define SX_REPORT_COMPARE_H

#include "base/text.h"
#include "report/statistics.h"
#include "sextant/network.h"
#include "sextant/run.h"

/* One run. */
typedef struct sx_compare_run {
    size_t problem, mapper;
    uint64_t seed;
    bool found;
    sx_score score; /* of the best, where found */
    double value;   /* of the objective */
    sx_run_summary summary;
    size_t n_trace;
    sx_trace_point *trace;
} sx_compare_run;

typedef struct sx_comparison {
    sx_arch arch;
    sx_network problems; /* each computation once */
    bool algorithmic;    /* minima are Mind Mappings' */
    double *minimum;     /* the compulsory (or algorithmic) minimum of the objective, for each problem */
    size_t n_mappers, n_seeds;
    char **mapper;   /* as given */
    char **settings; /* with every setting */
    uint64_t *seed;
    char objective[256];
    const char *energies; /* where they come from */
    sx_run_options options;
    bool clock;    /* times are part of the answer */
    bool complete; /* no run is missing, or cut short, because of Ctrl-C */
    size_t n_runs;
    sx_compare_run *run; /* those that were done: problem by problem, mapper by mapper, seed by seed */
} sx_comparison;

/* What became of a mapper on a problem. */
typedef struct sx_compare_summary {
    size_t runs;
    sx_statistics value;        /* over the runs that found something */
    double normalised;          /* the geometric mean (or the mean) over the minimum; NAN: no such thing */
    double evaluations;         /* mean */
    double seconds, per_second; /* mean time, evaluations per second over all runs */
} sx_compare_summary;

/* The runs of a mapper on a problem: the first one, *n of them. One that was cut short, if any, is the last
 * of all and not counted. */
const sx_compare_run *sx_compare_runs(const sx_comparison *c, size_t problem, size_t mapper, size_t *n);
SX_MUST_USE sx_status sx_compare_summarise(const sx_comparison *c, size_t problem, size_t mapper,
                                           sx_compare_summary *out);

/* Adds the comparison for a person, as JSON, and with a line of CSV per run. */
SX_MUST_USE sx_status sx_compare_print(const sx_comparison *c, sx_text *out);
SX_MUST_USE sx_status sx_compare_json(const sx_comparison *c, sx_text *out);
void sx_compare_csv(const sx_comparison *c, sx_text *out);

/* Writes the convergence curves over evaluations or seconds: to the file, or with several problems to a file
 * each, its name before the ending followed by the problem's. */
SX_MUST_USE sx_status sx_compare_svg(const sx_comparison *c, bool by_time, const char *path);

#endif
