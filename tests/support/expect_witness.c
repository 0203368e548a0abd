#include "support/expect_witness.h"

#include "support/expect.h"
#include "support/logged_space.h"

#include "mappers/optimal/witness.h"
#include "model/model.h"
#include "verify/verify_witness.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SEARCHES = 3 };
enum { VERIFY = SX_N_SKIP_RULES, FORM = VERIFY + SX_N_VERIFY_SKIPS };

static const char *const rule_name[SX_N_WITNESS_RULES] = {"shares of banks",
                                                          "order",
                                                          "innermost order",
                                                          "layout",
                                                          "movable",
                                                          "verify: order",
                                                          "verify: innermost order",
                                                          "verify: movable",
                                                          "form"};

/* What searches are asked for. */
static const char *const objective_name[] = {"edp", "energy", "delay", "ed2p", "utilization", "last-level"};
enum { OBJECTIVES = sizeof objective_name / sizeof *objective_name };

/* A point of a map space with its shares of banks. */
typedef union any_point {
    sx_mapping mapping;
    unsigned char bytes[sizeof(sx_mapping) + SX_MAX_LEVELS * SX_MAX_TENSORS];
} any_point;

/* The current space. */
typedef struct bench {
    const sx_small_space *small;
    uint64_t number;
    unsigned kinds;
    sx_witness_maker maker;
    sx_bound *bound;
    sx_model_workspace *evaluator;
    sx_witness_tally *tally;
    sx_verify_space space; /* as the verifier has it, */
    sx_order_list *order_list;
    sx_objective objective;
    sx_check_budget budget;
    sx_check_context context; /* and what it works with */
    sx_objective asked[OBJECTIVES];
    double least[OBJECTIVES]; /* of all mappings that were met */
} bench;

static void bench_begin(bench *b, const sx_small_space *small, uint64_t number, sx_witness_tally *t) {
    *b = (bench){.small = small, .number = number, .tally = t, .kinds = sx_small_space_kinds(small)};
    b->maker.space = small->map;
    sx_expect_ok(sx_map_choices_new(small->map, &b->maker.choices));
    sx_expect_ok(sx_bound_new(small->model, &small->map->constraints, 1 << 20, &b->bound));
    sx_expect_ok(sx_model_workspace_new(small->model, &b->evaluator));
    b->maker.bound = b->bound;
    sx_expect_ok(sx_objective_parse("last-level", &b->objective)); /* there is no bound of it */
    sx_expect_ok(sx_verify_space_init(&b->space, small->model, &small->limits, &small->options));
    sx_expect_ok(sx_order_list_new(&b->space, false, &b->order_list));
    b->context = (sx_check_context){&b->space, b->bound, b->order_list, &b->objective, &b->budget, NULL};
    for (int k = 0; k < SX_N_KINDS; k++) t->spaces[k] += b->kinds >> k & 1;
    for (int i = 0; i < OBJECTIVES; i++) {
        sx_expect_ok(sx_objective_parse(objective_name[i], &b->asked[i]));
        b->least[i] = INFINITY;
    }
}

static void bench_end(bench *b) {
    sx_order_list_free(b->order_list);
    sx_verify_space_fini(&b->space);
    sx_model_workspace_free(b->evaluator);
    sx_bound_free(b->bound);
    sx_map_choices_free(b->maker.choices);
}

/* Fails with a description of the space. */
static void complain(const bench *b, int rule, const char *what, double is, double should) {
    char *text = sx_small_space_text(b->small);
    print_error("case %llu: %s: %s: %.17g, not %.17g\n%s\n", (unsigned long long)b->number, rule_name[rule],
                what, is, should, text);
    free(text);
    fail();
}

/* The score of a legal point. */
static sx_score score_of(const bench *b, int rule, const any_point *point) {
    sx_mapping mapping;
    sx_score score;
    sx_map_space_mapping(b->small->space, point, &mapping);
    sx_verdict verdict = sx_evaluate_score(b->evaluator, &mapping, &score);
    if (verdict.reason != SX_LEGAL) complain(b, rule, "the witness is not legal", verdict.reason, SX_LEGAL);
    return score;
}

