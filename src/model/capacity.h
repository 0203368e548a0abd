/* The capacity rule: whether the tiles that a level keeps fit. Every search asks here; the oracle has its
 * own. */
#ifndef SX_MODEL_CAPACITY_H
#define SX_MODEL_CAPACITY_H

#include "model/model.h"
#include "model/sparse/density.h"

#include <math.h>

/* What tiles take of a level. */
typedef struct sx_occupancy {
    double words;
    double banks; /* each tile takes whole ones; 0 at a level without banks */
} sx_occupancy;

/* The whole words that a given number of elements of a tensor take at a level: elements are packed, tiles are not. */
static inline double sx_level_words(const sx_level *level, int tensor, double elements) {
    if (!level->sized) return elements;
    return ceil(elements * level->element[tensor] / level->word[tensor]);
}

/* The banks that a given number of elements of a tensor take at a level with banks. */
static inline double sx_level_banks(const sx_level *level, int tensor, double elements) {
    return ceil(sx_level_words(level, tensor, elements) / level->bank_words);
}

/* The words that a tile of a tensor takes at a level: of one with a format only its non-zeros, as many as there
 * can be. */
static inline double sx_level_stores(const sx_level *level, int tensor, double elements) {
    if (level->packs && level->packed[tensor])
        elements = (double)sx_density_most(level->packed[tensor], (uint64_t)elements);
    return sx_level_words(level, tensor, elements);
}

/* Adds a tile that takes a given number of words. */
static inline void sx_occupancy_add_words(sx_occupancy *use, const sx_level *level, double words) {
    use->words += words;
    if (level->bank_words > 0) use->banks += ceil(words / level->bank_words);
}

/* Adds a tile of a tensor. */
static inline void sx_occupancy_add(sx_occupancy *use, const sx_level *level, int tensor, double elements) {
    sx_occupancy_add_words(use, level, sx_level_stores(level, tensor, elements));
}

/* What the tiles of some tensors take, for a tile of these extents. */
static inline sx_occupancy sx_level_occupancy(const sx_model *model, const sx_level *level, unsigned tensors,
                                              const uint32_t *extent) {
    sx_occupancy use = {0, 0};
    for (; tensors; tensors &= tensors - 1) {
        int v = __builtin_ctz(tensors);
        sx_occupancy_add(&use, level, v, (double)sx_shape_words(&model->shape[v], extent));
    }
    return use;
}

/* The rule. */
static inline bool sx_level_fits(const sx_level *level, const sx_occupancy *use) {
    return use->words <= level->effective && (level->bank_words == 0 || use->banks <= level->banks);
}

/* Whether the tiles of some tensors fit a level of a model, or one in its place. */
static inline bool sx_level_holds(const sx_model *model, const sx_level *level, unsigned tensors,
                                  const uint32_t *extent) {
    if (!level->limited) return true;
    sx_occupancy use = sx_level_occupancy(model, level, tensors, extent);
    return sx_level_fits(level, &use);
}

/* Whether a level may keep just these tensors, for a tile of these extents. */
static inline bool sx_level_keeps(const sx_model *model, int level, unsigned tensors,
                                  const uint32_t *extent) {
    const sx_level *at = &model->level[level];
    if (at->transparent && tensors) return false;
    if (!at->limited) return true;
    sx_occupancy use = sx_level_occupancy(model, at, tensors, extent);
    return sx_level_fits(at, &use) && use.words >= at->minimum;
}

#endif
