/* The cost of a mapping as text for a person. */
#ifndef SX_REPORT_EVALUATION_H
#define SX_REPORT_EVALUATION_H

#include "base/json.h"
#include "base/text.h"
#include "sextant/model.h"
#include "sextant/run.h"

/* Everything known about one mapping; cost and minimum only where the verdict is SX_LEGAL. */
typedef struct sx_evaluation {
    sx_problem problem;
    sx_arch arch;
    sx_mapping mapping;
    sx_model_options options;
    sx_verdict verdict;
    sx_cost cost;
    sx_score minimum;
    const sx_arch *given; /* with the formats among which those of `arch` were chosen; NULL: not searched */
    const char *energies; /* where they come from */
    bool simulated;       /* by the oracle */
    bool has_objective;   /* one was asked for */
    sx_objective objective;
} sx_evaluation;

typedef enum sx_detail { SX_DETAIL_TOTALS, SX_DETAIL_USUAL, SX_DETAIL_ALL } sx_detail;

/* Adds the totals, and unless only these are wanted the loops, the levels and the networks. */
void sx_report(const sx_evaluation *e, sx_detail detail, sx_text *out);

/* Adds a sentence about where energies come from. */
void sx_report_energies(const char *energies, sx_text *out);

/* Adds how zeros are counted, where hardware does anything about them, and whether files were read as by Timeloop. */
void sx_report_semantics(const sx_arch *arch, const sx_model_options *options, sx_text *out);

/* Sets the same in an object of JSON, as `sparse_semantics` and `like`. */
void sx_json_semantics(const sx_arch *arch, const sx_model_options *options, json_t *object);

/* Whether a search has no proof and Timeloop's sparse semantics, whose bounds are weak, may be why. */
bool sx_bounds_weak(const sx_arch *arch, const sx_model_options *options, const sx_run_summary *summary);

/* The level whose bandwidth stretches the run most, -1 where none does. */
int sx_limiting_level(const sx_cost *cost);
/* The cycles that filling and draining the networks adds. */
uint64_t sx_network_latency(const sx_arch *arch);
/* A level's name; n_levels is the compute array and inward of level 0. */
const char *sx_level_name(const sx_arch *arch, int level);

#endif
