#include "frontend/affine.h"

#include "text/document/document.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const sx_coefficient *sx_symbols_coefficient(const sx_symbols *symbols, const char *name) {
    for (size_t i = 0; i < symbols->n_coefficients; i++)
        if (strcmp(symbols->coefficient[i].name, name) == 0) return &symbols->coefficient[i];
    return NULL;
}

sx_status sx_symbols_unknown(const sx_symbols *symbols, sx_place place, const char *name) {
    if (symbols->einsum)
        return sx_error_hint(sx_error_at(place, "dimension '%s' has no size", name), "add %s:N in the braces",
                             name);
    size_t n = symbols->problem->n_dims, total = n + symbols->n_coefficients;
    const char **known = calloc(total + 1, sizeof *known);
    if (!known) return sx_error_memory();
    for (size_t i = 0; i < total; i++)
        known[i] = i < n ? symbols->problem->dim_name[i] : symbols->coefficient[i - n].name;
    sx_status error = sx_error_unknown(place, "dimension", name, known, total);
    free(known);
    return error;
}

sx_status sx_affine_add(int32_t *coef, int dim, int64_t value, sx_place place) {
    int64_t sum = coef[dim] + value;
    if (value > SX_MAX_COEF || value < -SX_MAX_COEF || sum > SX_MAX_COEF || sum < -SX_MAX_COEF)
        return sx_error_at(place, "a coefficient is beyond %d", SX_MAX_COEF);
    coef[dim] = (int32_t)sum;
    return SX_OK;
}

/* Reads a factor of a term: a dimension (into *dim) or a number (into *value). */
static SX_MUST_USE sx_status read_factor(sx_scan *scan, const sx_symbols *symbols, int *dim, int64_t *value) {
    sx_place place = sx_scan_place(scan);
    char name[SX_NAME_SIZE];
    int64_t number;
    if (!sx_scan_name(scan, name)) {
        if (!sx_scan_number(scan, &number)) return sx_scan_expected(scan, "a dimension or a number");
        if (number > SX_MAX_COEF) return sx_error_at(place, "a coefficient is beyond %d", SX_MAX_COEF);
        if (isalpha((unsigned char)*scan->at))
            return sx_error_hint(sx_error_at(place, "missing '*' between a number and a name"),
                                 "write '%d*%.16s'", (int)number, scan->at);
        *value = number;
        return SX_OK;
    }
    if (sx_scan_peek(scan) == '[')
        return sx_error_hint(sx_error_at(place, "']' is missing before '%s['", name),
                             "close the brackets of one tensor before the next");
    *dim = sx_problem_dim(symbols->problem, name);
    if (*dim >= 0) return SX_OK;
    const sx_coefficient *coefficient = sx_symbols_coefficient(symbols, name);
    if (!coefficient) return sx_symbols_unknown(symbols, place, name);
    *value = coefficient->value;
    return SX_OK;
}

/* Reads a product of numbers and one dimension, and adds it. */
static SX_MUST_USE sx_status read_term(sx_scan *scan, const sx_symbols *symbols, int sign, int32_t *coef) {
    sx_place place = sx_scan_place(scan);
    int term_dim = -1;
    int64_t product = sign;
    do {
        sx_place factor_place = sx_scan_place(scan);
        int dim = -1;
        int64_t value = 1;
        SX_TRY(read_factor(scan, symbols, &dim, &value));
        if (dim >= 0 && term_dim >= 0)
            return sx_error_hint(sx_error_at(factor_place, "two dimensions are multiplied"),
                                 "a rank is a sum of dimensions with numbers before them");
        if (dim >= 0) term_dim = dim;
        product *= value;
        if (product > SX_MAX_COEF || product < -SX_MAX_COEF)
            return sx_error_at(factor_place, "a coefficient is beyond %d", SX_MAX_COEF);
    } while (sx_scan_take(scan, "*"));
    if (term_dim < 0)
        return sx_error_hint(sx_error_at(place, "constant term in a sum"),
                             "remove it: an offset moves a tensor but does not change its size");
    return sx_affine_add(coef, term_dim, product, place);
}

sx_status sx_affine_read(sx_scan *scan, const sx_symbols *symbols, int32_t *coef) {
    int sign = sx_scan_take(scan, "-") ? -1 : 1;
    for (;;) {
        SX_TRY(read_term(scan, symbols, sign, coef));
        if (sx_scan_peek(scan) == '+' && scan->at[1] == '=') return SX_OK;
        if (sx_scan_take(scan, "+"))
            sign = 1;
        else if (sx_scan_take(scan, "-"))
            sign = -1;
        else
            return SX_OK;
    }
}
