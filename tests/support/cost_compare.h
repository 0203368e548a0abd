/* Comparing costs and verdicts field by field. */
#ifndef SX_TESTS_COST_COMPARE_H
#define SX_TESTS_COST_COMPARE_H

#include "sextant/cost.h"

#include <stddef.h>

/* Whether two costs differ: integers at all, doubles by more than `tolerance` relative to the larger.
 * Describes the first difference. */
bool sx_costs_differ(const sx_cost *a, const sx_cost *b, double tolerance, char *text, size_t size);

/* Whether two verdicts differ in any field. */
bool sx_verdicts_differ(const sx_verdict *a, const sx_verdict *b, char *text, size_t size);

/* Whether two numbers differ by more than `tolerance` relative to the larger. */
bool sx_numbers_differ(double a, double b, double tolerance);

#endif
