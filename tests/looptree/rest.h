/* What lies below the loops that einsums share: the best ways to hold the remaining tensors of an einsum, for a
 * tile of it that is given. It depends on that tile alone, not on how the loops above came about. */
#ifndef SX_LOOPTREE_REST_H
#define SX_LOOPTREE_REST_H

#include "looptree/label.h"

/* The task: an einsum, and which tensor may be held where. */
typedef struct sx_label_task {
    const sx_arch *arch; /* the outermost level but one is the exchange memory */
    const sx_problem *einsum;
    uint32_t bits[SX_MAX_TENSORS];
    uint32_t passes;                    /* tensors that may be exchanged on chip, as a mask */
    uint32_t keep[SX_MAX_FUSED_LEVELS]; /* tensors that the levels below the exchange memory may keep */
    int loops_per_dim;                  /* of those that einsums share */
    sx_fuse_objective objective;
} sx_label_task;

/* Room and traffic of some holders. */
typedef struct sx_rest_step {
    uint64_t bits; /* of the exchange memory */
    double energy, time[SX_MAX_FUSED_LEVELS];
} sx_rest_step;

/* A holder on a path below the shared loops. */
typedef struct sx_rest_holder {
    uint8_t level, tensor;
    int8_t slides; /* the dimension of a window along which its tile slides; -1: none */
    uint32_t extent[SX_MAX_DIMS], below[SX_MAX_DIMS]; /* of what it moves, and of what is left to one step */
} sx_rest_holder;

/* The holders of a step that is looked for again. */
typedef struct sx_rest_trace {
    const sx_rest_step *wanted;
    bool found;
    uint8_t n, n_found;
    sx_rest_holder holder[SX_MAX_PATH];
} sx_rest_trace;

typedef struct sx_rest_cell {
    uint32_t key[SX_MAX_DIMS + 1]; /* extents; level and tensors left */
    sx_vector steps;               /* sx_rest_step, none at least as good as another */
} sx_rest_cell;

/* What a word of a tensor costs in a level. */
typedef struct sx_rest_price {
    double read_energy, write_energy, read_time, write_time;
} sx_rest_price;

typedef struct sx_rest {
    const sx_label_task *task;
    int exchange;                       /* level of the exchange memory */
    uint32_t hold[SX_MAX_FUSED_LEVELS]; /* tensors that each level holds */
    uint32_t full[SX_MAX_TENSORS];      /* dimensions alone in a rank of a tensor */
    bool plain[SX_MAX_TENSORS];         /* every rank of the tensor is one of them, without a factor */
    uint32_t partial[SX_MAX_TENSORS];   /* dimensions in a rank with others */
    uint32_t *divisors[SX_MAX_DIMS], n[SX_MAX_DIMS]; /* of the sizes, ascending */
    uint64_t room[SX_MAX_FUSED_LEVELS];              /* bits */
    sx_rest_price price[SX_MAX_FUSED_LEVELS][SX_MAX_TENSORS];
    sx_vector cells; /* sx_rest_cell */
    sx_hash_table index;
    sx_rest_step limit;   /* steps beyond it in anything are of no interest; infinite at first */
    size_t better;        /* the last step that was at least as good as another, which is asked first */
    sx_rest_trace *trace; /* of the holders being enumerated; NULL: none */
} sx_rest;

SX_MUST_USE sx_status sx_rest_init(sx_rest *rest, const sx_label_task *task);
void sx_rest_fini(sx_rest *rest);

/* Says which tensors each level holds, and forgets what was found for others. */
void sx_rest_hold(sx_rest *rest, const uint32_t *hold);

/* The steps below a tile with the given extents, where `left` are the tensors that the exchange memory has still
 * to hold; NULL when memory is out. Valid until the next call. */
const sx_vector *sx_rest_steps(sx_rest *rest, const uint32_t *extent, uint32_t left);

/* Leaves out steps beyond a limit in anything from now on. */
void sx_rest_limit(sx_rest *rest, const sx_rest_step *limit);

/* Finds the holders of one of those steps, outermost first; false when memory is out. */
bool sx_rest_find(sx_rest *rest, const uint32_t *extent, uint32_t left, const sx_rest_step *step,
                  sx_rest_trace *trace);

/* Adds the words that a holder of a tensor moves, whose tile has the given extents. */
void sx_rest_move(const sx_rest *rest, sx_rest_step *step, int tensor, int level, const uint32_t *extent);

/* Adds what the compute units take from the innermost holders and give them. */
void sx_rest_compute(const sx_rest *rest, sx_rest_step *step);

#endif
