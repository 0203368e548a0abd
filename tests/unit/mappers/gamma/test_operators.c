/* Gamma's operators: what each changes and what it leaves alone. */
#include "mappers/gamma/operators.h"

#include "support/compared.h"
#include "support/expect.h"
#include "support/small_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char conv[] = "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:2,k:16,c:12,p:14,q:14,r:3,s:3}";

enum { ROUNDS = 200 };

/* Two individuals of a space. */
typedef struct pair {
    sx_small_map m;
    const sx_map_space *space;
    sx_rng rng;
    sx_gamma_individual a, b;
    sx_gamma_genes genes[2];
} pair;

static const struct {
    const char *arch;
    sx_map_space_options options;
} grounds[] = {
    {"accel-b", {0}},
    {"eyeriss", {0}},
    {"mind-mappings", {0}},
    {"simba", {.keep_all = true}},
    {"accel-a", {.remainders = true}},
};
enum { N_GROUNDS = sizeof grounds / sizeof *grounds, N_PERFECT = N_GROUNDS - 1 };

static void open_pair(pair *p, size_t ground) {
    sx_small_map_open(&p->m, conv, grounds[ground].arch, NULL, &grounds[ground].options);
    p->space = p->m.map;
    p->a = (sx_gamma_individual){calloc(1, p->m.space->point_size), &p->genes[0]};
    p->b = (sx_gamma_individual){calloc(1, p->m.space->point_size), &p->genes[1]};
    assert_true(p->a.point && p->b.point);
}

static void close_pair(pair *p) {
    free(p->a.point);
    free(p->b.point);
    sx_small_map_close(&p->m);
}

/* Makes a random legal individual. */
static void draw(pair *p, sx_gamma_individual i) {
    do sx_gamma_random(p->space, &p->rng, i);
    while (!sx_gamma_repair(p->space, &p->rng, i));
}

/* What a dimension has at a level. */
static uint32_t total(const void *point, int level, int dim) {
    const sx_mapping_level *at = &sx_map_point(point)->level[level];
    return at->temporal[dim] * at->spatial[dim];
}

/* How many dimensions have other totals in one point than in another. */
static int changed_dims(const pair *p, const void *a, const void *b) {
    int n = 0;
    for (int d = 0; d < p->space->problem->n_dims; d++) {
        bool differs = false;
        for (int s = 0; s < p->space->arch->n_levels; s++)
            differs = differs || total(a, s, d) != total(b, s, d);
        n += differs;
    }
    return n;
}

/* Asserts that a point is a construction of the space, in its one form: only array and memory may refuse it.
 */
static void check_construction(const pair *p, const void *point) {
    sx_verdict verdict = sx_check(p->m.model, point);
    assert_true(verdict.reason == SX_LEGAL || verdict.reason == SX_CAPACITY || verdict.reason == SX_MESH_X ||
                verdict.reason == SX_MESH_Y || verdict.reason == SX_INSTANCES);
    for (int d = 0; d < p->space->problem->n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        sx_u128 index;
        sx_map_get_factors(p->space, point, d, factor);
        assert_true(sx_factors_rank(p->space->factors[d], factor, &index));
    }
    void *settled = malloc(p->m.space->point_size);
    assert_non_null(settled);
    memcpy(settled, point, p->m.space->point_size);
    sx_map_normalize(p->space, settled);
    assert_memory_equal(settled, point, p->m.space->point_size);
    free(settled);
}

typedef void operation(const sx_map_space *space, sx_rng *rng, sx_gamma_individual individual);
static operation *const operations[] = {
    sx_gamma_natural,     sx_gamma_random,      sx_gamma_swap_order, sx_gamma_change_parallel,
    sx_gamma_swap_levels, sx_gamma_redraw_tile, sx_gamma_shift,      sx_gamma_change_keep,
    sx_gamma_grow,        sx_gamma_age,
};

static void all_operators_make_constructions_that_can_be_repaired(void **state) {
    (void)state;
    for (size_t ground = 0; ground < N_GROUNDS; ground++) {
        pair p;
        uint64_t repaired = 0;
        open_pair(&p, ground);
        for (uint64_t round = 0; round < ROUNDS; round++) {
            p.rng = sx_rng_stream(1, "operators", round);
            draw(&p, p.a);
            for (int step = 0; step < 10; step++) {
                size_t which = sx_rng_below(&p.rng, sizeof operations / sizeof *operations);
                sx_gamma_copy(p.space, p.a, p.b);
                operations[which](p.space, &p.rng, p.b);
                sx_gamma_express(p.space, p.b);
                check_construction(&p, p.b.point);
                if (!sx_gamma_repair(p.space, &p.rng, p.b)) continue;
                check_construction(&p, p.b.point);
                assert_true(sx_space_legal(p.m.space, p.b.point, NULL, 0));
                repaired++;
                enum sx_gamma_axis axis = (enum sx_gamma_axis)sx_rng_below(&p.rng, 4);
                sx_gamma_take(p.space, axis, sx_gamma_random_dim(p.space, &p.rng), p.b, p.a);
                sx_gamma_express(p.space, p.a);
                check_construction(&p, p.a.point);
                if (!sx_gamma_repair(p.space, &p.rng, p.a)) draw(&p, p.a);
            }
        }
        sx_expect_compared("repaired points", repaired, 5 * ROUNDS);
        close_pair(&p);
    }
}

