/* What `sextant map` found, for a person and as JSON. */
#ifndef SX_REPORT_MAP_RESULT_H
#define SX_REPORT_MAP_RESULT_H

#include "base/text.h"
#include "sextant/session.h"

/* Below this share of compute units in use it is said that tiles which divide cannot use more. */
#define SX_IDLE_SHARE 0.75

/* A finished session with all that it began from. */
typedef struct sx_mapping_report {
    sx_network network;
    sx_arch arch;
    sx_session_options options;
    sx_session_result result;
    char *mapper;         /* with every setting */
    const char *asked;    /* the mapper as it was asked for */
    char objective[256];  /* as text */
    const char *problem;  /* what --problem said */
    const char *db;       /* what --db said; NULL: nothing */
    uint32_t batch;       /* of a network of the catalog */
    const char *energies; /* where they come from */
    bool training;
} sx_mapping_report;

/* Adds one layer's answer in full, or why there is none. */
SX_MUST_USE sx_status sx_mapping_report_layer(const sx_mapping_report *job, bool quiet, bool verbose,
                                              sx_text *out);

/* Adds a table of the layers, identical ones in one row unless `each`, and their sums. */
void sx_mapping_report_network(const sx_mapping_report *job, bool each, sx_text *out);

/* Adds everything as JSON. The keys are promises: more may be added, none renamed. */
SX_MUST_USE sx_status sx_mapping_report_json(const sx_mapping_report *job, sx_text *out);

/* The text of a layer's best mapping in Timeloop's format; freed with free(). */
SX_MUST_USE sx_status sx_mapping_report_text(const sx_mapping_report *job, size_t layer, SX_OWN char **out);

#endif
