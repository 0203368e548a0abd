/* Which loops of a mapping make the ranks of each tensor's format, and whether formats fit (docs/sparse.md,
 * section 3). Both semantics share these rules. */
#include "model/sparse/pass.h"

#include <string.h>

/* A loop over a tensor's dimension. */
typedef struct single {
    uint64_t n;
    uint8_t dim;
} single;

/* The loops of a tensor between two levels that keep it, innermost first. */
typedef struct single_list {
    const sx_sparse_state *state;
    int tensor, low, high; /* levels */
    int n, below;          /* below: the first of them stand for the tile of the next inner level */
    single item[SX_MAX_LEVELS * 2 * SX_MAX_DIMS];
} single_list;

/* Ranks in the making, innermost first; room at both ends. */
typedef struct rank_list {
    int first, n;
    uint64_t fiber[2 * SX_MAX_FORMAT_RANKS], tile[2 * SX_MAX_FORMAT_RANKS];
} rank_list;

static sx_verdict make_verdict(sx_reason reason, int level, int tensor) {
    return (sx_verdict){reason, (int8_t)level, (int8_t)tensor, -1, 0, 0};
}

static const sx_verdict good = {SX_LEGAL, -1, -1, -1, 0, 0};

/* Adds loops of a nest; then, as Timeloop does, one of one iteration for every other dimension. */
static int add_slot(const sx_model *model, const sx_loop *loop, const sx_loop *end, bool spatial,
                    sx_full_loop *out) {
    unsigned seen = 0;
    int n = 0;
    for (; loop < end; loop++) {
        out[n++] = (sx_full_loop){loop->n, loop->dim, spatial};
        seen |= 1u << loop->dim;
    }
    for (uint8_t d = 0; d < model->n_dims && model->sparse->timeloop; d++)
        if (!(seen >> d & 1)) out[n++] = (sx_full_loop){1, d, spatial};
    return n;
}

/* Lays out the complete nest, unless that is done. */
static void lay_out(sx_sparse_state *state) {
    const sx_model *model = state->model;
    const sx_nest *nest = state->nest;
    if (state->laid_out) return;
    state->laid_out = true;
    for (int s = 0; s < model->n_levels; s++) {
        const sx_loop *spatial = nest->spatial + nest->spatial_of[s];
        const sx_loop *spatial_end = nest->spatial + nest->spatial_of[s + 1];
        int n = 0;
        if (model->level[s].fanout_x * model->level[s].fanout_y > 1 || spatial < spatial_end)
            n = add_slot(model, spatial, spatial_end, true, state->loop[s]);
        n += add_slot(model, nest->temporal + nest->temporal_of[s], nest->temporal + nest->temporal_of[s + 1],
                      false, state->loop[s] + n);
        state->n_loops[s] = (uint8_t)n;
    }
}

/* Finds the tiles, with the levels around each that keep the tensor. By the exact semantics, the action of a level
 * that does not keep its target is that of the next outer one. */
static void find_tiles(sx_sparse_state *state, const sx_mapping *mapping) {
    const sx_model *model = state->model;
    for (int v = 0; v < model->n_tensors; v++) {
        int child = -1;
        unsigned on = 0;
        bool skips = false;
        for (int s = 0; s < model->n_levels; s++) {
            sx_sparse_tile *t = &state->tile[v][s];
            bool kept = mapping->level[s].keep >> v & 1;
            t->words = t->number = kept ? state->nest->tile[v][s] : 0;
            if (kept && model->sparse->placed[v])
                t->number = sx_positions_tile(model->sparse->placed[v], state->nest->extent[s]);
            t->format = kept ? model->sparse->format[s][v] : NULL;
            t->child = (int8_t)(kept ? child : -1);
            t->parent = -1;
            t->n_ranks = 0;
            on |= model->sparse->on[s][v];
            skips |= model->sparse->skips_on[s][v];
            t->on = (uint8_t)(kept && !model->sparse->timeloop ? on : 0);
            t->acts = t->on != 0;
            t->skips = t->on && skips;
            t->instances = (double)state->nest->above[s];
            t->density = 1;
            t->possible = true;
            if (!kept) continue;
            if (child >= 0) state->tile[v][child].parent = (int8_t)s;
            child = s;
            on = 0;
            skips = false;
        }
    }
}

