/* Choices: files, short texts, what memories cost by size, and the designs that come of it. */
#include "codesign/choices.h"
#include "codesign/designs.h"
#include "estimate/component.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Choices out of a text that must be good. */
static sx_choices *choices_of(const char *text) {
    sx_choices *choices;
    sx_expect_ok(sx_choices_new(&choices));
    if (*text) sx_expect_ok(sx_choices_add_text(choices, "t.yaml", text, strlen(text)));
    return choices;
}

/* Fails the test unless a text is refused with words that hold `part`. */
static void refuse(const char *text, const char *part) {
    sx_choices *choices;
    sx_expect_ok(sx_choices_new(&choices));
    sx_expect_error(sx_choices_add_text(choices, "t.yaml", text, strlen(text)), part);
    sx_choices_free(choices);
}

/* The designs of a catalog architecture. */
static sx_designs *designs_of(const char *arch, const sx_choices *choices, double area) {
    sx_arch base;
    sx_designs *designs;
    sx_expect_ok(sx_catalog_arch(arch, &base));
    sx_expect_ok(sx_designs_new(&base, choices, area, &designs));
    return designs;
}

/* Fails the test unless choices are refused for a catalog architecture. */
static void refuse_designs(const char *arch, const char *text, double area, const char *part) {
    sx_choices *choices = choices_of(text);
    sx_arch base;
    sx_designs *designs;
    sx_expect_ok(sx_catalog_arch(arch, &base));
    sx_expect_error(sx_designs_new(&base, choices, area, &designs), part);
    sx_choices_free(choices);
}

static void files_are_read(void **state) {
    (void)state;
    sx_choices *c =
        choices_of("choices:\n"
                   "  memories:\n"
                   "  - {name: L2, sizes: [64, 16, 32], area: 3 * words}\n"
                   "  - {name: L1, split: {Inputs: 8..32, Weights: [4, '6..12']}, energy: {6: 2, 4: 1}}\n"
                   "  arrays: [4x4, 2x8]\n"
                   "  limits: [{memories: L1, words: 40}, {memories: [L1/Inputs, L2], area-of: 7}]\n"
                   "  compute-area: 10\n"
                   "  area-budget: 1e6\n");
    assert_int_equal(c->n_memories, 3);
    const uint64_t sorted[] = {16, 32, 64}, doubled[] = {8, 16, 32}, mixed[] = {4, 6, 12};
    assert_memory_equal(c->memory[0].size, sorted, sizeof sorted);
    assert_memory_equal(c->memory[1].size, doubled, sizeof doubled);
    assert_memory_equal(c->memory[2].size, mixed, sizeof mixed);
    assert_string_equal(c->memory[2].tensor, "Weights");
    const sx_size_cost *table = &c->memory[1].size_cost[SX_SIZE_COST_ENERGY];
    assert_int_equal(table->n, 2);
    assert_true(table->size[0] == 4 && table->value[0] == 1 && table->size[1] == 6 && table->value[1] == 2);
    assert_string_equal(c->memory[0].size_cost[SX_SIZE_COST_AREA].formula, "3 * words");
    assert_int_equal(c->array[0].n_shapes, 2);
    assert_int_equal(c->array[0].shape[1].y, 8);
    assert_int_equal(c->n_limits, 2);
    assert_string_equal(c->limit[1].name[0], "L1/Inputs");
    assert_true(c->area_budget == 1e6);
    sx_choices_free(c);
    c = choices_of("choices: {arrays: {L2: 4x4, DRAM: [2x2]}}");
    assert_string_equal(c->array[1].level, "DRAM");
    sx_choices_free(c);
}

