/* The account of a map space's size: published figures, and small spaces counted point by point. */
#include "mapspace/map_choices.h"
#include "space/cardinal.h"
#include "support/expect.h"
#include "support/plain_arch.h"
#include "support/random_space.h"
#include "support/sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The line of an account, which must be there. */
static sx_size line(const sx_space *space, const char *name) {
    sx_size size;
    for (size_t i = 0; sx_space_size(space, i, &size); i++)
        if (strcmp(size.name, name) == 0) return size;
    fail_msg("no line '%s'", name);
    return size;
}

/* The map space of a problem and an architecture of the catalog. */
static sx_space *catalog_space(const char *problem_name, const char *arch_name, bool remainders,
                               sx_model **model) {
    sx_problem problem;
    sx_arch arch;
    sx_space *space;
    sx_map_space_options options = {.remainders = remainders};
    sx_expect_ok(sx_catalog_problem(problem_name, &problem));
    sx_expect_ok(sx_catalog_arch(arch_name, &arch));
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, model));
    sx_expect_ok(sx_map_space_new(*model, NULL, &options, &space));
    return space;
}

static void mind_mappings_size_is_as_published(void **state) {
    (void)state;
    static const struct {
        const char *name, *count;
    } lines[] = {{"factors", "3902976000"},
                 {"orders", "128024064000"},
                 {"banks", "11025"},
                 {"raw", "5.5e24"},
                 {"unit-loops", "7.8e17"},
                 {"order-classes", "6.4e15"},
                 {"bank-masks", "37291649253120"}};
    sx_model *model;
    sx_space *space = catalog_space("resnet-conv4", "mind-mappings", false, &model);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[64];
        sx_size size = line(space, lines[i].name);
        sx_cardinal_text(&size.count, text, sizeof text);
        assert_string_equal(text, lines[i].count);
        assert_true(size.count.exact && size.error == 0);
        assert_int_equal(size.component, i < 3);
    }
    sx_space_free(space);
    sx_model_free(model);
}

/* A level that takes the rest of a dimension leaves nothing to those outside of it. */
static void the_rest_is_taken_once(void **state) {
    (void)state;
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_constraints limits;
    sx_model *model;
    sx_space *space;
    char text[64];
    sx_plain_arch(&arch, 3);
    sx_plain_problem("O[m] += A[m]*B[m] {m:8}", &arch, &problem, &mapping);
    sx_constraints_init(&limits, &problem, &arch);
    limits.level[1].temporal.rest[0] = true;
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_map_space_new(model, &limits, &(sx_map_space_options){0}, &space));
    sx_size factors = line(space, "factors");
    sx_cardinal_text(&factors.count, text, sizeof text);
    assert_string_equal(text, "4"); /* 1, 2, 4 or 8 in the level inside */
    sx_space_free(space);
    sx_model_free(model);
}

static void large_sizes_are_estimated(void **state) {
    (void)state;
    for (int remainders = 0; remainders < 2; remainders++) {
        sx_model *model;
        sx_space *space = catalog_space("resnet-conv4", "simba", remainders, &model);
        sx_size raw = line(space, "raw"), array = line(space, "array"), units = line(space, "unit-loops");
        sx_size classes = line(space, "order-classes");
        assert_false(raw.count.exact);
        assert_true(raw.error == 0 && units.error > 0 && units.error < 0.02);
        assert_true(classes.error > 0 && classes.error < 0.02);
        assert_true(raw.count.log10 > array.count.log10 && array.count.log10 > units.count.log10);
        assert_true(units.count.log10 > classes.count.log10);
        sx_space_free(space);
        sx_model_free(model);
    }
}

static void deep_spaces_are_estimated(void **state) {
    (void)state;
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_model *model;
    sx_space *space;
    sx_plain_arch(&arch, 16);
    sx_plain_problem("O[a,b] += A[a]*B[b] {a:2,b:3}", &arch, &problem, &mapping);
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_map_space_new(model, NULL, &(sx_map_space_options){.keep_all = true}, &space));
    sx_size units = line(space, "unit-loops"), classes = line(space, "order-classes");
    assert_true(units.error > 0 && units.error < 0.01);
    assert_true(fabs(units.count.log10 - log2(16 * 16 + 16) * 0.30102999566398120) < 5 * units.error);
    assert_true(classes.count.log10 > 2.4 && classes.count.log10 < units.count.log10 + 0.01);
    sx_space_free(space);
    sx_model_free(model);
}

