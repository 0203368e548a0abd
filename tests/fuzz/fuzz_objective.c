/* Any text is an objective that writes and reads back to itself, or an error. */
#include "fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static bool same(const sx_objective *a, const sx_objective *b) {
    if (a->n_criteria != b->n_criteria || a->tolerance != b->tolerance) return false;
    for (int i = 0; i < a->n_criteria; i++) {
        const sx_criterion *x = &a->criterion[i], *y = &b->criterion[i];
        if (x->kind != y->kind || x->energy_power != y->energy_power || x->delay_power != y->delay_power ||
            strcmp(a->terms[i], b->terms[i]) != 0)
            return false;
    }
    return true;
}

/* Reads an objective of energy, delay and so on, or also of a mapping's metrics by name. */
static sx_status read_text(const char *text, bool metrics, sx_objective *out) {
    size_t n;
    const sx_metric_about *about = sx_mapping_metrics(&n);
    return metrics ? sx_objective_parse_metrics(text, about, n, out) : sx_objective_parse(text, out);
}

static void check(const char *text, bool metrics) {
    sx_objective objective, again;
    if (!succeeded(read_text(text, metrics, &objective))) return;
    char written[512];
    sx_objective_text(&objective, written, sizeof written);
    promise(succeeded(read_text(written, metrics, &again)) && same(&objective, &again));
    sx_score score = {.energy_pj = 3, .cycles = 5, .utilization = 0.5, .last_level_accesses = 7};
    promise(!isnan(sx_objective_value(&objective, &score)));
    promise(sx_objective_compare(&objective, &score, &score) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = 0;
    check(text, false);
    check(text, true);
    free(text);
    return 0;
}
