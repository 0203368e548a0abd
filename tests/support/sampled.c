#include "support/sampled.h"

#include <string.h>

/* What is remembered from visit to visit. */
typedef struct memory {
    bool visited, stepped;
    int64_t at[SX_MAX_RANKS], last[SX_MAX_RANKS];
    sx_words tile;
} memory;

static bool same(int ranks, const int64_t *a, const int64_t *b) {
    return memcmp(a, b, (size_t)ranks * sizeof *a) == 0;
}

/* Makes `now` what is fetched when the tile stands at `at`: all of it where it moved unlike the last time. */
static void fetch(memory *m, int ranks, const int64_t *at, const int64_t *extent, bool always,
                  sx_words *now) {
    static const int64_t nowhere[SX_MAX_RANKS];
    int64_t high[SX_MAX_RANKS], step[SX_MAX_RANKS];
    for (int r = 0; r < ranks; r++) {
        high[r] = at[r] + extent[r];
        step[r] = at[r] - m->at[r];
    }
    sx_words tile = {0};
    sx_words_box(&tile, ranks, at, high);
    sx_words_copy(now, &tile);
    bool moved = m->visited && !same(ranks, step, nowhere);
    if (always || (moved && m->stepped && !same(ranks, step, m->last))) {
        m->stepped = false;
    } else {
        sx_words_remove(now, &m->tile);
        if (moved) {
            m->stepped = true;
            memcpy(m->last, step, sizeof step);
        }
    }
    m->visited = true;
    memcpy(m->at, at, (size_t)ranks * sizeof *at);
    sx_words_fini(&m->tile);
    m->tile = tile;
}

void sx_sampled_visits(const sx_window *window, int tensor, int level, bool always,
                       void (*show)(void *to, const sx_visit *visit), void *to) {
    const sx_nest *nest = &window->nest;
    int ranks = window->problem.tensor[tensor].n_ranks;
    int first = nest->temporal_of[level], n = nest->n_temporal - first;
    int64_t extent[SX_MAX_RANKS];
    sx_words now = {0}, before = {0};
    memory m = {0};
    sx_window_extent(window, tensor, level - 1, extent);
    for (uint64_t counter = 0; counter < (uint64_t)1 << n; counter++) {
        int64_t at[SX_MAX_RANKS] = {0}, move[SX_MAX_RANKS];
        sx_visit visit = {&now, &before, 1};
        for (int j = 0; j < n; j++) {
            if (!(counter >> j & 1)) continue;
            sx_window_move(window, tensor, &nest->temporal[first + j], move);
            for (int r = 0; r < ranks; r++) at[r] += move[r];
            visit.weight *= nest->temporal[first + j].n - 1u;
        }
        sx_words_copy(&before, &now);
        fetch(&m, ranks, at, extent, always, &now);
        show(to, &visit);
    }
    sx_words_fini(&now);
    sx_words_fini(&before);
    sx_words_fini(&m.tile);
}
