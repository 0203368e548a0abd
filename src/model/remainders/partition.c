/* Counting the different words an instance holds over a run.
 *
 * Dimensions move independently, so where no dimension is in two ranks of the tensor, the words are, rank by
 * rank, a product; a rank of one dimension is a sum over its tiles, a rank of several is marked on a line of
 * bits. A tensor with a dimension in two ranks is marked in all its words. */
#include "model/remainders/partition.h"

#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Words or tiles that are marked one by one at most. */
enum { MAX_MARKS = 1 << 28 };

typedef struct tile {
    int64_t start;
    uint32_t extent;
} tile;

typedef struct tiles {
    tile *data;
    size_t n, room;
    bool failed; /* memory is out */
} tiles;

/* One loop on a dimension outside the level's tiles, with the place of the instance where the loop is
 * spatial. */
typedef struct ring {
    const sx_loop *loop;
    bool spatial;
    uint32_t at;
} ring;

/* The loops on one dimension outside the tiles of a level, innermost first. */
typedef struct rings {
    ring ring[2 * MAX_LOOPS];
    int n;
    uint32_t full, rest; /* extents of a tile, inside and at the edge */
} rings;

static void add_tile(tiles *t, int64_t start, uint32_t extent) {
    if (!sx_reserve(&t->data, &t->room, t->n + 1, sizeof *t->data)) {
        t->failed = true;
        return;
    }
    t->data[t->n++] = (tile){start, extent};
}

static void list_rings(rings *out, const sx_model *model, const sx_nest *nest, const sx_mapping *mapping,
                       int level, int dim) {
    out->n = 0;
    uint64_t full = sx_mapping_extent(mapping, level, dim);
    out->full = (uint32_t)full;
    out->rest = (uint32_t)((model->size[dim] - 1) % full) + 1;
    for (int s = level + 1; s < model->n_levels; s++) {
        for (int l = nest->spatial_of[s]; l < nest->spatial_of[s + 1]; l++)
            if (nest->spatial[l].dim == dim)
                out->ring[out->n++] = (ring){.loop = &nest->spatial[l], .spatial = true};
        for (int l = nest->temporal_of[s]; l < nest->temporal_of[s + 1]; l++)
            if (nest->temporal[l].dim == dim) out->ring[out->n++] = (ring){.loop = &nest->temporal[l]};
    }
}

/* How many tiles an instance holds in a dimension, from ring i inward. */
static double count_tiles(const rings *r, int i, bool edge) {
    if (i < 0) return 1;
    const ring *at = &r->ring[i];
    uint32_t n = edge ? at->loop->last : at->loop->n;
    if (at->spatial) return at->at < n ? count_tiles(r, i - 1, edge && at->at + 1 == n) : 0;
    return edge ? (n - 1) * count_tiles(r, i - 1, false) + count_tiles(r, i - 1, true)
                : n * count_tiles(r, i - 1, false);
}

/* Lists the tiles an instance holds in a dimension, from ring i inward. */
static void list_tiles(const rings *r, int i, bool edge, int64_t start, tiles *out) {
    if (out->failed) return;
    if (i < 0) {
        add_tile(out, start, edge ? r->rest : r->full);
        return;
    }
    const ring *at = &r->ring[i];
    uint32_t n = edge ? at->loop->last : at->loop->n;
    uint32_t first = at->spatial ? at->at : 0, end = at->spatial ? at->at + 1 : n;
    for (uint32_t k = first; k < end && k < n; k++)
        list_tiles(r, i - 1, edge && k + 1 == n, start + (int64_t)k * at->loop->step, out);
}

/* Whether an instance ever holds a tile in a dimension, from ring i inward. */
static bool holds_any(const rings *r, int i, bool edge) {
    if (i < 0) return true;
    const ring *at = &r->ring[i];
    uint32_t n = edge ? at->loop->last : at->loop->n;
    if (at->spatial) return at->at < n && holds_any(r, i - 1, edge && at->at + 1 == n);
    return ((!edge || n > 1) && holds_any(r, i - 1, false)) || (edge && holds_any(r, i - 1, true));
}

/* The dimensions of one rank (or of all), and a count of what instances at their present places hold. */
typedef struct measure {
    const sx_shape *shape;
    rings *rings[SX_MAX_DIMS];
    int dim[SX_MAX_DIMS];
    int n_dims;
    int first_rank, end_rank; /* equal: count instances that hold anything, not words */
    tiles tiles[SX_MAX_DIMS];
    uint64_t *bits;
    bool failed;
    double marks; /* needed, where they are beyond MAX_MARKS and it failed for that; else 0 */
} measure;

