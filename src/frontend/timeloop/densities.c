/* The densities of a problem's tensors, as its instance states them. */
#include "frontend/timeloop/sparse.h"

#include "base/text.h"

#define N(array) (sizeof(array) / sizeof *(array))

/* Reads `{distribution: ..., density: ...}`. */
static sx_status read_distribution(sx_input *input, const sx_node *map, sx_tensor *tensor) {
    static const sx_key_rule rules[] = {
        {"distribution", SX_KEY_USED, NULL},
        {"density", SX_KEY_USED, NULL},
        {"workload_tensor_size", SX_KEY_UNSUPPORTED, "leave it out: the tensor's own size is taken"},
        {"band_width", SX_KEY_UNSUPPORTED, "banded tensors are not modelled"},
    };
    static const char *const known[] = {"fixed_structured", "hypergeometric"};
    const sx_node *distribution, *density;
    SX_TRY(sx_node_require(map, "distribution", "the density", &distribution));
    SX_TRY(sx_node_expect(distribution, SX_NODE_SCALAR, "'distribution'"));
    sx_density_model model = sx_density_model_named(distribution->text);
    if (sx_key_equal(distribution->text, "banded"))
        return sx_error_hint(sx_error_at(distribution->place, "banded densities are not modelled"),
                             "use fixed_structured or hypergeometric with the band's share of the words");
    if (model == SX_DENSITY_NONE)
        return sx_error_unknown(distribution->place, "distribution", distribution->text, known, N(known));
    SX_TRY(sx_node_check_keys(input, map, "the density", rules, N(rules)));
    SX_TRY(sx_node_require(map, "density", "the density", &density));
    double value = 0;
    SX_TRY(sx_node_double(density, "density", &value));
    return sx_error_place(sx_tensor_set_density(tensor, model, value), density->place);
}

/* Reads a plain number: every tile has its share. */
static sx_status read_number(const sx_node *value, sx_tensor *tensor) {
    double density = 0;
    SX_TRY(sx_node_double(value, "density", &density));
    return sx_error_place(sx_tensor_set_density(tensor, SX_DENSITY_FIXED_STRUCTURED, density), value->place);
}

sx_status sx_densities_read(sx_input *input, const sx_node *map, sx_problem *problem) {
    const char *known[SX_MAX_TENSORS];
    if (sx_node_empty(map)) return SX_OK;
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "'densities'"));
    for (int v = 0; v < problem->n_tensors; v++) known[v] = problem->tensor[v].name;
    for (size_t i = 0; i < map->n; i++) {
        const sx_pair *pair = &map->pair[i];
        int v = sx_problem_tensor(problem, pair->key);
        if (v < 0) return sx_error_unknown(pair->place, "data space", pair->key, known, problem->n_tensors);
        if (sx_node_empty(pair->value)) continue;
        SX_TRY(pair->value->kind == SX_NODE_MAP ? read_distribution(input, pair->value, &problem->tensor[v])
                                                : read_number(pair->value, &problem->tensor[v]));
    }
    return SX_OK;
}

sx_status sx_densities_common(const sx_node *value, sx_problem *problem) {
    for (int v = 0; v < problem->n_tensors; v++)
        if (problem->tensor[v].density_model == SX_DENSITY_NONE)
            SX_TRY(read_number(value, &problem->tensor[v]));
    return SX_OK;
}
