/* Results as JSON and back. */
#include "support/expect.h"
#include "support/sanitized.h"
#include "support/small_session.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_BYTES = 1 << 20 };

/* What `sextant map --json` printed for one layer, several mappings, imperfect factors, a network, nothing
 * found, aliases, a Timeloop problem whose output is its last tensor, and tiles that divide and others. */
static const char *const printed[] = {"single", "k-best-pareto", "remainders", "network",      "none",
                                      "bind",   "timeloop",      "widened",    "training-step"};
enum { N_PRINTED = sizeof printed / sizeof *printed };

/* Fails unless a text read and written again is the same text. */
static void expect_same_text(const char *name, const char *text) {
    sx_result *result;
    char *again;
    sx_expect_ok(sx_result_read(name, text, strlen(text), &result));
    sx_expect_ok(sx_result_write(result, &again));
    assert_string_equal(again, text);
    free(again);
    sx_result_free(result);
}

/* One of the printed texts. */
static char *text_of(const char *name) {
    char path[512], *text;
    size_t size;
    snprintf(path, sizeof path, "%s/fuzz/seeds/result/%s", SX_TEST_DATA, name);
    sx_expect_ok(sx_file_read(path, MOST_BYTES, &text, &size));
    return text;
}

static void printed_results_round_trip(void **state) {
    (void)state;
    for (size_t i = 0; i < N_PRINTED; i++) {
        char *text = text_of(printed[i]);
        expect_same_text(printed[i], text);
        free(text);
    }
}

/* Warnings are part of a result, with and without a place. */
static void warnings_round_trip(void **state) {
    (void)state;
    static const char added[] =
        ",\n  \"warnings\": [\n    {\n      \"place\": \"a.yaml:1:2\",\n      \"message\": "
        "\"first\"\n    },\n    {\n      \"message\": \"second\"\n    }\n  ]\n}\n";
    char *text = text_of("single"), *longer = malloc(strlen(text) + sizeof added);
    const char *place;
    sx_result *result;
    assert_non_null(longer);
    strcpy(longer, text);
    strcpy(longer + strlen(text) - 3, added);
    expect_same_text("warnings", longer);
    sx_expect_ok(sx_result_read("warnings", longer, strlen(longer), &result));
    assert_string_equal(sx_warnings_at(result->warnings, 1, &place), "second");
    assert_null(place);
    sx_result_free(result);
    free(longer);
    free(text);
}

/* A result that was written before figures were part of it is read as well. */
static void results_without_figures_are_read(void **state) {
    (void)state;
    char *text = text_of("before-figures");
    sx_result *result;
    assert_null(strstr(text, "figures"));
    sx_expect_ok(sx_result_read("before-figures", text, strlen(text), &result));
    assert_true(result->session.found);
    sx_result_free(result);
    free(text);
}

/* The result of a session over the small network. */
static sx_result *small_result(const sx_session_options *options, const char *objective) {
    sx_small small;
    sx_result *r;
    sx_expect_ok(sx_result_new(&r));
    sx_small_init(&small, options->mapper, options->run.evaluations, options->warm);
    r->options = *options;
    r->options.run.objective = small.options.run.objective;
    sx_expect_ok(sx_objective_parse(objective, &r->options.run.objective));
    snprintf(r->objective, sizeof r->objective, "%s", objective);
    r->network = small.network;
    r->arch = small.arch;
    sx_expect_ok(sx_navigator_text(options->mapper, "map", &r->mapper));
    sx_expect_ok(sx_session_run(&r->network, &r->arch, &r->options, &r->session));
    return r;
}

