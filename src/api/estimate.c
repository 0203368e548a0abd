/* Estimates of components as callers see them. */
#include "sextant/estimate.h"

#include "base/status.h"
#include "frontend/catalog/catalog.h"
#include "frontend/input.h"
#include "report/estimates.h"
#include "sextant/all.h"

#include <string.h>

sx_status sx_input_estimate_by(sx_input *input, const char *estimator) {
    sx_estimator found;
    SX_TRY(sx_estimator_find(estimator, &found));
    sx_input_set_estimator(input, found);
    return SX_OK;
}

sx_status sx_input_add_arch(sx_input *input, const char *name) {
    const char *constraints = sx_catalog_constraints(name);
    SX_TRY(sx_catalog_add_arch(name, input));
    if (sx_input_estimator(input) != SX_ESTIMATOR_PRESET) sx_input_estimate_all(input);
    return constraints ? sx_input_add_text(input, "constraints", constraints, strlen(constraints)) : SX_OK;
}

/* The estimates of the architecture that was read last. */
static sx_status collect_estimates(const sx_input *input, const sx_arch *arch, sx_estimates *out) {
    out->arch = arch->name;
    out->estimator = sx_estimator_name(sx_input_estimator_used(input));
    out->component = sx_input_components(input, &out->n);
    if (out->n) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "the input has no architecture that was read"),
                         "call sx_input_arch() first");
}

sx_status sx_input_estimates(const sx_input *input, const sx_arch *arch, sx_format format, char **out) {
    sx_estimates estimates;
    sx_text text = {0};
    SX_TRY(collect_estimates(input, arch, &estimates));
    if (format == SX_YAML) return sx_estimates_write(&estimates, SX_TABLE_ERT | SX_TABLE_ART, out);
    SX_TRY(sx_estimates_json(&estimates, &text));
    return sx_text_take(&text, out);
}
