/* The groups of a whole graph: those that begin with each of its steps. */
#ifndef SX_SUPPORT_ALL_GROUPS_H
#define SX_SUPPORT_ALL_GROUPS_H

#include "fuse/group_chain.h"

void sx_expect_groups(const sx_exchange *exchange, sx_inner *inner, unsigned windows, bool nested,
                      sx_vector *out);

#endif
