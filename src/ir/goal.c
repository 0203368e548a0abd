/* Objectives bound to the metrics of a model. */
#include "ir/goal.h"

#include "base/status.h"
#include "base/text.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The number of the metric that has a name, or that objectives call by this word; -1 where there is none. */
static int find_metric(const char *word, size_t length, const sx_metric_about *metrics, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char *const names[] = {metrics[i].name, metrics[i].word};
        for (int k = 0; k < 2; k++)
            if (names[k] && strlen(names[k]) == length && strncmp(names[k], word, length) == 0) return (int)i;
    }
    return -1;
}

bool sx_goal_product_read(const char *text, const sx_metric_about *metrics, size_t n, sx_goal_product *out) {
    sx_goal_product product = {.negative = *text == '-'};
    if (product.negative) text++;
    for (;; text++) {
        size_t length = strcspn(text, "^*");
        int metric = find_metric(text, length, metrics, n);
        if (metric < 0 || product.n == SX_MAX_METRICS) return false;
        double power = 1;
        text += length;
        if (*text == '^') {
            const char *number = text + 1;
            power = strtod(number, (char **)&text);
            if (text != number + strspn(number, "0123456789.eE+-") || !(power > 0 && power <= 16))
                return false;
        }
        product.metric[product.n] = (uint8_t)metric;
        product.power[product.n++] = power;
        if (!*text) break;
        if (*text != '*') return false;
    }
    *out = product;
    return true;
}

/* The error for an objective that needs a metric which is not there. */
static sx_status lacks_metric(const char *word, const sx_metric_about *metrics, size_t n, const char *name) {
    sx_text list = {0};
    for (size_t i = 0; i < n; i++) sx_text_add(&list, "%s%s", i ? ", " : "", metrics[i].name);
    sx_status error = sx_error_new(SX_ERR_USAGE, "the %s model does not measure '%s'", name, word);
    if (!list.failed && n > 0) error = sx_error_hint(error, "it measures %s", list.data);
    sx_text_free(&list);
    return error;
}

/* Adds a metric by its word to a product, where its power is not 0; NULL, or the word where it is missing. */
static const char *add_term(const char *word, double power, const sx_metric_about *metrics, size_t n,
                            sx_goal_product *product) {
    if (power == 0) return NULL;
    int metric = find_metric(word, strlen(word), metrics, n);
    if (metric < 0) return word;
    product->metric[product->n] = (uint8_t)metric;
    product->power[product->n++] = power;
    return NULL;
}

/* Makes the product of one criterion. */
static sx_status init_product(sx_goal *goal, int index, const sx_metric_about *metrics, size_t n,
                              const char *name) {
    const sx_criterion *c = &goal->objective.criterion[index];
    sx_goal_product product = {.negative = c->kind == SX_UTILIZATION};
    const char *missing = NULL;
    switch (c->kind) {
    case SX_PRODUCT:
        missing = add_term("energy", c->energy_power, metrics, n, &product);
        if (!missing) missing = add_term("delay", c->delay_power, metrics, n, &product);
        break;
    case SX_LATENCY:
        missing = add_term("energy", c->energy_power, metrics, n, &product);
        if (!missing) missing = add_term("latency", c->delay_power, metrics, n, &product);
        break;
    case SX_LAST_LEVEL:
        missing = add_term("last-level", 1, metrics, n, &product);
        break;
    case SX_UTILIZATION:
        missing = add_term("utilization", 1, metrics, n, &product);
        break;
    case SX_TERMS:
        if (!sx_goal_product_read(goal->objective.terms[index], metrics, n, &product))
            missing = goal->objective.terms[index];
        break;
    case SX_FUNCTION:
        if (!goal->objective.function || goal->objective.n_criteria != 1)
            return sx_error_new(SX_ERR_USAGE,
                                "an objective by a function has the function, and one criterion");
        break;
    }
    goal->product[index] = product;
    return missing ? lacks_metric(missing, metrics, n, name) : SX_OK;
}

sx_status sx_goal_init(sx_goal *goal, const sx_objective *objective, const sx_metric_about *metrics, size_t n,
                       const char *name) {
    *goal = (sx_goal){.front = {0, n > 1}, .objective = *objective};
    for (int i = 0; i < objective->n_criteria; i++) SX_TRY(init_product(goal, i, metrics, n, name));
    return SX_OK;
}

double sx_goal_power(double x, double exponent) {
    if (exponent == 0) return 1;
    if (exponent == 1) return x;
    if (exponent == 2) return x * x;
    return pow(x, exponent);
}

double sx_goal_product_value(const sx_goal_product *product, const sx_metrics *metrics) {
    double value = 1;
    for (int i = 0; i < product->n; i++)
        value *= sx_goal_power(metrics->value[product->metric[i]], product->power[i]);
    return product->negative ? -value : value;
}

/* The value of criterion `index`. */
static double value_of(const sx_goal *goal, int index, const sx_metrics *metrics) {
    if (goal->objective.criterion[index].kind == SX_FUNCTION)
        return goal->objective.function(goal->objective.user, metrics);
    return sx_goal_product_value(&goal->product[index], metrics);
}

double sx_goal_value(const sx_goal *goal, const sx_metrics *metrics) {
    return value_of(goal, 0, metrics);
}

int sx_goal_order(const sx_objective *objective, int index, double x, double y) {
    double larger = fmax(fabs(x), fabs(y));
    bool exact = index + 1 == objective->n_criteria || isinf(larger);
    double near = exact ? 0 : objective->tolerance * larger;
    return fabs(x - y) > near ? (x < y ? -1 : 1) : 0;
}

int sx_goal_compare(const sx_goal *goal, const sx_metrics *a, const sx_metrics *b) {
    for (int i = 0; i < goal->objective.n_criteria; i++) {
        int order = sx_goal_order(&goal->objective, i, value_of(goal, i, a), value_of(goal, i, b));
        if (order) return order;
    }
    return 0;
}

const sx_objective *sx_goal_objective(const sx_goal *goal) {
    return &goal->objective;
}
