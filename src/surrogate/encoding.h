/* What a surrogate sees of a mapping, and what it predicts: Mind Mappings (ASPLOS 2021), sections 4.1.2,
 * 4.1.3 and 5.5, for any einsum on any architecture.
 *
 * Inputs: log2 of the problem's sizes, then the vector of the map space (mapspace/map_encode.c): log2 of the
 * factors, positions in the orders, kept tensors, shares of banks: 62 numbers for a convolution on the
 * paper's machine, 40 for MTTKRP. Where tensors may bypass levels with banks, then whether each one's tile fits
 * its share and is kept. That follows from the others, but by steps, which a network takes many more samples to
 * learn and which have no gradient.
 * Outputs: the energy of every tensor at every level built to keep it, utilisation, total energy and cycles,
 * each as log2 of its ratio to the algorithmic minimum (energies: of the minimum's total energy). 12 numbers
 * for a convolution on the paper's machine, 15 for MTTKRP. */
#ifndef SX_SURROGATE_ENCODING_H
#define SX_SURROGATE_ENCODING_H

#include "mapspace/map_space.h"

enum {
    SX_ENCODING_VERSION = 2,
    SX_MAX_INPUTS = SX_MAX_DIMS * (1 + SX_MAX_SLOTS + 2 * SX_MAX_LEVELS) + 3 * SX_MAX_TENSORS * SX_MAX_LEVELS,
    SX_MAX_ENERGIES = SX_MAX_LEVELS * SX_MAX_TENSORS,
    SX_MAX_OUTPUTS = SX_MAX_ENERGIES + 3,
    /* Kinds of inputs beside those of sx_map_value_kind: the size of a dimension, and whether a tensor fits its banks. */
    SX_VALUE_SIZE = SX_VALUE_BANKS + 1,
    SX_VALUE_FITS,
};

typedef struct sx_encoding {
    size_t n_inputs, n_outputs;
    sx_map_value input[SX_MAX_INPUTS];
    struct {
        uint8_t level, tensor;
    } energy[SX_MAX_ENERGIES]; /* the first n_outputs - 3 outputs; then utilisation, energy, cycles */
} sx_encoding;

/* Whether an input is of a tensor rather than of a dimension. */
static inline bool sx_value_of_tensor(const sx_map_value *input) {
    return input->kind == SX_VALUE_KEEP || input->kind == SX_VALUE_BANKS || input->kind == SX_VALUE_FITS;
}

/* The encoding of a space's points. */
void sx_encoding_of(const sx_map_space *space, sx_encoding *out);

/* Writes a point's inputs, n_inputs of them. */
void sx_encode_point(const sx_map_space *space, const void *point, double *out);

/* Writes the outputs of a cost, n_outputs of them, over the algorithmic minimum. */
void sx_encode_cost(const sx_encoding *encoding, const sx_cost *cost, const sx_score *minimum, double *out);

#endif
