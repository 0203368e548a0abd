#include "frontend/onnx/attribute.h"

#include <string.h>

enum { NODE_ATTRIBUTE = 5, FUNCTION_DEFAULT = 11 };
enum {
    NAME = 1,
    FLOAT = 2,
    INT = 3,
    STRING = 4,
    TENSOR = 5,
    GRAPH = 6,
    FLOATS = 7,
    INTS = 8,
    REFERENCE = 21
};

/* The attribute of that name among the fields of a number. */
static sx_bytes find_attribute(sx_bytes message, uint32_t number, sx_bytes name) {
    sx_wire wire = sx_wire_of(message);
    sx_field field;
    while (sx_wire_next(&wire, &field))
        if (field.number == number && sx_bytes_compare(sx_wire_text(field.bytes, NAME), name) == 0)
            return field.bytes;
    return (sx_bytes){0};
}

sx_bytes sx_onnx_attribute(sx_onnx_place place, const char *name) {
    sx_bytes wanted = {(const unsigned char *)name, strlen(name)};
    for (;;) {
        const sx_bytes found = find_attribute(place.node->message, NODE_ATTRIBUTE, wanted);
        const sx_bytes reference = sx_wire_text(found, REFERENCE);
        if (!reference.size || !place.call) return found;
        const sx_onnx_graph *function = place.call->function;
        if (!find_attribute(place.call->node->message, NODE_ATTRIBUTE, reference).data)
            return find_attribute(function->message, FUNCTION_DEFAULT, reference);
        wanted = reference;
        place = (sx_onnx_place){place.call->node, place.call->outer};
    }
}

static int64_t cut_extent(int64_t value) {
    if (value > SX_ONNX_MAX_EXTENT) return SX_ONNX_MAX_EXTENT;
    return value < -SX_ONNX_MAX_EXTENT ? -SX_ONNX_MAX_EXTENT : value;
}

int64_t sx_onnx_int(sx_onnx_place place, const char *name, int64_t otherwise) {
    return cut_extent(sx_wire_number(sx_onnx_attribute(place, name), INT, otherwise));
}

int sx_onnx_ints(sx_onnx_place place, const char *name, int64_t *out, int room) {
    const sx_bytes attribute = sx_onnx_attribute(place, name);
    sx_wire wire = sx_wire_of(attribute);
    sx_field field;
    uint64_t value;
    int n = 0;
    if (!attribute.data) return -1;
    while (n < room && sx_wire_next(&wire, &field)) {
        if (field.number != INTS) continue;
        if (!field.is_bytes) out[n++] = cut_extent((int64_t)field.value);
        for (sx_wire packed = sx_wire_of(field.bytes);
             field.is_bytes && n < room && sx_wire_varint(&packed, &value);)
            out[n++] = cut_extent((int64_t)value);
    }
    return n;
}

/* The number that 32 bits are. */
static double float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

int sx_onnx_floats(sx_onnx_place place, const char *name, double *out, int room) {
    const sx_bytes attribute = sx_onnx_attribute(place, name);
    sx_wire wire = sx_wire_of(attribute);
    sx_field field;
    int n = 0;
    if (!attribute.data) return -1;
    while (n < room && sx_wire_next(&wire, &field)) {
        if (field.number == FLOAT || (field.number == FLOATS && !field.is_bytes))
            out[n++] = float_of((uint32_t)field.value);
        for (size_t i = 0; field.number == FLOATS && i + 4 <= field.bytes.size && n < room; i += 4) {
            const unsigned char *b = field.bytes.data + i;
            out[n++] =
                float_of((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24);
        }
    }
    return n;
}

sx_bytes sx_onnx_string(sx_onnx_place place, const char *name) {
    return sx_wire_text(sx_onnx_attribute(place, name), STRING);
}

/* The message that a field of an attribute is. */
static bool message_of(sx_bytes attribute, uint32_t number, sx_bytes *out) {
    if (!sx_wire_count(attribute, number)) return false;
    *out = sx_wire_text(attribute, number);
    return true;
}

bool sx_onnx_attribute_tensor(sx_onnx_place place, const char *name, sx_bytes *out) {
    return message_of(sx_onnx_attribute(place, name), TENSOR, out);
}

bool sx_onnx_attribute_graph(sx_onnx_place place, const char *name, sx_bytes *out) {
    return message_of(sx_onnx_attribute(place, name), GRAPH, out);
}
