/* Bounds that carry over from one cut layer to another (src/fuse/inner.h): parts of random layers, cut in random ways, and the
 * optima that bound them are searched to their ends, and no proven bound may be above what it bounds:
 * test_fuse_bounds [count [seed]]. */
#include "session/fuse_independent.h"
#include "session/fuse_inner.h"
#include "sextant/all.h"
#include "support/compared.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { OUT = 1 };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* What was compared, by the way in which a bound carries over, and how many bounds are within a tenth; sums of energy and
 * cycles; and least energies and cycles, with how many of the latter are within a third where something stays on chip. */
typedef struct tally {
    uint64_t room, tensors, part, second, close, sums, close_sums, least, close_least;
} tally;

static int draw(sx_rng *rng, int low, int high) {
    return low + (int)sx_rng_below(rng, (uint64_t)(high - low + 1));
}

static void draw_machine(sx_rng *rng, sx_arch *arch) {
    static const char *const built[] = {"", ", bypass: [W]", ", keep: [I, O]"};
    const int n = 1 << draw(rng, 0, 2), glb = draw(rng, 1, 6);
    char text[1200], second[120] = "";
    if (draw(rng, 0, 2) == 0)
        snprintf(second, sizeof second,
                 "  - {name: L1, instances: 1, entries: %d, word-bits: 8, vector-access-energy: 1}\n",
                 draw(rng, 8, 40));
    snprintf(
        text, sizeof text,
        "arch:\n"
        "  name: small\n"
        "  arithmetic: {name: MAC, instances: %d, meshX: %d, word-bits: 8, energy: 0.25}\n"
        "  storage:\n"
        "  - {name: RF, instances: %d, meshX: %d, entries: %d, word-bits: 8, vector-access-energy: 0.5}\n"
        "%s"
        "  - {name: GLB, instances: 1, entries: %d, word-bits: 8, read_energy: %d, fill_energy: %d, "
        "update_energy: %d, read_bandwidth: %d, write_bandwidth: %d%s}\n"
        "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, vector-access-energy: %d, "
        "read_bandwidth: %d, write_bandwidth: %d}\n",
        n, n, n, n, draw(rng, 3, 12), second, draw(rng, 12, 200), glb, draw(rng, 1, 6), glb, draw(rng, 1, 8),
        draw(rng, 1, 8), built[draw(rng, 0, 2)], draw(rng, 6, 20), draw(rng, 1, 4), draw(rng, 1, 4));
    sx_input *input = sx_expect_input(text);
    sx_expect_ok(sx_input_arch(input, arch));
    sx_input_free(input);
}

/* A convolution over rows p from c to m channels, a depthwise one, or a product of matrices. */
static void draw_layer(sx_rng *rng, sx_problem *out) {
    const int m = 2 * draw(rng, 1, 3), c = 2 * draw(rng, 1, 2), p = 2 * draw(rng, 2, 4), r = draw(rng, 1, 3);
    char text[200];
    switch (draw(rng, 0, 2)) {
    case 0:
        snprintf(text, sizeof text, "O[m,p] += W[m,c,r]*I[c,%d*p+%d*r] {m:%d,c:%d,p:%d,r:%d}",
                 draw(rng, 1, 2), draw(rng, 1, 2), m, c, p, r);
        break;
    case 1:
        snprintf(text, sizeof text, "O[m,p] += W[m,r]*I[m,%d*p+r] {m:%d,p:%d,r:%d}", draw(rng, 1, 2), m, p,
                 r);
        break;
    default:
        snprintf(text, sizeof text, "O[m,p] += W[m,c]*I[c,p] {m:%d,c:%d,p:%d}", m, c, p);
    }
    sx_expect_ok(sx_einsum_parse(text, out));
}

