/* What a navigator's file provides; navigators.def registers it. */
#ifndef SX_RUN_NAVIGATOR_H
#define SX_RUN_NAVIGATOR_H

#include "sextant/navigator.h"

/* The descriptor of a navigator `x` is the variable sx_navigator_x. */
#define SX_NAVIGATOR(name) const sx_navigator sx_navigator_##name

#endif
