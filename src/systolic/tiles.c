#include "systolic/tiles.h"

#include "base/divisor.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>

/* Whether t2, which divides t1, may be its second-level tile. */
static bool tile_allowed(const sx_systolic_tile_set *set, uint32_t t2) {
    return !set->lanes || ((t2 & (t2 - 1)) == 0 && t2 <= set->lanes);
}

/* Lists the second-level tiles of t1, ascending; returns how many. */
static size_t list_inner(const sx_systolic_tile_set *set, uint32_t t1, uint32_t inner[SX_MOST_DIVISORS]) {
    size_t n = sx_divisors_of(t1, inner), good = 0;
    for (size_t i = 0; i < n; i++)
        if (tile_allowed(set, inner[i])) inner[good++] = inner[i];
    return good;
}

/* Marks the tiles of a loop of n steps. */
static void mark_tiles(uint8_t *marked, uint32_t n, bool divisors) {
    for (uint32_t x = 1; x <= n; x++) {
        if (divisors) {
            if (n % x == 0) marked[x] = 1;
            continue;
        }
        marked[x] = 1;
        if (x < n) marked[(n + x - 1) / x * x] = 1;
    }
}

/* Counts, for each marked number up to `limit`, its divisors that may be second-level tiles. */
static void count_divisors(sx_systolic_tile_set *set, const uint8_t *marked, uint32_t limit,
                           uint32_t *count) {
    for (uint32_t d = 1; d <= limit; d++)
        for (uint32_t m = d; m <= limit; m += d) {
            if (!marked[m]) continue;
            set->divisors++;
            if (tile_allowed(set, d)) count[m]++;
        }
}

/* Lists the marked numbers up to `limit` and their pairs; false when memory is out. */
static bool list_tiles(sx_systolic_tile_set *set, const uint8_t *marked, uint32_t limit) {
    for (uint32_t t = 1; t <= limit; t++) set->n += marked[t];
    uint32_t *count = calloc((size_t)limit + 1, sizeof *count);
    set->t1 = malloc(set->n * sizeof *set->t1);
    set->before = malloc((set->n + 1) * sizeof *set->before);
    bool fine = count && set->t1 && set->before;
    if (fine) {
        uint64_t pairs = 0;
        size_t at = 0;
        count_divisors(set, marked, limit, count);
        for (uint32_t t = 1; t <= limit; t++) {
            if (!marked[t]) continue;
            set->t1[at] = t;
            set->before[at++] = pairs;
            pairs += count[t];
        }
        set->before[at] = pairs;
        while (set->whole < set->n && set->t1[set->whole] == set->whole + 1) set->whole++;
    }
    free(count);
    return fine;
}

sx_status sx_systolic_tile_set_init(const uint32_t *sizes, size_t n, bool divisors, uint32_t pad_to,
                                    uint32_t lanes, sx_systolic_tile_set *out) {
    uint32_t largest = divisors ? 0 : pad_to;
    *out = (sx_systolic_tile_set){.lanes = lanes};
    for (size_t i = 0; i < n; i++) {
        if (sizes[i] > SX_MAX_SYSTOLIC_SIZE)
            return sx_error_hint(
                sx_error_new(SX_ERR_LIMIT, "a loop of %u steps is too long for a search", sizes[i]),
                "at most %d are possible; split the loop in two", SX_MAX_SYSTOLIC_SIZE);
        if (sizes[i] > largest) largest = sizes[i];
    }
    uint8_t *marked = calloc(2 * (size_t)largest + 1, 1);
    if (!marked) return sx_error_memory();
    for (size_t i = 0; i < n; i++) mark_tiles(marked, sizes[i], divisors);
    for (uint32_t t = 1; t <= pad_to && !divisors; t++) marked[t] = 1;
    bool fine = list_tiles(out, marked, 2 * largest);
    free(marked);
    return fine ? SX_OK : sx_error_memory();
}

void sx_systolic_tile_set_fini(sx_systolic_tile_set *set) {
    free(set->t1);
    free(set->before);
    *set = (sx_systolic_tile_set){0};
}

size_t sx_systolic_tile_find(const sx_systolic_tile_set *set, uint32_t t1) {
    size_t low = 0, high = set->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->t1[middle] < t1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool sx_systolic_tile_in(const sx_systolic_tile_set *set, uint32_t t1) {
    if (t1 <= set->whole) return t1 > 0;
    size_t at = sx_systolic_tile_find(set, t1);
    return at < set->n && set->t1[at] == t1;
}

sx_pair_of_tiles sx_systolic_tile_pair(const sx_systolic_tile_set *set, uint64_t index) {
    size_t low = 0, high = set->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (set->before[middle] <= index)
            low = middle;
        else
            high = middle;
    }
    uint32_t inner[SX_MOST_DIVISORS];
    list_inner(set, set->t1[low], inner);
    return (sx_pair_of_tiles){set->t1[low], inner[index - set->before[low]]};
}

uint32_t sx_systolic_tile_nearest(const sx_systolic_tile_set *set, double t1) {
    size_t at = t1 >= 4294967295.0 ? set->n : t1 > 1 ? sx_systolic_tile_find(set, (uint32_t)t1) : 0;
    while (at < set->n && set->t1[at] < t1) at++;
    if (at == set->n) return set->t1[set->n - 1];
    if (at == 0) return set->t1[0];
    return t1 - set->t1[at - 1] <= set->t1[at] - t1 ? set->t1[at - 1] : set->t1[at];
}

bool sx_systolic_inner_in(const sx_systolic_tile_set *set, uint32_t t1, uint32_t t2) {
    return t2 > 0 && t1 % t2 == 0 && tile_allowed(set, t2);
}

uint32_t sx_systolic_inner_nearest(const sx_systolic_tile_set *set, uint32_t t1, double t2) {
    uint32_t inner[SX_MOST_DIVISORS], best = 1;
    if (t2 >= 1 && t2 <= t1 && t2 == floor(t2) && sx_systolic_inner_in(set, t1, (uint32_t)t2))
        return (uint32_t)t2;
    size_t n = list_inner(set, t1, inner);
    for (size_t i = 1; i < n; i++)
        if (fabs(inner[i] - t2) < fabs(best - t2)) best = inner[i];
    return best;
}

uint32_t sx_systolic_inner_next(const sx_systolic_tile_set *set, uint32_t t1, uint32_t t2, bool larger) {
    uint32_t inner[SX_MOST_DIVISORS], best = t2;
    size_t n = list_inner(set, t1, inner);
    for (size_t i = 0; i < n; i++) {
        if (larger && inner[i] > t2) return inner[i];
        if (!larger && inner[i] < t2) best = inner[i];
    }
    return best;
}
