/* Small random nests with sliding windows: more loops per dimension and stranger ranks than random_case.h
 * has. */
#ifndef SX_TESTS_RANDOM_WINDOW_H
#define SX_TESTS_RANDOM_WINDOW_H

#include "model/model.h"
#include "sextant/rng.h"

/* A model and a legal nest on it. */
typedef struct sx_window {
    sx_problem problem;
    sx_arch arch;
    sx_mapping mapping;
    sx_model *model;
    sx_nest nest;
} sx_window;

/* Draws a nest; with remainders, sizes are shortened below what the factors make up. Free with
 * sx_window_fini. */
void sx_random_window(sx_rng *rng, bool remainders, SX_OWN sx_window *out);
void sx_window_fini(sx_window *window);

/* How far each rank of a tensor moves by one iteration of a loop. */
void sx_window_move(const sx_window *window, int tensor, const sx_loop *loop, int64_t *move);

/* The words per rank of a tensor's tile at a level, 1 for level -1. */
void sx_window_extent(const sx_window *window, int tensor, int level, int64_t *extent);

#endif
