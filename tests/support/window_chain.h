/* An oracle for chains with windows: walks every step word by word, and shares nothing with src/fuse/ but the noun. */
#ifndef SX_TESTS_WINDOW_CHAIN_H
#define SX_TESTS_WINDOW_CHAIN_H

#include "looptree/chain.h"

/* Walks a chain; false when memory is out. */
bool sx_chain_execute(const sx_chain *chain, sx_chain_count *count);

#endif
