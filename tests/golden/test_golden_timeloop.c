/* The whole way, from Timeloop's files to costs, against what Timeloop itself printed. See
 * tests/golden/README.md. */
#include "sextant/all.h"
#include "support/check_case.h"
#include "support/compared.h"
#include "support/cost_compare.h"
#include "support/vectors.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DATA SX_TEST_DATA "/golden/timeloop/"

/* One vector on its way. */
typedef struct trial {
    const json_t *vector;
    const char *id;
    sx_problem problem;
    sx_arch arch;
    sx_mapping mapping;
    sx_cost cost;
    int wrong;
} trial;

static const char *text_of(const json_t *object, const char *name) {
    return json_string_value(json_object_get(object, name));
}

static void expect(trial *t, const char *where, const char *what, double have, double want) {
    if (!sx_numbers_differ(have, want, 1e-9) || fabs(have - want) <= 1e-9) return;
    if (t->wrong++ < 3) print_error("%s: %s%s is %.17g, not %.17g\n", t->id, where, what, have, want);
}

static void add_file(sx_input *input, const char *folder, const char *name, const char *ending) {
    char path[512];
    snprintf(path, sizeof path, DATA "%s/%s%s", folder, name, ending);
    sx_status status = sx_input_add_file(input, path);
    if (status) print_error("%s\n", status->message);
    assert_null(status);
}

/* Reads a vector's files. What is wrong with its mapping comes back; problem and architecture must be right.
 */
static sx_status read_vector(trial *t) {
    sx_input *input = NULL;
    const char *text = text_of(t->vector, "mapping");
    assert_null(sx_input_new(&input));
    add_file(input, "arch", text_of(t->vector, "arch"), ".yaml");
    add_file(input, "arch", text_of(t->vector, "arch"), ".ert.yaml");
    add_file(input, "problem", text_of(t->vector, "problem"), ".yaml");
    assert_null(sx_input_add_text(input, "map.yaml", text, strlen(text)));
    assert_null(sx_input_arch(input, &t->arch));
    assert_null(sx_input_problem(input, &t->problem));
    sx_status status = sx_input_mapping(input, &t->problem, &t->arch, &t->mapping);
    sx_input_free(input);
    return status;
}

static sx_model_options switches(const trial *t) {
    const json_t *env = json_object_get(t->vector, "env");
    return (sx_model_options){.no_first_read_elision =
                                  json_is_false(json_object_get(env, "first_read_elision")),
                              .no_link_transfers = json_is_false(json_object_get(env, "link_transfers"))};
}

static sx_verdict evaluate(trial *t) {
    sx_model_options options = switches(t);
    sx_model *model = NULL;
    sx_model_workspace *evaluator = NULL;
    assert_null(sx_model_new(&t->problem, &t->arch, &options, &model));
    assert_null(sx_model_workspace_new(model, &evaluator));
    sx_verdict verdict = sx_evaluate(evaluator, &t->mapping, &t->cost);
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
    return verdict;
}

/* Whether the independent checker, which has rules of its own, comes to the same cost; false where it does not decide.
 */
static bool is_checked(trial *t) {
    sx_model_options options = switches(t);
    sx_checked_case checked;
    char why[512];
    sx_checked_case_init(&t->problem, &t->arch, &options, &checked);
    sx_cost_comparison outcome = sx_compare_checked_cost(&checked, &t->mapping, why);
    sx_checked_case_fini(&checked);
    if (outcome == SX_COSTS_DIFFER && t->wrong++ < 3) print_error("%s: %s\n", t->id, why);
    return outcome == SX_COSTS_SAME || outcome == SX_COSTS_ROUNDED;
}

