/* Networks of inverted residuals: MobileNet v2 (Sandler et al., CVPR 2018, Table 2) and MnasNet-B1 (Tan et
 * al., CVPR 2019, and its released model), both of width 1.0. A block expands its channels by a 1x1
 * convolution, filters each on its own, and projects back; where the shape stays, what enters is added. */
#include "frontend/catalog/networks.h"

/* A stage: n blocks of k channels, the first with the stride. */
typedef struct stage {
    uint32_t expansion, k, n, stride, filter;
} stage;

static size_t add_block(sx_net *net, size_t in, const stage *s, uint32_t stride, unsigned block) {
    const uint32_t c = sx_net_extent(net, in, 1), wide = c * s->expansion, pad = s->filter / 2;
    size_t at = in;
    if (s->expansion > 1) at = sx_net_conv(net, at, (sx_filter){.k = wide, .r = 1}, "block%u.expand", block);
    const sx_filter depthwise = {
        .k = wide, .r = s->filter, .stride = stride, .pad_r = pad, .pad_s = pad, .groups = wide};
    at = sx_net_conv(net, at, depthwise, "block%u.depthwise", block);
    at = sx_net_conv(net, at, (sx_filter){.k = s->k, .r = 1}, "block%u.project", block);
    return stride == 1 && c == s->k ? sx_net_add(net, at, in, "block%u.add", block) : at;
}

/* A whole network of an image of 224 x 224. */
static void build_mobile(sx_net *net, const stage *stages, size_t n) {
    const sx_filter stem = {.k = 32, .r = 3, .stride = 2, .pad_r = 1, .pad_s = 1};
    size_t at = sx_net_conv(net, sx_net_image(net, 224), stem, "stem");
    unsigned block = 1;
    for (size_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < stages[i].n; j++, block++)
            at = add_block(net, at, &stages[i], j == 0 ? stages[i].stride : 1, block);
    at = sx_net_conv(net, at, (sx_filter){.k = 1280, .r = 1}, "head");
    sx_net_classify(net, sx_net_global_pool(net, at), 1000, "classifier");
}

void sx_net_mobilenet_v2(sx_net *net) {
    static const stage stages[] = {
        {1, 16, 1, 1, 3}, {6, 24, 2, 2, 3},  {6, 32, 3, 2, 3},  {6, 64, 4, 2, 3},
        {6, 96, 3, 1, 3}, {6, 160, 3, 2, 3}, {6, 320, 1, 1, 3},
    };
    build_mobile(net, stages, sizeof stages / sizeof *stages);
}

void sx_net_mnasnet_b1(sx_net *net) {
    static const stage stages[] = {
        {1, 16, 1, 1, 3}, {3, 24, 3, 2, 3},  {3, 40, 3, 2, 5},  {6, 80, 3, 2, 5},
        {6, 96, 2, 1, 3}, {6, 192, 4, 2, 5}, {6, 320, 1, 1, 3},
    };
    build_mobile(net, stages, sizeof stages / sizeof *stages);
}
