/* Which engine a model has. */
#include "core/engines.h"

const sx_core_engine *sx_core_engine_of(const sx_core_model *model) {
    uint32_t windows = 0;
    for (uint32_t v = 0; v < model->n_tensors; v++) windows += !model->tensor[v].plain;
    if (windows > 1) return &sx_core_engine_generic;
#define CHOOSE(levels, tensors)                                                                              \
    if (model->n_levels == levels && model->n_tensors == tensors)                                            \
        return windows ? &sx_core_engine_##levels##_##tensors##_window : &sx_core_engine_##levels##_##tensors;
    SX_CORE_EACH_FIXED(CHOOSE)
#undef CHOOSE
    return &sx_core_engine_generic;
}
