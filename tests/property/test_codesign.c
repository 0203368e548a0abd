/* The search of designs against brute force: every design, and of each every mapping of small spaces.
 * test_codesign [count [seed]]; a count of them is quartered, as each searches several spaces by brute force.
 */
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_space.h"

#include "sextant/codesign.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 3000 };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* A case: a small space whose memories may have other sizes, for one or two layers. */
typedef struct case_of {
    sx_small_space small;
    sx_choices *choices;
    sx_designs *designs;
    sx_network network;
    sx_layer layer[2];
    sx_codesign_options options;
    sx_text text; /* the choices */
} case_of;

static sx_status constraints_of(void *user, const sx_problem *problem, const sx_arch *arch,
                                sx_constraints *out) {
    (void)problem;
    (void)arch;
    *out = ((case_of *)user)->small.limits;
    return SX_OK;
}

/* Adds the choices of a memory: sizes around what it has, costs that need not grow with size. */
static void add_memory(sx_rng *rng, const sx_storage *level, sx_text *out) {
    static const char *const size_costs[] = {"base", "base + 0.01 * words", "5 / words", "pat",
                                             "3 + words % 7"};
    uint64_t size = level->entries > 64 ? 64 : level->entries;
    unsigned n = 1 + (unsigned)sx_rng_below(rng, 3);
    sx_text_add(out, "  - {name: %s, sizes: [%llu", level->name, (unsigned long long)size);
    for (unsigned i = 1; i < n; i++)
        sx_text_add(out, ", %llu", (unsigned long long)(size + i * (1 + size / 2)));
    sx_text_add(out, "], energy: \"%s\", area: \"%s\"}\n", size_costs[sx_rng_below(rng, 5)],
                sx_rng_below(rng, 4) ? "words" : "100 / words");
}

/* Adds shapes of the outermost fan-out, where there is one: its own and smaller ones. */
static void add_arrays(sx_rng *rng, const sx_arch *arch, sx_text *out) {
    uint64_t x = 1, y = 1;
    for (int s = arch->n_levels - 1; s >= 0 && x * y == 1; s--) {
        const uint64_t inside_x = s ? arch->level[s - 1].mesh_x : arch->compute.mesh_x;
        const uint64_t inside = s ? arch->level[s - 1].instances : arch->compute.instances;
        x = inside_x / arch->level[s].mesh_x;
        y = inside / arch->level[s].instances / (x ? x : 1);
    }
    if (x * y <= 1 || sx_rng_below(rng, 2)) return;
    sx_text_add(out, "  arrays: [%llux%llu, 1x1", (unsigned long long)x, (unsigned long long)y);
    if (x > 1 && y > 1) sx_text_add(out, ", %llux1", (unsigned long long)x);
    sx_text_add(out, "]\n");
}

/* Draws the choices of a case; false where no level has a size. */
static bool draw_choices(sx_rng *rng, case_of *c) {
    const sx_arch *arch = &c->small.c.arch;
    unsigned chosen = 0;
    sx_text_add(&c->text, "choices:\n  memories:\n");
    for (int s = 0; s < arch->n_levels; s++) {
        const sx_storage *level = &arch->level[s];
        if (level->technology == SX_DRAM || level->entries == SX_UNLIMITED || level->transparent) continue;
        if (chosen > 1 || (chosen && sx_rng_below(rng, 2))) continue;
        chosen++;
        add_memory(rng, level, &c->text);
    }
    if (chosen) add_arrays(rng, arch, &c->text);
    return chosen > 0;
}

/* Makes the second layer: the first with one dimension smaller. */
static void add_layer(sx_rng *rng, case_of *c) {
    c->layer[1] = c->layer[0];
    c->layer[1].count = 1 + sx_rng_below(rng, 3);
    uint32_t *size = &c->layer[1].problem.size[sx_rng_below(rng, c->layer[1].problem.n_dims)];
    *size = (*size + 1) / 2;
    c->network.n_layers = 2;
}

