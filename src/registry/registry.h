/* The navigators of this build: above the algorithms, which reach each other by the registry of their run. */
#ifndef SX_REGISTRY_REGISTRY_H
#define SX_REGISTRY_REGISTRY_H

#include "run/registered.h"

/* All of them, in the order of navigators.def. */
extern const sx_registry sx_navigators;

/* Whether "name:key=value,..." names a navigator that can say how it closed the space. */
bool sx_navigator_proves(const char *text);
/* Whether it relies on a model and asks an outside evaluator of its own accord: it needs a limit of questions. */
bool sx_navigator_measures(const char *text);

#endif
