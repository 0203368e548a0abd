/* The checker's law of the tile pipeline beside the model's, on random laws, tensors that lie in memory in different ways and
 * dimensions that are named by role; and what its bounds come to, as hashes that are changed on purpose. */
#include "support/check_space.h"
#include "support/expect.h"
#include "support/random_law.h"

#include "base/hash.h"
#include "check/tile_law.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LAWS = 20, MAPPINGS = 4 };

/* A machine of two memories over four units. */
static void draw_machine(sx_rng *rng, const sx_problem *problem, sx_arch *arch) {
    const bool array = sx_rng_below(rng, 2);
    memset(arch, 0, sizeof *arch);
    arch->n_levels = 2;
    sx_compute_init(&arch->compute);
    strcpy(arch->compute.name, "MAC");
    arch->compute.instances = arch->compute.mesh_x = 4;
    for (int s = 0; s < 2; s++) {
        sx_storage *level = &arch->level[s];
        sx_storage_init(level);
        strcpy(level->name, s ? "DRAM" : "Buffer");
        level->read_energy = level->fill_energy = level->update_energy = s ? 100 : 1;
        level->fill_latency = sx_rng_below(rng, 3);
        level->drain_latency = sx_rng_below(rng, 3);
    }
    arch->level[0].entries = 64;
    arch->level[1].read_bandwidth = 2;
    arch->level[1].write_bandwidth = sx_rng_below(rng, 2) ? 1 : INFINITY;
    arch->level[1].shared_bandwidth = sx_rng_below(rng, 2) ? 1.5 : 4;
    arch->n_laws = 1;
    arch->level[1].law = 1;
    sx_random_law(rng, problem, array, &arch->law[0]);
    if (!array) arch->law[0].load_bus = 0;
    arch->law[0].refetch = true;
    arch->law[0].spill = false;
}

/* Names dimensions by role, and lays tensors in memory in another order. */
static void name_roles(sx_rng *rng, sx_law *law) {
    static const char *const roles[] = {"C", "K", "P"};
    for (int i = 0; i < law->n_array; i++) strcpy(law->array[i].dim, roles[i]);
    if (law->n_array) strcpy(law->stream, sx_rng_below(rng, 2) ? "P" : "K");
    law->n_layouts = 2;
    law->layout[0] = (struct sx_law_layout){"Inputs", "K C P"};
    law->layout[1] = (struct sx_law_layout){"O", "P K"};
}

/* Adds what the checker says of the claim that a mapping is the fastest. */
static void add_claim(const sx_small_space *small, const sx_mapping_list *list, uint64_t *hash) {
    sx_independent_report report;
    sx_check_doubt doubt;
    char text[700];
    sx_check_case *c = sx_check_case_of(small, "latency", list, 0, NULL, 0, &doubt);
    sx_judge_case(c, doubt, false, 0, &report);
    if (report.verdict == SX_INDEPENDENT_FAILS ||
        fabs(report.latency - list->score->latency) > 1e-9 * report.latency)
        fail_msg("%.17g, the model says %.17g: %s; cycles %.17g and %.17g", report.latency,
                 list->score->latency, report.why, report.cycles, list->score->cycles);
    snprintf(text, sizeof text, "%d %llu %.9g %.9g %.9g", (int)report.verdict,
             (unsigned long long)report.launched, report.latency, report.certified, report.better);
    *hash = sx_hash_bytes(text, strlen(text), *hash);
    c->claim.value *= 1 + 1e-9;
    sx_judge_case(c, doubt, false, 0, &report);
    assert_int_equal(report.verdict, SX_INDEPENDENT_FAILS);
    sx_check_case_free(c);
}

