/* Training a surrogate. */
#ifndef SX_SURROGATE_TRAIN_H
#define SX_SURROGATE_TRAIN_H

#include "learn/trainer.h"
#include "surrogate/samples.h"
#include "surrogate/surrogate.h"

enum { SX_TRAIN_WIDTHS = 32 };

typedef enum sx_train_phase { SX_TRAIN_SAMPLING, SX_TRAIN_STEPS } sx_train_phase;

/* How far the training is. */
typedef struct sx_train_progress {
    sx_train_phase phase;
    uint64_t samples, all_samples; /* of a data set in the making */
    uint64_t step, steps;
    double loss;            /* of the steps since the last progress; NAN: not known yet */
    double held_loss, rank; /* on held-out problems, when last measured; NAN: not yet */
    double samples_per_second;
    double seconds, seconds_left;
} sx_train_progress;

/* How far a data set is that was begun at that time (sx_clock_seconds). */
sx_train_progress sx_train_sampling(double began, uint64_t samples, uint64_t all_samples);

typedef struct sx_train_options {
    sx_samples_options data;         /* whose stream, progress and user are set by the training */
    uint64_t held_problems;          /* held out */
    uint32_t width[SX_TRAIN_WIDTHS]; /* of the hidden layers */
    size_t n_widths;
    sx_surrogate_form form;
    sx_loss loss;
    sx_optimizer_kind optimizer;
    sx_schedule schedule; /* whose period, where it is 0, is all steps */
    size_t batch;
    uint64_t epochs;
    unsigned
        measures; /* how often, at most, loss and rank correlation on held-out problems are measured; at least 1 */
    sx_trainer_device device;
    sx_matrix_backend backend; /* of products on the CPU */
    sx_trainer_precision precision;
    const char *checkpoint; /* a file to resume from and to write at every measure; NULL: none */
    void (*progress)(void *user, const sx_train_progress *progress); /* often; may be NULL */
    void *user;
} sx_train_options;

/* As preset: 1 M samples, 500 mappings a problem; log2; vector; Huber, Adam, cosine. */
void sx_train_options_init(sx_train_options *options);

/* A measure on held-out problems. */
typedef struct sx_train_measure {
    uint64_t step;
    double loss; /* of the training steps before it */
    double held_loss, rank;
} sx_train_measure;

typedef struct sx_train_result {
    sx_surrogate *surrogate; /* the best by held-out loss; NULL where none was measured */
    sx_train_measure *measure;
    size_t n_measures;
    uint64_t samples;
    double sampling_seconds, training_seconds,
        measuring_seconds; /* making samples; steps; held-out problems */
    bool complete, resumed;
} sx_train_result;

/* Makes the data set and trains. What was reached before an error or a cancel is in *out, which is freed with
 * sx_train_result_fini in any case. */
SX_MUST_USE sx_status sx_train(const sx_train_options *options, sx_train_result *out);
void sx_train_result_fini(sx_train_result *result);

#endif
