/* Tiles of sparse tensors: ranks, metadata, blocks. The rules are those of sparse_ranks.c and sparse_exact.c. */
#include "model/frame/zeros.h"
#include "model/sparse_cost.h"

bool sx_frame_has_zeros(const sx_model *model) {
    const struct sx_sparse_model *sparse = model->sparse;
    bool covered = !sparse->timeloop && !sparse->chooses && !sparse->any_placed;
    for (int s = 0; s < model->n_levels; s++)
        for (int v = 0; v < model->n_tensors; v++)
            covered &= !sparse->format[s][v] || sparse->format[s][v]->whole;
    return covered;
}

/* Whether the ranks of the next inner level are the first of a level's, which has more. */
static bool ranks_fit(const sx_frame_held *inner, const sx_frame_held *outer) {
    if (inner->n_ranks >= outer->n_ranks) return false;
    for (int r = 0; r < inner->n_ranks && inner->packed; r++)
        if (inner->format->rank[r].kind != outer->format->rank[r].kind) return false;
    return true;
}

/* Takes in which levels keep a tensor. */
static void set_held(sx_cost_frame *f, int v) {
    struct sx_frame_zeros *z = f->zeros;
    const struct sx_sparse_model *sparse = f->model->sparse;
    int child = -1;
    unsigned on = 0;
    bool skips = false;
    z->kept[v] = f->kept[v];
    z->sound[v] = true;
    for (int s = 0; s < f->n_levels; s++) {
        on |= sparse->on[s][v];
        skips |= sparse->skips_on[s][v];
        if (!(f->kept[v] >> s & 1)) continue;
        sx_frame_held *h = &z->held[v][s];
        const sx_format_model *format = sparse->format[s][v];
        *h = (sx_frame_held){.format = format, .child = (int8_t)child, .parent = -1, .ratio = 1};
        h->on = (uint8_t)(on & sparse->thin);
        h->skips = skips;
        h->n_ranks = format ? format->n_ranks : 1;
        h->ranked = format != NULL;
        h->packed = format && format->compressed;
        if (child >= 0) {
            sx_frame_held *inner = &z->held[v][child];
            inner->parent = (int8_t)s;
            inner->ranked |= h->ranked;
            h->fits = h->packed && ranks_fit(inner, h);
            z->sound[v] &= sx_sparse_hand_over(f->model, v, format, child, inner->format) == SX_LEGAL;
        }
        child = s;
        on = 0;
        skips = false;
    }
}

/* The ranks of a tile, the inner ones those of the tile inside it. */
typedef struct rank_chain {
    int n, known; /* known: probabilities that are set */
    double fiber[SX_MAX_FORMAT_RANKS];
    double sub[SX_MAX_FORMAT_RANKS + 1]; /* words below a coordinate; the last: of the tile */
    double empty[SX_MAX_FORMAT_RANKS + 1];
} rank_chain;

/* The fibers of the outermost rank over the tile of the next inner level. */
static double count_fibers(const sx_cost_frame *f, int v, int s, int child) {
    double extent[SX_MAX_DIMS];
    sx_frame_tile parts;
    if (!(f->zeros->mixed >> v & 1)) return f->words[v][s] / f->words[v][child];
    for (int d = 0; d < f->n_dims; d++) extent[d] = f->extent[s][d] / f->extent[child][d];
    return sx_frame_words(&f->tensor[v], extent, &parts);
}

/* Adds the ranks of a level. */
static void add_ranks(const sx_cost_frame *f, int v, int s, const sx_frame_held *h, bool tiled,
                      rank_chain *out) {
    int inner = tiled ? out->n : 0, top = h->n_ranks - 1;
    out->sub[0] = 1;
    for (int r = inner; r < top; r++) {
        out->fiber[r] = 1;
        out->sub[r + 1] = out->sub[r];
    }
    double fibers = tiled ? count_fibers(f, v, s, h->child) : f->words[v][s];
    out->fiber[top] = fibers;
    out->sub[top + 1] = fibers > 1 ? f->words[v][s] : out->sub[top];
    if (out->known > inner + 1 || !tiled) out->known = tiled ? inner + 1 : 0;
    out->n = h->n_ranks;
}

double sx_frame_find_empty(const sx_cost_frame *f, int v, double words) {
    return sx_sparse_empty(f->sparse, v, (uint64_t)words);
}

/* The metadata of a tile. */
static double count_bits(const sx_cost_frame *f, int v, const sx_frame_held *h, rank_chain *ranks) {
    const struct sx_remembered *memo = sx_frame_memo(f, v);
    int n = h->n_ranks + (isinf(h->format->most_bits) ? 1 : 0);
    for (int r = ranks->known; r < n; r++)
        ranks->empty[r] = r > 0 && ranks->sub[r] == ranks->sub[r - 1]
                              ? ranks->empty[r - 1]
                              : sx_frame_empty(f, v, memo, ranks->sub[r]);
    if (n > ranks->known) ranks->known = n;
    return sx_exact_rank_words(h->format, h->n_ranks, ranks->fiber, ranks->empty, NULL);
}

/* Vector accesses per full vector. */
static double vector_ratio(const sx_cost_frame *f, int v, int s) {
    double block = f->zeros->block[v][s], density = f->zeros->density[v], words = f->words[v][s];
    if (block == 1 || density >= 1) return 1;
    return sx_sparse_blocks(f->sparse, v, s, (uint64_t)words, (uint32_t)block) / (words * density / block);
}

bool sx_frame_hold(sx_cost_frame *f, int v) {
    struct sx_frame_zeros *z = f->zeros;
    const sx_sparse_level *level = f->model->sparse->level;
    rank_chain ranks;
    if (z->kept[v] != f->kept[v]) set_held(f, v);
    if (!z->sound[v]) return false;
    ranks.n = ranks.known = 0;
    for (uint32_t left = f->kept[v]; left; left &= left - 1) {
        int s = __builtin_ctz(left);
        sx_frame_held *h = &z->held[v][s];
        if (!h->ranked) continue;
        bool tiled = h->packed && h->child >= 0 && f->words[v][h->child] > 1;
        if (tiled && !h->fits) return false;
        add_ranks(f, v, s, h, tiled, &ranks);
        if (!h->format) continue;
        h->bits = level[s].width > 0 ? count_bits(f, v, h, &ranks) : 0;
        if (h->packed) h->ratio = vector_ratio(f, v, s);
    }
    return true;
}
