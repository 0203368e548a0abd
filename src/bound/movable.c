/* Loops that can change their level without a difference.
 *
 * Let level s + 1 have one child, s, and let the outermost loop of level s be on a dimension d that indexes none of the
 * tensors that s keeps or that share its banks. As the innermost loop of level s + 1 the same loops run in the same order.
 * Of all tiles only those of level s change, of tensors that it does not keep; with one child these pass on what children
 * ask for, whatever they are (docs/model.md, section 4), to within the last bit, which is gone where words are counted: in
 * whole ones. Networks from level s + 1 on must cost nothing, as they cut that to whole words. The tiles that s keeps
 * stay in place while loop d runs, inside and outside of
 * them. So nothing costs more or less, provided that tiles are not fetched anew at every visit and that no model of zeros
 * looks at tiles.
 *
 * Level s + 1 must have no loop on d: two loops on d that become one may differ where windows slide. Moving a loop outward
 * can be repeated until no more is possible, as the product of the factors further out grows each time. What it leads to
 * is a mapping of the space: its orders are free at both levels, so are the factors of d, level s + 1 may have loops (it is
 * not transparent), and level s may keep the same tensors. Banks decide the last: a level with banks bypasses a tensor only
 * where its tile is larger than its share of them (mapspace/map_choices.c), so that a smaller tile may have to be kept. Where
 * d indexes none of the tensors that share the banks, their tiles stay as they are. So mappings from which a loop can move
 * need not be looked at where one best mapping is wanted. */
#include "bound/bound.h"

#include <string.h>

/* Whether loops may move from a level to the next one at all. */
static bool is_open(const sx_bound *b, const sx_constraints *constraints, int s) {
    const sx_model *model = b->model;
    const sx_loop_limits *here = &constraints->level[s].temporal, *next = &constraints->level[s + 1].temporal;
    if (model->sparse || model->range || model->formats || b->renewed[s]) return false;
    if (model->level[s + 1].fanout_x * model->level[s + 1].fanout_y > 1 || model->level[s + 1].transparent)
        return false;
    for (int i = s + 1; i < model->n_levels; i++)
        if (model->level[i].net_energy) return false;
    return here->n_inner + here->n_outer + next->n_inner + next->n_outer == 0;
}

/* The tensors that can share the banks of a level: what it may keep depends on their tiles. */
static uint8_t banked_tensors(const sx_model *model, const sx_constraints *constraints, int s) {
    if (model->level[s].bank_words == 0) return 0;
    return (uint8_t)(sx_arch_keep_mask(model->arch, s, model->problem) & ~constraints->level[s].must_bypass);
}

void sx_bound_set_movable(sx_bound *b, const sx_constraints *constraints) {
    for (int s = 0; s + 1 < b->model->n_levels; s++) {
        b->banked[s] = banked_tensors(b->model, constraints, s);
        const sx_loop_limits *here = &constraints->level[s].temporal,
                             *next = &constraints->level[s + 1].temporal;
        for (int d = 0; d < b->model->n_dims && is_open(b, constraints, s); d++)
            if (here->min[d] <= 1 && !here->rest[d] && next->max[d] >= b->model->size[d] &&
                !constraints->level[s + 1].spatial.rest[d])
                b->movable[s] |= (uint16_t)(1u << d);
    }
}

unsigned sx_bound_movable(const sx_bound *b, int s, unsigned keep, const uint32_t *temporal,
                          const uint8_t *order) {
    unsigned dims = b->movable[s];
    int k = b->model->n_dims - 1;
    for (keep |= b->banked[s]; keep; keep &= keep - 1) dims &= b->irrelevant[__builtin_ctz(keep)];
    while (k >= 0 && temporal[order[k]] == 1) k--;
    return k >= 0 ? dims & 1u << order[k] : 0;
}

bool sx_bound_move_loop(const sx_bound *b, int s, sx_mapping_level *level) {
    sx_mapping_level *from = &level[s], *to = &level[s + 1];
    unsigned dims = sx_bound_movable(b, s, from->keep, from->temporal, from->temporal_order);
    if (!dims) return false;
    int d = __builtin_ctz(dims), k = 0;
    if (to->temporal[d] > 1) return false;
    to->temporal[d] = from->temporal[d];
    from->temporal[d] = 1;
    while (to->temporal_order[k] != d) k++;
    memmove(to->temporal_order + 1, to->temporal_order, (size_t)k);
    to->temporal_order[0] = (uint8_t)d;
    return true;
}
