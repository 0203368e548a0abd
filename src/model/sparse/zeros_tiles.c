/* Tiles of sparse tensors: ranks, metadata, blocks. The rules are those of sparse/ranks.c and sparse/exact.c. */
#include "model/sparse/charge.h"
#include "model/sparse/zeros.h"

bool sx_zeros_cover(const sx_model *model) {
    const struct sx_sparse_model *sparse = model->sparse;
    bool covered = !sparse->timeloop && !sparse->chooses && !sparse->any_placed;
    for (int s = 0; s < model->n_levels; s++)
        for (int v = 0; v < model->n_tensors; v++)
            covered &= !sparse->format[s][v] || sparse->format[s][v]->whole;
    return covered;
}

/* Whether the ranks of the next inner level are the first of a level's, which has more. */
static bool ranks_fit(const sx_zeros_held *inner, const sx_zeros_held *outer) {
    if (inner->n_ranks >= outer->n_ranks) return false;
    for (int r = 0; r < inner->n_ranks && inner->packed; r++)
        if (inner->format->rank[r].kind != outer->format->rank[r].kind) return false;
    return true;
}

/* Lists a tensor's actions. */
static void list_actions(sx_zero_pass *f, int v) {
    const sx_zeros_held *held = f->held[v];
    sx_zeros_actions *out = &f->actions[v];
    *out = (sx_zeros_actions){.alike = true};
    for (int s = f->n_levels - 1; s >= 0; s--) {
        if (!(f->kept[v] >> s & 1) || !held[s].on) continue;
        out->level[out->n] = (uint8_t)s;
        out->on[out->n] = held[s].on;
        out->alike &= held[s].on == out->on[0];
        out->all |= held[s].on;
        out->n_skips = (uint8_t)(out->n_skips + held[s].skips);
        out->n++;
    }
}

/* Takes in which levels keep a tensor. */
__attribute__((noinline)) static void set_held(sx_zero_pass *f, int v) {
    const struct sx_sparse_model *sparse = f->model->sparse;
    int child = -1;
    unsigned on = 0;
    bool skips = false;
    f->held_for[v] = f->kept[v];
    f->sound[v] = true;
    for (int s = 0; s < f->n_levels; s++) {
        on |= sparse->on[s][v];
        skips |= sparse->skips_on[s][v];
        if (!(f->kept[v] >> s & 1)) continue;
        sx_zeros_held *h = &f->held[v][s];
        const sx_format_model *format = sparse->format[s][v];
        *h = (sx_zeros_held){.format = format, .child = (int8_t)child, .parent = -1, .ratio = 1};
        h->on = (uint8_t)(on & sparse->thin);
        h->skips = skips;
        h->n_ranks = format ? format->n_ranks : 1;
        h->ranked = format != NULL;
        h->packed = format && format->compressed;
        h->listed = format && !isinf(format->most_bits) && !(f->mixed >> v & 1);
        if (child >= 0) {
            sx_zeros_held *inner = &f->held[v][child];
            inner->parent = (int8_t)s;
            inner->ranked |= h->ranked;
            h->fits = h->packed && ranks_fit(inner, h);
            f->sound[v] &= sx_sparse_hand_over(f->model, v, format, child, inner->format) == SX_LEGAL;
        }
        child = s;
        on = 0;
        skips = false;
    }
    list_actions(f, v);
}

/* The ranks of a tile, the inner ones those of the tile inside it. */
typedef struct rank_chain {
    int n, known; /* known: probabilities that are set, at least that of a word */
    double fiber[SX_MAX_FORMAT_RANKS];
    double sub[SX_MAX_FORMAT_RANKS + 1]; /* words below a coordinate; the last: of the tile */
    double empty[SX_MAX_FORMAT_RANKS + 1];
} rank_chain;

/* The fibers of the outermost rank over the tile of the next inner level, of a tensor whose tiles are no products of
 * extents. */
__attribute__((noinline)) static double count_fibers(const sx_zero_pass *f, int v, int s, int child) {
    uint32_t extent[SX_CORE_DIMS];
    for (int d = 0; d < f->n_dims; d++)
        extent[d] = (uint32_t)(sx_core_at(f->st, (unsigned)d, s)->extent /
                               sx_core_inner(f->st, (unsigned)d, child + 1));
    return (double)sx_shape_words(&f->model->shape[v], extent);
}

