#include "sextant/objective.h"

#include "base/status.h"
#include "base/text.h"
#include "ir/goal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *about;
    sx_criterion criterion;
} known[] = {
    {"edp", "energy times delay", {SX_PRODUCT, 1, 1}},
    {"energy", "picojoules", {SX_PRODUCT, 1, 0}},
    {"delay", "cycles", {SX_PRODUCT, 0, 1}},
    {"ed2p", "energy times delay squared", {SX_PRODUCT, 1, 2}},
    {"latency", "cycles of the tile pipeline, with --latency tile", {SX_LATENCY, 0, 1}},
    {"last-level", "words moved at the outermost level", {SX_LAST_LEVEL, 0, 0}},
    {"utilization", "utilization of the compute units, maximised", {SX_UTILIZATION, 0, 0}},
};
enum { N_KNOWN = sizeof known / sizeof known[0] };

/* What is not a name but a way to make one. */
static const char *const forms[][2] = {
    {"e^A*d^B", "energy and delay with other exponents, such as e^2*d"},
    {"energy^A*latency^B", "energy and latency with exponents, such as energy*latency"},
    {"network-e^A*d^B",
     "energy and delay of a whole network, such as network-edp, chosen on the layers' fronts"},
    {"A,B,...", "several of these: a later one breaks ties (differences below 0.1%) of the earlier ones"},
};
static const char NETWORK[] = "network-"; /* before a product */
enum { N_FORMS = sizeof forms / sizeof forms[0] };

const char *sx_objective_name(size_t index, const char **about) {
    if (index >= N_KNOWN + N_FORMS) return NULL;
    *about = index < N_KNOWN ? known[index].about : forms[index - N_KNOWN][1];
    return index < N_KNOWN ? known[index].name : forms[index - N_KNOWN][0];
}

/* Reads "^NUMBER", a number above 0 and up to 16; advances *at. */
static bool read_exponent(const char **at, double *power) {
    const char *number = ++*at;
    char *end;
    *power = strtod(number, &end);
    *at = end;
    return end == number + strspn(number, "0123456789.eE+-") && *power > 0 && *power <= 16;
}

/* Reads one factor "e", "d", "e^1.5"; advances *at. */
static bool read_power(const char **at, double *energy, double *delay) {
    double *power = **at == 'e' ? energy : **at == 'd' ? delay : NULL;
    if (!power || *power != 0) return false;
    *power = 1;
    return *++*at != '^' || read_exponent(at, power);
}

static bool read_product(const char *text, sx_criterion *out) {
    sx_criterion c = {.kind = SX_PRODUCT};
    if (!read_power(&text, &c.energy_power, &c.delay_power)) return false;
    if (*text == '*' && (text++, !read_power(&text, &c.energy_power, &c.delay_power))) return false;
    if (*text) return false;
    *out = c;
    return true;
}

/* Reads "energy", "latency" or one of them with "^NUMBER"; advances *at. */
static bool read_word_power(const char **at, sx_criterion *c) {
    static const char *const words[] = {"energy", "latency"};
    double *const power[] = {&c->energy_power, &c->delay_power};
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(words[i]);
        if (strncmp(*at, words[i], n) != 0 || *power[i] != 0) continue;
        *at += n;
        *power[i] = 1;
        return **at != '^' || read_exponent(at, power[i]);
    }
    return false;
}

/* Reads a product of energy and latency. */
static bool read_latency_product(const char *text, sx_criterion *out) {
    sx_criterion c = {.kind = SX_LATENCY};
    if (!read_word_power(&text, &c)) return false;
    if (*text == '*' && (text++, !read_word_power(&text, &c))) return false;
    if (*text || c.delay_power == 0) return false;
    *out = c;
    return true;
}