/* A part of a layer: some of its rows, and a slice of the channels that it makes or sums over; *sums: of the latter. */
static double draw_part(sx_rng *rng, const sx_problem *whole, sx_problem *out, bool *sums) {
    const int row = sx_problem_dim(whole, "p"), made = sx_problem_dim(whole, "m"),
              summed = sx_problem_dim(whole, "c");
    double parts = 1;
    *out = *whole;
    *sums = summed >= 0 && draw(rng, 0, 1);
    if (!*sums || draw(rng, 0, 1)) {
        const uint32_t rows[] = {1, 2, whole->size[row] / 2};
        out->size[row] = rows[draw(rng, 0, 2)];
        parts = (double)whole->size[row] / out->size[row];
    }
    if (!*sums && draw(rng, 0, 1)) return parts;
    out->size[*sums ? summed : made] /= 2;
    return 2 * parts;
}

/* Compares what is known of an optimum without a search with the mapping that was found. */
static void check_least(const sx_inner *inner, const sx_inner_optimum *item, tally *sum) {
    const sx_problem *problem = sx_vector_at(&inner->problem, item->key.problem);
    const sx_cut *cut = &item->key.cut;
    sx_score least;
    double alone;
    if (isinf(item->value)) return;
    sx_expect_ok(sx_fuse_inner_least(inner->user, problem, cut, &least));
    sx_expect_ok(sx_fuse_alone_minimum(inner->user, problem, cut, &alone));
    if (item->score.energy_pj < least.energy_pj * (1 - 1e-9) || item->score.cycles < least.cycles)
        fail_msg("energy %.17g and cycles %.17g are below the least ones, %.17g and %.17g",
                 item->score.energy_pj, item->score.cycles, least.energy_pj, least.cycles);
    if (item->value < alone * (1 - 1e-9)) fail_msg("%.17g is below the minimum %.17g", item->value, alone);
    if (!cut->resident && !cut->second) return;
    sum->least++;
    sum->close_least += 3 * item->score.cycles <= 4 * least.cycles;
}

/* Compares the optima that bound an optimum, each with the next. */
static void check_chain(sx_inner *inner, size_t optimum, tally *sum) {
    for (;;) {
        sx_expect_ok(sx_inner_settle(inner, optimum, SX_INNER_SEARCH));
        const sx_inner_optimum item = *sx_inner_at(inner, optimum);
        check_least(inner, &item, sum);
        if (item.relaxed == optimum) return;
        sx_expect_ok(sx_inner_settle(inner, item.relaxed, SX_INNER_SEARCH));
        const double value = item.value, relaxed = sx_inner_at(inner, item.relaxed)->bound,
                     more = inner->objective.criterion[0].delay_power > 0 ? 0 : item.more,
                     bound = pow(item.share, 1 / inner->root) * relaxed + more;
        if (!isinf(value) && value < bound * (1 - 1e-9))
            fail_msg("%.17g is below its bound %.17g: share %g, more %g", value, bound, item.share,
                     item.more);
        const bool tensors = item.key.cut.resident != sx_inner_at(inner, item.relaxed)->key.cut.resident;
        uint64_t *way = item.share < 1 ? &sum->part : tensors ? &sum->tensors : &sum->room;
        *way += !isinf(value);
        sum->close += !isinf(value) && value <= 1.1 * bound;
        sum->second += item.share < 1 && item.key.cut.second;
        optimum = item.relaxed;
    }
}

/* Searches sums of energy and cycles, with all optima that bound them: no mapping that is found may be below. */
static void check_sums(sx_inner *inner, size_t optimum, tally *sum) {
    for (double cycles = 0.01; cycles < 1000; cycles *= 10) {
        const double share[2] = {1, cycles};
        double bound, value;
        bool searched = true;
        while (searched) sx_expect_ok(sx_inner_search_sum(inner, optimum, share, &searched));
        sx_expect_ok(sx_inner_sum(inner, optimum, share, &bound));
        if (isinf(bound)) return;
        sx_inner_select(inner, share);
        const sx_score score = sx_inner_at(inner, optimum)->score;
        value = score.energy_pj + cycles * score.cycles;
        if (value < bound * (1 - 1e-9)) fail_msg("the sum %.17g is below its bound %.17g", value, bound);
        sum->sums++;
        sum->close_sums += value <= 1.05 * bound;
    }
}

