/* A mapping as the loops a person would write. */
#ifndef SX_REPORT_LOOPS_H
#define SX_REPORT_LOOPS_H

#include "base/text.h"
#include "sextant/mapping.h"

enum { SX_MAX_LOOP_LINES = SX_MAX_LEVELS * (2 * SX_MAX_DIMS + 1) };

/* One loop of more than one iteration. */
typedef struct sx_loop_line {
    int level, dim;
    bool spatial, on_y;
    uint32_t factor;
    uint32_t last; /* iterations where every outer loop of the dimension is at its last; == factor without
                      remainder */
} sx_loop_line;

/* The loops of a mapping, outermost first; returns how many. */
int sx_loops_list(const sx_mapping *mapping, const sx_problem *problem,
                  sx_loop_line lines[SX_MAX_LOOP_LINES]);

/* Adds the loops as indented text, level by level. */
void sx_loops_print(const sx_mapping *mapping, const sx_problem *problem, const sx_arch *arch, sx_text *out);

/* Whether a dimension indexes a tensor. */
bool sx_dim_indexes(const sx_problem *problem, int tensor, int dim);

/* The words of the box that a tensor's tile at a level spans (-1: 1), or some times as wide in each dimension. */
double sx_box_words(const sx_problem *problem, const sx_mapping *mapping, int tensor, int level,
                    const uint32_t *times);

#endif
