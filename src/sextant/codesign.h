/* Codesign: memory sizes and the shape of the array chosen together with the mappings. */
#ifndef SX_CODESIGN_H
#define SX_CODESIGN_H

#include "sextant/network.h"
#include "sextant/run.h"

/* --- what may be chosen --- */

/* Choices: sizes of memories, shapes of arrays, what memories cost by size, and limits of area. */
typedef struct sx_choices sx_choices;

SX_MUST_USE sx_status sx_choices_new(SX_OWN sx_choices **out);
void sx_choices_free(SX_TAKE sx_choices *choices);

/* Adds the `choices` section of a YAML or JSON file, or of text as if it were the file `name`. */
SX_MUST_USE sx_status sx_choices_add_file(sx_choices *choices, const char *path);
SX_MUST_USE sx_status sx_choices_add_text(sx_choices *choices, const char *name, const char *text,
                                          size_t size);

/* Adds a choice in short: "L1=64,128,256" (words), "L1/Weights=8,16" (one tensor's part of a level that is
 * split), "array=16x16,8x32" or "array/L2=4x4,8x8" (the fan-out of a level). */
SX_MUST_USE sx_status sx_choices_add(sx_choices *choices, const char *text);

/* --- designs: the architectures that choices leave --- */

typedef struct sx_designs sx_designs;

/* The designs of a base architecture whose area, in square micrometres, is at most `area` (0: any) and which
 * keep the limits of the choices; at least one. The choices must outlive them. */
SX_MUST_USE sx_status sx_designs_new(const sx_arch *base, const sx_choices *choices, double area,
                                     SX_OWN sx_designs **out);
void sx_designs_free(SX_TAKE sx_designs *designs);

size_t sx_designs_count(const sx_designs *designs);
/* How many there would be without limits of area. */
size_t sx_designs_combinations(const sx_designs *designs);
/* The architecture of design `index`, and its area: memories on the chip and compute units, in um^2. */
void sx_designs_arch(const sx_designs *designs, size_t index, sx_arch *out);
double sx_designs_area(const sx_designs *designs, size_t index);

/* What is chosen: choice `index`, its name (such as "L1" or "array"); NULL past the last. And how design
 * number `design` has it, such as "64" or "16x16". */
const char *sx_designs_choice(const sx_designs *designs, size_t index);
void sx_designs_setting(const sx_designs *designs, size_t design, size_t index, char *text, size_t size);

/* Refuses a problem that lacks a tensor which a level is split by. */
SX_MUST_USE sx_status sx_designs_check(const sx_designs *designs, const sx_problem *problem);

/* --- the search --- */

typedef enum sx_codesign_method {
    SX_CODESIGN_AUTO,     /* as SX_CODESIGN_EXACT, each proof within a budget */
    SX_CODESIGN_GRID,     /* a mapper on every design */
    SX_CODESIGN_SUNSTONE, /* Sunstone-arch: every tile with the smallest memories that hold it */
    SX_CODESIGN_EXACT,    /* branch and bound: designs whose lower bound is beyond the best are cut */
} sx_codesign_method;

/* The name of a method, such as "sunstone-arch", and a line about it; NULL past the last. */
const char *sx_codesign_method_name(sx_codesign_method method, const char **about);

typedef struct sx_codesign_options {
    sx_codesign_method method;
    const char *mapper; /* of the grid, "name:key=value,..."; NULL: sunstone. The other methods have their own
                         */
    bool widen;         /* search the layers of the best design briefly with remainders, too */
    bool front;         /* cut nothing that may lie on the front of area and objective */
    bool apart;         /* of Sunstone-arch: designs are not compared with each other while searching */
    bool plus;          /* of Sunstone-arch: go on from what is left by sunstone:plus=on */
    sx_run_options run; /* seconds: of the whole search; evaluations and patience: for each layer on each
                           design; starts, checkpoint, k_best and pareto are not used; user goes to progress
                         */
    sx_map_space_options space;
    sx_model_options model;
    /* The constraints for a problem; NULL: none. */
    sx_status (*constraints)(void *user, const sx_problem *problem, const sx_arch *arch, sx_constraints *out);
    /* Told before a layer is searched on a design; may be NULL. */
    void (*begins)(void *user, size_t design, size_t layer);
    void *user; /* of both */
} sx_codesign_options;

