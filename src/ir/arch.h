/* What the layers above read off an architecture. */
#ifndef SX_IR_ARCH_H
#define SX_IR_ARCH_H

#include "sextant/arch.h"

/* The words that tiles may take at a level; INFINITY where it has no limit. */
double sx_usable_words(const sx_storage *level);

#endif
