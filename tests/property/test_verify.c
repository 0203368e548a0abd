/* Certificates of random small spaces: those of the mapper hold, those with a false claim do not; and the
 * verifier sees the very mappings that the space has: test_verify [count [seed]]. */
#include "support/compared.h"
#include "support/expect.h"
#include "support/small_certificate.h"

#include "mapspace/map_choices.h"
#include "verify/enumeration.h"

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

static const char *const mappers[] = {"optimal", "optimal:descents=0", "optimal:descents=1,moves=5",
                                      "optimal:descents=0,tables=off", "optimal:gap=0.5"};
static const char *const objectives[] = {"edp", "energy", "delay", "e^2*d", "utilization", "last-level"};

/* Whether an architecture is such as files can describe. */
static bool is_sayable(const sx_arch *arch) {
    bool sayable = true;
    for (int s = 0; s < arch->n_levels; s++)
        sayable &= arch->level[s].technology != SX_DRAM || arch->level[s].cluster_size == 1;
    return sayable;
}

/* Draws a space with exact factors, or with remainders. */
static void draw_space(sx_rng *rng, bool remainders, sx_small_space *small) {
    for (;;) {
        sx_random_space(rng, MOST, small);
        if (small->options.remainders == remainders && is_sayable(&small->c.arch)) return;
        sx_small_space_fini(small);
    }
}

static sx_objective draw_objective(sx_rng *rng) {
    sx_objective objective;
    sx_expect_ok(sx_objective_parse(objectives[sx_rng_below(rng, 6)], &objective));
    return objective;
}

/* Draws a search, and the certificate of what it proved; NULL where that is nothing. */
static sx_certificate *draw_certificate(sx_rng *rng, const sx_small_space *small) {
    sx_objective objective = draw_objective(rng);
    const char *mapper = mappers[sx_rng_below(rng, sizeof mappers / sizeof *mappers)];
    uint64_t evaluations = sx_rng_below(rng, 3) ? 0 : 1 + sx_rng_below(rng, 60);
    return sx_small_certificate(small, &objective, mapper, evaluations);
}

/* Fails a case with a word about it. */
static void fail_case(const sx_small_space *small, uint64_t number, const char *what, const char *why) {
    char *text = sx_small_space_text(small);
    print_error("case %llu: %s: %s\n%s\n", (unsigned long long)number, what, why, text);
    free(text);
    fail();
}

static void certificates_hold(void **state) {
    const settings *set = *state;
    uint64_t n = 0, optimal = 0, entries = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "verify", i);
        sx_small_space small;
        sx_verification v;
        draw_space(&rng, false, &small);
        sx_certificate *made = draw_certificate(&rng, &small), *c = made ? sx_certificate_again(made) : NULL;
        if (made && !c) fail_case(&small, i, "a certificate", "cannot be read again");
        if (c && !sx_certificate_holds(c, sx_rng_below(&rng, 4) ? 1 : 3, &v))
            fail_case(&small, i, v.claim, v.why);
        double least = sx_small_least(&small, c ? &c->objective : &(sx_objective){.n_criteria = 1}, NULL);
        if (c && sx_proof_floor(c->lower_bound) > least) fail_case(&small, i, "lower bound", "is too high");
        n += c != NULL;
        optimal += c && c->optimal;
        entries += c ? c->proof->n_entries : 0;
        sx_certificate_free(c);
        sx_certificate_free(made);
        sx_small_space_fini(&small);
    }
    print_message("%llu certificates, %llu of an optimum, with %llu entries\n", (unsigned long long)n,
                  (unsigned long long)optimal, (unsigned long long)entries);
    sx_expect_compared("certificates", n, set->count / 3);
    sx_expect_compared("certificates of an optimum", optimal, set->count / 9);
}

/* Gives a certificate a legal point's mapping with another score, and that score; false where there is none.
 */
