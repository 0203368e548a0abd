/* dMazeRunner: directed search among mappings that use the array and the memories well.
 *
 * Source: Dave et al., dMazeRunner: Executing Perfectly Nested Loops on Dataflow Accelerators (TECS 2019). Of all tilings
 * only those are looked at that use a least share of the array, of the registers of a unit (L1) and of the shared memory
 * (L2), and of all orders only one for each way to reuse data: at each level the loops that hold one tensor are inside.
 * The shares are those of the slower of the two settings that the Sunstone thesis compares with (table 6.4): 80 % of the
 * array and of L1, 50 % of L2; `array=1` is the faster one.
 *
 * What differs. dMazeRunner goes through all tilings that remain, in hours; here they are drawn one by one, so that a
 * budget ends it anywhere: the array is filled by random prime factors, then each memory from the inside out until its
 * share is reached, and after that each further factor may be the last. Where 64 draws in a row miss a share, the
 * shares are halved for the next few tilings, where dMazeRunner would answer nothing. The orders follow from the tensors of any
 * einsum instead of a list for convolutions. Of more levels than two all but the innermost have L2's share. What a level
 * may keep it keeps.
 *
 * Why it stays: studies of mappers compare with it (the Sunstone thesis does, and `compare` can repeat that), and beside
 * directed.c, which it shares, it is a table of settings.
 *
 * Complexity: an evaluation per tiling and order; per tiling a check for each prime factor that is tried. */
#include "mappers/directed.h"

enum { ARRAY, L1, L2, ORDERS };

static const sx_setting settings[] = {
    [ARRAY] = {"array", "least share of the array in use", "0.8", 0.8, 0, 1, false, NULL},
    [L1] = {"l1", "least share of the innermost memory in use", "0.8", 0.8, 0, 1, false, NULL},
    [L2] = {"l2", "least share of the other memories in use", "0.5", 0.5, 0, 1, false, NULL},
    [ORDERS] = {"orders", "maximum orders per tiling", NULL, 27, 1, 1e6, true, NULL},
};

static sx_status search_by_dmaze(sx_run *run) {
    const sx_directed rules = {.stream = "dmaze",
                               .array = sx_run_setting(run, ARRAY),
                               .inner = sx_run_setting(run, L1),
                               .outer = sx_run_setting(run, L2),
                               .stationary = true,
                               .orders = (uint64_t)sx_run_setting(run, ORDERS)};
    return sx_directed_search(run, &rules);
}

SX_NAVIGATOR(dmaze) = {
    .space = "map",
    .model = "map",
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_dmaze,
};
