/* What an output costs at a level below which another one passes it on. */
#include "core/score.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The accesses of the outer of two levels to an output that the inner one does not keep: `inner` words leave that one for
 * each of its 5 groups of children, and `elided` words are not read. */
static double accesses(double handed, double inner, double elided) {
    static sx_core_model model;
    static sx_core_state state;
    double out[SX_CORE_CHARGE];
    memset(&model, 0, sizeof model);
    memset(&state, 0, sizeof state);
    model.n_levels = 2;
    model.tensor[0].output = true;
    model.tensor[0].elided = elided;
    model.level[1].per_vector[0] = 1;
    model.level[1].read_energy = 1;
    state.cycles = state.above[1] = state.clusters[1] = 1;
    state.children[1] = state.groups[0][1] = 5;
    state.groups[0][0] = state.children[0] = 1;
    state.handed[0][0] = inner;
    state.handed[0][1] = handed;
    sx_core_charge_whole(&model, &state, 0, 2, NULL, out);
    assert_true(out[1] == out[6] - 5 * inner);
    return out[6];
}

/* Reads and updates are whole numbers, though the share of a group is not one in doubles; reads are never below 0. */
static void counts_are_whole_and_not_negative(void **state) {
    (void)state;
    for (double inner = 1; inner < 60; inner++)
        for (double handed = 1; handed < 60; handed++) {
            assert_true(accesses(handed, inner, 0) == 10 * inner);
            assert_true(accesses(handed, inner, 1) == 10 * inner - 1);
            assert_true(accesses(handed, inner, 5 * inner + 3) == 5 * inner);
        }
}

/* A level that leaks costs its energy in every cycle for each instance in use; the latency of networks leaks nothing. */
static void every_instance_leaks(void **state) {
    (void)state;
    static sx_core_model model;
    static sx_core_state at;
    const double charge[SX_CORE_CHARGE] = {100, 1000};
    const uint32_t place[SX_CORE_TENSORS_AT_MOST] = {0};
    double energy, cycles;
    model.n_levels = 2;
    model.n_tensors = 1;
    model.compute_energy = 7;
    model.latency = 3;
    model.level[1].leaks = 1;
    model.level[1].leak_energy = 0.5;
    at.cycles = 16;
    at.leaking[1] = 4;
    sx_core_sum(&model, &at, charge, place, &energy, &cycles);
    assert_true(energy == 7 + 100 + 1000 + 0.5 * 16 * 4);
    assert_true(cycles == 19);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_are_whole_and_not_negative),
                                       cmocka_unit_test(every_instance_leaks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