static bool take_other(const sx_small_space *small, sx_certificate *c) {
    void *point = malloc(sx_space_point_size(small->space));
    sx_model_workspace *evaluator;
    sx_cardinal index = {.exact = true};
    bool found = false;
    sx_expect_ok(sx_model_workspace_new(small->model, &evaluator));
    for (; !found && sx_space_at(small->space, &index, point); index.low++) {
        sx_mapping mapping;
        sx_score score;
        if (!sx_space_legal(small->space, point, NULL, 0)) continue;
        sx_map_space_mapping(small->space, point, &mapping);
        assert_int_equal(sx_evaluate_score(evaluator, &mapping, &score).reason, SX_LEGAL);
        found = score.energy_pj != c->score.energy_pj || score.cycles != c->score.cycles;
        if (!found) continue;
        c->mapping = mapping;
        c->score = score;
        c->value = sx_objective_value(&c->objective, &score);
    }
    sx_model_workspace_free(evaluator);
    free(point);
    return found;
}

/* Certificates of spaces with remainders hold; that of a mapping which is not the best does not. */
static void certificates_with_remainders_hold(void **state) {
    const settings *set = *state;
    uint64_t n = 0, optimal = 0, spoiled = 0;
    for (uint64_t i = 0; i < set->count / 4; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "verify remainders", i);
        sx_small_space small;
        sx_verification v;
        draw_space(&rng, true, &small);
        sx_certificate *made = draw_certificate(&rng, &small), *c = made ? sx_certificate_again(made) : NULL;
        if (made && !c) fail_case(&small, i, "a certificate", "cannot be read again");
        if (c && !sx_certificate_holds(c, 1, &v)) fail_case(&small, i, v.claim, v.why);
        double least = sx_small_least(&small, c ? &c->objective : &(sx_objective){.n_criteria = 1}, NULL);
        if (c && sx_proof_floor(c->lower_bound) > least) fail_case(&small, i, "lower bound", "is too high");
        n += c != NULL;
        optimal += c && c->optimal;
        if (c && c->optimal && take_other(&small, c) && least < sx_proof_floor(c->value)) {
            c->lower_bound = c->value;
            *c->energy_exact = '\0';
            if (sx_certificate_holds(c, 1, &v)) fail_case(&small, i, "a false optimum", "holds");
            spoiled++;
        }
        sx_certificate_free(c);
        sx_certificate_free(made);
        sx_small_space_fini(&small);
    }
    sx_expect_compared("certificates with remainders", n, set->count / 16);
    sx_expect_compared("certificates of an optimum", optimal, set->count / 40);
    sx_expect_compared("false optima", spoiled, set->count / 80);
}

/* Takes an entry out. */
static void drop_entry(sx_proof *proof, size_t index) {
    size_t last = --proof->n_entries;
    proof->searched[index] = proof->searched[last];
    proof->bound[index] = proof->bound[last];
    memcpy(proof->spatial + index * proof->width, proof->spatial + last * proof->width,
           proof->width * sizeof *proof->spatial);
}

/* The least value of the space that a changed certificate is about; -INFINITY where that is too large, or
 * contradicts itself. */
static double least_of(const sx_small_space *small, const sx_certificate *c) {
    sx_small_space other = *small;
    sx_cardinal past = {.low = 4 * MOST, .exact = true};
    other.limits = c->constraints;
    other.options = c->space;
    sx_status status = sx_map_space_new(other.model, &other.limits, &other.options, &other.space);
    if (status) {
        sx_status_free(status);
        return -INFINITY;
    }
    void *point = malloc(sx_space_point_size(other.space));
    double least =
        sx_space_at(other.space, &past, point) ? -INFINITY : sx_small_least(&other, &c->objective, NULL);
    free(point);
    sx_space_free(other.space);
    return least;
}

/* Counts entries anew. */
static void count_entries(sx_certificate *c) {
    c->searched = 0;
    for (size_t i = 0; i < c->proof->n_entries; i++) c->searched += c->proof->searched[i];
    c->tables = c->proof->n_entries - c->searched;
}

