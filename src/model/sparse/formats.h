/* A model over models: one mapping in several formats, of which the best counts (docs/sparse.md, section 9). */
#ifndef SX_MODEL_SPARSE_FORMATS_H
#define SX_MODEL_SPARSE_FORMATS_H

#include "model/model.h"

enum { SX_MAX_FORMAT_SETS = 256 };

/* The models of all sets of formats; the first has the formats as given. */
struct sx_formats_model {
    int n;
    sx_objective objective; /* by which the best is chosen */
    sx_model *model[SX_MAX_FORMAT_SETS];
    int8_t innermost[SX_MAX_FORMAT_SETS][SX_MAX_TENSORS]; /* level of a tensor's innermost format that may be
                                                             left out; -1: none */
};

/* Gives a model, compiled with the formats as given, the models of all sets; and sets what zeros leave at the
 * least in any of them. */
SX_MUST_USE sx_status sx_formats_compile(sx_model *model);
void sx_formats_free(SX_TAKE struct sx_formats_model *formats);

/* A workspace for each set. */
SX_MUST_USE sx_status sx_formats_evaluators(const sx_model *model, SX_OWN sx_model_workspace ***out);
void sx_formats_workspaces_free(const sx_model *model, SX_TAKE sx_model_workspace **workspaces);

/* As sx_check, sx_evaluate_within (objective NULL: no bound) and sx_model_minimum, of the best set; *set: its
 * number. */
sx_verdict sx_formats_check(const sx_model *model, const sx_mapping *mapping);
sx_verdict sx_formats_evaluate(sx_model_workspace *workspace, const sx_mapping *mapping,
                               const sx_objective *objective, double bound, sx_score *out, int *set);
sx_score sx_formats_minimum(const sx_model *model, uint8_t backed);

/* Whether a level may hold a tensor without its format. */
bool sx_formats_optional(const sx_model *model, int level, int tensor);

#endif
