#include "ir/timing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(sx_timing_kind, field)

static const sx_timing_key numbers[] = {
    {"overhead", AT(overhead), 0, 1, 0, false}, {"overlap", AT(overlap), 1, INFINITY, INFINITY, false},
    {"wave", AT(wave), 0, 1, 0, false},         {"split", AT(split), 0, 1, 0, false},
    {"fill", AT(fill), 0, 4, 0, false},         {"row", AT(row), 0, INFINITY, INFINITY, true},
    {"element", AT(element), 0, 1, 0, false},   {"unaligned", AT(unaligned), 0, 1, 0, true},
    {"warp", AT(warp), 0, 1, 0, false},         {"held", AT(held), 0, INFINITY, INFINITY, true},
};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

const sx_timing_key *sx_timing_number(size_t index) {
    return index < N_NUMBERS ? &numbers[index] : NULL;
}

void sx_timing_kind_init(sx_timing_kind *kind) {
    memset(kind, 0, sizeof *kind);
    for (size_t i = 0; i < N_NUMBERS; i++) *sx_timing_value(kind, &numbers[i]) = numbers[i].otherwise;
    kind->compute = 1;
    for (int s = 0; s < SX_MAX_LEVELS; s++) kind->level[s] = 1;
}

const sx_timing_kind *sx_timing_find(const sx_timing *timing, const char *name) {
    for (int i = 1; i < timing->n_kinds; i++)
        if (strcmp(timing->kind[i].name, name) == 0) return &timing->kind[i];
    return timing->n_kinds ? &timing->kind[0] : NULL;
}

sx_status sx_timing_own(sx_timing *timing, const char *name, size_t *index) {
    if (timing->n_kinds == 0) sx_timing_kind_init(&timing->kind[timing->n_kinds++]);
    for (*index = 0; *index < timing->n_kinds; ++*index)
        if (strcmp(timing->kind[*index].name, name) == 0) return SX_OK;
    if (timing->n_kinds == SX_MAX_KINDS)
        return sx_error_new(SX_ERR_LIMIT, "more than %d kinds of operators have numbers of their own",
                            SX_MAX_KINDS - 1);
    sx_timing_kind *to = &timing->kind[timing->n_kinds++];
    *to = timing->kind[0];
    memset(to->name, 0, sizeof to->name);
    snprintf(to->name, sizeof to->name, "%s", name);
    return SX_OK;
}

sx_status sx_timing_check_number(const sx_timing_key *key, double value) {
    bool good = value >= key->low && value <= key->high && !(key->open && value == key->low);
    if (good || value == key->otherwise) return SX_OK;
    if (isinf(key->high))
        return sx_error_new(SX_ERR_INPUT, "'%s' is %g; it must be %s %g", key->name, value,
                            key->open ? "above" : "at least", key->low);
    return sx_error_new(SX_ERR_INPUT, "'%s' is %g; it must be %s %g and at most %g", key->name, value,
                        key->open ? "above" : "at least", key->low, key->high);
}

sx_status sx_timing_check_efficiency(const char *resource, double value) {
    if (value > 0 && value <= 10) return SX_OK;
    return sx_error_hint(
        sx_error_new(SX_ERR_INPUT, "the efficiency of '%s' is %g; it must be above 0 and at most 10",
                     resource, value),
        "an efficiency is the share of the architecture's peak that real operators reach, such as 0.7");
}
