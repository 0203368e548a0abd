#include "placement/rule.h"

#include "base/status.h"

#include <stdlib.h>

/* What is remembered between safe points. */
typedef struct state {
    uint64_t done; /* start points, then the rule */
} state;

sx_status sx_place_search_rule(sx_run *run, sx_place_rule *rule) {
    const sx_placement_space *space = sx_placement_space_of(sx_run_space(run));
    state *s = sx_run_state(run, sizeof *s, NULL);
    uint8_t *placement = calloc(space->space.point_size, 1);
    sx_status status = s && placement ? SX_OK : sx_error_memory();
    while (!status && s->done < 2 && sx_run_continue(run)) {
        if (s->done++ == 0) {
            sx_run_evaluate_starts(run, 0);
            continue;
        }
        sx_outcome outcome;
        status = rule(space, placement);
        if (!status && space->align) (void)sx_placement_rectify(&space->space, placement);
        if (!status) (void)sx_run_evaluate(run, placement, 1, &outcome);
    }
    if (!status && s->done > 2) status = sx_run_damaged(run);
    free(placement);
    return status;
}
