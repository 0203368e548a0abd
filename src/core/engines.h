/* All engines. */
#ifndef SX_CORE_ENGINES_H
#define SX_CORE_ENGINES_H

#include "core/engine.h"

extern const sx_core_engine sx_core_engine_generic;

/* Those for fixed numbers of levels and tensors, where tiles of no tensor or of one overlap in part (cmake/core.cmake makes
 * them). */
#define SX_CORE_EACH_FIXED(X) X(3, 3) X(3, 4) X(4, 3) X(4, 4) X(5, 3) X(5, 4) X(6, 3) X(6, 4)
#define SX_CORE_DECLARE(levels, tensors)                                                                     \
    extern const sx_core_engine sx_core_engine_##levels##_##tensors;                                         \
    extern const sx_core_engine sx_core_engine_##levels##_##tensors##_window;
SX_CORE_EACH_FIXED(SX_CORE_DECLARE)

#endif
