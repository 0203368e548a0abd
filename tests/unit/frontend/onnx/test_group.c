/* What is a part of the operation before it, and which values are others under another name. */
#include "support/onnx_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* What follows element by element, as long as nothing else reads what is between. */
static void parts(void **state) {
    static const sx_node_case cases[] = {
        {"in x 3 4; weight w 4 5; weight b 5; MatMul x,w -> a name=c; Add a,b -> d; Relu d -> y; out y", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} y(02|1) w(1|0) x(02|1)"},
        {"in x 3 4; weight w 4 5; MatMul x,w -> a name=c; Relu a -> y; out y; out a", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} a(02|1) w(1|0) x(02|1)"},
        {"in x 3 4; weight w 4 5; MatMul x,w -> a name=c; Relu a -> y; Tanh a -> z; out y; out z", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} a(02|1) w(1|0) x(02|1)"},
        {"in x 3 4; weight w 4 5; in b 5; MatMul x,w -> a name=c; Add a,b -> y; out y", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} a(02|1) w(1|0) x(02|1)"},
        {"in x 3 4; weight w 4 5; weight b 2 3 5; MatMul x,w -> a name=c; Add a,b -> y; out y", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} a(02|1) w(1|0) x(02|1)"},
        {"in x 3 4; weight w 4 5; weight b 5; MatMul x,w -> a name=c; Mul b,a -> y; out y", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} y(02|1) w(1|0) x(02|1)"},
        {"in x 3 4; weight w 4 5; MatMul x,w -> a name=c; Softmax a -> y; out y", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} a(02|1) w(1|0) x(02|1)"},
        {"in x 1 2 4; weight w 3 2 1; weight s 3; Conv x,w -> a name=c; BatchNormalization a,s,s,s,s -> y; "
         "out y",
         "c",
         "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+P,S+Q] {R:1,S:1,P:4,Q:1,C:2,K:3,N:1} y(0|12|3) "
         "w(1|03|2) x(0|13|2)"},
        {"in x 3 4; in z 3 4; Add x,z -> a name=c; Relu a -> y; out y", "c", "element-wise add y= x z"},
        {"in x 3 4; Relu x -> a name=c; Relu a -> y; out y", "c", "element-wise relu a= x"},
        {"in x 1 3 4; MaxPool x -> a name=c kernel_shape=[2]; Relu a -> y; out y", "c",
         "Outputs[N,D,Q,P] += Inputs[N,D,R+P,S+Q] {R:2,S:1,P:3,Q:1,D:3,N:1} pool max y(0|12|3) x(0|13|2)"},
        {"in x 3 4; weight w 4 5; MatMul x,w -> a name=c; Dropout a -> y,m; Identity m -> z; out y; out z",
         "c", "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} a(02|1) w(1|0) x(02|1)"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* Identity, Dropout and DequantizeLinear rename what they read. */
static void aliases(void **state) {
    static const sx_node_case cases[] = {
        {"in x 3 4; weight w 4 5; Identity x -> a; MatMul a,w -> y name=c; out y", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} y(02|1) w(1|0) x(02|1)"},
        {"in x u8 3 4; weight w u8 4 5; data s : 1; DequantizeLinear x,s -> a; DequantizeLinear w,s -> d; "
         "MatMul a,d -> y name=c; out y",
         "c", "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} y(02|1) w(1|0) x(02|1)"},
        {"in x 3 4; weight w 4 5; Dropout x -> a; Identity a -> d; MatMul d,w -> y name=c; out y", "c",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:5,K:4,N:3} y(02|1) w(1|0) x(02|1)"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),
        cmocka_unit_test(aliases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
