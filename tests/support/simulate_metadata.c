/* Metadata of formats, counted on drawn tensors (docs/sparse.md, section 3): which loops make a rank, and which of its
 * coordinates and fibers hold a non-zero in each tile. */
#include "support/zeros_oracle.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The ranks of a tensor's tiles at a level. */
typedef struct rank_map {
    int n;
    int of[SX_ZEROS_LOOPS]; /* the rank that a loop belongs to; -1: none */
} rank_map;

/* Metadata and payload words of every tile of a tensor at a level. */
struct sx_zeros_tiles {
    sx_zeros_groups tile;
    double (*words)[2];
    uint64_t size; /* words of a tile */
};

/* Whether every rank of a tensor is one dimension of its own, so that coordinates are iterations of loops. */
static bool is_plain(const sx_zeros_nest *z, int v) {
    const sx_tensor *tensor = &z->problem->tensor[v];
    unsigned seen = 0;
    for (int r = 0; r < tensor->n_ranks; r++) {
        int n = 0;
        for (int d = 0; d < z->problem->n_dims; d++) {
            if (!tensor->coef[r][d] || z->problem->size[d] == 1) continue;
            if (seen >> d & 1 || llabs(tensor->coef[r][d]) != 1) return false;
            seen |= 1u << d;
            n++;
        }
        if (n > 1) return false;
    }
    return true;
}

static bool is_compressed(const sx_zeros_nest *z, const sx_tensor_format *format) {
    for (int r = 0; r < format->n_ranks; r++)
        if (sx_rank_compressed((sx_rank_kind)z->arch->sparse.rank[format->first + r].kind)) return true;
    return false;
}

/* Whether a set of names holds a dimension. */
static bool holds_dim(const sx_zeros_nest *z, uint32_t set, int d) {
    const sx_sparse *sparse = &z->arch->sparse;
    for (int i = 0; i < sparse->n_names; i++)
        if (set >> i & 1 && strcasecmp(sparse->name[i], z->problem->dim_name[d]) == 0) return true;
    return false;
}

/* The loops over a tensor's dimensions from a level to another one, innermost first; their number. */
static int list_loops(const sx_zeros_nest *z, int v, int low, int high, int *list) {
    int n = 0;
    for (int i = 0; i < z->n_loops; i++)
        if (z->loop[i].level >= low && z->loop[i].level <= high && sx_zeros_indexes(z, v, z->loop[i].dim))
            list[n++] = i;
    return n;
}

/* How many loops of a list a rank takes, from number `at` on in steps of 1 or -1; 0 where it is for others. */
static int count_loops_of_rank(const sx_zeros_nest *z, const sx_rank_format *rank, const int *list, int n,
                               int at, int step) {
    int taken = 1;
    if (!rank->n_flattened) return 1;
    for (int k = 0; k < rank->n_flattened; k++) {
        if (!holds_dim(z, rank->flattened[k], z->loop[list[at]].dim)) continue;
        for (at += step; at >= 0 && at < n && holds_dim(z, rank->flattened[k], z->loop[list[at]].dim);
             at += step)
            taken++;
        return taken;
    }
    return 0;
}

/* Gives the loops of a list to the ranks of a format from number `inner` on; false where loops are left over. From the
 * outermost loop on, ranks that are for other loops end up outside all others. */
static bool give_loops(const sx_zeros_nest *z, const sx_tensor_format *format, const int *list, int n,
                       int inner, rank_map *out) {
    const sx_rank_format *rank = &z->arch->sparse.rank[format->first];
    int step = format->inner_to_outer ? 1 : -1, at = step > 0 ? 0 : n - 1, outside = 0, place = 0;
    for (int i = inner; i < format->n_ranks && at >= 0 && at < n; i++) {
        int r = step > 0 ? i : format->n_ranks - 1 - (i - inner),
            taken = count_loops_of_rank(z, &rank[r], list, n, at, step);
        if (!taken) {
            outside++;
            continue;
        }
        for (; taken > 0; taken--, at += step) out->of[list[at]] = step > 0 ? i : place;
        place++;
    }
    if (at >= 0 && at < n) return false;
    for (int i = 0; i < n && step < 0; i++)
        out->of[list[i]] = format->n_ranks - 1 - outside - out->of[list[i]];
    return true;
}

/* Finds the ranks of a tensor's tiles at a level; false where they are not counted here. *out has no loops yet. */
static bool find_ranks(const sx_zeros_nest *z, int v, int level, rank_map *out) {
    const sx_tensor_format *format = sx_zeros_format(z, v, level);
    int list[SX_ZEROS_LOOPS], child = sx_zeros_child(z, v, level), inner = 0;
    int below = list_loops(z, v, 0, child, list);
    if (!format) {
        out->n = 1;
        for (int n = list_loops(z, v, 0, level, list); n > 0; n--) out->of[list[n - 1]] = 0;
        return true;
    }
    if (below) {
        if (!is_compressed(z, format) || !find_ranks(z, v, child, out)) return false;
        inner = out->n;
    }
    out->n = format->n_ranks;
    int n = list_loops(z, v, child + 1, level, list);
    return inner <= out->n && give_loops(z, format, list, n, inner, out);
}

