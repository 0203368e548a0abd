/* Map spaces over random problems, architectures and constraints: every way to make or change a point gives a
 * construction, vectors and mappings lead back to their points, projections are legal and nowhere nearer to
 * be had, and draws are as uniform as they promise. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/map_neighbour.h"
#include "support/random_case.h"
#include "support/random_limits.h"

#include "mapspace/map_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

/* A space to test, and points of exactly its size. */
typedef struct bench {
    uint64_t index;
    sx_case c;
    sx_constraints limits, kept; /* kept: without shares in use, what every construction obeys */
    sx_model *model;
    sx_space *space;
    const sx_map_space *map;
    void *point, *other, *third;
    double *values, *target;
    sx_rng rng;
} bench;

/* Ends the test, saying which case failed in what. */
static void wrong(const bench *b, const char *what) {
    char limits[4000];
    sx_text text = {0};
    sx_limits_text(&b->limits, limits, sizeof limits);
    sx_case_write(&b->c, &text);
    print_error("case %llu: %s\nremainders %d keep_all %d no_banks %d\n%s%s\n", (unsigned long long)b->index,
                what, b->map->options.remainders, b->map->options.keep_all, b->map->options.no_banks, limits,
                text.data);
    sx_text_free(&text);
    fail();
}

static void expect(const bench *b, bool good, const char *what) {
    if (!good) wrong(b, what);
}

/* Makes the space of a case; false where its constraints contradict it. */
static bool open_bench(bench *b, const settings *set, uint64_t i) {
    memset(b, 0, sizeof *b);
    b->index = i;
    b->rng = sx_rng_stream(set->seed, "map space", i);
    sx_random_case(&b->rng, i % 2 ? SX_CASE_REMAINDER : 0, &b->c);
    if (sx_rng_below(&b->rng, 2))
        sx_random_limits(&b->rng, &b->c.problem, &b->c.arch, &b->limits);
    else
        sx_constraints_init(&b->limits, &b->c.problem, &b->c.arch);
    b->kept = b->limits;
    for (int s = 0; s < b->c.arch.n_levels; s++)
        b->kept.level[s].min_utilization = b->kept.level[s].min_parallelism = 0;
    sx_map_space_options options = {.remainders = i % 2,
                                    .keep_all = sx_rng_below(&b->rng, 4) == 0,
                                    .no_banks = sx_rng_below(&b->rng, 4) == 0,
                                    .split_axes = i % 4 == 2};
    sx_expect_ok(sx_model_new(&b->c.problem, &b->c.arch, &b->c.options, &b->model));
    sx_status status = sx_map_space_new(b->model, &b->limits, &options, &b->space);
    if (status) {
        sx_status_free(status);
        sx_model_free(b->model);
        return false;
    }
    b->map = sx_map_space_of(b->space);
    size_t size = sx_space_point_size(b->space), n = sx_space_n_values(b->space);
    b->point = malloc(size);
    b->other = malloc(size);
    b->third = malloc(size);
    b->values = malloc(n * sizeof *b->values);
    b->target = malloc(n * sizeof *b->target);
    return true;
}

static void close_bench(bench *b) {
    free(b->point);
    free(b->other);
    free(b->third);
    free(b->values);
    free(b->target);
    sx_space_free(b->space);
    sx_model_free(b->model);
}

/* Whether shares of banks are dealt out in full. */
static bool banks_are_dealt(const bench *b, void *point) {
    for (int s = 0; s < b->c.arch.n_levels; s++) {
        unsigned sum = 0;
        if (!b->map->banked[s]) continue;
        const uint8_t *banks = sx_map_banks(b->map, point, s);
        for (int v = 0; v < SX_MAX_TENSORS; v++) {
            if ((b->map->banked[s] >> v & 1) != (banks[v] > 0)) return false;
            sum += banks[v];
        }
        if (sum != b->c.arch.level[s].banks) return false;
    }
    return true;
}