sx_reason sx_sparse_hand_over(const sx_model *model, int tensor, const sx_format_model *outside, int level,
                              const sx_format_model *here) {
    const sx_metadata_store *store = &model->arch->level[level].metadata;
    bool packed = here && here->compressed;
    if (!outside || !outside->compressed) return packed ? SX_UNCOMPRESSED_PARENT : SX_LEGAL;
    if (packed) return outside->n_ranks < here->n_ranks ? SX_FORMATS_DIFFER : SX_LEGAL;
    if (!store->decompresses) return SX_NO_DECOMPRESSION;
    return model->shape[tensor].output && !store->compresses ? SX_NO_COMPRESSION : SX_LEGAL;
}

/* Whether each level can take a tensor from the next outer one and hand it back. */
static sx_verdict check_hierarchy(const sx_sparse_state *state, int v) {
    const sx_model *model = state->model;
    if (model->sparse->nested >> v & 1) return good;
    for (int s = model->n_levels - 1; s >= 0; s--) {
        const sx_sparse_tile *t = &state->tile[v][s];
        if (t->words == 0 || t->parent < 0) continue;
        sx_reason reason = sx_sparse_hand_over(model, v, state->tile[v][t->parent].format, s, t->format);
        if (reason != SX_LEGAL) return make_verdict(reason, reason == SX_FORMATS_DIFFER ? t->parent : s, v);
    }
    return good;
}

/* Lists the loops over a tensor's dimensions between two levels. */
static void list_singles(const sx_sparse_state *state, int v, int low, int high, single_list *out) {
    unsigned dims = state->model->sparse->dims[v];
    int n = 0;
    for (int s = low; s <= high; s++)
        for (int i = 0; i < state->n_loops[s]; i++) {
            const sx_full_loop *loop = &state->loop[s][i];
            if (dims >> loop->dim & 1) out->item[n++] = (single){loop->n, loop->dim};
        }
    out->state = state;
    out->tensor = v;
    out->low = low;
    out->high = high;
    out->n = n;
    out->below = 0;
}

/* The tile up to and including a loop of the list, as sx_density_empty takes it. */
static uint64_t tile_at(const single_list *list, int index) {
    const sx_sparse_state *state = list->state;
    const sx_model *model = state->model;
    uint32_t extent[SX_MAX_DIMS];
    if (list->n == 0) return 1; /* of a tensor without dimensions */
    if (index == list->n - 1 && !model->sparse->timeloop) return state->tile[list->tensor][list->high].number;
    for (int d = 0; d < model->n_dims; d++)
        extent[d] = list->low > 0 ? state->nest->extent[list->low - 1][d] : 1;
    int left = index + 1 - list->below;
    for (int s = list->low; s <= list->high && left > 0; s++)
        for (int i = 0; i < state->n_loops[s] && left > 0; i++) {
            const sx_full_loop *loop = &state->loop[s][i];
            uint64_t reach = (uint64_t)extent[loop->dim] * loop->n;
            extent[loop->dim] = (uint32_t)(reach < model->size[loop->dim] ? reach : model->size[loop->dim]);
            left -= model->sparse->dims[list->tensor] >> loop->dim & 1;
        }
    return sx_sparse_number(model, list->tensor, extent);
}

/* Without pre-tiling, the innermost loop of each dimension covers what lies below, too. */
static void cover_below(single_list *list) {
    const sx_sparse_state *state = list->state;
    const uint32_t *below = state->nest->extent[list->low - 1];
    unsigned seen = 0;
    for (int i = 0; i < list->n; i++) {
        single *at = &list->item[i];
        if (!(seen >> at->dim & 1)) at->n *= below[at->dim];
        seen |= 1u << at->dim;
    }
    for (uint8_t d = 0; d < state->model->n_dims; d++) {
        if (below[d] == 1 || seen >> d & 1 || !(state->model->sparse->dims[list->tensor] >> d & 1)) continue;
        memmove(list->item + 1, list->item, (size_t)list->n * sizeof *list->item);
        list->item[0] = (single){below[d], d};
        list->n++;
        list->below++;
    }
}

/* Takes the loops of one rank, from number *at on in steps of +1 or -1; false where the rank has a rule that
 * leaves the first one out. */
