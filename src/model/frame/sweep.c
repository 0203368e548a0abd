/* All choices of kept tensors for one factorisation and order: tiles, flows and instances are the same for all of
 * them, a tensor's charge depends on the levels that keep it alone, and what is left is to add up. */
#include "model/frame/state.h"

/* What a level can keep. */
typedef struct choices {
    int n, at;
    uint8_t keep[256];
    uint64_t levels[256]; /* a byte per tensor: this level's bit where it is kept */
} choices;

/* Lists what a level can keep of `may` beside `must`; how many there are. */
static int find_choices(const sx_cost_frame *f, int s, unsigned must, unsigned may, choices *c) {
    unsigned open = may & ~must & f->all, subset = 0;
    c->n = c->at = 0;
    do {
        unsigned keep = must | subset;
        if (sx_frame_fits(f, s, keep)) {
            uint64_t levels = 0;
            for (unsigned left = keep; left; left &= left - 1)
                levels |= (uint64_t)1 << (8 * __builtin_ctz(left) + s);
            c->levels[c->n] = levels;
            c->keep[c->n++] = (uint8_t)keep;
        }
        subset = (subset - open) & open;
    } while (subset);
    return c->n;
}

/* Goes on to the next choice, the innermost level's first; false after the last. */
static bool advance(choices *c, int n_levels, uint64_t *levels) {
    for (int s = 0; s < n_levels; s++) {
        *levels ^= c[s].levels[c[s].at];
        c[s].at = c[s].at + 1 < c[s].n ? c[s].at + 1 : 0;
        *levels ^= c[s].levels[c[s].at];
        if (c[s].at > 0) return true;
    }
    return false;
}

/* Adds up the charges of one choice; false where a tensor is kept nowhere. */
static bool score(sx_cost_frame *f, uint64_t levels, sx_score *out) {
    const sx_frame_charge *charge[SX_MAX_TENSORS];
    uint32_t any = 0;
    for (int v = 0; v < f->n_tensors; v++) {
        uint32_t kept = (uint32_t)(levels >> 8 * v & 0xff);
        if (!kept) return false;
        any |= kept;
        charge[v] = sx_frame_charge_of(f, v, kept);
    }
    sx_frame_sum(f, sx_frame_all_computes(f), charge, any, out);
    return true;
}

long sx_frame_sweep(sx_cost_frame *f, const sx_mapping *mapping, const uint8_t *must, const uint8_t *may,
                    sx_swept *out, long room) {
    choices level[SX_FRAME_LEVELS];
    uint64_t levels = 0;
    long n = 0;
    if (f->sparse || !sx_frame_read(f, mapping)) return -1;
    if (!sx_frame_spreads(f)) return 0;
    for (int s = 0; s < f->n_levels; s++) {
        if (find_choices(f, s, must[s] & f->all, may[s], &level[s]) == 0) return 0;
        levels |= level[s].levels[0];
    }
    for (int v = 0; v < f->n_tensors; v++)
        if (!sx_frame_count(f, v)) {
            f->known = false;
            return -1;
        }
    do {
        sx_score value;
        if (!score(f, levels, &value)) continue;
        if (n < room) {
            for (int s = 0; s < f->n_levels; s++) out[n].keep[s] = level[s].keep[level[s].at];
            out[n].score = value;
        }
        n++;
    } while (advance(level, f->n_levels, &levels));
    return n;
}

bool sx_frame_open(sx_cost_frame *f, const sx_mapping *mapping) {
    return !f->sparse && sx_frame_read(f, mapping) && sx_frame_spreads(f);
}

int sx_frame_score_kept(sx_cost_frame *f, uint64_t levels, const sx_objective *objective, double bound,
                        sx_score *score) {
    uint32_t kept[SX_MAX_TENSORS];
    for (int v = 0; v < f->n_tensors; v++) kept[v] = (uint32_t)(levels >> 8 * v & 0xff);
    return sx_frame_add(f, kept, objective, bound, score);
}
