/* The keys of files of chips. */
#ifndef SX_PLACEMENT_CHIP_READ_H
#define SX_PLACEMENT_CHIP_READ_H

#include "frontend/keys.h"

extern const sx_keys sx_keys_chip, sx_keys_chip_memory;
sx_keys sx_chip_rate_keys(sx_key_rule rule[SX_MOST_KEYS]);

#endif
