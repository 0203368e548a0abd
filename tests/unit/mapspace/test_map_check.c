/* Which bytes are points of a map space, and why others and illegal ones are not. */
#include "support/expect.h"
#include "support/plain_arch.h"

#include "mapspace/map_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { M, N, K };
enum { O, A, B };

/* A matrix product on three levels, the middle one over 4 x 2 children and in four banks of eight words. */
typedef struct world {
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_constraints limits;
    sx_model *model;
    sx_space *space;
    const sx_map_space *map;
    void *point;
} world;

/* Opens the world, with a point of four units in m that keeps all tensors. */
static void begin(world *w, unsigned must_keep) {
    const sx_map_space_options options = {0};
    memset(w, 0, sizeof *w);
    sx_plain_arch(&w->arch, 3);
    sx_plain_mesh(&w->arch, 1, 4, 2);
    w->arch.level[1].entries = 32;
    w->arch.level[1].banks = 4;
    sx_plain_problem("O[m,n] += A[m,k]*B[k,n] {m:8,n:6,k:4}", &w->arch, &w->problem, &w->mapping);
    sx_constraints_init(&w->limits, &w->problem, &w->arch);
    w->limits.level[1].must_keep = (uint8_t)must_keep;
    sx_expect_ok(sx_model_new(&w->problem, &w->arch, NULL, &w->model));
    sx_expect_ok(sx_map_space_new(w->model, &w->limits, &options, &w->space));
    w->map = sx_map_space_of(w->space);
    w->point = malloc(sx_space_point_size(w->space));
    assert_non_null(w->point);
    sx_mapping_init(&w->mapping, &w->problem, &w->arch);
    w->mapping.level[1].spatial[M] = 4;
    w->mapping.level[1].split = 1;
    w->mapping.level[2].temporal[M] = 2;
    sx_map_space_point(w->space, &w->mapping, w->point);
    memcpy(sx_map_banks(w->map, w->point, 1), (uint8_t[3]){[O] = 1, [A] = 2, [B] = 1}, 3);
    sx_map_normalize(w->map, w->point);
}

static void end(world *w) {
    free(w->point);
    sx_space_free(w->space);
    sx_model_free(w->model);
}

/* Asserts that a point with a byte changed is none of the space. */
static void expect_none(const world *w, const char *what, const void *field, uint8_t value) {
    size_t size = sx_space_point_size(w->space), at = (size_t)((const char *)field - (const char *)w->point);
    uint8_t *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, w->point, size);
    assert_true(at < size && copy[at] != value);
    copy[at] = value;
    if (sx_map_holds(w->space, copy)) fail_msg("%s", what);
    free(copy);
}

static void bytes_that_are_no_points(void **state) {
    (void)state;
    world w;
    begin(&w, 0);
    assert_true(sx_map_holds(w.space, w.point));
    sx_mapping *m = w.point;
    sx_mapping_level *at = &m->level[1];
    uint8_t *banks = sx_map_banks(w.map, w.point, 1);
    expect_none(&w, "another number of levels", &m->n_levels, 2);
    expect_none(&w, "another number of dimensions", &m->n_dims, 2);
    expect_none(&w, "a dimension twice in a temporal order", &at->temporal_order[0], at->temporal_order[1]);
    expect_none(&w, "a dimension twice in a spatial order", &at->spatial_order[0], at->spatial_order[1]);
    expect_none(&w, "a dimension that there is not", &at->temporal_order[2], 3);
    expect_none(&w, "more on X than dimensions", &at->split, 4);
    expect_none(&w, "a loop of one iteration on X", &at->split, 2);
    expect_none(&w, "a tensor that there is not", &at->keep, 15);
    expect_none(&w, "not what its banks hold", &at->keep, at->keep & 6);
    expect_none(&w, "units below a level without", &m->level[0].spatial[M], 2);
    expect_none(&w, "more iterations than the problem", &m->level[2].temporal[M], 4);
    expect_none(&w, "no iteration", &m->level[2].temporal[M], 0);
    expect_none(&w, "a bank fewer", &banks[A], 1);
    expect_none(&w, "a bank more", &banks[A], 3);
    expect_none(&w, "no bank", &banks[O], 0);
    expect_none(&w, "a bank of no tensor", &banks[3], 1);
    expect_none(&w, "iterations of a dimension that there is not", &at->temporal[3], 2);
    expect_none(&w, "units of a dimension that there is not", &at->spatial[3], 2);
    expect_none(&w, "an order of such a one", &at->temporal_order[3], 9);
    expect_none(&w, "a spatial order of such a one", &at->spatial_order[3], 9);
    expect_none(&w, "no temporal reuse", &at->no_temporal_reuse, 1);
    expect_none(&w, "no multicast", &at->no_multicast, 1);
    end(&w);
}

