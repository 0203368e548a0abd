#include "sextant/input.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Three dimensions of sizes 6, 5 and 8, two inputs and an output. */
static sx_problem problem;
/* Buf (4 x 2 units below it), GB (keeps A and Z only; one Buf below it) and DRAM. */
static sx_arch arch;

static int setup(void **state) {
    (void)state;
    sx_expect_ok(sx_einsum_parse("Z[M,N] += A[M,K]*B[K,N] {M:6,N:5,K:8}", &problem));
    memset(&arch, 0, sizeof arch);
    static const char *const names[] = {"Buf", "GB", "inter_PE_spatial"};
    arch.n_levels = 3;
    for (int s = 0; s < 3; s++) {
        sx_storage_init(&arch.level[s]);
        strcpy(arch.level[s].name, names[s]);
    }
    sx_compute_init(&arch.compute);
    strcpy(arch.compute.name, "MAC");
    arch.compute.instances = 8;
    arch.compute.mesh_x = 4;
    arch.compute.mesh_y = 2;
    arch.level[1].n_bypasses = 1;
    strcpy(arch.level[1].bypasses[0], "B");
    return 0;
}

/* The input that holds "mapping:" and the given list. */
static sx_input *input_of(const char *list) {
    char text[2048];
    snprintf(text, sizeof text, "mapping: [%s]", list);
    return sx_expect_input(text);
}

static void read_good(const char *list, sx_mapping *out) {
    sx_input *input = input_of(list);
    memset(out, 7, sizeof *out);
    sx_expect_ok(sx_input_mapping(input, &problem, &arch, out));
    sx_input_free(input);
}

static void read_bad(const char *list, const char *error) {
    sx_mapping mapping;
    sx_input *input = input_of(list);
    memset(&mapping, 7, sizeof mapping);
    sx_expect_error(sx_input_mapping(input, &problem, &arch, &mapping), error);
    assert_int_equal(mapping.n_levels, 7);
    sx_input_free(input);
}

static void a_whole_mapping_is_read(void **state) {
    (void)state;
    sx_mapping m;
    read_good("{target: GB, type: temporal, factors: M=3 N=5 K=1, permutation: NMK, no_temporal_reuse: [A], "
              "rmw_first_update: Z},"
              "{target: Buf, type: spatial, factors: 'M=2 K=4', permutation: KMN, split: 1, no_reuse: [B],"
              " no_link_transfer: [A, Z]},"
              "{target: Buf, type: temporal, factors: K=2, permutation: 'K, N, M'},"
              "{target: Buf, type: bypass, keep: [Z, A], bypass: [B], no_coalesce: [A]},"
              "{target: GB, type: datatype, keep: [B]}, {target: 2, type: bypass, no_coalesce: [Z]}",
              &m);
    assert_int_equal(m.n_levels, 3);
    assert_int_equal(m.n_dims, 3);
    assert_int_equal(m.n_tensors, 3);
    const sx_mapping_level *buf = &m.level[0], *gb = &m.level[1], *dram = &m.level[2];
    assert_memory_equal(buf->spatial, ((const uint32_t[]){2, 1, 4}), 12);
    assert_memory_equal(buf->temporal, ((const uint32_t[]){1, 1, 2}), 12);
    assert_memory_equal(gb->temporal, ((const uint32_t[]){3, 5, 1}), 12);
    assert_memory_equal(gb->spatial, ((const uint32_t[]){1, 1, 1}), 12);
    assert_memory_equal(dram->temporal, ((const uint32_t[]){1, 1, 1}), 12);
    assert_memory_equal(buf->spatial_order, ((const uint8_t[]){2, 0, 1}), 3);
    assert_memory_equal(buf->temporal_order, ((const uint8_t[]){2, 1, 0}), 3);
    assert_memory_equal(gb->temporal_order, ((const uint8_t[]){1, 0, 2}), 3);
    assert_memory_equal(dram->temporal_order, ((const uint8_t[]){0, 1, 2}), 3);
    assert_int_equal(buf->split, 1);
    assert_int_equal(gb->split, 0);
    assert_int_equal(buf->keep, 3);
    assert_int_equal(gb->keep, 7);
    assert_int_equal(dram->keep, 7);
    assert_int_equal(buf->no_multicast, 4);
    assert_int_equal(buf->no_link_transfer, 3);
    assert_int_equal(gb->no_temporal_reuse, 2);
    assert_int_equal(gb->rmw_first_update, 1);
    assert_int_equal(buf->no_coalesce, 2);
    assert_int_equal(dram->no_coalesce, 0); /* the outermost level */
}

