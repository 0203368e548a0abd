/* What the independent checker knows of a certificate: problem, machine, options, limits, mapping and claim, read by
 * its own reader. Energies are integers, in units of 1 / scale pJ. */
#ifndef SX_CHECK_CASE_H
#define SX_CHECK_CASE_H

#include "check/power.h"
#include "sextant/arch.h"
#include "sextant/constraints.h"

/* Why something cannot be decided; "" where nothing stands against it. The first reason stays. */
typedef struct sx_check_doubt {
    char why[256];
} sx_check_doubt;

/* Notes a reason, unless there is one already. */
void sx_check_doubt_add(sx_check_doubt *doubt, const char *format, ...) SX_PRINTF(2, 3);

/* A limit of words per cycle and instance; den == 0: none. */
enum { SX_PORT_READ, SX_PORT_WRITE, SX_PORT_SHARED, SX_N_PORTS };

/* One storage level and the network to the next inner one. */
typedef struct sx_check_level {
    char name[SX_NAME_SIZE];
    int64_t mesh[2], fanout[2]; /* instances, and children of each, on X and Y */
    int64_t entries;            /* words of an instance; -1: no limit */
    int64_t usable;             /* of these for a tile: floor(entries / multiple buffering); -1: no limit */
    int64_t banks;              /* 0: none */
    int64_t word_bits, block_size, cluster_size;
    int64_t energy[SX_N_ACCESSES]; /* per vector access, block_size divides it */
    int64_t leak, address, hop, router;
    int64_t fill_latency, drain_latency;
    sx_ratio port[SX_N_PORTS];
    sx_ratio port_scale[SX_MAX_TENSORS]; /* a word of a tensor counts so much at the ports */
    sx_ratio min_utilization;
    bool adds;        /* partial sums in place */
    bool transparent; /* a fan-out only */
    int gate;         /* level that gates this one's leakage */
    unsigned may;     /* tensors that it is built to keep */
} sx_check_level;

typedef struct sx_check_machine {
    int n_levels; /* level 0 is the innermost */
    int64_t scale;
    int64_t compute_mesh[2];
    int64_t compute_energy; /* of a multiply-accumulate */
    sx_check_level level[SX_MAX_LEVELS];
    bool lawful; /* the outermost level launches tiles by a law */
    sx_law law;
} sx_check_machine;

/* Limits of one level beyond those of sx_level_limits, whose own shares stay 0. */
typedef struct sx_check_shares {
    sx_ratio min_utilization, min_parallelism;
} sx_check_shares;

/* What is minimised: energy^energy_power * cycles^delay_power, up to SX_MAX_POWER each. */
typedef struct sx_check_goal {
    int energy_power, delay_power;
} sx_check_goal;

/* A mapping and what is said of its cost. */
typedef struct sx_check_point {
    sx_mapping mapping;
    double energy_pj, cycles, latency;
    sx_wide exact[2]; /* the energy in pJ without rounding, as a fraction; exact[1] == 0: not said */
} sx_check_point;

/* What is claimed. The double values of a certificate are compared with nothing but what follows from its mapping,
 * and the lower bound of a proof that is not complete. */
typedef struct sx_check_claim {
    sx_check_goal goal;
    bool latency; /* that of the tile pipeline is minimised; the goal is empty */
    bool tie;     /* two criteria are minimised one after the other: the goal, then `second` */
    sx_check_goal second;
    bool optimal;
    double value, lower_bound;
    uint64_t arrays; /* spatial mappings that the search counted */
} sx_check_claim;

typedef struct sx_check_case {
    sx_problem problem;
    sx_check_machine machine;
    bool keep_all, no_banks, split_axes, no_first_read_elision, no_link_transfers;
    bool remainders; /* factors need not divide */
    bool tile;       /* tiles in flight share the levels inside the outermost one */
    sx_constraints limits;
    sx_check_shares shares[SX_MAX_LEVELS];
    sx_check_point best;
    sx_check_claim claim;
    size_t n_front; /* 0: no front is claimed */
    sx_check_point *front;
} sx_check_case;

/* Reads a certificate from a text that is called `name` in errors. An error where the text is no certificate; a doubt
 * where a key is not known, or has no rule here. */
SX_MUST_USE sx_status sx_check_case_read(const char *name, const char *text, size_t size,
                                         SX_OWN sx_check_case **out, sx_check_doubt *doubt);
void sx_check_case_free(SX_TAKE sx_check_case *c);

#endif
