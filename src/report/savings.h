/* What zeros save, for a person. */
#ifndef SX_REPORT_SAVINGS_H
#define SX_REPORT_SAVINGS_H

#include "report/evaluation.h"

/* Adds what became of accesses and computes, level by level; or, where densities are given but nothing makes
 * use of them, that they have no effect. */
void sx_report_sparse(const sx_evaluation *e, sx_text *out);

#endif
