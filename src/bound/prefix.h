/* Lower bounds of mappings that leave remainders and whose innermost levels are decided. */
#ifndef SX_BOUND_PREFIX_H
#define SX_BOUND_PREFIX_H

#include "bound/decided.h"
#include "bound/imperfect.h"

/* A row of the largest tiles of the outermost level but one, the first loop outside it (-1: none), and the energy of what
 * flows into it. */
typedef struct sx_join_option {
    double energy;
    uint16_t row;
    int16_t first;
} sx_join_option;

enum { SX_JOIN_OPTIONS = 1024 };

/* One thread's workspace: an outline with its flows, and the levels that are decided. */
typedef struct sx_prefix_bound {
    const sx_imperfect_bound *bounds;
    bool usable; /* tiles are kept from visit to visit, and zeros count */
    sx_decided decided;
    int n_flows;
    sx_imperfect_flow flow[SX_IMPERFECT_FLOWS];
    sx_imperfect_sum rest[SX_MAX_LEVELS + 1]; /* of flows into levels from this one on */
    int option_level, n_options; /* options of that level, the least energy first; -1: none are listed */
    sx_join_option option[SX_JOIN_OPTIONS];
} sx_prefix_bound;

/* What is asked of a bound: levels up to `last` are decided, except that of this level only the loop that is innermost is
 * known, if `order` is false, extents of its dimensions `loose` are the largest that may be, and those of `ranged` the
 * largest that make as many blocks. */
typedef struct sx_prefix_query {
    int last;
    int inner; /* dimension of that loop; -1: the level has none that matters */
    bool order;
    unsigned loose, ranged;
} sx_prefix_query;

void sx_prefix_bound_init(sx_prefix_bound *prefix, const sx_imperfect_bound *bounds, bool usable);

/* Takes over the outline of the bounds. */
void sx_prefix_bound_begin(sx_prefix_bound *prefix);

/* Lists the options, as the former does. */
void sx_join_begin(sx_prefix_bound *prefix);

/* A bound where the innermost loop outside level `last` is on dimension `first`, -1: there is none; false where it cannot
 * be. */
bool sx_prefix_bound_score(const sx_prefix_bound *prefix, const sx_prefix_query *query, int first,
                           sx_score *out);

/* The accesses and words of a flow into a decided level, at the least; false where only those are known that any mapping
 * has. */
bool sx_prefix_flow(const sx_prefix_bound *prefix, const sx_prefix_query *query, int first,
                    const sx_imperfect_flow *flow, double *asked, double *filled);

/* Raises them to what some visits bring about, of all children and of one for each group of them, where a share of the
 * words stands still. */
void sx_prefix_raise(const sx_imperfect_bound *bounds, const sx_imperfect_flow *flow, double still,
                     double visits, double grouped, double *asked, double *filled);

/* How bounds are compared: by a value that does not fall as energy or cycles grow. Bounds from `limit` on need not be
 * raised, and where there is one only the value is; one below `enough` ends the search for the least. */
typedef struct sx_prefix_goal {
    double (*value)(const void *rule, const sx_score *score);
    const void *rule;
    double limit, enough;
} sx_prefix_goal;

/* The least value, energy and cycles, each for itself. */
typedef struct sx_prefix_least {
    double value, energy, cycles;
} sx_prefix_least;

/* The same as the bound for a first loop, over all tiles of the next level outward (join.c); counts its steps, of about
 * 0.1 us. */
sx_prefix_least sx_prefix_bound_joined(const sx_prefix_bound *prefix, const sx_prefix_query *query, int first,
                                       const sx_prefix_goal *goal, uint64_t *steps);

/* A bound where only the innermost loop of the last level is known, of its extents the largest that may be, over all its
 * tiles and those of all levels outside; -INFINITY and 0 where none is known. */
sx_prefix_least sx_prefix_bound_open(const sx_prefix_bound *prefix, const sx_prefix_query *query,
                                     const sx_prefix_goal *goal, uint64_t *steps);

/* The least of these over all loops that may be the next one outward; one that is below goal->enough, as soon as there is
 * one. */
sx_prefix_least sx_prefix_bound_least(const sx_prefix_bound *prefix, const sx_prefix_query *query,
                                      const sx_prefix_goal *goal, uint64_t *steps);

#endif
