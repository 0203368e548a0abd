/* Asking an outside evaluator about mappings. */
#include "base/json.h"
#include "mapspace/map_space.h"
#include "space/outside_evaluator.h"

#include <stdio.h>
#include <stdlib.h>

/* Sets the problem, the sizes of its dimensions, the architecture and the mapping. */
static sx_status describe_point(const sx_space *base, const void *point, json_t *object) {
    const sx_map_space *space = (const sx_map_space *)base;
    const sx_problem *problem = space->problem;
    json_t *sizes = json_object();
    char *text;
    sx_mapping mapping;
    sx_json_set(object, "problem", json_string(problem->name));
    for (int d = 0; d < problem->n_dims; d++)
        sx_json_set(sizes, problem->dim_name[d], json_integer(problem->size[d]));
    sx_json_set(object, "dimensions", sizes);
    sx_json_set(object, "arch", json_string(space->arch->name));
    sx_map_space_mapping(base, point, &mapping);
    SX_TRY(sx_mapping_write(&mapping, problem, space->arch, SX_JSON, &text));
    json_t *noun = sx_json_read(text);
    free(text);
    json_object_update(object, noun);
    json_decref(noun);
    return SX_OK;
}

static const sx_question_kind kind = {
    .value = "objective",
    .refusal = "illegal",
    .metric = SX_MAX_METRICS,
    .name = SX_JUDGED,
    .describe = describe_point,
};

sx_status sx_outside_evaluator_map_model(sx_outside_evaluator *outside, const sx_space *space,
                                         sx_point_model **out) {
    return sx_outside_evaluator_model_new(outside, space, &kind, out);
}

void sx_outside_evaluator_objective(sx_objective *out) {
    *out = (sx_objective){.n_criteria = 1, .criterion = {{.kind = SX_TERMS}}};
    snprintf(out->terms[0], sizeof out->terms[0], SX_JUDGED);
}
