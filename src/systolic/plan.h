/* A design prepared for a kernel's shape and a device: what the model needs to cost tiles.
 *
 * The model (docs/systolic.md) is a sum of three maxima over terms that are products over loops. A tile's
 * part in them is a record per loop; the same function gives the cost of tiles and, for records that are
 * lower bounds, a lower bound of the cost. */
#ifndef SX_SYSTOLIC_PLAN_H
#define SX_SYSTOLIC_PLAN_H

#include "sextant/systolic.h"

enum { SX_MAX_SYSTOLIC_LANES = 32 }; /* of a PE: 256 bits of 8 each */

/* Sets of loops, a bit each. */
typedef uint8_t sx_loops;

/* A tensor in a design. */
typedef struct sx_systolic_part {
    sx_loops loops;             /* that index it */
    uint8_t last;               /* loop of its last rank */
    uint8_t level;              /* of its buffer: 1 at the PEs, 2 one above */
    sx_loops count, rep, above; /* space loops whose PEs multiply the number of buffers, and the transfers of
                                   a tile at the buffers and above them */
    sx_loops outer;             /* tile loops that make it move */
} sx_systolic_part;

/* What of a design decides which products its terms are. */
typedef struct sx_systolic_form {
    int n_loops;
    sx_loops space, summed;
    uint8_t top;     /* the level next to memory */
    bool streams;    /* memory is laid out in the order of transfers: output-stationary designs */
    bool sums;       /* PEs hold sums in buffers of their own */
    bool chained;    /* lanes add into one sum, one after another */
    bool corrected;  /* the corrected model */
    double handover; /* cycles of a PE between passes */
    sx_systolic_part part[SX_N_OPERANDS];
} sx_systolic_form;

/* What the device and the data type set. */
typedef struct sx_systolic_limits {
    double dsp, bram; /* usable */
    double dsp_per_mac, port_words, row_cycles;
    uint32_t bits, lanes, add_latency;
    double width[65];   /* BRAM blocks in width for a pack of a given number of words */
    double inverse[65]; /* 1 / n: exact for packs */
    double per_port;    /* 1 / port_words */
} sx_systolic_limits;

/* The quantities of a loop's tiles that the model needs, or lower bounds of them. */
typedef struct sx_systolic_tile {
    double trips;       /* of the tile loop */
    double pes;         /* along it; 1 unless it is a space loop */
    double step;        /* steps of it that a buffer at the PEs holds: t2 of a space loop, otherwise t1 */
    double hide;        /* t2: sums that are independent (1 for the SIMD loop) */
    double all;         /* trips * step */
    double span, spans; /* of the first input's rank: a tile's length, and trips * that */
} sx_systolic_tile;

/* What a kernel multiplies beside its loops. */
typedef struct sx_systolic_factors {
    double steps, words[SX_N_OPERANDS];
} sx_systolic_factors;

/* Measures tiles in a design: see sx_systolic_measure. */
typedef struct sx_systolic_plan sx_systolic_plan;
typedef void sx_systolic_measurer(const sx_systolic_plan *plan, const sx_systolic_factors *factors,
                                  const sx_systolic_tile *tile, double lanes, sx_systolic_cost *out);

struct sx_systolic_plan {
    sx_systolic_design design;
    sx_systolic_form form;
    int simd;
    bool narrow;               /* a pack may be wider than a port */
    double cap[SX_N_OPERANDS]; /* words of each tensor per transfer, at most, but not fewer than the lanes */
    double per_cap[SX_N_OPERANDS][SX_MAX_SYSTOLIC_LANES + 1]; /* 1 / the most with a given number of lanes */
    sx_systolic_measurer *measure;                            /* of this form */
    sx_systolic_limits limits;
};

void sx_systolic_plan_init(const sx_systolic_kernel *kernel, const sx_systolic_design *design,
                           const sx_systolic_limits *limits, bool corrected, sx_systolic_plan *out);

/* The record of tiles t1 and t2 (which divides it) of a loop. */
sx_systolic_tile sx_systolic_tile_of(const sx_systolic_plan *plan, const sx_systolic_loop *loop, int index,
                                     uint32_t t1, uint32_t t2);

sx_systolic_factors sx_systolic_factors_of(const sx_systolic_kernel *kernel);

/* Latency, resources and traffic of tiles (energy is left at 0); or, of records that are lower bounds, lower
 * bounds of them. Lanes, hiding and packs are taken to be valid. */
static inline void sx_systolic_measure(const sx_systolic_plan *plan, const sx_systolic_factors *factors,
                                       const sx_systolic_tile *tile, double lanes, sx_systolic_cost *out) {
    plan->measure(plan, factors, tile, lanes, out);
}

/* The same, term by term. */
void sx_systolic_write_down(const sx_systolic_plan *plan, const sx_systolic_factors *factors,
                            const sx_systolic_tile *tile, double lanes, sx_systolic_items *out);

/* The energy of the same. */
double sx_systolic_energy(const sx_systolic_plan *plan, const sx_systolic_factors *factors,
                          const sx_systolic_tile *tile, double lanes, double offchip_words);

/* The rules that tiles obey whatever the device's size: SX_SYSTOLIC_FINE, _LANES, _HIDING or _PACK. */
sx_systolic_fault sx_systolic_rules(const sx_systolic_plan *plan, const sx_systolic_tile *tile, double lanes);

/* The DSP blocks of a given number of PEs. The only way to count them: where a type takes a fraction of a block,
 * another order of the factors would round differently. */
static inline double sx_systolic_dsp(const sx_systolic_limits *limits, double pes, double lanes) {
    return limits->dsp_per_mac * pes * lanes;
}

/* How long a tile of a given number of steps of a loop is in the first input. */
static inline double sx_systolic_span(const sx_systolic_loop *loop, double step) {
    return (step - 1) * loop->stride + 1 + loop->reach;
}

/* Independent sums that a PE needs to hide the latency of adding; 0: none. */
double sx_systolic_sums_wanted(const sx_systolic_plan *plan, double lanes);

/* Words per transfer of a tensor whose last rank is `step` long. */
double sx_systolic_pack(const sx_systolic_plan *plan, int operand, double step, double lanes);
/* Whether a transfer may have a given number of words. */
bool sx_systolic_packs(double pack);

#endif
