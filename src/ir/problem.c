#include "sextant/problem.h"

#include "base/status.h"
#include "ir/density.h"
#include "ir/rank.h"

#include <string.h>

int sx_problem_dim(const sx_problem *problem, const char *name) {
    for (int d = 0; d < problem->n_dims; d++)
        if (strcmp(problem->dim_name[d], name) == 0) return d;
    return -1;
}

int sx_problem_tensor(const sx_problem *problem, const char *name) {
    for (int v = 0; v < problem->n_tensors; v++)
        if (strcmp(problem->tensor[v].name, name) == 0) return v;
    for (int v = 0; v < problem->n_tensors; v++)
        if (problem->tensor[v].alias[0] && strcmp(problem->tensor[v].alias, name) == 0) return v;
    return -1;
}

int sx_problem_output(const sx_problem *problem) {
    for (int v = 0; v < problem->n_tensors; v++)
        if (problem->tensor[v].output) return v;
    return -1;
}

uint64_t sx_problem_computes(const sx_problem *problem) {
    uint64_t product = 1;
    for (int d = 0; d < problem->n_dims; d++) product *= problem->size[d];
    return product;
}

uint64_t sx_problem_words(const sx_problem *problem, int tensor) {
    uint64_t words = 1;
    for (int r = 0; r < problem->tensor[tensor].n_ranks; r++)
        words *= sx_rank_extent(problem, tensor, r, problem->size);
    return words;
}

/* Whether the product of n factors stays below 2^62. */
static bool product_fits(const double *factor, int n) {
    double product = 1;
    for (int i = 0; i < n; i++) product *= factor[i];
    return product < 0x1p62;
}

sx_status sx_tensor_set_bits(sx_tensor *tensor, uint64_t bits) {
    if (bits < 1 || bits > SX_MAX_ELEMENT_BITS)
        return sx_error_new(SX_ERR_INPUT, "tensor '%s': elements of %llu bits; 1 to %d are allowed",
                            tensor->name, (unsigned long long)bits, SX_MAX_ELEMENT_BITS);
    tensor->bits = (uint8_t)bits;
    return SX_OK;
}

static sx_status check_tensor(const sx_problem *problem, int index) {
    const sx_tensor *v = &problem->tensor[index];
    if (!memchr(v->name, 0, SX_NAME_SIZE) || !v->name[0])
        return sx_error_new(SX_ERR_INPUT, "tensor %d has no name", index + 1);
    if (sx_problem_tensor(problem, v->name) != index)
        return sx_error_new(SX_ERR_INPUT, "two tensors are called '%s'", v->name);
    if (!memchr(v->alias, 0, SX_NAME_SIZE) || (v->alias[0] && sx_problem_tensor(problem, v->alias) != index))
        return sx_error_new(SX_ERR_INPUT, "the alias of tensor '%s' is the name of another", v->name);
    if (v->n_ranks > SX_MAX_RANKS)
        return sx_error_new(SX_ERR_LIMIT, "tensor '%s' has %d ranks; at most %d are allowed", v->name,
                            v->n_ranks, SX_MAX_RANKS);
    if (v->bits > SX_MAX_ELEMENT_BITS)
        return sx_error_new(SX_ERR_LIMIT, "tensor '%s': elements of %d bits; 1 to %d are allowed", v->name,
                            v->bits, SX_MAX_ELEMENT_BITS);
    double extent[SX_MAX_RANKS];
    for (int r = 0; r < v->n_ranks; r++) {
        bool used = false;
        extent[r] = 1;
        for (int d = 0; d < problem->n_dims; d++) {
            int32_t coef = v->coef[r][d];
            if (coef > SX_MAX_COEF || coef < -SX_MAX_COEF)
                return sx_error_new(SX_ERR_LIMIT, "tensor '%s': coefficient %d of dimension %s is beyond %d",
                                    v->name, (int)coef, problem->dim_name[d], SX_MAX_COEF);
            used |= coef != 0;
            extent[r] += (coef < 0 ? -(double)coef : (double)coef) * (problem->size[d] - 1.0);
        }
        if (!used)
            return sx_error_new(SX_ERR_INPUT, "rank %d of tensor '%s' has no dimension", r + 1, v->name);
    }
    if (!product_fits(extent, v->n_ranks))
        return sx_error_new(SX_ERR_LIMIT, "tensor '%s' has more than 2^62 words", v->name);
    return sx_density_check(problem, index);
}

static sx_status check_dims(const sx_problem *problem) {
    double size[SX_MAX_DIMS];
    for (int d = 0; d < problem->n_dims; d++) {
        const char *name = problem->dim_name[d];
        if (!memchr(name, 0, SX_NAME_SIZE) || !name[0])
            return sx_error_new(SX_ERR_INPUT, "dimension %d has no name", d + 1);
        if (sx_problem_dim(problem, name) != d)
            return sx_error_new(SX_ERR_INPUT, "two dimensions are called '%s'", name);
        if (problem->size[d] < 1 || problem->size[d] > SX_MAX_DIM_SIZE)
            return sx_error_new(SX_ERR_LIMIT, "dimension %s has size %u; 1 to %u are allowed", name,
                                (unsigned)problem->size[d], SX_MAX_DIM_SIZE);
        size[d] = problem->size[d];
    }
    if (!product_fits(size, problem->n_dims))
        return sx_error_new(SX_ERR_LIMIT, "the problem has more than 2^62 multiply-accumulates");
    return SX_OK;
}

sx_status sx_problem_check(const sx_problem *problem) {
    if (problem->n_dims < 1 || problem->n_dims > SX_MAX_DIMS)
        return sx_error_new(SX_ERR_LIMIT, "the problem has %d dimensions; 1 to %d are allowed",
                            problem->n_dims, SX_MAX_DIMS);
    if (problem->n_tensors < 2 || problem->n_tensors > SX_MAX_TENSORS)
        return sx_error_new(SX_ERR_LIMIT, "the problem has %d tensors; 2 to %d are allowed",
                            problem->n_tensors, SX_MAX_TENSORS);
    SX_TRY(check_dims(problem));
    int outputs = 0;
    for (int v = 0; v < problem->n_tensors; v++) {
        SX_TRY(check_tensor(problem, v));
        outputs += problem->tensor[v].output;
    }
    if (outputs == 1) return SX_OK;
    return sx_error_hint(
        sx_error_new(SX_ERR_INPUT, "%d tensors are outputs; there must be exactly one", outputs),
        "in Timeloop's notation the output has `read-write: True`");
}