/* What became of a design. */
typedef enum sx_design_outcome {
    SX_OUTCOME_OPEN, /* the search ended before it */
    SX_OUTCOME_DONE, /* every layer has a mapping */
    SX_OUTCOME_CUT, /* it cannot be better than another one, by its bound; by its tile cost it is not likely to be */
    SX_OUTCOME_EMPTY,   /* no tile of its own: all that fit it fit a smaller one */
    SX_OUTCOME_NONE,    /* proven: some layer has no legal mapping */
    SX_OUTCOME_QUICK,   /* every layer has a mapping, of a quick search only */
    SX_OUTCOME_UNFOUND, /* a search that ran to its end found no mapping of some layer; there may be one */
} sx_design_outcome;
const char *sx_design_outcome_name(sx_design_outcome outcome);

/* The value of a design is the sum of the layers' values of the objective's first criterion, times their
 * counts. */
typedef struct sx_design_result {
    sx_design_outcome outcome;
    double value; /* INFINITY unless every layer has a mapping; where it was cut, not the best there is */
    double bound; /* proven: a lower bound of the value; -INFINITY: nothing is known */
    double
        tile_cost; /* of SX_CODESIGN_SUNSTONE: the cost of its best tiles, which ranks it, and is no bound; INFINITY:
                         it has none, -INFINITY: not known */
    sx_score total; /* energies and cycles summed over layers and their counts */
    bool poor;      /* it rests on a mapping that is known to be poor, see sx_codesign_layer */
} sx_design_result;

/* A layer on the best design. */
/* A mapping with remainders that is better than the best whose tiles divide. */
typedef struct sx_codesign_any {
    bool found;
    sx_mapping mapping;
    sx_score score;
    double value;
} sx_codesign_any;

typedef struct sx_codesign_layer {
    size_t same_as; /* the earlier layer that is the same computation; or its own index */
    sx_mapping mapping;
    sx_score score;
    double value;
    double bound; /* proven: no mapping of this layer on this design costs less; -INFINITY: nothing is */
    bool poor;    /* a mapping is known that is SX_POOR_GAIN better, or value > SX_POOR_GAP * bound */
    sx_codesign_any any; /* with options.widen */
} sx_codesign_layer;

#define SX_POOR_GAIN 1.1
#define SX_POOR_GAP 2.0

typedef struct sx_codesign_counts {
    uint64_t designs;          /* there are */
    uint64_t done, cut, empty; /* those of these outcomes */
    uint64_t quick, none, open, unfound;
    uint64_t evaluations;          /* of complete mappings, by all searches */
    uint64_t partial;              /* costs of partial mappings (Sunstone's) */
    int n_memories;                /* 0: tiles are not counted */
    uint64_t tiles[SX_MAX_LEVELS]; /* that were looked at, per memory from the innermost outward */
    uint64_t nodes;                /* of the trees of tiles of Sunstone-arch */
} sx_codesign_counts;

typedef struct sx_codesign_result {
    size_t n_designs;
    sx_design_result *design;
    bool found;
    size_t best; /* of the designs: the least value, of these the least area */
    size_t n_layers;
    sx_codesign_layer *layer; /* of the best */
    size_t n_front;           /* designs of which no other is as small and as good, by area */
    size_t *front;
    bool complete;   /* neither a signal nor the time limit ended it early */
    sx_stop stop;    /* SX_STOP_DONE, SX_STOP_TIME or SX_STOP_SIGNAL */
    bool none;       /* proven: on no design has every layer a legal mapping */
    bool repeatable; /* no clock and no signal decided anything */
    double
        lower_bound; /* of SX_CODESIGN_EXACT: no design has a smaller value; -INFINITY: nothing is proven */
    bool optimal;    /* proven: no design is better than the best */
    double seconds;
    sx_codesign_counts counts;
} sx_codesign_result;

/* Searches the designs for those layers. *out is freed with sx_codesign_result_fini, also after an error. */
SX_MUST_USE sx_status sx_codesign_run(const sx_designs *designs, const sx_network *network,
                                      const sx_codesign_options *options, sx_codesign_result *out);
void sx_codesign_result_fini(sx_codesign_result *result);

#endif
