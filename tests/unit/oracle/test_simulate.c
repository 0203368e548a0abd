/* The oracle on cases small enough to count by hand. */
#include "sextant/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    sx_problem problem;
    sx_arch arch;
    sx_mapping mapping;
    sx_model_options options;
    sx_verdict verdict;
    sx_cost cost;
} fixture;

enum { M, N, K };          /* of the matrix product Z[m,n] += A[m,k] * B[k,n] */
enum { P, R };             /* of the convolution Z[p] += A[p+r] * B[r] */
enum { A, B, Z, TENSORS }; /* of both */

static void add_dim(sx_problem *problem, const char *name, uint32_t size) {
    snprintf(problem->dim_name[problem->n_dims], SX_NAME_SIZE, "%s", name);
    problem->size[problem->n_dims++] = size;
}

static void add_rank(sx_problem *problem, int tensor, int dim, int other) {
    sx_tensor *t = &problem->tensor[tensor];
    snprintf(t->name, SX_NAME_SIZE, "%c", "ABZ"[tensor]);
    t->output = tensor == Z;
    t->coef[t->n_ranks][dim] = 1;
    if (other >= 0) t->coef[t->n_ranks][other] = 1;
    t->n_ranks++;
}

/* An architecture of a buffer per compute unit, x * y of them, under one main memory. */
static void make_arch(sx_arch *arch, uint64_t x, uint64_t y) {
    memset(arch, 0, sizeof *arch);
    snprintf(arch->name, SX_NAME_SIZE, "test");
    arch->n_levels = 2;
    sx_compute_init(&arch->compute);
    snprintf(arch->compute.name, SX_NAME_SIZE, "MAC");
    for (int s = 0; s < 2; s++) sx_storage_init(&arch->level[s]);
    snprintf(arch->level[0].name, SX_NAME_SIZE, "Buffer");
    snprintf(arch->level[1].name, SX_NAME_SIZE, "Memory");
    arch->compute.mesh_x = arch->level[0].mesh_x = x;
    arch->compute.mesh_y = arch->level[0].mesh_y = y;
    arch->compute.instances = arch->level[0].instances = x * y;
    arch->compute.energy = 1;
    arch->level[0].read_energy = arch->level[0].fill_energy = arch->level[0].update_energy = 2;
    arch->level[1].read_energy = arch->level[1].fill_energy = arch->level[1].update_energy = 100;
}

static void start_mapping(fixture *f) {
    sx_mapping_init(&f->mapping, &f->problem, &f->arch);
    for (int d = 0; d < f->problem.n_dims; d++) f->mapping.level[1].temporal[d] = 1;
    f->options = (sx_model_options){0};
}

static void make_product(fixture *f, uint32_t m, uint32_t n, uint32_t k) {
    memset(&f->problem, 0, sizeof f->problem);
    snprintf(f->problem.name, SX_NAME_SIZE, "product");
    add_dim(&f->problem, "M", m);
    add_dim(&f->problem, "N", n);
    add_dim(&f->problem, "K", k);
    f->problem.n_tensors = TENSORS;
    add_rank(&f->problem, A, M, -1);
    add_rank(&f->problem, A, K, -1);
    add_rank(&f->problem, B, K, -1);
    add_rank(&f->problem, B, N, -1);
    add_rank(&f->problem, Z, M, -1);
    add_rank(&f->problem, Z, N, -1);
}

static void make_convolution(fixture *f, uint32_t p, uint32_t r) {
    memset(&f->problem, 0, sizeof f->problem);
    snprintf(f->problem.name, SX_NAME_SIZE, "convolution");
    add_dim(&f->problem, "P", p);
    add_dim(&f->problem, "R", r);
    f->problem.n_tensors = TENSORS;
    add_rank(&f->problem, A, P, R);
    add_rank(&f->problem, B, R, -1);
    add_rank(&f->problem, Z, P, -1);
}

static void simulate(fixture *f) {
    sx_status status =
        sx_simulate(&f->problem, &f->arch, &f->mapping, &f->options, 1000000, &f->verdict, &f->cost);
    if (status) print_error("%s\n", status->message);
    assert_null(status);
}

