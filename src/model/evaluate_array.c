/* Mappings are shared out in blocks of a fixed size. */
#include "base/pool.h"
#include "base/status.h"
#include "model/model.h"

#include <stdlib.h>

enum { BLOCK = 512 };

typedef struct array_job {
    const sx_model *model;
    const char *mappings;
    size_t stride, n;
    sx_score *scores;
    sx_verdict *verdicts;
    sx_model_workspace **workspace; /* one per worker */
} array_job;

/* Evaluates block number `index`. */
static void evaluate_block(void *user, size_t index, unsigned worker) {
    array_job *job = user;
    size_t first = index * BLOCK, n = job->n - first < BLOCK ? job->n - first : BLOCK;
    sx_evaluate_span(job->workspace[worker], job->mappings + first * job->stride, job->stride, n,
                     job->scores + first, job->verdicts + first);
}

/* The first mapping that could not be evaluated decides. */
static SX_MUST_USE sx_status first_failure(const array_job *job) {
    const sx_problem *problem = sx_model_problem(job->model);
    for (size_t i = 0; i < job->n; i++)
        if (job->verdicts[i].reason != SX_LEGAL)
            SX_TRY(sx_verdict_status(&job->verdicts[i], problem, sx_model_arch(job->model)));
    return SX_OK;
}

/* Evaluates all blocks by the threads of a pool. */
static SX_MUST_USE sx_status run_job(array_job *job, sx_pool *pool) {
    unsigned n = sx_pool_threads(pool);
    sx_status status = SX_OK;
    job->workspace = calloc(n, sizeof(sx_model_workspace *));
    if (!job->workspace) return sx_error_memory();
    for (unsigned i = 0; i < n && !status; i++)
        status = sx_model_workspace_new(job->model, &job->workspace[i]);
    if (!status) sx_pool_run(pool, (job->n + BLOCK - 1) / BLOCK, evaluate_block, NULL, job);
    for (unsigned i = 0; i < n; i++) sx_model_workspace_free(job->workspace[i]);
    free(job->workspace);
    return status ? status : first_failure(job);
}

sx_status sx_evaluate_array(const sx_model *model, const void *mappings, size_t stride, size_t n,
                            unsigned threads, sx_score *scores, sx_verdict *verdicts) {
    size_t least = sx_mapping_bytes(sx_model_arch(model));
    if (stride < least || stride % _Alignof(sx_mapping))
        return sx_error_new(SX_ERR_USAGE, "mappings are %zu bytes apart; they need %zu, a multiple of %zu",
                            stride, least, _Alignof(sx_mapping));
    if (threads > SX_MAX_THREADS)
        return sx_error_new(SX_ERR_USAGE, "%u threads are more than %d", threads, SX_MAX_THREADS);
    size_t blocks = n / BLOCK + 1;
    sx_pool *pool;
    array_job job = {model, mappings, stride, n, scores, verdicts, NULL};
    SX_TRY(sx_pool_new(threads == 0 ? 1 : threads < blocks ? threads : (unsigned)blocks, &pool));
    sx_status status = run_job(&job, pool);
    sx_pool_free(pool);
    return status;
}
