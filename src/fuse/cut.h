/* A layer of a fused network, cut at the exchange memory. Tensors that stay in that memory are kept by a level of
 * their own, just outside of it and with its energies: they use neither the levels further out nor the memory's tiles.
 * What the layer has of the memory for its own tiles is the rest. */
#ifndef SX_FUSE_CUT_H
#define SX_FUSE_CUT_H

#include "sextant/constraints.h"

typedef struct sx_cut {
    uint8_t resident; /* tensors that stay in the exchange memory: a mask over the problem's */
    uint8_t found;    /* of them, outputs whose partial sums are there before the layer runs */
    uint8_t padding[6];
    uint64_t occupied; /* words of the exchange memory that all that stays takes while the layer runs */
} sx_cut;

/* Finds the exchange memory: the level of that name, NULL: the one inside the outermost. An error says why a machine
 * has none. */
SX_MUST_USE sx_status sx_cut_level(const sx_arch *arch, const char *name, int *out);

/* The words of the exchange memory that tensors may take. */
uint64_t sx_cut_capacity(const sx_arch *arch, int exchange);

/* The machine that a cut layer sees: one level more, at exchange + 1, whose loops launch the tiles that those of the outermost
 * level launch otherwise. Where nothing stays it is the machine itself. */
void sx_cut_arch(const sx_arch *arch, int exchange, const sx_cut *cut, sx_arch *out);

/* The constraints of that machine, from those of the machine itself. */
void sx_cut_constraints(const sx_constraints *from, int exchange, const sx_cut *cut, sx_constraints *out);

/* Makes the score of a cut layer whose cost is known: the exchange memory and the level of what stays there are one
 * memory, whose bandwidth both use. */
sx_score sx_cut_score(const sx_problem *problem, const sx_arch *cut_arch, int exchange, const sx_cut *cut,
                      const sx_cost *cost);

#endif
