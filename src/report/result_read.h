/* Reading the parts of results. */
#ifndef SX_REPORT_RESULT_READ_H
#define SX_REPORT_RESULT_READ_H

#include "sextant/result.h"
#include "text/document/document.h"

/* A number that is finite, null being INFINITY; the key must be there. */
SX_MUST_USE sx_status sx_result_number(const sx_node *map, const char *key, double *out);
/* The same without null. */
SX_MUST_USE sx_status sx_result_finite(const sx_node *map, const char *key, double *out);
/* A count up to 2^63 - 1; and a truth. The key must be there. */
SX_MUST_USE sx_status sx_result_count(const sx_node *map, const char *key, uint64_t *out);
SX_MUST_USE sx_status sx_result_truth(const sx_node *map, const char *key, bool *out);
/* Cycles, energy and utilisation of an object that has them. */
SX_MUST_USE sx_status sx_result_score(const sx_node *map, sx_score *out);

/* Reads the layer at `index`, all before it being read, into a result that has its architecture and options.
 */
SX_MUST_USE sx_status sx_result_read_layer(const sx_node *map, size_t index, sx_result *out);

#endif
