/* What a search minimises. */
#ifndef SX_OBJECTIVE_H
#define SX_OBJECTIVE_H

#include "sextant/cost.h"
#include "sextant/search.h"

#include <stddef.h>

#define SX_MAX_CRITERIA 4
#define SX_MAX_METRICS 8
#define SX_TERMS_SIZE 80

/* What a model measures of a point: a number for each of its metrics, in its order; the rest are 0. */
typedef struct sx_metrics {
    double value[SX_MAX_METRICS];
} sx_metrics;

/* A metric of a model. */
typedef struct sx_metric_about {
    const char *name; /* such as "energy_pj" */
    const char *unit; /* such as "pJ"; "": none */
    const char *word; /* what objectives call it besides: "energy", "delay", "last-level" or "utilization"; or
                         NULL */
} sx_metric_about;

/* The metrics of a mapping, five of them, in the order of the fields of sx_score; and between the two. */
const sx_metric_about *sx_mapping_metrics(size_t *n);
sx_metrics sx_score_metrics(const sx_score *score);
sx_score sx_metrics_score(const sx_metrics *metrics);

typedef enum sx_criterion_kind {
    SX_PRODUCT, /* energy^energy_power * delay^delay_power */
    SX_LAST_LEVEL,
    SX_UTILIZATION, /* maximised */
    SX_LATENCY,     /* energy^energy_power * latency^delay_power */
    SX_TERMS,       /* a product of any metrics of a model: the objective's `terms` */
    SX_FUNCTION,    /* the objective's function; of one criterion only */
} sx_criterion_kind;

typedef struct sx_criterion {
    sx_criterion_kind kind;
    double energy_power, delay_power;
} sx_criterion;

/* Criteria in order of weight: a later one decides only where all earlier ones are within `tolerance`
 * (relative) of each other. */
typedef struct sx_objective {
    uint8_t n_criteria;
    double tolerance;
    sx_criterion criterion[SX_MAX_CRITERIA];
    char terms[SX_MAX_CRITERIA][SX_TERMS_SIZE]; /* of SX_TERMS: "area*latency^2"; with a minus before it, the
                                                   larger the better */
    double (*function)(void *user, const sx_metrics *metrics); /* of SX_FUNCTION; smaller is better */
    void *user;                                                /* of the function */
    const char *name; /* of the function, for people and checkpoints */
    bool network; /* of energies and cycles summed over a network, not of each layer; one SX_PRODUCT. Sessions
                         take it, runs do not */
} sx_objective;

/* Objective number `index` and a line about it; NULL past the last. */
const char *sx_objective_name(size_t index, const char **about);

/* Reads a name of sx_objective_name, a product such as "e^2*d", or a list of them with commas. */
SX_MUST_USE sx_status sx_objective_parse(const char *text, sx_objective *out);
/* The same for a model: besides, products of its metrics by name, such as "area*latency^2"; with a minus
 * before it, the larger the better. */
SX_MUST_USE sx_status sx_objective_parse_metrics(const char *text, const sx_metric_about *metrics, size_t n,
                                                 sx_objective *out);
/* Writes what sx_objective_parse reads back. */
void sx_objective_text(const sx_objective *objective, char *text, size_t size);

/* One criterion's value for a mapping; smaller is better. Not for SX_TERMS and SX_FUNCTION, which an
 * objective has by itself. */
double sx_criterion_value(const sx_criterion *criterion, const sx_score *score);
/* The first criterion's value for a mapping; NAN where the objective names metrics that a mapping has not. */
double sx_objective_value(const sx_objective *objective, const sx_score *score);
/* Negative when a is better than b, 0 when neither is. */
int sx_objective_compare(const sx_objective *objective, const sx_score *a, const sx_score *b);

/* An objective bound to the metrics of a model: what searches compute with. */
typedef struct sx_goal sx_goal;

/* The first criterion's value; smaller is better. */
double sx_goal_value(const sx_goal *goal, const sx_metrics *metrics);
/* Negative when a is better than b, 0 when neither is. */
int sx_goal_compare(const sx_goal *goal, const sx_metrics *a, const sx_metrics *b);
/* What it was made of. */
const sx_objective *sx_goal_objective(const sx_goal *goal);

#endif
