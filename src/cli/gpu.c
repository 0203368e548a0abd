#include "cli/gpu.h"

#include "base/clock.h"
#include "base/status.h"
#include "base/text.h"
#include "registry/registry.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Refuses what mappers on a GPU do not go with. */
static sx_status check_options(const sx_args *args, const char *option) {
    const char *other = sx_args_flag(args, "checkpoint")    ? "checkpoint"
                        : sx_args_flag(args, "gap")         ? "gap"
                        : sx_args_flag(args, "surrogate")   ? "surrogate"
                        : sx_args_flag(args, "certificate") ? "certificate"
                        : sx_args_flag(args, "evaluator")   ? "evaluator"
                                                            : NULL;
    if (other) return sx_error_new(SX_ERR_USAGE, "--%s cannot be used with --%s", other, option);
    if (args->ranks)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s is not for several processes", option),
                             "start one process");
    return SX_OK;
}

/* Names the mappers that there are for a GPU. */
static sx_status refuse_mapper(const char *asked, const char *option) {
    sx_text list = {0};
    const sx_gpu_mapper *entry;
    for (size_t i = 0; (entry = sx_gpu_mapper_at(i)); i++)
        sx_text_add(&list, "%s%s", i ? ", " : "", entry->name);
    sx_status error =
        sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s: the mapper '%.*s' does not run on a GPU", option,
                                   (int)strcspn(asked, ":"), asked),
                      "mappers that do: %s", list.failed ? "" : list.data);
    sx_text_free(&list);
    return error;
}

sx_status sx_gpu_choose(const sx_args *args, const char *asked, sx_gpu_choice *out, char **mapper) {
    const bool gpu = sx_args_flag(args, "gpu"), emulate = sx_args_flag(args, "emulate-gpu");
    const char *option = gpu ? "gpu" : "emulate-gpu", *settings = strchr(asked, ':');
    double *values;
    if (!gpu && !emulate) return SX_OK;
    if (gpu && emulate)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--gpu and --emulate-gpu contradict each other"),
                             "both give the same bits; the second needs no GPU");
    const sx_gpu_mapper *entry = sx_gpu_mapper_find(asked);
    if (!entry) return refuse_mapper(asked, option);
    SX_TRY(check_options(args, option));
    out->navigator = entry->navigator;
    out->navigator.user = &out->search;
    out->search.gpu = gpu;
    const sx_registered own = {.name = entry->own, .about = "", .navigator = &out->navigator};
    SX_TRY(sx_settings_of(&own, settings ? settings + 1 : NULL, &values));
    sx_status status = sx_settings_text(&own, values, mapper);
    free(values);
    snprintf(out->asked, sizeof out->asked, "%s%s", entry->own, settings ? settings : "");
    return status;
}

void sx_gpu_show(sx_progress_line *line, double *told, uint64_t done, uint64_t all, const char *what,
                 double best) {
    const double now = sx_clock_seconds();
    char text[64] = "no legal mapping yet";
    if (!line->on || (now < *told + 0.1 && now >= *told)) return;
    *told = now;
    if (isfinite(best)) snprintf(text, sizeof text, "best %.4g", best);
    sx_progress_note(line, "%s  %s of %s %s", text, sx_show_count((double)done).text,
                     sx_show_count((double)all).text, what);
}

/* Shows how far an exhaustive search is. */
static void show_progress(void *user, uint64_t done, uint64_t all, double best) {
    sx_gpu_choice *choice = user;
    sx_gpu_show(choice->line, &choice->told, done, all, "factorisations", best);
}

void sx_gpu_choice_show(sx_gpu_choice *choice, sx_progress_line *line) {
    choice->line = line;
    choice->search.progress = show_progress;
    choice->search.user = choice;
}
