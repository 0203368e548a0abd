/* How many points of a map space are left when loops of one iteration have no place in an order, and when
 * moreover orders that no cost tells apart count once.
 *
 * Both are sums over all splits of a product over levels of what the level's loops leave to choose, and that
 * depends only on which factors are beyond 1: on the pattern of each dimension. Patterns are weighed by how
 * many splits have them (factors.c) and, where a loop may lie on X or Y freely, by 2 for each such loop.
 *
 * Up to 2^24 combinations of patterns the sum is carried out. Beyond, it is estimated from samples: patterns
 * are drawn dimension by dimension with weights tilted by q(level) for each temporal loop, and a sample
 * counts for what it leaves to choose over its tilt. As there are about n! choices for n loops, q = 1 would
 * let rare samples decide; q is fitted so that levels have as many loops in the tilted distribution as in the
 * sum itself (the cross-entropy method, Rubinstein 1999). Where there are too many slots to list patterns,
 * splits are drawn as they are. Where orders have too many classes to count, every sample has an estimate of
 * its own (orders.c), which leaves the sum right on average. */
#include "mapspace/map_size.h"

#include "base/status.h"
#include "mapspace/map_choices.h"
#include "space/cardinal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_COMBINATIONS = 1 << 24,
    MAX_PATTERN_SLOTS = 14,
    MAX_PATTERN_WORK = 1 << 27,
    FITS = 6,           /* rounds of fitting the tilt, */
    FIT_SAMPLES = 4096, /* samples of each */
    SAMPLES = 1 << 16,
    MAX_CLASSES = 1 << 12, /* counted of a level's loops, and of all levels' together; beyond, estimated */
    ALL_CLASSES = 1 << 19,
};

/* The slots beyond 1, among those that are watched, and how many splits have them. */
struct pattern {
    uint32_t slots;
    sx_u128 exact;
    double ways, until; /* until: tilted, summed from the first on */
};

/* One dimension's patterns. */
struct dimension {
    struct pattern *pattern;
    size_t n;
    double total; /* tilted */
};

typedef struct survey {
    const sx_map_space *space;
    sx_map_choices *choices;
    uint32_t watched;            /* slots whose sets of loops decide something */
    bool crooked[SX_MAX_LEVELS]; /* constraints couple the spatial loops on X and Y */
    bool listed;                 /* there are patterns */
    struct dimension dim[SX_MAX_DIMS];
    uint32_t set[SX_MAX_SLOTS]; /* loops of the current combination */
    double *orders[SX_MAX_LEVELS],
        *spreads[SX_MAX_LEVELS]; /* numbers by set; 0: not yet known, -1: too large */
    size_t spent;                /* classes that were counted */
    sx_rng *rng;                 /* of estimates; NULL: all is counted */
    bool costly;                 /* but there was too much to count */
    bool failed;
} survey;

static double count_permutations(int n) {
    double product = 1;
    for (; n > 1; n--) product *= n;
    return product;
}

/* How many orders of a level's loops are to be told apart. */
static double count_orders(survey *s, int level, uint32_t loops, bool matters) {
    if (!matters) return 1;
    double *known = &s->orders[level][loops];
    if (*known > 0) return *known;
    if (s->space->options.remainders)
        return *known =
                   count_permutations(__builtin_popcount(loops & ~(uint32_t)s->space->fixed_order[level]));
    if (*known == 0) *known = sx_map_count_orders(s->space, level, loops, 0);
    if (*known == 0 && s->spent < ALL_CLASSES) {
        *known = sx_map_count_orders(s->space, level, loops, MAX_CLASSES);
        s->spent += *known > 0 ? (size_t)*known : MAX_CLASSES;
    }
    if (*known > 0) return *known;
    *known = -1;
    s->costly = true;
    return s->rng ? sx_map_probe_orders(s->space, level, loops, s->rng) : 1;
}

