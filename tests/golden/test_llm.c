/* Operators and totals of language models and other networks against figures made by an independent list of operators
 * (tests/golden/README.md).
 * usage: golden-llm [FILE]     FILE: compares every case of it and prints a JSON object to a line */
#include "sextant/all.h"
#include "support/expect.h"
#include "support/vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Differences of a case: how many, and the first one in words. */
typedef struct findings {
    size_t n;
    char first[256];
} findings;

static void compare(findings *f, const char *where, const char *what, uint64_t have, const json_t *want) {
    if (!want || (json_is_integer(want) && (uint64_t)json_integer_value(want) == have)) return;
    if (json_is_null(want) || f->n++) return;
    snprintf(f->first, sizeof f->first, "%s %s: %llu, not %lld", where, what, (unsigned long long)have,
             (long long)json_integer_value(want));
}

static uint64_t count_of(const json_t *json, const char *key) {
    return (uint64_t)json_integer_value(json_object_get(json, key));
}

static const char *text_of(const json_t *json, const char *key) {
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

static sx_network_options options_of(const json_t *json) {
    sx_network_options o = {.batch = (uint32_t)count_of(json, "batch"), .tokens = count_of(json, "tokens")};
    for (int p = SX_PHASE_PREFILL; p < SX_N_NETWORK_PHASES; p++)
        if (strcmp(sx_phase_name((sx_phase)p), text_of(json, "phase")) == 0) o.phase = (sx_phase)p;
    o.context = count_of(json, "context");
    o.has_context = o.phase == SX_PHASE_PREFILL || o.phase == SX_PHASE_DECODE;
    o.balanced = strcmp(text_of(json, "routing"), "balanced") == 0;
    o.all_logits = strcmp(text_of(json, "logits"), "all") == 0;
    return o;
}

static int by_size(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The sizes of an einsum's text, "... {m:2,k:3}", without their names. */
static size_t sizes_of(const char *text, uint32_t size[SX_MAX_DIMS]) {
    size_t n = 0;
    for (const char *at = strchr(text, '{'); at && n < SX_MAX_DIMS && (at = strchr(at, ':')); at++)
        size[n++] = (uint32_t)strtoul(at + 1, NULL, 10);
    qsort(size, n, sizeof *size, by_size);
    return n;
}

/* Compares the sizes of an einsum, whatever its dimensions are called. */
static void compare_einsum(findings *f, const char *name, const sx_problem *have, const char *want) {
    uint32_t a[SX_MAX_DIMS], b[SX_MAX_DIMS];
    size_t n = sizes_of(want, b);
    bool same = n == have->n_dims;
    for (int d = 0; d < have->n_dims; d++) a[d] = have->size[d];
    qsort(a, have->n_dims, sizeof *a, by_size);
    for (size_t i = 0; same && i < n; i++) same = a[i] == b[i];
    if (same || f->n++) return;
    snprintf(f->first, sizeof f->first, "%.64s: the sizes are not those of %.160s", name, want);
}

static void compare_operator(findings *f, const sx_graph *graph, const sx_operator *op, const json_t *want) {
    const char *name = text_of(want, "name"), *einsum = text_of(want, "einsum");
    if (strcmp(op->name, name) != 0) {
        if (!f->n++) snprintf(f->first, sizeof f->first, "operator %.64s, not %.64s", op->name, name);
        return;
    }
    compare(f, name, "count", op->count, json_object_get(want, "count"));
    compare(f, name, "macs", op->macs, json_object_get(want, "macs"));
    compare(f, name, "weights", op->weights, json_object_get(want, "weights"));
    compare(f, name, "kv_read", op->state_reads, json_object_get(want, "kv_read"));
    compare(f, name, "kv_write", op->state_writes, json_object_get(want, "kv_write"));
    compare(f, name, "reads", op->reads, json_object_get(want, "reads"));
    compare(f, name, "writes", op->writes, json_object_get(want, "writes"));
    if (op->vector) compare(f, name, "elements", op->elements, json_object_get(want, "elements"));
    if (op->vector || !*einsum) return;
    compare(f, name, "repeat", op->repeat, json_object_get(want, "repeat"));
    compare(f, name, "useful_macs", op->useful_macs, json_object_get(want, "useful_macs"));
    compare_einsum(f, name, &graph->einsum[graph->node[op->node].einsum], einsum);
}

static void compare_totals(findings *f, const sx_operator_totals *t, const json_t *want) {
    const struct {
        const char *key;
        uint64_t have;
    } rows[] = {
        {"params", t->parameters},
        {"active_params", t->active_parameters},
        {"macs", t->macs},
        {"useful_macs", t->useful_macs},
        {"weight_macs", t->weight_macs},
        {"weights_read", t->weights_read},
        {"kv_read", t->state_reads},
        {"kv_write", t->state_writes},
        {"vector_elements", t->vector_elements},
        {"vector_reads", t->vector_reads},
        {"vector_writes", t->vector_writes},
        {"ops", t->einsums},
        {"layers", t->layers},
        {"vector_ops", t->vector_ops},
        {"kv_elements_per_token", t->state_per_token},
        {"kv_cache_elements", t->state_held},
        {"experts_hit", t->experts_hit},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        compare(f, "total", rows[i].key, rows[i].have, json_object_get(want, rows[i].key));
    const json_t *bytes = json_object_get(want, "bytes_w8kv8");
    compare(f, "total", "bytes of weights", (uint64_t)t->weights_read_bytes,
            json_object_get(bytes, "weights_read"));
    if (json_is_integer(json_object_get(want, "kv_cache_elements")))
        compare(f, "total", "bytes of the cache", (uint64_t)t->state_held_bytes,
                json_object_get(bytes, "kv_cache"));
}

static void compare_case(const json_t *json, findings *f) {
    const sx_network_options options = options_of(json);
    const json_t *ops = json_object_get(json, "ops");
    sx_graph graph;
    sx_operators have;
    *f = (findings){0};
    sx_status status = sx_catalog_graph(text_of(json, "model"), &options, &graph);
    if (status) {
        f->n = 1;
        snprintf(f->first, sizeof f->first, "%.200s", status->message);
        sx_status_free(status);
        return;
    }
    sx_expect_ok(sx_graph_operators(&graph, &have));
    compare_totals(f, &have.totals, json_object_get(json, "totals"));
    if (ops && json_array_size(ops) != have.n && !f->n++)
        snprintf(f->first, sizeof f->first, "%zu operators, not %zu", have.n, json_array_size(ops));
    for (size_t i = 0; i < have.n && i < json_array_size(ops); i++)
        compare_operator(f, &graph, &have.op[i], json_array_get(ops, i));
    sx_operators_fini(&have);
    sx_graph_fini(&graph);
}

/* Prints a line for each case of a file; gives how many differ. */
static int print_cases(const char *path) {
    json_t *lines = sx_vectors_load(path), *one;
    size_t i;
    int n = 0;
    json_array_foreach(lines, i, one) {
        findings f;
        compare_case(one, &f);
        n += f.n > 0;
        json_t *line =
            json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:I, s:s}", "model", text_of(one, "model"), "phase",
                      text_of(one, "phase"), "batch", (json_int_t)count_of(one, "batch"), "tokens",
                      (json_int_t)count_of(one, "tokens"), "context", (json_int_t)count_of(one, "context"),
                      "equal", f.n == 0, "differences", (json_int_t)f.n, "first", f.first);
        char *text = json_dumps(line, JSON_COMPACT);
        puts(text);
        free(text);
        json_decref(line);
    }
    json_decref(lines);
    return n;
}

static void golden_cases(void **state) {
    (void)state;
    json_t *lines = sx_vectors_load(SX_TEST_DATA "/golden/llm/golden.jsonl"), *one;
    size_t i, n = 0, listed = 0;
    json_array_foreach(lines, i, one) {
        findings f;
        compare_case(one, &f);
        if (f.n)
            print_error("%s %s: %zu differences, first %s\n", text_of(one, "model"), text_of(one, "phase"),
                        f.n, f.first);
        assert_int_equal(f.n, 0);
        n++;
        listed += json_object_get(one, "ops") != NULL;
    }
    assert_int_equal(n, 104);
    assert_int_equal(listed, 52);
    json_decref(lines);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_cases)};
    if (argc > 1) return print_cases(argv[1]) > 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