/* Makes a claim about the mapping, or the problem, false; false where this one has no such claim. */
static bool spoil_facts(sx_rng *rng, const sx_small_space *small, unsigned kind, sx_certificate *c) {
    switch (kind) {
    case 0:
        c->value = c->lower_bound = c->value - fabs(c->value) / 8;
        return c->value != 0;
    case 1:
        c->score.energy_pj -= c->score.energy_pj / 4;
        return c->score.energy_pj != 0;
    case 2:
        c->score.cycles -= 1;
        return true;
    case 3: {
        sx_certificate other = *c;
        if (!take_other(small, &other)) return false;
        c->mapping = other.mapping;
        return true;
    }
    case 4:
        c->arch.compute.energy += 1;
        return true;
    case 5:
        c->problem.size[sx_rng_below(rng, c->problem.n_dims)] *= 2;
        return true;
    default: {
        int s = (int)sx_rng_below(rng, c->arch.n_levels), d = (int)sx_rng_below(rng, c->problem.n_dims);
        c->constraints.level[s].temporal.max[d] = 1;
        return c->mapping.level[s].temporal[d] > 1;
    }
    }
}

/* Makes a claim about a bound false; false where this one has no such claim. */
static bool spoil_bounds(sx_rng *rng, const sx_small_space *small, unsigned kind, sx_certificate *c) {
    size_t entry = c->proof->n_entries ? sx_rng_below(rng, c->proof->n_entries) : 0;
    switch (kind) {
    case 0: {
        double least = sx_small_least(small, &c->objective, NULL);
        if (least >= sx_proof_floor(c->value) && !take_other(small, c)) return false;
        c->lower_bound = c->value;
        c->optimal = true;
        return least < sx_proof_floor(c->value);
    }
    case 1:
        c->optimal = !c->optimal;
        return c->optimal && c->lower_bound != c->value;
    case 2:
        if (c->proof->n_entries == 0 || c->proof->searched[entry] || c->lower_bound <= 0) return false;
        c->proof->bound[entry] = c->lower_bound * 0.75;
        return true;
    case 3: {
        if (c->proof->n_entries == 0 || c->proof->searched[entry]) return false;
        double least = sx_small_least(small, &c->objective, c->proof->spatial + entry * c->proof->width);
        c->proof->bound[entry] = least + fabs(least) * 1e-6;
        return isfinite(least) && c->proof->bound[entry] > least;
    }
    default: {
        double before = c->lower_bound;
        sx_constraints_init(&c->constraints, &c->problem, &c->arch);
        c->space.keep_all = false;
        return least_of(small, c) < sx_proof_floor(before) && least_of(small, c) > -INFINITY;
    }
    }
}

/* Makes a claim about spatial mappings false; false where this one has no such claim. */
static bool spoil_arrays(sx_rng *rng, unsigned kind, sx_certificate *c) {
    sx_proof *proof = c->proof;
    size_t n = proof->n_entries, entry = n ? sx_rng_below(rng, n) : 0;
    uint32_t *factor = n ? proof->spatial + entry * proof->width : NULL;
    switch (kind) {
    case 0:
        proof->n_spatial++;
        c->compulsory++;
        return true;
    case 1:
        proof->n_spatial--;
        c->compulsory--;
        return c->compulsory + 1 > 0;
    case 2:
        c->compulsory++;
        return true;
    case 3:
        if (n == 0) return false;
        drop_entry(proof, entry);
        count_entries(c);
        c->compulsory++;
        return true;
    case 4:
        if (n == 0) return false;
        drop_entry(proof, entry);
        count_entries(c);
        proof->n_spatial--;
        return true;
    case 5:
        if (n == 0 || c->compulsory == 0) return false;
        sx_expect_ok(sx_proof_add(proof, proof->searched[entry], proof->bound[entry], factor));
        count_entries(c);
        c->compulsory--;
        return true;
    default:
        for (size_t i = 0; n > 0 && i < proof->width; i++)
            if (factor[i] > 1) {
                factor[i]--;
                return true;
            }
        return false;
    }
}

