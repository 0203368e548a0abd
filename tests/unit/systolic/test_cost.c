/* What points cost: the paper's example by hand, every fault alone, large sizes, sums over kernels. */
#include "support/expect.h"
#include "systolic/space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DESIGN_3_2 = 11 };

static sx_device u250(void) {
    sx_device device;
    sx_expect_ok(sx_catalog_device("u250", &device));
    return device;
}

static sx_systolic_kernel cube(uint32_t n) {
    sx_systolic_kernel kernel;
    sx_expect_ok(sx_systolic_matrix(n, n, n, &kernel));
    return kernel;
}

/* The fault of a point of a kernel on the paper's device, and its cost. */
static sx_systolic_fault fault_of(const sx_systolic_kernel *kernel, const sx_systolic_options *options,
                                  sx_systolic_point point, sx_systolic_cost *cost) {
    sx_device device = u250();
    sx_systolic_fault fault;
    sx_expect_ok(sx_systolic_cost_of(kernel, &device, options, &point, &fault, cost));
    return fault;
}

static sx_systolic_point tiles_of(uint32_t design, uint32_t i1, uint32_t j1, uint32_t k1, uint32_t i2,
                                  uint32_t j2, uint32_t k2) {
    return (sx_systolic_point){.design = design, .t1 = {i1, j1, k1}, .t2 = {i2, j2, k2}};
}

static void the_papers_designs_cost_what_it_says(void **state) {
    (void)state;
    static const struct {
        uint32_t t[6];
        double latency, dsp, bram;
    } anchors[] = {
        {{64, 128, 128, 16, 4, 8}, 1052673, 5120, 1720},   {{129, 130, 64, 3, 13, 4}, 644713.5, 8600, 3740},
        {{129, 130, 64, 3, 26, 8}, 644713.5, 8600, 2515},  {{64, 128, 128, 2, 32, 8}, 1052673, 5120, 1720},
        {{129, 205, 64, 3, 41, 8}, 637832.25, 8600, 2515},
    };
    sx_systolic_kernel kernel = cube(1024);
    for (size_t i = 0; i < sizeof anchors / sizeof *anchors; i++) {
        const uint32_t *t = anchors[i].t;
        sx_systolic_cost cost;
        assert_int_equal(
            fault_of(&kernel, NULL, tiles_of(DESIGN_3_2, t[0], t[1], t[2], t[3], t[4], t[5]), &cost),
            SX_SYSTOLIC_FINE);
        assert_true(cost.latency == anchors[i].latency);
        assert_true(cost.dsp == anchors[i].dsp && cost.bram18k == anchors[i].bram);
        assert_true(cost.latency == cost.prologue + cost.steady + cost.epilogue);
    }
}

/* Design 3_2 with tiles 64,128,128,16,4,8 of a product of 1024, written out. */
static void an_example_by_hand(void **state) {
    (void)state;
    sx_systolic_kernel kernel = cube(1024);
    sx_systolic_cost cost;
    fault_of(&kernel, NULL, tiles_of(DESIGN_3_2, 64, 128, 128, 16, 4, 8), &cost);
    const double n = 16 * 8 * 8, inner = 16 * 4 * 16;
    assert_true(cost.prologue == 128 * 128 / 16 + 1);
    assert_true(cost.steady == n * (inner + 1));
    assert_true(cost.epilogue == 64 * 128 / 4);
    assert_true(cost.bram18k == 2 * 4 * 15 * 1 + 2 * 32 * 15 * 1 + 4 * 32 * (4 + 1));
    assert_true(cost.offchip_words == n * 128 * (64 + 128) + 16 * 8 * 64 * 128);
}

