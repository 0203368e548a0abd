/* He et al. (CVPR 2016), Table 1. Layers are called as in the most common implementation, which has the
 * strides of the deeper networks in their 3x3 convolutions (in the paper they are in the 1x1 before). */
#include "frontend/catalog/networks.h"

#include <stdio.h>

/* A residual block: two 3x3 convolutions or, `deep`, a bottleneck; and the sum with what enters it, which
 * passes a convolution where its shape differs. */
static size_t add_block(sx_net *net, size_t in, uint32_t width, uint32_t stride, bool deep,
                        const char *name) {
    const uint32_t out = deep ? 4 * width : width;
    const sx_filter point = {.k = width, .r = 1}, wide = {.k = out, .r = 1};
    const sx_filter strided = {.k = width, .r = 3, .stride = stride, .pad_r = 1, .pad_s = 1};
    const sx_filter next = {.k = width, .r = 3, .pad_r = 1, .pad_s = 1};
    size_t at, shortcut = in;
    if (deep) {
        at = sx_net_conv(net, in, point, "%s.conv1", name);
        at = sx_net_conv(net, at, strided, "%s.conv2", name);
        at = sx_net_conv(net, at, wide, "%s.conv3", name);
    } else {
        at = sx_net_conv(net, in, strided, "%s.conv1", name);
        at = sx_net_conv(net, at, next, "%s.conv2", name);
    }
    if (sx_net_extent(net, in, 1) != out)
        shortcut =
            sx_net_conv(net, in, (sx_filter){.k = out, .r = 1, .stride = stride}, "%s.downsample", name);
    return sx_net_add(net, at, shortcut, "%s.add", name);
}

/* A residual network: blocks per stage. */
static void build_resnet(sx_net *net, const unsigned blocks[4], bool deep) {
    const sx_filter stem = {.k = 64, .r = 7, .stride = 2, .pad_r = 3, .pad_s = 3};
    const sx_filter window = {.r = 3, .stride = 2, .pad_r = 1, .pad_s = 1};
    size_t at = sx_net_conv(net, sx_net_image(net, 224), stem, "conv1");
    at = sx_net_pool(net, at, window, "max", "maxpool");
    uint32_t width = 64;
    for (unsigned stage = 1; stage <= 4; stage++, width *= 2) {
        for (unsigned block = 0; block < blocks[stage - 1]; block++) {
            char name[SX_NAME_SIZE];
            snprintf(name, sizeof name, "layer%u.%u", stage, block);
            at = add_block(net, at, width, block == 0 && stage > 1 ? 2 : 1, deep, name);
        }
    }
    sx_net_classify(net, sx_net_global_pool(net, at), 1000, "fc");
}

void sx_net_resnet18(sx_net *net) {
    build_resnet(net, (const unsigned[]){2, 2, 2, 2}, false);
}

void sx_net_resnet50(sx_net *net) {
    build_resnet(net, (const unsigned[]){3, 4, 6, 3}, true);
}

void sx_net_resnet101(sx_net *net) {
    build_resnet(net, (const unsigned[]){3, 4, 23, 3}, true);
}
