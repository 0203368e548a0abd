/* A sound graph of all kinds, and what is refused after one change of it. */
#include "ir/graph.h"
#include "sextant/input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Tensors and nodes by their index. */
enum { IMAGE, FILTER, CONV, POOL, ADD, CAT, FLAT, SOFT, NORM, BIAS, LAST, HEADS, N_TENSORS };
enum {
    CONV_NODE,
    POOL_NODE,
    ADD_NODE,
    CAT_NODE,
    FLAT_NODE,
    SOFT_NODE,
    NORM_NODE,
    LAST_NODE,
    HEADS_NODE,
    N_NODES
};

static const sx_graph_tensor tensors[N_TENSORS] = {
    [IMAGE] = {"image", .bits = 8, .n_ranks = 4, .extent = {2, 3, 10, 9}},
    [FILTER] = {"filter", .bits = 8, .weight = true, .n_ranks = 4, .extent = {3, 4, 3, 3}},
    [CONV] = {"conv.out", .bits = 8, .n_ranks = 4, .extent = {2, 4, 5, 5}},
    [POOL] = {"pool.out", .bits = 8, .n_ranks = 4, .extent = {2, 4, 5, 5}},
    [ADD] = {"add.out", .bits = 8, .n_ranks = 4, .extent = {2, 4, 5, 5}},
    [CAT] = {"cat.out", .bits = 8, .n_ranks = 4, .extent = {2, 8, 5, 5}},
    [FLAT] = {"flat.out", .bits = 8, .n_ranks = 2, .extent = {2, 200}},
    [SOFT] = {"soft.out", .bits = 8, .n_ranks = 2, .extent = {2, 200}},
    [NORM] = {"norm.out", .bits = 16, .n_ranks = 2, .extent = {2, 200}},
    [BIAS] = {"bias", .bits = 8, .weight = true, .n_ranks = 1, .extent = {200}},
    [LAST] = {"last.out", .bits = 8, .n_ranks = 1, .extent = {7}},
    [HEADS] = {"heads.out", .bits = 8, .output = true, .n_ranks = 3, .extent = {10, 4, 4}},
};

static void add(sx_graph *graph, sx_graph_node node, const sx_problem *einsum,
                const sx_graph_operand *operand, size_t n) {
    node.repeat = node.repeat ? node.repeat : 1;
    memcpy(node.layer, node.name, sizeof node.layer);
    assert_null(sx_graph_add_node(graph, &node, einsum, operand, n, NULL));
}

/* Adds a node without an einsum that reads one or two tensors (b: -1 for one). */
static void add_plain(sx_graph *graph, sx_graph_node node, size_t out, size_t a, int b) {
    sx_graph_operand operand[] = {sx_graph_whole(out, true, 0), sx_graph_whole(a, false, 0),
                                  sx_graph_whole(b < 0 ? 0 : (size_t)b, false, 0)};
    add(graph, node, NULL, operand, b < 0 ? 2 : 3);
}

/* A convolution of stride 2 with padding, which leaves a row over, and a pool. */
static void add_einsums(sx_graph *graph) {
    sx_problem conv, pool;
    assert_null(
        sx_einsum_parse("O[n,k,q,p] += W[c,k,r,s]*I[n,c,2*p+r,2*q+s] {n:2,k:4,q:5,p:5,c:3,r:3,s:3}", &conv));
    assert_null(sx_einsum_parse("O[n,d,q,p] += I[n,d,p+r,q+s] {n:2,d:4,q:5,p:5,r:3,s:3}", &pool));
    sx_graph_operand out = sx_graph_whole(CONV, true, 4), in = sx_graph_whole(IMAGE, false, 4);
    out.rank[2] = 3;
    out.rank[3] = 2;
    in.before[2] = in.after[2] = in.before[3] = in.after[3] = 1;
    const sx_graph_operand convs[] = {out, sx_graph_whole(FILTER, false, 4), in};
    add(graph, (sx_graph_node){.name = "conv", .kind = SX_OP_EINSUM, .axis = -1}, &conv, convs, 3);
    out.tensor = POOL;
    in.tensor = CONV;
    const sx_graph_operand pools[] = {out, in};
    add(graph, (sx_graph_node){.name = "pool", .kind = SX_OP_POOL, .function = "max", .axis = -1}, &pool,
        pools, 2);
}

/* A product for each of five heads: the last rank of what it reads and the first of what it writes tell them
 * apart. */
