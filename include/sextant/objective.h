/* What a search minimises. */
#ifndef SX_OBJECTIVE_H
#define SX_OBJECTIVE_H

#include "sextant/cost.h"

#include <stddef.h>

#define SX_MAX_CRITERIA 4

typedef enum sx_metric { SX_PRODUCT, SX_LAST_LEVEL, SX_UTILIZATION } sx_metric;

/* energy^energy_power * cycles^delay_power, or last-level accesses, or minus the utilisation. */
typedef struct sx_criterion {
    sx_metric metric;
    double energy_power, delay_power;
} sx_criterion;

/* Criteria in order of weight: a later one decides only where all earlier ones are within `tolerance`
 * (relative) of each other. */
typedef struct sx_objective {
    uint8_t n_criteria;
    double tolerance;
    sx_criterion criterion[SX_MAX_CRITERIA];
} sx_objective;

/* Reads a name of sx_objective_name, a product such as "e^2*d", or a list of them with commas. */
SX_API SX_MUST_USE sx_status sx_objective_parse(const char *text, sx_objective *out);
/* What sx_objective_parse reads: form `index` and a line about it; NULL past the last. */
SX_API const char *sx_objective_name(size_t index, const char **about);
/* Writes what sx_objective_parse reads back. */
SX_API void sx_objective_text(const sx_objective *objective, char *text, unsigned long size);

/* One criterion's value; smaller is better. */
SX_API double sx_criterion_value(const sx_criterion *criterion, const sx_score *score);
/* The first criterion's value. */
SX_API double sx_objective_value(const sx_objective *objective, const sx_score *score);
/* Negative when a is better than b, 0 when neither is. */
SX_API int sx_objective_compare(const sx_objective *objective, const sx_score *a, const sx_score *b);

#endif
