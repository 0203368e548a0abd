#include "frontend/timeloop/projection.h"

/* Makes a text ready to be read. */
static sx_scan scan_of(const sx_node *node) {
    sx_place place = node->place;
    if (node->quoted) place.column++;
    return (sx_scan){node->text, node->text, place};
}

/* A fresh rank of the tensor. */
static SX_MUST_USE sx_status next_rank(sx_tensor *tensor, sx_place place, int32_t **coef) {
    if (tensor->n_ranks == SX_MAX_RANKS)
        return sx_error_at(place, "tensor '%s' has more than %d ranks", tensor->name, SX_MAX_RANKS);
    *coef = tensor->coef[tensor->n_ranks++];
    return SX_OK;
}

/* The number that stands behind a dimension in a term, or that its name means. */
static SX_MUST_USE sx_status read_coefficient(const sx_node *node, const sx_symbols *symbols, int64_t *out) {
    const char *text;
    SX_TRY(sx_node_text(node, "coefficient", &text));
    if (sx_text_i64(text, out)) return SX_OK;
    const sx_coefficient *coefficient = sx_symbols_coefficient(symbols, text);
    if (coefficient) {
        *out = coefficient->value;
        return SX_OK;
    }
    const char *names[64];
    size_t n = 0;
    for (; n < symbols->n_coefficients && n < 64; n++) names[n] = symbols->coefficient[n].name;
    return sx_error_unknown(node->place, "coefficient", text, names, n);
}

/* Adds a term [dimension] or [dimension, coefficient] to a rank. */
static SX_MUST_USE sx_status read_term(const sx_node *term, const sx_symbols *symbols, int32_t *coef) {
    const char *name;
    int64_t value = 1;
    if (term->kind != SX_NODE_LIST || term->n < 1 || term->n > 2)
        return sx_error_hint(sx_error_at(term->place, "a term of a projection must be [dimension] or "
                                                      "[dimension, coefficient]"),
                             "a rank is a list of terms: [ [P, Wstride], [R, Wdilation] ]");
    SX_TRY(sx_node_text(term->item[0], "dimension", &name));
    int dim = sx_problem_dim(symbols->problem, name);
    if (dim < 0) return sx_symbols_unknown(symbols, term->item[0]->place, name);
    if (term->n == 2) SX_TRY(read_coefficient(term->item[1], symbols, &value));
    return sx_affine_add(coef, dim, value, term->place);
}

/* Reads one rank: a sum as text, or a list of terms. */
static SX_MUST_USE sx_status read_rank(const sx_node *rank, const sx_symbols *symbols, sx_tensor *tensor) {
    int32_t *coef = NULL;
    SX_TRY(next_rank(tensor, rank->place, &coef));
    const sx_node *sum = rank->kind == SX_NODE_LIST && rank->n == 1 ? rank->item[0] : rank;
    if (sum->kind == SX_NODE_SCALAR) {
        sx_scan scan = scan_of(sum);
        SX_TRY(sx_affine_read(&scan, symbols, coef));
        return sx_scan_peek(&scan) ? sx_scan_expected(&scan, "'+' or '*'") : SX_OK;
    }
    if (rank->kind != SX_NODE_LIST || rank->n == 0)
        return sx_error_at(rank->place, "a rank of '%s' must be a sum of dimensions", tensor->name);
    for (size_t i = 0; i < rank->n; i++) SX_TRY(read_term(rank->item[i], symbols, coef));
    return SX_OK;
}

/* Reads all ranks from one text, with or without brackets around it. */
static SX_MUST_USE sx_status read_text(const sx_node *node, const sx_symbols *symbols, sx_tensor *tensor) {
    sx_scan scan = scan_of(node);
    bool bracket = sx_scan_take(&scan, "[");
    do {
        int32_t *coef = NULL;
        SX_TRY(next_rank(tensor, sx_scan_place(&scan), &coef));
        SX_TRY(sx_affine_read(&scan, symbols, coef));
    } while (sx_scan_take(&scan, ","));
    if (bracket && !sx_scan_take(&scan, "]")) return sx_scan_expected(&scan, "']' or ','");
    return sx_scan_peek(&scan) ? sx_scan_expected(&scan, "the end of the projection") : SX_OK;
}

sx_status sx_projection_read(const sx_node *node, const sx_symbols *symbols, sx_tensor *tensor) {
    if (node->kind == SX_NODE_SCALAR) return read_text(node, symbols, tensor);
    if (node->kind == SX_NODE_NULL)
        return sx_error_hint(sx_error_at(node->place, "the projection of '%s' is empty", tensor->name),
                             "that of a scalar is '[]'");
    for (size_t i = 0; i < node->n; i++)
        SX_TRY(read_rank(node->kind == SX_NODE_LIST ? node->item[i] : node->pair[i].value, symbols, tensor));
    return SX_OK;
}
