/* Workspaces of legality checks of sparse mappings: each is made once and used again by any thread, so that a
 * check allocates nothing once there are as many as threads. */
#ifndef SX_MODEL_SPARSE_CHECK_POOL_H
#define SX_MODEL_SPARSE_CHECK_POOL_H

#include "model/sparse/pass.h"

typedef struct sx_check_pool sx_check_pool;

/* NULL when memory is out. */
SX_OWN sx_check_pool *sx_check_pool_new(void);
void sx_check_pool_free(SX_TAKE sx_check_pool *pool);

/* A workspace for a model, which goes back to the pool with sx_check_pool_return; NULL when memory is out. */
sx_sparse_state *sx_check_pool_borrow(sx_check_pool *pool, const sx_model *model);
void sx_check_pool_return(sx_check_pool *pool, sx_sparse_state *state);

#endif
