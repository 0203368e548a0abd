/* Nodes of operations that are not mapped: their kinds, functions and operands. */
#include "support/onnx_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* The kind of the table, where the shapes are as it wants them. */
static void kinds(void **state) {
    static const sx_node_case cases[] = {
        {"in x 3 4; Softmax x -> y name=c", "c", "softmax softmax/1 y= x"},
        {"in x 3 4; Softmax x -> y name=c axis=0", "c", "softmax softmax/0 y= x"},
        {"opset 11; in x 2 3 4; Softmax x -> y name=c", "c", "softmax softmax/1 y= x"},
        {"in x 3 4; weight s 4; LayerNormalization x,s -> y name=c", "c", "norm layernormalization/1 y= x"},
        {"in x 3 4; weight s 4; LayerNormalization x,s -> y name=c axis=0", "c",
         "norm layernormalization/0 y= x"},
        {"in x 2 3 4; weight s 3; InstanceNormalization x,s,s -> y name=c", "c",
         "norm instancenormalization/1 y= x"},
        {"in x 3 4; in z 3 5; Concat x,z -> y name=c axis=1", "c", "concat concat/1 y= x z"},
        {"in past 3 4; in z 3 5; Relu z -> r; Concat past,r -> y name=c axis=1; out y", "c",
         "other concat y= r"},
        {"in past 3 4; in z 3 5; Concat past,z -> y name=c axis=1; out y", "c", "concat concat/1 y= past z"},
        {"in gone 3 4; in z 3 5; Relu z -> r; Concat gone,r -> y name=c axis=1; out y", "c",
         "concat concat/1 y= gone r"},
        {"in past 3 4; in z 3 5; Relu z -> r; Concat past,r -> y name=c axis=1; Neg past -> n; out y; out n",
         "c", "concat concat/1 y= past r"},
        {"in x 3 4; in z 3 5; Concat x,z -> y name=c axis=-1", "c", "concat concat/1 y= x z"},
        {"in x 3 4; in z 2 5; Concat x,z -> y name=c axis=1", "c", "other concat y= x z"},
        {"in x 3 4; in z 3 5 1; Concat x,z -> y name=c axis=1; say y 3 9", "c", "other concat y= x z"},
        {"in x 3 4; in z 3 5; Concat x,z -> y name=c axis=0", "c", "other concat y= x z"},
        {"in x 3 4; data s i64 1 : -1; Reshape x,s -> y name=c", "c", "reshape reshape y= x"},
        {"in x 3 4; Transpose x -> y name=c", "c", "other transpose y= x"},
        {"in x 3 4; in z 4; Add x,z -> y name=c", "c", "element-wise add y= x z"},
        {"in x 3 4; in z 3 1; Add x,z -> y name=c", "c", "element-wise add y= x z"},
        {"in x 3 4; in z 3 5; PRelu x,z -> y name=c", "c", "other prelu y= x z"},
        {"in x 3 4; data z : 2; Mul x,z -> y name=c", "c", "element-wise mul y= x"},
        {"in x 3 4; weight z 4; Mul x,z -> y name=c", "c", "element-wise mul y= x z"},
        {"in x 3 4; data z 2 : 1 1; Twist x,z -> y name=c domain=own; say y 3 4", "c", "other twist y= x z"},
        {"in x 3 4; ReduceSum x -> y name=c", "c", "other reducesum y= x"},
        {"in x 3 4; Split x -> y,z name=c axis=0", "c", "other split y= z= x"},
        {"in x 3 4; TopK x,k -> y,z name=c; data k i64 1 : 2", "c", "other topk y= z= x"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* Pools over a line or a plane have windows. */
static void pools(void **state) {
    static const sx_node_case cases[] = {
        {"in x 1 3 8; MaxPool x -> y name=c kernel_shape=[3] strides=[2] dilations=[1] pads=[1,0]", "c",
         "Outputs[N,D,Q,P] += Inputs[N,D,R+2*P,S+Q] {R:3,S:1,P:4,Q:1,D:3,N:1} pool max y(0|12|3) "
         "x(0|13|2+1..0)"},
        {"in x 1 3 8 6; AveragePool x -> y name=c kernel_shape=[3,2] strides=[2,3] pads=[1,0,1,1]", "c",
         "Outputs[N,D,Q,P] += Inputs[N,D,R+2*P,S+3*Q] {R:3,S:2,P:4,Q:2,D:3,N:1} pool average y(0|1|3|2) "
         "x(0|1|2+1..1|3+0..1)"},
        {"in x 1 3 8 6; GlobalAveragePool x -> y name=c", "c",
         "Outputs[N,D,Q,P] += Inputs[N,D,R+P,S+Q] {R:8,S:6,P:1,Q:1,D:3,N:1} pool average y(0|1|3|2) "
         "x(0|1|2|3)"},
        {"in x 1 3 8; GlobalMaxPool x -> y name=c", "c",
         "Outputs[N,D,Q,P] += Inputs[N,D,R+P,S+Q] {R:8,S:1,P:1,Q:1,D:3,N:1} pool max y(0|12|3) x(0|13|2)"},
        {"in x 1 3 8; MaxPool x -> y name=c kernel_shape=[3] strides=[2] ceil_mode=1", "c",
         "Outputs[N,D,Q,P] += Inputs[N,D,R+2*P,S+Q] {R:3,S:1,P:4,Q:1,D:3,N:1} pool max y(0|12|3) "
         "x(0|13|2+0..1)"},
        {"in x 1 3 2 2 2; MaxPool x -> y name=c kernel_shape=[2,2,2]", "c", "other maxpool y= x"},
        {"in x 1 3 8; MaxPool x -> y,i name=c kernel_shape=[3]; out i", "c", "other maxpool y= i= x"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(pools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
