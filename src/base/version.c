#include "sextant/sextant.h"

const char *sx_version(void) {
    return SX_VERSION;
}

const char *sx_features(void) {
    return "";
}
