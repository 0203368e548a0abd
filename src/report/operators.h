/* The operators of a graph and their totals, for people and as JSON. */
#ifndef SX_REPORT_OPERATORS_H
#define SX_REPORT_OPERATORS_H

#include "base/text.h"
#include "report/json_parts.h"
#include "sextant/operators.h"
#include "sextant/result.h"
#include "text/write/write.h"

/* Adds the totals of a run: parameters, multiply-accumulates, weights and caches in bytes, vector operators. */
void sx_operators_add_totals(const sx_graph *graph, const sx_operators *operators, sx_text *out);

/* Adds the vector operators as a table: function, rows, elements, elements read and written. */
void sx_operators_add_vectors(const sx_graph *graph, const sx_operators *operators, sx_text *out);

/* {"phase", "batch", ..., "params", "macs", ...}, the run of a graph and its totals; and an array of its operators. The
 * caller owns both. */
SX_OWN json_t *sx_operators_totals_json(const sx_graph *graph, const sx_operators *operators);
SX_OWN json_t *sx_operators_json(const sx_graph *graph, const sx_operators *operators);

/* Adds "totals" and "vector" of a result that has a graph. */
SX_MUST_USE sx_status sx_operators_put_run(json_t *object, const sx_result *result);

/* Adds the totals of a result that has a graph, and what its vector operators cost or that they cost nothing. */
SX_MUST_USE sx_status sx_operators_report_run(const sx_result *result, bool verbose, sx_text *out);

#endif
