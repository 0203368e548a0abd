/* How tensors flow through a design: the rules that replace the paper's 48 descriptors, tiles,
 * transfers, and what they take. Inlined into all that measures, so that a design whose form the compiler
 * knows is measured by straight-line code. */
#ifndef SX_SYSTOLIC_FLOW_H
#define SX_SYSTOLIC_FLOW_H

#include "systolic/plan.h"

#ifdef SX_SMALL_CODE /* sanitizers take half a minute to compile what is inlined for speed */
#define SX_INLINE static inline
#else
#define SX_INLINE static inline __attribute__((always_inline))
#endif

/* The properties of a form: how arrays are indexed, which are space loops, what is stationary. */
typedef struct sx_systolic_outline {
    int n_loops, n_space;
    int space[2];
    int stationary;
    sx_loops loops[SX_N_OPERANDS];
    int last[SX_N_OPERANDS];
    bool sliding, chained, corrected;
} sx_systolic_outline;

/* The tile loops that make an array move. The tile loops of the stationary array are outermost, then come the
 * others. An input below the top level stays while the innermost tile loops run, as far as they do not index
 * it; corrected, so do the sums of a result, which otherwise are taken to move once. */
SX_INLINE sx_loops sx_moving_loops(const sx_systolic_outline *o, int operand, int level) {
    sx_loops moving = (sx_loops)((1u << o->n_loops) - 1), outer = o->loops[o->stationary];
    if (operand == SX_RESULT && !o->corrected) return o->loops[operand];
    bool stays = operand == SX_RESULT || level == o->n_space;
    for (int group = 0; group < 2; group++)
        for (int d = o->n_loops - 1; d >= 0; d--) {
            if ((outer >> d & 1) != group) continue;
            stays = stays && !(o->loops[operand] >> d & 1);
            if (stays) moving &= (sx_loops) ~(1u << d);
        }
    return moving;
}

/* A tensor in a design. */
SX_INLINE sx_systolic_part sx_part_of(const sx_systolic_outline *o, sx_loops space, int operand) {
    sx_loops own = space & o->loops[operand], first = (sx_loops)(1u << o->space[0]);
    sx_systolic_part part = {.loops = o->loops[operand], .last = (uint8_t)o->last[operand]};
    part.level = own == space ? 1 : 2;
    if (o->n_space == 1) {
        part.count = part.rep = part.above = own;
    } else if (part.level == 1) {
        part.count = part.above = space;
        part.rep = first;
    } else {
        part.count = part.rep = part.above = (sx_loops)(own ? own : 1u << o->space[1]);
    }
    part.outer = sx_moving_loops(o, operand, part.level);
    return part;
}

/* The form of an outline. */
SX_INLINE sx_systolic_form sx_form_of(const sx_systolic_outline *o) {
    sx_systolic_form form = {.n_loops = o->n_loops,
                             .top = (uint8_t)(o->n_space + 1),
                             .streams = o->stationary == SX_RESULT,
                             .chained = o->chained,
                             .corrected = o->corrected};
    for (int i = 0; i < o->n_space; i++) form.space |= (sx_loops)(1u << o->space[i]);
    form.summed = (sx_loops)(((1u << o->n_loops) - 1) & ~o->loops[SX_RESULT]);
    form.sums = o->sliding || !form.summed || (form.summed & ~form.space) != 0;
    form.handover = !form.streams && !(form.summed & form.space) ? 2 : 0;
    for (int a = 0; a < SX_N_OPERANDS; a++) form.part[a] = sx_part_of(o, form.space, a);
    return form;
}

/* The function that measures designs of an outline; compiled apart for the paper's kernels, of which
 * `dataflow` is the number. */
sx_systolic_measurer *sx_systolic_measurer_of(const sx_systolic_outline *outline, int dataflow);

/* Tiles in a design. */
typedef struct sx_tiled {
    sx_systolic_form form;
    const sx_systolic_plan *plan;
    const sx_systolic_factors *factors;
    const sx_systolic_tile *tile;
    double lanes;
} sx_tiled;

/* The quantities of a tensor's terms: of one tile, and of all its moves. */
typedef struct sx_flow {
    double words;  /* of one buffer */
    double pack;   /* words per transfer */
    double packs;  /* transfers of one tile */
    double line;   /* cycles of a tile from memory that is not streamed */
    double moves;  /* of tiles */
    double moved;  /* words */
    double sent;   /* words, those that only fill a pack too */
    double passed; /* transfers */
    double lines;  /* cycles from memory that is not streamed */
    double visits; /* how often the same tile moves */
} sx_flow;

