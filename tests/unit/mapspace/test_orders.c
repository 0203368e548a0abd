/* Order classes: how many there are, and that every order leads to one of them. */
#include "ir/law.h"
#include "mapspace/map_choices.h"
#include "mapspace/map_parts.h"
#include "mapspace/orders.h"
#include "support/expect.h"
#include "support/plain_arch.h"
#include "support/random_case.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MATMUL "O[m,n] += A[m,k]*B[k,n] {m:4,n:4,k:4}"
#define CONV "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:2,k:4,c:4,p:4,q:4,r:3,s:3}"

/* The orders of einsum text. */
static sx_orders *orders_of(const char *einsum, bool remainders, sx_problem *problem) {
    sx_orders *orders;
    sx_expect_ok(sx_einsum_parse(einsum, problem));
    sx_expect_ok(sx_orders_new(problem, remainders, &orders));
    return orders;
}

static void classes_have_known_numbers(void **state) {
    (void)state;
    static const struct {
        const char *einsum;
        uint32_t dims;
        size_t exact, ragged;
    } cases[] = {
        {MATMUL, 7, 3, 6},
        {MATMUL, 3, 2, 2}, /* which of A and B stays */
        {MATMUL, 1, 1, 1},
        {MATMUL, 0, 1, 1},
        {"O[a,b] += A[a,b] {a:4,b:4}", 3, 1, 2},
        {"O[a] += A[a+b] {a:4,b:4}", 3, 2, 2},
        {"O[a] += A[a+b] {a:4,b:1}", 1, 1, 1},
        {"O[a,b,c] += A[a+b+c] {a:4,b:4,c:4}", 7, 6, 6},
        {"O[a,b] += A[a,b]*B[c,d,e] {a:4,b:4,c:4,d:4,e:4}", 31, 8 + 4 - 2, 120},
        {CONV, 127, 345, 5040},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int remainders = 0; remainders < 2; remainders++) {
            sx_problem problem;
            sx_orders *orders = orders_of(cases[i].einsum, remainders, &problem);
            size_t n;
            assert_non_null(sx_orders_classes(orders, cases[i].dims, &n));
            assert_int_equal(n, remainders ? cases[i].ragged : cases[i].exact);
            sx_orders_free(orders);
        }
    sx_orders_free(NULL);
}