/* The error for a word that is no objective, with the nearest name or all of them. */
static sx_status unknown_objective(const char *word) {
    const char *names[N_KNOWN];
    sx_text list = {0};
    for (int i = 0; i < N_KNOWN; i++) {
        names[i] = known[i].name;
        sx_text_add(&list, "%s%s", i ? ", " : "", names[i]);
    }
    const char *nearest = sx_text_nearest(word, names, N_KNOWN);
    sx_status error = sx_error_new(SX_ERR_USAGE, "unknown objective '%s'", word);
    if (nearest)
        error = sx_error_hint(error, "did you mean '%s'?", nearest);
    else if (!list.failed)
        error = sx_error_hint(error, "known: %s, and products such as e^2*d", list.data);
    sx_text_free(&list);
    return error;
}

/* Where words are looked up besides the known ones; no metrics: nowhere. */
typedef struct words {
    const sx_metric_about *metrics;
    size_t n;
} words;

/* Reads criterion number `index`. */
static sx_status read_criterion(const char *word, const words *more, size_t index, sx_objective *out) {
    sx_criterion *criterion = &out->criterion[index];
    sx_goal_product product;
    for (int i = 0; i < N_KNOWN; i++) {
        if (strcmp(word, known[i].name) != 0) continue;
        *criterion = known[i].criterion;
        return SX_OK;
    }
    if (read_product(word, criterion) || read_latency_product(word, criterion)) return SX_OK;
    if (!more->n || !sx_goal_product_read(word, more->metrics, more->n, &product))
        return unknown_objective(word);
    criterion->kind = SX_TERMS;
    snprintf(out->terms[index], sizeof out->terms[index], "%s", word);
    return SX_OK;
}

/* Reads criteria between commas. */
static sx_status read_objective(const char *text, const words *more, sx_objective *out) {
    sx_objective objective = {.tolerance = 0.001};
    for (const char *at = text;; at++) {
        char word[SX_TERMS_SIZE];
        size_t length = strcspn(at, ",");
        if (length >= sizeof word) return unknown_objective(at);
        if (objective.n_criteria == SX_MAX_CRITERIA)
            return sx_error_new(SX_ERR_LIMIT, "an objective has at most %d criteria", SX_MAX_CRITERIA);
        memcpy(word, at, length);
        word[length] = 0;
        SX_TRY(read_criterion(word, more, objective.n_criteria++, &objective));
        at += length;
        if (!*at) break;
    }
    *out = objective;
    return SX_OK;
}

sx_status sx_objective_parse(const char *text, sx_objective *out) {
    const size_t prefix = strlen(NETWORK);
    sx_objective objective;
    if (strncmp(text, NETWORK, prefix) != 0) return read_objective(text, &(words){0}, out);
    SX_TRY(read_objective(text + prefix, &(words){0}, &objective));
    if (objective.n_criteria > 1 || objective.criterion[0].kind != SX_PRODUCT)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "'%s' is no objective of a network", text),
                             "one is a product of energy and delay, such as network-edp or network-e^2*d");
    objective.network = true;
    *out = objective;
    return SX_OK;
}

sx_status sx_objective_parse_metrics(const char *text, const sx_metric_about *metrics, size_t n,
                                     sx_objective *out) {
    return read_objective(text, &(words){metrics, n}, out);
}

static const char *known_name(const sx_criterion *c) {
    for (int i = 0; i < N_KNOWN; i++) {
        const sx_criterion *k = &known[i].criterion;
        if (k->kind == c->kind && k->energy_power == c->energy_power && k->delay_power == c->delay_power)
            return known[i].name;
    }
    return NULL;
}

/* The name of an objective's function. */
static const char *own_name(const sx_objective *objective) {
    return objective->name ? objective->name : "function";
}

/* Writes a product with latency after a comma or nothing; returns its length. */
static int write_latency(const sx_criterion *c, const char *comma, char *text, size_t size) {
    char energy[40] = "", latency[40] = "";
    if (c->energy_power == 1) snprintf(energy, sizeof energy, "energy*");
    if (c->energy_power != 1 && c->energy_power != 0)
        snprintf(energy, sizeof energy, "energy^%.17g*", c->energy_power);
    if (c->delay_power != 1) snprintf(latency, sizeof latency, "^%.17g", c->delay_power);
    return snprintf(text, size, "%s%slatency%s", comma, energy, latency);
}

