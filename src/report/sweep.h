/* `sextant space --sweep orders`: one mapping under every order of its loops, the same at all levels
 * (Demystifying Map Space Exploration, section 4.4.3 and figure 7). */
#ifndef SX_REPORT_SWEEP_H
#define SX_REPORT_SWEEP_H

#include "base/text.h"
#include "sextant/error.h"
#include "sextant/model.h"

#include <jansson.h>

enum { SX_SWEEP_DIMS = 10 }; /* more dimensions than that have too many orders */

/* The orders that cost the same to the last bit. An order is identified by the dimensions that matter. */
typedef struct sx_order_group {
    sx_score score;
    double edp;
    uint64_t n;
    size_t n_told; /* how many different orders that is of the dimensions that matter; 3: more than two */
    uint8_t told[2][SX_SWEEP_DIMS];  /* the first of them, outermost first: dimensions of the problem */
    uint16_t dims_at[SX_SWEEP_DIMS]; /* dimensions that any of them has at a place: bit masks */
} sx_order_group;

typedef struct sx_sweep {
    int n_dims; /* dimensions of more than one iteration */
    uint8_t dim[SX_SWEEP_DIMS];
    uint16_t matter; /* those whose place matters, a bit mask over the problem's dimensions */
    uint64_t n_orders,
        n_costed; /* costed: fewer where it was interrupted, the first in order of the alphabet */
    size_t n_groups;
    sx_order_group *group; /* by EDP, the best first */
    double edp;            /* of the mapping as it is */
} sx_sweep;

/* Costs a legal mapping under all orders, or as many as there is time for until `cancel` is set; *out is
 * freed with sx_sweep_fini. */
SX_MUST_USE sx_status sx_sweep_orders(const sx_model *model, const sx_mapping *mapping,
                                      const sx_cancel *cancel, sx_sweep *out);
void sx_sweep_fini(sx_sweep *sweep);

/* Adds the sweep for a person; and as JSON, NULL when memory is out. */
void sx_sweep_print(const sx_sweep *sweep, const sx_problem *problem, sx_text *out);
json_t *sx_sweep_json(const sx_sweep *sweep, const sx_problem *problem);

#endif
