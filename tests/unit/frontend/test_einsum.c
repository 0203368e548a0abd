#include "sextant/input.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void a_convolution_is_read(void **state) {
    (void)state;
    sx_problem p;
    sx_expect_ok(sx_einsum_parse(
        "O[n,k,p,q] += I[n,c,2*p+r, s + q*2 ] * W[k,c,r,s] {n:1,k:4,c:3,p:5,q:6,r:3,s:2}", &p));
    assert_int_equal(p.n_dims, 7);
    assert_int_equal(p.n_tensors, 3);
    assert_string_equal(p.dim_name[1], "k");
    assert_int_equal(p.size[4], 6);
    assert_string_equal(p.tensor[0].name, "O");
    assert_true(p.tensor[0].output);
    assert_false(p.tensor[1].output);
    assert_int_equal(p.tensor[1].n_ranks, 4);
    assert_int_equal(p.tensor[1].coef[2][3], 2);
    assert_int_equal(p.tensor[1].coef[2][5], 1);
    assert_int_equal(p.tensor[1].coef[3][4], 2);
    assert_int_equal(p.tensor[1].coef[3][0], 0);
    assert_int_equal(p.name[0], 0);
}

static void other_spellings_are_read(void **state) {
    (void)state;
    static const char *const same[] = {
        "Out_1[i0] += A[i0+j] {i0:4,j:2}",
        "  Out_1 [ i0 ]  =  A [ 1*i0 + j*1 ]\n { i0 = 4 , j : 2 }  ",
        "Out_1[i0]=A[2*2*i0 - 3*i0 + j]{i0:4,j:2}",
        "Out_1[i0]=A[-3*i0+j+i0*4]{i0:4,j:2}",
    };
    sx_problem first, p;
    sx_expect_ok(sx_einsum_parse(same[0], &first));
    for (size_t i = 1; i < sizeof same / sizeof same[0]; i++) {
        sx_expect_ok(sx_einsum_parse(same[i], &p));
        assert_memory_equal(&p, &first, sizeof p);
    }
}

static void text_is_written(void **state) {
    (void)state;
    static const char *const texts[] = {
        "O[m,n] += A[m,k]*B[k,n] {m:64,n:32,k:16}",
        "O[p] += I[-p+3*r-2*s] {p:4,r:5,s:6}",
    };
    for (size_t i = 0; i < 2; i++) {
        sx_problem p;
        char *text;
        sx_expect_ok(sx_einsum_parse(texts[i], &p));
        sx_expect_ok(sx_einsum_text(&p, &text));
        assert_string_equal(text, texts[i]);
        free(text);
    }
}

static void names_that_do_not_fit_are_not_written(void **state) {
    (void)state;
    sx_problem p, good;
    char *text = NULL;
    sx_expect_ok(sx_einsum_parse("O[m] += A[m] {m:2}", &good));
    p = good;
    strcpy(p.dim_name[0], "2m");
    sx_expect_error(sx_einsum_text(&p, &text), "'2m' cannot be a name in einsum text");
    p = good;
    strcpy(p.tensor[1].name, "A-B");
    sx_expect_error(sx_einsum_text(&p, &text), "'A-B' cannot be a name");
    p = good;
    p.n_dims = 0;
    sx_expect_error(sx_einsum_text(&p, &text), "dimensions");
    assert_null(text);
}

