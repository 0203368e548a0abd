/* Numbers of a sweep: a range that doubles, or a list. */
#ifndef SX_CLI_SWEEP_RANGE_H
#define SX_CLI_SWEEP_RANGE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { SX_MAX_SWEEP = 64 };

typedef struct sx_sweep_range {
    size_t n;
    uint64_t value[SX_MAX_SWEEP];
} sx_sweep_range;

/* Reads LOW:HIGH, which doubles from LOW on and ends with HIGH, or numbers with commas; each may end in k (1,024) or m.
 * `option` is for messages. */
SX_MUST_USE sx_status sx_sweep_range_read(const char *option, const char *text, uint64_t most,
                                          sx_sweep_range *out);

#endif
