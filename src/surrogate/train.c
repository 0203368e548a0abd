/* Training a surrogate: Mind Mappings (ASPLOS 2021), sections 4.1 and 5.5.
 *
 * What differs. Inputs and targets are logarithms, the net is small, and Adam with a cosine schedule trains
 * it: with the same number of updates the error of log2 EDP is a fourth of that with the paper's raw values.
 * A small net with small batches is preset because it comes farther in a minute of one processor than a large
 * one.
 * The data set is visited in blocks of BLOCK samples: each epoch visits all blocks in a random order, and the
 * samples of a block in a random order, so that memory holds one block only (on a GPU, all of them where they fit).
 * Order and batches follow from
 * the seed and the number of the step, so that a training that was interrupted goes on to the same weights. */
#include "surrogate/training.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "base/ranks.h"
#include "base/status.h"
#include "base/vector.h"
#include "surrogate/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1000000, TOLD_STEPS = 16 };
static const uint64_t resident = (uint64_t)8 << 30; /* bytes of rows that a GPU holds at once */

void sx_train_options_init(sx_train_options *options) {
    *options = (sx_train_options){
        .data = {.n_problems = 2000, .per_problem = 500, .threads = 1},
        .held_problems = 40,
        .width = {64, 128, 128, 64},
        .n_widths = 4,
        .loss = SX_LOSS_HUBER,
        .optimizer = SX_ADAM,
        .schedule = {.kind = SX_SCHEDULE_COSINE, .rate = 3e-3, .factor = 0.001},
        .batch = 64,
        .epochs = 5,
        .measures = 20,
    };
}

void sx_train_result_fini(sx_train_result *result) {
    sx_surrogate_free(result->surrogate);
    free(result->measure);
    *result = (sx_train_result){0};
}

sx_train_progress sx_train_sampling(double began, uint64_t samples, uint64_t all_samples) {
    sx_train_progress p = {.phase = SX_TRAIN_SAMPLING, .samples = samples, .all_samples = all_samples};
    p.seconds = sx_clock_seconds() - began;
    p.samples_per_second = p.seconds > 0 ? (double)samples / p.seconds : 0;
    p.seconds_left = samples > 0 ? p.seconds * (double)(all_samples - samples) / (double)samples : INFINITY;
    p.loss = p.held_loss = p.rank = NAN;
    return p;
}

/* Passes on how far a data set is. */
static void tell_samples(void *user, uint64_t samples) {
    const sx_training *t = user;
    uint64_t problems = t->samples ? t->options->held_problems : t->options->data.n_problems;
    sx_train_progress p = sx_train_sampling(t->began, samples, problems * t->options->data.per_problem);
    t->options->progress(t->options->user, &p);
}

/* Makes one of the two data sets. */
static sx_status make_samples(sx_training *t, const char *stream, uint64_t problems, sx_samples **out) {
    sx_samples_options o = t->options->data;
    o.stream = stream;
    o.n_problems = problems;
    o.progress = t->options->progress ? tell_samples : NULL;
    o.user = t;
    t->began = sx_clock_seconds();
    sx_status status = sx_samples_new(&o, out);
    t->out->sampling_seconds += sx_clock_seconds() - t->began;
    return status;
}

/* Makes the surrogate that is trained: what it is for, and its net. */
static sx_status make_surrogate(sx_training *t) {
    const sx_train_options *o = t->options;
    sx_surrogate *s = t->surrogate = calloc(1, sizeof *s);
    if (!s) return sx_error_memory();
    memcpy(s->arch, o->data.arch->name, sizeof s->arch);
    memcpy(s->family, o->data.family->name, sizeof s->family);
    SX_TRY(sx_arch_hash(o->data.arch, &s->arch_hash));
    SX_TRY(sx_family_text(o->data.family, &s->family_text));
    s->problem = o->data.family->problem;
    s->space = o->data.space;
    s->model = o->data.model;
    s->form = o->form;
    s->encoding = *sx_samples_encoding(t->samples);
    SX_TRY(sx_normalise(s, t->samples));
    uint32_t width[SX_TRAIN_WIDTHS + 2] = {(uint32_t)s->encoding.n_inputs};
    memcpy(width + 1, o->width, o->n_widths * sizeof *width);
    width[o->n_widths + 1] = (uint32_t)sx_surrogate_n_outputs(s);
    SX_TRY(sx_nn_new_mlp(width, o->n_widths + 2, SX_NN_RELU, SX_NN_KINDS, &s->net));
    sx_nn_initialise(s->net, SX_NN_HE, o->data.seed);
    return SX_OK;
}

