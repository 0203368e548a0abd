/* The evaluator against what Timeloop's rules give where all factors divide: windows, neighbours, mixed
 * groups, several parents, bypass chains. See tests/golden/README.md. */
#include "support/cost_compare.h"
#include "support/random_case.h"
#include "support/vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What a vector says of a level, in order. */
enum { INSTANCES, CLUSTERS, CYCLES, SLOWDOWN, ENERGY, NETWORK_ENERGY };

/* What it says of a tensor at a level, in order: counts are per instance, energies in all. */
enum {
    TILE,
    PARTITION,
    READS,
    FILLS,
    UPDATES,
    REDUCTIONS,
    ADDRESSES,
    TENSOR_ENERGY,
    FANOUT,
    MULTICAST,
    INGRESSES,
    LINKS,
    SPATIAL_REDUCTIONS,
    HOPS,
    NET_ENERGY,
    LINK_ENERGY,
    TENSOR_FIELDS
};
static const char *const tensor_fields[TENSOR_FIELDS] = {"tile",
                                                         "partition",
                                                         "reads",
                                                         "fills",
                                                         "updates",
                                                         "temporal reductions",
                                                         "addresses",
                                                         "energy",
                                                         "fanout",
                                                         "multicast",
                                                         "ingresses",
                                                         "link transfers",
                                                         "spatial reductions",
                                                         "hops",
                                                         "network energy",
                                                         "link energy"};

static bool differs(size_t line, const char *what, double have, double want) {
    if (!sx_numbers_differ(have, want, 1e-9)) return false;
    print_error("vectors.jsonl:%zu: %s is %.17g, not %.17g\n", line, what, have, want);
    return true;
}

static bool totals_differ(size_t line, const sx_cost *cost, const json_t *want) {
    return differs(line, "computes", (double)cost->computes, sx_vectors_number(want, "computes")) ||
           differs(line, "units", (double)cost->compute_instances, sx_vectors_number(want, "units")) ||
           differs(line, "compute cycles", (double)cost->compute_cycles,
                   sx_vectors_number(want, "compute_cycles")) ||
           differs(line, "cycles", (double)cost->cycles, sx_vectors_number(want, "cycles")) ||
           differs(line, "energy", cost->energy_pj, sx_vectors_number(want, "energy"));
}

/* Fills in what a vector would say of a tensor at a level. */
static void tensor_numbers(const sx_cost *cost, int s, int v, double *have) {
    const sx_cost_tensor *t = &cost->level[s].tensor[v];
    const sx_cost_net_tensor *n = &cost->network[s].tensor[v];
    double instances = (double)cost->level[s].instances;
    have[TILE] = (double)t->tile;
    have[PARTITION] = (double)t->partition / instances;
    have[READS] = (double)t->reads / instances;
    have[FILLS] = (double)t->fills / instances;
    have[UPDATES] = (double)t->updates / instances;
    have[REDUCTIONS] = (double)t->temporal_reductions / instances;
    have[ADDRESSES] = t->address_generations;
    have[TENSOR_ENERGY] = t->energy_pj;
    have[FANOUT] = (double)n->fanout;
    have[MULTICAST] = (double)n->multicast;
    have[INGRESSES] = n->ingresses;
    have[LINKS] = n->link_transfers;
    have[SPATIAL_REDUCTIONS] = n->spatial_reductions;
    have[HOPS] = n->hops;
    have[NET_ENERGY] = n->energy_pj;
    have[LINK_ENERGY] = n->link_energy_pj;
}

static bool tensor_differs(size_t line, const sx_cost *cost, int s, int v, const json_t *want) {
    double have[TENSOR_FIELDS];
    tensor_numbers(cost, s, v, have);
    for (size_t i = 0; i < TENSOR_FIELDS; i++) {
        char what[96];
        snprintf(what, sizeof what, "level %d, tensor %d: %s", s, v, tensor_fields[i]);
        if (differs(line, what, have[i], json_number_value(json_array_get(want, i)))) return true;
    }
    return false;
}

static bool level_differs(size_t line, const sx_cost *cost, int s, const json_t *want) {
    const sx_cost_level *level = &cost->level[s];
    const double have[] = {
        [INSTANCES] = (double)level->instances,
        [CLUSTERS] = (double)level->clusters,
        [CYCLES] = (double)level->cycles,
        [SLOWDOWN] = level->slowdown,
        [ENERGY] = level->energy_pj,
        [NETWORK_ENERGY] = cost->network[s].energy_pj,
    };
    static const char *const names[] = {"instances", "clusters", "cycles",
                                        "slowdown",  "energy",   "network energy"};
    for (size_t i = 0; i < sizeof have / sizeof *have; i++) {
        char what[64];
        snprintf(what, sizeof what, "level %d: %s", s, names[i]);
        if (differs(line, what, have[i], json_number_value(json_array_get(want, i)))) return true;
    }
    return false;
}

