/* Fused mappings against AccelForge's figures: see tests/golden/README.md.
 * usage: golden-fusion [--print FILE]     --print: the figures of every case of a file, a JSON object to a line */
#include "looptree/chain_search.h"
#include "looptree/fuse_search.h"
#include "support/expect.h"
#include "support/fusion_case.h"
#include "support/vectors.h"
#include "support/window_chain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* AccelForge computes in 32-bit numbers in places. */
static bool is_close(double a, double b) {
    return fabs(a - b) <= 2e-6 * fmax(fabs(a), fabs(b));
}

static void expect_figure(const char *id, const char *what, double have, double want) {
    if (!is_close(have, want)) print_error("%s: %s is %.17g, not %.17g\n", id, what, have, want);
    assert_true(is_close(have, want));
}

/* The figures of each level under a key; levels that have none are not compared. */
static void expect_levels(const sx_fusion_case *c, const json_t *result, const char *key,
                          const uint64_t *have) {
    json_t *levels = json_object_get(result, key), *value;
    const char *name;
    json_object_foreach(levels, name, value)
        expect_figure(c->id, key, (double)have[sx_arch_level(&c->arch, name)], json_number_value(value));
}

static sx_fused_cost evaluate_case(sx_fusion_case *c) {
    sx_fused_cost cost;
    sx_fused_verdict verdict;
    sx_fused_align(&c->cascade, &c->mapping);
    sx_expect_ok(sx_fused_evaluate(&c->arch, &c->cascade, &c->mapping, &cost, &verdict));
    if (verdict.reason) print_error("%s: refused for reason %d\n", c->id, (int)verdict.reason);
    assert_int_equal(verdict.reason, SX_FUSED_OK);
    cost.latency /= c->throughput;
    return cost;
}

static void check_case(const json_t *json) {
    const json_t *result = json_object_get(json, "result");
    sx_fusion_case c;
    sx_fusion_case_init(&c, json);
    const sx_fused_cost cost = evaluate_case(&c);
    expect_figure(c.id, "energy", cost.energy, sx_vectors_number(result, "energy"));
    expect_figure(c.id, "latency", cost.latency, sx_vectors_number(result, "latency"));
    expect_levels(&c, result, "reads", cost.reads);
    expect_levels(&c, result, "writes", cost.writes);
    expect_levels(&c, result, "peak", cost.peak);
    sx_fusion_case_fini(&c);
}

static void given_mappings(void **state) {
    (void)state;
    json_t *lines = sx_vectors_load(SX_TEST_DATA "/golden/fusion/golden.jsonl"), *one;
    size_t i, n = 0;
    json_array_foreach(lines, i, one) {
        if (!json_is_array(json_object_get(one, "paths"))) continue;
        check_case(one);
        n++;
    }
    assert_int_equal(n, 153);
    json_decref(lines);
}

static sx_fuse_objective objective_of(const json_t *json) {
    const char *name = json_string_value(json_object_get(json, "objective"));
    if (name && strcmp(name, "latency") == 0) return SX_FUSE_LATENCY;
    return name && strcmp(name, "edp") == 0 ? SX_FUSE_EDP : SX_FUSE_ENERGY;
}

/* Which tensors the levels below the exchange memory may keep. */
static void read_keeps(const sx_fusion_case *c, const json_t *options,
                       uint32_t (*keep)[SX_MAX_FUSED_LEVELS]) {
    for (size_t e = 0; e < c->cascade.n_einsums; e++)
        for (int s = 0; s < SX_MAX_FUSED_LEVELS; s++) {
            json_t *names = s < c->arch.n_levels ? json_object_get(json_object_get(options, "lower_keep"),
                                                                   c->arch.level[s].name)
                                                 : NULL,
                   *name;
            size_t i;
            keep[e][s] = names ? 0 : UINT32_MAX;
            json_array_foreach(names, i, name) {
                const int v = sx_problem_tensor(&c->cascade.einsum[e], json_string_value(name));
                if (v >= 0) keep[e][s] |= 1u << v;
            }
        }
}