/* How many samples a block has. */
static size_t block_size(const sx_training *t, uint64_t block) {
    uint64_t left = sx_samples_count(t->samples) - block * BLOCK;
    return (size_t)(left < BLOCK ? left : BLOCK);
}

/* How many steps a block has in an epoch. */
static uint64_t steps_of(const sx_training *t, uint64_t block) {
    return block_size(t, block) / t->options->batch;
}

static uint64_t n_blocks(const sx_training *t) {
    return (sx_samples_count(t->samples) + BLOCK - 1) / BLOCK;
}

/* Makes all that a step needs. */
static sx_status prepare_steps(sx_training *t) {
    const sx_train_options *o = t->options;
    const sx_optimizer_options options = sx_optimizer_defaults(o->optimizer);
    const sx_trainer_options trainer = {o->device, o->precision, o->loss, o->batch};
    SX_TRY(make_surrogate(t));
    SX_TRY(sx_pool_new(o->data.threads ? o->data.threads : 1, &t->pool));
    SX_TRY(sx_matrix_engine_new(o->backend, t->pool, &t->engine));
    SX_TRY(sx_optimizer_new(&options, t->surrogate->net->n_parameters, &t->optimizer));
    SX_TRY(sx_train_rows_new(t->surrogate, t->held, 0, (size_t)sx_samples_count(t->held), t->pool,
                             &t->held_rows));
    SX_TRY(sx_nn_pass_new(t->surrogate->net, t->engine, (size_t)o->data.per_problem, &t->pass));
    for (uint64_t b = 0; b < n_blocks(t); b++) t->steps += steps_of(t, b);
    t->steps *= o->epochs;
    t->block_at = UINT64_MAX;
    if (o->checkpoint) SX_TRY(sx_training_resume(t));
    return sx_trainer_new(t->surrogate->net, t->optimizer, t->engine, &trainer, &t->trainer);
}

/* Steps from one measure to the next: at least as many samples are trained on as are held out, so that measuring takes less
 * than the steps do. */
static uint64_t steps_per_measure(const sx_training *t) {
    uint64_t share = t->steps / t->options->measures, batch = t->options->batch;
    uint64_t least = (t->held_rows.n + batch - 1) / batch;
    return share > least ? share : least;
}

/* Loss and rank correlation on the held-out problems. */
static sx_status measure_held_out(sx_training *t, double *loss, double *rank) {
    const sx_surrogate *s = t->surrogate;
    size_t each = (size_t)t->options->data.per_problem, n = t->held_rows.n / each;
    size_t inputs = s->encoding.n_inputs, outputs = sx_surrogate_n_outputs(s);
    double *predicted = malloc(2 * each * sizeof *predicted), *is = predicted + each;
    sx_status status = predicted ? SX_OK : sx_error_memory();
    double loss_sum = 0, rank_sum = 0, began = sx_clock_seconds();
    for (size_t p = 0; !status && p < n; p++) {
        const float *target = t->held_rows.target + p * each * outputs;
        const float *output = sx_nn_forward(t->pass, t->held_rows.input + p * each * inputs, each);
        loss_sum += sx_loss_of(t->options->loss, output, target, each * outputs, NULL);
        for (size_t i = 0; i < each; i++) {
            predicted[i] = sx_surrogate_edp(s, output + i * outputs);
            is[i] = sx_surrogate_edp(s, target + i * outputs);
        }
        double one = 0;
        status = sx_rank_correlation(predicted, is, each, &one);
        rank_sum += one;
    }
    free(predicted);
    t->out->measuring_seconds += sx_clock_seconds() - began;
    *loss = loss_sum / (double)n;
    *rank = rank_sum / (double)n;
    return status;
}

/* Adds the loss of the steps since the last call to what the next measure will report; an error where it is no
 * longer a number. */
static sx_status take_loss(sx_training *t, uint64_t steps, double *out) {
    SX_TRY(sx_trainer_loss(t->trainer, out));
    if (!isfinite(*out))
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT,
                                          "the loss is no longer a finite number after step %llu",
                                          (unsigned long long)t->step),
                             "use a smaller --rate or --loss huber; raw targets need smaller rates than "
                             "logarithms");
    t->loss_sum += *out * (double)steps;
    t->loss_steps += steps;
    return SX_OK;
}

/* Keeps the net where it is the best so far. */
static sx_status keep_best(sx_training *t, const sx_train_measure *m) {
    if (t->best && m->held_loss >= t->best_record.held_loss) return SX_OK;
    sx_nn *copy;
    SX_TRY(sx_nn_copy(t->surrogate->net, &copy));
    sx_nn_free(t->best);
    t->best = copy;
    t->best_record = (sx_surrogate_record){.samples = sx_samples_count(t->samples),
                                           .seed = t->options->data.seed,
                                           .steps = t->step,
                                           .held_loss = m->held_loss,
                                           .rank = m->rank};
    strcpy(t->best_record.loss, sx_loss_name(t->options->loss));
    return SX_OK;
}

