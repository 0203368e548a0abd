#include "frontend/onnx/wire.h"

#include <string.h>

/* The types of fields. */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

bool sx_wire_varint(sx_wire *wire, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (wire->at == wire->end) return false;
        const unsigned char byte = *wire->at++;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return true;
    }
    return false;
}

/* Reads a number of `size` bytes, the lowest first. */
static bool read_fixed(sx_wire *wire, size_t size, uint64_t *out) {
    *out = 0;
    if ((size_t)(wire->end - wire->at) < size) return false;
    for (size_t i = 0; i < size; i++) *out |= (uint64_t)wire->at[i] << 8 * i;
    wire->at += size;
    return true;
}

/* Reads bytes after their number. */
static bool read_bytes(sx_wire *wire, sx_bytes *out) {
    uint64_t size;
    if (!sx_wire_varint(wire, &size) || size > (uint64_t)(wire->end - wire->at)) return false;
    *out = (sx_bytes){wire->at, (size_t)size};
    wire->at += size;
    return true;
}

/* Reads the value of a field of a type. */
static bool read_value(sx_wire *wire, unsigned type, sx_field *out) {
    out->is_bytes = type == BYTES;
    out->is_fixed32 = type == FIXED32;
    out->is_fixed64 = type == FIXED64;
    if (type == VARINT) return sx_wire_varint(wire, &out->value);
    if (type == BYTES) return read_bytes(wire, &out->bytes);
    return (type == FIXED32 || type == FIXED64) && read_fixed(wire, type == FIXED32 ? 4 : 8, &out->value);
}

bool sx_wire_next(sx_wire *wire, sx_field *out) {
    uint64_t key;
    if (wire->at == wire->end || wire->broken) return false;
    memset(out, 0, sizeof *out);
    wire->broken = !sx_wire_varint(wire, &key) || key >> 3 == 0 || key >> 3 > UINT32_MAX ||
                   !read_value(wire, key & 7, out);
    out->number = (uint32_t)(key >> 3);
    return !wire->broken;
}

size_t sx_wire_count(sx_bytes message, uint32_t number) {
    sx_wire wire = sx_wire_of(message);
    sx_field field;
    size_t n = 0;
    while (sx_wire_next(&wire, &field)) n += field.number == number;
    return n;
}

sx_bytes sx_wire_text(sx_bytes message, uint32_t number) {
    sx_wire wire = sx_wire_of(message);
    sx_field field;
    sx_bytes text = {0};
    while (sx_wire_next(&wire, &field))
        if (field.number == number && field.is_bytes) text = field.bytes;
    return text;
}

int64_t sx_wire_number(sx_bytes message, uint32_t number, int64_t otherwise) {
    sx_wire wire = sx_wire_of(message);
    sx_field field;
    while (sx_wire_next(&wire, &field))
        if (field.number == number && !field.is_bytes) otherwise = (int64_t)field.value;
    return otherwise;
}

bool sx_bytes_are(sx_bytes bytes, const char *text) {
    return bytes.size == strlen(text) && (bytes.size == 0 || memcmp(bytes.data, text, bytes.size) == 0);
}

int sx_bytes_compare(sx_bytes a, sx_bytes b) {
    const size_t n = a.size < b.size ? a.size : b.size;
    const int order = n ? memcmp(a.data, b.data, n) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}
