#include "sextant/cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static sx_problem problem;
static sx_arch arch;

static int make_names(void **state) {
    (void)state;
    problem = (sx_problem){.n_dims = 2, .n_tensors = 2, .dim_name = {"m", "n"}};
    strcpy(problem.tensor[0].name, "Inputs");
    strcpy(problem.tensor[1].name, "Outputs");
    arch = (sx_arch){.n_levels = 2, .compute = {.name = "MAC"}};
    strcpy(arch.level[0].name, "RF");
    strcpy(arch.level[1].name, "DRAM");
    return 0;
}

/* Asserts a verdict's words. */
static void assert_text(sx_verdict verdict, const char *expected) {
    char text[256];
    sx_verdict_text(&verdict, &problem, &arch, text, sizeof text);
    assert_string_equal(text, expected);
}

static void verdicts_name_place_and_amount(void **state) {
    (void)state;
    assert_text((sx_verdict){SX_LEGAL, -1, -1, -1, 0, 0}, "legal");
    assert_text((sx_verdict){SX_BAD_SHAPE, -1, -1, -1, 0, 0},
                "the mapping was made for another problem or architecture");
    assert_text((sx_verdict){SX_FACTOR_PRODUCT, -1, -1, 1, 12, 14},
                "the factors of dimension n cover 12, but its size is 14");
    assert_text((sx_verdict){SX_CAPACITY, 0, -1, -1, 600, 512},
                "RF: tiles of 600 words exceed its capacity of 512 by 88");
    assert_text((sx_verdict){SX_CAPACITY, 0, 1, -1, 600, 512},
                "RF: tiles of 600 words exceed its capacity of 512 by 88; the largest is of Outputs");
    assert_text((sx_verdict){SX_UNDERUSED, 1, -1, -1, 10, 20},
                "DRAM: tiles of 10 words use less than the required minimum of 20");
    assert_text((sx_verdict){SX_MESH_X, 0, -1, -1, 20, 16},
                "RF: spatial loops spread over 20 in X, but its mesh is 16 wide");
    assert_text((sx_verdict){SX_MESH_Y, 0, -1, -1, 20, 16},
                "RF: spatial loops spread over 20 in Y, but its mesh is 16 high");
    assert_text((sx_verdict){SX_INSTANCES, 0, -1, -1, 20, 16},
                "RF: spatial loops use 20 instances, but there are 16");
    assert_text((sx_verdict){SX_NOT_KEPT, -1, 0, -1, 0, 0}, "no level keeps Inputs");
    assert_text((sx_verdict){SX_COUNT_OVERFLOW, -1, -1, -1, 0, 0}, "a count exceeds 2^62");
    assert_text((sx_verdict){SX_BOUND_EXCEEDED, -1, -1, -1, 0, 0}, "the given bound is exceeded");
    assert_text((sx_verdict){SX_NO_MEMORY, -1, -1, -1, 0, 0}, "out of memory");
}

/* Asserts the error of a verdict. */
static void assert_error(sx_verdict verdict, sx_code code, const char *message, const char *hint) {
    sx_status status = sx_verdict_status(&verdict, &problem, &arch);
    assert_non_null(status);
    assert_int_equal(status->code, code);
    assert_string_equal(status->message, message);
    if (hint) assert_string_equal(status->hint, hint);
    sx_status_free(status);
}

static void only_what_was_not_evaluated_is_an_error(void **state) {
    (void)state;
    for (int r = SX_LEGAL; r < SX_NO_MEMORY; r++)
        assert_null(sx_verdict_status(&(sx_verdict){(sx_reason)r, 0, 0, 0, 2, 1}, &problem, &arch));
    assert_error((sx_verdict){SX_NO_MEMORY, -1, -1, -1, 0, 0}, SX_ERR_MEMORY, "out of memory", NULL);
    assert_error((sx_verdict){SX_LIMIT_CHILDREN, 1, 0, -1, 20, 16}, SX_ERR_LIMIT,
                 "DRAM: multicast of Inputs to 20 children cannot be counted, the limit is 16",
                 "use smaller spatial factors at DRAM");
    assert_error((sx_verdict){SX_LIMIT_CLASSES, 1, 0, -1, 20, 16}, SX_ERR_LIMIT,
                 "DRAM: remainders make 20 different kinds of children for Inputs, the limit is 16",
                 "at DRAM, use spatial factors that divide the sizes of their dimensions");
    assert_error((sx_verdict){SX_LIMIT_BLOCKS, 0, 1, -1, 20, 16}, SX_ERR_LIMIT,
                 "RF: remainders make 20 different blocks of iterations for Outputs, the limit is 16",
                 "use factors that divide the sizes of the dimensions that index Outputs");
    assert_error((sx_verdict){SX_LIMIT_WORDS, 0, 1, -1, 20, 16}, SX_ERR_LIMIT,
                 "RF: counting the distinct words of Outputs takes 20 marks, the limit is 16",
                 "use factors that divide the sizes of the dimensions that index Outputs");
}