/* Measures on held-out problems, and keeps what is to be kept. */
static sx_status measure_training(sx_training *t) {
    sx_train_result *out = t->out;
    sx_train_measure m = {.step = t->step};
    m.loss = t->loss_sum / (double)t->loss_steps;
    t->loss_sum = 0;
    t->loss_steps = 0;
    SX_TRY(sx_trainer_sync(t->trainer));
    SX_TRY(measure_held_out(t, &m.held_loss, &m.rank));
    size_t room = out->n_measures;
    if (!sx_reserve(&out->measure, &room, room + 1, sizeof m)) return sx_error_memory();
    out->measure[out->n_measures++] = m;
    SX_TRY(keep_best(t, &m));
    return t->options->checkpoint ? sx_training_save(t) : SX_OK;
}

/* Measures a training that was interrupted before its first measure, so that it has a result; its checkpoint
 * would not go on to the same weights. */
static sx_status measure_early(sx_training *t) {
    sx_train_measure m = {.step = t->step};
    SX_TRY(sx_trainer_sync(t->trainer));
    SX_TRY(sx_trainer_loss(t->trainer, &m.loss));
    SX_TRY(measure_held_out(t, &m.held_loss, &m.rank));
    return keep_best(t, &m);
}

/* Says how far the training is. */
static void tell_progress(const sx_training *t, double loss) {
    if (!t->options->progress) return;
    const sx_train_measure *last = t->out->n_measures ? &t->out->measure[t->out->n_measures - 1] : NULL;
    uint64_t done = t->step - t->resumed_at;
    sx_train_progress p = {.phase = SX_TRAIN_STEPS, .step = t->step, .steps = t->steps, .loss = loss};
    p.held_loss = last ? last->held_loss : NAN;
    p.rank = last ? last->rank : NAN;
    p.seconds = sx_clock_seconds() - t->began;
    p.samples_per_second = (double)(done * t->options->batch) / (p.seconds - t->out->measuring_seconds);
    p.seconds_left = done ? p.seconds * (double)(t->steps - t->step) / (double)done : INFINITY;
    t->options->progress(t->options->user, &p);
}

/* One step on a batch, with all that is due after it. */
static sx_status make_step(sx_training *t, const uint32_t *row) {
    const sx_train_options *o = t->options;
    sx_schedule schedule = o->schedule;
    double loss;
    if (!schedule.period) schedule.period = t->steps;
    uint64_t every = steps_per_measure(t);
    SX_TRY(sx_trainer_step(t->trainer, row, (float)sx_schedule_rate(&schedule, t->step)));
    t->step++;
    bool due = t->step % every == 0 || t->step == t->steps;
    uint64_t since = due ? t->step % every ? t->step % every : every : t->step % every;
    if (since % TOLD_STEPS == 0 || due) {
        uint64_t steps = since % TOLD_STEPS ? since % TOLD_STEPS : TOLD_STEPS;
        SX_TRY(take_loss(t, steps, &loss));
        tell_progress(t, loss);
    }
    return due ? measure_training(t) : SX_OK;
}

/* Makes a block the one that batches are taken from, or, on a GPU, all blocks where they fit. */
static sx_status load_block(sx_training *t, uint64_t block) {
    if (t->block_at == block || (t->whole && t->block_at != UINT64_MAX)) return SX_OK;
    uint64_t all = sx_samples_count(t->samples),
             width = t->surrogate->net->inputs + t->surrogate->net->outputs;
    t->whole = t->options->device == SX_DEVICE_CUDA && all * width * sizeof(float) <= resident;
    size_t n = t->whole ? (size_t)all : block_size(t, block);
    sx_train_rows_free(&t->block);
    t->block_at = UINT64_MAX;
    SX_TRY(sx_train_rows_new(t->surrogate, t->samples, t->whole ? 0 : block * BLOCK, n, t->pool, &t->block));
    t->block_at = block;
    return sx_trainer_data(t->trainer, t->block.input, t->block.target, n);
}

/* Puts the numbers first to first + n - 1 in a random order. */
static void shuffle_numbers(sx_rng *rng, uint32_t *number, size_t n, uint64_t first) {
    for (size_t i = 0; i < n; i++) number[i] = (uint32_t)(first + i);
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)sx_rng_below(rng, i);
        uint32_t swap = number[i - 1];
        number[i - 1] = number[j];
        number[j] = swap;
    }
}

