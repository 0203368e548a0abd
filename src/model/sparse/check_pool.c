#include "model/sparse/check_pool.h"

#include <pthread.h>
#include <stdlib.h>

enum { MOST_IDLE = 256 }; /* more threads than that make workspaces of their own */

struct sx_check_pool {
    pthread_mutex_t lock;
    size_t n;
    sx_sparse_state *idle[MOST_IDLE];
};

sx_check_pool *sx_check_pool_new(void) {
    sx_check_pool *pool = calloc(1, sizeof *pool);
    if (pool) pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

void sx_check_pool_free(sx_check_pool *pool) {
    if (!pool) return;
    for (size_t i = 0; i < pool->n; i++) sx_sparse_state_free(pool->idle[i]);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

sx_sparse_state *sx_check_pool_borrow(sx_check_pool *pool, const sx_model *model) {
    sx_sparse_state *state = NULL;
    pthread_mutex_lock(&pool->lock);
    if (pool->n) state = pool->idle[--pool->n];
    pthread_mutex_unlock(&pool->lock);
    return state ? state : sx_sparse_state_new(model, false);
}

void sx_check_pool_return(sx_check_pool *pool, sx_sparse_state *state) {
    pthread_mutex_lock(&pool->lock);
    if (pool->n < MOST_IDLE) {
        pool->idle[pool->n++] = state;
        state = NULL;
    }
    pthread_mutex_unlock(&pool->lock);
    sx_sparse_state_free(state);
}
