#include "input/tensor_option.h"

#include "base/status.h"
#include "base/text.h"
#include "text/document/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name that a part begins with; of no characters where it is for all tensors. */
static size_t name_size(const char *part) {
    size_t size = strcspn(part, "=,");
    return part[size] == '=' ? size : 0;
}

/* Refuses a part that overrides an earlier one: of the same name, or without a name after one that has one. */
static sx_status refuse_override(const char *option, const char *all, const char *part) {
    const size_t size = name_size(part);
    for (const char *at = all; at < part; at += strcspn(at, ",") + 1) {
        const size_t before = name_size(at);
        if (size && (before != size || strncmp(at, part, size) != 0)) continue;
        if (size || !before)
            return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s gives %.*s two values", option,
                                              size ? (int)size : 11, size ? part : "all tensors"),
                                 "leave one of them out");
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s: '%.*s' overrides '%.*s'", option,
                                          (int)strcspn(part, ","), part, (int)strcspn(at, ","), at),
                             "write first what is for all tensors");
    }
    return SX_OK;
}

/* Applies the parts of all values; `copy` is where they are cut apart. */
static sx_status apply_parts(const char *option, const char *all, char *copy, sx_option_part *apply,
                             sx_network *network) {
    for (char *at = copy, *next; at; at = next) {
        SX_TRY(refuse_override(option, all, all + (at - copy)));
        next = strchr(at, ',');
        if (next) *next++ = 0;
        SX_TRY(apply(all, at, network));
    }
    return SX_OK;
}

sx_status sx_option_apply(const sx_args *args, const char *option, sx_option_part *apply,
                          sx_network *network) {
    sx_text all = {0};
    const char *text;
    for (size_t i = 0; (text = sx_args_text(args, option, i)); i++)
        sx_text_add(&all, "%s%s", i ? "," : "", text);
    if (!all.size && !all.failed) return SX_OK;
    char *joined, *copy;
    SX_TRY(sx_text_take(&all, &joined));
    copy = strdup(joined);
    sx_status status = copy ? apply_parts(option, joined, copy, apply, network) : sx_error_memory();
    free(copy);
    free(joined);
    return status;
}

int sx_option_tensor(const sx_problem *problem, const char *name) {
    int v = sx_problem_tensor(problem, name);
    return v < 0 ? sx_problem_role(problem, name) : v;
}

sx_status sx_option_no_tensor(const char *option, const char *name, const sx_network *network) {
    const char *known[SX_MAX_TENSORS];
    const sx_problem *first = &network->layer[0].problem;
    for (int v = 0; v < first->n_tensors; v++) known[v] = first->tensor[v].name;
    char what[32];
    snprintf(what, sizeof what, "tensor of %s", option);
    return sx_error_unknown((sx_place){0}, what, name, known, first->n_tensors);
}
