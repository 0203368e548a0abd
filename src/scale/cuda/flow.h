/* What every level hands to its children of a tensor, over the whole run (model/frame/flows.c and window.c on an image).
 * Where children have no closed form, a flow is not covered. */
#ifndef SX_SCALE_CUDA_FLOW_H
#define SX_SCALE_CUDA_FLOW_H

#include "scale/cuda/layout.h"

/* Goes through the temporal loops, outermost first: how often tiles move. */
SX_HD void sx_gpu_flatten(const sx_gpu_image *p, sx_gpu_state *st) {
    sx_gpu_scratch *own = st->own;
    int n = 0, last = 0, window = SX_GPU_WINDOW(p);
    double steps = 1, visits[SX_GPU_TENSORS_AT_MOST];
    SX_UNROLL
    for (int v = 0; v < SX_GPU_N_TENSORS(p); v++) visits[v] = 1;
    if (window >= 0) own->suffix[0] = 1;
    SX_UNROLL
    for (int s = SX_GPU_N_LEVELS(p) - 1; s >= 0; s--) {
        const sx_gpu_loops loops = own->point.loops[s];
        for (int i = loops.n - 1; i >= 0; i--) {
            unsigned d = sx_gpu_loop(&loops, i);
            steps *= sx_gpu_at(st, d, s)->temporal;
            SX_UNROLL
            for (int v = 0; v < SX_GPU_N_TENSORS(p); v++)
                visits[v] = p->tensor[v].dims >> d & 1 ? steps : visits[v];
            if (window < 0) continue;
            own->flat[n++] = (uint8_t)((unsigned)s << 4 | d);
            own->suffix[n] = steps;
            if (p->tensor[window].dims >> d & 1) last = n;
        }
        SX_UNROLL
        for (int v = 0; v < SX_GPU_N_TENSORS(p); v++) st->visits[v][s] = visits[v];
        if (window < 0) continue;
        own->end[s] = (uint8_t)n;
        own->last[s] = (uint8_t)last;
    }
}

/* Groups of a level's children that want the same words of a tensor. */
SX_HD double sx_gpu_count_groups(const sx_gpu_tensor *t, const sx_gpu_state *st, int s) {
    const sx_gpu_loops *slot = &st->own->point.slots[s];
    double groups = 1;
    for (int i = 0; i < slot->n; i++) {
        unsigned d = sx_gpu_loop(slot, i);
        groups *= t->dims >> d & 1 ? sx_gpu_at(st, d, s)->spatial : 1;
    }
    return groups;
}

/* Whether X loops fill whole rows of the mesh, or there are none on Y. */
SX_HD bool sx_gpu_is_aligned(const sx_gpu_image *p, const sx_gpu_state *st, int s) {
    const sx_gpu_loops *slot = &st->own->point.slots[s];
    return slot->n == slot->n_x || st->slot_x[s] >= p->level[s].fanout_x;
}

/* Whether children have a neighbour that agrees with them in all loops on a tensor's dimensions. */
SX_HD bool sx_gpu_agree(const sx_gpu_loops *slot, uint32_t dims) {
    bool x = slot->n_x > 0 && !(dims >> sx_gpu_loop(slot, 0) & 1);
    bool y = slot->n > slot->n_x && !(dims >> sx_gpu_loop(slot, slot->n_x) & 1);
    return x || y;
}

/* The flow under the first level of a plain tensor; false where it is not covered. */
SX_HD bool sx_gpu_feed_plain(const sx_gpu_image *p, sx_gpu_state *st, int v) {
    const sx_gpu_loops *slot = &st->own->point.slots[0];
    double moving = st->visits[v][0];
    st->handed[v][0] = st->cycles;
    if (slot->n == 0 || !(p->level[0].links >> v & 1) || moving == st->cycles) return true;
    if (!sx_gpu_is_aligned(p, st, 0)) return false;
    if (sx_gpu_agree(slot, p->tensor[v].dims)) st->handed[v][0] = moving;
    return true;
}

/* How a level's children lie in the mixed ranks of a tensor. */
typedef struct sx_gpu_spans {
    bool apart, uniform; /* they stand apart; no two loops move the same rank */
    double span[SX_GPU_MIXED];
} sx_gpu_spans;

/* Adds a number to the one that a mixed rank has. */
SX_HD void sx_gpu_bump(double *rank, int k, double by) {
    SX_UNROLL
    for (int i = 0; i < SX_GPU_MIXED; i++)
        if (i == k) rank[i] += by;
}

