/* The promises of the space of systolic designs: test_systolic_space [count [seed]]. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_systolic.h"
#include "support/systolic_oracle.h"
#include "systolic/space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

enum { MAX_KERNELS = 3, MAX_DESIGNS = 200, MAX_VALUES = 1 + 2 * SX_MAX_SYSTOLIC_LOOPS };

/* A space in hand, with all that it was made from. */
typedef struct trial {
    uint64_t number;
    sx_systolic_kernel kernel[MAX_KERNELS];
    size_t n_kernels;
    sx_device device;
    sx_systolic_options options;
    size_t designs[MAX_DESIGNS];
    sx_space *space;
    sx_rng rng;
} trial;

/* Draws a space of kernels of at most `most` steps a loop; the caller frees it. */
static trial trial_of(const settings *set, const char *name, uint64_t i, uint32_t most) {
    trial t = {.number = i, .n_kernels = 1, .rng = sx_rng_stream(set->seed, name, i)};
    sx_random_kernel(&t.rng, 1 + (uint32_t)sx_rng_below(&t.rng, most), &t.kernel[0]);
    sx_random_device(&t.rng, &t.device);
    t.options =
        (sx_systolic_options){.thin = sx_rng_below(&t.rng, 2),
                              .corrected = sx_rng_below(&t.rng, 2),
                              .tiles = (sx_systolic_tiles)sx_rng_below(&t.rng, 3),
                              .pad_to = sx_rng_below(&t.rng, 3) ? 0 : (uint32_t)sx_rng_below(&t.rng, 12),
                              .least_dsp = sx_rng_below(&t.rng, 4) ? 0 : 0.05};
    return t;
}

/* Makes the space, of some designs or all. */
static void trial_begin(trial *t) {
    size_t n = sx_systolic_n_designs(&t->kernel[0]);
    if (sx_rng_below(&t->rng, 3)) {
        for (size_t i = 0; i < n; i++)
            if (sx_rng_below(&t->rng, n) < 3) t->designs[t->options.n_designs++] = i;
        if (!t->options.n_designs) t->designs[t->options.n_designs++] = n - 1;
        t->options.designs = t->designs;
    }
    sx_expect_ok(sx_systolic_space_new(t->kernel, t->n_kernels, &t->device, &t->options, &t->space));
}

/* Fails, naming the case. */
static void complain(const trial *t, const char *what, const void *point) {
    char text[500];
    sx_systolic_point_text(&t->kernel[0], point, text, sizeof text);
    fail_msg("case %llu: %s\n%s", (unsigned long long)t->number, what, text);
}

/* Whether a size has a first-level tile. */
static bool has_tile(const trial *t, uint32_t size, bool lanes, uint32_t t1) {
    if (t->options.tiles == SX_TILES_DIVISORS || (lanes && t->options.tiles == SX_TILES_PADDED))
        return size % t1 == 0;
    if (!lanes && t1 <= t->options.pad_to) return true;
    for (uint32_t x = 1; x < size; x++)
        if ((size + x - 1) / x * x == t1) return true;
    return t1 <= size;
}

/* Whether tiles of a loop are of the space. */
static bool is_pair(const trial *t, int d, uint32_t t1, uint32_t t2) {
    bool lanes = d == t->kernel[0].simd, found = false;
    if (t1 < 1 || t2 < 1 || t1 % t2) return false;
    if (lanes && ((t2 & (t2 - 1)) || t2 > 256 / t->device.element[0].bits)) return false;
    for (size_t k = 0; k < t->n_kernels; k++)
        found = found || has_tile(t, t->kernel[k].loop[d].size, lanes, t1);
    return found;
}

/* How many pairs a loop has. */
static double pairs_of(const trial *t, int loop) {
    uint32_t high = t->options.pad_to + 1;
    double n = 0;
    for (size_t k = 0; k < t->n_kernels; k++)
        if (2 * t->kernel[k].loop[loop].size > high) high = 2 * t->kernel[k].loop[loop].size;
    for (uint32_t t1 = 1; t1 <= high; t1++)
        for (uint32_t t2 = 1; t2 <= t1; t2++) n += is_pair(t, loop, t1, t2);
    return n;
}

/* Whether a point is a construction of the space. */
static bool is_construction(const trial *t, const sx_systolic_point *point) {
    bool open = !t->options.designs && point->design < sx_systolic_n_designs(&t->kernel[0]);
    for (size_t i = 0; i < t->options.n_designs; i++) open = open || t->designs[i] == point->design;
    for (int d = 0; d < SX_MAX_SYSTOLIC_LOOPS; d++) {
        bool empty = point->t1[d] == 0 && point->t2[d] == 0;
        if (d < t->kernel[0].n_loops ? !is_pair(t, d, point->t1[d], point->t2[d]) : !empty) return false;
    }
    return open && point->reserved == 0;
}