static void spoiled_certificates_do_not_hold(void **state) {
    const settings *set = *state;
    uint64_t refuted[3][7] = {{0}};
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "spoil", i);
        sx_small_space small;
        draw_space(&rng, false, &small);
        sx_certificate *c = draw_certificate(&rng, &small);
        for (unsigned tries = 0; c && tries < 6; tries++) {
            sx_certificate *bad = sx_certificate_again(c), *again;
            unsigned what = (unsigned)sx_rng_below(&rng, 3), kind = (unsigned)sx_rng_below(&rng, 7);
            bool spoiled = what == 0   ? spoil_facts(&rng, &small, kind, bad)
                           : what == 1 ? spoil_bounds(&rng, &small, kind % 5, bad)
                                       : spoil_arrays(&rng, kind, bad);
            sx_verification v;
            char name[32];
            snprintf(name, sizeof name, "change %u.%u", what, kind);
            again = spoiled && bad->problem.size[0] ? sx_certificate_again(bad) : NULL;
            if (again && sx_certificate_holds(again, 1, &v)) fail_case(&small, i, name, "holds");
            if (spoiled) refuted[what][kind]++;
            sx_certificate_free(again);
            sx_certificate_free(bad);
        }
        sx_certificate_free(c);
        sx_small_space_fini(&small);
    }
    uint64_t compared = 0;
    for (int what = 0; what < 3; what++)
        for (int kind = 0; kind < 7; kind++) {
            compared += refuted[what][kind];
            if (set->count >= 400 && refuted[what][kind] == 0)
                fail_msg("no change %d.%d was made", what, kind);
        }
    sx_expect_compared("spoiled certificates", compared, set->count);
}

/* Keys of mappings. */
typedef struct keys {
    uint64_t *key;
    size_t n, room;
} keys;

/* Adds a mapping, whatever the order of its temporal loops. */
static void add_key(void *user, const sx_mapping *mapping) {
    keys *k = user;
    sx_mapping canonical = *mapping;
    sx_mapping_canonical(&canonical);
    for (int s = 0; s < canonical.n_levels; s++)
        memset(canonical.level[s].temporal_order, 0, sizeof canonical.level[s].temporal_order);
    if (k->n == k->room) {
        k->room = k->room ? 2 * k->room : 256;
        k->key = realloc(k->key, k->room * sizeof *k->key);
        assert_non_null(k->key);
    }
    k->key[k->n++] = sx_mapping_hash(&canonical);
}

static int compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts keys and leaves each once. */
static void sort_keys(keys *k) {
    size_t n = 0;
    if (k->n) qsort(k->key, k->n, sizeof *k->key, compare_keys);
    for (size_t i = 0; i < k->n; i++)
        if (n == 0 || k->key[i] != k->key[n - 1]) k->key[n++] = k->key[i];
    k->n = n;
}

/* The verifier's view of a space. */
typedef struct view {
    sx_verify_space space;
    sx_check_budget budget;
    sx_objective objective;
    sx_bound *bound;
    sx_order_list *order_list;
    sx_enumeration *enumeration;
    keys seen;
} view;

static bool tour_array(void *user, const uint32_t (*spatial)[SX_MAX_DIMS]) {
    view *w = user;
    double least;
    assert_int_equal(sx_enumeration_check_mappings(w->enumeration, spatial, INFINITY, &least),
                     SX_CHECK_NONE_BELOW);
    return true;
}

/* Opens the view of a space. */
static void open_view(view *w, const sx_small_space *small) {
    memset(w, 0, sizeof *w);
    sx_expect_ok(sx_objective_parse("edp", &w->objective));
    sx_expect_ok(sx_verify_space_init(&w->space, small->model, &small->limits, &small->options));
    sx_expect_ok(sx_bound_new(small->model, &small->limits, 1 << 20, &w->bound));
    sx_expect_ok(sx_order_list_new(&w->space, false, &w->order_list));
    sx_check_context context = {.space = &w->space,
                                .bound = w->bound,
                                .order_list = w->order_list,
                                .objective = &w->objective,
                                .budget = &w->budget};
    sx_expect_ok(sx_enumeration_new(&context, &w->enumeration));
    sx_enumeration_on_below(w->enumeration, true, add_key, &w->seen);
}

static void close_view(view *w) {
    sx_enumeration_free(w->enumeration);
    sx_order_list_free(w->order_list);
    sx_bound_free(w->bound);
    sx_verify_space_fini(&w->space);
    free(w->seen.key);
}

