#include "cli/density.h"

#include "base/text.h"
#include "frontend/document/document.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The error for a value that cannot be read. */
static sx_status malformed(const char *text) {
    return sx_error_hint(
        sx_error_new(SX_ERR_USAGE, "--density '%s' is not TENSOR=[MODEL:]VALUE,...", text),
        "such as --density Weights=0.1,Inputs=hypergeometric:0.5; models are fixed-structured and "
        "hypergeometric with a share, banded with a width and actual with a file");
}

/* What an option says of a tensor: a share, a width or a file. */
typedef struct density {
    sx_density_model model;
    double value;
    const char *file;
} density;

sx_status sx_option_no_tensor(const char *option, const char *name, const sx_network *network) {
    const char *known[SX_MAX_TENSORS];
    const sx_problem *first = &network->layer[0].problem;
    for (int v = 0; v < first->n_tensors; v++) known[v] = first->tensor[v].name;
    char what[32];
    snprintf(what, sizeof what, "tensor of %s", option);
    return sx_error_unknown((sx_place){0}, what, name, known, first->n_tensors);
}

/* Whether some layer has a tensor of a name or role. */
static bool has_tensor(const sx_network *network, const char *name) {
    for (size_t i = 0; i < network->n_layers; i++) {
        const sx_problem *problem = &network->layer[i].problem;
        if (sx_problem_tensor(problem, name) >= 0 || sx_problem_role(problem, name) >= 0) return true;
    }
    return false;
}

sx_status sx_densities_check(const sx_density_range *range, const sx_network *network) {
    for (int t = 0; range->n && t < range->n_tensors; t++)
        if (!has_tensor(network, range->tensor[t].name))
            return sx_option_no_tensor("--densities", range->tensor[t].name, network);
    return SX_OK;
}

/* Gives a tensor a density in every layer that has it. */
static sx_status apply(const char *name, const density *d, sx_network *network) {
    bool found = false;
    for (size_t i = 0; i < network->n_layers; i++) {
        sx_problem *problem = &network->layer[i].problem;
        int v = sx_problem_tensor(problem, name);
        if (v < 0) v = sx_problem_role(problem, name);
        if (v < 0) continue;
        found = true;
        if (d->model == SX_DENSITY_ACTUAL)
            SX_TRY(sx_problem_set_data(problem, v, d->file));
        else if (d->model == SX_DENSITY_BANDED)
            SX_TRY(sx_problem_set_band(problem, v, (uint32_t)d->value));
        else
            SX_TRY(sx_tensor_set_density(&problem->tensor[v], d->model, d->value));
    }
    if (found) return SX_OK;
    return sx_option_no_tensor("--density", name, network);
}

/* Applies one TENSOR=[MODEL:]VALUE of so many bytes. */
static sx_status apply_part(const char *text, const char *part, size_t size, sx_network *network) {
    char copy[SX_PATH_SIZE + 2 * SX_NAME_SIZE];
    density d = {.model = SX_DENSITY_FIXED_STRUCTURED};
    if (size >= sizeof copy) return malformed(text);
    memcpy(copy, part, size);
    copy[size] = 0;
    char *value = strchr(copy, '=');
    if (!value || value == copy) return malformed(text);
    *value++ = 0;
    char *colon = strchr(value, ':');
    if (colon) {
        *colon = 0;
        d.model = sx_density_model_named(value);
        value = colon + 1;
    }
    d.file = value;
    if (d.model == SX_DENSITY_NONE || !*value) return malformed(text);
    if (d.model != SX_DENSITY_ACTUAL && !sx_text_double(value, &d.value)) return malformed(text);
    if (d.model == SX_DENSITY_BANDED &&
        !(d.value >= 0 && d.value <= SX_MAX_DIM_SIZE && d.value == floor(d.value)))
        return malformed(text);
    return apply(copy, &d, network);
}

sx_status sx_density_apply(const sx_args *args, sx_network *network) {
    const char *text, *semantics = sx_args_text(args, "sparse-semantics", 0);
    if (semantics && strcmp(semantics, "exact") != 0 && strcmp(semantics, "timeloop") != 0)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--sparse-semantics: '%s' is not a valid value", semantics),
            "valid values: exact, timeloop");
    for (size_t i = 0; (text = sx_args_text(args, "density", i)); i++)
        for (const char *at = text;; at++) {
            size_t size = strcspn(at, ",");
            SX_TRY(apply_part(text, at, size, network));
            at += size;
            if (!*at) break;
        }
    return SX_OK;
}

sx_status sx_formats_read(const sx_args *args, const sx_objective *objective, sx_format_search *out) {
    const char *kinds = sx_args_text(args, "formats", 0);
    if (!sx_args_flag(args, "search-formats")) {
        if (!kinds) return SX_OK;
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--formats has an effect with --search-formats alone"),
            "add --search-formats");
    }
    SX_TRY(sx_format_search_parse(kinds ? kinds : "none", out));
    return sx_format_search_aim(out, objective);
}
