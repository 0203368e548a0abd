#include "frontend/timeloop/mapper_section.h"

#include "base/text.h"
#include "frontend/keys.h"

/* Timeloop's metrics, and what they are called here. */
static const char *const metrics[][2] = {
    {"edp", "edp"},
    {"energy", "energy"},
    {"delay", "delay"},
    {"last_level_accesses", "last-level"},
};
enum { N_METRICS = sizeof metrics / sizeof *metrics };

/* The keys of the section: settings of Timeloop's search have no effect here. */
static const sx_key_rule mapper_rules[] = {
    SX_KEY("optimization_metrics", "names", "what is minimised"),
    SX_KEY_SAME("optimization_metric", "optimization_metrics"),
    SX_KEY("version", "any", "of the file"),
    SX_KEY_IDLE("algorithm"),
    SX_KEY_IDLE("diagnostics"),
    SX_KEY_IDLE("diagnostics_on"),
    SX_KEY_IDLE("emit_whoop_nest"),
    SX_KEY_IDLE("filter_revisits"),
    SX_KEY_IDLE("heartbeat"),
    SX_KEY_IDLE("live_status"),
    SX_KEY_IDLE("log_all"),
    SX_KEY_IDLE("log_all_mappings"),
    SX_KEY_IDLE("log_interval"),
    SX_KEY_IDLE("log_oaves"),
    SX_KEY_IDLE("log_oaves_mappings"),
    SX_KEY_IDLE("log_stats"),
    SX_KEY_IDLE("log_suboptimal"),
    SX_KEY_IDLE("max_permutations_per_if_visit"),
    SX_KEY_IDLE("max_temporal_loops_in_a_mapping"),
    SX_KEY_IDLE("num_threads"),
    SX_KEY_IDLE("out_prefix"),
    SX_KEY_IDLE("penalize_consecutive_bypass_fails"),
    SX_KEY_IDLE("search_size"),
    SX_KEY_IDLE("sync_interval"),
    SX_KEY_IDLE("timeout"),
    SX_KEY_IDLE("victory_condition"),
};
static const sx_keys mapper_keys = SX_KEYS("mapper", true, mapper_rules);

/* The rule of a key, NULL where it is not known. */
static const sx_key_rule *mapper_rule(const char *key) {
    for (size_t i = 0; i < mapper_keys.n; i++)
        if (sx_key_equal(key, mapper_rules[i].key)) return &mapper_rules[i];
    return NULL;
}

sx_status sx_mapper_section_check(sx_input *input, const sx_pair *section) {
    sx_text settings = {0};
    sx_status status = SX_OK;
    if (section->value->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_expect(section->value, SX_NODE_MAP, "'mapper'"));
    for (size_t i = 0; i < section->value->n && !status; i++) {
        const sx_pair *pair = &section->value->pair[i];
        const sx_key_rule *rule = mapper_rule(pair->key);
        if (rule && rule->use == SX_KEY_NO_BEARING && !pair->literal)
            sx_text_add(&settings, "%s%.64s", settings.size ? ", " : "", pair->key);
        else
            status = sx_node_check_key(input, section->value, pair, "key", "'mapper'", &mapper_keys);
    }
    if (!status && settings.failed) status = sx_error_memory();
    if (!status && settings.size)
        status = sx_input_add_note(input, section->place, "'mapper': %s are settings of Timeloop's search",
                                   settings.data);
    sx_text_free(&settings);
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
    if (section) pair = sx_node_pair(section->value, "optimization_metrics");
    if (section && !pair) pair = sx_node_pair(section->value, "optimization_metric");
    if (!pair || sx_node_empty(pair->value)) return SX_OK;
    sx_status status = sx_node_names(pair->value, "optimization_metrics", add_metric, &text);
    if (!status && text.failed) status = sx_error_memory();
    if (!status && text.size) status = sx_error_place(sx_objective_parse(text.data, out), pair->place);
    if (!status && text.size) *place = pair->place;
    sx_text_free(&text);
    return status;
}
