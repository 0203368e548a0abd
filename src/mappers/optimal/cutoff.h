/* Bounds compared with the incumbents of a search. */
#ifndef SX_MAPPERS_OPTIMAL_CUTOFF_H
#define SX_MAPPERS_OPTIMAL_CUTOFF_H

#include "run/incumbent.h"
#include "sextant/navigator.h"

/* The rule by which a search prunes (cutoff.c). One criterion is minimised; where there are several, those
 * before it are held to what they may be. */
typedef struct sx_prune_rule {
    const sx_objective *objective;
    const sx_goal *goal; /* the same for the metrics of points */
    int criterion;
    double least[SX_MAX_CRITERIA]; /* proven optima of the criteria before it */
    double gap;                    /* what is not better by that share need not be visited, */
    double ceiling;                /* nor what is not below this; 0: none */
    unsigned k;                    /* how many of the best are wanted */
    bool front;                    /* and the front of energy and cycles */
    bool tables;                   /* bounds by tables */
    bool latency;                  /* some criterion has the latency of the tile pipeline */
} sx_prune_rule;

/* Whether a criterion cannot fall as energy or cycles grow. */
bool sx_prune_rule_monotone(const sx_prune_rule *rule, int criterion);

/* The least value of the criterion for a bound: -INFINITY where nothing can be said, INFINITY where a
 * criterion before it is beyond what it may be. */
double sx_prune_rule_value(const sx_prune_rule *rule, const sx_score *bound);

/* The cutoff for bounds, given the value of an incumbent. */
double sx_prune_rule_cutoff(const sx_prune_rule *rule, double best);

/* The incumbents as a task knows them, and the cutoff that they give. */
typedef struct sx_cutoff {
    const sx_prune_rule *rule;
    double best, limit; /* the last of the best; what bounds must be below */
    sx_archive kept;    /* the best; with bytes where several are wanted */
    sx_archive front;   /* scores */
    bool found;         /* this task has found kept[0] */
    bool failed;        /* memory is out */
} sx_cutoff;

/* Takes over what a run has found. Freed with sx_cutoff_fini, and may be read again. */
void sx_cutoff_read(sx_cutoff *cutoff, const sx_prune_rule *rule, const sx_run *run);
/* Sets it to what another one says. */
void sx_cutoff_copy(sx_cutoff *cutoff, const sx_cutoff *from);
void sx_cutoff_fini(sx_cutoff *cutoff);

/* Takes in a mapping that was found. */
void sx_cutoff_update(sx_cutoff *cutoff, const sx_score *score, const void *point);

/* Whether the cutoff admits something of that least value, energy and cycles. */
bool sx_cutoff_admits(const sx_cutoff *cutoff, double value, double energy, double cycles);

#endif