static bool take_rank(const single_list *list, const sx_format_model *format, int rank, int step, int *at,
                      uint64_t *fiber, uint64_t *tile) {
    const sx_model *model = list->state->model;
    const single *first = &list->item[*at];
    uint32_t extent[SX_MAX_DIMS];
    unsigned rule = format ? 0 : UINT16_MAX;
    if (format && format->rank[rank].n_flattened) {
        for (int i = 0; i < format->rank[rank].n_flattened && !rule; i++)
            if (format->rank[rank].flattened[i] >> first->dim & 1) rule = format->rank[rank].flattened[i];
        if (!rule) return false;
    }
    for (int d = 0; d < model->n_dims; d++) extent[d] = 1;
    extent[first->dim] = (uint32_t)first->n;
    int outermost = *at;
    *at += step;
    for (; rule && *at >= 0 && *at < list->n; *at += step) {
        const single *next = &list->item[*at];
        if (!(rule >> next->dim & 1) && next->n > 1) break;
        extent[next->dim] *= (uint32_t)next->n;
        if (step > 0 && !model->sparse->timeloop) outermost = *at;
    }
    *tile = tile_at(list, outermost);
    *fiber = sx_shape_words(&model->shape[list->tensor], extent);
    return true;
}

/* The tile of a rank without loops: by Timeloop's rules that of the first loop; else it does not count. */
static uint64_t unused_tile(const single_list *list) {
    return list->state->model->sparse->timeloop ? tile_at(list, 0) : 1;
}

static void push_back(rank_list *ranks, uint64_t fiber, uint64_t tile) {
    ranks->fiber[ranks->first + ranks->n] = fiber;
    ranks->tile[ranks->first + ranks->n++] = tile;
}

static void push_front(rank_list *ranks, uint64_t fiber, uint64_t tile) {
    ranks->first--;
    ranks->n++;
    ranks->fiber[ranks->first] = fiber;
    ranks->tile[ranks->first] = tile;
}

/* Gives loops to ranks from the outermost on; whether loops are left over. */
static bool from_outside(const single_list *list, const sx_format_model *format, int inner, int n_ranks,
                         rank_list *out) {
    int at = list->n - 1, rank = n_ranks;
    out->first = SX_MAX_FORMAT_RANKS;
    while (rank > inner && at >= 0) {
        while (at >= 0 && list->item[at].n <= 1) at--;
        if (at < 0) break;
        uint64_t fiber, tile;
        rank--;
        if (take_rank(list, format, rank, -1, &at, &fiber, &tile))
            push_front(out, fiber, tile);
        else
            push_back(out, 1, unused_tile(list));
    }
    for (; rank > inner; rank--) push_front(out, 1, unused_tile(list));
    while (at >= 0 && list->item[at].n <= 1) at--;
    return at >= 0;
}

/* The same from the innermost on. */
static bool from_inside(const single_list *list, const sx_format_model *format, int inner, int n_ranks,
                        rank_list *out) {
    int at = 0, rank = inner;
    while (rank < n_ranks && at < list->n) {
        while (at < list->n && list->item[at].n <= 1) at++;
        if (at == list->n) break;
        uint64_t fiber = 1, tile = 1;
        if (!take_rank(list, format, rank, 1, &at, &fiber, &tile)) fiber = tile = 1;
        push_back(out, fiber, tile);
        rank++;
    }
    for (; rank < n_ranks; rank++) push_back(out, 1, unused_tile(list));
    while (at < list->n && list->item[at].n <= 1) at++;
    return at < list->n;
}

/* Gives all loops to the outermost rank, over the tile of the next inner level or, where that is not part of the
 * format, over a word. */
static void give_all(sx_sparse_state *state, int v, int s, int inner, bool tiled) {
    sx_sparse_tile *t = &state->tile[v][s];
    const sx_nest *nest = state->nest;
    int top = t->n_ranks - 1;
    for (int r = inner; r < top; r++) {
        t->fiber[r] = 1;
        t->sub[r + 1] = t->sub[r];
    }
    if (nest->perfect && !tiled) {
        t->fiber[top] = t->words;
    } else if (nest->perfect && state->model->shape[v].unit) {
        t->fiber[top] = t->words / state->tile[v][t->child].words;
    } else {
        uint32_t extent[SX_MAX_DIMS];
        for (int d = 0; d < SX_MAX_DIMS; d++) extent[d] = 1;
        if (!tiled && t->child >= 0) memcpy(extent, nest->extent[t->child], sizeof extent);
        for (int l = nest->spatial_of[t->child + 1]; l < nest->spatial_of[s + 1]; l++)
            extent[nest->spatial[l].dim] *= nest->spatial[l].n;
        for (int l = nest->temporal_of[t->child + 1]; l < nest->temporal_of[s + 1]; l++)
            extent[nest->temporal[l].dim] *= nest->temporal[l].n;
        t->fiber[top] = sx_shape_words(&state->model->shape[v], extent);
    }
    t->sub[top + 1] = t->fiber[top] > 1 ? t->number : t->sub[top];
}

