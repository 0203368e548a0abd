/* Words of windows in boxes, against all sums of their iterations; no fewer than were these neighbours. */
#include "model/sparse/pass.h"
#include "support/expect.h"
#include "support/plain_arch.h"

#include "sextant/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { LOOPS = 5, CASES = 3000, MOST = 4096, P = 0, R = 1 };

/* A nest of random loops on two dimensions, of which a box spans some. */
typedef struct boxed_nest {
    sx_nest nest;
    sx_box_loops box;
    uint64_t size[2];
} boxed_nest;

static void draw_nest(sx_rng *rng, boxed_nest *b) {
    memset(b, 0, sizeof *b);
    b->size[P] = b->size[R] = 1;
    for (uint8_t l = 0; l < LOOPS; l++) {
        uint8_t d = (uint8_t)sx_rng_below(rng, 2);
        uint32_t n = 2 + (uint32_t)sx_rng_below(rng, 3);
        b->nest.temporal[l] = (sx_loop){.n = n, .dim = d};
        b->box.temporal[l] = sx_rng_below(rng, 2) ? n : 1;
        b->size[d] *= n;
    }
    for (int s = 1; s <= SX_MAX_LEVELS; s++) b->nest.temporal_of[s] = LOOPS;
}

/* How many different sums of p and coef * r the box has, by trying all of its iterations. */
static uint64_t count_sums(const boxed_nest *b, uint64_t coef) {
    static bool met[MOST];
    uint64_t points = 1, words = 0;
    memset(met, 0, sizeof met);
    for (int l = 0; l < LOOPS; l++) points *= b->box.temporal[l];
    for (uint64_t i = 0; i < points; i++) {
        uint64_t left = i, step[2] = {1, coef}, sum = 0;
        for (int l = 0; l < LOOPS; l++) {
            uint8_t d = b->nest.temporal[l].dim;
            sum += left % b->box.temporal[l] * step[d];
            left /= b->box.temporal[l];
            step[d] *= b->nest.temporal[l].n;
        }
        assert_true(sum < MOST);
        words += !met[sum];
        met[sum] = true;
    }
    return words;
}

/* Whether the iterations of r are no neighbours, so that a stride leaves no word between two of them in the tile. */
static bool is_apart(const boxed_nest *b) {
    for (int l = 0; l < LOOPS; l++)
        if (b->nest.temporal[l].dim == R) return b->box.temporal[l] == 1;
    return true;
}

/* The words of A[p+coef*r] in the box. */
static uint64_t window_words(const boxed_nest *b, uint32_t coef, const uint32_t *extent) {
    sx_problem problem;
    sx_arch arch;
    sx_model *model;
    struct sx_sparse_model sparse;
    static sx_sparse_state state;
    char text[100];
    snprintf(text, sizeof text, "O[p,r] += A[p+%u*r] {p:%u,r:%u}", coef, (unsigned)b->size[P],
             (unsigned)b->size[R]);
    sx_expect_ok(sx_einsum_parse(text, &problem));
    sx_plain_arch(&arch, 1);
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    memset(&sparse, 0, sizeof sparse);
    int tensor = problem.tensor[0].output;
    sparse.windows[tensor] = 1u << P | 1u << R;
    model->sparse = &sparse;
    state.model = model;
    state.nest = &b->nest;
    uint64_t words = sx_window_words(&state, tensor, &b->box, extent);
    model->sparse = NULL;
    sx_model_free(model);
    return words;
}

static void words_are_the_sums_of_iterations(void **state) {
    (void)state;
    uint64_t gaps = 0;
    for (uint64_t i = 0; i < CASES; i++) {
        sx_rng rng = sx_rng_stream(1, "test.sparse-window", i);
        boxed_nest b;
        draw_nest(&rng, &b);
        uint32_t coef = 1 + (uint32_t)sx_rng_below(&rng, 3);
        if (coef > 1 && !is_apart(&b)) continue;
        uint32_t extent[SX_MAX_DIMS] = {1, 1};
        for (int l = 0; l < LOOPS; l++) extent[b.nest.temporal[l].dim] *= b.box.temporal[l];
        uint64_t words = window_words(&b, coef, extent), sums = count_sums(&b, coef);
        uint64_t neighbours = extent[P] + (uint64_t)coef * (extent[R] - 1);
        if (sums < neighbours) sums = neighbours;
        if (words != sums)
            print_error("case %llu: %llu words, not %llu\n", (unsigned long long)i, (unsigned long long)words,
                        (unsigned long long)sums);
        assert_int_equal(words, sums);
        gaps += b.box.temporal[0] == 1;
    }
    assert_true(gaps > CASES / 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_the_sums_of_iterations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
