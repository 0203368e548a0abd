/* Reading the nouns from Timeloop's YAML dialects, JSON and einsum text, and writing them back. */
#ifndef SX_INPUT_H
#define SX_INPUT_H

#include "sextant/constraints.h"
#include "sextant/graph.h"
#include "sextant/warnings.h"

/* A set of documents read together: architecture, energy tables, problem and mapping may come in any number
 * of files, several to a file. */
typedef struct sx_input sx_input;

/* A graph, which is freed with sx_graph_fini. */
SX_MUST_USE sx_status sx_input_graph(sx_input *input, sx_graph *out);

/* The catalog: entry `index`, its name and a line about it; NULL past the last. */
const char *sx_catalog_arch_name(size_t index, const char **about);
const char *sx_catalog_problem_name(size_t index, const char **about);
const char *sx_catalog_network_name(size_t index, const char **about);

/* How many sections and architectures state constraints, of whatever kind. */
size_t sx_input_n_constraints(const sx_input *input);

/* What was accepted but has no bearing on a result, a line each ("file:line:column: ..."); NULL past the
 * last. */
const char *sx_input_note(const sx_input *input, size_t index);

/* A graph reads back to the identical one if every node, and its einsum, has its output first. */
SX_MUST_USE sx_status sx_graph_write(const sx_graph *graph, sx_format format, SX_OWN char **out);
SX_MUST_USE sx_status sx_cost_write(const sx_cost *cost, const sx_problem *problem, const sx_arch *arch,
                                    SX_OWN char **out);

#endif
