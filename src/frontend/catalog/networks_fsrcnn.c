/* Dong, Loy, Tang (ECCV 2016): FSRCNN(56, 12, 4), which makes an image three times as high and wide. The last layer, a
 * transposed 9x9 convolution of stride 3, is the convolution of nine phases by 3x3 filters that computes the same, and its
 * channels become rows and columns. */
#include "frontend/catalog/networks.h"

void sx_net_fsrcnn(sx_net *net) {
    enum { ROWS = 360, COLUMNS = 640, SCALE = 3, MAPPINGS = 4 };
    static const sx_filter near = {.r = 3, .k = 12, .pad_r = 1, .pad_s = 1};
    const sx_graph_node shuffle = {.kind = SX_OP_RESHAPE, .name = "shuffle", .axis = -1};
    size_t at = sx_net_tensor(net, "image", 4, (const uint64_t[]){net->batch, 1, ROWS, COLUMNS});
    at = sx_net_conv(net, at, (sx_filter){.k = 56, .r = 5, .pad_r = 2, .pad_s = 2}, "features");
    at = sx_net_conv(net, at, (sx_filter){.k = 12, .r = 1}, "shrink");
    for (unsigned i = 1; i <= MAPPINGS; i++) at = sx_net_conv(net, at, near, "mapping%u", i);
    at = sx_net_conv(net, at, (sx_filter){.k = 56, .r = 1}, "expand");
    at = sx_net_conv(net, at, (sx_filter){.k = SCALE * SCALE, .r = 3, .pad_r = 1, .pad_s = 1}, "phases");
    const uint64_t large[] = {net->batch, 1, SCALE * ROWS, SCALE * COLUMNS};
    (void)sx_net_shaped(net, &shuffle, 4, large, &at, 1);
}