static void points_read_are_points_expressed(void **state) {
    (void)state;
    for (size_t ground = 0; ground < N_GROUNDS; ground++) {
        pair p;
        open_pair(&p, ground);
        for (uint64_t round = 0; round < ROUNDS; round++) {
            p.rng = sx_rng_stream(2, "operators", round);
            assert_true(sx_space_sample(p.m.space, 1, round, p.a.point));
            sx_gamma_read(p.space, &p.rng, p.a);
            sx_gamma_copy(p.space, p.a, p.b);
            sx_gamma_take(p.space, SX_GAMMA_ORDER, 0, p.a, p.b);
            assert_memory_equal(p.a.point, p.b.point, p.m.space->point_size);
        }
        close_pair(&p);
    }
}

static void order_swaps_leave_tiles_alone(void **state) {
    (void)state;
    pair p;
    open_pair(&p, 0);
    unsigned changed = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        p.rng = sx_rng_stream(3, "operators", round);
        draw(&p, p.a);
        sx_gamma_copy(p.space, p.a, p.b);
        sx_gamma_swap_order(p.space, &p.rng, p.b);
        sx_gamma_express(p.space, p.b);
        for (int s = 0; s < p.space->arch->n_levels; s++) {
            const sx_mapping_level *a = sx_map_level(p.a.point, s), *b = sx_map_level(p.b.point, s);
            assert_memory_equal(a->temporal, b->temporal, sizeof a->temporal);
            assert_memory_equal(a->spatial, b->spatial, sizeof a->spatial);
            assert_int_equal(a->keep, b->keep);
            changed += memcmp(a->temporal_order, b->temporal_order, SX_MAX_DIMS) != 0;
        }
    }
    assert_in_range(changed, 20, ROUNDS);
    close_pair(&p);
}

static void tile_moves_change_one_dimension(void **state) {
    (void)state;
    for (size_t ground = 0; ground < N_PERFECT; ground++) {
        pair p;
        open_pair(&p, ground);
        unsigned redrawn = 0;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            p.rng = sx_rng_stream(4, "operators", round);
            draw(&p, p.a);
            sx_gamma_copy(p.space, p.a, p.b);
            sx_gamma_redraw_tile(p.space, &p.rng, p.b);
            int changed = changed_dims(&p, p.a.point, p.b.point);
            assert_in_range(changed, 0, 1);
            redrawn += (unsigned)changed;
            sx_gamma_copy(p.space, p.a, p.b);
            sx_gamma_shift(p.space, &p.rng, p.b);
            assert_in_range(changed_dims(&p, p.a.point, p.b.point), 0, 1);
            assert_memory_not_equal(p.a.point, p.b.point, p.m.space->point_size);
        }
        sx_expect_compared("redrawn points", (uint64_t)redrawn, ROUNDS / 2);
        close_pair(&p);
    }
}

static void swapped_levels_swap_back(void **state) {
    (void)state;
    pair p;
    open_pair(&p, 0);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        p.rng = sx_rng_stream(5, "operators", round);
        sx_gamma_random(p.space, &p.rng, p.a);
        sx_gamma_copy(p.space, p.a, p.b);
        sx_rng again = p.rng;
        sx_gamma_swap_levels(p.space, &p.rng, p.b);
        sx_gamma_swap_levels(p.space, &again, p.b);
        assert_memory_equal(p.a.point, p.b.point, p.m.space->point_size);
    }
    close_pair(&p);
}

static void crossing_takes_over_what_it_says(void **state) {
    (void)state;
    for (size_t ground = 0; ground < N_PERFECT; ground++) {
        pair p;
        open_pair(&p, ground);
        void *before = malloc(p.m.space->point_size);
        assert_non_null(before);
        for (uint64_t round = 0; round < ROUNDS; round++) {
            p.rng = sx_rng_stream(6, "operators", round);
            draw(&p, p.a);
            draw(&p, p.b);
            int dim = sx_gamma_random_dim(p.space, &p.rng);
            memcpy(before, p.b.point, p.m.space->point_size);
            sx_gamma_take(p.space, SX_GAMMA_TILE, dim, p.a, p.b);
            assert_in_range(changed_dims(&p, before, p.b.point), 0, 1);
            for (int s = 0; s < p.space->arch->n_levels; s++)
                assert_int_equal(total(p.a.point, s, dim), total(p.b.point, s, dim));
            sx_gamma_take(p.space, SX_GAMMA_ORDER, 0, p.a, p.b);
            assert_memory_equal(p.a.genes->order, p.b.genes->order, sizeof p.a.genes->order);
            sx_gamma_take(p.space, SX_GAMMA_PARALLEL, 0, p.a, p.b);
            assert_memory_equal(p.a.genes->parallel, p.b.genes->parallel, sizeof p.a.genes->parallel);
            sx_gamma_take(p.space, SX_GAMMA_KEEP, 0, p.a, p.b);
            for (int s = 0; s < p.space->arch->n_levels && !p.space->banks_at; s++)
                assert_int_equal(sx_map_level(p.a.point, s)->keep, sx_map_level(p.b.point, s)->keep);
        }
        free(before);
        close_pair(&p);
    }
}

