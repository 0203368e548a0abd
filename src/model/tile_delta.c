/* Counting the words a moving tile fetches, by a finite automaton instead of visits (docs/model.md,
 * section 8).
 *
 * The rule (docs/model.md, section 2): a visit fetches what the tile before did not hold, except that a step
 * unlike the last one fetches the whole tile anew and forgets the last one. What matters of the past is thus
 * the last step and, for neighbours, what the last visit fetched: a finite state. With block(j, q) the effect
 * of all visits inside loop j entered in state q, block(j+1, q) = block(j, q), then n_j - 1 times the weight
 * of (step j, block(j, .)). Where no step leaves a part of the tile in place, all fetches are whole tiles and
 * the sums have closed forms. */
#include "model/tile_delta.h"

#include "model/box_delta.h"

#include "base/vector.h"

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
static inline void advance(const sx_shape *shape, const sx_loop *loop, int64_t *at) {
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
    m->overlaps |= !m->always && !still && common > 0;
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
    m->overlaps = false;
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
        advance(shape, &m->loop[j], m->f[j]);
        advance(shape, &m->loop[j], inner);
        set_step(m, j, solo_words);
    }
    m->n_near = j;
}

/* How often loop j advances. */
static uint64_t steps(const sx_tile_delta *m, int j) {
    return (m->loop[j].n - 1u) * m->suffix[j + 1];
}

/* Sets the steps of all loops, near or not. */
static void set_all(sx_tile_delta *m) {
    int64_t inner[SX_MAX_RANKS] = {0};
    for (int j = 0; j < m->n_loops; j++) {
        if (j >= m->n_near) {
            for (int r = 0; r < m->shape->n_ranks; r++) m->f[j][r] = -inner[r];
            advance(m->shape, &m->loop[j], m->f[j]);
            m->still[j] = false;
            m->fetched[j] = m->words;
        }
        advance(m->shape, &m->loop[j], inner);
    }
}

static inline bool same_step(const sx_tile_delta *m, const int64_t *a, const int64_t *b) {
    for (int r = 0; r < m->shape->n_ranks; r++)
        if (a[r] != b[r]) return false;
    return true;
}

/* Numbers the different non-zero steps from 1 in id[]; 0 stands for no motion. Returns how many there are. */
static int number_steps(const sx_tile_delta *m, int *id) {
    int first[MAX_LOOPS], n = 0;
    for (int j = 0; j < m->n_loops; j++) {
        id[j] = 0;
        if (m->still[j]) continue;
        int k = 0;
        while (k < n && !same_step(m, m->f[first[k]], m->f[j])) k++;
        if (k == n) first[n++] = j;
        id[j] = k + 1;
    }
    return n;
}

/* What the rule makes of step `id` after `last` (0: none): the new last step; *whole when all is fetched
 * anew. */
static inline int follow(int last, int id, bool *whole) {
    *whole = false;
    if (id == 0) return last;
    if (last == 0 || last == id) return id;
    *whole = true;
    return 0;
}

/* The automaton over last steps alone. */
static uint64_t overlapping_volume(const sx_tile_delta *m) {
    int id[MAX_LOOPS], next[2][MAX_LOOPS + 1];
    uint64_t words[2][MAX_LOOPS + 1];
    int states = number_steps(m, id) + 1, now = 0;
    for (int q = 0; q < states; q++) {
        next[0][q] = q;
        words[0][q] = 0;
    }
    for (int j = 0; j < m->n_loops; j++) {
        int then = now;
        now = !now;
        for (int q = 0; q < states; q++) {
            bool whole;
            int entered = follow(next[then][q], id[j], &whole);
            uint64_t fetched = whole ? m->words : m->fetched[j];
            next[now][q] = next[then][entered];
            words[now][q] = words[then][q] + (m->loop[j].n - 1u) * (fetched + words[then][entered]);
        }
    }
    return m->words + words[now][0];
}

/* Visits that fetch something, the first among them, where every fetch is a whole tile. */
static uint64_t fetching_visits(const sx_tile_delta *m) {
    if (m->always) return m->suffix[0];
    uint64_t visits = m->suffix[m->n_near];
    for (int j = 0; j < m->n_near; j++)
        if (!m->still[j]) visits += steps(m, j);
    return visits;
}

