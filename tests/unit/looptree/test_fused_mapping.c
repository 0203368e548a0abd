#include "looptree/fused_mapping.h"

#include "looptree/fuse_search.h"
#include "sextant/input.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DRAM = 1, GLB = 0, MOST = 3 };

/* A memory of `room` words of 8 bits below DRAM. */
static sx_arch small_machine(uint64_t room) {
    sx_arch arch;
    memset(&arch, 0, sizeof arch);
    arch.n_levels = 2;
    strcpy(arch.name, "small");
    for (int s = 0; s < 2; s++) {
        sx_storage_init(&arch.level[s]);
        strcpy(arch.level[s].name, s ? "DRAM" : "GLB");
        arch.level[s].word_bits = 8;
        arch.level[s].read_energy = arch.level[s].fill_energy = s ? 10 : 1;
    }
    arch.level[GLB].entries = room;
    sx_compute_init(&arch.compute);
    strcpy(arch.compute.name, "MAC");
    return arch;
}

static void make_cascade(const char *const *text, size_t n, sx_cascade *cascade) {
    static sx_problem einsum[MOST];
    for (size_t e = 0; e < n; e++) sx_expect_ok(sx_einsum_parse(text[e], &einsum[e]));
    sx_expect_ok(sx_cascade_init(cascade, einsum, n, 8));
}

static sx_path_node hold(const sx_cascade *cascade, size_t e, int level, const char *tensor) {
    return (sx_path_node){.kind = SX_PATH_HOLD,
                          .level = (int8_t)level,
                          .index = (uint8_t)sx_problem_tensor(&cascade->einsum[e], tensor)};
}

static sx_path_node loop(const sx_cascade *cascade, size_t e, const char *dim, uint32_t tile) {
    return (sx_path_node){
        .kind = SX_PATH_LOOP, .index = (uint8_t)sx_problem_dim(&cascade->einsum[e], dim), .tile = tile};
}

/* Appends what a text such as "DRAM:A GLB:B m=2 m=1" says to the path of einsum e. */
static void set_path(const sx_cascade *cascade, size_t e, const char *text, sx_path *path) {
    char word[32];
    int used;
    path->n_nodes = 0;
    for (; sscanf(text, " %31s%n", word, &used) == 1; text += used) {
        char *colon = strchr(word, ':'), *equals = strchr(word, '=');
        if (colon)
            path->node[path->n_nodes++] = hold(cascade, e, word[0] == 'D' ? DRAM : GLB, colon + 1);
        else {
            *equals = '\0';
            path->node[path->n_nodes++] = loop(cascade, e, word, (uint32_t)strtoul(equals + 1, NULL, 10));
        }
    }
}

static sx_fused_verdict judge(uint64_t room, const char *const *einsum, const char *const *paths, size_t n,
                              sx_fused_cost *cost) {
    const sx_arch arch = small_machine(room);
    sx_cascade cascade;
    sx_path path[MOST];
    sx_fused_verdict verdict;
    make_cascade(einsum, n, &cascade);
    for (size_t e = 0; e < n; e++) set_path(&cascade, e, paths[e], &path[e]);
    const sx_fused_mapping mapping = {n, path};
    sx_expect_ok(sx_fused_evaluate(&arch, &cascade, &mapping, cost, &verdict));
    sx_cascade_fini(&cascade);
    return verdict;
}

static const char *const chain[] = {"B[m] += A[m] {m:4}", "C[m] += B[m] {m:4}"};

static void tiles_pass_on_chip(void **state) {
    (void)state;
    const char *const paths[] = {"DRAM:A m=1 GLB:B", "DRAM:C m=1 GLB:B"};
    sx_fused_cost cost;
    const sx_fused_verdict v = judge(1, chain, paths, 2, &cost);
    assert_int_equal(v.reason, SX_FUSED_OK);
    assert_int_equal(cost.reads[DRAM], 4 * 8);
    assert_int_equal(cost.writes[DRAM], 4 * 8);
    assert_int_equal(cost.peak[GLB], 8);
}

static void paths_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *path;
        sx_path_fault fault;
    } bad[] = {
        {"DRAM:A DRAM:B m=3 m=1", SX_PATH_NO_DIVISOR}, {"DRAM:A DRAM:B m=0", SX_PATH_NO_DIVISOR},
        {"DRAM:A DRAM:B m=2", SX_PATH_UNFINISHED},     {"DRAM:A m=1", SX_PATH_NO_HOLDER},
        {"GLB:A DRAM:A DRAM:B m=1", SX_PATH_INWARD},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sx_fused_cost cost;
        const sx_fused_verdict v = judge(8, chain, &bad[i].path, 1, &cost);
        assert_int_equal(v.reason, SX_FUSED_PATH);
        assert_int_equal(v.fault, bad[i].fault);
    }
}

static void users_agree(void **state) {
    (void)state;
    const char *const other_bound[] = {"DRAM:A m=1 GLB:B", "DRAM:C m=2 GLB:B m=1"};
    const char *const other_memory[] = {"DRAM:A GLB:B m=1", "DRAM:C DRAM:B m=1"};
    sx_fused_cost cost;
    sx_fused_verdict v = judge(8, chain, other_bound, 2, &cost);
    assert_int_equal(v.reason, SX_FUSED_DISAGREES);
    assert_int_equal(v.einsum, 1);
    v = judge(8, chain, other_memory, 2, &cost);
    assert_int_equal(v.reason, SX_FUSED_DISAGREES);
}

