/* Splits of a dimension over slots, by a dynamic program over what is left of the size.
 *
 * Going outward, what is left after a factor f is c / f, or with remainders ceil(c / f); since
 * ceil(ceil(n / a) / b) = ceil(n / (a * b)), it always is a divisor of the size, or one of the about
 * 2 sqrt(size) values of ceil(size / k). ways[slot][left] counts the splits of `left` over the slots from
 * `slot` outward; factors that leave the same are one step of the program. Numbering is lexicographic, the
 * innermost factor first. Drawing takes a line of a list where splits are few, else it goes outward with one
 * alias table (Walker 1977) per slot and state.
 *
 * With d3 the number of ordered triples of factors (perfect) or about size^(3/4) (remainders), building takes
 * O(slots * d3) time and O(d3 + slots * states) memory, counting and numbering O(slots * steps of a state),
 * drawing O(slots). */
#include "mapspace/factors.h"

#include "base/arena.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_STEPS = 1 << 22,     /* of the program, over all states */
    MAX_LIST = 1 << 17,      /* factors of all splits, to draw from a list */
    MAX_CELLS = 1 << 20,     /* of the alias tables; beyond, a draw is a random number */
    EXACT_NEAREST = 1 << 20, /* splits; beyond, a search for the nearest takes NEAREST_STEPS at most */
    NEAREST_STEPS = 1 << 16
};

#define WAYS_MAX (~(sx_u128)0)

/* Factors first..last all leave the state `next`. */
struct step {
    uint32_t first, last, next;
};

/* A column of an alias table: below the threshold this step, else that of column `other`. */
struct cell {
    uint64_t threshold;
    uint32_t other, first, width, next;
};

struct sx_factors {
    sx_arena arena;
    int n_slots;
    bool remainders;
    uint32_t min[SX_MAX_SLOTS], max[SX_MAX_SLOTS];
    uint32_t n_states;
    uint32_t *value;   /* of the states, ascending: from 1 to the size */
    uint32_t *step_of; /* state s has the steps step_of[s] .. step_of[s + 1] - 1, ascending */
    struct step *step;
    sx_u128 *ways;     /* slot by slot, all states */
    uint32_t *list;    /* every split, where they are few; else NULL */
    uint32_t *cell_of; /* slot by slot, all states: the first of the cells; NULL: no tables */
    struct cell *cell;
};

static sx_u128 *ways_of(const sx_factors *f, int slot) {
    return f->ways + (size_t)slot * f->n_states;
}