/* The next permutation of n numbers in lexicographic order; false after the last. */
static bool next_order(uint8_t *order, int n) {
    int i = n - 2, j = n - 1;
    while (i >= 0 && order[i] > order[i + 1]) i--;
    if (i < 0) return false;
    while (order[j] < order[i]) j--;
    uint8_t swap = order[i];
    order[i] = order[j];
    order[j] = swap;
    for (i++, j = n - 1; i < j; i++, j--) {
        swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    return true;
}

/* Whether a class comes before another. */
static int compare(const void *a, const void *b) {
    return memcmp(a, b, SX_MAX_DIMS);
}

static void every_order_has_a_class(void **state) {
    (void)state;
    static const struct {
        const char *einsum;
        uint32_t dims;
    } cases[] = {{CONV, 127}, {CONV, 0x5b}, {CONV, 0x36},
                 {MATMUL, 7}, {MATMUL, 5},  {"O[a,a] += A[a+2*b,c]*B[c,c-d]*C[b,d,a] {a:3,b:4,c:5,d:2}", 15}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_problem problem;
        sx_orders *orders = orders_of(cases[i].einsum, false, &problem);
        size_t n, seen = 0;
        const uint8_t(*classes)[SX_MAX_DIMS] = sx_orders_classes(orders, cases[i].dims, &n);
        bool *found = calloc(n, sizeof *found);
        uint8_t order[SX_MAX_DIMS] = {0, 1, 2, 3, 4, 5, 6};
        do {
            uint8_t least[SX_MAX_DIMS] = {0}, again[SX_MAX_DIMS];
            memcpy(least, order, problem.n_dims);
            sx_orders_canonical(orders, cases[i].dims, least);
            memcpy(again, least, sizeof again);
            sx_orders_canonical(orders, cases[i].dims, again);
            assert_memory_equal(again, least, sizeof again);
            const uint8_t(*at)[SX_MAX_DIMS] = bsearch(least, classes, n, sizeof *classes, compare);
            assert_non_null(at);
            seen += !found[at - classes];
            found[at - classes] = true;
        } while (next_order(order, problem.n_dims));
        assert_int_equal(seen, n);
        free(found);
        sx_orders_free(orders);
    }
}

/* Whether an order's dimensions come in the rule's runs. */
static bool obeys(const sx_order_rule *rule, uint32_t dims, const uint8_t *order) {
    int last = 0;
    for (int i = 0; i < 7; i++) {
        if (!(dims >> order[i] & 1)) continue;
        int run = 0;
        while (!(rule->run[run] >> order[i] & 1)) run++;
        if (run < last) return false;
        last = run;
    }
    return true;
}

static void rules_leave_classes_with_orders_that_obey(void **state) {
    (void)state;
    static const struct {
        uint32_t dims;
        sx_order_rule rule;
    } cases[] = {{127, {3, {1, 0x7c, 2}}},        {127, {1, {127}}},
                 {0x5b, {3, {0x10, 0x2f, 0x40}}}, {127, {7, {64, 32, 16, 8, 4, 2, 1}}},
                 {0x36, {2, {0x33, 0x4c}}},       {127, {4, {3, 4, 0x18, 0x60}}}};
    sx_problem problem;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const sx_order_rule *rule = &cases[i / 2].rule;
        uint32_t dims = cases[i / 2].dims;
        sx_orders *orders = orders_of(CONV, i % 2, &problem);
        size_t n, n_classes, seen = 0;
        const uint8_t(*classes)[SX_MAX_DIMS] = sx_orders_classes(orders, dims, &n_classes);
        bool *found = calloc(n_classes, sizeof *found);
        uint8_t order[SX_MAX_DIMS] = {0, 1, 2, 3, 4, 5, 6};
        do {
            uint8_t least[SX_MAX_DIMS] = {0};
            memcpy(least, order, problem.n_dims);
            if (!obeys(rule, dims, order)) continue;
            sx_orders_canonical(orders, dims, least);
            const uint8_t(*at)[SX_MAX_DIMS] = bsearch(least, classes, n_classes, sizeof *classes, compare);
            assert_non_null(at);
            seen += !found[at - classes];
            found[at - classes] = true;
        } while (next_order(order, problem.n_dims));
        uint8_t(*under)[SX_MAX_DIMS] = sx_orders_under(orders, rule, dims, &n);
        assert_int_equal(n, seen);
        for (size_t j = 0; j < n; j++) {
            assert_true(obeys(rule, dims, under[j]));
            sx_orders_canonical(orders, dims, under[j]);
            const uint8_t(*at)[SX_MAX_DIMS] = bsearch(under[j], classes, n_classes, sizeof *classes, compare);
            assert_true(found[at - classes]);
            found[at - classes] = false;
        }
        free(under);
        free(found);
        sx_orders_free(orders);
    }
}

static void too_many_classes_are_none(void **state) {
    (void)state;
    sx_problem problem;
    sx_orders *orders = orders_of("O[a] += A[a,b,c,d,e,f,g,h,i,j,k] "
                                  "{a:2,b:2,c:2,d:2,e:2,f:2,g:2,h:2,i:2,j:2,k:2}",
                                  true, &problem);
    size_t n;
    for (int again = 0; again < 2; again++) {
        assert_null(sx_orders_classes(orders, 0x7ff, &n));
        assert_int_equal(n, 1 << 22);
    }
    sx_status failure = sx_orders_failure(n);
    assert_int_equal(failure->code, SX_ERR_LIMIT);
    assert_string_equal(failure->message, "a level has more than 4194304 loop orders to tell apart");
    sx_status_free(failure);
    failure = sx_orders_failure(0);
    assert_int_equal(failure->code, SX_ERR_MEMORY);
    assert_non_null(sx_orders_classes(orders, 0x1f, &n));
    assert_int_equal(n, 120);
    sx_orders_free(orders);
}

