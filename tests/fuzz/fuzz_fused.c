/* Any text is a fused mapping of a small network or is refused; one that is legal costs the same by the model and by execution. */
#include "fuzz/fuzz.h"
#include "sextant/fused.h"

#include <string.h>

#define FOLDER SX_TEST_DATA "/cli/files/fused/"
enum { STEPS = 1 << 16 };

/* Reads the network of `branches.yaml` and the machine that its fused mapping, a seed, is for. */
static void read_case(sx_graph *graph, sx_network *network, sx_arch *arch) {
    sx_input *input;
    promise(succeeded(sx_input_new(&input)));
    promise(succeeded(sx_input_add_file(input, FOLDER "branches.yaml")));
    promise(succeeded(sx_input_add_file(input, FOLDER "sixteen.arch.yaml")));
    promise(succeeded(sx_input_graph(input, graph)) && succeeded(sx_input_arch(input, arch)));
    promise(succeeded(sx_graph_network(graph, network)));
    sx_input_free(input);
}

/* Reads the fused mapping of an input, evaluated by the model (0) or by execution; NULL where it is refused. */
static sx_fused *read_fused(const sx_input *input, uint64_t steps) {
    static sx_graph graph;
    static sx_network network;
    static sx_arch arch;
    sx_session_options options;
    sx_fused *fused;
    if (!network.n_layers) read_case(&graph, &network, &arch);
    sx_session_options_init(&options);
    return succeeded(sx_session_fused_read(&graph, &network, &arch, &options, input, steps, &fused)) ? fused
                                                                                                     : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    sx_input *input;
    promise(succeeded(sx_input_new(&input)));
    if (succeeded(sx_input_add_text(input, "fuzz.yaml", (const char *)data, size))) {
        sx_fused *model = read_fused(input, 0), *executed = model ? read_fused(input, STEPS) : NULL;
        if (executed && !model->illegal[0] && !executed->illegal[0])
            promise(memcmp(&model->total, &executed->total, sizeof model->total) == 0);
        if (model) sx_fused_free(model);
        if (executed) sx_fused_free(executed);
    }
    sx_input_free(input);
    return 0;
}
