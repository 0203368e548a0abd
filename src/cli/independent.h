/* `verify --independent`: certificates by the checker that shares no rule with the search. */
#ifndef SX_CLI_INDEPENDENT_H
#define SX_CLI_INDEPENDENT_H

#include "cli/command.h"
#include "report/table.h"
#include "sextant/independent.h"

#include <jansson.h>

/* How to check, and what came out of the last check. */
typedef struct sx_alone {
    bool asked;
    sx_independent_options options;
    sx_independent_report report;
} sx_alone;

/* Sets how to check from the command line. */
SX_MUST_USE sx_status sx_alone_init(const sx_args *args, unsigned threads, const sx_cancel *cancel,
                                    sx_alone *out);

/* The exit code of a check. */
sx_exit sx_alone_exit(const sx_alone *alone);

/* The verdict in words, "holds" where it does. */
const char *sx_alone_verdict(const sx_alone *alone);

/* The last check as JSON, and as rows of a table. */
SX_OWN json_t *sx_alone_json(const sx_alone *alone, bool no_clock);
void sx_alone_rows(const sx_alone *alone, bool no_clock, sx_table *table);

#endif
