/* The checkpoint of a training: the net and its optimizer in one weight file, and beside it, with the ending
 * .best, the best net so far. The text of the first says how far the training is. The best net is written
 * first: of a training that is killed between the two, it is one that the training comes to again. */
#include "surrogate/training.h"

#include "base/file.h"
#include "base/json.h"
#include "base/saved_state.h"
#include "base/text.h"
#include "learn/weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the text of a checkpoint. Format 1 had a hash in the place of the identity. */
enum { FORMAT = 2 };

static const char *yes_or_no(bool value) {
    return value ? "yes" : "no";
}

/* Adds the widths of the hidden layers. */
static void add_widths(const sx_train_options *o, sx_text *text) {
    sx_text widths = {0};
    for (size_t i = 0; i < o->n_widths; i++) sx_text_add(&widths, "%s%u", i ? "," : "", o->width[i]);
    if (widths.failed) text->failed = true;
    sx_identity_add(text, "--hidden", "%s", widths.size && !widths.failed ? widths.data : "");
    sx_text_free(&widths);
}

/* All that decides the weights that a training comes to (base/saved_state.h). */
static sx_status identity_of(const sx_training *t, char **out) {
    const sx_train_options *o = t->options;
    const sx_surrogate *s = t->surrogate;
    sx_text text = {0};
    sx_identity_add(&text, "encoding", "%d", SX_ENCODING_VERSION);
    sx_identity_add_digest(&text, "architecture", s->arch, (unsigned long long)s->arch_hash);
    sx_identity_add(&text, "--family", "%s", s->family_text);
    sx_identity_add(&text, "--remainders", "%s", yes_or_no(s->space.remainders));
    sx_identity_add(&text, "--keep-all", "%s", yes_or_no(s->space.keep_all));
    sx_identity_add(&text, "--no-banks", "%s", yes_or_no(s->space.no_banks));
    sx_identity_add(&text, "--no-first-read-elision", "%s", yes_or_no(s->model.no_first_read_elision));
    sx_identity_add(&text, "--no-link-transfers", "%s", yes_or_no(s->model.no_link_transfers));
    sx_identity_add(&text, "raw-inputs", "%s", yes_or_no(s->form.raw_inputs));
    sx_identity_add(&text, "raw-outputs", "%s", yes_or_no(s->form.raw_outputs));
    sx_identity_add(&text, "--outputs", "%s", s->form.edp ? "edp" : "vector");
    sx_identity_add(&text, "--seed", "%llu", (unsigned long long)o->data.seed);
    sx_identity_add(&text, "problems", "%llu", (unsigned long long)o->data.n_problems);
    sx_identity_add(&text, "--mappings", "%llu", (unsigned long long)o->data.per_problem);
    sx_identity_add(&text, "--held-out", "%llu", (unsigned long long)o->held_problems);
    add_widths(o, &text);
    sx_identity_add(&text, "loss", "%d", (int)o->loss);
    sx_identity_add(&text, "optimizer", "%d", (int)o->optimizer);
    sx_identity_add(&text, "schedule", "%d by %.17g every %llu", (int)o->schedule.kind, o->schedule.factor,
                    (unsigned long long)o->schedule.period);
    sx_identity_add(&text, "--rate", "%.17g", o->schedule.rate);
    sx_identity_add(&text, "--batch-size", "%zu", o->batch);
    sx_identity_add(&text, "--epochs", "%llu", (unsigned long long)o->epochs);
    sx_identity_add(&text, "measures", "%u", o->measures);
    sx_identity_add(&text, "precision", "%d", (int)o->precision);
    return sx_text_take(&text, out);
}

/* What computes the products, where bits differ by it. */
static const char *products_of(const sx_train_options *o) {
    if (o->device == SX_DEVICE_CUDA) return "cuda";
    return sx_matrix_backend_name(o->backend == SX_MATRIX_PLAIN ? SX_MATRIX_OWN : o->backend);
}

/* The path of the best net, beside the checkpoint. */
static sx_status best_path(const sx_training *t, char **out) {
    sx_text text = {0};
    sx_text_add(&text, "%s.best", t->options->checkpoint);
    return sx_text_take(&text, out);
}

/* Writes the best net. */
static sx_status save_best(sx_training *t) {
    char *path;
    SX_TRY(best_path(t, &path));
    sx_surrogate *copy = malloc(sizeof *copy);
    sx_status status = copy ? SX_OK : sx_error_memory();
    if (!status) {
        *copy = *t->surrogate;
        copy->net = t->best;
        copy->record = t->best_record;
        status = sx_surrogate_write(path, copy);
    }
    free(copy);
    free(path);
    return status;
}

/* What the checkpoint says: where the training is, and what it measured. */
static sx_status text_of(const sx_training *t, char **out) {
    char *identity;
    SX_TRY(identity_of(t, &identity));
    json_t *list = json_array();
    for (size_t i = 0; i < t->out->n_measures; i++) {
        const sx_train_measure *m = &t->out->measure[i];
        sx_json_append(list, json_pack("[I, f, f, f]", (json_int_t)m->step, m->loss, m->held_loss, m->rank));
    }
    json_t *o = json_pack("{s:s, s:i, s:o, s:s, s:I, s:o}", "kind", "training", "format", FORMAT, "identity",
                          sx_json_string(identity), "products", products_of(t->options), "step",
                          (json_int_t)t->step, "measures", list);
    free(identity);
    *out = sx_json_print(o, JSON_SORT_KEYS | JSON_COMPACT);
    json_decref(o);
    return *out ? SX_OK : sx_error_memory();
}