/* The answer of a search, in the case's units. */
static sx_fuse_answer search_case(const sx_fusion_case *c, const json_t *json) {
    const json_t *options = json_object_get(json, "options");
    uint32_t keep[16][SX_MAX_FUSED_LEVELS];
    assert_true(c->cascade.n_einsums <= 16);
    read_keeps(c, options, keep);
    const sx_fuse_options o = {.objective = objective_of(json),
                               .unfused = json_is_true(json_object_get(options, "unfused")),
                               .loops_per_dim =
                                   (int)json_integer_value(json_object_get(options, "fused_loops_per_dim")),
                               .keep = (const uint32_t(*)[SX_MAX_FUSED_LEVELS])keep};
    sx_fuse_answer answer;
    sx_expect_ok(sx_fuse_search(&c->arch, &c->cascade, &o, &answer));
    if (!answer.found) print_error("%s: no mapping is found\n", c->id);
    assert_true(answer.found);
    answer.latency /= c->throughput;
    answer.value = sx_fuse_value(o.objective, answer.energy, answer.latency);
    return answer;
}

static void check_search(const json_t *json) {
    const json_t *want = json_object_get(json, "true_optimum");
    if (!want) want = json_object_get(json_object_get(json, "search"), "found");
    sx_fusion_case c;
    sx_fusion_case_init(&c, json);
    const sx_fuse_answer answer = search_case(&c, json);
    expect_figure(c.id, "the optimum", answer.value, json_number_value(want));
    sx_fused_mapping_fini(&c.mapping);
    c.mapping = answer.mapping;
    const sx_fused_cost cost = evaluate_case(&c);
    assert_true(fabs(cost.energy - answer.energy) <= 1e-12 * answer.energy);
    assert_true(fabs(cost.latency - answer.latency) <= 1e-12 * answer.latency);
    sx_fusion_case_fini(&c);
}

static void searches(void **state) {
    (void)state;
    json_t *lines = sx_vectors_load(SX_TEST_DATA "/golden/fusion/golden.jsonl"), *one;
    size_t i, n = 0;
    json_array_foreach(lines, i, one) {
        if (!json_is_object(json_object_get(one, "search"))) continue;
        check_search(one);
        n++;
    }
    assert_int_equal(n, 123);
    json_decref(lines);
}

static sx_chain_keep keep_named(const char *name) {
    if (name && strcmp(name, "full") == 0) return SX_CHAIN_FULL;
    return name && strcmp(name, "recompute") == 0 ? SX_CHAIN_RECOMPUTE : SX_CHAIN_RETAIN;
}

static void read_pair(const json_t *layer, const char *key, int fallback, int *out) {
    const json_t *pair = json_object_get(layer, key);
    for (size_t a = 0; a < 2; a++)
        out[a] = pair ? (int)json_integer_value(json_array_get(pair, a)) : fallback;
}

static void read_layer(const json_t *json, int channels, sx_chain_layer *layer) {
    const char *kind = json_string_value(json_object_get(json, "kind"));
    layer->kind = strcmp(kind, "dw") == 0    ? SX_CHAIN_DEPTHWISE
                  : strcmp(kind, "add") == 0 ? SX_CHAIN_ADD
                                             : SX_CHAIN_CONV;
    read_pair(json, "R", 1, layer->window);
    read_pair(json, "s", 1, layer->stride);
    read_pair(json, "dil", 1, layer->dilation);
    read_pair(json, "pad", 0, layer->pad);
    layer->channels =
        layer->kind == SX_CHAIN_CONV ? (int)json_integer_value(json_object_get(json, "C")) : channels;
    layer->source = (int)json_integer_value(json_object_get(json, "src"));
}

static void read_loops(const json_t *json, sx_chain *chain) {
    static const char *const axes[] = {"row", "col", "ch"};
    json_t *loop;
    size_t i;
    json_array_foreach(json_object_get(json, "loops"), i, loop) {
        const char *axis = json_string_value(json_array_get(loop, 0));
        for (int a = 0; a < 3; a++)
            if (strcmp(axes[a], axis) == 0) chain->loop[i].axis = (sx_chain_axis)a;
        chain->loop[i].tile = (int)json_integer_value(json_array_get(loop, 1));
        for (int m = 0; m < chain->n_layers; m++) {
            char tensor[16];
            snprintf(tensor, sizeof tensor, "T%d", m);
            const json_t *keep = json_object_get(json_object_get(json, "keep"), tensor);
            chain->keep[m][i] = keep_named(json_string_value(json_object_get(keep, axis)));
        }
        if (chain->loop[i].axis == SX_CHAIN_CHANNEL)
            chain->sliced = (int)json_integer_value(json_object_get(json, "chb"));
        chain->n_loops++;
    }
}