static void bad_files_are_refused(void **state) {
    (void)state;
    refuse("", "no choices given");
    refuse("memories: []", "t.yaml:1:1: unknown key of a file of choices: 'memories'");
    refuse("[1]", "t.yaml:1:1");
    refuse("choices: 3", "'choices'");
    refuse("choices: {memory: []}", "did you mean 'memories'?");
    refuse("choices: {memories: 3}", "t.yaml:1:21: 'memories'");
    refuse("choices: {memories: [{sizes: [1]}]}", "name");
    refuse("choices: {memories: [{name: L1}]}", "no choice given for L1");
    refuse("choices: {memories: [{name: L1, sizes: []}]}", "no size is given");
    refuse("choices: {memories: [{name: L1, sizes: [0]}]}", "t.yaml:1:41: sizes: '0' is not a valid size");
    refuse("choices: {memories: [{name: L1, sizes: [8, -1]}]}", "'-1' is not a valid size");
    refuse("choices: {memories: [{name: L1, sizes: [8, 1.5]}]}", "'1.5' is not a valid size");
    refuse("choices: {memories: [{name: L1, sizes: 16..8}]}", "the range 16..8 is reversed");
    refuse("choices: {memories: [{name: L1, sizes: [8, 8]}]}", "duplicate size of 8 words");
    refuse("choices: {memories: [{name: L1, sizes: {a: 1}}]}", "sizes");
    refuse("choices: {memories: [{name: L1, size: [8]}]}", "did you mean 'sizes'?");
    refuse("choices: {memories: [{name: L1, sizes: 8}, {name: L1, sizes: 9}]}",
           "t.yaml:1:44: duplicate choice of L1");
    refuse("choices: {memories: [{name: L1, sizes: 8, split: {A: 8}}]}", "both sizes and a split");
    refuse("choices: {memories: [{name: L1, split: {}}]}", "names no tensor");
    refuse("choices: {memories: [{name: L1, split: [A]}]}", "'split'");
    refuse("choices: {memories: [{name: L1, sizes: 8, energy: []}]}",
           "energy is neither a formula nor a table");
    refuse("choices: {memories: [{name: L1, sizes: 8, energy: {}}]}", "the table of energy is empty");
    refuse("choices: {memories: [{name: L1, sizes: 8, energy: {x: 1}}]}",
           "'x' in the table of energy is not a valid size");
    refuse("choices: {memories: [{name: L1, sizes: 8, energy: {8: -1}}]}", "energy is -1");
    refuse("choices: {memories: [{name: L1, sizes: 8, area: {8: 1, 0x8: 2}}]}", "has two rows for 8 words");
    refuse("choices: {arrays: []}", "no shape of the array is given");
    refuse("choices: {arrays: [16]}", "'16' is not a valid array shape");
    refuse("choices: {arrays: [4x0]}", "'4x0' is not a valid array shape");
    refuse("choices: {arrays: [4x4, 4x4]}", "duplicate shape 4x4");
    refuse("choices: {limits: [{words: 3}]}", "memories");
    refuse("choices: {limits: [{memories: []}]}", "a limit names no memory");
    refuse("choices: {limits: [{memories: L1}]}", "a limit without a number");
    refuse("choices: {limits: [{memories: L1, words: 0}]}", "words");
    refuse("choices: {limits: [{memories: L1, area: -2}]}", "'area' is -2");
    refuse("choices: {area-budget: 0}", "'area-budget' is 0");
    refuse("choices: {area-budget: [", "t.yaml:2:1: ");
}