sx_status sx_training_save(sx_training *t) {
    sx_weights weights = {.net = t->surrogate->net, .optimizer = t->optimizer};
    SX_TRY(save_best(t));
    SX_TRY(text_of(t, &weights.text));
    sx_status status = sx_weights_write(t->options->checkpoint, &weights);
    free(weights.text);
    return status;
}

static sx_status refuse_checkpoint(const sx_training *t, const char *why) {
    return sx_error_hint(sx_error_at((sx_place){t->options->checkpoint, 0, 0}, "%s", why),
                         "remove it, or give another file");
}

/* Refuses a checkpoint whose steps so far were computed by something else: the bits would be neither's. */
static sx_status check_products(const sx_training *t, const char *were) {
    const char *are = products_of(t->options);
    if (!were || strcmp(were, are) == 0) return SX_OK;
    const char *option = strcmp(were, "cuda") == 0 ? "--device" : "--blas";
    return sx_error_hint(sx_error_at((sx_place){t->options->checkpoint, 0, 0},
                                     "this training was begun with the matrix products of %s, not of %s",
                                     were, are),
                         "resume it with %s %s, or remove the file, or give another", option, were);
}

/* Takes the measures of a checkpoint. */
static sx_status take_measures(sx_training *t, const json_t *list) {
    size_t n = json_array_size(list);
    if (!n) return refuse_checkpoint(t, "the checkpoint is damaged");
    t->out->measure = calloc(n, sizeof *t->out->measure);
    if (!t->out->measure) return sx_error_memory();
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        t->out->measure[i] = (sx_train_measure){
            .step = (uint64_t)json_integer_value(json_array_get(item, 0)),
            .loss = json_number_value(json_array_get(item, 1)),
            .held_loss = json_number_value(json_array_get(item, 2)),
            .rank = json_number_value(json_array_get(item, 3)),
        };
    }
    t->out->n_measures = n;
    return SX_OK;
}

/* Takes the best net that was written beside the checkpoint. */
static sx_status take_best(sx_training *t) {
    char *path;
    sx_surrogate *best;
    SX_TRY(best_path(t, &path));
    sx_status status = sx_surrogate_read(path, &best);
    free(path);
    SX_TRY(status);
    if (!sx_nn_alike(best->net, t->surrogate->net)) {
        sx_surrogate_free(best);
        return refuse_checkpoint(t, "the best net beside the checkpoint belongs to another training");
    }
    t->best = best->net;
    t->best_record = best->record;
    best->net = NULL;
    sx_surrogate_free(best);
    return SX_OK;
}

/* Refuses the checkpoint of another training, or of another format. */
static sx_status check_identity(const sx_training *t, const json_t *o) {
    const char *there = json_string_value(json_object_get(o, "identity")), *path = t->options->checkpoint;
    const json_int_t format =
        json_object_get(o, "key") ? 1 : json_integer_value(json_object_get(o, "format"));
    char what[80], *here;
    if (format != FORMAT && format > 0) {
        snprintf(what, sizeof what, "was written in format %d; this program reads format %d", (int)format,
                 FORMAT);
        return sx_state_refuse(path, what);
    }
    if (!there) return refuse_checkpoint(t, "this is not the checkpoint of a training");
    const sx_saved_state saved = {.identity = there, .identity_size = strlen(there)};
    SX_TRY(identity_of(t, &here));
    sx_status status = sx_state_check(path, &saved, here);
    free(here);
    return status;
}

/* Takes what a checkpoint says, of the same training. */
static sx_status take_text(sx_training *t, const char *text) {
    json_t *o = text ? sx_json_read(text) : NULL;
    json_int_t step = json_integer_value(json_object_get(o, "step"));
    sx_status status = check_identity(t, o);
    if (!status && (step < 0 || (uint64_t)step > t->steps))
        status = refuse_checkpoint(t, "the checkpoint is damaged");
    if (!status) status = check_products(t, json_string_value(json_object_get(o, "products")));
    if (!status) status = take_measures(t, json_object_get(o, "measures"));
    if (!status) t->step = (uint64_t)step;
    json_decref(o);
    return status;
}

sx_status sx_training_resume(sx_training *t) {
    sx_weights weights;
    if (access(t->options->checkpoint, F_OK) != 0) return sx_file_writable(t->options->checkpoint);
    SX_TRY(sx_weights_read(t->options->checkpoint, &weights));
    sx_status status = take_text(t, weights.text);
    if (!status && (!weights.optimizer || !sx_nn_alike(weights.net, t->surrogate->net) ||
                    weights.optimizer->n_state != t->optimizer->n_state))
        status = refuse_checkpoint(t, "this is the checkpoint of another net");
    if (!status) {
        size_t n = weights.net->n_parameters;
        memcpy(t->surrogate->net->parameter, weights.net->parameter, n * sizeof(float));
        memcpy(t->optimizer->state, weights.optimizer->state, weights.optimizer->n_state * sizeof(float));
        t->optimizer->steps = weights.optimizer->steps;
        t->out->resumed = true;
        status = take_best(t);
    }
    sx_weights_fini(&weights);
    return status;
}
