/* `sextant place --allocate`: offsets of the buffers of a CSV file. */
#ifndef SX_CLI_ALLOCATE_H
#define SX_CLI_ALLOCATE_H

#include "cli/command.h"

/* Nodes of a search for offsets where no limit is given. */
#define SX_ALLOCATE_NODES 2000000

/* Reads --align: 1 where it is not given. */
SX_MUST_USE sx_status sx_allocate_align(const sx_args *args, uint64_t *align);

/* Answers `sextant place --allocate`. */
SX_MUST_USE sx_status sx_allocate_file(const sx_args *args, sx_output *result);

#endif