/* How many ways there are to lay a level's spatial loops on X and Y, where they are coupled. */
static double count_layouts(survey *s, int level, uint32_t loops) {
    double *known = &s->spreads[level][loops];
    if (*known > 0) return *known;
    size_t n = 0;
    s->failed |= !sx_map_layouts_of(s->choices, level, loops, &n);
    return *known = (double)n;
}

/* What the current combination leaves to choose: all orders, or those to be told apart. */
static double choices_left(survey *s, bool classes) {
    const sx_map_space *space = s->space;
    double product = 1;
    bool spread = space->spatial_slot[0] >= 0 && s->set[space->spatial_slot[0]];
    for (int l = 0; l < space->arch->n_levels; l++) {
        uint32_t loops = s->set[space->temporal_slot[l]];
        int n = __builtin_popcount(loops & ~(uint32_t)space->fixed_order[l]);
        product *= classes ? count_orders(s, l, loops, sx_map_order_matters(space, l, spread))
                           : count_permutations(n);
        if (s->crooked[l]) product *= count_layouts(s, l, s->set[space->spatial_slot[l]]);
    }
    return product;
}

/* Adds or takes away a dimension's loops. */
static void toggle_loops(survey *s, int d, uint32_t slots) {
    for (; slots; slots &= slots - 1) s->set[__builtin_ctz(slots)] ^= 1u << d;
}

/* Adds up all combinations of the patterns from dimension d on, unless that costs too much. */
static void add_combinations(survey *s, int d, sx_u128 exact, double ways, sx_u128 *sum, double *sums) {
    if (s->costly) return;
    if (d == s->space->problem->n_dims) {
        for (int i = 0; i < 2; i++) {
            double left = choices_left(s, i);
            sum[i] += exact * (sx_u128)left;
            sums[i] += ways * left;
        }
        return;
    }
    for (size_t i = 0; i < s->dim[d].n; i++) {
        const struct pattern *p = &s->dim[d].pattern[i];
        toggle_loops(s, d, p->slots);
        add_combinations(s, d + 1, exact * p->exact, ways * p->ways, sum, sums);
        toggle_loops(s, d, p->slots);
    }
}

static int compare_slots(const void *a, const void *b) {
    uint32_t x = ((const struct pattern *)a)->slots, y = ((const struct pattern *)b)->slots;
    return (x > y) - (x < y);
}

/* Lists a dimension's patterns. */
static sx_status list_patterns(survey *s, int d) {
    const sx_map_space *space = s->space;
    struct dimension *dim = &s->dim[d];
    size_t all = (size_t)1 << space->n_slots, n = 0;
    dim->pattern = calloc(all, sizeof *dim->pattern);
    if (!dim->pattern) return sx_error_memory();
    for (uint32_t mask = 0; mask < all; mask++) {
        sx_u128 count;
        if (!sx_factors_pattern(space->factors[d], mask, &count)) return sx_error_memory();
        for (int l = 0; l < space->arch->n_levels; l++)
            if (space->spatial_slot[l] >= 0 && mask >> space->spatial_slot[l] & 1 && !s->crooked[l])
                count <<= space->free_x[l] >> d & 1;
        if (count) dim->pattern[n++] = (struct pattern){mask & s->watched, count, (double)count, 0};
    }
    qsort(dim->pattern, n, sizeof *dim->pattern, compare_slots);
    for (size_t i = 0; i < n; i++) {
        struct pattern *last = dim->n ? &dim->pattern[dim->n - 1] : NULL;
        if (last && last->slots == dim->pattern[i].slots) {
            last->exact += dim->pattern[i].exact;
            last->ways += dim->pattern[i].ways;
        } else {
            dim->pattern[dim->n++] = dim->pattern[i];
        }
    }
    return SX_OK;
}

