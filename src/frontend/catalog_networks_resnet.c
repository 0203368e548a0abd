/* He et al. (CVPR 2016), Table 1. Layers are called as in the most common implementation, which has the
 * strides of the deeper networks in their 3x3 convolutions (in the paper they are in the 1x1 before). */
#include "frontend/catalog_networks.h"

#include <stdio.h>

/* A residual network: blocks per stage; blocks of two 3x3 convolutions or, `deep`, bottlenecks. */
static void resnet(sx_net *net, const unsigned blocks[4], bool deep) {
    const uint32_t expansion = deep ? 4 : 1;
    uint32_t c = 64, p = 56, width = 64;
    sx_net_square(net, 3, 64, 112, 7, 2, "conv1");
    for (unsigned stage = 1; stage <= 4; stage++, width *= 2, p /= 2) {
        for (unsigned block = 0; block < blocks[stage - 1]; block++, c = width * expansion) {
            const uint32_t stride = block == 0 && stage > 1 ? 2 : 1;
            const struct {
                const char *name;
                bool there;
                uint32_t c, k, p, r, stride;
            } rows[] = {
                {"conv1", deep, c, width, p * stride, 1, 1},
                {"conv2", deep, width, width, p, 3, stride},
                {"conv3", deep, width, width * expansion, p, 1, 1},
                {"conv1", !deep, c, width, p, 3, stride},
                {"conv2", !deep, width, width, p, 3, 1},
                {"downsample", c != width * expansion, c, width * expansion, p, 1, stride},
            };
            for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char name[SX_NAME_SIZE];
                snprintf(name, sizeof name, "layer%u.%u.%s", stage, block, rows[i].name);
                if (rows[i].there)
                    sx_net_square(net, rows[i].c, rows[i].k, rows[i].p, rows[i].r, rows[i].stride, name);
            }
        }
    }
    sx_net_dense(net, c, 1000, "fc");
}

void sx_net_resnet18(sx_net *net) {
    resnet(net, (const unsigned[]){2, 2, 2, 2}, false);
}

void sx_net_resnet50(sx_net *net) {
    resnet(net, (const unsigned[]){3, 4, 6, 3}, true);
}

void sx_net_resnet101(sx_net *net) {
    resnet(net, (const unsigned[]){3, 4, 23, 3}, true);
}