/* Asserts that a point is a construction in its one form. */
static void check_point(const bench *b, void *point, const char *how) {
    sx_mapping mapping, canonical;
    sx_map_space_mapping(b->space, point, &mapping);
    canonical = mapping;
    sx_mapping_canonical(&canonical);
    char what[300], text[200] = "";
    snprintf(what, sizeof what, "%s: not canonical", how);
    expect(b, memcmp(&mapping, &canonical, sizeof mapping) == 0, what);
    for (int d = 0; d < b->c.problem.n_dims; d++) {
        uint32_t factor[SX_MAX_SLOTS];
        sx_u128 index;
        sx_map_get_factors(b->map, point, d, factor);
        snprintf(what, sizeof what, "%s: no split of dimension %d", how, d);
        expect(b, sx_factors_rank(b->map->factors[d], factor, &index), what);
    }
    sx_reason reason = sx_check(b->model, &mapping).reason;
    snprintf(what, sizeof what, "%s: %s", how, sx_reason_name(reason));
    expect(b, reason != SX_BAD_SHAPE && reason != SX_FACTOR_PRODUCT && reason != SX_KEEP_FORBIDDEN, what);
    bool allowed = sx_constraints_allow(&b->kept, &mapping, &b->c.problem, &b->c.arch, text, sizeof text);
    snprintf(what, sizeof what, "%s: %s", how, text);
    expect(b, allowed, what);
    expect(b, banks_are_dealt(b, point), "banks do not add up");
    memcpy(b->third, point, sx_space_point_size(b->space));
    sx_map_normalize(b->map, b->third);
    expect(b, memcmp(b->third, point, sx_space_point_size(b->space)) == 0, "settling changes a point");
}

/* Equal points have equal vectors, different points different ones; a legal one's leads back to it. */
static void check_vectors(bench *b) {
    const sx_space *space = b->space;
    size_t size = space->point_size, n = space->n_values;
    sx_space_encode(space, b->point, b->values);
    sx_space_encode(space, b->other, b->target);
    bool same = memcmp(b->point, b->other, size) == 0;
    expect(b, same == (memcmp(b->values, b->target, n * sizeof *b->values) == 0),
           "vectors do not tell apart");
    if (!sx_space_legal(space, b->point, NULL, 0)) return;
    expect(b, sx_space_project(space, b->values, b->other), "a legal point's vector has no projection");
    expect(b, memcmp(b->point, b->other, size) == 0, "a legal point is not its own projection");
}

/* Mappings lead back to their points, but for the shares of banks. */
static void check_mapping(bench *b) {
    sx_mapping mapping, back;
    sx_map_space_mapping(b->space, b->point, &mapping);
    bool held = sx_map_space_point(b->space, &mapping, b->other);
    check_point(b, b->other, "from a mapping");
    sx_map_space_mapping(b->space, b->other, &back);
    expect(b, held == (memcmp(&mapping, &back, sizeof back) == 0), "a mapping is held or not");
    expect(b, held, "a point's mapping is not held");
    if (!b->map->banks_at)
        expect(b, memcmp(b->point, b->other, b->space->point_size) == 0, "a mapping gives another point");
}

static void points_are_constructions(bench *b) {
    const sx_space_type *type = b->space->type;
    for (int i = 0; i < 8; i++) {
        type->draw(b->space, &b->rng, b->point);
        check_point(b, b->point, "drawn");
        check_mapping(b);
        type->draw(b->space, &b->rng, b->other);
        check_vectors(b);
        type->draw(b->space, &b->rng, b->other);
        for (size_t gene = 0; gene < b->space->n_genes; gene++) {
            type->redraw(b->space, &b->rng, gene, b->point);
            check_point(b, b->point, "redrawn");
            type->nudge(b->space, &b->rng, gene, b->point);
            check_point(b, b->point, "nudged");
            type->take(b->space, gene, b->other, b->point);
            check_point(b, b->point, "taken over");
        }
        if (type->repair(b->space, &b->rng, b->point))
            expect(b, type->check(b->space, b->point) == 0, "repaired, but not legal");
        check_point(b, b->point, "repaired");
    }
}

