/* `sextant new`: an input file to begin from, with comments. */
#include "cli/command.h"
#include "cli/search.h"
#include "cli/starts.h"

#include <string.h>

static const struct {
    const char *name, *text;
} starts[] = {
    {"arch", sx_start_arch},
    {"problem", sx_start_problem},
    {"graph", sx_start_graph},
    {"constraints", sx_start_constraints},
};
enum { N_STARTS = sizeof starts / sizeof starts[0] };

static sx_status run_new(const sx_args *args, sx_output *result) {
    const char *names[N_STARTS];
    for (size_t i = 0; i < N_STARTS; i++) names[i] = starts[i].name;
    if (args->n_operands != 1)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "new takes one kind of file"),
                             "kinds: arch, problem, graph, constraints");
    const char *kind = args->operand[0];
    SX_TRY(sx_search_writable(args));
    sx_output_to_file(result, sx_args_text(args, "output", 0));
    result->out.width = 0;
    for (size_t i = 0; i < N_STARTS; i++) {
        if (strcmp(kind, names[i]) != 0) continue;
        sx_text_add(&result->out, "%s", starts[i].text);
        return SX_OK;
    }
    sx_status error = sx_error_new(SX_ERR_USAGE, "'%s' is not a kind of file", kind);
    const char *nearest = sx_text_nearest(kind, names, N_STARTS);
    if (nearest) return sx_error_hint(error, "did you mean %s?", nearest);
    return sx_error_hint(error, "kinds: arch, problem, graph, constraints");
}

static const sx_option options[] = {
    SX_ROW_ONCE("output", 'o', "FILE", TEXT, "write to FILE instead of standard output"),
    SX_OPTION_HELP,
};

const sx_command sx_command_new = {
    .name = "new",
    .about = "an input file to begin from, with comments: arch, problem, graph or constraints",
    .usage = "arch|problem|graph|constraints [OPTION ...]",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run_new,
};