/* Loops of one iteration stand behind others, in the order of the dimensions. */
static void orders_that_are_not_normal(void **state) {
    (void)state;
    world w;
    begin(&w, 0);
    sx_mapping_level *at = &((sx_mapping *)w.point)->level[2];
    uint8_t first = at->temporal_order[1], second = at->temporal_order[2];
    assert_true(sx_map_holds(w.space, w.point));
    at->temporal_order[1] = second;
    at->temporal_order[2] = first;
    sx_mapping_level *inner = &((sx_mapping *)w.point)->level[0];
    assert_true(sx_map_holds(w.space, w.point)); /* n and k have loops there */
    first = inner->temporal_order[1];
    inner->temporal_order[1] = inner->temporal_order[2];
    inner->temporal_order[2] = first;
    assert_false(sx_map_holds(w.space, w.point));
    end(&w);
}

/* Where spatial loops of a mapping have no room. */
static void fan_outs_are_explained(void **state) {
    (void)state;
    world w;
    char text[200] = "";
    begin(&w, 0);
    sx_mapping m = w.mapping;
    assert_false(sx_map_explain_fanout(w.map, &m, text, sizeof text));
    m.level[1].spatial[M] = 8;
    assert_true(sx_map_explain_fanout(w.map, &m, text, sizeof text));
    assert_string_equal(text, "L1: spatial loops spread over 8 in X, but one instance has 4 children there");
    m.level[1].spatial[M] = 4;
    m.level[1].spatial[N] = 3;
    assert_true(sx_map_explain_fanout(w.map, &m, text, sizeof text));
    assert_string_equal(text, "L1: spatial loops spread over 3 in Y, but one instance has 2 children there");
    m = w.mapping;
    m.level[0].spatial[N] = 2;
    assert_true(sx_map_explain_fanout(w.map, &m, text, sizeof text));
    assert_string_equal(text, "L0: spatial loops spread over 2 in Y, but one instance has 1 child there");
    end(&w);
}

/* Of equal shares, the first tensors get the banks that are left over. */
static void equal_shares_of_banks(void **state) {
    (void)state;
    world w;
    begin(&w, 0);
    size_t n = sx_space_n_values(w.space);
    double *values = calloc(n, sizeof *values);
    assert_non_null(values);
    sx_space_encode(w.space, w.point, values);
    for (size_t i = n - 3; i < n; i++) values[i] = 1.0 / 3;
    sx_map_decode_levels(w.map, values, w.point);
    assert_memory_equal(sx_map_banks(w.map, w.point, 1), ((uint8_t[3]){[O] = 2, [A] = 1, [B] = 1}), 3);
    free(values);
    end(&w);
}

/* Shares of banks count where a tensor must be kept: they make a point illegal, and another one. */
static void banks_of_what_must_be_kept(void **state) {
    (void)state;
    for (unsigned must = 0; must < 2; must++) {
        world w;
        char text[200] = "";
        uint64_t before[2], after[2];
        begin(&w, must ? 1 << A : 0);
        const sx_point_model *model = sx_space_model(w.space);
        ((sx_mapping *)w.point)->level[1].temporal[K] = 4;
        ((sx_mapping *)w.point)->level[2].temporal[K] = 1;
        sx_map_normalize(w.map, w.point); /* 16 words of A in two banks of eight */
        assert_int_equal(w.space->type->check(w.space, w.point), 0);
        model->type->key(model, w.point, before);
        memcpy(sx_map_banks(w.map, w.point, 1), (uint8_t[3]){[O] = 2, [A] = 1, [B] = 1}, 3);
        model->type->key(model, w.point, after);
        assert_int_equal(before[0] != after[0], must);
        assert_int_equal(before[1] != after[1], must);
        sx_map_normalize(w.map, w.point);
        unsigned reason = w.space->type->check(w.space, w.point);
        assert_int_equal(reason, must ? SX_MAP_BANK_SHARE : 0);
        if (must) {
            assert_string_equal(w.space->type->reason(w.space, reason), "bank-share");
            w.space->type->explain(w.space, w.point, text, sizeof text);
            assert_string_equal(text, "L1: A must be kept here, but 16 words are more than its banks hold");
        }
        end(&w);
    }
}

static void reasons_have_names(void **state) {
    (void)state;
    assert_string_equal(sx_map_reason(NULL, SX_MAP_CONSTRAINT), "constraint");
    assert_string_equal(sx_map_reason(NULL, SX_MAP_BANK_SHARE), "bank-share");
    assert_string_equal(sx_map_reason(NULL, SX_MAP_FANOUT), "fan-out");
    assert_string_equal(sx_map_reason(NULL, SX_CAPACITY), "capacity");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_that_are_no_points), cmocka_unit_test(orders_that_are_not_normal),
        cmocka_unit_test(fan_outs_are_explained),   cmocka_unit_test(banks_of_what_must_be_kept),
        cmocka_unit_test(reasons_have_names),       cmocka_unit_test(equal_shares_of_banks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
