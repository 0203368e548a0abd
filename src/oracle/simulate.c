/* The oracle's entrance: check, walk, count. */
#include "oracle/simulate.h"

#include "base/status.h"

sx_status sx_simulate(const sx_problem *problem, const sx_arch *arch, const sx_mapping *mapping,
                      const sx_model_options *options, uint64_t max_steps, sx_verdict *verdict,
                      sx_cost *out) {
    SX_TRY(sx_problem_check(problem));
    SX_TRY(sx_arch_check(arch));
    if (sx_sparse_active(&arch->sparse))
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "sparse optimizations cannot be simulated"),
                             "the simulation moves every word; leave them out, or do not simulate");
    sx_sim_case sim = {.problem = problem, .arch = arch, .mapping = mapping};
    if (options) sim.options = *options;
    sx_verdict found = sx_sim_check(&sim);
    if (found.reason != SX_LEGAL) {
        *verdict = found;
        return SX_OK;
    }
    sx_sim_counts counts = {0};
    sx_status status = sx_sim_walk(&sim, max_steps, &counts);
    if (!status) {
        *verdict = found;
        sx_sim_cost(&sim, &counts, out);
    }
    sx_sim_counts_fini(&counts);
    return status;
}