/* Whether a mapping is still a member with a tensor less at a level that must keep it. */
static bool may_keep_less(const sx_verify_space *space, const sx_mapping *mapping) {
    char why[400];
    for (int s = 0; s < mapping->n_levels; s++)
        for (unsigned left = space->must[s]; left; left &= left - 1) {
            sx_mapping less = *mapping;
            less.level[s].keep = (uint8_t)(less.level[s].keep & ~(left & -left));
            if (sx_verify_space_contains(space, &less, why, sizeof why)) return true;
        }
    return false;
}

/* All legal constructions of a space, each of which the verifier must take for a member. */
static keys members(const sx_small_space *small, const sx_verify_space *space, uint64_t number) {
    void *point = malloc(sx_space_point_size(small->space));
    sx_cardinal index = {.exact = true};
    keys k = {0};
    char why[400];
    for (; sx_space_at(small->space, &index, point); index.low++) {
        sx_mapping mapping;
        if (!sx_space_legal(small->space, point, NULL, 0)) continue;
        sx_map_space_mapping(small->space, point, &mapping);
        if (!sx_verify_space_contains(space, &mapping, why, sizeof why))
            fail_case(small, number, "a member", why);
        if (may_keep_less(space, &mapping))
            fail_case(small, number, "a member", "without a tensor that its level must keep");
        add_key(&k, &mapping);
    }
    free(point);
    return k;
}

static void the_same_mappings_are_seen(void **state) {
    const settings *set = *state;
    uint64_t compared = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "members", i);
        sx_small_space small;
        view w;
        draw_space(&rng, false, &small);
        open_view(&w, &small);
        keys there = members(&small, &w.space, i);
        sx_verify_space_list_spatial(&w.space, false, &w.budget, tour_array, &w);
        sort_keys(&there);
        sort_keys(&w.seen);
        bool same = there.n == w.seen.n;
        for (size_t k = 0; same && k < there.n; k++) same = there.key[k] == w.seen.key[k];
        if (!same) {
            print_error("%zu mappings there, %zu seen\n", there.n, w.seen.n);
            fail_case(&small, i, "members", "are not the same");
        }
        compared += there.n;
        free(there.key);
        close_view(&w);
        sx_small_space_fini(&small);
    }
    sx_expect_compared("members", compared, 10 * set->count);
}

static void orders_are_told_apart_alike(void **state) {
    const settings *set = *state;
    uint64_t compared = 0;
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "orders", i);
        sx_small_space small;
        sx_map_choices *choices;
        view w;
        draw_space(&rng, false, &small);
        open_view(&w, &small);
        sx_expect_ok(sx_map_choices_new(small.map, &choices));
        for (int s = 0; s < small.map->arch->n_levels; s++)
            for (unsigned loops = 0; loops < 1u << small.map->problem->n_dims; loops++) {
                size_t there, seen;
                bool real = true;
                for (int d = 0; d < small.map->problem->n_dims; d++)
                    real &= !(loops >> d & 1) || small.map->problem->size[d] > 1;
                if (!real) continue;
                assert_non_null(sx_map_orders_of(choices, s, loops, true, &there));
                assert_non_null(sx_order_list_of(w.order_list, s, loops, &seen));
                compared++;
                if (there != seen) {
                    print_error("level %d, loops %x: %zu orders there, %zu seen\n", s, loops, there, seen);
                    fail_case(&small, i, "orders", "are not told apart alike");
                }
            }
        sx_map_choices_free(choices);
        close_view(&w);
        sx_small_space_fini(&small);
    }
    sx_expect_compared("lists of orders", compared, 2 * set->count);
}

int main(int argc, char **argv) {
    settings set = {250, 1};
    if (argc > 1) set.count = strtoull(argv[1], NULL, 10);
    if (argc > 2) set.seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(certificates_hold, &set),
        cmocka_unit_test_prestate(certificates_with_remainders_hold, &set),
        cmocka_unit_test_prestate(spoiled_certificates_do_not_hold, &set),
        cmocka_unit_test_prestate(the_same_mappings_are_seen, &set),
        cmocka_unit_test_prestate(orders_are_told_apart_alike, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
