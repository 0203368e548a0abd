/* Attention: scores of queries and keys, sums of values, and those of the past before them. */
#include "support/onnx_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Four ranks, or heads in the last of three; heads of queries that share keys. */
static void heads(void **state) {
    static const sx_node_case cases[] = {
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; Attention q,k,v -> y name=c", "c.scores",
         "Outputs[B,M,N,H] += Weights[B,M,K]*Inputs[B,K,N,H] {B:2,M:6,K:16,N:5,H:2} x4 c.scores@1(0|3|2|1) "
         "k@1(0||1|2) q@1(0|3|2|1)"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; Attention q,k,v -> y name=c", "c.values",
         "Outputs[B,M,N,H] += Weights[B,M,K]*Inputs[B,K,N,H] {B:2,M:10,K:6,N:5,H:2} x4 y@1(0|3|2|1) "
         "v@1(0||2|1) c.scores@1(0|3|2|1)"},
        {"in q 2 4 5 16; in k 2 4 6 16; in v 2 4 6 10; Attention q,k,v -> y name=c", "c.scores",
         "Outputs[B,M,N] += Weights[B,M,K]*Inputs[B,K,N] {B:2,M:6,K:16,N:5} x4 c.scores@1(0||2|1) "
         "k@1(0||1|2) q@1(0||2|1)"},
        {"in q 2 5 32; in k 2 6 16; in v 2 6 20; Attention q,k,v -> y name=c q_num_heads=4 kv_num_heads=2",
         "c.scores",
         "Outputs[B,M,N,H] += Weights[B,M,K]*Inputs[B,K,N,H] {B:2,M:6,K:8,N:5,H:2} x2 c.scores@1(0|3|2|1) "
         "k@2(0|1|2) q@2(0|2|31)"},
        {"in q 2 5 32; in k 2 6 16; in v 2 6 20; Attention q,k,v -> y name=c q_num_heads=4 kv_num_heads=2",
         "c.values",
         "Outputs[B,M,N,H] += Weights[B,M,K]*Inputs[B,K,N,H] {B:2,M:10,K:6,N:5,H:2} x2 y@2(0|2|31) "
         "v@2(0|2|1) c.scores@1(0|3|2|1)"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* Keys and values of the past, which may be empty. */
static void past(void **state) {
    static const sx_node_case cases[] = {
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 3 16; in w 2 4 3 10; Attention q,k,v,-,p,w "
         "-> y name=c",
         "c.all-keys", "other attention c.all-keys= p k"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 3 16; in w 2 4 3 10; Attention q,k,v,-,p,w "
         "-> y name=c",
         "c.all-values", "other attention c.all-values= w v"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 3 16; in w 2 4 3 10; Attention q,k,v,-,p,w "
         "-> y name=c",
         "c.scores",
         "Outputs[B,M,N,H] += Weights[B,M,K]*Inputs[B,K,N,H] {B:2,M:9,K:16,N:5,H:2} x4 c.scores@1(0|3|2|1) "
         "c.all-keys@1(0||1|2) q@1(0|3|2|1)"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 3 16; in w 2 4 3 10; Attention q,k,v,-,p,w "
         "-> y name=c",
         "c.values",
         "Outputs[B,M,N,H] += Weights[B,M,K]*Inputs[B,K,N,H] {B:2,M:10,K:9,N:5,H:2} x4 y@1(0|3|2|1) "
         "c.all-values@1(0||2|1) c.scores@1(0|3|2|1)"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 3 16; in w 2 4 3 10; Attention q,k,v,-,p,w "
         "-> y,pk,pv name=c; out pk; out pv",
         "c.all-keys", "other attention pk= k"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 3 16; in w 2 4 3 10; Attention q,k,v,-,p,w "
         "-> y,pk,pv name=c; out pk; out pv",
         "c.all-values", "other attention pv= v"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 0 16; in w 2 4 0 10; Attention q,k,v,-,p,w "
         "-> y name=c",
         "c.scores",
         "Outputs[B,M,N,H] += Weights[B,M,K]*Inputs[B,K,N,H] {B:2,M:6,K:16,N:5,H:2} x4 c.scores@1(0|3|2|1) "
         "k@1(0||1|2) q@1(0|3|2|1)"},
        {"in q 2 5 32; in k 2 6 16; in v 2 6 20; in p 2 2 3 8; in w 2 2 3 10; Attention q,k,v,-,p,w -> y "
         "name=c q_num_heads=4 kv_num_heads=2",
         "c.scores",
         "Outputs[B,M,N,H] += Weights[B,M,K]*Inputs[B,K,N,H] {B:2,M:9,K:8,N:5,H:2} x2 c.scores@1(0|3|2|1) "
         "c.all-keys@1(0||1|2) q@2(0|2|31)"},
        {"in q 2 5 32; in k 2 6 16; in v 2 6 20; in p 2 2 3 8; in w 2 2 3 10; Attention q,k,v,-,p,w -> y "
         "name=c q_num_heads=4 kv_num_heads=2",
         "c.values",
         "Outputs[B,M,N,H] += Weights[B,M,K]*Inputs[B,K,N,H] {B:2,M:10,K:9,N:5,H:2} x2 y@2(0|2|31) "
         "c.all-values@1(0||2|1) c.scores@1(0|3|2|1)"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* The operation of that name in another domain has other inputs. */
static void microsoft(void **state) {
    static const sx_node_case cases[] = {
        {"in q 2 5 32; weight w 32 96; Attention q,w -> y name=c domain=com.microsoft; say y 2 5 32", "c",
         "other attention y= q w"},
    };
    (void)state;
    sx_expect_nodes(cases, sizeof cases / sizeof *cases);
}

/* What cannot be mapped is refused with words. */
static void refused(void **state) {
    static const sx_refused_case cases[] = {
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 3 16; Attention q,k,v,-,p -> y name=c",
         "Attention 'c': its input 'past_value' is missing, though it has 'past_key': give both or neither"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in w 2 4 3 10; Attention q,k,v,-,-,w -> y name=c",
         "its input 'past_key' is missing, though it has 'past_value'"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 3 16; in w 2 4 2 10; Attention q,k,v,-,p,w "
         "-> y name=c",
         "do not fit the others; [2, 4, past, 16] and [2, 4, past, 10] are needed"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 1 4 3 16; in w 2 4 3 10; Attention q,k,v,-,p,w "
         "-> y name=c",
         "do not fit the others"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 3 3 16; in w 2 4 3 10; Attention q,k,v,-,p,w "
         "-> y name=c",
         "do not fit the others"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 3 15; in w 2 4 3 10; Attention q,k,v,-,p,w "
         "-> y name=c",
         "do not fit the others"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 3 16; in w 2 4 3 16; Attention q,k,v,-,p,w "
         "-> y name=c",
         "do not fit the others"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10; in p 2 4 48; in w 2 4 30; Attention q,k,v,-,p,w -> y "
         "name=c",
         "do not fit the others"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 6 10 1; Attention q,k,v -> y name=c; say y 2 8 5 10",
         "queries, keys and values have 4, 4 and 5 ranks; 3 or 4 are needed"},
        {"in q 2 8; in k 2 4; in v 2 4; Attention q,k,v -> y name=c; say y 2 8", "have 2, 2 and 2 ranks"},
        {"in q 2 8 5 16; in k 2 3 6 16; in v 2 3 6 10; Attention q,k,v -> y name=c",
         "8 heads of queries and 3 of keys do not fit its inputs"},
        {"in q 2 5 32; in k 2 6 16; in v 2 6 20; Attention q,k,v -> y name=c q_num_heads=5 kv_num_heads=1",
         "5 heads of queries and 1 of keys do not fit"},
        {"in q 2 5 32; in k 2 6 16; in v 2 6 20; say y 2 5 32; Attention q,k,v -> y name=c",
         "0 heads of queries and 0 of keys do not fit"},
        {"in q 2 8 5 16; in k 2 4 6 15; in v 2 4 6 10; Attention q,k,v -> y name=c",
         "its queries, keys and values do not fit each other"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 2 4 7 10; Attention q,k,v -> y name=c", "do not fit each other"},
        {"in q 2 8 5 16; in k 1 4 6 16; in v 2 4 6 10; Attention q,k,v -> y name=c", "do not fit each other"},
        {"in q 2 8 5 16; in k 2 4 6 16; in v 1 4 6 10; Attention q,k,v -> y name=c", "do not fit each other"},
    };
    (void)state;
    sx_expect_all_refused(cases, sizeof cases / sizeof *cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads),
        cmocka_unit_test(past),
        cmocka_unit_test(microsoft),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