static void add_heads(sx_graph *graph) {
    static const uint8_t n_of[] = {1, 1, 1, 0}, rank[] = {0, 2, 1, 0};
    sx_problem heads;
    assert_null(sx_einsum_parse("O[b,m,n] += A[b,k,m]*B[b,k,n] {b:2,m:4,n:4,k:5}", &heads));
    sx_graph_operand out = sx_graph_whole(HEADS, true, 3), in = sx_graph_whole(ADD, false, 4);
    out.split = 0;
    in.split = 3;
    memcpy(in.n_of, n_of, sizeof n_of);
    memcpy(in.rank, rank, sizeof rank);
    const sx_graph_operand operands[] = {out, in, in};
    add(graph, (sx_graph_node){.name = "heads", .kind = SX_OP_EINSUM, .axis = -1, .repeat = 5}, &heads,
        operands, 3);
}

static void make(sx_graph *graph) {
    memset(graph, 0, sizeof *graph);
    strcpy(graph->name, "sound");
    for (size_t t = 0; t < N_TENSORS; t++) assert_null(sx_graph_add_tensor(graph, &tensors[t], NULL));
    add_einsums(graph);
    add_plain(graph,
              (sx_graph_node){.name = "add", .kind = SX_OP_ELEMENT_WISE, .function = "add", .axis = -1}, ADD,
              CONV, POOL);
    add_plain(graph, (sx_graph_node){.name = "cat", .kind = SX_OP_CONCAT, .axis = 1}, CAT, ADD, POOL);
    add_plain(graph, (sx_graph_node){.name = "flat", .kind = SX_OP_RESHAPE, .axis = -1}, FLAT, CAT, -1);
    add_plain(graph, (sx_graph_node){.name = "soft", .kind = SX_OP_SOFTMAX, .axis = 1}, SOFT, FLAT, -1);
    add_plain(graph, (sx_graph_node){.name = "norm", .kind = SX_OP_NORM, .axis = 1}, NORM, SOFT, BIAS);
    add_plain(graph, (sx_graph_node){.name = "last", .kind = SX_OP_OTHER, .function = "top", .axis = -1},
              LAST, NORM, -1);
    add_heads(graph);
}

static sx_graph_operand *operand_of(sx_graph *graph, size_t node, size_t v) {
    return &graph->operand[graph->node[node].first + v];
}

/* The changes. */
static void no_graph_name(sx_graph *g) {
    g->name[0] = 0;
}
static void no_nodes(sx_graph *g) {
    g->n_nodes = 0;
}
static void no_tensor_name(sx_graph *g) {
    g->tensor[CAT].name[0] = 0;
}
static void endless_name(sx_graph *g) {
    memset(g->node[ADD_NODE].name, 'a', SX_NAME_SIZE);
}
static void many_ranks(sx_graph *g) {
    g->tensor[CAT].n_ranks = 17;
}
static void no_elements(sx_graph *g) {
    g->tensor[CAT].extent[1] = 0;
}
static void many_elements(sx_graph *g) {
    g->tensor[CAT].extent[1] = 1ull << 57;
}
static void no_bits(sx_graph *g) {
    g->tensor[CAT].bits = 0;
}
static void equal_tensors(sx_graph *g) {
    strcpy(g->tensor[POOL].name, "cat.out");
}
static void equal_nodes(sx_graph *g) {
    strcpy(g->node[ADD_NODE].name, "conv");
}
static void no_layer(sx_graph *g) {
    g->node[ADD_NODE].layer[0] = 0;
}
static void no_kind(sx_graph *g) {
    g->node[ADD_NODE].kind = SX_N_OP_KINDS;
}
static void no_einsum(sx_graph *g) {
    g->node[CONV_NODE].einsum = SX_NO_INDEX;
}
static void odd_einsum(sx_graph *g) {
    g->node[ADD_NODE].einsum = 0;
}
static void bad_einsum(sx_graph *g) {
    g->einsum[0].size[0] = 0;
}
static void never(sx_graph *g) {
    g->node[CONV_NODE].repeat = 0;
}
static void repeated_add(sx_graph *g) {
    g->node[ADD_NODE].repeat = 2;
}
static void many_steps(sx_graph *g) {
    g->node[HEADS_NODE].repeat = 1ull << 60;
}
static void odd_axis(sx_graph *g) {
    g->node[ADD_NODE].axis = 1;
}
static void conv_axis(sx_graph *g) {
    g->node[CONV_NODE].axis = 1;
}
static void far_axis(sx_graph *g) {
    g->node[SOFT_NODE].axis = 2;
}
static void no_operand(sx_graph *g) {
    g->node[ADD_NODE].first = SIZE_MAX;
}
static void no_tensor(sx_graph *g) {
    operand_of(g, ADD_NODE, 1)->tensor = N_TENSORS;
}
static void written_weight(sx_graph *g) {
    g->tensor[CAT].weight = true;
}
static void two_writers(sx_graph *g) {
    operand_of(g, POOL_NODE, 0)->tensor = CONV;
}
static void few_operands(sx_graph *g) {
    g->node[CONV_NODE].n_operands = 2;
}
static void wrong_way(sx_graph *g) {
    operand_of(g, CONV_NODE, 2)->written = true;
}
static void rank_twice(sx_graph *g) {
    operand_of(g, CONV_NODE, 0)->rank[0] = 1;
}
static void rank_beyond(sx_graph *g) {
    operand_of(g, CONV_NODE, 0)->n_of[4] = 1;
}
static void split_beyond(sx_graph *g) {
    operand_of(g, HEADS_NODE, 1)->split = 4;
}
static void written_often(sx_graph *g) {
    operand_of(g, HEADS_NODE, 0)->split = -1;
}
static void no_padding(sx_graph *g) {
    operand_of(g, CONV_NODE, 2)->before[2] = 0;
    g->tensor[IMAGE].extent[2] = 9;
}
static void much_padding(sx_graph *g) {
    operand_of(g, CONV_NODE, 2)->after[2] = 2;
}
static void swapped_ranks(sx_graph *g) {
    g->tensor[IMAGE].extent[3] = 7;
}
static void fewer_heads(sx_graph *g) {
    g->node[HEADS_NODE].repeat = 4;
}
static void wide_add(sx_graph *g) {
    operand_of(g, ADD_NODE, 2)->tensor = CAT;
}
static void flat_cat(sx_graph *g) {
    operand_of(g, CAT_NODE, 2)->tensor = FLAT;
}
static void narrow_bias(sx_graph *g) {
    g->tensor[BIAS].extent[0] = 100;
}
static void broadcast_soft(sx_graph *g) {
    operand_of(g, SOFT_NODE, 1)->tensor = BIAS;
}
static void short_cat(sx_graph *g) {
    g->tensor[CAT].extent[1] = 9;
    g->tensor[FLAT].extent[1] = 225;
}
static void reshaped(sx_graph *g) {
    g->tensor[FLAT].extent[1] = 201;
}
static void nothing_read(sx_graph *g) {
    g->node[SOFT_NODE].n_operands = 1;
}
static void nothing_written(sx_graph *g) {
    operand_of(g, LAST_NODE, 0)->written = false;
}
static void two_soft(sx_graph *g) {
    g->node[ADD_NODE].kind = SX_OP_SOFTMAX;
    g->node[ADD_NODE].axis = 1;
}
static void cycle(sx_graph *g) {
    operand_of(g, ADD_NODE, 2)->tensor = ADD;
}
static void one_layer(sx_graph *g) {
    strcpy(g->node[HEADS_NODE].layer, "conv");
}
static void unused(sx_graph *g) {
    operand_of(g, NORM_NODE, 2)->tensor = SOFT;
}
static void outside_output(sx_graph *g) {
    g->tensor[IMAGE].output = true;
}

