/* Parts of the program that are shared libraries of their own, loaded when they are asked for. */
#ifndef SX_BASE_MODULE_H
#define SX_BASE_MODULE_H

#include "base/status.h"

#include <stdbool.h>

/* Loads a module, which then stays loaded, and finds its one symbol: *out is a pointer to a function. `what` names the module
 * in messages. With `global`, libraries that the module loads see its symbols. */
sx_status sx_module_load(const char *file, const char *what, const char *symbol, bool global, void *out);

/* The error of a module that was built for another version of the program. */
sx_status sx_module_other_version(const char *file);

#endif
