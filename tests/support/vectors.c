#include "support/vectors.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

json_t *sx_vectors_load(const char *path) {
    char *text = NULL;
    size_t size = 0;
    sx_status status = sx_file_read(path, (size_t)1 << 26, &text, &size);
    if (status) print_error("%s: %s\n", path, status->message);
    assert_null(status);
    json_t *all = json_array();
    assert_non_null(all);
    int number = 1;
    for (char *line = text, *end; *line; line = end + 1, number++) {
        json_error_t error;
        end = strchr(line, '\n');
        if (!end) print_error("%s:%d: the last line has no end\n", path, number);
        assert_non_null(end);
        json_t *object = json_loadb(line, (size_t)(end - line), 0, &error);
        if (!object) print_error("%s:%d: %s\n", path, number, error.text);
        assert_non_null(object);
        assert_int_equal(json_array_append_new(all, object), 0);
    }
    free(text);
    if (json_array_size(all) == 0) print_error("%s: no vectors\n", path);
    assert_true(json_array_size(all) > 0);
    return all;
}

double sx_vectors_number(const json_t *json, const char *path) {
    const json_t *at = json;
    for (const char *step = path; *step;) {
        char name[64];
        size_t length = strcspn(step, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, step);
        at = json_is_array(at) ? json_array_get(at, strtoul(name, NULL, 10)) : json_object_get(at, name);
        step += length + (step[length] == '.');
    }
    if (!json_is_number(at)) print_error("there is no number at %s\n", path);
    assert_true(json_is_number(at));
    return json_number_value(at);
}
