#include "sextant/sextant.h"

/* The build says what was found; compiled by hand, nothing was. */
#ifndef SX_FEATURES
#define SX_FEATURES ""
#endif

const char *sx_version(void) {
    return SX_VERSION;
}

const char *sx_features(void) {
    return SX_FEATURES;
}