static void expect_totals(trial *t, const json_t *stats) {
    const sx_cost *c = &t->cost;
    expect(t, "", "computes", (double)c->computes, sx_vectors_number(stats, "computes"));
    expect(t, "", "compute cycles", (double)c->compute_cycles, sx_vectors_number(stats, "compute_cycles"));
    expect(t, "", "compute energy", c->compute_energy_pj, sx_vectors_number(stats, "compute_energy"));
    expect(t, "", "compute units", (double)c->compute_instances, sx_vectors_number(stats, "used_pes"));
    expect(t, "", "cycles", (double)c->cycles, sx_vectors_number(stats, "cycles"));
    expect(t, "", "utilization", c->utilization, sx_vectors_number(stats, "utilization"));
    expect(t, "", "energy", c->energy_pj, sx_vectors_number(stats, "energy_pJ"));
    expect(t, "", "EDP", c->edp, sx_vectors_number(stats, "edp_pJ_cycles"));
}

static void expect_tensor(trial *t, int s, int v, const json_t *space) {
    const sx_cost_level *level = &t->cost.level[s];
    const sx_cost_tensor *c = &level->tensor[v];
    char where[2 * SX_NAME_SIZE + 4];
    snprintf(where, sizeof where, "%s.%s.", t->arch.level[s].name, t->problem.tensor[v].name);
    double n = sx_vectors_number(space, "inst"), clusters = sx_vectors_number(space, "clusters");
    expect(t, where, "kept", c->kept, sx_vectors_number(space, "keep"));
    expect(t, where, "tile", (double)c->tile, sx_vectors_number(space, "cap"));
    expect(t, where, "partition", (double)c->partition, n * sx_vectors_number(space, "part"));
    expect(t, where, "instances", (double)level->instances, n);
    expect(t, where, "clusters", (double)level->clusters, clusters);
    expect(t, where, "reads", (double)c->reads, n * sx_vectors_number(space, "reads"));
    expect(t, where, "fills", (double)c->fills, n * sx_vectors_number(space, "fills"));
    expect(t, where, "updates", (double)c->updates, n * sx_vectors_number(space, "updates"));
    expect(t, where, "reductions", (double)c->temporal_reductions, n * sx_vectors_number(space, "tred"));
    expect(t, where, "addresses", c->address_generations, sx_vectors_number(space, "addrgen"));
    expect(t, where, "energy", c->energy_pj,
           n * sx_vectors_number(space, "energy") + clusters * sx_vectors_number(space, "age"));
}

static void expect_network(trial *t, int s, int v, const json_t *space) {
    const sx_cost_net_tensor *c = &t->cost.network[s].tensor[v];
    double n = (double)t->cost.level[s].instances;
    char where[2 * SX_NAME_SIZE + 16];
    snprintf(where, sizeof where, "%s.network.%s.", t->arch.level[s].name, t->problem.tensor[v].name);
    expect(t, where, "fanout", (double)c->fanout, sx_vectors_number(space, "fanout"));
    expect(t, where, "multicast", (double)c->multicast, sx_vectors_number(space, "mcast"));
    expect(t, where, "links", c->link_transfers, sx_vectors_number(space, "links"));
    expect(t, where, "reductions", c->spatial_reductions, sx_vectors_number(space, "sred"));
    expect(t, where, "hops", c->hops, sx_vectors_number(space, "hops"));
    expect(t, where, "energy", c->energy_pj, n * sx_vectors_number(space, "energy"));
    expect(t, where, "link energy", c->link_energy_pj, n * sx_vectors_number(space, "link_energy"));
    double ingress = sx_vectors_number(space, "ingress");
    if (fabs(c->ingresses - ingress) > 0.05) expect(t, where, "ingresses", c->ingresses, ingress);
}

