/* The mathematical program: hand values, the paper's solutions, random samples, and its solver. */
#include "systolic/program.h"

#include "support/compared.h"
#include "support/expect.h"
#include "systolic/geometric.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The blocks of memory that tiles take. */
static double bram_of(const sx_program *program, const sx_program_tiles *tiles) {
    double sum = 0;
    for (int a = 0; a < SX_N_OPERANDS; a++) {
        double words = program->window[a];
        for (int d = 0; d < program->n_loops; d++)
            if (program->loops[a] >> d & 1) words *= tiles->t1[d];
        sum += words;
    }
    return sum * program->blocks_per_word;
}

/* The independent sums between two additions to the same one. */
static double hidden_of(const sx_program *program, const sx_program_tiles *tiles) {
    double sums = 1;
    for (int d = 0; d < program->n_loops; d++)
        if (d != program->simd) sums *= tiles->t2[d];
    return sums;
}

/* By what share the constraints are missed at most; 0 or less: they are kept. */
static double excess_of(const sx_program *program, const sx_program_tiles *tiles) {
    double lanes = tiles->t2[program->simd], needed = program->hidden * (program->chained ? lanes : 1);
    double excess = sx_program_lanes(program, tiles) / program->most - 1;
    excess = fmax(excess, bram_of(program, tiles) / program->bram - 1);
    excess = fmax(excess, needed / hidden_of(program, tiles) - 1);
    excess = fmax(excess, lanes / program->most_lanes - 1);
    for (int d = 0; d < program->n_loops; d++) {
        excess = fmax(excess, tiles->t1[d] / program->size[d] - 1);
        excess = fmax(excess, tiles->t2[d] / tiles->t1[d] - 1);
        excess = fmax(excess, 1 / tiles->t2[d] - 1);
    }
    return excess;
}

enum { I, J, K };

static void expect_near(double found, double expected, double tolerance) {
    if (!(fabs(found - expected) <= tolerance)) print_error("%.17g, not %.17g\n", found, expected);
    assert_true(fabs(found - expected) <= tolerance);
}

/* The space of the paper's matrix product on its device, and a design's program. */
static sx_space *open_matrix(const char *design, sx_program *program) {
    sx_systolic_kernel kernel;
    sx_device device;
    sx_space *space;
    size_t index;
    sx_expect_ok(sx_systolic_matrix(1024, 1024, 1024, &kernel));
    sx_expect_ok(sx_catalog_device("u250", &device));
    sx_expect_ok(sx_systolic_space_new(&kernel, 1, &device, NULL, &space));
    sx_expect_ok(sx_systolic_design_find(&kernel, design, &index));
    sx_program_init(&kernel, &sx_systolic_space_of(space)->plan[index], program);
    return space;
}

/* What the paper's solver found for objectives 1 to 3. */
static const sx_program_tiles published[] = {
    {{520, 520, 320}, {26, 26, 4}},
    {{1024, 1024, 320}, {128, 128, 4}},
    {{1024, 1024, 320}, {64, 64, 4}},
};

static void values_are_those_done_by_hand(void **state) {
    (void)state;
    sx_program p;
    sx_space *space = open_matrix("3_2", &p);
    double square = 1024.0 * 1024, trips = 1024.0 / 520;
    assert_true(sx_program_lanes(&p, &published[0]) == 1600);
    assert_true(sx_program_lanes(&p, &published[1]) == 256);
    assert_true(sx_program_lanes(&p, &published[2]) == 1024);
    expect_near(sx_program_words(&p, &published[0]), square * (2 * trips + 1), 1e-6);
    assert_true(sx_program_words(&p, &published[1]) == 3 * square);
    expect_near(bram_of(&p, &published[0]), 64.0 / 18432 * (2 * 520 * 320 + 520 * 520), 1e-9);
    assert_true(hidden_of(&p, &published[0]) == 676);
    expect_near(p.most, 8601.6 / 5, 1e-9);
    assert_true(p.baseline == 4 * square);
    expect_near(sx_program_value(&p, SX_PROGRAM_LANES, &published[0]), -8000 / 8601.6, 1e-12);
    expect_near(sx_program_value(&p, SX_PROGRAM_WORDS, &published[1]), 0.75, 1e-12);
    expect_near(sx_program_value(&p, SX_PROGRAM_BOTH, &published[2]), 0.75 - 5120 / 8601.6, 1e-12);
    assert_true(excess_of(&p, &published[0]) <= 0);
    expect_near(excess_of(&p, &published[1]), 64.0 / 18432 * (2 * 1024 * 320 + square) / 3763.2 - 1, 1e-9);
    sx_space_free(space);
}