/* A point takes over all genes of another: it becomes that one. */
static void genes_are_all(bench *b) {
    const sx_space_type *type = b->space->type;
    type->draw(b->space, &b->rng, b->point);
    type->draw(b->space, &b->rng, b->other);
    for (size_t gene = 0; gene < b->space->n_genes; gene++) type->take(b->space, gene, b->other, b->point);
    expect(b, memcmp(b->point, b->other, b->space->point_size) == 0, "genes are not all");
}

static double distance(const bench *b, const double *a, const double *target) {
    double sum = 0;
    for (size_t i = 0; i < b->space->n_values; i++) sum += (a[i] - target[i]) * (a[i] - target[i]);
    return sum;
}

/* A projection is legal, and none of its legal neighbours is nearer. */
static void projections_are_nearest(bench *b) {
    const sx_space *space = b->space;
    space->type->draw(space, &b->rng, b->point);
    sx_space_encode(space, b->point, b->target);
    for (size_t i = 0; i < space->n_values; i++) b->target[i] += 3 * sx_rng_double(&b->rng) - 1.5;
    if (!sx_space_project(space, b->target, b->point)) return;
    check_point(b, b->point, "projected");
    expect(b, sx_space_legal(space, b->point, NULL, 0), "projected, but not legal");
    sx_space_encode(space, b->point, b->values);
    double least = distance(b, b->values, b->target);
    for (size_t i = 0; sx_map_neighbour(space, b->point, i, b->other); i++) {
        check_point(b, b->other, "neighbour");
        sx_space_encode(space, b->other, b->values);
        if (distance(b, b->values, b->target) < least)
            expect(b, !sx_space_legal(space, b->other, NULL, 0), "a legal neighbour is nearer");
    }
}

/* Samples are legal and always the same; the score and the check agree on them. */
static void samples_are_legal(bench *b) {
    const sx_space *space = b->space;
    bool found = sx_space_sample(space, 7, b->index, b->point);
    expect(b, found == sx_space_sample(space, 7, b->index, b->other), "a sample that comes and goes");
    expect(b, memcmp(b->point, b->other, space->point_size) == 0, "a sample that changes");
    expect(b, found == sx_space_legal(space, b->point, NULL, 0), "a sample and its legality");
    check_point(b, b->point, "sampled");
    sx_scorer *scorer;
    sx_objective edp;
    sx_outcome outcome;
    sx_expect_ok(sx_objective_parse("edp", &edp));
    sx_expect_ok(sx_scorer_new(space, NULL, &edp, &scorer));
    for (int i = 0; i < 4; i++) {
        sx_expect_ok(sx_scorer_score(scorer, b->point, 1, 1 / 0.0, &outcome));
        expect(b, outcome.reason == space->type->check(space, b->point), "score and check disagree");
        space->type->draw(space, &b->rng, b->point);
    }
    sx_scorer_free(scorer);
}

static void over_random_cases(void **state) {
    const settings *set = *state;
    uint64_t refused = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        bench b;
        if (!open_bench(&b, set, i)) {
            refused++;
            continue;
        }
        points_are_constructions(&b);
        genes_are_all(&b);
        projections_are_nearest(&b);
        samples_are_legal(&b);
        close_bench(&b);
    }
    sx_expect_compared("spaces", set->count - refused, set->count / 2);
}

enum { MOST_POINTS = 4000, DRAWS_EACH = 30 };

/* All points of a small space in the order of their bytes: how many constructions each is, how often it was
 * drawn. */
typedef struct census {
    const bench *b;
    size_t n;
    unsigned char *points;
    struct entry {
        const unsigned char *point;
        double ways, drawn;
    } * entry;
} census;

static int compare_entries(const void *a, const void *b, size_t size) {
    return memcmp(((const struct entry *)a)->point, ((const struct entry *)b)->point, size);
}

