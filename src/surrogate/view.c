#include "surrogate/view.h"

#include "base/status.h"
#include "mapspace/map_parts.h"
#include "model/capacity.h"
#include "surrogate/match.h"

#include <math.h>
#include <stdlib.h>

static const double tiny = 1e-3; /* the least that raw outputs are taken to mean */

/* Gives an error the cure that helps against all misfits. */
static SX_ERROR sx_status hint_train(sx_status error, const sx_map_space *space) {
    const sx_map_space_options *o = &space->options;
    return sx_error_hint(error, "train one for this space with `sextant train --arch %s --family ...%s%s%s`",
                         space->arch->name, o->keep_all ? " --keep-all" : "",
                         o->remainders ? " --remainders" : "", o->no_banks ? " --no-banks" : "");
}

sx_status sx_view_no_split(void) {
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "surrogates know no dimensions on both axes of an array"),
                         "leave out --split-axes, or use another mapper");
}

/* Refuses a surrogate of another architecture or space. */
static sx_status check_space(const sx_surrogate *s, const sx_map_space *space) {
    const sx_map_space_options *o = &space->options;
    const char *why = NULL;
    uint64_t hash;
    SX_TRY(sx_arch_hash(space->arch, &hash));
    if (s->arch_hash != hash)
        return hint_train(sx_error_new(SX_ERR_USAGE,
                                       "the surrogate was trained for another architecture: %s, not this %s",
                                       s->arch, space->arch->name),
                          space);
    if (s->space.keep_all && !o->keep_all) why = "for mappings that keep every tensor (--keep-all)";
    if (s->space.remainders != o->remainders)
        why = s->space.remainders ? "with remainders" : "without remainders";
    if (s->space.no_banks != o->no_banks) why = s->space.no_banks ? "without banks" : "with banks";
    if (o->split_axes) return sx_view_no_split();
    if (!why) return SX_OK;
    return hint_train(sx_error_new(SX_ERR_USAGE, "the surrogate was trained %s", why), space);
}

/* The error for a problem that is not of the surrogate's family. */
static sx_status other_problem(const sx_surrogate *s, const sx_map_space *space) {
    sx_status error = sx_error_new(
        SX_ERR_USAGE, "the surrogate was trained for problems of the family %s, and '%s' is not one of them",
        s->family, space->problem->name);
    return sx_error_hint(error, "they are %s", s->family_text);
}

/* The number of the space's vector of a kind that an input is; -1: none. */
static int find_value(const sx_map_value *input, uint8_t kind, uint8_t which, const sx_map_value *value,
                      size_t n) {
    for (size_t i = 0; i < n; i++)
        if (value[i].kind == kind && value[i].level == input->level && value[i].which == which &&
            value[i].spatial == input->spatial)
            return (int)i;
    return -1;
}

/* The number of the vector that decides whether a tensor is kept: its share of the banks, or a bit of its own. */
static int find_keep(const sx_map_value *input, uint8_t which, const sx_map_value *value, size_t n) {
    int share = find_value(input, SX_VALUE_BANKS, which, value, n);
    return share >= 0 ? share : find_value(input, SX_VALUE_KEEP, which, value, n);
}

/* What a net takes for a value of input `i`. */
static float normal_input(const sx_surrogate *s, size_t i, double value) {
    return (float)((sx_surrogate_number(s, i, value) - s->input_mean[i]) / s->input_deviation[i]);
}

/* Sets an input that is no number of the vector: the size of a dimension, what the space always keeps, or the
 * mean. */
static void fix_input(sx_view *view, size_t i) {
    const sx_map_value *input = &view->surrogate->encoding.input[i];
    const sx_map_space *space = view->space;
    if (input->kind == SX_VALUE_SIZE)
        view->fixed[i] = normal_input(view->surrogate, i, log2(space->problem->size[view->which[i]]));
    else if (input->kind == SX_VALUE_KEEP && input->level < space->arch->n_levels)
        view->fixed[i] =
            normal_input(view->surrogate, i, space->fixed_keep[input->level] >> view->which[i] & 1);
    else
        view->fixed[i] = 0;
}

