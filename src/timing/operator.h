/* Seconds of an operator on a real machine: overhead, waves of tiles over units, bandwidths, each with its efficiency. */
#ifndef SX_TIMING_OPERATOR_H
#define SX_TIMING_OPERATOR_H

#include "sextant/timing.h"

/* What an operator does. */
typedef struct sx_timed_operator {
    const char *kind;          /* whose numbers are used */
    double repeat, m, n, k;    /* products of m x k and k x n; repeat is 0 where it is none */
    double row_bits, col_bits; /* of an element of the operand with rows, and of that with columns */
    double macs;               /* of an operator that is no product */
    double blocks;             /* parts that units take one by one; 0: any number */
    double bytes;              /* to and from the outermost level */
    bool unaligned;            /* its channels are no multiple of 8 */
    double columns;            /* elements of a row that is read as a whole; 0: it has none */
    double again;              /* bytes that are read once more where a unit cannot hold a row */
} sx_timed_operator;

/* What takes the time: a level by its number, or one of these. */
enum { SX_LIMIT_OVERHEAD = -1, SX_LIMIT_COMPUTE = -2, SX_LIMIT_VECTOR = -3, SX_LIMIT_LINK = -4 };

/* The parts of an operator's time. All but overhead run at once. */
typedef struct sx_operator_time {
    double seconds, overhead, compute, vector;
    double level[SX_MAX_LEVELS];
    int limit;
} sx_operator_time;

/* Joins parts that run at once: the root of the sum of their powers. */
double sx_overlap(double a, double b, double exponent);

/* The share of the compute efficiency that channels which are no multiple of 8 leave: that of the kind (NULL: none is given),
 * else that of the lanes of the vector unit, on which libraries multiply where matrix units take no such shapes. */
double sx_unaligned_share(const sx_arch *arch, const sx_timing_kind *kind);

/* The time of an operator. */
sx_operator_time sx_time_operator(const sx_arch *arch, const sx_timing *timing, const sx_timed_operator *op);

/* Sums the parts up, and says which is the longest. */
void sx_operator_time_finish(const sx_arch *arch, double exponent, sx_operator_time *time);

/* Seconds of a collective operation of `chips` over the link: "all-reduce", "all-gather", "reduce-scatter" or
 * "all-to-all" of a number of bytes; 0 for one chip. The latency is that of two chips, and grows with the root of their number. */
double sx_time_collective(const sx_timing *timing, const char *kind, double chips, double bytes);

/* The name of a limit, such as "compute" or "HBM". */
const char *sx_limit_name(const sx_arch *arch, int limit);

#endif
