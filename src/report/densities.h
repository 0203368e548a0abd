/* What a mapping that was found for several densities takes at each of them. */
#ifndef SX_REPORT_DENSITIES_H
#define SX_REPORT_DENSITIES_H

#include "base/text.h"
#include "sextant/result.h"

#include <jansson.h>

/* Adds a table of the layer's best mapping, a row per density. */
SX_MUST_USE sx_status sx_densities_print(const sx_result *result, size_t layer, sx_text *out);

/* The same as a list; NULL where the layer has no mapping or was searched for one density. */
SX_MUST_USE sx_status sx_densities_json(const sx_result *result, size_t layer, SX_OWN json_t **out);

#endif
