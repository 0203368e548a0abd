#ifndef SX_FRONTEND_WRITE_LATENCY_SECTION_H
#define SX_FRONTEND_WRITE_LATENCY_SECTION_H

#include "sextant/arch.h"
#include "text/write/write.h"

/* The law of the tile pipeline of a level. */
SX_OWN json_t *sx_law_tree(const sx_law *law);

#endif
