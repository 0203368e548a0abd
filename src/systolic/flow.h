/* How an array of numbers flows through a design: tiles, transfers, and what they take. Inlined into all that
 * measures. */
#ifndef SX_SYSTOLIC_FLOW_H
#define SX_SYSTOLIC_FLOW_H

#include "systolic/plan.h"

#define SX_INLINE static inline __attribute__((always_inline))

/* Tiles in a design. */
typedef struct sx_tiled {
    const sx_systolic_plan *plan;
    const sx_systolic_factors *factors;
    const sx_systolic_tile *tile;
    double lanes;
} sx_tiled;

/* What an array's terms are made of: one tile's, and those of all its moves. */
typedef struct sx_flow {
    double words;  /* of one buffer */
    double pack;   /* words side by side */
    double packs;  /* transfers of one tile */
    double line;   /* cycles of a tile from memory that is not streamed */
    double moves;  /* of tiles */
    double moved;  /* words */
    double sent;   /* words, those that only fill a pack too */
    double passed; /* transfers */
    double lines;  /* cycles from memory that is not streamed */
    double visits; /* how often the same tile moves */
} sx_flow;

SX_INLINE double sx_larger(double a, double b) {
    return a > b ? a : b;
}

/* A number below 2^62 rounded up. */
SX_INLINE double sx_round_up(double x) {
    double whole = (double)(int64_t)x;
    return whole < x ? whole + 1 : whole;
}

/* The product of the PEs along some loops. */
SX_INLINE double sx_pes_along(const sx_tiled *t, sx_loops loops) {
    const sx_systolic_design *design = &t->plan->design;
    double n = 1;
    for (int i = 0; i < design->n_space; i++)
        if (loops >> design->space[i] & 1) n *= t->tile[design->space[i]].pes;
    return n;
}

/* Cycles of the PEs over all passes. */
SX_INLINE double sx_compute_cycles(const sx_tiled *t) {
    double work = t->factors->steps;
    for (int d = 0; d < t->plan->n_loops; d++) work *= t->tile[d].all;
    return work / t->lanes;
}

/* Trips of the tile loops that are summed over. */
SX_INLINE double sx_sum_trips(const sx_tiled *t) {
    double trips = 1;
    for (int d = 0; d < t->plan->n_loops; d++)
        if (t->plan->summed >> d & 1) trips *= t->tile[d].trips;
    return trips;
}

/* Follows an array's tiles. */
SX_INLINE sx_flow sx_follow(const sx_tiled *t, int operand) {
    const sx_systolic_plan *plan = t->plan;
    const sx_systolic_part *part = &plan->part[operand];
    const sx_systolic_tile *last = &t->tile[part->last];
    double rows = t->factors->words[operand], all = rows, trips = 1;
    sx_flow f = {.visits = 1};
    for (int d = 0; d < plan->n_loops; d++) {
        const sx_systolic_tile *own = &t->tile[d];
        if (!(part->loops >> d & 1)) {
            if (part->outer >> d & 1) f.visits *= own->trips;
            continue;
        }
        trips *= own->trips;
        if (d == part->last) continue;
        rows *= operand == SX_FIRST ? own->span : own->step;
        all *= operand == SX_FIRST ? own->spans : own->all;
    }
    double least = part->result && plan->chained ? 1 : t->lanes, cap = sx_larger(part->cap, least);
    double port = plan->limits.port_words;
    f.pack = sx_larger(last->step < part->cap ? last->step : part->cap, least);
    double width = last->step / f.pack, beats = last->step / port;
    if (plan->corrected) {
        width = sx_round_up(width);
        beats = sx_round_up(beats);
    }
    all *= f.visits;
    f.words = rows * last->step;
    f.packs = rows * width;
    f.line = rows * (plan->limits.row_cycles + beats);
    f.moves = trips * f.visits;
    f.moved = f.sent = all * last->all;
    if (plan->corrected) f.sent = sx_larger(f.sent, all * last->trips * width * f.pack);
    f.passed = all * sx_larger(last->trips * width, last->all / cap);
    f.lines =
        all * (last->trips * plan->limits.row_cycles + sx_larger(last->trips * beats, last->all / port));
    return f;
}

/* The cycles of transfers past a level: of one tile, and of all. */
typedef struct sx_pace {
    double once, all;
} sx_pace;

SX_INLINE sx_pace sx_pace_at(const sx_tiled *t, const sx_flow *f, int level, double chains) {
    if (level < t->plan->top) return (sx_pace){chains * f->packs, chains * f->passed};
    if (!t->plan->streams) return (sx_pace){chains * f->line, chains * f->lines};
    double slow = f->pack > t->plan->limits.port_words ? f->pack / t->plan->limits.port_words : 1;
    return (sx_pace){chains * f->packs * slow, chains * f->passed * slow};
}

#endif
