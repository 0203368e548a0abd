/* Sextant: mapping tensor computations onto hardware accelerators. */
#ifndef SX_SEXTANT_H
#define SX_SEXTANT_H

#include "sextant/arch.h"
#include "sextant/cancel.h"
#include "sextant/certificate.h"
#include "sextant/codesign.h"
#include "sextant/compare.h"
#include "sextant/constraints.h"
#include "sextant/cost.h"
#include "sextant/device.h"
#include "sextant/graph.h"
#include "sextant/input.h"
#include "sextant/mapping.h"
#include "sextant/model.h"
#include "sextant/navigator.h"
#include "sextant/network.h"
#include "sextant/objective.h"
#include "sextant/point_model.h"
#include "sextant/problem.h"
#include "sextant/proof.h"
#include "sextant/result.h"
#include "sextant/rng.h"
#include "sextant/run.h"
#include "sextant/session.h"
#include "sextant/space.h"
#include "sextant/space_type.h"
#include "sextant/status.h"
#include "sextant/store.h"
#include "sextant/systolic.h"
#include "sextant/version.h"

#endif