static void every_fault_has_its_case(void **state) {
    (void)state;
    const sx_systolic_options thin = {.thin = true}, used = {.least_dsp = 0.25};
    sx_systolic_kernel kernel = cube(1024);
    const struct {
        sx_systolic_fault fault;
        const sx_systolic_options *options;
        sx_systolic_point point;
    } cases[] = {
        {SX_SYSTOLIC_FINE, NULL, tiles_of(DESIGN_3_2, 64, 64, 64, 8, 8, 8)},
        {SX_SYSTOLIC_FINE, NULL, tiles_of(DESIGN_3_2, 2000, 64, 64, 200, 8, 8)},
        {SX_SYSTOLIC_TILES, NULL, tiles_of(DESIGN_3_2, 0, 64, 64, 8, 8, 8)},
        {SX_SYSTOLIC_TILES, NULL, tiles_of(DESIGN_3_2, 64, 64, 64, 8, 0, 8)},
        {SX_SYSTOLIC_TILES, NULL, tiles_of(DESIGN_3_2, 64, 64, 64, 8, 7, 8)},
        {SX_SYSTOLIC_TILES, NULL, tiles_of(DESIGN_3_2, 64, 0x80000000, 64, 8, 8, 8)},
        {SX_SYSTOLIC_LANES, NULL, tiles_of(DESIGN_3_2, 64, 64, 66, 64, 64, 3)},
        {SX_SYSTOLIC_LANES, NULL, tiles_of(DESIGN_3_2, 64, 64, 64, 64, 64, 16)},
        {SX_SYSTOLIC_HIDING, NULL, tiles_of(DESIGN_3_2, 64, 64, 64, 8, 4, 8)},
        {SX_SYSTOLIC_PACK, NULL, tiles_of(DESIGN_3_2, 64, 66, 64, 32, 3, 8)},
        {SX_SYSTOLIC_PACK, NULL, tiles_of(DESIGN_3_2, 64, 64, 12, 8, 8, 4)},
        {SX_SYSTOLIC_THIN, NULL, tiles_of(DESIGN_3_2, 64, 64, 64, 64, 8, 8)},
        {SX_SYSTOLIC_THIN, NULL, tiles_of(DESIGN_3_2, 64, 64, 64, 8, 64, 8)},
        {SX_SYSTOLIC_FINE, &thin, tiles_of(DESIGN_3_2, 64, 64, 64, 8, 64, 8)},
        {SX_SYSTOLIC_DSP, NULL, tiles_of(DESIGN_3_2, 64, 320, 64, 2, 32, 8)},
        {SX_SYSTOLIC_BRAM, NULL, tiles_of(DESIGN_3_2, 1024, 1024, 1024, 128, 128, 8)},
        {SX_SYSTOLIC_UNDERUSED, &used, tiles_of(DESIGN_3_2, 64, 64, 64, 16, 16, 8)},
        {SX_SYSTOLIC_FINE, &used, tiles_of(DESIGN_3_2, 64, 64, 64, 8, 8, 8)},
        {SX_SYSTOLIC_FINE, NULL, tiles_of(8, 64, 64, 64, 1, 1, 8)},
        {SX_SYSTOLIC_FINE, NULL, tiles_of(2, 5, 18, 18, 1, 18, 2)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_systolic_cost cost = {.latency = -1};
        sx_systolic_fault fault = fault_of(&kernel, cases[i].options, cases[i].point, &cost);
        if (fault != cases[i].fault) fail_msg("case %zu: fault %d, not %d", i, fault, cases[i].fault);
        assert_int_equal(sx_systolic_has_cost(fault), cost.latency > 0);
    }
    sx_device device = u250();
    sx_systolic_point none = tiles_of(18, 1, 1, 1, 1, 1, 1);
    sx_systolic_fault fault;
    sx_systolic_cost cost;
    sx_expect_error(sx_systolic_cost_of(&kernel, &device, NULL, &none, &fault, &cost), "no design number 18");
}

static void spaces_know_what_is_outside(void **state) {
    (void)state;
    const size_t designs[] = {DESIGN_3_2, 2};
    const sx_systolic_options options = {.designs = designs, .n_designs = 2};
    sx_systolic_kernel kernel = cube(64);
    sx_device device = u250();
    sx_systolic_cost cost;
    sx_space *space;
    sx_expect_ok(sx_systolic_space_new(&kernel, 1, &device, &options, &space));
    const struct {
        sx_systolic_fault fault;
        sx_systolic_point point;
    } cases[] = {
        {SX_SYSTOLIC_FINE, tiles_of(DESIGN_3_2, 64, 64, 64, 8, 8, 8)},
        {SX_SYSTOLIC_FINE, tiles_of(DESIGN_3_2, 66, 72, 32, 33, 36, 8)},
        {SX_SYSTOLIC_OUTSIDE, tiles_of(DESIGN_3_2, 91, 64, 64, 13, 8, 8)},
        {SX_SYSTOLIC_OUTSIDE, tiles_of(DESIGN_3_2, 64, 64, 48, 8, 8, 8)},
        {SX_SYSTOLIC_OUTSIDE, tiles_of(10, 64, 64, 64, 8, 8, 8)},
        {SX_SYSTOLIC_TILES, tiles_of(18, 64, 64, 64, 8, 8, 8)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100] = "";
        assert_int_equal(sx_systolic_evaluate(space, &cases[i].point, -1, &cost), cases[i].fault);
        assert_int_equal(sx_space_legal(space, &cases[i].point, text, sizeof text), cases[i].fault == 0);
        if (cases[i].fault) assert_true(strlen(text) > 5);
    }
    sx_space_free(space);
    const size_t none = 18;
    const sx_systolic_options wrong = {.designs = &none, .n_designs = 1}, empty = {.designs = &none};
    sx_expect_error(sx_systolic_space_new(&kernel, 1, &device, &wrong, &space), "no design number 18");
    sx_expect_error(sx_systolic_space_new(&kernel, 1, &device, &empty, &space), "no design is allowed");
}

/* Every number of a cost is one, and none is negative. */
static void expect_numbers(const sx_systolic_cost *cost) {
    const double all[] = {cost->latency, cost->prologue, cost->steady,        cost->epilogue,
                          cost->dsp,     cost->bram18k,  cost->offchip_words, cost->energy};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) assert_true(isfinite(all[i]) && all[i] >= 0);
    assert_true(cost->latency > 0 && cost->energy > 0 && cost->offchip_words > 0 && cost->dsp > 0);
}

