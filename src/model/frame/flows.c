/* What every level hands to its children of a tensor, over the whole run (docs/model.md, sections 2 and 3). */
#include "model/frame/state.h"

#include <math.h>

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

/* Describes how a level's children lie in the mixed ranks of a tensor. */
static void set_spans(sx_cost_frame *f, int v, int s) {
    const sx_frame_tensor *t = &f->tensor[v];
    const sx_frame_loops *loops = &f->slots[s];
    const double *inner = sx_frame_inner(f, s);
    sx_frame_spans *to = &f->spans[v][s];
    to->apart = false;
    to->uniform = true;
    if (loops->n == 0) return;
    for (int k = 0; k < SX_FRAME_MIXED; k++) to->span[k] = 0;
    for (int i = 0; i < loops->n; i++) {
        unsigned d = loops->dim[i];
        int k = t->mixed_of[d];
        if (k < 0) continue;
        to->apart = true;
        to->uniform &= to->span[k] == 0;
        to->span[k] += fabs(t->coef[d]) * inner[d] * (f->spatial[s][d] - 1);
    }
}

/* Groups of a level's children. */
static inline double count_groups(const sx_cost_frame *f, uint32_t dims, int s) {
    double groups = 1;
    for (int i = 0; i < f->slots[s].n; i++) {
        unsigned d = f->slots[s].dim[i];
        groups *= dims >> d & 1 ? f->spatial[s][d] : 1;
    }
    return groups;
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
static bool feed_plain(sx_cost_frame *f, int v) {
    f->handed[v][0] = f->cycles;
    if (f->slots[0].n == 0 || !may_link(f, v, 0)) return true;
    if (!is_aligned(f, 0)) return sx_frame_feed(f, v);
    if (neighbours_agree(&f->slots[0], f->tensor[v].dims)) f->handed[v][0] = visits(f, v, 0);
    return true;
}

/* The same of other tensors. */
static bool feed_window(sx_cost_frame *f, int v) {
    f->handed[v][0] = f->cycles;
    if (f->slots[0].n == 0) return true;
    const sx_frame_spans *spans = &f->spans[v][0];
    bool links = may_link(f, v, 0), aligned = is_aligned(f, 0);
    bool agree = aligned && neighbours_agree(&f->slots[0], f->tensor[v].dims);
    bool counted = spans->uniform && (!links || (!spans->apart && aligned && !agree));
    return counted || sx_frame_window(f, v, 0, links, agree);
}

/* Counts the flows of a plain tensor below a level; false where the frame does not cover them. */
static bool count_plain(sx_cost_frame *f, int v, int below, bool *changed) {
    double *handed = f->handed[v], first = handed[0];
    bool differ = false;
    for (int s = 1; s < below; s++) {
        double words = f->words[v][s - 1] * visits(f, v, s);
        differ |= words != handed[s];
        handed[s] = words;
    }
    bool split = f->records[v][0].n > 0;
    f->records[v][0].n = 0;
    bool good = feed_plain(f, v);
    f->split[v] = f->records[v][0].n > 0;
    *changed |= differ || split || f->split[v] || first != handed[0];
    return good;
}

/* Counts one flow of another tensor. */
static bool count_window(sx_cost_frame *f, int v, int s, bool *changed) {
    double before = f->handed[v][s];
    f->records[v][s].n = 0;
    bool good = s > 0 ? sx_frame_window(f, v, s, may_link(f, v, s), false) : feed_window(f, v);
    *changed |= f->handed[v][s] != before || f->split[v] >> s & 1 || f->records[v][s].n;
    f->split[v] &= ~(1u << s);
    if (f->records[v][s].n) f->split[v] |= 1u << s;
    return good;
}

bool sx_frame_recount(sx_cost_frame *f, int v) {
    const sx_frame_stale stale = f->stale[v];
    bool changed = stale.spread, good = true;
    if (f->flat_below) flatten(f);
    for (uint32_t left = stale.spread; left; left &= left - 1) {
        int s = __builtin_ctz(left);
        f->groups[v][s] = count_groups(f, f->tensor[v].dims, s);
    }
    if (f->tensor[v].plain) {
        good = count_plain(f, v, stale.below, &changed);
    } else {
        for (uint32_t left = stale.spread | ((1u << stale.below) - 1); left; left &= left - 1) {
            int s = __builtin_ctz(left);
            set_spans(f, v, s);
            good &= count_window(f, v, s, &changed);
        }
    }
    if (!good) return false;
    f->stamp[v] += changed;
    f->stale[v] = (sx_frame_stale){0};
    return true;
}
