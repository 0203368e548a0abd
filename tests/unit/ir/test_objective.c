#include "ir/goal.h"
#include "sextant/objective.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static sx_objective parse(const char *text) {
    sx_objective objective;
    assert_null(sx_objective_parse(text, &objective));
    return objective;
}

/* Asserts that a text is refused with a code, a message and a hint (NULL: none). */
static void assert_refused(const char *text, sx_code code, const char *message, const char *hint) {
    sx_objective objective = {.n_criteria = 77};
    sx_status error = sx_objective_parse(text, &objective);
    assert_non_null(error);
    assert_int_equal(error->code, code);
    assert_string_equal(error->message, message);
    if (hint)
        assert_string_equal(error->hint, hint);
    else
        assert_null(error->hint);
    assert_int_equal(objective.n_criteria, 77);
    sx_status_free(error);
}

static void assert_criterion(const sx_criterion *c, sx_criterion_kind kind, double energy, double delay) {
    assert_int_equal(c->kind, kind);
    assert_true(c->energy_power == energy);
    assert_true(c->delay_power == delay);
}

static void listed_names_are_read(void **state) {
    (void)state;
    sx_objective objective;
    const char *about = NULL, *name;
    size_t n = 0, named = 0;
    for (; (name = sx_objective_name(n, &about)); n++) {
        assert_true(about && *about);
        if (strpbrk(name, "AB")) continue;
        sx_status status = sx_objective_parse(name, &objective);
        assert_null(status);
        char text[80];
        sx_objective_text(&objective, text, sizeof text);
        assert_string_equal(text, name);
        named++;
    }
    assert_int_equal(named, 7);
    assert_int_equal(n, 11);
    assert_null(sx_objective_name(n + 1, &about));
}

