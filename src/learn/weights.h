/* Weight files: a net, a text that says what it was trained for, and for checkpoints an optimizer's state.
 * Numbers are little-endian: the magic, version and checksum; sizes; layers; text; options and state of the optimizer;
 * parameters. Every size is compared with the size of the file before memory is taken. */
#ifndef SX_LEARN_WEIGHTS_H
#define SX_LEARN_WEIGHTS_H

#include "learn/net.h"
#include "learn/optimizer.h"

enum { SX_WEIGHTS_VERSION = 1 };

typedef struct sx_weights {
    sx_nn *net;
    sx_optimizer *optimizer; /* NULL: none */
    char *text;              /* UTF-8, at most SX_WEIGHTS_MAX_TEXT bytes */
} sx_weights;

enum { SX_WEIGHTS_MAX_TEXT = 1 << 20 };

/* Writes a weight file whole or not at all. */
SX_MUST_USE sx_status sx_weights_write(const char *path, const sx_weights *weights);

/* Reads a weight file; refuses one that is foreign, truncated, damaged, of another version or holds numbers that are
 * not finite. Freed by sx_weights_fini. */
SX_MUST_USE sx_status sx_weights_read(const char *path, sx_weights *out);

/* The same from memory; `name` stands in messages. */
SX_MUST_USE sx_status sx_weights_parse(const char *name, const char *bytes, size_t size, sx_weights *out);
void sx_weights_fini(sx_weights *weights);

#endif
