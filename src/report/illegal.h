/* An illegal mapping: what is wrong and what would cure it. */
#ifndef SX_REPORT_ILLEGAL_H
#define SX_REPORT_ILLEGAL_H

#include "report/evaluation.h"

/* Adds a sentence that says what to change; nothing where no cure is obvious. */
void sx_illegal_cure(const sx_evaluation *e, sx_text *out);

/* Adds the sentence and the cure for a person. */
void sx_illegal_print(const sx_evaluation *e, sx_text *out);

#endif
