/* An illegal mapping: the reason, and how to fix it. */
#ifndef SX_REPORT_ILLEGAL_H
#define SX_REPORT_ILLEGAL_H

#include "report/evaluation.h"

/* Adds a sentence that says what to change; nothing where no fix is obvious. */
void sx_illegal_cure(const sx_evaluation *e, sx_text *out);

/* Adds the reason and the fix for a person. */
void sx_illegal_print(const sx_evaluation *e, sx_text *out);

#endif
