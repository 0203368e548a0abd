/* Node by node, all memories of its weights and output are tried with everything else as it is, and the best
 * stays; then the next node, and several passes.
 *
 * Source: EGRL (ICLR 2021), section 4, "Greedy-DP". Passes go on until one changes nothing, unless `passes`
 * says how many. The first placement is all in the slowest memory, or the first start point where there is
 * one. An invalid placement has a negative reward, so it is never better than the one there is.
 *
 * Complexity: memories^2 evaluations per node and pass. */
#include "base/status.h"
#include "placement/place.h"
#include "run/navigator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES };

static const sx_setting settings[] = {
    [PASSES] = {"passes", "passes over the nodes; 0: until nothing changes", "several", 0, 0, 1e6, true,
                NULL},
};

/* What is remembered between safe points; the placement follows. */
typedef struct state {
    uint64_t begun, node, pass, changed, done;
    double value; /* of the placement */
} state;

/* Evaluates the start points and the first placement. */
static void evaluate_starts(sx_run *run, state *s, uint8_t *now) {
    size_t n;
    const sx_space *space = sx_run_space(run);
    const uint8_t *starts = sx_run_starts(run, &n);
    sx_outcome outcome;
    memset(now, 0, space->point_size);
    if (n > 0) memcpy(now, starts, space->point_size);
    sx_run_evaluate_starts(run, 0);
    s->value = INFINITY;
    if (sx_run_evaluate(run, now, 1, &outcome) == 1 && outcome.reason == 0) s->value = outcome.value;
    s->begun = 1;
}

/* Lists the placements of a node other than the one there is; returns how many. */
static size_t list_maps(const sx_placement_space *space, size_t node, const uint8_t *now, uint8_t *points) {
    size_t n = 0, memories = space->chip.n_memories, size = space->space.point_size;
    for (size_t w = 0; w < (space->size[2 * node] ? memories : 1); w++)
        for (size_t a = 0; a < (space->size[2 * node + 1] ? memories : 1); a++) {
            if (now[2 * node] == w && now[2 * node + 1] == a) continue;
            uint8_t *point = points + n++ * size;
            memcpy(point, now, size);
            point[2 * node] = (uint8_t)w;
            point[2 * node + 1] = (uint8_t)a;
        }
    return n;
}

/* Tries all maps of the next node. */
static void try_node(sx_run *run, const sx_placement_space *space, state *s, uint8_t *now, uint8_t *points,
                     sx_outcome *outcome) {
    size_t size = space->space.point_size, n = list_maps(space, (size_t)s->node, now, points);
    size_t done = sx_run_evaluate(run, points, n, outcome);
    for (size_t i = 0; i < done; i++) {
        if (outcome[i].reason || outcome[i].value >= s->value) continue;
        s->value = outcome[i].value;
        s->changed = 1;
        memcpy(now, points + i * size, size);
    }
    if (++s->node < space->graph.n_nodes) return;
    s->pass++;
    s->done = !s->changed || s->pass == (uint64_t)sx_run_setting(run, PASSES);
    s->node = s->changed = 0;
}

static sx_status search_by_greedy_dp(sx_run *run) {
    const sx_placement_space *space = sx_placement_space_of(sx_run_space(run));
    size_t size = space->space.point_size, maps = space->chip.n_memories * space->chip.n_memories;
    bool resumed;
    state *s = sx_run_state(run, sizeof *s + size, &resumed);
    uint8_t *now = (uint8_t *)(s + 1), *points = malloc(maps * size);
    sx_outcome *outcome = malloc(maps * sizeof *outcome);
    sx_status status = s && points && outcome ? SX_OK : sx_error_memory();
    if (!status && resumed && (!sx_run_holds(run, now, 1) || s->node >= space->graph.n_nodes))
        status = sx_run_damaged(run);
    while (!status && !s->done && sx_run_continue(run)) {
        if (!s->begun)
            evaluate_starts(run, s, now);
        else
            try_node(run, space, s, now, points, outcome);
    }
    free(points);
    free(outcome);
    return status;
}

SX_NAVIGATOR(greedy_dp) = {
    .space = "placement",
    .complete = true,
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_greedy_dp,
};
