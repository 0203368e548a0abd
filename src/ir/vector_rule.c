/* The table of functions that a vector unit computes. */
#include "ir/vector_rule.h"

#include <string.h>

static const sx_vector_rule rules[] = {
    {"add", 1, 0, 0},       {"mul", 1, 0, 0},        {"relu", 1, 0, 0},
    {"gelu", 10, 1, 0},     {"gelu-mul", 11, 1, 0},  {"quick-gelu", 3, 1, 0},
    {"silu", 2, 1, 0},      {"silu-mul", 3, 1, 0},   {"softplus", 2, 1, 0},
    {"tanh", 3, 1, 0},      {"rms-norm", 4, 0, 1},   {"layer-norm", 7, 0, 1},
    {"layer", 7, 0, 1},     {"group-norm", 7, 0, 1}, {"layer-norm-modulate", 9, 0, 1},
    {"scale-add", 2, 0, 0}, {"rotary", 3, 0, 0},     {"selective-scan", 6, 0, 0},
    {"gather", 0, 0, 0},    {"gather-add", 1, 0, 0},
};

const sx_vector_rule *sx_vector_rule_at(size_t index) {
    return index < sizeof rules / sizeof *rules ? &rules[index] : NULL;
}

const sx_vector_rule *sx_vector_rule_of(const char *function) {
    const sx_vector_rule *rule;
    for (size_t i = 0; (rule = sx_vector_rule_at(i)); i++)
        if (strcmp(rule->function, function) == 0) return rule;
    return NULL;
}
