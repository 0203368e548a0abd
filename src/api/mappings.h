/* Many mappings of one problem onto one architecture, packed. */
#ifndef SX_API_MAPPINGS_H
#define SX_API_MAPPINGS_H

#include "sextant/mapping.h"

/* Mapping i is the first `stride` bytes of an sx_mapping, at data + i * stride. */
struct sx_mappings {
    sx_mapping shape; /* one that fits: how many levels, dimensions and tensors all of them have */
    size_t n, stride;
    unsigned char *data;
};

/* Whether two mappings have as many levels, dimensions and tensors. */
bool sx_mapping_same_shape(const sx_mapping *a, const sx_mapping *b);

#endif