/* A chain of convolutions as a case of windows has it. */
static sx_chain read_chain(const json_t *json) {
    const char *acc = json_string_value(json_object_get(json, "acc")),
               *skip = json_string_value(json_object_get(json, "skip"));
    sx_chain chain;
    json_t *layer;
    size_t i;
    memset(&chain, 0, sizeof chain);
    for (size_t a = 0; a < 3; a++)
        chain.extent[a] = (int)json_integer_value(json_array_get(json_object_get(json, "in"), a));
    json_array_foreach(json_object_get(json, "layers"), i, layer) {
        char weights[24];
        snprintf(weights, sizeof weights, "W%zu", i + 1);
        read_layer(layer, i ? chain.layer[i - 1].channels : chain.extent[2], &chain.layer[i]);
        chain.layer[i].weight_depth =
            (int)json_integer_value(json_object_get(json_object_get(json, "weights"), weights));
        chain.n_layers++;
    }
    chain.spills = acc && strcmp(acc, "spill") == 0;
    chain.rereads = skip && strcmp(skip, "reread") == 0;
    read_loops(json, &chain);
    return chain;
}

/* The figures of a chain, as the cases have them. */
static SX_OWN json_t *count_chain(const json_t *json) {
    const sx_chain chain = read_chain(json);
    sx_chain_count count;
    char last[16];
    assert_true(sx_chain_execute(&chain, &count));
    sx_chain_count fast;
    assert_int_equal(sx_chain_evaluate(&chain, &fast), SX_CHAIN_OK);
    assert_memory_equal(&fast, &count, sizeof fast);
    json_t *operations = json_array(), *reads = json_object(), *writes = json_object();
    for (int l = 1; l <= chain.n_layers; l++) {
        char weights[24];
        snprintf(weights, sizeof weights, "W%d", l);
        json_array_append_new(operations, json_integer((json_int_t)count.operations[l]));
        if (chain.layer[l - 1].kind != SX_CHAIN_ADD)
            json_object_set_new(reads, weights, json_integer((json_int_t)count.weight_reads[l]));
    }
    snprintf(last, sizeof last, "T%d", chain.n_layers);
    json_object_set_new(reads, "T0", json_integer((json_int_t)count.input_reads));
    if (count.other_reads) json_object_set_new(reads, "X", json_integer((json_int_t)count.other_reads));
    if (chain.spills && chain.sliced + 1 == chain.n_layers)
        json_object_set_new(reads, last, json_integer((json_int_t)count.sum_reads));
    json_object_set_new(writes, last, json_integer((json_int_t)count.writes));
    return json_pack("{s:o, s:o, s:o, s:I}", "ops", operations, "reads", reads, "writes", writes, "peak",
                     (json_int_t)count.peak);
}

static void windows_by_execution_and_by_cells(void **state) {
    (void)state;
    static const char *const figures[] = {"ops", "reads", "writes", "peak"};
    json_t *lines = sx_vectors_load(SX_TEST_DATA "/golden/fusion/windows.jsonl"), *one;
    size_t i;
    json_array_foreach(lines, i, one) {
        json_t *have = count_chain(json_object_get(one, "case"));
        for (size_t f = 0; f < 4; f++) {
            const json_t *want = json_object_get(json_object_get(one, "result"), figures[f]);
            if (!json_equal(json_object_get(have, figures[f]), want))
                print_error("%s: %s differs\n", json_string_value(json_object_get(one, "id")), figures[f]);
            assert_true(json_equal(json_object_get(have, figures[f]), want));
        }
        json_decref(have);
    }
    assert_int_equal(i, 80);
    json_decref(lines);
}

/* The nests that a case searches in. */
static uint32_t nests_of(const json_t *json) {
    static const char *const names[] = {"none", "[row]",    "[col]",   "[row,col]",
                                        "[ch]", "[ch,row]", "[row,ch]"};
    const char *space = json_string_value(json_object_get(json, "space"));
    uint32_t nests = 0;
    for (uint32_t i = 0; i < 7; i++)
        if (strstr(space, names[i])) nests |= 1u << i;
    return nests;
}

