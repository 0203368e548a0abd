/* Draws from the tables of an image: nests, and blocks of orders under drawn factorisations. Every random number follows from a
 * seed and some counters, whoever asks for it. */
#ifndef SX_GPU_TABLES_H
#define SX_GPU_TABLES_H

#include "gpu/space.h"

enum { SX_GPU_BLOCK_ORDERS = 16 /* of a drawn factorisation that are swept */ };

/* Draws a nest, number `index` of a seed's sequence: all splits, orders, layouts and kept tensors are equally likely. */
SX_HD void sx_gpu_draw_nest(const sx_gpu_view *view, sx_core_state *st, uint64_t seed, uint64_t index) {
    const sx_core_lane alone = {0, 1, 0, 1, 1};
    const sx_gpu_image *p = view->p;
    sx_core_rng rng = sx_gpu_stream(seed, 0, index);
    sx_core_nest *nest = &st->nest;
    bool spread = false;
    for (int d = 0; d < (int)p->core.n_dims; d++) nest->row[d] = (uint16_t)sx_core_below(&rng, p->n_rows[d]);
    sx_gpu_set_rows(view, st, alone);
    for (int s = 0; s < SX_CORE_N_LEVELS(&p->core); s++) {
        sx_gpu_list layouts = sx_gpu_layouts(view, st, s);
        nest->slots[s] = view->loops[layouts.first + sx_core_below(&rng, layouts.n)];
        if (s == 0) spread = nest->slots[0].n > 0;
        sx_gpu_list orders = sx_gpu_orders(view, st, s, spread);
        nest->loops[s] = view->loops[orders.first + sx_core_below(&rng, orders.n)];
        nest->keep[s] = (uint8_t)(p->core.level[s].must | (p->core.level[s].may & sx_core_next(&rng) >> 56));
    }
}

/* Draws a factorisation, a layout and a block of successive orders, number `index` of a seed's sequence; false where
 * the factorisation or the layout cannot be legal. */
SX_HD bool sx_gpu_draw_item(const sx_gpu_view *view, sx_core_state *st, uint64_t seed, uint64_t index,
                            sx_gpu_item *out) {
    const sx_gpu_image *p = view->p;
    sx_core_rng rng = sx_gpu_stream(seed, 1, index);
    uint64_t f = 0;
    uint32_t n;
    for (int d = 0; d < (int)p->core.n_dims; d++) f += sx_core_below(&rng, p->n_rows[d]) * p->weight[d + 1];
    if (!sx_gpu_screen(view, st, f)) return false;
    uint32_t layout = sx_core_below(&rng, sx_gpu_set_layout(view, st, 0));
    if (layout > UINT16_MAX || !sx_gpu_spreads(view, st, layout, &n)) return false;
    uint32_t orders = sx_gpu_count_orders(view, st);
    if (orders == 0) return false;
    out->factorisation = f;
    out->layout = (uint16_t)layout;
    out->n = orders < SX_GPU_BLOCK_ORDERS ? orders : SX_GPU_BLOCK_ORDERS;
    out->first = sx_core_below(&rng, orders - out->n + 1);
    return true;
}

#endif
