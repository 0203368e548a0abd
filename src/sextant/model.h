/* The cost model. A model is compiled once per (problem, architecture), never changes, and may be shared by
 * threads; a workspace is what one thread needs to evaluate by it. */
#ifndef SX_MODEL_H
#define SX_MODEL_H

#include "sextant/cost.h"
#include "sextant/objective.h"
#include "sextant/rng.h"

#include <stddef.h>

#define SX_MAX_DENSITIES 16
#define SX_MAX_RANGE_TENSORS 4

/* Densities over which one mapping is scored: the objective is the weighted sum of its values at all of them
 * (Demystifying MSE, section 5.2). */
typedef struct sx_density_range {
    uint8_t n, n_tensors; /* n: 0: none, the problem's densities alone */
    struct sx_range_tensor {
        char name[SX_NAME_SIZE]; /* or a role, such as Weights */
        uint8_t model;           /* sx_density_model */
        double share[SX_MAX_DENSITIES];
    } tensor[SX_MAX_RANGE_TENSORS];
    double weight[SX_MAX_DENSITIES];
    double energy_power, delay_power; /* of the objective; both 0: energy times delay */
} sx_density_range;

/* Formats beside the given one in which a level may hold a tensor: uncompressed, or with compressed ranks of
 * another kind. */
#define SX_FORMATS_TEXT_SIZE 24
enum { SX_FORMATS_NONE = 1, SX_FORMATS_CP = 2, SX_FORMATS_RLE = 4, SX_FORMATS_B = 8 };

/* Formats that are chosen for each mapping: those with the least product of energy and delay. */
typedef struct sx_format_search {
    uint8_t kinds;                    /* of SX_FORMATS_*; 0: formats are as given */
    double energy_power, delay_power; /* of the objective */
} sx_format_search;

typedef struct sx_model_options {
    bool no_first_read_elision; /* charge the first read of a zero-initialised output word too */
    bool no_link_transfers;     /* children do not hand words to their neighbours */
    bool sparse_timeloop;       /* count what zeros save as Timeloop does, its errors included */
    bool latency_tile;          /* latency is that of the tile pipeline, where levels have a law for it */
    bool like_timeloop;         /* the files were read as Timeloop reads them; for the record only */
    sx_density_range densities;
    sx_format_search formats;
} sx_model_options;

/* Whether zeros are counted as Timeloop does unless the user says otherwise: the architecture's file has Timeloop's
 * form, and Timeloop has rules for the problem (two operands, no known places of non-zeros). */
bool sx_model_prefers_timeloop(const sx_problem *problem, const sx_arch *arch);

/* Reads "TENSOR=[MODEL:]SHARE,SHARE,...[@WEIGHT,WEIGHT,...]"; several tensors follow one another, with as many
 * shares each. Without weights they are 1 / SHARE, multiplied over the tensors. Some index must have the
 * largest share of every tensor. */
SX_MUST_USE sx_status sx_density_range_parse(const char *text, sx_density_range *out);
/* Writes what sx_density_range_parse reads back; the text is freed with sx_free(). */
SX_MUST_USE sx_status sx_density_range_text(const sx_density_range *range, SX_OWN char **out);
/* Takes over the objective's powers; an error for objectives that cannot be summed over densities. */
SX_MUST_USE sx_status sx_density_range_aim(sx_density_range *range, const sx_objective *objective);
/* Gives a problem's tensors their densities of number `index`; tensors that it does not have are left out. */
SX_MUST_USE sx_status sx_density_range_apply(const sx_density_range *range, int index, sx_problem *problem);

/* Reads kinds with commas: none, CP, RLE, B, or all of them as "all"; and writes what is read back. */
SX_MUST_USE sx_status sx_format_search_parse(const char *text, sx_format_search *out);
void sx_format_search_text(const sx_format_search *search, char text[SX_FORMATS_TEXT_SIZE]);
/* Takes over the objective's powers; an error for objectives that are no product of energy and delay. */
SX_MUST_USE sx_status sx_format_search_aim(sx_format_search *search, const sx_objective *objective);

