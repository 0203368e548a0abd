#include "support/expect.h"
#include "support/records.h"
#include "support/small_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A session of one small layer with a database that has the proven answer to it. */
static void init(sx_small *small, sx_session_result *first) {
    sx_small_init(small, "optimal", 0, SX_WARM_SIMILARITY);
    small->network.n_layers = 1;
    sx_expect_ok(sx_einsum_parse("Outputs[M,N]+=Weights[M,K]*Inputs[K,N] {M:6,K:4,N:2}",
                                 &small->network.layer[0].problem));
    sx_expect_ok(sx_store_open(sx_scratch("a.db"), &small->options.store));
    sx_small_run(small, first);
    assert_true(first->layer[0].summary.optimal);
    assert_false(first->layer[0].proven_before);
    assert_true(first->layer[0].summary.evaluations > 0);
}

static void fini(sx_small *small, sx_session_result *first) {
    sx_session_result_fini(first);
    sx_store_close(small->options.store);
    small->network.n_layers = SX_SMALL_LAYERS;
    sx_small_fini(small);
}

/* Runs a session and says whether its answer was taken from the database. */
static bool is_taken(sx_small *small) {
    sx_session_result result;
    sx_small_run(small, &result);
    bool taken = result.layer[0].proven_before;
    assert_true(taken == (result.layer[0].summary.evaluations == 0));
    sx_session_result_fini(&result);
    return taken;
}

static uint64_t runs(sx_small *small) {
    sx_store_counts counts;
    sx_expect_ok(sx_store_count(small->options.store, &counts));
    return counts.runs;
}

static void proven_answers_are_taken(void **state) {
    (void)state;
    static sx_small small;
    sx_session_result first, second;
    if (!sx_store_engine()) skip();
    init(&small, &first);
    uint64_t before = runs(&small);
    for (int i = 0; i < 2; i++) {
        small.options.mapper = i ? "random" : "optimal";
        small.options.run.evaluations = i ? 100 : 0;
        sx_small_run(&small, &second);
        const sx_layer_result *a = &first.layer[0], *b = &second.layer[0];
        assert_true(b->proven_before && b->found && second.complete && second.found);
        assert_int_equal(b->summary.evaluations, 0);
        assert_true(b->summary.optimal && b->summary.repeatable);
        sx_mapping found = a->best.mapping, taken = b->best.mapping;
        sx_mapping_canonical(&found);
        sx_mapping_canonical(&taken);
        assert_memory_equal(&found, &taken, sizeof found);
        assert_memory_equal(&a->best.score, &b->best.score, sizeof a->best.score);
        assert_true(a->best.value == b->best.value && a->minimum == b->minimum);
        assert_memory_equal(&first.total, &second.total, sizeof first.total);
        sx_session_result_fini(&second);
    }
    assert_int_equal(runs(&small), before);
    fini(&small, &first);
}

/* Keeps levels from splitting K over an array. */
static sx_status no_k(void *user, const sx_problem *problem, const sx_arch *arch, sx_constraints *out) {
    (void)user;
    sx_constraints_init(out, problem, arch);
    int k = sx_problem_dim(problem, "K");
    for (int i = 0; i < arch->n_levels; i++) out->level[i].spatial.max[k] = 1;
    return SX_OK;
}

/* Another question is not answered by it. */
static void other_spaces_are_searched(void **state) {
    (void)state;
    static sx_small small;
    sx_session_result first;
    if (!sx_store_engine()) skip();
    init(&small, &first);
    const sx_session_options options = small.options;
    assert_true(is_taken(&small));
    small.options.again = true;
    assert_false(is_taken(&small));
    small.options = options;
    small.options.constraints = no_k;
    assert_false(is_taken(&small));
    small.options = options;
    small.options.run.objective.criterion[0].delay_power = 2;
    assert_false(is_taken(&small));
    small.options = options;
    small.options.run.objective.tolerance = 0.1;
    assert_false(is_taken(&small));
    small.options = options;
    small.options.space.remainders = true;
    assert_false(is_taken(&small));
    small.options = options;
    small.options.space.keep_all = true;
    assert_false(is_taken(&small));
    small.options = options;
    small.options.model.no_link_transfers = true;
    assert_false(is_taken(&small));
    small.options = options;
    small.options.run.k_best = 2;
    assert_false(is_taken(&small));
    small.options = options;
    small.options.run.pareto = true;
    assert_false(is_taken(&small));
    small.options = options;
    small.options.run.proof = true;
    assert_false(is_taken(&small));
    small.options = options;
    small.arch.level[0].entries++;
    assert_false(is_taken(&small));
    small.arch.level[0].entries--;
    small.network.layer[0].problem.size[0]++;
    assert_false(is_taken(&small));
    small.network.layer[0].problem.size[0]--;
    assert_true(is_taken(&small));
    fini(&small, &first);
}

