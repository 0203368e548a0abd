/* The rule of the vector unit, by hand. */
#include "model/vector.h"
#include "sextant/all.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Two levels of 16-bit words: reads of 4 and writes of 2 words per cycle outside, 1,000 words inside. */
static sx_arch machine(void) {
    static sx_arch arch;
    memset(&arch, 0, sizeof arch);
    arch.n_levels = 2;
    for (int l = 0; l < 2; l++) sx_storage_init(&arch.level[l]);
    arch.level[0].entries = 1000;
    arch.level[1].read_bandwidth = 4;
    arch.level[1].write_bandwidth = 2;
    arch.level[1].read_energy = 10;
    arch.level[1].update_energy = 20;
    arch.vector = (sx_vector_unit){.lanes = 8, .energy = 0.5, .exp = 6, .passes = 3};
    return arch;
}

/* The cost of a node of a function over rows of `columns` elements of 16 bits. */
static sx_vector_cost cost_of(const sx_arch *arch, const char *function, sx_op_kind kind, uint64_t rows,
                              uint64_t columns, uint64_t reads, uint64_t writes) {
    sx_graph graph = {0};
    sx_graph_node node = {.kind = kind, .einsum = SX_NO_INDEX};
    sx_graph_tensor tensor = {.bits = 16};
    sx_graph_operand operand = {.tensor = 0};
    sx_operator op = {
        .vector = true, .count = 1, .elements = rows * columns, .rows = rows, .columns = columns};
    strcpy(node.function, function);
    node.n_operands = 1;
    graph.node = &node;
    graph.tensor = &tensor;
    graph.operand = &operand;
    graph.run.tokens = 100000;
    op.reads = reads;
    op.writes = writes;
    op.read_bytes = 2 * (double)reads;
    op.write_bytes = 2 * (double)writes;
    return sx_vector_cost_of(arch, &graph, &op);
}

static void lanes_or_bandwidth_limit(void **state) {
    (void)state;
    const sx_arch arch = machine();
    const sx_vector_cost add = cost_of(&arch, "add", SX_OP_ELEMENT_WISE, 10, 100, 2000, 1000);
    assert_true(add.operations == 1000 && add.compute_cycles == 125);
    assert_true(add.cycles == 500);
    assert_true(add.energy == 0.5 * 1000 + 10 * 2000 + 20 * 1000);
    const sx_vector_cost gelu = cost_of(&arch, "gelu", SX_OP_ELEMENT_WISE, 10, 100, 1000, 1000);
    assert_true(gelu.operations == 16000 && gelu.cycles == 2000);
}

/* A row of more elements than the inner level holds is read again. */
static void long_rows_take_passes(void **state) {
    (void)state;
    sx_arch arch = machine();
    sx_vector_cost one = cost_of(&arch, "", SX_OP_SOFTMAX, 1, 1000, 1000, 1000);
    assert_true(one.row_fits && one.words_read == 1000 && one.operations == 10000);
    one = cost_of(&arch, "", SX_OP_SOFTMAX, 1, 1001, 1001, 1001);
    assert_true(!one.row_fits && one.words_read == 3003);
    assert_true(cost_of(&arch, "rms-norm", SX_OP_NORM, 1, 1001, 1001, 1001).words_read == 2002);
    assert_true(cost_of(&arch, "rotary", SX_OP_OTHER, 1, 1001, 1001, 1001).words_read == 1001);
    arch.vector.passes = 1;
    one = cost_of(&arch, "softmax", SX_OP_SOFTMAX, 1, 1001, 1001, 1001);
    assert_true(one.words_read == 2002 && one.operations == 1001 * (7 + 3 * 6));
    arch.vector.row = 2000;
    assert_true(cost_of(&arch, "", SX_OP_SOFTMAX, 1, 1001, 1001, 1001).words_read == 1001);
}

static void functions_take_operations(void **state) {
    (void)state;
    const sx_arch arch = machine();
    assert_true(cost_of(&arch, "layer-norm", SX_OP_NORM, 2, 10, 20, 20).operations == 140);
    assert_true(cost_of(&arch, "top-k", SX_OP_OTHER, 2, 64, 128, 16).operations == 128 * (3 + 1));
    assert_true(cost_of(&arch, "weighted-sum", SX_OP_OTHER, 2, 10, 80, 20).operations == 160);
    assert_true(cost_of(&arch, "selective-scan", SX_OP_OTHER, 10, 16, 30, 10).operations == 960);
    assert_true(cost_of(&arch, "selective-scan", SX_OP_OTHER, 10, 16, 30, 10).cycles == 100000);
    assert_true(cost_of(&arch, "gather", SX_OP_OTHER, 10, 16, 160, 160).operations == 0);
    assert_true(cost_of(&arch, "something", SX_OP_OTHER, 10, 16, 160, 160).operations == 160);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_or_bandwidth_limit),
        cmocka_unit_test(long_rows_take_passes),
        cmocka_unit_test(functions_take_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
