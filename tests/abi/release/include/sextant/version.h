/* The version of these headers, and of the library that is loaded. */
#ifndef SX_VERSION_H
#define SX_VERSION_H

#include "sextant/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_VERSION_MAJOR 0
#define SX_VERSION_MINOR 4
#define SX_VERSION_PATCH 0
/* The three as one number that grows: 400 for 0.4.0. */
#define SX_VERSION_NUMBER (SX_VERSION_MAJOR * 10000 + SX_VERSION_MINOR * 100 + SX_VERSION_PATCH)

/* The library's version, such as "0.4.0", and the optional parts it was built with, one line each. */
SX_API const char *sx_version(void);
SX_API const char *sx_features(void);

#ifdef __cplusplus
}
#endif

#endif