/* Gives the loops between a tensor's level and the next inner one to ranks, from number `inner` on. */
static sx_reason list_ranks(sx_sparse_state *state, int v, int s, int inner, bool tiled) {
    sx_sparse_tile *t = &state->tile[v][s];
    const sx_format_model *format = t->format;
    single_list list;
    rank_list ranks;
    ranks.first = ranks.n = 0;
    lay_out(state);
    list_singles(state, v, t->child + 1, s, &list);
    if (!tiled && t->child >= 0) cover_below(&list);
    bool left = format && format->inner_to_outer ? from_inside(&list, format, inner, t->n_ranks, &ranks)
                                                 : from_outside(&list, format, inner, t->n_ranks, &ranks);
    for (int r = inner; r < t->n_ranks && !left; r++) {
        t->fiber[r] = ranks.fiber[ranks.first + r - inner];
        t->sub[r + 1] = ranks.tile[ranks.first + r - inner];
        if (t->fiber[r] == 1 && !state->model->sparse->timeloop) t->sub[r + 1] = t->sub[r];
    }
    return left ? SX_FEW_RANKS : SX_LEGAL;
}

/* Finds the ranks of a tensor at a level; those of inner levels are known. Timeloop lets a rank without loops
 * reach as far as the first loop, and one that takes loops from the innermost on only as far as that. */
static sx_reason find_ranks(sx_sparse_state *state, int v, int s) {
    const sx_model *model = state->model;
    sx_sparse_tile *t = &state->tile[v][s];
    const sx_format_model *format = t->format;
    const sx_sparse_tile *child = t->child >= 0 ? &state->tile[v][t->child] : NULL;
    int n_ranks = format ? format->n_ranks : 1, inner = 0;
    bool tiled = format && format->compressed && child && child->words > 1;
    if (tiled) {
        inner = child->n_ranks;
        if (inner > n_ranks) return SX_FORMATS_DIFFER;
        for (int r = 0; r < inner && child->format && child->format->compressed; r++)
            if (format->rank[r].kind != child->format->rank[r].kind) return SX_FORMATS_DIFFER;
        memcpy(t->fiber, child->fiber, (size_t)inner * sizeof *t->fiber);
        memcpy(t->sub, child->sub, ((size_t)inner + 1) * sizeof *t->sub);
    }
    t->n_ranks = (uint8_t)n_ranks;
    t->sub[0] = 1;
    if (format && format->whole && inner < n_ranks && !model->sparse->timeloop) {
        give_all(state, v, s, inner, tiled);
        return SX_LEGAL;
    }
    return list_ranks(state, v, s, inner, tiled);
}

void sx_rank_widths(const sx_sparse_tile *tile, int rank, double bits[2]) {
    int counted = tile->format->inner_to_outer ? 0 : tile->n_ranks - 1;
    bool left_out = tile->fiber[rank] == 1 && rank != counted;
    bits[0] = left_out ? 0 : tile->format->rank[rank].bits[0];
    bits[1] = left_out ? 0 : tile->format->rank[rank].bits[1];
}

double sx_rank_words_bits(const sx_sparse_tile *tile, double (*words)[2]) {
    double bits = 0;
    for (int r = 0; tile->format && r < tile->n_ranks; r++) {
        double width[2];
        sx_rank_widths(tile, r, width);
        bits += words[r][0] * width[0];
        bits += words[r][1] * width[1];
    }
    return bits;
}

/* Whether the ranks of a tile matter: it has a format, or is part of one that has. */
static bool has_ranks(const sx_sparse_state *state, int v, int s) {
    const sx_sparse_tile *t = &state->tile[v][s];
    if (!t->words) return false;
    return state->model->sparse->timeloop || t->format ||
           (t->parent >= 0 && state->tile[v][t->parent].format);
}

sx_verdict sx_sparse_ranks(sx_sparse_state *state, const sx_mapping *mapping) {
    const sx_model *model = state->model;
    state->laid_out = false;
    if (model->sparse->timeloop) lay_out(state);
    find_tiles(state, mapping);
    sx_verdict verdict = good;
    if (!model->sparse->formatted) return verdict;
    for (int v = 0; v < model->n_tensors && verdict.reason == SX_LEGAL; v++)
        verdict = check_hierarchy(state, v);
    for (int v = 0; v < model->n_tensors; v++)
        for (int s = 0; s < model->n_levels && verdict.reason == SX_LEGAL; s++)
            if (has_ranks(state, v, s)) {
                sx_reason reason = find_ranks(state, v, s);
                if (reason != SX_LEGAL) verdict = make_verdict(reason, s, v);
            }
    return verdict;
}
