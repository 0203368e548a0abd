/* The steps of the first unit by the blocks of a stage's tile, against all extents and places of the loops between arrays. */
#include "support/expect.h"
#include "support/plain_arch.h"

#include "bound/stages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LEVELS = 4, MOST_SIZE = 40, MOST_UNITS = 3, MOST_SIDE = 5, MOST_LOOP = 4 };

/* A dimension of a machine: units inside a tile, one array or two outside it, and a loop before the outermost one. */
typedef struct layout {
    uint32_t size, extent, units, side, outer, loop;
} layout;

/* The steps of the first unit, block by block. */
static uint32_t count_steps(const layout *l) {
    const uint32_t apart = l->outer > 1 ? l->side : 1, all = l->side * l->outer * l->loop;
    uint32_t steps = 0;
    for (uint32_t first = 0; first * l->extent < l->size; first += all)
        for (uint32_t k = 0; k < l->loop; k++) {
            const uint32_t begin = (first + k * apart) * l->extent;
            const uint32_t left = begin < l->size ? l->size - begin : 0;
            steps += ((left < l->extent ? left : l->extent) + l->units - 1) / l->units;
        }
    return steps;
}

/* Compares a layout's steps with those of a stage with as many blocks. */
static void try_layout(sx_prefix_bound *prefix, const layout *l) {
    sx_join join = {.prefix = prefix};
    sx_stage stage = {.level = 0};
    prefix->decided.spatial[0][0] = l->units;
    prefix->decided.spatial[1][0] = l->side;
    prefix->decided.spatial[2][0] = l->outer;
    sx_stage_set_spatial(&stage, &prefix->decided);
    const uint32_t blocks = (l->size - 1) / l->extent + 1, steps = count_steps(l);
    assert_true(sx_stage_steps(&join, &stage, 0, blocks) <= (double)steps);
}

/* All layouts of a size. */
static void try_size(sx_prefix_bound *prefix, uint32_t size) {
    layout l = {.size = size};
    for (l.units = 1; l.units <= MOST_UNITS; l.units++)
        for (l.extent = l.units; l.extent < size; l.extent += l.units)
            for (l.side = 2; l.side <= MOST_SIDE; l.side++)
                for (l.outer = 1; l.outer <= 3; l.outer++)
                    for (l.loop = 1; l.loop <= MOST_LOOP; l.loop++) try_layout(prefix, &l);
}

/* No layout takes fewer steps than its number of blocks says. */
static void blocks_take_steps(void **state) {
    (void)state;
    sx_prefix_bound *prefix = calloc(1, sizeof *prefix);
    sx_arch arch;
    assert_non_null(prefix);
    sx_plain_arch(&arch, LEVELS);
    for (uint32_t size = 2; size <= MOST_SIZE; size++) {
        sx_problem problem;
        sx_model *model;
        char text[80];
        snprintf(text, sizeof text, "O[m] += A[m] {m:%u}", size);
        sx_expect_ok(sx_einsum_parse(text, &problem));
        sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
        prefix->decided.model = model;
        for (int s = 0; s < LEVELS; s++) prefix->decided.spatial[s][0] = 1;
        try_size(prefix, size);
        sx_model_free(model);
    }
    free(prefix);
}

/* 100 words in 5 blocks on 4 units: the first has the last block, too, which is the smaller, the larger the others are. */
static void the_last_block_counts(void **state) {
    (void)state;
    sx_prefix_bound *prefix = calloc(1, sizeof *prefix);
    sx_problem problem;
    sx_arch arch;
    sx_model *model;
    assert_non_null(prefix);
    sx_plain_arch(&arch, LEVELS);
    sx_expect_ok(sx_einsum_parse("O[m] += A[m] {m:100}", &problem));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    prefix->decided.model = model;
    for (int s = 0; s < LEVELS; s++) prefix->decided.spatial[s][0] = s == 1 ? 4 : 1;
    sx_join join = {.prefix = prefix};
    sx_stage stage = {.level = 0};
    sx_stage_set_spatial(&stage, &prefix->decided);
    assert_true(sx_stage_steps(&join, &stage, 0, 5) == 28);
    assert_true(sx_stage_steps(&join, &stage, 0, 8) == 26);
    assert_true(sx_stage_steps(&join, &stage, 0, 4) == 25);
    sx_model_free(model);
    free(prefix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_take_steps),
        cmocka_unit_test(the_last_block_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
