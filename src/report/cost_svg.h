/* The figure of `sextant eval` and `sextant map`: roofline and energy breakdown. */
#ifndef SX_REPORT_COST_SVG_H
#define SX_REPORT_COST_SVG_H

#include "report/evaluation.h"
#include "sextant/result.h"

/* The roof of an architecture. */
typedef struct sx_roof {
    double peak;      /* MACs per cycle */
    double bandwidth; /* of the DRAM, bytes per cycle; INFINITY: no limit */
} sx_roof;
sx_roof sx_roof_of(const sx_arch *arch);

/* Adds the figure of one mapping: its energy by component, and in a component by tensor. */
SX_MUST_USE sx_status sx_evaluation_svg(const sx_evaluation *e, sx_text *out);
/* Adds that of a result: the same for one layer, for a network the energy by layer, and in a layer by component. A run of a
 * network that is timed has its operators below the roof, by their times. */
SX_MUST_USE sx_status sx_result_svg(const sx_result *r, sx_text *out);

#endif