static void sessions_round_trip(void **state) {
    (void)state;
    static const char *const objectives[] = {"edp", "energy", "delay"};
    for (unsigned i = 0; i < (SX_SANITIZED ? 6 : 12); i++) {
        sx_session_options o = {.mapper = i % 2 ? "random" : "gamma", .warm = (sx_warm)(i % 3)};
        sx_run_options_init(&o.run);
        o.run.evaluations = 30 + 10 * i;
        o.run.seed = i;
        o.run.k_best = 1 + i % 4;
        o.run.pareto = i % 3 == 0;
        o.space.remainders = i % 5 == 0;
        sx_result *r = small_result(&o, objectives[i % 3]), *again;
        char *text;
        sx_expect_ok(sx_result_write(r, &text));
        expect_same_text("session", text);
        sx_expect_ok(sx_result_read("session", text, strlen(text), &again));
        assert_int_equal(again->session.n_layers, r->session.n_layers);
        assert_memory_equal(&again->session.layer[0].best.mapping, &r->session.layer[0].best.mapping,
                            sizeof(sx_mapping));
        assert_int_equal(again->session.layer[2].same_as, 0);
        assert_int_equal(again->session.layer[0].n_best, r->session.layer[0].n_best);
        free(text);
        sx_result_free(again);
        sx_result_free(r);
    }
}

/* Fails unless a text is refused at a place with a message. */
static void expect_error(const char *text, int line, int column, const char *message) {
    sx_result *result;
    sx_status status = sx_result_read("bad.json", text, strlen(text), &result);
    assert_non_null(status);
    assert_string_equal(status->file, "bad.json");
    if (!strstr(status->message, message)) fail_msg("'%s' does not hold '%s'", status->message, message);
    if (status->line != line || status->column != column)
        fail_msg("'%s' is at %d:%d, not %d:%d", status->message, status->line, status->column, line, column);
    sx_status_free(status);
}

/* A printed text with the first occurrence of some bytes changed. */
static char *changed(const char *name, const char *from, const char *to) {
    char *text = text_of(name), *at = strstr(text, from);
    char *out = malloc(strlen(text) + strlen(to) + 1);
    assert_true(at && out);
    sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    free(text);
    return out;
}

static void errors_have_places(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
        int line, column;
        const char *message;
    } bad[] = {
        {"\"seed\": 0", "\"seed\": 5", 8, 15, "not the one that 'repeat' gives"},
        {"\"count\": 1", "\"count\": -1", 10, 16, "count"},
        {"\"count\": 1", "\"counts\": 1", 10, 7, "unknown key 'counts'"},
        {"\"arch\": \"accel-b\"", "\"arch\": \"other\"", 6, 15, "'arch' is not 'accel-b'"},
        {"k:8}", "k:}", 5, 52, "size of dimension 'k'"},
        {"\"results\": [", "\"results\": [[], ", 2, 15, "a layer"},
        {"\"results\"", "\"reslts\"", 2, 3, "unknown key 'reslts'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text = changed("single", bad[i].from, bad[i].to);
        expect_error(text, bad[i].line, bad[i].column, bad[i].message);
        free(text);
    }
    expect_error("{\n  \"results\": 3,\n", 3, 1, "");
    expect_error("", 0, 0, "0 documents");
}

static void a_result_gives_its_certificate(void **state) {
    (void)state;
    sx_session_options o = {.mapper = "optimal"};
    sx_run_options_init(&o.run);
    o.run.proof = true;
    sx_result *r = small_result(&o, "edp"), *without;
    sx_constraints none;
    sx_certificate *c;
    sx_verification v;
    char *text;
    sx_constraints_init(&none, &r->network.layer[0].problem, &r->arch);
    sx_expect_ok(sx_result_certificate(r, 0, &none, &c));
    sx_expect_ok(sx_certificate_verify(c, &(sx_verify_options){.threads = 1}, &v));
    assert_int_equal(v.verdict, SX_CLAIMS_HOLD);
    assert_true(c->optimal && c->value == r->session.layer[0].best.value);
    sx_certificate_free(c);
    sx_expect_ok(sx_result_write(r, &text));
    sx_expect_ok(sx_result_read("written", text, strlen(text), &without));
    sx_expect_error(sx_result_certificate(without, 0, &none, &c), "no lower bound was proven");
    sx_expect_error(sx_result_certificate(r, 99, &none, &c), "no layer 99");
    free(text);
    sx_result_free(without);
    sx_result_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_results_round_trip),
        cmocka_unit_test(warnings_round_trip),
        cmocka_unit_test(results_without_figures_are_read),
        cmocka_unit_test(sessions_round_trip),
        cmocka_unit_test(errors_have_places),
        cmocka_unit_test(a_result_gives_its_certificate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