uint64_t sx_tile_delta_volume(sx_tile_delta *m) {
    if (!m->overlaps) return fetching_visits(m) * m->words;
    set_all(m);
    return overlapping_volume(m);
}

/* Whether a displacement lies within the span of a slot. */
static bool within(const sx_tile_delta *m, const int64_t *need, const int64_t *span) {
    for (int r = 0; r < m->shape->n_ranks; r++)
        if (llabs(need[r]) > span[r]) return false;
    return true;
}

/* The key of a displacement, a new one if there is none yet; NULL when memory is out. */
static sx_tile_delta_key *find_key(const sx_tile_delta *m, const int64_t *need, sx_tile_delta_scratch *s,
                                   size_t *n) {
    size_t size = (size_t)m->shape->n_ranks * sizeof need[0];
    for (size_t k = 0; k < *n; k++)
        if (memcmp(s->key[k].need, need, size) == 0) return &s->key[k];
    if (!sx_reserve(&s->key, &s->key_room, *n + 1, sizeof *s->key)) return NULL;
    sx_tile_delta_key *key = &s->key[(*n)++];
    key->words = 0;
    memcpy(key->need, need, size);
    return key;
}

/* Keys where every fetch is a whole tile: the visit before step j > 0 was at step 0, the one before step 0
 * was at any other step or the first. */
static size_t whole_keys(const sx_tile_delta *m, const int64_t *span, sx_tile_delta_scratch *scratch,
                         uint64_t *rest) {
    size_t n = 0;
    uint64_t fetching = fetching_visits(m), keyed = 0;
    for (int j = 0; j < m->n_near; j++) {
        bool first = m->always || !m->still[0];
        if ((m->still[j] && !m->always) || !within(m, m->f[j], span)) continue;
        uint64_t visits = first ? steps(m, j) : 0;
        if (j == 0) visits = (fetching - steps(m, 0)) * (m->loop[0].n - 1u);
        if (visits == 0) continue;
        sx_tile_delta_key *key = find_key(m, m->f[j], scratch, &n);
        if (!key) return SIZE_MAX;
        key->words += visits * m->words;
        keyed += visits;
    }
    *rest = (fetching - keyed) * m->words;
    return n;
}

/* All visits inside loop j from a state: those of `first`, then, `weight` times, a step that fetches `words`
 * under `key`, and those of `second`. */
struct sx_tile_delta_block {
    int32_t j, last, kind;        /* entered in this state */
    int32_t next_last, next_kind; /* left in this one */
    int32_t first, second, key, sibling;
    uint64_t weight, words, times;
};

/* The automaton over (last step, piece fetched last). */
typedef struct automaton {
    const sx_tile_delta *m;
    const int64_t *span;
    sx_tile_delta_scratch *scratch;
    int id[MAX_LOOPS];
    int newest[MAX_LOOPS + 1]; /* block of each loop made last, chained by `sibling` */
    int n_blocks;
    size_t n_keys;
    bool failed;
    sx_box_delta kind[MAX_LOOPS + 2]; /* 0: a whole tile; 1 + id: what step `id` adds */
} automaton;

/* The key of a visit at step j that fetches `kind` after one that fetched `before`; -1 where it has none. */
static int visit_key(automaton *a, int j, int kind, int before) {
    int64_t need[SX_MAX_RANKS];
    if (!sx_box_delta_congruent(a->m->shape->n_ranks, &a->kind[kind], &a->kind[before], need)) return -1;
    for (int r = 0; r < a->m->shape->n_ranks; r++) need[r] += a->m->f[j][r];
    if (!within(a->m, need, a->span)) return -1;
    sx_tile_delta_key *key = find_key(a->m, need, a->scratch, &a->n_keys);
    a->failed |= !key;
    return key ? (int)(key - a->scratch->key) : -1;
}

