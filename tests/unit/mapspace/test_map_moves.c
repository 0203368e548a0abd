/* Small steps in map spaces, worked out by hand. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/map_neighbour.h"
#include "support/plain_arch.h"

#include "mapspace/map_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { M, N, K };

typedef struct world {
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_constraints limits;
    sx_model *model;
    sx_space *space;
    const sx_map_space *map;
    void *point, *other;
} world;

/* Two levels, the outer one over 4 x 4 children. */
static void begin(world *w, const char *einsum) {
    memset(w, 0, sizeof *w);
    sx_plain_arch(&w->arch, 2);
    sx_plain_mesh(&w->arch, 1, 4, 4);
    sx_plain_problem(einsum, &w->arch, &w->problem, &w->mapping);
    sx_mapping_init(&w->mapping, &w->problem, &w->arch);
    sx_constraints_init(&w->limits, &w->problem, &w->arch);
}

static void make(world *w, bool remainders) {
    sx_map_space_options options = {.remainders = remainders};
    sx_expect_ok(sx_model_new(&w->problem, &w->arch, NULL, &w->model));
    sx_expect_ok(sx_map_space_new(w->model, &w->limits, &options, &w->space));
    w->map = sx_map_space_of(w->space);
    w->point = malloc(sx_space_point_size(w->space));
    w->other = malloc(sx_space_point_size(w->space));
    assert_true(sx_map_space_point(w->space, &w->mapping, w->point));
}

static void end(world *w) {
    free(w->point);
    free(w->other);
    sx_space_free(w->space);
    sx_model_free(w->model);
}

/* Counts neighbours. */
static size_t count_neighbours(const world *w) {
    size_t n = 0, size = w->space->point_size;
    sx_map_walk walk = {.space = w->map, .point = w->point};
    while (sx_map_walk_next(&walk, w->other)) {
        assert_memory_not_equal(w->point, w->other, size);
        n++;
    }
    return n;
}

/* m = 4 at the outermost level, slots: L0 temporal, L1 spatial, L1 temporal. A factor 2 goes to L0 (one
 * place), or to the array (X or Y); and two tensors can be kept or not at L0. */
static void neighbours_of_a_single_loop(void **state) {
    (void)state;
    world w;
    begin(&w, "O[m] += A[m] {m:4}");
    make(&w, false);
    assert_int_equal(count_neighbours(&w), 1 + 2 + 2);
    uint32_t factor[SX_MAX_SLOTS];
    const uint32_t expected[3][3] = {{2, 1, 2}, {1, 2, 2}, {1, 2, 2}};
    for (size_t i = 0; i < 3; i++) {
        assert_true(sx_map_neighbour(w.space, w.point, i, w.other));
        sx_map_get_factors(w.map, w.other, M, factor);
        assert_memory_equal(factor, expected[i], sizeof expected[i]);
        if (i > 0) assert_int_equal(sx_map_point(w.other)->level[1].split, i == 1);
    }
    assert_true(sx_map_neighbour(w.space, w.point, 3, w.other));
    assert_int_equal(sx_map_point(w.other)->level[0].keep, 2);
    end(&w);
}

/* A loop that comes to a level with two others has three places there. */
static void new_loops_come_anywhere(void **state) {
    (void)state;
    world w;
    begin(&w, "O[m,n] += A[m,k]*B[k,n] {m:2,n:2,k:2}");
    sx_plain_arch(&w.arch, 2);
    w.mapping.level[0].temporal[M] = w.mapping.level[0].temporal[N] = 2;
    w.mapping.level[1].temporal[M] = w.mapping.level[1].temporal[N] = 1;
    make(&w, false);
    const uint8_t expected[3][3] = {{K, M, N}, {M, K, N}, {M, N, K}};
    size_t found = 0;
    for (size_t i = 0; sx_map_neighbour(w.space, w.point, i, w.other); i++) {
        if (sx_map_point(w.other)->level[0].temporal[K] != 2) continue;
        assert_memory_equal(sx_map_point(w.other)->level[0].temporal_order, expected[found], 3);
        found++;
    }
    assert_int_equal(found, 3);
    end(&w);
}

/* Orders of three loops: each loop to each other place, neighbours changed only once: 4. */
static void loops_move(void **state) {
    (void)state;
    world w;
    begin(&w, "O[m,n] += A[m,k]*B[k,n] {m:2,n:2,k:2}");
    make(&w, false);
    size_t found = 0;
    uint8_t seen[8][3];
    for (size_t i = 0; sx_map_neighbour(w.space, w.point, i, w.other); i++) {
        const sx_mapping_level *at = &sx_map_point(w.other)->level[1];
        if (at->temporal[M] * at->temporal[N] * at->temporal[K] != 8) continue;
        if (memcmp(at->temporal_order, (uint8_t[3]){M, N, K}, 3) == 0) continue;
        for (size_t j = 0; j < found; j++) assert_memory_not_equal(seen[j], at->temporal_order, 3);
        memcpy(seen[found++], at->temporal_order, 3);
    }
    assert_int_equal(found, 4);
    end(&w);
}

