/* The types of elements, and the numbers in small tensors. */
#include "frontend/onnx/model.h"

#include <string.h>

enum { DATA_FLOAT = 4, DATA_INT32 = 5, DATA_INT64 = 7, DATA_RAW = 9, DATA_DOUBLE = 10, DATA_UINT64 = 11 };
enum { EXTERNAL_DATA = 13 };

/* The types of elements, by their number in the standard. */
typedef enum form { NO_FORM, REAL, WHOLE, NATURAL } form;
static const struct {
    uint8_t bits, form;
} types[] = {
    [1] = {32, REAL},     [2] = {8, NATURAL},   [3] = {8, WHOLE},      [4] = {16, NATURAL},
    [5] = {16, WHOLE},    [6] = {32, WHOLE},    [7] = {64, WHOLE},     [8] = {8, NO_FORM},
    [9] = {8, NATURAL},   [10] = {16, NO_FORM}, [11] = {64, REAL},     [12] = {32, NATURAL},
    [13] = {64, NATURAL}, [14] = {64, NO_FORM}, [15] = {128, NO_FORM}, [16] = {16, NO_FORM},
    [17] = {8, NO_FORM},  [18] = {8, NO_FORM},  [19] = {8, NO_FORM},   [20] = {8, NO_FORM},
    [21] = {4, NO_FORM},  [22] = {4, NO_FORM},  [23] = {4, NO_FORM},   [24] = {8, NO_FORM},
};
enum { N_TYPES = sizeof types / sizeof *types, DEFAULT_BITS = 32 };

uint32_t sx_onnx_type_bits(int type) {
    return type > 0 && type < N_TYPES ? types[type].bits : DEFAULT_BITS;
}

static form form_of(int type) {
    return type > 0 && type < N_TYPES ? (form)types[type].form : NO_FORM;
}

bool sx_onnx_type_whole(int type) {
    return form_of(type) == WHOLE || form_of(type) == NATURAL;
}

/* The number that some bits are. */
static double number_of(uint64_t bits, unsigned n_bits, form kind) {
    if (kind == NATURAL) return (double)bits;
    if (kind == WHOLE) return (double)((int64_t)(bits << (64 - n_bits)) >> (64 - n_bits));
    if (n_bits == 64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    float value;
    const uint32_t low = (uint32_t)bits;
    memcpy(&value, &low, sizeof value);
    return (double)value;
}

/* Reads n numbers from raw bytes, the lowest byte first. */
static bool read_raw(sx_bytes raw, int type, double *data, size_t n) {
    const unsigned n_bits = types[type].bits;
    if (raw.size / (n_bits / 8) < n) return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        for (size_t b = 0; b < n_bits / 8; b++) bits |= (uint64_t)raw.data[i * (n_bits / 8) + b] << 8 * b;
        data[i] = number_of(bits, n_bits, form_of(type));
    }
    return true;
}

/* Reads numbers from a field, packed or not; returns how many there are then. */
static size_t read_field(const sx_field *field, int type, double *data, size_t at, size_t n) {
    const bool real = form_of(type) == REAL;
    const unsigned n_bits = field->number == DATA_FLOAT ? 32 : 64;
    uint64_t bits;
    if (!field->is_bytes) {
        if (at < n) data[at++] = number_of(field->value, n_bits, form_of(type));
        return at;
    }
    if (real) {
        const size_t there = field->bytes.size / (n_bits / 8), count = there < n - at ? there : n - at;
        return read_raw(field->bytes, field->number == DATA_FLOAT ? 1 : 11, data + at, count) ? at + count
                                                                                              : at;
    }
    for (sx_wire packed = sx_wire_of(field->bytes); at < n && sx_wire_varint(&packed, &bits);)
        data[at++] = number_of(bits, n_bits, form_of(type));
    return at;
}

/* Whether a field holds the elements of a type. */
static bool field_holds(uint32_t number, int type) {
    if (form_of(type) == REAL) return number == (types[type].bits == 32 ? DATA_FLOAT : DATA_DOUBLE);
    return number == DATA_INT32 || number == DATA_INT64 || number == DATA_UINT64;
}

bool sx_onnx_tensor_data(const sx_onnx_tensor *tensor, double *data, size_t n) {
    sx_wire wire = sx_wire_of(tensor->message);
    sx_field field;
    size_t at = 0;
    if (form_of(tensor->type) == NO_FORM || sx_wire_count(tensor->message, EXTERNAL_DATA)) return false;
    while (at < n && sx_wire_next(&wire, &field)) {
        if (field.number == DATA_RAW && field.is_bytes) return read_raw(field.bytes, tensor->type, data, n);
        if (field_holds(field.number, tensor->type)) at = read_field(&field, tensor->type, data, at, n);
    }
    return at == n;
}
