/* How a real machine runs operators after mapping: seconds beside the cycles of the model. No search and no proof reads
 * it (docs/timing.md). */
#ifndef SX_TIMING_H
#define SX_TIMING_H

#include "sextant/arch.h"

#define SX_MAX_KINDS 24        /* of operators, with numbers of their own */
#define SX_MAX_KERNEL_TILES 24 /* shapes that a kernel may choose from */
#define SX_MAX_RATES 4

/* The numbers of one kind of operators. Times are seconds, efficiencies shares of what the architecture says. */
typedef struct sx_timing_kind {
    char name[SX_NAME_SIZE]; /* such as "softmax"; "": of every kind that has none of its own */
    double overhead;         /* of an operator */
    double overlap; /* exponent by which parts that run at once add up; INFINITY: the longest alone */
    double wave;    /* of a wave of tiles, beside its work */
    double split;   /* of adding the parts of a split reduction */
    double fill;    /* exponent by which bandwidth falls where fewer tiles than units are there */
    double row;     /* elements of a row that a unit holds; longer ones are read once more */
    double held;    /* rows longer than this are held all the same; only with `warp` */
    double element; /* of an element of a row that a part of a unit goes through */
    double warp;    /* of an element of a row of at most `row` elements; 0: as `element` */
    double
        unaligned; /* share of the compute efficiency where channels are no multiple of 8; 0: as the vector unit */
    double compute;              /* efficiency of the compute units */
    double level[SX_MAX_LEVELS]; /* efficiency of the bandwidth of each level */
} sx_timing_kind;

/* All zero is none. kind[0] has the numbers of every kind that has none of its own. */
typedef struct sx_timing {
    uint8_t n_kinds; /* 0: the architecture says nothing about time */
    sx_timing_kind kind[SX_MAX_KINDS];
    uint32_t
        units; /* that take tiles of a kernel, such as the SMs of a GPU; 0: compute cycles are those mapped */
    uint8_t shared; /* the level that they share, whose bandwidth brings the operands of a tile */
    uint8_t n_tiles, n_rates;
    uint32_t tile[SX_MAX_KERNEL_TILES][2]; /* rows and columns */
    uint32_t rate_bits[SX_MAX_RATES];      /* up to this width of the operands ... */
    double rate[SX_MAX_RATES]; /* ... multiply that much faster than the compute units' own width */
    double link_bandwidth;     /* bytes per second and chip; 0: there is no link */
    double link_latency;       /* seconds of a transfer between two chips */
} sx_timing;

#endif
