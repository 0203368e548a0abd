/* Gamma as a part of other mappers: one search after another, each with a larger population. */
#ifndef SX_MAPPERS_GAMMA_ROUNDS_H
#define SX_MAPPERS_GAMMA_ROUNDS_H

#include "mapspace/map_space.h"
#include "sextant/navigator.h"

/* Evaluations of the first round, which are those of Gamma alone, where time is limited. */
enum { SX_GAMMA_ALONE = 300000 };

/* How many times longer an evaluation takes than without remainders, about. */
uint64_t sx_gamma_slowness(const sx_map_space *space);

/* Lets Gamma go on to a given number of evaluations in all calls of this run, in whole generations, within a share of
 * the time that is left (0: all of it). */
SX_MUST_USE sx_status sx_gamma_go_on(sx_run *run, uint64_t evaluations, double share);

#endif