/* Every nudge is a neighbour, and every neighbour of the gene comes up. */
static void nudges_are_neighbours(void **state) {
    (void)state;
    for (int remainders = 0; remainders < 2; remainders++) {
        world w;
        begin(&w, "O[m,n] += A[m,k]*B[k,n] {m:6,n:4,k:2}");
        w.arch.level[0].entries = 60;
        w.arch.level[0].banks = 6;
        make(&w, remainders);
        sx_rng rng = sx_rng_stream(1, "test", 0);
        w.space->type->draw(w.space, &rng, w.point);
        size_t n = count_neighbours(&w), size = w.space->point_size;
        unsigned char *all = malloc(n * size), *nudged = malloc(size);
        bool *seen = calloc(n, sizeof *seen);
        for (size_t i = 0; i < n; i++) assert_true(sx_map_neighbour(w.space, w.point, i, all + i * size));
        uint64_t moved = 0;
        for (int tries = 0; tries < 20000; tries++) {
            memcpy(nudged, w.point, size);
            int64_t gene = sx_space_random_gene(w.space, &rng, -1);
            w.space->type->nudge(w.space, &rng, (size_t)gene, nudged);
            if (memcmp(nudged, w.point, size) == 0) continue;
            bool known = false;
            for (size_t i = 0; i < n; i++)
                if (memcmp(nudged, all + i * size, size) == 0) known = seen[i] = true;
            assert_true(known);
            moved++;
        }
        sx_expect_compared("nudges that moved a point", moved, 5000);
        for (size_t i = 0; i < n; i++) assert_true(seen[i]);
        free(all);
        free(nudged);
        free(seen);
        end(&w);
    }
}

/* With remainders 10 = (1, 1, 10) becomes (2, 1, 5) by one more at L0 or (1, 2, 5) in the array, and no split
 * leaves what is not needed. */
static void steps_with_remainders(void **state) {
    (void)state;
    world w;
    begin(&w, "O[m] += A[m] {m:10}");
    make(&w, true);
    bool inner = false, array = false, odd = false;
    for (size_t i = 0; sx_map_neighbour(w.space, w.point, i, w.other); i++) {
        uint32_t f[SX_MAX_SLOTS];
        sx_u128 index;
        sx_map_get_factors(w.map, w.other, M, f);
        assert_true(sx_factors_rank(w.map->factors[M], f, &index));
        inner |= f[0] == 2 && f[2] == 5;
        array |= f[1] == 2 && f[2] == 5;
        odd |= f[0] * f[1] * f[2] != 10;
    }
    assert_true(inner && array && !odd);
    end(&w);
}

/* Fixed orders leave the free loops their places. */
static void fixed_loops_stay(void **state) {
    (void)state;
    world w;
    begin(&w, "O[m,n] += A[m,k]*B[k,n] {m:2,n:2,k:2}");
    w.limits.level[1].temporal.inner[0] = K;
    w.limits.level[1].temporal.n_inner = 1;
    memcpy(w.mapping.level[1].temporal_order, (uint8_t[3]){K, M, N}, 3);
    make(&w, false);
    sx_rng rng = sx_rng_stream(1, "test", 0);
    for (int i = 0; i < 100; i++) {
        w.space->type->draw(w.space, &rng, w.point);
        const sx_mapping_level *at = &sx_map_point(w.point)->level[1];
        if (at->temporal[K] > 1) assert_int_equal(at->temporal_order[0], K);
    }
    end(&w);
}

/* A point takes a level's order over for the loops that both have. */
static void orders_are_taken_over(void **state) {
    (void)state;
    world w;
    begin(&w, "O[m,n] += A[m,k]*B[k,n] {m:2,n:2,k:2}");
    make(&w, false);
    memcpy(w.mapping.level[1].temporal_order, (uint8_t[3]){N, K, M}, 3);
    w.mapping.level[1].temporal[K] = 1;
    w.mapping.level[0].temporal[K] = 2;
    assert_true(sx_map_space_point(w.space, &w.mapping, w.other));
    for (size_t i = 0; i < w.space->n_genes; i++)
        if (w.space->gene[i].axis == SX_AXIS_ORDER && w.space->gene[i].which == 1)
            w.space->type->take(w.space, i, w.other, w.point);
    assert_memory_equal(sx_map_point(w.point)->level[1].temporal_order, ((uint8_t[3]){N, M, K}), 3);
    end(&w);
}

