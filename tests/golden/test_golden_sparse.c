/* Sparse tensors, from Timeloop's files to costs, against what Timeloop (Sparseloop) itself printed. See
 * tests/golden/README.md. */
#include "sextant/all.h"
#include "support/cost_compare.h"
#include "support/vectors.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DATA SX_TEST_DATA "/golden/sparse/"

static const char *const fates[] = {"random", "gated", "skipped"};
static const char *const accesses[] = {"read", "fill", "update"};

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

/* Counts are compared exactly, energies to 1e-9. */
static void expect(trial *t, const char *where, const char *what, double have, double want) {
    bool count = want == floor(want) && fabs(want) < 0x1p53 && !strstr(what, "energy");
    if (have == want || (!count && !sx_numbers_differ(have, want, 1e-9))) return;
    if (!count && fabs(have - want) <= 1e-9) return;
    if (t->wrong++ < 3) print_error("%s: %s%s is %.17g, not %.17g\n", t->id, where, what, have, want);
}

static void add_file(sx_input *input, const char *folder, const char *name, const char *ending) {
    char path[512];
    snprintf(path, sizeof path, DATA "%s/%s%s", folder, name, ending);
    assert_null(sx_input_add_file(input, path));
}

/* Adds a part of the vector as if it were a file. */
static void add_part(sx_input *input, const json_t *vector, const char *key) {
    json_t *root = json_object();
    json_object_set(root, key, json_object_get(vector, key));
    char *text = json_dumps(root, 0);
    sx_status status = sx_input_add_text(input, key, text, strlen(text));
    if (status) print_error("%s\n", status->message);
    assert_null(status);
    free(text);
    json_decref(root);
}

/* Sets the densities of the problem. */
static void set_densities(trial *t) {
    const char *name;
    json_t *density;
    json_object_foreach(json_object_get(t->vector, "densities"), name, density) {
        int v = sx_problem_tensor(&t->problem, name);
        assert_true(v >= 0);
        assert_null(sx_tensor_set_density(&t->problem.tensor[v],
                                          sx_density_model_named(text_of(density, "distribution")),
                                          sx_vectors_number(density, "density")));
    }
}

static void read_vector(trial *t) {
    sx_input *input = NULL;
    assert_null(sx_input_new(&input));
    sx_input_read_as(input, SX_READ_LIKE_TIMELOOP);
    add_file(input, "arch", text_of(t->vector, "arch"), ".yaml");
    add_file(input, "arch", text_of(t->vector, "arch"), ".ert.yaml");
    add_file(input, "problem", text_of(t->vector, "problem"), ".yaml");
    add_part(input, t->vector, "sparse_optimizations");
    add_part(input, t->vector, "mapping");
    sx_status status = sx_input_arch(input, &t->arch);
    if (status) print_error("%s: %s\n", t->id, status->message);
    assert_null(status);
    assert_null(sx_input_problem(input, &t->problem));
    set_densities(t);
    assert_true(sx_model_prefers_timeloop(&t->problem, &t->arch));
    assert_null(sx_input_mapping(input, &t->problem, &t->arch, &t->mapping));
    sx_input_free(input);
}

/* Writes problem and architecture and reads them back, which must change nothing. */
static void round_trip(trial *t) {
    char *problem = NULL, *arch = NULL, *einsum = NULL;
    sx_input *input = NULL;
    sx_problem again;
    sx_arch *other = calloc(1, sizeof *other);
    assert_non_null(other);
    assert_null(sx_problem_write(&t->problem, SX_YAML, &problem));
    assert_null(sx_arch_write(&t->arch, SX_YAML, &arch));
    assert_null(sx_einsum_text(&t->problem, &einsum));
    assert_null(sx_input_new(&input));
    assert_null(sx_input_add_text(input, "problem.yaml", problem, strlen(problem)));
    assert_null(sx_input_add_text(input, "arch.yaml", arch, strlen(arch)));
    assert_null(sx_input_problem(input, &again));
    assert_null(sx_input_arch(input, other));
    assert_memory_equal(&again, &t->problem, sizeof again);
    assert_null(sx_einsum_parse(einsum, &again));
    for (int v = 0; v < again.n_tensors; v++) {
        const sx_tensor *tensor = &t->problem.tensor[sx_problem_tensor(&t->problem, again.tensor[v].name)];
        assert_int_equal(again.tensor[v].density_model, tensor->density_model);
        assert_float_equal(again.tensor[v].density, tensor->density, 0);
    }
    t->arch = *other;
    sx_input_free(input);
    free(other);
    free(problem);
    free(arch);
    free(einsum);
}

