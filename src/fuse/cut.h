/* A layer of a fused network, cut at the exchange memory. Tensors that stay in that memory are kept by a level of
 * their own, just outside of it and with its energies: they use neither the levels further out nor the memory's tiles.
 * What the layer has of the memory for its own tiles is the rest. A second exchange memory, further in, is cut likewise; the
 * level of what stays there is the outermost one, so that loops of all other levels are inside of it. */
#ifndef SX_FUSE_CUT_H
#define SX_FUSE_CUT_H

#include "sextant/constraints.h"

typedef struct sx_cut {
    uint8_t resident;     /* tensors that stay in the exchange memory: a mask over the problem's */
    uint8_t found;        /* of them, outputs whose partial sums are there before the layer runs */
    uint8_t second;       /* tensors that stay in the second exchange memory, a mask */
    uint8_t second_level; /* that memory; 0 where there is none */
    uint8_t free_port;    /* what stays in the exchange memory uses no bandwidth: of bounds alone */
    uint8_t padding[3];
    uint64_t occupied; /* words of the exchange memory that all that stays takes while the layer runs */
    uint64_t occupied_second; /* the same of the second one */
} sx_cut;

/* Finds the exchange memory: the level of that name, NULL: the one inside the outermost; after a comma there may be the name
 * of a second one, else *second is -1. An error says why a machine has none. */
SX_MUST_USE sx_status sx_cut_levels(const sx_arch *arch, const char *names, int *out, int *second);

/* The words of the exchange memory that tensors may take. */
uint64_t sx_cut_capacity(const sx_arch *arch, int exchange);

/* The machine that a cut layer sees: one level more, at exchange + 1, whose loops launch the tiles that those of the outermost
 * level launch otherwise, and one as the outermost for the second memory. Where nothing stays it is the machine itself. */
void sx_cut_arch(const sx_arch *arch, int exchange, const sx_cut *cut, sx_arch *out);

/* The level of such a machine that is the outermost of the machine itself. */
static inline int sx_cut_outermost(const sx_arch *cut_arch, const sx_cut *cut) {
    return cut_arch->n_levels - 1 - (cut->second != 0);
}

/* The constraints of that machine, from those of the machine itself, `arch`. A memory of which nothing is left keeps no tile. */
void sx_cut_constraints(const sx_arch *arch, const sx_constraints *from, int exchange, const sx_cut *cut,
                        sx_constraints *out);

/* Makes the score of a cut layer whose cost is known: the exchange memory and the level of what stays there are one
 * memory, whose bandwidth both use. */
sx_score sx_cut_score(const sx_problem *problem, const sx_arch *cut_arch, int exchange, const sx_cut *cut,
                      const sx_cost *cost);

#endif
