/* Layers cut at the exchange memory, compared with the oracle that walks every iteration, and with the machine that was not
 * cut. */
#include "fuse/cut.h"

#include "sextant/all.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EXCHANGE = 1, DRAWS = 40, MOST_STEPS = 2000000 };

static const char machine_text[] =
    "arch:\n"
    "  name: small\n"
    "  arithmetic: {name: MAC, instances: 4, meshX: 4, word-bits: 8, energy: 0.2}\n"
    "  storage:\n"
    "  - {name: RF, instances: 4, meshX: 4, entries: 24, word-bits: 8, vector-access-energy: 0.5}\n"
    "  - {name: GLB, instances: 1, entries: 200, word-bits: 8, read_energy: 4, fill_energy: 5, "
    "update_energy: 6,\n"
    "     read_bandwidth: 2, write_bandwidth: 2, energy-per-hop: 0.125}\n"
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, vector-access-energy: 64, "
    "read_bandwidth: 1}\n";

/* The first ones have no windows, of which the model counts samples (docs/model.md). */
static const char *const einsums[] = {
    "O[m,n] += W[m,k]*I[k,n] {m:6,n:4,k:8}",   "O[b,m,n] += W[b,m,k]*I[b,k,n] {b:3,m:4,n:2,k:6}",
    "O[d,p] += W[d]*I[d,p] {d:6,p:12}",        "O[k,p] += W[k,c,r]*I[c,2*p+r] {k:4,c:3,p:4,r:3}",
    "O[d,p] += W[d,r]*I[d,p+r] {d:6,p:6,r:3}",
};
enum { N_PLAIN = 3, N_EINSUMS = sizeof einsums / sizeof *einsums };

static void read_machine(sx_arch *arch) {
    sx_input *input = sx_expect_input(machine_text);
    sx_expect_ok(sx_input_arch(input, arch));
    sx_input_free(input);
}

/* A cut problem with its space and evaluator. */
typedef struct cut_case {
    sx_problem problem;
    sx_arch whole, arch;
    sx_constraints constraints;
    sx_model *model;
    sx_space *space;
    sx_model_workspace *evaluator;
    void *point;
} cut_case;

static cut_case *case_new(const char *einsum, const sx_cut *cut) {
    cut_case *c = calloc(1, sizeof *c);
    sx_constraints *from = calloc(1, sizeof *from);
    assert_non_null(c);
    assert_non_null(from);
    sx_expect_ok(sx_einsum_parse(einsum, &c->problem));
    read_machine(&c->whole);
    sx_cut_arch(&c->whole, EXCHANGE, cut, &c->arch);
    sx_expect_ok(sx_arch_check(&c->arch));
    sx_constraints_init(from, &c->problem, &c->whole);
    sx_cut_constraints(&c->whole, from, EXCHANGE, cut, &c->constraints);
    free(from);
    const sx_map_space_options options = {0};
    sx_expect_ok(sx_model_new(&c->problem, &c->arch, NULL, &c->model));
    sx_expect_ok(sx_map_space_new(c->model, &c->constraints, &options, &c->space));
    sx_expect_ok(sx_model_workspace_new(c->model, &c->evaluator));
    c->point = calloc(1, sx_space_point_size(c->space));
    assert_non_null(c->point);
    return c;
}

static void case_free(cut_case *c) {
    free(c->point);
    sx_model_workspace_free(c->evaluator);
    sx_space_free(c->space);
    sx_model_free(c->model);
    free(c);
}

/* That nothing of a tensor that stays is seen outside, nor of its tiles in the memory. */
static void expect_stays(const cut_case *c, const sx_cut *cut, const sx_cost *cost) {
    for (int v = 0; v < c->problem.n_tensors; v++) {
        const bool stays = cut->resident >> v & 1;
        assert_int_equal(cost->level[EXCHANGE + 1].tensor[v].kept, stays);
        if (!stays) continue;
        assert_false(cost->level[EXCHANGE].tensor[v].kept);
        assert_false(cost->level[EXCHANGE + 2].tensor[v].kept);
        assert_int_equal(cost->level[EXCHANGE + 1].tensor[v].tile, sx_problem_words(&c->problem, v));
        assert_int_equal(cost->level[EXCHANGE + 1].tensor[v].fills, 0);
    }
}

