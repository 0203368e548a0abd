/* Which factors optima with remainders have: of every small space all mappings are evaluated, and the best of all is held
 * against the best of those whose temporal factors are the least of their counts of blocks (R1), of those whose factors are
 * these or leave an edge sweep of one block (R2), and of those that do so in all dimensions without spatial factors (R3). A
 * factor is the least that constraints allow.
 *
 * R3 holds for plain tensors. Let f make B' of B blocks in a dimension that is spread nowhere, neither the least f' of those
 * that do nor the one of an edge sweep of one, (B - 1) / (B' - 1). The last sweep of its loop, of B - (B' - 1) f iterations,
 * has two or more, and with f' it has no fewer. Replaced by f' all counts of blocks stay, so all visits do; a tile is fetched
 * at each of them, but for those in a sweep of one iteration, which are the same: words that stand still there are those of a
 * last block N - (B - 1) e, which grows as extents e outside shrink. Room shrinks, and the steps along the dimension are N.
 * So nothing costs more. With spatial factors the steps depend on e, and R2 does not hold; nor does R1 anywhere.
 * test_least_factor [count [seed [first]]] prints how often they miss an optimum, and the first spaces where R2 does. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/plain_arch.h"
#include "support/random_space.h"

#include "sextant/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 20000, SHOWN = 3, FIGURES = 3 };
enum { ANY, R3, R2, R1, RULES };

typedef struct settings {
    uint64_t count, seed, first;
} settings;

static const char *const figures[FIGURES] = {"energy x delay", "energy", "delay"};

/* The strictest rule that the factors of a point obey. */
static int rule_of(const sx_map_space *map, const void *point) {
    int rule = R1;
    uint32_t factor[SX_MAX_SLOTS];
    for (int d = 0; d < map->problem->n_dims; d++) {
        uint32_t blocks = map->problem->size[d];
        bool spread = false;
        sx_map_get_factors(map, point, d, factor);
        for (int i = 0; i < map->n_slots; i++) spread |= map->slot[i].spatial && factor[i] > 1;
        const int other = spread ? R3 : ANY;
        for (int i = 0; i < map->n_slots; i++) {
            uint32_t next = (blocks - 1) / factor[i] + 1, least = (blocks - 1) / next + 1;
            if (least < map->min[d][i]) least = map->min[d][i];
            bool edge = next > 1 && (blocks - 1) % (next - 1) == 0 && (blocks - 1) / (next - 1) == factor[i];
            if (!map->slot[i].spatial && factor[i] != least && rule > (edge ? R2 : other))
                rule = edge ? R2 : other;
            blocks = next;
        }
    }
    return rule;
}

/* The least figures of a space, of all its mappings and by each rule; returns the legal ones. */
static uint64_t least_of(const sx_space *space, double least[RULES][FIGURES]) {
    const sx_objective edp = {.n_criteria = 1, .criterion = {{SX_PRODUCT, 1, 1}}};
    void *point = malloc(sx_space_point_size(space));
    sx_cardinal index = {.exact = true};
    sx_scorer *scorer;
    uint64_t legal = 0;
    sx_expect_ok(sx_scorer_new(space, NULL, &edp, &scorer));
    for (int r = 0; r < RULES; r++)
        for (int k = 0; k < FIGURES; k++) least[r][k] = INFINITY;
    for (; sx_space_at(space, &index, point); index.low++) {
        sx_outcome outcome;
        sx_expect_ok(sx_scorer_score(scorer, point, 1, INFINITY, &outcome));
        if (outcome.reason != 0) continue;
        const sx_score score = sx_metrics_score(&outcome.metrics);
        const double figure[FIGURES] = {score.energy_pj * score.cycles, score.energy_pj, score.cycles};
        for (int r = 0; r <= rule_of(sx_map_space_of(space), point); r++)
            for (int k = 0; k < FIGURES; k++) least[r][k] = fmin(least[r][k], figure[k]);
        legal++;
    }
    sx_scorer_free(scorer);
    free(point);
    return legal;
}

/* Makes the witness of a point by R3: with the least factors in dimensions without spatial factors, but for those of an edge
 * sweep of one; false where it is the point itself. */
static bool make_witness(const sx_map_space *map, const void *point, void *out) {
    uint32_t factor[SX_MAX_SLOTS];
    bool other = false;
    memcpy(out, point, map->space.point_size);
    for (int d = 0; d < map->problem->n_dims; d++) {
        uint32_t blocks = map->problem->size[d];
        bool spread = false;
        sx_map_get_factors(map, point, d, factor);
        for (int i = 0; i < map->n_slots; i++) spread |= map->slot[i].spatial && factor[i] > 1;
        for (int i = 0; i < map->n_slots && !spread; i++) {
            const uint32_t next = (blocks - 1) / factor[i] + 1, least = (blocks - 1) / next + 1;
            const bool edge = next > 1 && (next - 1) * factor[i] == blocks - 1;
            other |= !edge && factor[i] > least && least >= map->min[d][i];
            if (!edge && least >= map->min[d][i]) factor[i] = least;
            blocks = next;
        }
        sx_map_set_factors(map, d, factor, out);
    }
    return other;
}