static void check_case(uint64_t seed, uint64_t index, tally *sum) {
    static const char *const objectives[] = {"energy", "energy", "edp", "delay"};
    static sx_arch arch;
    sx_rng rng = sx_rng_stream(seed, "fuse.bounds", index);
    sx_session_options options;
    sx_inner inner;
    sx_problem whole, part;
    uint64_t number;
    size_t optimum;
    bool sums;
    draw_machine(&rng, &arch);
    draw_layer(&rng, &whole);
    const double parts = draw_part(&rng, &whole, &part, &sums);
    const int exchange = arch.n_levels - 2, second = exchange > 1 ? 1 : -1;
    const unsigned keep = sx_arch_keep_mask(&arch, exchange, &part);
    sx_cut cut = {.resident = (uint8_t)(keep & (unsigned)draw(&rng, 0, 7)),
                  .occupied = (uint64_t)draw(&rng, 0, 1) * (uint64_t)draw(&rng, 0, 60)};
    if (second > 0) {
        cut.second_level = 1;
        cut.second = cut.resident & (uint8_t)draw(&rng, 0, 7);
        cut.resident &= (uint8_t)~cut.second;
    }
    sx_session_options_init(&options);
    options.mapper = "optimal";
    sx_expect_ok(sx_objective_parse(objectives[draw(&rng, 0, 3)], &options.run.objective));
    sx_fuse_searcher searcher = {.arch = &arch, .exchange = exchange, .second = second, .options = &options};
    sx_expect_ok(sx_inner_init(&inner, &options.run.objective, sx_cut_capacity(&arch, exchange)));
    if (second > 0) inner.second = sx_cut_capacity(&arch, second);
    inner.user = &searcher;
    inner.search = sx_fuse_search_inner;
    inner.minimum = sx_fuse_inner_minimum;
    inner.relax = sx_fuse_inner_relax;
    inner.least = sx_fuse_inner_least;
    if (inner.root < 1) inner.search_power = sx_fuse_search_power;
    sx_expect_ok(sx_inner_problem(&inner, &part, &number));
    sx_expect_ok(sx_inner_note_whole(&inner, number, &whole, parts, sums));
    sx_cut found = cut;
    if (sums && draw(&rng, 0, 2)) found.found = (cut.resident | cut.second) & OUT;
    sx_expect_ok(sx_inner_find(&inner, number, &found, &optimum));
    check_chain(&inner, optimum, sum);
    if (inner.root < 1) check_sums(&inner, optimum, sum);
    sx_inner_fini(&inner);
}

static void no_bound_is_above(void **state) {
    const settings *s = *state;
    tally sum = {0};
    for (uint64_t i = 0; i < s->count; i++) check_case(s->seed, i, &sum);
    const uint64_t all = sum.room + sum.tensors + sum.part;
    print_message(
        "%llu bounds by more room, %llu by tensors on chip, %llu by parts, %llu of these with tensors "
        "in a second memory; %llu within a tenth; %llu sums, %llu within a twentieth\n",
        (unsigned long long)sum.room, (unsigned long long)sum.tensors, (unsigned long long)sum.part,
        (unsigned long long)sum.second, (unsigned long long)sum.close, (unsigned long long)sum.sums,
        (unsigned long long)sum.close_sums);
    print_message("%llu least energies and cycles, %llu cycles within a third\n",
                  (unsigned long long)sum.least, (unsigned long long)sum.close_least);
    assert_true(sum.least > s->count && 4 * sum.close_least > 3 * sum.least);
    assert_true(sum.tensors > s->count / 8 && sum.close > all / 8);
    assert_true(sum.sums > s->count / 2 && 2 * sum.close_sums > sum.sums);
    sx_expect_compared("bounds of parts", sum.part, s->count / 2);
}

int main(int argc, char **argv) {
    settings s = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 60,
                  .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(no_bound_is_above, &s)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
