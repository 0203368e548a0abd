#include "support/random_chain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static int draw(sx_rng *rng, int low, int high) {
    return (int)sx_rng_range(rng, low, high);
}

/* A layer after a tensor of the given shape; false where nothing is left of it. */
static bool draw_layer(sx_rng *rng, const sx_chain *chain, int l, int *extent, sx_chain_layer *layer) {
    const int before = l ? chain->layer[l - 1].channels : chain->extent[2];
    layer->kind = (sx_chain_kind)draw(rng, 0, l ? 2 : 1);
    layer->channels = layer->kind == SX_CHAIN_CONV ? draw(rng, 1, 4) : before;
    for (int a = 0; a < 2; a++) {
        const bool plain = layer->kind == SX_CHAIN_ADD || draw(rng, 0, 2) == 0;
        layer->window[a] = plain ? 1 : draw(rng, 1, 3);
        layer->stride[a] = plain ? 1 : draw(rng, 1, 2);
        layer->dilation[a] = plain ? 1 : draw(rng, 1, 2);
        layer->pad[a] = plain ? 0 : draw(rng, 0, layer->window[a] / 2);
        const int reach = layer->dilation[a] * (layer->window[a] - 1) + 1;
        if (extent[a] + 2 * layer->pad[a] < reach) return false;
        extent[a] = (extent[a] + 2 * layer->pad[a] - reach) / layer->stride[a] + 1;
    }
    return true;
}

/* Whether a layer may add a tensor: both have one shape. */
static bool may_add(const sx_chain *chain, int source, const int (*shape)[3], int l) {
    (void)chain;
    return memcmp(shape[source], shape[l - 1], sizeof *shape) == 0;
}

bool sx_chain_may_slice(const sx_chain *chain, int sliced) {
    if (sliced + 1 > chain->n_layers || chain->layer[0].kind == SX_CHAIN_ADD) return false;
    for (int l = 1; l < sliced; l++)
        if (chain->layer[l].kind != SX_CHAIN_DEPTHWISE) return false;
    if (chain->layer[0].kind != SX_CHAIN_CONV || chain->layer[sliced].kind != SX_CHAIN_CONV) return false;
    for (int l = sliced + 1; l < chain->n_layers; l++)
        for (int a = 0; a < 2; a++)
            if (chain->layer[l].window[a] != 1 || chain->layer[l].stride[a] != 1 || chain->layer[l].pad[a])
                return false;
    for (int l = 1; l < chain->n_layers; l++)
        if (chain->layer[l].kind == SX_CHAIN_ADD && chain->layer[l].source > 0) return false;
    return true;
}

static void draw_loops(sx_rng *rng, sx_chain *chain, const int *extent) {
    static const sx_chain_axis orders[][2] = {
        {SX_CHAIN_ROW, SX_CHAIN_ROW},         {SX_CHAIN_COLUMN, SX_CHAIN_COLUMN},
        {SX_CHAIN_ROW, SX_CHAIN_COLUMN},      {SX_CHAIN_COLUMN, SX_CHAIN_ROW},
        {SX_CHAIN_CHANNEL, SX_CHAIN_CHANNEL}, {SX_CHAIN_CHANNEL, SX_CHAIN_ROW},
        {SX_CHAIN_ROW, SX_CHAIN_CHANNEL},
    };
    const int order = draw(rng, 0, 6), sliced = draw(rng, 1, 2);
    const bool both = orders[order][0] != orders[order][1], slices = order >= 4;
    if (slices && !sx_chain_may_slice(chain, sliced)) return;
    chain->sliced = slices ? sliced : 0;
    chain->spills = slices && sliced + 1 == chain->n_layers && draw(rng, 0, 1);
    for (; chain->n_loops < (both ? 2 : 1); chain->n_loops++) {
        const sx_chain_axis axis = orders[order][chain->n_loops];
        const int size = axis == SX_CHAIN_CHANNEL ? chain->layer[0].channels : extent[axis];
        chain->loop[chain->n_loops].axis = axis;
        chain->loop[chain->n_loops].tile = draw(rng, 1, size);
        for (int m = 0; m < chain->n_layers; m++)
            chain->keep[m][chain->n_loops] =
                (sx_chain_keep)(draw(rng, 0, 5) ? draw(rng, 0, 1) : SX_CHAIN_FULL);
    }
    for (int d = 0; d < chain->n_loops && slices;
         d++) /* cut tensors are kept by rows; other slices are never asked for */
        for (int m = 1; m < chain->n_layers; m++)
            if (chain->loop[d].axis == SX_CHAIN_CHANNEL) chain->keep[m][d] = SX_CHAIN_RETAIN;
}

bool sx_random_chain_layers(sx_rng *rng, int largest, int layers, sx_chain *chain) {
    int shape[SX_MAX_CHAIN + 1][3];
    memset(chain, 0, sizeof *chain);
    for (int a = 0; a < 3; a++)
        chain->extent[a] = shape[0][a] = draw(rng, a < 2 ? 2 : 1, a < 2 ? largest : 3);
    const int n = draw(rng, 1, layers);
    for (int l = 0; l < n; l++) {
        sx_chain_layer *layer = &chain->layer[l];
        memcpy(shape[l + 1], shape[l], sizeof *shape);
        if (!draw_layer(rng, chain, l, shape[l + 1], layer)) return false;
        shape[l + 1][2] = layer->channels;
        chain->n_layers++;
        layer->source = draw(rng, -1, l - 1 > 0 ? l - 1 : 0);
        if (layer->kind == SX_CHAIN_ADD && layer->source >= 0 &&
            !may_add(chain, layer->source, (const int(*)[3])shape, l + 1))
            layer->source = -1;
    }
    return true;
}

bool sx_random_chain(sx_rng *rng, sx_chain *chain) {
    int extent[3];
    if (!sx_random_chain_layers(rng, 9, 4, chain)) return false;
    sx_chain_shape(chain, chain->n_layers, extent);
    chain->rereads = draw(rng, 0, 1);
    draw_loops(rng, chain, extent);
    for (int l = 0; l < chain->n_layers; l++) chain->layer[l].weight_depth = draw(rng, 0, chain->n_loops);
    return true;
}

void sx_print_chain(const sx_chain *c) {
    print_error("%dx%dx%d, %d loops, sliced %d, spills %d, rereads %d\n", c->extent[0], c->extent[1],
                c->extent[2], c->n_loops, c->sliced, c->spills, c->rereads);
    for (int l = 0; l < c->n_layers; l++)
        print_error(
            "  kind %d window %dx%d stride %dx%d dilation %dx%d pad %dx%d channels %d source %d weights %d\n",
            (int)c->layer[l].kind, c->layer[l].window[0], c->layer[l].window[1], c->layer[l].stride[0],
            c->layer[l].stride[1], c->layer[l].dilation[0], c->layer[l].dilation[1], c->layer[l].pad[0],
            c->layer[l].pad[1], c->layer[l].channels, c->layer[l].source, c->layer[l].weight_depth);
    for (int d = 0; d < c->n_loops; d++) {
        print_error("  loop over axis %d by %d, keep", (int)c->loop[d].axis, c->loop[d].tile);
        for (int m = 0; m < c->n_layers; m++) print_error(" %d", (int)c->keep[m][d]);
        print_error("\n");
    }
}
