/* Points by random numbers: draws from all of an image, blocks of orders under drawn factorisations, and the children of
 * a population. Every random number follows from a seed and some counters, whoever asks for it. */
#ifndef SX_GPU_DRAW_H
#define SX_GPU_DRAW_H

#include "gpu/space.h"

enum {
    SX_GPU_BLOCK_ORDERS = 16, /* of a drawn factorisation that are swept */
    SX_GPU_ISLAND = 32        /* members of an island: the threads of a warp */
};

/* A point of the image as numbers that any other may have in their place: splits by number; orders and layouts as shares,
 * in parts of 2^32 and 2^16, of however many there are. */
typedef struct sx_gpu_genome {
    uint16_t row[SX_CORE_DIMS];
    uint32_t order[SX_CORE_LEVELS];
    uint16_t layout[SX_CORE_LEVELS];
    uint8_t keep[SX_CORE_LEVELS], padding[6];
} sx_gpu_genome;

/* A member of a population. */
typedef struct sx_gpu_member {
    sx_gpu_genome genome;
    double value; /* infinite: no legal point yet */
} sx_gpu_member;

/* Mixes the bits of a number. */
SX_HD uint64_t sx_gpu_mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The state of the random numbers that belong to a seed and two counters. */
SX_HD uint64_t sx_gpu_stream(uint64_t seed, uint64_t a, uint64_t b) {
    uint64_t z = sx_gpu_mix(seed + 0x9e3779b97f4a7c15u);
    z = sx_gpu_mix((z ^ a) + 0xd1342543de82ef95u);
    return sx_gpu_mix((z ^ b) + 0x2545f4914f6cdd1du);
}

/* The next random number of 32 bits, and one below n. */
SX_HD uint32_t sx_gpu_next(uint64_t *state) {
    return (uint32_t)(sx_gpu_mix(*state += 0x9e3779b97f4a7c15u) >> 32);
}
SX_HD uint32_t sx_gpu_random(uint64_t *state, uint32_t n) {
    return (uint32_t)((uint64_t)sx_gpu_next(state) * n >> 32);
}

/* Draws a genome: all splits, orders, layouts and kept tensors are equally likely. */
SX_HD void sx_gpu_draw_genome(const sx_gpu_image *p, uint64_t *random, sx_gpu_genome *out) {
    for (int d = 0; d < (int)p->core.n_dims; d++) out->row[d] = (uint16_t)sx_gpu_random(random, p->n_rows[d]);
    for (int s = 0; s < SX_CORE_N_LEVELS(&p->core); s++) {
        uint32_t bits = sx_gpu_next(random);
        out->order[s] = sx_gpu_next(random);
        out->layout[s] = (uint16_t)bits;
        out->keep[s] = (uint8_t)(bits >> 24);
    }
}

/* Makes the point of a genome, in a state. */
SX_HD void sx_gpu_express(const sx_gpu_view *view, sx_core_state *st, const sx_gpu_genome *genome) {
    const sx_gpu_image *p = view->p;
    sx_core_nest *point = &st->own->nest;
    bool spread = false;
    for (int d = 0; d < (int)p->core.n_dims; d++) {
        point->row[d] = genome->row[d];
        sx_gpu_set_row(view, st, d);
    }
    for (int s = 0; s < SX_CORE_N_LEVELS(&p->core); s++) {
        sx_gpu_list layouts = sx_gpu_layouts(view, st, s);
        point->slots[s] = view->loops[layouts.first + ((uint32_t)genome->layout[s] * layouts.n >> 16)];
        if (s == 0) spread = point->slots[0].n > 0;
        sx_gpu_list orders = sx_gpu_orders(view, st, s, spread);
        point->loops[s] = view->loops[orders.first + (uint32_t)((uint64_t)genome->order[s] * orders.n >> 32)];
        point->keep[s] = (uint8_t)(p->core.level[s].must | (p->core.level[s].may & genome->keep[s]));
    }
}

/* Draws a point: number `index` of a seed's sequence. */
SX_HD void sx_gpu_draw(const sx_gpu_view *view, sx_core_state *st, uint64_t seed, uint64_t index) {
    uint64_t random = sx_gpu_stream(seed, 0, index);
    sx_gpu_genome genome;
    sx_gpu_draw_genome(view->p, &random, &genome);
    sx_gpu_express(view, st, &genome);
}

/* Scores the point in a state; infinite where it is not legal or not covered. */
SX_HD double sx_gpu_value_of(const sx_gpu_view *view, sx_core_state *st, double *charge) {
    const sx_core_lane alone = {0, 1, 0, 1, 1};
    sx_core_score score;
    if (sx_gpu_score_nest(view, st, charge, alone, &score) != SX_CORE_LEGAL) return INFINITY;
    return sx_gpu_value(view->p, score.energy, score.cycles);
}

