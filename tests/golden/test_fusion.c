/* Fused mappings against AccelForge's figures: see tests/golden/README.md.
 * usage: golden-fusion [--print FILE]     --print: the figures of every case of a file, a JSON object to a line */
#include "fuse/fuse_search.h"
#include "support/expect.h"
#include "support/fusion_case.h"
#include "support/vectors.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* AccelForge computes in 32-bit numbers in places. */
static bool is_close(double a, double b) {
    return fabs(a - b) <= 2e-6 * fmax(fabs(a), fabs(b));
}

static void expect_figure(const char *id, const char *what, double have, double want) {
    if (!is_close(have, want)) print_error("%s: %s is %.17g, not %.17g\n", id, what, have, want);
    assert_true(is_close(have, want));
}

/* The figures of each level under a key; levels that have none are not compared. */
static void expect_levels(const sx_fusion_case *c, const json_t *result, const char *key,
                          const uint64_t *have) {
    json_t *levels = json_object_get(result, key), *value;
    const char *name;
    json_object_foreach(levels, name, value)
        expect_figure(c->id, key, (double)have[sx_arch_level(&c->arch, name)], json_number_value(value));
}

static sx_fused_cost evaluate_case(sx_fusion_case *c) {
    sx_fused_cost cost;
    sx_fused_verdict verdict;
    sx_fused_align(&c->cascade, &c->mapping);
    sx_expect_ok(sx_fused_evaluate(&c->arch, &c->cascade, &c->mapping, &cost, &verdict));
    if (verdict.reason) print_error("%s: refused for reason %d\n", c->id, (int)verdict.reason);
    assert_int_equal(verdict.reason, SX_FUSED_OK);
    cost.latency /= c->throughput;
    return cost;
}

static void check_case(const json_t *json) {
    const json_t *result = json_object_get(json, "result");
    sx_fusion_case c;
    sx_fusion_case_init(&c, json);
    const sx_fused_cost cost = evaluate_case(&c);
    expect_figure(c.id, "energy", cost.energy, sx_vectors_number(result, "energy"));
    expect_figure(c.id, "latency", cost.latency, sx_vectors_number(result, "latency"));
    expect_levels(&c, result, "reads", cost.reads);
    expect_levels(&c, result, "writes", cost.writes);
    expect_levels(&c, result, "peak", cost.peak);
    sx_fusion_case_fini(&c);
}

static void given_mappings(void **state) {
    (void)state;
    json_t *lines = sx_vectors_load(SX_TEST_DATA "/golden/fusion/golden.jsonl"), *one;
    size_t i, n = 0;
    json_array_foreach(lines, i, one) {
        if (!json_is_array(json_object_get(one, "paths"))) continue;
        check_case(one);
        n++;
    }
    assert_int_equal(n, 153);
    json_decref(lines);
}

static sx_fuse_objective objective_of(const json_t *json) {
    const char *name = json_string_value(json_object_get(json, "objective"));
    if (name && strcmp(name, "latency") == 0) return SX_FUSE_LATENCY;
    return name && strcmp(name, "edp") == 0 ? SX_FUSE_EDP : SX_FUSE_ENERGY;
}

/* Which tensors the levels below the exchange memory may keep. */
static void read_keeps(const sx_fusion_case *c, const json_t *options,
                       uint32_t (*keep)[SX_MAX_FUSED_LEVELS]) {
    for (size_t e = 0; e < c->cascade.n_einsums; e++)
        for (int s = 0; s < SX_MAX_FUSED_LEVELS; s++) {
            json_t *names = s < c->arch.n_levels ? json_object_get(json_object_get(options, "lower_keep"),
                                                                   c->arch.level[s].name)
                                                 : NULL,
                   *name;
            size_t i;
            keep[e][s] = names ? 0 : UINT32_MAX;
            json_array_foreach(names, i, name) {
                const int v = sx_problem_tensor(&c->cascade.einsum[e], json_string_value(name));
                if (v >= 0) keep[e][s] |= 1u << v;
            }
        }
}

