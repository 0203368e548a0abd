/* The different words that the instances of a level hold in the course of a run. */
#ifndef SX_MODEL_PARTITION_H
#define SX_MODEL_PARTITION_H

#include "model/model.h"

/* Their number, each instance counted for itself, with or without remainders; -1 when that takes too much
 * memory. */
double sx_partition_words(const sx_model *model, const sx_nest *nest, const sx_mapping *mapping, int tensor,
                          int level);

#endif