static void room_is_enough_or_named(void **state) {
    (void)state;
    const char *const paths[] = {"DRAM:A m=2 GLB:B m=1", "DRAM:C m=2 GLB:B m=1"};
    sx_fused_cost cost;
    assert_int_equal(judge(2, chain, paths, 2, &cost).reason, SX_FUSED_OK);
    const sx_fused_verdict v = judge(1, chain, paths, 2, &cost);
    assert_int_equal(v.reason, SX_FUSED_CAPACITY);
    assert_int_equal(v.index, GLB);
    assert_int_equal(v.needed, 16);
    assert_int_equal(v.available, 8);
}

/* B waits under a loop for the third einsum while the second shares none. */
static void nothing_passes_over_deeper_loops(void **state) {
    (void)state;
    const char *const einsum[] = {"B[m] += A[m] {m:4}", "D[n] += X[n] {n:4}", "C[m] += B[m] {m:4}"};
    const char *const deep[] = {"DRAM:A m=1 GLB:B", "DRAM:X DRAM:D n=1", "DRAM:C m=1 GLB:B"};
    const char *const whole[] = {"DRAM:A GLB:B m=1", "DRAM:X DRAM:D n=1", "DRAM:C GLB:B m=1"};
    sx_fused_cost cost;
    const sx_fused_verdict v = judge(8, einsum, deep, 3, &cost);
    assert_int_equal(v.reason, SX_FUSED_PASSES);
    assert_int_equal(v.einsum, 1);
    assert_int_equal(judge(8, einsum, whole, 3, &cost).reason, SX_FUSED_OK);
    assert_int_equal(cost.peak[GLB], 4 * 8);
}

/* Orders of loops without a holder between them are matched. */
static void loops_are_aligned(void **state) {
    (void)state;
    const char *const einsum[] = {"B[m,n] += A[m,n] {m:2,n:3}", "C[m,n] += B[m,n] {m:2,n:3}"};
    const char *const paths[] = {"DRAM:A m=1 n=1 GLB:B", "DRAM:C n=1 m=1 GLB:B"};
    const sx_arch arch = small_machine(1);
    sx_cascade cascade;
    sx_path path[2];
    sx_fused_mapping mapping = {2, path};
    sx_fused_cost cost;
    sx_fused_verdict v;
    make_cascade(einsum, 2, &cascade);
    for (size_t e = 0; e < 2; e++) set_path(&cascade, e, paths[e], &path[e]);
    sx_expect_ok(sx_fused_evaluate(&arch, &cascade, &mapping, &cost, &v));
    assert_int_equal(v.reason, SX_FUSED_DISAGREES);
    sx_fused_align(&cascade, &mapping);
    sx_expect_ok(sx_fused_evaluate(&arch, &cascade, &mapping, &cost, &v));
    assert_int_equal(v.reason, SX_FUSED_OK);
    sx_cascade_fini(&cascade);
}

/* Three words of an input slide over it, beside the weights and one sum: all is read once. */
static void windows_slide(void **state) {
    (void)state;
    const char *const einsum[] = {"B[x] += A[x+r]*W[r] {x:8,r:3}"};
    const sx_arch arch = small_machine(7);
    const sx_fuse_options options = {.objective = SX_FUSE_ENERGY};
    sx_cascade cascade;
    sx_fuse_answer answer;
    sx_fused_cost cost;
    sx_fused_verdict v;
    make_cascade(einsum, 1, &cascade);
    sx_expect_ok(sx_fuse_search(&arch, &cascade, &options, &answer));
    assert_true(answer.found);
    sx_expect_ok(sx_fused_evaluate(&arch, &cascade, &answer.mapping, &cost, &v));
    assert_int_equal(v.reason, SX_FUSED_OK);
    assert_int_equal(cost.reads[DRAM], (10 + 3) * 8); /* inputs and weights once */
    sx_fused_mapping_fini(&answer.mapping);
    sx_cascade_fini(&cascade);
}

static void bad_cascades_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *first, *second, *why;
    } bad[] = {
        {"B[m] += A[m] {m:4}", "B[m] += C[m] {m:4}", "two einsums write tensor 'B'"},
        {"B[m] += A[m] {m:4}", "A[m] += C[m] {m:4}", "after"},
        {"B[m] += A[m] {m:4}", "C[m] += B[m] {m:5}", "rank 1 of tensor 'B' is 4 long"},
        {"B[m] += A[m] {m:4}", "C[m] += B[m,m] {m:4}", "ranks"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sx_problem einsum[2];
        sx_cascade cascade;
        sx_expect_ok(sx_einsum_parse(bad[i].first, &einsum[0]));
        sx_expect_ok(sx_einsum_parse(bad[i].second, &einsum[1]));
        sx_expect_error(sx_cascade_init(&cascade, einsum, 2, 8), bad[i].why);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_pass_on_chip),
        cmocka_unit_test(paths_are_checked),
        cmocka_unit_test(users_agree),
        cmocka_unit_test(room_is_enough_or_named),
        cmocka_unit_test(nothing_passes_over_deeper_loops),
        cmocka_unit_test(loops_are_aligned),
        cmocka_unit_test(windows_slide),
        cmocka_unit_test(bad_cascades_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
