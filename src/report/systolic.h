/* What a search for systolic arrays found: for a person, as JSON and as a figure. */
#ifndef SX_REPORT_SYSTOLIC_H
#define SX_REPORT_SYSTOLIC_H

#include "session/systolic_job.h"

/* --- systolic_figures.c --- */

/* An array that runs n kernels, with what reports need. */
typedef struct sx_systolic_subject {
    const sx_systolic_job *job;
    const sx_systolic_kernel *kernel;
    size_t n;
    const sx_systolic_answer *answer;
    sx_systolic_design design;
} sx_systolic_subject;

/* Figures derived from a cost: rates in 10^9 per second. */
typedef struct sx_systolic_figures {
    double throughput; /* operations */
    double peak;       /* of the usable DSP blocks */
    double roof;       /* of this array: of its DSP blocks, or of its operations per byte with a port for each
                           stream */
    double intensity;  /* operations per byte */
    double bandwidth;  /* bytes */
    double port;       /* bytes of all ports */
    int ports;         /* streams from and to memory, each with a port of its own */
    double dsp_share;  /* of the usable blocks */
    double bram_share; /* of the usable blocks */
    double efficiency; /* of the DSP blocks used */
} sx_systolic_figures;

sx_systolic_subject sx_systolic_subject_of(const sx_systolic_job *job, const sx_systolic_kernel *kernels,
                                           size_t n, const sx_systolic_answer *answer);
sx_systolic_figures sx_systolic_figures_of(const sx_systolic_subject *subject);
/* The operations of n kernels with their counts. */
double sx_systolic_operations(const sx_systolic_kernel *kernels, size_t n);
/* "GFLOP/s", or "GOP/s" for whole numbers. */
const char *sx_systolic_unit(const sx_systolic_job *job);

typedef enum sx_systolic_phase {
    SX_PHASE_PROLOGUE,
    SX_PHASE_STEADY,
    SX_PHASE_EPILOGUE,
    SX_N_PHASES
} sx_systolic_phase;

/* A term in a phase. */
double sx_systolic_term_cycles(const sx_systolic_term *term, sx_systolic_phase phase);

/* The term that decides how long a phase takes. Buffers that only wait for the PEs do not. */
const sx_systolic_term *sx_systolic_limit(const sx_systolic_kernel *kernel, const sx_systolic_point *point,
                                          const sx_systolic_items *items, sx_systolic_phase phase);

/* The items of an answer, of the kernel that needs the largest buffers. */
SX_MUST_USE sx_status sx_systolic_items_of(const sx_systolic_subject *subject, sx_systolic_items *out);

/* A loop's size with the padding that a tile makes it have. */
uint64_t sx_systolic_padded(const sx_systolic_loop *loop, uint32_t t1);

/* Adds the tiles, such as "129/3 205/41 64/8", and the array, such as "43x5x8", the lanes last. */
void sx_systolic_add_tiles(const sx_systolic_subject *subject, sx_text *out);
void sx_systolic_add_array(const sx_systolic_subject *subject, sx_text *out);

/* AutoSA's options, NULL where they are not known; freed with free(). */
SX_MUST_USE sx_status sx_systolic_autosa_text(const sx_systolic_subject *subject, SX_OWN char **out);

/* --- systolic_table.c, systolic_explain.c, systolic_network.c --- */

/* Adds the answer for a person. */
SX_MUST_USE sx_status sx_systolic_job_print(const sx_systolic_job *job, bool quiet, bool verbose,
                                            sx_text *out);

/* Adds all that is known of an array. */
SX_MUST_USE sx_status sx_systolic_explain(const sx_systolic_subject *subject, bool quiet, bool verbose,
                                          sx_text *out);

/* Adds the answer of a network. */
SX_MUST_USE sx_status sx_systolic_print_network(const sx_systolic_job *job, bool quiet, bool verbose,
                                                sx_text *out);

/* Sums of the best arrays of all layers, with their counts. */
typedef struct sx_systolic_total {
    bool whole; /* every layer has an answer, each proven to be the best where `optimal` */
    bool optimal;
    sx_systolic_cost cost; /* latency, energy and words off the chip */
    double value;          /* of the objective */
} sx_systolic_total;
sx_systolic_total sx_systolic_total_of(const sx_systolic_job *job);

/* Adds what a search did: points, evaluations, time, and what is proven. */
void sx_systolic_add_search(const sx_systolic_job *job, const sx_run_summary *summary, double value,
                            sx_text *out);

/* --- systolic_json.c, systolic_svg.c, systolic_eval.c --- */

/* Adds everything as JSON. The keys are promises: more may be added, none renamed. */
SX_MUST_USE sx_status sx_systolic_json(const sx_systolic_job *job, sx_text *out);

/* Adds the figure of the designs' throughput, or of the layers'. */
SX_MUST_USE sx_status sx_systolic_svg(const sx_systolic_job *job, sx_text *out);

/* Costs points from outside, a line of JSON each, "-" being standard input; adds a line of JSON for each, with json one object. */
SX_MUST_USE sx_status sx_systolic_eval(const char *path, const sx_device *device,
                                       const sx_systolic_options *options, bool json, sx_text *out);

#endif
