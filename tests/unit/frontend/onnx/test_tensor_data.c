/* Types of elements, and the numbers of tensors in every form in which a file may have them. */
#include "frontend/onnx/model.h"
#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void bits_of_types(void **state) {
    static const uint32_t bits[] = {32, 32, 8,   8,  16, 16, 32, 64, 8, 8, 16, 64, 32,
                                    64, 64, 128, 16, 8,  8,  8,  8,  4, 4, 4,  8};
    static const int whole[] = {2, 3, 4, 5, 6, 7, 9, 12, 13};
    size_t n = 0;
    (void)state;
    for (int i = 0; i < 25; i++) assert_int_equal(sx_onnx_type_bits(i), bits[i]);
    assert_int_equal(sx_onnx_type_bits(25), 32);
    assert_int_equal(sx_onnx_type_bits(-1), 32);
    for (int i = -1; i < 30; i++) {
        const bool is_whole = n < sizeof whole / sizeof *whole && whole[n] == i;
        assert_int_equal(sx_onnx_type_whole(i), is_whole);
        n += is_whole;
    }
}

/* Reads a tensor of a message. */
static sx_onnx_tensor read_tensor(const void *bytes, size_t size) {
    sx_onnx_tensor tensor;
    sx_expect_ok(sx_onnx_tensor_read((sx_bytes){bytes, size}, &tensor));
    return tensor;
}

/* Two numbers of a type, by one field; dims 2, type, then the bytes. */
typedef struct number_case {
    int type;
    size_t size;
    unsigned char field[20];
    double first, second;
} number_case;

static void numbers_of_fields(void **state) {
    static const number_case cases[] = {
        {1, 10, {0x4a, 8, 0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0}, 1, -2.5},                        /* raw f32 */
        {11, 18, {0x4a, 16, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 4, 0xc0}, 1, -2.5}, /* raw f64 */
        {2, 4, {0x4a, 2, 200, 3}, 200, 3},                                                      /* raw u8 */
        {3, 4, {0x4a, 2, 200, 3}, -56, 3},                                                      /* raw i8 */
        {5, 6, {0x4a, 4, 0xff, 0xff, 2, 1}, -1, 258},                                           /* raw i16 */
        {4, 6, {0x4a, 4, 0xff, 0xff, 2, 1}, 65535, 258},                                        /* raw u16 */
        {6, 10, {0x4a, 8, 0xfe, 0xff, 0xff, 0xff, 7, 0, 0, 0}, -2, 7},                          /* raw i32 */
        {9, 4, {0x4a, 2, 1, 0}, 1, 0},                                                          /* raw bool */
        {1, 10, {0x22, 8, 0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0}, 1, -2.5},    /* packed floats */
        {1, 10, {0x25, 0, 0, 0x80, 0x3f, 0x25, 0, 0, 0x20, 0xc0}, 1, -2.5}, /* floats apart */
        {11,
         18,
         {0x52, 16, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 4, 0xc0},
         1,
         -2.5},                                   /* packed doubles */
        {7, 5, {0x3a, 3, 5, 0xac, 2}, 5, 300},    /* packed i64 */
        {7, 5, {0x38, 5, 0x38, 0xac, 2}, 5, 300}, /* i64 apart */
        {7, 14, {0x38, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0x38, 0xac, 2}, -1, 300},
        {3, 4, {0x28, 5, 0x28, 7}, 5, 7},  /* i8 in int32s */
        {13, 4, {0x58, 5, 0x58, 7}, 5, 7}, /* u64 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char bytes[32] = {0x08, 2, 0x10, (unsigned char)cases[i].type};
        double data[2] = {0};
        memcpy(bytes + 4, cases[i].field, cases[i].size);
        const sx_onnx_tensor tensor = read_tensor(bytes, 4 + cases[i].size);
        assert_true(tensor.shape.n == 1 && tensor.shape.dim[0] == 2 && tensor.type == cases[i].type);
        assert_true(sx_onnx_tensor_data(&tensor, data, 2));
        assert_true(data[0] == cases[i].first && data[1] == cases[i].second);
    }
}

/* Too few numbers, types without any, elements in another file. */
static void no_numbers(void **state) {
    static const unsigned char few[] = {0x10, 7, 0x38, 5},
                               raw[] = {0x10, 7, 0x4a, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                               half[] = {0x10, 10, 0x4a, 4, 0, 0, 0, 0},
                               external[] = {0x10, 2, 0x4a, 2, 1, 2, 0x6a, 0},
                               other[] = {0x10, 1, 0x38, 5, 0x38, 6};
    sx_onnx_tensor tensor;
    double data[2];
    (void)state;
    tensor = read_tensor(few, sizeof few);
    assert_true(sx_onnx_tensor_data(&tensor, data, 1) && !sx_onnx_tensor_data(&tensor, data, 2));
    tensor = read_tensor(raw, sizeof raw);
    assert_true(sx_onnx_tensor_data(&tensor, data, 1) && !sx_onnx_tensor_data(&tensor, data, 2));
    tensor = read_tensor(half, sizeof half);
    assert_false(sx_onnx_tensor_data(&tensor, data, 2));
    tensor = read_tensor(external, sizeof external);
    assert_false(sx_onnx_tensor_data(&tensor, data, 2));
    tensor = read_tensor(other, sizeof other);
    assert_false(sx_onnx_tensor_data(&tensor, data, 2));
    assert_true(sx_onnx_tensor_data(&tensor, data, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_of_types),
        cmocka_unit_test(numbers_of_fields),
        cmocka_unit_test(no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
