#include "support/read_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void entries_are_legal_and_named(void **state) {
    (void)state;
    static sx_arch arch;
    static sx_problem problem;
    const char *about = NULL, *name;
    size_t n = 0;
    for (; (name = sx_catalog_arch_name(n, &about)); n++, about = NULL) {
        assert_non_null(about);
        assert_null(sx_catalog_arch(name, &arch));
        assert_null(sx_arch_check(&arch));
        assert_string_equal(arch.name, name);
    }
    assert_int_equal(n, 17);
    for (n = 0; (name = sx_catalog_problem_name(n, &about)); n++, about = NULL) {
        assert_non_null(about);
        assert_null(sx_catalog_problem(name, &problem));
        assert_null(sx_problem_check(&problem));
        assert_string_equal(problem.name, name);
    }
    assert_int_equal(n, 21);
    assert_non_null(sx_catalog_arch_name(0, NULL));
}

/* The paper's machine as Timeloop would be given it, with an energy table. */
static void accel_a(void **state) {
    (void)state;
    static sx_arch a, b;
    sx_read_arch(
        "arch:\n"
        "  name: accel-a\n"
        "  arithmetic: {name: MAC, instances: 256, word-bits: 16}\n"
        "  storage:\n"
        "  - {name: L1, technology: SRAM, entries: 32768, instances: 256, word-bits: 16}\n"
        "  - {name: L2, technology: SRAM, entries: 262144, instances: 1, word-bits: 16, block-size: 4,\n"
        "     read_bandwidth: 16.0, write_bandwidth: 16.0}\n"
        "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 16, block-size: 4}\n"
        "ERT:\n"
        "  version: 0.3\n"
        "  tables:\n"
        "  - {name: MAC, actions: [{name: compute, energy: 1.0}]}\n"
        "  - {name: L1, actions: [{name: read, energy: 1.12}, {name: fill, energy: 1.12},\n"
        "      {name: update, energy: 1.12}, {name: leak, energy: 0.0}]}\n"
        "  - {name: L2, actions: [{name: read, energy: 8.8}, {name: write, energy: 8.8}]}\n"
        "  - {name: DRAM, actions: [{name: read, energy: 800.0}, {name: write, energy: 800.0}]}\n",
        &a);
    assert_null(sx_catalog_arch("accel-a", &b));
    assert_memory_equal(&a, &b, sizeof a);
}

static void buffers_per_tensor(void **state) {
    (void)state;
    static const uint8_t eyeriss[] = {1, 2, 4, 7, 7}, simba[] = {2, 1, 2, 4, 5, 7};
    static sx_arch arch;
    static sx_problem conv;
    assert_null(sx_catalog_problem("resnet-conv4", &conv));
    assert_null(sx_catalog_arch("eyeriss", &arch));
    for (int s = 0; s < arch.n_levels; s++) assert_int_equal(sx_arch_keep_mask(&arch, s, &conv), eyeriss[s]);
    assert_int_equal(sx_arch_fanout_x(&arch, 3), 14);
    assert_int_equal(sx_arch_fanout_y(&arch, 3), 12);
    assert_null(sx_catalog_arch("simba", &arch));
    for (int s = 0; s < arch.n_levels; s++) assert_int_equal(sx_arch_keep_mask(&arch, s, &conv), simba[s]);
    assert_int_equal(sx_arch_fanout_x(&arch, 1), 8);
    assert_int_equal(sx_arch_fanout_y(&arch, 1), 8);
    assert_int_equal(sx_arch_fanout_x(&arch, 4), 4);
    assert_int_equal(sx_arch_fanout_y(&arch, 4), 4);
    assert_true(arch.level[4].read_energy == 5.47 && arch.level[4].update_energy == 5.71);
}

static void shapes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint64_t computes;
        int tensors;
    } cases[] = {
        {"resnet-conv4", 16ull * 256 * 256 * 14 * 14 * 9, 3},
        {"inception-conv2", 32ull * 192 * 192 * 56 * 56 * 9, 3},
        {"inception-conv2-mse", 16ull * 192 * 192 * 27 * 27 * 25, 3},
        {"alexnet-conv2", 8ull * 96 * 256 * 27 * 27 * 25, 3},
        {"mttkrp-0", 128ull * 1024 * 4096 * 2048, 4},
        {"bert-large-ff", 16ull * 4096 * 1024 * 512, 3},
        {"mttkrp", 12092ull * 32 * 9184 * 28818, 4},
        {"tcl", 256ull * 6 * 6 * 256 * 5 * 5, 5},
        {"depthwise", 960ull * 49 * 9, 3},
    };
    static sx_problem p;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(sx_catalog_problem(cases[i].name, &p));
        assert_int_equal(sx_problem_computes(&p), cases[i].computes);
        assert_int_equal(p.n_tensors, cases[i].tensors);
    }
    assert_null(sx_catalog_problem("resnet-conv4", &p));
    assert_int_equal(sx_problem_words(&p, sx_problem_tensor(&p, "Inputs")), 16 * 256 * 16 * 16);
    assert_int_equal(sx_problem_words(&p, sx_problem_tensor(&p, "Outputs")), 16 * 256 * 14 * 14);
    assert_null(sx_catalog_problem("bert-large-kqv", &p));
    assert_int_equal(sx_problem_words(&p, sx_problem_tensor(&p, "Weights")), 1024 * 1024);
}

static void unknown_names(void **state) {
    (void)state;
    static sx_arch arch;
    static sx_problem problem;
    sx_status error = sx_catalog_arch("eyerris", &arch);
    assert_string_equal(error->message, "there is no built-in architecture called 'eyerris'");
    assert_string_equal(error->hint, "did you mean 'eyeriss'?");
    assert_int_equal(error->code, SX_ERR_USAGE);
    sx_status_free(error);
    error = sx_catalog_problem("nothing like it", &problem);
    assert_string_equal(error->message, "there is no built-in problem called 'nothing like it'");
    assert_null(error->hint);
    sx_status_free(error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_legal_and_named),
        cmocka_unit_test(accel_a),
        cmocka_unit_test(buffers_per_tensor),
        cmocka_unit_test(shapes),
        cmocka_unit_test(unknown_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