/* Finds where every input comes from. */
static sx_status find_sources(sx_view *view, const sx_match *match) {
    const sx_encoding *e = &view->surrogate->encoding;
    size_t n = view->space->space.n_values;
    sx_map_value *value = calloc(n + 1, sizeof *value);
    if (!value) return sx_error_memory();
    sx_map_describe(view->space, value);
    for (size_t i = 0; i < e->n_inputs; i++) {
        const sx_map_value *input = &e->input[i];
        uint8_t which = view->which[i] =
            sx_value_of_tensor(input) ? match->tensor[input->which] : match->dim[input->which];
        view->source[i] = input->kind == SX_VALUE_FITS ? find_keep(input, which, value, n)
                                                       : find_value(input, input->kind, which, value, n);
        if (view->source[i] < 0) fix_input(view, i);
    }
    free(value);
    return SX_OK;
}

/* Sets how the objective is made of the outputs. */
static sx_status set_objective(sx_view *view, const sx_objective *objective, const sx_model *model) {
    const sx_criterion *c = &objective->criterion[0];
    sx_score minimum = sx_model_algorithmic_minimum(model);
    if (c->kind == SX_PRODUCT) {
        view->energy_power = c->energy_power;
        view->delay_power = c->delay_power;
    } else if (c->kind == SX_UTILIZATION) {
        view->utilization_power = -1;
    } else {
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "a surrogate does not predict this objective"),
                             "it predicts energy, delay, products of them, and utilization");
    }
    if (view->surrogate->form.edp && (c->kind != SX_PRODUCT || c->energy_power != c->delay_power))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "this surrogate predicts nothing but EDP"),
                             "train one with --outputs vector");
    view->minimum = view->energy_power * log2(minimum.energy_pj) + view->delay_power * log2(minimum.cycles);
    return SX_OK;
}

sx_status sx_view_init(const sx_surrogate *surrogate, const sx_map_space *space,
                       const sx_objective *objective, bool anyway, sx_view *out) {
    sx_match match;
    *out = (sx_view){.surrogate = surrogate, .space = space};
    if (!anyway) SX_TRY(check_space(surrogate, space));
    if (!sx_problem_match(&surrogate->problem, space->problem, &match))
        return other_problem(surrogate, space);
    SX_TRY(find_sources(out, &match));
    return set_objective(out, objective, space->model);
}

/* Whether a point keeps the tensor of an input at its level; a level that is not there keeps all. */
static bool is_kept(const sx_view *view, const void *point, size_t i) {
    uint8_t level = view->surrogate->encoding.input[i].level;
    return level >= view->space->arch->n_levels ||
           sx_map_point(point)->level[level].keep >> view->which[i] & 1;
}

void sx_view_inputs(const sx_view *view, const void *point, const double *values, float *input) {
    const sx_surrogate *s = view->surrogate;
    for (size_t i = 0; i < s->encoding.n_inputs; i++) {
        if (s->encoding.input[i].kind == SX_VALUE_FITS)
            input[i] = normal_input(s, i, is_kept(view, point, i));
        else
            input[i] = view->source[i] >= 0 ? normal_input(s, i, values[view->source[i]]) : view->fixed[i];
    }
}

/* The banks of a level that a tensor's tile needs. */
static double banks_of(const sx_map_space *space, const void *point, int level, int tensor) {
    uint32_t extent[SX_MAX_DIMS];
    for (int d = 0; d < space->problem->n_dims; d++) extent[d] = 1;
    for (int s = 0; s <= level; s++) sx_map_extents(space, &sx_map_point(point)->level[s], extent);
    double words = (double)sx_shape_words(&space->model->shape[tensor], extent);
    return sx_level_banks(&space->model->level[level], tensor, words);
}

/* Deals out the banks of a level to the tensors that are to be kept there, by what their tiles need. */
static void deal_banks(const sx_view *view, const void *point, int level, unsigned keep, double *values) {
    const sx_map_space *space = view->space;
    double need[SX_MAX_TENSORS] = {0}, sum = 0;
    for (unsigned left = keep & space->banked[level]; left; left &= left - 1) {
        int v = __builtin_ctz(left);
        sum += need[v] = banks_of(space, point, level, v);
    }
    if (sum > space->arch->level[level].banks) sum = space->arch->level[level].banks;
    for (size_t i = 0; i < view->surrogate->encoding.n_inputs; i++) {
        const sx_map_value *input = &view->surrogate->encoding.input[i];
        if (input->kind != SX_VALUE_FITS || input->level != level || view->source[i] < 0) continue;
        values[view->source[i]] = sum > 0 ? need[view->which[i]] / sum : 0;
    }
}