/* The staircase of a chain: words to and from DRAM for every size of the memory. */
static SX_OWN json_t *search_chain(const json_t *json) {
    const sx_chain chain = read_chain(json_object_get(json, "case"));
    json_t *staircase = json_array();
    sx_chain_answer answer;
    const sx_chain_options options = {.nests = nests_of(json), .limit = UINT64_MAX};
    assert_true(sx_chain_search(&chain, &options, &answer));
    for (size_t i = 0; i < answer.steps.n; i++) {
        const sx_chain_step *step = sx_vector_at(&answer.steps, i);
        const sx_chain_step *whole = sx_chain_step_at(&answer.segment[1][chain.n_layers], step->size);
        json_array_append_new(staircase,
                              json_pack("{s:I, s:I, s:o}", "size", (json_int_t)step->size, "dram",
                                        (json_int_t)step->words, "dram_one_segment",
                                        whole ? json_integer((json_int_t)whole->words) : json_null()));
    }
    sx_chain_answer_fini(&answer);
    return staircase;
}

static void best_windows(void **state) {
    (void)state;
    json_t *lines = sx_vectors_load(SX_TEST_DATA "/golden/fusion/windows.optima.jsonl"), *one, *step;
    size_t i, j;
    json_array_foreach(lines, i, one) {
        json_t *have = search_chain(one), *want = json_object_get(one, "staircase");
        json_array_foreach(want, j, step) json_object_del(step, "how");
        if (!json_equal(have, want)) {
            print_error("%s: the staircase differs: ", json_string_value(json_object_get(one, "id")));
            json_dumpf(have, stderr, JSON_COMPACT);
            json_dumpf(want, stderr, JSON_COMPACT);
        }
        assert_true(json_equal(have, want));
        json_decref(have);
    }
    assert_int_equal(i, 20);
    json_decref(lines);
}

/* Counts by the names of the levels; those of unlimited ones only if `all`. */
static SX_OWN json_t *name_levels(const sx_fusion_case *c, const uint64_t *count, bool all) {
    json_t *named = json_object();
    for (int s = 0; s < c->arch.n_levels; s++)
        if (all || c->arch.level[s].entries != SX_UNLIMITED)
            json_object_set_new(named, c->arch.level[s].name, json_integer((json_int_t)count[s]));
    return named;
}

/* Prints the figures of a mapping; `optimal`: it is proven to be the best. */
static void print_figures(const sx_fusion_case *c, const sx_fused_cost *cost, bool optimal) {
    json_t *line = json_pack("{s:s, s:f, s:f, s:f, s:o, s:o, s:o, s:b}", "id", c->id, "energy", cost->energy,
                             "latency", cost->latency, "edp", cost->energy * cost->latency, "reads",
                             name_levels(c, cost->reads, true), "writes", name_levels(c, cost->writes, true),
                             "peak", name_levels(c, cost->peak, false), "optimal", optimal);
    assert_int_equal(json_dumpf(line, stdout, JSON_COMPACT), 0);
    putchar('\n');
    json_decref(line);
}

/* Prints the figures of a chain with windows. */
static void print_chain(const json_t *json) {
    json_t *line = json_object_get(json, "space")
                       ? json_pack("{s:o, s:b}", "staircase", search_chain(json), "optimal", true)
                       : count_chain(json_object_get(json, "case"));
    json_object_set(line, "id", json_object_get(json, "id"));
    assert_int_equal(json_dumpf(line, stdout, JSON_COMPACT), 0);
    putchar('\n');
    json_decref(line);
}

/* A case that asks for a search is searched, another evaluated. */
static void print_case(const json_t *json) {
    const bool is_search = strcmp(json_string_value(json_object_get(json, "kind")), "search") == 0;
    sx_fusion_case c;
    sx_fusion_case_init(&c, json);
    if (is_search) {
        sx_fused_mapping_fini(&c.mapping);
        c.mapping = search_case(&c, json).mapping;
    }
    const sx_fused_cost cost = evaluate_case(&c);
    print_figures(&c, &cost, is_search);
    sx_fusion_case_fini(&c);
}

static void print_cases(const char *path) {
    json_t *lines = sx_vectors_load(path), *one;
    size_t i;
    json_array_foreach(lines, i, one) {
        if (json_object_get(one, "case"))
            print_chain(one);
        else
            print_case(one);
    }
    json_decref(lines);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(given_mappings), cmocka_unit_test(searches),
                                       cmocka_unit_test(windows_by_execution_and_by_cells),
                                       cmocka_unit_test(best_windows)};
    if (argc == 3 && strcmp(argv[1], "--print") == 0) {
        print_cases(argv[2]);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