/* The interval [low, high) of a rank that a choice of tiles covers. */
static void cover_interval(const measure *m, int rank, const size_t *choice, int64_t *low, int64_t *high) {
    *low = 0;
    *high = 1;
    for (int i = m->shape->first_term[rank]; i < m->shape->first_term[rank + 1]; i++) {
        int64_t coef = m->shape->term[i].coef;
        for (int k = 0; k < m->n_dims; k++) {
            if (m->dim[k] != m->shape->term[i].dim) continue;
            const tile *t = &m->tiles[k].data[choice[k]];
            int64_t reach = coef * (int64_t)(t->extent - 1);
            *low += coef * t->start + (reach < 0 ? reach : 0);
            *high += coef * t->start + (reach > 0 ? reach : 0);
        }
    }
}

/* Goes on to the next choice of a tile per dimension; false after the last. */
static bool next_choice(const measure *m, size_t *choice) {
    for (int k = 0; k < m->n_dims; k++) {
        if (++choice[k] < m->tiles[k].n) return true;
        choice[k] = 0;
    }
    return false;
}

/* Lists the tiles of all dimensions; false where there are none, memory is out or they are too many. */
static bool list_all_tiles(measure *m) {
    double combinations = 1;
    for (int k = 0; k < m->n_dims; k++) combinations *= count_tiles(m->rings[k], m->rings[k]->n - 1, true);
    if (combinations > MAX_MARKS) m->marks = combinations;
    m->failed |= combinations > MAX_MARKS;
    for (int k = 0; k < m->n_dims && combinations > 0 && !m->failed; k++) {
        m->tiles[k].n = 0;
        list_tiles(m->rings[k], m->rings[k]->n - 1, true, 0, &m->tiles[k]);
        m->failed |= m->tiles[k].failed;
    }
    return combinations > 0 && !m->failed;
}

/* The bounds of all ranks over all choices; false when there are too many words to mark. */
static bool find_bounds(measure *m, int64_t *low, int64_t *high, uint64_t *words) {
    size_t choice[SX_MAX_DIMS] = {0};
    bool first = true;
    do {
        for (int r = m->first_rank; r < m->end_rank; r++) {
            int64_t a, b;
            cover_interval(m, r, choice, &a, &b);
            if (first || a < low[r]) low[r] = a;
            if (first || b > high[r]) high[r] = b;
        }
        first = false;
    } while (next_choice(m, choice));
    double product = 1;
    *words = 1;
    for (int r = m->first_rank; r < m->end_rank; r++) {
        product *= (double)(high[r] - low[r]);
        *words *= (uint64_t)(high[r] - low[r]);
    }
    if (product > MAX_MARKS) m->marks = product;
    return product <= MAX_MARKS;
}

/* Marks the words of one choice's box from `rank` on, `base` being the place in the ranks before. */
static void mark_words(measure *m, const size_t *choice, const int64_t *low, const int64_t *high, int rank,
                       uint64_t base) {
    if (rank == m->end_rank) {
        m->bits[base / 64] |= (uint64_t)1 << base % 64;
        return;
    }
    int64_t a, b;
    cover_interval(m, rank, choice, &a, &b);
    for (int64_t x = a; x < b; x++)
        mark_words(m, choice, low, high, rank + 1,
                   base * (uint64_t)(high[rank] - low[rank]) + (uint64_t)(x - low[rank]));
}

/* The different words held with the instance at its present place. */
static double count_here(measure *m) {
    int64_t low[SX_MAX_RANKS], high[SX_MAX_RANKS];
    size_t choice[SX_MAX_DIMS] = {0};
    uint64_t words, count = 0;
    if (m->first_rank == m->end_rank) return holds_any(m->rings[0], m->rings[0]->n - 1, true);
    if (!list_all_tiles(m)) return 0;
    if (!find_bounds(m, low, high, &words) || !(m->bits = calloc(words / 64 + 1, 8))) {
        m->failed = true;
        return 0;
    }
    do mark_words(m, choice, low, high, m->first_rank, 0);
    while (next_choice(m, choice));
    for (uint64_t i = 0; i <= words / 64; i++) count += (uint64_t)__builtin_popcountll(m->bits[i]);
    free(m->bits);
    return (double)count;
}

/* Sums over the places of the instance in the spatial loops, from ring i of dimension k on. Places before the
 * last at the edge are alike, and so are those beyond it. */
