/* Szegedy et al. (CVPR 2016), as released: layers are called as in the most common implementation. A block is
 * a table of its convolutions; WIDTH stands for a number of channels that blocks of one kind differ in. What
 * no convolution of the block reads is concatenated, in the order of the table. */
#include "frontend/catalog/networks.h"

#include <stdio.h>

enum { WIDTH = 1, MAX_ROWS = 10 };

/* What a convolution reads: what enters the block, the output of the row before, of the one before that, or
 * of the pool. */
typedef enum source { ENTRY, BEFORE, SECOND, POOLED } source;

typedef struct row {
    const char *name;
    source from;
    uint32_t k, r, s, stride;
} row;

static const row block_a[] = {
    {"branch1x1", ENTRY, 64, 1, 1, 1},       {"branch5x5_1", ENTRY, 48, 1, 1, 1},
    {"branch5x5_2", BEFORE, 64, 5, 5, 1},    {"branch3x3dbl_1", ENTRY, 64, 1, 1, 1},
    {"branch3x3dbl_2", BEFORE, 96, 3, 3, 1}, {"branch3x3dbl_3", BEFORE, 96, 3, 3, 1},
    {"branch_pool", POOLED, WIDTH, 1, 1, 1},
};
static const row block_b[] = {
    {"branch3x3", ENTRY, 384, 3, 3, 2},
    {"branch3x3dbl_1", ENTRY, 64, 1, 1, 1},
    {"branch3x3dbl_2", BEFORE, 96, 3, 3, 1},
    {"branch3x3dbl_3", BEFORE, 96, 3, 3, 2},
};
static const row block_c[] = {
    {"branch1x1", ENTRY, 192, 1, 1, 1},         {"branch7x7_1", ENTRY, WIDTH, 1, 1, 1},
    {"branch7x7_2", BEFORE, WIDTH, 1, 7, 1},    {"branch7x7_3", BEFORE, 192, 7, 1, 1},
    {"branch7x7dbl_1", ENTRY, WIDTH, 1, 1, 1},  {"branch7x7dbl_2", BEFORE, WIDTH, 7, 1, 1},
    {"branch7x7dbl_3", BEFORE, WIDTH, 1, 7, 1}, {"branch7x7dbl_4", BEFORE, WIDTH, 7, 1, 1},
    {"branch7x7dbl_5", BEFORE, 192, 1, 7, 1},   {"branch_pool", POOLED, 192, 1, 1, 1},
};
static const row block_d[] = {
    {"branch3x3_1", ENTRY, 192, 1, 1, 1},    {"branch3x3_2", BEFORE, 320, 3, 3, 2},
    {"branch7x7x3_1", ENTRY, 192, 1, 1, 1},  {"branch7x7x3_2", BEFORE, 192, 1, 7, 1},
    {"branch7x7x3_3", BEFORE, 192, 7, 1, 1}, {"branch7x7x3_4", BEFORE, 192, 3, 3, 2},
};
static const row block_e[] = {
    {"branch1x1", ENTRY, 320, 1, 1, 1},        {"branch3x3_1", ENTRY, 384, 1, 1, 1},
    {"branch3x3_2a", BEFORE, 384, 1, 3, 1},    {"branch3x3_2b", SECOND, 384, 3, 1, 1},
    {"branch3x3dbl_1", ENTRY, 448, 1, 1, 1},   {"branch3x3dbl_2", BEFORE, 384, 3, 3, 1},
    {"branch3x3dbl_3a", BEFORE, 384, 1, 3, 1}, {"branch3x3dbl_3b", SECOND, 384, 3, 1, 1},
    {"branch_pool", POOLED, 192, 1, 1, 1},
};

/* A block of a kind. */
typedef struct block {
    const char *name;
    const row *rows;
    size_t n;
    uint32_t width;
    bool reduces; /* its pool has a stride and is concatenated; else a convolution reads it */
} block;
#define BLOCK(name, rows, width, reduces)                                                                    \
    { name, rows, sizeof(rows) / sizeof *(rows), width, reduces }

