/* The different words that the instances of a level hold in the course of a run. */
#ifndef SX_MODEL_REMAINDERS_PARTITION_H
#define SX_MODEL_REMAINDERS_PARTITION_H

#include "model/model.h"

/* Their number, each instance counted for itself, with or without remainders; -1 when memory is out. Where
 * more words or tiles must be marked one by one than the limit allows, it is minus infinity and *marks tells
 * how many; marks may be NULL. */
double sx_partition_words(const sx_model *model, const sx_nest *nest, const sx_mapping *mapping, int tensor,
                          int level, double *marks);

/* The same for the mapping in a workspace, which ends the evaluation where they cannot be counted. */
double sx_partition_count(sx_model_workspace *workspace, const sx_mapping *mapping, int tensor, int level);

#endif
