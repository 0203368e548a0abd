/* The page of `sextant report`: one HTML file with everything in it. */
#ifndef SX_REPORT_PAGE_H
#define SX_REPORT_PAGE_H

#include "base/text.h"
#include "sextant/result.h"
#include "sextant/store.h"

#include <jansson.h>

/* The template and what it embeds, made from src/report/page/ when the library is built. */
extern const char sx_page_html[], sx_page_css[], sx_page_fused_js[], sx_page_js[], sx_page_pipeline_js[],
    sx_page_roofline_js[], sx_page_runs_js[];

/* A result of `map` for a page: the result and the costs of its layers. */
SX_MUST_USE sx_status sx_page_result(const char *file, const sx_result *result, SX_OWN json_t **out);

/* An answer of another command for a page, or whether it is a result of `map`; an error where it is neither, or lacks
 * what is shown. */
bool sx_page_is_result(const json_t *answer);
SX_MUST_USE sx_status sx_page_answer(const char *file, json_t *answer, SX_OWN json_t **out);

/* Adds what is in a database to a list: the best mappings of every architecture and objective, as results,
 * and the best points of other spaces. The duration of a cycle may be 0. */
SX_MUST_USE sx_status sx_page_store(const char *file, sx_store *store, double cycle_seconds, json_t *list);

/* Adds the page that shows the items of a list. */
SX_MUST_USE sx_status sx_page_write(const json_t *list, const char *title, sx_text *out);

#endif
