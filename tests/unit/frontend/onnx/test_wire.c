/* Fields of messages: every type of field, and messages that end too early. */
#include "frontend/onnx/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* A number of 300, 32 bits, 64 bits, the bytes "ab", and a second number of 1 under the number of the first. */
static const unsigned char fields[] = {0x08, 0xac, 0x02, 0x15, 1, 2,    3, 4,   0x19, 8,    7, 6,
                                       5,    4,    3,    2,    1, 0x22, 2, 'a', 'b',  0x08, 1};
static const sx_bytes message = {fields, sizeof fields};

static void every_type(void **state) {
    sx_wire wire = sx_wire_of(message);
    sx_field f;
    (void)state;
    assert_true(sx_wire_next(&wire, &f));
    assert_true(f.number == 1 && f.value == 300 && !f.is_bytes && !f.is_fixed32 && !f.is_fixed64);
    assert_true(sx_wire_next(&wire, &f));
    assert_true(f.number == 2 && f.value == 0x04030201 && f.is_fixed32 && !f.is_bytes && !f.is_fixed64);
    assert_true(sx_wire_next(&wire, &f));
    assert_true(f.number == 3 && f.value == 0x0102030405060708 && f.is_fixed64 && !f.is_fixed32);
    assert_true(sx_wire_next(&wire, &f));
    assert_true(f.number == 4 && f.is_bytes && sx_bytes_are(f.bytes, "ab"));
    assert_true(sx_wire_next(&wire, &f) && f.value == 1);
    assert_false(sx_wire_next(&wire, &f));
    assert_false(wire.broken);
    assert_int_equal(sx_wire_count(message, 1), 2);
    assert_int_equal(sx_wire_count(message, 9), 0);
    assert_int_equal(sx_wire_number(message, 1, 7), 1);
    assert_int_equal(sx_wire_number(message, 4, 7), 7);
    assert_true(sx_bytes_are(sx_wire_text(message, 4), "ab"));
    assert_int_equal(sx_wire_text(message, 1).size, 0);
}

/* Every message that ends within a field is broken, and only those. */
static void cut_messages(void **state) {
    static const size_t whole[] = {0, 3, 8, 17, 21, 23};
    size_t next = 0;
    (void)state;
    for (size_t size = 0; size <= sizeof fields; size++) {
        sx_wire wire = sx_wire_of((sx_bytes){fields, size});
        sx_field f;
        while (sx_wire_next(&wire, &f)) {
        }
        const bool is_whole = whole[next] == size;
        next += is_whole;
        assert_int_equal(wire.broken, !is_whole);
        assert_false(sx_wire_next(&wire, &f));
    }
}

/* Types that do not exist, the number 0, and numbers that do not end. */
static void broken_fields(void **state) {
    static const struct {
        unsigned char bytes[12];
        size_t size;
        bool broken;
    } cases[] = {
        {{0x0b}, 1, true},
        {{0x0c}, 1, true},
        {{0x0e, 0}, 2, true},
        {{0x00, 1}, 2, true},
        {{0x08, 0x80}, 2, true},
        {{0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, 11, false},
        {{0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0}, 12, true},
        {{0xf8, 0xff, 0xff, 0xff, 0x7f, 1}, 6, false},
        {{0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 1}, 7, true},
        {{0x0a, 3, 'a', 'b'}, 4, true},
        {{0x0a, 2, 'a', 'b'}, 4, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sx_wire wire = sx_wire_of((sx_bytes){cases[i].bytes, cases[i].size});
        sx_field f;
        while (sx_wire_next(&wire, &f)) {
        }
        assert_int_equal(wire.broken, cases[i].broken);
    }
}

static void order_of_texts(void **state) {
    const sx_bytes a = {(const unsigned char *)"a", 1}, ab = {(const unsigned char *)"ab", 2},
                   b = {(const unsigned char *)"b", 1}, none = {0};
    (void)state;
    assert_true(sx_bytes_compare(a, ab) < 0 && sx_bytes_compare(ab, a) > 0 && sx_bytes_compare(ab, b) < 0);
    assert_true(sx_bytes_compare(a, a) == 0 && sx_bytes_compare(none, a) < 0 &&
                sx_bytes_compare(none, none) == 0);
    assert_true(sx_bytes_are(none, "") && sx_bytes_are(ab, "ab") && !sx_bytes_are(ab, "a") &&
                !sx_bytes_are(a, "ab"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),
        cmocka_unit_test(cut_messages),
        cmocka_unit_test(broken_fields),
        cmocka_unit_test(order_of_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
