#include "surrogate/surrogate.h"

#include "base/hash.h"
#include "ir/arch.h"
#include "learn/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double tiny = 1e-3; /* the least that raw numbers are taken to mean, and shares of banks */

size_t sx_surrogate_n_outputs(const sx_surrogate *surrogate) {
    return surrogate->form.edp ? 1 : surrogate->encoding.n_outputs;
}

sx_status sx_arch_hash(const sx_arch *arch, uint64_t *out) {
    sx_arch *copy = sx_arch_copy(arch);
    char *text = NULL;
    if (!copy) return sx_error_memory();
    memset(copy->name, 0, sizeof copy->name);
    copy->name[0] = '-';
    sx_status status = sx_arch_write(copy, SX_JSON_DIGITS, &text);
    free(copy);
    if (status) return status;
    *out = sx_hash_bytes(text, strlen(text), 0);
    free(text);
    return SX_OK;
}

void sx_surrogate_free(sx_surrogate *surrogate) {
    if (!surrogate) return;
    sx_nn_free(surrogate->net);
    free(surrogate->family_text);
    free(surrogate);
}

/* Refuses a net that has not the inputs and outputs that its text says. */
static sx_status check_net(const char *path, const sx_surrogate *s) {
    if (s->net->inputs == s->encoding.n_inputs && s->net->outputs == sx_surrogate_n_outputs(s)) return SX_OK;
    return sx_error_at((sx_place){path, 0, 0},
                       "the net has %u inputs and %u outputs, but its encoding %zu and %zu", s->net->inputs,
                       s->net->outputs, s->encoding.n_inputs, sx_surrogate_n_outputs(s));
}

sx_status sx_surrogate_read(const char *path, sx_surrogate **out) {
    sx_weights weights;
    SX_TRY(sx_weights_read(path, &weights));
    sx_surrogate *s = calloc(1, sizeof *s);
    sx_status status = s ? SX_OK : sx_error_memory();
    if (!status) status = sx_surrogate_parse(path, weights.text, s);
    if (!status) {
        s->net = weights.net;
        weights.net = NULL;
        status = check_net(path, s);
    }
    sx_weights_fini(&weights);
    if (status)
        sx_surrogate_free(s);
    else
        *out = s;
    return status;
}

sx_status sx_surrogate_write(const char *path, const sx_surrogate *surrogate) {
    sx_weights weights = {.net = surrogate->net};
    SX_TRY(sx_surrogate_text(surrogate, &weights.text));
    sx_status status = sx_weights_write(path, &weights);
    free(weights.text);
    return status;
}

double sx_surrogate_number(const sx_surrogate *s, size_t input, double value) {
    uint8_t kind = s->encoding.input[input].kind;
    bool log = kind == SX_VALUE_SIZE || kind == SX_VALUE_FACTOR;
    if (s->form.raw_inputs) return log ? exp2(value) : kind == SX_VALUE_FITS ? 0 : value;
    return kind == SX_VALUE_BANKS ? log2(value > tiny ? value : tiny) : value;
}

double sx_surrogate_value(const sx_surrogate *s, size_t input, double number) {
    uint8_t kind = s->encoding.input[input].kind;
    if (s->form.raw_inputs) return kind == SX_VALUE_FACTOR ? log2(number > tiny ? number : tiny) : number;
    return kind == SX_VALUE_BANKS ? exp2(number) : number;
}

void sx_surrogate_inputs(const sx_surrogate *s, const float *row, float *out) {
    for (size_t i = 0; i < s->encoding.n_inputs; i++)
        out[i] = ((float)sx_surrogate_number(s, i, row[i]) - s->input_mean[i]) / s->input_deviation[i];
}

void sx_surrogate_targets(const sx_surrogate *s, const float *row, float *out) {
    size_t n = sx_surrogate_n_outputs(s), all = s->encoding.n_outputs;
    const float *cost = row + s->encoding.n_inputs;
    for (size_t i = 0; i < n; i++) {
        float value = s->form.edp ? cost[all - 2] + cost[all - 1] : cost[i];
        if (s->form.raw_outputs) value = exp2f(value);
        out[i] = (value - s->output_mean[i]) / s->output_deviation[i];
    }
}

/* log2 of the ratio that an output means. */
static double log_ratio(const sx_surrogate *s, const float *output, size_t index) {
    double value = (double)output[index] * s->output_deviation[index] + s->output_mean[index];
    return s->form.raw_outputs ? log2(value > tiny ? value : tiny) : value;
}

double sx_surrogate_edp(const sx_surrogate *s, const float *output) {
    size_t n = sx_surrogate_n_outputs(s);
    return s->form.edp ? log_ratio(s, output, 0) : log_ratio(s, output, n - 2) + log_ratio(s, output, n - 1);
}
