#include "model/remainders/box_delta.h"

#include <string.h>

sx_box_delta sx_box_delta_whole(int ranks, const int64_t *low, const int64_t *high) {
    sx_box_delta p;
    memset(&p, 0, sizeof p);
    p.words = 1;
    for (int r = 0; r < ranks; r++) {
        p.low[r] = low[r];
        p.high[r] = high[r];
        p.words *= (uint64_t)(high[r] - low[r]);
    }
    return p;
}

sx_box_delta sx_box_delta_new(int ranks, const int64_t *low, const int64_t *high, const int64_t *held_low,
                              const int64_t *held_high) {
    sx_box_delta p = sx_box_delta_whole(ranks, low, high);
    uint64_t hole = 1;
    int cuts = 0, cut = 0;
    for (int r = 0; r < ranks; r++) {
        p.hole_low[r] = held_low[r] > low[r] ? held_low[r] : low[r];
        p.hole_high[r] = held_high[r] < high[r] ? held_high[r] : high[r];
        if (p.hole_low[r] >= p.hole_high[r]) return sx_box_delta_whole(ranks, low, high);
        hole *= (uint64_t)(p.hole_high[r] - p.hole_low[r]);
        if (p.hole_low[r] == low[r] && p.hole_high[r] == high[r]) continue;
        cuts++;
        cut = r;
    }
    uint64_t words = p.words - hole;
    if (words == 0) {
        memset(&p, 0, sizeof p);
        return p;
    }
    p.words = words;
    bool below = p.hole_low[cut] > low[cut], above = p.hole_high[cut] < high[cut];
    if (cuts > 1 || (below && above)) return p;
    if (below)
        p.high[cut] = p.hole_low[cut];
    else
        p.low[cut] = p.hole_high[cut];
    memset(p.hole_low, 0, sizeof p.hole_low);
    memset(p.hole_high, 0, sizeof p.hole_high);
    return p;
}

bool sx_box_delta_congruent(int ranks, const sx_box_delta *a, const sx_box_delta *b, int64_t *shift) {
    bool hole_a = a->hole_low[0] != a->hole_high[0], hole_b = b->hole_low[0] != b->hole_high[0];
    if (a->words != b->words || hole_a != hole_b) return false;
    for (int r = 0; r < ranks; r++) {
        int64_t d = a->low[r] - b->low[r];
        if (a->high[r] - b->high[r] != d) return false;
        if (hole_a && (a->hole_low[r] - b->hole_low[r] != d || a->hole_high[r] - b->hole_high[r] != d))
            return false;
        shift[r] = d;
    }
    return true;
}
