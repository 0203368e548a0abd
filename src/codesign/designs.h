/* The architectures that choices leave of a base: every choice has options, a design takes one of each. */
#ifndef SX_CODESIGN_DESIGNS_H
#define SX_CODESIGN_DESIGNS_H

#include "sextant/codesign.h"

enum { SX_MAX_DESIGN_PARAMETERS = 2 * SX_MAX_LEVELS };

/* An option: the words of a memory and what these cost, or the shape of an array. */
typedef struct sx_design_option {
    uint64_t words, x, y;
    double read, fill, update, leak;
    double area; /* of one instance */
} sx_design_option;

/* A choice resolved in the architecture. Options of memories are in ascending order of size. */
typedef struct sx_design_parameter {
    bool array;
    int level; /* the memory, or the level whose fan-out it is */
    char name[2 * SX_NAME_SIZE];
    size_t n_options;
    sx_design_option *option;
} sx_design_parameter;

struct sx_designs {
    sx_arch base; /* levels that are split stand for each tensor */
    size_t n_parameters;
    sx_design_parameter parameter[SX_MAX_DESIGN_PARAMETERS];
    size_t n_splits;
    char split[SX_MAX_LEVELS][SX_NAME_SIZE]; /* tensors that levels are split by */
    double area[SX_MAX_LEVELS];              /* of an instance of a memory that is not chosen */
    double compute_area;
    sx_arch measured; /* the design that is measured or checked while the list is made */
    size_t combinations, n;
    uint8_t *option; /* n_knobs for each design */
    double *total;   /* the area of each */
};

/* The options of a design. */
static inline const uint8_t *sx_design_options(const sx_designs *designs, size_t index) {
    return designs->option + index * designs->n_parameters;
}

/* Splits the levels of an architecture that choices split by tensor (split.c). */
SX_MUST_USE sx_status sx_arch_split(const sx_choices *choices, sx_arch *arch);
/* The name of the level that is made of a tensor's part of a level. */
void sx_split_name(const char *level, const char *tensor, char name[2 * SX_NAME_SIZE]);

/* Sets one option in an architecture. */
void sx_design_parameter_apply(const sx_design_parameter *parameter, size_t option, sx_arch *arch);

/* The area of an architecture of such options. */
double sx_designs_measure(sx_designs *designs, const uint8_t *option);

/* Lists the designs that keep the limits (limits.c). */
SX_MUST_USE sx_status sx_designs_list(sx_designs *designs, const sx_choices *choices, double area);

#endif