/* Weighs patterns by the tilt. */
static void tilt_patterns(survey *s, const double *q) {
    const sx_map_space *space = s->space;
    for (int d = 0; d < space->problem->n_dims; d++) {
        struct dimension *dim = &s->dim[d];
        dim->total = 0;
        for (size_t i = 0; i < dim->n; i++) {
            double weight = dim->pattern[i].ways;
            for (int l = 0; l < space->arch->n_levels; l++)
                if (dim->pattern[i].slots >> space->temporal_slot[l] & 1) weight *= q[l];
            dim->pattern[i].until = dim->total += weight;
        }
    }
}

/* Draws a combination; returns its weight as it is over its weight in the draw, but for the total. */
static double draw_combination(survey *s, const double *q, sx_rng *rng) {
    const sx_map_space *space = s->space;
    memset(s->set, 0, sizeof s->set);
    for (int d = 0; d < space->problem->n_dims; d++) {
        const struct dimension *dim = &s->dim[d];
        double at = sx_rng_double(rng) * dim->total;
        size_t low = 0, high = dim->n - 1;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (dim->pattern[middle].until <= at)
                low = middle + 1;
            else
                high = middle;
        }
        toggle_loops(s, d, dim->pattern[low].slots);
    }
    double tilt = 1;
    for (int l = 0; l < space->arch->n_levels; l++)
        tilt *= pow(q[l], __builtin_popcount(s->set[space->temporal_slot[l]]));
    return 1 / tilt;
}

/* Draws a split of every dimension; returns what its free spatial loops weigh. */
static double draw_split(survey *s, sx_rng *rng) {
    const sx_map_space *space = s->space;
    double weight = 1;
    memset(s->set, 0, sizeof s->set);
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        sx_factors_draw(space->factors[d], rng, factor);
        for (int i = 0; i < space->n_slots; i++) {
            if (factor[i] == 1) continue;
            int l = space->slot[i].level;
            s->set[i] |= 1u << d;
            if (space->slot[i].spatial && !s->crooked[l] && space->free_x[l] >> d & 1) weight *= 2;
        }
    }
    return weight;
}

/* The mean and its relative error of n samples. */
typedef struct estimate {
    double mean, error;
    double loops[2][SX_MAX_LEVELS]; /* per level: as drawn, and as weighted */
} estimate;

static estimate sample_space(survey *s, const double *q, sx_rng *rng, int n, bool classes) {
    const sx_map_space *space = s->space;
    estimate e = {0};
    double squares = 0;
    for (int i = 0; i < n; i++) {
        double weight = s->listed ? draw_combination(s, q, rng) : draw_split(s, rng);
        weight *= choices_left(s, classes);
        e.mean += weight / n;
        squares += weight * weight / n;
        for (int l = 0; l < space->arch->n_levels; l++) {
            int loops = __builtin_popcount(s->set[space->temporal_slot[l]]);
            e.loops[0][l] += (double)loops / n;
            e.loops[1][l] += weight * loops / n;
        }
    }
    for (int l = 0; l < space->arch->n_levels; l++) e.loops[1][l] /= e.mean;
    e.error = sqrt(fmax(squares / (e.mean * e.mean) - 1, 0) / n);
    return e;
}

/* The odds of a dimension's having a loop, when `loops` of n have one. */
static double loop_odds(double loops, int n) {
    double share = fmin(fmax(loops / n, 0.01), 0.99);
    return share / (1 - share);
}

