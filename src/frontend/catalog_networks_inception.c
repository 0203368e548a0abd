/* Szegedy et al. (CVPR 2016), as released: layers are called as in the most common implementation. A block is
 * a table of its convolutions; IN stands for the channels that enter it, WIDTH for a number of channels that
 * blocks of one kind differ in. */
#include "frontend/catalog_networks.h"

enum { IN = 0, WIDTH = 1 };

typedef struct row {
    const char *name;
    uint32_t c, k, r, s, stride;
} row;

static const row block_a[] = {
    {"branch1x1", IN, 64, 1, 1, 1},      {"branch5x5_1", IN, 48, 1, 1, 1},
    {"branch5x5_2", 48, 64, 5, 5, 1},    {"branch3x3dbl_1", IN, 64, 1, 1, 1},
    {"branch3x3dbl_2", 64, 96, 3, 3, 1}, {"branch3x3dbl_3", 96, 96, 3, 3, 1},
    {"branch_pool", IN, WIDTH, 1, 1, 1},
};
static const row block_b[] = {
    {"branch3x3", IN, 384, 3, 3, 2},
    {"branch3x3dbl_1", IN, 64, 1, 1, 1},
    {"branch3x3dbl_2", 64, 96, 3, 3, 1},
    {"branch3x3dbl_3", 96, 96, 3, 3, 2},
};
static const row block_c[] = {
    {"branch1x1", IN, 192, 1, 1, 1},           {"branch7x7_1", IN, WIDTH, 1, 1, 1},
    {"branch7x7_2", WIDTH, WIDTH, 1, 7, 1},    {"branch7x7_3", WIDTH, 192, 7, 1, 1},
    {"branch7x7dbl_1", IN, WIDTH, 1, 1, 1},    {"branch7x7dbl_2", WIDTH, WIDTH, 7, 1, 1},
    {"branch7x7dbl_3", WIDTH, WIDTH, 1, 7, 1}, {"branch7x7dbl_4", WIDTH, WIDTH, 7, 1, 1},
    {"branch7x7dbl_5", WIDTH, 192, 1, 7, 1},   {"branch_pool", IN, 192, 1, 1, 1},
};
static const row block_d[] = {
    {"branch3x3_1", IN, 192, 1, 1, 1},    {"branch3x3_2", 192, 320, 3, 3, 2},
    {"branch7x7x3_1", IN, 192, 1, 1, 1},  {"branch7x7x3_2", 192, 192, 1, 7, 1},
    {"branch7x7x3_3", 192, 192, 7, 1, 1}, {"branch7x7x3_4", 192, 192, 3, 3, 2},
};
static const row block_e[] = {
    {"branch1x1", IN, 320, 1, 1, 1},        {"branch3x3_1", IN, 384, 1, 1, 1},
    {"branch3x3_2a", 384, 384, 1, 3, 1},    {"branch3x3_2b", 384, 384, 3, 1, 1},
    {"branch3x3dbl_1", IN, 448, 1, 1, 1},   {"branch3x3dbl_2", 448, 384, 3, 3, 1},
    {"branch3x3dbl_3a", 384, 384, 1, 3, 1}, {"branch3x3dbl_3b", 384, 384, 3, 1, 1},
    {"branch_pool", IN, 192, 1, 1, 1},
};

/* A block of a kind: what enters it is p x p of c channels; strided convolutions have (p - 1) / 2 outputs. */
typedef struct block {
    const char *name;
    const row *rows;
    size_t n;
    uint32_t c, p, width;
} block;
#define BLOCK(name, rows, c, p, width)                                                                       \
    { name, rows, sizeof(rows) / sizeof *(rows), c, p, width }

static const block blocks[] = {
    BLOCK("Mixed_5b", block_a, 192, 35, 32),  BLOCK("Mixed_5c", block_a, 256, 35, 64),
    BLOCK("Mixed_5d", block_a, 288, 35, 64),  BLOCK("Mixed_6a", block_b, 288, 35, 0),
    BLOCK("Mixed_6b", block_c, 768, 17, 128), BLOCK("Mixed_6c", block_c, 768, 17, 160),
    BLOCK("Mixed_6d", block_c, 768, 17, 160), BLOCK("Mixed_6e", block_c, 768, 17, 192),
    BLOCK("Mixed_7a", block_d, 768, 17, 0),   BLOCK("Mixed_7b", block_e, 1280, 8, 0),
    BLOCK("Mixed_7c", block_e, 2048, 8, 0),
};

static void add_block(sx_net *net, const block *b) {
    for (size_t i = 0; i < b->n; i++) {
        const row *at = &b->rows[i];
        const uint32_t p = at->stride == 2 ? (b->p - 1) / 2 : b->p;
        const sx_conv conv = {.c = at->c == IN      ? b->c
                                   : at->c == WIDTH ? b->width
                                                    : at->c,
                              .k = at->k == WIDTH ? b->width : at->k,
                              .p = p,
                              .q = p,
                              .r = at->r,
                              .s = at->s,
                              .stride_p = at->stride,
                              .stride_q = at->stride};
        sx_net_conv(net, conv, "%s.%s", b->name, at->name);
    }
}

void sx_net_inception_v3(sx_net *net) {
    sx_net_square(net, 3, 32, 149, 3, 2, "Conv2d_1a_3x3");
    sx_net_square(net, 32, 32, 147, 3, 1, "Conv2d_2a_3x3");
    sx_net_square(net, 32, 64, 147, 3, 1, "Conv2d_2b_3x3");
    sx_net_square(net, 64, 80, 73, 1, 1, "Conv2d_3b_1x1");
    sx_net_square(net, 80, 192, 71, 3, 1, "Conv2d_4a_3x3");
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) add_block(net, &blocks[i]);
    sx_net_dense(net, 2048, 1000, "fc");
}
