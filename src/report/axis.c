#include "report/figure.h"

#include <string.h>

const char *sx_figure_axis(const char *objective) {
    static const char *const known[][2] = {
        {"edp", "EDP (pJ x cycles)"},
        {"energy", "energy (pJ)"},
        {"delay", "delay (cycles)"},
        {"last-level", "words at the last level"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(objective, known[i][0]) == 0) return known[i][1];
    return objective;
}
