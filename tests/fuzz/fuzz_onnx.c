/* Any bytes are a model whose graph is sound and can be written, or are refused with words. Models are changed field by
 * field. */
#include "frontend/onnx/onnx.h"
#include "fuzz/fuzz.h"
#include "fuzz/mutate_onnx.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
    return sx_mutate_onnx(data, size, room, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t room, unsigned seed) {
    return sx_cross_onnx(a, a_size, b, b_size, out, room, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const sx_onnx_symbol symbols[] = {{"batch", 2, NULL}, {"x_0", 1, NULL}, {"height", 9, NULL}};
    sx_onnx onnx;
    sx_network network;
    char *text;
    if (!succeeded(sx_onnx_parse("fuzz.onnx", data, size, symbols, 3, &onnx))) return 0;
    uint64_t macs = 0;
    for (size_t i = 0; i < onnx.n_layers; i++) {
        promise(onnx.layer[i].n_nodes && onnx.layer[i].node + onnx.layer[i].n_nodes <= onnx.graph.n_nodes);
        promise(onnx.graph.node[onnx.layer[i].node].kind == SX_OP_EINSUM);
        macs += onnx.layer[i].macs;
    }
    promise(macs == onnx.macs);
    if (onnx.graph.n_nodes) {
        promise(succeeded(sx_graph_check(&onnx.graph)));
        if (succeeded(sx_graph_write(&onnx.graph, SX_YAML, &text))) sx_free(text);
        const bool mapped = succeeded(sx_graph_network(&onnx.graph, &network));
        promise(mapped == (onnx.n_layers > 0));
        if (mapped) sx_network_fini(&network);
    }
    sx_onnx_fini(&onnx);
    return 0;
}
