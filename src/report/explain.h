/* Explanations of a mapping's cost. */
#ifndef SX_REPORT_EXPLAIN_H
#define SX_REPORT_EXPLAIN_H

#include "report/evaluation.h"

/* Adds the explanation for one tensor at one level: kept or not, how often its tile comes and which loops
 * decide it, and what the network inside does with it. Every number is the cost's own or checked against it.
 */
void sx_explain_tensor(const sx_evaluation *e, int level, int tensor, sx_text *out);

/* The words of a tensor's tile at a level, zeros among them. */
double sx_dense_tile(const sx_evaluation *e, int level, int tensor);

/* Adds what zeros save of a tensor that a level keeps: what its format leaves out and costs, and why gating or skipping
 * helps or does not. */
void sx_explain_zeros(const sx_evaluation *e, int level, int tensor, sx_text *out);

/* Adds what the run's time comes from. */
void sx_explain_time(const sx_evaluation *e, sx_text *out);

/* Adds what the latency of a boundary of the tile pipeline is made of. */
void sx_explain_boundary(const sx_evaluation *e, int boundary, sx_text *out);

/* Adds all of it, level by level from the outermost, for a person. */
void sx_explain(const sx_evaluation *e, sx_text *out);

#endif