static void expect_construction(const trial *t, const char *what, const sx_systolic_point *point) {
    if (!is_construction(t, point)) complain(t, what, point);
}

/* What a point of one kernel breaks. */
static sx_systolic_fault expected_fault(const trial *t, const sx_systolic_point *point) {
    sx_systolic_cost cost;
    sx_systolic_fault fault =
        sx_systolic_oracle(&t->kernel[0], &t->device, &t->device.element[0], t->options.thin, point, &cost);
    double least = t->options.least_dsp * (t->device.share * t->device.dsp);
    return !fault && cost.dsp < least ? SX_SYSTOLIC_UNDERUSED : fault;
}

/* Whether a fault is the one that the published model has; the mended model may need other resources. */
static bool agree(const trial *t, sx_systolic_fault found, sx_systolic_fault published) {
    if (!t->options.corrected) return found == published;
    return sx_systolic_has_cost(found) == sx_systolic_has_cost(published);
}

/* A point drawn from the space. */
static sx_systolic_point drawn(trial *t) {
    sx_systolic_point point;
    t->space->type->draw(t->space, &t->rng, &point);
    return point;
}

static int by_bytes(const void *a, const void *b) {
    return memcmp(a, b, sizeof(sx_systolic_point));
}

/* Whether the space is small enough to look at all of it; *n becomes its size. */
static bool is_small(const trial *t, uint64_t *n) {
    double size =
        t->options.designs ? (double)t->options.n_designs : (double)sx_systolic_n_designs(&t->kernel[0]);
    for (int d = 0; d < t->kernel[0].n_loops; d++) size *= pairs_of(t, d);
    *n = (uint64_t)size;
    return size <= 20000;
}

static void numbers_name_every_construction_once(void **state) {
    const settings *set = *state;
    uint64_t looked_at = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        trial t = trial_of(set, "systolic-space.at", i, 5);
        trial_begin(&t);
        uint64_t n;
        if (is_small(&t, &n)) {
            looked_at++;
            sx_systolic_point *all = malloc((n + 1) * sizeof *all);
            assert_non_null(all);
            sx_size size;
            for (size_t line = 0; sx_space_size(t.space, line, &size); line++)
                if (strcmp(size.name, "raw") == 0) assert_true(size.count.exact && size.count.low == n);
            for (uint64_t k = 0; k <= n; k++) {
                sx_cardinal index = {.low = k, .exact = true};
                assert_int_equal(sx_space_at(t.space, &index, &all[k]), k < n);
                if (k == n) break;
                expect_construction(&t, "is none", &all[k]);
                sx_systolic_fault found = (sx_systolic_fault)t.space->type->check(t.space, &all[k]);
                if (!agree(&t, found, expected_fault(&t, &all[k])))
                    complain(&t, "is judged otherwise", &all[k]);
            }
            qsort(all, n, sizeof *all, by_bytes);
            for (uint64_t k = 1; k < n; k++)
                if (by_bytes(&all[k - 1], &all[k]) == 0) complain(&t, "comes twice", &all[k]);
            free(all);
        }
        sx_space_free(t.space);
    }
    sx_expect_compared("numbered spaces", looked_at, set->count / 4);
}

static void changes_lead_to_constructions(void **state) {
    const settings *set = *state;
    uint64_t n_neighbours = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        trial t = trial_of(set, "systolic-space.moves", i, 60);
        trial_begin(&t);
        const sx_space_type *type = t.space->type;
        for (int k = 0; k < 10; k++) {
            sx_systolic_point point = drawn(&t), other = drawn(&t), next;
            expect_construction(&t, "was drawn", &point);
            for (size_t gene = 0; gene < t.space->n_genes; gene++) {
                type->redraw(t.space, &t.rng, gene, &point);
                expect_construction(&t, "was redrawn", &point);
                type->nudge(t.space, &t.rng, gene, &point);
                expect_construction(&t, "was nudged", &point);
                type->take(t.space, gene, &other, &point);
                expect_construction(&t, "took over", &point);
            }
            if (memcmp(&point, &other, sizeof point) != 0 && t.space->n_genes > 0 &&
                t.space->gene[0].axis == 0)
                complain(&t, "took over everything and differs", &point);
            for (size_t n = 0; sx_systolic_neighbour(t.space, &point, n, &next); n++) {
                n_neighbours++;
                expect_construction(&t, "is a neighbour", &next);
                if (memcmp(&next, &point, sizeof next) == 0) complain(&t, "is its own neighbour", &point);
            }
        }
        sx_space_free(t.space);
    }
    sx_expect_compared("neighbours", n_neighbours, 10 * set->count);
}