/* Counts, for every tile, the groups that a rank and those outside it tell apart and that hold a non-zero. */
static sx_status count_present(sx_zeros_nest *z, int v, int level, const rank_map *ranks, int rank,
                               uint64_t *count) {
    sx_zeros_groups g = {.n = 1};
    for (int i = 0; i < z->n_loops; i++)
        if (z->loop[i].level <= level && ranks->of[i] >= rank) sx_zeros_split(&g, i, z->loop[i].n, 1);
    uint64_t inside = g.n;
    for (int i = 0; i < z->n_loops; i++)
        if (z->loop[i].level > level && sx_zeros_indexes(z, v, z->loop[i].dim))
            sx_zeros_split(&g, i, z->loop[i].n, 1);
    g.met = calloc(g.n, sizeof *g.met);
    if (!g.met) return sx_error_memory();
    do g.met[sx_zeros_group(z, &g)] |= z->filled[v][sx_zeros_word(z, v)];
    while (sx_zeros_next(z));
    for (uint64_t i = 0; i < g.n; i++) count[i / inside] += g.met[i];
    free(g.met);
    return SX_OK;
}

/* Adds the words of one rank to those of a tile. */
static void add_rank(sx_rank_kind kind, double fibers, double f, double present, double filled, bool data,
                     double words[2]) {
    double metadata = 0, payload = filled;
    if (kind == SX_RANK_CP || kind == SX_RANK_RLE) metadata = filled;
    if (kind == SX_RANK_B) metadata = present * f;
    if (kind == SX_RANK_UOP) payload = present * (f + 1);
    if (kind == SX_RANK_UB) metadata = payload = fibers * f;
    words[0] += metadata;
    words[1] += data ? 0 : payload;
}

/* Counts the metadata of all tiles. `count` has room for the tiles of all ranks and one more. */
static sx_status count_tiles(sx_zeros_nest *z, int v, int level, const rank_map *ranks, uint64_t *count,
                             struct sx_zeros_tiles *out) {
    const sx_tensor_format *format = sx_zeros_format(z, v, level);
    uint64_t tiles = out->tile.n, fiber[SX_MAX_FORMAT_RANKS + 1];
    double outside = 1;
    int top = ranks->n - 1, counted = format->inner_to_outer ? 0 : top, data = 0;
    for (int r = 0; r <= ranks->n; r++) {
        SX_TRY(count_present(z, v, level, ranks, r, &count[(uint64_t)r * tiles]));
        fiber[r] = 1;
        for (int i = 0; i < z->n_loops; i++)
            if (z->loop[i].level <= level && ranks->of[i] == r) fiber[r] *= z->loop[i].n;
        out->size *= fiber[r];
    }
    while (fiber[data] == 1 && data != counted) data++;
    for (int r = top; r >= 0; outside *= (double)fiber[r], r--) {
        if (fiber[r] == 1 && r != counted) continue;
        for (uint64_t i = 0; i < tiles; i++)
            add_rank((sx_rank_kind)z->arch->sparse.rank[format->first + r].kind, outside, (double)fiber[r],
                     (double)count[(uint64_t)(r + 1) * tiles + i], (double)count[(uint64_t)r * tiles + i],
                     r == data, out->words[i]);
    }
    return SX_OK;
}

/* Counts the metadata of a tensor at a level. */
static sx_status count_level(sx_zeros_nest *z, int v, int level) {
    rank_map *ranks = malloc(sizeof *ranks);
    if (!ranks) return sx_error_memory();
    memset(ranks->of, -1, sizeof ranks->of);
    bool found = find_ranks(z, v, level, ranks);
    sx_status status = SX_OK;
    struct sx_zeros_tiles *t = found ? calloc(1, sizeof *t) : NULL;
    if (found && !t) status = sx_error_memory();
    if (t) {
        z->tiles[v][level] = t;
        t->size = t->tile.n = 1;
        for (int i = 0; i < z->n_loops; i++)
            if (z->loop[i].level > level && sx_zeros_indexes(z, v, z->loop[i].dim))
                sx_zeros_split(&t->tile, i, z->loop[i].n, 1);
        t->words = calloc(t->tile.n, sizeof *t->words);
        uint64_t *count = calloc((size_t)(ranks->n + 1) * t->tile.n, sizeof *count);
        status = t->words && count ? count_tiles(z, v, level, ranks, count, t) : sx_error_memory();
        free(count);
    }
    free(ranks);
    return status;
}

sx_status sx_zeros_metadata_new(sx_zeros_nest *z) {
    for (int v = 0; v < z->problem->n_tensors; v++)
        for (int s = 0; s < z->arch->n_levels && is_plain(z, v); s++)
            if (sx_zeros_keeps(z, s, v) && sx_zeros_format(z, v, s)) SX_TRY(count_level(z, v, s));
    return SX_OK;
}

void sx_zeros_metadata_free(sx_zeros_nest *z) {
    for (int v = 0; v < SX_MAX_TENSORS; v++)
        for (int s = 0; s < SX_MAX_LEVELS; s++) {
            if (z->tiles[v][s]) free(z->tiles[v][s]->words);
            free(z->tiles[v][s]);
        }
}

void sx_zeros_metadata_add(const sx_zeros_nest *z, int v, int level, int kind, sx_zeros *out) {
    const struct sx_zeros_tiles *t = z->tiles[v][level];
    if (!t) return;
    const double *words = t->words[sx_zeros_group(z, &t->tile)];
    for (int i = 0; i < 2; i++) {
        out->metadata[level][v][kind][i] += words[i] / (double)t->size;
        out->fill_metadata[level][v][i] += words[i] / (double)t->size;
    }
}