static void designs_differ_in_lanes_and_in_how_often_results_move(void **state) {
    (void)state;
    static const struct {
        const char *design;
        double lanes;
    } cases[] = {{"0_2", 20 * 4}, {"1_2", 20 * 4}, {"2_2", 320}, {"4_2", 20 * 320}, {"5_2", 20 * 320}};
    sx_program p;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_space *space = open_matrix(cases[i].design, &p);
        assert_true(sx_program_lanes(&p, &published[0]) == cases[i].lanes);
        assert_true((p.hidden > 0) == (i < 2));
        sx_space_free(space);
    }
    sx_space *space = open_matrix("3_0", &p);
    expect_near(sx_program_words(&p, &published[1]), 1024.0 * 1024 * (2 + 1024.0 / 320), 1e-6);
    sx_space_free(space);
}

static void solutions_are_as_good_as_the_papers(void **state) {
    (void)state;
    sx_program p;
    sx_space *space = open_matrix("3_2", &p);
    static const double best[] = {-1, 0.75, -0.25};
    for (int o = SX_PROGRAM_LANES; o <= SX_PROGRAM_BOTH; o++) {
        sx_program_tiles tiles;
        assert_true(sx_program_solve(&p, (sx_program_objective)o, &tiles));
        double value = sx_program_value(&p, (sx_program_objective)o, &tiles);
        assert_true(value <= sx_program_value(&p, (sx_program_objective)o, &published[o - 1]) + 1e-9);
        expect_near(value, best[o - 1], 2e-4);
        assert_true(excess_of(&p, &tiles) <= 1e-5);
    }
    sx_space_free(space);
}

/* A random kernel: a matrix product, perhaps batched, or a convolution, perhaps depthwise or with strides. */
static sx_systolic_kernel random_kernel(sx_rng *rng) {
    static const char *const forms[] = {
        "C[i,j] += A[i,k]*B[j,k] {i:%u,j:%u,k:%u}",
        "C[b,i,j] += A[b,i,k]*B[b,j,k] {i:%u,j:%u,k:%u,b:%u}",
        "O[r,c,o] += I[r+p,c+q,i]*W[o,i,p,q] {r:%u,c:%u,o:%u,i:%u,p:3,q:3}",
        "O[r,c,i] += I[2*r+p,2*c+q,i]*W[i,p,q] {r:%u,c:%u,i:%u,p:3,q:3}",
    };
    char text[200];
    unsigned size[4];
    sx_problem problem;
    sx_systolic_kernel kernel;
    for (int i = 0; i < 4; i++) size[i] = (unsigned)exp2(11 * sx_rng_double(rng));
    const char *form = forms[sx_rng_below(rng, sizeof forms / sizeof *forms)];
    snprintf(text, sizeof text, form, size[0], size[1], size[2], size[3]);
    sx_expect_ok(sx_einsum_parse(text, &problem));
    sx_expect_ok(sx_systolic_kernel_of(&problem, &kernel));
    return kernel;
}

/* Tiles that keep their own limits, uniform in logarithms, the extremes more often. */
static sx_program_tiles random_tiles(const sx_program *p, sx_rng *rng) {
    sx_program_tiles tiles = {{0}, {0}};
    for (int d = 0; d < p->n_loops; d++) {
        double high = log(p->size[d]), share = sx_rng_below(rng, 4) ? sx_rng_double(rng) : 1;
        tiles.t1[d] = fmin(exp(high * share), p->size[d]);
        if (d == p->simd) tiles.t1[d] = fmax(tiles.t1[d], p->least_lanes);
        double low = d == p->simd ? log(p->least_lanes) : 0;
        double most = d == p->simd ? fmin(tiles.t1[d], p->most_lanes) : tiles.t1[d];
        share = sx_rng_below(rng, 4) ? sx_rng_double(rng) : (double)sx_rng_below(rng, 2);
        tiles.t2[d] = fmin(exp(low + (log(most) - low) * share), most);
    }
    return tiles;
}

/* The best tiles of each objective; false where there are none. */
static bool solve_all(const sx_program *p, sx_program_tiles best[3]) {
    for (int o = 0; o < 3; o++) {
        if (!sx_program_solve(p, (sx_program_objective)(o + 1), &best[o])) return false;
        assert_true(excess_of(p, &best[o]) <= 1e-5);
    }
    return true;
}

/* Compares solutions with a feasible sample. */
static void expect_no_worse(const sx_program *p, const sx_program_tiles best[3],
                            const sx_program_tiles *sample, uint64_t number) {
    for (int o = 0; o < 3; o++) {
        double mine = sx_program_value(p, (sx_program_objective)(o + 1), &best[o]);
        double drawn = sx_program_value(p, (sx_program_objective)(o + 1), sample);
        bool fine = mine <= drawn + 2e-4 * (1 + fabs(drawn));
        if (!fine) print_error("case %d, objective %d: %g, not %g\n", (int)number, o + 1, mine, drawn);
        assert_true(fine);
    }
}

