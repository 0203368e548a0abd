/* The tiles of a loop that an exact search has to consider, with their lower bounds.
 *
 * With the number of PEs along a loop and the lanes fixed, all that a design costs grows with the step that
 * its buffers hold, as long as the trips of the tile loop stay the same; so of all steps with the same trips
 * only the least matters, unless a larger one is needed to hide the latency of adding. */
#ifndef SX_SYSTOLIC_CHOICES_H
#define SX_SYSTOLIC_CHOICES_H

#include "systolic/space.h"

/* Choices of a loop, by ascending step. Numbers of each kernel stand one after another. */
typedef struct sx_step_choices {
    size_t n;
    uint32_t *step;
    uint32_t *trips;     /* [choice][kernel] */
    double *all, *spans; /* [choice][kernel]: the least of this choice and those before it */
} sx_step_choices;

/* The choices of a loop for every number of PEs. */
typedef struct sx_loop_choices {
    uint32_t most_pes;     /* 1 unless it is a space loop */
    sx_step_choices *with; /* by the number of PEs, from 1 on; entry 0 is not used */
} sx_loop_choices;

/* What decides the choices of a loop in a design. */
typedef struct sx_choices_key {
    uint8_t loop;
    bool is_space;
    uint32_t lanes; /* of the SIMD loop; otherwise 0 */
    uint32_t cap;   /* words per transfer of the tensor whose last rank the loop is; 0: none */
    uint32_t hide;  /* independent sums wanted; 0: none */
} sx_choices_key;

enum { SX_MAX_CHOICES_KEYS = 128 };

/* All choices of a space, made when they are asked for. */
typedef struct sx_all_choices {
    const sx_systolic_space *space;
    size_t n;
    sx_choices_key key[SX_MAX_CHOICES_KEYS];
    sx_loop_choices *choices[SX_MAX_CHOICES_KEYS];
} sx_all_choices;

void sx_all_choices_fini(sx_all_choices *all);

/* Makes the choices of a loop in a design with a given number of lanes, where they are not there yet; NULL when memory
 * is out. */
const sx_loop_choices *sx_choices_make(sx_all_choices *all, const sx_systolic_plan *plan, int loop,
                                       uint32_t lanes);
/* The same where they were made; NULL where not. */
const sx_loop_choices *sx_choices_find(const sx_all_choices *all, const sx_systolic_plan *plan, int loop,
                                       uint32_t lanes);

/* The record of choice number `index` for a kernel; and the lower bound of all choices up to it (of `hide`,
 * the upper bound). */
sx_systolic_tile sx_choice_exact(const sx_systolic_space *space, const sx_systolic_plan *plan, int loop,
                                 uint32_t pes, const sx_step_choices *choices, size_t index, size_t kernel);
sx_systolic_tile sx_choice_least(const sx_systolic_space *space, const sx_systolic_plan *plan, int loop,
                                 uint32_t pes, const sx_step_choices *choices, size_t index, size_t kernel);

#endif
