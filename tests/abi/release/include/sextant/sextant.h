/* Sextant: mapping tensor computations onto hardware accelerators. */
#ifndef SX_SEXTANT_H
#define SX_SEXTANT_H

#include "sextant/cancel.h"
#include "sextant/estimate.h"
#include "sextant/evaluate.h"
#include "sextant/options.h"
#include "sextant/read.h"
#include "sextant/search.h"
#include "sextant/status.h"
#include "sextant/version.h"
#include "sextant/warnings.h"

#endif
