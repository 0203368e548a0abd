/* The tile pipeline against other ways to the same: the mapper `optimal` against every construction of small spaces, with
 * remainders and without; its certificates and false ones of the next best mapping, with the rules of the search and
 * without; and the closed form against an executor: test_latency [spaces [seed]]. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_space.h"
#include "support/small_certificate.h"
#include "support/tile_executor.h"

#include "fuse/cut.h"
#include "ir/law.h"
#include "model/latency.h"
#include "sextant/independent.h"
#include "sextant/navigator.h"
#include "space/scorer.h"
#include "verify/exact_energy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 3000 };

static uint64_t count = 160, seed = 7;

static double pick(sx_rng *rng, const double *values, uint64_t n) {
    return values[sx_rng_below(rng, n)];
}

/* Draws a law; arrays and caches in some. */
static void draw_law(sx_rng *rng, const sx_problem *problem, bool array, sx_law *law) {
    static const double slots[] = {1, 1.5, 2, 3, INFINITY}, shares[] = {0, 0.1, 0.5, 1};
    static const double times[] = {0, 0, 3, 40, 500}, rates[] = {0.3, 1, 2, 7, 40},
                        requests[] = {3, 8, INFINITY};
    sx_law_init(law);
    law->slots = pick(rng, slots, 5);
    law->exposed = pick(rng, shares, 4);
    law->launch = pick(rng, times, 5);
    law->start = pick(rng, times, 5);
    law->tail = sx_rng_below(rng, 2);
    law->refetch = sx_rng_below(rng, 3) > 0;
    law->spill = sx_rng_below(rng, 4) == 0;
    law->load_bus = pick(rng, rates, 5);
    law->load_request = pick(rng, requests, 3);
    law->load_min = pick(rng, shares, 4);
    law->store_request = pick(rng, requests, 3);
    law->store_time = pick(rng, rates, 5);
    law->page = 8;
    law->page_time = pick(rng, times, 5);
    if (sx_rng_below(rng, array ? 2 : 4) == 0) {
        static const double bytes[] = {32, 64, 256};
        law->line = 4;
        law->soft = 2;
        law->n_caches = (uint8_t)(1 + sx_rng_below(rng, 2));
        for (int i = 0; i < law->n_caches; i++)
            law->cache[i] = (sx_law_cache){pick(rng, bytes, 3), 2, 5 + 45 * i};
    }
    if (!array) return;
    law->n_array = 1;
    law->array[0].size = 2;
    strcpy(law->array[0].dim, problem->dim_name[sx_rng_below(rng, problem->n_dims)]);
    strcpy(law->stream, problem->dim_name[sx_rng_below(rng, problem->n_dims)]);
    law->rows = 3;
    law->min_rows = 2;
    law->preload = pick(rng, times, 5);
    law->issue = pick(rng, rates, 5);
}

/* A space under laws. */
typedef struct lawful {
    sx_arch arch;
    sx_constraints limits;
    bool cut; /* at the exchange memory, as layers of fused networks are */
    sx_model *model;
    sx_space *space;
} lawful;

/* Cuts a machine inside its outermost level, where that has one instance and a size: some tensors stay, and take room. */
static void cut_space(sx_rng *rng, const sx_small_space *small, lawful *out) {
    const sx_arch whole = out->arch;
    const int exchange = whole.n_levels - 2;
    const sx_cut cut = {.resident = (uint8_t)(1 + sx_rng_below(rng, (1u << small->c.problem.n_tensors) - 1)),
                        .occupied = sx_rng_below(rng, 3)};
    if (exchange < 0 || whole.level[exchange].instances != 1 || whole.level[exchange].transparent ||
        whole.level[exchange].banks || whole.level[exchange].entries == SX_UNLIMITED ||
        whole.n_levels == SX_MAX_LEVELS)
        return;
    out->cut = true;
    sx_cut_arch(&whole, exchange, &cut, &out->arch);
    sx_cut_constraints(&whole, &small->limits, exchange, &cut, &out->limits);
}