static void cycles_beyond_a_count_are_named(void **state) {
    (void)state;
    assert_error((sx_verdict){SX_LIMIT_CYCLES, 1, -1, -1, 2.09e21, 0x1p64}, SX_ERR_LIMIT,
                 "DRAM: its bandwidth makes the mapping take 2.09e+21 cycles, the limit is 2^64",
                 "bandwidths are in words per cycle: is that of DRAM in another unit?");
}

static void formats_that_do_not_fit_are_named(void **state) {
    (void)state;
    assert_text((sx_verdict){SX_METADATA_CAPACITY, 0, -1, -1, 80, 16},
                "RF: metadata of 80 bits exceed its storage of 16 by 64");
    assert_text((sx_verdict){SX_FEW_RANKS, 0, 0, -1, 0, 0},
                "RF: the mapping needs more ranks than the format of Inputs has");
    assert_text((sx_verdict){SX_FORMATS_DIFFER, 1, 0, -1, 0, 0},
                "DRAM: the inner ranks of Inputs are not those of the next inner level that keeps it");
    assert_text((sx_verdict){SX_NO_COMPRESSION, 0, 1, -1, 0, 0},
                "RF: Outputs is compressed outside, but the level cannot compress");
    assert_text((sx_verdict){SX_UNCOMPRESSED_PARENT, 0, 0, -1, 0, 0},
                "RF: Inputs is compressed, but the next outer level that keeps it is not");
    assert_text((sx_verdict){SX_SPARSE_UNDEFINED, 2, -1, -1, 0, 0},
                "Timeloop's rules for sparse tensors need exactly two operands");
}

static void level_past_the_last_is_the_compute_array(void **state) {
    (void)state;
    assert_text((sx_verdict){SX_MESH_X, 2, -1, -1, 20, 16},
                "MAC: spatial loops spread over 20 in X, but its mesh is 16 wide");
}

static void forbidden_keep_says_why(void **state) {
    (void)state;
    assert_text((sx_verdict){SX_KEEP_FORBIDDEN, 0, 0, -1, 0, 0}, "RF cannot keep Inputs");
    arch.level[0].transparent = true;
    assert_text((sx_verdict){SX_KEEP_FORBIDDEN, 0, 0, -1, 0, 0},
                "RF is only a fan-out and cannot keep Inputs");
}

static void large_amounts_are_written_in_full(void **state) {
    (void)state;
    assert_text((sx_verdict){SX_CAPACITY, 0, -1, -1, 0x1p60, 512},
                "RF: tiles of 1152921504606846976 words exceed its capacity of 512 by 1152921504606846464");
}

static void text_is_cut_to_its_buffer(void **state) {
    (void)state;
    char text[8] = "xxxxxxx";
    sx_verdict verdict = {SX_NOT_KEPT, -1, 0, -1, 0, 0};
    sx_verdict_text(&verdict, &problem, &arch, text, sizeof text);
    assert_string_equal(text, "no leve");
}

static void reasons_have_stable_names(void **state) {
    (void)state;
    const char *const expected[] = {"legal",
                                    "shape",
                                    "factors",
                                    "capacity",
                                    "min-utilization",
                                    "mesh-x",
                                    "mesh-y",
                                    "instances",
                                    "not-kept",
                                    "keep-forbidden",
                                    "metadata-capacity",
                                    "few-ranks",
                                    "formats-differ",
                                    "no-decompression",
                                    "no-compression",
                                    "uncompressed-parent",
                                    "sparse-undefined",
                                    "overflow",
                                    "bound",
                                    "memory",
                                    "limit-children",
                                    "limit-classes",
                                    "limit-blocks",
                                    "limit-words",
                                    "limit-cycles"};
    for (int r = SX_LEGAL; r <= SX_LIMIT_CYCLES; r++)
        assert_string_equal(sx_reason_name((sx_reason)r), expected[r]);
}

static void score_is_the_totals(void **state) {
    (void)state;
    static sx_cost cost = {.energy_pj = 2.5, .cycles = 100, .utilization = 0.75, .last_level_accesses = 9};
    sx_score score = sx_cost_score(&cost);
    assert_true(score.energy_pj == 2.5 && score.cycles == 100);
    assert_true(score.utilization == 0.75 && score.last_level_accesses == 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(verdicts_name_place_and_amount, make_names),
        cmocka_unit_test_setup(only_what_was_not_evaluated_is_an_error, make_names),
        cmocka_unit_test_setup(formats_that_do_not_fit_are_named, make_names),
        cmocka_unit_test_setup(level_past_the_last_is_the_compute_array, make_names),
        cmocka_unit_test_setup(forbidden_keep_says_why, make_names),
        cmocka_unit_test_setup(large_amounts_are_written_in_full, make_names),
        cmocka_unit_test_setup(text_is_cut_to_its_buffer, make_names),
        cmocka_unit_test(cycles_beyond_a_count_are_named),
        cmocka_unit_test(reasons_have_stable_names),
        cmocka_unit_test(score_is_the_totals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