static sx_verdict evaluate(trial *t) {
    const sx_model_options options = {.sparse_timeloop = true};
    sx_model *model = NULL;
    sx_model_workspace *evaluator = NULL;
    sx_score score;
    assert_null(sx_model_new(&t->problem, &t->arch, &options, &model));
    assert_null(sx_model_workspace_new(model, &evaluator));
    sx_verdict verdict = sx_evaluate(evaluator, &t->mapping, &t->cost);
    assert_int_equal(sx_check(model, &t->mapping).reason, verdict.reason);
    assert_int_equal(sx_evaluate_score(evaluator, &t->mapping, &score).reason, verdict.reason);
    if (verdict.reason == SX_LEGAL) {
        assert_float_equal(score.energy_pj, t->cost.energy_pj, 0);
        assert_float_equal(score.cycles, (double)t->cost.cycles, 0);
    }
    sx_model_workspace_free(evaluator);
    sx_model_free(model);
    return verdict;
}

static void expect_totals(trial *t, const json_t *stats) {
    const sx_cost *c = &t->cost;
    expect(t, "", "computes", (double)c->computes, sx_vectors_number(stats, "computes"));
    expect(t, "", "gated computes", c->gated_computes, sx_vectors_number(stats, "gated_computes"));
    expect(t, "", "skipped computes", c->skipped_computes, sx_vectors_number(stats, "skipped_computes"));
    expect(t, "", "all computes", (double)c->algorithmic_computes,
           sx_vectors_number(stats, "algorithmic_computes"));
    expect(t, "", "compute cycles", (double)c->compute_cycles, sx_vectors_number(stats, "compute_cycles"));
    expect(t, "", "compute energy", c->compute_energy_pj, sx_vectors_number(stats, "compute_energy"));
    expect(t, "", "compute units", (double)c->compute_instances, sx_vectors_number(stats, "used_pes"));
    expect(t, "", "cycles", (double)c->cycles, sx_vectors_number(stats, "cycles"));
    expect(t, "", "utilization", c->utilization, sx_vectors_number(stats, "utilization"));
    expect(t, "", "energy", c->energy_pj, sx_vectors_number(stats, "energy_pJ"));
    expect(t, "", "energy-delay product", c->edp, sx_vectors_number(stats, "edp_pJ_cycles"));
}

/* The number of metadata or payload words that Timeloop printed, 0 where it left them out. */
static double printed(const json_t *metadata, const char *name, int rank, int part) {
    const json_t *ranks = json_object_get(metadata, name);
    return ranks ? json_number_value(json_array_get(json_array_get(ranks, (size_t)rank), (size_t)part)) : 0;
}

/* Compares the actions of a tensor at a level, and those of each rank's metadata. */
static void expect_actions(trial *t, int s, int v, const char *where, const json_t *space) {
    const sx_cost_tensor *c = &t->cost.level[s].tensor[v];
    const sx_sparse *sparse = &t->arch.sparse;
    const sx_tensor_format *format = NULL;
    char name[64];
    for (int i = 0; i < sparse->n_formats; i++)
        if (sparse->format[i].level == s &&
            sx_problem_tensor(&t->problem, sparse->name[sparse->format[i].tensor]) == v)
            format = &sparse->format[i];
    for (int fate = 0; fate < 3; fate++)
        for (int a = 0; a < 3; a++) {
            snprintf(name, sizeof name, "%s_%s", fates[fate], accesses[a]);
            const json_t *count = json_object_get(json_object_get(space, "g"), name);
            expect(t, where, name, c->actions[fate][a], count ? json_number_value(count) : 0);
            snprintf(name, sizeof name, "%s_metadata_%s", fates[fate], accesses[a]);
            for (int r = 0; format && r < format->n_ranks; r++)
                for (int part = 0; part < 2; part++)
                    expect(t, where, name, t->cost.rank[format->first + r].words[fate][a][part],
                           printed(json_object_get(space, "m"), name, r, part));
        }
    for (int r = 0; format && json_object_get(space, "mdcap") && r < format->n_ranks; r++)
        for (int part = 0; part < 2; part++)
            expect(t, where, "metadata capacity", (double)t->cost.rank[format->first + r].capacity[part],
                   printed(space, "mdcap", r, part));
}

