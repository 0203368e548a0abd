/* Constraints for a problem and an architecture of our own: what is read is sound, and judges a mapping the same with and
 * without words. */
#include "fuzz/fuzz.h"

#include <string.h>

/* DRAM, a buffer, the fan-out of PE, and a register file over 4 x 2 units. */
static void make_arch(sx_arch *arch) {
    static const char *const names[] = {"RF", "inter_PE_spatial", "GB", "DRAM"};
    memset(arch, 0, sizeof *arch);
    arch->n_levels = 4;
    sx_compute_init(&arch->compute);
    strcpy(arch->compute.name, "MAC");
    arch->compute.mesh_x = 12;
    arch->compute.mesh_y = 2;
    arch->compute.instances = 24;
    for (int s = 0; s < 4; s++) {
        sx_storage_init(&arch->level[s]);
        strcpy(arch->level[s].name, names[s]);
    }
    arch->level[0].instances = arch->level[0].mesh_x = 3;
    arch->level[0].entries = 64;
    arch->level[1].transparent = true;
    promise(succeeded(sx_arch_check(arch)));
}

/* The limits of a slot are within the sizes, and its orders name no dimension twice. */
static void check_slot(const sx_loop_limits *limits, const sx_problem *problem) {
    unsigned seen = 0;
    for (int d = 0; d < problem->n_dims; d++) {
        promise(limits->min[d] >= 1 && limits->min[d] <= limits->max[d]);
        promise(limits->min[d] <= problem->size[d] && limits->max[d] <= SX_MAX_DIM_SIZE);
    }
    promise(limits->n_inner + limits->n_outer <= problem->n_dims);
    for (int i = 0; i < limits->n_inner + limits->n_outer; i++) {
        int d = i < limits->n_inner ? limits->inner[i] : limits->outer[i - limits->n_inner];
        promise(d < problem->n_dims && !(seen >> d & 1));
        seen |= 1u << d;
    }
}

static void check_limits(const sx_constraints *limits, const sx_problem *problem, const sx_arch *arch) {
    sx_mapping mapping;
    char text[256] = "";
    promise(limits->n_levels == arch->n_levels && limits->n_dims == problem->n_dims &&
            limits->n_tensors == problem->n_tensors);
    for (int s = 0; s < arch->n_levels; s++) {
        const sx_level_limits *level = &limits->level[s];
        check_slot(&level->temporal, problem);
        check_slot(&level->spatial, problem);
        promise(level->split >= -1 && level->split <= problem->n_dims);
        promise(!(level->must_keep & level->must_bypass));
        promise(!(level->must_keep & ~(unsigned)sx_arch_keep_mask(arch, s, problem)));
        promise(level->min_parallelism >= 0 && level->min_parallelism <= 1);
    }
    sx_mapping_init(&mapping, problem, arch);
    bool allowed = sx_constraints_allow(limits, &mapping, problem, arch, text, sizeof text);
    promise(allowed == (text[0] == 0));
    promise(allowed == sx_constraints_allow(limits, &mapping, problem, arch, NULL, 0));
}

void check_constraints(const char *text, size_t size) {
    sx_input *input;
    static sx_arch arch;
    static sx_problem problem;
    static sx_constraints limits;
    make_arch(&arch);
    promise(succeeded(
        sx_einsum_parse("Outputs[M,P] += Inputs[C,P+R]*Weights[M,C,R] {M:8,P:12,C:6,R:3}", &problem)));
    if (!succeeded(sx_input_new(&input))) return;
    if (succeeded(sx_input_add_text(input, "fuzz.yaml", text, size)) &&
        succeeded(sx_input_constraints(input, &problem, &arch, &limits)))
        check_limits(&limits, &problem, &arch);
    for (size_t i = 0; sx_input_note(input, i); i++) promise(sx_input_note(input, i)[0]);
    sx_input_free(input);
}
