/* Declarations shared by the files of the map space only. */
#ifndef SX_MAPSPACE_MAP_PARTS_H
#define SX_MAPSPACE_MAP_PARTS_H

#include "mapspace/map_space.h"
#include "model/model.h"

/* Reasons of a map space beyond those of sx_reason. */
enum { SX_MAP_CONSTRAINT = 32, SX_MAP_BANK_SHARE, SX_MAP_FANOUT };

static inline const sx_map_space *sx_map_cast(const sx_space *space) {
    return (const sx_map_space *)(const void *)space;
}

/* The factors of all dimensions at a slot. */
static inline uint32_t *sx_map_slot_factors(const sx_map_space *space, void *point, int slot) {
    sx_mapping_level *level = sx_map_level(point, space->slot[slot].level);
    return space->slot[slot].spatial ? level->spatial : level->temporal;
}

/* --- map_normalize.c --- */

/* The temporal loops of a level that are free to move, innermost first; returns how many. */
int sx_map_loops(const sx_map_space *space, int level, const sx_mapping_level *at, uint8_t *loop);
/* Gives a level the order of these free loops, with the fixed ones and those of one iteration in their
 * places. */
void sx_map_set_loops(const sx_map_space *space, int level, const uint8_t *loop, int n, sx_mapping_level *at);

/* The dimensions with spatial loops on X. */
unsigned sx_map_on_x(const sx_mapping_level *at);
/* Lays a level's spatial loops on X where the mask has them, else on Y, as far as they are free. */
void sx_map_set_xy(const sx_map_space *space, int level, unsigned x, sx_mapping_level *at);

/* In how many places the loop of a dimension could stand among the others of its slot (a temporal one within
 * the order, a spatial one on X or Y), and putting it, normalized or not, in one of them: from the innermost
 * out, X before Y. */
int sx_map_places(const sx_map_space *space, int slot, int dim, const void *point);
void sx_map_place(const sx_map_space *space, int slot, int dim, int place, void *point);

/* Gives a level the order of all dimensions' loops and, where it has spatial ones, those of a mask on X. */
void sx_map_settle_level(const sx_map_space *space, int level, const uint8_t *order, unsigned x,
                         sx_mapping_level *at);

/* Puts the temporal loops of all levels in their one form. */
void sx_map_normalize_loops(const sx_map_space *space, void *point);

/* The levels where two splits of a dimension differ, as a mask. */
uint32_t sx_map_levels_between(const sx_map_space *space, const uint32_t *a, const uint32_t *b);

/* Puts a point in its one form where only these levels (a mask) are not. */
void sx_map_normalize_levels(const sx_map_space *space, uint32_t levels, void *point);

/* Sets what levels in banks keep. */
void sx_map_normalize_banks(const sx_map_space *space, void *point);

/* Whether a tile takes no more than a given number of banks of a level. */
bool sx_map_fits(const sx_map_space *space, int level, int tensor, uint64_t elements, unsigned banks);

/* How far the tiles of a level reach in every dimension, given those of the level inside (all 1 for the
 * innermost), cut at the sizes. */
void sx_map_extents(const sx_map_space *space, const sx_mapping_level *at, uint32_t *extent);

/* --- map_draw.c --- */

void sx_map_draw(const sx_space *space, sx_rng *rng, void *point);
/* Draws all tensors that levels keep, and what is left of a point that has these and its factors. */
void sx_map_draw_keeps(const sx_map_space *space, sx_rng *rng, void *point);
void sx_map_draw_rest(const sx_map_space *space, sx_rng *rng, void *point);
void sx_map_redraw(const sx_space *space, sx_rng *rng, size_t gene, void *point);

/* --- map_likely.c --- */

/* Whether the levels that must keep tensors can hold a dimension's tiles, all other dimensions at 1. */
bool sx_map_within_reach(const sx_map_space *space, int dim, const uint32_t *factor);
void sx_map_draw_likely(const sx_space *space, sx_rng *rng, void *point);
/* Finds out how far single dimensions may reach, and how often it is worth to draw. */
SX_MUST_USE sx_status sx_map_prepare_draws(sx_map_space *space);

/* --- map_moves.c --- */

void sx_map_nudge(const sx_space *space, sx_rng *rng, size_t gene, void *point);
void sx_map_take(const sx_space *space, size_t gene, const void *from, void *point);

/* All neighbours of a point, one small step away, legal or not; begins as {space, point}. Those whose
 * factors of a dimension the filter, where there is one, refuses are left out. */
typedef struct sx_map_walk {
    const sx_map_space *space;
    const void *point;
    bool (*filter)(void *context, int dim, const uint32_t *factor);
    void *context;
    size_t gene, code, place;
} sx_map_walk;
bool sx_map_walk_next(sx_map_walk *walk, void *out);

/* With remainders: sets one factor of a dimension and makes up for it by another (-1: none); outer ones
 * shrink to what is left. False where that is no split, or the one there was. */
bool sx_map_adjust(const sx_map_space *space, int dim, const uint32_t *now, int slot, uint32_t value,
                   int other, uint32_t *factor);

/* --- map_check.c --- */

/* A level in banks and a tensor that must be kept there but has too few; false where there is none. */
bool sx_map_lacks_banks(const sx_map_space *space, const void *point, int *level, int *tensor,
                        uint64_t *words);

/* The first level whose spatial loops spread over more children than one instance has (the model only counts
 * all instances), on X or Y and over how many; false where there is none. */
bool sx_map_overflows(const sx_map_space *space, const void *point, int *level, bool *on_y, uint64_t *over);

/* What the space and its constraints say of a point that the model takes; 0 where they allow it. */
unsigned sx_map_check_rest(const sx_map_space *space, const void *point);

bool sx_map_holds(const sx_space *space, const void *point);
unsigned sx_map_check(const sx_space *space, const void *point);
const char *sx_map_reason(const sx_space *space, unsigned reason);
void sx_map_explain(const sx_space *space, const void *point, char *text, size_t size);
/* The model of the points that a map space comes with: the cost model of mappings. */
extern const sx_point_model_type sx_map_model_type;

/* --- map_encode.c, map_project.c, map_diagnose.c --- */

enum {
    SX_MAP_MAX_VALUES = SX_MAX_DIMS * (SX_MAX_SLOTS + 2 * SX_MAX_LEVELS) + SX_MAX_TENSORS * SX_MAX_LEVELS
};

/* How many numbers a point's vector has. */
size_t sx_map_n_values(const sx_map_space *space);
void sx_map_encode(const sx_space *space, const void *point, double *values);

/* The logarithm of a factor, as sx_map_encode gives it. */
double sx_map_log2(uint32_t factor);

/* Gives a point with its factors set the orders, axes, kept tensors and banks nearest to a vector, and
 * normalizes it. */
void sx_map_decode_levels(const sx_map_space *space, const double *values, void *point);

bool sx_map_project(const sx_space *space, const double *values, void *point);
sx_status sx_map_diagnose(const sx_space *space, uint64_t seed, uint64_t tries, SX_OWN char **out);

#endif