/* Sets what decides which tensors are kept at the levels where a step changes that. */
static void set_kept(const sx_view *view, const void *point, const float *input, double *values) {
    const sx_surrogate *s = view->surrogate;
    unsigned flipped[SX_MAX_LEVELS] = {0};
    for (size_t i = 0; i < s->encoding.n_inputs; i++) {
        const sx_map_value *at = &s->encoding.input[i];
        if (at->kind != SX_VALUE_FITS || view->source[i] < 0) continue;
        bool kept = (double)input[i] * s->input_deviation[i] + s->input_mean[i] >= 0.5;
        if (kept == is_kept(view, point, i)) continue;
        if (view->space->banked[at->level] >> view->which[i] & 1)
            flipped[at->level] |= 1u << view->which[i];
        else
            values[view->source[i]] = kept;
    }
    for (int l = 0; l < view->space->arch->n_levels; l++)
        if (flipped[l]) deal_banks(view, point, l, sx_map_point(point)->level[l].keep ^ flipped[l], values);
}

void sx_view_values(const sx_view *view, const void *point, const float *input, double *values) {
    const sx_surrogate *s = view->surrogate;
    for (size_t i = 0; i < s->encoding.n_inputs; i++) {
        if (view->source[i] < 0 || s->encoding.input[i].kind == SX_VALUE_FITS) continue;
        double number = (double)input[i] * s->input_deviation[i] + s->input_mean[i];
        values[view->source[i]] = sx_surrogate_value(s, i, number);
    }
    if (!s->form.raw_inputs) set_kept(view, point, input, values);
}

/* What an output means: a ratio or its logarithm. */
static double meant_output(const sx_surrogate *s, const float *output, size_t i) {
    double value = (double)output[i] * s->output_deviation[i] + s->output_mean[i];
    if (s->form.raw_outputs && !(value > tiny)) value = tiny;
    return value;
}

static double log_ratio(const sx_surrogate *s, const float *output, size_t i) {
    double value = meant_output(s, output, i);
    return s->form.raw_outputs ? log2(value) : value;
}

/* log2 of the predicted objective over that of the minimum. */
static double log_objective(const sx_view *view, const float *output) {
    const sx_surrogate *s = view->surrogate;
    size_t n = sx_surrogate_n_outputs(s);
    if (s->form.edp) return view->energy_power * log_ratio(s, output, 0);
    return view->utilization_power * log_ratio(s, output, n - 3) +
           view->energy_power * log_ratio(s, output, n - 2) + view->delay_power * log_ratio(s, output, n - 1);
}

double sx_view_predict(const sx_view *view, const float *output) {
    return view->minimum + log_objective(view, output);
}

/* The gradient of 2^(power * log2 ratio) times the rest of the objective, with respect to an output. */
static float output_slope(const sx_surrogate *s, const float *output, size_t i, double power,
                          double objective) {
    double per = s->form.raw_outputs ? 1 / meant_output(s, output, i) : 0.69314718055994531;
    return (float)(objective * power * per * s->output_deviation[i]);
}

void sx_view_gradient(const sx_view *view, const float *output, bool sum, float *gradient) {
    const sx_surrogate *s = view->surrogate;
    size_t n = sx_surrogate_n_outputs(s);
    for (size_t i = 0; i < n; i++) gradient[i] = sum;
    if (sum) return;
    double objective = exp2(log_objective(view, output));
    if (s->form.edp) {
        gradient[0] = output_slope(s, output, 0, view->energy_power, objective);
        return;
    }
    gradient[n - 3] = output_slope(s, output, n - 3, view->utilization_power, objective);
    gradient[n - 2] = output_slope(s, output, n - 2, view->energy_power, objective);
    gradient[n - 1] = output_slope(s, output, n - 1, view->delay_power, objective);
}
