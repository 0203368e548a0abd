/* The independent checker: whether what a certificate claims is so, by code that shares neither the cost model, nor
 * its lower bounds, nor the map space with the search (docs/proof.md). */
#ifndef SX_INDEPENDENT_H
#define SX_INDEPENDENT_H

#include "sextant/error.h"
#include "sextant/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum sx_independent_verdict {
    SX_INDEPENDENT_HOLDS, /* no mapping is better; or none but for rounding: see `slack` */
    SX_INDEPENDENT_FAILS, /* a claim is false: `why` says which one, and names a better mapping where there is one */
    SX_INDEPENDENT_UNDECIDED, /* a rule is missing, or a budget was spent: `why` says which */
} sx_independent_verdict;

typedef struct sx_independent_options {
    unsigned threads;        /* 0: 1 */
    double seconds;          /* after which it gives up; 0: never */
    const sx_cancel *cancel; /* when it is set: end; may be NULL */
} sx_independent_options;

/* What a check found out. An outline is a choice of all spatial factors and of the tensors that each level keeps. */
typedef struct sx_independent_report {
    sx_independent_verdict verdict;
    char why[512];
    uint64_t spatial, outlines;        /* in the space */
    uint64_t compulsory, tiles, ports; /* outlines closed by rules T1, T3 and T4 */
    uint64_t walked;                   /* outlines whose tiles and orders were enumerated (T8) */
    uint64_t evaluations;              /* mappings evaluated there */
    uint64_t launched;                 /* of a claim about latency: tiles that may be launched */
    double energy_pj, cycles,
        latency; /* of the certificate's mapping, by the checker's own count; latency 0: not claimed */
    double seconds;
    /* By what share a mapping is better than the certificate's in exact numbers, which in the model's doubles is no better;
     * 0: none is. `why` says which. */
    double slack;
    /* Of a space with remainders: the lower bound that was shown, of all mappings; 0: none. */
    double certified;
    double better; /* by what share a mapping may be better than the certificate's then, at most */
    bool
        uncounted; /* the mapping leaves remainders: what it costs is not counted here, only by sx_certificate_verify() */
} sx_independent_report;

/* Checks the certificate in a text that is called `name` in errors. A text that is no certificate is an error. */
SX_MUST_USE sx_status sx_independent_check(const char *name, const char *text, size_t size,
                                           const sx_independent_options *options, sx_independent_report *out);

#endif