static void assert_counts(const fixture *f, int level, int tensor, uint64_t reads, uint64_t fills,
                          uint64_t updates) {
    const sx_cost_tensor *t = &f->cost.level[level].tensor[tensor];
    assert_int_equal(t->reads, reads);
    assert_int_equal(t->fills, fills);
    assert_int_equal(t->updates, updates);
}

static void loop_order_decides_what_stays(void **state) {
    (void)state;
    fixture f;
    make_product(&f, 2, 3, 4);
    make_arch(&f.arch, 1, 1);
    start_mapping(&f);
    f.mapping.level[0].temporal[K] = 4;
    f.mapping.level[1].temporal[N] = 3;
    f.mapping.level[1].temporal[M] = 2;
    memcpy(f.mapping.level[1].temporal_order, (uint8_t[]){N, M, K}, 3);
    simulate(&f);
    assert_int_equal(f.verdict.reason, SX_LEGAL);
    assert_int_equal(f.cost.computes, 24);
    assert_int_equal(f.cost.compute_cycles, 24);
    assert_counts(&f, 0, A, 24, 8, 0);
    assert_counts(&f, 0, B, 24, 24, 0);
    assert_counts(&f, 0, Z, 18, 0, 24);
    assert_counts(&f, 1, A, 8, 0, 0);
    assert_counts(&f, 1, B, 24, 0, 0);
    assert_counts(&f, 1, Z, 0, 0, 6);
    assert_float_equal(f.cost.energy_pj, 24 + 2 * (32 + 48 + 42) + 100 * (8 + 24 + 6), 1e-9);
    assert_float_equal(f.cost.last_level_accesses, 38, 0);
    f.options.no_first_read_elision = true;
    simulate(&f);
    assert_counts(&f, 0, Z, 24, 6, 24);
    assert_counts(&f, 1, Z, 6, 0, 6);
}

static void windows_slide(void **state) {
    (void)state;
    fixture f;
    make_convolution(&f, 5, 3);
    make_arch(&f.arch, 1, 1);
    start_mapping(&f);
    f.mapping.level[0].temporal[R] = 3;
    f.mapping.level[1].temporal[P] = 5;
    simulate(&f);
    assert_counts(&f, 0, A, 15, 7, 0);
    assert_int_equal(f.cost.level[0].tensor[A].partition, 7);
    f.mapping.level[0].no_temporal_reuse = 1 << A;
    simulate(&f);
    assert_counts(&f, 0, A, 15, 15, 0);
}

/* 7 = 3 + 3 + 1 in time; then 4 + 3 in space. */
static void remainders_run_short(void **state) {
    (void)state;
    fixture f;
    make_product(&f, 7, 1, 1);
    make_arch(&f.arch, 4, 1);
    start_mapping(&f);
    f.mapping.level[0].temporal[M] = 3;
    f.mapping.level[1].temporal[M] = 3;
    simulate(&f);
    assert_false(f.cost.perfect);
    assert_int_equal(f.cost.compute_cycles, 7);
    assert_int_equal(f.cost.level[0].tensor[A].tile, 3);
    assert_counts(&f, 0, A, 7, 7, 0);
    assert_counts(&f, 0, B, 7, 1, 0);
    start_mapping(&f);
    f.mapping.level[1].spatial[M] = 4;
    f.mapping.level[1].split = 3;
    f.mapping.level[1].temporal[M] = 2;
    simulate(&f);
    assert_int_equal(f.cost.compute_cycles, 2);
    assert_int_equal(f.cost.level[0].instances, 4);
    assert_counts(&f, 0, A, 7, 7, 0);
    assert_counts(&f, 0, B, 7, 4, 0);
    assert_counts(&f, 1, B, 1, 0, 0);
    assert_int_equal(f.cost.level[0].tensor[A].partition, 7);
    assert_int_equal(f.cost.level[0].tensor[B].partition, 4);
    assert_int_equal(f.cost.network[1].tensor[B].multicast, 4);
}