/* Draws a case; false where it has nothing to choose. */
static bool draw(sx_rng *rng, case_of *c) {
    static const char *const objectives[] = {"edp", "energy", "delay", "e^2*d"};
    memset(c, 0, sizeof *c);
    sx_random_space(rng, MOST, &c->small);
    bool good = draw_choices(rng, c);
    sx_expect_ok(sx_choices_new(&c->choices));
    if (good) sx_expect_ok(sx_choices_add_text(c->choices, "t.yaml", c->text.data, c->text.size));
    if (good) sx_expect_ok(sx_designs_new(&c->small.c.arch, c->choices, 0, &c->designs));
    c->network.layer = c->layer;
    c->network.n_layers = 1;
    snprintf(c->layer[0].name, SX_NAME_SIZE, "layer");
    c->layer[0].count = 1 + sx_rng_below(rng, 2);
    c->layer[0].problem = c->small.c.problem;
    bool free = true;
    for (int s = 0; s < c->small.c.arch.n_levels; s++)
        for (int d = 0; d < c->small.c.problem.n_dims; d++)
            free &=
                c->small.limits.level[s].temporal.min[d] == 1 && c->small.limits.level[s].spatial.min[d] == 1;
    if (free && sx_rng_below(rng, 3) == 0) add_layer(rng, c);
    sx_run_options_init(&c->options.run);
    sx_expect_ok(sx_objective_parse(objectives[sx_rng_below(rng, 4)], &c->options.run.objective));
    c->options.space = c->small.options;
    c->options.model = c->small.c.options;
    c->options.constraints = constraints_of;
    c->options.user = c;
    c->options.front = sx_rng_below(rng, 4) == 0;
    c->options.plus = sx_rng_below(rng, 2) == 0;
    return good;
}

static void free_case(case_of *c) {
    sx_designs_free(c->designs);
    sx_choices_free(c->choices);
    sx_text_free(&c->text);
    sx_small_space_fini(&c->small);
}

/* The best value of a layer on a design by every mapping; INFINITY where none is legal. */
static double best_of(const case_of *c, const sx_arch *arch, size_t layer) {
    sx_model *model;
    sx_space *space = NULL;
    sx_run *run = NULL;
    sx_found found = {.value = INFINITY};
    sx_expect_ok(sx_model_new(&c->layer[layer].problem, arch, &c->options.model, &model));
    sx_status status = sx_map_space_new(model, &c->small.limits, &c->options.space, &space);
    if (!status) {
        sx_expect_ok(sx_run_new(space, NULL, &c->options.run, &run));
        sx_expect_ok(sx_run_search(run, "exhaustive"));
        (void)sx_run_best(run, 0, &found);
    }
    double value = found.value;
    sx_status_free(status);
    sx_run_free(run);
    sx_space_free(space);
    sx_model_free(model);
    return value;
}

/* The values of all designs, and the best of them. */
static double brute_force(const case_of *c, double *value) {
    double best = INFINITY;
    for (size_t d = 0; d < sx_designs_count(c->designs); d++) {
        sx_arch arch;
        sx_designs_arch(c->designs, d, &arch);
        value[d] = 0;
        for (size_t i = 0; i < c->network.n_layers; i++)
            value[d] += (double)c->layer[i].count * best_of(c, &arch, i);
        best = fmin(best, value[d]);
    }
    return best;
}

static void expect(bool holds, uint64_t number, const case_of *c, const char *what, double have,
                   double want) {
    if (holds) return;
    char *text = sx_small_space_text(&c->small);
    print_error("case %llu: %s: %.17g, but there is %.17g\n%s\n%s\n", (unsigned long long)number, what, have,
                want, c->text.data, text);
    free(text);
    fail();
}

/* Whether two values are the same but for rounding. */
static bool same(double a, double b) {
    return a == b || fabs(a - b) <= fabs(b) * 1e-10;
}

/* Checks that the mappings of the best design cost what is said. */
static void check_answer(uint64_t number, const case_of *c, const sx_codesign_result *r, const char *name) {
    double value = 0;
    sx_arch arch;
    if (!r->found) return;
    sx_designs_arch(c->designs, r->best, &arch);
    for (size_t i = 0; i < r->n_layers; i++) {
        sx_model *model;
        sx_model_workspace *evaluator;
        sx_score score;
        sx_expect_ok(sx_model_new(&c->layer[i].problem, &arch, &c->options.model, &model));
        sx_expect_ok(sx_model_workspace_new(model, &evaluator));
        assert_int_equal(sx_evaluate_score(evaluator, &r->layer[i].mapping, &score).reason, SX_LEGAL);
        value += (double)c->layer[i].count * sx_objective_value(&c->options.run.objective, &score);
        sx_model_workspace_free(evaluator);
        sx_model_free(model);
    }
    expect(same(value, r->design[r->best].value), number, c, name, value, r->design[r->best].value);
}

