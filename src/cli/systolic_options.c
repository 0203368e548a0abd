#include "cli/systolic_options.h"
#include "base/choice.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

sx_status sx_systolic_read_device(const sx_args *args, sx_device *out) {
    const char *value = sx_args_text(args, "device", 0);
    struct stat info;
    if (!value) value = SX_SYSTOLIC_DEVICE;
    bool file = strpbrk(value, "./") || stat(value, &info) == 0;
    return file ? sx_device_read(value, out) : sx_catalog_device(value, out);
}

/* Reads --tiles. Where any tile is allowed, short loops may be padded until they hide the latency of adding.
 */
static sx_status read_tiles(const char *text, sx_systolic_options *out) {
    static const sx_systolic_tiles kinds[] = {SX_TILES_FULL, SX_TILES_PADDED, SX_TILES_DIVISORS};
    size_t kind = 0;
    if (text) SX_TRY(sx_choice_read("--tiles", text, "full, padded, divisors", &kind));
    out->tiles = kinds[kind];
    out->pad_to = out->tiles == SX_TILES_FULL ? SX_SYSTOLIC_PAD_TO : 0;
    return SX_OK;
}

/* Reads --design: names, where "all" is none. */
static sx_status read_designs(const sx_args *args, sx_systolic_job *job) {
    const char *name;
    size_t n = 0;
    bool all = false;
    for (; (name = sx_args_text(args, "design", n)); n++) all |= strcmp(name, "all") == 0;
    if (n == 0 || all) return SX_OK;
    job->design_name = calloc(n, sizeof *job->design_name);
    if (!job->design_name) return sx_error_memory();
    for (; job->n_names < n; job->n_names++)
        job->design_name[job->n_names] = sx_args_text(args, "design", job->n_names);
    return SX_OK;
}

sx_status sx_systolic_read_array(const sx_args *args, sx_systolic_job *job) {
    sx_systolic_options *o = &job->options;
    SX_TRY(sx_systolic_read_device(args, &job->device));
    o->element = sx_args_text(args, "type", 0);
    SX_TRY(sx_device_element(&job->device, o->element, &job->element));
    o->corrected = sx_args_flag(args, "corrected");
    o->thin = sx_args_flag(args, "thin");
    SX_TRY(read_tiles(sx_args_text(args, "tiles", 0), o));
    o->least_dsp = sx_args_number(args, "min-dsp", 0);
    if (o->least_dsp >= 0 && o->least_dsp <= 1) return read_designs(args, job);
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--min-dsp: %g is not a valid value", o->least_dsp),
                         "give the share of the usable DSP blocks, from 0 to 1");
}
