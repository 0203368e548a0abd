#include "surrogate/encoding.h"

#include <math.h>
#include <stdio.h>

static const double least = 1e-3; /* the ratio that stands for none, as of tensors that bypass a level */

void sx_encoding_of(const sx_map_space *space, sx_encoding *out) {
    int n_dims = space->problem->n_dims;
    size_t n = 0;
    out->n_inputs = (size_t)n_dims + space->space.n_values;
    for (int d = 0; d < n_dims; d++) out->input[d] = (sx_map_value){SX_VALUE_SIZE, 0, (uint8_t)d, 0};
    sx_map_describe(space, out->input + n_dims);
    for (int s = 0; !space->options.keep_all && s < space->arch->n_levels; s++)
        for (unsigned left = space->banked[s]; left; left &= left - 1)
            out->input[out->n_inputs++] =
                (sx_map_value){SX_VALUE_FITS, (uint8_t)s, (uint8_t)__builtin_ctz(left), 0};
    for (int s = 0; s < space->arch->n_levels; s++)
        for (unsigned left = sx_arch_keep_mask(space->arch, s, space->problem); left; left &= left - 1) {
            out->energy[n].level = (uint8_t)s;
            out->energy[n++].tensor = (uint8_t)__builtin_ctz(left);
        }
    out->n_outputs = n + 3;
}

void sx_encode_point(const sx_map_space *space, const void *point, double *out) {
    for (int d = 0; d < space->problem->n_dims; d++) *out++ = log2(space->problem->size[d]);
    sx_space_encode(&space->space, point, out);
    out += space->space.n_values;
    for (int s = 0; !space->options.keep_all && s < space->arch->n_levels; s++)
        for (unsigned left = space->banked[s]; left; left &= left - 1)
            *out++ = sx_map_point(point)->level[s].keep >> __builtin_ctz(left) & 1;
}

static double ratio_to(double value, double minimum) {
    double r = minimum > 0 ? value / minimum : value;
    return log2(r > least ? r : least);
}

void sx_encode_cost(const sx_encoding *encoding, const sx_cost *cost, const sx_score *minimum, double *out) {
    size_t n = encoding->n_outputs - 3;
    for (size_t i = 0; i < n; i++) {
        const sx_cost_level *level = &cost->level[encoding->energy[i].level];
        *out++ = ratio_to(level->tensor[encoding->energy[i].tensor].energy_pj, minimum->energy_pj);
    }
    *out++ = ratio_to(cost->utilization, 1);
    *out++ = ratio_to(cost->energy_pj, minimum->energy_pj);
    *out++ = ratio_to((double)cost->cycles, minimum->cycles);
}
