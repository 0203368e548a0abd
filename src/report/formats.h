/* The formats that were chosen for a mapping, where they were searched. */
#ifndef SX_REPORT_FORMATS_H
#define SX_REPORT_FORMATS_H

#include "base/text.h"
#include "sextant/result.h"

#include <jansson.h>

/* The format of a tensor at a level, NULL where it has none. */
const sx_tensor_format *sx_format_of(const sx_arch *arch, const sx_problem *problem, int level, int tensor);

enum { SX_FORMAT_NAME_SIZE = SX_MAX_FORMAT_RANKS * 4 + 5 };

/* The names of a format's ranks, outermost first; "none" where it is NULL. */
void sx_format_name(const sx_arch *arch, const sx_tensor_format *format, char text[SX_FORMAT_NAME_SIZE]);

/* Replaces an architecture by the one with the formats that suit the mapping best. */
SX_MUST_USE sx_status sx_formats_settle(const sx_problem *problem, const sx_mapping *mapping,
                                        sx_model_options *options, sx_arch *arch);

/* Adds a sentence about the formats that were chosen where `given` has some. */
void sx_formats_print(const sx_arch *given, const sx_arch *chosen, const sx_problem *problem,
                      const sx_mapping *mapping, sx_text *out);

/* The same as an object: per level, per tensor. */
SX_OWN json_t *sx_formats_object(const sx_arch *given, const sx_arch *chosen, const sx_problem *problem,
                                 const sx_mapping *mapping);

/* That of a layer's best mapping; NULL where formats were not searched or it has no mapping. */
SX_MUST_USE sx_status sx_formats_json(const sx_result *result, size_t layer, SX_OWN json_t **out);

#endif
