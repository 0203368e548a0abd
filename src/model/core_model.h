/* A cost model as the core takes it. */
#ifndef SX_MODEL_CORE_MODEL_H
#define SX_MODEL_CORE_MODEL_H

#include "core/engine.h"
#include "model/model.h"

/* Makes the core's model, as if tensors were dense: every level may keep every tensor, children may hand words to one another where
 * the model's options allow it, and arrays have no limits but the model's. NULL, or why the core does not cover the model: a
 * clause. */
const char *sx_core_model_make(const sx_model *model, sx_core_model *out);

#endif
