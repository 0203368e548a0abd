/* Which allocation fails. */
#ifndef SX_MEMORY_FAIL_H
#define SX_MEMORY_FAIL_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct sx_failing {
    _Atomic long *asked; /* how many allocations were asked for; NULL: nobody counts, and none fails */
    long at;             /* the one that fails, from 1; 0: none */
    bool all_after;      /* all after it fail too */
} sx_failing;

extern sx_failing sx_failure;

void sx_allocation_fails(void);

#endif
