/* Schemas are whole: every name that a type refers to is defined, and every type is one. */
#include "report/schema.h"
#include "support/expect.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Fails where a reference has no definition. */
static void check_references(const json_t *defs, const json_t *value) {
    const char *key;
    json_t *item;
    size_t i;
    json_object_foreach((json_t *)value, key, item) {
        if (strcmp(key, "$ref") == 0)
            assert_true(json_is_object(json_object_get(defs, json_string_value(item) + strlen("#/$defs/"))));
        check_references(defs, item);
    }
    json_array_foreach(value, i, item) check_references(defs, item);
}

static json_t *schema_of(const char *name) {
    sx_text text = {0};
    sx_expect_ok(sx_schema_write(name, &text));
    json_t *schema = json_loads(text.data, 0, NULL);
    assert_non_null(schema);
    sx_text_free(&text);
    return schema;
}

static void references_are_defined(void **state) {
    (void)state;
    const char *name, *about;
    size_t n = 0;
    for (; (name = sx_schema_name(n, &about)); n++) {
        json_t *schema = schema_of(name);
        check_references(json_object_get(schema, "$defs"), schema);
        json_decref(schema);
    }
    assert_true(n > 8);
}

/* The value at a path of keys. */
static const json_t *value_at(const json_t *value, const char *const *path) {
    for (; *path; path++) value = json_object_get(value, *path);
    return value;
}

static void types_become_schemas(void **state) {
    (void)state;
    json_t *chip = schema_of("chip"), *defs = json_object_get(chip, "$defs");
    static const char *const ports[] = {"chip", "properties", "ports", "enum", NULL};
    static const char *const items[] = {"chip", "properties", "memories", "items", "$ref", NULL};
    static const char *const least[] = {"chip_memory", "properties", "capacity", "minimum", NULL};
    static const char *const other[] = {"chip", "patternProperties", "^output_buffer$", NULL};
    static const char *const closed[] = {"chip", "additionalProperties", NULL};
    assert_string_equal(json_string_value(json_array_get(value_at(defs, ports), 1)), "shared");
    assert_string_equal(json_string_value(value_at(defs, items)), "#/$defs/chip_memory");
    assert_int_equal(json_integer_value(value_at(defs, least)), 1);
    assert_non_null(value_at(defs, other));
    assert_true(json_is_false(value_at(defs, closed)));
    assert_int_equal(json_array_size(json_object_get(json_object_get(defs, "chip"), "allOf")), 3);
    json_decref(chip);
    json_t *file = schema_of("file");
    assert_null(json_object_get(file, "additionalProperties"));
    json_decref(file);
}

static void unknown_names_are_refused(void **state) {
    (void)state;
    sx_text text = {0};
    sx_expect_error(sx_schema_write("chips", &text), "unknown schema 'chips'\n  did you mean 'chip'?");
    sx_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_are_defined),
        cmocka_unit_test(types_become_schemas),
        cmocka_unit_test(unknown_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
