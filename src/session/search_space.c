#include "session/search_space.h"

#include "mapspace/map_space.h"

#include <string.h>

sx_status sx_search_space_init(const sx_problem *problem, const sx_arch *arch,
                               const sx_constraints *constraints, const sx_model_options *model_options,
                               const sx_map_space_options *space_options, sx_search_space *out) {
    memset(out, 0, sizeof *out);
    out->problem = *problem;
    out->arch = *arch;
    out->constraints = *constraints;
    SX_TRY(sx_model_new(problem, arch, model_options, &out->model));
    return sx_map_space_new(out->model, &out->constraints, space_options, &out->space);
}

void sx_search_space_fini(sx_search_space *s) {
    sx_space_free(s->space);
    sx_model_free(s->model);
    s->space = NULL;
    s->model = NULL;
}

double sx_search_space_minimum(const sx_search_space *s, const sx_objective *objective, bool algorithmic) {
    const uint8_t backed = sx_map_space_of(s->space)->fixed_keep[s->arch.n_levels - 1];
    sx_score least =
        algorithmic ? sx_model_algorithmic_minimum(s->model) : sx_model_minimum(s->model, backed);
    return sx_objective_value(objective, &least);
}