/* How far a point is from a vector. */
static double distance(const sx_space *space, const void *point, const double *values) {
    double own[MAX_VALUES], sum = 0;
    sx_space_encode(space, point, own);
    for (size_t i = 0; i < space->n_values; i++) sum += (own[i] - values[i]) * (own[i] - values[i]);
    return sum;
}

/* Fails unless a projection is legal and has no nearer legal neighbour. */
static void expect_projection(const trial *t, const double *values, const sx_systolic_point *point) {
    sx_systolic_point next;
    double own = distance(t->space, point, values);
    expect_construction(t, "was projected", point);
    if (!sx_space_legal(t->space, point, NULL, 0)) complain(t, "was projected, illegal", point);
    for (size_t n = 0; sx_systolic_neighbour(t->space, point, n, &next); n++)
        if (distance(t->space, &next, values) < own && sx_space_legal(t->space, &next, NULL, 0))
            complain(t, "has a nearer neighbour", point);
}

static void vectors_lead_to_legal_points(void **state) {
    const settings *set = *state;
    uint64_t n_legal = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        trial t = trial_of(set, "systolic-space.project", i, 60);
        trial_begin(&t);
        double values[MAX_VALUES];
        for (int k = 0; k < 3; k++) {
            sx_systolic_point point = drawn(&t), found;
            bool legal = t.space->type->repair(t.space, &t.rng, &point);
            if (legal != sx_space_legal(t.space, &point, NULL, 0)) complain(&t, "was repaired", &point);
            if (legal) {
                n_legal++;
                expect_construction(&t, "was repaired", &point);
                sx_space_encode(t.space, &point, values);
                assert_true(sx_space_project(t.space, values, &found));
                if (memcmp(&found, &point, sizeof found) != 0) complain(&t, "comes back as another", &point);
            }
            for (size_t v = 0; v < t.space->n_values; v++)
                values[v] = (sx_rng_double(&t.rng) - 0.2) * (v ? 80 : 60);
            if (sx_rng_below(&t.rng, 10) == 0) values[sx_rng_below(&t.rng, t.space->n_values)] = 1e18;
            if (sx_space_project(t.space, values, &found)) expect_projection(&t, values, &found);
        }
        sx_space_free(t.space);
    }
    sx_expect_compared("legal points", n_legal, set->count);
}

/* One array for several kernels: costs are sums, resources those of the largest. */
static void sums_over_kernels_are_sums(void **state) {
    const settings *set = *state;
    uint64_t n_sums = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        trial t = trial_of(set, "systolic-space.sums", i, 40);
        t.n_kernels = 1 + sx_rng_below(&t.rng, MAX_KERNELS);
        for (size_t k = 0; k < t.n_kernels; k++) {
            if (k) sx_random_kernel(&t.rng, 40, &t.kernel[k]);
            t.kernel[k].count = 1 + sx_rng_below(&t.rng, 5);
        }
        sx_status status = sx_systolic_join(t.kernel, t.n_kernels);
        if (status) {
            assert_true(status->code == SX_ERR_LIMIT || status->code == SX_ERR_INPUT);
            sx_status_free(status);
            continue;
        }
        trial_begin(&t);
        for (int k = 0; k < 20; k++) {
            sx_systolic_point point = drawn(&t);
            sx_systolic_cost all, one, sum = {0};
            expect_construction(&t, "was drawn", &point);
            sx_systolic_fault fault = sx_systolic_evaluate(t.space, &point, -1, &all), own;
            if (!sx_systolic_has_cost(fault)) continue;
            for (size_t j = 0; j < t.n_kernels; j++) {
                sx_expect_ok(sx_systolic_cost_of(&t.kernel[j], &t.device, &t.options, &point, &own, &one));
                assert_true(sx_systolic_has_cost(own));
                double count = (double)t.kernel[j].count;
                sum.latency += count * one.latency;
                sum.offchip_words += count * one.offchip_words;
                sum.energy += count * one.energy;
                sum.bram18k = fmax(sum.bram18k, one.bram18k);
                if (one.dsp != all.dsp) complain(&t, "has other DSP blocks", &point);
            }
            if (sum.latency != all.latency || sum.offchip_words != all.offchip_words ||
                sum.energy != all.energy || sum.bram18k != all.bram18k)
                complain(&t, "costs another sum", &point);
            n_sums++;
        }
        sx_space_free(t.space);
    }
    sx_expect_compared("sums", n_sums, set->count);
}

int main(int argc, char **argv) {
    settings set = {2000, 1};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10);
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(numbers_name_every_construction_once, &set),
        cmocka_unit_test_prestate(changes_lead_to_constructions, &set),
        cmocka_unit_test_prestate(vectors_lead_to_legal_points, &set),
        cmocka_unit_test_prestate(sums_over_kernels_are_sums, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
