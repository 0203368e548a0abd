/* Einsum text: "O[n,k,p,q] += I[n,c,2*p+r,2*q+s]*W[k,c,r,s] {n:1,k:4,...}". The braces give the dimensions,
 * in their order; the output comes first among the tensors. Further braces give the widths of elements and the
 * densities of tensors that are not dense: "{W:8bit,W:hypergeometric:0.1}". */
#include "frontend/einsum.h"
#include "base/decimal.h"
#include "base/text.h"
#include "frontend/affine.h"
#include "text/coordinates.h"
#include "text/document/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads "name: size" pairs between braces. */
static SX_MUST_USE sx_status read_sizes(sx_scan *scan, sx_problem *problem) {
    if (!sx_scan_take(scan, "{")) return sx_scan_expected(scan, "'{' with the sizes of the dimensions");
    do {
        sx_place place = sx_scan_place(scan);
        int d = problem->n_dims;
        char name[SX_NAME_SIZE];
        int64_t size;
        if (!sx_scan_name(scan, name)) return sx_scan_expected(scan, "the name of a dimension");
        if (sx_problem_dim(problem, name) >= 0)
            return sx_error_at(place, "dimension '%s' has two sizes", name);
        if (d == SX_MAX_DIMS) return sx_error_at(place, "more than %d dimensions", SX_MAX_DIMS);
        if (!sx_scan_take(scan, ":") && !sx_scan_take(scan, "=")) return sx_scan_expected(scan, "':'");
        place = sx_scan_place(scan);
        if (!sx_scan_number(scan, &size) || size < 1 || size > SX_MAX_DIM_SIZE)
            return sx_error_at(place, "the size of dimension '%s' must be a whole number from 1 to %u", name,
                               SX_MAX_DIM_SIZE);
        memcpy(problem->dim_name[d], name, sizeof name);
        problem->size[d] = (uint32_t)size;
        problem->n_dims++;
    } while (sx_scan_take(scan, ","));
    if (!sx_scan_take(scan, "}")) return sx_scan_expected(scan, "'}' or ','");
    return SX_OK;
}

/* Reads the share of non-zeros of a tensor, before which its model may stand. */
static SX_MUST_USE sx_status read_density(sx_scan *scan, const sx_path_scope *scope, sx_problem *problem,
                                          int v) {
    sx_density_model model = SX_DENSITY_FIXED_STRUCTURED;
    char name[SX_NAME_SIZE], number[SX_PATH_SIZE];
    double share;
    sx_place place = sx_scan_place(scan);
    if (sx_scan_name(scan, name)) {
        model = sx_density_model_named(name);
        if (model == SX_DENSITY_NONE || !sx_scan_take(scan, ":"))
            return sx_error_hint(sx_error_at(place, "expected a density"),
                                 "such as 0.1 or hypergeometric:0.1");
        place = sx_scan_place(scan);
    }
    (void)sx_scan_peek(scan);
    size_t n = model == SX_DENSITY_ACTUAL ? strcspn(scan->at, ",}") : strspn(scan->at, "0123456789.eE+-");
    if (n >= sizeof number) n = 0;
    memcpy(number, scan->at, n);
    number[n] = 0;
    scan->at += n;
    if (model == SX_DENSITY_ACTUAL) {
        char path[SX_PATH_SIZE];
        SX_TRY(sx_path_find(scope, place, SX_NONZEROS_FILE, number, path));
        return sx_error_place(sx_problem_set_data(problem, v, path), place);
    }
    bool whole = model == SX_DENSITY_BANDED;
    if (!sx_text_double(number, &share) ||
        (whole && !(share >= 0 && share <= SX_MAX_DIM_SIZE && share == floor(share))))
        return sx_error_at(place,
                           whole ? "expected the width of the band" : "expected a density from 0 to 1");
    if (whole) return sx_error_place(sx_problem_set_band(problem, v, (uint32_t)share), place);
    return sx_error_place(sx_tensor_set_density(&problem->tensor[v], model, share), place);
}

