#include "support/plain_arch.h"

#include "support/expect.h"

#include <stdio.h>
#include <string.h>

void sx_plain_arch(sx_arch *arch, int n_levels) {
    memset(arch, 0, sizeof *arch);
    arch->n_levels = (uint8_t)n_levels;
    sx_compute_init(&arch->compute);
    snprintf(arch->compute.name, SX_NAME_SIZE, "MAC");
    for (int s = 0; s < n_levels; s++) {
        sx_storage_init(&arch->level[s]);
        snprintf(arch->level[s].name, SX_NAME_SIZE, "L%d", s);
    }
}

void sx_plain_mesh(sx_arch *arch, int level, uint64_t x, uint64_t y) {
    for (int s = 0; s < level; s++) {
        arch->level[s].mesh_x = x;
        arch->level[s].mesh_y = y;
        arch->level[s].instances = x * y;
    }
    arch->compute.mesh_x = x;
    arch->compute.mesh_y = y;
    arch->compute.instances = x * y;
}

void sx_plain_problem(const char *einsum, const sx_arch *arch, sx_problem *problem, sx_mapping *mapping) {
    sx_expect_ok(sx_einsum_parse(einsum, problem));
    sx_mapping_init(mapping, problem, arch);
    for (int d = 0; d < problem->n_dims; d++) mapping->level[arch->n_levels - 1].temporal[d] = 1;
}