static void sixteen_dimensions_are_counted_soon(void **state) {
    (void)state;
    static const char *const problems[] = {
        "O[a,b,c,d,e,f,g,h] += A[a,b,c,d,i,j,k,l]*B[e,f,g,h,i,j,k,l,m,n,o,p] "
        "{a:4,b:4,c:4,d:4,e:4,f:4,g:4,h:4,i:4,j:4,k:4,l:4,m:2,n:2,o:2,p:2}",
        "O[a,b,c,d,e,f,g,h] += A[a+i,b+j,c+k,d+l,m+n,o+p]*B[e,f,g,h,i,j,k,l,m,n,o,p] "
        "{a:4,b:4,c:4,d:4,e:4,f:4,g:4,h:4,i:4,j:4,k:4,l:4,m:2,n:2,o:2,p:2}"};
    static const double log10_of_classes[] = {19.03, 26.79};
    sx_arch arch;
    sx_expect_ok(sx_catalog_arch("accel-a", &arch));
    for (int i = 0; i < (SX_SANITIZED ? 1 : 2); i++) {
        sx_problem problem;
        sx_model *model;
        sx_space *space;
        sx_expect_ok(sx_einsum_parse(problems[i], &problem));
        sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
        sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
        sx_size classes = line(space, "order-classes");
        assert_true(classes.error > 0 && classes.error < 0.02);
        assert_true(fabs(classes.count.log10 - log10_of_classes[i]) < 0.02);
        sx_space_free(space);
        sx_model_free(model);
    }
}

/* Points in the order of their bytes. */
static size_t compared_bytes;
static int compare_points(const void *a, const void *b) {
    return memcmp(a, b, compared_bytes);
}

/* How many of n points, `size` bytes each, differ. */
static size_t count_different(unsigned char *points, size_t n, size_t size) {
    compared_bytes = size;
    qsort(points, n, size, compare_points);
    size_t different = n > 0;
    for (size_t i = 1; i < n; i++) different += memcmp(points + (i - 1) * size, points + i * size, size) != 0;
    return different;
}

/* The dimensions with factors beyond 1. */
static uint32_t loops(const uint32_t *factor, int n_dims) {
    uint32_t mask = 0;
    for (int d = 0; d < n_dims; d++) mask |= (uint32_t)(factor[d] > 1) << d;
    return mask;
}

/* Puts the orders of a point into one form per class. */
static void forget_orders(const sx_map_space *map, void *point) {
    int n_dims = map->problem->n_dims;
    bool spread = loops(sx_map_level(point, 0)->spatial, n_dims) != 0;
    for (int s = 0; s < map->arch->n_levels; s++) {
        sx_mapping_level *at = sx_map_level(point, s);
        if (sx_map_order_matters(map, s, spread))
            sx_orders_canonical(map->orders, loops(at->temporal, n_dims), at->temporal_order);
        else
            memset(at->temporal_order, 0, sizeof at->temporal_order);
    }
}

static void small_spaces_are_counted_right(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 400; i++) {
        sx_rng rng = sx_rng_stream(1, "map-size", i);
        sx_small_space small;
        sx_random_space(&rng, 3000, &small);
        size_t size = sx_space_point_size(small.space);
        unsigned char *points = malloc(small.n * size);
        for (uint64_t j = 0; j < small.n; j++) {
            sx_cardinal index = sx_cardinal_of(j);
            assert_true(sx_space_at(small.space, &index, points + j * size));
        }
        const sx_size array = line(small.space, "array"), units = line(small.space, "unit-loops");
        const sx_size classes = line(small.space, "order-classes");
        assert_true(sx_cardinal_u128(array.count) == small.n);
        size_t different = count_different(points, small.n, size);
        if (sx_cardinal_u128(units.count) != different) {
            char *text = sx_small_space_text(&small);
            print_error("case %llu: %zu different points, not %llu\n%s\n", (unsigned long long)i, different,
                        (unsigned long long)units.count.low, text);
            free(text);
            fail();
        }
        for (uint64_t j = 0; j < small.n; j++) forget_orders(small.map, points + j * size);
        assert_true(sx_cardinal_u128(classes.count) == count_different(points, small.n, size));
        free(points);
        sx_small_space_fini(&small);
    }
}

static void cardinals_multiply(void **state) {
    (void)state;
    sx_cardinal big = sx_cardinal_of((sx_u128)1 << 100), none = sx_cardinal_of(0);
    sx_cardinal square = sx_cardinal_times(big, big), small = sx_cardinal_times(big, sx_cardinal_of(3));
    assert_false(square.exact);
    assert_true(fabs(square.log10 - 200 * log2(2) * 0.30102999566398120) < 1e-9);
    assert_true(small.exact && sx_cardinal_u128(small) == (sx_u128)3 << 100);
    assert_true(sx_cardinal_times(square, none).exact && isinf(sx_cardinal_times(square, none).log10));
    assert_true(fabs(sx_cardinal_about(1000).log10 - 3) < 1e-12);
    assert_false(sx_cardinal_near(3).exact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mind_mappings_size_is_as_published),
        cmocka_unit_test(the_rest_is_taken_once),
        cmocka_unit_test(large_sizes_are_estimated),
        cmocka_unit_test(deep_spaces_are_estimated),
        cmocka_unit_test(sixteen_dimensions_are_counted_soon),
        cmocka_unit_test(small_spaces_are_counted_right),
        cmocka_unit_test(cardinals_multiply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
