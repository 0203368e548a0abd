/* Making map spaces: slots, limits, keeping, banks, contradictions; points as mappings and back. */
#include "support/expect.h"
#include "support/plain_arch.h"

#include "mapspace/map_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { M, N, K };
enum { O, A, B };

/* A matrix product on three levels, the middle one over 4 x 2 children; tests change what they need. */
typedef struct world {
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_constraints limits;
    sx_map_space_options options;
    sx_model *model;
    sx_space *space;
    const sx_map_space *map;
} world;

static void begin(world *w) {
    memset(w, 0, sizeof *w);
    sx_plain_arch(&w->arch, 3);
    sx_plain_mesh(&w->arch, 1, 4, 2);
    sx_plain_problem("O[m,n] += A[m,k]*B[k,n] {m:8,n:6,k:4}", &w->arch, &w->problem, &w->mapping);
    assert_int_equal(sx_problem_dim(&w->problem, "k"), K);
    sx_constraints_init(&w->limits, &w->problem, &w->arch);
}

static sx_status make(world *w) {
    if (!w->model) sx_expect_ok(sx_model_new(&w->problem, &w->arch, NULL, &w->model));
    return sx_map_space_new(w->model, &w->limits, &w->options, &w->space);
}

static void make_well(world *w) {
    sx_expect_ok(make(w));
    w->map = sx_map_space_of(w->space);
    assert_non_null(w->map);
}

static void end(world *w) {
    sx_space_free(w->space);
    sx_model_free(w->model);
}

static void slots_go_outward(void **state) {
    (void)state;
    world w;
    begin(&w);
    make_well(&w);
    const sx_map_slot expected[] = {{0, false}, {1, true}, {1, false}, {2, false}};
    assert_int_equal(w.map->n_slots, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(w.map->slot[i].level, expected[i].level);
        assert_int_equal(w.map->slot[i].spatial, expected[i].spatial);
    }
    assert_int_equal(w.map->spatial_slot[0], -1);
    assert_true(w.map->planar[1]);
    assert_int_equal(w.map->max[M][1], 4);
    assert_int_equal(sx_space_point_size(w.space),
                     offsetof(sx_mapping, level) + 3 * sizeof(sx_mapping_level) + 4);
    assert_string_equal(sx_space_name(w.space), "map");
    end(&w);
}

/* Three tiles, three orders, one level with X and Y, two levels that are free to keep. */
static void genes_are_the_choices(void **state) {
    (void)state;
    world w;
    begin(&w);
    make_well(&w);
    const int expected[] = {3, 3, 1, 2, 0};
    int found[5] = {0};
    for (size_t i = 0; i < w.space->n_genes; i++) found[w.space->gene[i].axis]++;
    assert_memory_equal(found, expected, sizeof found);
    end(&w);
    begin(&w);
    w.options.keep_all = true;
    w.problem.size[N] = 1;
    make_well(&w);
    memset(found, 0, sizeof found);
    for (size_t i = 0; i < w.space->n_genes; i++) found[w.space->gene[i].axis]++;
    assert_int_equal(found[SX_AXIS_TILE], 2);
    assert_int_equal(found[SX_AXIS_KEEP], 0);
    end(&w);
}

static void limits_close_slots(void **state) {
    (void)state;
    world w;
    begin(&w);
    w.limits.level[1].spatial.rest[M] = true;
    w.limits.level[0].temporal.min[M] = 2;
    w.limits.level[1].temporal.max[N] = 3;
    make_well(&w);
    assert_int_equal(w.map->min[M][0], 2);
    assert_int_equal(w.map->max[M][1], 4);
    assert_int_equal(w.map->max[M][2], 1);
    assert_int_equal(w.map->max[M][3], 1);
    assert_int_equal(w.map->max[N][2], 3);
    assert_true(sx_factors_count(w.map->factors[M]) == 3);
    end(&w);
}