/* Adds the latency of tiles in all orders of three loops, of which none is below what is called the least. */
static void add_orders(const sx_small_space *small, const sx_mapping_list *list, uint64_t *hash) {
    static const uint8_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    sx_check_tile_law law;
    sx_check_doubt doubt;
    char text[80];
    sx_check_case *c = sx_check_case_of(small, "latency", list, 0, NULL, 0, &doubt);
    sx_check_tile_law_init(c, &law);
    for (unsigned kept = 1; kept < 8; kept++) {
        sx_check_tile tile = {.kept = kept, .steps = 500};
        double least = INFINITY;
        for (int d = 0; d < 3; d++) {
            tile.times[d] = list->mapping->level[1].temporal[d];
            tile.extent[d] = c->problem.size[d] / tile.times[d];
        }
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
            least = fmin(least, sx_check_tile_latency(&law, &tile, orders[i]));
        const double best = sx_check_tile_best_order(&law, &tile),
                     none = sx_check_tile_latency(&law, &tile, NULL);
        assert_true(fabs(best - least) <= 1e-9 * least && none <= best * (1 + 1e-9));
        snprintf(text, sizeof text, "%.9g %.9g", best, none);
        *hash = sx_hash_bytes(text, strlen(text), *hash);
    }
    sx_check_case_free(c);
}

/* Adds what random mappings on a random machine come to. */
static void add_machine(sx_rng *rng, const char *einsum, bool roles, uint64_t *hash) {
    static sx_small_space small;
    memset(&small, 0, sizeof small);
    sx_expect_ok(sx_einsum_parse(einsum, &small.c.problem));
    sx_expect_ok(sx_problem_bind(&small.c.problem, 1, "Inputs"));
    sx_expect_ok(sx_problem_bind(&small.c.problem, 2, "Weights"));
    draw_machine(rng, &small.c.problem, &small.c.arch);
    if (roles) name_roles(rng, &small.c.arch.law[0]);
    small.c.options.latency_tile = true;
    sx_constraints_init(&small.limits, &small.c.problem, &small.c.arch);
    sx_expect_ok(sx_model_new(&small.c.problem, &small.c.arch, &small.c.options, &small.model));
    sx_expect_ok(sx_map_space_new(small.model, &small.limits, &small.options, &small.space));
    small.map = sx_map_space_of(small.space);
    sx_mapping_list list = {
        .mapping = calloc(1, sizeof *list.mapping), .score = calloc(1, sizeof *list.score), .n = 1};
    sx_model_workspace *evaluator;
    void *point = malloc(sx_space_point_size(small.space));
    uint64_t rejected = 0;
    assert_true(list.mapping && list.score && point);
    sx_expect_ok(sx_model_workspace_new(small.model, &evaluator));
    for (int i = 0; i < MAPPINGS && sx_space_draw_legal(small.space, rng, point, &rejected); i++) {
        sx_map_space_mapping(small.space, point, list.mapping);
        assert_int_equal(sx_evaluate_score(evaluator, list.mapping, list.score).reason, SX_LEGAL);
        add_claim(&small, &list, hash);
        add_orders(&small, &list, hash);
    }
    sx_model_workspace_free(evaluator);
    free(point);
    sx_free_mappings(&list);
    sx_small_space_fini(&small);
}

static void laws_are_those_of_the_model(void **state) {
    (void)state;
    static const struct {
        const char *einsum;
        bool roles;
        uint64_t expected;
    } cases[] = {{"O[m,n] += A[m,k]*B[k,n] {m:6,n:4,k:8}", false, 0x587ec1658a36db1eu},
                 {"O[m,n] += A[m,k]*B[k,n] {m:6,n:4,k:8}", true, 0xa9c37c795ad7f1d1u},
                 {"O[k,p] += I[2*p+r]*W[k,r] {k:4,p:6,r:3}", false, 0x3c72ebc155a5ce6du},
                 {"O[k,p] += I[r,p]*W[k,r] {k:4,p:6,r:9}", true, 0xf17f3e7d0e523962u}};
    bool good = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t hash = 0;
        for (uint64_t k = 0; k < LAWS; k++) {
            sx_rng rng = sx_rng_stream(i, "laws", k);
            add_machine(&rng, cases[i].einsum, cases[i].roles, &hash);
        }
        if (hash == cases[i].expected) continue;
        print_error("%s: 0x%016llxu\n", cases[i].einsum, (unsigned long long)hash);
        good = false;
    }
    assert_true(good);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