/* What is proven of tiles that divide is no answer where remainders are searched beside them, unless that run did so. */
static void remainders_beside_are_searched_once(void **state) {
    (void)state;
    static sx_small small;
    sx_session_result first, second;
    if (!sx_store_engine()) skip();
    init(&small, &first);
    small.options.widen = true;
    assert_false(is_taken(&small));
    for (int i = 0; i < 2; i++) {
        small.options.widen = i == 0;
        sx_small_run(&small, &second);
        const sx_layer_result *taken = &second.layer[0];
        assert_true(taken->proven_before && taken->widened == (i == 0) && !taken->remainders);
        assert_true((taken->any_bound > 0) == (i == 0));
        assert_true(taken->any_bound <= taken->best.value * (1 + 1e-12));
        sx_session_result_fini(&second);
    }
    fini(&small, &first);
}

/* A copy of the record of the first run, whose texts live in `text`. */
typedef struct copy {
    sx_record record;
    char text[4][1024];
} copy;

static sx_status copy_record(void *user, const sx_record *record) {
    copy *c = user;
    const char *const from[] = {record->search.objective, record->search.navigator, record->search.options,
                                record->search.version};
    c->record = *record;
    for (int i = 0; i < 4; i++) snprintf(c->text[i], sizeof c->text[i], "%s", from[i]);
    c->record.search.objective = c->text[0];
    c->record.search.navigator = c->text[1];
    c->record.search.options = c->text[2];
    c->record.search.version = c->text[3];
    return SX_OK;
}

/* Whether a database with nothing but this record answers the question. */
static bool record_is_taken(sx_small *small, const sx_record *record, const char *name) {
    sx_store *store = small->options.store;
    sx_expect_ok(sx_store_open(sx_scratch(name), &small->options.store));
    sx_expect_ok(sx_store_add(small->options.store, record));
    bool taken = is_taken(small);
    sx_store_close(small->options.store);
    small->options.store = store;
    return taken;
}

/* A record that says something wrong is not believed, whatever its hash. */
static void costs_are_not_trusted(void **state) {
    (void)state;
    static sx_small small;
    static copy c;
    sx_session_result first;
    if (!sx_store_engine()) skip();
    init(&small, &first);
    sx_expect_ok(sx_store_proven(small.options.store, &small.network.layer[0].problem, &small.arch, "edp",
                                 copy_record, &c));
    assert_true(record_is_taken(&small, &c.record, "0.db"));
    sx_record other = c.record;
    other.score.energy_pj /= 2;
    other.search.value /= 2;
    assert_false(record_is_taken(&small, &other, "1.db"));
    other = c.record;
    other.search.value *= 0.999;
    assert_false(record_is_taken(&small, &other, "2.db"));
    other = c.record;
    other.search.optimal = false;
    assert_false(record_is_taken(&small, &other, "3.db"));
    other = c.record;
    char options[sizeof c.text[2]];
    memcpy(options, c.text[2], sizeof options);
    char *format = strstr(options, "\"proof_format\":1");
    assert_non_null(format);
    format[strlen("\"proof_format\":")] = '0';
    other.search.options = options;
    assert_false(record_is_taken(&small, &other, "4.db"));
    other = c.record;
    other.search.version = "0.0.1";
    assert_true(record_is_taken(&small, &other, "4b.db"));
    other = c.record;
    other.search.options = NULL;
    assert_false(record_is_taken(&small, &other, "5.db"));
    other = c.record;
    sx_mapping_init(&other.mapping, &other.problem, &other.arch);
    assert_false(record_is_taken(&small, &other, "6.db"));
    fini(&small, &first);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, sx_scratch_setup, sx_scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(proven_answers_are_taken),
        CASE(other_spaces_are_searched),
        CASE(remainders_beside_are_searched_once),
        CASE(costs_are_not_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
