/* Searches as the studies make them: one layer, one thread, CPU time. */
#ifndef SX_STUDY_SEARCH_H
#define SX_STUDY_SEARCH_H

#include "cases.h"

typedef struct sx_study_search {
    const char *mapper;
    uint64_t evaluations, seed; /* evaluations 0: no limit */
    double seconds;             /* of CPU time, and half of what a clock may show; 0: no limit */
    bool keep_all, no_links;
    unsigned ties; /* how many mappings as good as the best to give, at most; 0: none but the best */
} sx_study_search;

typedef struct sx_study_answer {
    bool found, optimal;
    double edp, minimum; /* the algorithmic minimum */
    double bound;        /* proven lower bound of the EDP; 0: none */
    double seconds;      /* of CPU time, user and system */
    uint64_t evaluations;
    size_t n_ties;
    sx_mapping *ties; /* with ties: the best and all as good, freed by the caller; or NULL */
} sx_study_answer;

/* Searches for the least EDP. Nothing is found where the mapper refuses the space; other errors end the
 * program. */
sx_study_answer sx_study_run(const sx_study_group *group, size_t item, const sx_study_search *search);

/* By how much an answer can be above the optimum, as a share; 0 where it is proven, INFINITY where nothing
 * is. */
double sx_study_gap(const sx_study_answer *answer);

/* The CPU time of this process. */
double sx_study_seconds(void);

/* The middle one of n numbers, which are sorted by it. */
double sx_study_median(double *value, size_t n);

/* A number in a table: three digits or so, empty where it is 0. */
typedef struct sx_study_text {
    char text[32];
} sx_study_text;
sx_study_text sx_study_number(double value);
sx_study_text sx_study_percent(double share);

#endif
