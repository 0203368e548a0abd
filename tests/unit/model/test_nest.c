/* Laying out loops, and every way a mapping can be illegal. */
#include "model/model.h"
#include "sextant/input.h"
#include "support/compared.h"
#include "support/cost_compare.h"
#include "support/expect.h"
#include "support/plain_arch.h"
#include "support/random_case.h"
#include "support/random_window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { M, N, K };
enum { O, A, B };

/* A matrix product of 8 x 6 x 5 on 4 x 2 units with a buffer each, under one memory. */
typedef struct fixture {
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_nest nest;
} fixture;

static fixture *fixture_new(void) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    sx_plain_arch(&f->arch, 2);
    sx_plain_mesh(&f->arch, 1, 4, 2);
    sx_plain_problem("O[m,n] += A[m,k]*B[k,n] {m:8,n:6,k:5}", &f->arch, &f->problem, &f->mapping);
    sx_mapping_level *in = &f->mapping.level[0], *out = &f->mapping.level[1];
    in->temporal[K] = 5;
    out->spatial[M] = 4;
    out->spatial[N] = 2;
    out->temporal[M] = 2;
    out->temporal[N] = 3;
    memcpy(out->spatial_order, (uint8_t[]){K, M, N}, 3);
    memcpy(out->temporal_order, (uint8_t[]){N, K, M}, 3);
    out->split = 2;
    return f;
}

/* The verdict on the fixture as it stands. */
static sx_verdict judge(fixture *f) {
    sx_model *model;
    sx_expect_ok(sx_model_new(&f->problem, &f->arch, NULL, &model));
    sx_verdict verdict = sx_nest_build(model, &f->mapping, &f->nest), again = sx_check(model, &f->mapping);
    char why[256];
    assert_false(sx_verdicts_differ(&verdict, &again, why, sizeof why));
    sx_model_free(model);
    return verdict;
}

/* Asserts the verdict, and frees the fixture. */
static void assert_verdict(fixture *f, sx_verdict expected) {
    char why[256] = "";
    sx_verdict verdict = judge(f);
    bool differ = sx_verdicts_differ(&verdict, &expected, why, sizeof why);
    if (differ) print_error("%s\n", why);
    assert_false(differ);
    free(f);
}

static void assert_loop(const sx_loop *loop, int dim, int level, uint32_t step, uint32_t n) {
    assert_int_equal(loop->dim, dim);
    assert_int_equal(loop->level, level);
    assert_int_equal(loop->step, step);
    assert_int_equal(loop->n, n);
    assert_int_equal(loop->last, n);
}

static void loops_stand_innermost_first(void **state) {
    (void)state;
    fixture *f = fixture_new();
    assert_int_equal(judge(f).reason, SX_LEGAL);
    const sx_nest *nest = &f->nest;
    assert_true(nest->perfect);
    assert_int_equal(nest->n_temporal, 3);
    assert_loop(&nest->temporal[0], K, 0, 1, 5);
    assert_loop(&nest->temporal[1], N, 1, 2, 3);
    assert_loop(&nest->temporal[2], M, 1, 4, 2);
    assert_int_equal(nest->n_spatial, 2);
    assert_loop(&nest->spatial[0], M, 1, 1, 4);
    assert_loop(&nest->spatial[1], N, 1, 1, 2);
    assert_memory_equal(nest->temporal_of, ((uint8_t[]){0, 1, 3}), 3);
    assert_memory_equal(nest->spatial_of, ((uint8_t[]){0, 0, 2}), 3);
    assert_int_equal(nest->n_x[1], 1);
    assert_true(nest->slot_x[1] == 4 && nest->slot_y[1] == 2 && nest->slot_x[0] == 1);
    assert_true(nest->used_x == 4 && nest->used_y == 2 && nest->above[0] == 8 && nest->above[1] == 1);
    assert_true(nest->cycles == 30 && nest->suffix[0] == 30 && nest->suffix[1] == 6 && nest->suffix[3] == 1);
    assert_true(nest->tile[O][0] == 1 && nest->tile[A][0] == 5 && nest->tile[B][0] == 5);
    assert_true(nest->tile[O][1] == 48 && nest->tile[A][1] == 40 && nest->tile[B][1] == 30);
    free(f);
}

static void mappings_of_another_shape_are_refused(void **state) {
    (void)state;
    const sx_verdict bad = {SX_BAD_SHAPE, -1, -1, -1, 0, 0};
    for (int i = 0; i < 8; i++) {
        fixture *f = fixture_new();
        sx_mapping *m = &f->mapping;
        if (i == 0) m->n_levels++;
        if (i == 1) m->n_dims--;
        if (i == 2) m->n_tensors = 0;
        if (i == 3) m->level[1].temporal_order[0] = M;
        if (i == 4) m->level[1].spatial_order[1] = N;
        if (i == 5) m->level[1].temporal_order[0] = 200;
        if (i == 6) m->level[1].temporal_order[2] = M + SX_MAX_DIMS;
        if (i == 7) m->level[0].temporal_order[2] = 3;
        assert_verdict(f, bad);
    }
}

