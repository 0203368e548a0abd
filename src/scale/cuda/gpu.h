/* Scoring mappings on a GPU, and looking at all mappings of a space there: images of spaces, their files, the CUDA module,
 * and the same functions on the CPU. */
#ifndef SX_SCALE_CUDA_GPU_H
#define SX_SCALE_CUDA_GPU_H

#include "scale/cuda/module.h"

#include "sextant/cancel.h"
#include "sextant/objective.h"
#include "sextant/space.h"

/* The image of a map space and a product of energy and delay, freed with free(). An error where the GPU does not cover the
 * space: remainders, banks that are shared out, sparse tensors, too many levels, dimensions or tensors. */
SX_MUST_USE sx_status sx_gpu_image_new(const sx_space *space, const sx_objective *objective, SX_OWN sx_gpu_image **out);

/* Whole images in files. Reading checks that everything an image points to is there. */
SX_MUST_USE sx_status sx_gpu_image_write(const sx_gpu_image *image, const char *path);
SX_MUST_USE sx_status sx_gpu_image_read(const char *path, SX_OWN sx_gpu_image **out);
/* Sets the sum over the bytes behind the head. */
void sx_gpu_image_seal(sx_gpu_image *image);

/* From mappings to points of the space's image and back; false where the GPU does not cover the mapping. */
bool sx_gpu_point_of(const sx_space *space, const sx_mapping *mapping, sx_gpu_point *out);
void sx_gpu_mapping_of(const sx_space *space, const sx_gpu_point *point, sx_mapping *out);

/* The point at a place of the space. */
void sx_gpu_point_at(const sx_gpu_image *image, const sx_gpu_place *at, sx_gpu_point *out);

/* Scores points on the CPU; what becomes of each goes to `verdict`. */
void sx_gpu_score_host(const sx_gpu_image *image, const sx_gpu_point *point, size_t n, sx_gpu_score *score,
                       uint8_t *verdict);

/* Looks at all mappings on the CPU, from one factorisation to another. */
void sx_gpu_search_host(const sx_gpu_image *image, uint64_t from, uint64_t to, sx_gpu_found *found,
                        sx_gpu_missed *missed);

/* Scores the orders that were missed by the cost model, and adds them to what was found. */
SX_MUST_USE sx_status sx_gpu_search_missed(const sx_space *space, const sx_gpu_image *image,
                                           const sx_gpu_missed *missed, sx_gpu_found *found);

#endif
