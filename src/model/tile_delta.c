/* Counting the words a moving tile fetches, by closed forms instead of visits (docs/model.md, section 8).
 *
 * The rule (docs/model.md, section 2): a visit fetches what the tile before did not hold, except that a step
 * unlike the last one fetches the whole tile anew and forgets the last one. Let a be the innermost near loop
 * that moves the tile. Entered with no last step or with a's, the visits inside a loop outside a end with a's
 * step as the last one: those inside a itself do, and outside it a step like a's fetches what it adds, while
 * any other fetches the whole tile, forgets, and is followed by visits inside a. So each step of a near loop
 * always fetches the same, and each step of a loop that is not near fetches the whole tile.
 *
 * Neighbours: a visit at step j > 0 comes after one at step 0, and one at step 0 is taken to come after the visit
 * that began the loop (as Timeloop samples iterations 0 and 1 only). A neighbour f(j) away fetched at the visit
 * before what is fetched now where both fetch the same piece: what step 0 adds, or whole tiles. */
#include "model/tile_delta.h"

#include <stdlib.h>
#include <string.h>

/* The extents per rank of the tile (or of a single point, under level 0). */
static void set_extents(sx_tile_delta *m, const sx_nest *nest, int level) {
    const sx_shape *shape = m->shape;
    for (int r = 0; r < shape->n_ranks; r++) {
        int64_t extent = 1;
        for (int i = shape->first_term[r]; level > 0 && i < shape->first_term[r + 1]; i++) {
            int64_t coef = shape->term[i].coef;
            extent += (coef < 0 ? -coef : coef) * (nest->extent[level - 1][shape->term[i].dim] - 1u);
        }
        m->extent[r] = extent;
    }
}

/* Moves `at` by one iteration of a loop. */
static inline void advance_place(const sx_shape *shape, const sx_loop *loop, int64_t *at) {
    for (int i = shape->first_of_dim[loop->dim]; i < shape->first_of_dim[loop->dim + 1]; i++)
        at[shape->of_dim[i].rank] += shape->of_dim[i].coef * (int64_t)loop->step;
}

/* What is left in place of the tile, as a share of its mixed ranks' extents. */
static inline void set_step(sx_tile_delta *m, int j, uint64_t solo_words) {
    bool still = true;
    uint64_t common = solo_words;
    for (int k = 0; k < m->shape->n_mixed; k++) {
        int r = m->shape->mixed[k];
        int64_t shared = m->extent[r] - llabs(m->f[j][r]);
        still &= m->f[j][r] == 0;
        common *= shared > 0 ? (uint64_t)shared : 0;
    }
    m->still[j] = still;
    m->fetched[j] = m->always ? m->words : m->words - common;
}

void sx_tile_delta_init(sx_tile_delta *m, const sx_model *model, const sx_nest *nest, int level, int tensor,
                        bool always) {
    const sx_shape *shape = &model->shape[tensor];
    int first = nest->temporal_of[level];
    m->shape = shape;
    m->loop = &nest->temporal[first];
    m->suffix = &nest->suffix[first];
    m->n_loops = nest->n_temporal - first;
    m->always = always;
    m->words = level > 0 ? nest->tile[tensor][level - 1] : 1;
    m->n_near = 0;
    if (m->n_loops == 0 || shape->solo >> m->loop[0].dim & 1) return;
    set_extents(m, nest, level);
    uint64_t solo_words = m->words;
    for (int k = 0; k < shape->n_mixed; k++) solo_words /= (uint64_t)m->extent[shape->mixed[k]];
    int64_t inner[SX_MAX_RANKS] = {0};
    int j = 0;
    for (; j < m->n_loops && !(shape->solo >> m->loop[j].dim & 1); j++) {
        for (int r = 0; r < shape->n_ranks; r++) m->f[j][r] = -inner[r];
        advance_place(shape, &m->loop[j], m->f[j]);
        advance_place(shape, &m->loop[j], inner);
        set_step(m, j, solo_words);
    }
    m->n_near = j;
}

/* How often loop j advances. */
static uint64_t loop_steps(const sx_tile_delta *m, int j) {
    return (m->loop[j].n - 1u) * m->suffix[j + 1];
}

static inline bool same_step(const sx_tile_delta *m, const int64_t *a, const int64_t *b) {
    for (int r = 0; r < m->shape->n_ranks; r++)
        if (a[r] != b[r]) return false;
    return true;
}

/* Whether a step of near loop j fetches anything. */
static inline bool step_fetches(const sx_tile_delta *m, int j) {
    return m->always || !m->still[j];
}

/* The words that a step of near loop j fetches; a: the innermost that moves the tile. */
static inline uint64_t step_words(const sx_tile_delta *m, int a, int j) {
    return m->always || !same_step(m, m->f[a], m->f[j]) ? m->words : m->fetched[j];
}

uint64_t sx_tile_delta_volume(const sx_tile_delta *m) {
    if (m->always) return m->words * m->suffix[0];
    uint64_t volume = m->words * m->suffix[m->n_near];
    for (int j = 0, a = -1; j < m->n_near; j++) {
        if (m->still[j]) continue;
        if (a < 0) a = j;
        volume += loop_steps(m, j) * step_words(m, a, j);
    }
    return volume;
}

/* Whether a displacement lies within the span of a slot. */
static bool within_span(const sx_tile_delta *m, const int64_t *need, const int64_t *span) {
    for (int r = 0; r < m->shape->n_ranks; r++)
        if (llabs(need[r]) > span[r]) return false;
    return true;
}

/* Adds words to the key of a displacement; returns the number of keys. */
static int add_key(const sx_tile_delta *m, const int64_t *need, uint64_t words, sx_tile_delta_key *key,
                   int n) {
    int k = 0;
    while (k < n && !same_step(m, key[k].need, need)) k++;
    if (k == n) {
        memcpy(key[n].need, need, (size_t)m->shape->n_ranks * sizeof *need);
        key[n++].words = 0;
    }
    key[k].words += words;
    return n;
}

int sx_tile_delta_keys(const sx_tile_delta *m, const int64_t *span, sx_tile_delta_key key[MAX_LOOPS],
                       uint64_t *rest) {
    int n = 0;
    *rest = sx_tile_delta_volume(m);
    if (m->n_near == 0 || !step_fetches(m, 0)) return 0;
    bool whole = step_words(m, 0, 0) == m->words;
    uint64_t alike = whole ? m->suffix[m->n_near] : 0,
             keyed = 0; /* alike: visits that fetch what step 0 does */
    for (int j = 1; j < m->n_near; j++) {
        if (!step_fetches(m, j) || (!whole && !same_step(m, m->f[0], m->f[j]))) continue;
        alike += loop_steps(m, j);
        if (!within_span(m, m->f[j], span)) continue;
        uint64_t words = loop_steps(m, j) * step_words(m, 0, j);
        n = add_key(m, m->f[j], words, key, n);
        keyed += words;
    }
    uint64_t words = (m->loop[0].n - 1u) * alike * step_words(m, 0, 0);
    if (words > 0 && within_span(m, m->f[0], span)) {
        n = add_key(m, m->f[0], words, key, n);
        keyed += words;
    }
    *rest -= keyed;
    return n;
}
