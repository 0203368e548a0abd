#include "cli/pca.h"

#include "base/status.h"
#include "cli/progress.h"

#include <stdlib.h>

sx_status sx_pca_of_methods(const sx_args *args, const char *option, const sx_space *space,
                            sx_pca_options *options, sx_pca_study *out) {
    sx_progress_line line;
    while (sx_args_text(args, option, options->n_mappers)) options->n_mappers++;
    const char **mapper = calloc(options->n_mappers + 1, sizeof *mapper);
    if (!mapper) return sx_error_memory();
    for (size_t i = 0; i < options->n_mappers; i++) mapper[i] = sx_args_text(args, option, i);
    options->mapper = mapper;
    sx_progress_begin(&line, args);
    options->run.progress = sx_progress_show;
    options->begins = sx_progress_begins;
    options->run.user = options->user = &line;
    sx_status status = sx_pca_study_run(space, options, out);
    sx_progress_end(&line);
    free(mapper);
    return status;
}
