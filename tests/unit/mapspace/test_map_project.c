/* Vectors, projection, repair and diagnosis of map spaces, by hand and at real size. */
#include "support/expect.h"
#include "support/map_neighbour.h"
#include "support/plain_arch.h"
#include "support/random_legal.h"
#include "support/sanitized.h"

#include "mapspace/map_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const archs[] = {"accel-a", "accel-b",       "eyeriss", "edge-unified",
                                    "simba",   "mind-mappings", "glb128"};

/* A space of the catalog, with room for a point and a vector. */
typedef struct world {
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_space *space;
    const sx_map_space *map;
    void *point, *other;
    double *values;
} world;

static void open_world(world *w, sx_model *model, const sx_constraints *limits,
                       sx_map_space_options options) {
    w->model = model;
    sx_expect_ok(sx_map_space_new(w->model, limits, &options, &w->space));
    w->map = sx_map_space_of(w->space);
    w->point = malloc(sx_space_point_size(w->space));
    w->other = malloc(sx_space_point_size(w->space));
    w->values = malloc(sx_space_n_values(w->space) * sizeof *w->values);
}

static void open_catalog(world *w, const char *problem, const char *arch, sx_map_space_options options) {
    sx_model *model;
    memset(w, 0, sizeof *w);
    sx_catalog_model(problem, arch, &model, &w->evaluator);
    open_world(w, model, NULL, options);
}

static void end(world *w) {
    free(w->point);
    free(w->other);
    free(w->values);
    sx_space_free(w->space);
    sx_model_workspace_free(w->evaluator);
    sx_model_free(w->model);
}

/* Two levels over 2 x 2 units: factors of m, n; positions at L0, L1; axes at L1; three kept at L0. */
static void vectors_by_hand(void **state) {
    (void)state;
    world w = {0};
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_model *model;
    sx_plain_arch(&arch, 2);
    sx_plain_mesh(&arch, 1, 2, 2);
    sx_plain_problem("O[m,n] += A[m]*B[n] {m:8,n:6}", &arch, &problem, &mapping);
    sx_mapping_init(&mapping, &problem, &arch);
    mapping.level[0].temporal[0] = 4;
    mapping.level[0].keep = 1;
    mapping.level[1].spatial[0] = 2;
    mapping.level[1].temporal[0] = 1;
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    open_world(&w, model, NULL, (sx_map_space_options){0});
    assert_true(sx_map_space_point(w.space, &mapping, w.point));
    sx_space_encode(w.space, w.point, w.values);
    const double expected[] = {2, 1, 0, 0, 0, log2(6), 0, 1, 1, 0, 1, 0.5, 1, 0, 0};
    assert_int_equal(sx_space_n_values(w.space), sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) assert_true(w.values[i] == expected[i]);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) w.values[i] += i % 2 ? 0.2 : -0.2;
    assert_true(sx_space_project(w.space, w.values, w.other));
    assert_memory_equal(w.point, w.other, sx_space_point_size(w.space));
    end(&w);
}

/* Samples of all machines of the catalog are legal, and lead back to themselves. */
static void samples_of_the_catalog(void **state) {
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        world w;
        open_catalog(&w, "resnet-conv4", archs[i / 2],
                     (sx_map_space_options){.keep_all = i % 2, .remainders = i % 3 == 0});
        for (uint64_t k = 0; k < 20; k++) {
            sx_score score;
            assert_true(sx_space_sample(w.space, i, k, w.point));
            assert_int_equal(sx_evaluate_score(w.evaluator, sx_map_point(w.point), &score).reason, SX_LEGAL);
            if (k >= 2) continue;
            sx_space_encode(w.space, w.point, w.values);
            assert_true(sx_space_project(w.space, w.values, w.other));
            assert_memory_equal(w.point, w.other, sx_space_point_size(w.space));
        }
        end(&w);
    }
}

/* Draws can be repaired, and any vector projected, however wild. */
static void anything_becomes_legal(void **state) {
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        world w;
        open_catalog(&w, "resnet-conv4", archs[i], (sx_map_space_options){.keep_all = true});
        sx_rng rng = sx_rng_stream(2, "test", i);
        for (int k = 0; k < 100; k++) {
            w.space->type->draw(w.space, &rng, w.point);
            assert_true(w.space->type->repair(w.space, &rng, w.point));
            assert_true(sx_space_legal(w.space, w.point, NULL, 0));
        }
        for (int k = 0; k < 3; k++) {
            for (size_t v = 0; v < sx_space_n_values(w.space); v++) {
                double wild[] = {NAN, INFINITY, -INFINITY, 1e300};
                w.values[v] = k == 0 ? wild[v % 4] : sx_rng_double(&rng) * 4 - 1;
            }
            assert_true(sx_space_project(w.space, w.values, w.point));
            assert_true(sx_space_legal(w.space, w.point, NULL, 0));
            assert_true(sx_space_project(w.space, w.values, w.other));
            assert_memory_equal(w.point, w.other, sx_space_point_size(w.space));
        }
        end(&w);
    }
}

