/* Interstellar: a fixed dataflow, and a search of the blocking.
 *
 * Source: Yang et al., Interstellar: Using Halide's Scheduling Language to Analyze DNN Accelerators (ASPLOS 2020). The
 * spatial loops are chosen before the search, since with a good blocking most dataflows cost about the same; for
 * convolutions C on one axis and K on the other (C|K). Where one dimension does not fill its axis, others are
 * replicated there. The search goes over the tile sizes and the orders of all memories.
 *
 * What differs. A dataflow is named by a tensor: its largest dimension lies on X and the next on Y, then its others and
 * those of other tensors by size fill what is left; weights give C|K, outputs the two largest dimensions of the output.
 * Interstellar goes through all blockings with pruning by hints; here blockings and orders are drawn, so that a budget
 * ends it anywhere: from the inside out, each prime factor that a memory holds may be the last one. What a level may
 * keep it keeps.
 *
 * Why it stays: it is the fixed-dataflow search that papers compare with, and beside directed.c, which it shares, it is
 * the choice of a dataflow.
 *
 * Complexity: an evaluation per blocking and order; per blocking a check for each prime factor that is tried. */
#include "mappers/directed.h"
#include "model/model.h"

enum { DATAFLOW, ORDERS };

enum { WEIGHTS, INPUTS, OUTPUTS };

static const char *const dataflows[] = {"weights", "inputs", "outputs", NULL};

static const sx_setting settings[] = {
    [DATAFLOW] = {"dataflow", "tensor whose dimensions are spatial", "weights: C|K", WEIGHTS, 0, OUTPUTS,
                  true, dataflows},
    [ORDERS] = {"orders", "orders per blocking", NULL, 8, 1, 1e6, true, NULL},
};

/* The tensor of a dataflow: by its role, else the first input. */
static int tensor_of(const sx_problem *problem, int dataflow) {
    static const char *const roles[] = {"Weights", "Inputs"};
    int output = sx_problem_output(problem);
    if (dataflow == OUTPUTS) return output;
    int role = sx_problem_role(problem, roles[dataflow]);
    return role >= 0 ? role : output == 0 && problem->n_tensors > 1;
}

/* Lists the dimensions in the order in which they fill the array: those of the tensor first, larger ones first. */
static void order_dims(const sx_map_space *space, int tensor, uint8_t *out) {
    const sx_problem *problem = space->problem;
    unsigned dims = space->model->shape[tensor].dims;
    for (int d = 0; d < problem->n_dims; d++) {
        int i = d;
        for (; i > 0; i--) {
            unsigned mine = dims >> d & 1, other = dims >> out[i - 1] & 1;
            if (mine < other || (mine == other && problem->size[d] <= problem->size[out[i - 1]])) break;
            out[i] = out[i - 1];
        }
        out[i] = (uint8_t)d;
    }
}

static sx_status search_by_interstellar(sx_run *run) {
    const sx_map_space *space = sx_map_space_of(sx_run_space(run));
    sx_directed rules = {
        .stream = "interstellar", .fixed = true, .orders = (uint64_t)sx_run_setting(run, ORDERS)};
    order_dims(space, tensor_of(space->problem, (int)sx_run_setting(run, DATAFLOW)), rules.prefer);
    return sx_directed_search(run, &rules);
}

SX_NAVIGATOR(interstellar) = {
    .space = "map",
    .model = "map",
    .settings = settings,
    .n_settings = sizeof settings / sizeof *settings,
    .search = search_by_interstellar,
};
