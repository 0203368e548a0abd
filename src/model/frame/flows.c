/* What every level hands to its children of a tensor, over the whole run (docs/model.md, sections 2 and 3). */
#include "model/frame/state.h"

#include <string.h>

/* Lays the temporal loops out, outermost first, from the outermost level that has changed. */
static void flatten(sx_cost_frame *f) {
    int s = f->flat_below - 1, n = f->end[s + 1];
    double steps = f->suffix[n];
    uint64_t last = f->last[s + 1];
    for (; s >= 0; s--) {
        const sx_frame_loops *loops = &f->loops[s];
        for (int i = loops->n - 1; i >= 0; i--) {
            unsigned d = loops->dim[i];
            steps *= f->temporal[s][d];
            f->flat[n] = (uint8_t)d;
            f->flat_level[n++] = (uint8_t)s;
            f->suffix[n] = steps;
            last = (last & ~f->relevant[d]) | (f->relevant[d] & 0x0101010101010101u * (uint64_t)n);
        }
        f->end[s] = n;
        f->last[s] = last;
    }
    f->flat_below = 0;
}

/* Describes a level's children as a tensor that is not plain sees them. */
static void set_spans(const sx_cost_frame *f, const sx_frame_tensor *t, int s, sx_frame_slot *slot) {
    const sx_frame_loops *loops = &f->slots[s];
    const double *inner = sx_frame_inner(f, s);
    slot->apart = false;
    slot->uniform = true;
    for (int k = 0; k < SX_FRAME_MIXED; k++) slot->span[k] = 0;
    for (int i = 0; i < loops->n; i++) {
        unsigned d = loops->dim[i];
        int k = t->mixed_of[d];
        if (k < 0) continue;
        double reach = (t->coef[d] < 0 ? -t->coef[d] : t->coef[d]) * inner[d] * (f->spatial[s][d] - 1);
        slot->apart = true;
        slot->uniform &= slot->span[k] == 0;
        slot->span[k] += reach;
    }
}

/* Groups of a level's children. */
static inline void set_slot(sx_cost_frame *f, int v, int s) {
    const sx_frame_tensor *t = &f->tensor[v];
    sx_frame_slot *slot = &f->slot[v][s];
    double groups = 1;
    for (int i = 0; i < f->slots[s].n; i++) {
        unsigned d = f->slots[s].dim[i];
        if (t->dims >> d & 1) groups *= f->spatial[s][d];
    }
    slot->groups = groups;
    if (!t->plain) set_spans(f, t, s, slot);
}

/* Whether X loops fill whole rows of the mesh, or there are none on Y. */
static bool is_aligned(const sx_cost_frame *f, int s) {
    return f->slots[s].n == f->slots[s].n_x || f->slot_x[s] >= (double)f->model->level[s].fanout_x;
}

/* Whether children have a neighbour that agrees with them in all loops on a tensor's dimensions. */
static bool neighbours_agree(const sx_frame_loops *slot, uint32_t dims) {
    bool x = slot->n_x > 0 && !(dims >> slot->dim[0] & 1);
    bool y = slot->n > slot->n_x && !(dims >> slot->dim[slot->n_x] & 1);
    return x || y;
}

static inline bool may_link(const sx_cost_frame *f, int v, int s) {
    return !f->model->options.no_link_transfers && !(f->seen[s].no_link_transfer >> v & 1);
}

/* The steps at which the tile of a tensor at a level moves, where it is plain. */
static inline double visits(const sx_cost_frame *f, int v, int s) {
    return f->suffix[f->last[s] >> 8 * v & 0xff];
}

/* The flow under the first level of a plain tensor: an operand a step, unless it stays the same and a neighbour has
 * it too. */
static bool feed_plain(const sx_cost_frame *f, int v, sx_frame_flow *flow) {
    flow->handed = f->cycles;
    if (f->slots[0].n == 0 || !may_link(f, v, 0)) return true;
    if (!is_aligned(f, 0)) return sx_frame_feed(f, v, flow);
    if (neighbours_agree(&f->slots[0], f->tensor[v].dims)) flow->handed = visits(f, v, 0);
    return true;
}

/* The same of other tensors. */
static bool feed_window(const sx_cost_frame *f, int v, sx_frame_flow *flow) {
    flow->handed = f->cycles;
    if (f->slots[0].n == 0) return true;
    const sx_frame_slot *slot = &f->slot[v][0];
    bool links = may_link(f, v, 0), aligned = is_aligned(f, 0);
    bool agree = aligned && neighbours_agree(&f->slots[0], f->tensor[v].dims);
    bool counted = slot->uniform && (!links || (!slot->apart && aligned && !agree));
    return counted || sx_frame_window(f, v, 0, links, aligned && agree, flow);
}

/* Counts one flow; true in *changed where it differs. */
static inline bool count(sx_cost_frame *f, int v, int s, bool *changed) {
    sx_frame_flow *flow = &f->flow[v][s];
    double before = flow->handed;
    uint32_t split = f->split[v] >> s & 1;
    flow->n_records = 0;
    bool good = true, plain = f->tensor[v].plain;
    if (s > 0 && plain)
        flow->handed = f->tile[v][s - 1].words * visits(f, v, s);
    else if (s > 0)
        good = sx_frame_window(f, v, s, may_link(f, v, s), false, flow);
    else
        good = plain ? feed_plain(f, v, flow) : feed_window(f, v, flow);
    f->split[v] &= ~(1u << s);
    if (flow->n_records) f->split[v] |= 1u << s;
    *changed |= flow->handed != before || split || flow->n_records;
    return good;
}

bool sx_frame_count(sx_cost_frame *f, int v) {
    sx_frame_stale *stale = &f->stale[v];
    if (f->flat_below) flatten(f);
    if (!stale->all && !stale->below && !stale->spread) return true;
    bool changed = stale->all || stale->spread;
    for (int s = 0; s < f->n_levels; s++) {
        bool spread = stale->all || stale->spread >> s & 1;
        if (spread) set_slot(f, v, s);
        if ((spread || s < stale->below) && !count(f, v, s, &changed)) return false;
    }
    if (changed) f->stamp[v]++;
    *stale = (sx_frame_stale){0};
    return true;
}
