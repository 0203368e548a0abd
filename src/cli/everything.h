/* `sextant verify --brute-force` and `--gpu`: the claim of a certificate compared with all mappings. */
#ifndef SX_CLI_EVERYTHING_H
#define SX_CLI_EVERYTHING_H

#include "cli/gpu.h"
#include "report/table.h"
#include "sextant/certificate.h"

#include <jansson.h>

/* Whether and how to look. */
typedef struct sx_everything {
    bool asked, gpu;
    unsigned threads; /* of the CPU */
    const sx_cancel *cancel;
    sx_progress_line *line;
    double told;
    sx_gpu_look_answer answer; /* of the last certificate */
} sx_everything;

/* Looks at all mappings of a certificate that holds so far; *v says what came of it. */
SX_MUST_USE sx_status sx_everything_check(sx_everything *e, const sx_certificate *c, sx_verification *v);

/* A line about it for a person, and an object for --json. */
void sx_everything_row(const sx_everything *e, bool no_clock, sx_table *table);
json_t *sx_everything_json(const sx_everything *e, bool no_clock);

#endif
