/* Flows of tensors whose tiles overlap in part, and of children without closed forms: the rules of tile_delta.c and
 * access_stats.c on a frame's loops. */
#include "model/fanout.h"
#include "model/frame/state.h"

#include <math.h>

/* One near loop (tile_delta.h): how far its step moves the tile, and how often. */
typedef struct step {
    double f[SX_FRAME_MIXED];
    double times;
    double added; /* words that were not in the tile before */
    bool still;
} step;

/* The steps of the tile that a level's children hold. */
typedef struct motion {
    const sx_frame_tensor *tensor;
    bool always;  /* fetched anew at every visit */
    int n;        /* near loops, innermost first */
    double first; /* iterations of the innermost */
    double outer; /* visits by the loops outside them */
    double words;
    step step[MAX_LOOPS];
} motion;

/* Words that a neighbour at the displacement `need` had before. */
typedef struct key {
    double need[SX_FRAME_MIXED], words;
} key;

/* Finds the steps of near loops; `ranks` is how many mixed ranks are looked at. */
static inline __attribute__((always_inline)) void trace(const sx_cost_frame *f, int v, int s, int ranks,
                                                        motion *m) {
    const sx_frame_tensor *t = &f->tensor[v];
    const sx_frame_tile *tile = s > 0 ? &f->tile[v][s - 1] : NULL;
    double inner[SX_FRAME_MIXED] = {0}, extent[SX_FRAME_MIXED], solo = tile ? tile->solo : 1;
    for (int k = 0; k < ranks; k++) extent[k] = tile && k < t->n_mixed ? tile->mixed[k] : 1;
    m->tensor = t;
    m->always = s == 0;
    m->words = tile ? f->words[v][s - 1] : 1;
    m->n = 0;
    int j = f->end[s] - 1;
    m->first = j >= 0 ? f->temporal[f->flat_level[j]][f->flat[j]] : 1;
    for (; j >= 0 && !(t->solo >> f->flat[j] & 1); j--) {
        unsigned d = f->flat[j];
        double move = t->coef[d] * f->spread[f->flat_level[j]][d], common = solo;
        step *at = &m->step[m->n++];
        bool still = true;
        for (int k = 0; k < ranks; k++) {
            double by = k == t->mixed_of[d] ? move : 0, g = by - inner[k], shared = extent[k] - fabs(g);
            at->f[k] = g;
            still &= g == 0;
            common *= shared > 0 ? shared : 0;
            inner[k] += by;
        }
        at->still = still;
        at->added = m->always ? m->words : m->words - common;
        at->times = f->suffix[j + 1] - f->suffix[j];
    }
    m->outer = f->suffix[j + 1];
}

static inline bool same(const motion *m, const double *a, const double *b) {
    for (int k = 0; k < m->tensor->n_mixed; k++)
        if (a[k] != b[k]) return false;
    return true;
}

/* The words that step j fetches; a: the innermost step that moves the tile. */
static inline double fetched(const motion *m, int a, int j) {
    return m->always || !same(m, m->step[a].f, m->step[j].f) ? m->words : m->step[j].added;
}

/* The words fetched over all visits. */
static double volume(const motion *m) {
    double words = m->words * m->outer;
    for (int j = 0, a = -1; j < m->n; j++) {
        const step *at = &m->step[j];
        if (at->still && !m->always) continue;
        if (a < 0) a = j;
        words += at->times * fetched(m, a, j);
    }
    return words;
}

static bool within(const motion *m, const double *need, const double *span) {
    for (int k = 0; k < m->tensor->n_mixed; k++)
        if (fabs(need[k]) > span[k]) return false;
    return true;
}

/* Adds words to the key of a displacement; returns the number of keys. */
static int add_key(const motion *m, const double *need, double words, key *keys, int n) {
    int k = 0;
    while (k < n && !same(m, keys[k].need, need)) k++;
    if (k == n) {
        for (int r = 0; r < m->tensor->n_mixed; r++) keys[n].need[r] = need[r];
        keys[n++].words = 0;
    }
    keys[k].words += words;
    return n;
}

/* Takes from *rest, the volume, what a neighbour within `span` had at the visit before; returns how many keys there
 * are. */
static int split_keys(const motion *m, const double *span, key *keys, double *rest) {
    int n = 0;
    if (m->n == 0 || (m->step[0].still && !m->always)) return 0;
    bool whole = fetched(m, 0, 0) == m->words;
    double alike = whole ? m->outer : 0, keyed = 0;
    for (int j = 1; j < m->n; j++) {
        const step *at = &m->step[j];
        if ((at->still && !m->always) || (!whole && !same(m, m->step[0].f, at->f))) continue;
        alike += at->times;
        if (!within(m, at->f, span)) continue;
        double words = at->times * fetched(m, 0, j);
        n = add_key(m, at->f, words, keys, n);
        keyed += words;
    }
    double words = (m->first - 1) * alike * fetched(m, 0, 0);
    if (words > 0 && within(m, m->step[0].f, span)) {
        n = add_key(m, m->step[0].f, words, keys, n);
        keyed += words;
    }
    *rest -= keyed;
    return n;
}

/* The children of a level for fanout.c, with their loops in `loop`. */
static void make_fanout(const sx_cost_frame *f, int v, int s, sx_loop loop[SX_MAX_DIMS], sx_fanout *out) {
    const double *inner = sx_frame_inner(f, s);
    out->loop = loop;
    out->n_loops = f->slots[s].n;
    out->n_x = f->slots[s].n_x;
    for (int i = 0; i < out->n_loops; i++) {
        unsigned d = f->slots[s].dim[i];
        uint32_t n = (uint32_t)f->spatial[s][d];
        loop[i] = (sx_loop){(uint32_t)inner[d], n, n, (uint8_t)d, (uint8_t)s};
    }
    sx_fanout_begin(out, &f->model->shape[v], &f->model->level[s], (uint64_t)f->slot_x[s],
                    (uint64_t)f->slot_y[s], false);
}

