/* Cases of the independent checker, and its costs beside the model's. */
#ifndef SX_TESTS_CHECK_CASE_H
#define SX_TESTS_CHECK_CASE_H

#include "check/cost.h"
#include "sextant/model.h"

/* The case of a problem on an architecture, through the text of a certificate, and an evaluator of it. */
typedef struct sx_checked_case {
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_check_case *c;
    sx_check_evaluator *checker;
    sx_check_doubt doubt; /* of its reader */
} sx_checked_case;

void sx_checked_case_init(const sx_problem *problem, const sx_arch *arch, const sx_model_options *options,
                          SX_OWN sx_checked_case *out);
void sx_checked_case_fini(sx_checked_case *checked);

typedef enum sx_cost_comparison {
    SX_COSTS_SAME,
    SX_COSTS_ROUNDED, /* but for a cycle that the model has more, as it divides doubles */
    SX_COSTS_ILLEGAL, /* for both */
    SX_COSTS_OPEN,    /* the checker does not decide */
    SX_COSTS_DIFFER,
} sx_cost_comparison;

/* Compares both costs of a mapping: legality, cycles, the energy without rounding where the model's counts say it, and
 * the energy within 1e-12. `why` says what differs or is not decided. */
sx_cost_comparison sx_compare_checked_cost(sx_checked_case *checked, const sx_mapping *mapping,
                                           char why[512]);

#endif
