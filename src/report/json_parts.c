#include "report/json_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *sx_json_score(const sx_score *score) {
    return json_pack("{s:o, s:f, s:f, s:f, s:o*}", "cycles", sx_json_number(score->cycles), "energy_pj",
                     score->energy_pj, "edp", score->energy_pj * score->cycles, "utilization",
                     score->utilization, "latency",
                     score->latency == score->cycles ? NULL : sx_json_real(score->latency));
}

json_t *sx_json_trace(const sx_trace_point *trace, size_t n) {
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        sx_json_append(list, json_pack("[o, f, o]", sx_json_count(trace[i].evaluations), trace[i].seconds,
                                       sx_json_real(trace[i].value)));
    return list;
}

void sx_json_set_bind(const sx_problem *problem, json_t *object) {
    json_t *names = json_object();
    for (int v = 0; v < problem->n_tensors; v++)
        if (problem->tensor[v].alias[0])
            sx_json_set(names, problem->tensor[v].alias, json_string(problem->tensor[v].name));
    if (json_object_size(names) > 0)
        sx_json_set(object, "bind", names);
    else
        json_decref(names);
}

void sx_json_set_systolic(const sx_systolic_cost *cost, json_t *object) {
    sx_json_set(object, "latency_cycles", sx_json_number(cost->latency));
    sx_json_set(object, "prologue", sx_json_number(cost->prologue));
    sx_json_set(object, "steady", sx_json_number(cost->steady));
    sx_json_set(object, "epilogue", sx_json_number(cost->epilogue));
    sx_json_set(object, "dsp", sx_json_number(cost->dsp));
    sx_json_set(object, "bram18k", sx_json_number(cost->bram18k));
    sx_json_set(object, "offchip_words", sx_json_number(cost->offchip_words));
    sx_json_set(object, "energy", sx_json_number(cost->energy));
}

json_t *sx_json_outside_evaluator(const char *command, const sx_outside_evaluator_account *account) {
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "command", sx_json_string(command), "questions",
                  sx_json_count(account->questions), "refused", sx_json_count(account->refused), "failed",
                  sx_json_count(account->failed), "restarts", sx_json_count(account->restarts));
    if (account->recalled) sx_json_set(object, "recalled", sx_json_count(account->recalled));
    if (account->expected > 0) sx_json_set(object, "expected", sx_json_real(account->expected));
    if (account->refused) sx_json_set(object, "refusal", sx_json_string(account->refusal));
    if (!account->failed_at) return object;
    sx_json_set(object, "failed_at", sx_json_count(account->failed_at));
    sx_json_set(object, "failure", sx_json_string(account->failure));
    return object;
}

json_t *sx_json_warnings(const sx_warnings *warnings) {
    const char *message, *place;
    json_t *list = json_array();
    for (size_t i = 0; (message = sx_warnings_at(warnings, i, &place)); i++) {
        json_t *item = json_object();
        if (place) sx_json_set(item, "place", sx_json_string(place));
        sx_json_set(item, "message", sx_json_string(message));
        sx_json_append(list, item);
    }
    return list;
}

json_t *sx_json_noun(char *text) {
    json_t *object = sx_json_read(text);
    free(text);
    return object;
}

/* Adds an object, written as the flags say, and frees it. */
static sx_status finish_object(json_t *object, size_t flags, sx_text *out) {
    char *text = object ? sx_json_dump(object, flags) : NULL;
    json_decref(object);
    if (!text) return sx_error_memory();
    sx_text_add(out, "%s\n", text);
    free(text);
    return SX_OK;
}

sx_status sx_json_finish(json_t *object, sx_text *out) {
    return finish_object(object, JSON_INDENT(2), out);
}

sx_status sx_json_finish_line(json_t *object, sx_text *out) {
    return finish_object(object, 0, out);
}

sx_status sx_json_extend(const sx_warnings *warnings, sx_text *text) {
    static const char end[] = "\n}\n";
    const size_t tail = sizeof end - 1;
    const char *place;
    sx_text object = {0};
    if (!sx_warnings_at(warnings, 0, &place) || text->size <= tail || text->failed) return SX_OK;
    if (text->data[0] != '{' || strcmp(text->data + text->size - tail, end) != 0) return SX_OK;
    SX_TRY(sx_json_finish(json_pack("{s:o}", "warnings", sx_json_warnings(warnings)), &object));
    text->size -= tail;
    sx_text_add(text, ",%s", object.data + 1);
    sx_text_free(&object);
    return text->failed ? sx_error_memory() : SX_OK;
}
