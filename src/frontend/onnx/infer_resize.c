/* Shapes of operations that take parts of a tensor, or repeat, pad or resize it. */
#include "frontend/onnx/rules.h"

#include <math.h>
#include <string.h>

enum { TYPE_INT64 = 7 };

/* Reads a list from an input or, in old versions, from the attribute of that name; -1 where it is not known. */
static int list_of(const sx_onnx_trace *trace, const sx_onnx_op *op, size_t input, const char *name,
                   int64_t *out) {
    if (input < op->n_inputs && op->input[input] != SX_ONNX_NONE)
        return sx_onnx_input_ints(trace, op, input, out, SX_MAX_RANKS);
    return sx_onnx_ints(op->at, name, out, SX_MAX_RANKS);
}

/* Whether a list is given, as an input or as an attribute. */
static bool has_list(const sx_onnx_op *op, size_t input, const char *name) {
    return (input < op->n_inputs && op->input[input] != SX_ONNX_NONE) || sx_onnx_attribute(op->at, name).data;
}

static int64_t clamp_index(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* What a slice takes of a rank: elements first, first + step, ... */
typedef struct cut {
    int64_t first, step, n;
} cut;

/* The cut that start, end and step make of an extent. */
static cut cut_of(int64_t extent, int64_t start, int64_t end, int64_t step) {
    start = start < 0 ? start + extent : start;
    end = end < 0 ? end + extent : end;
    start = clamp_index(start, 0, step > 0 ? extent : extent - 1);
    end = clamp_index(end, step > 0 ? 0 : -1, step > 0 ? extent : extent - 1);
    const int64_t span = step > 0 ? end - start : start - end, size = step > 0 ? step : -step;
    return (cut){start, step, span > 0 ? (span - 1) / size + 1 : 0};
}

/* Takes a part of the numbers of a list. */
static sx_status slice_data(sx_onnx_trace *trace, const sx_onnx_op *op, cut part) {
    const sx_onnx_value *from = sx_onnx_input(trace, op, 0);
    double *data = trace->numbers;
    if (!from->data || from->shape.n != 1) return SX_OK;
    for (int64_t i = 0; i < part.n; i++) data[i] = from->data[part.first + i * part.step];
    return sx_onnx_set_data(trace, op, 0, data);
}

sx_status sx_infer_slice(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_shape shape = *sx_onnx_input_shape(trace, op, 0);
    int64_t start[SX_MAX_RANKS], end[SX_MAX_RANKS], axes[SX_MAX_RANKS], steps[SX_MAX_RANKS];
    const int n = list_of(trace, op, 1, "starts", start), n_end = list_of(trace, op, 2, "ends", end);
    const int n_axes = list_of(trace, op, 3, "axes", axes), n_steps = list_of(trace, op, 4, "steps", steps);
    const bool axes_lost = n_axes < 0 && has_list(op, 3, "axes"),
               steps_lost = n_steps < 0 && has_list(op, 4, "steps");
    cut part = {0};
    sx_onnx_copy_type(trace, op, 0, 0);
    if (shape.n < 0 || axes_lost) return SX_OK;
    if (n < 0 || n_end != n || (n_axes >= 0 && n_axes != n) || (n_steps >= 0 && n_steps != n) || steps_lost) {
        const bool all = n_axes < 0;
        for (int i = 0; i < shape.n && all; i++) shape.dim[i] = -1;
        for (int i = 0; i < n_axes; i++) {
            const int axis = sx_onnx_axis(&shape, axes[i]);
            if (axis >= 0) shape.dim[axis] = -1;
        }
        sx_onnx_set_shape(trace, op, 0, shape);
        return SX_OK;
    }
    for (int i = 0; i < n; i++) {
        const int axis = sx_onnx_axis(&shape, n_axes < 0 ? i : axes[i]);
        const int64_t step = n_steps < 0 ? 1 : steps[i];
        if (axis < 0 || step == 0) return SX_OK;
        if (shape.dim[axis] < 0) continue;
        part = cut_of(shape.dim[axis], start[i], end[i], step);
        shape.dim[axis] = part.n;
    }
    sx_onnx_set_shape(trace, op, 0, shape);
    return n == 1 ? slice_data(trace, op, part) : SX_OK;
}

/* Gives output i of Split a part of the numbers of a list. */
static sx_status split_data(sx_onnx_trace *trace, const sx_onnx_op *op, size_t i, int64_t first, int64_t n) {
    const sx_onnx_value *from = sx_onnx_input(trace, op, 0);
    if (!from->data || from->shape.n != 1 || first + n > from->shape.dim[0]) return SX_OK;
    return sx_onnx_set_data(trace, op, i, from->data + first);
}

sx_status sx_infer_split(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_shape shape = *sx_onnx_input_shape(trace, op, 0);
    const int axis = sx_onnx_axis(&shape, sx_onnx_int(op->at, "axis", 0));
    const int64_t extent = axis < 0 ? -1 : shape.dim[axis], parts = (int64_t)op->n_outputs;
    int64_t *sizes = trace->whole, first = 0;
    int n = op->n_inputs > 1 && op->input[1] != SX_ONNX_NONE
                ? sx_onnx_input_ints(trace, op, 1, sizes, SX_ONNX_MAX_DATA)
                : sx_onnx_ints(op->at, "split", sizes, SX_ONNX_MAX_DATA);
    const bool even = n < 0 && !has_list(op, 1, "split");
    if (axis < 0 || !parts) return SX_OK;
    const int64_t chunk = extent < 0 ? -1 : (extent + parts - 1) / parts;
    for (size_t i = 0; i < op->n_outputs; i++) {
        int64_t size = even ? chunk : (int64_t)i < n ? sizes[i] : -1;
        if (even && size >= 0 && first + size > extent) size = extent > first ? extent - first : 0;
        shape.dim[axis] = size;
        sx_onnx_copy_type(trace, op, 0, i);
        sx_onnx_set_shape(trace, op, i, shape);
        if (size < 0 || first < 0)
            first = -1;
        else
            SX_TRY(split_data(trace, op, i, first, size));
        if (first >= 0) first += size;
    }
    return SX_OK;
}

sx_status sx_infer_expand(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *from = sx_onnx_input_shape(trace, op, 0);
    const sx_onnx_value *value = sx_onnx_input(trace, op, 0);
    int64_t extent[SX_MAX_RANKS];
    const int n = sx_onnx_input_ints(trace, op, 1, extent, SX_MAX_RANKS);
    sx_onnx_copy_type(trace, op, 0, 0);
    if (from->n < 0 || n < 0) return SX_OK;
    sx_onnx_shape shape = {.n = n > from->n ? n : from->n};
    for (int i = 0; i < shape.n; i++) {
        const int64_t a = i < from->n ? from->dim[from->n - 1 - i] : 1, b = i < n ? extent[n - 1 - i] : 1;
        shape.dim[shape.n - 1 - i] = b == 1 ? a : b;
    }
    sx_onnx_set_shape(trace, op, 0, shape);
    const int64_t elements = sx_onnx_elements(&shape);
    if (!value->data || sx_onnx_elements(from) != 1 || elements < 0 || elements > SX_ONNX_MAX_DATA)
        return SX_OK;
    double *data = trace->numbers;
    for (int64_t i = 0; i < elements; i++) data[i] = value->data[0];
    return sx_onnx_set_data(trace, op, 0, data);
}

sx_status sx_infer_tile(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_shape shape = *sx_onnx_input_shape(trace, op, 0);
    int64_t repeats[SX_MAX_RANKS];
    const int n = sx_onnx_input_ints(trace, op, 1, repeats, SX_MAX_RANKS);
    sx_onnx_copy_type(trace, op, 0, 0);
    for (int i = 0; i < shape.n; i++)
        shape.dim[i] = n == shape.n ? sx_onnx_times(shape.dim[i], repeats[i]) : -1;
    sx_onnx_set_shape(trace, op, 0, shape);
    return SX_OK;
}

sx_status sx_infer_pad(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_shape shape = *sx_onnx_input_shape(trace, op, 0);
    int64_t pads[2 * SX_MAX_RANKS], axes[SX_MAX_RANKS];
    int n = op->n_inputs > 1 ? sx_onnx_input_ints(trace, op, 1, pads, 2 * SX_MAX_RANKS)
                             : sx_onnx_ints(op->at, "pads", pads, 2 * SX_MAX_RANKS);
    const bool some = op->n_inputs > 3 && op->input[3] != SX_ONNX_NONE;
    const int n_axes = some ? sx_onnx_input_ints(trace, op, 3, axes, SX_MAX_RANKS) : shape.n;
    sx_onnx_copy_type(trace, op, 0, 0);
    if (n >= 0 && n != 2 * n_axes) n = -1;
    for (int i = 0; i < shape.n && n < 0; i++) shape.dim[i] = -1;
    for (int i = 0; n >= 0 && i < n_axes; i++) {
        const int axis = sx_onnx_axis(&shape, some ? axes[i] : i);
        if (axis < 0) return SX_OK;
        if (shape.dim[axis] >= 0) shape.dim[axis] += pads[i] + pads[i + n_axes];
    }
    sx_onnx_set_shape(trace, op, 0, shape);
    return SX_OK;
}

/* The factors of Resize: an input (the second of Upsample and of old versions of Resize), or an attribute. */
static const double *scales_of(const sx_onnx_trace *trace, const sx_onnx_op *op, int n,
                               double room[SX_MAX_RANKS]) {
    const size_t last = op->n_inputs < 3 ? 1 : 2;
    const sx_onnx_value *value = sx_onnx_input(trace, op, last);
    if (value && value->data && sx_onnx_elements(&value->shape) == n) return value->data;
    return sx_onnx_floats(op->at, "scales", room, SX_MAX_RANKS) == n ? room : NULL;
}

sx_status sx_infer_resize(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_shape shape = *sx_onnx_input_shape(trace, op, 0);
    int64_t sizes[SX_MAX_RANKS], axes[SX_MAX_RANKS];
    double room[SX_MAX_RANKS];
    sx_onnx_copy_type(trace, op, 0, 0);
    if (shape.n < 0) return SX_OK;
    int n = sx_onnx_ints(op->at, "axes", axes, SX_MAX_RANKS);
    const bool some = n >= 0;
    n = some ? n : shape.n;
    const double *scales = scales_of(trace, op, n, room);
    const bool sized = op->n_inputs > 3 && sx_onnx_input_ints(trace, op, 3, sizes, SX_MAX_RANKS) == n;
    for (int i = 0; i < n; i++) {
        const int axis = sx_onnx_axis(&shape, some ? axes[i] : i);
        if (axis < 0) return SX_OK;
        const double scaled =
            scales && shape.dim[axis] >= 0 ? floor((double)shape.dim[axis] * scales[i]) : -1;
        shape.dim[axis] = sized ? sizes[i] : scaled >= 0 && scaled < 0x1p40 ? (int64_t)scaled : -1;
    }
    sx_onnx_set_shape(trace, op, 0, shape);
    return SX_OK;
}

sx_status sx_infer_one_hot(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *from = sx_onnx_input_shape(trace, op, 0);
    int64_t depth = -1;
    sx_onnx_copy_type(trace, op, 2, 0);
    if (from->n < 0 || from->n == SX_MAX_RANKS) return SX_OK;
    sx_onnx_shape shape = {.n = from->n + 1};
    const int axis = sx_onnx_axis(&shape, sx_onnx_int(op->at, "axis", -1));
    if (axis < 0) return SX_OK;
    if (sx_onnx_input_ints(trace, op, 1, &depth, 1) != 1) depth = -1;
    for (int i = 0, k = 0; i < shape.n; i++) shape.dim[i] = i == axis ? depth : from->dim[k++];
    sx_onnx_set_shape(trace, op, 0, shape);
    return SX_OK;
}

sx_status sx_infer_top_k(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_shape shape = *sx_onnx_input_shape(trace, op, 0);
    const int axis = sx_onnx_axis(&shape, sx_onnx_int(op->at, "axis", -1));
    int64_t k = sx_onnx_int(op->at, "k", -1);
    sx_onnx_copy_type(trace, op, 0, 0);
    sx_onnx_set_type(trace, op, 1, TYPE_INT64);
    if (axis < 0) return SX_OK;
    if (op->n_inputs > 1 && sx_onnx_input_ints(trace, op, 1, &k, 1) != 1) k = -1;
    shape.dim[axis] = k;
    for (size_t i = 0; i < 2; i++) sx_onnx_set_shape(trace, op, i, shape);
    return SX_OK;
}

/* Moves blocks of elements between channels and the plane. */
static sx_status move_blocks(sx_onnx_trace *trace, const sx_onnx_op *op, bool to_plane) {
    sx_onnx_shape shape = *sx_onnx_input_shape(trace, op, 0);
    const int64_t block = sx_onnx_int(op->at, "blocksize", 0);
    sx_onnx_copy_type(trace, op, 0, 0);
    if (shape.n != 4 || block < 1 || block > 1 << 20) return SX_OK;
    for (int i = 1; i < 4; i++) {
        const int64_t factor = i == 1 ? block * block : block;
        if (shape.dim[i] < 0) continue;
        shape.dim[i] = (i == 1) == to_plane ? shape.dim[i] / factor : sx_onnx_times(shape.dim[i], factor);
    }
    sx_onnx_set_shape(trace, op, 0, shape);
    return SX_OK;
}

sx_status sx_infer_depth_to_space(sx_onnx_trace *trace, const sx_onnx_op *op) {
    return move_blocks(trace, op, true);
}

sx_status sx_infer_space_to_depth(sx_onnx_trace *trace, const sx_onnx_op *op) {
    return move_blocks(trace, op, false);
}
