/* `sextant systolic`: tune a systolic array. */
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/search.h"
#include "cli/systolic.h"

#include <string.h>
#include <sys/stat.h>

#define DEFAULT_DEVICE "u250"

/* Reads --device: a file, or a name of the catalog. */
static sx_status read_device(const sx_args *args, sx_device *out) {
    const char *value = sx_args_text(args, "device", 0);
    struct stat info;
    if (!value) value = DEFAULT_DEVICE;
    return stat(value, &info) == 0 ? sx_device_read(value, out) : sx_catalog_device(value, out);
}

/* `sextant systolic`. */
static sx_status run(const sx_args *args, sx_result *result) {
    sx_device device;
    const char *eval = sx_args_text(args, "eval", 0);
    sx_systolic_options options = {
        .element = sx_args_text(args, "type", 0), .corrected = sx_args_flag(args, "corrected"), .thin = true};
    result->file = sx_args_text(args, "output", 0);
    SX_TRY(read_device(args, &device));
    return sx_systolic_eval(eval, &device, &options, &result->out);
}

static const sx_option options[] = {
    {"device", 'd', "NAME|FILE", SX_OPTION_TEXT, false,
     "the device: a name of `sextant list devices`, or a file that describes one (" DEFAULT_DEVICE ")"},
    {"type", 0, "NAME", SX_OPTION_TEXT, false, "the type of numbers, of those the device has (its first)"},
    {"corrected", 0, NULL, SX_OPTION_FLAG, false, "the model with its flaws mended, instead of as published"},
    {"eval", 0, "FILE", SX_OPTION_TEXT, false,
     "search nothing: cost the points of a file (- for standard input), a line of JSON each"},
    SX_OPTION_OUTPUT,
    SX_OPTION_HELP,
};

const sx_command sx_command_systolic = {
    .name = "systolic",
    .about = "tune a systolic array",
    .usage = "--problem FILE|EINSUM|NAME [OPTION ...]",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run,
};