SX_HD sx_gpu_spans sx_gpu_find_spans(const sx_gpu_tensor *t, const sx_gpu_state *st, int s) {
    const sx_gpu_loops *slot = &st->own->point.slots[s];
    sx_gpu_spans to = {false, true, {0}};
    unsigned moved = 0;
    for (int i = 0; i < slot->n; i++) {
        unsigned d = sx_gpu_loop(slot, i);
        int k = t->mixed_of[d];
        if (k < 0) continue;
        to.apart = true;
        to.uniform = to.uniform && !(moved >> k & 1);
        moved |= 1u << k;
        sx_gpu_bump(to.span, k,
                    fabs(t->coef[d]) * sx_gpu_inner(st, d, s) * (sx_gpu_at(st, d, s)->spatial - 1));
    }
    return to;
}

/* Words that a neighbour at the displacement `need` had before. */
typedef struct sx_gpu_key {
    double need[SX_GPU_MIXED], words;
} sx_gpu_key;

/* The steps of the tile that a level's children hold, added up. */
typedef struct sx_gpu_motion {
    double volume; /* words fetched over all visits */
    double still;  /* visits at which the tile does not move */
    double keyed;  /* words that a neighbour within the spans had at the visit before */
    bool moves;    /* the innermost loop moves the tile, or it is fetched anew at every visit */
    bool fits;     /* there is room for all keys */
    int n_keys;
    sx_gpu_key key[SX_GPU_KEYS];
} sx_gpu_motion;

SX_HD bool sx_gpu_same(const double *a, const double *b) {
    bool same = true;
    SX_UNROLL
    for (int k = 0; k < SX_GPU_MIXED; k++) same = same && a[k] == b[k];
    return same;
}

SX_HD bool sx_gpu_within(const double *need, const double *span) {
    bool within = true;
    SX_UNROLL
    for (int k = 0; k < SX_GPU_MIXED; k++) within = within && fabs(need[k]) <= span[k];
    return within;
}

/* Adds words to the key of a displacement. */
SX_HD void sx_gpu_add_key(sx_gpu_motion *m, const double *need, double words) {
    int k = 0;
    while (k < m->n_keys && !sx_gpu_same(m->key[k].need, need)) k++;
    if (k == SX_GPU_KEYS) {
        m->fits = false;
        return;
    }
    if (k == m->n_keys) {
        SX_UNROLL
        for (int r = 0; r < SX_GPU_MIXED; r++) m->key[k].need[r] = need[r];
        m->key[k].words = 0;
        m->n_keys++;
    }
    m->key[k].words += words;
    m->keyed += words;
}

/* One near loop: how far its step moves the tile, how often, and the words that were not in it before. */
typedef struct sx_gpu_step {
    double f[SX_GPU_MIXED];
    double times, added;
    bool still;
} sx_gpu_step;

/* The step of loop j; `inner`: what the loops inside it moved together. */
SX_HD sx_gpu_step sx_gpu_take_step(const sx_gpu_tensor *t, const sx_gpu_state *st, int j, double solo,
                                   const double *extent, double *inner) {
    unsigned d = st->own->flat[j] & 15;
    int level = st->own->flat[j] >> 4, rank = t->mixed_of[d];
    double move = t->coef[d] * sx_gpu_at(st, d, level)->spread, common = solo, words = solo;
    sx_gpu_step at;
    at.still = true;
    SX_UNROLL
    for (int k = 0; k < SX_GPU_MIXED; k++) {
        double by = k == rank ? move : 0, g = by - inner[k], shared = extent[k] - fabs(g);
        at.f[k] = g;
        at.still = at.still && g == 0;
        words *= extent[k];
        common *= shared > 0 ? shared : 0;
        inner[k] += by;
    }
    at.added = words - common;
    at.times = st->own->suffix[j + 1] - st->own->suffix[j];
    return at;
}

