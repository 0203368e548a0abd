/* Labels: what the paths of an einsum are to the rest of a cascade. A path shows the loops that it shares with
 * others and where it exchanges tensors with them (its face), its cost, and the room that it takes in the
 * exchange memory, by the number of shared loops above. Of paths with one face only those are kept that no other
 * is at least as good as in everything. */
#ifndef SX_LOOPTREE_LABEL_H
#define SX_LOOPTREE_LABEL_H

#include "looptree/path.h"

#include "base/hash_table.h"
#include "base/vector.h"

#define SX_MAX_FUSED_LOOPS 6  /* loops that einsums share, at most */
#define SX_MAX_FUSED_LEVELS 8 /* levels of an architecture that fused mappings are searched on, at most */

/* Compared as bytes: what is not used is zero. */
typedef struct sx_face {
    int8_t depth[SX_MAX_TENSORS]; /* of a tensor exchanged on chip: the loops above it; else -1 */
    uint8_t n_loops;
    uint8_t dim[SX_MAX_FUSED_LOOPS + 1];
    uint32_t bound[SX_MAX_FUSED_LOOPS];
} sx_face;

typedef struct sx_label {
    sx_face face;
    double energy, latency;
    uint64_t bits[SX_MAX_FUSED_LOOPS +
                  1]; /* of tensors that are not exchanged: those under at most a given number of loops */
} sx_label;

/* What counts: of several criteria each must be no worse. */
typedef enum sx_fuse_objective { SX_FUSE_ENERGY = 1, SX_FUSE_LATENCY = 2, SX_FUSE_EDP = 3 } sx_fuse_objective;

static inline double sx_fuse_value(sx_fuse_objective objective, double energy, double latency) {
    return objective == SX_FUSE_ENERGY ? energy : objective == SX_FUSE_LATENCY ? latency : energy * latency;
}

/* Labels by their faces. All zero but `labels.size` and `groups.size` is an empty table. */
typedef struct sx_label_table {
    sx_fuse_objective objective;
    sx_vector labels; /* sx_label_entry */
    sx_vector groups; /* sx_label_group */
    sx_hash_table index;
} sx_label_table;

typedef struct sx_label_entry {
    sx_label label;
    uint32_t next; /* of the same face; UINT32_MAX: none */
    bool dead;     /* another is at least as good */
} sx_label_entry;

typedef struct sx_label_group {
    sx_face face;
    uint32_t first;
} sx_label_group;

void sx_label_table_init(sx_label_table *table, sx_fuse_objective objective);
void sx_label_table_fini(sx_label_table *table);

/* Enters a label unless one at least as good is there; those that it beats are dead from then on. False when
 * memory is out. */
bool sx_label_table_add(sx_label_table *table, const sx_label *label);

/* Drops the dead. */
void sx_label_table_pack(sx_label_table *table);

static inline const sx_label *sx_label_at(const sx_label_table *table, size_t i) {
    return &((const sx_label_entry *)sx_vector_at(&table->labels, i))->label;
}

#endif