static void parallel_dimensions_become_spatial(void **state) {
    (void)state;
    pair p;
    open_pair(&p, 0);
    unsigned grown = 0, shrunk = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        p.rng = sx_rng_stream(7, "operators", round);
        sx_gamma_random(p.space, &p.rng, p.a);
        for (int s = 0; s < p.space->arch->n_levels; s++)
            for (int d = 0; d < p.space->problem->n_dims; d++)
                if (!(p.a.genes->parallel[s] >> d & 1))
                    assert_int_equal(sx_map_level(p.a.point, s)->spatial[d], 1);
        sx_gamma_copy(p.space, p.a, p.b);
        sx_gamma_change_parallel(p.space, &p.rng, p.b);
        int bits = 0;
        for (int s = 0; s < p.space->arch->n_levels; s++) {
            unsigned a = p.a.genes->parallel[s], b = p.b.genes->parallel[s];
            bits += __builtin_popcount(a ^ b);
            grown += (b & ~a) != 0;
            shrunk += (a & ~b) != 0;
        }
        assert_int_equal(bits, 1);
        assert_int_equal(changed_dims(&p, p.a.point, p.b.point), 0);
    }
    sx_expect_compared("grown tiles", (uint64_t)grown, ROUNDS / 4);
    sx_expect_compared("shrunk tiles", (uint64_t)shrunk, ROUNDS / 4);
    close_pair(&p);
}

/* The levels inside the outermost that have factors. */
static unsigned levels_used(const pair *p, const void *point) {
    unsigned used = 0;
    for (int s = 0; s + 1 < p->space->arch->n_levels; s++)
        for (int d = 0; d < p->space->problem->n_dims; d++)
            if (total(point, s, d) > 1) used |= 1u << s;
    return used;
}

static void levels_grow_and_age(void **state) {
    (void)state;
    pair p;
    open_pair(&p, 1);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        p.rng = sx_rng_stream(8, "operators", round);
        sx_gamma_natural(p.space, &p.rng, p.a);
        assert_int_equal(levels_used(&p, p.a.point), 0);
        for (int i = 0; i < 40; i++) sx_gamma_grow(p.space, &p.rng, p.a);
        unsigned used = levels_used(&p, p.a.point), before = used;
        assert_true(used != 0);
        while (used) {
            sx_gamma_age(p.space, &p.rng, p.a);
            before = used;
            used = levels_used(&p, p.a.point);
            assert_true(__builtin_popcount(before & ~used) == 1);
        }
    }
    close_pair(&p);
}

static void large_dimensions_are_chosen_more_often(void **state) {
    (void)state;
    pair p;
    open_pair(&p, 0);
    p.rng = sx_rng_stream(9, "operators", 0);
    unsigned n[SX_MAX_DIMS] = {0};
    for (int i = 0; i < 10000; i++) n[sx_gamma_random_dim(p.space, &p.rng)]++;
    int k = sx_problem_dim(p.space->problem, "k"), r = sx_problem_dim(p.space->problem, "r");
    assert_true(n[k] > 2 * n[r] && n[r] > 300);
    close_pair(&p);
    sx_small_map one;
    sx_small_map_open(&one, "O[m] += A[m,k] {m:1,k:1}", "accel-b", NULL, NULL);
    assert_int_equal(sx_gamma_random_dim(one.map, &p.rng), 0);
    sx_small_map_close(&one);
}

/* With remainders a good part of the tiles that are drawn divide, and not all of them. */
static void some_tiles_with_remainders_divide(void **state) {
    (void)state;
    pair p;
    open_pair(&p, N_PERFECT);
    p.rng = sx_rng_stream(10, "operators", 0);
    const int k = sx_problem_dim(p.space->problem, "p");
    int divides = 0;
    for (int i = 0; i < 1000; i++) {
        uint32_t product = 1;
        sx_gamma_random(p.space, &p.rng, p.a);
        for (int s = 0; s < p.space->arch->n_levels; s++) product *= total(p.a.point, s, k);
        divides += product == p.space->problem->size[k];
    }
    assert_in_range(divides, 400, 800);
    close_pair(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_tiles_with_remainders_divide),
        cmocka_unit_test(all_operators_make_constructions_that_can_be_repaired),
        cmocka_unit_test(points_read_are_points_expressed),
        cmocka_unit_test(order_swaps_leave_tiles_alone),
        cmocka_unit_test(tile_moves_change_one_dimension),
        cmocka_unit_test(swapped_levels_swap_back),
        cmocka_unit_test(crossing_takes_over_what_it_says),
        cmocka_unit_test(parallel_dimensions_become_spatial),
        cmocka_unit_test(levels_grow_and_age),
        cmocka_unit_test(large_dimensions_are_chosen_more_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
