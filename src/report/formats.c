#include "report/formats.h"

#include "base/json.h"
#include "base/status.h"
#include "report/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const sx_tensor_format *sx_format_of(const sx_arch *arch, const sx_problem *problem, int level, int tensor) {
    const sx_sparse *sparse = &arch->sparse;
    for (int i = 0; i < sparse->n_formats; i++)
        if (sparse->format[i].level == level &&
            sx_problem_tensor(problem, sparse->name[sparse->format[i].tensor]) == tensor)
            return &sparse->format[i];
    return NULL;
}

void sx_format_name(const sx_arch *arch, const sx_tensor_format *format, char text[SX_FORMAT_NAME_SIZE]) {
    size_t n = 0;
    strcpy(text, format ? "" : "none");
    for (int r = format ? format->n_ranks - 1 : -1; r >= 0; r--) {
        const char *name = sx_rank_kind_name((sx_rank_kind)arch->sparse.rank[format->first + r].kind);
        n += (size_t)snprintf(text + n, SX_FORMAT_NAME_SIZE - n, "%s%s", n ? " " : "", name);
    }
}

sx_status sx_formats_settle(const sx_problem *problem, const sx_mapping *mapping, sx_model_options *options,
                            sx_arch *arch) {
    sx_model *model;
    if (options->formats.kinds == 0) return SX_OK;
    SX_TRY(sx_model_new(problem, arch, options, &model));
    sx_status status = sx_model_settle_formats(model, mapping, arch);
    sx_model_free(model);
    options->formats.kinds = 0;
    return status;
}

/* Whether a level keeps a tensor for which it is given a format. */
static bool is_open(const sx_arch *given, const sx_problem *problem, const sx_mapping *mapping, int s,
                    int v) {
    return mapping->level[s].keep >> v & 1 && sx_format_of(given, problem, s, v);
}

void sx_formats_print(const sx_arch *given, const sx_arch *chosen, const sx_problem *problem,
                      const sx_mapping *mapping, sx_text *out) {
    sx_text line = {0};
    for (int v = 0; v < problem->n_tensors; v++) {
        int n = 0;
        for (int s = given->n_levels - 1; s >= 0; s--) {
            char name[SX_FORMAT_NAME_SIZE];
            if (!is_open(given, problem, mapping, s, v)) continue;
            sx_format_name(chosen, sx_format_of(chosen, problem, s, v), name);
            sx_text_add(
                &line, n++ ? ", " : "%s%s: ", line.size ? "; " : "Formats chosen: ", problem->tensor[v].name);
            sx_text_add(&line, "%s at %s", name, given->level[s].name);
        }
    }
    if (line.size) {
        sx_text_add(&line, ".");
        sx_text_add(out, "  ");
    }
    sx_wrap_free(&line, 2, 2, out);
}

json_t *sx_formats_object(const sx_arch *given, const sx_arch *chosen, const sx_problem *problem,
                          const sx_mapping *mapping) {
    json_t *object = json_object();
    for (int s = given->n_levels - 1; s >= 0; s--) {
        json_t *level = json_object();
        for (int v = 0; v < problem->n_tensors; v++) {
            char name[SX_FORMAT_NAME_SIZE];
            if (!is_open(given, problem, mapping, s, v)) continue;
            sx_format_name(chosen, sx_format_of(chosen, problem, s, v), name);
            sx_json_set(level, problem->tensor[v].name, json_string(name));
        }
        if (json_object_size(level))
            sx_json_set(object, given->level[s].name, level);
        else
            json_decref(level);
    }
    return object;
}

sx_status sx_formats_json(const sx_result *r, size_t layer, json_t **out) {
    const sx_problem *problem = &r->network.layer[layer].problem;
    const sx_mapping *mapping = &r->session.layer[layer].best.mapping;
    sx_model_options options = r->options.model;
    *out = NULL;
    if (options.formats.kinds == 0 || !r->session.layer[layer].found) return SX_OK;
    sx_arch *chosen = malloc(sizeof *chosen);
    if (!chosen) return sx_error_memory();
    *chosen = r->arch;
    sx_status status = sx_formats_settle(problem, mapping, &options, chosen);
    if (!status) *out = sx_formats_object(&r->arch, chosen, problem, mapping);
    free(chosen);
    return status || *out ? status : sx_error_memory();
}
