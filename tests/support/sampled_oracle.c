#include "support/sampled_oracle.h"

#include "oracle/simulate.h"
#include "support/expect.h"

#include <string.h>

void sx_count_sampled(const sx_problem *problem, const sx_arch *arch, const sx_mapping *mapping,
                      const sx_model_options *options, sx_cost *executed, sx_cost *sampled) {
    sx_sim_case sim = {.problem = problem, .arch = arch, .mapping = mapping};
    sx_sim_counts all = {0}, some = {0};
    if (options) sim.options = *options;
    sx_expect_ok(sx_sim_walk(&sim, UINT64_C(1) << 32, &all));
    sim.sampled = true;
    sx_expect_ok(sx_sim_walk(&sim, UINT64_C(1) << 32, &some));
    memcpy(some.partition, all.partition, sizeof some.partition);
    sx_sim_cost(&sim, &all, executed);
    sx_sim_cost(&sim, &some, sampled);
    sx_sim_counts_fini(&all);
    sx_sim_counts_fini(&some);
}
