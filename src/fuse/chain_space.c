#include "fuse/chain_space.h"

typedef struct lister {
    sx_chain chain; /* the way that is being made */
    int extent[3];  /* that loops cut: rows and columns of the last tensor, channels of the first one made */
    sx_chain_visit visit;
    void *data;
} lister;

static bool visit_chain(lister *l) {
    sx_chain_moments moments;
    const bool ok = sx_chain_moments_init(&moments, &l->chain) == SX_CHAIN_OK &&
                    l->visit(l->data, &l->chain, &moments);
    sx_chain_moments_fini(&moments);
    return ok;
}

/* Whether what becomes of a tensor at a loop makes a difference: a slice is used in its own iteration of the channel loop
 * alone, and sums stay until they are complete. */
static bool is_choice(const sx_chain *chain, int m, int d) {
    const int sums = chain->sliced ? chain->sliced + 1 : -1;
    return chain->loop[d].axis == SX_CHAIN_CHANNEL ? m == 0 : m != sums;
}

/* Chooses what becomes of tensors from m on, at loops from d on. */
static bool list_keeps(lister *l, int m, int d) {
    sx_chain *chain = &l->chain;
    if (m == chain->n_layers) return visit_chain(l);
    if (d == chain->n_loops) return list_keeps(l, m + 1, 0);
    const int last = is_choice(chain, m, d) ? SX_CHAIN_FULL : SX_CHAIN_RETAIN;
    for (int keep = SX_CHAIN_RETAIN; keep <= last; keep++) {
        chain->keep[m][d] = (sx_chain_keep)keep;
        if (!list_keeps(l, m, d + 1)) return false;
    }
    return true;
}

/* Whether the channel loop may cut tensors 1 to `sliced`: depthwise layers between them, the next layer adds up, and what
 * follows has no window. */
static bool may_slice(const sx_chain *chain, int sliced) {
    if (sliced >= chain->n_layers || chain->layer[0].kind != SX_CHAIN_CONV ||
        chain->layer[sliced].kind != SX_CHAIN_CONV)
        return false;
    for (int l = 1; l < chain->n_layers; l++) {
        const sx_chain_layer *layer = &chain->layer[l];
        if (l < sliced && layer->kind != SX_CHAIN_DEPTHWISE) return false;
        if (layer->kind == SX_CHAIN_ADD && layer->source > 0) return false;
        for (int a = 0; a < 2 && l > sliced; a++)
            if (layer->window[a] != 1 || layer->stride[a] != 1 || layer->pad[a]) return false;
    }
    return true;
}

/* Chooses whether sums of the last tensor go to DRAM and whether an addition reads the input again. */
static bool list_exchanges(lister *l) {
    sx_chain *chain = &l->chain;
    bool adds_input = false;
    for (int i = 0; i < chain->n_layers; i++)
        adds_input |= chain->layer[i].kind == SX_CHAIN_ADD && chain->layer[i].source == 0;
    for (int spills = 0; spills <= (chain->sliced && chain->sliced + 1 == chain->n_layers); spills++)
        for (int rereads = 0; rereads <= adds_input; rereads++) {
            chain->spills = spills;
            chain->rereads = rereads;
            if (!list_keeps(l, 0, 0)) return false;
        }
    return true;
}

/* Chooses the tiles of loops from d on. */
static bool list_tiles(lister *l, int d) {
    sx_chain *chain = &l->chain;
    if (d == chain->n_loops) return list_exchanges(l);
    for (int tile = 1; tile < l->extent[chain->loop[d].axis]; tile++) {
        chain->loop[d].tile = tile;
        if (!list_tiles(l, d + 1)) return false;
    }
    return true;
}

static bool list_nest(lister *l, sx_chain_nest nest) {
    static const struct {
        sx_chain_nest nest;
        int n;
        sx_chain_axis axis[2];
    } nests[] = {{SX_NEST_NONE, 0, {0}},
                 {SX_NEST_ROW, 1, {SX_CHAIN_ROW}},
                 {SX_NEST_COLUMN, 1, {SX_CHAIN_COLUMN}},
                 {SX_NEST_ROW_COLUMN, 2, {SX_CHAIN_ROW, SX_CHAIN_COLUMN}},
                 {SX_NEST_CHANNEL, 1, {SX_CHAIN_CHANNEL}},
                 {SX_NEST_CHANNEL_ROW, 2, {SX_CHAIN_CHANNEL, SX_CHAIN_ROW}},
                 {SX_NEST_ROW_CHANNEL, 2, {SX_CHAIN_ROW, SX_CHAIN_CHANNEL}}};
    int i = 0;
    while (nests[i].nest != nest) i++;
    l->chain.n_loops = nests[i].n;
    for (int d = 0; d < nests[i].n; d++) l->chain.loop[d].axis = nests[i].axis[d];
    l->chain.sliced = 0;
    if (nest < SX_NEST_CHANNEL) return list_tiles(l, 0);
    for (int sliced = 1; sliced < l->chain.n_layers; sliced++) {
        l->chain.sliced = sliced;
        if (may_slice(&l->chain, sliced) && !list_tiles(l, 0)) return false;
    }
    return true;
}

bool sx_chain_list(const sx_chain *chain, uint32_t nests, sx_chain_visit visit, void *data) {
    lister l = {.chain = *chain, .visit = visit, .data = data};
    sx_chain_shape(chain, chain->n_layers, l.extent);
    l.extent[SX_CHAIN_CHANNEL] = chain->layer[0].channels;
    for (uint32_t nest = SX_NEST_NONE; nest <= SX_NEST_ROW_CHANNEL; nest <<= 1)
        if (nests & nest && !list_nest(&l, (sx_chain_nest)nest)) return false;
    return true;
}
