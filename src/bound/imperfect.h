/* Lower bounds of the cost of mappings whose factors leave remainders, of which only a part is decided. */
#ifndef SX_BOUND_IMPERFECT_H
#define SX_BOUND_IMPERFECT_H

#include "bound/imperfect_tiles.h"

enum { SX_IMPERFECT_FLOWS = SX_MAX_TENSORS * SX_MAX_LEVELS };

/* What some flows come to: energy without leakage, cycles that banks take, and uses of each level's ports per
 * instance. */
typedef struct sx_imperfect_sum {
    double energy, banked;
    double reads[SX_MAX_LEVELS], writes[SX_MAX_LEVELS], both[SX_MAX_LEVELS];
} sx_imperfect_sum;

/* What flows of a tensor into a level (-1: the compute units) from the next one outward that keeps it, at the least:
 * accesses of the latter, and words that arrive. */
typedef struct sx_imperfect_flow {
    int tensor, child, parent;
    double asked, filled;
} sx_imperfect_flow;

/* What is known of all such mappings of a spatial mapping, and of a choice of kept tensors. */
typedef struct sx_imperfect_bound {
    const sx_model *model;
    const sx_imperfect_tiles *tiles;
    bool dense;                   /* counts are whole, those of an instance, too: zeros and open spatial
                                            factors change that */
    double words[SX_MAX_TENSORS]; /* that are touched, at least */
    uint16_t irrelevant[SX_MAX_TENSORS]; /* dimensions that do not index a tensor */
    uint16_t merge[SX_MAX_TENSORS]; /* those, and dimensions along which children may want the same words */
    bool reuses;                    /* tiles are kept from visit to visit, at all levels: set by the caller */
    sx_outline outline;
    double above[SX_MAX_LEVELS];                /* instances */
    double steps;                               /* of the compute units, at least */
    bool even;                                  /* computes are divided evenly among the units in use */
    double even_steps;                          /* of every unit then */
    double leak;                                /* energy per cycle */
    double held[SX_MAX_TENSORS][SX_MAX_LEVELS]; /* instances of a level that each need a tensor's words */
    bool linked[SX_MAX_TENSORS];                /* compute units may hand words to each other */
    int first; /* the innermost temporal loop is on this dimension; -1: not known */
    double moved[SX_MAX_TENSORS][SX_MAX_DIMS];    /* accesses by linked units that it causes; 0: not known */
    double copies[SX_MAX_TENSORS][SX_MAX_LEVELS]; /* the same, at most */
    double group[SX_MAX_TENSORS][SX_MAX_LEVELS];  /* children that may share an access, at most */
    sx_imperfect_sum kept;                        /* all flows of what is kept */
} sx_imperfect_bound;

/* Bounds of what levels must and may keep; the tiles must outlive them. */
void sx_imperfect_bound_init(sx_imperfect_bound *bounds, const sx_imperfect_tiles *tiles);

/* Sets the spatial factors to those of an outline. */
void sx_imperfect_bound_spatial(sx_imperfect_bound *bounds, const sx_outline *outline);

/* A bound of a spatial mapping for all that levels may keep beside what they must. */
sx_score sx_imperfect_bound_any(const sx_imperfect_bound *bounds);

/* Sets what levels keep. */
void sx_imperfect_bound_keep(sx_imperfect_bound *bounds, const uint8_t *keep);

/* A bound of a spatial mapping with its kept tensors and a given number of steps. */
sx_score sx_imperfect_bound_score(const sx_imperfect_bound *bounds, double steps);

/* The flows of what is kept; returns how many. And the sum of those into levels from `level` on, with what the tiles of
 * these levels cause. */
int sx_imperfect_flows(const sx_imperfect_bound *bounds, sx_imperfect_flow *flow);
void sx_imperfect_sum_rest(const sx_imperfect_bound *bounds, int level, sx_imperfect_sum *sum);

/* What a count is at the least: of one that the model rounds, or of one that is whole. */
double sx_imperfect_count(const sx_imperfect_bound *bounds, double least, bool rounded);

/* Adds a flow of a given number of accesses and words; and the bound that a sum of all flows and a given number of steps give. */
void sx_imperfect_sum_flow(const sx_imperfect_bound *bounds, const sx_imperfect_flow *flow, double asked,
                           double filled, sx_imperfect_sum *sum);
sx_score sx_imperfect_sum_score(const sx_imperfect_bound *bounds, const sx_imperfect_sum *sum, double steps);

/* A bound of all mappings on all spatial mappings. */
sx_score sx_imperfect_bound_all(const sx_imperfect_bound *bounds);

#endif
