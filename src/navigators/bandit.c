#include "navigators/bandit.h"

#include "learn/elementary.h"

#include <math.h>

void sx_bandit_note(sx_bandit *bandit, size_t window, size_t part, int success) {
    bandit->turn[bandit->turns++ % window] = (uint16_t)(2 * part + (success != 0));
}

double sx_bandit_value(const sx_bandit *bandit, size_t window, double exploration, size_t part) {
    static const double log_2 = 0.69314718055994530942;
    uint64_t first = bandit->turns > window ? bandit->turns - window : 0;
    double uses = 0, area = 0;
    for (uint64_t i = first; i < bandit->turns; i++) {
        uint16_t turn = bandit->turn[i % window];
        if (turn / 2u != part) continue;
        uses++;
        if (turn % 2u) area += uses;
    }
    if (uses == 0) return INFINITY;
    double credit = area * 2 / (uses * (uses + 1)), all = (double)(bandit->turns - first);
    return credit + exploration * sqrt(2 * (sx_log(all) / log_2) / uses);
}