/* First reads are elided, and children hand words to their neighbours. */
void sx_model_options_init(sx_model_options *options);

typedef struct sx_model sx_model;
typedef struct sx_model_workspace sx_model_workspace;

/* Compiles a model; options may be NULL. Copies what it needs of problem and architecture. */
SX_MUST_USE sx_status sx_model_new(const sx_problem *problem, const sx_arch *arch,
                                   const sx_model_options *options, SX_OWN sx_model **out);

/* The model of density number `index` of a range, and its weight; NULL where there is none. A model of a range
 * scores mappings that are legal at all its densities: cycles D so that D^b = sum of weight * cycles^b, and
 * energy E so that E^a * D^b is the weighted sum of energy^a * cycles^b, with a and b the objective's powers.
 * Whole costs are those of the largest density. */
const sx_model *sx_model_at_density(const sx_model *model, int index, double *weight);

/* The architecture with the formats that suit a mapping best, where the model searches them; else as it is. */
SX_MUST_USE sx_status sx_model_settle_formats(const sx_model *model, const sx_mapping *mapping, sx_arch *out);

/* The compulsory minimum, which no legal mapping is below: every multiply-accumulate at full speed, every
 * word once at the outermost level for the tensors that it keeps (`backed`, a mask), at the cheapest level
 * for the others. */
sx_score sx_model_minimum(const sx_model *model, uint8_t backed);

/* Mind Mappings' algorithmic minimum (appendix A): each input read once and each output written once at every
 * level, halos left out, all compute units busy. No bound: a mapping that bypasses levels can be below it. */
sx_score sx_model_algorithmic_minimum(const sx_model *model);

/* What a model was compiled from. */
const sx_problem *sx_model_problem(const sx_model *model);
const sx_arch *sx_model_arch(const sx_model *model);

SX_MUST_USE sx_status sx_model_workspace_new(const sx_model *model, SX_OWN sx_model_workspace **out);
void sx_model_workspace_free(SX_TAKE sx_model_workspace *workspace);

/* Is the mapping legal? Nothing else is computed. */
sx_verdict sx_check(const sx_model *model, const sx_mapping *mapping);

/* The whole cost, of the levels and tensors there are. *out is of no use unless the verdict is SX_LEGAL. */
sx_verdict sx_evaluate(sx_model_workspace *workspace, const sx_mapping *mapping, sx_cost *out);

/* The totals only, which are bit for bit those of sx_evaluate, and faster. */
sx_verdict sx_evaluate_score(sx_model_workspace *workspace, const sx_mapping *mapping, sx_score *out);

/* As sx_evaluate_score, but gives up with SX_BOUND_EXCEEDED as soon as the objective's first criterion cannot
 * come out at or below `bound`. */
sx_verdict sx_evaluate_within(sx_model_workspace *workspace, const sx_mapping *mapping,
                              const sx_objective *objective, double bound, sx_score *out);

/* sx_evaluate_score over n mappings; scores of illegal ones are set to infinity. */
void sx_evaluate_batch(sx_model_workspace *workspace, const sx_mapping *mappings, size_t n, sx_score *scores,
                       sx_verdict *verdicts);

/* The same for many mappings, on several threads (0: one). Mappings lie `stride` bytes apart: the size of
 * sx_mapping, or less (sx_mapping_bytes), since nothing beyond the levels of the architecture is read. The answers
 * do not depend on the number of threads. An error where memory is out or a limit of the model is met. */
SX_MUST_USE sx_status sx_evaluate_array(const sx_model *model, const void *mappings, size_t stride, size_t n,
                                        unsigned threads, sx_score *scores, sx_verdict *verdicts);

/* The oracle: walks every iteration and every sibling and moves every word between real sets. Refuses to take
 * more than max_steps steps. Shares no code with the functions above. */
SX_MUST_USE sx_status sx_simulate(const sx_problem *problem, const sx_arch *arch, const sx_mapping *mapping,
                                  const sx_model_options *options, uint64_t max_steps, sx_verdict *verdict,
                                  sx_cost *out);

#endif