static void factors_must_cover_their_dimension_and_no_more(void **state) {
    (void)state;
    fixture *f = fixture_new();
    f->mapping.level[1].temporal[M] = 1;
    assert_verdict(f, (sx_verdict){SX_FACTOR_PRODUCT, -1, -1, M, 4, 8});
    f = fixture_new();
    f->mapping.level[1].temporal[N] = 4;
    assert_verdict(f, (sx_verdict){SX_FACTOR_PRODUCT, -1, -1, N, 8, 6});
    f = fixture_new();
    f->mapping.level[0].temporal[K] = 0;
    assert_verdict(f, (sx_verdict){SX_FACTOR_PRODUCT, -1, -1, K, 0, 5});
    f = fixture_new();
    f->mapping.level[0].temporal[K] = 4;
    f->mapping.level[1].temporal[K] = 2;
    assert_int_equal(judge(f).reason, SX_LEGAL);
    assert_false(f->nest.perfect);
    free(f);
}

static void tiles_must_fit(void **state) {
    (void)state;
    fixture *f = fixture_new();
    f->arch.level[0].entries = 11;
    assert_int_equal(judge(f).reason, SX_LEGAL);
    f->arch.level[0].entries = 10;
    assert_verdict(f, (sx_verdict){SX_CAPACITY, 0, A, -1, 11, 10});
    f = fixture_new();
    f->mapping.level[0].keep = 1 << O | 1 << B;
    f->arch.level[0].entries = 5;
    assert_verdict(f, (sx_verdict){SX_CAPACITY, 0, B, -1, 6, 5});
    f = fixture_new();
    f->arch.level[0].entries = 23;
    f->arch.level[0].multiple_buffering = 2;
    assert_int_equal(judge(f).reason, SX_LEGAL);
    f->arch.level[0].entries = 21;
    assert_verdict(f, (sx_verdict){SX_CAPACITY, 0, A, -1, 11, 10});
    f = fixture_new();
    f->arch.level[1].entries = 200;
    f->arch.level[1].min_utilization = 0.6;
    assert_verdict(f, (sx_verdict){SX_UNDERUSED, 1, -1, -1, 118, 120});
}

/* 16 words in 4 banks: 1 + 5 + 5 words take 1 + 2 + 2 of them. */
static void banks_are_shared_out_whole(void **state) {
    (void)state;
    fixture *f = fixture_new();
    f->arch.level[0].entries = 16;
    assert_int_equal(judge(f).reason, SX_LEGAL);
    f->arch.level[0].banks = 4;
    assert_verdict(f, (sx_verdict){SX_CAPACITY, 0, A, -1, 20, 16});
    f = fixture_new();
    f->arch.level[0].entries = 20;
    f->arch.level[0].banks = 5;
    assert_int_equal(judge(f).reason, SX_LEGAL);
    free(f);
}

static void spatial_loops_must_fit_their_meshes(void **state) {
    (void)state;
    fixture *f = fixture_new();
    f->mapping.level[1].split = 3;
    assert_verdict(f, (sx_verdict){SX_MESH_X, 2, -1, -1, 8, 4});
    f = fixture_new();
    f->mapping.level[1].split = 1;
    assert_verdict(f, (sx_verdict){SX_MESH_Y, 2, -1, -1, 8, 2});
    f = fixture_new();
    f->mapping.level[1].spatial[M] = 8;
    f->mapping.level[1].temporal[M] = 1;
    assert_verdict(f, (sx_verdict){SX_INSTANCES, 2, -1, -1, 16, 8});
    f = fixture_new();
    sx_plain_mesh(&f->arch, 0, 8, 8);
    assert_int_equal(judge(f).reason, SX_LEGAL);
    f->arch.level[0].mesh_y = 1;
    f->arch.level[0].instances = 4;
    assert_verdict(f, (sx_verdict){SX_INSTANCES, 0, -1, -1, 8, 4});
    f = fixture_new();
    sx_plain_mesh(&f->arch, 0, 8, 8);
    f->arch.level[0].mesh_x = 2;
    f->arch.level[0].mesh_y = 4;
    assert_verdict(f, (sx_verdict){SX_MESH_X, 0, -1, -1, 4, 2});
    f = fixture_new();
    sx_plain_mesh(&f->arch, 0, 8, 8);
    f->arch.level[0].mesh_x = 8;
    f->arch.level[0].mesh_y = 1;
    assert_verdict(f, (sx_verdict){SX_MESH_Y, 0, -1, -1, 2, 1});
}

