/* What `sextant systolic` searches and finds: for a person, as JSON and as a figure. */
#ifndef SX_CLI_SYSTOLIC_H
#define SX_CLI_SYSTOLIC_H

#include "base/text.h"
#include "cli/load.h"
#include "cli/progress.h"
#include "sextant/run.h"
#include "sextant/systolic.h"

/* What a search found. */
typedef struct sx_systolic_answer {
    bool searched; /* otherwise it was interrupted before */
    bool found;
    sx_systolic_point point;
    sx_systolic_cost cost; /* of all kernels, with their counts */
    double value;          /* of the objective */
    sx_run_summary summary;
    size_t n_trace;
    sx_trace_point *trace;
} sx_systolic_answer;

/* A layer of a network, or the only problem. */
typedef struct sx_systolic_layer {
    char name[SX_NAME_SIZE];
    uint64_t count;             /* how often the network runs it */
    size_t same_as;             /* the first that is the same computation; its own number: none before */
    sx_systolic_kernel kernel;  /* run once */
    sx_systolic_answer best;    /* of an array of its own, over all designs; of networks, where same_as is its
                                   own number */
    sx_systolic_kernel *joined; /* the same in the form that all layers have in common; of networks */
} sx_systolic_layer;

/* A search with all that it began from. */
typedef struct sx_systolic_job {
    char name[SX_NAME_SIZE]; /* of the network or the problem */
    size_t n_layers, n_left_out;
    sx_systolic_layer *layer;
    sx_device device;
    const sx_element *element; /* of the device */
    sx_systolic_options options;
    sx_run_options run;
    char *method;        /* with every setting */
    const char *asked;   /* the method as it was asked for */
    char objective[256]; /* as text */
    bool clock;          /* times are part of the answer */
    size_t n_names;      /* designs that were named; 0: all */
    const char **design_name;
    bool interrupted;
    double deadline; /* by the clock; 0: none */
    bool late;       /* the time limit ended the search before everything was searched */
    size_t left;     /* searches that share the time that is left */
    sx_progress_line line;
    /* Of one problem: a search for each chosen design. */
    size_t n_designs;
    size_t *design; /* numbers */
    sx_systolic_answer *answer;
    size_t *order; /* of the answers, the best first */
    /* Of a network: the kernels that differ, joined and with their counts, and one array for all. */
    size_t n_joined;
    sx_systolic_kernel *joined;
    sx_systolic_answer shared;
} sx_systolic_job;

/* --- systolic_load.c --- */

/* Takes over the layers of a network that arrays compute. Those that no array does are left out with a note,
 * or are an error where nothing would be left. */
SX_MUST_USE sx_status sx_systolic_job_layers(sx_systolic_job *job, const sx_network *network, bool quiet,
                                             sx_text *err);
void sx_systolic_job_free(SX_TAKE sx_systolic_job *job);

/* Whether it is about several layers. */
bool sx_systolic_is_network(const sx_systolic_job *job);

/* --- systolic_search.c --- */

/* Searches all that the job asks for, until the stop flag rises. */
SX_MUST_USE sx_status sx_systolic_job_search(sx_systolic_job *job);

/* Whether every search has found something; and whether any has. */
bool sx_systolic_all_found(const sx_systolic_job *job);
bool sx_systolic_any_found(const sx_systolic_job *job);

/* The space of some kernels with the designs chosen, or with only one. */
SX_MUST_USE sx_status sx_systolic_job_space(const sx_systolic_job *job, const sx_systolic_kernel *kernels,
                                            size_t n, const size_t *design, SX_OWN sx_space **out);

/* Adds why nothing was found, of the first search that found nothing. */
SX_MUST_USE sx_status sx_systolic_job_why(const sx_systolic_job *job, sx_text *out);

/* --- systolic_figures.c --- */

/* An array that runs n kernels, made ready to be told about. */
typedef struct sx_systolic_subject {
    const sx_systolic_job *job;
    const sx_systolic_kernel *kernel;
    size_t n;
    const sx_systolic_answer *answer;
    sx_systolic_design design;
} sx_systolic_subject;

/* What follows from a cost: rates in 10^9 per second. */
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
    sx_score score;
    double value; /* of the objective */
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

/* Costs points from outside, a line of JSON each, "-" being standard input; adds a line of JSON for each. */
SX_MUST_USE sx_status sx_systolic_eval(const char *path, const sx_device *device,
                                       const sx_systolic_options *options, sx_text *out);

#endif
