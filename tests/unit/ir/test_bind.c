/* Which tensor a name stands for. */
#include "support/expect.h"

#include "sextant/input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void names_stand_for_roles(void **state) {
    (void)state;
    static const struct {
        const char *einsum, *output, *input, *weight; /* NULL: no rule says */
    } cases[] = {
        {"O[k,p] += I[c,p+r]*W[k,c,r] {k:2,p:2,c:2,r:2}", "O", "I", "W"},
        {"Y[k,p] += F[k,c,r]*X[c,p+r] {k:2,p:2,c:2,r:2}", "Y", "X", "F"},
        {"C[i,j] += A[i,k]*B[k,j] {i:2,j:2,k:2}", "C", "A", "B"},
        {"C[i,j] += W[i,k]*B[k,j] {i:2,j:2,k:2}", "C", "B", "W"},
        {"C[i,j] += A[i,k]*ifmap[k,j] {i:2,j:2,k:2}", "C", "ifmap", "A"},
        {"C[i,j] += weights[i,k]*Inputs[k,j] {i:2,j:2,k:2}", "C", "Inputs", "weights"},
        {"C[i+j] += A[i+k]*B[k+j] {i:2,j:2,k:2}", "C", "A", "B"},
        {"C[i] += A[i,k] {i:2,k:2}", "C", "A", NULL},
        {"C[i,j] += A[i,k]*B[k,j]*D[j] {i:2,j:2,k:2}", "C", NULL, NULL},
        {"C[i,j] += A[i,k]*W[k,j]*I[j] {i:2,j:2,k:2}", "C", "I", "W"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const char *const names[] = {"Outputs", "Inputs", "Weights"};
        const char *const wanted[] = {cases[i].output, cases[i].input, cases[i].weight};
        sx_problem problem;
        sx_expect_ok(sx_einsum_parse(cases[i].einsum, &problem));
        for (int n = 0; n < 3; n++) {
            int v = sx_problem_role(&problem, names[n]);
            if (!wanted[n])
                assert_int_equal(v, -1);
            else
                assert_string_equal(problem.tensor[v].name, wanted[n]);
        }
        assert_int_equal(sx_problem_role(&problem, "Z"), sx_problem_role(&problem, "Outputs"));
        assert_int_equal(sx_problem_role(&problem, "A"), sx_problem_role(&problem, "Inputs"));
        assert_int_equal(sx_problem_role(&problem, "B"), sx_problem_role(&problem, "Weights"));
        assert_int_equal(sx_problem_role(&problem, "Tensor"), -1);
        assert_int_equal(sx_problem_role(&problem, "Inputss"), -1);
    }
}

static void an_alias_is_a_second_name(void **state) {
    (void)state;
    sx_problem problem, again;
    sx_arch arch;
    sx_input *input;
    char *text;
    sx_expect_ok(sx_einsum_parse("C[i,j] += A[i,k]*B[k,j] {i:2,j:2,k:2}", &problem));
    sx_expect_ok(sx_catalog_arch("eyeriss", &arch));
    int a = sx_problem_tensor(&problem, "A"), spad = sx_arch_level(&arch, "ifmap_spad");
    assert_int_equal(sx_arch_keep_mask(&arch, spad, &problem), 0);
    sx_expect_ok(sx_problem_bind(&problem, a, "Inputs"));
    sx_expect_ok(sx_problem_bind(&problem, a, "Inputs"));
    sx_expect_ok(sx_problem_check(&problem));
    assert_int_equal(sx_problem_tensor(&problem, "Inputs"), a);
    assert_int_equal(sx_arch_keep_mask(&arch, spad, &problem), 1 << a);
    sx_expect_error(sx_problem_bind(&problem, a, "Weights"), "already bound to 'Inputs'");
    sx_expect_error(sx_problem_bind(&problem, a, "B"), "already the name of tensor 'B'");
    sx_expect_ok(sx_problem_write(&problem, SX_JSON, &text));
    sx_expect_ok(sx_input_new(&input));
    sx_expect_ok(sx_input_add_text(input, "text", text, strlen(text)));
    sx_expect_ok(sx_input_problem(input, &again));
    assert_memory_equal(&problem, &again, sizeof again);
    sx_input_free(input);
    free(text);
    memcpy(problem.tensor[a].alias, "B", 2);
    sx_expect_error(sx_problem_check(&problem), "the alias of tensor 'A'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stand_for_roles),
        cmocka_unit_test(an_alias_is_a_second_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
