#include "frontend/timeloop/mapper_section.h"

#include "base/text.h"

/* The keys under which Timeloop's versions have the metrics. */
static const char *const metric_keys[] = {"optimization_metrics", "optimization_metric"};
enum { N_METRIC_KEYS = sizeof metric_keys / sizeof *metric_keys };

/* Timeloop's metrics, and what they are called here. */
static const char *const metrics[][2] = {
    {"edp", "edp"},
    {"energy", "energy"},
    {"delay", "delay"},
    {"last_level_accesses", "last-level"},
};
enum { N_METRICS = sizeof metrics / sizeof *metrics };

static bool is_metric_key(const char *key) {
    for (int i = 0; i < N_METRIC_KEYS; i++)
        if (sx_key_equal(key, metric_keys[i])) return true;
    return false;
}

sx_status sx_mapper_section_check(sx_input *input, const sx_pair *section) {
    sx_text keys = {0};
    if (section->value->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_expect(section->value, SX_NODE_MAP, "'mapper'"));
    for (size_t i = 0; i < section->value->n; i++) {
        const char *key = section->value->pair[i].key;
        if (is_metric_key(key) || sx_key_equal(key, "version")) continue;
        sx_text_add(&keys, "%s%.64s", keys.size ? ", " : "", key);
        if (keys.size > 300) break;
    }
    if (keys.failed) return sx_error_memory();
    sx_status status = SX_OK;
    if (keys.size)
        status = sx_input_add_note(input, section->place, "'mapper': %s are settings of Timeloop's search",
                                   keys.data);
    sx_text_free(&keys);
    return status;
}

/* Adds a metric to the text of an objective; a visitor. */
static sx_status add_metric(void *user, const char *name, sx_place place) {
    sx_text *text = user;
    const char *known[N_METRICS];
    for (int i = 0; i < N_METRICS; i++) {
        known[i] = metrics[i][0];
        if (!sx_key_equal(name, known[i])) continue;
        sx_text_add(text, "%s%s", text->size ? "," : "", metrics[i][1]);
        return SX_OK;
    }
    sx_status error = sx_error_at(place, "unknown optimization metric '%.64s'", name);
    return sx_error_hint(error,
                         "known: edp, energy, delay and last-level-accesses; --objective overrides the file");
}

sx_status sx_input_objective(const sx_input *input, sx_objective *out, sx_place *place) {
    const sx_pair *section, *pair = NULL;
    sx_text text = {0};
    *place = (sx_place){0};
    SX_TRY(sx_input_single(input, "mapper", &section));
    for (int i = 0; i < N_METRIC_KEYS && section && !pair; i++)
        pair = sx_node_pair(section->value, metric_keys[i]);
    if (!pair || sx_node_empty(pair->value)) return SX_OK;
    sx_status status = sx_node_names(pair->value, "optimization_metrics", add_metric, &text);
    if (!status && text.failed) status = sx_error_memory();
    if (!status && text.size) status = sx_error_place(sx_objective_parse(text.data, out), pair->place);
    if (!status && text.size) *place = pair->place;
    sx_text_free(&text);
    return status;
}