/* Compares all points of a space with their witnesses, which cost no more; returns how many there are. */
static uint64_t compare_witnesses(const sx_space *space) {
    const sx_objective edp = {.n_criteria = 1, .criterion = {{SX_PRODUCT, 1, 1}}};
    const size_t size = sx_space_point_size(space);
    unsigned char *points = malloc(2 * size);
    sx_cardinal index = {.exact = true};
    sx_scorer *scorer;
    uint64_t n = 0;
    sx_expect_ok(sx_scorer_new(space, NULL, &edp, &scorer));
    for (; sx_space_at(space, &index, points); index.low++) {
        sx_outcome outcome[2];
        if (!make_witness(sx_map_space_of(space), points, points + size)) continue;
        sx_expect_ok(sx_scorer_score(scorer, points, 2, INFINITY, outcome));
        if (outcome[0].reason != 0 || outcome[1].reason != 0) continue;
        const sx_score score = sx_metrics_score(&outcome[0].metrics),
                       least = sx_metrics_score(&outcome[1].metrics);
        assert_true(least.energy_pj <= score.energy_pj * (1 + 1e-12) && least.cycles <= score.cycles);
        n++;
    }
    sx_scorer_free(scorer);
    free(points);
    return n;
}

/* R3, mapping by mapping. */
static void least_factors_cost_no_more(void **state) {
    const settings *set = *state;
    uint64_t n = 0;
    for (uint64_t i = set->first; i < set->first + set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "least-factor.witness", i);
        sx_small_space small;
        sx_random_plain_space(&rng, MOST, &small);
        n += compare_witnesses(small.space);
        sx_small_space_fini(&small);
    }
    sx_expect_compared("mappings with witnesses", n, set->count);
}

/* Draws a space with remainders: of tensors without windows, or of any kind. */
static void draw_space(sx_rng *rng, uint64_t number, sx_small_space *out) {
    if (number % 4 == 3)
        sx_random_space_of(rng, SX_KIND_REMAINDERS, MOST, out);
    else
        sx_random_plain_space(rng, MOST, out);
}

static void optima_have_such_factors(void **state) {
    const settings *set = *state;
    uint64_t missed[RULES][FIGURES] = {{0}}, spaces = 0, shown = 0;
    double worst[RULES][FIGURES] = {{0}};
    for (uint64_t i = set->first; i < set->first + set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "least-factor", i);
        sx_small_space small;
        double least[RULES][FIGURES];
        draw_space(&rng, i, &small);
        spaces += least_of(small.space, least) > 0;
        for (int r = R3; r < RULES; r++)
            for (int k = 0; k < FIGURES; k++) {
                if (r == R3 && i % 4 == 3) continue; /* windows */
                if (!(least[r][k] > least[ANY][k] * (1 + 1e-9))) continue;
                missed[r][k]++;
                worst[r][k] = fmax(worst[r][k], least[r][k] / least[ANY][k] - 1);
                if (r != R2 || shown++ >= SHOWN) continue;
                char *text = sx_small_space_text(&small);
                print_message("space %llu, %s: least %.17g, by R2 %.17g\n%s\n", (unsigned long long)i,
                              figures[k], least[ANY][k], least[r][k], text);
                free(text);
            }
        sx_small_space_fini(&small);
    }
    for (int r = R3; r < RULES; r++)
        for (int k = 0; k < FIGURES; k++)
            print_message("%s by R%d: %llu missed, by %.3g at most\n", figures[k], RULES - r,
                          (unsigned long long)missed[r][k], worst[r][k]);
    sx_expect_compared("spaces whose optima were compared", spaces, set->count / 2);
    for (int k = 0; k < FIGURES; k++) assert_int_equal(missed[R3][k], 0);
    assert_true(missed[R2][0] <= missed[R1][0] && missed[R2][0] <= set->count / 20);
}

/* A space whose optimum has neither factor: X[k] of 21 is spread over two register files, each of which has room for 9 of it
 * beside a word of O and one of A. Three blocks are the fewest, and the first unit has the first and the last of them: 7 + 7
 * steps with the least factor, 7; 9 + 3 with the largest that fits. A factor of 10, with an edge sweep of one block, has no
 * room; four blocks of 6 take 6 + 6 steps, but more words. */
static void some_optimum_has_another_factor(void **state) {
    (void)state;
    sx_arch arch;
    sx_problem problem;
    sx_mapping mapping;
    sx_model *model;
    sx_space *space;
    sx_map_space_options options = {.remainders = true, .keep_all = true};
    double least[RULES][FIGURES];
    sx_plain_arch(&arch, 2);
    sx_plain_mesh(&arch, 1, 2, 1);
    arch.level[0].entries = 11;
    arch.level[0].fill_energy = 1;
    sx_plain_problem("O[m] += A[m]*X[k] {m:12,k:21}", &arch, &problem, &mapping);
    sx_expect_ok(sx_model_new(&problem, &arch, NULL, &model));
    sx_expect_ok(sx_map_space_new(model, NULL, &options, &space));
    assert_true(least_of(space, least) > 0);
    print_message("energy x delay: least %.17g, by R2 %.17g\n", least[ANY][0], least[R2][0]);
    assert_true(least[ANY][0] < least[R2][0] * (1 - 1e-9));
    sx_space_free(space);
    sx_model_free(model);
}

int main(int argc, char **argv) {
    settings set = {40, 1, 0};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10) / 1000 + 1;
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    if (argc > 3) set.first = strtoull(argv[3], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_optimum_has_another_factor),
        cmocka_unit_test_prestate(optima_have_such_factors, &set),
        cmocka_unit_test_prestate(least_factors_cost_no_more, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
