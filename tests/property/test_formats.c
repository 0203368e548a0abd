/* Searched formats, against a model of each set of formats that is made by hand: the score of every construction of
 * small spaces, and the answers and bounds of `optimal` and `exhaustive`: test_formats [count [seed]]. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_space.h"

#include "model/model.h"
#include "sextant/run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_SETS = 4096 };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* A small space whose formats are searched, and a model of every way to hold each tensor at each level. */
typedef struct searched {
    sx_small_space small;
    sx_objective objective;
    sx_model_options options;
    sx_model *model;
    sx_space *space;
    int n;
    sx_model *with[MOST_SETS];
    sx_model_workspace *evaluator[MOST_SETS];
} searched;

/* The formats of one tensor that are in a set, and the kind of their compressed ranks; below 0: as given. */
static void take_formats(sx_sparse *sparse, int name, unsigned set, int kind) {
    int n = 0, number = 0;
    for (int i = 0; i < sparse->n_formats; i++) {
        sx_tensor_format f = sparse->format[i];
        bool mine = f.tensor == name;
        if (mine && !(set >> number++ & 1)) continue;
        for (int r = 0; mine && kind >= 0 && r < f.n_ranks; r++) {
            sx_rank_format *rank = &sparse->rank[f.first + r];
            if (rank->kind > SX_RANK_B || rank->kind == kind) continue;
            rank->kind = (uint8_t)kind;
            rank->metadata_bits = SX_BITS_DEFAULT;
        }
        sparse->format[n++] = f;
    }
    sparse->n_formats = (uint8_t)n;
}

/* Adds the models of all formats of the tensors from `name` on. */
static void add_models(searched *s, const sx_arch *arch, int name) {
    static const int flags[] = {SX_FORMATS_CP, SX_FORMATS_RLE, SX_FORMATS_B};
    int formats = 0;
    if (name == arch->sparse.n_names) {
        sx_model_options options = s->options;
        options.formats.kinds = 0;
        assert_true(s->n < MOST_SETS);
        sx_expect_ok(sx_model_new(&s->small.c.problem, arch, &options, &s->with[s->n]));
        sx_expect_ok(sx_model_workspace_new(s->with[s->n], &s->evaluator[s->n]));
        s->n++;
        return;
    }
    for (int i = 0; i < arch->sparse.n_formats; i++) formats += arch->sparse.format[i].tensor == name;
    bool none = s->options.formats.kinds & SX_FORMATS_NONE;
    for (unsigned set = none ? 0 : (1u << formats) - 1; set < 1u << formats; set++)
        for (int kind = -1; kind <= SX_RANK_B; kind++) {
            if (kind >= 0 && (!set || !(s->options.formats.kinds & flags[kind]))) continue;
            sx_arch next = *arch;
            take_formats(&next.sparse, name, set, kind);
            add_models(s, &next, name + 1);
        }
}

/* Makes metadata so dear that formats cost more than they save. */
static void raise_metadata(sx_arch *arch) {
    for (int i = 0; i < arch->n_levels; i++)
        for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++)
            for (int a = 0; a < SX_N_ACCESSES; a++) arch->level[i].metadata.metadata_energy[kind][a] *= 16;
}

static void make(sx_rng *rng, searched *s) {
    static const char *const objectives[] = {"edp", "energy", "delay", "e^2*d", "ed2p"};
    sx_random_sparse_space(rng, 300, &s->small);
    sx_narrow_port(rng, &s->small.c.arch);
    for (int i = 0; i < s->small.c.arch.n_levels; i++) /* so that formats may be left out */
        s->small.c.arch.level[i].metadata.decompresses = s->small.c.arch.level[i].metadata.compresses =
            sx_rng_below(rng, 4) > 0;
    if (sx_rng_below(rng, 2)) raise_metadata(&s->small.c.arch);
    sx_expect_ok(sx_objective_parse(objectives[sx_rng_below(rng, 5)], &s->objective));
    s->options = s->small.c.options;
    s->options.formats.kinds = (uint8_t)(sx_rng_below(rng, 3) ? 1 : sx_rng_range(rng, 1, 15));
    sx_expect_ok(sx_format_search_aim(&s->options.formats, &s->objective));
    if (sx_rng_below(rng, 4) == 0) {
        sx_expect_ok(sx_density_range_parse("A=1,0.5,0.1", &s->options.densities));
        strcpy(s->options.densities.tensor[0].name, s->small.c.problem.tensor[0].name);
        sx_expect_ok(sx_density_range_aim(&s->options.densities, &s->objective));
    }
    sx_status status = sx_model_new(&s->small.c.problem, &s->small.c.arch, &s->options, &s->model);
    if (status && status->code == SX_ERR_LIMIT) { /* too many combinations */
        sx_status_free(status);
        s->options.formats.kinds = SX_FORMATS_NONE;
        status = sx_model_new(&s->small.c.problem, &s->small.c.arch, &s->options, &s->model);
    }
    sx_expect_ok(status);
    sx_expect_ok(sx_map_space_new(s->model, &s->small.limits, &s->small.options, &s->space));
    add_models(s, &s->small.c.arch, 0);
}

static void unmake(searched *s) {
    for (int i = 0; i < s->n; i++) {
        sx_model_workspace_free(s->evaluator[i]);
        sx_model_free(s->with[i]);
    }
    sx_space_free(s->space);
    sx_model_free(s->model);
    sx_small_space_fini(&s->small);
}

