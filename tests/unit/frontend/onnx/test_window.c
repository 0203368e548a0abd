/* Windows of convolutions and pools: extents and padding as the definitions of the operations give them, worked out by hand. */
#include "support/onnx_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* A pool over a line or a plane, with the shape of its output. */
typedef struct pool_case {
    const char *extents, *attributes, *output;
} pool_case;

static void check_pools(const pool_case *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char model[512];
        snprintf(model, sizeof model, "in x %s; MaxPool x -> y %s; out y", cases[i].extents,
                 cases[i].attributes);
        sx_expect_value(model, "y", cases[i].output);
    }
}

/* floor((in + pads - ((k - 1) d + 1)) / s) + 1. */
static void windows_that_fit(void **state) {
    static const pool_case cases[] = {
        {"1 3 8", "kernel_shape=[3]", "f32[1,3,6]"},
        {"1 3 8", "kernel_shape=[8]", "f32[1,3,1]"},
        {"1 3 8", "kernel_shape=[9]", "f32[1,3,0]"},
        {"1 3 8", "kernel_shape=[3] strides=[2]", "f32[1,3,3]"},
        {"1 3 9", "kernel_shape=[3] strides=[2]", "f32[1,3,4]"},
        {"1 3 9", "kernel_shape=[3] dilations=[2]", "f32[1,3,5]"},
        {"1 3 9", "kernel_shape=[3] dilations=[2] strides=[2]", "f32[1,3,3]"},
        {"1 3 8", "kernel_shape=[3] pads=[1,0]", "f32[1,3,7]"},
        {"1 3 8", "kernel_shape=[3] pads=[0,2]", "f32[1,3,8]"},
        {"1 3 8", "kernel_shape=[3] pads=[1,2] strides=[3]", "f32[1,3,3]"},
        {"1 3 8 5", "kernel_shape=[3,2] pads=[1,0,1,0]", "f32[1,3,8,4]"},
        {"1 3 8 5", "kernel_shape=[3,2] pads=[0,1,0,1]", "f32[1,3,6,6]"},
        {"1 3 8 5", "kernel_shape=[3,2] pads=[0,2,1,0]", "f32[1,3,7,6]"},
        {"1 3 6 8 10", "kernel_shape=[3,3,3] strides=[1,2,3]", "f32[1,3,4,3,3]"},
        {"1 3 8 5", "kernel_shape=[3,2] auto_pad='VALID' pads=[1,1,1,1]", "f32[1,3,6,4]"},
        {"1 3 8 5", "kernel_shape=[3,2] auto_pad='NOTSET' pads=[1,1,1,1]", "f32[1,3,8,6]"},
    };
    (void)state;
    check_pools(cases, sizeof cases / sizeof *cases);
}

/* ceil instead of floor; a window that would begin in the padding behind the input is left out. */
static void ceil_mode(void **state) {
    static const pool_case cases[] = {
        {"1 3 8", "kernel_shape=[3] strides=[2] ceil_mode=1", "f32[1,3,4]"},
        {"1 3 8", "kernel_shape=[3] strides=[2] ceil_mode=0", "f32[1,3,3]"},
        {"1 3 9", "kernel_shape=[3] strides=[2] ceil_mode=1", "f32[1,3,4]"},
        {"1 3 10", "kernel_shape=[3] strides=[4] ceil_mode=1", "f32[1,3,3]"},
        {"1 3 7", "kernel_shape=[1] strides=[3] ceil_mode=1", "f32[1,3,3]"},
        {"1 3 6", "kernel_shape=[1] strides=[3] ceil_mode=1", "f32[1,3,2]"},
        {"1 3 8", "kernel_shape=[2] strides=[3] ceil_mode=1", "f32[1,3,3]"},
        /* 3 windows fit; a fourth would begin at 6 of 0 + 6 + 2, in the padding behind. */
        {"1 3 6", "kernel_shape=[3] strides=[2] pads=[0,2] ceil_mode=1", "f32[1,3,3]"},
        /* 3 windows fit; a fourth begins at 6 of 1 + 6 + 2, the last element of the input. */
        {"1 3 6", "kernel_shape=[4] strides=[2] pads=[1,2] ceil_mode=1", "f32[1,3,4]"},
        /* 2 windows fit; a third would begin at 6 of 1 + 5 + 2, the first element behind the input. */
        {"1 3 5", "kernel_shape=[4] strides=[3] pads=[1,2] ceil_mode=1", "f32[1,3,2]"},
        {"1 3 2", "kernel_shape=[3] strides=[2] ceil_mode=1", "f32[1,3,0]"},
    };
    (void)state;
    check_pools(cases, sizeof cases / sizeof *cases);
}

