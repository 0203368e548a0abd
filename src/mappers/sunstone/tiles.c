/* Sunstone's tiles of a memory.
 *
 * Source: Sunstone (thesis 2022), section 4.5, algorithm 5. The tree of tiles has the tile of all ones at its
 * root; a child has the next larger factor in one dimension. A node is kept if none of its children fits
 * (observation 4): a larger tile moves fewer words.
 *
 * What differs. The tree's nodes are gone through dimension by dimension instead of breadth first, which
 * needs no memory of nodes seen, and of the last dimension only the largest factor is tried. A tile must
 * fit the memories around its own too, as far as they hold what it does not: where registers keep weights
 * only, as in Simba, the largest tile of the other tensors would else fit nowhere. The released code also
 * tries some dimensions only when no other fits any more; here all are alike.
 *
 * Complexity: in the number of tiles that fit, over that of the factors of one dimension. */
#include "mappers/sunstone/tiles.h"

#include "base/status.h"
#include "model/capacity.h"

#include <string.h>

sx_status sx_sunstone_divisors_init(const sx_problem *problem, sx_sunstone_divisors *out) {
    *out = (sx_sunstone_divisors){{0}, {0}};
    for (int d = 0; d < problem->n_dims; d++) {
        sx_vector small = {.size = sizeof(uint32_t)}, large = small;
        uint32_t size = problem->size[d];
        for (uint32_t i = 1; i <= size / i; i++) {
            if (size % i) continue;
            uint32_t *a = sx_vector_add(&small), *b = size / i > i ? sx_vector_add(&large) : NULL;
            if (a) *a = i;
            if (b) *b = size / i;
        }
        for (size_t i = large.n; i > 0; i--) {
            uint32_t *a = sx_vector_add(&small);
            if (a) *a = *(uint32_t *)sx_vector_at(&large, i - 1);
        }
        bool failed = small.failed || large.failed;
        sx_vector_clear(&large);
        out->n[d] = (uint32_t)small.n;
        out->of[d] = (uint32_t *)(void *)small.data;
        if (!failed) continue;
        sx_sunstone_divisors_fini(out);
        return sx_error_memory();
    }
    return SX_OK;
}

void sx_sunstone_divisors_fini(sx_sunstone_divisors *divisors) {
    for (int d = 0; d < SX_MAX_DIMS; d++) free(divisors->of[d]);
    *divisors = (sx_sunstone_divisors){{0}, {0}};
}

bool sx_sunstone_fits(const sx_sunstone_room *room, const uint32_t *tile) {
    const sx_model *model = room->space->model;
    for (int i = 0; i < room->n_levels; i++) {
        int s = room->level[i];
        uint32_t extent[SX_MAX_DIMS];
        for (int d = 0; d < model->n_dims; d++) extent[d] = room->inner[i][d] * tile[d];
        if (!sx_level_holds(model, &model->level[s], room->keep[s], extent)) return false;
    }
    return true;
}

enum { POLL = 256 }; /* nodes between two looks at the clock */

/* A walk through the tree. */
typedef struct tree {
    const sx_sunstone_room *room;
    const sx_sunstone_divisors *divisors;
    const uint32_t *left, *most;
    bool maximal;
    size_t limit;
    sx_worker *worker;
    uint64_t steps;
    bool over;                /* stopped */
    int n;                    /* dimensions that have factors */
    uint8_t dim[SX_MAX_DIMS]; /* these */
    sx_sunstone_tile tile;
    sx_vector *out;
} tree;

/* The next larger factor of a dimension, 0 where there is none. */
static uint32_t larger_factor(const tree *t, int d, uint32_t than) {
    uint32_t f = sx_sunstone_next(t->divisors, d, than, t->left[d]);
    return f <= t->most[d] ? f : 0;
}

/* Whether the node has a child that fits, in the first n dimensions. */
static bool has_child(tree *t, int n) {
    bool fits = false;
    for (int i = 0; i < n && !fits; i++) {
        uint32_t *factor = &t->tile.factor[t->dim[i]], now = *factor, next = larger_factor(t, t->dim[i], now);
        if (!next) continue;
        *factor = next;
        fits = sx_sunstone_fits(t->room, t->tile.factor);
        *factor = now;
    }
    return fits;
}

/* Keeps the nodes with the factors of the first `at` dimensions as they are. */
static void walk_tiles(tree *t, int at) {
    if (++t->steps % POLL == 0 && t->worker && !sx_worker_goes_on(t->worker)) t->over = true;
    if (t->over || t->out->failed || t->out->n >= t->limit) return;
    if (at == t->n) {
        if (t->maximal && has_child(t, t->n - 1)) return;
        sx_sunstone_tile *new = sx_vector_add(t->out);
        if (new) *new = t->tile;
        return;
    }
    int d = t->dim[at];
    uint32_t *factor = &t->tile.factor[d];
    bool last = t->maximal && at == t->n - 1;
    for (uint32_t next = *factor; next && !t->over; next = larger_factor(t, d, next)) {
        uint32_t now = *factor;
        *factor = next;
        if (next > 1 && !sx_sunstone_fits(t->room, t->tile.factor)) {
            *factor = now;
            break;
        }
        if (!last) walk_tiles(t, at + 1);
    }
    if (last) walk_tiles(t, at + 1);
    *factor = 1;
}

void sx_sunstone_tiles(const sx_sunstone_room *room, const sx_sunstone_divisors *divisors,
                       const uint32_t *left, const uint32_t *most, bool maximal, size_t limit,
                       sx_worker *worker, sx_vector *out) {
    tree t = {.room = room,
              .divisors = divisors,
              .left = left,
              .most = most,
              .maximal = maximal,
              .limit = out->n + limit,
              .worker = worker,
              .out = out};
    for (int d = 0; d < SX_MAX_DIMS; d++) t.tile.factor[d] = 1;
    for (int d = 0; d < room->space->problem->n_dims; d++)
        if (larger_factor(&t, d, 1)) t.dim[t.n++] = (uint8_t)d;
    for (int i = 1; i < t.n; i++) {
        uint8_t a = t.dim[i - 1];
        if (divisors->n[a] <= divisors->n[t.dim[i]]) continue;
        t.dim[i - 1] = t.dim[i];
        t.dim[i] = a;
    }
    if (sx_sunstone_fits(room, t.tile.factor)) walk_tiles(&t, 0);
}
