/* A comparison as a table, JSON, CSV and convergence curves. */
#ifndef SX_REPORT_COMPARE_H
#define SX_REPORT_COMPARE_H

#include "base/text.h"
#include "sextant/compare.h"
#include "sextant/model.h"

/* A comparison with the hardware that it is about. */
typedef struct sx_compare_report {
    const sx_comparison *comparison;
    /* One of three is not NULL: */
    const char *arch;       /* name of the architecture */
    const char *device;     /* name of the FPGA */
    const char *chip;       /* name of the chip whose memories networks are placed in */
    const char *energies;   /* where they come from; of an architecture, may be NULL */
    const sx_arch *machine; /* the architecture itself, and how it is modelled */
    sx_model_options model;
    const double *baseline; /* of a chip, per problem: the latency of the compiler's placement, in seconds */
} sx_compare_report;

/* Adds the comparison for a person, as JSON, and with a line of CSV per run. */
SX_MUST_USE sx_status sx_compare_print(const sx_compare_report *r, sx_text *out);
SX_MUST_USE sx_status sx_compare_json(const sx_compare_report *r, sx_text *out);
void sx_compare_csv(const sx_comparison *c, sx_text *out);

/* Writes the convergence curves over evaluations or seconds: to the file, or with several problems to a file
 * each, its name before the ending followed by the problem's. */
SX_MUST_USE sx_status sx_compare_svg(const sx_compare_report *r, bool by_time, const char *path);

#endif
