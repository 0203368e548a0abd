/* Every noun, written as YAML or JSON, reads back to the same bytes. */
#include "support/compared.h"
#include "support/random_nouns.h"

#include "base/status.h"
#include "base/text.h"
#include "frontend/known_keys.h"
#include "frontend/timeloop/arch_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

typedef struct nouns {
    sx_problem problem, problem_back;
    sx_arch arch, arch_back;
    sx_mapping mapping, mapping_back;
    uint64_t compared;
} nouns;

/* Says which case failed and with what text. */
static void report(const settings *set, uint64_t i, const char *what, const char *text, sx_status status) {
    char *why = sx_status_text(status);
    print_error("%s, seed %llu, case %llu: %s\n%s\n", what, (unsigned long long)set->seed,
                (unsigned long long)i, status ? why : "different bytes", text ? text : "");
    free(why);
    sx_status_free(status);
    fail();
}

/* Reads one text alone into what `read` wants. */
static sx_status read_back(const char *text, nouns *n, int what) {
    sx_input *input;
    SX_TRY(sx_input_new(&input));
    sx_status status = sx_input_add_text(input, "written", text, strlen(text));
    if (!status && what == 0) status = sx_input_problem(input, &n->problem_back);
    if (!status && what == 1) status = sx_input_arch(input, &n->arch_back);
    if (!status && what == 2) status = sx_input_mapping(input, &n->problem, &n->arch, &n->mapping_back);
    sx_input_free(input);
    return status;
}

static bool same(const nouns *n, int what) {
    if (what == 0) return memcmp(&n->problem, &n->problem_back, sizeof n->problem) == 0;
    if (what == 1) return memcmp(&n->arch, &n->arch_back, sizeof n->arch) == 0;
    return memcmp(&n->mapping, &n->mapping_back, sizeof n->mapping) == 0;
}

static void round_trip(const settings *set, uint64_t i, nouns *n, int what, sx_format format) {
    static const char *const names[] = {"problem", "arch", "mapping"};
    char *text = NULL;
    sx_status status = what == 0   ? sx_problem_write(&n->problem, format, &text)
                       : what == 1 ? sx_arch_write(&n->arch, format, &text)
                                   : sx_mapping_write(&n->mapping, &n->problem, &n->arch, format, &text);
    if (!status) status = read_back(text, n, what);
    if (status || !same(n, what)) report(set, i, names[what], text, status);
    free(text);
    n->compared++;
}

static void nouns_read_back_as_written(void **state) {
    const settings *set = *state;
    nouns *n = calloc(1, sizeof *n);
    assert_non_null(n);
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "round trip", i);
        sx_random_problem(&rng, &n->problem);
        sx_random_arch(&rng, &n->arch);
        sx_random_mapping(&rng, &n->problem, &n->arch, i % 2, &n->mapping);
        for (int what = 0; what < 3; what++) {
            round_trip(set, i, n, what, SX_YAML);
            round_trip(set, i, n, what, SX_JSON);
        }
    }
    sx_expect_compared("texts", n->compared, 6 * set->count);
    free(n);
}

/* A value of a key, which may be refused: smallest and largest numbers of many kinds, and common ones. */
static const char *draw_value(sx_rng *rng, const char *kind) {
    static const char *const numbers[] = {"1",
                                          "2",
                                          "3",
                                          "4",
                                          "8",
                                          "16",
                                          "64",
                                          "0",
                                          "0.5",
                                          "0.1",
                                          "1e-9",
                                          "1e-6",
                                          "1e9",
                                          "1e15",
                                          "1e30",
                                          "1.8e308",
                                          "4.9e-324",
                                          "-1",
                                          "64B",
                                          "16 KB",
                                          "2 TB",
                                          "10k",
                                          "2147483648",
                                          "4294967295",
                                          "4294967296",
                                          "281474976710655",
                                          "281474976710656",
                                          "1099511627775",
                                          "1099511627776",
                                          "1099511627777",
                                          "9007199254740992",
                                          "18446744073709551615"};
    static const char *const others[] = {"true", "false", "[A, B]", "1:N", "A", "{A: 0.5}"};
    const bool number = strncmp(kind, "expression", 10) == 0;
    if (number && sx_rng_below(rng, 3) > 0) return numbers[sx_rng_below(rng, 7)];
    if (number) return numbers[sx_rng_below(rng, sizeof numbers / sizeof *numbers)];
    return others[sx_rng_below(rng, sizeof others / sizeof *others)];
}

/* Adds some of the keys of a table, none twice, each with a comma in front. */
static void add_keys(sx_rng *rng, const sx_keys *keys, int most, sx_text *out) {
    uint64_t used[4] = {0};
    for (int64_t left = sx_rng_range(rng, 0, most); left > 0; left--) {
        size_t r = sx_rng_below(rng, keys->n);
        const sx_key_rule *rule = &keys->rule[r];
        if (used[r / 64] >> r % 64 & 1 || strcmp(rule->key, "name") == 0) continue;
        used[r / 64] |= UINT64_C(1) << r % 64;
        if (strcmp(rule->key, "latency") == 0) {
            sx_key_rule laws[SX_MOST_KEYS];
            const sx_keys latency = sx_latency_keys(laws);
            sx_text_add(out, ", latency: {tail: true");
            add_keys(rng, &latency, 3, out);
            sx_text_add(out, "}");
        } else if (strcmp(rule->key, "tail") != 0) {
            sx_text_add(out, ", %s: %s", rule->key,
                        draw_value(rng, rule->value ? rule->value : "expression"));
        }
    }
}