/* Mappings of cut layers cost what the oracle counts, for every set of tensors that stay. */
static void test_cut_equals_oracle(void **state) {
    (void)state;
    sx_cost *cost = malloc(sizeof *cost), *truth = malloc(sizeof *truth);
    size_t compared = 0;
    assert_non_null(cost);
    assert_non_null(truth);
    for (int e = 0; e < N_PLAIN; e++)
        for (unsigned resident = 1; resident < 8; resident++)
            for (int found = 0; found <= (int)(resident & 1); found++) {
                const sx_cut cut = {.resident = (uint8_t)resident, .found = (uint8_t)found, .occupied = 120};
                cut_case *c = case_new(einsums[e], &cut);
                for (uint64_t i = 0; i < DRAWS; i++) {
                    sx_mapping mapping;
                    sx_verdict verdict;
                    if (!sx_space_sample(c->space, 7, i, c->point)) continue;
                    sx_map_space_mapping(c->space, c->point, &mapping);
                    verdict = sx_evaluate(c->evaluator, &mapping, cost);
                    if (verdict.reason != SX_LEGAL) continue;
                    sx_expect_ok(
                        sx_simulate(&c->problem, &c->arch, &mapping, NULL, MOST_STEPS, &verdict, truth));
                    assert_int_equal(verdict.reason, SX_LEGAL);
                    assert_true(fabs(cost->energy_pj - truth->energy_pj) <= 1e-9 * truth->energy_pj);
                    assert_int_equal(cost->cycles, truth->cycles);
                    expect_stays(c, &cut, cost);
                    const sx_score score = sx_cut_score(&c->problem, &c->arch, EXCHANGE, &cut, cost);
                    assert_true(score.cycles >= (double)cost->cycles);
                    compared++;
                }
                case_free(c);
            }
    free(cost);
    free(truth);
    assert_true(compared > 300);
}

/* A mapping that has all loops inside the memory costs as much with a tensor that stays as without, but for what
 * brings the tensor to the memory and back. */
static void test_cut_leaves_the_inside(void **state) {
    (void)state;
    sx_cost *cost = malloc(sizeof *cost), *whole_cost = malloc(sizeof *whole_cost);
    size_t compared = 0;
    assert_non_null(cost);
    assert_non_null(whole_cost);
    for (int e = 0; e < N_EINSUMS; e++)
        for (int v = 0; v < 3; v++) {
            const sx_cut cut = {.resident = (uint8_t)(1u << v)};
            cut_case *c = case_new(einsums[e], &cut);
            sx_model *model;
            sx_model_workspace *evaluator;
            sx_expect_ok(sx_model_new(&c->problem, &c->whole, NULL, &model));
            sx_expect_ok(sx_model_workspace_new(model, &evaluator));
            for (uint64_t i = 0; i < 20 * DRAWS; i++) {
                sx_mapping mapping, inner;
                if (!sx_space_sample(c->space, 11, i, c->point)) continue;
                sx_map_space_mapping(c->space, c->point, &mapping);
                bool loops = false;
                for (int d = 0; d < c->problem.n_dims; d++)
                    loops |= mapping.level[EXCHANGE + 1].temporal[d] > 1;
                if (loops) continue;
                memset(&inner, 0, sizeof inner);
                inner = mapping;
                inner.n_levels--;
                inner.level[EXCHANGE + 1] = mapping.level[EXCHANGE + 2];
                memset(&inner.level[EXCHANGE + 2], 0, sizeof inner.level[EXCHANGE + 2]);
                inner.level[EXCHANGE].keep |= cut.resident;
                inner.level[EXCHANGE + 1].keep |= cut.resident;
                if (sx_evaluate(c->evaluator, &mapping, cost).reason != SX_LEGAL) continue;
                if (sx_evaluate(evaluator, &inner, whole_cost).reason != SX_LEGAL) continue;
                const sx_cost_tensor *memory = &whole_cost->level[EXCHANGE].tensor[v];
                const double moved = whole_cost->level[EXCHANGE + 1].tensor[v].energy_pj +
                                     5.0 * (double)memory->fills +
                                     whole_cost->network[EXCHANGE + 1].tensor[v].energy_pj;
                assert_true(fabs(whole_cost->energy_pj - moved - cost->energy_pj) <= 1e-9 * cost->energy_pj);
                compared++;
            }
            sx_model_workspace_free(evaluator);
            sx_model_free(model);
            case_free(c);
        }
    free(cost);
    free(whole_cost);
    assert_true(compared > 20);
}

/* Of both parts of the memory together the bandwidth is that of one. */
static void test_shared_bandwidth(void **state) {
    (void)state;
    const sx_cut cut = {.resident = 1};
    cut_case *c = case_new(einsums[0], &cut);
    sx_cost *cost = calloc(1, sizeof *cost);
    assert_non_null(cost);
    cost->n_levels = 4;
    cost->compute_cycles = cost->cycles = 100;
    cost->energy_pj = 1000;
    cost->level[EXCHANGE].tensor[1].reads = 150;
    cost->level[EXCHANGE + 1].tensor[0].reads = 150;
    const sx_score score = sx_cut_score(&c->problem, &c->arch, EXCHANGE, &cut, cost);
    assert_true(score.cycles == 150);
    assert_true(score.energy_pj == 1000);
    free(cost);
    case_free(c);
}

/* A memory of which nothing is left keeps no tile; with a word left it may. */
static void test_full_memory(void **state) {
    (void)state;
    for (uint64_t left = 0; left < 2; left++) {
        const sx_cut cut = {.resident = 4, .occupied = 200 - left};
        cut_case *c = case_new(einsums[0], &cut);
        assert_int_equal(c->constraints.level[EXCHANGE].must_bypass, left ? 4 : 7);
        case_free(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_equals_oracle),
        cmocka_unit_test(test_cut_leaves_the_inside),
        cmocka_unit_test(test_shared_bandwidth),
        cmocka_unit_test(test_full_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