static void large_sizes_have_costs(void **state) {
    (void)state;
    static const uint32_t sizes[] = {1, 3, 1000, 1 << 20, SX_MAX_DIM_SIZE};
    sx_systolic_kernel kernel[2];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
            uint32_t n = sizes[s], tile = sizes[t];
            sx_expect_ok(sx_systolic_matrix(n, n, n, &kernel[0]));
            sx_expect_ok(sx_systolic_convolution(n, n, n, n, 7, 7, &kernel[1]));
            for (int k = 0; k < 2; k++)
                for (uint32_t d = 0; d < sx_systolic_n_designs(&kernel[k]); d++)
                    for (int corrected = 0; corrected < 2; corrected++) {
                        sx_systolic_options options = {.thin = true, .corrected = corrected};
                        sx_systolic_point point = {.design = d};
                        sx_systolic_cost cost;
                        for (int l = 0; l < kernel[k].n_loops; l++) point.t1[l] = point.t2[l] = tile;
                        point.t2[kernel[k].simd] = 1;
                        sx_systolic_fault fault = fault_of(&kernel[k], &options, point, &cost);
                        if (sx_systolic_has_cost(fault)) expect_numbers(&cost);
                    }
        }
}

/* More numbers moved or kept cannot take less energy: with all tiles the same, a larger kernel, with the
 * published model or the mended, and the words off the chip weigh in. */
static void energy_grows_with_the_kernel(void **state) {
    (void)state;
    for (uint32_t d = 0; d < 18; d++)
        for (int corrected = 0; corrected < 2; corrected++) {
            const sx_systolic_options options = {.thin = true, .corrected = corrected};
            double before = 0;
            for (uint32_t n = 64; n <= 1024; n += 64) {
                sx_systolic_kernel kernel = cube(n);
                sx_systolic_cost cost;
                fault_of(&kernel, &options, tiles_of(d, 64, 64, 64, 8, 8, 8), &cost);
                assert_true(cost.energy > before);
                assert_true(cost.energy > 200 * cost.offchip_words + kernel.macs);
                before = cost.energy;
            }
        }
}

