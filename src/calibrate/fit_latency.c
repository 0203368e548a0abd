/* Keys of latency, bandwidths and energies fitted to measured cycles or energies of mappings. */
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
    bool energies;
} latency_task;

/* Keys that are not of a law: their offsets are those of the architecture. */
enum { OF_ARCH = -1 };

static double *key_at(sx_arch *arch, const sx_free_key *key) {
    char *base = key->law == OF_ARCH ? (char *)arch : (char *)&arch->law[key->law];
    return (double *)(base + key->offset);
}

/* Keys of levels. */
static const struct {
    const char *name;
    size_t offset; /* in sx_storage */
} level_keys[] = {{"read_energy", offsetof(sx_storage, read_energy)},
                  {"fill_energy", offsetof(sx_storage, fill_energy)},
                  {"update_energy", offsetof(sx_storage, update_energy)},
                  {"leak_energy", offsetof(sx_storage, leak_energy)},
                  {"energy_per_hop", offsetof(sx_storage, energy_per_hop)},
                  {"read_bandwidth", offsetof(sx_storage, read_bandwidth)},
                  {"write_bandwidth", offsetof(sx_storage, write_bandwidth)},
                  {"shared_bandwidth", offsetof(sx_storage, shared_bandwidth)}};

/* Finds the key LEVEL.KEY or COMPUTE.energy with a finite value above 0; false where there is none. */
static bool find_arch_key(const sx_arch *arch, const char *name, sx_free_key *out) {
    const char *dot = strrchr(name, '.');
    char level[SX_NAME_SIZE];
    if (!dot || (size_t)(dot - name) >= sizeof level) return false;
    snprintf(level, sizeof level, "%.*s", (int)(dot - name), name);
    size_t offset = SIZE_MAX;
    int s = sx_arch_level(arch, level);
    for (size_t k = 0; k < sizeof level_keys / sizeof *level_keys && s >= 0; k++)
        if (strcmp(level_keys[k].name, dot + 1) == 0)
            offset = offsetof(sx_arch, level) + (size_t)s * sizeof(sx_storage) + level_keys[k].offset;
    if (strcmp(level, arch->compute.name) == 0 && strcmp(dot + 1, "energy") == 0)
        offset = offsetof(sx_arch, compute) + offsetof(sx_compute, energy);
    if (offset == SIZE_MAX) return false;
    out->law = OF_ARCH;
    out->offset = offset;
    double value = *(const double *)((const char *)arch + offset);
    return value > 0 && isfinite(value);
}

sx_status sx_fit_of_energies(const sx_fit *fit, bool *energies) {
    size_t n = 0;
    for (size_t k = 0; k < fit->n_free; k++)
        n += fit->key[k].law == OF_ARCH && strstr(fit->key[k].name, "energy") != NULL;
    if (n > 0 && n < fit->n_free)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--free names keys of energy and of time"),
                             "fit one kind after the other: the second from what -o wrote");
    *energies = n > 0;
    return SX_OK;
}

sx_status sx_fit_free_key(sx_fit *fit, const sx_arch *arch, const char *name) {
    int cache;
    if (fit->n_free == SX_MAX_FREE)
        return sx_error_new(SX_ERR_LIMIT, "more than %d keys cannot be fitted", SX_MAX_FREE);
    sx_free_key *to = &fit->key[fit->n_free];
    snprintf(to->name, sizeof to->name, "%s", name);
    if (find_arch_key(arch, name, to)) {
        fit->n_free++;
        return SX_OK;
    }
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
        "keys are such as start, store_time, load_bus, issue, exposed, caches.1.miss, or "
        "LEVEL.shared_bandwidth, "
        "LEVEL.read_energy");
}

/* Predicts the latency, or the energy, of a row; NAN where the keys make an architecture or a cost that is
 * refused. */
static sx_status predict_row(void *user, size_t row, double *out) {
    const latency_task *t = user;
    const sx_measured *of = &t->rows->row[row];
    const sx_model_options options = {.latency_tile = t->arch->n_laws > 0};
    sx_model *model = NULL;
    sx_model_workspace *workspace = NULL;
    sx_score score;
    *out = NAN;
    sx_status status = sx_model_new(&of->problem, t->arch, &options, &model);
    if (!status) status = sx_model_workspace_new(model, &workspace);
    if (!status && sx_evaluate_score(workspace, &of->mapping, &score).reason == SX_LEGAL)
        *out = t->energies ? score.energy_pj : score.latency;
    sx_model_workspace_free(workspace);
    sx_model_free(model);
    const bool refused = status && (status->code == SX_ERR_INPUT || status->code == SX_ERR_LIMIT);
    if (refused) sx_status_free(status);
    return refused ? SX_OK : status;
}

sx_status sx_fit_keys(sx_fit *fit, const sx_measurements *rows, sx_arch *arch, unsigned folds,
                      unsigned samples, uint64_t seed) {
    bool energies;
    SX_TRY(sx_fit_of_energies(fit, &energies));
    sx_arch *work = malloc(sizeof *work);
    double *measured = malloc(rows->n * sizeof *measured + 1);
    uint32_t *group = malloc(rows->n * sizeof *group + 1);
    sx_status status = work && measured && group ? SX_OK : sx_error_memory();
    if (status) goto done;
    *work = *arch;
    for (int s = 0; s < work->n_levels; s++) work->level[s].entries = SX_UNLIMITED;
    for (size_t i = 0; i < rows->n; i++) {
        measured[i] = sx_measured_value(&rows->row[i], energies);
        group[i] = rows->row[i].layer;
    }
    latency_task user = {rows, work, energies};
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
