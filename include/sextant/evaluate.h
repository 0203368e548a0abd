/* Mappings and what they cost. */
#ifndef SX_EVALUATE_H
#define SX_EVALUATE_H

#include "sextant/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- a mapping: how loops are tiled, ordered and spread, and which level keeps which tensor --- */

/* The mapping with all factors 1 but the outermost temporal ones, each level keeping what it is built for: legal
 * wherever the architecture has an unlimited backing store. sx_input_mapping() replaces it by what a file says. */
SX_API SX_MUST_USE sx_status sx_mapping_new(const sx_problem *problem, const sx_arch *arch,
                                            SX_OWN sx_mapping **out);
SX_API SX_MUST_USE sx_status sx_mapping_copy(const sx_mapping *mapping, SX_OWN sx_mapping **out);
SX_API void sx_mapping_free(SX_TAKE sx_mapping *mapping);
/* In Timeloop's format; reads back to the identical mapping. Freed with sx_free(). */
SX_API SX_MUST_USE sx_status sx_mapping_write(const sx_mapping *mapping, const sx_problem *problem,
                                              const sx_arch *arch, sx_format format, SX_OWN char **out);
/* A hash of what the mapping does: where loops of one iteration stand makes no difference. The same on every
 * machine. */
SX_API uint64_t sx_mapping_hash(const sx_mapping *mapping);

/* Going outward, the loops of a level are its spatial loops (over the children of one instance) and then its temporal
 * loops. Both orders have all dimensions, innermost first. The first sx_mapping_on_x() dimensions of the spatial order
 * lie on X, the others on Y. Where sx_mapping_x_part() is not 0, the last dimension on X lies on both axes: that many of
 * its iterations on X, and outside them the others on Y. A factor of 1 is no loop. */
typedef enum sx_loop_kind { SX_LOOPS_TEMPORAL, SX_LOOPS_SPATIAL } sx_loop_kind;

SX_API uint32_t sx_mapping_factor(const sx_mapping *mapping, int level, sx_loop_kind loops, int dim);
/* The dimension at a place of an order. */
SX_API int sx_mapping_dim_at(const sx_mapping *mapping, int level, sx_loop_kind loops, int place);
SX_API int sx_mapping_on_x(const sx_mapping *mapping, int level);
SX_API uint32_t sx_mapping_x_part(const sx_mapping *mapping, int level);
SX_API bool sx_mapping_keeps(const sx_mapping *mapping, int level, int tensor);

/* Changes one thing; an error where the level, the dimension or the tensor is not there. `dims` has every dimension
 * once, innermost first. Whether the mapping can run is another matter. */
SX_API SX_MUST_USE sx_status sx_mapping_set_factor(sx_mapping *mapping, int level, sx_loop_kind loops,
                                                   int dim, uint32_t factor);
SX_API SX_MUST_USE sx_status sx_mapping_set_order(sx_mapping *mapping, int level, sx_loop_kind loops,
                                                  const int *dims);
SX_API SX_MUST_USE sx_status sx_mapping_set_on_x(sx_mapping *mapping, int level, int n_dims);
SX_API SX_MUST_USE sx_status sx_mapping_set_keep(sx_mapping *mapping, int level, int tensor, bool keep);

/* --- many mappings of one problem onto one architecture, packed --- */

typedef struct sx_mappings sx_mappings;

/* Room for n mappings, each at first as sx_mapping_new makes it. */
SX_API SX_MUST_USE sx_status sx_mappings_new(const sx_problem *problem, const sx_arch *arch, size_t n,
                                             SX_OWN sx_mappings **out);
SX_API void sx_mappings_free(SX_TAKE sx_mappings *mappings);
SX_API size_t sx_mappings_count(const sx_mappings *mappings);
/* Copies mapping number `index` out or in; an error past the last, or for one of another shape. */
SX_API SX_MUST_USE sx_status sx_mappings_get(const sx_mappings *mappings, size_t index, sx_mapping *out);
SX_API SX_MUST_USE sx_status sx_mappings_set(sx_mappings *mappings, size_t index, const sx_mapping *mapping);

/* The memory itself, for array libraries: mapping i is at data + i * *stride, level s of it *level + s * *level_stride
 * further. And what a level has there: field `index`, its offset in bytes, its elements and the bytes of one, all
 * unsigned; NULL past the last. Layouts differ between versions of the library: ask, never assume. */
SX_API void *sx_mappings_data(sx_mappings *mappings, size_t *stride, size_t *level, size_t *level_stride);
SX_API const char *sx_mappings_field(size_t index, size_t *offset, size_t *elements, size_t *bytes);

/* --- the cost model of a problem on an architecture, compiled once; threads may share it --- */

typedef struct sx_model sx_model;

/* Options of the model are read from `options`, which may be NULL. */
SX_API SX_MUST_USE sx_status sx_cost_model_new(const sx_problem *problem, const sx_arch *arch,
                                               const sx_options *options, SX_OWN sx_model **out);
SX_API void sx_model_free(SX_TAKE sx_model *model);

/* The totals that decide searches, in this order: picojoules, cycles, the share of the compute units in use, words
 * accessed at the outermost level, and cycles of the tile pipeline (with the option "latency" tile; otherwise the
 * cycles). More may follow. */
typedef enum sx_total {
    SX_TOTAL_ENERGY_PJ,
    SX_TOTAL_CYCLES,
    SX_TOTAL_UTILIZATION,
    SX_TOTAL_LAST_LEVEL,
    SX_TOTAL_LATENCY
} sx_total;

/* The first n_totals totals of every mapping, one after another, on several threads (0: one); of an illegal mapping
 * they are infinite. They do not depend on the number of threads. */
SX_API SX_MUST_USE sx_status sx_model_score(const sx_model *model, const sx_mappings *mappings,
                                            unsigned threads, size_t n_totals, double *totals);

/* --- the cost of one mapping, level by level --- */

typedef struct sx_cost_report sx_cost_report;

SX_API SX_MUST_USE sx_status sx_cost_report_new(const sx_model *model, SX_OWN sx_cost_report **out);
SX_API void sx_cost_report_free(SX_TAKE sx_cost_report *report);
/* Evaluates a mapping; one thread at a time. A mapping that cannot run is no error: ask sx_cost_report_legal(). The
 * model must outlive the report. */
SX_API SX_MUST_USE sx_status sx_cost_report_fill(sx_cost_report *report, const sx_mapping *mapping);
SX_API bool sx_cost_report_legal(const sx_cost_report *report);
/* Why the mapping cannot run, in words; NULL where it can. */
SX_API const char *sx_cost_report_reason(const sx_cost_report *report);
/* A total; INFINITY of a mapping that cannot run. */
SX_API double sx_cost_report_total(const sx_cost_report *report, sx_total total);
/* A figure by its key of `sextant eval --json` (docs/eval.md): of the whole ("edp", "computes", "compute_energy_pj"; level
 * and tensor -1), of a level ("instances_used", "cycles", "energy_pj"; tensor -1) or of a tensor at a level
 * ("utilized_capacity", "reads", "fills", "updates", "energy_pj"). An error where there is no such figure. */
SX_API SX_MUST_USE sx_status sx_cost_report_figure(const sx_cost_report *report, const char *key, int level,
                                                   int tensor, double *out);
/* All of them as the JSON of `sextant eval --json`; freed with sx_free(). An error for a mapping that cannot run. */
SX_API SX_MUST_USE sx_status sx_cost_report_write(const sx_cost_report *report, SX_OWN char **out);

#ifdef __cplusplus
}
#endif

#endif
