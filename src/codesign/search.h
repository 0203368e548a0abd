/* A search of designs: what all methods share. */
#ifndef SX_CODESIGN_SEARCH_H
#define SX_CODESIGN_SEARCH_H

#include "codesign/designs.h"
#include "mappers/sunstone/levels.h"

/* A computation that is searched: all layers that are the same. */
typedef struct sx_target {
    size_t layer; /* the first of them */
    const sx_problem *problem;
    double weight; /* how often it is computed */
} sx_target;

typedef struct sx_codesign {
    const sx_designs *designs;
    const sx_network *network;
    const sx_codesign_options *options;
    size_t n_targets;
    sx_target *target;
    size_t *first; /* per layer of the network: the first that is the same computation */
    sx_codesign_result *out;
    sx_codesign_layer *found; /* per target: of the current design */
    double deadline;          /* by the clock; 0: none */
    size_t shares;            /* searches that share the time that is left; 0: the next may take all */
    size_t n_none;            /* designs of which it is proven that some layer has no legal mapping */
    bool usable;              /* some design could be searched */
    sx_status trouble;        /* why the first that could not, could not */
} sx_codesign;

/* An architecture, and the model and the space of a target on it. Large: it belongs on the heap. */
typedef struct sx_target_space {
    sx_arch arch;
    sx_constraints constraints;
    sx_model *model;
    sx_space *space;
} sx_target_space;

/* Room for the space of a target, whose architecture is that of a design; freed with sx_target_space_free. */
SX_MUST_USE sx_status sx_target_space_new(const sx_designs *designs, size_t design,
                                          SX_OWN sx_target_space **out);
/* Makes model and space of a target on the architecture that `out` has. *usable is false where constraints
 * contradict the sizes there; the first such trouble is remembered. Ended by sx_target_space_fini in any case,
 * which leaves the architecture. */
SX_MUST_USE sx_status sx_target_space_init(sx_codesign *c, size_t target, sx_target_space *out, bool *usable);
/* How many ways there are to split all dimensions into factors: at least a given number of points are in the space. */
double sx_target_space_tilings(const sx_target_space *target_space);
void sx_target_space_fini(sx_target_space *target_space);
void sx_target_space_free(SX_TAKE sx_target_space *target_space);

/* What came of a search. */
typedef struct sx_search_outcome {
    bool found;
    sx_codesign_layer best;
    double lower_bound; /* -INFINITY: nothing is proven */
    bool none;          /* proven: there is no legal mapping */
    sx_stop stop;
} sx_search_outcome;

/* The mapper that has its first answers at once, also in the largest of spaces. */
#define SX_PROMPT_MAPPER "gamma"

/* Searches a target's space by a mapper, "name:key=value,..."; `mapping` (may be NULL) is one to begin with.
 */
SX_MUST_USE sx_status sx_search_by_mapper(sx_codesign *c, const sx_target_space *target_space,
                                          const char *mapper, const sx_mapping *mapping,
                                          sx_search_outcome *out);
/* Bounds a target's space by `optimal` within about 10 ms, beginning with a mapping; finds nothing and bounds
 * nothing where `optimal` refuses the space. */
SX_MUST_USE sx_status sx_search_bound(sx_codesign *c, const sx_target_space *target_space,
                                      const sx_mapping *mapping, sx_search_outcome *out);
/* Searches a target's space by a plan of Sunstone whose items are made already (or, with `begin`, are not),
 * up to the plan's cutoff, and adds up what it looks at. */
SX_MUST_USE sx_status sx_search_by_plan(sx_codesign *c, const sx_target_space *target_space,
                                        sx_sunstone *plan, bool begin, sx_search_outcome *out);

/* The techniques of plain Sunstone. */
sx_sunstone_switches sx_plain_switches(void);

/* Whether a signal or the time limit ends the search; asked where something is left to do, since the result
 * says so then. */
bool sx_codesign_stopped(const sx_codesign *c);
/* Tells that a target is about to be searched on a design. */
void sx_codesign_begins(const sx_codesign *c, size_t design, size_t target);

/* The value that a design must be better than to matter: that of the best, or of the best that is not larger.
 */
double sx_codesign_cutoff(const sx_codesign *c, size_t design);

/* Takes down a design of which every target has been found, and the outcome of another. */
void sx_codesign_done(sx_codesign *c, size_t design);
void sx_codesign_record_outcome(sx_codesign *c, size_t design, sx_design_outcome outcome);

/* Takes down the lower bound of a target on the best design, and the best value known there; marks its
 * mapping where that is poor. */
void sx_codesign_assess_layer(sx_codesign *c, size_t target, double bound, double known);

/* The methods. */
SX_MUST_USE sx_status sx_codesign_auto(sx_codesign *c);
SX_MUST_USE sx_status sx_codesign_grid(sx_codesign *c);
SX_MUST_USE sx_status sx_codesign_sunstone(sx_codesign *c);
SX_MUST_USE sx_status sx_codesign_exact(sx_codesign *c);

/* Searches the layers of the best design briefly with remainders, where that is asked for, and notes what is better. */
SX_MUST_USE sx_status sx_codesign_widen(sx_codesign *c);

#endif
