/* A hash of the core's model, without what lies between its fields. */
#ifndef SX_TESTS_CORE_HASH_H
#define SX_TESTS_CORE_HASH_H

#include "core/model.h"

/* Adds a model to a hash. Numbers count to nine digits. */
uint64_t sx_core_model_hash(const sx_core_model *model, uint64_t hash);

#endif