/* Estimates the sum, all orders or those to be told apart. */
static sx_cardinal sum_by_samples(survey *s, bool classes, double *error) {
    const sx_map_space *space = s->space;
    int n_dims = space->problem->n_dims;
    sx_rng rng = sx_rng_stream(0, "map-size", classes);
    double q[SX_MAX_LEVELS];
    s->rng = &rng;
    for (int l = 0; l < SX_MAX_LEVELS; l++) q[l] = 1;
    for (int i = 0; i < FITS && s->listed; i++) {
        tilt_patterns(s, q);
        estimate e = sample_space(s, q, &rng, FIT_SAMPLES, classes);
        for (int l = 0; l < space->arch->n_levels; l++)
            q[l] *= loop_odds(e.loops[1][l], n_dims) / loop_odds(e.loops[0][l], n_dims);
    }
    if (s->listed) tilt_patterns(s, q);
    estimate e = sample_space(s, q, &rng, SAMPLES, classes);
    sx_cardinal sum = sx_cardinal_about(e.mean);
    for (int d = 0; d < n_dims; d++)
        sum = sx_cardinal_times(sum, s->listed ? sx_cardinal_about(s->dim[d].total)
                                               : sx_cardinal_of(sx_factors_count(space->factors[d])));
    s->rng = NULL;
    *error = e.error;
    return sum;
}

/* Chooses the slots to watch, and makes room for what is found. */
static sx_status begin_survey(survey *s) {
    const sx_map_space *space = s->space;
    size_t sets = (size_t)1 << space->problem->n_dims;
    double work = ldexp(1, space->n_slots);
    for (int l = 0; l < space->arch->n_levels; l++) {
        const sx_level_limits *limits = &space->constraints.level[l];
        bool ruled = limits->split >= 0 || limits->spatial.n_inner + limits->spatial.n_outer > 0;
        s->crooked[l] = space->free_x[l] && ruled;
        s->watched |= 1u << space->temporal_slot[l];
        bool decides = s->crooked[l] || (l == 0 && sx_map_order_matters(space, 0, true));
        if (space->spatial_slot[l] >= 0 && decides) s->watched |= 1u << space->spatial_slot[l];
        s->orders[l] = calloc(sets, sizeof *s->orders[l]);
        s->spreads[l] = calloc(s->crooked[l] ? sets : 1, sizeof *s->spreads[l]);
        if (!s->orders[l] || !s->spreads[l]) return sx_error_memory();
    }
    double steps = 0;
    for (int d = 0; d < space->problem->n_dims; d++)
        steps += space->options.remainders ? 4 * pow(space->problem->size[d], 0.75) : 1000;
    s->listed = space->n_slots <= MAX_PATTERN_SLOTS && work * steps <= MAX_PATTERN_WORK;
    for (int d = 0; d < space->problem->n_dims && s->listed; d++) SX_TRY(list_patterns(s, d));
    return sx_map_choices_new(space, &s->choices);
}

static void end_survey(survey *s) {
    for (int d = 0; d < SX_MAX_DIMS; d++) free(s->dim[d].pattern);
    for (int l = 0; l < SX_MAX_LEVELS; l++) {
        free(s->orders[l]);
        free(s->spreads[l]);
    }
    sx_map_choices_free(s->choices);
}

/* Adds up or estimates both sums. */
static void survey_sums(survey *s, const sx_cardinal *bound, sx_map_reduced *out) {
    double combinations = 1;
    for (int d = 0; d < s->space->problem->n_dims; d++) combinations *= (double)s->dim[d].n;
    *out = (sx_map_reduced){0};
    sx_u128 sum[2] = {0};
    double sums[2] = {0};
    s->costly = !s->listed || combinations > MAX_COMBINATIONS;
    add_combinations(s, 0, 1, 1, sum, sums);
    if (s->costly) {
        out->units = sum_by_samples(s, false, &out->units_error);
        out->classes = sum_by_samples(s, true, &out->classes_error);
        return;
    }
    out->units = bound->exact ? sx_cardinal_of(sum[0]) : sx_cardinal_about(sums[0]);
    out->classes = bound->exact ? sx_cardinal_of(sum[1]) : sx_cardinal_about(sums[1]);
}

sx_status sx_map_reduce(const sx_map_space *space, const sx_cardinal *bound, sx_map_reduced *out) {
    survey s = {.space = space};
    sx_status status = begin_survey(&s);
    if (!status) survey_sums(&s, bound, out);
    if (!status && s.failed) status = sx_error_memory();
    end_survey(&s);
    return status;
}