void sx_objective_text(const sx_objective *objective, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    if (objective->network) used = (size_t)snprintf(text, size, "%s", NETWORK);
    for (int i = 0; i < objective->n_criteria && used < size; i++) {
        const sx_criterion *c = &objective->criterion[i];
        const char *comma = i ? "," : "", *name = c->kind == SX_TERMS      ? objective->terms[i]
                                                  : c->kind == SX_FUNCTION ? own_name(objective)
                                                                           : known_name(c);
        int n =
            name                    ? snprintf(text + used, size - used, "%s%s", comma, name)
            : c->kind == SX_LATENCY ? write_latency(c, comma, text + used, size - used)
            : c->delay_power == 0   ? snprintf(text + used, size - used, "%se^%.17g", comma, c->energy_power)
            : c->energy_power == 0  ? snprintf(text + used, size - used, "%sd^%.17g", comma, c->delay_power)
                                    : snprintf(text + used, size - used, "%se^%.17g*d^%.17g", comma,
                                               c->energy_power, c->delay_power);
        used += (size_t)n;
    }
}

const sx_metric_about sx_mapping_metric[] = {
    {"energy_pj", "pJ", "energy"},      {"cycles", "cycles", "delay"},
    {"utilization", "", "utilization"}, {"last_level_accesses", "words", "last-level"},
    {"latency", "cycles", NULL},
};

const sx_metric_about *sx_mapping_metrics(size_t *n) {
    *n = SX_N_MAPPING_METRICS;
    return sx_mapping_metric;
}

sx_metrics sx_score_metrics(const sx_score *score) {
    return (sx_metrics){
        {score->energy_pj, score->cycles, score->utilization, score->last_level_accesses, score->latency}};
}

sx_score sx_metrics_score(const sx_metrics *metrics) {
    const double *value = metrics->value;
    return (sx_score){value[0], value[1], value[2], value[3], value[4]};
}

double sx_criterion_value(const sx_criterion *criterion, const sx_score *score) {
    switch (criterion->kind) {
    case SX_LAST_LEVEL:
        return score->last_level_accesses;
    case SX_UTILIZATION:
        return -score->utilization;
    case SX_PRODUCT:
        break;
    case SX_LATENCY:
        return sx_goal_power(score->energy_pj, criterion->energy_power) *
               sx_goal_power(score->latency, criterion->delay_power);
    case SX_TERMS:
    case SX_FUNCTION:
        return NAN;
    }
    return sx_goal_power(score->energy_pj, criterion->energy_power) *
           sx_goal_power(score->cycles, criterion->delay_power);
}

/* The value of criterion `index` for a mapping. */
static double value_of(const sx_objective *objective, int index, const sx_score *score) {
    const sx_metrics metrics = sx_score_metrics(score);
    sx_goal_product p;
    if (objective->criterion[index].kind == SX_FUNCTION)
        return objective->function(objective->user, &metrics);
    if (objective->criterion[index].kind != SX_TERMS)
        return sx_criterion_value(&objective->criterion[index], score);
    if (!sx_goal_product_read(objective->terms[index], sx_mapping_metric, SX_N_MAPPING_METRICS, &p))
        return NAN;
    return sx_goal_product_value(&p, &metrics);
}

double sx_objective_value(const sx_objective *objective, const sx_score *score) {
    if (objective->criterion[0].kind < SX_TERMS) return sx_criterion_value(&objective->criterion[0], score);
    return value_of(objective, 0, score);
}

int sx_objective_compare(const sx_objective *objective, const sx_score *a, const sx_score *b) {
    for (int i = 0; i < objective->n_criteria; i++) {
        int order = sx_goal_order(objective, i, value_of(objective, i, a), value_of(objective, i, b));
        if (order) return order;
    }
    return 0;
}
