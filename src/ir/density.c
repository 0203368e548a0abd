/* How dense the tensors of a problem are. */
#include "ir/density.h"

#include "base/status.h"

#include <string.h>

static const char *const density_names[] = {"dense", "fixed-structured", "hypergeometric", "banded",
                                            "actual"};

const char *sx_density_model_name(sx_density_model model) {
    return density_names[model];
}

sx_density_model sx_density_model_named(const char *name) {
    char plain[SX_NAME_SIZE];
    size_t n = strlen(name);
    if (n >= sizeof plain) return SX_DENSITY_NONE;
    for (size_t i = 0; i <= n; i++) plain[i] = name[i] == '_' ? '-' : name[i];
    if (strcmp(plain, "fixed") == 0) return SX_DENSITY_FIXED_STRUCTURED;
    if (strcmp(plain, "uniform") == 0) return SX_DENSITY_HYPERGEOMETRIC;
    if (strcmp(plain, "real-data") == 0) return SX_DENSITY_ACTUAL;
    for (int i = 1; i <= SX_DENSITY_ACTUAL; i++)
        if (strcmp(plain, density_names[i]) == 0) return (sx_density_model)i;
    return SX_DENSITY_NONE;
}

/* Forgets how dense a tensor is. */
static void clear_density(sx_tensor *tensor) {
    tensor->density_model = SX_DENSITY_NONE;
    tensor->density = 0;
    tensor->band_width = 0;
    tensor->data_hash = 0;
    memset(tensor->data, 0, sizeof tensor->data);
}

sx_status sx_tensor_set_density(sx_tensor *tensor, sx_density_model model, double density) {
    if (!(density > 0 && density <= 1))
        return sx_error_new(SX_ERR_INPUT, "the density of '%s' is %g; it must be above 0 and at most 1",
                            tensor->name, density);
    clear_density(tensor);
    tensor->density_model = (uint8_t)model;
    tensor->density = density;
    return SX_OK;
}

/* The dimension that a rank of a tensor is, by itself; -1 where it is a sum of several that have more than one
 * iteration. */
static int only_dim(const sx_problem *problem, const sx_tensor *tensor, int rank) {
    int dim = -1;
    for (int d = 0; d < problem->n_dims; d++) {
        if (!tensor->coef[rank][d] || (dim >= 0 && problem->size[d] == 1)) continue;
        if (dim >= 0 && problem->size[dim] > 1) return -1;
        dim = d;
    }
    return dim >= 0 && (tensor->coef[rank][dim] == 1 || problem->size[dim] == 1) ? dim : -1;
}

sx_status sx_tensor_places(const sx_problem *problem, int index, uint8_t *dim) {
    const sx_tensor *tensor = &problem->tensor[index];
    unsigned seen = 0;
    for (int r = 0; r < tensor->n_ranks; r++) {
        int d = only_dim(problem, tensor, r);
        if (d < 0 || seen >> d & 1)
            return sx_error_hint(sx_error_new(SX_ERR_INPUT,
                                              "rank %d of '%s' is not one dimension of its own, so that the "
                                              "places of its non-zeros cannot be given",
                                              r + 1, tensor->name),
                                 "use a fixed-structured or hypergeometric density");
        seen |= 1u << d;
        dim[r] = (uint8_t)d;
    }
    return SX_OK;
}

__extension__ typedef unsigned __int128 wide;

/* The sum of all x below y, each taken as 0 where it is negative and as `most` where it is more. */
static wide clamped_sum(int64_t y, int64_t most) {
    if (y <= 0) return 0;
    wide n = (wide)y, limit = (wide)most;
    return n <= limit + 1 ? n * (n - 1) / 2 : limit * (limit + 1) / 2 + (n - 1 - limit) * limit;
}

/* The words (i, j) of a tile of a given number of rows and columns with i - j <= most. */
static uint64_t words_below(int64_t rows, int64_t columns, int64_t most) {
    return (uint64_t)(clamped_sum(most + 1 + columns, rows) - clamped_sum(most + 1, rows));
}

uint64_t sx_band_nonzeros(uint32_t width, int64_t offset, int64_t rows, int64_t columns) {
    return words_below(rows, columns, (int64_t)width - offset) -
           words_below(rows, columns, -(int64_t)width - offset - 1);
}

sx_status sx_problem_set_band(sx_problem *problem, int index, uint32_t width) {
    sx_tensor *tensor = &problem->tensor[index];
    uint8_t dim[SX_MAX_RANKS];
    if (tensor->n_ranks != 2)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "'%s' has %d ranks; a banded tensor has two",
                                          tensor->name, tensor->n_ranks),
                             "use a fixed-structured or hypergeometric density");
    SX_TRY(sx_tensor_places(problem, index, dim));
    double rows = problem->size[dim[0]], columns = problem->size[dim[1]];
    clear_density(tensor);
    tensor->density_model = SX_DENSITY_BANDED;
    tensor->band_width = width;
    tensor->density =
        (double)sx_band_nonzeros(width, 0, problem->size[dim[0]], problem->size[dim[1]]) / (rows * columns);
    return SX_OK;
}

sx_status sx_tensor_set_places(sx_tensor *tensor, const char *path, uint64_t hash, double density) {
    if (strlen(path) >= sizeof tensor->data)
        return sx_error_new(SX_ERR_LIMIT, "the path of a file with non-zeros has more than %d bytes",
                            SX_PATH_SIZE - 1);
    SX_TRY(sx_tensor_set_density(tensor, SX_DENSITY_ACTUAL, density));
    memcpy(tensor->data, path, strlen(path));
    tensor->data_hash = hash;
    return SX_OK;
}

sx_status sx_density_check(const sx_problem *problem, int index) {
    const sx_tensor *v = &problem->tensor[index];
    uint8_t dim[SX_MAX_RANKS];
    if (v->density_model > SX_DENSITY_ACTUAL)
        return sx_error_new(SX_ERR_INPUT, "tensor '%s' has an unknown density model", v->name);
    if (v->density_model == SX_DENSITY_NONE) {
        if (v->density == 0) return SX_OK;
        return sx_error_new(SX_ERR_INPUT, "tensor '%s' has a density without a model", v->name);
    }
    if (!(v->density > 0 && v->density <= 1))
        return sx_error_new(SX_ERR_INPUT, "the density of '%s' is %g; it must be above 0 and at most 1",
                            v->name, v->density);
    if (v->density_model < SX_DENSITY_BANDED) return SX_OK;
    if (v->density_model == SX_DENSITY_BANDED && v->n_ranks != 2)
        return sx_error_new(SX_ERR_INPUT, "'%s' has %d ranks; a banded tensor has two", v->name, v->n_ranks);
    if (v->density_model == SX_DENSITY_ACTUAL && (!v->data[0] || !memchr(v->data, 0, sizeof v->data)))
        return sx_error_new(SX_ERR_INPUT, "no file lists the non-zeros of '%s'", v->name);
    return sx_tensor_places(problem, index, dim);
}