static void levels_keep_what_they_are_built_for_unless_told(void **state) {
    (void)state;
    sx_mapping m;
    read_good("{target: 2, type: temporal, factors: M6N5K8}", &m);
    assert_int_equal(m.level[0].keep, 7);
    assert_int_equal(m.level[1].keep, 3);
    read_good(
        "{target: 2, type: temporal, factors: M6N5K8}, {target: GB, type: dataspace, bypass: Z, keep: }", &m);
    assert_int_equal(m.level[1].keep, 2);
}

static void factors_have_many_forms(void **state) {
    (void)state;
    static const char *const forms[] = {
        "'M=6 N=5 K=8'",
        "'M=6,N=5,K=8'",
        "'M6 N5 K8'",
        "M6N5K8",
        "'M = 6, N =5 K= 8 # M=9'",
        "[M=6, N=5, K=8]",
        "[M=6 N=5, K8]",
        "{M: 6, N: '5,5', K: 8}",
        "'M=6,6 N=0 K=8'",
        "'M 6 N 5 K 8'",
    };
    sx_mapping first, m;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char list[256];
        snprintf(list, sizeof list, "{target: GB, type: temporal, factors: %s}", forms[i]);
        read_good(list, i ? &m : &first);
        if (i) assert_memory_equal(&m, &first, sizeof m);
    }
    assert_int_equal(first.level[1].temporal[1], 5);
}

static void factor_zero_is_the_whole_dimension(void **state) {
    (void)state;
    sx_mapping m;
    sx_input *input = input_of("{target: GB, type: temporal, factors: M=6 N=0 K=8}");
    sx_expect_ok(sx_input_mapping(input, &problem, &arch, &m));
    assert_int_equal(m.level[1].temporal[1], 5);
    assert_int_equal(sx_count_notes(input, "t.yaml:1:53: the factor 0 of 'N' means its whole size, 5"), 1);
    sx_input_free(input);
}

static void remainders_follow_from_sizes(void **state) {
    (void)state;
    sx_mapping m;
    read_good("{target: GB, type: temporal, factors: 'M=2 N=3 K=8'},"
              "{target: Buf, type: spatial, factors: 'M=3 N=2,1'}",
              &m);
    assert_int_equal(m.level[0].spatial[1], 2);
    assert_int_equal(m.level[1].temporal[1], 3);
    assert_int_equal(m.level[0].split, 3);
    read_good("{target: GB, type: temporal, factors: ['N=2', 'M=2', 'K=3']},"
              "{target: Buf, type: temporal, factors: ['N=4,1', 'M=4,2', 'K=3,2']}",
              &m);
    assert_int_equal(m.level[0].temporal[0], 4);
}

static void longer_names_are_read(void **state) {
    (void)state;
    sx_mapping m;
    sx_expect_ok(sx_einsum_parse("Z[k1,k] += A[k1,k10]*B[k10,k] {k1:6,k:5,k10:8}", &problem));
    read_good("{target: GB, type: temporal, factors: 'k1=6 k=5 k10=8', permutation: [k10, k, k1]}", &m);
    assert_memory_equal(m.level[1].temporal, ((const uint32_t[]){6, 5, 8}), 12);
    assert_memory_equal(m.level[1].temporal_order, ((const uint8_t[]){2, 1, 0}), 3);
    read_good("{target: GB, type: temporal, factors: 'k1 6, k5 k108', permutation: k10 k1}", &m);
    assert_memory_equal(m.level[1].temporal, ((const uint32_t[]){6, 5, 8}), 12);
    assert_memory_equal(m.level[1].temporal_order, ((const uint8_t[]){2, 0, 1}), 3);
    read_bad("{target: GB, type: temporal, permutation: kk1}", "unknown dimension 'kk1'");
}