static void contradictions_are_errors(void **state) {
    (void)state;
    world w;
    begin(&w);
    w.limits.level[0].spatial.min[M] = 2;
    sx_expect_error(make(&w), "'L0' has no fan-out");
    end(&w);
    begin(&w);
    w.limits.level[1].spatial.min[M] = 8;
    sx_expect_error(make(&w), "'L1': the spatial factor of m must be at least 8, but can be at most 4");
    end(&w);
    begin(&w);
    w.limits.level[0].temporal.rest[M] = true;
    w.limits.level[2].temporal.min[M] = 2;
    sx_expect_error(make(&w), "a level inside it takes all of m");
    end(&w);
    begin(&w);
    w.limits.level[0].temporal.min[M] = w.limits.level[0].temporal.max[M] = 3;
    sx_expect_error(make(&w), "no way to split m, of size 8");
    w.options.remainders = true;
    sx_expect_ok(make(&w));
    end(&w);
    begin(&w);
    for (int s = 0; s < 3; s++) w.limits.level[s].temporal.max[K] = w.limits.level[s].spatial.max[K] = 1;
    w.options.remainders = true;
    sx_expect_error(make(&w), "cannot reach the size");
    end(&w);
    begin(&w);
    w.limits.level[0].must_keep = w.limits.level[0].must_bypass = 1 << A;
    sx_expect_error(make(&w), "a constraint makes 'L0' keep A, but it must bypass it by another constraint");
    end(&w);
    begin(&w);
    w.arch.level[0].transparent = true;
    w.limits.level[0].must_keep = 1 << A;
    sx_expect_error(make(&w), "cannot hold it");
    end(&w);
    begin(&w);
    w.limits.n_dims = 2;
    sx_expect_error(make(&w), "another problem or architecture");
    end(&w);
}

static void what_levels_keep(void **state) {
    (void)state;
    world w;
    begin(&w);
    w.limits.level[0].must_keep = 1 << A;
    w.limits.level[1].must_bypass = 1 << B;
    make_well(&w);
    assert_int_equal(w.map->fixed_keep[0], 1 << A);
    assert_int_equal(w.map->free_keep[0], 1 << B | 1 << O);
    assert_int_equal(w.map->free_keep[1], 1 << A | 1 << O);
    assert_int_equal(w.map->fixed_keep[2], 7);
    assert_int_equal(w.map->free_keep[2], 0);
    end(&w);
}

/* Banks: 3 to 8 of them for 3 tensors; fewer, or none that limit, or not asked for: free to keep. */
static void levels_in_banks(void **state) {
    (void)state;
    world w;
    begin(&w);
    w.arch.level[1].entries = 64;
    w.arch.level[1].banks = 8;
    make_well(&w);
    assert_int_equal(w.map->banked[1], 7);
    assert_int_equal(w.map->free_keep[1], 0);
    assert_int_equal(w.map->bank_words[1], 8);
    assert_int_equal(sx_space_point_size(w.space),
                     offsetof(sx_mapping, level) + 3 * (sizeof(sx_mapping_level) + SX_MAX_TENSORS) + 4);
    end(&w);
    for (int i = 0; i < 4; i++) {
        begin(&w);
        w.arch.level[1].entries = i == 0 ? SX_UNLIMITED : 6400;
        w.arch.level[1].banks = i == 1 ? 2 : i == 3 ? 300 : 8;
        w.options.no_banks = i == 2;
        make_well(&w);
        assert_int_equal(w.map->banked[1], 0);
        assert_int_equal(w.map->free_keep[1], 7);
        end(&w);
    }
}

