/* What all kinds of results say of the search that found them. */
#include "session/search_record.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/saved_state.h"
#include "base/status.h"
#include "registry/registry.h"
#include "sextant/all.h"
#include "sextant/version.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const size_t FILE_LIMIT = (size_t)1 << 32; /* of a file that a navigator reads */

sx_search_record sx_search_record_of(const sx_run_options *run, const sx_run_summary *summary,
                                     const char *objective, const char *navigator, const char *options,
                                     double value) {
    return (sx_search_record){.value = value,
                              .objective = objective,
                              .navigator = navigator,
                              .options = options,
                              .version = sx_version(),
                              .seed = run->seed,
                              .evaluations = summary->evaluations,
                              .valid = summary->valid,
                              .seconds = summary->seconds,
                              .lower_bound = summary->lower_bound,
                              .optimal = summary->optimal};
}

bool sx_search_is_current(const sx_search_record *record) {
    json_t *options = record->options ? sx_json_read(record->options) : NULL;
    const json_int_t format = json_integer_value(json_object_get(options, "proof_format"));
    json_decref(options);
    return format == SX_PROOF_FORMAT;
}

bool sx_search_is_proven(const sx_search_record *record) {
    return record->optimal && sx_search_is_current(record);
}

sx_run_summary sx_search_recalled(const sx_search_record *record) {
    return (sx_run_summary){
        .stop = SX_STOP_DONE, .repeatable = true, .lower_bound = record->lower_bound, .optimal = true};
}

/* Adds a digest of the file that a setting names; a setting that names none has no line. */
static sx_status add_file(sx_text *text, const char *setting, const char *path) {
    char *bytes = NULL;
    size_t size = 0;
    if (!*path || strcmp(setting, "save") == 0) return SX_OK;
    sx_status status = sx_file_read_regular(path, FILE_LIMIT, &bytes, &size);
    if (status && status->code == SX_ERR_MEMORY) return status;
    if (!status) sx_identity_add_digest(text, setting, path, sx_hash_bytes(bytes, size, 0));
    sx_status_free(status);
    free(bytes);
    return SX_OK;
}

/* Adds digests of the files that a navigator reads. One that is not registered reads none. */
static sx_status add_files(sx_text *text, const char *navigator) {
    const sx_registered *entry;
    double *settings;
    sx_status status = sx_settings_read(&sx_navigators, navigator, NULL, &entry, &settings);
    if (status) {
        const bool memory = status->code == SX_ERR_MEMORY;
        sx_status_free(status);
        return memory ? sx_error_memory() : SX_OK;
    }
    for (size_t i = 0; i < entry->navigator->n_settings && !status; i++)
        if (entry->navigator->settings[i].kind == SX_SETTING_TEXT)
            status = add_file(text, entry->navigator->settings[i].name, sx_settings_text_at(settings, i));
    free(settings);
    return status;
}

sx_status sx_search_identity(sx_text *text, const char *key, const char *navigator,
                             const sx_run_options *run) {
    char objective[256];
    sx_objective_text(&run->objective, objective, sizeof objective);
    sx_identity_add(text, key, "%s", navigator);
    SX_TRY(add_files(text, navigator));
    sx_identity_add(text, "--objective", "%s", objective);
    sx_identity_add(text, "tolerance", "%.17g", run->objective.tolerance);
    sx_identity_add(text, "--seed", "%llu", (unsigned long long)run->seed);
    sx_identity_add(text, "--evals", "%llu", (unsigned long long)run->evaluations);
    sx_identity_add(text, "time-limit", "%.17g", run->seconds);
    sx_identity_add(text, "--target", "%.17g", run->target);
    sx_identity_add(text, "--patience", "%llu", (unsigned long long)run->patience);
    sx_identity_add(text, "--k-best", "%u", run->k_best ? run->k_best : 1);
    sx_identity_add(text, "--pareto", "%s", run->pareto ? "yes" : "no");
    sx_identity_add(text, "--certificate", "%s", run->proof ? "yes" : "no");
    return SX_OK;
}

json_t *sx_search_limits(const sx_run_options *run) {
    return json_pack("{s:i, s:I, s:f, s:f, s:I}", "proof_format", SX_PROOF_FORMAT, "evaluations",
                     (json_int_t)run->evaluations, "seconds", run->seconds, "target", run->target, "patience",
                     (json_int_t)run->patience);
}

sx_status sx_search_keep(sx_store *store, const sx_run_options *run, const sx_run_summary *summary,
                         const char *objective, const char *method, double value,
                         const sx_point_record *point) {
    char *options = sx_search_json(sx_search_limits(run));
    sx_point_record record = *point;
    record.search = sx_search_record_of(run, summary, objective, method, options, value);
    sx_status status =
        record.space && record.point && options ? sx_store_add_point(store, &record) : sx_error_memory();
    free((void *)(uintptr_t)point->space);
    free((void *)(uintptr_t)point->point);
    free(options);
    return status;
}

char *sx_search_json(json_t *tree) {
    char *text = sx_json_print(tree, JSON_SORT_KEYS | JSON_COMPACT);
    json_decref(tree);
    return text;
}
