/* The model of systolic designs against its slow twin, and as a bound: test_systolic [count [seed]]. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_systolic.h"
#include "support/systolic_oracle.h"
#include "support/systolic_simulate.h"
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

/* Fails, naming a case. */
static void complain(uint64_t i, const char *what, const sx_systolic_kernel *kernel,
                     const sx_systolic_point *point) {
    char text[500];
    sx_systolic_point_text(kernel, point, text, sizeof text);
    fail_msg("case %llu: %s\n%s", (unsigned long long)i, what, text);
}

static sx_systolic_factors factors_of(const sx_systolic_kernel *kernel) {
    return (sx_systolic_factors){.steps = kernel->steps,
                                 .words = {kernel->words[0], kernel->words[1], kernel->words[2]}};
}

/* Whether two costs are the same bits, energy apart. */
static bool same_cost(const sx_systolic_cost *a, const sx_systolic_cost *b) {
    return a->latency == b->latency && a->prologue == b->prologue && a->steady == b->steady &&
           a->epilogue == b->epilogue && a->dsp == b->dsp && a->bram18k == b->bram18k &&
           a->offchip_words == b->offchip_words;
}

static void costs_are_those_of_the_slow_model(void **state) {
    const settings *set = *state;
    uint64_t n_costs = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "systolic.oracle", i);
        sx_systolic_kernel kernel;
        sx_device device;
        sx_random_kernel(&rng, 1 + (uint32_t)sx_rng_below(&rng, 120), &kernel);
        sx_random_device(&rng, &device);
        const sx_systolic_options options = {.thin = sx_rng_below(&rng, 2)};
        for (int k = 0; k < 20; k++) {
            sx_systolic_point point;
            sx_systolic_cost fast = {0}, slow = {0};
            sx_systolic_fault fault;
            sx_random_tiles(&rng, &kernel, &point);
            if (sx_rng_below(&rng, 50) == 0) point.t2[sx_rng_below(&rng, (uint64_t)kernel.n_loops)]++;
            sx_expect_ok(sx_systolic_cost_of(&kernel, &device, &options, &point, &fault, &fast));
            sx_systolic_fault expected =
                sx_systolic_oracle(&kernel, &device, &device.element[0], options.thin, &point, &slow);
            if (fault != expected) complain(i, "faults differ", &kernel, &point);
            if (!same_cost(&fast, &slow)) complain(i, "costs differ", &kernel, &point);
            n_costs += sx_systolic_has_cost(fault);
            if (sx_systolic_has_cost(fault) && !(fast.energy > 0)) complain(i, "no energy", &kernel, &point);
        }
    }
    sx_expect_compared("costs", n_costs, set->count);
}

/* The smaller of two records, number by number. */
static void take_smaller(sx_systolic_tile *least, const sx_systolic_tile *tile) {
    least->trips = fmin(least->trips, tile->trips);
    least->step = fmin(least->step, tile->step);
    least->hide = fmin(least->hide, tile->hide);
    least->all = fmin(least->all, tile->all);
    least->span = fmin(least->span, tile->span);
    least->spans = fmin(least->spans, tile->spans);
}

/* The least record of a loop among some tiles with as many PEs and, of the loop of the lanes, as many lanes.
 */
static sx_systolic_tile least_record(const sx_systolic_plan *plan, const sx_systolic_kernel *kernel, int d,
                                     const sx_systolic_point *point, uint32_t high, uint32_t skip) {
    const sx_systolic_loop *loop = &kernel->loop[d];
    uint32_t t1 = point->t1[d], t2 = point->t2[d], pes = t1 / t2;
    sx_systolic_tile least = sx_systolic_tile_of(plan, loop, d, t1, t2);
    bool spread = plan->form.space >> d & 1, lanes = d == plan->simd;
    for (uint32_t inner = lanes ? t2 : 1; inner <= (lanes ? t2 : high); inner++)
        for (uint32_t parts = spread ? pes : 1; parts <= (spread ? pes : high); parts++) {
            uint64_t outer = (uint64_t)parts * inner;
            if ((outer > high && outer != t1) || (inner * 7 + parts) % skip == 1) continue;
            sx_systolic_tile other = sx_systolic_tile_of(plan, loop, d, (uint32_t)outer, inner);
            take_smaller(&least, &other);
        }
    return least;
}

/* Fails unless what is measured is at most the cost. */
static void expect_bound(uint64_t i, const sx_systolic_kernel *kernel, const sx_systolic_point *point,
                         const sx_systolic_cost *bound, const sx_systolic_cost *cost) {
    if (bound->latency > cost->latency) complain(i, "the latency is below its bound", kernel, point);
    if (bound->steady > cost->steady) complain(i, "the steady state is below its bound", kernel, point);
    if (bound->prologue > cost->prologue) complain(i, "the prologue is below its bound", kernel, point);
    if (bound->epilogue > cost->epilogue) complain(i, "the epilogue is below its bound", kernel, point);
    if (bound->bram18k > cost->bram18k) complain(i, "BRAM is below its bound", kernel, point);
    if (bound->offchip_words > cost->offchip_words) complain(i, "words are below their bound", kernel, point);
    if (bound->dsp != cost->dsp) complain(i, "DSP blocks differ", kernel, point);
}

