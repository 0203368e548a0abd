/* Runs of a language model over batches and contexts: which of them no other beats. */
#ifndef SX_REPORT_FRONTIER_H
#define SX_REPORT_FRONTIER_H

#include "report/serving.h"

typedef struct sx_frontier {
    const char *model;
    const sx_arch *arch;
    const char *phase;
    size_t n;
    sx_serving *point;
    bool *
        best; /* no other point of its context has less time, more tokens per second and less energy per token */
} sx_frontier;

/* Sets the points of the frontier: of those with mappings of all layers that fit into the memory. */
void sx_frontier_choose(sx_frontier *frontier);

/* Adds the points as a table; as CSV; as JSON, which the caller owns. */
void sx_frontier_table(const sx_frontier *frontier, sx_text *out);
void sx_frontier_csv(const sx_frontier *frontier, sx_text *out);
SX_OWN json_t *sx_frontier_json(const sx_frontier *frontier);

/* Draws tokens per second over the time of a run, points of a context marked alike and coloured by joules per
 * token; the text is freed with free(). */
SX_MUST_USE sx_status sx_frontier_svg(const sx_frontier *frontier, SX_OWN char **out);

/* Adds a page of HTML with the figure and the table. */
SX_MUST_USE sx_status sx_frontier_page(const sx_frontier *frontier, sx_text *out);

#endif