/* Reads the width of a tensor's elements, such as 8bit, if that is what comes next. */
static SX_MUST_USE sx_status read_bits(sx_scan *scan, sx_tensor *tensor, bool *found) {
    sx_place place = sx_scan_place(scan);
    (void)sx_scan_peek(scan);
    size_t digits = strspn(scan->at, "0123456789");
    *found = digits > 0 && strncmp(scan->at + digits, "bit", 3) == 0;
    if (!*found) return SX_OK;
    unsigned long bits = strtoul(scan->at, NULL, 10);
    scan->at += digits + 3;
    return sx_error_place(sx_tensor_set_bits(tensor, bits), place);
}

/* Reads "tensor: width" and "tensor: density" pairs between braces, if there are any, and the end of the text. */
static SX_MUST_USE sx_status read_facts(sx_scan *scan, const sx_path_scope *scope, sx_problem *problem) {
    if (sx_scan_take(scan, "{")) {
        do {
            char name[SX_NAME_SIZE];
            if (!sx_scan_name(scan, name) || sx_problem_tensor(problem, name) < 0)
                return sx_scan_expected(scan, "the name of a tensor");
            if (!sx_scan_take(scan, ":") && !sx_scan_take(scan, "=")) return sx_scan_expected(scan, "':'");
            int v = sx_problem_tensor(problem, name);
            bool width;
            SX_TRY(read_bits(scan, &problem->tensor[v], &width));
            if (!width) SX_TRY(read_density(scan, scope, problem, v));
        } while (sx_scan_take(scan, ","));
        if (!sx_scan_take(scan, "}")) return sx_scan_expected(scan, "'}' or ','");
    }
    if (sx_scan_peek(scan)) return sx_scan_expected(scan, "the end of the text");
    return SX_OK;
}

/* Reads "name[sum, sum, ...]", or "name[]" for a scalar, as the next tensor. */
static SX_MUST_USE sx_status read_tensor(sx_scan *scan, sx_problem *problem, bool output) {
    sx_symbols symbols = {.problem = problem, .einsum = true};
    sx_place place = sx_scan_place(scan);
    char name[SX_NAME_SIZE];
    if (!sx_scan_name(scan, name)) return sx_scan_expected(scan, "the name of a tensor");
    if (sx_problem_tensor(problem, name) >= 0) return sx_error_at(place, "two tensors are called '%s'", name);
    if (problem->n_tensors == SX_MAX_TENSORS)
        return sx_error_at(place, "more than %d tensors", SX_MAX_TENSORS);
    sx_tensor *tensor = &problem->tensor[problem->n_tensors];
    memcpy(tensor->name, name, sizeof name);
    tensor->output = output;
    if (!sx_scan_take(scan, "[")) return sx_scan_expected(scan, "'['");
    while (sx_scan_peek(scan) != ']') {
        if (tensor->n_ranks == SX_MAX_RANKS)
            return sx_error_at(sx_scan_place(scan), "tensor '%s' has more than %d ranks", name, SX_MAX_RANKS);
        SX_TRY(sx_affine_read(scan, &symbols, tensor->coef[tensor->n_ranks]));
        tensor->n_ranks++;
        if (!sx_scan_take(scan, ",")) break;
    }
    if (!sx_scan_take(scan, "]"))
        return sx_error_hint(sx_scan_expected(scan, "']', ',' or '+'"), "is ']' of '%s[' missing?", name);
    problem->n_tensors++;
    return SX_OK;
}

sx_status sx_einsum_parse_at(const char *text, sx_place start, const sx_path_scope *scope, sx_problem *out) {
    sx_problem problem;
    memset(&problem, 0, sizeof problem);
    const char *brace = strchr(text, '{');
    sx_scan scan = {text, text, start}, sizes = {text, brace ? brace : text + strlen(text), start};
    SX_TRY(read_sizes(&sizes, &problem));
    SX_TRY(read_tensor(&scan, &problem, true));
    if (!sx_scan_take(&scan, "+=") && !sx_scan_take(&scan, "=")) return sx_scan_expected(&scan, "'+='");
    do SX_TRY(read_tensor(&scan, &problem, false));
    while (sx_scan_take(&scan, "*"));
    if (sx_scan_peek(&scan) != '{') return sx_scan_expected(&scan, "'*' or '{'");
    SX_TRY(read_facts(&sizes, scope, &problem));
    SX_TRY(sx_error_place(sx_problem_check(&problem), start));
    memcpy(out, &problem, sizeof *out);
    return SX_OK;
}