/* Makes all energies multiples of 1/16, which have a common unit. */
static void round_energies(sx_arch *arch) {
    arch->compute.energy = round(arch->compute.energy * 16) / 16;
    for (int s = 0; s < arch->n_levels; s++) {
        sx_storage *l = &arch->level[s];
        double *const energy[] = {&l->read_energy,     &l->fill_energy,    &l->update_energy, &l->leak_energy,
                                  &l->addr_gen_energy, &l->energy_per_hop, &l->router_energy};
        for (size_t i = 0; i < sizeof energy / sizeof *energy; i++) *energy[i] = round(*energy[i] * 16) / 16;
    }
}

/* Gives the outermost level of a space a law, sometimes one inside it too; false where no mapping is left. */
static bool make_lawful(sx_rng *rng, const sx_small_space *small, lawful *out) {
    sx_model_options options = small->c.options;
    out->arch = small->c.arch;
    round_energies(&out->arch);
    out->limits = small->limits;
    out->cut = false;
    const int last = out->arch.n_levels - 1;
    bool nested = last > 0 && sx_rng_below(rng, 4) == 0;
    if (nested) {
        out->arch.level[last - 1].law = 1;
        draw_law(rng, &small->c.problem, sx_rng_below(rng, 3) == 0, &out->arch.law[0]);
    }
    out->arch.level[last].law = (uint8_t)(1 + nested);
    out->arch.n_laws = (uint8_t)(1 + nested);
    draw_law(rng, &small->c.problem, !nested && sx_rng_below(rng, 2), &out->arch.law[nested]);
    if (sx_rng_below(rng, 3) == 0) cut_space(rng, small, out);
    options.latency_tile = true;
    sx_expect_ok(sx_model_new(&small->c.problem, &out->arch, &options, &out->model));
    sx_status status = sx_map_space_new(out->model, &out->limits, &small->options, &out->space);
    if (!status) return true;
    sx_status_free(status);
    sx_model_free(out->model);
    return false;
}

/* The least value of an objective over all constructions of a space; INFINITY where none is legal. */
static double least_value(const lawful *l, const sx_objective *objective) {
    void *point = malloc(sx_space_point_size(l->space));
    sx_scorer *scorer;
    double least = INFINITY;
    sx_cardinal index = {.exact = true};
    sx_expect_ok(sx_scorer_new(l->space, NULL, objective, &scorer));
    for (; sx_space_at(l->space, &index, point); index.low++) {
        sx_outcome outcome;
        if (!sx_space_legal(l->space, point, NULL, 0)) continue;
        sx_expect_ok(sx_scorer_score(scorer, point, 1, INFINITY, &outcome));
        least = fmin(least, outcome.value);
    }
    sx_scorer_free(scorer);
    free(point);
    return least;
}

static void expect_optimum(const sx_small_space *small, const lawful *l, const char *text, uint64_t number) {
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    sx_expect_ok(sx_objective_parse(text, &options.objective));
    double least = least_value(l, &options.objective);
    static const char *const mappers[] = {"optimal:sunstone=0,gamma=0,descents=0",
                                          "optimal:sunstone=0,gamma=200", "exhaustive"};
    for (int i = 0; i < 3; i++) {
        double best = INFINITY;
        sx_expect_ok(sx_run_new(l->space, NULL, &options, &run));
        sx_expect_ok(sx_run_search(run, mappers[i]));
        const sx_run_summary summary = sx_run_result(run);
        sx_run_incumbent(run, &best);
        bool good = isinf(least) ? isinf(best) : fabs(best - least) <= 4e-12 * least && summary.optimal;
        good = good && summary.lower_bound <= least * (1 + 1e-11);
        if (!good) {
            char *space = sx_small_space_text(small);
            print_error("space %llu: %s by %s: found %.17g, there is %.17g (optimal %d, bound %.17g)\n%s\n",
                        (unsigned long long)number, text, mappers[i], best, least, summary.optimal,
                        summary.lower_bound, space);
            free(space);
            sx_expect_ok(sx_arch_write(&l->arch, SX_JSON, &space));
            print_error("%s\n", space);
            free(space);
            fail();
        }
        sx_run_free(run);
    }
}