/* SAME: ceil(in / s) windows; what is missing is padding. */
static void same_extents(void **state) {
    static const pool_case cases[] = {
        {"1 3 8", "kernel_shape=[3] auto_pad='SAME_UPPER'", "f32[1,3,8]"},
        {"1 3 8", "kernel_shape=[3] strides=[2] auto_pad='SAME_UPPER'", "f32[1,3,4]"},
        {"1 3 9", "kernel_shape=[3] strides=[2] auto_pad='SAME_LOWER'", "f32[1,3,5]"},
        {"1 3 9", "kernel_shape=[1] strides=[4] auto_pad='SAME_LOWER'", "f32[1,3,3]"},
        {"1 3 9", "kernel_shape=[3] strides=[2] auto_pad='SAME_LOWER' ceil_mode=1 pads=[4,4]", "f32[1,3,5]"},
    };
    (void)state;
    check_pools(cases, sizeof cases / sizeof *cases);
}

/* The padding of a convolution over a plane. */
static void expect_padding(const char *attributes, const char *plane, const char *einsum_sizes,
                           const char *padding) {
    char model[512], want[512];
    snprintf(model, sizeof model, "in x 1 2 %s; weight w 4 2 3 2; Conv x,w -> y name=c %s; out y", plane,
             attributes);
    snprintf(want, sizeof want, "%s y(0|1|3|2) w(1|0|2|3) x(0|1|%s)", einsum_sizes, padding);
    sx_expect_node(model, "c", want);
}

/* Total padding is (out - 1) s + (k - 1) d + 1 - in; the odd element is behind, or with SAME_LOWER before. */
static void padding_of_convolutions(void **state) {
    (void)state;
    expect_padding("auto_pad='SAME_UPPER'", "8 5",
                   "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+P,S+Q] {R:3,S:2,P:8,Q:5,C:2,K:4,N:1}",
                   "2+1..1|3+0..1");
    expect_padding("auto_pad='SAME_LOWER'", "8 5",
                   "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+P,S+Q] {R:3,S:2,P:8,Q:5,C:2,K:4,N:1}",
                   "2+1..1|3+1..0");
    expect_padding("auto_pad='SAME_LOWER' strides=[2,1]", "8 5",
                   "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+2*P,S+Q] {R:3,S:2,P:4,Q:5,C:2,K:4,N:1}",
                   "2+1..0|3+1..0");
    expect_padding(
        "auto_pad='SAME_UPPER' strides=[2,4]", "8 5",
        "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+2*P,S+4*Q] {R:3,S:2,P:4,Q:2,C:2,K:4,N:1}",
        "2+0..1|3+0..1");
    expect_padding(
        "auto_pad='SAME_UPPER' dilations=[2,3]", "8 5",
        "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,2*R+P,3*S+Q] {R:3,S:2,P:8,Q:5,C:2,K:4,N:1}",
        "2+2..2|3+1..2");
    expect_padding("pads=[1,2,0,1]", "8 5",
                   "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+P,S+Q] {R:3,S:2,P:7,Q:7,C:2,K:4,N:1}",
                   "2+1..0|3+2..1");
    expect_padding(
        "auto_pad='SAME_UPPER' strides=[3,3]", "7 7",
        "Outputs[N,K,Q,P] += Weights[C,K,R,S]*Inputs[N,C,R+3*P,S+3*Q] {R:3,S:2,P:3,Q:3,C:2,K:4,N:1}",
        "2+1..1|3+0..1");
}