static void names_and_products_are_read(void **state) {
    (void)state;
    const struct {
        const char *text;
        sx_criterion_kind kind;
        double energy, delay;
    } cases[] = {
        {"edp", SX_PRODUCT, 1, 1},
        {"energy", SX_PRODUCT, 1, 0},
        {"delay", SX_PRODUCT, 0, 1},
        {"ed2p", SX_PRODUCT, 1, 2},
        {"last-level", SX_LAST_LEVEL, 0, 0},
        {"utilization", SX_UTILIZATION, 0, 0},
        {"e", SX_PRODUCT, 1, 0},
        {"d", SX_PRODUCT, 0, 1},
        {"e*d", SX_PRODUCT, 1, 1},
        {"d*e", SX_PRODUCT, 1, 1},
        {"e^2*d", SX_PRODUCT, 2, 1},
        {"d^0.5*e^1.5", SX_PRODUCT, 1.5, 0.5},
        {"e^16", SX_PRODUCT, 16, 0},
        {"latency", SX_LATENCY, 0, 1},
        {"energy*latency", SX_LATENCY, 1, 1},
        {"latency^2*energy^0.5", SX_LATENCY, 0.5, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sx_objective o = parse(cases[i].text);
        assert_int_equal(o.n_criteria, 1);
        assert_criterion(&o.criterion[0], cases[i].kind, cases[i].energy, cases[i].delay);
    }
}

static void lists_are_read_in_order(void **state) {
    (void)state;
    sx_objective o = parse("delay,energy,last-level,e^3*d");
    assert_int_equal(o.n_criteria, 4);
    assert_true(o.tolerance == 0.001);
    assert_criterion(&o.criterion[0], SX_PRODUCT, 0, 1);
    assert_criterion(&o.criterion[1], SX_PRODUCT, 1, 0);
    assert_criterion(&o.criterion[2], SX_LAST_LEVEL, 0, 0);
    assert_criterion(&o.criterion[3], SX_PRODUCT, 3, 1);
}

static void wrong_texts_are_refused_with_a_cure(void **state) {
    (void)state;
    const char *known =
        "known: edp, energy, delay, ed2p, latency, last-level, utilization, and products such as e^2*d";
    assert_refused("enrgy", SX_ERR_USAGE, "unknown objective 'enrgy'", "did you mean 'energy'?");
    assert_refused("last_level", SX_ERR_USAGE, "unknown objective 'last_level'",
                   "did you mean 'last-level'?");
    assert_refused("EDP", SX_ERR_USAGE, "unknown objective 'EDP'", "did you mean 'edp'?");
    assert_refused("energy*energy", SX_ERR_USAGE, "unknown objective 'energy*energy'", known);
    assert_refused("throughput", SX_ERR_USAGE, "unknown objective 'throughput'", known);
    assert_refused("", SX_ERR_USAGE, "unknown objective ''", known);
    assert_refused("edp,", SX_ERR_USAGE, "unknown objective ''", known);
    assert_refused(",edp", SX_ERR_USAGE, "unknown objective ''", known);
    assert_refused("edp,energy,delay,edp,edp", SX_ERR_LIMIT, "an objective has at most 4 criteria", NULL);
}

static void wrong_products_are_refused(void **state) {
    (void)state;
    const char *const wrong[] = {"e*e",    "e^",   "e^x", "e^0",    "e^-1",    "e^17",   "e^nan",
                                 "e^inf",  "e*",   "*e",  "e**d",   "e*d*d",   "e^2d",   "2*e",
                                 "e^2 *d", "e^ 2", "x",   "e^0x10", "e^1e400", "e^1,,d", "e^1e-400"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sx_objective o;
        sx_status error = sx_objective_parse(wrong[i], &o);
        if (!error) fail_msg("'%s' was accepted", wrong[i]);
        assert_int_equal(error->code, SX_ERR_USAGE);
        sx_status_free(error);
    }
}

static void long_words_are_refused_without_harm(void **state) {
    (void)state;
    char text[300];
    memset(text, 'e', sizeof text);
    text[299] = 0;
    sx_objective o;
    sx_status error = sx_objective_parse(text, &o);
    assert_non_null(error);
    sx_status_free(error);
}

static void texts_are_read_back(void **state) {
    (void)state;
    const char *const texts[] = {"edp",
                                 "energy,delay",
                                 "ed2p",
                                 "last-level,utilization",
                                 "e^2*d",
                                 "e^0.1*d^0.3",
                                 "d^0.7",
                                 "e^1.0000000000000002",
                                 "e^1e-300*d^1e-300,e^0.1*d^0.3,e^0.2*d^0.3,d^0.30000000000000004"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[512];
        sx_objective a = parse(texts[i]);
        sx_objective_text(&a, text, sizeof text);
        sx_objective b = parse(text);
        assert_int_equal(a.n_criteria, b.n_criteria);
        for (int c = 0; c < a.n_criteria; c++)
            assert_criterion(&b.criterion[c], a.criterion[c].kind, a.criterion[c].energy_power,
                             a.criterion[c].delay_power);
    }
    char text[64];
    sx_objective o = parse("e^1*d,e^1*d^2,d");
    sx_objective_text(&o, text, sizeof text);
    assert_string_equal(text, "edp,ed2p,delay");
}

static void text_is_cut_to_its_buffer(void **state) {
    (void)state;
    sx_objective o = parse("energy,delay,utilization");
    char text[9];
    memset(text, 'x', sizeof text);
    sx_objective_text(&o, text, 8);
    assert_string_equal(text, "energy,");
    assert_int_equal(text[8], 'x');
}

static void values_follow_the_metric(void **state) {
    (void)state;
    sx_score s = {.energy_pj = 3, .cycles = 5, .utilization = 0.25, .last_level_accesses = 7};
    const struct {
        const char *text;
        double value;
    } cases[] = {{"edp", 15},       {"energy", 3},          {"delay", 5},  {"ed2p", 75},
                 {"last-level", 7}, {"utilization", -0.25}, {"e^2*d", 45}, {"e^3", 27}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sx_objective o = parse(cases[i].text);
        double value = sx_objective_value(&o, &s);
        assert_true(fabs(value - cases[i].value) <= 1e-12 * fabs(value));
    }
}

static void smaller_is_better(void **state) {
    (void)state;
    sx_objective o = parse("edp");
    sx_score a = {.energy_pj = 3, .cycles = 5}, b = {.energy_pj = 4, .cycles = 5};
    assert_true(sx_objective_compare(&o, &a, &b) < 0);
    assert_true(sx_objective_compare(&o, &b, &a) > 0);
    assert_int_equal(sx_objective_compare(&o, &a, &a), 0);
    b.energy_pj = nextafter(3, 4);
    assert_true(sx_objective_compare(&o, &a, &b) < 0);
    o = parse("utilization");
    a.utilization = 0.5;
    b.utilization = 0.75;
    assert_true(sx_objective_compare(&o, &b, &a) < 0);
}

static void later_criterion_decides_within_the_tolerance(void **state) {
    (void)state;
    sx_objective o = parse("delay,energy");
    sx_score a = {.energy_pj = 9, .cycles = 10000}, b = {.energy_pj = 3, .cycles = 10005};
    assert_true(sx_objective_compare(&o, &b, &a) < 0);
    b.cycles = 10020;
    assert_true(sx_objective_compare(&o, &a, &b) < 0);
    b.cycles = 10000;
    b.energy_pj = 9;
    assert_int_equal(sx_objective_compare(&o, &a, &b), 0);
    b.energy_pj = 8.9999;
    assert_true(sx_objective_compare(&o, &b, &a) < 0);
}

static void infinite_score_is_worse_than_any_other(void **state) {
    (void)state;
    const char *const texts[] = {"edp", "edp,delay", "delay,utilization", "last-level,energy"};
    sx_score good = {.energy_pj = 9, .cycles = 10000, .utilization = 0.5, .last_level_accesses = 3};
    sx_score bad = {
        .energy_pj = INFINITY, .cycles = INFINITY, .utilization = INFINITY, .last_level_accesses = INFINITY};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sx_objective o = parse(texts[i]);
        assert_true(sx_objective_compare(&o, &good, &bad) < 0);
        assert_true(sx_objective_compare(&o, &bad, &good) > 0);
        assert_int_equal(sx_objective_compare(&o, &bad, &bad), 0);
    }
}