/* Fails unless a larger tile of a random loop, with as many PEs and lanes, takes no less BRAM. */
static void expect_growth(uint64_t i, sx_rng *rng, const sx_systolic_plan *plan,
                          const sx_systolic_kernel *kernel, const sx_systolic_point *point,
                          const sx_systolic_tile *tile, double bram) {
    int d = (int)sx_rng_below(rng, (uint64_t)kernel->n_loops);
    bool spread = plan->form.space >> d & 1, own = d == plan->simd;
    if (spread && own) return;
    uint32_t pes = spread ? point->t1[d] / point->t2[d] : 1, inner = point->t2[d];
    uint32_t more = 1 + (uint32_t)sx_rng_below(rng, 2 * kernel->loop[d].size);
    uint64_t outer =
        spread ? (uint64_t)pes * (inner + more) : point->t1[d] + (uint64_t)more * (own ? inner : 1);
    if (outer > INT32_MAX) return;
    sx_systolic_tile larger[SX_MAX_SYSTOLIC_LOOPS];
    memcpy(larger, tile, sizeof larger);
    larger[d] = sx_systolic_tile_of(plan, &kernel->loop[d], d, (uint32_t)outer,
                                    spread ? inner + more
                                    : own  ? inner
                                           : (uint32_t)outer);
    if (sx_systolic_rules(plan, larger, point->t2[plan->simd])) return;
    sx_systolic_factors factors = factors_of(kernel);
    sx_systolic_cost cost;
    sx_systolic_measure(plan, &factors, larger, point->t2[plan->simd], &cost);
    if (cost.bram18k < bram) complain(i, "a larger tile takes less BRAM", kernel, point);
}

/* Records that are least among several tiles bound the cost of each: what exact searches lean on. */
static void records_in_part_known_bound_the_cost(void **state) {
    const settings *set = *state;
    uint64_t n_bounds = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "systolic.bounds", i);
        sx_systolic_kernel kernel;
        sx_device device;
        sx_systolic_limits limits;
        sx_systolic_design design;
        sx_systolic_plan plan;
        sx_systolic_point point;
        static const uint32_t sizes[] = {10, 40, 40, 1000, 1 << 20};
        uint32_t most = sizes[sx_rng_below(&rng, 5)];
        sx_random_kernel(&rng, most, &kernel);
        sx_random_device(&rng, &device);
        sx_expect_ok(sx_systolic_limits_of(&device, NULL, &limits));
        sx_systolic_factors factors = factors_of(&kernel);
        for (int k = 0; k < 8; k++) {
            sx_systolic_tile exact[SX_MAX_SYSTOLIC_LOOPS], mixed[SX_MAX_SYSTOLIC_LOOPS];
            sx_systolic_cost bound, cost;
            bool corrected = k & 1;
            sx_random_tiles(&rng, &kernel, &point);
            sx_systolic_design_at(&kernel, point.design, &design);
            sx_systolic_plan_init(&kernel, &design, &limits, corrected, &plan);
            double lanes = point.t2[plan.simd];
            for (int d = 0; d < plan.form.n_loops; d++)
                exact[d] = sx_systolic_tile_of(&plan, &kernel.loop[d], d, point.t1[d], point.t2[d]);
            if (sx_systolic_rules(&plan, exact, lanes)) continue;
            sx_systolic_measure(&plan, &factors, exact, lanes, &cost);
            uint64_t known = sx_rng_below(&rng, 1u << plan.form.n_loops);
            for (int d = 0; d < plan.form.n_loops; d++) {
                uint32_t high = most > 40 ? 60 : kernel.loop[d].size + 1 + (uint32_t)sx_rng_below(&rng, 20);
                uint32_t skip = 2 + (uint32_t)sx_rng_below(&rng, 4);
                mixed[d] = known >> d & 1 ? exact[d] : least_record(&plan, &kernel, d, &point, high, skip);
            }
            sx_systolic_measure(&plan, &factors, mixed, lanes, &bound);
            expect_bound(i, &kernel, &point, &bound, &cost);
            expect_growth(i, &rng, &plan, &kernel, &point, exact, cost.bram18k);
            n_bounds++;
        }
    }
    sx_expect_compared("bounds", n_bounds, set->count);
}

/* A run that was walked through, as the terms of the mended model. */
typedef struct walked {
    const sx_systolic_plan *plan;
    sx_systolic_cost cost;
} walked;