static void classes_are_counted_without_a_list(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 400; i++) {
        sx_rng rng = sx_rng_stream(1, "orders.count", i);
        sx_case c;
        sx_orders *orders;
        sx_random_case(&rng, i % 2 ? SX_CASE_PLAIN : 0, &c);
        sx_expect_ok(sx_orders_new(&c.problem, i % 16 == 0, &orders));
        uint32_t dims = (uint32_t)sx_rng_below(&rng, 1u << c.problem.n_dims);
        sx_order_rule rule = {.n_runs = 2, .run = {(uint32_t)sx_rng_below(&rng, 32), 0}};
        rule.run[1] = ~rule.run[0];
        size_t n_any, n_ruled;
        assert_non_null(sx_orders_classes(orders, dims, &n_any));
        uint8_t(*under)[SX_MAX_DIMS] = sx_orders_under(orders, &rule, dims, &n_ruled);
        assert_true(sx_orders_count(orders, NULL, dims, n_any) == (double)n_any);
        assert_true(sx_orders_count(orders, &rule, dims, n_ruled) == (double)n_ruled);
        double less = sx_orders_count(orders, NULL, dims, n_any - 1), sum = 0;
        assert_true(less == 0 || less == (double)n_any);
        for (int j = 0; j < 4000; j++) sum += sx_orders_probe(orders, &rule, dims, &rng) / 4000;
        assert_true(sum > 0.85 * (double)n_ruled && sum < 1.15 * (double)n_ruled);
        free(under);
        sx_orders_free(orders);
    }
}

static void many_classes_have_a_formula(void **state) {
    (void)state;
    sx_problem problem;
    sx_orders *orders = orders_of("O[a,b,c,d,e,f,g] += A[a,b,c,d,e,f,g]*B[h,i,j,k,l,m,n] "
                                  "{a:2,b:2,c:2,d:2,e:2,f:2,g:2,h:2,i:2,j:2,k:2,l:2,m:2,n:2}",
                                  false, &problem);
    assert_true(sx_orders_count(orders, NULL, 0x3fff, 0) == 2 * (128 - 1));
    sx_orders_free(orders);
}

/* Asks for the classes of every set. */
static void *ask(void *user) {
    size_t n, sum = 0;
    for (uint32_t dims = 0; dims < 128; dims++) {
        if (!sx_orders_classes(user, dims, &n)) return NULL;
        sum += n;
    }
    return sum > 0 ? user : NULL;
}

static void threads_share_classes(void **state) {
    (void)state;
    sx_problem problem;
    sx_orders *orders = orders_of(CONV, false, &problem);
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&thread[i], NULL, ask, orders), 0);
    for (int i = 0; i < 4; i++) {
        void *answer;
        assert_int_equal(pthread_join(thread[i], &answer), 0);
        assert_ptr_equal(answer, orders);
    }
    sx_orders_free(orders);
}

/* Orders at the innermost level have no effect, but with spatial loops whose children may help each other, zeros, or caches. */
static void inner_orders_matter_sometimes(void **state) {
    (void)state;
    sx_arch arch, cached;
    sx_problem problem;
    sx_expect_ok(sx_einsum_parse(MATMUL, &problem));
    sx_plain_arch(&arch, 2);
    cached = arch;
    cached.n_laws = cached.level[1].law = 1;
    sx_law_init(&cached.law[0]);
    cached.law[0].n_caches = 1;
    cached.law[0].cache[0] = (sx_law_cache){128, 2, 5};
    for (int i = 0; i < 3; i++) {
        const sx_model_options options = {.no_link_transfers = i == 1, .latency_tile = i == 2};
        sx_model *model;
        sx_space *space;
        sx_expect_ok(sx_model_new(&problem, i == 2 ? &cached : &arch, &options, &model));
        sx_expect_ok(sx_map_space_new(model, NULL, NULL, &space));
        const sx_map_space *map = sx_map_space_of(space);
        assert_true(sx_map_order_matters(map, 1, false));
        assert_int_equal(sx_map_order_matters(map, 0, true), i != 1);
        assert_int_equal(sx_map_order_matters(map, 0, false), i == 2);
        sx_space_free(space);
        sx_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inner_orders_matter_sometimes),
        cmocka_unit_test(classes_have_known_numbers),
        cmocka_unit_test(every_order_has_a_class),
        cmocka_unit_test(rules_leave_classes_with_orders_that_obey),
        cmocka_unit_test(too_many_classes_are_none),
        cmocka_unit_test(classes_are_counted_without_a_list),
        cmocka_unit_test(many_classes_have_a_formula),
        cmocka_unit_test(threads_share_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
