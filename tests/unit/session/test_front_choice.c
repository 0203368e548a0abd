/* The choice of one point of each of several fronts, against all choices. */
#include "session/front_choice.h"
#include "sextant/rng.h"
#include "support/expect.h"
#include "support/sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { FRONTS = 5, POINTS = 6, CASES = 20000 };

static const sx_criterion criteria[] = {{SX_PRODUCT, 1, 1}, {SX_PRODUCT, 2, 1},     {SX_PRODUCT, 1, 2},
                                        {SX_PRODUCT, 1, 0}, {SX_PRODUCT, 0, 1},     {SX_PRODUCT, 0.5, 3},
                                        {SX_PRODUCT, 4, 1}, {SX_PRODUCT, 0.25, 0.5}};
enum { N_CRITERIA = sizeof criteria / sizeof *criteria };

/* Random fronts: some with whole numbers, of which many points lie on one line. */
typedef struct sample {
    size_t n;
    sx_choice_front front[FRONTS];
    sx_front_point point[FRONTS][POINTS];
} sample;

static double draw_step(sx_rng *rng, bool whole) {
    return whole ? 1 + (double)sx_rng_below(rng, 4) : exp(6 * sx_rng_double(rng));
}

static void draw_sample(sx_rng *rng, sample *s) {
    const bool whole = sx_rng_below(rng, 2) == 0;
    memset(s, 0, sizeof *s);
    s->n = 1 + sx_rng_below(rng, FRONTS);
    for (size_t i = 0; i < s->n; i++) {
        sx_front_point *point = s->point[i];
        s->front[i] =
            (sx_choice_front){point, 1 + sx_rng_below(rng, POINTS), 1 + (double)sx_rng_below(rng, 9), 0};
        double energy = 0, cycles = 0;
        for (size_t k = 0; k < s->front[i].n; k++) point[k].energy = energy += draw_step(rng, whole);
        for (size_t k = s->front[i].n; k-- > 0;) point[k].cycles = cycles += draw_step(rng, whole);
    }
}

/* The product of the points chosen. */
static double value_of(const sample *s, const size_t *chosen, const sx_criterion *criterion) {
    sx_score sum = {0};
    for (size_t i = 0; i < s->n; i++) {
        sum.energy_pj += s->front[i].times * s->point[i][chosen[i]].energy;
        sum.cycles += s->front[i].times * s->point[i][chosen[i]].cycles;
    }
    return sx_criterion_value(criterion, &sum);
}

/* The least product of all choices. */
static double enumerate_choices(const sample *s, const sx_criterion *criterion) {
    size_t chosen[FRONTS] = {0}, i;
    double least = INFINITY;
    do {
        least = fmin(least, value_of(s, chosen, criterion));
        for (i = 0; i < s->n && ++chosen[i] == s->front[i].n; i++) chosen[i] = 0;
    } while (i < s->n);
    return least;
}

/* The choice is the least of all choices, and costs what is said. */
static void choices_are_least(void **state) {
    (void)state;
    unsigned inner = 0;
    for (uint64_t number = 0; number < (SX_SANITIZED ? CASES / 10 : CASES); number++) {
        sx_rng rng = sx_rng_stream(1, "front_choice", number);
        const sx_criterion *criterion = &criteria[number % N_CRITERIA];
        size_t chosen[FRONTS];
        double value;
        sample s;
        draw_sample(&rng, &s);
        sx_expect_ok(sx_front_choose(s.front, s.n, criterion, &value));
        for (size_t i = 0; i < s.n; i++) chosen[i] = s.front[i].chosen;
        for (size_t i = 0; i < s.n; i++) inner += chosen[i] > 0 && chosen[i] + 1 < s.front[i].n;
        assert_true(value == value_of(&s, chosen, criterion));
        assert_true(fabs(value / enumerate_choices(&s, criterion) - 1) < 1e-12);
    }
    assert_true(inner > (SX_SANITIZED ? 200 : 2000));
}

/* What a region stands for: the whole front of a layer of which the least energy and cycles and a bound of the product are
 * known, all of which may be too low. */
static size_t relax(const sample *s, size_t i, sx_rng *rng, const sx_criterion *criterion,
                    sx_front_point out[SX_RELAXED_POINTS]) {
    const sx_choice_front *front = &s->front[i];
    double bound = INFINITY;
    for (size_t k = 0; k < front->n; k++) {
        const sx_score score = {.energy_pj = s->point[i][k].energy, .cycles = s->point[i][k].cycles};
        bound = fmin(bound, sx_criterion_value(criterion, &score));
    }
    const double slack = sx_rng_below(rng, 3) == 0 ? 1 : sx_rng_double(rng);
    const sx_front_point least = {s->point[i][0].energy * slack, s->point[i][front->n - 1].cycles * slack};
    return sx_front_relax(&least, sx_rng_below(rng, 4) == 0 ? 0 : bound, criterion, out);
}

/* A choice in regions that hold fronts is no more than the least of all choices; where the product is known it is near it. */
static void regions_bound_choices(void **state) {
    (void)state;
    unsigned near = 0;
    for (uint64_t number = 0; number < (SX_SANITIZED ? CASES / 10 : CASES); number++) {
        sx_rng rng = sx_rng_stream(2, "front_choice", number);
        const sx_criterion *criterion = &criteria[number % N_CRITERIA];
        sx_front_point region[FRONTS][SX_RELAXED_POINTS];
        double bound;
        sample s;
        draw_sample(&rng, &s);
        const double least = enumerate_choices(&s, criterion);
        for (size_t i = 0; i < s.n; i++) {
            if (sx_rng_below(&rng, 3) == 0) continue;
            s.front[i].n = relax(&s, i, &rng, criterion, region[i]);
            s.front[i].point = region[i];
            for (size_t k = 1; k < s.front[i].n; k++)
                assert_true(region[i][k].energy > region[i][k - 1].energy &&
                            region[i][k].cycles < region[i][k - 1].cycles);
        }
        sx_expect_ok(sx_front_choose(s.front, s.n, criterion, &bound));
        assert_true(bound <= least * (1 + 1e-9));
        near += bound >= 0.8 * least;
    }
    assert_true(near > (SX_SANITIZED ? CASES / 50 : CASES / 5));
}

/* The region of one layer is bounded by its product, whatever the least energy and cycles are. */
static void regions_keep_the_product(void **state) {
    (void)state;
    for (size_t c = 0; c < N_CRITERIA; c++) {
        sx_front_point region[SX_RELAXED_POINTS];
        const sx_front_point least = {3, 50};
        const double bound = sx_criterion_value(&criteria[c], &(sx_score){.energy_pj = 60, .cycles = 1000});
        double value;
        sx_choice_front front = {region, sx_front_relax(&least, bound, &criteria[c], region), 1, 0};
        sx_expect_ok(sx_front_choose(&front, 1, &criteria[c], &value));
        assert_true(value <= bound * (1 + 1e-9) && value > 0.95 * bound);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_are_least),
        cmocka_unit_test(regions_bound_choices),
        cmocka_unit_test(regions_keep_the_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