/* Sorts by bytes, without help of the library, whose sort takes no size. */
static void sort_entries(struct entry *e, size_t n, size_t size) {
    for (size_t gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (size_t i = gap; i < n; i++) {
            struct entry item = e[i];
            size_t j = i;
            for (; j >= gap && compare_entries(&e[j - gap], &item, size) > 0; j -= gap) e[j] = e[j - gap];
            e[j] = item;
        }
}

/* Lists the points; false where there are too many. */
static bool take_census(census *c, const bench *b) {
    size_t size = b->space->point_size, n = 0;
    *c = (census){
        .b = b, .points = malloc(MOST_POINTS * size), .entry = calloc(MOST_POINTS, sizeof *c->entry)};
    while (n < MOST_POINTS &&
           sx_space_at(b->space, &(sx_cardinal){.low = n, .exact = true}, c->points + n * size)) {
        c->entry[n] = (struct entry){c->points + n * size, 1, 0};
        n++;
    }
    if (n == MOST_POINTS) return false;
    sort_entries(c->entry, n, size);
    for (size_t i = 0; i < n; i++) {
        if (c->n > 0 && compare_entries(&c->entry[c->n - 1], &c->entry[i], size) == 0)
            c->entry[c->n - 1].ways++;
        else
            c->entry[c->n++] = c->entry[i];
    }
    return true;
}

static void count_draw(census *c, const void *point) {
    size_t size = c->b->space->point_size, low = 0, high = c->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = memcmp(c->entry[middle].point, point, size);
        if (order == 0) {
            c->entry[middle].drawn++;
            return;
        }
        *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
    }
    wrong(c->b, "a point that has no number");
}

/* By how many standard deviations the draws are too uneven, by chi-square; small counts are put together. */
static double unevenness(const census *c, bool legal, double draws) {
    double ways = 0, square = 0, cells = 0, expected = 0, drawn = 0;
    for (size_t i = 0; i < c->n; i++)
        if (!legal || sx_space_legal(c->b->space, c->entry[i].point, NULL, 0)) ways += c->entry[i].ways;
    for (size_t i = 0; i < c->n; i++) {
        if (legal && !sx_space_legal(c->b->space, c->entry[i].point, NULL, 0)) continue;
        expected += draws * c->entry[i].ways / ways;
        drawn += c->entry[i].drawn;
        if (expected < 8) continue;
        square += (drawn - expected) * (drawn - expected) / expected;
        cells++;
        expected = drawn = 0;
    }
    return cells < 2 ? 0 : (square - (cells - 1)) / sqrt(2 * (cells - 1));
}

/* Draws are uniform over constructions, and legal draws over legal ones. Whether there were few enough to
 * tell. */
static bool draws_are_uniform(bench *b) {
    census c;
    bool counted = take_census(&c, b);
    if (counted) {
        double draws = 0, legal = 0, found = 0;
        for (size_t i = 0; i < c.n; i++) {
            draws += c.entry[i].ways * 2;
            if (sx_space_legal(b->space, c.entry[i].point, NULL, 0)) legal += c.entry[i].ways;
        }
        for (double i = 0; i < draws; i++) {
            b->space->type->draw(b->space, &b->rng, b->point);
            count_draw(&c, b->point);
        }
        expect(b, unevenness(&c, false, draws) < 6, "draws are uneven");
        for (size_t i = 0; i < c.n; i++) c.entry[i].drawn = 0;
        for (double i = 0; b->space->tries == 0 && i < DRAWS_EACH * legal && i < 20000; i++, found++) {
            if (!sx_space_draw_legal(b->space, &b->rng, b->point, NULL)) break;
            count_draw(&c, b->point);
        }
        if (legal > draws / 400) expect(b, unevenness(&c, true, found) < 6, "legal draws are uneven");
    }
    free(c.points);
    free(c.entry);
    return counted;
}

static void over_small_spaces(void **state) {
    const settings *set = *state;
    uint64_t counted = 0;
    for (uint64_t i = 0; i < set->count / 4 + 1; i++) {
        bench b;
        if (!open_bench(&b, set, i)) continue;
        counted += draws_are_uniform(&b);
        close_bench(&b);
    }
    sx_expect_compared("spaces whose draws were counted", counted, set->count / 100);
}

int main(int argc, char **argv) {
    settings set = {argc > 1 ? strtoull(argv[1], NULL, 0) : 0, 1};
    if (set.count == 0) set.count = 1000;
    struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(over_random_cases, &set),
        cmocka_unit_test_prestate(over_small_spaces, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