/* Adds all steps up. Every number here is a whole one below 2^53, so that the order of additions does not matter. */
SX_HD void sx_gpu_trace(const sx_gpu_tensor *t, const sx_gpu_state *st, int v, int s, const double *span,
                        sx_gpu_motion *m) {
    double inner[SX_GPU_MIXED] = {0}, extent[SX_GPU_MIXED] = {0}, words = s > 0 ? st->words[v][s - 1] : 1;
    double solo = 1, first[SX_GPU_MIXED] = {0}, anchor[SX_GPU_MIXED] = {0}, alike = 0, first_words = 0;
    bool always = s == 0, anchored = false, whole = false;
    int near = 0, j = st->own->end[s] - 1;
    SX_UNROLL
    for (int k = 0; k < SX_GPU_MIXED; k++) extent[k] = 1;
    if (s > 0) solo = sx_gpu_tile(t, st, s - 1, extent);
    m->volume = m->still = m->keyed = 0;
    m->n_keys = 0;
    m->fits = true;
    m->moves = false;
    for (; j >= 0 && !(t->solo >> (st->own->flat[j] & 15) & 1); j--, near++) {
        sx_gpu_step at = sx_gpu_take_step(t, st, j, solo, extent, inner);
        if (at.still) m->still += at.times;
        bool counts = always || !at.still;
        if (counts && !anchored) {
            SX_UNROLL
            for (int k = 0; k < SX_GPU_MIXED; k++) anchor[k] = at.f[k];
            anchored = true;
        }
        bool same = sx_gpu_same(anchor, at.f);
        double fetched = always || !same ? words : at.added;
        if (counts) m->volume += at.times * fetched;
        if (near == 0) {
            SX_UNROLL
            for (int k = 0; k < SX_GPU_MIXED; k++) first[k] = at.f[k];
            m->moves = counts;
            whole = fetched == words;
            first_words = fetched;
        } else if (m->moves && counts && (whole || same)) {
            alike += at.times;
            if (span && sx_gpu_within(at.f, span)) sx_gpu_add_key(m, at.f, at.times * fetched);
        }
    }
    double outer = st->own->suffix[j + 1];
    m->volume += words * outer;
    if (!m->moves || !span || !sx_gpu_within(first, span)) return;
    int inmost = st->own->flat[st->own->end[s] - 1];
    double n = sx_gpu_at(st, (unsigned)inmost & 15, inmost >> 4)->temporal;
    double early = (n - 1) * (alike + (whole ? outer : 0)) * first_words;
    if (early > 0) sx_gpu_add_key(m, first, early);
}

/* Adds a record, in order of (m, scatter); false where there is no room. */
SX_HD bool sx_gpu_add_record(sx_gpu_records *flow, double m, double scatter, double accesses) {
    sx_gpu_record *r = flow->record;
    int i = flow->n;
    while (i > 0 && (r[i - 1].m > m || (r[i - 1].m == m && r[i - 1].scatter > scatter))) i--;
    if (i > 0 && r[i - 1].m == m && r[i - 1].scatter == scatter) {
        r[i - 1].accesses += accesses;
        return true;
    }
    if (flow->n == SX_GPU_RECORDS) return false;
    for (int k = flow->n++; k > i; k--) r[k] = r[k - 1];
    r[i].m = m;
    r[i].scatter = scatter;
    r[i].accesses = accesses;
    return true;
}

/* Whether the child next to another along an axis (loops first to i of a slot, loop i advancing) stands `need` from it:
 * 1, or at -need: -1, or neither: 0. */
SX_HD int sx_gpu_stands(const sx_gpu_tensor *t, const sx_gpu_state *st, int s, int first, int i,
                        const double *need) {
    const sx_gpu_loops *slot = &st->own->point.slots[s];
    double g[SX_GPU_MIXED] = {0};
    for (int k = first; k <= i; k++) {
        unsigned d = sx_gpu_loop(slot, k);
        if (t->solo >> d & 1) return 0;
        if (t->mixed_of[d] < 0) continue;
        double move = t->coef[d] * sx_gpu_inner(st, d, s);
        sx_gpu_bump(g, t->mixed_of[d], k == i ? move : -(sx_gpu_at(st, d, s)->spatial - 1) * move);
    }
    bool ahead = true, back = true;
    SX_UNROLL
    for (int k = 0; k < SX_GPU_MIXED; k++) {
        ahead = ahead && g[k] == need[k];
        back = back && -g[k] == need[k];
    }
    return ahead ? 1 : back ? -1 : 0;
}

/* Adds what is left to fetch when neighbours with the inner loops of an axis at their end hand over words (model/fanout.c,
 * served_by_axis); *rest grows by them where that saves no accesses. */
SX_HD bool sx_gpu_add_axis(const sx_gpu_tensor *t, const sx_gpu_state *st, int s, int first, int at,
                           double words, double *rest, sx_gpu_records *flow) {
    const sx_gpu_loops *slot = &st->own->point.slots[s];
    double hit = 1, lost = 1, m = 1, groups = 1, fewer = 0;
    for (int l = 0; l < slot->n; l++) {
        unsigned d = sx_gpu_loop(slot, l);
        double n = sx_gpu_at(st, d, s)->spatial, left = l >= first && l < at ? 1 : l == at ? n - 1 : n;
        bool apart = t->dims >> d & 1;
        groups *= apart ? n : 1;
        m *= apart ? 1 : n;
        hit *= apart ? left : 1;
        lost *= apart ? 1 : left;
    }
    if (groups > hit) fewer += groups - hit;
    if (m > lost) fewer += hit;
    if (fewer >= groups) {
        *rest += words;
        return true;
    }
    flow->links += hit * lost * words;
    bool good = true;
    if (groups > hit) good = sx_gpu_add_record(flow, m, groups - hit, (groups - hit) * words);
    if (m > lost) good = sx_gpu_add_record(flow, m - lost, hit, hit * words) && good;
    return good;
}

