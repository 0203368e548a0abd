/* The version of these headers, and of the library that is loaded. */
#ifndef SX_VERSION_H
#define SX_VERSION_H

#include "sextant/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SX_VERSION_MAJOR 0
#define SX_VERSION_MINOR 6
#define SX_VERSION_PATCH 0
/* Empty in a release; "-dev" before it. */
#define SX_VERSION_SUFFIX "-dev"
/* The three as one number that grows: 600 for 0.6.0 and for what comes before it. */
#define SX_VERSION_NUMBER (SX_VERSION_MAJOR * 10000 + SX_VERSION_MINOR * 100 + SX_VERSION_PATCH)

/* The library's version, such as "0.6.0" or "0.6.0-dev", and the optional parts it was built with, one line each. */
SX_API const char *sx_version(void);
SX_API const char *sx_features(void);

#ifdef __cplusplus
}
#endif

#endif