/* Tensors are kept where their tiles fit their banks; where they must be, others make the point illegal. */
static void tiles_fit_their_banks(void **state) {
    (void)state;
    for (int must = 0; must < 2; must++) {
        world w;
        begin(&w);
        w.arch.level[1].entries = 32;
        w.arch.level[1].banks = 4;
        w.limits.level[1].must_keep = must ? 1 << A : 0;
        make_well(&w);
        void *point = malloc(sx_space_point_size(w.space));
        sx_mapping_init(&w.mapping, &w.problem, &w.arch);
        w.mapping.level[2].temporal[M] = w.mapping.level[2].temporal[K] = 1;
        w.mapping.level[1].temporal[M] = 8;
        w.mapping.level[1].temporal[K] = 4;
        sx_map_space_point(w.space, &w.mapping, point);
        memcpy(sx_map_banks(w.map, point, 1), (uint8_t[3]){[O] = 1, [A] = 2, [B] = 1}, 3);
        sx_map_normalize(w.map, point);
        assert_int_equal(sx_map_point(point)->level[1].keep, must ? 7 : 1 << B | 1 << O);
        char text[200] = "";
        assert_true(sx_space_legal(w.space, point, text, sizeof text) == !must);
        if (must) assert_non_null(strstr(text, "L1: "));
        free(point);
        end(&w);
    }
}

/* Which mappings a space holds as they are. */
static void mappings_that_points_hold(void **state) {
    (void)state;
    world w;
    begin(&w);
    make_well(&w);
    void *point = malloc(sx_space_point_size(w.space));
    sx_mapping back;
    sx_mapping_init(&w.mapping, &w.problem, &w.arch);
    w.mapping.level[1].spatial[M] = 4;
    w.mapping.level[1].split = 1;
    w.mapping.level[2].temporal[M] = 2;
    assert_true(sx_map_space_point(w.space, &w.mapping, point));
    sx_map_space_mapping(w.space, point, &back);
    sx_mapping_canonical(&w.mapping);
    assert_memory_equal(&back, &w.mapping, sizeof back);

    sx_mapping other = w.mapping;
    other.level[0].no_multicast = 1;
    assert_false(sx_map_space_point(w.space, &other, point));
    sx_map_space_mapping(w.space, point, &back);
    assert_memory_equal(&back, &w.mapping, sizeof back);

    other = w.mapping;
    other.level[0].temporal[K] = 3;
    other.level[2].temporal[K] = 2;
    assert_false(sx_map_space_point(w.space, &other, point));
    sx_map_space_mapping(w.space, point, &back);
    assert_int_equal(back.level[0].temporal[K] * back.level[2].temporal[K], 4);

    other = w.mapping;
    other.n_levels = 2;
    assert_false(sx_map_space_point(w.space, &other, point));
    assert_true(sx_space_legal(w.space, point, NULL, 0));
    free(point);
    end(&w);
}

static void spatial_orders_are_sorted(void **state) {
    (void)state;
    world w;
    begin(&w);
    make_well(&w);
    void *point = malloc(sx_space_point_size(w.space));
    sx_mapping_init(&w.mapping, &w.problem, &w.arch);
    w.mapping.level[1].spatial[M] = w.mapping.level[1].spatial[K] = 2;
    w.mapping.level[2].temporal[M] = 4;
    w.mapping.level[2].temporal[K] = 2;
    memcpy(w.mapping.level[1].spatial_order, (uint8_t[3]){K, M, N}, 3);
    w.mapping.level[1].split = 2;
    assert_false(sx_map_space_point(w.space, &w.mapping, point));
    assert_memory_equal(sx_map_point(point)->level[1].spatial_order, ((uint8_t[3]){M, K, N}), 3);
    assert_int_equal(sx_map_point(point)->level[1].split, 2);
    w.mapping.level[1].split = 1;
    assert_true(sx_map_space_point(w.space, &w.mapping, point));
    free(point);
    end(&w);
    begin(&w);
    w.limits.level[1].spatial.inner[0] = K;
    w.limits.level[1].spatial.n_inner = 1;
    make_well(&w);
    point = malloc(sx_space_point_size(w.space));
    sx_mapping_init(&w.mapping, &w.problem, &w.arch);
    w.mapping.level[1].spatial[M] = w.mapping.level[1].spatial[K] = 2;
    w.mapping.level[2].temporal[M] = 4;
    w.mapping.level[2].temporal[K] = 2;
    w.mapping.level[1].split = 1;
    assert_false(sx_map_space_point(w.space, &w.mapping, point));
    assert_memory_equal(sx_map_point(point)->level[1].spatial_order, ((uint8_t[3]){K, M, N}), 3);
    assert_int_equal(sx_map_point(point)->level[1].split, 2);
    free(point);
    end(&w);
}

