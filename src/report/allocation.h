/* Offsets of buffers in a memory: what was found, in a sentence and as JSON. */
#ifndef SX_REPORT_ALLOCATION_H
#define SX_REPORT_ALLOCATION_H

#include "placement/addresses/buffers.h"

/* Adds a sentence about the buffers of a file, without an end of line; capacity 0: none was given. */
void sx_allocation_print(const sx_allocation *found, size_t n_buffers, uint64_t capacity, sx_text *out);

/* Adds everything as JSON. The keys are promises: more may be added, none renamed. */
SX_MUST_USE sx_status sx_allocation_json(const sx_buffers *buffers, const sx_allocate_options *options,
                                         const sx_allocation *found, bool clock, sx_text *out);

#endif