/* Cycles of all transfers of an array past a level. */
static double transfers(const walked *w, const sx_systolic_traffic *t, int operand, int level) {
    const sx_systolic_limits *limits = &w->plan->limits;
    double packs = (double)(level == w->plan->form.part[operand].level ? t->packs : t->passed);
    if (level < w->plan->form.top || t->moves == 0) return packs;
    if (!w->plan->form.streams) return limits->row_cycles * (double)t->rows + (double)t->beats;
    double pack = (double)t->words / (double)t->passed;
    return packs * fmax(pack / limits->port_words, 1);
}

static void raise(double *most, double value) {
    *most = fmax(*most, value);
}

/* Adds the terms of one way of an array; `first`: the prologue or epilogue that its first or last tile takes.
 */
static void add_way(walked *w, const sx_systolic_traffic *t, int operand, bool once_more, double *first) {
    int level = w->plan->form.part[operand].level;
    double moves = (double)t->moves;
    if (t->moves == 0) return;
    for (int l = level; l <= w->plan->form.top; l++) {
        double time = transfers(w, t, operand, l), tile = time / moves;
        if (l == level && once_more) {
            tile = w->plan->form.streams && operand == SX_RESULT ? 1 : tile + 1;
            time = fmax(time, (double)t->at_pes) + moves;
        } else if (l == level) {
            time += (double)t->at_pes;
        }
        raise(&w->cost.steady, time);
        if (first) raise(first, tile);
    }
    w->cost.offchip_words += (double)t->words;
}

/* The cost, resources apart, that a walk through a run tells. */
static sx_systolic_cost walked_cost(const sx_systolic_plan *plan, const sx_systolic_counts *counts) {
    walked w = {.plan = plan};
    bool drains = plan->form.streams && plan->form.part[SX_RESULT].level == 1;
    add_way(&w, &counts->in[SX_FIRST], SX_FIRST, true, &w.cost.prologue);
    add_way(&w, &counts->in[SX_SECOND], SX_SECOND, true, &w.cost.prologue);
    add_way(&w, &counts->in[SX_RESULT], SX_RESULT, true, NULL);
    add_way(&w, &counts->out, SX_RESULT, !drains, &w.cost.epilogue);
    raise(&w.cost.steady, (double)counts->cycles + plan->form.handover * (double)counts->passes);
    w.cost.latency = w.cost.prologue + w.cost.steady + w.cost.epilogue;
    return w.cost;
}

/* The mended model counts what a walk through the tiles counts, in every design. */
static void the_mended_model_counts_what_moves(void **state) {
    const settings *set = *state;
    uint64_t n_runs = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "systolic.walks", i);
        sx_systolic_kernel kernel;
        sx_device device;
        sx_systolic_limits limits;
        sx_random_kernel(&rng, 1 + (uint32_t)sx_rng_below(&rng, 20), &kernel);
        sx_random_device(&rng, &device);
        sx_expect_ok(sx_systolic_limits_of(&device, NULL, &limits));
        const sx_systolic_options options = {.thin = true, .corrected = true};
        sx_systolic_point point;
        sx_random_tiles(&rng, &kernel, &point);
        for (; point.design < sx_systolic_n_designs(&kernel);
             point.design += 1 + (uint32_t)sx_rng_below(&rng, 4)) {
            sx_systolic_cost cost;
            sx_systolic_fault fault;
            sx_systolic_design design;
            sx_systolic_plan plan;
            sx_systolic_counts counts;
            sx_expect_ok(sx_systolic_cost_of(&kernel, &device, &options, &point, &fault, &cost));
            if (!sx_systolic_has_cost(fault)) continue;
            sx_systolic_design_at(&kernel, point.design, &design);
            sx_systolic_plan_init(&kernel, &design, &limits, true, &plan);
            sx_expect_ok(sx_systolic_simulate(&kernel, &design, &limits, &point, &counts));
            sx_systolic_cost walk = walked_cost(&plan, &counts);
            if (walk.offchip_words != cost.offchip_words) complain(i, "words differ", &kernel, &point);
            if (walk.prologue != cost.prologue) complain(i, "prologues differ", &kernel, &point);
            if (walk.steady != cost.steady) complain(i, "steady states differ", &kernel, &point);
            if (walk.epilogue != cost.epilogue) complain(i, "epilogues differ", &kernel, &point);
            if (counts.in[SX_RESULT].moves > 0 && counts.in[SX_RESULT].moves >= counts.out.moves)
                complain(i, "a first visit reads", &kernel, &point);
            n_runs++;
        }
    }
    sx_expect_compared("runs", n_runs, set->count);
}

int main(int argc, char **argv) {
    settings set = {3000, 1};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10);
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(costs_are_those_of_the_slow_model, &set),
        cmocka_unit_test_prestate(records_in_part_known_bound_the_cost, &set),
        cmocka_unit_test_prestate(the_mended_model_counts_what_moves, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
