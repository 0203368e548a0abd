/* Scoring mappings on a GPU, and looking at all mappings of a space there: images of spaces, their files, the CUDA module,
 * and the same functions on the CPU. */
#ifndef SX_GPU_GPU_H
#define SX_GPU_GPU_H

#include "gpu/module.h"

#include "sextant/navigator.h"
#include "sextant/objective.h"

/* What an image is for: compact points, which are drawn and bred; or tables, by which all mappings have numbers. */
enum { SX_GPU_POINTS = 1, SX_GPU_TABLES = 2 };

/* The image of a map space and a product of energy and delay for one of these or both, freed with free(). An error where the GPU
 * does not cover the space: remainders, banks that are shared out, sparse tensors, too many levels, dimensions or tensors; for
 * tables, too many factorisations or orders; for points, constraints that compact points do not know. */
SX_MUST_USE sx_status sx_gpu_image_new(const sx_space *space, const sx_objective *objective, int parts,
                                       SX_OWN sx_gpu_image **out);

/* From mappings to points of the space's image and back; false where the GPU does not cover the mapping. */
bool sx_gpu_point_of(const sx_space *space, const sx_mapping *mapping, sx_core_nest *out);
void sx_gpu_mapping_of(const sx_space *space, const sx_core_nest *point, sx_mapping *out);

/* The mapping of a compact point. */
void sx_gpu_expand(const sx_space *space, const sx_gpu_image *image, const sx_gpu_point *point,
                   sx_mapping *out);

/* The point at a place of the space. */
void sx_gpu_point_at(const sx_gpu_image *image, const sx_gpu_place *at, sx_core_nest *out);

/* Scores the orders that were missed by the cost model, and adds them to what was found. */
SX_MUST_USE sx_status sx_gpu_search_missed(const sx_space *space, const sx_gpu_image *image,
                                           const sx_gpu_missed *missed, sx_gpu_found *found);

/* The module: of a GPU (an error where the build has none), or the same functions on one core of the CPU. */
SX_MUST_USE sx_status sx_gpu_module_find(bool gpu, const sx_gpu_module **out);
/* What the module complained of, as an error; SX_OK where `code` is 0. */
SX_MUST_USE sx_status sx_gpu_complaint(int code, const char *message);

/* How to look at all mappings of a space. */
typedef struct sx_gpu_look_options {
    bool gpu;     /* otherwise one core of the CPU, by the same functions */
    double limit; /* refuse spaces of more mappings that differ in cost */
    /* Told how many factorisations are done and the best value so far; false: stop. May be NULL. */
    bool (*go_on)(void *user, uint64_t done, uint64_t all, const sx_gpu_found *found);
    void *user;
} sx_gpu_look_options;

/* What scoring all mappings of a space found. */
typedef struct sx_gpu_look_answer {
    bool complete, found; /* found: some mapping is legal */
    double value;
    sx_mapping mapping;
    double mappings; /* of the space that differ in cost, legal or not */
    sx_gpu_counts counts;
    double seconds;
} sx_gpu_look_answer;

/* Scores every mapping of a space, those that no cost tells apart once. Orders of loops that the GPU does not cover are
 * scored by the cost model, unless the look was stopped. An error where the space is too large, or not covered, or there is
 * no GPU. */
SX_MUST_USE sx_status sx_gpu_look_everywhere(const sx_space *space, const sx_objective *objective,
                                             const sx_gpu_look_options *options, sx_gpu_look_answer *out);

/* A mapper on a GPU: exhaustive, random, pruned or gamma. */
typedef struct sx_gpu_mapper {
    const char *name; /* of the mapper that it stands for */
    const char *own;  /* as results name it */
    sx_navigator navigator;
} sx_gpu_mapper;

/* The mapper that stands for "name:key=value,..."; NULL: there is none. And entry `index`; NULL past the last. */
const sx_gpu_mapper *sx_gpu_mapper_find(const char *mapper);
const sx_gpu_mapper *sx_gpu_mapper_at(size_t index);

/* What such a mapper needs to know: the user pointer of its navigator. */
typedef struct sx_gpu_search {
    bool gpu; /* otherwise one core of the CPU, with the same result */
    /* Told how far an exhaustive search is, in factorisations, and the best value so far; may be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t all, double best);
    void *user;
} sx_gpu_search;

#endif
