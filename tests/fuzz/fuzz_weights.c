/* Any bytes are a weight file whose net can be used, or an error. The checksum is made right first, so that what it protects
 * is met as well. */
#include "base/hash.h"
#include "fuzz/fuzz.h"
#include "learn/weights.h"

#include <math.h>
#include <string.h>

enum { HEAD = 24, MOST = 1 << 14 };

/* Runs one row through a net. */
static void check_net(const sx_nn *net) {
    sx_matrix_engine *engine;
    sx_nn_pass *pass;
    float *input = calloc((size_t)net->inputs + net->outputs + net->inputs, sizeof *input);
    promise(input);
    promise(succeeded(sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &engine)));
    promise(succeeded(sx_nn_pass_new(net, engine, 1, &pass)));
    promise(sx_nn_forward(pass, input, 1) != NULL);
    sx_nn_backward(pass, input + net->inputs, NULL, input + net->inputs + net->outputs);
    sx_nn_pass_free(pass);
    sx_matrix_engine_free(engine);
    free(input);
}

static void check_bytes(const char *bytes, size_t size) {
    sx_weights w;
    if (!succeeded(sx_weights_parse("fuzz.sxw", bytes, size, &w))) return;
    promise(w.net && w.text && strlen(w.text) <= SX_WEIGHTS_MAX_TEXT);
    for (size_t i = 0; i < w.net->n_parameters; i++) promise(isfinite(w.net->parameter[i]));
    promise(w.net->n_parameters * sizeof(float) <= size);
    if (w.optimizer) promise(w.optimizer->n_parameters == w.net->n_parameters);
    check_net(w.net);
    sx_weights_fini(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_bytes((const char *)data, size);
    if (size < HEAD || size > MOST) return 0;
    char *copy = malloc(size);
    promise(copy);
    memcpy(copy, data, size);
    uint64_t sum = sx_hash_bytes(copy + HEAD, size - HEAD, SX_WEIGHTS_VERSION);
    memcpy(copy + HEAD - sizeof sum, &sum, sizeof sum);
    check_bytes(copy, size);
    free(copy);
    return 0;
}
