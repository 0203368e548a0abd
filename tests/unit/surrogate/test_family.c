/* Families of problems: reading, drawing, and einsums that are the same. */
#include "support/expect.h"
#include "surrogate/family.h"
#include "surrogate/match.h"
#include "surrogate/rank.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static sx_status parse(const char *text, sx_family *out) {
    return sx_family_parse("f.yaml", text, strlen(text), out);
}

static void draws_are_in_the_ranges(void **state) {
    (void)state;
    sx_family *family = calloc(1, sizeof *family);
    sx_rng rng = sx_rng_stream(1, "test", 0);
    bool three = false, large = false;
    sx_expect_ok(sx_family_load("conv2d", family));
    assert_int_equal(family->problem.n_dims, 7);
    for (int i = 0; i < 3000; i++) {
        sx_problem p;
        sx_family_draw(family, &rng, &p);
        const uint32_t *size = p.size; /* R S P Q C K N */
        assert_true(size[0] % 2 == 1 && size[0] <= 7 && size[1] == size[0]);
        assert_true(size[2] >= 7 && size[2] <= 223 && size[3] == size[2]);
        assert_true(size[4] == 3 || (size[4] % 32 == 0 && size[4] <= 480));
        assert_true(size[5] % 32 == 0 && size[5] >= 32 && size[5] <= 480);
        assert_true(size[6] <= 16 && (size[6] & (size[6] - 1)) == 0);
        three |= size[4] == 3;
        large |= size[4] == 480 && size[2] > 200;
    }
    assert_true(three && large);
    free(family);
}

static void texts_tell_families_apart(void **state) {
    (void)state;
    sx_family *family = calloc(1, sizeof *family);
    char *text;
    sx_expect_ok(
        parse("family: {name: f, einsum: 'O[a] += I[a,b]', ranges: {a: [1, 8..32/8], b: a}}", family));
    sx_expect_ok(sx_family_text(family, &text));
    assert_string_equal(text, "O[a] += I[a,b] {a: 1, 8..32/8; b: a}");
    assert_string_equal(family->name, "f");
    assert_int_equal(family->problem.size[1], 32);
    free(text);
    free(family);
}

static void bad_families_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"family: {einsum: 'O[a] += I[a]', ranges: {a: 9..3}}", "no size is in the range 9..3"},
        {"family: {einsum: 'O[a] += I[a]', ranges: {a: 0..3}}", "sizes are from 1"},
        {"family: {einsum: 'O[a] += I[a]', ranges: {a: 1..9/0}}", "steps at least 1"},
        {"family: {einsum: 'O[a] += I[a]', ranges: {a: x}}", "'x' is not a size"},
        {"family: {einsum: 'O[a] += I[a]', ranges: {a: []}}", "a has no sizes"},
        {"family: {einsum: 'O[a] += I[b]', ranges: {a: 3}}", "b"},
        {"family: {einsum: 'O[a] += I[a]', ranges: {a: 3}, range: 1}", "range"},
        {"family: {einsum: 'O[a,b] += I[a,b]', ranges: {a: 2, b: [3, a]}}", "either sizes of its own"},
        {"family: {einsum: 'O[a,b,c] += I[a,b,c]', ranges: {a: 2000000000, b: a, c: a}}", "2^62"},
        {"famly: {}", "unknown key of a file of a family: 'famly'"},
        {"family: {}\n---\nfamily: {}", "second family"},
        {"", "no family given"},
    };
    sx_family *family = calloc(1, sizeof *family);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        sx_expect_error(parse(bad[i].text, family), bad[i].why);
    sx_expect_error(sx_family_load("conv2", family), "did you mean conv2d?");
    free(family);
}

static bool match(const char *a, const char *b, sx_match *out) {
    sx_problem p, q;
    sx_expect_ok(sx_einsum_parse(a, &p));
    sx_expect_ok(sx_einsum_parse(b, &q));
    return sx_problem_match(&p, &q, out);
}

static void equal_einsums_match_whatever_their_order(void **state) {
    (void)state;
    sx_match m;
    const char *conv = "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:2,c:3,k:4,r:3,s:3,p:5,q:6}";
    assert_true(match(conv, "Y[K,N,Q,P] += F[C,K,S,R]*X[N,Q+S,C,P+R] {R:1,S:1,P:7,Q:7,C:3,K:2,N:1}", &m));
    assert_int_equal(m.dim[0], 6);
    assert_int_equal(m.dim[1], 4);
    assert_int_equal(m.dim[2], 5);
    assert_int_equal(m.tensor[1], 2);
    assert_true((m.dim[3] == 0) == (m.dim[5] == 2)); /* R goes with P */
    assert_false(match(conv, "O[n,k,p,q] += I[n,c,2*p+r,q+s]*W[k,c,r,s] {n:2,c:3,k:4,r:3,s:3,p:5,q:6}", &m));
    assert_false(match(conv, "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,s,r,n] {n:2,c:3,k:4,r:3,s:3,p:5,q:6}", &m));
    assert_false(match(conv, "O[m,n] += A[m,k]*B[k,n] {m:2,n:2,k:2}", &m));
    assert_true(match("O[m,n] += A[m,k]*B[k,n] {m:2,n:3,k:4}", "O[m,n] += A[m,k]*B[k,n] {k:2,n:3,m:4}", &m));
    assert_int_equal(m.dim[0], 2);
    assert_int_equal(m.dim[2], 0);
}

static void ranks_are_spearmans(void **state) {
    (void)state;
    const double up[] = {1, 2, 3, 4, 5}, down[] = {9, 7, 5, 3, 1}, ties[] = {1, 1, 2, 2, 3},
                 flat[] = {1, 1, 1, 1, 1};
    double r;
    sx_expect_ok(sx_rank_correlation(up, up, 5, &r));
    assert_true(r == 1);
    sx_expect_ok(sx_rank_correlation(up, down, 5, &r));
    assert_true(r == -1);
    sx_expect_ok(sx_rank_correlation(up, ties, 5, &r));
    assert_true(fabs(r - 9 / sqrt(90)) < 1e-12);
    sx_expect_ok(sx_rank_correlation(up, flat, 5, &r));
    assert_true(r == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_in_the_ranges),
        cmocka_unit_test(texts_tell_families_apart),
        cmocka_unit_test(bad_families_are_refused),
        cmocka_unit_test(equal_einsums_match_whatever_their_order),
        cmocka_unit_test(ranks_are_spearmans),
    };
    return cmocka_run_group_tests_name("family", tests, NULL, NULL);
}
