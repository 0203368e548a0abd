/* What hardware does about zeros: the formats in which levels hold tensors, the accesses that they gate or
 * skip, and gating and skipping of computes. Tensors and dimensions stand here by name, as an architecture
 * does not know the problem's. */
#ifndef SX_SPARSE_H
#define SX_SPARSE_H

#include "sextant/problem.h"

#define SX_MAX_SPARSE_NAMES 32 /* of tensors and dimensions; a set of them is a mask */
#define SX_MAX_FORMATS 128     /* one per level and tensor */
#define SX_MAX_FORMAT_RANKS 32 /* of one tensor at one level */
#define SX_MAX_ALL_RANKS 256   /* of all formats together */
#define SX_MAX_ACTIONS 96
#define SX_MAX_ACTION_OPTIONS 4
#define SX_MAX_FLATTENED 4

/* How a rank is represented. CP (coordinates and payloads), RLE (run lengths) and B (bitmask) leave out empty
 * coordinates; UOP (offset pairs) and UB (uncompressed bitmask) do not. */
typedef enum sx_rank_kind { SX_RANK_CP, SX_RANK_RLE, SX_RANK_B, SX_RANK_UOP, SX_RANK_UB } sx_rank_kind;

#define SX_BITS_DEFAULT UINT32_MAX /* of a rank's words: what the level says */

typedef struct sx_rank_format {
    uint8_t kind;        /* sx_rank_kind */
    uint8_t n_flattened; /* 0: the rank takes one loop */
    uint8_t padding[2];
    uint32_t metadata_bits, payload_bits;
    uint32_t flattened[SX_MAX_FLATTENED]; /* sets of dimensions whose loops the rank takes together */
} sx_rank_format;

/* The format of a tensor at a level. */
typedef struct sx_tensor_format {
    uint8_t level, tensor; /* tensor: a name's number */
    uint8_t n_ranks;
    bool inner_to_outer; /* loops are given to ranks from the innermost on */
    uint16_t first;      /* its ranks, the innermost first */
} sx_tensor_format;

/* Accesses to `target` are gated or skipped where tiles of the tensors `on` are empty. */
typedef struct sx_action_option {
    uint32_t on; /* a set of names */
    uint8_t target;
    uint8_t padding[3];
} sx_action_option;

/* Gating or skipping at a level, by the option that saves most. */
typedef struct sx_sparse_action {
    uint8_t level;
    bool skips; /* false: gates */
    uint8_t n_options;
    uint8_t padding;
    sx_action_option option[SX_MAX_ACTION_OPTIONS];
} sx_sparse_action;

/* Plain data, zero-padded. */
typedef struct sx_sparse {
    uint8_t n_names, n_formats, n_actions;
    bool gates_compute, skips_compute;
    bool timeloop; /* read from a file in Timeloop's form, which asks for its semantics */
    uint16_t n_ranks;
    char name[SX_MAX_SPARSE_NAMES][SX_NAME_SIZE];
    sx_tensor_format format[SX_MAX_FORMATS];
    sx_rank_format rank[SX_MAX_ALL_RANKS];
    sx_sparse_action action[SX_MAX_ACTIONS];
} sx_sparse;

/* Whether hardware does anything about zeros; where not, densities have no effect. */
bool sx_sparse_active(const sx_sparse *sparse);

/* Whether a rank leaves out empty coordinates. */
bool sx_rank_compressed(sx_rank_kind kind);

/* A rank's name, such as "CP", and the kind of a name in any case; -1 where there is none. */
const char *sx_rank_kind_name(sx_rank_kind kind);
int sx_rank_kind_named(const char *name);

/* Refuses a description that breaks a rule: limits, numbers out of range, a tensor with two formats at a
 * level, a compressed rank outside an uncompressed one. */
SX_MUST_USE sx_status sx_sparse_check(const sx_sparse *sparse, int n_levels);

#endif
