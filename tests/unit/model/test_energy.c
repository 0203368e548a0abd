/* Energies and cycles of small cases, worked out by hand. */
#include "sextant/model.h"
#include "support/expect.h"
#include "support/plain_arch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { M, K };
enum { O, A, B };

/* O[m] += A[m,k] * B[k], 4 x 3. A unit runs K inside its buffer. */
typedef struct fixture {
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_cost cost;
} fixture;

/* All of M on one unit, in turn: the buffer reads A 12 times and fills 12, reads B 12 and fills 3, reads O 8
 * and updates 12. */
static void in_time(fixture *f) {
    sx_plain_arch(&f->arch, 2);
    sx_plain_problem("O[m] += A[m,k]*B[k] {m:4,k:3}", &f->arch, &f->problem, &f->mapping);
    f->mapping.level[0].temporal[K] = 3;
    f->mapping.level[1].temporal[M] = 4;
}

/* M on 4 units of as many as there are: each reads A 3 times and fills 3, reads B 3 and fills 3, reads O 2
 * and updates 3. */
static void in_space(fixture *f, uint64_t units) {
    in_time(f);
    sx_plain_mesh(&f->arch, 1, units, 1);
    f->mapping.level[1].temporal[M] = 1;
    f->mapping.level[1].spatial[M] = 4;
    f->mapping.level[1].split = 2;
}

static void assert_near(double found, double expected, double slack) {
    if (!(fabs(found - expected) <= slack)) print_error("%.17g, not %.17g\n", found, expected);
    assert_true(fabs(found - expected) <= slack);
}

static void price(sx_storage *level, double read, double fill, double update) {
    level->read_energy = read;
    level->fill_energy = fill;
    level->update_energy = update;
}

static void evaluate(fixture *f) {
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_expect_ok(sx_model_new(&f->problem, &f->arch, NULL, &model));
    sx_expect_ok(sx_model_workspace_new(model, &evaluator));
    memset(&f->cost, 0xa5, sizeof f->cost);
    assert_int_equal(sx_evaluate(evaluator, &f->mapping, &f->cost).reason, SX_LEGAL);
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
}

/* The energy of the whole, all of which is known exactly. */
static void assert_energy(fixture *f, double energy) {
    evaluate(f);
    assert_near(f->cost.energy_pj, energy, 1e-9);
    assert_near(f->cost.edp, energy * (double)f->cost.cycles, 1e-6);
}

static void accesses_cost_by_kind(void **state) {
    (void)state;
    fixture f;
    in_time(&f);
    f.arch.compute.energy = 0.5;
    price(&f.arch.level[0], 1, 10, 100);
    price(&f.arch.level[1], 1000, 10000, 100000);
    assert_energy(&f, 6 + (12 + 12 + 8) + 10 * (12 + 3) + 100 * 12 + 1000 * (12 + 3) + 100000 * 4);
    assert_near(f.cost.level[0].tensor[A].energy_pj, 12 + 120, 0);
    assert_near(f.cost.level[0].tensor[O].energy_pj, 8 + 1200, 0);
    assert_near(f.cost.level[1].energy_pj, 415000, 0);
    assert_near(f.cost.compute_energy_pj, 6, 0);
    assert_int_equal(f.cost.cycles, 12);
    assert_near(f.cost.last_level_accesses, 12 + 3 + 4, 0);
}

static void vectors_are_rounded_up(void **state) {
    (void)state;
    fixture f;
    in_time(&f);
    price(&f.arch.level[0], 1, 10, 100);
    f.arch.level[0].block_size = 4;
    assert_energy(&f, (3 + 3 + 2) + 10 * (3 + 1) + 100 * 3);
    f.arch.level[0].block_size = 5;
    assert_energy(&f, (3 + 3 + 2) + 10 * (3 + 1) + 100 * 3);
    f.arch.level[0].block_size = 7;
    assert_energy(&f, (2 + 2 + 2) + 10 * (2 + 1) + 100 * 2);
    in_space(&f, 4);
    price(&f.arch.level[0], 1, 10, 100);
    f.arch.level[0].block_size = 2;
    assert_energy(&f, 4 * ((2 + 2 + 1) + 10 * (2 + 2) + 100 * 2));
}