/* Fails where a witness costs anything else than the mapping it stands for; counts the pair. */
static void expect_cost(const bench *b, int rule, const sx_score *other, const sx_score *score) {
    if (other->energy_pj != score->energy_pj) complain(b, rule, "energy", other->energy_pj, score->energy_pj);
    if (other->cycles != score->cycles) complain(b, rule, "cycles", other->cycles, score->cycles);
    if (memcmp(other, score, sizeof *score) != 0)
        complain(b, rule, "use or accesses", other->last_level_accesses, score->last_level_accesses);
    for (int k = 0; k < SX_N_KINDS; k++) b->tally->compared[rule][k] += b->kinds >> k & 1;
    b->tally->all[rule]++;
}

/* Makes the witness of a point by a rule, which must be in the space and cost the same; false where it is itself. */
static bool make_witness(const bench *b, int rule, const sx_score *score, any_point *point) {
    const sx_space *space = b->small->space;
    sx_status failure = SX_OK;
    sx_witness made = sx_witness_make(&b->maker, (sx_skip_rule)rule, point, &failure);
    sx_expect_ok(failure);
    if (made == SX_WITNESS_NONE) complain(b, rule, "nothing stands for a mapping", 0, 1);
    if (made == SX_WITNESS_ITSELF) return false;
    if (!space->type->holds(space, point) || !sx_space_legal(space, point, NULL, 0))
        complain(b, rule, "the witness is not in the space", 0, 1);
    sx_score other = score_of(b, rule, point);
    expect_cost(b, rule, &other, score);
    return true;
}

/* The same for a rule of the verifier's walk. */
static bool make_verify_witness(const bench *b, int rule, const sx_score *score, sx_mapping *mapping) {
    sx_score other;
    char why[400];
    sx_witness made = sx_verify_witness(&b->context, (sx_verify_skip)(rule - VERIFY), mapping);
    if (made == SX_WITNESS_NONE) complain(b, rule, "nothing stands for a mapping", 0, 1);
    if (made == SX_WITNESS_ITSELF) return false;
    if (!sx_verify_space_contains(&b->space, mapping, why, sizeof why)) complain(b, rule, why, 0, 1);
    assert_int_equal(sx_evaluate_score(b->evaluator, mapping, &other).reason, SX_LEGAL);
    expect_cost(b, rule, &other, score);
    return true;
}

/* Moves loops of one iteration to other places: another mapping, of which the point is the one form. */
static void try_form(const bench *b, sx_rng *rng, const any_point *point, const sx_score *score) {
    sx_mapping mapping, canonical;
    sx_score other;
    sx_map_space_mapping(b->small->space, point, &mapping);
    for (int s = 0; s < mapping.n_levels; s++) {
        uint8_t *order = mapping.level[s].temporal_order;
        for (int i = mapping.n_dims - 1; i >= 0; i--) {
            int place = (int)sx_rng_below(rng, mapping.n_dims);
            uint8_t d = order[i];
            if (mapping.level[s].temporal[d] > 1 || place >= i) continue;
            memmove(order + place + 1, order + place, (size_t)(i - place));
            order[place] = d;
        }
    }
    canonical = mapping;
    sx_mapping_canonical(&canonical);
    if (memcmp(&canonical, point, sx_mapping_bytes(b->small->map->arch)) != 0)
        complain(b, FORM, "the one form is another mapping", 0, 1);
    if (memcmp(&canonical, &mapping, sizeof mapping) == 0) return;
    if (sx_evaluate_score(b->evaluator, &mapping, &other).reason != SX_LEGAL)
        complain(b, FORM, "loops of one iteration elsewhere are not legal", 0, 1);
    expect_cost(b, FORM, score, &other);
}

