/* Searches as records of a database keep them. */
#ifndef SX_SESSION_SEARCH_RECORD_H
#define SX_SESSION_SEARCH_RECORD_H

#include "sextant/run.h"
#include "sextant/store.h"

#include <jansson.h>

/* The record of a run that ended with a summary; texts are borrowed. */
sx_search_record sx_search_record_of(const sx_run_options *run, const sx_run_summary *summary,
                                     const char *objective, const char *navigator, const char *options,
                                     double value);

/* The limits of a run, which repeat it; the caller's, NULL when memory is out. */
SX_OWN json_t *sx_search_limits(const sx_run_options *run);

/* A tree as the text that records compare: sorted keys, no spaces; the caller's, NULL when memory is out. */
SX_OWN char *sx_search_json(SX_TAKE json_t *tree);

#endif
