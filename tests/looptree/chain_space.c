#include "looptree/chain_space.h"

typedef struct lister {
    sx_chain chain; /* the way that is being made */
    sx_chain_walk walk;
    int extent[3]; /* that loops cut: rows and columns of the last tensor, channels of the first one made */
    const sx_chain_visitor *visitor;
} lister;

static bool visit_chain(lister *l) {
    sx_chain_moments moments;
    const bool ok =
        sx_chain_moments_init(&moments, &l->walk) && l->visitor->visit(l->visitor->data, &l->chain, &moments);
    sx_chain_moments_fini(&moments);
    return ok;
}

static bool wants_size(const lister *l, uint64_t size) {
    return !l->visitor->wants || l->visitor->wants(l->visitor->data, size);
}

/* Whether what becomes of a tensor at a loop makes a difference: a slice is used in its own iteration of the channel loop
 * alone, and sums stay until they are complete. */
static bool is_choice(const sx_chain *chain, int m, int d) {
    const int sums = chain->sliced ? chain->sliced + 1 : -1;
    return chain->loop[d].axis == SX_CHAIN_CHANNEL ? m == 0 : m != sums;
}

/* Words on chip at least while layer m + 1 runs, the tensors before m not counted. */
static uint64_t size_at(const lister *l, int m) {
    const sx_chain_walk *w = &l->walk;
    uint64_t most = 0;
    for (int i = 0; i < w->n_steps; i++) {
        if (!w->words[m + 1][i].made) continue;
        uint64_t words = w->words[m][i].during + w->words[m + 1][i].during;
        for (int k = m + 2; k <= l->chain.n_layers; k++) words += w->words[k][i].before;
        if (words > most) most = words;
    }
    return most;
}

static bool list_keeps(lister *l, int m, int d);

/* Walks tensor m, and goes on to those before it where that may lead to something wanted. */
static bool list_before(lister *l, int m) {
    if (!sx_chain_walk_tensor(&l->walk, m)) return false;
    if (m < l->chain.n_layers && !wants_size(l, size_at(l, m))) return true;
    return m ? list_keeps(l, m - 1, 0) : visit_chain(l);
}

/* Chooses what becomes of tensor m at loops from d on, and of the tensors before it. */
static bool list_keeps(lister *l, int m, int d) {
    sx_chain *chain = &l->chain;
    if (d >= chain->n_loops || d > 2) return list_before(l, m);
    const int last = is_choice(chain, m, d) ? SX_CHAIN_FULL : SX_CHAIN_RETAIN;
    for (int keep = SX_CHAIN_RETAIN; keep <= last; keep++) {
        chain->keep[m][d] = (sx_chain_keep)keep;
        if (!list_keeps(l, m, d + 1)) return false;
    }
    return true;
}

/* Lists what may become of all tensors. */
static bool list_walks(lister *l) {
    const bool ok =
        sx_chain_walk_init(&l->walk, &l->chain) == SX_CHAIN_OK && list_before(l, l->chain.n_layers);
    sx_chain_walk_fini(&l->walk);
    return ok;
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
            if (!list_walks(l)) return false;
        }
    return true;
}

/* Words of the weights of a layer, of one slice where the channel loop cuts them; the last slice may be smaller, but
 * is not the first. */
static uint64_t least_weights(const sx_chain *chain, int layer, int slice) {
    const sx_chain_layer *l = &chain->layer[layer - 1];
    const int before = layer > 1 ? chain->layer[layer - 2].channels : chain->extent[2];
    const int out = layer <= chain->sliced ? slice : l->channels,
              in = chain->sliced && layer == chain->sliced + 1 ? slice : before;
    if (l->kind == SX_CHAIN_ADD) return 0;
    return (uint64_t)(l->window[0] * l->window[1]) * (uint64_t)out *
           (uint64_t)(l->kind == SX_CHAIN_CONV ? in : 1);
}

/* Words on chip at least, whatever becomes of the tensors: in the first step, where nothing is there yet, a layer that runs
 * has its weights, what it reads and what it makes on chip. What follows the sums need not run in it. */
static uint64_t least_size(const lister *l) {
    const sx_chain *chain = &l->chain;
    uint64_t least = 0, made = 0;
    int tile[3] = {l->extent[0], l->extent[1], l->extent[2]};
    for (int d = 0; d < chain->n_loops; d++) tile[chain->loop[d].axis] = chain->loop[d].tile;
    for (int m = chain->n_layers; m >= 0; m--) {
        int extent[3];
        sx_chain_shape(chain, m, extent);
        for (int a = 0; a < 2 && m < chain->n_layers; a++) {
            const sx_chain_layer *layer = &chain->layer[m];
            const int high = (tile[a] - 1) * layer->stride[a] - layer->pad[a] +
                             layer->dilation[a] * (layer->window[a] - 1) + 1;
            tile[a] = high < extent[a] ? high : extent[a];
            if (tile[a] < 1) return least; /* padding alone: the layers before need not run */
        }
        const bool is_sliced = m >= 1 && m <= chain->sliced;
        const uint64_t weights = m < chain->n_layers ? least_weights(chain, m + 1, tile[2]) : 0;
        const uint64_t read =
            (uint64_t)tile[0] * (uint64_t)tile[1] * (uint64_t)(is_sliced ? tile[2] : extent[2]);
        if (m < chain->n_layers && (!chain->sliced || m <= chain->sliced) && weights + read + made > least)
            least = weights + read + made;
        made = read;
    }
    return least;
}

/* Chooses the tiles of loops from d on. */
static bool list_tiles(lister *l, int d) {
    sx_chain *chain = &l->chain;
    if (d >= chain->n_loops || d > 2) {
        return !wants_size(l, least_size(l)) || list_exchanges(l);
    }
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

bool sx_chain_list(const sx_chain *chain, uint32_t nests, const sx_chain_visitor *visitor) {
    lister l = {.chain = *chain, .visitor = visitor};
    sx_chain_shape(chain, chain->n_layers, l.extent);
    l.extent[SX_CHAIN_CHANNEL] = chain->layer[0].channels;
    /* First those with few tiles, then those that take the least room. */
    static const sx_chain_nest order[] = {SX_NEST_NONE,      SX_NEST_ROW,         SX_NEST_COLUMN,
                                          SX_NEST_CHANNEL,   SX_NEST_ROW_CHANNEL, SX_NEST_CHANNEL_ROW,
                                          SX_NEST_ROW_COLUMN};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (nests & order[i] && !list_nest(&l, order[i])) return false;
    return true;
}
