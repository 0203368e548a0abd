/* One run of a language model on a machine: the time, energy and bytes of its operators, and what they come to. */
#ifndef SX_REPORT_SERVING_H
#define SX_REPORT_SERVING_H

#include "report/figures.h"
#include "sextant/operators.h"

/* An operator of the run; times are of all of its nodes. */
typedef struct sx_serving_part {
    char name[SX_NAME_SIZE];
    enum { SX_SERVING_WEIGHTS, SX_SERVING_ATTENTION, SX_SERVING_VECTOR, SX_SERVING_LINK, SX_N_SERVING } of;
    double times;         /* nodes */
    sx_operator_time one; /* of one of them */
    double energy_pj;     /* of one */
    double macs, bytes;   /* of one; bytes to and from the outermost level, or over the link */
} sx_serving_part;

typedef struct sx_serving {
    sx_graph_run run;
    unsigned chips;
    size_t n;
    sx_serving_part *part;
    double seconds, energy_pj;  /* of the run; energy of all chips */
    double share[SX_N_SERVING]; /* of the seconds */
    double weight_bytes, state_bytes,
        token_bytes;              /* of a chip: weights, states after the run, states of a token */
    double capacity;              /* bytes of the outermost level; INFINITY: no limit */
    double largest_batch;         /* that fits; 0: the weights do not */
    double passed_bytes;          /* between two layers */
    unsigned stages;              /* 1: all layers are on the same chips */
    double stage_seconds;         /* of the slowest stage with what it passes on */
    double pipeline_seconds;      /* of a run through all stages */
    size_t layers, found, proven; /* distinct products; those with a mapping; and proven */
    double gap; /* how far a product's mapping is above the least at most; INFINITY: one has no bound */
} sx_serving;

/* Evaluates the run of a graph whose layers are those from `first` on in the result's network, n of them. *out is freed
 * with sx_serving_fini, also after an error. */
SX_MUST_USE sx_status sx_serving_of(const sx_graph *graph, const sx_result *r, size_t first, size_t n,
                                    sx_serving *out);
void sx_serving_fini(sx_serving *serving);

/* New tokens per second, of all sequences; joules of one. */
double sx_serving_rate(const sx_serving *serving);
double sx_serving_joules(const sx_serving *serving);

/* The resource that limits operators for most of the time. */
const char *sx_serving_limit(const sx_serving *serving, const sx_arch *arch);

/* New tokens of a run with learned or rotary positions; inputs, such as images, of others. */
double sx_serving_tokens(const sx_serving *serving);

/* Adds the figures of the run, with `operators` after a table of them. */
void sx_serving_report(const sx_serving *serving, const sx_arch *arch, bool operators, sx_text *out);

/* The run as JSON, with its operators; the caller owns it. */
SX_OWN json_t *sx_serving_json(const sx_serving *serving, const sx_arch *arch);

#endif
