/* A result as text for a person. */
#ifndef SX_REPORT_MAP_TABLE_H
#define SX_REPORT_MAP_TABLE_H

#include "base/text.h"
#include "sextant/result.h"

/* How a result is shown. */
typedef struct sx_mapping_view {
    bool quiet, verbose;
    const char *asked; /* the mapper as it was asked for */
    const char *db;    /* the database as it was asked for; NULL: none */
} sx_mapping_view;

/* Adds one layer's answer in full, or why there is none. */
SX_MUST_USE sx_status sx_mapping_report_layer(const sx_result *r, const sx_mapping_view *view, sx_text *out);

/* Adds a table of the layers, identical ones in one row unless verbose, and their sums. */
SX_MUST_USE sx_status sx_mapping_report_network(const sx_result *r, const sx_mapping_view *view,
                                                sx_text *out);

#endif
