/* Bounds held against the incumbents of a search. */
#ifndef SX_MAPPERS_OPTIMAL_JUDGE_H
#define SX_MAPPERS_OPTIMAL_JUDGE_H

#include "run/incumbent.h"
#include "sextant/navigator.h"

/* How a search judges bounds (judge.c). One criterion is minimised; where there are several, those
 * before it are held to what they may be. */
typedef struct sx_judge {
    const sx_objective *objective;
    const sx_goal *goal; /* the same for the metrics of points */
    int criterion;
    double least[SX_MAX_CRITERIA]; /* proven optima of the criteria before it */
    double gap;                    /* what is not better by that share need not be looked at */
    unsigned k;                    /* so many best are wanted */
    bool front;                    /* and the front of energy and cycles */
    bool tables;                   /* bounds by tables */
} sx_judge;

/* Whether a criterion cannot fall as energy or cycles grow. */
bool sx_judge_sound(const sx_judge *judge, int criterion);

/* The least value of the criterion for a bound: -INFINITY where nothing can be said, INFINITY where a
 * criterion before it is beyond what it may be. */
double sx_judge_value(const sx_judge *judge, const sx_score *bound);

/* The value below which bounds leave hope beside a value that is there. */
double sx_judge_limit(const sx_judge *judge, double best);

/* What is known to be there, as a task sees it. */
typedef struct sx_hope {
    const sx_judge *judge;
    double best, limit; /* the last of the best; what bounds must be below */
    sx_archive kept;    /* the best; with bytes where several are wanted */
    sx_archive front;   /* scores */
    bool found;         /* this task has found kept[0] */
    bool failed;        /* memory is out */
} sx_hope;

/* Takes over what a run has found. Freed with sx_hope_fini, and may be read again. */
void sx_hope_read(sx_hope *hope, const sx_judge *judge, const sx_run *run);
/* Sets it to what another one says. */
void sx_hope_copy(sx_hope *hope, const sx_hope *from);
void sx_hope_fini(sx_hope *hope);

/* Takes in a mapping that was found. */
void sx_hope_learn(sx_hope *hope, const sx_score *score, const void *point);

/* Whether something of that least value, energy and cycles may be worth a look. */
bool sx_hope_open(const sx_hope *hope, double value, double energy, double cycles);

#endif