/* Checks what any method claims to have proven of designs and layers, against their least values. */
static void check_claims(uint64_t number, const case_of *c, const sx_codesign_result *r, const char *name,
                         const double *value, double best) {
    sx_arch arch;
    for (size_t d = 0; d < r->n_designs; d++) {
        const sx_design_result *design = &r->design[d];
        expect(design->bound <= value[d] || same(design->bound, value[d]), number, c, name, design->bound,
               value[d]);
        if (design->outcome == SX_OUTCOME_NONE)
            expect(value[d] == INFINITY, number, c, "a design without a legal mapping", INFINITY, value[d]);
        expect(design->value >= value[d] || same(design->value, value[d]), number, c, name, design->value,
               value[d]);
    }
    expect(r->lower_bound <= best || same(r->lower_bound, best), number, c, "lower bound", r->lower_bound,
           best);
    expect(!r->optimal || (r->found && same(r->design[r->best].value, best)), number, c, "optimal",
           r->lower_bound, best);
    expect(!r->none || best == INFINITY, number, c, "none", INFINITY, best);
    expect(r->complete, number, c, "complete", 0, 1);
    if (!r->found) return;
    sx_designs_arch(c->designs, r->best, &arch);
    for (size_t i = 0; i < r->n_layers; i++) {
        if (r->layer[i].bound == -INFINITY) continue;
        const double least = best_of(c, &arch, i);
        expect(r->layer[i].bound <= least || same(r->layer[i].bound, least), number, c, "bound of a layer",
               r->layer[i].bound, least);
    }
}

/* Whether a design that was cut is no better than one that could cut it. */
static bool is_cut_rightly(const case_of *c, size_t design, size_t n, const double *value) {
    for (size_t i = 0; i < n; i++)
        if (i != design && (value[i] <= value[design] || same(value[i], value[design])) &&
            (!c->options.front || sx_designs_area(c->designs, i) <= sx_designs_area(c->designs, design)))
            return true;
    return false;
}

static uint64_t proven; /* answers of `auto` whose budget was enough for all */

/* Checks what the method `exact`, or `auto`, says of every design; where that ended its budget first, only its claims. */
static void check_exact(uint64_t number, const case_of *c, sx_codesign_method method, const double *value,
                        double best) {
    sx_codesign_result r;
    sx_codesign_options options = c->options;
    options.method = method;
    sx_expect_ok(sx_codesign_run(c->designs, &c->network, &options, &r));
    const char *name = sx_codesign_method_name(method, NULL);
    double found = r.found ? r.design[r.best].value : INFINITY;
    const bool closed = method == SX_CODESIGN_EXACT || r.optimal || r.none;
    check_answer(number, c, &r, name);
    proven += method == SX_CODESIGN_AUTO && closed;
    expect(same(found, best) || (!closed && found >= best), number, c, name, found, best);
    expect(!r.found || !closed || (r.optimal && same(r.lower_bound, best)), number, c, "proof", r.lower_bound,
           best);
    check_claims(number, c, &r, name, value, best);
    for (size_t d = 0; d < r.n_designs; d++) {
        expect(!closed || r.design[d].outcome != SX_OUTCOME_UNFOUND, number, c, "unfound", INFINITY,
               value[d]);
        expect(r.design[d].outcome != SX_OUTCOME_CUT || is_cut_rightly(c, d, r.n_designs, value), number, c,
               "cut", r.design[d].bound, value[d]);
        bool beaten = false;
        for (size_t i = 0; i < r.n_designs; i++)
            beaten |= sx_designs_area(c->designs, i) <= sx_designs_area(c->designs, d) &&
                      (value[i] < value[d] || same(value[i], value[d])) && i != d;
        if (closed && options.front && !beaten && value[d] < INFINITY)
            expect(r.design[d].outcome == SX_OUTCOME_DONE && same(r.design[d].value, value[d]), number, c,
                   "front", r.design[d].value, value[d]);
    }
    expect(!closed || r.none == !r.found, number, c, "none", r.none, !r.found);
    for (size_t i = 0; closed && r.found && i < r.n_layers; i++)
        expect(!r.layer[i].poor && same(r.layer[i].bound, r.layer[i].value), number, c, "bound of a layer",
               r.layer[i].bound, r.layer[i].value);
    sx_codesign_result_fini(&r);
}

