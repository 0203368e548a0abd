/* Every noun, written as YAML or JSON, reads back to the same bytes. */
#include "support/compared.h"
#include "support/random_nouns.h"

#include "base/status.h"

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
        cmocka_unit_test_prestate(einsum_text_reads_back, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