/* A of 8 bits and O of 32 in words of 16: half and twice the accesses, hops and bandwidth. */
static void elements_have_widths(void **state) {
    (void)state;
    fixture f;
    in_time(&f);
    f.problem.tensor[A].bits = 8;
    f.problem.tensor[O].bits = 32;
    price(&f.arch.level[0], 1, 10, 100);
    assert_energy(&f, (6 + 12 + 16) + 10 * (6 + 3) + 100 * 24);
    assert_int_equal(f.cost.level[0].tensor[A].reads, 12);
    f.arch.level[0].block_size = 5; /* of 80 bits: 10 elements of A, 5 of B, 2.5 of O */
    assert_energy(&f, (2 + 3 + 4) + 10 * (2 + 1) + 100 * 5);
    in_space(&f, 4);
    f.arch.level[1].energy_per_hop = 2;
    f.arch.level[1].router_energy = 0.5;
    f.problem.tensor[A].bits = 8;
    f.problem.tensor[O].bits = 32;
    assert_energy(&f, 2 * (9 + 9 + 12) + 0.5 * (12 + 12 + 16));
}

/* Reads of A, B and O per cycle: 1, 1 and 2/3 elements. */
static void bandwidth_carries_bits(void **state) {
    (void)state;
    fixture f;
    in_time(&f);
    f.arch.level[0].read_bandwidth = 1;
    evaluate(&f);
    assert_int_equal(f.cost.cycles, 32);
    f.problem.tensor[A].bits = 8;
    f.problem.tensor[O].bits = 32;
    evaluate(&f);
    assert_int_equal(f.cost.cycles, 34);
    f.problem.tensor[A].bits = f.problem.tensor[O].bits = 16;
    evaluate(&f);
    assert_int_equal(f.cost.cycles, 32);
}

/* Tiles of 3, 3 and 1 elements: of 4, 4 and 12 bits they take ceil(12/16) + ceil(12/16) + ceil(12/16) words. */
static void tiles_take_whole_words(void **state) {
    (void)state;
    fixture f;
    sx_model *model;
    in_time(&f);
    f.problem.tensor[A].bits = f.problem.tensor[B].bits = 4;
    f.problem.tensor[O].bits = 12;
    f.arch.level[0].entries = 3;
    evaluate(&f);
    assert_int_equal(f.cost.level[0].tensor[A].tile, 3);
    f.problem.tensor[O].bits = 17;
    sx_expect_ok(sx_model_new(&f.problem, &f.arch, NULL, &model));
    sx_verdict verdict = sx_check(model, &f.mapping);
    assert_int_equal(verdict.reason, SX_CAPACITY);
    assert_int_equal(verdict.tensor, O);
    assert_near(verdict.have, 4, 0);
    sx_model_free(model);
}

static void addresses_are_generated_for_every_word(void **state) {
    (void)state;
    fixture f;
    in_time(&f);
    f.arch.level[0].addr_gen_energy = 0.25;
    f.arch.level[0].block_size = 4;
    assert_energy(&f, 0.25 * (24 + 15 + 12));
    assert_near(f.cost.level[0].tensor[A].address_generations, 24, 0);
    assert_near(f.cost.level[0].tensor[B].address_generations, 15, 0);
    assert_near(f.cost.level[0].tensor[O].address_generations, 12, 0);
}

static void clusters_act_as_one(void **state) {
    (void)state;
    fixture f;
    in_space(&f, 4);
    price(&f.arch.level[0], 1, 10, 100);
    assert_energy(&f, 4 * (8 + 60 + 300));
    assert_int_equal(f.cost.level[0].clusters, 4);
    f.arch.level[0].cluster_size = 2;
    assert_energy(&f, 2 * (8 + 60 + 300));
    assert_int_equal(f.cost.level[0].clusters, 2);
    assert_int_equal(f.cost.level[0].instances, 4);
    assert_int_equal(f.cost.level[0].tensor[A].reads, 12);
    in_space(&f, 16);
    price(&f.arch.level[0], 1, 10, 100);
    f.arch.level[0].cluster_size = 2;
    assert_energy(&f, 4 * (8 + 60 + 300));
}