/* Lets a point take a gene over from the other one. */
static void take_gene(world *w, int axis, int which) {
    bool taken = false;
    for (size_t i = 0; i < w->space->n_genes; i++) {
        if (w->space->gene[i].axis != axis || w->space->gene[i].which != which) continue;
        w->space->type->take(w->space, i, w->other, w->point);
        taken = true;
    }
    assert_true(taken);
}

/* Spreads dimensions of a mask over two units each at the outer level, those of another mask on X. */
static void spread(world *w, unsigned dims, unsigned x, void *point) {
    sx_mapping_level *at = &w->mapping.level[1];
    int n = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int d = 0; d < 3; d++)
            if ((x >> d & 1) != (unsigned)pass) at->spatial_order[n++] = (uint8_t)d;
        if (!pass) at->split = (uint8_t)n;
    }
    for (int d = 0; d < 3; d++) {
        at->spatial[d] = dims >> d & 1 ? 2 : 1;
        at->temporal[d] = w->problem.size[d] / at->spatial[d];
    }
    assert_true(sx_map_space_point(w->space, &w->mapping, point));
    assert_int_equal(sx_map_on_x(&sx_map_point(point)->level[1]), dims & x);
}

/* A point takes axes over for the spatial loops that both have; the others stay on theirs. */
static void axes_are_taken_over(void **state) {
    (void)state;
    world w;
    begin(&w, "O[m,n] += A[m,k]*B[k,n] {m:2,n:2,k:2}");
    make(&w, false);
    for (int own = M; own <= K; own++) {
        int shared = (own + 1) % 3, new = (own + 2) % 3;
        spread(&w, 1u << own | 1u << shared, 1u << own | 1u << shared, w.point);
        spread(&w, 1u << new | 1u << shared, 1u << new, w.other);
        take_gene(&w, SX_AXIS_PARALLEL, 1);
        assert_int_equal(sx_map_on_x(&sx_map_point(w.point)->level[1]), 1u << own);
        assert_int_equal(sx_map_point(w.point)->level[1].spatial[new], 1);
        take_gene(&w, SX_AXIS_TILE, new);
        assert_int_equal(sx_map_on_x(&sx_map_point(w.point)->level[1]), 1u << own | 1u << new);
        assert_int_equal(sx_map_point(w.point)->level[1].spatial[new], 2);
    }
    end(&w);
}

/* Whether a dimension may lie on both axes of the outer level. */
static bool splits(world *w, bool option) {
    sx_map_space_options options = {.split_axes = option};
    sx_space *space;
    sx_expect_ok(sx_model_new(&w->problem, &w->arch, NULL, &w->model));
    sx_expect_ok(sx_map_space_new(w->model, &w->limits, &options, &space));
    bool found = sx_map_space_of(space)->splits[1];
    sx_space_free(space);
    sx_model_free(w->model);
    return found;
}

static void constrained_axes_are_not_split(void **state) {
    (void)state;
    world w;
    begin(&w, "O[m,n] += A[m,k]*B[k,n] {m:8,n:8,k:8}");
    assert_true(splits(&w, true));
    assert_false(splits(&w, false));
    for (int8_t split = 0; split <= 3; split++) {
        w.limits.level[1].split = split;
        assert_false(splits(&w, true));
    }
    w.limits.level[1].split = -1;
    w.limits.level[1].spatial.n_inner = 1;
    assert_false(splits(&w, true));
    w.limits.level[1].spatial.n_inner = 0;
    w.limits.level[1].spatial.n_outer = 1;
    w.limits.level[1].spatial.outer[0] = N;
    assert_false(splits(&w, true));
    w.limits.level[1].spatial.n_inner = 1;
    assert_false(splits(&w, true));
    w.limits.level[1].spatial.n_inner = w.limits.level[1].spatial.n_outer = 0;
    sx_plain_mesh(&w.arch, 1, 8, 1);
    assert_false(splits(&w, true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_of_a_single_loop),
        cmocka_unit_test(new_loops_come_anywhere),
        cmocka_unit_test(loops_move),
        cmocka_unit_test(nudges_are_neighbours),
        cmocka_unit_test(steps_with_remainders),
        cmocka_unit_test(fixed_loops_stay),
        cmocka_unit_test(orders_are_taken_over),
        cmocka_unit_test(axes_are_taken_over),
        cmocka_unit_test(constrained_axes_are_not_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