static void costs_of_kernels_add_up(void **state) {
    (void)state;
    sx_systolic_kernel kernel[2] = {cube(64), cube(100)};
    sx_device device = u250();
    sx_space *space;
    kernel[1].count = 3;
    sx_expect_ok(sx_systolic_space_new(kernel, 2, &device, NULL, &space));
    sx_systolic_point point = tiles_of(DESIGN_3_2, 64, 100, 4, 8, 20, 2);
    sx_systolic_cost one, two, all;
    assert_int_equal(sx_systolic_evaluate(space, &point, 0, &one), SX_SYSTOLIC_FINE);
    assert_int_equal(sx_systolic_evaluate(space, &point, 1, &two), SX_SYSTOLIC_FINE);
    assert_int_equal(sx_systolic_evaluate(space, &point, -1, &all), SX_SYSTOLIC_FINE);
    assert_true(all.latency == one.latency + 3 * two.latency);
    assert_true(all.offchip_words == one.offchip_words + 3 * two.offchip_words);
    assert_true(all.energy == one.energy + 3 * two.energy);
    assert_true(all.dsp == one.dsp && all.dsp == two.dsp);
    assert_true(all.bram18k == fmax(one.bram18k, two.bram18k));
    sx_systolic_cost alone;
    fault_of(&kernel[1], NULL, point, &alone);
    assert_memory_equal(&alone, &two, sizeof alone);
    sx_space_free(space);
}

/* The items of a point add up to its cost. */
static void items_add_up(void **state) {
    (void)state;
    sx_systolic_kernel kernel[2];
    sx_device device = u250();
    sx_expect_ok(sx_systolic_matrix(100, 120, 96, &kernel[0]));
    sx_expect_ok(sx_systolic_convolution(32, 48, 20, 24, 3, 3, &kernel[1]));
    for (int k = 0; k < 2; k++)
        for (uint32_t d = 0; d < sx_systolic_n_designs(&kernel[k]); d++)
            for (int corrected = 0; corrected < 2; corrected++) {
                const sx_systolic_options options = {
                    .thin = true, .tiles = SX_TILES_FULL, .corrected = corrected};
                sx_systolic_point point = {.design = d, .t1 = {20, 20, 16, 16}, .t2 = {4, 5, 4, 2}};
                sx_systolic_items items;
                sx_systolic_cost cost;
                sx_space *space;
                double prologue = 0, steady = 0, epilogue = 0, bram = 0;
                if (k == 0) point = tiles_of(d, 20, 20, 16, 4, 4, 2);
                sx_expect_ok(sx_systolic_space_new(&kernel[k], 1, &device, &options, &space));
                assert_true(sx_systolic_has_cost(sx_systolic_evaluate(space, &point, 0, &cost)));
                sx_expect_ok(sx_systolic_itemize(&kernel[k], &device, &options, &point, &items));
                assert_in_range(items.n_terms, 4, SX_MAX_SYSTOLIC_TERMS);
                assert_in_range(items.n_buffers, 3, SX_MAX_SYSTOLIC_BUFFERS);
                for (size_t i = 0; i < items.n_terms; i++) {
                    const sx_systolic_term *t = &items.term[i];
                    char text[100];
                    prologue = fmax(prologue, t->prologue);
                    steady = fmax(steady, t->steady);
                    epilogue = fmax(epilogue, t->epilogue);
                    sx_systolic_role_text(&kernel[k], t->role, t->operand, t->level, text, sizeof text);
                    assert_true(strlen(text) > 5);
                }
                for (size_t i = 0; i < items.n_buffers; i++) bram += items.buffer[i].bram18k;
                assert_true(prologue == cost.prologue && steady == cost.steady);
                assert_true(epilogue == cost.epilogue && bram == cost.bram18k);
                sx_space_free(space);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_designs_cost_what_it_says),
        cmocka_unit_test(an_example_by_hand),
        cmocka_unit_test(every_fault_has_its_case),
        cmocka_unit_test(spaces_know_what_is_outside),
        cmocka_unit_test(large_sizes_have_costs),
        cmocka_unit_test(energy_grows_with_the_kernel),
        cmocka_unit_test(costs_of_kernels_add_up),
        cmocka_unit_test(items_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