static void a_container_stands_for_its_fanout(void **state) {
    (void)state;
    sx_mapping m;
    read_good("{target: PE, type: temporal, factors: M6N5K8}", &m);
    assert_int_equal(m.level[2].temporal[0], 6);
}

static void idle_directives_for_no_level_are_passed_over(void **state) {
    (void)state;
    sx_mapping m, same;
    const char whole[] = "{target: GB, type: temporal, factors: M6N5K8}";
    char text[512];
    read_good(whole, &same);
    snprintf(
        text, sizeof text,
        "%s, {target: System, type: temporal, factors: M1 N1 K1, permutation: KMN}, {target: System, type: "
        "spatial, factors: K=1, split: 0}, {target: MAC, type: temporal, factors: {M: 1}}",
        whole);
    read_good(text, &m);
    assert_memory_equal(&m, &same, sizeof m);
    sx_input *input = input_of(text);
    sx_expect_ok(sx_input_mapping(input, &problem, &arch, &m));
    assert_int_equal(
        sx_count_notes(input, "there is no level 'System'; ignored, as its loops have one iteration"), 2);
    sx_input_free(input);
    read_bad("{target: System, type: temporal, factors: M2}", "t.yaml:1:20: unknown level 'System'");
    read_bad("{target: System, type: temporal}", "unknown level 'System'");
    read_bad("{target: System, type: temporal, factors: M1, no_reuse: [A]}", "unknown level 'System'");
    read_bad("{target: System, type: bypass, bypass: [A]}", "unknown level 'System'");
    read_bad("{target: Bof, type: temporal, factors: M1}", "unknown level 'Bof'\n  did you mean 'Buf'?");
    read_bad("{target: System, type: temporal, factors: X1}", "unknown dimension 'X1'");
}

static void split_is_cut_to_the_dimensions(void **state) {
    (void)state;
    sx_mapping m;
    read_good("{target: GB, type: temporal, factors: M3N5K8}, {target: Buf, type: spatial, factors: M=2, "
              "split: 999}",
              &m);
    assert_int_equal(m.level[0].split, 3);
    read_good(
        "{target: GB, type: temporal, factors: M3N5K8}, {target: Buf, type: spatial, factors: M=2, split: 0}",
        &m);
    assert_int_equal(m.level[0].split, 0);
}

#define T(rest) "{target: GB, type: temporal, " rest "}"
#define S(rest) "{target: Buf, type: spatial, " rest "}"
#define B(rest) "{target: Buf, type: bypass, " rest "}"

