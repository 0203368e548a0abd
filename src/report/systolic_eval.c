/* `sextant systolic --eval`. */
#include "base/file.h"
#include "report/json_parts.h"
#include "report/systolic.h"
#include "systolic/points.h"
#include "systolic/space.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 30 }; /* of a file of points */

/* Adds what a point costs, or why it has no cost. */
static sx_status add_answer(sx_systolic_fault fault, const sx_systolic_cost *cost, sx_text *out) {
    json_t *object = json_object();
    bool valid = sx_systolic_has_cost(fault);
    sx_json_set(object, "valid", json_boolean(valid));
    if (valid) {
        sx_json_set_systolic(cost, object);
        sx_json_set(object, "feasible", json_boolean(fault == SX_SYSTOLIC_FINE));
    }
    if (fault) sx_json_set(object, "reason", json_string(sx_systolic_fault_text(fault)));
    return sx_json_finish_line(object, out);
}

/* Costs the point of a line. */
static sx_status eval_line(const char *file, size_t number, const char *line, size_t size,
                           const sx_device *device, const sx_systolic_options *options, sx_text *out) {
    sx_outside_point p;
    sx_systolic_cost cost = {0};
    sx_systolic_fault fault;
    SX_TRY(sx_outside_point_read(file, number, line, size, &p));
    SX_TRY(sx_systolic_cost_of(&p.kernel, device, options, &p.point, &fault, &cost));
    return add_answer(fault, &cost, out);
}

/* Adds lines of JSON as the list of one object. */
static void add_list(const char *lines, sx_text *out) {
    sx_text_add(out, "{\n  \"points\": [");
    for (const char *at = lines; *at; at += strcspn(at, "\n") + 1)
        sx_text_add(out, "%s\n    %.*s", at == lines ? "" : ",", (int)strcspn(at, "\n"), at);
    sx_text_add(out, "\n  ]\n}\n");
}

sx_status sx_systolic_eval(const char *path, const sx_device *device, const sx_systolic_options *options,
                           bool json, sx_text *out) {
    char *text;
    size_t size, number = 1;
    sx_text answers = {0};
    SX_TRY(sx_file_read(path, MAX_BYTES, &text, &size));
    sx_status status = SX_OK;
    for (size_t at = 0; !status && at < size; number++) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        if (strspn(text + at, " \t\r") < length)
            status = eval_line(path, number, text + at, length, device, options, &answers);
        at += length + 1;
    }
    if (!status && json)
        add_list(answers.size ? answers.data : "", out);
    else if (!status && answers.size)
        sx_text_add_bytes(out, answers.data, answers.size);
    if (!status && answers.failed) status = sx_error_memory();
    sx_text_free(&answers);
    free(text);
    return status;
}
