#include "input/set_option.h"

#include "frontend/input.h"
#include "input/named.h"

#include <stdlib.h>
#include <string.h>

/* Splits a value of --set, number `index`; *value is NULL past the last. */
static sx_status read_setting(const sx_args *args, size_t index, char name[SX_NAME_SIZE],
                              const char **value) {
    const char *text = sx_args_text(args, "set", index);
    *value = NULL;
    if (!text) return SX_OK;
    size_t length = strcspn(text, "=");
    if (!text[length] || length >= SX_NAME_SIZE)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--set %s is not a variable and its value", text),
                             "write --set NAME=VALUE");
    memcpy(name, text, length);
    name[length] = 0;
    *value = text + length + 1;
    return SX_OK;
}

sx_status sx_set_option_apply(const sx_args *args, sx_input *input) {
    char name[SX_NAME_SIZE];
    const char *value;
    sx_input_share_settings(input, args->settings);
    for (size_t i = 0;; i++) {
        SX_TRY(read_setting(args, i, name, &value));
        if (!value) return SX_OK;
        SX_TRY(sx_input_set(input, name, value));
    }
}

sx_status sx_set_option_check(const sx_args *args) {
    char name[SX_NAME_SIZE];
    const char *value;
    for (size_t i = 0;; i++) {
        SX_TRY(read_setting(args, i, name, &value));
        if (!value) return SX_OK;
        sx_status status = sx_settings_check(args->settings, name, value);
        if (status && status->code == SX_ERR_USAGE && strcmp(name, "batch") == 0 &&
            sx_named_any_network(args))
            return sx_error_hint(status, "--batch %s sets the batch size of a network of the catalog", value);
        SX_TRY(status);
    }
}

/* Drops an error, unless memory is out. */
static sx_status only_memory(SX_TAKE sx_status status) {
    if (status && status->code == SX_ERR_MEMORY) return status;
    sx_status_free(status);
    return SX_OK;
}

/* Reads the architecture, the problems and the constraints that files hold; errors are left to those who need them. */
static sx_status read_all(sx_sources *sources, sx_arch *arch, sx_network *network) {
    sx_constraints constraints;
    sx_status status = sx_sources_arch(sources, arch);
    bool has_arch = !status;
    SX_TRY(only_memory(status));
    SX_TRY(only_memory(sx_sources_problems(sources, network)));
    for (size_t i = 0; has_arch && i < network->n_layers; i++)
        SX_TRY(only_memory(sx_sources_constraints(sources, &network->layer[i].problem, arch, &constraints)));
    return SX_OK;
}

/* Reads what a command did not need. */
static sx_status read_rest(sx_sources *sources, const sx_problem *problem, const sx_arch *arch) {
    sx_constraints constraints;
    sx_network network = {0};
    if (problem) SX_TRY(only_memory(sx_sources_constraints(sources, problem, arch, &constraints)));
    sx_arch *own = malloc(sizeof *own);
    if (!own) return sx_error_memory();
    sx_status status = read_all(sources, own, &network);
    sx_network_fini(&network);
    free(own);
    return status;
}

sx_status sx_set_option_check_files(sx_sources *sources, const sx_problem *problem, const sx_arch *arch) {
    sx_status status = sx_set_option_check(sources->args);
    if (!status || status->code != SX_ERR_USAGE) return status;
    sx_status_free(status);
    SX_TRY(read_rest(sources, problem, arch));
    return sx_set_option_check(sources->args);
}
