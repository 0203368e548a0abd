/* Samples in the form that a net is trained with. */
#include "surrogate/training.h"

#include <math.h>
#include <stdlib.h>

enum {
    NORMALISED = 100000, /* samples that means and deviations are taken from */
    PART = 5000          /* rows of a job */
};

/* Rows that are being made. */
typedef struct rows_job {
    const sx_surrogate *surrogate;
    const sx_samples *samples;
    uint64_t first;
    sx_train_rows rows;
} rows_job;

/* A job: some of the rows. */
static void make_part(void *user, size_t index, unsigned worker) {
    const rows_job *job = user;
    size_t inputs = job->surrogate->encoding.n_inputs, outputs = sx_surrogate_n_outputs(job->surrogate);
    size_t end = (index + 1) * PART < job->rows.n ? (index + 1) * PART : job->rows.n;
    (void)worker;
    for (size_t i = index * PART; i < end; i++) {
        const float *row = sx_samples_row(job->samples, job->first + i);
        sx_surrogate_inputs(job->surrogate, row, job->rows.input + i * inputs);
        sx_surrogate_targets(job->surrogate, row, job->rows.target + i * outputs);
    }
}

sx_status sx_train_rows_new(const sx_surrogate *surrogate, const sx_samples *samples, uint64_t first,
                            size_t n, sx_pool *pool, sx_train_rows *out) {
    size_t inputs = surrogate->encoding.n_inputs, outputs = sx_surrogate_n_outputs(surrogate);
    rows_job job = {surrogate, samples, first, {.input = malloc(n * inputs * sizeof(float)), .n = n}};
    job.rows.target = malloc(n * outputs * sizeof(float));
    if (!job.rows.input || !job.rows.target) {
        sx_train_rows_free(&job.rows);
        return sx_error_memory();
    }
    sx_pool_run(pool, (n + PART - 1) / PART, make_part, NULL, &job);
    *out = job.rows;
    return SX_OK;
}

void sx_train_rows_free(sx_train_rows *rows) {
    free(rows->input);
    free(rows->target);
    *rows = (sx_train_rows){0};
}

/* The mean of column `c` of n rows, and its deviation, 1 where the column is constant. */
static void normalise_column(const float *value, size_t n, size_t width, size_t c, float *mean,
                             float *deviation) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) sum += value[i * width + c];
    sum /= (double)n;
    for (size_t i = 0; i < n; i++) {
        double away = value[i * width + c] - sum;
        squares += away * away;
    }
    double spread = sqrt(squares / (double)n);
    *mean = (float)sum;
    *deviation = spread > 1e-6 ? (float)spread : 1;
}

sx_status sx_normalise(sx_surrogate *s, const sx_samples *samples) {
    uint64_t all = sx_samples_count(samples);
    size_t n = all < NORMALISED ? (size_t)all : NORMALISED;
    size_t inputs = s->encoding.n_inputs, outputs = sx_surrogate_n_outputs(s);
    float *input = malloc(n * inputs * sizeof *input), *target = malloc(n * outputs * sizeof *target);
    sx_status status = input && target ? SX_OK : sx_error_memory();
    for (size_t i = 0; i < inputs; i++) s->input_mean[i] = 0, s->input_deviation[i] = 1;
    for (size_t i = 0; i < outputs; i++) s->output_mean[i] = 0, s->output_deviation[i] = 1;
    for (size_t i = 0; !status && i < n; i++) {
        const float *row = sx_samples_row(samples, i * (all / n));
        sx_surrogate_inputs(s, row, input + i * inputs);
        sx_surrogate_targets(s, row, target + i * outputs);
    }
    for (size_t i = 0; !status && i < inputs; i++)
        normalise_column(input, n, inputs, i, &s->input_mean[i], &s->input_deviation[i]);
    for (size_t i = 0; !status && i < outputs; i++)
        normalise_column(target, n, outputs, i, &s->output_mean[i], &s->output_deviation[i]);
    free(input);
    free(target);
    return status;
}
