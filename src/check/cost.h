/* What one mapping costs, in integers: docs/model.md, sections 1 to 7. */
#ifndef SX_CHECK_COST_H
#define SX_CHECK_COST_H

#include "check/case.h"

typedef enum sx_check_legality {
    SX_COST_LEGAL,
    SX_COST_ILLEGAL,
    SX_COST_UNDECIDED, /* a rule is missing, or a number does not fit: see the doubt */
} sx_check_legality;

typedef struct sx_check_cost {
    sx_wide energy; /* in units of 1 / scale pJ */
    int64_t cycles;
    sx_wide leak; /* energy of every cycle */
    /* The cycles that the model's doubles make of it: what a certificate says. They decide nothing but whether it says so. */
    int64_t said;
    /* The slowest port's words fill its cycles to the last: the model, which divides doubles and then rounds up, may come
     * to one more. */
    bool full;
    /* The least that the model may come to: it counts in doubles, and a count that is cut or rounded where the fractions
     * that make it come to a whole number or a half may be one less there. Mostly the same. */
    sx_wide least_energy;
    int64_t least_cycles;
    /* The energy that goes with `said`: of the counts that the model's own steps in doubles come to. */
    sx_wide said_energy;
    bool open; /* these counts are not known: too many words for doubles, or groups */
} sx_check_cost;

/* Evaluates mappings of one case; one thread's. It remembers how children are grouped, so that mappings that have much in
 * common are evaluated faster one after another. */
typedef struct sx_check_evaluator sx_check_evaluator;
SX_MUST_USE sx_status sx_check_evaluator_new(const sx_check_case *c, SX_OWN sx_check_evaluator **out);
void sx_check_evaluator_free(SX_TAKE sx_check_evaluator *evaluator);

/* The cost of a mapping of the case's problem on its machine, and whether it can run there: factors, mesh, keeping,
 * capacities. Whether it is in the space (limits, banks that bypass, options) is another matter. Where it is illegal or
 * undecided, `doubt` says why. */
sx_check_legality sx_check_evaluator_cost(sx_check_evaluator *evaluator, const sx_mapping *mapping,
                                          sx_check_cost *out, sx_check_doubt *doubt);

/* The same of a single mapping. */
sx_check_legality sx_check_evaluate(const sx_check_case *c, const sx_mapping *mapping, sx_check_cost *out,
                                    sx_check_doubt *doubt);

#endif
