/* Changes to ONNX models that keep them messages of the standard's types: nodes, attributes, tensors and what is said of
 * values are removed, repeated, moved, renamed, and made anew. */
#ifndef SX_FUZZ_MUTATE_ONNX_H
#define SX_FUZZ_MUTATE_ONNX_H

#include <stddef.h>
#include <stdint.h>

/* Changes a model of `size` bytes in place, which may grow to `room`; its new size. Bytes that are no model are
 * replaced by a small one. The same seed makes the same change. */
size_t sx_mutate_onnx(uint8_t *data, size_t size, size_t room, unsigned seed);

/* Writes one model with some fields of another; its size, 0 where one cannot be read. */
size_t sx_cross_onnx(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                     size_t room, unsigned seed);

#endif