/* On a mesh of 2 rows the entrance lies half a hop from both. */
static void groups_are_served_at_once(void **state) {
    (void)state;
    fixture f;
    make_product(&f, 2, 4, 2);
    make_arch(&f.arch, 4, 2);
    f.arch.level[1].energy_per_hop = 1;
    f.arch.level[1].router_energy = 10;
    start_mapping(&f);
    f.mapping.level[0].temporal[K] = 2;
    f.mapping.level[1].spatial[N] = 4;
    f.mapping.level[1].spatial[M] = 2;
    memcpy(f.mapping.level[1].spatial_order, (uint8_t[]){N, M, K}, 3);
    f.mapping.level[1].split = 1;
    simulate(&f);
    assert_int_equal(f.verdict.reason, SX_LEGAL);
    const sx_cost_net_tensor *net = f.cost.network[1].tensor;
    assert_int_equal(net[A].multicast, 4);
    assert_int_equal(net[B].multicast, 2);
    assert_int_equal(net[Z].multicast, 1);
    assert_float_equal(net[A].ingresses, 4, 0);
    assert_float_equal(net[B].ingresses, 8, 0);
    assert_float_equal(net[A].hops, 3 + 4 * 0.5, 0);
    assert_float_equal(net[B].hops, (0 + 1 + 2 + 3) / 4.0 + 1, 0);
    assert_float_equal(net[A].energy_pj, 4 * 5 + 10 * 4 * (1 + 5), 0);
    assert_counts(&f, 0, A, 16, 16, 0);
    assert_counts(&f, 1, A, 4, 0, 0);
    f.mapping.level[1].no_multicast = 1 << A;
    simulate(&f);
    assert_int_equal(f.cost.network[1].tensor[A].multicast, 1);
    assert_counts(&f, 1, A, 16, 0, 0);
}

/* With p in space and r in time, each child wants next what its neighbour has now. */
static void neighbours_hand_on(void **state) {
    (void)state;
    fixture f;
    make_convolution(&f, 3, 4);
    make_arch(&f.arch, 3, 1);
    start_mapping(&f);
    f.mapping.level[1].spatial[P] = 3;
    f.mapping.level[1].split = 2;
    f.mapping.level[1].temporal[R] = 4;
    simulate(&f);
    assert_float_equal(f.cost.network[1].tensor[A].ingresses, 3 + 3, 0);
    assert_float_equal(f.cost.network[1].tensor[A].link_transfers, 6, 0);
    assert_counts(&f, 1, A, 6, 0, 0);
    assert_counts(&f, 0, A, 12 + 6, 6 + 6, 0);
    f.options.no_link_transfers = true;
    simulate(&f);
    assert_float_equal(f.cost.network[1].tensor[A].ingresses, 12, 0);
    assert_counts(&f, 0, A, 12, 12, 0);
}

static void bypassed_levels_pass_on(void **state) {
    (void)state;
    fixture f;
    make_product(&f, 2, 3, 4);
    make_arch(&f.arch, 1, 1);
    start_mapping(&f);
    f.mapping.level[0].temporal[K] = 4;
    f.mapping.level[1].temporal[N] = 3;
    f.mapping.level[1].temporal[M] = 2;
    f.mapping.level[0].keep = 1 << Z;
    simulate(&f);
    assert_counts(&f, 0, A, 0, 0, 0);
    assert_counts(&f, 1, A, 24, 0, 0);
    assert_counts(&f, 1, B, 24, 0, 0);
    assert_false(f.cost.level[0].tensor[A].kept);
    assert_int_equal(f.cost.level[0].tensor[A].tile, 0);
}

static void bandwidth_stretches_time(void **state) {
    (void)state;
    fixture f;
    make_product(&f, 2, 3, 4);
    make_arch(&f.arch, 1, 1);
    start_mapping(&f);
    for (int d = 0; d < 3; d++) f.mapping.level[1].temporal[d] = f.problem.size[d];
    f.arch.level[0].read_bandwidth = 0.5;
    simulate(&f);
    uint64_t reads = 0, most = 0;
    for (int v = 0; v < TENSORS; v++) {
        uint64_t n = f.cost.level[0].tensor[v].reads;
        reads += n;
        most = n > most ? n : most;
    }
    assert_int_equal(f.cost.cycles, 2 * reads);
    f.arch.level[0].banks = 3;
    f.arch.level[0].entries = 3;
    simulate(&f);
    assert_int_equal(f.cost.cycles, 2 * most);
    f.arch.level[0].banks = 2;
    simulate(&f);
    assert_int_equal(f.verdict.reason, SX_CAPACITY);
}

