/* A plan: what of a graph stays in the exchange memory while each of its steps runs, whole or by the tiles of a group. */
#ifndef SX_FUSE_PLAN_H
#define SX_FUSE_PLAN_H

#include "fuse/group.h"

/* Whether a search should stop, asked before each inner optimum. */
typedef bool sx_plan_stop(void *user);

/* Of what plans are made. */
typedef struct sx_plan_space {
    const sx_exchange *exchange;
    sx_inner *inner;
    const sx_fuse_group *group; /* by their first steps */
    size_t n_groups;
    sx_plan_stop
        *late; /* whether joins by lower bounds find no plan any more, with the user; NULL: they do */
    void *user;
} sx_plan_space;

/* A part of a plan: a step, or the steps of a group. */
typedef struct sx_plan_part {
    size_t first, last; /* steps */
    uint64_t state;     /* slots of the values that are whole in the exchange memory while it runs */
    size_t optimum;     /* of a step that is an einsum: its inner optimum; else SX_NO_INDEX */
    size_t group;       /* of a group: its number; else SX_NO_INDEX */
} sx_plan_part;

typedef struct sx_plan {
    bool found;
    double weight; /* sum over the parts, as sx_inner_weight says */
    size_t n_parts;
    sx_plan_part *part;
} sx_plan;

void sx_plan_fini(sx_plan *plan);

/* The best plan: by the values of the inner optima that were searched, or by the lower bounds of all. Not found where
 * nothing fits, and by bounds where it is late. *out is freed with sx_plan_fini, also after an error. */
SX_MUST_USE sx_status sx_plan_join(const sx_plan_space *space, bool by_bound, sx_plan *out);

/* The k best plans, the best first, into k places; those beyond the last are not found. Each is freed with
 * sx_plan_fini, also after an error. */
SX_MUST_USE sx_status sx_plan_join_best(const sx_plan_space *space, bool by_bound, size_t k, sx_plan *out);

/* The best plan by sums of energy * share[0] + cycles * share[1], of the mappings that are selected (sx_inner_select) or by lower
 * bounds. Not found where nothing fits. *out is freed with sx_plan_fini, also after an error. */
SX_MUST_USE sx_status sx_plan_join_sums(const sx_plan_space *space, bool by_bound, const double share[2],
                                        sx_plan *out);

/* The sum over the parts of a plan by the mappings that are selected: of such shares, or of weights (NULL). */
SX_MUST_USE sx_status sx_plan_sum(const sx_plan_space *space, const double *share, const sx_plan *plan,
                                  double *out);

/* Whether it is late. */
static inline bool sx_plan_late(const sx_plan_space *space) {
    return space->late && space->late(space->user);
}

/* The inner optimum of a run of a group in a state. */
SX_MUST_USE sx_status sx_plan_group_optimum(const sx_plan_space *space, const sx_fuse_group *group,
                                            const sx_group_run *run, uint64_t state, size_t *out);

/* How the layer of a step is cut in a state, alone or as a run of a group. */
sx_cut sx_plan_step_cut(const sx_exchange *exchange, size_t step, uint64_t state);
sx_cut sx_plan_run_cut(const sx_exchange *exchange, const sx_fuse_group *group, const sx_group_run *run,
                       uint64_t state);

/* Whether a value is whole in the second exchange memory in a state. */
static inline bool sx_plan_stays_second(const sx_exchange_value *value, uint64_t state) {
    return value->second_slot != SX_NO_SLOT && (state >> value->second_slot & 1);
}

/* Whether a value is whole in an exchange memory in a state. */
static inline bool sx_plan_stays(const sx_exchange_value *value, uint64_t state) {
    return !value->reason && ((state >> value->slot & 1) || sx_plan_stays_second(value, state));
}

/* The words of the exchange memory that the values of a state take, at most, from one step to another, and those that are
 * reserved; and those of the second one. */
uint64_t sx_plan_occupied(const sx_exchange *exchange, size_t first, size_t last, uint64_t state);
uint64_t sx_plan_occupied_second(const sx_exchange *exchange, size_t first, size_t last, uint64_t state);

#endif