/* Prepares a state for scores that list children. */
SX_HD void sx_gpu_prepare(sx_core_scratch *own, sx_core_listing *listing, sx_core_state *st) {
    for (int v = 0; v < SX_CORE_RECORD_TENSORS; v++)
        for (int s = 0; s < SX_CORE_RECORD_LEVELS; s++) own->records[v][s].n = 0;
    listing->answer[0].n = 0;
    own->listing = listing;
    st->own = own;
}

/* Draws a factorisation, a layout and a block of successive orders, number `index` of a seed's sequence; false where
 * the factorisation or the layout cannot be legal. */
SX_HD bool sx_gpu_draw_item(const sx_gpu_view *view, sx_core_state *st, uint64_t seed, uint64_t index,
                            sx_gpu_item *out) {
    const sx_gpu_image *p = view->p;
    uint64_t random = sx_gpu_stream(seed, 1, index), f = 0;
    uint32_t n;
    for (int d = 0; d < (int)p->core.n_dims; d++)
        f += sx_gpu_random(&random, p->n_rows[d]) * p->weight[d + 1];
    if (!sx_gpu_screen(view, st, f)) return false;
    uint32_t layout = sx_gpu_random(&random, sx_gpu_set_layout(view, st, 0));
    if (layout > UINT16_MAX || !sx_gpu_spreads(view, st, layout, &n)) return false;
    uint32_t orders = sx_gpu_count_orders(view, st);
    if (orders == 0) return false;
    out->factorisation = f;
    out->layout = (uint16_t)layout;
    out->n = orders < SX_GPU_BLOCK_ORDERS ? orders : SX_GPU_BLOCK_ORDERS;
    out->first = sx_gpu_random(&random, orders - out->n + 1);
    return true;
}

/* The better of two random members of an island. */
SX_HD uint32_t sx_gpu_tournament(const sx_gpu_member *island, uint64_t *random) {
    uint32_t a = sx_gpu_random(random, SX_GPU_ISLAND), b = sx_gpu_random(random, SX_GPU_ISLAND);
    return island[b].value < island[a].value ? b : a;
}

/* Changes one thing of a genome: a dimension's split half of the time, else an order, a layout or a kept tensor. */
SX_HD void sx_gpu_mutate(const sx_gpu_image *p, uint64_t *random, sx_gpu_genome *genome) {
    uint32_t kind = sx_gpu_random(random, 8);
    uint32_t s = sx_gpu_random(random, (uint32_t)SX_CORE_N_LEVELS(&p->core)),
             d = sx_gpu_random(random, p->core.n_dims);
    if (kind < 4)
        genome->row[d] = (uint16_t)sx_gpu_random(random, p->n_rows[d]);
    else if (kind < 6)
        genome->order[s] = sx_gpu_next(random);
    else if (kind < 7)
        genome->layout[s] = (uint16_t)sx_gpu_next(random);
    else
        genome->keep[s] ^= (uint8_t)(1u << sx_gpu_random(random, (uint32_t)SX_CORE_N_TENSORS(&p->core)));
}

/* Takes each dimension's split, and what each level has, from another genome half of the time. */
SX_HD void sx_gpu_cross(const sx_gpu_image *p, uint64_t *random, const sx_gpu_genome *other,
                        sx_gpu_genome *genome) {
    uint32_t bits = sx_gpu_next(random);
    for (int d = 0; d < (int)p->core.n_dims; d++)
        if (bits >> d & 1) genome->row[d] = other->row[d];
    for (int s = 0; s < SX_CORE_N_LEVELS(&p->core); s++) {
        if (bits >> (8 + s) & 1) genome->order[s] = other->order[s];
        if (bits >> (16 + s) & 1) genome->layout[s] = other->layout[s];
        if (bits >> (24 + s) & 1) genome->keep[s] = other->keep[s];
    }
}

/* Makes a child of parents that win tournaments, crossed half of the time, with one to three
 * mutations. As long as no parent is legal, children are drawn. */
SX_HD void sx_gpu_breed(const sx_gpu_image *p, const sx_gpu_member *island, uint64_t *random,
                        sx_gpu_genome *child) {
    uint32_t a = sx_gpu_tournament(island, random), b = sx_gpu_tournament(island, random);
    if (island[a].value == INFINITY) {
        sx_gpu_draw_genome(p, random, child);
        return;
    }
    *child = island[a].genome;
    if (sx_gpu_random(random, 2) && island[b].value < INFINITY)
        sx_gpu_cross(p, random, &island[b].genome, child);
    for (uint32_t n = 1 + sx_gpu_random(random, 3); n > 0; n--) sx_gpu_mutate(p, random, child);
}

/* The first of an island's best members. */
SX_HD uint32_t sx_gpu_best_member(const sx_gpu_member *island) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < SX_GPU_ISLAND; i++)
        if (island[i].value < island[best].value) best = i;
    return best;
}

/* The first of its worst members. */
SX_HD uint32_t sx_gpu_worst_member(const sx_gpu_member *island) {
    uint32_t worst = 0;
    for (uint32_t i = 1; i < SX_GPU_ISLAND; i++)
        if (island[i].value > island[worst].value) worst = i;
    return worst;
}

#endif
