/* Pareto fronts of what tiles cause: rows of words, one per tensor.
 *
 * Complexity: O(rows^2) to thin out a front, and a step per row for its least sum. */
#include "bound/front.h"

#include "base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 2048 };

bool sx_traffic_undercuts(const double *a, const double *b, int n) {
    for (int i = 0; i < n; i++)
        if (a[i] > b[i]) return false;
    return true;
}

bool sx_traffic_front_add(sx_traffic_front *sky, size_t *room, int width, const double *flows) {
    if (!sx_reserve(&sky->flow, room, sky->n + 1u, (size_t)width * sizeof *flows)) return false;
    memcpy(sky->flow + (size_t)sky->n++ * (size_t)width, flows, (size_t)width * sizeof *flows);
    return true;
}

static int compare_first(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

bool sx_traffic_front_thin(sx_traffic_front *sky, int width, const sx_interrupt *halt) {
    enum { POLL = 4096 };
    size_t w = (size_t)width;
    uint32_t n = 0;
    if (sky->n > 1) qsort(sky->flow, sky->n, w * sizeof *sky->flow, compare_first);
    for (uint32_t i = 0; i < sky->n; i++) {
        const double *row = sky->flow + i * w;
        bool passed = false;
        if (halt && i % POLL == 0 && halt->asked(halt->user)) return false;
        for (uint32_t k = n; k > 0 && !passed; k--)
            passed = sx_traffic_undercuts(sky->flow + (k - 1) * w, row, width);
        if (!passed) memmove(sky->flow + n++ * w, row, w * sizeof *row);
    }
    for (sky->n = n; sky->n > MOST_ROWS; sky->n = n) {
        n = (sky->n + 1) / 2;
        for (uint32_t i = 0; i < n; i++) {
            const double *a = sky->flow + 2 * i * w, *b = 2 * i + 1 < sky->n ? a + w : a;
            for (size_t k = 0; k < w; k++) sky->flow[i * w + k] = fmin(a[k], b[k]);
        }
    }
    return true;
}

double sx_traffic_front_least(const sx_traffic_front *sky, int n, const double *price) {
    double least = sky->n > 0 ? INFINITY : 0;
    for (uint32_t i = 0; i < sky->n; i++) {
        const double *row = sky->flow + (size_t)i * (size_t)n;
        double sum = 0;
        for (int k = 0; k < n; k++) sum += price[k] * row[k];
        least = fmin(least, sum);
    }
    return least;
}