static void instances_in_use_leak(void **state) {
    (void)state;
    fixture f;
    in_time(&f);
    f.arch.level[0].leak_energy = 0.5;
    f.arch.level[1].leak_energy = 2;
    assert_energy(&f, 0.5 * 12 + 2 * 12);
    assert_near(f.cost.level[0].leakage_pj, 6, 0);
    in_space(&f, 8);
    f.arch.level[0].leak_energy = 0.5;
    assert_energy(&f, 0.5 * 3 * 4);
    f.arch.level[0].power_gated_at = 1;
    assert_energy(&f, 0.5 * 3 * 8);
    f.arch.level[0].power_gated_at = 0;
    assert_energy(&f, 0.5 * 3 * 4);
    f.arch.level[0].fill_latency = 100;
    assert_energy(&f, 0.5 * 3 * 4);
    f.arch.level[0].read_bandwidth = 0.5;
    evaluate(&f);
    assert_int_equal(f.cost.cycles, 16 + 100);
    assert_near(f.cost.energy_pj, 0.5 * 16 * 4, 1e-9);
}

/* Words a cycle: reads 1 + 1 + 2/3, writes 1 + 1/4 + 1. */
static void bandwidth_stretches_the_run(void **state) {
    (void)state;
    static const struct {
        double read, write, shared;
        uint64_t cycles;
    } cases[] = {
        {8, 8, 8, 12}, {1.1, 8, 8, 30},     {8, 1.125, 8, 24},
        {8, 8, 2, 30}, {1.1, 1.125, 2, 30}, {0.7, 1.125, 2, 46},
    };
    fixture f;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        in_time(&f);
        f.arch.level[0].read_bandwidth = cases[i].read;
        f.arch.level[0].write_bandwidth = cases[i].write;
        f.arch.level[0].shared_bandwidth = cases[i].shared;
        evaluate(&f);
        assert_int_equal(f.cost.cycles, cases[i].cycles);
        assert_int_equal(f.cost.level[0].cycles, cases[i].cycles);
        assert_int_equal(f.cost.level[1].cycles, 12);
        assert_int_equal(f.cost.compute_cycles, 12);
        assert_near(f.cost.utilization, 12.0 / (double)cases[i].cycles, 1e-12);
    }
}

static void a_tensor_may_weigh_more_or_nothing(void **state) {
    (void)state;
    fixture f;
    in_time(&f);
    f.arch.level[0].read_bandwidth = 1.1;
    f.arch.level[0].n_scales = 1;
    memcpy(f.arch.level[0].bandwidth_scale[0].tensor, "A", 2);
    f.arch.level[0].bandwidth_scale[0].scale = 0;
    evaluate(&f);
    assert_int_equal(f.cost.cycles, 19);
    f.arch.level[0].bandwidth_scale[0].scale = 3;
    evaluate(&f);
    assert_int_equal(f.cost.cycles, 51);
}

/* Each tensor has banks of its own, with the full bandwidth: A and B take 1 read a cycle, O 2/3. */
static void banks_serve_tensors_side_by_side(void **state) {
    (void)state;
    fixture f;
    in_time(&f);
    f.arch.level[0].entries = 64;
    f.arch.level[0].banks = 16;
    f.arch.level[0].read_bandwidth = 1;
    evaluate(&f);
    assert_int_equal(f.cost.cycles, 12);
    f.arch.level[0].read_bandwidth = 0.5;
    evaluate(&f);
    assert_int_equal(f.cost.cycles, 24);
    assert_near(f.cost.level[0].slowdown, 0.5, 0);
    f.arch.level[0].banks = 0;
    evaluate(&f);
    assert_int_equal(f.cost.cycles, 64);
}

