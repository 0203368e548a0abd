#include "input/density.h"

#include "base/choice.h"
#include "input/tensor_option.h"
#include "text/document/document.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The error for a value that cannot be read. */
static sx_status malformed_density(const char *text) {
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

/* Whether some layer has a tensor of a name or role. */
static bool has_tensor(const sx_network *network, const char *name) {
    for (size_t i = 0; i < network->n_layers; i++)
        if (sx_option_tensor(&network->layer[i].problem, name) >= 0) return true;
    return false;
}

sx_status sx_densities_check(const sx_density_range *range, const sx_network *network) {
    for (int t = 0; range->n && t < range->n_tensors; t++)
        if (!has_tensor(network, range->tensor[t].name))
            return sx_option_no_tensor("--densities", range->tensor[t].name, network);
    return SX_OK;
}

/* Gives a tensor a density in every layer that has it. */
static sx_status apply_density(const char *name, const density *d, sx_network *network) {
    bool found = false;
    for (size_t i = 0; i < network->n_layers; i++) {
        sx_problem *problem = &network->layer[i].problem;
        int v = sx_option_tensor(problem, name);
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

/* Applies one TENSOR=[MODEL:]VALUE. */
static sx_status apply_part(const char *text, char *part, sx_network *network) {
    density d = {.model = SX_DENSITY_FIXED_STRUCTURED};
    char *value = strchr(part, '=');
    if (!value || value == part) return malformed_density(text);
    *value++ = 0;
    char *colon = strchr(value, ':');
    if (colon) {
        *colon = 0;
        d.model = sx_density_model_named(value);
        value = colon + 1;
    }
    d.file = value;
    if (d.model == SX_DENSITY_NONE || !*value) return malformed_density(text);
    if (d.model != SX_DENSITY_ACTUAL && !sx_text_double(value, &d.value)) return malformed_density(text);
    if (d.model == SX_DENSITY_BANDED &&
        !(d.value >= 0 && d.value <= SX_MAX_DIM_SIZE && d.value == floor(d.value)))
        return malformed_density(text);
    return apply_density(part, &d, network);
}

sx_status sx_density_apply(const sx_args *args, sx_network *network) {
    const char *semantics = sx_args_text(args, "sparse-semantics", 0);
    if (semantics) SX_TRY(sx_choice_read("--sparse-semantics", semantics, "exact, timeloop", NULL));
    return sx_option_apply(args, "density", apply_part, network);
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