static void expect_tensor(trial *t, int s, int v, const json_t *space) {
    const sx_cost_level *level = &t->cost.level[s];
    const sx_cost_tensor *c = &level->tensor[v];
    char where[2 * SX_NAME_SIZE + 4];
    snprintf(where, sizeof where, "%s.%s.", t->arch.level[s].name, t->problem.tensor[v].name);
    expect(t, where, "kept", c->kept, space != NULL);
    if (!space || !c->kept) return;
    double n = (double)level->instances, used = sx_vectors_number(space, "inst");
    double clusters = sx_vectors_number(space, "clusters");
    expect(t, where, "tile", (double)c->tile, sx_vectors_number(space, "cap"));
    expect(t, where, "partition", (double)c->partition, n * sx_vectors_number(space, "part"));
    if (fabs(c->instances - used) > 1e-9 * used) expect(t, where, "instances", c->instances, used);
    expect(t, where, "clusters", (double)level->clusters, clusters);
    expect(t, where, "reads", (double)c->reads, n * sx_vectors_number(space, "reads"));
    expect(t, where, "fills", (double)c->fills, n * sx_vectors_number(space, "fills"));
    expect(t, where, "updates", (double)c->updates, n * sx_vectors_number(space, "updates"));
    expect(t, where, "reductions", (double)c->temporal_reductions, n * sx_vectors_number(space, "tred"));
    expect(t, where, "addresses", c->address_generations, sx_vectors_number(space, "addrgen"));
    expect(t, where, "compressions", c->compressions, sx_vectors_number(space, "comp"));
    expect(t, where, "energy", c->energy_pj,
           used * sx_vectors_number(space, "energy") + clusters * sx_vectors_number(space, "age"));
    expect_actions(t, s, v, where, space);
}

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
        expect(t, where, "leakage energy", t->cost.level[s].leakage_pj,
               sx_vectors_number(level, "leakage_pJ"));
        expect(t, where, "network energy", t->cost.network[s].energy_pj,
               sx_vectors_number(network, "energy_pJ"));
        for (int v = 0; v < t->problem.n_tensors; v++)
            expect_tensor(t, s, v,
                          json_object_get(json_object_get(level, "spaces"), t->problem.tensor[v].name));
    }
}

/* Every other vector is evaluated after its nouns were written and read back. */
static void every_number_is_timeloops(void **state) {
    (void)state;
    json_t *vectors = sx_vectors_load(DATA "vectors.jsonl");
    int wrong = 0;
    trial *t = calloc(1, sizeof *t);
    assert_non_null(t);
    for (size_t i = 0; i < json_array_size(vectors); i++) {
        memset(t, 0, sizeof *t);
        t->vector = json_array_get(vectors, i);
        t->id = text_of(t->vector, "id");
        read_vector(t);
        if (i % 2) round_trip(t);
        sx_verdict verdict = evaluate(t);
        if (verdict.reason != SX_LEGAL) print_error("%s: %s\n", t->id, sx_reason_name(verdict.reason));
        assert_int_equal(verdict.reason, SX_LEGAL);
        expect_levels(t, json_object_get(t->vector, "stats"));
        expect_totals(t, json_object_get(t->vector, "stats"));
        wrong += t->wrong > 0;
    }
    assert_int_equal(json_array_size(vectors), 207);
    json_decref(vectors);
    free(t);
    assert_int_equal(wrong, 0);
}

static void mappings_are_refused_for_timeloops_reason(void **state) {
    static const struct {
        const char *id, *level;
        sx_reason reason;
    } want[] = {
        {"i.capacity", "Buf", SX_CAPACITY},
        {"i.few_ranks", "DRAM", SX_FEW_RANKS},
        {"i.formats_differ", "DRAM", SX_FORMATS_DIFFER},
        {"i.child_more_ranks", "DRAM", SX_FORMATS_DIFFER},
        {"i.uncompressed_parent", "Buf", SX_UNCOMPRESSED_PARENT},
        {"i.wrap_with_action", "Buf", SX_SPARSE_UNDEFINED},
        {"i.md_capacity", "Buf", SX_METADATA_CAPACITY},
        {"i.no_decompression", "Buf", SX_NO_DECOMPRESSION},
    };
    (void)state;
    json_t *vectors = sx_vectors_load(DATA "illegal.jsonl");
    assert_int_equal(json_array_size(vectors), sizeof want / sizeof *want);
    trial *t = calloc(1, sizeof *t);
    assert_non_null(t);
    for (size_t i = 0; i < json_array_size(vectors); i++) {
        memset(t, 0, sizeof *t);
        t->vector = json_array_get(vectors, i);
        t->id = text_of(t->vector, "id");
        assert_string_equal(t->id, want[i].id);
        read_vector(t);
        sx_verdict verdict = evaluate(t);
        if (verdict.reason != want[i].reason) print_error("%s\n", t->id);
        assert_string_equal(sx_reason_name(verdict.reason), sx_reason_name(want[i].reason));
        assert_string_equal(t->arch.level[verdict.level].name, want[i].level);
    }
    json_decref(vectors);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_timeloops),
        cmocka_unit_test(mappings_are_refused_for_timeloops_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