/* The steps of one block in one epoch, of which the first `skip` were made before. */
static sx_status train_block(sx_training *t, uint64_t epoch, uint64_t block, uint64_t skip, uint32_t *order) {
    const sx_train_options *o = t->options;
    uint64_t n = steps_of(t, block);
    SX_TRY(load_block(t, block));
    sx_rng rng = sx_rng_stream(o->data.seed, "train.order", epoch * n_blocks(t) + block);
    shuffle_numbers(&rng, order, block_size(t, block), t->whole ? block * BLOCK : 0);
    for (uint64_t i = skip; i < n && !sx_is_cancelled(o->data.cancel); i++)
        SX_TRY(make_step(t, order + i * o->batch));
    return SX_OK;
}

/* The steps of one epoch that are not made yet; *at counts the steps before it. */
static sx_status train_epoch(sx_training *t, uint64_t epoch, uint64_t *at, uint32_t *blocks,
                             uint32_t *order) {
    sx_rng rng = sx_rng_stream(t->options->data.seed, "train.blocks", epoch);
    shuffle_numbers(&rng, blocks, (size_t)n_blocks(t), 0);
    for (uint64_t i = 0; i < n_blocks(t) && !sx_is_cancelled(t->options->data.cancel); i++) {
        uint64_t n = steps_of(t, blocks[i]), skip = t->step > *at ? t->step - *at : 0;
        if (skip < n) SX_TRY(train_block(t, epoch, blocks[i], skip, order));
        *at += n;
    }
    return SX_OK;
}

/* All steps. */
static sx_status train_steps(sx_training *t) {
    uint64_t all = sx_samples_count(t->samples), at = 0;
    uint32_t *order = malloc((size_t)(all < BLOCK ? all : BLOCK) * sizeof *order);
    uint32_t *blocks = malloc((size_t)n_blocks(t) * sizeof *blocks);
    sx_status status = order && blocks ? SX_OK : sx_error_memory();
    t->began = sx_clock_seconds();
    t->resumed_at = t->step;
    for (uint64_t e = 0; !status && e < t->options->epochs && !sx_is_cancelled(t->options->data.cancel); e++)
        status = train_epoch(t, e, &at, blocks, order);
    t->out->training_seconds = sx_clock_seconds() - t->began - t->out->measuring_seconds;
    free(order);
    free(blocks);
    return status;
}

/* Hands over the best net. */
static void hand_over(sx_training *t) {
    if (!t->best || !t->surrogate) return;
    sx_nn_free(t->surrogate->net);
    t->surrogate->net = t->best;
    t->surrogate->record = t->best_record;
    t->out->surrogate = t->surrogate;
    t->best = NULL;
    t->surrogate = NULL;
}

static void training_fini(sx_training *t) {
    sx_trainer_free(t->trainer);
    sx_nn_pass_free(t->pass);
    hand_over(t);
    sx_optimizer_free(t->optimizer);
    sx_matrix_engine_free(t->engine);
    sx_pool_free(t->pool);
    sx_train_rows_free(&t->block);
    sx_train_rows_free(&t->held_rows);
    sx_nn_free(t->best);
    sx_surrogate_free(t->surrogate);
    sx_samples_free(t->samples);
    sx_samples_free(t->held);
}

/* Refuses sizes that cannot be trained with. */
static sx_status check_options(const sx_train_options *o) {
    uint64_t samples = o->data.n_problems * o->data.per_problem;
    if (o->batch < 1 || samples < o->batch)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "%llu samples are fewer than a batch of %zu",
                                          (unsigned long long)samples, o->batch),
                             "more --samples or a smaller --batch-size");
    return SX_OK;
}

/* Makes both data sets; false where that was cancelled. */
static sx_status make_data(sx_training *t, bool *whole) {
    const sx_train_options *o = t->options;
    *whole = false;
    SX_TRY(make_samples(t, "train", o->data.n_problems, &t->samples));
    t->out->samples = sx_samples_count(t->samples);
    if (!sx_samples_complete(t->samples)) return SX_OK;
    SX_TRY(make_samples(t, "held", o->held_problems, &t->held));
    *whole = sx_samples_complete(t->held);
    return SX_OK;
}

sx_status sx_train(const sx_train_options *options, sx_train_result *out) {
    sx_training t = {.options = options, .out = out};
    bool whole = false;
    *out = (sx_train_result){0};
    SX_TRY(check_options(options));
    sx_status status = make_data(&t, &whole);
    if (!status && sx_ranks_follows(options->data.ranks)) status = sx_ranks_finish(options->data.ranks);
    if (!status && whole) status = prepare_steps(&t);
    if (!status && whole) status = train_steps(&t);
    if (!status && whole && !t.best && t.step > 0) status = measure_early(&t);
    out->complete = !status && whole && t.step == t.steps;
    training_fini(&t);
    return status;
}
