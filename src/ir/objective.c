#include "sextant/objective.h"

#include "base/status.h"
#include "base/text.h"

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
    {"last-level", "words moved at the outermost level", {SX_LAST_LEVEL, 0, 0}},
    {"utilization", "utilization of the compute units, maximised", {SX_UTILIZATION, 0, 0}},
};
enum { N_KNOWN = sizeof known / sizeof known[0] };

/* What is not a name but a way to make one. */
static const char *const forms[][2] = {
    {"e^A*d^B", "energy and delay with other exponents, such as e^2*d"},
    {"A,B,...", "several of these: a later one breaks ties (differences below 0.1%) of the earlier ones"},
};
enum { N_FORMS = sizeof forms / sizeof forms[0] };

const char *sx_objective_name(size_t index, const char **about) {
    if (index >= N_KNOWN + N_FORMS) return NULL;
    *about = index < N_KNOWN ? known[index].about : forms[index - N_KNOWN][1];
    return index < N_KNOWN ? known[index].name : forms[index - N_KNOWN][0];
}

/* Reads one factor "e", "d", "e^1.5"; advances *at. */
static bool read_power(const char **at, double *energy, double *delay) {
    double *power = **at == 'e' ? energy : **at == 'd' ? delay : NULL;
    if (!power || *power != 0) return false;
    *power = 1;
    if (*++*at != '^') return true;
    const char *number = ++*at;
    char *end;
    *power = strtod(number, &end);
    *at = end;
    return end == number + strspn(number, "0123456789.eE+-") && *power > 0 && *power <= 16;
}

static bool read_product(const char *text, sx_criterion *out) {
    sx_criterion c = {.metric = SX_PRODUCT};
    if (!read_power(&text, &c.energy_power, &c.delay_power)) return false;
    if (*text == '*' && (text++, !read_power(&text, &c.energy_power, &c.delay_power))) return false;
    if (*text) return false;
    *out = c;
    return true;
}

/* The error for a word that is no objective, with the nearest name or all of them. */
static sx_status unknown(const char *word) {
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

static sx_status read_criterion(const char *word, sx_criterion *out) {
    for (int i = 0; i < N_KNOWN; i++) {
        if (strcmp(word, known[i].name) != 0) continue;
        *out = known[i].criterion;
        return SX_OK;
    }
    return read_product(word, out) ? SX_OK : unknown(word);
}

sx_status sx_objective_parse(const char *text, sx_objective *out) {
    sx_objective objective = {.tolerance = 0.001};
    for (const char *at = text;; at++) {
        char word[80];
        size_t length = strcspn(at, ",");
        if (length >= sizeof word) return unknown(at);
        if (objective.n_criteria == SX_MAX_CRITERIA)
            return sx_error_new(SX_ERR_LIMIT, "an objective has at most %d criteria", SX_MAX_CRITERIA);
        memcpy(word, at, length);
        word[length] = 0;
        SX_TRY(read_criterion(word, &objective.criterion[objective.n_criteria++]));
        at += length;
        if (!*at) break;
    }
    *out = objective;
    return SX_OK;
}

static const char *known_name(const sx_criterion *c) {
    for (int i = 0; i < N_KNOWN; i++) {
        const sx_criterion *k = &known[i].criterion;
        if (k->metric == c->metric && k->energy_power == c->energy_power && k->delay_power == c->delay_power)
            return known[i].name;
    }
    return NULL;
}

void sx_objective_text(const sx_objective *objective, char *text, unsigned long size) {
    unsigned long used = 0;
    text[0] = 0;
    for (int i = 0; i < objective->n_criteria && used < size; i++) {
        const sx_criterion *c = &objective->criterion[i];
        const char *comma = i ? "," : "", *name = known_name(c);
        int n =
            name                   ? snprintf(text + used, size - used, "%s%s", comma, name)
            : c->delay_power == 0  ? snprintf(text + used, size - used, "%se^%.17g", comma, c->energy_power)
            : c->energy_power == 0 ? snprintf(text + used, size - used, "%sd^%.17g", comma, c->delay_power)
                                   : snprintf(text + used, size - used, "%se^%.17g*d^%.17g", comma,
                                              c->energy_power, c->delay_power);
        used += (unsigned long)n;
    }
}

/* x to a power, exact for the powers that matter. */
static double power(double x, double exponent) {
    if (exponent == 0) return 1;
    if (exponent == 1) return x;
    if (exponent == 2) return x * x;
    return pow(x, exponent);
}

double sx_criterion_value(const sx_criterion *criterion, const sx_score *score) {
    switch (criterion->metric) {
    case SX_LAST_LEVEL:
        return score->last_level_accesses;
    case SX_UTILIZATION:
        return -score->utilization;
    case SX_PRODUCT:
        break;
    }
    return power(score->energy_pj, criterion->energy_power) * power(score->cycles, criterion->delay_power);
}

double sx_objective_value(const sx_objective *objective, const sx_score *score) {
    return sx_criterion_value(&objective->criterion[0], score);
}

int sx_objective_compare(const sx_objective *objective, const sx_score *a, const sx_score *b) {
    for (int i = 0; i < objective->n_criteria; i++) {
        double x = sx_criterion_value(&objective->criterion[i], a);
        double y = sx_criterion_value(&objective->criterion[i], b);
        double larger = fmax(fabs(x), fabs(y));
        bool exact = i + 1 == objective->n_criteria || isinf(larger);
        double near = exact ? 0 : objective->tolerance * larger;
        if (fabs(x - y) > near) return x < y ? -1 : 1;
    }
    return 0;
}
