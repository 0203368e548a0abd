/* What tiles of any extents cause, for bounds of mappings that leave remainders. */
#ifndef SX_BOUND_IMPERFECT_TILES_H
#define SX_BOUND_IMPERFECT_TILES_H

#include "bound/bound.h"
#include "bound/largest.h"

/* For every level of one instance but the outermost, and every set of tensors that it may keep: the words of each
 * that flow into it, as a Pareto front over all tiles that fit. Never changes, may be shared by threads. */
typedef struct sx_imperfect_tiles {
    const sx_model *model;
    uint8_t must[SX_MAX_LEVELS], may[SX_MAX_LEVELS]; /* tensors that levels keep, and may keep beside */
    double words[SX_MAX_TENSORS];                    /* that are touched, at least */
    sx_traffic_front *front[SX_MAX_LEVELS];          /* per set of tensors; NULL: the level has none */
    double *energy[SX_MAX_LEVELS]; /* per set: of words beyond those, whichever levels they come from */
    sx_largest_tiles *largest[SX_MAX_LEVELS]; /* per set; NULL at the outermost level, and with zeros */
} sx_imperfect_tiles;

/* A tile of a level, by what is outside it. */
typedef struct sx_imperfect_tile {
    uint32_t blocks[SX_MAX_DIMS]; /* that it makes of each dimension */
    int first;   /* dimension of the innermost loop of several iterations; -1: there is none */
    bool top;    /* there is one level outside */
    bool fewest; /* blocks are the fewest that there may be */
} sx_imperfect_tile;

/* The words of a tensor that flow into a level of one instance, at least. */
double sx_imperfect_tile_flow(const sx_model *model, int tensor, const sx_imperfect_tile *tile);

/* What a word counts for that flows from a level into one further in, both of one instance, beyond those that
 * must. */
typedef struct sx_imperfect_word {
    double reads, updates; /* of the outer level */
    double fills;          /* of the inner one */
} sx_imperfect_word;

sx_imperfect_word sx_imperfect_word_of(const sx_model *model, int tensor);

/* Its energy. */
double sx_imperfect_word_energy(const sx_model *model, int tensor, int into, int from);

/* The least sum over the tiles of a level that keeps some tensors of all words beyond those that must flow into it,
 * at a price for each tensor. */
double sx_imperfect_tiles_least(const sx_imperfect_tiles *tiles, int level, unsigned keep,
                                const double *price);

/* Makes the fronts of a model, which must outlive them; ended early, some are missing and bounds less close. At most `most`
 * tiles are listed for each (0: as many as are useful); the fewer, the less close are bounds. */
SX_MUST_USE sx_status sx_imperfect_tiles_new(const sx_model *model, const uint8_t *must, const uint8_t *may,
                                             double most, const sx_interrupt *halt,
                                             SX_OWN sx_imperfect_tiles **out);
void sx_imperfect_tiles_free(SX_TAKE sx_imperfect_tiles *tiles);

#endif
