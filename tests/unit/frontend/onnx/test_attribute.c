/* Attributes of nodes: numbers one by one or packed, limits, and those that stand for an attribute of a call. Messages are
 * written by hand: a field is its number times 8 plus its kind (0 a number, 2 bytes with their length, 5 four bytes). */
#include "frontend/onnx/attribute.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { NODE_ATTRIBUTE = 5, FUNCTION_DEFAULT = 11 };

/* A message that holds some attributes. */
typedef struct message {
    unsigned char bytes[256];
    size_t size;
} message;

/* Adds an attribute of a name of one letter, with fields, to a node (5) or to the defaults of a function (11). */
static void add_attribute(message *m, int field, char name, const void *fields, size_t size) {
    unsigned char *at = m->bytes + m->size;
    assert_true(m->size + size + 5 <= sizeof m->bytes && size < 100);
    memcpy(at,
           (unsigned char[]){(unsigned char)(field << 3 | 2), (unsigned char)(size + 3), 0x0a, 1,
                             (unsigned char)name},
           5);
    memcpy(at + 5, fields, size);
    m->size += size + 5;
}

static sx_onnx_node node_of(const message *m) {
    return (sx_onnx_node){.message = {m->bytes, m->size}};
}

static void whole_numbers(void **state) {
    static const struct {
        unsigned char fields[14];
        size_t size;
        int64_t value;
    } cases[] = {
        {{0x18, 7}, 2, 7},
        {{0x18, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20}, 7, INT64_C(1) << 40},
        {{0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f}, 7, (INT64_C(1) << 40) - 1},
        {{0x18, 0x81, 0x80, 0x80, 0x80, 0x80, 0x20}, 7, INT64_C(1) << 40},
        {{0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 11, -1},
        {{0x18, 0x80, 0x80, 0x80, 0x80, 0x80, 0xe0, 0xff, 0xff, 0xff, 0x01}, 11, -(INT64_C(1) << 40)},
        {{0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xdf, 0xff, 0xff, 0xff, 0x01}, 11, -(INT64_C(1) << 40)},
        {{0x18, 0x81, 0x80, 0x80, 0x80, 0x80, 0xe0, 0xff, 0xff, 0xff, 0x01}, 11, 1 - (INT64_C(1) << 40)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        message m = {.size = 0};
        add_attribute(&m, NODE_ATTRIBUTE, 'a', cases[i].fields, cases[i].size);
        const sx_onnx_node node = node_of(&m);
        assert_true(sx_onnx_int((sx_onnx_place){&node, NULL}, "a", 3) == cases[i].value);
        assert_true(sx_onnx_int((sx_onnx_place){&node, NULL}, "b", 3) == 3);
    }
}

/* Fails the test unless a node has these whole numbers, or as many of them as there is room for. */
static void expect_ints(const sx_onnx_node *node, const char *name, const int64_t *wanted, int n) {
    for (int room = 0; room <= 6; room++) {
        int64_t got[7] = {99, 99, 99, 99, 99, 99, 99};
        const int wide = n < room ? n : room;
        assert_int_equal(sx_onnx_ints((sx_onnx_place){node, NULL}, name, got, room), wide);
        for (int i = 0; i < 7; i++) assert_true(got[i] == (i < wide ? wanted[i] : 99));
    }
}

static void lists_of_whole_numbers(void **state) {
    static const unsigned char each[] = {0x40, 3, 0x40, 4, 0x18, 9, 0x40, 5},
                               packed[] = {0x42, 4, 3, 4, 0xac, 2},
                               mixed[] = {0x42, 2, 3, 4, 0x40, 5, 0x42, 1, 6};
    message m = {.size = 0};
    int64_t none;
    (void)state;
    add_attribute(&m, NODE_ATTRIBUTE, 'e', each, sizeof each);
    add_attribute(&m, NODE_ATTRIBUTE, 'p', packed, sizeof packed);
    add_attribute(&m, NODE_ATTRIBUTE, 'm', mixed, sizeof mixed);
    add_attribute(&m, NODE_ATTRIBUTE, 'n', "", 0);
    const sx_onnx_node node = node_of(&m);
    expect_ints(&node, "e", (int64_t[]){3, 4, 5}, 3);
    expect_ints(&node, "p", (int64_t[]){3, 4, 300}, 3);
    expect_ints(&node, "m", (int64_t[]){3, 4, 5, 6}, 4);
    expect_ints(&node, "n", NULL, 0);
    assert_int_equal(sx_onnx_ints((sx_onnx_place){&node, NULL}, "x", &none, 1), -1);
}

/* Fails the test unless a node has these real numbers, or as many of them as there is room for. */
static void expect_floats(const sx_onnx_node *node, const char *name, const double *wanted, int n) {
    for (int room = 0; room <= 4; room++) {
        double got[5] = {99, 99, 99, 99, 99};
        const int wide = n < room ? n : room;
        assert_int_equal(sx_onnx_floats((sx_onnx_place){node, NULL}, name, got, room), wide);
        for (int i = 0; i < 5; i++) assert_true(got[i] == (i < wide ? wanted[i] : 99));
    }
}

/* 1.5, -2 and 1 + 2^-23 + 2^-15 + 2^-7, whose bytes all differ; the last packed list ends within a number. */
static void lists_of_real_numbers(void **state) {
    static const unsigned char one[] = {0x15, 0, 0, 0xc0, 0x3f},
                               each[] = {0x3d, 0, 0, 0xc0, 0x3f, 0x18, 4, 0x3d, 0, 0, 0, 0xc0},
                               packed[] = {0x3a, 10, 0, 0, 0xc0, 0x3f, 1, 1, 0x81, 0x3f, 7, 7};
    message m = {.size = 0};
    double none;
    (void)state;
    add_attribute(&m, NODE_ATTRIBUTE, 'o', one, sizeof one);
    add_attribute(&m, NODE_ATTRIBUTE, 'e', each, sizeof each);
    add_attribute(&m, NODE_ATTRIBUTE, 'p', packed, sizeof packed);
    const sx_onnx_node node = node_of(&m);
    expect_floats(&node, "o", (double[]){1.5}, 1);
    expect_floats(&node, "e", (double[]){1.5, -2}, 2);
    expect_floats(&node, "p", (double[]){1.5, 1 + 0x1p-23 + 0x1p-15 + 0x1p-7}, 2);
    assert_int_equal(sx_onnx_floats((sx_onnx_place){&node, NULL}, "x", &none, 1), -1);
}

static void texts_and_messages(void **state) {
    static const unsigned char fields[] = {0x22, 2, 'h', 'i', 0x2a, 1, 't', 0x32, 0};
    message m = {.size = 0};
    sx_bytes got;
    (void)state;
    add_attribute(&m, NODE_ATTRIBUTE, 'a', fields, sizeof fields);
    add_attribute(&m, NODE_ATTRIBUTE, 'b', fields, 4);
    const sx_onnx_node node = node_of(&m);
    const sx_onnx_place place = {&node, NULL};
    assert_true(sx_bytes_are(sx_onnx_string(place, "a"), "hi"));
    assert_int_equal(sx_onnx_string(place, "x").size, 0);
    assert_true(sx_onnx_attribute_tensor(place, "a", &got) && sx_bytes_are(got, "t"));
    assert_true(sx_onnx_attribute_graph(place, "a", &got) && got.size == 0);
    assert_false(sx_onnx_attribute_tensor(place, "b", &got));
    assert_false(sx_onnx_attribute_graph(place, "b", &got));
    assert_false(sx_onnx_attribute_tensor(place, "x", &got));
}

/* An attribute of a body that names one of the call is that one, through calls within calls, or the default of the function;
 * without a call it is what it says itself. */
static void references(void **state) {
    static const unsigned char names_b[] = {0xaa, 1, 1, 'b'}, names_c[] = {0xaa, 1, 1, 'c'},
                               five[] = {0x18, 5}, six[] = {0x18, 6}, seven[] = {0x18, 7};
    message inner = {.size = 0}, middle = {.size = 0}, outer = {.size = 0}, defaults = {.size = 0};
    (void)state;
    add_attribute(&inner, NODE_ATTRIBUTE, 'a', names_b, sizeof names_b);
    add_attribute(&middle, NODE_ATTRIBUTE, 'b', names_c, sizeof names_c);
    add_attribute(&outer, NODE_ATTRIBUTE, 'c', five, sizeof five);
    add_attribute(&defaults, FUNCTION_DEFAULT, 'c', six, sizeof six);
    add_attribute(&defaults, FUNCTION_DEFAULT, 'b', seven, sizeof seven);
    const sx_onnx_node body = node_of(&inner), caller = node_of(&middle), top = node_of(&outer),
                       bare = {.name = {0}};
    const sx_onnx_graph function = {.message = {defaults.bytes, defaults.size}};
    const sx_onnx_call from_top = {.node = &top, .function = &function},
                       from_bare = {.node = &bare, .function = &function};
    const sx_onnx_call through = {.node = &caller, .outer = &from_top, .function = &function};
    const sx_onnx_call through_bare = {.node = &caller, .outer = &from_bare, .function = &function};
    assert_int_equal(sx_onnx_int((sx_onnx_place){&body, &through}, "a", 3), 5);
    assert_int_equal(sx_onnx_int((sx_onnx_place){&body, &through_bare}, "a", 3), 6);
    assert_int_equal(sx_onnx_int((sx_onnx_place){&body, &from_bare}, "a", 3), 7);
    assert_int_equal(sx_onnx_int((sx_onnx_place){&body, NULL}, "a", 3), 3);
    assert_int_equal(sx_onnx_int((sx_onnx_place){&caller, &from_top}, "b", 3), 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(lists_of_whole_numbers),
        cmocka_unit_test(lists_of_real_numbers),
        cmocka_unit_test(texts_and_messages),
        cmocka_unit_test(references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