/* The answer of a search, in the case's units. */
static sx_fuse_answer search_case(const sx_fusion_case *c, const json_t *json) {
    const json_t *options = json_object_get(json, "options");
    uint32_t keep[16][SX_MAX_FUSED_LEVELS];
    assert_true(c->cascade.n_einsums <= 16);
    read_keeps(c, options, keep);
    const sx_fuse_options o = {.objective = objective_of(json),
                               .unfused = json_is_true(json_object_get(options, "unfused")),
                               .loops_per_dim =
                                   (int)json_integer_value(json_object_get(options, "fused_loops_per_dim")),
                               .keep = (const uint32_t(*)[SX_MAX_FUSED_LEVELS])keep};
    sx_fuse_answer answer;
    sx_expect_ok(sx_fuse_search(&c->arch, &c->cascade, &o, &answer));
    if (!answer.found) print_error("%s: no mapping is found\n", c->id);
    assert_true(answer.found);
    answer.latency /= c->throughput;
    answer.value = sx_fuse_value(o.objective, answer.energy, answer.latency);
    return answer;
}

static void check_search(const json_t *json) {
    const json_t *want = json_object_get(json, "true_optimum");
    if (!want) want = json_object_get(json_object_get(json, "search"), "found");
    sx_fusion_case c;
    sx_fusion_case_init(&c, json);
    const sx_fuse_answer answer = search_case(&c, json);
    expect_figure(c.id, "the optimum", answer.value, json_number_value(want));
    sx_fused_mapping_fini(&c.mapping);
    c.mapping = answer.mapping;
    const sx_fused_cost cost = evaluate_case(&c);
    assert_true(fabs(cost.energy - answer.energy) <= 1e-12 * answer.energy);
    assert_true(fabs(cost.latency - answer.latency) <= 1e-12 * answer.latency);
    sx_fusion_case_fini(&c);
}

static void searches(void **state) {
    (void)state;
    json_t *lines = sx_vectors_load(SX_TEST_DATA "/golden/fusion/golden.jsonl"), *one;
    size_t i, n = 0;
    json_array_foreach(lines, i, one) {
        if (!json_is_object(json_object_get(one, "search"))) continue;
        check_search(one);
        n++;
    }
    assert_int_equal(n, 123);
    json_decref(lines);
}

/* Prints the figures of a mapping; `optimal`: it is proven to be the best. */
static void print_figures(const sx_fusion_case *c, const sx_fused_cost *cost, bool optimal) {
    json_t *peak = json_object();
    for (int s = 0; s < c->arch.n_levels; s++)
        if (c->arch.level[s].entries != SX_UNLIMITED)
            json_object_set_new(peak, c->arch.level[s].name, json_integer((json_int_t)cost->peak[s]));
    json_t *line =
        json_pack("{s:s, s:f, s:f, s:f, s:o, s:b}", "id", c->id, "energy", cost->energy, "latency",
                  cost->latency, "edp", cost->energy * cost->latency, "peak", peak, "optimal", optimal);
    assert_int_equal(json_dumpf(line, stdout, JSON_COMPACT), 0);
    putchar('\n');
    json_decref(line);
}

/* A case that asks for a search is searched, another evaluated. */
static void print_case(const json_t *json) {
    const bool is_search = strcmp(json_string_value(json_object_get(json, "kind")), "search") == 0;
    sx_fusion_case c;
    sx_fusion_case_init(&c, json);
    if (is_search) {
        sx_fused_mapping_fini(&c.mapping);
        c.mapping = search_case(&c, json).mapping;
    }
    const sx_fused_cost cost = evaluate_case(&c);
    print_figures(&c, &cost, is_search);
    sx_fusion_case_fini(&c);
}

static const char *printed;

static void print_cases(void **state) {
    (void)state;
    json_t *lines = sx_vectors_load(printed), *one;
    size_t i;
    json_array_foreach(lines, i, one) print_case(one);
    json_decref(lines);
}

int main(int argc, char **argv) {
    const struct CMUnitTest print = cmocka_unit_test(print_cases);
    const struct CMUnitTest tests[] = {cmocka_unit_test(given_mappings), cmocka_unit_test(searches)};
    if (argc == 3 && strcmp(argv[1], "--print") == 0) {
        printed = argv[2];
        return _cmocka_run_group_tests("print", &print, 1, NULL, NULL);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
