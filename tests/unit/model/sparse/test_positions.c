#include "model/sparse/positions.h"

#include "sextant/all.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 4096 };

/* Counts tiles of these extents word by word. */
static sx_tile_counts count_slowly(const sx_positions *p, const bool *filled, const uint32_t *extent,
                                   uint32_t block) {
    uint64_t rows = p->size[0], columns = p->size[1], words = 0, blocks = 0;
    sx_tile_counts out = {0, 0, 0};
    for (uint64_t i = 0; i < rows; i += extent[0])
        for (uint64_t j = 0; j < columns; j += extent[1]) {
            uint64_t n = 0, size = 0;
            for (uint64_t y = i; y < i + extent[0] && y < rows; y++)
                for (uint64_t x = j; x < j + extent[1] && x < columns; x++, size++)
                    n += filled[y * columns + x];
            words += n ? size : 0;
            blocks += (n + block - 1) / block;
            if (n > out.most) out.most = n;
        }
    out.empty = 1 - (double)words / (double)p->words;
    out.blocks = (double)blocks * extent[0] * extent[1] / (double)p->words;
    return out;
}

/* Compares all sizes of tiles of a matrix. */
static void compare(const sx_positions *p, const bool *filled) {
    sx_tile_scratch scratch = {0};
    for (uint32_t h = 1; h <= p->size[0]; h++)
        for (uint32_t w = 1; w <= p->size[1]; w++) {
            uint32_t extent[SX_MAX_DIMS] = {0}, plain[2] = {h, w}, block = 1 + (h + w) % 4;
            sx_tile_counts have, want = count_slowly(p, filled, plain, block);
            extent[p->dim[0]] = h;
            extent[p->dim[1]] = w;
            assert_true(sx_positions_count(p, sx_positions_tile(p, extent), block, &scratch, &have));
            assert_true(fabs(have.empty - want.empty) < 1e-12);
            assert_int_equal(have.most, want.most);
            assert_true(fabs(have.blocks - want.blocks) < 1e-12);
        }
    sx_tile_scratch_fini(&scratch);
}

static void bands_are_counted(void **state) {
    (void)state;
    static const char *const sizes[] = {"{m:12,k:12}", "{m:7,k:12}", "{m:13,k:5}", "{m:1,k:9}"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t width = 0; width < 15; width += 1 + width) {
            char text[64];
            bool filled[MOST];
            sx_problem problem;
            sx_positions *p;
            snprintf(text, sizeof text, "Z[m] += A[k,m] %s", sizes[i]);
            sx_expect_ok(sx_einsum_parse(text, &problem));
            sx_expect_ok(sx_problem_set_band(&problem, 1, width));
            sx_expect_ok(sx_positions_new(&problem, 1, &p));
            uint64_t nonzeros = 0;
            for (int64_t y = 0; y < (int64_t)p->size[0]; y++)
                for (int64_t x = 0; x < (int64_t)p->size[1]; x++)
                    nonzeros += filled[y * (int64_t)p->size[1] + x] = llabs(y - x) <= width;
            assert_int_equal(p->nonzeros, nonzeros);
            assert_true(fabs(problem.tensor[1].density - (double)nonzeros / (double)p->words) < 1e-15);
            compare(p, filled);
            sx_positions_free(p);
        }
}

static void listed_nonzeros_are_counted(void **state) {
    (void)state;
    sx_rng rng = sx_rng_stream(3, "positions", 0);
    for (int i = 0; i < 20; i++) {
        uint64_t word[MOST];
        bool filled[MOST] = {false};
        sx_positions p = {.n_ranks = 2, .dim = {1, 0}, .listed = {.word = word}};
        p.size[0] = 1 + sx_rng_below(&rng, 9);
        p.size[1] = p.stride[0] = 1 + sx_rng_below(&rng, 12);
        p.stride[1] = 1;
        p.words = p.size[0] * p.size[1];
        for (uint64_t n = 0; n < p.words; n++)
            if (sx_rng_below(&rng, 5) == 0 || n + 1 == p.words) filled[word[p.listed.n++] = n] = true;
        p.nonzeros = p.listed.n;
        compare(&p, filled);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_are_counted),
        cmocka_unit_test(listed_nonzeros_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
