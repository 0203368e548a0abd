/* How many words MobileNet v2's blocks, each run fused, pass to and from DRAM, for several sizes of the memory on chip, and how
 * long the complete search takes. usage: bench-windows [block] */
#include "bench.h"
#include "looptree/chain_search.h"

#include <string.h>

typedef struct block {
    const char *name;
    int times, size, in, expand, out, stride; /* expand 0: no first layer */
} block;

static const block blocks[] = {
    {"b1", 1, 112, 32, 0, 16, 1},     {"b2", 1, 112, 16, 96, 24, 2},      {"b3", 1, 56, 24, 144, 24, 1},
    {"b4", 1, 56, 24, 144, 32, 2},    {"b5-6", 2, 28, 32, 192, 32, 1},    {"b7", 1, 28, 32, 192, 64, 2},
    {"b8-10", 3, 14, 64, 384, 64, 1}, {"b11", 1, 14, 64, 384, 96, 1},     {"b12-13", 2, 14, 96, 576, 96, 1},
    {"b14", 1, 14, 96, 576, 160, 2},  {"b15-16", 2, 7, 160, 960, 160, 1}, {"b17", 1, 7, 160, 960, 320, 1}};
enum { N_BLOCKS = sizeof blocks / sizeof *blocks, N_SIZES = 3 };
static const uint64_t sizes[N_SIZES] = {32 << 10, 64 << 10, 128 << 10};

static sx_chain_layer make_layer(sx_chain_kind kind, int window, int stride, int channels) {
    return (sx_chain_layer){.kind = kind,
                            .window = {window, window},
                            .stride = {stride, stride},
                            .dilation = {1, 1},
                            .pad = {window / 2, window / 2},
                            .channels = channels,
                            .source = 0};
}

/* Expand, depthwise, project, and the addition of the input where the shapes are the same. */
static sx_chain make_chain(const block *b) {
    sx_chain chain;
    memset(&chain, 0, sizeof chain);
    chain.extent[0] = chain.extent[1] = b->size;
    chain.extent[2] = b->in;
    if (b->expand) chain.layer[chain.n_layers++] = make_layer(SX_CHAIN_CONV, 1, 1, b->expand);
    chain.layer[chain.n_layers++] =
        make_layer(SX_CHAIN_DEPTHWISE, 3, b->stride, b->expand ? b->expand : b->in);
    chain.layer[chain.n_layers++] = make_layer(SX_CHAIN_CONV, 1, 1, b->out);
    if (b->expand && b->stride == 1 && b->in == b->out)
        chain.layer[chain.n_layers++] = make_layer(SX_CHAIN_ADD, 1, 1, b->out);
    return chain;
}

int main(int argc, char **argv) {
    const sx_chain_options options = {.nests = SX_NEST_NONE | SX_NEST_ROW | SX_NEST_CHANNEL |
                                               SX_NEST_CHANNEL_ROW | SX_NEST_ROW_CHANNEL,
                                      .least = sizes[0],
                                      .limit = sizes[N_SIZES - 1]};
    uint64_t total[N_SIZES] = {0};
    const double begin = bench_now(1);
    printf("%-8s %12s %12s %12s %8s\n", "block", "32 Ki words", "64 Ki", "128 Ki", "CPU s");
    fflush(stdout);
    for (int i = 0; i < N_BLOCKS; i++) {
        if (argc > 1 && strcmp(argv[1], blocks[i].name) != 0) continue;
        const sx_chain chain = make_chain(&blocks[i]);
        const double start = bench_now(1);
        sx_chain_answer answer;
        if (!sx_chain_search(&chain, &options, &answer)) return 3;
        printf("%-8s", blocks[i].name);
        for (int s = 0; s < N_SIZES; s++) {
            const sx_chain_step *step = sx_chain_step_at(&answer.steps, sizes[s]);
            total[s] += step ? step->words * (uint64_t)blocks[i].times : 0;
            printf(" %12llu", step ? (unsigned long long)step->words : 0ull);
        }
        printf(" %8.2f\n", bench_now(1) - start);
        fflush(stdout);
        sx_chain_answer_fini(&answer);
    }
    printf("%-8s %12llu %12llu %12llu %8.2f\n", "all", (unsigned long long)total[0],
           (unsigned long long)total[1], (unsigned long long)total[2], bench_now(1) - begin);
    return 0;
}