static void tensors_need_a_home_that_can_keep_them(void **state) {
    (void)state;
    fixture *f = fixture_new();
    f->mapping.level[0].keep = 1 << A;
    f->mapping.level[1].keep = 1 << A | 1 << O;
    assert_verdict(f, (sx_verdict){SX_NOT_KEPT, -1, B, -1, 0, 0});
    f = fixture_new();
    f->arch.level[0].transparent = true;
    f->mapping.level[0].keep = 1 << A | 1 << B;
    assert_verdict(f, (sx_verdict){SX_KEEP_FORBIDDEN, 0, A, -1, 0, 0});
    f = fixture_new();
    f->arch.level[0].transparent = true;
    f->mapping.level[0].keep = 0;
    assert_int_equal(judge(f).reason, SX_LEGAL);
    free(f);
}

/* The iterations of a loop where all outer loops on its dimension are at their last, by running them. */
static uint32_t last_of(const sx_window *w, const sx_loop *loop) {
    uint32_t left = w->problem.size[loop->dim], last = 0;
    uint64_t around = (uint64_t)loop->step * loop->n;
    while (left > around) left -= (uint32_t)around;
    for (uint64_t at = 0; at < left; at += loop->step) last++;
    return last;
}

/* The steps of the first compute unit in one dimension, from temporal loop i in. */
static uint64_t steps_of(const sx_window *w, int dim, int i, uint64_t at) {
    uint64_t steps = 0;
    while (i >= 0 && w->nest.temporal[i].dim != dim) i--;
    if (at >= w->problem.size[dim]) return 0;
    if (i < 0) return 1;
    const sx_loop *loop = &w->nest.temporal[i];
    for (uint32_t k = 0; k < loop->n; k++) steps += steps_of(w, dim, i - 1, at + (uint64_t)k * loop->step);
    return steps;
}

static void remainders_end_loops_early(void **state) {
    (void)state;
    sx_window *w = malloc(sizeof *w);
    assert_non_null(w);
    for (uint64_t i = 0; i < 10000; i++) {
        sx_rng rng = sx_rng_stream(1, "remainders", i);
        uint64_t cycles = 1;
        sx_random_window(&rng, true, w);
        const sx_nest *nest = &w->nest;
        for (int l = 0; l < nest->n_temporal; l++)
            assert_int_equal(nest->temporal[l].last, last_of(w, &nest->temporal[l]));
        for (int l = 0; l < nest->n_spatial; l++)
            assert_int_equal(nest->spatial[l].last, last_of(w, &nest->spatial[l]));
        for (int d = 0; d < w->problem.n_dims; d++) cycles *= steps_of(w, d, nest->n_temporal - 1, 0);
        assert_true(nest->cycles == cycles);
        for (int v = 0; v < 3; v++)
            for (int s = 0; s < 3; s++) {
                int64_t extent[SX_MAX_RANKS];
                uint64_t words = 1;
                sx_window_extent(w, v, s, extent);
                for (int r = 0; r < w->problem.tensor[v].n_ranks; r++) words *= (uint64_t)extent[r];
                assert_true(nest->tile[v][s] == words);
            }
        sx_window_fini(w);
    }
    free(w);
}

/* Overwrites some of a mapping's bytes, or factors with numbers that overflow when multiplied. */
static void spoil(sx_rng *rng, sx_mapping *m) {
    static const uint32_t huge[] = {0, 1, 2, 65536, 1u << 31, UINT32_MAX, UINT32_MAX / 2, 641, 6700417};
    uint64_t ways = sx_rng_below(rng, 6);
    for (uint64_t i = 0; i < ways; i++) {
        sx_mapping_level *level = &m->level[sx_rng_below(rng, 4)];
        uint64_t d = sx_rng_below(rng, 6);
        uint32_t value = huge[sx_rng_below(rng, sizeof huge / sizeof *huge)];
        switch (sx_rng_below(rng, 4)) {
        case 0:
            level->temporal[d] = value;
            break;
        case 1:
            level->spatial[d] = value;
            break;
        case 2:
            level->temporal_order[d] = (uint8_t)sx_rng_next(rng);
            break;
        default:
            ((uint8_t *)level)[sx_rng_below(rng, sizeof *level)] = (uint8_t)sx_rng_next(rng);
            break;
        }
    }
}