/* Every kind of criterion is the product of metrics that it says. */
static void goals_are_products_of_metrics(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"energy", 3},  {"delay", 5},           {"edp", 15},
                 {"latency", 7}, {"energy*latency", 21}, {"energy^2*latency", 63}};
    sx_metrics metrics = {.value = {0}};
    metrics.value[SX_MAPPING_ENERGY] = 3;
    metrics.value[SX_MAPPING_CYCLES] = 5;
    metrics.value[SX_MAPPING_LATENCY] = 7;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sx_objective objective = parse(cases[i].text);
        sx_goal goal;
        assert_null(sx_goal_init(&goal, &objective, sx_mapping_metric, SX_N_MAPPING_METRICS, "a mapping"));
        if (sx_goal_value(&goal, &metrics) != cases[i].value)
            fail_msg("%s: %g", cases[i].text, sx_goal_value(&goal, &metrics));
    }
}

/* Powers of a product of metrics are above 0 and at most 16. */
static void powers_of_metrics_have_limits(void **state) {
    (void)state;
    sx_goal_product product;
    const char *const *name = &sx_mapping_metric[0].name;
    char text[64];
    static const struct {
        const char *power;
        bool good;
    } cases[] = {{"16", true}, {"0.5", true}, {"0", false}, {"17", false}, {"-1", false}, {"", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "%s^%s", *name, cases[i].power);
        assert_int_equal(sx_goal_product_read(text, sx_mapping_metric, SX_N_MAPPING_METRICS, &product),
                         cases[i].good);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goals_are_products_of_metrics),
        cmocka_unit_test(powers_of_metrics_have_limits),
        cmocka_unit_test(listed_names_are_read),
        cmocka_unit_test(names_and_products_are_read),
        cmocka_unit_test(lists_are_read_in_order),
        cmocka_unit_test(wrong_texts_are_refused_with_a_cure),
        cmocka_unit_test(wrong_products_are_refused),
        cmocka_unit_test(long_words_are_refused_without_harm),
        cmocka_unit_test(texts_are_read_back),
        cmocka_unit_test(text_is_cut_to_its_buffer),
        cmocka_unit_test(values_follow_the_metric),
        cmocka_unit_test(smaller_is_better),
        cmocka_unit_test(later_criterion_decides_within_the_tolerance),
        cmocka_unit_test(infinite_score_is_worse_than_any_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
