/* Scores of the code that GPUs run, on the CPU, against whole costs of the model. */
#ifndef SX_TESTS_GPU_POINTS_H
#define SX_TESTS_GPU_POINTS_H

#include "gpu/gpu.h"

/* How many points were compared. */
typedef struct sx_gpu_tally {
    uint64_t points, legal, uncovered, images;
} sx_gpu_tally;

/* Fails the test unless points of a space cost what the model says, to the last bit: `draws` drawn as the GPU draws, and as many
 * legal mappings. A space that no GPU can search is passed over. */
void sx_gpu_compare_space(const sx_space *space, const sx_model *model, uint64_t seed, int draws,
                          sx_gpu_tally *t);

#endif
