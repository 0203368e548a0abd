#include "cli/allocate.h"

#include "cli/progress.h"
#include "cli/search.h"
#include "report/allocation.h"

/* Options of `sextant place` that a file of buffers leaves no use for. */
static const char *const others[] = {
    "graph",        "evaluator",
    "noise",        "policy",
    "save-policy",  "batch",
    "bytes",        "chip",
    "method",       "objective",
    "target",       "patience",
    "db",           "checkpoint",
    "again",        "svg",
    "set",          "addresses",
    "verbose",      "seed",
    "include-path", "require-addresses",
};

sx_status sx_allocate_align(const sx_args *args, uint64_t *align) {
    *align = sx_args_count(args, "align", 1);
    return *align >= 1 && *align <= INT64_MAX / 4
               ? SX_OK
               : sx_error_new(SX_ERR_USAGE, "--align must be a number of bytes from 1 on");
}

/* Reads capacity, alignment and limits. */
static sx_status read_options(const sx_args *args, sx_allocate_options *out) {
    sx_run_options run;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (sx_args_flag(args, others[i]))
            return sx_error_hint(
                sx_error_new(SX_ERR_USAGE, "--allocate and --%s cannot be used together", others[i]),
                "--allocate reads buffers from a CSV file and places nothing else");
    SX_TRY(sx_search_run_options(args, SX_ALLOCATE_NODES, &run));
    SX_TRY(sx_allocate_align(args, &out->align));
    out->capacity = sx_args_count(args, "capacity", 0);
    if (sx_args_flag(args, "capacity") && out->capacity == 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--capacity is 0; it must be at least 1"),
                             "omit --capacity for the fewest bytes");
    out->nodes = run.evaluations;
    out->seconds = run.seconds;
    return SX_OK;
}

/* Shows how the search is going; `user` is a progress line. */
static void show_progress(void *user, const sx_allocation *so_far) {
    sx_progress_line *line = user;
    if (so_far->found)
        sx_progress_note(line, "%llu bytes, bound %llu, %llu nodes", (unsigned long long)so_far->bytes,
                         (unsigned long long)so_far->bound, (unsigned long long)so_far->nodes);
    else
        sx_progress_note(line, "bound %llu bytes, %llu nodes", (unsigned long long)so_far->bound,
                         (unsigned long long)so_far->nodes);
}

/* Gives out the offsets, or says that there are none. */
static sx_status print_allocation(const sx_args *args, const sx_buffers *buffers,
                                  const sx_allocate_options *options, const sx_allocation *found,
                                  sx_output *result) {
    bool quiet = sx_args_flag(args, "quiet");
    sx_output_to_file(result, sx_args_text(args, "output", 0));
    sx_output_exits(result, found->found ? SX_EXIT_FOUND : SX_EXIT_NONE);
    result->incomplete = found->stop == SX_STOP_TIME;
    if (sx_args_flag(args, "json"))
        SX_TRY(sx_allocation_json(buffers, options, found, !sx_args_flag(args, "no-clock"), &result->out));
    else if (found->found)
        sx_buffers_write(buffers, &result->out);
    if (found->found && quiet) return SX_OK;
    if (found->found) sx_text_add(&result->err, "note: ");
    sx_allocation_print(found, buffers->n, options->capacity, &result->err);
    if (found->stop == SX_STOP_SIGNAL) sx_text_add(&result->err, " (interrupted)");
    sx_text_add(&result->err, "\n");
    return SX_OK;
}

sx_status sx_allocate_file(const sx_args *args, sx_output *result) {
    const char *path = sx_args_text(args, "allocate", 0);
    sx_allocate_options options = {0};
    sx_allocation found;
    sx_progress_line line;
    sx_buffers buffers;
    SX_TRY(read_options(args, &options));
    SX_TRY(sx_search_writable(args));
    SX_TRY(sx_buffers_read(path, &buffers));
    sx_progress_begin(&line, args);
    sx_progress_title(&line, "%s", path);
    options.cancel = sx_interrupt_catch();
    options.progress = show_progress;
    options.user = &line;
    sx_status status =
        sx_error_place(sx_allocate(buffers.buffer, buffers.n, &options, &found), (sx_place){path, 0, 0});
    sx_progress_end(&line);
    if (!status) status = print_allocation(args, &buffers, &options, &found, result);
    sx_buffers_fini(&buffers);
    return status;
}