/* A new block; -1 when memory is out. */
static int add_block(automaton *a, struct sx_tile_delta_block b) {
    sx_tile_delta_scratch *s = a->scratch;
    if (!sx_reserve(&s->block, &s->block_room, (size_t)a->n_blocks + 1, sizeof b)) {
        a->failed = true;
        return -1;
    }
    b.sibling = a->newest[b.j];
    a->newest[b.j] = a->n_blocks;
    s->block[a->n_blocks] = b;
    return a->n_blocks++;
}

/* The block of all visits inside loop j from a state, made once; -1 when memory is out. */
static int find_block(automaton *a, int j, int last, int kind) {
    for (int i = a->newest[j]; i >= 0; i = a->scratch->block[i].sibling)
        if (a->scratch->block[i].last == last && a->scratch->block[i].kind == kind) return i;
    struct sx_tile_delta_block b = {.j = j, .last = last, .kind = kind, .first = -1, .second = -1, .key = -1};
    b.next_last = last;
    b.next_kind = kind;
    if (j == 0) return add_block(a, b);
    b.first = find_block(a, j - 1, last, kind);
    if (b.first < 0) return -1;
    int before = a->scratch->block[b.first].next_kind;
    bool whole;
    int entered = follow(a->scratch->block[b.first].next_last, a->id[j - 1], &whole);
    int fetched = whole ? 0 : 1 + a->id[j - 1];
    b.second = find_block(a, j - 1, entered, fetched);
    if (b.second < 0) return -1;
    b.next_last = a->scratch->block[b.second].next_last;
    b.next_kind = a->scratch->block[b.second].next_kind;
    b.weight = a->m->loop[j - 1].n - 1u;
    b.words = whole ? a->m->words : a->m->fetched[j - 1];
    if (b.words) b.key = visit_key(a, j - 1, fetched, before);
    return add_block(a, b);
}

/* What each step adds to the tile. */
static void set_kinds(automaton *a) {
    const sx_tile_delta *m = a->m;
    int64_t low[SX_MAX_RANKS] = {0}, held_low[SX_MAX_RANKS], held_high[SX_MAX_RANKS];
    a->kind[0] = sx_box_delta_whole(m->shape->n_ranks, low, m->extent);
    a->kind[1] = sx_box_delta_new(m->shape->n_ranks, low, m->extent, low, m->extent);
    for (int j = 0; j < m->n_loops; j++) {
        if (a->id[j] == 0) continue;
        for (int r = 0; r < m->shape->n_ranks; r++) {
            held_low[r] = -m->f[j][r];
            held_high[r] = m->extent[r] - m->f[j][r];
        }
        a->kind[1 + a->id[j]] = sx_box_delta_new(m->shape->n_ranks, low, m->extent, held_low, held_high);
    }
}

size_t sx_tile_delta_keys(sx_tile_delta *m, const int64_t *span, sx_tile_delta_scratch *scratch,
                          const sx_tile_delta_key **keys, uint64_t *rest) {
    if (!m->overlaps) {
        size_t n = whole_keys(m, span, scratch, rest);
        *keys = scratch->key;
        return n;
    }
    set_all(m);
    automaton a;
    a.m = m;
    a.span = span;
    a.scratch = scratch;
    a.n_blocks = 0;
    a.n_keys = 0;
    a.failed = false;
    number_steps(m, a.id);
    for (int j = 0; j <= m->n_loops; j++) a.newest[j] = -1;
    set_kinds(&a);
    find_block(&a, m->n_loops, 0, 0);
    if (a.failed) return SIZE_MAX;
    *rest = m->words;
    struct sx_tile_delta_block *block = scratch->block;
    for (int i = 0; i < a.n_blocks; i++) block[i].times = 0;
    block[a.n_blocks - 1].times = 1;
    for (int i = a.n_blocks - 1; i >= 0; i--) {
        const struct sx_tile_delta_block *b = &block[i];
        if (b->first < 0) continue;
        block[b->first].times += b->times;
        block[b->second].times += b->times * b->weight;
        *(b->key < 0 ? rest : &scratch->key[b->key].words) += b->times * b->weight * b->words;
    }
    *keys = scratch->key;
    return a.n_keys;
}

void sx_tile_delta_scratch_free(sx_tile_delta_scratch *scratch) {
    if (!scratch) return;
    free(scratch->block);
    free(scratch->key);
    free(scratch);
}
