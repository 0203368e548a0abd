/* The engine for any numbers of levels and tensors. */
#include "core/engines.h"

#define SX_CORE_ENGINE sx_core_engine_generic
#include "core/engine_body.inc"