/* The state of a value, which must be one. */
static uint32_t state_of(const sx_factors *f, uint32_t value) {
    uint32_t low = 0, high = f->n_states - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (f->value[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What is left of `left` after a factor. */
static uint32_t left_after(const sx_factors *f, uint32_t left, uint32_t factor) {
    return f->remainders ? (left - 1) / factor + 1 : left / factor;
}

/* The last factor that leaves the same as `factor` does, with remainders. */
static uint32_t same_until(uint32_t left, uint32_t factor) {
    uint32_t next = (left - 1) / factor;
    return next ? (left - 1) / next : left;
}

static int compare_values(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Lists the values that can be left of the size. */
static sx_status list_states(sx_factors *f, uint32_t size) {
    uint32_t n = 0;
    uint32_t root = (uint32_t)sqrt((double)size) + 1;
    f->value = sx_arena_alloc(&f->arena, 2 * (size_t)root + 2, sizeof *f->value);
    if (!f->value) return sx_error_memory();
    if (f->remainders) {
        for (uint64_t k = 1; k <= size; k = (uint64_t)same_until(size, (uint32_t)k) + 1)
            f->value[n++] = left_after(f, size, (uint32_t)k);
    } else {
        for (uint32_t k = 1; (uint64_t)k * k <= size; k++) {
            if (size % k) continue;
            f->value[n++] = k;
            if (k != size / k) f->value[n++] = size / k;
        }
    }
    qsort(f->value, n, sizeof *f->value, compare_values);
    f->n_states = n;
    return SX_OK;
}

/* Writes the steps of a state to `out` (NULL: nowhere); returns how many there are. */
static size_t list_steps(const sx_factors *f, uint32_t left, struct step *out) {
    size_t n = 0;
    if (f->remainders) {
        for (uint32_t k = 1; k <= left; n++) {
            uint32_t last = same_until(left, k);
            if (out) out[n] = (struct step){k, last, state_of(f, left_after(f, left, k))};
            k = last + 1;
        }
        return n;
    }
    for (uint32_t s = 0; s < f->n_states && f->value[s] <= left; s++) {
        uint32_t k = f->value[s];
        if (left % k) continue;
        if (out) out[n] = (struct step){k, k, state_of(f, left / k)};
        n++;
    }
    return n;
}

/* Lists the steps of all states; an error where there are too many. */
static sx_status list_all_steps(sx_factors *f) {
    f->step_of = sx_arena_alloc(&f->arena, f->n_states + 1, sizeof *f->step_of);
    if (!f->step_of) return sx_error_memory();
    uint32_t size = f->value[f->n_states - 1];
    size_t n = 0;
    for (uint32_t s = 0; s < f->n_states; s++) {
        n += list_steps(f, f->value[s], NULL);
        if (n > MAX_STEPS)
            return sx_error_hint(
                sx_error_new(SX_ERR_LIMIT, "a dimension of %u is too large to split with remainders", size),
                "do not use remainders, or split the dimension in two");
        f->step_of[s + 1] = (uint32_t)n;
    }
    f->step = sx_arena_alloc(&f->arena, n, sizeof *f->step);
    if (!f->step) return sx_error_memory();
    for (uint32_t s = 0; s < f->n_states; s++) list_steps(f, f->value[s], f->step + f->step_of[s]);
    return SX_OK;
}

/* How many factors of a step lie between limits; the first of them. */
static inline uint32_t clip_step(const struct step *step, uint32_t min, uint32_t max, uint32_t *first) {
    uint32_t low = step->first > min ? step->first : min, high = step->last < max ? step->last : max;
    *first = low;
    return low <= high ? high - low + 1 : 0;
}

static sx_u128 saturating_add(sx_u128 a, sx_u128 b) {
    return a > WAYS_MAX - b ? WAYS_MAX : a + b;
}

static sx_u128 saturating_mul(sx_u128 a, uint32_t b) {
    return b && a > WAYS_MAX / b ? WAYS_MAX : a * b;
}

/* One slot of the program: the ways of every state, given those of the slots further out. Both arrays may
 * be the same. */
static void count_slot(const sx_factors *f, uint32_t min, uint32_t max, const sx_u128 *outer, sx_u128 *ways) {
    for (uint32_t s = f->n_states; s-- > 0;) {
        sx_u128 sum = 0;
        for (uint32_t i = f->step_of[s]; i < f->step_of[s + 1]; i++) {
            uint32_t first, n = clip_step(&f->step[i], min, max, &first);
            sx_u128 each = outer[f->step[i].next];
            if (n && each) sum = saturating_add(sum, saturating_mul(each, n));
        }
        ways[s] = sum;
    }
}

/* Sets the thresholds of one alias table from its n weights, which are used up; `stack` is room for n. */
static void set_thresholds(struct cell *cell, double *weight, uint32_t *stack, uint32_t n) {
    uint32_t n_small = 0, n_large = 0;
    for (uint32_t i = n; i-- > 0;) {
        cell[i].threshold = UINT64_MAX;
        cell[i].other = i;
        if (weight[i] < 1)
            stack[n_small++] = i;
        else
            stack[n - ++n_large] = i;
    }
    while (n_small && n_large) {
        uint32_t small = stack[--n_small], large = stack[n - n_large];
        cell[small].threshold = (uint64_t)(weight[small] * 0x1p64);
        cell[small].other = large;
        weight[large] -= 1 - weight[small];
        if (weight[large] >= 1) continue;
        n_large--;
        stack[n_small++] = large;
    }
}

/* Makes the table of one slot and state, and returns how many cells it has. */
static uint32_t fill_table(const sx_factors *f, int slot, uint32_t state, struct cell *cell, double *weight,
                           uint32_t *stack) {
    const sx_u128 *outer = ways_of(f, slot + 1);
    double total = 0;
    uint32_t n = 0;
    for (uint32_t i = f->step_of[state]; i < f->step_of[state + 1]; i++) {
        uint32_t first, width = clip_step(&f->step[i], f->min[slot], f->max[slot], &first);
        if (!width || !outer[f->step[i].next]) continue;
        cell[n].first = first;
        cell[n].width = width;
        cell[n].next = f->step[i].next;
        weight[n] = width * (double)outer[f->step[i].next];
        total += weight[n++];
    }
    for (uint32_t i = 0; i < n; i++) weight[i] = weight[i] / total * n;
    set_thresholds(cell, weight, stack, n);
    return n;
}

/* Makes the alias tables, unless they would be too large. */
static sx_status make_tables(sx_factors *f) {
    size_t steps = f->step_of[f->n_states], room = steps * (size_t)f->n_slots, most = 0;
    if (room > MAX_CELLS) return SX_OK;
    for (uint32_t s = 0; s < f->n_states; s++)
        if (f->step_of[s + 1] - f->step_of[s] > most) most = f->step_of[s + 1] - f->step_of[s];
    double *weight = malloc(most * sizeof *weight);
    uint32_t *stack = malloc(most * sizeof *stack);
    f->cell_of = sx_arena_alloc(&f->arena, f->n_states * (size_t)f->n_slots + 1, sizeof *f->cell_of);
    f->cell = sx_arena_alloc(&f->arena, room, sizeof *f->cell);
    bool good = weight && stack && f->cell_of && f->cell;
    uint32_t used = 0;
    for (size_t i = 0; good && i < f->n_states * (size_t)f->n_slots; i++) {
        f->cell_of[i] = used;
        used +=
            fill_table(f, (int)(i / f->n_states), (uint32_t)(i % f->n_states), f->cell + used, weight, stack);
        f->cell_of[i + 1] = used;
    }
    free(weight);
    free(stack);
    return good ? SX_OK : sx_error_memory();
}

/* Lists the splits that begin with the factors of the slots before `slot`, which leave a state; returns where the list ends. */
static uint32_t *list_from(const sx_factors *f, int slot, uint32_t state, uint32_t *factor, uint32_t *out) {
    if (slot == f->n_slots) {
        memcpy(out, factor, (size_t)slot * sizeof *out);
        return out + slot;
    }
    for (uint32_t i = f->step_of[state]; i < f->step_of[state + 1]; i++) {
        uint32_t first, n = clip_step(&f->step[i], f->min[slot], f->max[slot], &first);
        if (ways_of(f, slot + 1)[f->step[i].next] == 0) continue;
        for (uint32_t k = 0; k < n; k++) {
            factor[slot] = first + k;
            out = list_from(f, slot + 1, f->step[i].next, factor, out);
        }
    }
    return out;
}

/* Writes out all splits. */
static sx_status make_list(sx_factors *f) {
    size_t n = (size_t)sx_factors_count(f), slots = (size_t)f->n_slots;
    uint32_t factor[SX_MAX_SLOTS];
    f->list = sx_arena_alloc(&f->arena, n * slots + 1, sizeof *f->list);
    if (!f->list) return sx_error_memory();
    list_from(f, 0, f->n_states - 1, factor, f->list);
    return SX_OK;
}

/* Counts all splits and prepares drawing. */
static sx_status prepare_draws(sx_factors *f, uint32_t size) {
    SX_TRY(list_states(f, size));
    SX_TRY(list_all_steps(f));
    f->ways = sx_arena_alloc(&f->arena, f->n_states * (size_t)(f->n_slots + 1), sizeof *f->ways);
    if (!f->ways) return sx_error_memory();
    ways_of(f, f->n_slots)[0] = 1;
    for (int i = f->n_slots - 1; i >= 0; i--)
        count_slot(f, f->min[i], f->max[i], ways_of(f, i + 1), ways_of(f, i));
    if (sx_factors_count(f) == WAYS_MAX)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT, "a dimension of %u has too many splits over %d slots",
                                          size, f->n_slots),
                             "do not use remainders, or constrain the factors of some levels");
    return sx_factors_count(f) * (unsigned)f->n_slots <= MAX_LIST ? make_list(f) : make_tables(f);
}

sx_status sx_factors_new(uint32_t size, int n_slots, const uint32_t *min, const uint32_t *max,
                         bool remainders, sx_factors **out) {
    if (size < 1 || size > SX_MAX_DIM_SIZE || n_slots < 0 || n_slots > SX_MAX_SLOTS)
        return sx_error_new(SX_ERR_USAGE, "a dimension of %u cannot be split over %d slots", size, n_slots);
    sx_factors *f = calloc(1, sizeof *f);
    if (!f) return sx_error_memory();
    f->n_slots = n_slots;
    f->remainders = remainders;
    for (int i = 0; i < n_slots; i++) {
        f->min[i] = min[i];
        f->max[i] = max[i];
    }
    sx_status status = prepare_draws(f, size);
    if (status)
        sx_factors_free(f);
    else
        *out = f;
    return status;
}

void sx_factors_free(sx_factors *factors) {
    if (!factors) return;
    sx_arena_free(&factors->arena);
    free(factors);
}

sx_u128 sx_factors_count(const sx_factors *factors) {
    return factors->ways[factors->n_states - 1];
}

void sx_factors_at(const sx_factors *factors, sx_u128 index, uint32_t *factor) {
    assert(index < sx_factors_count(factors));
    const sx_factors *f = factors;
    if (f->list) {
        memcpy(factor, f->list + (size_t)index * (size_t)f->n_slots, (size_t)f->n_slots * sizeof *factor);
        return;
    }
    uint32_t state = f->n_states - 1;
    for (int slot = 0; slot < f->n_slots; slot++) {
        const sx_u128 *outer = ways_of(f, slot + 1);
        const struct step *step = f->step + f->step_of[state], *end = f->step + f->step_of[state + 1];
        for (; step < end; step++) {
            uint32_t first, n = clip_step(step, f->min[slot], f->max[slot], &first);
            sx_u128 each = outer[step->next], all = each * n;
            if (index >= all) {
                index -= all;
                continue;
            }
            factor[slot] = first + (uint32_t)(index / each);
            index %= each;
            state = step->next;
            break;
        }
    }
}

bool sx_factors_rank(const sx_factors *factors, const uint32_t *factor, sx_u128 *index) {
    const sx_factors *f = factors;
    sx_u128 rank = 0;
    uint32_t state = f->n_states - 1;
    for (int slot = 0; slot < f->n_slots; slot++) {
        const sx_u128 *outer = ways_of(f, slot + 1);
        const struct step *step = f->step + f->step_of[state], *end = f->step + f->step_of[state + 1];
        for (; step < end && step->last < factor[slot]; step++) {
            uint32_t first, n = clip_step(step, f->min[slot], f->max[slot], &first);
            rank += outer[step->next] * n;
        }
        if (step == end) return false;
        uint32_t first, n = clip_step(step, f->min[slot], f->max[slot], &first);
        if (!outer[step->next] || factor[slot] < first || factor[slot] - first >= n) return false;
        rank += outer[step->next] * (factor[slot] - first);
        state = step->next;
    }
    if (state != 0) return false;
    *index = rank;
    return true;
}

bool sx_factors_holds(const sx_factors *f, const uint32_t *factor) {
    uint64_t product = 1, size = f->value[f->n_states - 1];
    sx_u128 index;
    if (f->remainders) return sx_factors_rank(f, factor, &index);
    for (int slot = 0; slot < f->n_slots && product <= size; slot++) {
        if (factor[slot] < f->min[slot] || factor[slot] > f->max[slot]) return false;
        product *= factor[slot];
    }
    return product == size;
}

/* A uniform number below a bound, which is at least 1. */
static sx_u128 draw_below(sx_rng *rng, sx_u128 bound) {
    if (bound <= UINT64_MAX) return sx_rng_below(rng, (uint64_t)bound);
    sx_u128 limit = WAYS_MAX - (WAYS_MAX % bound + 1) % bound, x;
    do {
        x = (sx_u128)sx_rng_next(rng) << 64;
        x |= sx_rng_next(rng);
    } while (x > limit);
    return x % bound;
}

void sx_factors_draw(const sx_factors *factors, sx_rng *rng, uint32_t *factor) {
    const sx_factors *f = factors;
    if (f->list) {
        uint64_t line = (uint64_t)(((sx_u128)sx_rng_next(rng) * (uint64_t)sx_factors_count(f)) >> 64);
        memcpy(factor, f->list + line * (unsigned)f->n_slots, (unsigned)f->n_slots * sizeof *factor);
        return;
    }
    if (!f->cell) {
        sx_factors_at(f, draw_below(rng, sx_factors_count(f)), factor);
        return;
    }
    uint32_t state = f->n_states - 1;
    const uint32_t *cell_of = f->cell_of;
    for (int slot = 0; slot < f->n_slots; slot++, cell_of += f->n_states) {
        const struct cell *cell = f->cell + cell_of[state];
        uint32_t n = cell_of[state + 1] - cell_of[state];
        if (n > 1) {
            sx_u128 x = (sx_u128)sx_rng_next(rng) * n;
            uint32_t column = (uint32_t)(x >> 64);
            cell += (uint64_t)x < cell[column].threshold ? column : cell[column].other;
        }
        factor[slot] = cell->first;
        if (cell->width > 1) factor[slot] += (uint32_t)(((sx_u128)sx_rng_next(rng) * cell->width) >> 64);
        state = cell->next;
    }
}

bool sx_factors_pattern(const sx_factors *factors, uint32_t mask, sx_u128 *count) {
    const sx_factors *f = factors;
    sx_u128 *ways = calloc(f->n_states, sizeof *ways);
    if (!ways) return false;
    ways[0] = 1;
    bool any = true;
    for (int i = f->n_slots - 1; i >= 0; i--) {
        if (mask >> i & 1)
            count_slot(f, f->min[i] > 2 ? f->min[i] : 2, f->max[i], ways, ways);
        else
            any &= f->min[i] <= 1 && f->max[i] >= 1;
    }
    *count = any ? ways[f->n_states - 1] : 0;
    free(ways);
    return true;
}

/* A search for the nearest splits: those found so far, nearest first, and the one being made. */
typedef struct nearest {
    const sx_factors *f;
    const double *target;
    size_t n, room;
    uint32_t (*factor)[SX_MAX_SLOTS];
    double *distance;
    double targets_from[SX_MAX_SLOTS + 1]; /* sum of the targets from a slot outward */
    double reach[SX_MAX_SLOTS + 1];        /* product of the largest factors from a slot outward */
    uint32_t least[SX_MAX_SLOTS + 1];      /* that the slots from one outward can split */
    uint32_t current[SX_MAX_SLOTS];
    uint64_t steps; /* left */
} nearest;

/* Whether split a comes before b by number. */
static bool split_before(const uint32_t *a, const uint32_t *b, int n) {
    for (int i = 0; i < n; i++)
        if (a[i] != b[i]) return a[i] < b[i];
    return false;
}

/* Enters the split being made among the nearest, if it is. */
static void enter_split(nearest *s, double distance) {
    size_t i = s->n, bytes = (size_t)s->f->n_slots * sizeof s->current[0];
    while (i > 0 &&
           (distance < s->distance[i - 1] ||
            (distance == s->distance[i - 1] && split_before(s->current, s->factor[i - 1], s->f->n_slots))))
        i--;
    if (i == s->room) return;
    if (s->n < s->room) s->n++;
    for (size_t j = s->n - 1; j > i; j--) {
        memcpy(s->factor[j], s->factor[j - 1], bytes);
        s->distance[j] = s->distance[j - 1];
    }
    memcpy(s->factor[i], s->current, bytes);
    s->distance[i] = distance;
}

/* Whether a distance is beyond all that can still be entered; with some slack for rounding. */
static bool too_far(const nearest *s, double distance) {
    return s->n == s->room && distance > s->distance[s->n - 1] * (1 + 1e-9) + 1e-12;
}

/* At least how far the slots from `slot` outward must be off, given what is left: by Cauchy's inequality the
 * sum of m squares is no less than the square of the sum over m. */
static double must_miss(const nearest *s, int slot, uint32_t left) {
    int m = s->f->n_slots - slot;
    if (m == 0) return 0;
    double miss = log2((double)left) - s->targets_from[slot];
    if (s->f->remainders && miss < 0) miss = 0;
    return miss * miss / m;
}

/* The candidates for a factor at a state: how many, and each of them, ascending. */
static uint32_t n_candidates(const sx_factors *f, uint32_t state) {
    return f->remainders ? f->value[state] : f->step_of[state + 1] - f->step_of[state];
}
static uint32_t candidate_at(const sx_factors *f, uint32_t state, uint32_t i) {
    return f->remainders ? i + 1 : f->step[f->step_of[state] + i].first;
}

/* The first candidate at or beyond a number. */
static uint32_t first_beyond(const sx_factors *f, uint32_t state, double number) {
    uint32_t low = 0, high = n_candidates(f, state);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (candidate_at(f, state, middle) < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The largest factor of a slot that leaves as much as the slots further out need. */
static uint32_t widest_factor(const nearest *s, int slot, uint32_t left) {
    uint32_t least = s->least[slot + 1];
    return !s->f->remainders ? left / least : least > 1 ? (left - 1) / (least - 1) : left;
}

static void seek_nearest(nearest *s, int slot, uint32_t state, double distance);

/* Tries candidate i for a slot; false where it, and so all beyond it, is too far from the target. */
static bool try_candidate(nearest *s, int slot, uint32_t state, uint32_t i, double distance) {
    const sx_factors *f = s->f;
    uint32_t factor = candidate_at(f, state, i), left = left_after(f, f->value[state], factor);
    double off = log2((double)factor) - s->target[slot];
    distance += off * off;
    if (too_far(s, distance) || (s->steps == 0 && s->n > 0)) return false;
    if (s->steps > 0) s->steps--;
    if (too_far(s, distance + must_miss(s, slot + 1, left))) return true;
    uint32_t next = state_of(f, left);
    if (!ways_of(f, slot + 1)[next]) return true;
    s->current[slot] = factor;
    seek_nearest(s, slot + 1, next, distance);
    return true;
}

/* Goes through the factors of a slot, those nearest to its target first. */
static void seek_nearest(nearest *s, int slot, uint32_t state, double distance) {
    const sx_factors *f = s->f;
    if (slot == f->n_slots) {
        enter_split(s, distance);
        return;
    }
    uint32_t low = first_beyond(f, state, fmax(f->min[slot], f->value[state] / s->reach[slot + 1]));
    uint32_t high = first_beyond(f, state, fmin(f->max[slot], widest_factor(s, slot, f->value[state])) + 1.0);
    uint32_t up = first_beyond(f, state, pow(2, s->target[slot]));
    up = up < low ? low : up > high ? high : up;
    uint32_t down = up;
    while (up < high || down > low) {
        double above = up < high ? log2((double)candidate_at(f, state, up)) - s->target[slot] : INFINITY;
        double below =
            down > low ? s->target[slot] - log2((double)candidate_at(f, state, down - 1)) : INFINITY;
        bool rise = above <= below;
        uint32_t i = rise ? up++ : --down;
        if (!try_candidate(s, slot, state, i, distance)) return;
    }
}

size_t sx_factors_nearest(const sx_factors *factors, const double *target, size_t n,
                          uint32_t (*factor)[SX_MAX_SLOTS], double *distance) {
    nearest s = {.f = factors, .target = target, .room = n, .factor = factor, .distance = distance};
    s.steps = sx_factors_count(factors) > EXACT_NEAREST ? NEAREST_STEPS : UINT64_MAX;
    if (n == 0 || sx_factors_count(factors) == 0) return 0;
    s.reach[factors->n_slots] = s.least[factors->n_slots] = 1;
    for (int i = factors->n_slots - 1; i >= 0; i--) {
        uint32_t state = 0;
        while (!ways_of(factors, i)[state]) state++;
        s.least[i] = factors->value[state];
        s.targets_from[i] = s.targets_from[i + 1] + target[i];
        s.reach[i] = s.reach[i + 1] * factors->max[i];
    }
    seek_nearest(&s, 0, factors->n_states - 1, 0);
    return s.n;
}