/* Finds the mapping of the least value above another; false where there is none. */
static bool next_best(const lawful *l, const sx_objective *objective, double least, sx_mapping *out,
                      sx_score *score) {
    void *point = malloc(sx_space_point_size(l->space));
    sx_model_workspace *evaluator;
    double best = INFINITY;
    sx_cardinal index = {.exact = true};
    sx_expect_ok(sx_model_workspace_new(l->model, &evaluator));
    for (; sx_space_at(l->space, &index, point); index.low++) {
        sx_mapping mapping;
        sx_score one;
        if (!sx_space_legal(l->space, point, NULL, 0)) continue;
        sx_map_space_mapping(l->space, point, &mapping);
        if (sx_evaluate_score(evaluator, &mapping, &one).reason != SX_LEGAL) continue;
        double value = sx_objective_value(objective, &one);
        if (!(value > least * (1 + 1e-9) && value < best)) continue;
        best = value;
        *out = mapping;
        *score = one;
    }
    sx_model_workspace_free(evaluator);
    free(point);
    return isfinite(best);
}

/* What the independent checker says of a certificate. */
static sx_independent_verdict ask_independent(const sx_certificate *c) {
    const sx_independent_options options = {.threads = 1};
    sx_independent_report report;
    char *text;
    sx_expect_ok(sx_certificate_write(c, &text));
    sx_status status = sx_independent_check("certificate", text, strlen(text), &options, &report);
    sx_status_free(status);
    free(text);
    return status ? SX_INDEPENDENT_UNDECIDED : report.verdict;
}

static uint64_t alone; /* certificates that hold without the rules of the search */

/* The certificate of a search holds, written and read again, too; one that calls the next best mapping optimal does not.
 * Returns whether there were both. */
static bool expect_certificates(const sx_small_space *small, const lawful *l, const char *text) {
    sx_small_space under_laws = *small;
    sx_objective objective;
    sx_verification v;
    under_laws.c.arch = l->arch;
    under_laws.c.options.latency_tile = true;
    under_laws.model = l->model;
    under_laws.space = l->space;
    sx_expect_ok(sx_objective_parse(text, &objective));
    if (isinf(least_value(l, &objective))) return false;
    sx_certificate *c =
        sx_small_certificate(&under_laws, &objective, "optimal:sunstone=0,gamma=0,descents=0", 0);
    if (!c) return false;
    if (!sx_certificate_holds(c, 1, &v)) fail_msg("%s: %s", v.claim, v.why);
    sx_certificate *again = sx_certificate_again(c), bad = *c;
    if (again) { /* machines that no file can tell cannot be read */
        assert_true(again->model.latency_tile && again->score.latency == c->score.latency);
        assert_true(sx_certificate_holds(again, 1, &v));
    }
    const sx_independent_verdict verdict = ask_independent(c);
    assert_int_not_equal(verdict, SX_INDEPENDENT_FAILS);
    alone += verdict == SX_INDEPENDENT_HOLDS;
    bad.score.latency *= 1.5;
    assert_false(sx_certificate_holds(&bad, 1, &v));
    assert_int_not_equal(ask_independent(&bad), SX_INDEPENDENT_HOLDS);
    bool other = next_best(l, &objective, c->value, &bad.mapping, &bad.score);
    if (other) {
        bad.value = bad.lower_bound = sx_objective_value(&objective, &bad.score);
        sx_expect_ok(sx_mapping_exact_energy(l->model, &bad.mapping, bad.energy_exact));
        assert_false(sx_certificate_holds(&bad, 1, &v));
        assert_int_not_equal(ask_independent(&bad), SX_INDEPENDENT_HOLDS);
    }
    sx_certificate_free(again);
    sx_certificate_free(c);
    return other;
}

