/* The navigators of this build: above the algorithms, which reach each other by the registry of their run. */
#ifndef SX_REGISTRY_REGISTRY_H
#define SX_REGISTRY_REGISTRY_H

#include "run/registered.h"

/* All of them, in the order of navigators.def. */
extern const sx_registry sx_navigators;

/* Whether "name:key=value,..." names a navigator that can say how it closed the space. */
bool sx_navigator_proves(const char *text);
/* Whether it is for few questions to an outside evaluator, of which it needs a limit: it proposes the model's best itself, or (one
 * for any space) begins from them as start points. */
bool sx_navigator_measures(const char *text);

#endif
