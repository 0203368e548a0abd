/* Functions, branches and loops: what is called stands in the place of the node that calls it. A value of a body occurs as
 * often as the body is followed. */
#include "support/expect.h"
#include "support/onnx_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Inputs and outputs by their places, attributes by reference with their defaults, calls within calls. */
static void functions(void **state) {
    static const char turn[] = "function F a,b -> y p=[0,1] ( Transpose b -> y perm=@p | Relu a -> z );";
    char model[512];
    (void)state;
    snprintf(model, sizeof model, "%s in x 2 3; in u 4 5; F x,u -> r domain=own name=f", turn);
    sx_expect_value(model, "y", "f32[4,5]");
    sx_expect_value(model, "z", "f32[2,3]");
    snprintf(model, sizeof model, "%s in x 2 3; in u 4 5; F x,u -> r domain=own p=[1,0]; Relu r -> q", turn);
    sx_expect_value(model, "q", "f32[5,4]");
    snprintf(model, sizeof model,
             "%s function G a,k -> t ( F k,a -> t domain=own p=@q ); in x 2 3; in u 4 5; G x,u -> r "
             "domain=own q=[1,0]; Relu r -> w",
             turn);
    sx_expect_value(model, "w", "f32[3,2]");
    snprintf(model, sizeof model, "%s in x 2 3; in u 4 5; F x,u -> r; Relu x -> w", turn);
    sx_expect_value(model, "z", "");
    sx_expect_node("function F a,b -> y ( MatMul a,b -> y name=m ); in x 2 3; weight w 3 4; F x,w -> r "
                   "domain=own name=f; out r",
                   "f/m",
                   "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:1,M:4,K:3,N:2} y(02|1) w(1|0) x(02|1)");
    sx_expect_value(
        "function F a,b -> y,z ( Clip a,b -> y | Relu a -> z ); in x 2; F x -> r,q domain=own; Tanh q -> w",
        "w", "f32[2]");
    sx_expect_value("function F a -> y,z ( Relu a -> y | Transpose a -> z ); in x 2 3; F x -> -,q "
                    "domain=own; Tanh q -> w",
                    "w", "f32[3,2]");
    sx_expect_refused("function F a,b -> y ( Add a,b -> y ); in x 2; F x -> r domain=own name=f",
                      "Add 'f/Add_0': its input 'B' is missing");
    sx_expect_refused("function F a -> y ( F a -> y domain=own ); in x 2; F x -> r domain=own",
                      "nested more than 32 deep");
}

/* The branch of a condition that is known; names of the graph around it are seen. */
static void branches(void **state) {
    static const char both[] = "then_branch=( Transpose x -> t | out t ) else_branch=( Relu x -> e | out e )";
    char model[512];
    (void)state;
    snprintf(model, sizeof model, "data k b : 1; in x 2 3; If k -> r %s; Tanh r -> y", both);
    sx_expect_value(model, "y", "f32[3,2]");
    sx_expect_value(model, "e", "");
    snprintf(model, sizeof model, "data k b : 0; in x 2 3; If k -> r %s; Tanh r -> y", both);
    sx_expect_value(model, "y", "f32[2,3]");
    snprintf(model, sizeof model, "in k b 1; in x 2 3; If k -> r %s; Tanh r -> y", both);
    sx_expect_value(model, "y", "none*");
    snprintf(model, sizeof model, "data k b 2 : 1 1; in x 2 3; If k -> r %s; Tanh r -> y", both);
    sx_expect_value(model, "y", "none*");
}

