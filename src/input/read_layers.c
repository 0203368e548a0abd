#include "input/options.h"
#include "input/rename.h"
#include "input/set_option.h"
#include "input/sources.h"
#include "sextant/read.h"
#include "text/settings.h"

#include <stdio.h>
#include <string.h>

static const sx_option options[] = {
    SX_OPTION_PROBLEMS, SX_OPTIONS_FILES,        SX_OPTION_BATCH,
    SX_OPTION_TRAINING, SX_OPTION_TRAINING_STEP, SX_OPTIONS_PHASE,
};

/* Adds an option that is written NAME or NAME=VALUE. */
static sx_status add_option(sx_args *args, const char *text) {
    char name[SX_NAME_SIZE];
    const size_t length = strcspn(text, "=");
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    return sx_args_add(args, name, text[length] ? text + length + 1 : NULL);
}

/* Reads what the options name, and adds the warnings that there are. */
static sx_status read_network(const sx_args *args, sx_warnings *warnings, sx_network *out) {
    sx_sources sources = {0};
    sx_text renamed = {0};
    sx_status status = sx_sources_load(args, &sources);
    if (!status) status = sx_sources_layers(&sources, out);
    if (!status) status = sx_rename_as_told(args, out, &renamed);
    if (!status) status = sx_set_option_check_files(&sources, NULL, NULL);
    if (!status && warnings) status = sx_sources_warnings(&sources, warnings);
    sx_text_free(&renamed);
    sx_sources_fini(&sources);
    return status;
}

sx_status sx_read_layers(const char *value, const char *const *option, size_t n_options,
                         sx_warnings *warnings, sx_network *out) {
    sx_settings settings = {0};
    sx_args args = {.option = options, .n_options = sizeof options / sizeof *options, .settings = &settings};
    sx_network network = {0};
    sx_status status = sx_args_add(&args, "problem", value);
    for (size_t i = 0; i < n_options && !status; i++) status = add_option(&args, option[i]);
    if (!status) status = read_network(&args, warnings, &network);
    sx_settings_fini(&settings);
    sx_args_fini(&args);
    if (status) {
        sx_network_fini(&network);
        return status;
    }
    sx_network_fini(out);
    *out = network;
    return SX_OK;
}
