/* The sparse optimizations of an architecture as a tree. */
#ifndef SX_FRONTEND_WRITE_SPARSE_SECTION_H
#define SX_FRONTEND_WRITE_SPARSE_SECTION_H

#include "text/write/write.h"

/* The sparse optimizations of an architecture. */
SX_OWN json_t *sx_sparse_tree(const sx_arch *arch);

#endif
