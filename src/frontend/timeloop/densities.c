/* The densities of a problem's tensors, as its instance states them. */
#include "frontend/known_keys.h"
#include "frontend/timeloop/sparse_section.h"

#include "text/coordinates.h"

#include <stdio.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* Reads `{distribution: banded, band_width: ...}`; without a width, the diagonal alone is filled. */
static sx_status read_band(const sx_node *map, sx_problem *problem, int v) {
    const sx_node *width = sx_node_get(map, "band_width");
    uint32_t value = 0;
    if (width) SX_TRY(sx_node_u32(width, "band_width", &value));
    return sx_error_place(sx_problem_set_band(problem, v, value), map->place);
}

/* Reads `{distribution: actual, file: ...}` (`real_data` and `data_file_path` in files of Sparseloop's artifact). The
 * path starts from the folder of the file that says so, or from the current one. */
static sx_status read_actual(const sx_input *input, const sx_node *map, sx_problem *problem, int v) {
    const sx_node *file = sx_node_get(map, "data_file_path");
    char path[SX_PATH_SIZE];
    if (!file) SX_TRY(sx_node_require(map, "file", "the density", &file));
    SX_TRY(sx_node_expect(file, SX_NODE_SCALAR, "'file'"));
    SX_TRY(sx_path_find(sx_input_scope(input), file->place, SX_NONZEROS_FILE, file->text, path));
    return sx_error_place(sx_problem_set_data(problem, v, path), file->place);
}

/* Refuses a tensor size of the density's own; 0 is Timeloop's default, the tensor's own size. */
static sx_status check_tensor_size(const sx_node *map) {
    const sx_node *size = sx_node_get(map, "workload_tensor_size");
    uint64_t words = 0;
    if (!size || sx_node_empty(size)) return SX_OK;
    SX_TRY(sx_node_u64(size, "workload_tensor_size", &words));
    if (words == 0) return SX_OK;
    return sx_error_hint(
        sx_error_at(size->place,
                    "'workload_tensor_size' of the density is not supported and would change the result"),
        "leave it out: the tensor's own size is taken");
}

static const sx_key_rule density_rules[] = {
    SX_KEY("distribution", "text!", "fixed_structured, hypergeometric, banded or actual"),
    SX_KEY("density", "number", "share of elements that are not zero"),
    SX_KEY("workload_tensor_size", "number", "0: the size of the tensor"),
    SX_KEY("band_width", "number", "of a banded tensor"),
    SX_KEY("file", "text", "of an actual tensor: its non-zeros"),
    SX_KEY("data_file_path", "text", "of an actual tensor: its non-zeros"),
};
const sx_keys sx_keys_density = SX_KEYS("density", true, density_rules);

/* Reads `{distribution: ..., density: ...}`. */
static sx_status read_distribution(sx_input *input, const sx_node *map, sx_problem *problem, int v) {
    static const char *const known[] = {"fixed_structured", "hypergeometric", "banded", "actual"};
    sx_tensor *tensor = &problem->tensor[v];
    const sx_node *distribution, *density;
    SX_TRY(sx_node_require(map, "distribution", "the density", &distribution));
    SX_TRY(sx_node_expect(distribution, SX_NODE_SCALAR, "'distribution'"));
    sx_density_model model = sx_density_model_named(distribution->text);
    if (model == SX_DENSITY_NONE)
        return sx_error_unknown(distribution->place, "distribution", distribution->text, known, N(known));
    SX_TRY(sx_node_check_keys(input, map, "the density", &sx_keys_density));
    SX_TRY(check_tensor_size(map));
    if (model == SX_DENSITY_BANDED) return read_band(map, problem, v);
    if (model == SX_DENSITY_ACTUAL) return read_actual(input, map, problem, v);
    SX_TRY(sx_node_require(map, "density", "the density", &density));
    double value;
    SX_TRY(sx_node_double(density, "density", &value));
    return sx_error_place(sx_tensor_set_density(tensor, model, value), density->place);
}

/* Reads a plain number: every tile has its share. */
static sx_status read_number(const sx_node *value, sx_tensor *tensor) {
    double density;
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
        SX_TRY(pair->value->kind == SX_NODE_MAP ? read_distribution(input, pair->value, problem, v)
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
