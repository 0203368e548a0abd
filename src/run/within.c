/* A run within a run: another space is searched as a part of the search of this one. Where the run is told to stop
 * meanwhile nothing of it counts: a run that is resumed begins it anew. */
#include "base/cancel.h"
#include "run/engine.h"
#include "run/registered.h"

#include <string.h>

/* The options of a run within another: its seed, threads, stop flag, objective and patience, and what is left of its budget. Every
 * process searches it whole: such spaces are small. */
static sx_run_options options_within(const sx_run *run, double share) {
    const sx_run_options *o = &run->options;
    sx_run_options out;
    sx_run_options_init(&out);
    out.objective = o->objective;
    out.seed = o->seed;
    out.threads = o->threads;
    out.cancel = o->cancel;
    out.patience = o->patience;
    out.warnings = o->warnings;
    uint64_t left = sx_run_left(run);
    if (left < UINT64_MAX) out.evaluations = (uint64_t)(share * (double)left) + 1;
    if (o->seconds > 0) out.seconds = share * (o->seconds - sx_run_seconds(run));
    return out;
}

sx_status sx_run_within(sx_run *run, const sx_space *space, const char *navigator, double share, void *point,
                        bool *found) {
    const sx_run_options options = options_within(run, share);
    sx_run *inner;
    sx_found best;
    *found = false;
    if (run->options.seconds > 0 && options.seconds <= 0) return SX_OK;
    SX_TRY(sx_run_new(space, NULL, &options, &inner));
    sx_status status = sx_run_search_among(inner, run->registry, navigator);
    sx_run_poll(run, 0);
    if (sx_is_cancelled(run->options.cancel)) sx_run_end(run, SX_STOP_SIGNAL);
    if (!run->ended) {
        *found = !status && sx_run_best(inner, 0, &best);
        if (*found) memcpy(point, best.point, space->point_size);
        run->evaluations += sx_run_result(inner).evaluations;
        run->valid += sx_run_result(inner).valid;
        run->rejected += sx_run_result(inner).rejected;
        if (*found && !sx_run_incumbent(run, NULL))
            run->improved = run->evaluations; /* patience begins with it */
    }
    sx_run_free(inner);
    return status;
}