/* Whether a set has a format that a mapping does not use, where it could do without. */
static bool idle(const searched *s, int set, const sx_mapping *mapping) {
    const sx_sparse *sparse = &sx_model_arch(s->with[set])->sparse;
    bool some = false;
    for (int i = 0; i < sparse->n_formats; i++) {
        int v = sx_problem_tensor(&s->small.c.problem, sparse->name[sparse->format[i].tensor]);
        some |= v >= 0 && !(mapping->level[sparse->format[i].level].keep >> v & 1);
    }
    return some && s->options.formats.kinds & SX_FORMATS_NONE;
}

/* The least value in any formats, INFINITY where none is legal. A format that is not used is none: without any, and
 * without gating and skipping, the model is the dense one, which rounds up to whole blocks. */
static double value_of(searched *s, const sx_mapping *mapping) {
    double least = INFINITY;
    for (int i = 0; i < s->n; i++) {
        sx_score score;
        if (idle(s, i, mapping)) continue;
        if (sx_evaluate_score(s->evaluator[i], mapping, &score).reason == SX_LEGAL)
            least = fmin(least, sx_objective_value(&s->objective, &score));
    }
    return least;
}

/* The architecture that is settled on has the least value by itself. */
static void try_settled(searched *s, const sx_mapping *mapping, double value) {
    static sx_arch arch;
    sx_model_options options = s->options;
    sx_model *model;
    sx_model_workspace *evaluator;
    sx_score score;
    options.formats.kinds = 0;
    sx_expect_ok(sx_model_settle_formats(s->model, mapping, &arch));
    sx_expect_ok(sx_model_new(&s->small.c.problem, &arch, &options, &model));
    sx_expect_ok(sx_model_workspace_new(model, &evaluator));
    assert_int_equal(sx_evaluate_score(evaluator, mapping, &score).reason, SX_LEGAL);
    assert_true(fabs(sx_objective_value(&s->objective, &score) - value) <= 1e-12 * value);
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
}

/* Compares the score of every construction with the least; returns the least of all legal ones. */
static double try_all(searched *s, uint64_t *other) {
    void *point = malloc(sx_space_point_size(s->space));
    sx_model_workspace *evaluator;
    double least = INFINITY;
    sx_expect_ok(sx_model_workspace_new(s->model, &evaluator));
    for (uint64_t i = 0;; i++) {
        sx_cardinal index = {.low = i, .exact = true};
        if (!sx_space_at(s->space, &index, point)) break;
        sx_mapping mapping;
        sx_score score, given;
        sx_map_space_mapping(s->space, point, &mapping);
        double value = value_of(s, &mapping);
        bool legal = sx_evaluate_score(evaluator, &mapping, &score).reason == SX_LEGAL;
        assert_int_equal(legal, value < INFINITY);
        assert_int_equal(sx_check(s->model, &mapping).reason == SX_LEGAL, legal);
        if (!legal) continue;
        double found = sx_objective_value(&s->objective, &score);
        if (!(fabs(found - value) <= 1e-12 * value)) {
            char *text = sx_small_space_text(&s->small);
            print_error("construction %llu: %.17g is not %.17g\n%s\n", (unsigned long long)i, found, value,
                        text);
            free(text);
        }
        assert_true(fabs(found - value) <= 1e-12 * value);
        bool as_given = sx_evaluate_score(s->evaluator[s->n - 1], &mapping, &given).reason == SX_LEGAL;
        *other += !as_given || sx_objective_value(&s->objective, &given) > value * (1 + 1e-9);
        if (sx_space_legal(s->space, point, NULL, 0)) least = fmin(least, value);
        if (i % 64 == 0) try_settled(s, &mapping, value);
        if (i % 16 == 0 && !s->small.options.remainders)
            sx_expect_outline_bounds(s->model, &mapping, &s->objective, value);
    }
    sx_model_workspace_free(evaluator);
    free(point);
    return least;
}

/* A mapper finds the least, and its bounds hold when it ends early. */
static void try_mapper(searched *s, const char *mapper, double least, uint64_t evaluations) {
    sx_run_options options;
    sx_run *run;
    sx_found found;
    sx_run_options_init(&options);
    options.objective = s->objective;
    options.evaluations = evaluations;
    sx_expect_ok(sx_run_new(s->space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, mapper));
    sx_run_summary summary = sx_run_result(run);
    if (least < INFINITY && summary.lower_bound > least * (1 + 4e-12)) {
        char *text = sx_small_space_text(&s->small);
        print_error("a bound of %.17g, but there is %.17g\n%s\n", summary.lower_bound, least, text);
        free(text);
        fail();
    }
    if (evaluations == 0) {
        assert_int_equal(sx_run_best(run, 0, &found), least < INFINITY);
        if (least < INFINITY) assert_true(summary.optimal && fabs(found.value - least) <= 4e-12 * least);
    }
    sx_run_free(run);
}

static void formats_are_searched(void **state) {
    const settings *set = *state;
    uint64_t legal = 0, other = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "formats", i);
        searched *s = calloc(1, sizeof *s);
        make(&rng, s);
        double least = try_all(s, &other);
        try_mapper(s, "optimal:sunstone=0,gamma=0", least, 0);
        try_mapper(s, "optimal:sunstone=0,gamma=0", least, 1 + sx_rng_below(&rng, 30));
        try_mapper(s, "exhaustive", least, 0);
        legal += least < INFINITY;
        unmake(s);
        free(s);
    }
    sx_expect_compared("spaces with legal mappings", legal, set->count / 4);
    sx_expect_compared("mappings for which other formats are better", other, set->count / 4);
}

int main(int argc, char **argv) {
    settings set = {20, 2};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10) / 50 + 1;
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(formats_are_searched, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
