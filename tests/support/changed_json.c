#include "support/changed_json.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What is done to a value: it goes, or another one comes in its place. */
enum { GONE, MORE, N_OTHERS = 8 };

/* One more, twice as many, or a longer name of a value; a container with a member more. */
static json_t *more_of(const json_t *value) {
    char longer[256];
    json_t *more = json_deep_copy(value);
    switch (json_typeof(value)) {
    case JSON_INTEGER:
        json_integer_set(more, json_integer_value(value) + 1);
        break;
    case JSON_REAL:
        json_real_set(more, json_real_value(value) * 1.25);
        break;
    case JSON_STRING:
        snprintf(longer, sizeof longer, "%.200sx", json_string_value(value));
        json_string_set(more, longer);
        break;
    case JSON_ARRAY:
        if (json_array_size(more)) json_array_append_new(more, json_deep_copy(json_array_get(more, 0)));
        break;
    case JSON_OBJECT:
        json_object_set_new(more, "zz", json_integer(1));
        break;
    case JSON_TRUE:
        json_decref(more);
        return json_false();
    case JSON_FALSE:
        json_decref(more);
        return json_true();
    default:
        break;
    }
    return more;
}

/* Another value, by number. */
static json_t *other_value(int number) {
    if (number == 0) return json_null();
    if (number == 1) return json_true();
    if (number == 2) return json_real(0.5);
    if (number == 3) return json_string("x");
    if (number == 4) return json_array();
    return json_integer(number == 5 ? -1 : number == 6 ? 0 : (json_int_t)1 << 62);
}

/* The value that comes in the place of another; NULL: none, as that goes. */
static json_t *changed_value(const json_t *value, int change) {
    return change == GONE ? NULL : change == MORE ? more_of(value) : other_value(change - MORE - 1);
}

/* Changes value number *left of a tree, which are counted down; whether it was there. */
static bool change_value(json_t *tree, size_t *left, int change) {
    const char *key;
    json_t *value;
    void *next;
    size_t i;
    json_object_foreach_safe(tree, next, key, value) {
        if ((*left)-- == 0) {
            json_t *other = changed_value(value, change);
            return (other ? json_object_set_new(tree, key, other) : json_object_del(tree, key)) == 0;
        }
        if (change_value(value, left, change)) return true;
    }
    json_array_foreach(tree, i, value) {
        if ((*left)-- == 0) {
            json_t *other = changed_value(value, change);
            return (other ? json_array_set_new(tree, i, other) : json_array_remove(tree, i)) == 0;
        }
        if (change_value(value, left, change)) return true;
    }
    return false;
}

void sx_changed_json(const char *text, const char *key, sx_visit_text *visit, void *user) {
    json_t *root = json_loads(text, 0, NULL);
    bool found = true;
    assert_non_null(root);
    for (size_t at = 0; found; at++)
        for (int change = GONE; change <= MORE + N_OTHERS && found; change++) {
            json_t *copy = json_deep_copy(root);
            size_t left = at;
            found = change_value(key ? json_object_get(copy, key) : copy, &left, change);
            if (found) {
                char *changed = json_dumps(copy, JSON_COMPACT);
                visit(user, changed);
                free(changed);
            }
            json_decref(copy);
        }
    json_decref(root);
}
