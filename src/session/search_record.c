/* What all kinds of results say of the search that found them. */
#include "session/search_record.h"

#include "base/json.h"
#include "base/status.h"
#include "sextant/version.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

bool sx_search_is_proven(const sx_search_record *record) {
    return record->optimal && strcmp(record->version, sx_version()) == 0;
}

sx_run_summary sx_search_recalled(const sx_search_record *record) {
    return (sx_run_summary){
        .stop = SX_STOP_DONE, .repeatable = true, .lower_bound = record->lower_bound, .optimal = true};
}

json_t *sx_search_limits(const sx_run_options *run) {
    return json_pack("{s:I, s:f, s:f, s:I}", "evaluations", (json_int_t)run->evaluations, "seconds",
                     run->seconds, "target", run->target, "patience", (json_int_t)run->patience);
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