/* Splits the words of one key among groups and neighbours; false where that is not covered. */
SX_HD bool sx_gpu_add_served(const sx_gpu_tensor *t, const sx_gpu_state *st, int s, const sx_gpu_key *key,
                             double *rest, sx_gpu_records *flow) {
    const sx_gpu_loops *slot = &st->own->point.slots[s];
    bool nowhere = true;
    SX_UNROLL
    for (int k = 0; k < SX_GPU_MIXED; k++) nowhere = nowhere && key->need[k] == 0;
    if (nowhere) {
        if (sx_gpu_agree(slot, t->dims))
            flow->links += st->children[s] * key->words;
        else
            *rest += key->words;
        return true;
    }
    int matches = 0, at = 0;
    for (int i = 0; i < slot->n; i++)
        if (sx_gpu_stands(t, st, s, i < slot->n_x ? 0 : slot->n_x, i, key->need)) {
            matches++;
            at = i;
        }
    if (matches > 1) return false;
    if (matches == 0) {
        *rest += key->words;
        return true;
    }
    return sx_gpu_add_axis(t, st, s, at < slot->n_x ? 0 : slot->n_x, at, key->words, rest, flow);
}

/* Splits the words of a flow among groups and neighbours. */
SX_HD bool sx_gpu_split(const sx_gpu_image *p, sx_gpu_state *st, int v, int s, const sx_gpu_motion *m) {
    const sx_gpu_tensor *t = &p->tensor[v];
    sx_gpu_records *flow = &st->own->records[s];
    double rest = m->volume - m->keyed;
    if (m->n_keys == 0) return true;
    if (!m->fits || !sx_gpu_is_aligned(p, st, s)) return false;
    flow->links = 0;
    for (int k = 0; k < m->n_keys; k++)
        if (!sx_gpu_add_served(t, st, s, &m->key[k], &rest, flow)) return false;
    st->handed[v][s] = rest;
    if (flow->n == 0 && flow->links == 0) return true;
    double groups = st->groups[v][s];
    return sx_gpu_add_record(flow, st->children[s] / groups, groups, groups * rest);
}

/* The flow of the tensor whose tiles overlap in part; false where it is not covered. */
SX_HD bool sx_gpu_flow_window(const sx_gpu_image *p, sx_gpu_state *st, int v, int s) {
    const sx_gpu_tensor *t = &p->tensor[v];
    const sx_gpu_loops *slot = &st->own->point.slots[s];
    bool links = p->level[s].links >> v & 1, agree = false;
    sx_gpu_motion m;
    st->own->records[s].n = 0;
    sx_gpu_spans spans = sx_gpu_find_spans(t, st, s);
    if (s == 0) {
        bool aligned = sx_gpu_is_aligned(p, st, 0);
        st->handed[v][0] = st->cycles;
        if (slot->n == 0) return true;
        agree = aligned && sx_gpu_agree(slot, t->dims);
        if (spans.uniform && (!links || (!spans.apart && aligned && !agree))) return true;
    } else {
        int last = st->own->last[s];
        if (spans.uniform && (last == 0 || t->solo >> (st->own->flat[last - 1] & 15) & 1)) {
            st->handed[v][s] = st->words[v][s - 1] * st->own->suffix[last];
            return true;
        }
    }
    bool neighbours = links && slot->n > 0 && (s == 0 || spans.apart);
    sx_gpu_trace(t, st, v, s, neighbours ? spans.span : NULL, &m);
    st->handed[v][s] = m.volume;
    if (s == 0 && agree && links && !spans.apart) {
        st->handed[v][s] -= m.still;
        return true;
    }
    if (slot->n == 0) return true;
    return spans.uniform && sx_gpu_split(p, st, v, s, &m);
}

/* Counts the flow of a tensor at a level; false where it is not covered. */
SX_HD bool sx_gpu_flow(const sx_gpu_image *p, sx_gpu_state *st, int v, int s) {
    st->groups[v][s] = sx_gpu_count_groups(&p->tensor[v], st, s);
    if (SX_GPU_WINDOW(p) >= 0 && v == SX_GPU_WINDOW(p)) return sx_gpu_flow_window(p, st, v, s);
    if (s == 0) return sx_gpu_feed_plain(p, st, v);
    st->handed[v][s] = st->words[v][s - 1] * st->visits[v][s];
    return true;
}

#endif