/* The larger of two numbers, in one instruction: of the two ways to write it, the one that each machine has.
 */
SX_INLINE double sx_larger(double a, double b) {
#if defined(__aarch64__)
    return __builtin_fmax(a, b);
#else
    return a > b ? a : b;
#endif
}

SX_INLINE double sx_smaller(double a, double b) {
#if defined(__aarch64__)
    return __builtin_fmin(a, b);
#else
    return a < b ? a : b;
#endif
}

/* A number rounded up; what is beyond 2^62 is whole anyway. */
SX_INLINE double sx_round_up(double x) {
#if defined(__aarch64__)
    return __builtin_ceil(x);
#else
    double whole = x < 0x1p62 ? (double)(int64_t)x : x;
    return whole + (whole < x);
#endif
}

/* The product of the PEs along some loops. */
SX_INLINE double sx_pes_along(const sx_tiled *t, sx_loops loops) {
    double n = 1;
    for (int d = 0; d < t->form.n_loops; d++)
        if (loops >> d & 1) n *= t->tile[d].pes;
    return n;
}

/* The product of the trips of some tile loops. */
SX_INLINE double sx_trips_of(const sx_tiled *t, sx_loops loops) {
    double n = 1;
    for (int d = 0; d < t->form.n_loops; d++)
        if (loops >> d & 1) n *= t->tile[d].trips;
    return n;
}

/* Cycles of the PEs over all passes. */
SX_INLINE double sx_compute_cycles(const sx_tiled *t) {
    double work = t->factors->steps;
    for (int d = 0; d < t->form.n_loops; d++) work *= t->tile[d].all;
    return work * t->plan->limits.inverse[(int)t->lanes];
}

/* Follows an array's tiles. */
SX_INLINE sx_flow sx_follow(const sx_tiled *t, int operand) {
    const sx_systolic_part *part = &t->form.part[operand];
    const sx_systolic_tile *last = &t->tile[part->last];
    const sx_systolic_limits *limits = &t->plan->limits;
    double rows = t->factors->words[operand], all = rows, cap = t->plan->cap[operand];
    for (int d = 0; d < t->form.n_loops; d++) {
        if (!(part->loops >> d & 1) || d == part->last) continue;
        rows *= operand == SX_FIRST ? t->tile[d].span : t->tile[d].step;
        all *= operand == SX_FIRST ? t->tile[d].spans : t->tile[d].all;
    }
    double least = operand == SX_RESULT && t->form.chained ? 1 : t->lanes;
    sx_flow f = {.visits = sx_trips_of(t, part->outer & (sx_loops)~part->loops)};
    f.pack = sx_larger(sx_smaller(last->step, cap), least);
    double width = last->step * limits->inverse[(int)f.pack], port_cycles = last->step * limits->per_port;
    if (t->form.corrected) {
        width = sx_round_up(width);
        port_cycles = sx_round_up(port_cycles);
    }
    all *= f.visits;
    f.words = rows * last->step;
    f.packs = rows * width;
    f.line = rows * (limits->row_cycles + port_cycles);
    f.moves = sx_trips_of(t, part->outer | part->loops);
    f.moved = f.sent = all * last->all;
    if (t->form.corrected) f.sent = sx_larger(f.sent, all * last->trips * width * f.pack);
    f.passed = all * sx_larger(last->trips * width, last->all * t->plan->per_cap[operand][(int)t->lanes]);
    f.lines = all * (last->trips * limits->row_cycles +
                     sx_larger(last->trips * port_cycles, last->all * limits->per_port));
    return f;
}

/* The cycles of transfers past a level: of one tile, and of all. */
typedef struct sx_pace {
    double once, all;
} sx_pace;

SX_INLINE sx_pace sx_pace_at(const sx_tiled *t, const sx_flow *f, int level, double chains) {
    if (level < t->form.top) return (sx_pace){chains * f->packs, chains * f->passed};
    if (!t->form.streams) return (sx_pace){chains * f->line, chains * f->lines};
    sx_pace pace = {chains * f->packs, chains * f->passed};
    if (t->plan->narrow) {
        double slow = sx_larger(f->pack * t->plan->limits.per_port, 1);
        pace.once *= slow;
        pace.all *= slow;
    }
    return pace;
}

#endif