static bool cost_differs(size_t line, const sx_cost *cost, const json_t *want) {
    const json_t *levels = json_object_get(want, "levels"), *tensors = json_object_get(want, "tensors");
    assert_int_equal(json_array_size(levels), cost->n_levels);
    for (int s = 0; s < cost->n_levels; s++) {
        for (int v = 0; v < cost->n_tensors; v++)
            if (tensor_differs(line, cost, s, v,
                               json_array_get(json_array_get(tensors, (size_t)s), (size_t)v)))
                return true;
        if (level_differs(line, cost, s, json_array_get(levels, (size_t)s))) return true;
    }
    return totals_differ(line, cost, want);
}

static sx_verdict evaluate(const sx_case *c, sx_cost *cost) {
    sx_model *model = NULL;
    sx_model_workspace *evaluator = NULL;
    assert_null(sx_model_new(&c->problem, &c->arch, &c->options, &model));
    assert_null(sx_model_workspace_new(model, &evaluator));
    sx_verdict verdict = sx_evaluate(evaluator, &c->mapping, cost);
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
    return verdict;
}

/* Evaluates one vector; returns whether all of it is right. */
static bool vector_holds(size_t line, const json_t *vector) {
    sx_case c;
    sx_cost cost;
    assert_true(sx_case_read(vector, &c));
    sx_verdict verdict = evaluate(&c, &cost);
    if (verdict.reason == SX_LEGAL) return !cost_differs(line, &cost, json_object_get(vector, "want"));
    print_error("vectors.jsonl:%zu: %s\n", line, sx_reason_name(verdict.reason));
    return false;
}

static void every_count_and_energy_is_timeloops(void **state) {
    (void)state;
    json_t *vectors = sx_vectors_load(SX_TEST_DATA "/golden/perfect/vectors.jsonl");
    size_t wrong = 0;
    for (size_t i = 0; i < json_array_size(vectors); i++)
        wrong += !vector_holds(i + 1, json_array_get(vectors, i));
    assert_true(json_array_size(vectors) >= 3000);
    json_decref(vectors);
    assert_int_equal(wrong, 0);
}

/* One number of a cost, by a vector's names. */
static double number_at(const sx_cost *cost, const json_t *vector) {
    double have[TENSOR_FIELDS];
    const char *field = json_string_value(json_object_get(vector, "field"));
    tensor_numbers(cost, (int)sx_vectors_number(vector, "level"), (int)sx_vectors_number(vector, "tensor"),
                   have);
    for (int i = 0; i < TENSOR_FIELDS; i++)
        if (strcmp(tensor_fields[i], field) == 0) return have[i];
    fail();
    return 0;
}

/* The table of docs/model.md: what is executed, and what Timeloop's samples make of it. */
static void differences_are_as_documented(void **state) {
    (void)state;
    json_t *vectors = sx_vectors_load(SX_TEST_DATA "/golden/perfect/differences.jsonl");
    for (size_t i = 0; i < json_array_size(vectors); i++) {
        const json_t *vector = json_array_get(vectors, i);
        sx_case c;
        sx_cost sampled, executed;
        sx_verdict verdict;
        assert_true(sx_case_read(vector, &c));
        assert_int_equal(evaluate(&c, &sampled).reason, SX_LEGAL);
        assert_null(sx_simulate(&c.problem, &c.arch, &c.mapping, &c.options, 100000, &verdict, &executed));
        assert_float_equal(number_at(&sampled, vector), sx_vectors_number(vector, "timeloop"), 0);
        assert_float_equal(number_at(&executed, vector), sx_vectors_number(vector, "executed"), 0);
    }
    assert_int_equal(json_array_size(vectors), 7);
    json_decref(vectors);
}

/* A case is read back as it was written. */
static void cases_survive_writing(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 500; i++) {
        sx_rng rng = sx_rng_stream(1, "cases survive writing", i);
        sx_case drawn, read;
        sx_text once = {0}, twice = {0};
        sx_random_case(&rng, SX_CASE_REMAINDER, &drawn);
        drawn.mapping.n_levels = drawn.arch.n_levels;
        sx_case_write(&drawn, &once);
        json_t *json = json_loads(once.data, 0, NULL);
        assert_non_null(json);
        assert_true(sx_case_read(json, &read));
        sx_case_write(&read, &twice);
        assert_string_equal(once.data, twice.data);
        json_decref(json);
        sx_text_free(&once);
        sx_text_free(&twice);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_survive_writing),
        cmocka_unit_test(every_count_and_energy_is_timeloops),
        cmocka_unit_test(differences_are_as_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