/* A random kernel on a random design and device; returns whether its program has a solution. */
static bool try_case(uint64_t number, uint64_t *compared) {
    enum { SAMPLES = 1000 };
    sx_rng rng = sx_rng_stream(1, "program", number);
    sx_systolic_kernel kernel = random_kernel(&rng);
    sx_device device;
    sx_space *space;
    sx_program p;
    sx_program_tiles best[3];
    sx_systolic_point point;
    sx_expect_ok(sx_catalog_device("u250", &device));
    device.dsp *= exp2(-8 * sx_rng_double(&rng));
    device.bram18k *= exp2(-8 * sx_rng_double(&rng));
    sx_expect_ok(sx_systolic_space_new(&kernel, 1, &device, NULL, &space));
    const sx_systolic_space *own = sx_systolic_space_of(space);
    uint32_t design = (uint32_t)sx_rng_below(&rng, own->n_plans);
    sx_program_init(&kernel, &own->plan[design], &p);
    bool found = solve_all(&p, best);
    for (int i = 0; i < SAMPLES; i++) {
        sx_program_tiles tiles = random_tiles(&p, &rng);
        if (excess_of(&p, &tiles) > 0) continue;
        assert_true(found);
        expect_no_worse(&p, best, &tiles, number);
        ++*compared;
    }
    if (found) sx_program_round(own, design, &best[2], &point);
    for (int d = 0; d < own->n_loops && found; d++) {
        assert_true(sx_systolic_tile_in(&own->tiles[d], point.t1[d]));
        assert_int_equal(point.t1[d] % point.t2[d], 0);
    }
    sx_space_free(space);
    return found;
}

static void no_random_sample_is_better(void **state) {
    (void)state;
    enum { CASES = 150 };
    uint64_t solved = 0, compared = 0;
    for (uint64_t c = 0; c < CASES; c++) solved += try_case(c, &compared);
    sx_expect_compared("random tiles within the constraints", compared, 50 * CASES);
    sx_expect_compared("programs with a solution", solved, CASES / 2);
}

static void tiles_are_rounded_down_to_even(void **state) {
    (void)state;
    sx_program p;
    sx_systolic_point point;
    sx_space *space = open_matrix("3_2", &p);
    const sx_program_tiles tiles = {{521.9, 1023.9999, 70}, {25.6, 33, 3.1}};
    sx_program_round(sx_systolic_space_of(space), 11, &tiles, &point);
    assert_int_equal(point.design, 11);
    assert_int_equal(point.t1[I], 520);
    assert_int_equal(point.t1[J], 1024);
    assert_int_equal(point.t1[K], 64);
    assert_int_equal(point.t2[I], 26);
    assert_int_equal(point.t2[J], 32);
    assert_int_equal(point.t2[K], 4);
    sx_space_free(space);
}

/* The constraint xy + yz + zx <= limit. */
static sx_posynomial pairs(double limit) {
    sx_posynomial sum = {.n = 3};
    for (size_t k = 0; k < 3; k++) {
        sum.term[k].offset = -log(limit);
        sum.term[k].power[k] = sum.term[k].power[(k + 1) % 3] = 1;
    }
    return sum;
}

static void geometric_programs_are_solved(void **state) {
    (void)state;
    sx_geometric g = {.n_variables = 3, .n_constraints = 7, .constraint = {pairs(3)}};
    g.objective = (sx_posynomial){1, {{0, {-1, -1, -1}}}};
    for (size_t i = 0; i < 6; i++) {
        g.constraint[1 + i] = (sx_posynomial){1, {{-log(100), {0}}}};
        g.constraint[1 + i].term[0].power[i / 2] = i % 2 ? 1 : -1;
    }
    for (int sign = -1; sign <= 1; sign += 2) {
        double z[SX_MAX_POWERS] = {2.0 * sign, -1, 0.5};
        assert_true(sx_geometric_solve(&g, z));
        for (int i = 0; i < 3; i++) expect_near(exp(z[i]), 1, 1e-3);
        expect_near(sx_posynomial_log(&g.objective, 3, z), 0, 1e-7);
    }
    g.constraint[g.n_constraints++] = (sx_posynomial){1, {{log(1.5), {-1, -1, -1}}}};
    double z[SX_MAX_POWERS] = {0};
    assert_false(sx_geometric_solve(&g, z));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_done_by_hand),
        cmocka_unit_test(designs_differ_in_lanes_and_in_how_often_results_move),
        cmocka_unit_test(solutions_are_as_good_as_the_papers),
        cmocka_unit_test(no_random_sample_is_better),
        cmocka_unit_test(tiles_are_rounded_down_to_even),
        cmocka_unit_test(geometric_programs_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
