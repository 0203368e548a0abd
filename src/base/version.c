#include "sextant/version.h"

/* The build defines which optional libraries were found; without the definition there are none. */
#ifndef SX_FEATURES
#define SX_FEATURES ""
#endif

#define TEXT(x) #x
#define DOTTED(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *sx_version(void) {
    return DOTTED(SX_VERSION_MAJOR, SX_VERSION_MINOR, SX_VERSION_PATCH) SX_VERSION_SUFFIX;
}

const char *sx_features(void) {
    return SX_FEATURES;
}
