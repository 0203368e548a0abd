/* LSTM, GRU and RNN: the product of the inputs of all steps, that of the state for each step, and the cell. */
#include "support/onnx_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* One direction and two, either layout. */
static void products(void **state) {
    static const sx_node_case cases[] = {
        {"in x 7 2 5; weight w 1 12 5; weight r 1 12 3; LSTM x,w,r -> y name=c", "c.input",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:2,M:12,K:5,N:7} c.input-gates@0(|2|0|1) w@0(|0|1) "
         "x(2|0|1)"},
        {"in x 7 2 5; weight w 1 12 5; weight r 1 12 3; LSTM x,w,r -> y name=c", "c.state",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:2,M:12,K:3,N:1} x7 c.state-gates@0(||02|1) r(|0|1) "
         "c.state(|02|1)"},
        {"in x 7 2 5; weight w 1 12 5; weight r 1 12 3; LSTM x,w,r -> y name=c", "c.cell",
         "other lstm y= c.input-gates c.state-gates"},
        {"in x 2 7 5; weight w 2 9 5; weight r 2 9 3; GRU x,w,r -> y,h name=c layout=1", "c.input",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:2,M:9,K:5,N:7} x2 c.input-gates@0(|2|0|1) "
         "w@0(|0|1) x(0|2|1)"},
        {"in x 2 7 5; weight w 2 9 5; weight r 2 9 3; GRU x,w,r -> y,h name=c layout=1", "c.state",
         "Outputs[B,M,N,D] += Weights[M,K,D]*Inputs[B,K,N,D] {B:2,M:9,K:3,N:1,D:2} x7 "
         "c.state-gates@0(|3|02|1) r(2|0|1) c.state(02|3|1)"},
        {"in x 2 7 5; weight w 2 9 5; weight r 2 9 3; GRU x,w,r -> y,h name=c layout=1", "c.cell",
         "other gru y= h= c.input-gates c.state-gates"},
        {"in x 7 2 5; weight w 2 3 5; weight r 2 3 3; in s 2 2 3; RNN x,w,r,-,-,s -> y name=c", "c.state",
         "Outputs[B,M,N,D] += Weights[M,K,D]*Inputs[B,K,N,D] {B:2,M:3,K:3,N:1,D:2} x7 "
         "c.state-gates@0(|3|02|1) r(2|0|1) s(3|02|1)"},
        {"in x 7 2 5; weight w 1 3 5; weight r 1 3 3; in s 1 3 3; RNN x,w,r,-,-,s -> y name=c", "c.state",
         "Outputs[B,M,N] += Weights[M,K]*Inputs[B,K,N] {B:2,M:3,K:3,N:1} x7 c.state-gates@0(||02|1) r(|0|1) "
         "c.state(|02|1)"},
        {"in x 7 2 5; weight w 1 12 5; weight r 1 12 3; LSTM x,w,r -> -,y,z name=c", "c.cell",
         "other lstm y= z= c.input-gates c.state-gates"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* What cannot be mapped is refused with words. */
static void refused(void **state) {
    static const sx_refused_case cases[] = {
        {"in x 7 2 5; weight w 1 12 4; weight r 1 12 3; LSTM x,w,r -> y name=c",
         "LSTM 'c': its weights and its input do not fit each other"},
        {"in x 7 2 5; weight w 1 12 5; weight r 1 9 3; LSTM x,w,r -> y name=c", "do not fit each other"},
        {"in x 7 2 5; weight w 2 12 5; weight r 1 12 3; LSTM x,w,r -> y name=c", "do not fit each other"},
        {"in x 7 2; weight w 1 12 5; weight r 1 12 3; LSTM x,w,r -> y name=c",
         "its inputs have 2, 3 and 3 ranks; 3 each are needed"},
    };
    (void)state;
    sx_expect_all_refused(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
