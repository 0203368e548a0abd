#include "report/json_parts.h"

#include "ir/arch.h"

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

void sx_json_set_energies(const char *source, const sx_arch *arch, json_t *object) {
    const char *name;
    sx_json_set(object, "energy_source", sx_json_string(source));
    if (!sx_arch_unpriced(arch, 0)) return;
    json_t *names = json_array();
    for (int i = 0; (name = sx_arch_unpriced(arch, i)); i++) sx_json_append(names, sx_json_string(name));
    sx_json_set(object, "unpriced", names);
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
    return out->failed ? sx_error_memory() : SX_OK;
}

sx_status sx_json_finish(json_t *object, sx_text *out) {
    return finish_object(object, JSON_INDENT(2), out);
}

sx_status sx_json_finish_line(json_t *object, sx_text *out) {
    return finish_object(object, 0, out);
}

json_t *sx_json_error(const struct sx_error *error) {
    static const char *const codes[] = {
        [SX_ERR_INPUT] = "input",       [SX_ERR_USAGE] = "usage",     [SX_ERR_FILE] = "file",
        [SX_ERR_LIMIT] = "limit",       [SX_ERR_WRITE] = "write",     [SX_ERR_MEMORY] = "memory",
        [SX_ERR_INTERNAL] = "internal", [SX_ERR_PROGRAM] = "program",
    };
    json_t *object = json_object();
    sx_json_set(object, "message", sx_json_string(error->message));
    if (error->file) sx_json_set(object, "file", sx_json_string(error->file));
    if (error->file && error->line) {
        sx_json_set(object, "line", json_integer(error->line));
        sx_json_set(object, "column", json_integer(error->column));
    }
    if (error->hint) sx_json_set(object, "hint", sx_json_string(error->hint));
    sx_json_set(object, "code", json_string(codes[error->code]));
    return object;
}

/* Whether an object that sx_json_finish added to a text has a key: no string has line breaks, so that only keys of the object
 * itself stand behind two blanks. */
static bool text_has_key(const char *text, const char *key) {
    const size_t size = strlen(key);
    for (const char *at = text; (at = strstr(at, "\n  \"")); at++)
        if (strncmp(at + 4, key, size) == 0 && strncmp(at + 4 + size, "\":", 2) == 0) return true;
    return false;
}

sx_status sx_json_extend(SX_TAKE json_t *keys, sx_text *text) {
    static const char end[] = "\n}\n";
    const size_t tail = sizeof end - 1;
    const char *key;
    void *next;
    json_t *value;
    sx_text object = {0};
    bool empty = text->size == 0, whole = text->size > tail && text->data[0] == '{' &&
                                          strcmp(text->data + text->size - tail, end) == 0;
    json_object_foreach_safe(keys, next, key, value) {
        if (whole && text_has_key(text->data, key)) json_object_del(keys, key);
    }
    if (!(empty || whole) || text->failed || (json_object_size(keys) == 0 && !sx_json_failed())) {
        json_decref(keys);
        return SX_OK;
    }
    SX_TRY(sx_json_finish(keys, &object));
    if (whole) text->size -= tail;
    sx_text_add(text, whole ? ",%s" : "{%s", object.data + 1);
    sx_text_free(&object);
    return text->failed ? sx_error_memory() : SX_OK;
}