/* Holds the levels and networks against the printed ones, which have their names. */
static void expect_levels(trial *t, const json_t *stats) {
    for (int s = 0; s < t->arch.n_levels; s++) {
        char name[2 * SX_NAME_SIZE + 8], where[SX_NAME_SIZE + 2];
        const char *outer = t->arch.level[s].name;
        snprintf(name, sizeof name, "%s <==> %s", outer,
                 s ? t->arch.level[s - 1].name : t->arch.compute.name);
        snprintf(where, sizeof where, "%s.", outer);
        const json_t *level = json_object_get(json_object_get(stats, "levels"), outer);
        const json_t *network = json_object_get(json_object_get(stats, "networks"), name);
        expect(t, where, "cycles", (double)t->cost.level[s].cycles, sx_vectors_number(level, "cycles"));
        expect(t, where, "slowdown", t->cost.level[s].slowdown, sx_vectors_number(level, "slowdown"));
        expect(t, where, "leakage", t->cost.level[s].leakage_pj, sx_vectors_number(level, "leakage_pJ"));
        expect(t, where, "energy", t->cost.level[s].energy_pj, sx_vectors_number(level, "energy_pJ"));
        expect(t, where, "network energy", t->cost.network[s].energy_pj,
               sx_vectors_number(network, "energy_pJ"));
        for (int v = 0; v < t->problem.n_tensors; v++) {
            const char *tensor = t->problem.tensor[v].name;
            expect_tensor(t, s, v, json_object_get(json_object_get(level, "spaces"), tensor));
            expect_network(t, s, v, json_object_get(json_object_get(network, "spaces"), tensor));
        }
    }
}

/* Remainder vectors carry no numbers: there Timeloop's are not those of any real execution (docs/model.md).
 */
static void every_number_is_timeloops(void **state) {
    (void)state;
    json_t *vectors = sx_vectors_load(DATA "vectors.jsonl");
    int wrong = 0;
    uint64_t n_checked = 0;
    for (size_t i = 0; i < json_array_size(vectors); i++) {
        trial t = {.vector = json_array_get(vectors, i)};
        t.id = text_of(t.vector, "id");
        const json_t *stats = json_object_get(t.vector, "stats");
        sx_status status = read_vector(&t);
        if (status) print_error("%s: %s\n", t.id, status->message);
        assert_null(status);
        sx_verdict verdict = evaluate(&t);
        if (verdict.reason != SX_LEGAL) print_error("%s: %s\n", t.id, sx_reason_name(verdict.reason));
        assert_int_equal(verdict.reason, SX_LEGAL);
        assert_int_equal(t.cost.perfect, stats != NULL);
        if (!stats) continue;
        expect_levels(&t, stats);
        expect_totals(&t, stats);
        n_checked += is_checked(&t);
        wrong += t.wrong > 0;
    }
    assert_int_equal(json_array_size(vectors), 388);
    sx_expect_compared("by the independent checker", n_checked, 300);
    json_decref(vectors);
    assert_int_equal(wrong, 0);
}

/* Factors that do not multiply to a dimension are refused when the mapping is read, as Timeloop does. */
static void mappings_are_refused_for_timeloops_reason(void **state) {
    (void)state;
    json_t *vectors = sx_vectors_load(DATA "illegal.jsonl");
    for (size_t i = 0; i < json_array_size(vectors); i++) {
        trial t = {.vector = json_array_get(vectors, i)};
        t.id = text_of(t.vector, "id");
        const char *reason = text_of(t.vector, "reason"), *level = text_of(t.vector, "level");
        sx_status status = read_vector(&t);
        if (strcmp(reason, "factors") == 0) {
            assert_non_null(status);
            assert_int_equal(status->code, SX_ERR_INPUT);
            assert_non_null(strstr(status->message, "dimension N"));
            sx_status_free(status);
            continue;
        }
        if (status) print_error("%s: %s\n", t.id, status->message);
        assert_null(status);
        sx_verdict verdict = evaluate(&t);
        assert_string_equal(sx_reason_name(verdict.reason), reason);
        assert_float_equal(verdict.have, sx_vectors_number(t.vector, "have"), 0);
        assert_float_equal(verdict.limit, sx_vectors_number(t.vector, "limit"), 0);
        if (!level) continue;
        int s = sx_arch_level(&t.arch, level);
        assert_int_equal(verdict.level, s < 0 ? t.arch.n_levels : s);
    }
    assert_int_equal(json_array_size(vectors), 6);
    json_decref(vectors);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_timeloops),
        cmocka_unit_test(mappings_are_refused_for_timeloops_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