/* Loops of a known count, or until their condition is known to end; states go on, other outputs are stacked. */
static void loops(void **state) {
    (void)state;
    sx_expect_value("data n i64 : 3; in x 2; Loop n,-,x -> r,q body=( in i i64 | in go b | in s 2 | Concat "
                    "s,s -> t axis=0 | Identity go -> on "
                    "| Relu x -> p | out on | out t | out p ); Tanh r -> y",
                    "y", "f32[16]");
    sx_expect_value("data n i64 : 3; in x 2; Loop n,-,x -> r,q body=( in i i64 | in go b | in s 2 | Concat "
                    "s,s -> t axis=0 | Identity go -> on "
                    "| Relu x -> p | out on | out t | out p ); Tanh q -> y",
                    "y", "f32[3,2]");
    sx_expect_value("data n i64 : 9; data k b : 1; in x 2; data l i64 : 1; Loop n,k,x -> r body=( in i i64 | "
                    "in go b | in s 2 | Concat s,s -> t axis=0 "
                    "| Less i,l -> on | out on | out t ); Tanh r -> y",
                    "y", "f32[8]");
    sx_expect_value("data n i64 : 9; data k b : 0; in x 2; Loop n,k,x -> r body=( in i i64 | in go b | in s "
                    "2 | Relu s -> t | Identity go -> on "
                    "| out on | out t ); Tanh r -> y",
                    "y", "none*");
    sx_expect_value("data n i64 : 9; in x 2; Loop n,-,x -> r body=( in i i64 | in go b | in s 2 | Relu s -> "
                    "t | Twist s -> on domain=own "
                    "| out on | out t ); Tanh r -> y",
                    "y", "none*");
    sx_expect_value("data n i64 : 9; in x 2; Loop n,-,x -> r body=( in i i64 | in go b | in s 2 | Relu s -> "
                    "t | Twist s -> on domain=own "
                    "| out on | out t ); Tanh r -> y",
                    "t", "");
    sx_expect_value("data n i64 : 2; in x 2; Loop n,-,x -> r body=( in i i64 | in go b | in s 2 | Relu s -> "
                    "t | Identity go -> on "
                    "| Add i,i -> d | out on | out t )",
                    "d", "none[]{0}none[]{2}");
    sx_expect_value("data n i64 : 20000; in x 2; Loop n,-,x -> r body=( in i i64 | in go b | in s 2 | Relu s "
                    "-> t | Identity go -> on "
                    "| out on | out t )",
                    "t", "");
    sx_expect_value("in n i64; in x 2; Loop n,-,x -> r body=( in i i64 | in go b | in s 2 | Relu s -> t | "
                    "Identity go -> on | out on | out t )",
                    "t", "");
}

/* A loop whose node or body has too few outputs is not followed. */
static void loops_that_do_not_fit(void **state) {
    (void)state;
    sx_expect_value("data n i64 : 2; in x 2; Loop n,-,x,x -> r body=( in i i64 | in go b | in s 2 | in u 2 | "
                    "Relu s -> t | Identity go -> on | out on | out t | out u )",
                    "t", "");
    sx_expect_value(
        "data n i64 : 2; in x 2; Loop n,-,x -> r body=( in i i64 | in go b | in s 2 | Relu s -> t | out go )",
        "t", "");
    sx_expect_value("data n i64 : 2; in x 2; Loop n,-,x -> r,q body=( in i i64 | in go b | in s 2 | Relu s "
                    "-> t | out go | out t )",
                    "t", "");
    sx_expect_value(
        "data n i64 : 2; in x 2; Loop n,-,x -> r body=( in i i64 | in s 2 | Relu s -> t | out i | out t )",
        "t", "");
}

/* Scan goes along an axis of its inputs, the first where none is said, and stacks along one of its outputs. */
static void scans(void **state) {
    static const char body[] = "body=( in s 4 | in e 5 | Relu s -> t | Relu e -> q | out t | out q )";
    char model[512];
    (void)state;
    snprintf(model, sizeof model, "in x 4; in z 3 5; Scan x,z -> r,k num_scan_inputs=1 %s; Tanh k -> y",
             body);
    sx_expect_value(model, "y", "f32[3,5]");
    sx_expect_value(model, "q", "f32[5]f32[5]f32[5]f32[3,5]");
    snprintf(model, sizeof model,
             "in x 4; in z 5 3; Scan x,z -> r,k num_scan_inputs=1 scan_input_axes=[1] scan_output_axes=[-1] "
             "%s; Tanh k -> y",
             body);
    sx_expect_value(model, "y", "f32[5,3]");
    sx_expect_value(model, "t", "f32[4]f32[4]f32[4]");
    snprintf(model, sizeof model,
             "in x 4; in z 5 3; Scan x,z -> r,k num_scan_inputs=1 scan_input_axes=[2] %s; Tanh k -> y", body);
    sx_expect_value(model, "q", "");
    snprintf(model, sizeof model,
             "opset 8; in x 4; in z 3 5; Scan x,z -> r,k num_scan_inputs=1 %s; Tanh k -> y", body);
    sx_expect_value(model, "q", "");
    sx_expect_value("in x 2 4; in z 3 2 5; in u 7 3; Scan x,z,u -> r num_scan_inputs=2 scan_input_axes=[0,1] "
                    "body=( in s 2 4 | in e 2 5 | in f 7 | "
                    "Relu f -> w | Relu s -> t | out t )",
                    "w", "f32[7]f32[7]f32[7]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions), cmocka_unit_test(branches),
        cmocka_unit_test(loops),     cmocka_unit_test(loops_that_do_not_fit),
        cmocka_unit_test(scans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