/* Checks the witness of a legal point by every rule of the search, and makes it what the search evaluates for it. */
static void find_root(const bench *b, const sx_score *score, any_point *point) {
    bool changed = true;
    for (int rule = 0; rule < SX_N_SKIP_RULES; rule++) {
        any_point witness = *point;
        make_witness(b, rule, score, &witness);
    }
    while (changed) {
        changed = false;
        for (int rule = 0; rule < SX_N_SKIP_RULES; rule++) changed |= make_witness(b, rule, score, point);
    }
}

/* The same for the verifier's walk. */
static void find_verify_root(const bench *b, const sx_score *score, sx_mapping *mapping) {
    bool changed = true;
    for (int rule = VERIFY; rule < FORM; rule++) {
        sx_mapping witness = *mapping;
        make_verify_witness(b, rule, score, &witness);
    }
    while (changed) {
        changed = false;
        for (int rule = VERIFY; rule < FORM; rule++) changed |= make_verify_witness(b, rule, score, mapping);
    }
}

/* Points of a space, told apart by their mappings. */
typedef struct points {
    unsigned char *at;
    size_t n, room, size;
} points;

static void add_point(points *p, const void *point) {
    if (p->n == p->room) {
        p->room = p->room ? 2 * p->room : 256;
        p->at = realloc(p->at, p->room * p->size);
        assert_non_null(p->at);
    }
    memcpy(p->at + p->n++ * p->size, point, p->size);
}

static size_t size_in_hand; /* of the points that are sorted */
static int compare_points(const void *a, const void *b) {
    return memcmp(a, b, size_in_hand);
}

/* Sorts points, and leaves each once. */
static void sort_points(points *p) {
    size_t n = 0;
    size_in_hand = p->size;
    if (p->n) qsort(p->at, p->n, p->size, compare_points);
    for (size_t i = 0; i < p->n; i++)
        if (n == 0 || memcmp(p->at + i * p->size, p->at + (n - 1) * p->size, p->size) != 0)
            memmove(p->at + n++ * p->size, p->at + i * p->size, p->size);
    p->n = n;
}

/* Fails where not each of the points was seen; frees both. */
static void expect_seen(const bench *b, int rule, points *wanted, points *seen) {
    sort_points(wanted);
    sort_points(seen);
    for (size_t i = 0; i < wanted->n; i++)
        if (!bsearch(wanted->at + i * wanted->size, seen->at, seen->n, seen->size, compare_points))
            complain(b, rule, "the last witness of a mapping is not met", (double)seen->n, (double)wanted->n);
    b->tally->roots += wanted->n;
    free(wanted->at);
    free(seen->at);
}

/* The points that the search evaluates without bounds and heuristics. */
static points search_all(const bench *b) {
    points seen = {.size = sx_mapping_bytes(b->small->map->arch)};
    sx_logged_space log;
    sx_run_options options;
    sx_run *run;
    sx_run_options_init(&options);
    options.objective = b->objective;
    sx_logged_space_init(&log, b->small->space);
    sx_expect_ok(sx_run_new(log.space, &log.model, &options, &run));
    sx_expect_ok(sx_run_search(run, "optimal:gamma=0,sunstone=0,descents=0,tables=off"));
    for (size_t i = 0; i < log.n; i++) add_point(&seen, sx_logged_point(&log, i));
    sx_run_free(run);
    sx_logged_space_fini(&log);
    return seen;
}

/* The mappings that the verifier's walk meets, bounds apart. */
typedef struct walk {
    sx_enumeration *enumeration;
    points seen;
} walk;

static void add_mapping(void *user, const sx_mapping *mapping) {
    walk *w = user;
    sx_mapping canonical = *mapping;
    sx_mapping_canonical(&canonical);
    add_point(&w->seen, &canonical);
}

static bool walk_spatial(void *user, const uint32_t (*spatial)[SX_MAX_DIMS]) {
    walk *w = user;
    double least;
    assert_int_equal(sx_enumeration_check_mappings(w->enumeration, spatial, INFINITY, &least),
                     SX_CHECK_NONE_BELOW);
    return true;
}

