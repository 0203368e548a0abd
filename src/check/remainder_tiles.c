/* T2 for remainders: what tiles of a level of one instance add to words that move once. Of a tile only the number of its
 * blocks along each dimension matters for what is fetched, and for room the smallest extent with that number. */
#include "check/remainders.h"

#include "base/vector.h"

#include <stdlib.h>

enum { MOST_TILES = 1 << 17, MOST_CUTS = 512 };

/* Tiles of a dimension that have about the same number of blocks: the smallest extent, the fewest blocks, and the words of
 * the last block at most, where it need not move the tile. */
typedef struct cut {
    int64_t extent, blocks, last;
} cut;

/* What was found for a level, what it keeps and the next levels outside that keep these tensors. */
typedef struct solved {
    int level;
    unsigned keep;
    int parent[SX_MAX_TENSORS];
    sx_wide least;
} solved;

struct sx_check_tilings {
    const sx_check_work *work;
    unsigned twice; /* tensors with a dimension in two ranks */
    int n_cuts[SX_MAX_DIMS];
    cut cut[SX_MAX_DIMS][MOST_CUTS];
    bool too_many;
    sx_vector solved;
};

/* A search for the best tile of a level. */
typedef struct tiling {
    const sx_check_tilings *t;
    int level;
    unsigned keep;
    bool top; /* one level outside: a dimension has one loop there */
    int64_t price[SX_MAX_TENSORS], once[SX_MAX_TENSORS], extent[SX_MAX_DIMS];
    const cut *at[SX_MAX_DIMS];
    sx_wide least;
} tiling;

/* Lists the cuts of a dimension; those whose blocks are within a ratio in eighths are put together, but for the whole. */
static void list_cuts(sx_check_tilings *t, int d, int64_t ratio) {
    int64_t size = t->work->space->c->problem.size[d];
    int n = 0;
    for (int64_t extent = size; extent > 0;) {
        int64_t blocks = (size - 1) / extent + 1, least = (size - 1) / blocks + 1;
        if (n > 1 && (8 * blocks <= ratio * t->cut[d][n - 1].blocks || n == MOST_CUTS)) {
            cut *last = &t->cut[d][n - 1];
            last->extent = least;
            last->last = size / (last->blocks > 3 ? last->blocks : 3);
        } else {
            t->cut[d][n++] = (cut){least, blocks, blocks > 2 ? size - (blocks - 1) * least : 0};
        }
        extent = least - 1;
    }
    t->n_cuts[d] = n;
}

/* Whether the words of tiles only grow with the blocks of a dimension: it has no stride in a window. */
static bool grows_with_blocks(const sx_check_work *work, int d) {
    const sx_problem *problem = &work->space->c->problem;
    for (int v = 0; v < problem->n_tensors; v++)
        for (int r = 0; r < problem->tensor[v].n_ranks; r++)
            if (work->shape->dims[v] & ~work->shape->solo[v] & 1u << d &&
                abs(problem->tensor[v].coef[r][d]) > 1)
                return false;
    return true;
}

/* Lists the cuts of all dimensions, as finely as there are few enough tiles. */
static void list_all_cuts(sx_check_tilings *t) {
    int64_t tiles = MOST_TILES + 1;
    for (int64_t ratio = 8; tiles > MOST_TILES && ratio < 64; ratio++) {
        tiles = 1;
        for (int d = 0; d < t->work->space->n_dims; d++) {
            bool grows = grows_with_blocks(t->work, d);
            list_cuts(t, d, grows ? ratio : 8);
            tiles = sx_capped_mul(tiles, t->n_cuts[d] == MOST_CUTS && !grows ? MOST_TILES + 1 : t->n_cuts[d]);
        }
    }
    t->too_many = tiles > MOST_TILES;
}

sx_status sx_check_tilings_new(const sx_check_work *work, sx_check_tilings **out) {
    const sx_problem *problem = &work->space->c->problem;
    sx_check_tilings *t = calloc(1, sizeof *t);
    if (!t) return sx_error_memory();
    t->work = work;
    t->solved = (sx_vector){.size = sizeof(solved)};
    for (int v = 0; v < problem->n_tensors; v++)
        for (int d = 0; d < problem->n_dims; d++) {
            int ranks = 0;
            for (int r = 0; r < problem->tensor[v].n_ranks; r++) ranks += problem->tensor[v].coef[r][d] != 0;
            if (ranks > 1 && problem->size[d] > 1) t->twice |= 1u << v;
        }
    list_all_cuts(t);
    *out = t;
    return SX_OK;
}

void sx_check_tilings_free(sx_check_tilings *t) {
    if (!t) return;
    sx_vector_clear(&t->solved);
    free(t);
}

/* The words of a rank that are fetched at all visits, where the innermost loop outside is on dimension `first`; 0: nothing is
 * known. */
static int64_t rank_words(const tiling *g, const sx_tensor *t, int r, int first) {
    const sx_problem *problem = &g->t->work->space->c->problem;
    int64_t blocks = 1, others = 1, sum, moving = problem->size[first] - (g->top ? 0 : g->at[first]->last);
    int n = 0, one = -1;
    for (int d = 0; d < problem->n_dims; d++) {
        if (!t->coef[r][d] || problem->size[d] == 1) continue;
        n++;
        one = d;
        blocks = sx_capped_mul(blocks, g->at[d]->blocks);
        if (d != first) others = sx_capped_mul(others, g->at[d]->blocks);
    }
    if (n == 0) return 1;
    if (t->coef[r][first]) return others == 1 ? moving : 0;
    if (n == 1) return problem->size[one];
    sum = blocks;
    for (int d = 0; d < problem->n_dims; d++)
        if (t->coef[r][d]) {
            int64_t each = labs((long)t->coef[r][d]) * (problem->size[d] - g->at[d]->blocks);
            sum = sx_capped_add(sum, sx_capped_mul(each, blocks / g->at[d]->blocks));
        }
    return sum;
}

