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

/* What vector operators cost beside einsums of that total: {"unit": false} without a unit, else the sum, that with the
 * einsums, and each operator. The caller owns it. */
SX_OWN json_t *sx_operators_vector_json(const sx_arch *arch, const sx_graph *graph,
                                        const sx_operators *operators, const sx_score *total);

/* Adds the cost of each vector operator as a table; and what all of them cost, or what is not counted of them without a vector
 * unit. `timed`: times of the operators follow. */
void sx_operators_add_costs(const sx_arch *arch, const sx_graph *graph, const sx_operators *operators,
                            sx_text *out);
void sx_operators_add_cost(const sx_arch *arch, const sx_graph *graph, const sx_operators *operators,
                           const sx_score *total, bool timed, sx_text *out);

#endif
