/* The independent check of a fused network: it fails where a claim is changed behind its certificate. */
#include "session/fuse_independent.h"

#include "sextant/all.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Two products in a row, and what was found for them. */
typedef struct bench {
    sx_graph graph;
    sx_network network;
    sx_arch arch;
    sx_session_options options;
    sx_session_result result;
    sx_fused *fused;
} bench;

static const char text[] = "graph:\n"
                           "  name: pair\n"
                           "  tensors:\n"
                           "  - {name: x, shape: [4, 16]}\n"
                           "  - {name: w1, shape: [24, 4], weight: true}\n"
                           "  - {name: wide, shape: [24, 16]}\n"
                           "  - {name: w2, shape: [4, 24], weight: true}\n"
                           "  - {name: y, shape: [4, 16]}\n"
                           "  nodes:\n"
                           "  - name: expand\n"
                           "    einsum: \"O[k,p] += W[k,c]*I[c,p] {k:24,c:4,p:16}\"\n"
                           "    operands: {O: {tensor: wide}, W: {tensor: w1}, I: {tensor: x}}\n"
                           "  - name: project\n"
                           "    einsum: \"O[k,p] += W[k,c]*I[c,p] {k:4,c:24,p:16}\"\n"
                           "    operands: {O: {tensor: y}, W: {tensor: w2}, I: {tensor: wide}}\n";

static int begin(void **state) {
    static bench b;
    const sx_fusing_options options = {.tensors = "wide", .window = "best"};
    sx_input *input = sx_expect_input(text);
    sx_expect_ok(sx_input_graph(input, &b.graph));
    sx_input_free(input);
    sx_expect_ok(sx_graph_network(&b.graph, &b.network));
    sx_expect_ok(sx_catalog_arch("glb128", &b.arch));
    sx_session_options_init(&b.options);
    b.options.mapper = "optimal";
    b.options.run.proof = true;
    sx_expect_ok(sx_objective_parse("energy", &b.options.run.objective));
    sx_expect_ok(sx_session_run(&b.network, &b.arch, &b.options, &b.result));
    sx_expect_ok(sx_session_fuse(&b.graph, &b.network, &b.arch, &b.options, &b.result, &options, &b.fused));
    assert_true(b.fused->found && b.fused->n_runs > 1);
    *state = &b;
    return 0;
}

static int end(void **state) {
    bench *b = *state;
    sx_fused_free(b->fused);
    sx_session_result_fini(&b->result);
    sx_network_fini(&b->network);
    sx_graph_fini(&b->graph);
    return 0;
}

/* What the check says of the fused mapping's cost. */
static sx_independent_report count(const bench *b) {
    const sx_independent_options options = {.threads = 1};
    sx_independent_report report;
    sx_fuse_alone alone;
    sx_fuse_alone_init(&alone, &options, &report);
    sx_expect_ok(sx_fuse_alone_cost(&alone, &b->graph, &b->network, &b->arch, &b->options, b->fused));
    return report;
}

/* Fails where a number of the fused mapping that is changed is not told; puts it back. */
static void expect_told(const bench *b, double *number, const char *why) {
    const double before = *number;
    *number = before * 1.001 + 1;
    const sx_independent_report report = count(b);
    *number = before;
    assert_int_equal(report.verdict, SX_INDEPENDENT_FAILS);
    if (!strstr(report.why, why)) fail_msg("'%s', not '%s'", report.why, why);
}

static void changed_costs_are_told(void **state) {
    bench *b = *state;
    sx_fused *fused = b->fused;
    const sx_independent_report report = count(b);
    assert_int_equal(report.verdict, SX_INDEPENDENT_HOLDS);
    assert_true(report.cycles == fused->total.cycles && report.energy_pj > 0);
    expect_told(b, &fused->total.energy_pj, "the mapping costs");
    expect_told(b, &fused->total.cycles, "the mapping takes");
    for (size_t r = 0; r < fused->n_runs; r++) expect_told(b, &fused->run[r].times, " times on ");
}

/* Of two claims that fail the first is told. */
static void the_first_fault_is_told(void **state) {
    bench *b = *state;
    sx_fused_run *run = b->fused->run;
    char first[sizeof count(b).why];
    run[0].times++;
    memcpy(first, count(b).why, sizeof first);
    run[1].times++;
    assert_string_equal(count(b).why, first);
    run[0].times--;
    assert_string_not_equal(count(b).why, first);
    run[1].times--;
}

/* The certificate of a layer holds; where its mapping is said to cost less, it fails, and so does the whole. */
static void a_false_label_fails_the_whole(void **state) {
    bench *b = *state;
    const sx_independent_options options = {.threads = 1};
    sx_independent_report report;
    sx_certificate *certificate;
    sx_fuse_alone alone;
    bool holds;
    sx_constraints *limits = malloc(sizeof *limits);
    sx_constraints_init(limits, &b->network.layer[0].problem, &b->arch);
    const sx_certified_space of = {.problem = &b->network.layer[0].problem,
                                   .arch = &b->arch,
                                   .constraints = limits,
                                   .options = &b->options,
                                   .mapper = "optimal"};
    sx_expect_ok(sx_layer_certificate(&b->result.layer[0], &of, &certificate));
    sx_fuse_alone_init(&alone, &options, &report);
    for (int changed = 0; changed < 3; changed++) {
        certificate->score.energy_pj *= changed == 1 ? 0.5 : changed == 2 ? 2 : 1;
        sx_expect_ok(sx_fuse_alone_label(&alone, "label", certificate, &holds));
        assert_int_equal(holds, changed != 1);
        assert_int_equal(report.verdict, changed ? SX_INDEPENDENT_FAILS : SX_INDEPENDENT_HOLDS);
        if (changed) assert_int_equal(strncmp(report.why, "a label: ", strlen("a label: ")), 0);
    }
    assert_int_equal(alone.undecided, 0);
    sx_certificate_free(certificate);
    free(limits);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_costs_are_told),
        cmocka_unit_test(the_first_fault_is_told),
        cmocka_unit_test(a_false_label_fails_the_whole),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