/* Limits of 2^48 words, sizes of 2^40 and sides of 2^20 are allowed, and not one more. */
static void largest_numbers(void **state) {
    static const struct {
        const char *good, *bad, *words;
    } cases[] = {
        {"choices: {limits: [{memories: L1, words: 281474976710656}]}",
         "choices: {limits: [{memories: L1, words: 281474976710657}]}", "words"},
        {"choices: {limits: [{memories: L1, area-of: 281474976710656}]}",
         "choices: {limits: [{memories: L1, area-of: 281474976710657}]}", "area-of"},
        {"choices: {memories: [{name: L1, sizes: 1099511627776}]}",
         "choices: {memories: [{name: L1, sizes: 1099511627777}]}", "not a valid size"},
        {"choices: {arrays: [1048576x2]}", "choices: {arrays: [1048577x2]}", "not a valid array shape"},
        {"choices: {arrays: [2x1048576]}", "choices: {arrays: [2x1048577]}", "not a valid array shape"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_choices_free(choices_of(cases[i].good));
        refuse(cases[i].bad, cases[i].words);
    }
}

static void short_texts_are_read(void **state) {
    (void)state;
    sx_choices *c = choices_of("");
    sx_expect_ok(sx_choices_add(c, "L2=64, 32"));
    sx_expect_ok(sx_choices_add(c, "L1/Weights=8..16"));
    sx_expect_ok(sx_choices_add(c, "array=4x4,2x8"));
    sx_expect_ok(sx_choices_add(c, "array/L2=2x2"));
    assert_int_equal(c->memory[0].size[0], 32);
    assert_string_equal(c->memory[1].tensor, "Weights");
    assert_int_equal(c->array[0].n_shapes, 2);
    assert_string_equal(c->array[1].level, "L2");
    sx_expect_error(sx_choices_add(c, "L3"), "has no '='");
    sx_expect_error(sx_choices_add(c, "=3"), "has no '='");
    sx_expect_error(sx_choices_add(c, "L3="), "'' is not a valid size");
    sx_expect_error(sx_choices_add(c, "L4=8,,16"), "'' is not a valid size");
    sx_expect_error(sx_choices_add(c, "L2=8"), "duplicate choice of L2");
    sx_expect_error(sx_choices_add(c, "L2/Inputs=8"), "both as a whole and split");
    sx_expect_error(sx_choices_add(c, "L1=8"), "both as a whole and split");
    sx_expect_error(sx_choices_add(c, "array=8x8"), "duplicate choice of the array");
    sx_choices_free(c);
}

/* What a cost function says of a level of 256 words of 16 bits that costs 2. */
static double value_of(const char *formula, uint64_t words) {
    sx_storage base;
    double value;
    sx_storage_init(&base);
    base.entries = 256;
    base.block_size = 4;
    sx_size_cost size_cost = {.formula = formula};
    sx_expect_ok(sx_size_cost_value(&size_cost, &base, 2, words, "L1", "energy", &value));
    return value;
}

static void laws_are_formulas_of_the_size(void **state) {
    (void)state;
    assert_true(value_of("words + 2 * rows", 64) == 96);
    assert_true(value_of("bits / word_bits + width * block_size", 64) == 64 + 64 * 4);
    assert_true(value_of("kb", 512) == 1);
    assert_true(value_of("base * words / base_words", 512) == 4);
    assert_true(value_of("pat", 512) == sx_pat_sram(1, 64));
    assert_true(value_of("base * pat / base_pat", 256) == 2);
    assert_true(value_of("base * sram_leakage / base_sram_leakage", 256) == 2);
    assert_true(value_of("sram_area", 512) > 1.5 * value_of("base_sram_area", 512));
    assert_true(value_of("sram_write", 256) == value_of("base_sram_write", 7));
    sx_storage circuit;
    sx_storage_init(&circuit);
    circuit.entries = 256;
    assert_string_equal(sx_size_cost_preset(SX_SIZE_COST_ENERGY, &circuit, 2).formula,
                        "base * pat / base_pat");
    circuit.area = 100;
    assert_string_equal(sx_size_cost_preset(SX_SIZE_COST_AREA, &circuit, 0).formula,
                        "base_area * sram_area / base_sram_area");
    circuit.leak_energy = 0.01;
    assert_string_equal(sx_size_cost_preset(SX_SIZE_COST_ENERGY, &circuit, 2).formula,
                        "base * sram / base_sram");
    sx_storage base;
    double value;
    sx_storage_init(&base);
    sx_size_cost size_cost = {.formula = "width * depth"},
                 table = {.n = 1, .size = (uint64_t[]){8}, .value = (double[]){3}};
    sx_expect_error(sx_size_cost_value(&size_cost, &base, 0, 8, "L1", "energy", &value), "words, rows, bits");
    size_cost.formula = "1 - words";
    sx_expect_error(sx_size_cost_value(&size_cost, &base, 0, 8, "L1", "energy", &value),
                    "energy of L1 at 8 words is -7");
    sx_expect_ok(sx_size_cost_value(&table, &base, 0, 8, "L1", "area", &value));
    assert_true(value == 3);
    sx_expect_error(sx_size_cost_value(&table, &base, 0, 9, "L1", "area", &value),
                    "no row for 9 words, a size of L1");
}

/* The presets: the base's energies at the base's sizes, and areas of 45 nm. */
static void presets_pass_through_the_base(void **state) {
    (void)state;
    sx_choices *c = choices_of("choices: {memories: [{name: L1, sizes: [128, 256]}]}");
    sx_designs *d = designs_of("edge-unified", c, 0);
    sx_arch arch;
    sx_designs_arch(d, 1, &arch);
    assert_true(arch.level[0].read_energy == 2.05 && arch.level[0].fill_energy == 2.05);
    sx_designs_arch(d, 0, &arch);
    assert_true(arch.level[0].entries == 128);
    double shape = sx_pat_sram(0.25, 16) / sx_pat_sram(0.5, 16);
    assert_true(fabs(arch.level[0].read_energy - 2.05 * shape) < 1e-12);
    double mac = 282 * pow(2, 1.816) + 8.56 * 16;
    sx_sram_figures small, large;
    sx_sram_by_size(16, 128, &small);
    sx_sram_by_size(16, 65536, &large);
    double area = 256 * (small.value[SX_SRAM_AREA] + mac) + large.value[SX_SRAM_AREA];
    assert_true(fabs(sx_designs_area(d, 0) / area - 1) < 1e-12);
    sx_designs_free(d);
    sx_choices_free(c);
}

static void levels_are_split_by_tensor(void **state) {
    (void)state;
    sx_choices *c =
        choices_of("choices:\n"
                   "  memories:\n"
                   "  - {name: L1, split: {Inputs: [8, 16], Weights: 32, Outputs: [4, 64]}, area: words}\n"
                   "  compute-area: 0\n"
                   "  limits: [{memories: L1, area-of: 60}]\n");
    sx_designs *d = designs_of("edge-unified", c, 0);
    char text[16];
    sx_arch arch;
    assert_int_equal(sx_designs_combinations(d), 4);
    assert_int_equal(sx_designs_count(d), 2);
    sx_designs_arch(d, 1, &arch);
    sx_expect_ok(sx_arch_check(&arch));
    assert_int_equal(arch.n_levels, 5);
    assert_string_equal(arch.level[0].name, "L1_Inputs");
    assert_string_equal(arch.level[2].keeps[0], "Outputs");
    assert_int_equal(arch.level[0].entries, 16);
    assert_int_equal(arch.level[2].entries, 4);
    assert_int_equal(arch.level[2].instances, 256);
    assert_string_equal(sx_designs_choice(d, 2), "L1/Outputs");
    assert_null(sx_designs_choice(d, 3));
    sx_designs_setting(d, 1, 0, text, sizeof text);
    assert_string_equal(text, "16");
    sx_sram_figures l2;
    sx_sram_by_size(16, 65536, &l2);
    assert_true(fabs(sx_designs_area(d, 1) - (256 * 52 + l2.value[SX_SRAM_AREA])) < 1e-6);
    sx_problem problem;
    sx_expect_ok(sx_einsum_parse("Outputs[m] += Inputs[m,k] {m:2,k:2}", &problem));
    sx_expect_error(sx_designs_check(d, &problem), "unknown tensor to split a level by: 'Weights'");
    sx_designs_free(d);
    sx_choices_free(c);
}

static void arrays_change_all_that_is_inside(void **state) {
    (void)state;
    sx_choices *c = choices_of("choices: {arrays: {L2: [2x3], weight_buffer: [4x2, 8x8]}}");
    sx_designs *d = designs_of("simba", c, 0);
    sx_arch arch;
    char text[16];
    assert_int_equal(sx_designs_count(d), 2);
    sx_designs_arch(d, 1, &arch);
    sx_expect_ok(sx_arch_check(&arch));
    assert_int_equal(arch.level[1].mesh_x, 2 * 8);
    sx_designs_setting(d, 1, 1, text, sizeof text);
    assert_string_equal(text, "8x8");
    sx_designs_free(d);
    sx_choices_free(c);
    c = choices_of("choices: {arrays: [8x32]}");
    d = designs_of("eyeriss", c, 0);
    sx_designs_arch(d, 0, &arch);
    assert_int_equal(arch.compute.mesh_x, 8);
    assert_int_equal(arch.level[0].instances, 256);
    assert_int_equal(arch.level[3].instances, 1);
    assert_string_equal(sx_designs_choice(d, 0), "array");
    sx_designs_free(d);
    sx_choices_free(c);
}

static void bad_designs_are_refused(void **state) {
    (void)state;
    refuse_designs("eyeriss", "", 0, "no choices given");
    refuse_designs("eyeriss", "choices: {memories: [{name: L3, sizes: 8}]}", 0, "unknown memory 'L3'");
    refuse_designs("eyeriss", "choices: {memories: [{name: DRAM, sizes: 8}]}", 0, "DRAM is a DRAM");
    refuse_designs("eyeriss", "choices: {arrays: {L3: 4x4}}", 0, "unknown level 'L3'");
    refuse_designs("eyeriss", "choices: {memories: [{name: L2, sizes: 8, area: 1/0}]}", 0, "t.yaml:1:");
    refuse_designs("eyeriss", "choices: {memories: [{name: L2, sizes: 8}], compute-area: {8: 1}}", 0,
                   "compute-area is a table");
    refuse_designs("eyeriss", "choices: {memories: [{name: weight_spad, split: {Inputs: 8}}]}", 0,
                   "weight_spad cannot keep Inputs");
    refuse_designs("eyeriss",
                   "choices: {memories: [{name: L2, sizes: 8}], limits: [{memories: X, words: 8}]}", 0,
                   "'X', which is not a memory");
    refuse_designs("eyeriss",
                   "choices: {memories: [{name: L2, sizes: 8}], limits: [{memories: L2, words: 7}]}", 0,
                   "no design is within the limits");
    refuse_designs("eyeriss", "choices: {memories: [{name: L2, sizes: 8}]}", 1,
                   "no design has an area of 1 um^2");
    refuse_designs(
        "eyeriss",
        "choices: {memories: [{name: L2, sizes: '1..1048576'}, {name: weight_spad, sizes: '1..1048576'},"
        "{name: psum_spad, sizes: '1..1048576'}, {name: ifmap_spad, sizes: '1..1048576'},"
        "{name: DRAM, area: 1}], arrays: [1x1]}",
        0, "DRAM");
    refuse_designs("eyeriss",
                   "choices: {memories: [{name: L2, sizes: '1..1099511627776'}, {name: weight_spad, sizes: "
                   "'1..1099511627776'},{name: psum_spad, sizes: '1..1048576'}, {name: ifmap_spad, sizes: "
                   "'1..1099511627776'}]}",
                   0, "combinations; at most 1000000");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(largest_numbers),
        cmocka_unit_test(short_texts_are_read),
        cmocka_unit_test(laws_are_formulas_of_the_size),
        cmocka_unit_test(presets_pass_through_the_base),
        cmocka_unit_test(levels_are_split_by_tensor),
        cmocka_unit_test(arrays_change_all_that_is_inside),
        cmocka_unit_test(bad_designs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