/* Texts, and the errors they give. */
static const char *const bad_directives[][2] = {
    {"a", "t.yaml:1:11: a directive of the mapping must be a map, but is a single value"},
    {"{target: GB}", "t.yaml:1:11: a directive has no 'type'"},
    {"{type: temporal}", "a directive has no 'target'"},
    {"{target: [GB], type: temporal}", "'target' must be a text"},
    {"{target: Bof, type: temporal}", "t.yaml:1:20: unknown level 'Bof'\n  did you mean 'Buf'?"},
    {"{target: 3, type: temporal}", "unknown level '3'"},
    {"{target: -1, type: temporal}", "unknown level '-1'"},
    {"{target: GB, type: temporl}",
     "t.yaml:1:30: unknown type of directive 'temporl'\n  did you mean 'temporal'?"},
    {"{target: GB, type: [a]}", "'type' must be a text"},
    {"{target: GB, type: skew}", "directives of type 'skew' are not supported and would change the result"},
    {"{target: GB, type: utilization}", "type 'utilization' are not supported"},
    {"{target: GB, type: max_overbooked_proportion}", "are not supported"},
    {T("factor: M=1"), "did you mean 'factors'?"},
    {B("passthrough: [A]"), "'passthrough' of a bypass directive is not supported"},
    {B("passthrough: [A]"), "'passthrough' of a bypass directive is not supported"},
    {T("factors: M=1") ", " T("factors: M=1"),
     "a second temporal directive for 'GB'\n  the first is at t.yaml:1:11"},
    {S("factors: M=1") ", " S("factors: M=1"), "a second spatial directive for 'Buf'"},
    {"{target: GB, type: spatial, factors: N=1 M=2}",
     "t.yaml:1:52: spatial loops at 'GB', which has no fan-out"},
    {S("split: -1"), "'split' must be a whole number"},
    {T("factors: X=3"), "t.yaml:1:49: unknown dimension 'X'\n  known: M, N, K"},
    {T("factors: X3"), "unknown dimension 'X3'"},
    {T("factors: M"), "t.yaml:1:50: dimension 'M' has no factor here"},
    {T("factors: M="), "t.yaml:1:51: dimension 'M' has no factor here"},
    {T("factors: M=x N=2"),
     "t.yaml:1:51: the factor of 'M' must be a whole number from 1 to 2147483647, but is 'x'"},
    {T("factors: M=-2"), "the factor of 'M' must be a whole number from 1 to 2147483647, but is '-2'"},
    {T("factors: M=2.5"), "the factor of 'M' must be a whole number from 1 to 2147483647, but is '2.5'"},
    {T("factors: M=2x"), "t.yaml:1:52: unknown dimension 'x'"},
    {T("factors: M<=2"),
     "t.yaml:1:50: the factor of 'M' is a bound\n  a mapping needs the factor itself: 'M=4'"},
    {T("factors: M>=2"), "the factor of 'M' is a bound"},
    {T("factors: M=1 M=2"), "t.yaml:1:53: dimension 'M' has two factors here"},
    {T("factors: M=4294967295"),
     "the factor of 'M' must be a whole number from 1 to 2147483647, but is '4294967295'"},
    {T("factors: M=99999999999999999999"), "but is '99999999999999999999'"},
    {T("factors: 'M=2,3'"), "t.yaml:1:50: the remainder of 'M' must be from 1 to its factor 2"},
    {T("factors: 'M=2,0'"), "the remainder of 'M' must be from 1 to its factor 2"},
    {T("factors: 'M=2,99999999999999999999'"), "a remainder is expected"},
    {T("factors: [M=4,1]"),
     "t.yaml:1:54: the name of a dimension is expected before '1'\n  quote a factor with a remainder"},
    {T("factors: '=3'"), "the name of a dimension is expected before '=3'"},
    {T("factors: [[M]]"), "a factor must be a single value, but is a list"},
    {T("factors: {X: 3}"), "unknown dimension 'X'"},
    {T("factors: {M: [3]}"), "'M' must be a text"},
    {T("factors: {M: 3 N}"), "the end of the factor is expected before 'N'"},
    {T("permutation: MXK"), "t.yaml:1:54: unknown dimension 'X'\n  known: M, N, K"},
    {T("permutation: MYXZ"), "t.yaml:1:53: unknown dimension 'MYXZ'"},
    {T("permutation: MNM"), "t.yaml:1:55: duplicate dimension 'M' in the permutation"},
    {T("permutation: [M, N, M]"), "duplicate dimension 'M'"},
    {T("permutation: {a: 1}"), "'permutation' must be a list of names"},
    {B("keep: [Aa]"), "unknown tensor 'Aa'\n  known: Z, A, B"},
    {B("bypass: [weights]"), "unknown tensor 'weights'\n  known: Z, A, B"},
    {B("keep: [A, A]"), "tensor 'A' is named twice"},
    {B("keep: [A], bypass: [A]"), "t.yaml:1:11: 'Buf' both keeps and bypasses 'A'"},
    {B("keep: [A]") ", " B("bypass: [A]"), "'Buf' both keeps and bypasses 'A'"},
    {B("keep: {A: 1}"), "'keep' must be a list of names"},
    {T("no_temporal_reuse: [X]"), "unknown tensor 'X'"},
    {S("no_link_transfer: [X]"), "unknown tensor 'X'"},
};

