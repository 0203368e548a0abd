/* Keys of latency fitted to measured cycles of mappings. */
#include "calibrate/fit_latency.h"

#include "base/status.h"
#include "ir/law.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What predictions of a fit work with. */
typedef struct latency_task {
    const sx_measurements *rows;
    sx_arch *arch; /* whose keys are set */
} latency_task;

static double *key_at(sx_arch *arch, const sx_free_key *key) {
    return (double *)((char *)&arch->law[key->law] + key->offset);
}

sx_status sx_fit_free_key(sx_fit *fit, const sx_arch *arch, const char *name) {
    int cache;
    if (fit->n_free == SX_MAX_FREE)
        return sx_error_new(SX_ERR_LIMIT, "more than %d keys cannot be fitted", SX_MAX_FREE);
    sx_free_key *to = &fit->key[fit->n_free];
    snprintf(to->name, sizeof to->name, "%s", name);
    for (int i = 0; i < arch->n_laws; i++) {
        sx_law law = arch->law[i];
        const sx_law_key *key;
        to->law = i;
        for (size_t k = 0; (key = sx_law_number(k)); k++) {
            if (strcmp(key->name, name) != 0) continue;
            double value = *sx_law_value(&law, key);
            to->offset = key->offset;
            if (value > 0 && isfinite(value)) {
                fit->n_free++;
                return SX_OK;
            }
        }
        if (sscanf(name, "caches.%d.miss", &cache) == 1 && cache >= 1 && cache <= law.n_caches) {
            to->offset = offsetof(sx_law, cache) + (size_t)(cache - 1) * sizeof *law.cache +
                         offsetof(sx_law_cache, miss);
            fit->n_free++;
            return SX_OK;
        }
    }
    return sx_error_hint(
        sx_error_new(SX_ERR_USAGE, "no level has a latency key '%s' with a finite value above 0", name),
        "keys are such as start, store_time, load_bus, issue, exposed, caches.1.miss");
}

/* The cycles that the law gives for a row; NAN where it cannot be evaluated. */
static double predict(const sx_measured *row, const sx_arch *arch) {
    static const sx_model_options options = {.latency_tile = true};
    sx_model *model;
    sx_evaluator *evaluator;
    sx_score score = {.latency = NAN};
    sx_status status = sx_model_new(&row->problem, arch, &options, &model);
    if (status) {
        sx_status_free(status);
        return NAN;
    }
    status = sx_evaluator_new(model, &evaluator);
    if (!status && sx_evaluate_score(evaluator, &row->mapping, &score).reason != SX_LEGAL)
        score.latency = NAN;
    if (!status) sx_evaluator_free(evaluator);
    sx_status_free(status);
    sx_model_free(model);
    return score.latency;
}

static double predict_row(void *user, size_t row) {
    const latency_task *t = user;
    return predict(&t->rows->row[row], t->arch);
}

sx_status sx_fit_keys(sx_fit *fit, const sx_measurements *rows, sx_arch *arch, unsigned folds,
                      unsigned samples, uint64_t seed) {
    sx_arch *work = malloc(sizeof *work);
    double *measured = malloc(rows->n * sizeof *measured + 1);
    uint32_t *group = malloc(rows->n * sizeof *group + 1);
    sx_status status = work && measured && group ? SX_OK : sx_error_memory();
    if (status) goto done;
    *work = *arch;
    for (int s = 0; s < work->n_levels; s++) work->level[s].entries = SX_UNLIMITED;
    for (size_t i = 0; i < rows->n; i++) {
        measured[i] = rows->row[i].cycles;
        group[i] = rows->row[i].layer;
    }
    latency_task user = {rows, work};
    sx_fit_task task = {.n = rows->n,
                        .n_groups = rows->n_layers,
                        .measured = measured,
                        .group = group,
                        .predict = predict_row,
                        .user = &user};
    for (size_t k = 0; k < fit->n_free; k++) {
        task.value[k] = key_at(work, &fit->key[k]);
        task.least[k] = 0;
        task.most[k] = strcmp(fit->key[k].name, "exposed") == 0 ? 1 : INFINITY;
    }
    status = sx_fit_rows(fit, &task, folds, samples, seed);
    for (size_t k = 0; k < fit->n_free && !status; k++) *key_at(arch, &fit->key[k]) = fit->after[k];
done:
    free(work);
    free(measured);
    free(group);
    return status;
}
