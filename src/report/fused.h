/* A fused network as text for a person and as JSON. */
#ifndef SX_REPORT_FUSED_H
#define SX_REPORT_FUSED_H

#include "base/text.h"
#include "sextant/fused.h"
#include "text/write/write.h"

#include <jansson.h>

/* Adds the groups, the tensors that stay on chip and, with `verbose`, the use of the memory layer by layer. */
void sx_fused_report(const sx_fused *fused, const char *objective, bool verbose, sx_text *out);

/* Adds the tree of loops of every group, and what each tensor on chip saves. */
void sx_fused_explain(const sx_fused *fused, sx_text *out);

/* Adds a fused mapping that was given as JSON: its figures, or why it is illegal. */
SX_MUST_USE sx_status sx_fused_given_json(const sx_fused *fused, sx_text *out);

json_t *sx_fused_json(const sx_fused *fused, const char *objective);

#endif