/* s (in - 1) + output_padding + (k - 1) d + 1 - pads; an output_shape makes the padding, whose odd element is before, with
 * SAME_UPPER behind. */
static void transposed(void **state) {
    static const struct {
        const char *attributes, *shape, *einsum, *padding;
    } cases[] = {
        {"", "f32[1,3,6]",
         "Outputs[N,C,R+P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}", "2"},
        {"strides=[2]", "f32[1,3,9]",
         "Outputs[N,C,R+2*P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}", "2"},
        {"dilations=[2]", "f32[1,3,8]",
         "Outputs[N,C,2*R+P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}", "2"},
        {"strides=[3] dilations=[2]", "f32[1,3,14]",
         "Outputs[N,C,2*R+3*P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}", "2"},
        {"pads=[1,2]", "f32[1,3,3]",
         "Outputs[N,C,R+P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}", "2+1..2"},
        {"strides=[2] output_padding=[1]", "f32[1,3,10]",
         "Outputs[N,C,R+2*P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}", "2"},
        {"strides=[2] pads=[1,0] output_padding=[1]", "f32[1,3,9]",
         "Outputs[N,C,R+2*P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}",
         "2+1..0"},
        {"strides=[2] output_shape=[8]", "f32[1,3,8]",
         "Outputs[N,C,R+2*P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}",
         "2+1..0"},
        {"strides=[2] output_shape=[8] auto_pad='SAME_LOWER'", "f32[1,3,8]",
         "Outputs[N,C,R+2*P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}",
         "2+1..0"},
        {"strides=[2] output_shape=[8] auto_pad='SAME_UPPER'", "f32[1,3,8]",
         "Outputs[N,C,R+2*P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}",
         "2+0..1"},
        {"strides=[2] auto_pad='SAME_UPPER'", "f32[1,3,8]",
         "Outputs[N,C,R+2*P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}",
         "2+0..1"},
        {"strides=[2] auto_pad='SAME_LOWER'", "f32[1,3,8]",
         "Outputs[N,C,R+2*P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}",
         "2+1..0"},
        {"strides=[2] output_shape=[7]", "f32[1,3,7]",
         "Outputs[N,C,R+2*P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}",
         "2+1..1"},
        {"strides=[2] output_shape=[9]", "f32[1,3,9]",
         "Outputs[N,C,R+2*P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}", "2"},
        {"strides=[2] auto_pad='VALID' pads=[1,1]", "f32[1,3,9]",
         "Outputs[N,C,R+2*P,S+Q] += Weights[C,K,R,S]*Inputs[N,K,Q,P] {R:3,S:1,P:4,Q:1,C:3,K:2,N:1}", "2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char model[512], want[512];
        snprintf(model, sizeof model, "in x 1 2 4; weight w 2 3 3; ConvTranspose x,w -> y name=c %s; out y",
                 cases[i].attributes);
        sx_expect_value(model, "y", cases[i].shape);
        snprintf(want, sizeof want, "%s y(0|13|%s) w(1|03|2) x(0|12|3)", cases[i].einsum, cases[i].padding);
        sx_expect_node(model, "c", want);
    }
}

/* Numbers that no window can have, each named. */
static void bad_windows(void **state) {
    static const sx_refused_case cases[] = {
        {"in x 1 3; MaxPool x -> y kernel_shape=[1]",
         "its input has 2 ranks; a batch, channels and a plane are needed"},
        {"in x 1 2 1 1 1 1 1 1 1; MaxPool x -> y kernel_shape=[1,1,1,1,1,1,1]",
         "its input has 9 ranks; at most 8"},
        {"data x : 1; MaxPool x -> y kernel_shape=[1]", "its input has 0 ranks"},
        {"data x : 1; weight w 2 3 3; ConvTranspose x,w -> y", "its input has 0 ranks"},
        {"data x : 1; weight w 2 3 3; Conv x,w -> y", "its input has 0 ranks"},
        {"in x 1 3 8; data w : 1; Conv x,w -> y", "its weights have 0 ranks; its input has 3"},
        {"in x 1 3 8 8; weight w 4 3 3; Conv x,w -> y", "its weights have 3 ranks; its input has 4"},
        {"in x 1 3 8 8; weight w 4 3 3 3; Conv x,w -> y group=0", "0 groups are not possible"},
        {"in x 1 3 8 8; weight w 4 3 3 3; Conv x,w -> y group=1048577", "1048577 groups are not possible"},
        {"in x 1 3 8; MaxPool x -> y kernel_shape=[0]",
         "0 of its attribute 'kernel_shape' is not between 1 and 1048576"},
        {"in x 1 3 8; MaxPool x -> y", "0 of its attribute 'kernel_shape'"},
        {"in x 1 3 8; MaxPool x -> y kernel_shape=[3] strides=[0]",
         "0 of its attribute 'strides' is not between 1"},
        {"in x 1 3 8; MaxPool x -> y kernel_shape=[3] dilations=[0]", "0 of its attribute 'dilations'"},
        {"in x 1 3 8; MaxPool x -> y kernel_shape=[3] pads=[-1,0]",
         "-1 of its attribute 'pads' is not between 0"},
        {"in x 1 3 8; MaxPool x -> y kernel_shape=[3] pads=[0,1048577]", "1048577 of its attribute 'pads'"},
        {"in x 1 3 8; MaxPool x -> y kernel_shape=[3] pads=[0]",
         "its attribute 'pads' has 1 numbers; there must be 2"},
        {"in x 1 3 8; MaxPool x -> y kernel_shape=[3,3]",
         "its attribute 'kernel_shape' has 2 numbers; there must be 1"},
        {"in x 1 3 8; weight w 4 3 1048577; Conv x,w -> y", "its filter has an extent above 1048576"},
        {"in x 1 2 4; weight w 2 3 3; ConvTranspose x,w -> y output_shape=[1,3,8]",
         "its output_shape does not fit its input"},
        {"in x 1 2 4; weight w 2 3 3; ConvTranspose x,w -> y output_padding=[-1]",
         "-1 of its attribute 'output_padding'"},
    };
    (void)state;
    sx_expect_all_refused(cases, sizeof cases / sizeof *cases);
}

/* The limits themselves are allowed; extents that are not known stay so. */
static void edges_of_windows(void **state) {
    (void)state;
    sx_expect_value("in x 1 1 1 1 1 1 1 1; MaxPool x -> y kernel_shape=[1,1,1,1,1,1]", "y",
                    "f32[1,1,1,1,1,1,1,1]");
    sx_expect_value("in x 1 1 1; MaxPool x -> y kernel_shape=[1] strides=[1048576]", "y", "f32[1,1,1]");
    sx_expect_value("in x 1 1 1048576; weight w 1 1 1048576; Conv x,w -> y", "y", "f32[1,1,1]");
    sx_expect_value("in x 1 1 4 6; Twist x -> z domain=own; say z 1 1 ? 6; MaxPool z -> y kernel_shape=[2,2]",
                    "y", "f32[1,1,?,5]");
    sx_expect_value(
        "in x 1 2 4 6; weight w 2 3 3 3; Twist x -> z domain=own; say z 1 2 ? 6; ConvTranspose z,w -> y", "y",
        "f32[1,3,?,8]");
    sx_expect_value("in x 1 2 2; weight w 2 3 3; ConvTranspose x,w -> y pads=[3,3]", "y", "f32[1,3,0]");
    sx_expect_value("in x 1 2 0; weight w 2 3 3; ConvTranspose x,w -> y output_padding=[1]", "y",
                    "f32[1,3,0]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_that_fit), cmocka_unit_test(ceil_mode),
        cmocka_unit_test(same_extents),     cmocka_unit_test(padding_of_convolutions),
        cmocka_unit_test(transposed),       cmocka_unit_test(bad_windows),
        cmocka_unit_test(edges_of_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
