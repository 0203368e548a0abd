/* The problem of a certificate: dimensions, sizes, and ranks as sums of dimensions with coefficients. */
#include "check/reader.h"

/* The value of a coefficient: a number, or a name that the shape gives a value. */
static sx_status read_coefficient(const sx_node *node, const sx_node *shape, int32_t *out) {
    const sx_node *list = sx_node_get(shape, "coefficients"), *name;
    int64_t value;
    const char *text;
    SX_TRY(sx_node_text(node, "coefficient", &text));
    if (sx_text_i64(text, &value)) {
        if (value == 0 || value > SX_MAX_COEF || value < -SX_MAX_COEF)
            return sx_error_at(node->place, "the coefficient %.20s is out of range", text);
        *out = (int32_t)value;
        return SX_OK;
    }
    for (size_t i = 0; list && i < list->n; i++) {
        SX_TRY(sx_node_require(list->item[i], "name", "a coefficient", &name));
        if (!sx_node_is(name, text)) continue;
        SX_TRY(sx_node_require(list->item[i], "default", "a coefficient", &name));
        SX_TRY(sx_node_i64(name, "default", &value));
        if (value == 0 || value > SX_MAX_COEF || value < -SX_MAX_COEF)
            return sx_error_at(name->place, "the coefficient is out of range");
        *out = (int32_t)value;
        return SX_OK;
    }
    return sx_error_at(node->place, "there is no coefficient '%.64s'", text);
}

/* Reads one term of a rank: a dimension, and its coefficient where that is not 1. */
static sx_status read_term(const sx_node *term, const sx_node *shape, const sx_problem *problem,
                           int32_t *rank) {
    const char *name;
    int32_t coefficient = 1;
    SX_TRY(sx_node_expect(term, SX_NODE_LIST, "a term of a rank"));
    if (term->n < 1 || term->n > 2)
        return sx_error_at(term->place, "a term is a dimension and a coefficient");
    SX_TRY(sx_node_text(term->item[0], "dimension", &name));
    int d = sx_problem_dim(problem, name);
    if (d < 0) return sx_error_at(term->place, "there is no dimension '%.64s'", name);
    if (rank[d]) return sx_error_at(term->place, "a rank names the dimension '%.64s' twice", name);
    if (term->n == 2) SX_TRY(read_coefficient(term->item[1], shape, &coefficient));
    rank[d] = coefficient;
    return SX_OK;
}

static sx_status read_tensor(const sx_node *map, const sx_node *shape, const sx_problem *problem,
                             sx_tensor *out, sx_check_doubt *doubt) {
    static const char *const keys[] = {"name", "projection", "alias", "read-write", "bits"};
    const sx_node *ranks, *name;
    int64_t bits = 0;
    SX_TRY(sx_check_keys(map, "a tensor", keys, sizeof keys / sizeof *keys, doubt));
    SX_TRY(sx_node_require(map, "name", "a tensor", &name));
    SX_TRY(sx_node_name(name, "name", out->name));
    SX_TRY(sx_node_get_name(map, "alias", out->alias));
    SX_TRY(sx_node_get_bool(map, "read-write", &out->output));
    if (sx_node_get(map, "bits")) SX_TRY(sx_check_integer(map, "bits", 1, SX_MAX_ELEMENT_BITS, &bits));
    out->bits = (uint8_t)bits;
    SX_TRY(sx_node_require(map, "projection", "a tensor", &ranks));
    SX_TRY(sx_node_expect(ranks, SX_NODE_LIST, "projection"));
    if (ranks->n > SX_MAX_RANKS) return sx_error_at(ranks->place, "more than %d ranks", SX_MAX_RANKS);
    out->n_ranks = (uint8_t)ranks->n;
    for (size_t r = 0; r < ranks->n; r++) {
        SX_TRY(sx_node_expect(ranks->item[r], SX_NODE_LIST, "a rank"));
        for (size_t i = 0; i < ranks->item[r]->n; i++)
            SX_TRY(read_term(ranks->item[r]->item[i], shape, problem, out->coef[r]));
    }
    return SX_OK;
}

/* Reads the dimensions and their sizes. */
static sx_status read_sizes(const sx_node *shape, const sx_node *instance, sx_problem *out,
                            sx_check_doubt *doubt) {
    const sx_node *dims;
    const char *keys[SX_MAX_DIMS];
    SX_TRY(sx_node_require(shape, "dimensions", "the problem", &dims));
    SX_TRY(sx_node_expect(dims, SX_NODE_LIST, "dimensions"));
    if (dims->n > SX_MAX_DIMS) return sx_error_at(dims->place, "more than %d dimensions", SX_MAX_DIMS);
    for (size_t d = 0; d < dims->n; d++) {
        int64_t size;
        SX_TRY(sx_node_name(dims->item[d], "dimension", out->dim_name[d]));
        SX_TRY(sx_check_integer(instance, out->dim_name[d], 1, SX_MAX_DIM_SIZE, &size));
        out->size[d] = (uint32_t)size;
        keys[d] = out->dim_name[d];
    }
    out->n_dims = (uint8_t)dims->n;
    return sx_check_keys(instance, "the problem's instance", keys, dims->n, doubt);
}

/* Holds the maps of coefficients to their keys, and each to a name of its own. */
static sx_status check_coefficients(const sx_node *list, sx_check_doubt *doubt) {
    static const char *const keys[] = {"name", "default"};
    const sx_node *name, *other;
    if (!list) return SX_OK;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "coefficients"));
    for (size_t i = 0; i < list->n; i++) {
        const char *text;
        SX_TRY(sx_check_keys(list->item[i], "a coefficient", keys, 2, doubt));
        SX_TRY(sx_node_require(list->item[i], "name", "a coefficient", &name));
        SX_TRY(sx_node_text(name, "name", &text));
        for (size_t j = 0; j < i; j++) {
            SX_TRY(sx_node_require(list->item[j], "name", "a coefficient", &other));
            if (sx_node_is(other, text))
                return sx_error_at(name->place, "two coefficients are named '%.64s'", text);
        }
    }
    return SX_OK;
}

sx_status sx_check_read_problem(const sx_node *map, sx_problem *out, sx_check_doubt *doubt) {
    static const char *const keys[] = {"shape", "instance"};
    static const char *const shape_keys[] = {"name", "dimensions", "coefficients", "data-spaces"};
    const sx_node *shape, *instance, *tensors;
    SX_TRY(sx_check_keys(map, "the problem", keys, 2, doubt));
    SX_TRY(sx_node_require(map, "shape", "the problem", &shape));
    SX_TRY(sx_node_require(map, "instance", "the problem", &instance));
    SX_TRY(sx_check_keys(shape, "the problem's shape", shape_keys, 4, doubt));
    SX_TRY(check_coefficients(sx_node_get(shape, "coefficients"), doubt));
    SX_TRY(sx_node_get_name(shape, "name", out->name));
    SX_TRY(read_sizes(shape, instance, out, doubt));
    SX_TRY(sx_node_require(shape, "data-spaces", "the problem", &tensors));
    SX_TRY(sx_node_expect(tensors, SX_NODE_LIST, "data-spaces"));
    if (tensors->n > SX_MAX_TENSORS)
        return sx_error_at(tensors->place, "more than %d tensors", SX_MAX_TENSORS);
    for (size_t v = 0; v < tensors->n; v++)
        SX_TRY(read_tensor(tensors->item[v], shape, out, &out->tensor[v], doubt));
    out->n_tensors = (uint8_t)tensors->n;
    return sx_error_place(sx_problem_check(out), map->place);
}