static void illegal_mappings_leave_the_cost_alone(void **state) {
    (void)state;
    fixture f, before;
    make_product(&f, 2, 3, 4);
    make_arch(&f.arch, 2, 1);
    start_mapping(&f);
    memset(&f.cost, 0x5a, sizeof f.cost);
    simulate(&f);
    assert_int_equal(f.verdict.reason, SX_FACTOR_PRODUCT);
    for (int d = 0; d < 3; d++) f.mapping.level[0].temporal[d] = f.problem.size[d];
    f.arch.level[0].entries = 25;
    simulate(&f);
    assert_int_equal(f.verdict.reason, SX_CAPACITY);
    assert_int_equal(f.verdict.level, 0);
    assert_float_equal(f.verdict.have, 26, 0);
    f.arch.level[0].entries = 26;
    f.mapping.level[1].temporal[K] = 2;
    simulate(&f);
    assert_int_equal(f.verdict.reason, SX_FACTOR_PRODUCT);
    assert_int_equal(f.verdict.dim, K);
    f.mapping.level[1].temporal[K] = 1;
    f.mapping.level[0].temporal[N] = 1;
    f.mapping.level[1].spatial[N] = 3;
    simulate(&f);
    assert_int_equal(f.verdict.level, 2);
    f.mapping.level[1].spatial[N] = 1;
    f.mapping.level[1].temporal[N] = 3;
    f.mapping.level[0].keep = f.mapping.level[1].keep = 1;
    simulate(&f);
    assert_int_equal(f.verdict.reason, SX_NOT_KEPT);
    assert_int_equal(f.verdict.tensor, B);
    memset(&before.cost, 0x5a, sizeof before.cost);
    assert_memory_equal(&before.cost, &f.cost, sizeof f.cost);
}

/* Every place of an order has a dimension of its own. */
static void orders_are_permutations(void **state) {
    (void)state;
    for (int spatial = 0; spatial < 2; spatial++)
        for (int i = 0; i < 3; i++)
            for (uint8_t d = 0; d < 5; d++) {
                fixture f;
                make_product(&f, 2, 3, 4);
                make_arch(&f.arch, 2, 1);
                start_mapping(&f);
                for (int k = 0; k < 3; k++) f.mapping.level[0].temporal[k] = f.problem.size[k];
                uint8_t *order =
                    spatial ? f.mapping.level[1].spatial_order : f.mapping.level[1].temporal_order;
                bool same = order[i] == d;
                order[i] = d;
                simulate(&f);
                assert_int_equal(f.verdict.reason, same ? SX_LEGAL : SX_BAD_SHAPE);
            }
}

static void long_simulations_are_refused(void **state) {
    (void)state;
    fixture f;
    make_product(&f, 100, 100, 100);
    make_arch(&f.arch, 1, 1);
    sx_mapping_init(&f.mapping, &f.problem, &f.arch);
    sx_status status = sx_simulate(&f.problem, &f.arch, &f.mapping, NULL, 100000, &f.verdict, &f.cost);
    assert_non_null(status);
    assert_int_equal(status->code, SX_ERR_LIMIT);
    sx_status_free(status);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loop_order_decides_what_stays),
        cmocka_unit_test(windows_slide),
        cmocka_unit_test(remainders_run_short),
        cmocka_unit_test(groups_are_served_at_once),
        cmocka_unit_test(neighbours_hand_on),
        cmocka_unit_test(bypassed_levels_pass_on),
        cmocka_unit_test(bandwidth_stretches_time),
        cmocka_unit_test(illegal_mappings_leave_the_cost_alone),
        cmocka_unit_test(orders_are_permutations),
        cmocka_unit_test(long_simulations_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
