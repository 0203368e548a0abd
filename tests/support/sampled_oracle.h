/* The oracle in two ways: every iteration executed, and temporal loops run as Timeloop samples them. */
#ifndef SX_TESTS_SAMPLED_ORACLE_H
#define SX_TESTS_SAMPLED_ORACLE_H

#include "sextant/model.h"

/* Counts a legal mapping whose factors divide. *executed: all iterations. *sampled: of every temporal loop outside a level's
 * children iteration 0 and, standing for all others, iteration 1; words ever held are those of the execution. */
void sx_count_sampled(const sx_problem *problem, const sx_arch *arch, const sx_mapping *mapping,
                      const sx_model_options *options, sx_cost *executed, sx_cost *sampled);

#endif