/* An architecture in a dialect: the flat one, that of v0.3, that of v0.4. */
static void draw_text(sx_rng *rng, int dialect, sx_text *out) {
    static const char *const heads[] = {"arch: {",
                                        "architecture: {version: 0.3, subtree: [{name: chip, local: [",
                                        "architecture: {version: 0.4, nodes: ["};
    static const char *const classes[] = {"SRAM",        "DRAM", "regfile", "storage", "smartbuffer_SRAM",
                                          "cell_storage"};
    const sx_keys storage = sx_storage_keys(dialect == 0), compute = sx_compute_keys(dialect == 0);
    const int levels = (int)sx_rng_range(rng, 1, 3);
    const char *mesh = dialect == 2 ? "" : ", instances: 1";
    sx_text_add(out, "%s", heads[dialect]);
    if (dialect == 0) {
        sx_text_add(out, "arithmetic: {name: mac%s", mesh);
        add_keys(rng, &compute, 3, out);
        sx_text_add(out, "}, storage: [");
    }
    for (int s = 0; s < levels; s++) {
        const char *class = classes[sx_rng_below(rng, sizeof classes / sizeof *classes)];
        if (dialect == 0)
            sx_text_add(out, "{name: L%d%s, vector_access_energy: 1", s, mesh);
        else
            sx_text_add(out, "%s{name: L%d, class: %s, attributes: {vector_access_energy: 1%s",
                        dialect == 2 ? "!Component " : "", s, class, mesh);
        add_keys(rng, &storage, 4, out);
        sx_text_add(out, dialect == 0 ? "}, " : "}}, ");
    }
    if (dialect != 0) {
        sx_text_add(out, "%s{name: mac, class: intmac, attributes: {word_bits: 8%s",
                    dialect == 2 ? "!Component " : "", mesh);
        add_keys(rng, &compute, 3, out);
        sx_text_add(out, "}}");
    }
    sx_text_add(out, dialect == 1 ? "]}]}\n" : "]}\n");
}

/* Whether a text is an architecture, *out; what is wrong with it does not matter. */
static bool reads(const char *text, sx_arch *out) {
    sx_input *input;
    if (sx_input_new(&input)) return false;
    sx_status status = sx_input_add_text(input, "drawn", text, strlen(text));
    if (!status) status = sx_input_arch(input, out);
    sx_input_free(input);
    const bool good = !status;
    sx_status_free(status);
    return good;
}

static void architectures_that_are_read_read_back(void **state) {
    const settings *set = *state;
    nouns *n = calloc(1, sizeof *n);
    uint64_t tried = 0;
    assert_non_null(n);
    for (uint64_t i = 0; n->compared < set->count && i < 100 * set->count; i++, tried++) {
        sx_rng rng = sx_rng_stream(set->seed, "read back", i);
        sx_text drawn = {0};
        char *written = NULL, *again = NULL;
        draw_text(&rng, (int)(i % 3), &drawn);
        if (!drawn.failed && reads(drawn.data, &n->arch)) {
            sx_status status = sx_arch_write(&n->arch, i % 2 ? SX_YAML : SX_JSON, &written);
            if (!status) status = read_back(written, n, 1);
            if (!status) status = sx_arch_write(&n->arch_back, i % 2 ? SX_YAML : SX_JSON, &again);
            if (status || strcmp(written, again) != 0) {
                print_error("%s\n", drawn.data);
                report(set, i, "arch", written, status);
            }
            if (i % 3 == 0 && !same(n, 1)) report(set, i, "arch of", drawn.data, SX_OK);
            n->compared++;
        }
        free(written);
        free(again);
        sx_text_free(&drawn);
    }
    sx_expect_compared("architectures", n->compared, set->count);
    free(n);
}

/* Puts the output first, as einsum text does, and drops the name, which it has no place for. */
static void as_einsum(sx_problem *problem) {
    int output = sx_problem_output(problem);
    sx_tensor first = problem->tensor[output];
    memmove(&problem->tensor[1], &problem->tensor[0], (size_t)output * sizeof first);
    problem->tensor[0] = first;
    memset(problem->name, 0, sizeof problem->name);
    for (int v = 0; v < problem->n_tensors; v++) {
        memset(problem->tensor[v].name, 0, SX_NAME_SIZE);
        snprintf(problem->tensor[v].name, SX_NAME_SIZE, "T%d", v);
    }
}

static void einsum_text_reads_back(void **state) {
    const settings *set = *state;
    nouns *n = calloc(1, sizeof *n);
    assert_non_null(n);
    for (uint64_t i = 0; i < set->count; i++) {
        sx_rng rng = sx_rng_stream(set->seed, "einsum", i);
        sx_random_problem(&rng, &n->problem);
        as_einsum(&n->problem);
        char *text = NULL;
        sx_status status = sx_einsum_text(&n->problem, &text);
        if (!status) status = sx_einsum_parse(text, &n->problem_back);
        if (status || !same(n, 0)) report(set, i, "einsum", text, status);
        free(text);
        n->compared++;
    }
    sx_expect_compared("einsum texts", n->compared, set->count);
    free(n);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(nouns_read_back_as_written, &set),
        cmocka_unit_test_prestate(architectures_that_are_read_read_back, &set),
        cmocka_unit_test_prestate(einsum_text_reads_back, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
