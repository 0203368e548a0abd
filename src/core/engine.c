/* Which engine a model has. */
#include "core/engines.h"

const sx_core_engine *sx_core_engine_of(const sx_core_model *model) {
    uint32_t windows = 0;
    for (uint32_t v = 0; v < model->n_tensors; v++) windows += !model->tensor[v].plain;
#define CHOOSE(levels, tensors, n)                                                                           \
    if (model->n_levels == levels && model->n_tensors == tensors && windows == n)                            \
        return &sx_core_engine_##levels##_##tensors##_##n;
    SX_CORE_EACH_FIXED(CHOOSE)
#undef CHOOSE
    return &sx_core_engine_generic;
}
