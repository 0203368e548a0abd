/* Messages of protocol buffers as trees of fields that can be changed and written again. */
#ifndef SX_FUZZ_MESSAGE_H
#define SX_FUZZ_MESSAGE_H

#include "frontend/onnx/wire.h"

enum { SX_MAX_FIELDS = 1 << 13, SX_MAX_SCRATCH = 1 << 14, SX_NO_FIELD = -1 };

/* A field of a message. `type` is that of the message it holds, 0 where it holds none. */
typedef struct sx_tree_field {
    uint32_t number;
    uint8_t owner, type; /* types of the message it is in, and of the one it is */
    uint8_t wire;        /* 0: a number, 1: 64 bits, 2: bytes, 5: 32 bits */
    uint64_t value;      /* of a number, or of 32 or 64 bits */
    sx_bytes bytes;      /* of bytes that are no message */
    int first, next;     /* fields of its message, and the one after it */
} sx_tree_field;

/* Field 0 is the whole message. Bytes point into the message that was read, or into `scratch`. */
typedef struct sx_tree {
    sx_tree_field field[SX_MAX_FIELDS];
    int n;
    unsigned char scratch[SX_MAX_SCRATCH];
    size_t n_scratch;
} sx_tree;

/* Which message the field of a number is in a message of a type, 0: none. */
typedef uint8_t sx_type_of(uint8_t owner, uint32_t number);

/* Reads a message of a type as a new tree; its index, SX_NO_FIELD where it is broken or has too many fields. */
int sx_tree_read(sx_tree *tree, sx_bytes message, uint8_t type, sx_type_of *type_of);

/* Adds a field that is in no message yet; SX_NO_FIELD where there is no room. */
int sx_tree_add(sx_tree *tree, const sx_tree_field *field);

/* Copies a field with all that it holds; SX_NO_FIELD where there is no room. */
int sx_tree_copy(sx_tree *tree, int from);

/* Puts a field into a message, as number `place` of its fields or as the last one; takes it out again. */
void sx_tree_insert(sx_tree *tree, int message, int field, int place);
void sx_tree_remove(sx_tree *tree, int message, int field);

/* The message that a field is in, SX_NO_FIELD for a root or a field that was taken out. */
int sx_tree_owner(const sx_tree *tree, int field);

/* Writes a message; how many bytes, 0 where there is no room. */
size_t sx_tree_write(const sx_tree *tree, int message, unsigned char *out, size_t room);

#endif