/* The squared distance of a point from a vector. */
static double distance_from(const world *w, const double *values, const void *point) {
    size_t n = sx_space_n_values(w->space);
    double *at = malloc(n * sizeof *at), sum = 0;
    w->space->type->encode(w->space, point, at);
    for (size_t v = 0; v < n; v++) sum += (at[v] - values[v]) * (at[v] - values[v]);
    free(at);
    return sum;
}

/* No legal neighbour of a projection is nearer to the vector, with and without remainders. */
static void no_neighbour_is_nearer(void **state) {
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        world w;
        open_catalog(&w, "alexnet-conv2", archs[i / 2 + 3], (sx_map_space_options){.remainders = i % 2});
        sx_rng rng = sx_rng_stream(3, "test", i);
        for (uint64_t k = 0; k < (SX_SANITIZED ? 2 : 8); k++) {
            assert_true(sx_space_sample(w.space, 0, k, w.point));
            w.space->type->encode(w.space, w.point, w.values);
            for (size_t v = 0; v < sx_space_n_values(w.space); v++)
                w.values[v] += sx_rng_double(&rng) * 3 - 1.5;
            assert_true(sx_space_project(w.space, w.values, w.point));
            double least = distance_from(&w, w.values, w.point);
            for (size_t n = 0; sx_map_neighbour(w.space, w.point, n, w.other); n++)
                assert_true(distance_from(&w, w.values, w.other) >= least ||
                            !sx_space_legal(w.space, w.other, NULL, 0));
        }
        end(&w);
    }
}

/* A space where hardly a draw is legal says so, and samples come of repair. */
static void tight_spaces_repair(void **state) {
    (void)state;
    world w = {0};
    sx_problem problem;
    sx_arch arch;
    sx_model *model;
    sx_expect_ok(sx_catalog_problem("resnet-conv4", &problem));
    sx_expect_ok(sx_catalog_arch("eyeriss", &arch));
    sx_constraints limits;
    sx_constraints_init(&limits, &problem, &arch);
    limits.level[3].min_parallelism = 0.9;
    limits.level[3].min_utilization = 0.5;
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    open_world(&w, model, &limits, (sx_map_space_options){.keep_all = true});
    assert_in_range(w.space->tries, 1, SX_SAMPLE_TRIES - 1);
    for (uint64_t k = 0; k < 20; k++) assert_true(sx_space_sample(w.space, 0, k, w.point));
    end(&w);
}

/* The lines of a diagnosis are at most 100 wide; it holds a text. */
static void expect_diagnosis(const sx_space *space, const char *part) {
    char *text;
    sx_expect_ok(sx_space_diagnose(space, 1, 300, &text));
    if (!strstr(text, part)) fail_msg("'%s' is not in:\n%s", part, text);
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        assert_true(length <= 100);
        line += length + 1;
    }
    free(text);
}

static void diagnoses(void **state) {
    (void)state;
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_constraints limits;
    static const char *const expected[] = {
        "L0: its capacity is 2, but the smallest tiles of O, A, B take 3. It needs 3 entries",
        "of which 0 legal",
        "L1: the constraints ask for spatial factors of 8 together, but its fan-out is 4.",
        "The nearest miss: L1: 2 of 4 compute units are in use",
        "L0: at least 100 words must be in use, but the largest tiles take 24.",
        "Legal points exist: of 200 draws, ",
    };
    for (int i = 0; i < 6; i++) {
        world w = {0};
        sx_plain_arch(&arch, 2);
        sx_plain_mesh(&arch, 1, 2, 2);
        sx_plain_problem("O[m,n] += A[m]*B[n] {m:4,n:4}", &arch, &problem, &mapping);
        sx_constraints_init(&limits, &problem, &arch);
        if (i < 2) arch.level[0].entries = 2;
        if (i == 2) limits.level[1].spatial.min[0] = limits.level[1].spatial.min[1] = 2;
        if (i == 2) sx_plain_mesh(&arch, 1, 4, 1);
        if (i == 2) limits.level[1].spatial.min[0] = 4;
        if (i == 3) limits.level[1].min_parallelism = 0.9, limits.level[1].spatial.max[0] = 1;
        if (i == 4) limits.level[0].min_utilization = 1, arch.level[0].entries = 100;
        if (i == 5) {
            arch.level[0].entries = 3;
            limits.level[1].min_parallelism = 1;
            problem.size[0] = problem.size[1] = 1 << 20;
        }
        sx_model *model;
        sx_map_space_options options = {.keep_all = true};
        sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
        sx_expect_ok(sx_map_space_new(model, &limits, &options, &w.space));
        expect_diagnosis(w.space, expected[i]);
        sx_space_free(w.space);
        sx_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_by_hand),        cmocka_unit_test(samples_of_the_catalog),
        cmocka_unit_test(anything_becomes_legal), cmocka_unit_test(no_neighbour_is_nearer),
        cmocka_unit_test(tight_spaces_repair),    cmocka_unit_test(diagnoses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