/* Adds a record, in order of (m, scatter); false where there is no room. */
static bool add_record(sx_frame_records *flow, double m, double scatter, double accesses) {
    sx_frame_record *r = flow->record;
    int i = flow->n;
    while (i > 0 && (r[i - 1].m > m || (r[i - 1].m == m && r[i - 1].scatter > scatter))) i--;
    if (i > 0 && r[i - 1].m == m && r[i - 1].scatter == scatter) {
        r[i - 1].accesses += accesses;
        return true;
    }
    if (flow->n == SX_FRAME_RECORDS) return false;
    for (int k = flow->n++; k > i; k--) r[k] = r[k - 1];
    r[i] = (sx_frame_record){m, scatter, accesses};
    return true;
}

static bool add_groups(sx_frame_records *flow, const sx_multicast_group *group, size_t n, double words) {
    for (size_t i = 0; i < n; i++)
        if (!add_record(flow, (double)group[i].m, (double)group[i].count, (double)group[i].count * words))
            return false;
    return true;
}

/* Adds what is left to fetch when neighbours at a displacement hand over some words; *rest grows by them where that
 * saves no accesses. */
static bool add_served(const sx_cost_frame *f, sx_fanout *slot, const int64_t *need, double words,
                       double groups, double *rest, sx_frame_records *flow) {
    const sx_multicast_group *group;
    uint64_t served;
    double fewer = 0;
    size_t n = sx_fanout_served(slot, f->scratch, need, false, &served, &group);
    if (n == SIZE_MAX) return false;
    for (size_t i = 0; i < n; i++) fewer += (double)group[i].count;
    if (fewer >= groups) {
        *rest += words;
        return true;
    }
    flow->links += (double)served * words;
    return add_groups(flow, group, n, words);
}

/* The groups of all children, added up. */
static double count_groups(const sx_cost_frame *f, sx_fanout *slot) {
    const sx_multicast_group *group;
    double groups = 0;
    size_t n = sx_fanout_groups(slot, f->scratch, false, &group);
    for (size_t i = 0; i < n; i++) groups += (double)group[i].count;
    return groups;
}

/* Lets the rest of the words go to all groups. */
static bool close_flow(const sx_cost_frame *f, sx_fanout *slot, double rest, sx_frame_records *flow,
                       double *handed) {
    const sx_multicast_group *group;
    *handed = rest;
    if (slot->uniform && flow->n == 0 && flow->links == 0) return true;
    size_t n = sx_fanout_groups(slot, f->scratch, false, &group);
    return n > 0 && add_groups(flow, group, n, rest);
}

/* Splits the words of a flow among groups and neighbours. */
static bool split(const sx_cost_frame *f, int v, int s, const motion *m, bool links, sx_frame_records *flow,
                  double *handed) {
    const sx_frame_tensor *t = m->tensor;
    sx_loop loop[SX_MAX_DIMS];
    sx_fanout slot;
    key keys[MAX_LOOPS];
    double rest = *handed;
    int n = links ? split_keys(m, f->spans[v][s].span, keys, &rest) : 0;
    if (n == 0 && f->spans[v][s].uniform) return true;
    make_fanout(f, v, s, loop, &slot);
    double groups = n ? count_groups(f, &slot) : 0;
    for (int k = 0; k < n; k++) {
        int64_t need[SX_MAX_RANKS] = {0};
        for (int r = 0; r < t->n_mixed; r++) need[t->mixed_rank[r]] = (int64_t)keys[k].need[r];
        if (!add_served(f, &slot, need, keys[k].words, groups, &rest, flow)) return false;
    }
    return close_flow(f, &slot, rest, flow, handed);
}

bool sx_frame_window(sx_cost_frame *f, int v, int s, bool links, bool alike) {
    const sx_frame_tensor *t = &f->tensor[v];
    const sx_frame_spans *spans = &f->spans[v][s];
    double *handed = &f->handed[v][s];
    int last = (int)(f->last[s] >> 8 * v & 0xff);
    if (s > 0 && spans->uniform && (last == 0 || t->solo >> f->flat[last - 1] & 1)) {
        *handed = f->words[v][s - 1] * f->suffix[last];
        return true;
    }
    motion m;
    if (t->n_mixed <= 2)
        trace(f, v, s, 2, &m);
    else
        trace(f, v, s, SX_FRAME_MIXED, &m);
    *handed = volume(&m);
    if (s == 0 && alike && links && !spans->apart) {
        for (int j = 0; j < m.n; j++)
            if (m.step[j].still) *handed -= m.step[j].times;
        return true;
    }
    if (f->slots[s].n == 0) return true;
    f->records[v][s].links = 0;
    return split(f, v, s, &m, links && (s == 0 || spans->apart), &f->records[v][s], handed);
}

bool sx_frame_feed(sx_cost_frame *f, int v) {
    static const int64_t nowhere[SX_MAX_RANKS];
    sx_loop loop[SX_MAX_DIMS];
    sx_fanout slot;
    sx_frame_records *flow = &f->records[v][0];
    double moving = f->suffix[f->last[0] >> 8 * v & 0xff], rest = moving;
    flow->links = 0;
    f->handed[v][0] = f->cycles;
    if (moving == f->cycles) return true;
    make_fanout(f, v, 0, loop, &slot);
    return add_served(f, &slot, nowhere, f->cycles - moving, count_groups(f, &slot), &rest, flow) &&
           close_flow(f, &slot, rest, flow, &f->handed[v][0]);
}