/* The words of a tensor that flow into the level beyond those that it touches. */
static int64_t count_more(const tiling *g, int v, int first) {
    const sx_check_work *work = g->t->work;
    const sx_tensor *t = &work->space->c->problem.tensor[v];
    int64_t words = 1;
    if (!(work->shape->dims[v] >> first & 1) || g->t->twice >> v & 1) return 0;
    for (int d = 0; d < work->space->n_dims; d++)
        if (!(work->shape->dims[v] >> d & 1)) words = sx_capped_mul(words, g->at[d]->blocks);
    for (int r = 0; r < t->n_ranks; r++) words = sx_capped_mul(words, rank_words(g, t, r, first));
    return words > g->once[v] ? words - g->once[v] : 0;
}

/* Lowers the least to the tile at hand, for every innermost loop outside it. */
static void try_tile(tiling *g) {
    const sx_check_space *space = g->t->work->space;
    bool loops = false;
    for (int d = 0; d < space->n_dims; d++) {
        sx_wide sum = 0;
        if (g->at[d]->blocks == 1) continue;
        loops = true;
        for (int v = 0; v < space->n_tensors; v++)
            if (g->price[v] && g->keep >> v & 1) sum += (sx_wide)count_more(g, v, d) * g->price[v];
        if (sum < g->least) g->least = sum;
    }
    if (!loops) g->least = 0;
}

/* Goes through the tiles that fit from dimension d on; the extents of those that follow are 1. */
static void list_tiles(tiling *g, int d) {
    const sx_check_space *space = g->t->work->space;
    if (d == space->n_dims) {
        try_tile(g);
        return;
    }
    for (int i = g->t->n_cuts[d] - 1; i >= 0 && g->least > 0; i--) {
        g->at[d] = &g->t->cut[d][i];
        g->extent[d] = g->at[d]->extent;
        if (!sx_check_has_room(space, g->level, g->keep, g->extent)) break;
        list_tiles(g, d + 1);
    }
    g->extent[d] = 1;
}

int64_t sx_check_access_price(const sx_check_work *work, int v, int from, bool back) {
    const int64_t *of = work->energy.of[from][v];
    if (!work->space->c->problem.tensor[v].output) return of[SX_READ];
    return of[SX_UPDATE] + (back ? of[SX_READ] : 0);
}

bool sx_check_comes_back(const sx_check_work *work, int v) {
    const sx_check_case *c = work->space->c;
    return !c->problem.tensor[v].output || c->no_first_read_elision || work->shape->plain >> v & 1;
}

/* What a word that flows into a level beyond the first time costs there and at the level that it comes from. */
static int64_t word_price(const sx_check_work *work, int v, int into, int from) {
    bool back = sx_check_comes_back(work, v);
    return sx_check_access_price(work, v, from, back) + (back ? work->energy.of[into][v][SX_FILL] : 0);
}

/* The least energy that the tiles of a level add; -1 in `parent`: no level outside keeps a tensor. */
static sx_status solve_level(sx_check_tilings *t, int level, unsigned keep, const int *parent, sx_wide *out) {
    const sx_check_space *space = t->work->space;
    tiling g = {.t = t,
                .level = level,
                .keep = keep,
                .top = level + 2 == space->n_levels,
                .least = (sx_wide)1 << 100};
    solved next = {.level = level, .keep = keep};
    for (size_t i = 0; i < t->solved.n; i++) {
        const solved *at = sx_vector_at(&t->solved, i);
        bool same = at->level == level && at->keep == keep;
        for (int v = 0; v < space->n_tensors; v++) same &= at->parent[v] == parent[v];
        *out = at->least;
        if (same) return SX_OK;
    }
    for (int v = 0; v < space->n_tensors; v++) {
        next.parent[v] = parent[v];
        g.once[v] = sx_check_touched(space->c, v);
        if (keep >> v & 1 && parent[v] >= 0) g.price[v] = word_price(t->work, v, level, parent[v]);
    }
    for (int d = 0; d < space->n_dims; d++) g.extent[d] = 1;
    list_tiles(&g, 0);
    next.least = *out = g.least;
    solved *at = sx_vector_add(&t->solved);
    if (!at) return sx_error_memory();
    *at = next;
    return SX_OK;
}

sx_status sx_check_tilings_least(sx_check_tilings *t, const unsigned *keep, sx_wide *out, sx_wide *by_level) {
    const sx_check_space *space = t->work->space;
    int parent[SX_MAX_TENSORS];
    *out = 0;
    for (int v = 0; v < space->n_tensors; v++) parent[v] = -1;
    for (int s = space->n_levels - 1; s >= 0; s--) {
        const int64_t *mesh = space->c->machine.level[s].mesh;
        sx_wide least = 0;
        if (!t->too_many && mesh[0] * mesh[1] == 1 && s + 1 < space->n_levels && keep[s])
            SX_TRY(solve_level(t, s, keep[s], parent, &least));
        *out += least;
        if (by_level) by_level[s] = least;
        for (int v = 0; v < space->n_tensors; v++)
            if (keep[s] >> v & 1) parent[v] = s;
    }
    return SX_OK;
}
