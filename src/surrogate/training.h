/* What the files of the training share. */
#ifndef SX_SURROGATE_TRAINING_H
#define SX_SURROGATE_TRAINING_H

#include "surrogate/train.h"

/* Rows in the form that a net is trained with. */
typedef struct sx_train_rows {
    float *input, *target;
    size_t n;
} sx_train_rows;

/* Makes the rows of n samples from `first` on; frees them. */
SX_MUST_USE sx_status sx_train_rows_new(const sx_surrogate *surrogate, const sx_samples *samples,
                                        uint64_t first, size_t n, sx_pool *pool, sx_train_rows *out);
void sx_train_rows_free(sx_train_rows *rows);

/* Sets means and deviations of inputs and outputs from samples spread over the data set. */
SX_MUST_USE sx_status sx_normalise(sx_surrogate *surrogate, const sx_samples *samples);

/* A training under way. */
typedef struct sx_training {
    const sx_train_options *options;
    sx_train_result *out;
    sx_samples *samples, *held;
    sx_surrogate *surrogate; /* with the net that is trained */
    sx_nn *best;
    sx_surrogate_record best_record;
    sx_optimizer *optimizer;
    sx_pool *pool;
    sx_matrix_engine *engine;
    sx_trainer *trainer;
    sx_nn_pass *pass;
    sx_train_rows block, held_rows;
    bool whole;        /* a block is the whole data set */
    uint64_t block_at; /* which block is loaded; UINT64_MAX: none */
    uint64_t step, steps, resumed_at;
    double loss_sum, began;
    uint64_t loss_steps;
} sx_training;

/* Writes the checkpoint; takes up one that is there. */
SX_MUST_USE sx_status sx_training_save(sx_training *training);
SX_MUST_USE sx_status sx_training_resume(sx_training *training);

#endif