static void bad_directives_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_directives / sizeof bad_directives[0]; i++)
        read_bad(bad_directives[i][0], bad_directives[i][1]);
}

static void factors_must_make_up_the_size(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {T("factors: M=3 N=5 K=8"), "t.yaml:1:49: dimension M has size 6, but its factors make GB 3\n  they "
                                    "must multiply to 6: make one "
                                    "of them 2 times larger"},
        {T("factors: N=5 K=8"),
         "t.yaml:1:10: dimension M has size 6, but no factors\n  add 'M=6' to the factors of a level"},
        {T("factors: M=5 N=5 K=8"), "but its factors make GB 5\n  they must multiply to 6"},
        {T("factors: M=4 N=5 K=8") ", " S("factors: M=2"),
         "dimension M has size 6, but its factors make GB 4 x Buf 2 in space = 8\n  they must multiply to 6; "
         "a loop "
         "with a shorter last pass is written with its remainder: 'M=4,1'"},
        {T("factors: 'M=6 N=5 K=4,1'"), "dimension K has size 8, but its factors make GB 4,1\n  with "
                                        "remainders they must multiply to 8 or more"},
        {T("factors: 'M=6 N=2 K=8'") ", " S("factors: 'N=3,1'"),
         "the factor of dimension N leaves a remainder of 2, not 1\n  write 'N=3,2'"},
        {T("factors: 'M=6 N=3,2 K=8'") ", " S("factors: 'N=2'"),
         "the factor of dimension N leaves a remainder of 1, not 2\n  write 'N=2,1'"},
        {T("factors: 'M=6 N=4,3 K=8'") ", " S("factors: 'N=2,1'"),
         "t.yaml:1:54: the factor 4 of dimension N is more than the 3 iterations left for it"},
        {T("factors: M=2147483647 N=2147483647 K=2147483647") ", " S("factors: M=2147483647"),
         "x Buf 2147483647 in space = 4611686014132420608"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) read_bad(cases[i][0], cases[i][1]);
}

static void a_mapping_must_be_given(void **state) {
    (void)state;
    sx_mapping m;
    sx_input *input = sx_expect_input("mapping: []");
    sx_expect_error(sx_input_mapping(input, &problem, &arch, &m),
                    "no mapping given\n  a file with 'mapping:' is needed");
    sx_expect_ok(sx_input_add_text(input, "u.yaml", "mapping: {a: 1}", 15));
    sx_expect_error(sx_input_mapping(input, &problem, &arch, &m),
                    "u.yaml:1:10: 'mapping' must be a list, but is a map");
    sx_expect_ok(sx_input_add_text(input, "v.yaml", "mapping: {a: 1}", 15));
    sx_expect_error(sx_input_mapping(input, &problem, &arch, &m), "v.yaml:1:1: duplicate section 'mapping'");
    sx_input_free(input);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(a_whole_mapping_is_read),
        TEST(levels_keep_what_they_are_built_for_unless_told),
        TEST(factors_have_many_forms),
        TEST(factor_zero_is_the_whole_dimension),
        TEST(remainders_follow_from_sizes),
        TEST(longer_names_are_read),
        TEST(a_container_stands_for_its_fanout),
        TEST(split_is_cut_to_the_dimensions),
        TEST(idle_directives_for_no_level_are_passed_over),
        TEST(bad_directives_are_refused),
        TEST(factors_must_make_up_the_size),
        TEST(a_mapping_must_be_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
