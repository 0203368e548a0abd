/* Products of batches of matrices as einsums: which operand is the weights, and what becomes of ranks of batches. */
#include "support/onnx_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* The second operand is the weights, unless only the first one is a tensor of the file, or only the second one has batches. */
static void roles(void **state) {
    static const sx_node_case cases[] = {
        {"in x 3 4; weight w 4 5; MatMul x,w -> y name=c", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} y(02|1) w(1|0) x(02|1)"},
        {"in x 4 5; weight w 3 4; MatMul w,x -> y name=c", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:3,K:4,N:5} y(01|2) w(0|1) x(01|2)"},
        {"in x 2 3 4; weight w 4 5; MatMul x,w -> y name=c", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:2,M:5,K:4,N:3} y(0|2|1) w(1|0) x(0|2|1)"},
        {"in x 2 4 5; weight w 3 4; MatMul w,x -> y name=c", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:2,M:3,K:4,N:5} y(0|1|2) w(0|1) x(0|1|2)"},
        {"in x 3 4; in z 2 4 5; MatMul x,z -> y name=c", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:2,M:3,K:4,N:5} y(0|1|2) x(0|1) z(0|1|2)"},
        {"weight a 3 4; weight w 4 5; MatMul a,w -> y name=c", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} y(02|1) w(1|0) a(02|1)"},
        {"in x 4; weight w 4 5; MatMul x,w -> y name=c", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:1} y(021) w(1|0) x(021)"},
        {"in x 3 4; weight w 4; MatMul x,w -> y name=c", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:1,K:4,N:3} y(021) w(10) x(02|1)"},
        {"in x 4; in z 4; MatMul x,z -> y name=c", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:1,K:4,N:1} y(021) z(10) x(021)"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* A second rank of both is repeated; others are dimensions. */
static void batches(void **state) {
    static const sx_node_case cases[] = {
        {"in x 2 8 3 4; in z 2 8 4 5; MatMul x,z -> y name=c", "c",
         "Outputs[B,M,N] += Weights[B,M,K]*Inputs[B,K,N] {B:2,M:5,K:4,N:3} x8 y@1(0||2|1) z@1(0||2|1) "
         "x@1(0||2|1)"},
        {"in x 2 8 3 4; in z 4 5; MatMul x,z -> y name=c", "c",
         "Outputs[B,M,N,H] += Weights[M,K]*Inputs[B,K,N,H] {B:2,M:5,K:4,N:3,H:8} y(0|3|2|1) z(1|0) "
         "x(0|3|2|1)"},
        {"in x 2 8 3 4; in z 8 4 5; MatMul x,z -> y name=c", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:2,M:5,K:4,N:3} x8 y@1(0||2|1) z@0(|1|0) "
         "x@1(0||2|1)"},
        {"in x 2 1 3 4; in z 2 8 4 5; MatMul x,z -> y name=c", "c",
         "Outputs[B,M,N,H] += Weights[B,M,K,H]*Inputs[B,K,N] {B:2,M:5,K:4,N:3,H:8} y(0|3|2|1) z(0|3|2|1) "
         "x(0||2|1)"},
        {"in x 1 3 4; in z 1 4 5; MatMul x,z -> y name=c", "c",
         "Outputs[B,M,N] += Weights[B,M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} y(0|2|1) z(0|2|1) x(0|2|1)"},
        {"in x 2 6 8 3 4; in z 2 6 8 4 5; MatMul x,z -> y name=c", "c",
         "Outputs[B,M,N,H,I] += Weights[B,M,K,H,I]*Inputs[B,K,N,H,I] {B:2,M:5,K:4,N:3,H:6,I:8} y(0|3|4|2|1) "
         "z(0|3|4|2|1) x(0|3|4|2|1)"},
        {"in x 1 8 3 4; in z 1 8 4 5; MatMul x,z -> y name=c", "c",
         "Outputs[B,M,N] += Weights[B,M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} x8 y@1(0||2|1) z@1(0||2|1) "
         "x@1(0||2|1)"},
        {"in x 2 3 4 5 6 7 8; in z 2 1 4 1 6 8 9; MatMul x,z -> y name=c", "c",
         "Outputs[B,M,N,H,I,J,O] += Weights[B,M,K,I,O]*Inputs[B,K,N,H,I,J,O] "
         "{B:2,M:9,K:8,N:7,H:3,I:4,J:5,O:6} y(0|3|4|5|6|2|1) z(0||3||4|2|1) x(0|3|4|5|6|2|1)"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* The second operand of QLinearMatMul is its fourth input. */
static void quantized(void **state) {
    static const sx_node_case cases[] = {
        {"in a u8 3 4; data s : 1; data z u8 : 0; weight b u8 4 5; QLinearMatMul a,s,z,b,s,z,s,z -> y name=c",
         "c", "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} y(02|1) b(1|0) a(02|1)"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* What cannot be mapped is refused with words. */
static void refused(void **state) {
    static const sx_refused_case cases[] = {
        {"in x 3 4; weight w 5 5; MatMul x,w -> y name=c",
         "MatMul 'c': it sums over 4 elements of one input and 5 of the other"},
        {"in x 2 3 4; in z 3 4 5; MatMul x,z -> y name=c", "its inputs have batches of 2 and 3 matrices"},
        {"in x 3 4; data w : 1; MatMul x,w -> y name=c", "an input has no ranks"},
        {"in x 2 2 2 2 2 2 2 2 2 2 3 4; in z 4 5; MatMul x,z -> y name=c",
         "it has 10 ranks of batches; at most 9 can be mapped"},
    };
    (void)state;
    sx_expect_all_refused(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles),
        cmocka_unit_test(batches),
        cmocka_unit_test(quantized),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
