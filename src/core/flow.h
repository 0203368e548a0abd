/* What every level hands to its children of a tensor, over the whole run (docs/model.md, sections 2 and 3): the rules of
 * model/tile_delta.c and model/access_stats.c. */
#ifndef SX_CORE_FLOW_H
#define SX_CORE_FLOW_H

#include "core/children.h"

/* Goes through the temporal loops, outermost first: how often tiles move. */
SX_HD void sx_core_flatten(const sx_core_model *p, sx_core_state *st) {
    sx_core_scratch *own = st->own;
    int n = 0;
    const bool windows = SX_CORE_HAS_WINDOW(p);
    double steps = 1, visits[SX_CORE_TENSORS_AT_MOST];
    uint8_t last[SX_CORE_TENSORS_AT_MOST] = {0};
    SX_UNROLL
    for (int v = 0; v < SX_CORE_N_TENSORS(p); v++) visits[v] = 1;
    if (windows) own->suffix[0] = 1;
    SX_UNROLL
    for (int s = SX_CORE_N_LEVELS(p) - 1; s >= 0; s--) {
        const sx_core_loops loops = st->nest.loops[s];
        for (int i = loops.n - 1; i >= 0; i--) {
            unsigned d = sx_core_loop(&loops, i);
            steps *= sx_core_at(st, d, s)->temporal;
            if (windows) {
                own->flat[n++] = (uint8_t)((unsigned)s << 4 | d);
                own->suffix[n] = steps;
            }
            SX_UNROLL
            for (int v = 0; v < SX_CORE_N_TENSORS(p); v++) {
                bool moves = p->tensor[v].dims >> d & 1;
                visits[v] = moves ? steps : visits[v];
                if (SX_CORE_IS_WINDOW(p, v) && moves) last[v] = (uint8_t)n;
            }
        }
        SX_UNROLL
        for (int v = 0; v < SX_CORE_N_TENSORS(p); v++) {
            st->visits[v][s] = visits[v];
            if (SX_CORE_IS_WINDOW(p, v)) own->last[v][s] = last[v];
        }
        if (windows) own->end[s] = (uint8_t)n;
    }
}

/* Words that a neighbour at the displacement `need` had before. */
typedef struct sx_core_key {
    double need[SX_CORE_MIXED], words;
} sx_core_key;

/* The steps of the tile that a level's children hold, added up. */
typedef struct sx_core_motion {
    double volume; /* words fetched over all visits */
    double still;  /* visits at which the tile does not move */
    double keyed;  /* words that a neighbour within the spans had at the visit before */
    bool moves;    /* the innermost loop moves the tile, or it is fetched anew at every visit */
    bool fits;     /* there is room for all keys */
    int n_keys;
    sx_core_key key[SX_CORE_KEYS];
} sx_core_motion;

SX_HD bool sx_core_same(const double *a, const double *b) {
    bool same = true;
    SX_UNROLL
    for (int k = 0; k < SX_CORE_MIXED; k++) same = same && a[k] == b[k];
    return same;
}

SX_HD bool sx_core_within(const double *need, const double *span) {
    bool within = true;
    SX_UNROLL
    for (int k = 0; k < SX_CORE_MIXED; k++) within = within && fabs(need[k]) <= span[k];
    return within;
}

/* Adds words to the key of a displacement. */
SX_HD void sx_core_add_key(sx_core_motion *m, const double *need, double words) {
    int k = 0;
    while (k < m->n_keys && !sx_core_same(m->key[k].need, need)) k++;
    if (k == SX_CORE_KEYS) {
        m->fits = false;
        return;
    }
    if (k == m->n_keys) {
        SX_UNROLL
        for (int r = 0; r < SX_CORE_MIXED; r++) m->key[k].need[r] = need[r];
        m->key[k].words = 0;
        m->n_keys++;
    }
    m->key[k].words += words;
    m->keyed += words;
}

/* One near loop: how far its step moves the tile, how often, and the words that were not in it before. */
typedef struct sx_core_step {
    double f[SX_CORE_MIXED];
    double times, added;
    bool still;
} sx_core_step;

