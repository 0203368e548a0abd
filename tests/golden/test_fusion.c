/* Fused mappings against AccelForge's figures: see tests/golden/README.md.
 * usage: golden-fusion [--print FILE]     --print: the figures of every case of a file, a JSON object to a line */
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
static bool is_close(double a, double b) { return fabs(a - b) <= 2e-6 * fmax(fabs(a), fabs(b)); }

static void expect_figure(const char *id, const char *what, double have, double want) {
    if (!is_close(have, want)) print_error("%s: %s is %.17g, not %.17g\n", id, what, have, want);
    assert_true(is_close(have, want));
}

/* The figures of each level under a key; levels that have none are not compared. */
static void expect_levels(const sx_fusion_case *c, const json_t *result, const char *key, const uint64_t *have) {
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

static void print_case(const json_t *json) {
    sx_fusion_case c;
    sx_fusion_case_init(&c, json);
    const sx_fused_cost cost = evaluate_case(&c);
    json_t *peak = json_object();
    for (int s = 0; s < c.arch.n_levels; s++)
        if (c.arch.level[s].entries != SX_UNLIMITED)
            json_object_set_new(peak, c.arch.level[s].name, json_integer((json_int_t)cost.peak[s]));
    json_t *line = json_pack("{s:s, s:f, s:f, s:f, s:o}", "id", c.id, "energy", cost.energy, "latency", cost.latency,
                             "edp", cost.energy * cost.latency, "peak", peak);
    assert_int_equal(json_dumpf(line, stdout, JSON_COMPACT), 0);
    putchar('\n');
    json_decref(line);
    sx_fusion_case_fini(&c);
}

static const char *printed;

static void print_cases(void **state) {
    (void)state;
    json_t *lines = sx_vectors_load(printed), *one;
    size_t i;
    json_array_foreach(lines, i, one) if (json_is_array(json_object_get(one, "paths"))) print_case(one);
    json_decref(lines);
}

int main(int argc, char **argv) {
    const struct CMUnitTest print = cmocka_unit_test(print_cases);
    const struct CMUnitTest tests[] = {cmocka_unit_test(given_mappings)};
    if (argc == 3 && strcmp(argv[1], "--print") == 0) {
        printed = argv[2];
        return _cmocka_run_group_tests("print", &print, 1, NULL, NULL);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
