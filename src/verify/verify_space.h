/* The map space as the verifier reads it, straight from problem, architecture, constraints and options.
 *
 * A mapping belongs to it when all of this holds:
 *   - each dimension's factors multiply to its size, or with remainders cover it; each lies within its limits;
 *     beyond a slot that takes all that is left there are no loops; spatial loops are at levels with a fan-out
 *     only; levels that never keep anything have no more temporal loops than they must;
 *   - spatial loops have room below one instance of their level, on X and on Y; those on either axis stand in
 *     the order of the constraint's innermost list, then of the dimensions, then of its outermost list;
 *     loops on X come before those on Y in that order where a permutation is asked for, and a split says how
 *     many dimensions are for X; with split_axes, where nothing constrains a level's axes, a dimension that X has
 *     no room for lies on both, as src/ir/axes.h says;
 *   - temporal loops beyond one iteration stand in an order that the constraint allows;
 *   - each level keeps what it must and nothing it may not (the outermost one, or with keep_all each one:
 *     all that it may); a level in banks can share them out so that just these tensors fit;
 *   - sx_constraints_allow and the model take it. */
#ifndef SX_VERIFY_VERIFY_SPACE_H
#define SX_VERIFY_VERIFY_SPACE_H

#include "model/model.h"
#include "sextant/space.h"
#include "verify/check_budget.h"

typedef struct sx_limit {
    uint32_t least, most;
} sx_limit;

/* Divisors of a dimension's size, ascending. */
typedef struct sx_divisors {
    uint32_t *divisor;
    size_t n;
} sx_divisors;

typedef struct sx_verify_space {
    const sx_model *model;
    const sx_problem *problem;
    const sx_arch *arch;
    const sx_constraints *constraints;
    sx_limit temporal[SX_MAX_LEVELS][SX_MAX_DIMS], spatial[SX_MAX_LEVELS][SX_MAX_DIMS];
    bool remainders;                                  /* factors need not divide */
    bool splits[SX_MAX_LEVELS];                       /* a dimension may lie on both axes */
    uint64_t room[SX_MAX_LEVELS][2];                  /* children of an instance on X and on Y */
    uint8_t must[SX_MAX_LEVELS], may[SX_MAX_LEVELS];  /* tensors that a level keeps */
    bool banked[SX_MAX_LEVELS];                       /* by whole banks */
    uint8_t spatial_rank[SX_MAX_LEVELS][SX_MAX_DIMS]; /* where a constraint places loops: lower inside */
    uint8_t temporal_rank[SX_MAX_LEVELS][SX_MAX_DIMS];
    sx_divisors divisors[SX_MAX_DIMS];
} sx_verify_space;

/* Reads a space; what it is made of must outlive it. *out is freed with sx_verify_space_fini, also after an
 * error.
 */
SX_MUST_USE sx_status sx_verify_space_init(sx_verify_space *out, const sx_model *model,
                                           const sx_constraints *constraints,
                                           const sx_map_space_options *options);
void sx_verify_space_fini(sx_verify_space *space);

/* Whether a level's spatial loops may lie so that those of a mask are on X and the others on Y. */
bool sx_verify_space_fits(const sx_verify_space *space, int level, const uint32_t *factor, unsigned x);
/* Lays them so. */
void sx_verify_space_set_layout(const sx_verify_space *space, int level, unsigned x, sx_mapping_level *at);

/* The dimensions with factors beyond 1, as a mask. */
unsigned sx_verify_space_loops(const sx_verify_space *space, const uint32_t *factor);

/* Whether a level's banks can be shared out so that just these tensors fit, where its tile reaches so far;
 * true where it has none. */
bool sx_verify_space_banks_fit(const sx_verify_space *space, int level, unsigned keep,
                               const uint32_t *extent);

/* Whether a mapping belongs to the space; where not, says why. */
bool sx_verify_space_contains(const sx_verify_space *space, const sx_mapping *mapping, char *text,
                              size_t size);

/* Sets choice number `choice` of what levels keep; false where some tensor is kept nowhere. */
bool sx_verify_space_choose_keep(const sx_verify_space *space, uint32_t choice, uint8_t *keep);

/* Calls `visit` for every spatial mapping: spatial factors within their limits, whose products divide the
 * sizes unless `any` is allowed, that have room in some way. Ends early where that returns false, or the budget is spent. */
typedef bool sx_spatial_visitor(void *user, const uint32_t (*spatial)[SX_MAX_DIMS]);
void sx_verify_space_list_spatial(const sx_verify_space *space, bool any, sx_check_budget *budget,
                                  sx_spatial_visitor *visit, void *user);

#endif
