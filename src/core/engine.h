/* The core on a CPU, compiled for common numbers of levels and tensors, with one tensor whose tiles overlap in part or none, and
 * for any. */
#ifndef SX_CORE_ENGINE_H
#define SX_CORE_ENGINE_H

#include "core/space.h"

struct sx_core_work;

/* Functions on points of a space and on nests, in a thread's memory: work_size bytes, all 0 at first. `begin` goes before those on
 * points. */
typedef struct sx_core_engine {
    size_t work_size;
    void (*begin)(const sx_core_space *space, struct sx_core_work *work);
    /* Draws a point, or makes one with all primes outermost; neither need be legal. */
    void (*draw)(const sx_core_space *space, sx_core_rng *rng, sx_compact_level *point);
    void (*natural)(const sx_core_space *space, sx_core_rng *rng, sx_compact_level *point);
    /* Draws a point among all legal ones; false where what was drawn is not legal. Where it is, `finish` may follow. */
    bool (*draw_uniform)(const sx_core_space *space, const sx_core_splits *splits, struct sx_core_work *work,
                         sx_core_rng *rng, sx_compact_level *point);
    /* Points part by part. Draws the splits of all dimensions and sets their loops, temporal and spatial (sx_core_splits); false
     * where an array does not have the children. Whether a level
     * can hold some tensors' tiles, asked `anew` at first. Lays the spatial loops; false where the array does not have the
     * instances. Puts the temporal loops in order and returns the steps of time; `charge` and `sum` may follow. */
    bool (*draw_splits)(const sx_core_space *space, const sx_core_splits *splits, struct sx_core_work *work,
                        sx_core_rng *rng, sx_compact_level *point, uint64_t *loops);
    /* Gives the first n dimensions splits of the list, by number, and the others factors of 1, whose words stay. */
    void (*pick_splits)(const sx_core_space *space, const sx_core_splits *splits, struct sx_core_work *work,
                        const uint32_t *number, int n, sx_compact_level *point, uint64_t *loops);
    bool (*hold)(const sx_core_space *space, struct sx_core_work *work, int level, unsigned keep, bool anew);
    bool (*lay)(const sx_core_space *space, struct sx_core_work *work, const sx_compact_level *point);
    double (*order)(const sx_core_space *space, struct sx_core_work *work, const sx_compact_level *point);
    /* Changes a random part of a point by a small step, or draws it anew (core/steps.h); whether it is then legal. */
    bool (*step)(const sx_core_space *space, const sx_core_splits *splits, struct sx_core_work *work,
                 sx_core_rng *rng, bool redraw, sx_compact_level *point);
    /* Draws the primes of a random dimension anew. */
    void (*redraw)(const sx_core_space *space, sx_core_rng *rng, sx_compact_level *point);
    /* Takes over an axis of another point (core/moves.h). */
    void (*take)(const sx_core_space *space, int axis, int dim, const sx_compact_level *from,
                 sx_compact_level *to);
    void (*mutate)(const sx_core_space *space, sx_core_rng *rng, const sx_core_chances *chances,
                   sx_compact_level *point);
    /* Whether a point is legal, and repairing it; where these are true, `finish` may follow. */
    bool (*check)(const sx_core_space *space, struct sx_core_work *work, const sx_compact_level *point);
    bool (*repair)(const sx_core_space *space, struct sx_core_work *work, sx_core_rng *rng,
                   sx_compact_level *point);
    /* Scores that point; false where children have no closed form and are too many to be listed. */
    bool (*finish)(const sx_core_space *space, struct sx_core_work *work, const sx_compact_level *point,
                   sx_core_score *score);
    /* Scores of nests, in three steps. Opens a nest by its cells, n_levels of each dimension; `anew`: its factors or spatial loops
     * are not those of the nest before. The steps of time, or 0 where the array does not have the instances. */
    double (*open)(const sx_core_model *model, struct sx_core_work *work, const sx_core_nest *nest,
                   const sx_core_cell (*cell)[SX_CORE_LEVELS], bool anew);
    /* Whether the levels can keep what the nest says. */
    bool (*keeps)(const sx_core_model *model, const struct sx_core_work *work);
    /* Counts the flows of a tensor; false where children have no closed form and are too many to be listed. */
    bool (*count)(const sx_core_model *model, struct sx_core_work *work, int tensor);
    /* The same, and charges it where the levels in the mask `kept` keep it; sets its energy. */
    bool (*charge)(const sx_core_model *model, struct sx_core_work *work, int tensor, uint32_t kept,
                   double *energy);
    /* Adds up what was charged last of each tensor. */
    void (*sum)(const sx_core_model *model, const struct sx_core_work *work, sx_core_score *score);
} sx_core_engine;

/* The engine of a model. */
const sx_core_engine *sx_core_engine_of(const sx_core_model *model);

#endif