static double sum_places(measure *m, int k, int i) {
    while (k < m->n_dims && (i < 0 || !m->rings[k]->ring[i].spatial)) {
        if (i < 0) {
            k++;
            i = k < m->n_dims ? m->rings[k]->n : 0;
        }
        i--;
    }
    if (k == m->n_dims) return count_here(m);
    ring *at = &m->rings[k]->ring[i];
    uint32_t last = at->loop->last, n = at->loop->n;
    double sum = 0;
    if (last > 1) {
        at->at = 0;
        sum += (last - 1) * sum_places(m, k, i - 1);
    }
    at->at = last - 1;
    sum += sum_places(m, k, i - 1);
    if (n > last) {
        at->at = last;
        sum += (n - last) * sum_places(m, k, i - 1);
    }
    return sum;
}

/* The words of a range of ranks, summed over the places of their dimensions; on failure as
 * sx_partition_words. */
static double measure_ranks(const sx_model *model, const sx_nest *nest, const sx_mapping *mapping, int tensor,
                            int level, int first_rank, int end_rank, double *marks) {
    const sx_shape *shape = &model->shape[tensor];
    measure m = {.shape = shape, .first_rank = first_rank, .end_rank = end_rank};
    unsigned seen = 0;
    double sum = -1;
    rings *all = malloc(SX_MAX_DIMS * sizeof *all);
    if (!all) return -1;
    for (int i = shape->first_term[first_rank]; i < shape->first_term[end_rank]; i++) {
        int d = shape->term[i].dim;
        if (seen >> d & 1) continue;
        seen |= 1u << d;
        list_rings(&all[m.n_dims], model, nest, mapping, level, d);
        m.rings[m.n_dims] = &all[m.n_dims];
        m.dim[m.n_dims++] = d;
    }
    sum = sum_places(&m, 0, m.rings[0]->n - 1);
    for (int k = 0; k < m.n_dims; k++) free(m.tiles[k].data);
    free(all);
    if (m.failed && m.marks > 0 && marks) *marks = m.marks;
    return !m.failed ? sum : m.marks > 0 ? -INFINITY : -1;
}

/* The instances of a level, along a dimension that does not index the tensor, that are ever in use. */
static double count_instances(const sx_model *model, const sx_nest *nest, const sx_mapping *mapping,
                              int level, int dim) {
    rings r;
    list_rings(&r, model, nest, mapping, level, dim);
    measure m = {.rings = {&r}, .n_dims = 1};
    return sum_places(&m, 0, r.n - 1);
}

/* Whether no dimension is in two ranks. */
static bool ranks_independent(const sx_shape *shape) {
    unsigned seen = 0;
    for (int r = 0; r < shape->n_ranks; r++) {
        unsigned mine = 0;
        for (int i = shape->first_term[r]; i < shape->first_term[r + 1]; i++)
            mine |= 1u << shape->term[i].dim;
        if (seen & mine) return false;
        seen |= mine;
    }
    return true;
}

double sx_partition_words(const sx_model *model, const sx_nest *nest, const sx_mapping *mapping, int tensor,
                          int level, double *marks) {
    const sx_shape *shape = &model->shape[tensor];
    double words = 1;
    for (int d = 0; d < model->n_dims; d++)
        if (!(shape->dims >> d & 1)) words *= count_instances(model, nest, mapping, level, d);
    if (shape->unit) {
        for (int i = 0; i < shape->n_terms; i++) words *= model->size[shape->term[i].dim];
        return words;
    }
    if (!ranks_independent(shape)) {
        double joint = measure_ranks(model, nest, mapping, tensor, level, 0, shape->n_ranks, marks);
        return joint < 0 ? joint : words * joint;
    }
    for (int r = 0; r < shape->n_ranks; r++) {
        double rank = model->size[shape->term[shape->first_term[r]].dim];
        bool single = shape->first_term[r + 1] - shape->first_term[r] == 1;
        if (!single || abs(shape->term[shape->first_term[r]].coef) != 1)
            rank = measure_ranks(model, nest, mapping, tensor, level, r, r + 1, marks);
        if (rank < 0) return rank;
        words *= rank;
    }
    return words;
}

double sx_partition_count(sx_model_workspace *workspace, const sx_mapping *mapping, int tensor, int level) {
    double marks = 0,
           words = sx_partition_words(workspace->model, &workspace->nest, mapping, tensor, level, &marks);
    workspace->failed |= words < 0;
    if (words == -INFINITY)
        sx_model_workspace_limit(workspace, SX_LIMIT_WORDS, level, tensor, marks, MAX_MARKS);
    return words;
}
