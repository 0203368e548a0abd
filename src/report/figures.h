/* The figures that people quote of a mapping: seconds, watts, TOPS, TOPS/W, pJ per MAC, DRAM bytes, area. */
#ifndef SX_REPORT_FIGURES_H
#define SX_REPORT_FIGURES_H

#include "report/evaluation.h"
#include "report/table.h"
#include "sextant/result.h"
#include "timing/operator.h"

#include <jansson.h>

/* What figures are made of: of a mapping, or summed over layers. */
typedef struct sx_work {
    double macs; /* of the problem, zeros or not; 0: nothing is known */
    double cycles, energy_pj;
    double dram_bytes;                   /* to and from the outermost memory */
    double tensor_bytes[SX_MAX_TENSORS]; /* the same by tensor; not summed over layers */
    sx_operator_time time;               /* on a real machine; no seconds: nothing is known of it */
} sx_work;

/* Bits of the metadata that go with a tensor to and from a level, per instance. */
double sx_metadata_traffic(const sx_problem *problem, const sx_arch *arch, const sx_cost *cost, int level,
                           int tensor);

/* The work of a mapping of that cost. */
void sx_work_of(const sx_problem *problem, const sx_arch *arch, const sx_cost *cost, sx_work *out);
/* Adds a work several times, without the tensors' shares. */
void sx_work_add(const sx_work *work, double times, sx_work *out);

/* The outermost memory: the DRAM, or where there is none the outermost level. */
int sx_dram_level(const sx_arch *arch);

/* Evaluates a layer's answer in full; of several densities, at the largest. */
SX_MUST_USE sx_status sx_layer_evaluate(const sx_result *r, size_t layer, sx_evaluation *e);
/* The work of every layer's answer, and after them that of the network, an array to be freed with free(); no MACs
 * where a mapping cannot be evaluated again. */
SX_MUST_USE sx_status sx_result_works(const sx_result *r, SX_OWN sx_work **out);
/* How often the network runs each computation, at its first layer, an array to be freed with free(); NULL: memory is out. */
SX_OWN uint64_t *sx_result_times(const sx_result *r);

/* Adds the figures as rows of a table of three columns; a sentence with those of a network. */
void sx_figures_rows(const sx_problem *problem, const sx_arch *arch, const sx_work *work, sx_table *table);
void sx_figures_sentence(const sx_arch *arch, const sx_work *work, sx_text *out);

/* The figures as JSON; problem: with the widths and bytes of its tensors, may be NULL. */
json_t *sx_figures_json(const sx_problem *problem, const sx_arch *arch, const sx_work *work);

#endif