sx_status sx_einsum_parse(const char *text, sx_problem *out) {
    return sx_einsum_parse_at(text, (sx_place){"einsum", 1, 1}, &sx_path_any, out);
}

/* Adds a rank as a sum of terms. */
static void add_rank(sx_text *text, const sx_problem *problem, const int32_t *coef) {
    const char *plus = "";
    for (int d = 0; d < problem->n_dims; d++) {
        if (coef[d] == 0) continue;
        sx_text_add(text, "%s", coef[d] < 0 ? "-" : plus);
        if (coef[d] != 1 && coef[d] != -1) sx_text_add(text, "%d*", coef[d] < 0 ? -coef[d] : coef[d]);
        sx_text_add(text, "%s", problem->dim_name[d]);
        plus = "+";
    }
}

static void add_tensor(sx_text *text, const sx_problem *problem, const sx_tensor *tensor) {
    sx_text_add(text, "%s[", tensor->name);
    for (int r = 0; r < tensor->n_ranks; r++) {
        if (r) sx_text_add(text, ",");
        add_rank(text, problem, tensor->coef[r]);
    }
    sx_text_add(text, "]");
}

/* Refuses a name that einsum text cannot hold. */
static SX_MUST_USE sx_status check_name(const char *name) {
    if (sx_name_simple(name)) return SX_OK;
    return sx_error_new(SX_ERR_INPUT, "'%s' cannot be a name in einsum text", name);
}

/* Adds the widths and densities of tensors that have one. */
static void add_facts(sx_text *text, const sx_problem *problem) {
    bool any = false;
    for (int v = 0; v < problem->n_tensors; v++) {
        const sx_tensor *tensor = &problem->tensor[v];
        if (!tensor->bits) continue;
        sx_text_add(text, "%s%s:%dbit", any ? "," : " {", tensor->name, tensor->bits);
        any = true;
    }
    for (int v = 0; v < problem->n_tensors; v++) {
        const sx_tensor *tensor = &problem->tensor[v];
        if (tensor->density_model == SX_DENSITY_NONE) continue;
        char share[SX_DECIMAL_SIZE];
        sx_decimal_text(tensor->density, share);
        sx_text_add(text, "%s%s:", any ? "," : " {", tensor->name);
        if (tensor->density_model != SX_DENSITY_FIXED_STRUCTURED)
            sx_text_add(text, "%s:", sx_density_model_name((sx_density_model)tensor->density_model));
        if (tensor->density_model == SX_DENSITY_BANDED)
            sx_text_add(text, "%u", (unsigned)tensor->band_width);
        else
            sx_text_add(text, "%s", tensor->density_model == SX_DENSITY_ACTUAL ? tensor->data : share);
        any = true;
    }
    if (any) sx_text_add(text, "}");
}

sx_status sx_einsum_text(const sx_problem *problem, char **out) {
    SX_TRY(sx_problem_check(problem));
    for (int d = 0; d < problem->n_dims; d++) SX_TRY(check_name(problem->dim_name[d]));
    for (int v = 0; v < problem->n_tensors; v++) {
        SX_TRY(check_name(problem->tensor[v].name));
        if (strpbrk(problem->tensor[v].data, ",}"))
            return sx_error_new(SX_ERR_INPUT, "'%s' cannot be a file in einsum text",
                                problem->tensor[v].data);
    }
    sx_text text = {0};
    int output = sx_problem_output(problem);
    add_tensor(&text, problem, &problem->tensor[output]);
    const char *sign = " += ";
    for (int v = 0; v < problem->n_tensors; v++) {
        if (v == output) continue;
        sx_text_add(&text, "%s", sign);
        add_tensor(&text, problem, &problem->tensor[v]);
        sign = "*";
    }
    for (int d = 0; d < problem->n_dims; d++)
        sx_text_add(&text, "%s%s:%u", d ? "," : " {", problem->dim_name[d], (unsigned)problem->size[d]);
    sx_text_add(&text, "}");
    add_facts(&text, problem);
    return sx_text_take(&text, out);
}
