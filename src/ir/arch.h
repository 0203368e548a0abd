/* What the layers above read off an architecture. */
#ifndef SX_IR_ARCH_H
#define SX_IR_ARCH_H

#include "sextant/arch.h"

/* A copy, to be freed with free(); NULL when memory is out. An architecture is too large for the stack. */
SX_OWN sx_arch *sx_arch_copy(const sx_arch *arch);

/* The words that tiles may take at a level; INFINITY where it has no limit. */
double sx_usable_words(const sx_storage *level);

/* The bits of an element of a tensor at a level. */
static inline uint32_t sx_element_bits(const sx_storage *level, const sx_tensor *tensor) {
    return tensor->bits ? tensor->bits : level->word_bits;
}

/* The whole words of a level that a given number of elements of a tensor take, packed. */
double sx_element_words(const sx_storage *level, const sx_tensor *tensor, double elements);

/* Puts names, formats and actions in an order that does not depend on how they were given: names by their letters,
 * formats by level and tensor, actions by level. */
void sx_sparse_order(sx_sparse *sparse);

/* The widths of a rank's metadata and payload words at a level, in bits; false where one is wider than the
 * level's metadata storage. A given width that does not divide the storage's is raised to one that does, if
 * there is one below twice as much. */
bool sx_rank_bits(const sx_metadata_store *store, const sx_rank_format *rank, uint32_t bits[2]);

/* Whether a duration of a cycle is one of real clocks, 1 kHz to 1 THz. */
static inline bool sx_clock_usual(double seconds) {
    return seconds >= 1e-12 && seconds <= 1e-3;
}

/* The name of the index-th component without a known energy, outermost first; NULL past the last. */
const char *sx_arch_unpriced(const sx_arch *arch, int index);

/* The energy of an action on sparse tensors by its name, such as "gated_read" or "skipped_metadata_fill"; NULL
 * where there is none. Actions are numbered by sx_action_energy_name, NULL past the last. */
double *sx_action_energy(sx_metadata_store *store, const char *name);
const char *sx_action_energy_name(size_t index);

/* What a vector unit has where it does not say: operations of an exponential, and passes of softmax over a long row. */
#define SX_VECTOR_EXP 10
#define SX_VECTOR_PASSES 3

/* Refuses a vector unit without lanes, or with numbers that are not usable. */
SX_MUST_USE sx_status sx_vector_unit_check(const sx_vector_unit *unit);

#endif
