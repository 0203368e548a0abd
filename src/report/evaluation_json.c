#include "report/evaluation_json.h"

#include "report/explain.h"
#include "report/figures.h"
#include "report/formats.h"
#include "report/illegal.h"
#include "report/json_parts.h"
#include "sextant/input.h"

#include <stdlib.h>

/* A paragraph's object; frees the paragraph. Where that lacks memory, so does what is written. */
static json_t *paragraph_json(const char *level, const char *tensor, sx_text *text, sx_text *out) {
    json_t *object = json_object();
    sx_json_set(object, "level", sx_json_string(level));
    if (tensor) sx_json_set(object, "tensor", json_string(tensor));
    sx_json_set(object, "text", sx_json_string(text->data));
    out->failed |= text->failed;
    sx_text_free(text);
    return object;
}

/* The reasons, level by level from the innermost, then the latency of boundaries, and the time's last. */
static json_t *explanation_json(const sx_evaluation *e, sx_text *out) {
    json_t *array = json_array();
    sx_text text = {0};
    for (int s = 0; s < e->cost.n_levels; s++)
        for (int v = 0; v < e->cost.n_tensors; v++) {
            sx_explain_tensor(e, s, v, &text);
            sx_json_append(array,
                           paragraph_json(e->arch.level[s].name, e->problem.tensor[v].name, &text, out));
        }
    for (int b = 0; b < e->cost.n_boundaries; b++) {
        sx_explain_boundary(e, b, &text);
        sx_json_append(array,
                       paragraph_json(e->arch.level[e->cost.boundary[b].level].name, NULL, &text, out));
    }
    sx_explain_time(e, &text);
    sx_json_append(array, paragraph_json(NULL, NULL, &text, out));
    return array;
}

static json_t *minimum_json(const sx_score *least) {
    return json_pack("{s:o, s:f, s:f}", "cycles", sx_json_number(least->cycles), "energy_pj",
                     least->energy_pj, "edp", least->energy_pj * least->cycles);
}

static json_t *objective_json(const sx_evaluation *e) {
    char name[256];
    sx_score score = sx_cost_score(&e->cost);
    sx_objective_text(&e->objective, name, sizeof name);
    return json_pack("{s:s, s:f}", "name", name, "value", sx_objective_value(&e->objective, &score));
}

sx_status sx_json_cost(const sx_evaluation *e, bool explain, sx_text *out) {
    char *text;
    SX_TRY(sx_cost_write(&e->cost, &e->problem, &e->arch, &text));
    json_t *object = sx_json_noun(text);
    int level = sx_limiting_level(&e->cost);
    sx_json_set(object, "limited_by", sx_json_string(level < 0 ? NULL : e->arch.level[level].name));
    sx_json_set(object, "minimum", minimum_json(&e->minimum));
    sx_work work;
    sx_work_of(&e->problem, &e->arch, &e->cost, &work);
    sx_json_set(object, "figures", sx_figures_json(&e->problem, &e->arch, &work));
    sx_json_set_energies(e->energies, &e->arch, object);
    sx_json_semantics(&e->arch, &e->options, object);
    sx_json_set_bind(&e->problem, object);
    if (e->has_objective) sx_json_set(object, "objective", objective_json(e));
    if (e->given)
        sx_json_set(object, "formats", sx_formats_object(e->given, &e->arch, &e->problem, &e->mapping));
    if (e->simulated) sx_json_set(object, "simulated", json_true());
    if (explain) sx_json_set(object, "explanation", explanation_json(e, out));
    return sx_json_finish(object, out);
}

sx_status sx_json_illegal(const sx_evaluation *e, sx_text *out) {
    const sx_verdict *v = &e->verdict;
    char sentence[512];
    sx_text cure = {0};
    json_t *object = json_object();
    sx_verdict_text(v, &e->problem, &e->arch, sentence, sizeof sentence);
    sx_illegal_cure(e, &cure);
    sx_json_set(object, "legal", json_false());
    sx_json_set(object, "reason", json_string(sentence));
    sx_json_set(object, "code", json_string(sx_reason_name(v->reason)));
    sx_json_set(object, "level", sx_json_string(v->level < 0 ? NULL : sx_level_name(&e->arch, v->level)));
    if (v->tensor >= 0) sx_json_set(object, "tensor", json_string(e->problem.tensor[v->tensor].name));
    if (v->dim >= 0) sx_json_set(object, "dimension", json_string(e->problem.dim_name[v->dim]));
    if (v->have != 0 || v->limit != 0) {
        sx_json_set(object, "have", sx_json_number(v->have));
        sx_json_set(object, "limit", sx_json_number(v->limit));
    }
    if (cure.size) sx_json_set(object, "hint", json_string(cure.data));
    out->failed |= cure.failed;
    sx_text_free(&cure);
    return sx_json_finish(object, out);
}

sx_status sx_json_unreadable(const struct sx_error *error, sx_text *out) {
    json_t *object = json_object();
    sx_json_set(object, "legal", json_false());
    sx_json_set(object, "reason", json_string(error->message));
    sx_json_set(object, "code", json_string("input"));
    sx_json_set(object, "level", json_null());
    if (error->file) {
        sx_json_set(object, "file", json_string(error->file));
        sx_json_set(object, "line", json_integer(error->line));
        sx_json_set(object, "column", json_integer(error->column));
    }
    if (error->hint) sx_json_set(object, "hint", json_string(error->hint));
    return sx_json_finish(object, out);
}
