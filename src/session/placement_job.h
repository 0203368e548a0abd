/* A search for a placement, with all that it began from and what it found. */
#ifndef SX_SESSION_PLACEMENT_JOB_H
#define SX_SESSION_PLACEMENT_JOB_H

#include "placement/addresses/addresses.h"
#include "placement/place.h"
#include "session/answers.h"
#include "sextant/outside_evaluator.h"
#include "sextant/run.h"

typedef struct sx_placement_job {
    sx_space *space;
    const sx_placement_space *in;
    sx_run_options run;
    char *method;                  /* with every setting */
    const char *asked;             /* the method as it was asked for */
    char objective[256];           /* as text */
    bool clock;                    /* times are part of the answer */
    sx_outside_evaluator *outside; /* measures latencies; NULL: the chip's model does */
    sx_answers *answers;           /* of it, in a database; NULL: none */
    double noise;                  /* of the chip's model, the standard deviation of the logarithm; 0: none */
    uint8_t *start;                /* a placement to begin from; NULL: none */
    bool found;
    bool proven_before;     /* an earlier search proved it; nothing was searched */
    uint8_t *placement;     /* what was found */
    sx_addresses addresses; /* of its tensors; align 0: not asked for */
    double value;           /* of the objective */
    double latency;         /* of what was found, as outside evaluator or noise have it; seconds */
    double baseline; /* of the compiler's placement, likewise; 0: it was refused, or none was asked for */
    sx_run_summary summary;
    size_t n_trace;
    sx_trace_point *trace;
} sx_placement_job;

/* Frees all that a job has. */
void sx_placement_job_fini(sx_placement_job *job);

/* Searches by the job's method. */
SX_MUST_USE sx_status sx_placement_job_search(sx_placement_job *job);

/* What lies in a memory. */
typedef struct sx_memory_use {
    size_t tensors;
    uint64_t weights, outputs; /* bytes; outputs: of all, which need not live at the same time */
    uint64_t peak;             /* the most bytes that live there */
    size_t peak_step;
} sx_memory_use;
void sx_placement_uses(const sx_placement_space *space, const uint8_t *placement,
                       sx_memory_use use[SX_MAX_MEMORIES]);

/* What decides a node's time: the number of a memory, SX_LIMIT_COMPUTE, or, where transfers of several
 * memories follow each other, SX_LIMIT_PORTS. */
enum { SX_LIMIT_COMPUTE = SX_MAX_MEMORIES, SX_LIMIT_PORTS, SX_N_LIMITS };
typedef struct sx_node_limit {
    uint64_t time; /* femtoseconds from the end of the node before to its own */
    size_t limit;
} sx_node_limit;

/* The times of all nodes and what decides them; freed with free(), NULL when memory is out. */
SX_OWN sx_node_limit *sx_placement_limits(const sx_placement_space *space, const uint8_t *placement);
const char *sx_placement_limit_name(const sx_placement_space *space, size_t limit);

#endif