static const block blocks[] = {
    BLOCK("Mixed_5b", block_a, 32, false),  BLOCK("Mixed_5c", block_a, 64, false),
    BLOCK("Mixed_5d", block_a, 64, false),  BLOCK("Mixed_6a", block_b, 0, true),
    BLOCK("Mixed_6b", block_c, 128, false), BLOCK("Mixed_6c", block_c, 160, false),
    BLOCK("Mixed_6d", block_c, 160, false), BLOCK("Mixed_6e", block_c, 192, false),
    BLOCK("Mixed_7a", block_d, 0, true),    BLOCK("Mixed_7b", block_e, 0, false),
    BLOCK("Mixed_7c", block_e, 0, false),
};

/* The pool of a block. */
static size_t add_pool(sx_net *net, size_t in, const block *b) {
    static const sx_filter reduce = {.r = 3, .stride = 2}, same = {.r = 3, .pad_r = 1, .pad_s = 1};
    char name[SX_NAME_SIZE];
    snprintf(name, sizeof name, "%s.pool", b->name);
    return sx_net_pool(net, in, b->reduces ? reduce : same, b->reduces ? "max" : "average", name);
}

/* Adds a convolution; those of stride 1 keep the size of the image. */
static size_t add_row(sx_net *net, size_t in, const block *b, const row *at) {
    const bool same = at->stride == 1;
    const sx_filter filter = {.k = at->k == WIDTH ? b->width : at->k,
                              .r = at->r,
                              .s = at->s,
                              .stride = at->stride,
                              .pad_r = same ? at->r / 2 : 0,
                              .pad_s = same ? at->s / 2 : 0};
    return sx_net_conv(net, in, filter, "%s.%s", b->name, at->name);
}

static size_t add_block(sx_net *net, size_t in, const block *b) {
    sx_graph_node concat = {.kind = SX_OP_CONCAT, .axis = 1};
    size_t out[MAX_ROWS], part[MAX_ROWS + 1], n = 0, pool = 0;
    bool read[MAX_ROWS] = {false};
    if (b->reduces) pool = add_pool(net, in, b);
    for (size_t i = 0; i < b->n; i++) {
        const row *at = &b->rows[i];
        const size_t back = at->from == BEFORE ? 1 : at->from == SECOND ? 2 : 0;
        if (back) read[i - back] = true;
        if (at->from == POOLED) pool = add_pool(net, in, b);
        out[i] = add_row(net, back ? out[i - back] : at->from == POOLED ? pool : in, b, at);
    }
    for (size_t i = 0; i < b->n; i++)
        if (!read[i]) part[n++] = out[i];
    if (b->reduces) part[n++] = pool;
    snprintf(concat.name, sizeof concat.name, "%s.concat", b->name);
    return sx_net_other(net, &concat, part, n);
}

void sx_net_inception_v3(sx_net *net) {
    static const sx_filter pool = {.r = 3, .stride = 2};
    size_t at =
        sx_net_conv(net, sx_net_image(net, 299), (sx_filter){.k = 32, .r = 3, .stride = 2}, "Conv2d_1a_3x3");
    at = sx_net_conv(net, at, (sx_filter){.k = 32, .r = 3}, "Conv2d_2a_3x3");
    at = sx_net_conv(net, at, (sx_filter){.k = 64, .r = 3, .pad_r = 1, .pad_s = 1}, "Conv2d_2b_3x3");
    at = sx_net_pool(net, at, pool, "max", "maxpool1");
    at = sx_net_conv(net, at, (sx_filter){.k = 80, .r = 1}, "Conv2d_3b_1x1");
    at = sx_net_conv(net, at, (sx_filter){.k = 192, .r = 3}, "Conv2d_4a_3x3");
    at = sx_net_pool(net, at, pool, "max", "maxpool2");
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) at = add_block(net, at, &blocks[i]);
    sx_net_classify(net, sx_net_global_pool(net, at), 1000, "fc");
}
