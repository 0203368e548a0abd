/* Searches as records of a database keep them. */
#ifndef SX_SESSION_SEARCH_RECORD_H
#define SX_SESSION_SEARCH_RECORD_H

#include "base/text.h"
#include "sextant/run.h"
#include "sextant/store.h"

#include <jansson.h>

/* The record of a run that ended with a summary; texts are borrowed. */
sx_search_record sx_search_record_of(const sx_run_options *run, const sx_run_summary *summary,
                                     const char *objective, const char *navigator, const char *options,
                                     double value);

/* The format of proofs in a database, which decides whether they are believed. Raise it when a rule of costs, of bounds or
 * of what a space holds changes: proofs of before are start points from then on. */
enum { SX_PROOF_FORMAT = 1 };

/* Whether a record's proof has this format. One of 0.4 or 0.5 has none. */
bool sx_search_is_current(const sx_search_record *record);
/* Whether a record is an answer that is proven, by the rules of this format; and the summary of a search that takes it over. */
bool sx_search_is_proven(const sx_search_record *record);
sx_run_summary sx_search_recalled(const sx_search_record *record);

/* Adds to an identity (base/saved_state.h) the navigator, under a key, with the content of the files that it reads, the
 * objective and the limits of its run. */
SX_MUST_USE sx_status sx_search_identity(sx_text *text, const char *key, const char *navigator,
                                         const sx_run_options *run);

/* The limits of a run, which repeat it; the caller's, NULL when memory is out. */
SX_OWN json_t *sx_search_limits(const sx_run_options *run);

/* Adds the point of a run that ended with a summary: a record without its search, whose `space` and `point` are freed (NULL:
 * memory was out). */
SX_MUST_USE sx_status sx_search_keep(sx_store *store, const sx_run_options *run,
                                     const sx_run_summary *summary, const char *objective, const char *method,
                                     double value, const sx_point_record *point);

/* A tree as the text that records compare: sorted keys, no spaces; the caller's, NULL when memory is out. */
SX_OWN char *sx_search_json(SX_TAKE json_t *tree);

#endif