static void errors_have_columns(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "einsum:1:1: the text ends where '{' with the sizes of the dimensions is expected"},
        {"O[m] += A[m]", "einsum:1:13: the text ends where '{'"},
        {"O[m] += A[m] {m}", "einsum:1:16: ':' is expected before '}'"},
        {"O[m] += A[m] {m:}",
         "einsum:1:17: the size of dimension 'm' must be a whole number from 1 to 2147483647"},
        {"O[m] += A[m] {m:0}", "einsum:1:17: the size of dimension 'm' must be a whole number from 1"},
        {"O[m] += A[m] {m:2147483648}",
         "einsum:1:17: the size of dimension 'm' must be a whole number from 1"},
        {"O[m] += A[m] {m:99999999999999999999}",
         "einsum:1:17: the size of dimension 'm' must be a whole number from 1"},
        {"O[m] += A[m] {m:-3}", "einsum:1:17: the size of dimension 'm' must be a whole number from 1"},
        {"O[m] += A[m] {m:2,}", "einsum:1:19: the name of a dimension is expected before '}'"},
        {"O[m] += A[m] {m:2,m:3}", "einsum:1:19: dimension 'm' has two sizes"},
        {"O[m] += A[m] {m:2", "einsum:1:18: the text ends where '}' or ',' is expected"},
        {"O[m] += A[m] {m:2} x", "einsum:1:20: the end of the text is expected before 'x'"},
        {"O[m] += A[m] {1:2}", "the name of a dimension is expected"},
        {"[m] += A[m] {m:2}", "einsum:1:1: the name of a tensor is expected before '[m]"},
        {"O += A[m] {m:2}", "einsum:1:3: '[' is expected"},
        {"O[m] A[m] {m:2}", "einsum:1:6: '+=' is expected before 'A[m] {m:2}'"},
        {"O[m] += {m:2}", "einsum:1:9: the name of a tensor is expected"},
        {"O[m] += A[m] + B[m] {m:2}", "einsum:1:14: '*' or '{' is expected before '+ B[m]"},
        {"O[m] += A[m {m:2}",
         "einsum:1:13: ']', ',' or '+' is expected before '{m:2}'\n  is ']' of 'A[' missing?"},
        {"O[m += A[m] {m:2}",
         "einsum:1:5: ']', ',' or '+' is expected before '+= A[m] {m:2}'\n  is ']' of 'O['"},
        {"O[m] += A[m*B[m] {m:2}", "einsum:1:13: ']' is missing before 'B['\n  close the brackets"},
        {"O[m] += A[,m] {m:2}", "einsum:1:11: a dimension or a number is expected before ',"},
        {"O[m] += A[k] {m:2,kk:3}", "einsum:1:11: dimension 'k' has no size\n  add k:N in the braces"},
        {"O[m] += A[length] {m:2,n:3}",
         "einsum:1:11: dimension 'length' has no size\n  add length:N in the braces"},
        {"O[m] += A[2m] {m:2}", "einsum:1:11: missing '*' between a number and a name\n  write '2*m"},
        {"O[m] += A[m+1] {m:2}", "einsum:1:13: constant term in a sum\n  remove it"},
        {"O[m] += A[m*n] {m:2,n:2}", "einsum:1:13: two dimensions are multiplied"},
        {"O[m] += A[1048577*m] {m:2}", "einsum:1:11: a coefficient is beyond 1048576"},
        {"O[m] += A[1024*1024*2*m] {m:2}", "einsum:1:21: a coefficient is beyond 1048576"},
        {"O[m] += A[1048576*m+m] {m:2}", "einsum:1:21: a coefficient is beyond 1048576"},
        {"O[m] += A[m-m] {m:2}", "einsum:1:1: rank 1 of tensor 'A' has no dimension"},
        {"O[m] += A[m]*A[m] {m:2}", "einsum:1:14: two tensors are called 'A'"},
        {"O[m] += O[m] {m:2}", "einsum:1:9: two tensors are called 'O'"},
        {"O[m] += A[m]*B[m]*C[m]*D[m]*E[m]*F[m]*G[m]*H[m] {m:2}", "einsum:1:44: more than 8 tensors"},
        {"O[m] += A[m,m,m,m,m,m,m,m,m,m,m,m,m,m,m,m,m] {m:2}",
         "einsum:1:43: tensor 'A' has more than 16 ranks"},
        {"O[m] += A[m] {m:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1,i:1,j:1,k:1,l:1,n:1,o:1,p:1,q:1,r:1}",
         "einsum:1:79: more than 16 dimensions"},
        {"O[m,k] += A[m,k] {m:2147483647,k:2147483647,z:2147483647}", "more than 2^62"},
        {"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn[m] += A[m] {m:2}",
         "einsum:1:1: the name of a tensor is expected"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sx_problem p;
        memset(&p, 7, sizeof p);
        sx_expect_error(sx_einsum_parse(cases[i][0], &p), cases[i][1]);
        assert_int_equal(p.n_dims, 7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_convolution_is_read), cmocka_unit_test(other_spellings_are_read),
        cmocka_unit_test(text_is_written),       cmocka_unit_test(names_that_do_not_fit_are_not_written),
        cmocka_unit_test(errors_have_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