/* The step of loop j; `inner`: what the loops inside it moved together. */
SX_HD sx_core_step sx_core_take_step(const sx_core_tensor *t, const sx_core_state *st, int j, double solo,
                                     const double *extent, double *inner) {
    unsigned d = st->own->flat[j] & 15;
    int level = st->own->flat[j] >> 4, rank = t->mixed_of[d];
    double move = t->coef[d] * sx_core_at(st, d, level)->spread, common = solo, words = solo;
    sx_core_step at;
    at.still = true;
    SX_UNROLL
    for (int k = 0; k < SX_CORE_MIXED; k++) {
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
SX_HD void sx_core_trace(const sx_core_tensor *t, const sx_core_state *st, int v, int s, const double *span,
                         sx_core_motion *m) {
    double inner[SX_CORE_MIXED] = {0}, extent[SX_CORE_MIXED] = {0}, words = s > 0 ? st->words[v][s - 1] : 1;
    double solo = 1, first[SX_CORE_MIXED] = {0}, anchor[SX_CORE_MIXED] = {0}, alike = 0, first_words = 0;
    bool always = s == 0, anchored = false, whole = false;
    int near = 0, j = st->own->end[s] - 1;
    SX_UNROLL
    for (int k = 0; k < SX_CORE_MIXED; k++) extent[k] = 1;
    if (s > 0) solo = sx_core_tile(t, st, s - 1, extent);
    m->volume = m->still = m->keyed = 0;
    m->n_keys = 0;
    m->fits = true;
    m->moves = false;
    for (; j >= 0 && !(t->solo >> (st->own->flat[j] & 15) & 1); j--, near++) {
        sx_core_step at = sx_core_take_step(t, st, j, solo, extent, inner);
        if (at.still) m->still += at.times;
        bool counts = always || !at.still;
        if (counts && !anchored) {
            SX_UNROLL
            for (int k = 0; k < SX_CORE_MIXED; k++) anchor[k] = at.f[k];
            anchored = true;
        }
        bool same = sx_core_same(anchor, at.f);
        double fetched = always || !same ? words : at.added;
        if (counts) m->volume += at.times * fetched;
        if (near == 0) {
            SX_UNROLL
            for (int k = 0; k < SX_CORE_MIXED; k++) first[k] = at.f[k];
            m->moves = counts;
            whole = fetched == words;
            first_words = fetched;
        } else if (m->moves && counts && (whole || same)) {
            alike += at.times;
            if (span && sx_core_within(at.f, span)) sx_core_add_key(m, at.f, at.times * fetched);
        }
    }
    double outer = st->own->suffix[j + 1];
    m->volume += words * outer;
    if (!m->moves || !span || !sx_core_within(first, span)) return;
    int inmost = st->own->flat[st->own->end[s] - 1];
    double n = sx_core_at(st, (unsigned)inmost & 15, inmost >> 4)->temporal;
    double early = (n - 1) * (alike + (whole ? outer : 0)) * first_words;
    if (early > 0) sx_core_add_key(m, first, early);
}

/* Adds a record, in order of (m, scatter); false where there is no room. */
SX_HD_CALL bool sx_core_add_record(sx_core_records *flow, double m, double scatter, double accesses) {
    sx_core_record *r = flow->record;
    int i = flow->n;
    while (i > 0 && (r[i - 1].m > m || (r[i - 1].m == m && r[i - 1].scatter > scatter))) i--;
    if (i > 0 && r[i - 1].m == m && r[i - 1].scatter == scatter) {
        r[i - 1].accesses += accesses;
        return true;
    }
    if (flow->n == SX_CORE_RECORDS) return false;
    for (int k = flow->n++; k > i; k--) r[k] = r[k - 1];
    r[i].m = m;
    r[i].scatter = scatter;
    r[i].accesses = accesses;
    return true;
}

/* Adds groups, each of which gets a number of words. */
SX_HD bool sx_core_hand_out(sx_core_records *flow, const sx_core_groups *groups, double words) {
    bool good = true;
    for (int i = 0; i < groups->n && good; i++)
        good = sx_core_add_record(flow, groups->group[i].m, groups->group[i].count,
                                  groups->group[i].count * words);
    return good;
}

/* Where a level's children lie, for its flow of one tensor. */
typedef struct sx_core_mesh {
    int n_x;      /* loops along X */
    bool aligned; /* these fill whole rows, or there is one row */
    bool uniform; /* no two loops move the same rank */
    double groups;
} sx_core_mesh;

/* Whether the child next to another along an axis (loops first to i of a slot, loop i advancing) stands `need` from it, or at
 * -need. */
SX_HD bool sx_core_stands(const sx_core_tensor *t, const sx_core_state *st, int s, int first, int i,
                          const double *need) {
    const sx_core_loops *slot = &st->nest.slots[s];
    double g[SX_CORE_MIXED] = {0};
    for (int k = first; k <= i; k++) {
        unsigned d = sx_core_loop(slot, k);
        if (t->solo >> d & 1) return false;
        if (t->mixed_of[d] < 0) continue;
        double move = t->coef[d] * sx_core_inner(st, d, s);
        sx_core_bump(g, t->mixed_of[d], k == i ? move : -(sx_core_at(st, d, s)->spatial - 1) * move);
    }
    bool ahead = true, back = true;
    SX_UNROLL
    for (int k = 0; k < SX_CORE_MIXED; k++) {
        ahead = ahead && g[k] == need[k];
        back = back && -g[k] == need[k];
    }
    return ahead || back;
}

/* The children served where neighbours with the inner loops of an axis at their end hand over words, and the groups of the
 * others (model/fanout.c, served_by_axis). */
SX_HD void sx_core_serve_axis(const sx_core_tensor *t, const sx_core_state *st, int s, int first, int at,
                              sx_core_groups *out) {
    const sx_core_loops *slot = &st->nest.slots[s];
    double hit = 1, lost = 1, m = 1, groups = 1;
    for (int l = 0; l < slot->n; l++) {
        unsigned d = sx_core_loop(slot, l);
        double n = sx_core_at(st, d, s)->spatial, left = l >= first && l < at ? 1 : l == at ? n - 1 : n;
        bool apart = t->dims >> d & 1;
        groups *= apart ? n : 1;
        m *= apart ? 1 : n;
        hit *= apart ? left : 1;
        lost *= apart ? 1 : left;
    }
    out->n = 0;
    out->total = 0;
    out->served = hit * lost;
    if (groups > hit) sx_core_add_groups(out, m, groups - hit);
    if (m > lost) sx_core_add_groups(out, m - lost, hit);
}

/* What became of children that ask their neighbours. */
enum { SX_CORE_NONE_SERVED, SX_CORE_ALL_SERVED, SX_CORE_SOME_SERVED, SX_CORE_UNKNOWN };

/* Finds the children that a neighbour at a displacement serves, and the groups of the others where that are some. */
SX_HD int sx_core_find_served(const sx_core_model *p, const sx_core_tensor *t, const sx_core_state *st, int s,
                              const sx_core_mesh *mesh, const double *need, sx_core_groups *out) {
    const sx_core_loops *slot = &st->nest.slots[s];
    bool nowhere = true;
    int matches = 0, at = 0;
    if (!mesh->aligned || !mesh->uniform)
        return sx_core_list_served(p, t, st, s, need, out) ? SX_CORE_SOME_SERVED : SX_CORE_UNKNOWN;
    SX_UNROLL
    for (int k = 0; k < SX_CORE_MIXED; k++) nowhere = nowhere && need[k] == 0;
    if (nowhere) return sx_core_agree(slot, mesh->n_x, t->dims) ? SX_CORE_ALL_SERVED : SX_CORE_NONE_SERVED;
    for (int i = 0; i < slot->n; i++)
        if (sx_core_stands(t, st, s, i < mesh->n_x ? 0 : mesh->n_x, i, need)) {
            matches++;
            at = i;
        }
    if (matches == 0) return SX_CORE_NONE_SERVED;
    if (matches > 1)
        return sx_core_list_served(p, t, st, s, need, out) ? SX_CORE_SOME_SERVED : SX_CORE_UNKNOWN;
    sx_core_serve_axis(t, st, s, at < mesh->n_x ? 0 : mesh->n_x, at, out);
    return SX_CORE_SOME_SERVED;
}

/* Splits words among groups and neighbours; *rest grows by them where that saves no accesses. False where it is not
 * covered. */
SX_HD_CALL bool sx_core_add_served(const sx_core_model *p, const sx_core_tensor *t, const sx_core_state *st,
                                   int s, const sx_core_mesh *mesh, const double *need, double words,
                                   double *rest, sx_core_records *flow) {
    sx_core_groups groups;
    int found = sx_core_find_served(p, t, st, s, mesh, need, &groups);
    if (found == SX_CORE_UNKNOWN) return false;
    if (found == SX_CORE_ALL_SERVED) {
        flow->links += st->children[s] * words;
        return true;
    }
    if (found == SX_CORE_NONE_SERVED || groups.total >= mesh->groups) {
        *rest += words;
        return true;
    }
    flow->links += groups.served * words;
    return sx_core_hand_out(flow, &groups, words);
}

/* Lets the rest of the words go to all groups; `all`: these, where two loops move the same rank. */
SX_HD bool sx_core_close(const sx_core_state *st, int v, int s, const sx_core_mesh *mesh,
                         const sx_core_groups *all, double rest) {
    sx_core_records *flow = sx_core_records_of(st, v, s);
    double groups = st->groups[v][s];
    if (!mesh->uniform) return sx_core_hand_out(flow, all, rest);
    if (flow->n == 0 && flow->links == 0) return true;
    return sx_core_add_record(flow, st->children[s] / groups, groups, groups * rest);
}

/* Splits the words of a flow among groups and neighbours; false where that is not covered. */
SX_HD bool sx_core_split(const sx_core_model *p, sx_core_state *st, int v, int s, const sx_core_motion *m,
                         bool uniform) {
    const sx_core_tensor *t = &p->tensor[v];
    sx_core_records *flow = sx_core_records_of(st, v, s);
    sx_core_mesh mesh = {sx_core_on_x(p, st, s), sx_core_is_aligned(p, st, s), uniform, st->groups[v][s]};
    sx_core_groups all;
    double rest = m->volume - m->keyed;
    all.n = 0;
    if (m->n_keys == 0 && uniform) return true;
    if (!m->fits || (!uniform && !sx_core_find_groups(t, st, s, &all))) return false;
    if (!uniform) mesh.groups = all.total;
    flow->links = 0;
    for (int k = 0; k < m->n_keys; k++)
        if (!sx_core_add_served(p, t, st, s, &mesh, m->key[k].need, m->key[k].words, &rest, flow))
            return false;
    st->handed[v][s] = rest;
    return sx_core_close(st, v, s, &mesh, &all, rest);
}

/* The flow under the first level of a plain tensor: an operand a step, unless it stays the same and a neighbour has it too.
 * False where it is not covered. */
SX_HD_CALL bool sx_core_feed_plain(const sx_core_model *p, sx_core_state *st, int v) {
    const sx_core_loops *slot = &st->nest.slots[0];
    const double nowhere[SX_CORE_MIXED] = {0};
    double moving = st->visits[v][0], rest = moving;
    st->handed[v][0] = st->cycles;
    if (SX_CORE_LISTS) sx_core_records_of(st, v, 0)->n = 0;
    if (slot->n == 0 || !(p->level[0].links >> v & 1) || moving == st->cycles) return true;
    if (sx_core_is_aligned(p, st, 0)) {
        if (sx_core_agree(slot, sx_core_on_x(p, st, 0), p->tensor[v].dims)) st->handed[v][0] = moving;
        return true;
    }
    if (!SX_CORE_LISTS) return false;
    sx_core_mesh mesh = {slot->n_x, false, true, st->groups[v][0]};
    sx_core_records *flow = sx_core_records_of(st, v, 0);
    flow->links = 0;
    if (!sx_core_add_served(p, &p->tensor[v], st, 0, &mesh, nowhere, st->cycles - moving, &rest, flow))
        return false;
    st->handed[v][0] = rest;
    return sx_core_close(st, v, 0, &mesh, NULL, rest);
}

/* The flow of a tensor whose tiles overlap in part; false where it is not covered. */
SX_HD_CALL bool sx_core_flow_window(const sx_core_model *p, sx_core_state *st, int v, int s) {
    const sx_core_tensor *t = &p->tensor[v];
    const sx_core_loops *slot = &st->nest.slots[s];
    bool links = p->level[s].links >> v & 1, agree = false;
    sx_core_motion m;
    sx_core_records_of(st, v, s)->n = 0;
    sx_core_spans spans = sx_core_find_spans(t, st, s);
    if (s == 0) {
        bool aligned = sx_core_is_aligned(p, st, 0);
        st->handed[v][0] = st->cycles;
        if (slot->n == 0) return true;
        agree = aligned && sx_core_agree(slot, sx_core_on_x(p, st, 0), t->dims);
        if (spans.uniform && (!links || (!spans.apart && aligned && !agree))) return true;
    } else {
        int last = st->own->last[v][s];
        if (spans.uniform && (last == 0 || t->solo >> (st->own->flat[last - 1] & 15) & 1)) {
            st->handed[v][s] = st->words[v][s - 1] * st->own->suffix[last];
            return true;
        }
    }
    bool neighbours = links && slot->n > 0 && (s == 0 || spans.apart);
    sx_core_trace(t, st, v, s, neighbours ? spans.span : NULL, &m);
    st->handed[v][s] = m.volume;
    if (s == 0 && agree && links && !spans.apart) {
        st->handed[v][s] -= m.still;
        return true;
    }
    return slot->n == 0 || sx_core_split(p, st, v, s, &m, spans.uniform);
}

/* Counts the flow of a tensor at a level; false where it is not covered. */
SX_HD bool sx_core_flow(const sx_core_model *p, sx_core_state *st, int v, int s) {
    if (SX_CORE_HAS_WINDOW(p) && SX_CORE_IS_WINDOW(p, v)) return sx_core_flow_window(p, st, v, s);
    if (s == 0) return sx_core_feed_plain(p, st, v);
    st->handed[v][s] = st->words[v][s - 1] * st->visits[v][s];
    return true;
}

#endif
