/* The law of the tile pipeline by hand: stages, nesting, words as Timeloop counts them, levels without a law. */
#include "ir/law.h"
#include "model/latency.h"
#include "model/model.h"
#include "sextant/model.h"
#include "support/plain_arch.h"
#include "support/read_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ARCH(inner, outer)                                                                                   \
    "arch:\n  arithmetic: {name: MAC, instances: 1, word-bits: 8}\n  storage:\n"                             \
    "  - {name: L1, instances: 1, entries: 64, word-bits: 8, shared_bandwidth: 100" inner "}\n"              \
    "  - {name: L2, instances: 1, entries: 4096, word-bits: 8" outer "}\n"                                   \
    "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, shared_bandwidth: 4"

/* O[m,n] += A[m,k] * B[k,n] of 8 x 8 x 8: L1 holds 2 x 2 x 2, L2 4 x 4 x 8; at DRAM n is outside m. */
static sx_problem problem;
static sx_arch arch;
static sx_mapping mapping;
static sx_cost cost;

static void set_mapping(void) {
    static const uint32_t factor[3][3] = {{2, 2, 2}, {2, 2, 4}, {2, 2, 1}};
    sx_mapping_init(&mapping, &problem, &arch);
    for (int s = 0; s < 3; s++) memcpy(mapping.level[s].temporal, factor[s], sizeof factor[s]);
}

/* Evaluates the mapping on an architecture, with the tile pipeline or without. */
static double evaluate(const char *text, bool tile) {
    const sx_model_options options = {.latency_tile = tile};
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_score score;
    sx_read_arch(text, &arch);
    assert_null(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:8,n:8,k:8}", &problem));
    set_mapping();
    assert_null(sx_model_new(&problem, &arch, &options, &model));
    assert_null(sx_model_workspace_new(model, &evaluator));
    assert_int_equal(sx_evaluate(evaluator, &mapping, &cost).reason, SX_LEGAL);
    assert_int_equal(sx_evaluate_score(evaluator, &mapping, &score).reason, SX_LEGAL);
    assert_true(score.latency == cost.latency && score.cycles == (double)cost.cycles);
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
    return cost.latency;
}

static void expect(double have, double want) {
    if (fabs(have - want) > 1e-9 * want) fail_msg("%.12g, not %.12g", have, want);
}

/* 4 launches of 128 steps; per launch 32 words of A and of B come in over 4 bytes a cycle, 16 of O go out. */
static void test_stages(void **state) {
    (void)state;
    const double latency =
        evaluate(ARCH("", "") ", latency: {refetch: true, tail: true, start: 7, launch: 3, load_bus: 4,"
                              " store_time: 0.5}}\n",
                 true);
    const sx_cost_boundary *b = &cost.boundary[0];
    assert_int_equal(cost.n_boundaries, 1);
    assert_int_equal(b->level, 2);
    expect(b->launches, 4);
    expect(b->load, 16);
    expect(b->compute, 128);
    expect(b->store, 8);
    expect(b->period, 128);
    expect(latency, 7 + 3 + 152 + 3 * 128);
    assert_true(cost.cycles == 512);
}

static void test_slots_and_exposed(void **state) {
    (void)state;
    expect(
        evaluate(ARCH("", "") ", latency: {refetch: true, slots: 1, load_bus: 4, store_time: 0.5}}\n", true),
        4 * 152);
    expect(evaluate(ARCH("", "") ", latency: {refetch: true, exposed: 0.5, load_bus: 4, store_time: 0.5}}\n",
                    true),
           4 * 140);
    expect(evaluate(ARCH("", "") ", latency: {launch: 200, load_bus: 4, store_time: 0.5}}\n", true), 4 * 200);
}

/* Without refetch B stays while m goes round: its 64 words come in once, those of A twice. */
static void test_words(void **state) {
    (void)state;
    evaluate(ARCH("", "") ", latency: {start: 1, load_bus: 4, store_time: 0.5}}\n", true);
    const sx_cost_tensor *moved = cost.level[2].tensor;
    const double reads = (double)(moved[0].reads + moved[1].reads + moved[2].reads);
    expect(cost.boundary[0].load, reads / 4 / 4);
    expect(cost.boundary[0].store,
           (double)(moved[0].updates + moved[1].updates + moved[2].updates) * 0.5 / 4);
}

/* L2 launches 16 tiles of 8 steps for each of DRAM's 4; both have a tail. */
static void test_nested(void **state) {
    (void)state;
    const double latency = evaluate(ARCH("", ", latency: {refetch: true, tail: true, load_bus: 2, "
                                             "store_time: 1}") ", latency: {refetch: true, tail: true, "
                                                               "load_bus: 4, store_time: 0.5}}\n",
                                    true);
    const double inner = (4 + 8 + 4.0 / 4) + 15 * 8;
    assert_int_equal(cost.n_boundaries, 2);
    expect(cost.boundary[0].launches, 16);
    expect(cost.boundary[0].store, 1);
    expect(cost.boundary[1].compute, inner);
    expect(latency, 16 + inner + 8 + 3 * inner);
}