/* Adds the ranks of a level, the outermost of which has a given number of fibers. */
static inline void add_ranks(const sx_zeros_held *h, bool tiled, double words, double fibers,
                             rank_chain *out) {
    int inner = tiled ? out->n : 0, top = h->n_ranks - 1;
    out->sub[0] = 1;
    for (int r = inner; r < top; r++) {
        out->fiber[r] = 1;
        out->sub[r + 1] = out->sub[r];
    }
    out->fiber[top] = fibers;
    out->sub[top + 1] = fibers > 1 ? words : out->sub[top];
    int known = inner + 1;
    if (out->known > known) out->known = known;
    out->n = top + 1;
}

double sx_zeros_find_empty(const sx_zero_pass *f, int v, double words) {
    return sx_sparse_empty(f->sparse, v, (uint64_t)words);
}

/* Sets the probabilities that tiles below the first n ranks are empty. */
__attribute__((noinline)) static void set_empty(const sx_zero_pass *f, int v, int n, rank_chain *ranks) {
    const struct sx_remembered *memo = sx_zeros_memo(f, v);
    int r = ranks->known;
    for (; r < n; r++)
        ranks->empty[r] = ranks->sub[r] == ranks->sub[r - 1] ? ranks->empty[r - 1]
                                                             : sx_zeros_empty(f, v, memo, ranks->sub[r]);
    ranks->known = r;
}

/* The metadata of a tile whose ranks are lists of coordinates, as many as the tile has tiles below each. */
static inline double count_listed(const sx_format_model *format, double words, const rank_chain *ranks) {
    double bits = 0;
    bool data = true;
    for (int r = 0; r < ranks->n; r++) {
        if (ranks->fiber[r] == 1 && r + 1 != ranks->n) continue;
        double filled = words / ranks->sub[r] * (1 - ranks->empty[r]), payloads = filled;
        if (data && filled != 0) payloads = data = 0;
        bits += filled * format->rank[r].bits[0];
        bits += payloads * format->rank[r].bits[1];
    }
    return bits;
}

/* The metadata of any tile. */
__attribute__((noinline)) static double count_bits(const sx_zero_pass *f, int v, const sx_zeros_held *h,
                                                   rank_chain *ranks) {
    set_empty(f, v, h->n_ranks + (isinf(h->format->most_bits) ? 1 : 0), ranks);
    return sx_exact_rank_words(h->format, h->n_ranks, ranks->fiber, ranks->empty, NULL);
}

/* Vector accesses per full vector. */
static double vector_ratio(const sx_zero_pass *f, int v, int s, double words) {
    double block = f->block[v][s], density = f->density[v];
    if (block == 1 || density >= 1) return 1;
    return sx_sparse_blocks(f->sparse, v, s, (uint64_t)words, (uint32_t)block) / (words * density / block);
}

/* Whether tiles that are products of extents are those that were held before. */
static bool is_held(const sx_zero_pass *f, int v) {
    bool same = !(f->mixed >> v & 1);
    for (uint32_t left = f->kept[v]; left && same; left &= left - 1) {
        int s = __builtin_ctz(left);
        same = f->held[v][s].words == f->st->words[v][s];
    }
    return same;
}

bool sx_zeros_hold(sx_zero_pass *f, int v) {
    if (f->held_for[v] != f->kept[v])
        set_held(f, v);
    else if (is_held(f, v))
        return true;
    const sx_sparse_level *level = f->model->sparse->level;
    const double *words = f->st->words[v];
    bool mixed = f->mixed >> v & 1;
    rank_chain ranks;
    if (!f->sound[v]) return false;
    ranks.n = 0;
    ranks.known = 1;
    ranks.empty[0] = f->blank[v];
    for (uint32_t left = f->kept[v]; left; left &= left - 1) {
        int s = __builtin_ctz(left);
        sx_zeros_held *h = &f->held[v][s];
        double tile = h->words = words[s], fibers = tile;
        if (!h->ranked) continue;
        bool tiled = h->packed && h->child >= 0 && words[h->child] > 1;
        if (tiled && !h->fits) {
            f->held_for[v] = 0; /* what is held is of two mappings */
            return false;
        }
        if (tiled) fibers = mixed ? count_fibers(f, v, s, h->child) : tile / words[h->child];
        add_ranks(h, tiled, tile, fibers, &ranks);
        if (!h->format) continue;
        h->bits = 0;
        if (level[s].width > 0 && h->listed) {
            if (ranks.known < ranks.n) set_empty(f, v, ranks.n, &ranks);
            h->bits = count_listed(h->format, tile, &ranks);
        } else if (level[s].width > 0) {
            h->bits = count_bits(f, v, h, &ranks);
        }
        if (h->packed) h->ratio = vector_ratio(f, v, s, tile);
    }
    return true;
}
