/* Seeds of a comparison. */
#ifndef SX_CLI_SEEDS_H
#define SX_CLI_SEEDS_H

#include "sextant/status.h"

#include <stddef.h>
#include <stdint.h>

/* Reads --seeds: a count, or a list with commas. *out is to be freed, also after an error. */
SX_MUST_USE sx_status sx_seeds_read(const char *text, uint64_t **out, size_t *n_seeds);

#endif