/* A stray entry counts also where it stands for a loop of one iteration, and however it would wrap. */
static void strays_in_orders_are_refused(void **state) {
    (void)state;
    static const uint8_t strays[] = {0, 3, 16, 31, 32, 34, 63, 66, 255};
    sx_problem problem;
    sx_arch arch;
    sx_model *model;
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,n] {m:4,n:6,k:8}", &problem));
    sx_expect_ok(sx_catalog_arch("accel-a", &arch));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    for (size_t i = 0; i < sizeof strays; i++) {
        sx_mapping mapping;
        sx_mapping_init(&mapping, &problem, &arch);
        mapping.level[0].temporal_order[2] = strays[i];
        assert_int_equal(sx_check(model, &mapping).reason, SX_BAD_SHAPE);
        sx_mapping_init(&mapping, &problem, &arch);
        mapping.level[1].spatial_order[2] = strays[i];
        assert_int_equal(sx_check(model, &mapping).reason, SX_BAD_SHAPE);
    }
    sx_model_free(model);
}

static void garbage_is_refused_or_counted_right(void **state) {
    (void)state;
    sx_case *c = malloc(sizeof *c);
    sx_nest *nest = malloc(sizeof *nest);
    assert_non_null(c);
    assert_non_null(nest);
    uint64_t legal = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        sx_rng rng = sx_rng_stream(1, "garbage", i);
        sx_model *model;
        sx_random_case(&rng, SX_CASE_REMAINDER, c);
        if (sx_rng_below(&rng, 20))
            spoil(&rng, &c->mapping);
        else
            for (size_t k = 0; k < sizeof c->mapping; k++)
                ((uint8_t *)&c->mapping)[k] = (uint8_t)sx_rng_next(&rng);
        sx_expect_ok(sx_model_new(&c->problem, &c->arch, NULL, &model));
        if (sx_nest_build(model, &c->mapping, nest).reason == SX_LEGAL) {
            legal++;
            assert_true(nest->n_temporal <= MAX_LOOPS && nest->n_spatial <= MAX_LOOPS);
            for (int d = 0; d < c->problem.n_dims; d++)
                assert_true(sx_mapping_extent(&c->mapping, c->arch.n_levels - 1, d) >= c->problem.size[d]);
        }
        sx_model_free(model);
    }
    sx_expect_compared("spoilt mappings that are legal", legal, 5000);
    free(nest);
    free(c);
}

/* All levels of 16 dimensions with a factor in every slot that can have one. */
static void the_largest_nest_has_room(void **state) {
    (void)state;
    sx_window *w = calloc(1, sizeof *w);
    assert_non_null(w);
    sx_plain_arch(&w->arch, SX_MAX_LEVELS);
    sx_expect_ok(sx_einsum_parse("O[a,b,c,d,e,f,g,h] += A[a,b,c,d,e,f,g,h]*B[i,j,k,l,m,n,o,p] "
                                 "{a:3,b:3,c:3,d:3,e:3,f:3,g:3,h:3,i:3,j:3,k:3,l:3,m:3,n:3,o:3,p:3}",
                                 &w->problem));
    sx_mapping_init(&w->mapping, &w->problem, &w->arch);
    sx_expect_ok(sx_model_new(&w->problem, &w->arch, NULL, &w->model));
    for (int d = 0; d < SX_MAX_DIMS; d++) {
        w->mapping.level[d].temporal[d] = 2;
        w->mapping.level[SX_MAX_LEVELS - 1].temporal[d] = 2;
    }
    assert_int_equal(sx_nest_build(w->model, &w->mapping, &w->nest).reason, SX_LEGAL);
    assert_int_equal(w->nest.n_temporal, 2 * SX_MAX_DIMS);
    for (int s = 0; s < SX_MAX_LEVELS; s++)
        for (int d = 0; d < SX_MAX_DIMS; d++)
            w->mapping.level[s].temporal[d] = w->mapping.level[s].spatial[d] = 2;
    assert_int_equal(sx_nest_build(w->model, &w->mapping, &w->nest).reason, SX_FACTOR_PRODUCT);
    sx_window_fini(w);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_stand_innermost_first),
        cmocka_unit_test(mappings_of_another_shape_are_refused),
        cmocka_unit_test(factors_must_cover_their_dimension_and_no_more),
        cmocka_unit_test(tiles_must_fit),
        cmocka_unit_test(banks_are_shared_out_whole),
        cmocka_unit_test(spatial_loops_must_fit_their_meshes),
        cmocka_unit_test(tensors_need_a_home_that_can_keep_them),
        cmocka_unit_test(remainders_end_loops_early),
        cmocka_unit_test(strays_in_orders_are_refused),
        cmocka_unit_test(garbage_is_refused_or_counted_right),
        cmocka_unit_test(the_largest_nest_has_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
