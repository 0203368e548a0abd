/* A pool of threads that share out numbered jobs. */
#ifndef SX_BASE_POOL_H
#define SX_BASE_POOL_H

#include "base/status.h"

#include <stddef.h>

enum { SX_MAX_THREADS = 1024 };

typedef struct sx_pool sx_pool;

/* Does job number `index`; `worker` counts the pool's threads, the caller's own being 0. */
typedef void sx_pool_job(void *user, size_t index, unsigned worker);
/* Called between jobs and periodically while waiting, on the caller's thread. */
typedef void sx_pool_idle(void *user);

/* A pool of that many threads (1 to SX_MAX_THREADS) with the caller's, or of as many as the system gives:
 * results do not depend on it. */
SX_MUST_USE sx_status sx_pool_new(unsigned threads, SX_OWN sx_pool **out);
void sx_pool_free(SX_TAKE sx_pool *pool);

/* How many threads it has, with the caller's: workers are numbered below that. */
unsigned sx_pool_threads(const sx_pool *pool);

/* Does jobs 0 to n - 1, begun in that order, and returns when all are done. Called by one thread at a time
 * and never from a job. */
void sx_pool_run(sx_pool *pool, size_t n, sx_pool_job *job, sx_pool_idle *idle, void *user);

#endif
