/* Networks of inverted residuals: MobileNet v2 (Sandler et al., CVPR 2018, Table 2) and MnasNet-B1 (Tan et
 * al., CVPR 2019, and its released model), both of width 1.0. A block expands its channels by a 1x1
 * convolution, filters each on its own, and projects back. */
#include "frontend/catalog_networks.h"

/* A stage: n blocks of k channels, the first with the stride. */
typedef struct stage {
    uint32_t expansion, k, n, stride, filter;
} stage;

/* Adds the blocks of all stages from c channels of p x p; returns the last channels. */
static uint32_t add_stages(sx_net *net, const stage *stages, size_t n, uint32_t c, uint32_t p) {
    unsigned block = 1;
    for (size_t i = 0; i < n; i++) {
        const stage *s = &stages[i];
        for (uint32_t j = 0; j < s->n; j++, block++, c = s->k) {
            const uint32_t wide = c * s->expansion, stride = j == 0 ? s->stride : 1;
            if (s->expansion > 1)
                sx_net_conv(net, (sx_conv){.c = c, .k = wide, .p = p, .q = p, .r = 1, .s = 1},
                            "block%u.expand", block);
            p /= stride;
            const sx_conv depthwise = {.c = 1,
                                       .k = 1,
                                       .p = p,
                                       .q = p,
                                       .r = s->filter,
                                       .s = s->filter,
                                       .groups = wide,
                                       .stride_p = stride,
                                       .stride_q = stride};
            sx_net_conv(net, depthwise, "block%u.depthwise", block);
            sx_net_conv(net, (sx_conv){.c = wide, .k = s->k, .p = p, .q = p, .r = 1, .s = 1},
                        "block%u.project", block);
        }
    }
    return c;
}

/* A whole network of an image of 224 x 224. */
static void mobile(sx_net *net, const stage *stages, size_t n) {
    sx_net_square(net, 3, 32, 112, 3, 2, "stem");
    const uint32_t c = add_stages(net, stages, n, 32, 112);
    sx_net_square(net, c, 1280, 7, 1, 1, "head");
    sx_net_dense(net, 1280, 1000, "classifier");
}

void sx_net_mobilenet_v2(sx_net *net) {
    static const stage stages[] = {
        {1, 16, 1, 1, 3}, {6, 24, 2, 2, 3},  {6, 32, 3, 2, 3},  {6, 64, 4, 2, 3},
        {6, 96, 3, 1, 3}, {6, 160, 3, 2, 3}, {6, 320, 1, 1, 3},
    };
    mobile(net, stages, sizeof stages / sizeof *stages);
}

void sx_net_mnasnet_b1(sx_net *net) {
    static const stage stages[] = {
        {1, 16, 1, 1, 3}, {3, 24, 3, 2, 3},  {3, 40, 3, 2, 5},  {6, 80, 3, 2, 5},
        {6, 96, 2, 1, 3}, {6, 192, 4, 2, 5}, {6, 320, 1, 1, 3},
    };
    mobile(net, stages, sizeof stages / sizeof *stages);
}
