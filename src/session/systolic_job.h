/* The search for systolic arrays: of every design for one problem, or of one array per layer of a network and
 * one that all layers share. */
#ifndef SX_SESSION_SYSTOLIC_JOB_H
#define SX_SESSION_SYSTOLIC_JOB_H

#include "base/text.h"
#include "sextant/network.h"
#include "sextant/run.h"
#include "sextant/store.h"
#include "sextant/systolic.h"

/* What a search found. */
typedef struct sx_systolic_answer {
    bool searched; /* otherwise it was interrupted before */
    bool found;
    bool recalled;      /* it was looked up among earlier answers */
    bool proven_before; /* an earlier search proved it; nothing was searched */
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
    void (*begins)(void *user, const char *title); /* called before each search; may be NULL */
    void *user;                                    /* of begins */
    sx_store *store;  /* keeps answers, and searches begin from those that are in it; NULL: none */
    bool again;       /* answers that were proven for the same space by the same version are searched again */
    sx_status unkept; /* why an answer could not be kept: the first failure, after which none is kept */
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

/* Takes over the layers of a network that arrays compute. Those that no array does are left out with a note,
 * or are an error where nothing would be left. */
SX_MUST_USE sx_status sx_systolic_job_layers(sx_systolic_job *job, const sx_network *network, bool quiet,
                                             sx_text *err);
void sx_systolic_job_free(SX_TAKE sx_systolic_job *job);

/* Whether it is about several layers. */
bool sx_systolic_is_network(const sx_systolic_job *job);

/* Joins the kernels of a network that differ, with the counts of all their layers: what the search for one
 * shared array needs. */
SX_MUST_USE sx_status sx_systolic_job_join(sx_systolic_job *job);

/* Searches all that the job asks for, until it is cancelled. An answer that cannot be kept ends nothing: it is
 * left in `unkept`. */
SX_MUST_USE sx_status sx_systolic_job_search(sx_systolic_job *job);

/* Whether every search has found something; and whether any has. */
bool sx_systolic_all_found(const sx_systolic_job *job);
bool sx_systolic_any_found(const sx_systolic_job *job);

/* The space of some kernels with the designs chosen, or with only one. */
SX_MUST_USE sx_status sx_systolic_job_space(const sx_systolic_job *job, const sx_systolic_kernel *kernels,
                                            size_t n, const size_t *design, SX_OWN sx_space **out);

/* Adds why nothing was found, of the first search that found nothing. */
SX_MUST_USE sx_status sx_systolic_job_why(const sx_systolic_job *job, sx_text *out);

#endif
