/* Ranges of densities as text. */
#include "base/status.h"
#include "base/text.h"
#include "sextant/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sx_status malformed_density(const char *text) {
    return sx_error_hint(sx_error_new(SX_ERR_USAGE,
                                      "densities '%s' are not TENSOR=[MODEL:]SHARE,SHARE,...[@WEIGHT,...]",
                                      text),
                         "such as Weights=1,0.8,0.5,0.2,0.1");
}

/* Reads a number that ends at a comma, an @ or the end; false where there is none. */
static bool read_number(const char **at, double *out) {
    char *end;
    *out = strtod(*at, &end);
    if (end == *at || (*end && *end != ',' && *end != '@')) return false;
    *at = end;
    return *out > 0 && *out <= 1e300;
}

/* Begins a tensor at "NAME=[MODEL:]"; *at moves to its first share. */
static bool begin_tensor(const char **at, const char *equals, sx_density_range *out) {
    if (out->n_tensors == SX_MAX_RANGE_TENSORS) return false;
    struct sx_range_tensor *t = &out->tensor[out->n_tensors++];
    size_t size = (size_t)(equals - *at), length = strcspn(equals, ":,@");
    if (size == 0 || size >= sizeof t->name) return false;
    memcpy(t->name, *at, size);
    t->model = SX_DENSITY_FIXED_STRUCTURED;
    *at = equals + 1;
    if (equals[length] != ':') return true;
    char model[SX_NAME_SIZE];
    if (length > sizeof model) return false;
    memcpy(model, equals + 1, length - 1);
    model[length - 1] = 0;
    t->model = (uint8_t)sx_density_model_named(model);
    *at = equals + length + 1;
    return t->model == SX_DENSITY_FIXED_STRUCTURED || t->model == SX_DENSITY_HYPERGEOMETRIC;
}

/* Ends a tensor of n shares; false where others have another number of them. */
static bool end_tensor(sx_density_range *range, uint8_t n) {
    if (range->n_tensors == 0) return true;
    bool same = range->n == 0 || range->n == n;
    range->n = n;
    return same;
}

/* Reads the tensors and their shares; *at moves to the end or to the @. */
static bool read_tensors(const char **at, sx_density_range *out) {
    uint8_t n = 0;
    for (;; (*at)++) {
        const char *equals = *at + strcspn(*at, "=,@");
        if (*equals == '=') {
            if (!end_tensor(out, n) || !begin_tensor(at, equals, out)) return false;
            n = 0;
        }
        if (out->n_tensors == 0 || n == SX_MAX_DENSITIES) return false;
        double *share = &out->tensor[out->n_tensors - 1].share[n++];
        if (!read_number(at, share) || *share > 1) return false;
        if (**at != ',') return end_tensor(out, n);
    }
}

/* Whether the shares of one index are the largest of all tensors. */
static bool has_densest(const sx_density_range *range) {
    for (int i = 0; i < range->n; i++) {
        bool most = true;
        for (int t = 0; t < range->n_tensors; t++)
            for (int k = 0; k < range->n; k++) most &= range->tensor[t].share[i] >= range->tensor[t].share[k];
        if (most) return true;
    }
    return false;
}

sx_status sx_density_range_parse(const char *text, sx_density_range *out) {
    sx_density_range range = {0};
    const char *at = text;
    if (!read_tensors(&at, &range)) return malformed_density(text);
    for (int i = 0; i < range.n; i++) {
        range.weight[i] = 1;
        for (int t = 0; t < range.n_tensors; t++) range.weight[i] /= range.tensor[t].share[i];
    }
    if (*at == '@')
        for (int i = 0; i < range.n; i++)
            if (*at++ == 0 || !read_number(&at, &range.weight[i])) return malformed_density(text);
    if (*at) return malformed_density(text);
    if (!has_densest(&range))
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "densities '%s': none of them is the largest of every tensor", text),
            "list the densities of all tensors from dense to sparse");
    *out = range;
    return SX_OK;
}

/* Adds numbers with commas, so that they are read back to the bit. */
static void add_numbers(sx_text *text, const double *number, int n) {
    for (int i = 0; i < n; i++) {
        char digits[40];
        snprintf(digits, sizeof digits, "%.15g", number[i]);
        if (strtod(digits, NULL) != number[i]) snprintf(digits, sizeof digits, "%.17g", number[i]);
        sx_text_add(text, "%s%s", i ? "," : "", digits);
    }
}

sx_status sx_density_range_text(const sx_density_range *range, char **out) {
    sx_text text = {0};
    for (int t = 0; t < range->n_tensors; t++) {
        bool fixed = range->tensor[t].model == SX_DENSITY_FIXED_STRUCTURED;
        sx_text_add(&text, "%s%s=%s%s", t ? "," : "", range->tensor[t].name,
                    fixed ? "" : sx_density_model_name((sx_density_model)range->tensor[t].model),
                    fixed ? "" : ":");
        add_numbers(&text, range->tensor[t].share, range->n);
    }
    sx_text_add(&text, "@");
    add_numbers(&text, range->weight, range->n);
    return sx_text_take(&text, out);
}

sx_status sx_density_range_aim(sx_density_range *range, const sx_objective *objective) {
    const sx_criterion *c = &objective->criterion[0];
    if (range->n == 0) return SX_OK;
    bool energy = c->energy_power == 0 || c->energy_power >= 1;
    if (objective->n_criteria != 1 || objective->network || c->kind != SX_PRODUCT || !energy ||
        c->delay_power < 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "this objective cannot be summed over densities"),
                             "use one product of energy and delay, such as edp, energy, delay or e^2*d");
    range->energy_power = c->energy_power;
    range->delay_power = c->delay_power;
    return SX_OK;
}

sx_status sx_density_range_apply(const sx_density_range *range, int index, sx_problem *problem) {
    for (int t = 0; t < range->n_tensors; t++) {
        const struct sx_range_tensor *from = &range->tensor[t];
        int v = sx_problem_tensor(problem, from->name);
        if (v < 0) v = sx_problem_role(problem, from->name);
        if (v >= 0)
            SX_TRY(sx_tensor_set_density(&problem->tensor[v], (sx_density_model)from->model,
                                         from->share[index]));
    }
    return SX_OK;
}
