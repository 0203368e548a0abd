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
SX_MUST_USE sx_status sx_gpu_image_new(const sx_space *space, const sx_objective *objective,
                                       SX_OWN sx_gpu_image **out);

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

/* How to look at all mappings of a space. */
typedef struct sx_gpu_look_options {
    bool gpu;                /* otherwise one core of the CPU, by the same functions */
    const sx_cancel *cancel; /* when it is set: stop; may be NULL */
    void (*progress)(void *user, uint64_t done, uint64_t all); /* factorisations; may be NULL */
    void *user;
} sx_gpu_look_options;

/* What a look at all mappings found. */
typedef struct sx_gpu_look_answer {
    bool complete, found; /* found: some mapping is legal */
    double value;
    sx_mapping mapping;
    double mappings; /* of the space that differ in cost, legal or not */
    sx_gpu_counts counts;
    double seconds;
} sx_gpu_look_answer;

/* Scores every mapping of a space, those that no cost tells apart once. Orders of loops that the GPU does not cover are
 * scored by the cost model. An error where the space is too large, or not covered, or there is no GPU. */
SX_MUST_USE sx_status sx_gpu_look_everywhere(const sx_space *space, const sx_objective *objective,
                                             const sx_gpu_look_options *options, sx_gpu_look_answer *out);

#endif