/* Bounds, keys and reasons. */
static void scores(void **state) {
    (void)state;
    world w;
    begin(&w);
    w.arch.level[0].entries = 12;
    w.arch.compute.energy = 1;
    make_well(&w);
    void *point = malloc(sx_space_point_size(w.space));
    const sx_point_model *model = sx_space_model(w.space);
    sx_scorer *scorer;
    sx_objective edp;
    sx_outcome outcome;
    sx_expect_ok(sx_objective_parse("edp", &edp));
    sx_expect_ok(sx_scorer_new(w.space, NULL, &edp, &scorer));
    sx_mapping_init(&w.mapping, &w.problem, &w.arch);
    assert_true(sx_map_space_point(w.space, &w.mapping, point));
    sx_expect_ok(sx_scorer_score(scorer, point, 1, INFINITY, &outcome));
    sx_score score = sx_metrics_score(&outcome.metrics);
    assert_true(outcome.reason == 0 && outcome.value == 192 * 192);
    assert_true(score.energy_pj == 192 && score.cycles == 192);
    sx_expect_ok(sx_scorer_score(scorer, point, 1, 192 * 192, &outcome));
    assert_int_equal(outcome.reason, 0);
    sx_expect_ok(sx_scorer_score(scorer, point, 1, 100, &outcome));
    assert_int_equal(outcome.reason, SX_BEYOND);
    assert_true(outcome.metrics.value[1] == 0 && outcome.value == INFINITY);
    uint64_t key[2], other[2];
    model->type->key(model, point, key);
    w.mapping.level[2].temporal[M] = 1;
    w.mapping.level[0].temporal[M] = 8;
    assert_true(sx_map_space_point(w.space, &w.mapping, point));
    model->type->key(model, point, other);
    assert_true(key[0] != other[0] && key[1] != other[1] && key[0] != key[1]);
    sx_expect_ok(sx_scorer_score(scorer, point, 1, INFINITY, &outcome));
    assert_int_equal(outcome.reason, SX_CAPACITY);
    assert_string_equal(w.space->type->reason(w.space, SX_CAPACITY), "capacity");
    sx_scorer_free(scorer);
    free(point);
    end(&w);
}

/* A share that constraints ask for is no construction's, but decides legality. */
static void shares_in_use(void **state) {
    (void)state;
    world w;
    begin(&w);
    w.limits.level[1].min_parallelism = 1;
    make_well(&w);
    void *point = malloc(sx_space_point_size(w.space));
    char text[200];
    sx_mapping_init(&w.mapping, &w.problem, &w.arch);
    assert_true(sx_map_space_point(w.space, &w.mapping, point));
    assert_false(sx_space_legal(w.space, point, text, sizeof text));
    assert_string_equal(w.space->type->reason(w.space, w.space->type->check(w.space, point)), "constraint");
    assert_non_null(strstr(text, "compute units are in use"));
    for (uint64_t i = 0; i < 20; i++) {
        assert_true(sx_space_sample(w.space, 0, i, point));
        const sx_mapping_level *at = &sx_map_point(point)->level[1];
        assert_int_equal(at->spatial[M] * at->spatial[N] * at->spatial[K], 8);
    }
    free(point);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_go_outward),
        cmocka_unit_test(genes_are_the_choices),
        cmocka_unit_test(limits_close_slots),
        cmocka_unit_test(contradictions_are_errors),
        cmocka_unit_test(what_levels_keep),
        cmocka_unit_test(levels_in_banks),
        cmocka_unit_test(tiles_fit_their_banks),
        cmocka_unit_test(mappings_that_points_hold),
        cmocka_unit_test(spatial_orders_are_sorted),
        cmocka_unit_test(scores),
        cmocka_unit_test(shares_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
