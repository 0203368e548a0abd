/* What all kinds of results say of the search that found them. */
#include "session/search_record.h"

#include "base/json.h"
#include "sextant/version.h"

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

json_t *sx_search_limits(const sx_run_options *run) {
    return json_pack("{s:I, s:f, s:f, s:I}", "evaluations", (json_int_t)run->evaluations, "seconds",
                     run->seconds, "target", run->target, "patience", (json_int_t)run->patience);
}

char *sx_search_json(json_t *tree) {
    char *text = sx_json_print(tree, JSON_SORT_KEYS | JSON_COMPACT);
    json_decref(tree);
    return text;
}