static void test_optimal(void **state) {
    sx_rng rng = sx_rng_stream(seed, "latency", 0);
    uint64_t compared = 0, certified = 0, cut = 0, remainders = 0;
    (void)state;
    for (uint64_t i = 0; i < count; i++) {
        sx_small_space small;
        lawful l;
        sx_random_space(&rng, MOST, &small);
        if (make_lawful(&rng, &small, &l)) {
            expect_optimum(&small, &l, i % 2 ? "latency" : "energy*latency", i);
            if (!l.cut && !small.options.remainders)
                certified += expect_certificates(&small, &l, i % 2 ? "latency" : "energy*latency");
            compared++;
            cut += l.cut;
            remainders += small.options.remainders;
            sx_space_free(l.space);
            sx_model_free(l.model);
        }
        sx_small_space_fini(&small);
    }
    assert_true(compared >= count / 2);
    assert_true(certified >= count / 8);
    assert_true(cut >= count / 40 && remainders >= count / 20);
    assert_true(alone >= count / 60);
    print_message("%llu spaces compared, %llu of them cut, %llu certificates, %llu held independently\n",
                  (unsigned long long)compared, (unsigned long long)cut, (unsigned long long)certified,
                  (unsigned long long)alone);
}

/* The law of stages that were given. */
static double closed_form(unsigned n, const sx_tile_stages *t, double launch, unsigned slots) {
    const double all = t->load + t->compute + t->store, longest = fmax(t->load, fmax(t->compute, t->store));
    const double period = fmax(launch, fmax(longest, slots ? all / slots : 0));
    return launch + all + (n - 1) * period;
}

/* Without a share that is exposed, the closed form is the executor's where slots do not bind or there is one; otherwise it
 * is below it by less than one round of the slots. */
static void test_executor(void **state) {
    sx_rng rng = sx_rng_stream(seed, "executor", 0);
    double worst = 0;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        const unsigned n = 1 + (unsigned)sx_rng_below(&rng, 60), slots = (unsigned)sx_rng_below(&rng, 5);
        sx_tile_stages t = {(double)sx_rng_below(&rng, 50), (double)(1 + sx_rng_below(&rng, 50)),
                            (double)sx_rng_below(&rng, 50)};
        const double launch = sx_rng_below(&rng, 2) ? (double)sx_rng_below(&rng, 80) : 0;
        const double run = sx_execute_tiles(n, &t, launch, slots), law = closed_form(n, &t, launch, slots);
        const double all = t.load + t.compute + t.store, longest = fmax(t.load, fmax(t.compute, t.store));
        const bool free = slots == 0 || slots == 1 || all / slots <= fmax(launch, longest);
        const bool exact = slots <= 1 ? slots == 0 || launch <= all : free;
        if (exact && fabs(run - law) > 1e-9 * law)
            fail_msg("%u tiles %g %g %g, launch %g, slots %u: %g by the law, %g by execution", n, t.load,
                     t.compute, t.store, launch, slots, law, run);
        if (law > run * (1 + 1e-12) + (slots > 1 && !free ? all : 0) || run - law > all + launch)
            fail_msg("%u tiles %g %g %g, launch %g, slots %u: %g by the law, far from %g by execution", n,
                     t.load, t.compute, t.store, launch, slots, law, run);
        worst = fmax(worst, fabs(run / law - 1));
    }
    print_message("the closed form is at most %.3g %% off\n", 100 * worst);
}

int main(int argc, char **argv) {
    if (argc > 1) count = strtoull(argv[1], NULL, 10);
    if (argc > 2) seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_optimal), cmocka_unit_test(test_executor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