static points walk_all(bench *b) {
    walk w = {.seen = {.size = sx_mapping_bytes(b->small->map->arch)}};
    sx_expect_ok(sx_enumeration_new(&b->context, &w.enumeration));
    sx_enumeration_on_below(w.enumeration, false, add_mapping, &w);
    sx_verify_space_list_spatial(&b->space, false, &b->budget, walk_spatial, &w);
    sx_enumeration_free(w.enumeration);
    return w.seen;
}

/* Fails where a search without heuristics ends with another optimum than that of all mappings. */
static void expect_optimum(const bench *b, sx_rng *rng) {
    static const char *const mapper[] = {"optimal:gamma=0,sunstone=0,descents=0",
                                         "optimal:gamma=0,sunstone=0,descents=0,tables=off"};
    uint64_t which = sx_rng_below(rng, OBJECTIVES);
    sx_run_options options;
    sx_run *run;
    sx_found found;
    sx_run_options_init(&options);
    options.objective = b->asked[which];
    options.seed = sx_rng_below(rng, 1000);
    sx_expect_ok(sx_run_new(b->small->space, NULL, &options, &run));
    sx_expect_ok(sx_run_search(run, mapper[sx_rng_below(rng, 4) == 0]));
    double value = sx_run_best(run, 0, &found) ? found.value : INFINITY, least = b->least[which];
    if (value != least && !(fabs(value - least) <= 4e-12 * fabs(least)))
        complain(b, FORM, objective_name[which], value, least);
    if (least < INFINITY && !sx_run_result(run).optimal) complain(b, FORM, "no proof", 0, 1);
    b->tally->optima++;
    sx_run_free(run);
}

/* Checks the witnesses of a legal point, and notes the last ones. */
static void try_point(bench *b, sx_rng *rng, const any_point *point, points *roots, points *verify) {
    any_point root = *point;
    sx_mapping mapping;
    sx_score score = score_of(b, FORM, point);
    for (int i = 0; i < OBJECTIVES; i++)
        b->least[i] = fmin(b->least[i], sx_objective_value(&b->asked[i], &score));
    try_form(b, rng, point, &score);
    find_root(b, &score, &root);
    if (roots) add_point(roots, &root);
    if (b->small->options.remainders) return;
    sx_map_space_mapping(b->small->space, point, &mapping);
    find_verify_root(b, &score, &mapping);
    if (verify) add_point(verify, &mapping);
}

/* Goes through every construction of a space. */
static void try_all(bench *b, sx_rng *rng) {
    const sx_space *space = b->small->space;
    points roots = {.size = sx_mapping_bytes(b->small->map->arch)}, verify = roots, seen;
    for (uint64_t i = 0; i < b->small->n; i++) {
        sx_cardinal index = {.low = i, .exact = true};
        any_point point;
        memset(&point, 0, sizeof point);
        assert_true(sx_space_at(space, &index, &point));
        if (sx_space_legal(space, &point, NULL, 0)) try_point(b, rng, &point, &roots, &verify);
    }
    for (int i = 0; i < SEARCHES; i++) expect_optimum(b, rng);
    seen = search_all(b);
    expect_seen(b, FORM, &roots, &seen);
    if (b->small->options.remainders) return;
    seen = walk_all(b);
    expect_seen(b, VERIFY, &verify, &seen);
}

/* Draws mappings of a space that is too large for that. */
static void try_draws(bench *b, sx_rng *rng, uint64_t n) {
    const sx_space *space = b->small->space;
    for (uint64_t i = 0; i < n; i++) {
        any_point point;
        memset(&point, 0, sizeof point);
        if (!sx_space_draw_legal(space, rng, &point, NULL)) return;
        try_point(b, rng, &point, NULL, NULL);
    }
}

void sx_expect_witnesses(const sx_small_space *small, uint64_t number, uint64_t draws, sx_rng *rng,
                         sx_witness_tally *tally) {
    bench b;
    bench_begin(&b, small, number, tally);
    if (draws)
        try_draws(&b, rng, draws);
    else
        try_all(&b, rng);
    bench_end(&b);
}

const char *sx_witness_rule_name(int rule) {
    return rule_name[rule];
}
