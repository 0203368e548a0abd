/* Einsum: its letters are the dimensions. */
#include "support/onnx_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Letters, ellipses, extents of 1 and products of several operands. */
static void letters(void **state) {
    static const sx_node_case cases[] = {
        {"in a 3 4; in b 4 5; Einsum a,b -> y name=c equation='ij,jk->ik'", "c",
         "Outputs[i,k] += Weights[j,k]*Inputs[i,j] {i:3,k:5,j:4} y(0|1) b(0|1) a(0|1)"},
        {"in a 2 3 4; in b 4 5; Einsum a,b -> y name=c equation='...j,jk->...k'", "c",
         "Outputs[E1,E0,k] += Weights[j,k]*Inputs[E1,E0,j] {E1:2,E0:3,k:5,j:4} y(0|1|2) b(0|1) a(0|1|2)"},
        {"in a 1 4; in b 3 4; Einsum a,b -> y name=c equation='ij,ij->i'", "c",
         "Outputs[i] += Weights[i,j]*Inputs[j] {i:3,j:4} y(0) b(0|1) a(|0)"},
        {"in a 3 4; in b 4 5; in d 5 6; Einsum a,b,d -> y name=c equation='ij,jk,kl->il'", "c",
         "Outputs[i,l] += Weights[k,l]*Inputs[j,k]*Inputs2[i,j] {i:3,l:6,k:5,j:4} y(0|1) d(0|1) b(0|1) "
         "a(0|1)"},
        {"in a 3; in b 3; Einsum a,b -> y name=c equation='i,i->'", "c",
         "Outputs[unit] += Weights[i]*Inputs[i] {unit:1,i:3} y(0) b(0) a(0)"},
        {"in a 3 4; Einsum a -> y name=c equation='ij->ji'", "c", "other einsum y= a"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* What cannot be mapped is refused with words. */
static void refused(void **state) {
    static const sx_refused_case cases[] = {
        {"in a 3 3; in b 3; Einsum a,b -> y name=c equation='ii,i->i'", "diagonals and more than"},
        {"in a 3 4; in b 4 5; Einsum a,b -> y name=c equation='ij+jk'", "its equation cannot be read"},
        {"in a 3 4; in b 4 5; Einsum a,b -> y name=c equation='ijk,jk->ik'",
         "its equation does not fit the ranks of its inputs"},
        {"in a 3 4; in b 5 5; Einsum a,b -> y name=c equation='ij,jk->ik'",
         "its equation does not fit the extents of its inputs"},
        {"in a 3 4; in b 4 5; Einsum a,b -> y name=c equation='ij->ij'",
         "its equation does not fit the ranks of its inputs"},
        {"in a 3 4; in b 4 5; Einsum a,b -> y name=c equation='ij,jk->i-k'", "its equation cannot be read"},
    };
    (void)state;
    sx_expect_all_refused(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