static uint64_t unfound; /* designs without a mapping found */

/* Checks that a method's answer is one, and not better than the best, and what it claims. */
static void check_other(uint64_t number, const case_of *c, sx_codesign_method method, const char *mapper,
                        const double *value, double best, bool equal) {
    sx_codesign_result r;
    sx_codesign_options options = c->options;
    options.method = method;
    options.mapper = mapper;
    if (mapper && strcmp(mapper, "exhaustive") != 0)
        options.run.evaluations = 1; /* finds a mapping now and then */
    const char *name = sx_codesign_method_name(method, NULL);
    sx_expect_ok(sx_codesign_run(c->designs, &c->network, &options, &r));
    double found = r.found ? r.design[r.best].value : INFINITY;
    check_answer(number, c, &r, name);
    expect(found >= best || same(found, best), number, c, name, found, best);
    expect(!equal || same(found, best), number, c, name, found, best);
    check_claims(number, c, &r, name, value, best);
    for (size_t d = 0; d < r.n_designs; d++) unfound += r.design[d].outcome == SX_OUTCOME_UNFOUND;
    sx_codesign_result_fini(&r);
}

static void finds_the_best_design(void **state) {
    static const char *const weak[] = {"factorflow", "dmaze",
                                       "interstellar"}; /* which miss mappings that there are */
    const settings *set = *state;
    uint64_t tried = 0, legal = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "codesign", i);
        case_of c;
        if (draw(&rng, &c)) {
            double *value = calloc(sx_designs_count(c.designs), sizeof *value);
            double best = brute_force(&c, value);
            tried++;
            legal += best < INFINITY;
            check_exact(i, &c, SX_CODESIGN_EXACT, value, best);
            check_exact(i, &c, SX_CODESIGN_AUTO, value, best);
            check_other(i, &c, SX_CODESIGN_GRID, "exhaustive", value, best, true);
            check_other(i, &c, SX_CODESIGN_GRID, NULL, value, best, false);
            check_other(i, &c, SX_CODESIGN_GRID, weak[i % 3], value, best, false);
            check_other(i, &c, SX_CODESIGN_SUNSTONE, NULL, value, best, false);
            free(value);
        }
        free_case(&c);
    }
    sx_expect_compared("designs searched", tried, set->count / 4);
    sx_expect_compared("designs with a legal mapping", legal, set->count / 8);
    sx_expect_compared("designs without a mapping found", unfound, set->count / 16);
    sx_expect_compared("answers of auto that are proven", proven, tried * 9 / 10);
}

/* A case with a design for which a mapper finds none of the mappings that there are. */
static void missed_mappings_are_not_denied(void **state) {
    enum { SEED = 7, NUMBER = 261 };
    sx_rng rng = sx_rng_stream(SEED, "codesign", NUMBER);
    case_of c;
    (void)state;
    assert_true(draw(&rng, &c));
    double *value = calloc(sx_designs_count(c.designs), sizeof *value);
    const double best = brute_force(&c, value);
    size_t legal = 0;
    for (size_t d = 0; d < sx_designs_count(c.designs); d++) legal += value[d] < INFINITY;
    const uint64_t before = unfound;
    check_other(NUMBER, &c, SX_CODESIGN_GRID, "factorflow", value, best, false);
    assert_true(unfound - before > sx_designs_count(c.designs) - legal);
    free(value);
    free_case(&c);
}

int main(int argc, char **argv) {
    settings set = {80, 1};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10) / 4;
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(missed_mappings_are_not_denied),
                                       cmocka_unit_test_prestate(finds_the_best_design, &set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
