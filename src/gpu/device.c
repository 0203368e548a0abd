/* The CUDA module, and scores of all mappings of a space with it or without. */
#include "gpu/gpu.h"

#include "base/clock.h"
#include "base/module.h"

#include <math.h>
#include <stdlib.h>

/* The build says which file to load; without CUDA there is none. */
#ifndef SX_GPU_FILE
#define SX_GPU_FILE ""
#endif

enum { MISSED_ROOM = 1 << 20 };

/* Loads the module, which then stays loaded. */
static sx_status load_module(const sx_gpu_module **out) {
    const char *name = SX_GPU_FILE;
    if (!name[0])
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "this build cannot use a GPU"),
                             "install CUDA's compiler and build again; without --gpu the CPU is used");
    sx_gpu_module_getter *getter;
    SX_TRY(sx_module_load(name, "GPU", "sx_gpu_module_get", false, &getter));
    *out = getter();
    return (*out)->version == SX_GPU_MODULE_VERSION ? SX_OK : sx_module_other_version(name);
}

sx_status sx_gpu_module_find(bool gpu, const sx_gpu_module **out) {
    if (gpu) return load_module(out);
    *out = sx_gpu_emulation();
    return SX_OK;
}

sx_status sx_gpu_complaint(int code, const char *message) {
    if (!code) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_FILE, "GPU: %s", message), "without --gpu the CPU is used");
}

/* The scoring of all mappings. */
typedef struct look {
    const sx_space *space;
    const sx_gpu_look_options *options;
    sx_gpu_image *image;
    sx_gpu_missed missed;
    sx_gpu_found found;
    bool complete;
} look;

/* Tells how far the look has come; false where it is to stop. */
static bool go_on(const look *l, uint64_t done) {
    const sx_gpu_look_options *o = l->options;
    if (l->missed.n > l->missed.room) return false;
    return !o->go_on || o->go_on(o->user, done, l->image->factorisations, &l->found);
}

/* Looks at all mappings, in steps of about a second. */
static sx_status look_at_all(look *l) {
    const sx_gpu_module *module;
    sx_gpu_device *device;
    char message[SX_CUDA_MESSAGE] = "";
    uint64_t at = 0, all = l->image->factorisations;
    SX_TRY(sx_gpu_module_find(l->options->gpu, &module));
    SX_TRY(sx_gpu_complaint(module->make(l->image, &device, message), message));
    int code = 0;
    while (at < all && !code && go_on(l, at))
        code = module->search(device, &at, all, 1, &l->found, &l->missed, message);
    module->end(device);
    l->complete = at == all;
    return sx_gpu_complaint(code, message);
}

/* Refuses a space that is too large; *mappings: those that differ in cost. */
static sx_status check_size(const sx_space *space, const sx_gpu_look_options *options, double *mappings) {
    sx_size size = {.count = {.log10 = INFINITY}};
    SX_TRY(sx_space_count(space));
    for (size_t i = 0; sx_space_size(space, i, &size); i++) continue;
    *mappings = pow(10, size.count.log10);
    if (*mappings <= options->limit * (1 + 1e-9)) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_LIMIT,
                                      "%.2g distinct mappings are too many to look at: the limit is %g",
                                      *mappings, options->limit),
                         options->gpu ? "constrain the space" : "a GPU looks at more: --gpu");
}

/* The answer to what was found. */
static sx_status set_answer(look *l, sx_gpu_look_answer *out) {
    if (l->complete || l->missed.n > l->missed.room)
        SX_TRY(sx_gpu_search_missed(l->space, l->image, &l->missed, &l->found));
    out->complete = l->complete;
    out->counts = l->found.counts;
    out->value = l->found.best.value;
    out->found = isfinite(out->value);
    if (!out->found) return SX_OK;
    sx_core_nest point;
    sx_gpu_point_at(l->image, &l->found.best.at, &point);
    sx_gpu_mapping_of(l->space, &point, &out->mapping);
    return SX_OK;
}

sx_status sx_gpu_look_everywhere(const sx_space *space, const sx_objective *objective,
                                 const sx_gpu_look_options *options, sx_gpu_look_answer *out) {
    look l = {.space = space, .options = options, .found = {.best = {.value = INFINITY}}};
    double begin = sx_clock_seconds();
    *out = (sx_gpu_look_answer){0};
    SX_TRY(check_size(space, options, &out->mappings));
    SX_TRY(sx_gpu_image_new(space, objective, SX_GPU_TABLES, &l.image));
    l.missed = (sx_gpu_missed){0, MISSED_ROOM, malloc(MISSED_ROOM * sizeof *l.missed.at)};
    sx_status status = l.missed.at ? SX_OK : sx_error_memory();
    if (!status) status = look_at_all(&l);
    if (!status) status = set_answer(&l, out);
    out->seconds = sx_clock_seconds() - begin;
    free(l.missed.at);
    free(l.image);
    return status;
}
