/* The wire format of protocol buffers: a message is a list of fields, each a number with a value. Nothing is
 * copied: bytes point into the message. */
#ifndef SX_FRONTEND_ONNX_WIRE_H
#define SX_FRONTEND_ONNX_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a message: text, a message within it, or packed numbers. */
typedef struct sx_bytes {
    const unsigned char *data;
    size_t size;
} sx_bytes;

/* A field. `value` is that of a number (fixed ones as their bits), `bytes` those of any other. */
typedef struct sx_field {
    uint32_t number;
    bool is_bytes, is_fixed32, is_fixed64;
    uint64_t value;
    sx_bytes bytes;
} sx_field;

/* The rest of a message. */
typedef struct sx_wire {
    const unsigned char *at, *end;
    bool broken; /* a field is not complete, or of a type that does not exist */
} sx_wire;

static inline sx_wire sx_wire_of(sx_bytes message) {
    return (sx_wire){message.data, message.data ? message.data + message.size : NULL, false};
}

/* Reads the next field; false at the end, and where the message is broken. */
bool sx_wire_next(sx_wire *wire, sx_field *out);

/* Reads a number of 7 bits per byte; false where it is not complete. */
bool sx_wire_varint(sx_wire *wire, uint64_t *out);

/* How many fields of that number a message has. */
size_t sx_wire_count(sx_bytes message, uint32_t number);

/* The text of the last field of that number, empty where there is none. */
sx_bytes sx_wire_text(sx_bytes message, uint32_t number);

/* The value of the last field of that number, else the given one. */
int64_t sx_wire_number(sx_bytes message, uint32_t number, int64_t otherwise);

/* Whether bytes are a text, and the order of two texts: below, at or above 0. */
bool sx_bytes_are(sx_bytes bytes, const char *text);
int sx_bytes_compare(sx_bytes a, sx_bytes b);

#endif