/* Levels without a law keep their bandwidths: L1 hands out 1.5 words a step and takes half a one, at 1 a cycle. */
static void test_other_levels(void **state) {
    (void)state;
    const char slow[] =
        ARCH(", read_bandwidth: 0.5", "") ", latency: {start: 7, load_bus: 4, store_time: 0.5}}\n";
    const double latency = evaluate(slow, true);
    assert_true(latency == (double)cost.level[0].cycles && latency > 1024);
}

/* What the pages of tiles add to the load of a launch; 10 cycles a page. A's tile is 4 rows of 8 words, of 8 rows that follow
 * each other, B's 8 rows of 4 words, 8 words apart. */
static double load_of_pages(int page) {
    char text[1024];
    double load[2];
    for (int time = 0; time < 2; time++) {
        snprintf(text, sizeof text, "%s, latency: {refetch: true, load_bus: 4, page: %d, page_time: %d}}\n",
                 ARCH("", ""), page, 10 * time);
        evaluate(text, true);
        load[time] = cost.boundary[0].load;
    }
    return load[1] - load[0];
}

static void test_pages(void **state) {
    (void)state;
    expect(load_of_pages(4096), 10 * (1 + 1));   /* less than a page of each */
    expect(load_of_pages(16), 10 * (2 + 4));     /* 32 words in a piece; 8 rows in 64 */
    expect(load_of_pages(5), 10 * (6.4 + 8));    /* a page for each row */
    expect(load_of_pages(2), 10 * (16 + 8 * 2)); /* two for each */
}

static void test_timeloop(void **state) {
    (void)state;
    const double cycles = evaluate(ARCH("", "") "}\n", false);
    assert_true(evaluate(ARCH("", "") "}\n", true) == cycles);
    assert_true(evaluate(ARCH("", "") ", latency: {slots: inf, exposed: 0}}\n", true) == cycles);
    assert_int_equal(cost.n_boundaries, 0);
    assert_true(evaluate(ARCH("", "") ", latency: {start: 70, launch: 9}}\n", false) == cycles);
}

/* The array of 2 x 4: 2 * 2 blocks, each 4 steps of m in instructions of 3 and of 1. */
static void test_array(void **state) {
    (void)state;
    evaluate(
        ARCH("", "") ", latency: {load_bus: 4, store_time: 0.5, rows: 3, min_rows: 2, preload: 9, issue: 4,"
                     " stream: M, array: {K: 4, N: 2}}}\n",
        true);
    expect(cost.boundary[0].compute, 2 * 2 * fmax((3 + 2) - 2 + 9, 4 * 2));
}

/* Names that the problem lacks stand for roles: C is k, K is n and P is m. */
static void test_roles(void **state) {
    (void)state;
    evaluate(
        ARCH("", "") ", latency: {load_bus: 4, store_time: 0.5, rows: 3, min_rows: 2, preload: 9, issue: 4,"
                     " stream: P, array: {C: 4, K: 2}, load_request: 3, refetch: true,"
                     " layout: {Inputs: [C, P], Weights: K}}}\n",
        true);
    expect(cost.boundary[0].compute, 2 * 2 * 12);
    expect(cost.boundary[0].load, 8 * 2 * 0.75 + 8 * 2 * 0.75);
}

/* The levels from which tiles are loaded that the first of these laws launches; 0: no law. */
static unsigned ports_of(const uint8_t *laws, int n) {
    const sx_model_options options = {.latency_tile = true};
    sx_model *model;
    sx_plain_arch(&arch, n);
    for (arch.n_laws = 0; arch.n_laws < 2; arch.n_laws++) {
        sx_law_init(&arch.law[arch.n_laws]);
        arch.law[arch.n_laws].start = 7;
    }
    for (int s = 0; s < n; s++) arch.level[s].law = laws[s];
    assert_null(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:8,n:8,k:8}", &problem));
    assert_null(sx_model_new(&problem, &arch, &options, &model));
    const unsigned ports = model->law->boundary[0].ports;
    sx_model_free(model);
    return ports;
}

/* Levels of one law are one memory, of which the outermost level is the port; with the outermost level inside it, that alone. */
static void test_levels_of_one_law(void **state) {
    (void)state;
    assert_int_equal(ports_of((const uint8_t[]){0, 1, 1, 1, 0, 0}, 6), 0xe);
    assert_int_equal(ports_of((const uint8_t[]){0, 1, 1, 0, 1, 0}, 6), 0x6);
    assert_int_equal(ports_of((const uint8_t[]){0, 1, 1, 1, 1, 1}, 6), 0x20);
    assert_int_equal(ports_of((const uint8_t[]){0, 0, 0, 1, 2, 2}, 6), 0x18);
    assert_int_equal(ports_of((const uint8_t[]){0, 0, 1, 2, 2}, 5), 0xc);
    assert_int_equal(ports_of((const uint8_t[]){0, 0, 0, 1, 2, 0}, 6), 0x8);
    assert_int_equal(ports_of((const uint8_t[]){0, 0, 0, 1, 0, 0}, 6), 0x8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_slots_and_exposed),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_other_levels),
        cmocka_unit_test(test_timeloop),
        cmocka_unit_test(test_array),
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_levels_of_one_law),
        cmocka_unit_test(test_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