typedef struct wrong {
    void (*change)(sx_graph *graph);
    size_t node, tensor; /* who is to blame */
    const char *message;
} wrong;
#define NODE(index) (size_t)(index), SX_NO_INDEX
#define TENSOR(index) SX_NO_INDEX, (size_t)(index)
#define GRAPH SX_NO_INDEX, SX_NO_INDEX

static const wrong cases[] = {
    {no_graph_name, GRAPH, "the graph has no name"},
    {no_nodes, GRAPH, "the graph has no nodes"},
    {no_tensor_name, TENSOR(CAT), "tensor 6 has no name"},
    {endless_name, NODE(ADD_NODE), "node 3 has no name"},
    {many_ranks, TENSOR(CAT), "tensor 'cat.out' has 17 ranks; at most 16 are allowed"},
    {no_elements, TENSOR(CAT), "rank 1 of tensor 'cat.out' has no elements"},
    {many_elements, TENSOR(CAT), "tensor 'cat.out' has more than 2^62 elements"},
    {no_bits, TENSOR(CAT), "an element of tensor 'cat.out' has 0 bits; 1 to 65536 are allowed"},
    {equal_tensors, TENSOR(CAT), "two tensors are called 'cat.out'"},
    {equal_nodes, NODE(ADD_NODE), "two nodes are called 'conv'"},
    {no_layer, NODE(ADD_NODE), "node 'add' has no layer, or a function without an end"},
    {no_kind, NODE(ADD_NODE), "node 'add' is of an unknown kind"},
    {no_einsum, NODE(CONV_NODE), "einsum node 'conv' has no einsum"},
    {odd_einsum, NODE(ADD_NODE), "element-wise node 'add' must not have an einsum"},
    {bad_einsum, GRAPH, "dimension n has size 0; 1 to 2147483647 are allowed"},
    {never, NODE(CONV_NODE), "node 'conv' is repeated 0 times"},
    {repeated_add, NODE(ADD_NODE), "node 'add' is repeated 2 times, but has no einsum"},
    {many_steps, NODE(HEADS_NODE), "node 'heads' takes more than 2^62 steps"},
    {odd_axis, NODE(ADD_NODE), "node 'add': its axis 1 is not used by its operation"},
    {conv_axis, NODE(CONV_NODE), "node 'conv': its axis 1 is not used by its operation"},
    {far_axis, NODE(SOFT_NODE), "node 'soft': its axis 2 is no rank of its output"},
    {no_operand, NODE(ADD_NODE), "node 'add' has operands that do not exist"},
    {no_tensor, NODE(ADD_NODE), "node 'add' has an operand that is not a tensor"},
    {written_weight, NODE(CAT_NODE), "node 'cat' writes 'cat.out', which is a weight"},
    {two_writers, NODE(POOL_NODE), "nodes 'conv' and 'pool' both write tensor 'conv.out'"},
    {few_operands, NODE(CONV_NODE), "node 'conv' has 2 operands; its einsum has 3 tensors"},
    {wrong_way, NODE(CONV_NODE), "node 'conv' writes tensor 'image', but in its einsum I is an input"},
    {rank_twice, NODE(CONV_NODE),
     "node 'conv': the ranks of tensor 'conv.out' do not use each of the 4 ranks of O once"},
    {rank_beyond, NODE(CONV_NODE),
     "node 'conv': the ranks of tensor 'conv.out' do not use each of the 4 ranks of O once"},
    {split_beyond, NODE(HEADS_NODE), "node 'heads': tensor 'add.out' has no rank 4 to split"},
    {written_often, NODE(HEADS_NODE), "node 'heads': all 5 repetitions write the whole of 'heads.out'"},
    {no_padding, NODE(CONV_NODE),
     "node 'conv': I of its einsum spans 11 along rank 2 of tensor 'image', which has 10 with its padding"},
    {much_padding, NODE(CONV_NODE),
     "node 'conv': I of its einsum spans 11 along rank 2 of tensor 'image', which has 13 with its padding"},
    {swapped_ranks, NODE(CONV_NODE),
     "node 'conv': I of its einsum spans 11 along rank 3 of tensor 'image', which has 9 with its padding"},
    {fewer_heads, NODE(HEADS_NODE),
     "node 'heads': O of its einsum spans 8 along rank 0 of tensor 'heads.out', which has 10 with its "
     "padding"},
    {narrow_bias, NODE(NORM_NODE),
     "norm node 'norm': the shape of 'bias' does not fit that of its output 'norm.out'"},
    {wide_add, NODE(ADD_NODE),
     "element-wise node 'add': the shape of 'cat.out' does not fit that of its output 'add.out'"},
    {flat_cat, NODE(CAT_NODE),
     "concat node 'cat': the shape of 'flat.out' does not fit that of its output 'cat.out'"},
    {broadcast_soft, NODE(SOFT_NODE),
     "softmax node 'soft': the shape of 'bias' does not fit that of its output 'soft.out'"},
    {short_cat, NODE(CAT_NODE), "node 'cat': what is concatenated has 8 along rank 1; 'cat.out' has 9"},
    {reshaped, NODE(FLAT_NODE),
     "reshape node 'flat': the shape of 'cat.out' does not fit that of its output 'flat.out'"},
    {nothing_read, NODE(SOFT_NODE), "node 'soft' reads nothing"},
    {nothing_written, NODE(LAST_NODE), "node 'last' writes 0 tensors; it must be one"},
    {two_soft, NODE(ADD_NODE), "softmax node 'add' reads 2 tensors; it takes one"},
    {cycle, NODE(ADD_NODE), "node 'add' depends on its own output"},
    {one_layer, NODE(HEADS_NODE), "nodes 'conv' and 'heads' are of one layer, but compute different things"},
    {unused, TENSOR(BIAS), "tensor 'bias' is neither read nor written"},
    {outside_output, TENSOR(IMAGE), "tensor 'image' is an output that no node writes"},
};

static void changes_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_graph graph;
        sx_graph_blame blame;
        make(&graph);
        cases[i].change(&graph);
        sx_status error = sx_graph_examine(&graph, &blame);
        if (!error) fail_msg("case %zu is not refused: %s", i, cases[i].message);
        assert_string_equal(error->message, cases[i].message);
        assert_int_equal(blame.node, cases[i].node);
        assert_int_equal(blame.tensor, cases[i].tensor);
        sx_status_free(error);
        sx_graph_fini(&graph);
    }
}

static void sound(void **state) {
    (void)state;
    sx_graph graph;
    sx_graph_blame blame;
    make(&graph);
    sx_status error = sx_graph_examine(&graph, &blame);
    if (error) fail_msg("%s", error->message);
    assert_int_equal(graph.n_nodes, N_NODES);
    assert_int_equal(blame.node, SX_NO_INDEX);
    assert_int_equal(blame.tensor, SX_NO_INDEX);
    sx_graph_fini(&graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sound), cmocka_unit_test(changes_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
