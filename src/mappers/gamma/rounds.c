/* Gamma as a part of other mappers.
 *
 * The first round is Gamma as it is: the points that it visits alone, however many calls it takes. A
 * population has converged after some hundred generations, and more of them are worth little; so the next
 * round begins anew with a population of twice the size and twice the evaluations, and so on. */
#include "mappers/gamma/rounds.h"

#include "model/model.h"

#include <stdio.h>

enum { POPULATION = 100, FIRST_ROUND = 100000, MOST_ROUNDS = 6, SLOW = 8, LINKED = 24, SLOWER = 256 };

uint64_t sx_gamma_slowness(const sx_map_space *space) {
    bool windows = false;
    for (int v = 0; v < space->problem->n_tensors; v++) windows |= !space->model->shape[v].plain;
    if (!space->options.remainders) return 1;
    const sx_level *inner = &space->model->level[0];
    bool linked = inner->fanout_x * inner->fanout_y > 1 && !space->model->options.no_link_transfers;
    return windows ? SLOWER : linked ? LINKED : SLOW;
}

sx_status sx_gamma_go_on(sx_run *run, uint64_t evaluations, double share) {
    const uint64_t slow = sx_gamma_slowness(sx_map_space_of(sx_run_space(run)));
    uint64_t population = POPULATION, before = 0, round = FIRST_ROUND;
    if (sx_run_time(run) > 0) round = SX_GAMMA_ALONE;
    round = round / slow / POPULATION * POPULATION;
    for (int i = 0; before < evaluations && !sx_run_stopped(run); i++) {
        bool last = i + 1 == MOST_ROUNDS || evaluations - before <= round;
        uint64_t n = last ? evaluations - before : round;
        char text[64];
        if (n < UINT64_MAX / 2) n = (n + population - 1) / population * population;
        snprintf(text, sizeof text, "gamma:islands=1,population=%llu", (unsigned long long)population);
        if (sx_run_called_on(run) < before + n) SX_TRY(sx_run_call_on(run, text, before + n, share));
        if (last) break;
        before += round;
        round *= 2;
        population *= 2;
    }
    return SX_OK;
}
