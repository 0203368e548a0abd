/* A model over models: one mapping at several densities (docs/sparse.md, section 8). */
#ifndef SX_MODEL_SPARSE_DENSITY_RANGE_H
#define SX_MODEL_SPARSE_DENSITY_RANGE_H

#include "model/model.h"

/* The models of a range's densities, the densest first. */
struct sx_range_model {
    int n;
    double energy_power, delay_power;
    uint8_t index[SX_MAX_DENSITIES]; /* in the range as it was given */
    double weight[SX_MAX_DENSITIES];
    sx_model *model[SX_MAX_DENSITIES];
    double share[SX_MAX_DENSITIES]; /* of each density in bounds of the energy; together 1, or all 0 */
    double energy_scale;            /* by which these bounds are multiplied */
};

/* The index that has the largest share of every tensor. */
int sx_range_densest(const sx_density_range *range);

/* Gives a model, compiled for the largest density, the models of the range of its options; and sets what zeros
 * leave at the least over the range. */
SX_MUST_USE sx_status sx_range_compile(sx_model *model);
/* Sets what zeros leave at the least, from the models of all densities. */
void sx_range_set_least(sx_model *model);
void sx_range_free(SX_TAKE struct sx_range_model *range);

/* A workspace for each density. */
SX_MUST_USE sx_status sx_range_evaluators(const sx_model *model, SX_OWN sx_model_workspace ***out);
void sx_range_workspaces_free(const sx_model *model, SX_TAKE sx_model_workspace **workspaces);

/* As sx_check, sx_evaluate_within (a bound of INFINITY: none) and sx_model_minimum, but for the energy of the least score, which
 * may be above a mapping's: a lower bound is its value by the objective alone. */
sx_verdict sx_range_check(const sx_model *model, const sx_mapping *mapping);
sx_verdict sx_range_evaluate(sx_model_workspace *workspace, const sx_mapping *mapping, double bound,
                             sx_score *out);
sx_score sx_range_minimum(const sx_model *model, uint8_t backed);

#endif