static void latencies_come_on_top(void **state) {
    (void)state;
    fixture f;
    in_time(&f);
    f.arch.level[0].fill_latency = 7;
    f.arch.level[0].drain_latency = 5;
    f.arch.level[1].drain_latency = 3;
    evaluate(&f);
    assert_int_equal(f.cost.compute_cycles, 12);
    assert_int_equal(f.cost.cycles, 27);
    assert_near(f.cost.utilization, 12.0 / 27, 1e-15);
}

static void assert_network(const fixture *f, int tensor, double ingresses, uint64_t multicast, double hops) {
    const sx_cost_net_tensor *t = &f->cost.network[1].tensor[tensor];
    assert_near(t->ingresses, ingresses, 0);
    assert_int_equal(t->multicast, multicast);
    assert_near(t->hops, hops, 1e-12);
    assert_int_equal(t->fanout, 4);
}

/* Units in columns 0 to 3: a word for one of them makes 0 to 3 hops, one for all of them 3. */
static void words_travel_along_the_row(void **state) {
    (void)state;
    fixture f;
    in_space(&f, 4);
    f.arch.level[1].energy_per_hop = 2;
    assert_energy(&f, 2 * (18 + 9 + 6));
    assert_network(&f, A, 12, 1, 1.5);
    assert_network(&f, B, 3, 4, 3);
    assert_network(&f, O, 4, 1, 1.5);
    f.arch.level[1].router_energy = 0.5;
    assert_energy(&f, 2 * (18 + 9 + 6) + 0.5 * (24 + 12 + 8));
}

/* With K outermost in the memory every partial sum goes there and comes back, but for the first time. */
static void partial_sums_cross_twice_where_nothing_adds(void **state) {
    (void)state;
    fixture f;
    in_time(&f);
    f.mapping.level[0].temporal[K] = 1;
    f.mapping.level[1].temporal[K] = 3;
    evaluate(&f);
    assert_int_equal(f.cost.level[1].tensor[O].updates, 12);
    assert_int_equal(f.cost.level[1].tensor[O].reads, 8);
    assert_near(f.cost.network[1].tensor[O].ingresses, 12, 0);
    f.arch.level[1].reduction_supported = false;
    evaluate(&f);
    assert_near(f.cost.network[1].tensor[O].ingresses, 20, 0);
    assert_near(f.cost.network[1].tensor[A].ingresses, 12, 0);
}

static void units_that_share_an_output_reduce_it(void **state) {
    (void)state;
    fixture f;
    in_time(&f);
    sx_plain_mesh(&f.arch, 1, 3, 1);
    f.mapping.level[0].temporal[K] = 1;
    f.mapping.level[1].spatial[K] = 3;
    f.mapping.level[1].split = 2;
    evaluate(&f);
    assert_int_equal(f.cost.cycles, 4);
    assert_near(f.cost.network[1].tensor[O].spatial_reductions, 8, 0);
    assert_int_equal(f.cost.network[1].tensor[O].multicast, 3);
    assert_int_equal(f.cost.level[1].tensor[O].updates, 4);
    assert_near(f.cost.network[1].tensor[A].spatial_reductions, 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_cost_by_kind),
        cmocka_unit_test(vectors_are_rounded_up),
        cmocka_unit_test(elements_have_widths),
        cmocka_unit_test(bandwidth_carries_bits),
        cmocka_unit_test(tiles_take_whole_words),
        cmocka_unit_test(addresses_are_generated_for_every_word),
        cmocka_unit_test(clusters_act_as_one),
        cmocka_unit_test(instances_in_use_leak),
        cmocka_unit_test(bandwidth_stretches_the_run),
        cmocka_unit_test(a_tensor_may_weigh_more_or_nothing),
        cmocka_unit_test(banks_serve_tensors_side_by_side),
        cmocka_unit_test(latencies_come_on_top),
        cmocka_unit_test(words_travel_along_the_row),
        cmocka_unit_test(partial_sums_cross_twice_where_nothing_adds),
        cmocka_unit_test(units_that_share_an_output_reduce_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
