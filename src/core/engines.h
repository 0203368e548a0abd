/* All engines. */
#ifndef SX_CORE_ENGINES_H
#define SX_CORE_ENGINES_H

#include "core/engine.h"

extern const sx_core_engine sx_core_engine_generic;

/* Those for fixed numbers of levels, of tensors, and of tensors whose tiles overlap in part (cmake/core.cmake makes them; a few
 * of them under sanitizers). */
#ifdef SX_SMALL_CODE
#define SX_CORE_EACH_FIXED(X) X(3, 3, 0) X(4, 3, 1)
#else
#define SX_CORE_EACH_FIXED(X)                                                                                \
    X(3, 3, 0) X(3, 3, 1) X(3, 4, 0) X(4, 3, 0) X(4, 3, 1) X(5, 3, 0) X(5, 3, 1) X(6, 3, 0) X(6, 3, 1)
#endif
#define SX_CORE_DECLARE(levels, tensors, windows)                                                            \
    extern const sx_core_engine sx_core_engine_##levels##_##tensors##_##windows;
SX_CORE_EACH_FIXED(SX_CORE_DECLARE)

#endif
