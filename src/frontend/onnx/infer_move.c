/* Shapes of operations that move elements, or make them: constants and shape arithmetic among them. */
#include "frontend/onnx/rules.h"

#include <math.h>
#include <string.h>

enum { TYPE_FLOAT = 1, TYPE_INT64 = 7 };

/* Gives the output the numbers of the first input, in the same order. */
static sx_status copy_data(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_value *value = sx_onnx_input(trace, op, 0);
    if (!value || !value->data || !op->n_outputs || op->output[0] == SX_ONNX_NONE) return SX_OK;
    const sx_onnx_shape *out = &sx_onnx_value_at(trace, op->output[0])->shape;
    if (sx_onnx_elements(out) != sx_onnx_elements(&value->shape)) return SX_OK;
    return sx_onnx_set_data(trace, op, 0, value->data);
}

/* A shape whose extents are numbers. */
static sx_onnx_shape shape_of(const int64_t *extent, int n) {
    sx_onnx_shape shape = {.n = n};
    for (int i = 0; i < n; i++) shape.dim[i] = extent[i];
    return shape;
}

/* Gives the output a list of numbers, or one without ranks. */
static sx_status set_list(sx_onnx_trace *trace, const sx_onnx_op *op, const double *data, int n, bool scalar,
                          int type) {
    sx_onnx_set_type(trace, op, 0, type);
    sx_onnx_set_shape(trace, op, 0, scalar ? (sx_onnx_shape){0} : shape_of((const int64_t[]){n}, 1));
    return sx_onnx_set_data(trace, op, 0, data);
}

sx_status sx_infer_constant(sx_onnx_trace *trace, const sx_onnx_op *op) {
    int64_t ints[64];
    double data[64];
    sx_bytes message;
    sx_onnx_tensor tensor;
    if (sx_onnx_attribute_tensor(op->at, "value", &message)) {
        double *numbers = trace->numbers;
        SX_TRY(sx_onnx_tensor_read(message, &tensor));
        const int64_t n = sx_onnx_elements(&tensor.shape);
        sx_onnx_set_type(trace, op, 0, tensor.type);
        sx_onnx_set_shape(trace, op, 0, tensor.shape);
        const bool few = n >= 0 && n <= SX_ONNX_MAX_DATA && sx_onnx_tensor_data(&tensor, numbers, (size_t)n);
        return few ? sx_onnx_set_data(trace, op, 0, numbers) : SX_OK;
    }
    if (sx_onnx_attribute(op->at, "value_int").data) {
        data[0] = (double)sx_onnx_int(op->at, "value_int", 0);
        return set_list(trace, op, data, 1, true, TYPE_INT64);
    }
    int n = sx_onnx_ints(op->at, "value_ints", ints, 64);
    for (int i = 0; i < n; i++) data[i] = (double)ints[i];
    if (n >= 0 && n < 64) return set_list(trace, op, data, n, false, TYPE_INT64);
    n = sx_onnx_floats(op->at, "value_float", data, 1);
    if (n == 1) return set_list(trace, op, data, 1, true, TYPE_FLOAT);
    n = sx_onnx_floats(op->at, "value_floats", data, 64);
    return n >= 0 && n < 64 ? set_list(trace, op, data, n, false, TYPE_FLOAT) : SX_OK;
}

sx_status sx_infer_shape(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *from = sx_onnx_input_shape(trace, op, 0);
    double data[SX_MAX_RANKS];
    sx_onnx_set_type(trace, op, 0, TYPE_INT64);
    if (from->n < 0) return SX_OK;
    int64_t start = sx_onnx_int(op->at, "start", 0), end = sx_onnx_int(op->at, "end", from->n);
    start = start < 0 ? start + from->n : start;
    end = end < 0 ? end + from->n : end > from->n ? from->n : end;
    start = start < 0 ? 0 : start;
    int n = 0;
    bool known = true;
    for (int64_t i = start; i < end; i++) {
        known &= from->dim[i] >= 0;
        data[n++] = (double)from->dim[i];
    }
    if (known) return set_list(trace, op, data, n, false, TYPE_INT64);
    sx_onnx_set_shape(trace, op, 0, shape_of((const int64_t[]){n}, 1));
    return SX_OK;
}

sx_status sx_infer_size(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const double n = (double)sx_onnx_elements(sx_onnx_input_shape(trace, op, 0));
    sx_onnx_set_type(trace, op, 0, TYPE_INT64);
    sx_onnx_set_shape(trace, op, 0, (sx_onnx_shape){0});
    return n >= 0 ? sx_onnx_set_data(trace, op, 0, &n) : SX_OK;
}

sx_status sx_infer_constant_of_shape(sx_onnx_trace *trace, const sx_onnx_op *op) {
    int64_t extent[SX_MAX_RANKS];
    double *data = trace->numbers, value = 0;
    sx_bytes message;
    sx_onnx_tensor tensor = {.type = TYPE_FLOAT};
    const int n = sx_onnx_input_ints(trace, op, 0, extent, SX_MAX_RANKS);
    bool known = true;
    if (sx_onnx_attribute_tensor(op->at, "value", &message)) {
        SX_TRY(sx_onnx_tensor_read(message, &tensor));
        known = sx_onnx_tensor_data(&tensor, &value, 1);
    }
    sx_onnx_set_type(trace, op, 0, tensor.type);
    if (n < 0) return SX_OK;
    const sx_onnx_shape shape = shape_of(extent, n);
    sx_onnx_set_shape(trace, op, 0, shape);
    const int64_t elements = sx_onnx_elements(&shape);
    if (!known || elements < 0 || elements > SX_ONNX_MAX_DATA) return SX_OK;
    for (int64_t i = 0; i < elements; i++) data[i] = value;
    return sx_onnx_set_data(trace, op, 0, data);
}

/* The shape wanted of Reshape: the second input, or the attribute of old versions. */
static int wanted_shape(const sx_onnx_trace *trace, const sx_onnx_op *op, int64_t *extent) {
    return op->n_inputs > 1 ? sx_onnx_input_ints(trace, op, 1, extent, SX_MAX_RANKS)
                            : sx_onnx_ints(op->at, "shape", extent, SX_MAX_RANKS);
}

sx_status sx_infer_reshape(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *from = sx_onnx_input_shape(trace, op, 0);
    const bool zero = sx_onnx_int(op->at, "allowzero", 0) != 0;
    const int64_t elements = sx_onnx_elements(from);
    int64_t extent[SX_MAX_RANKS], others = 1;
    const int n = wanted_shape(trace, op, extent);
    int open = -1, n_open = 0;
    sx_onnx_copy_type(trace, op, 0, 0);
    if (n < 0) return SX_OK;
    for (int i = 0; i < n; i++) {
        if (extent[i] == 0 && !zero) extent[i] = i < from->n ? from->dim[i] : -2;
        if (extent[i] == -1) {
            open = i;
            n_open++;
        } else {
            others = sx_onnx_times(others, extent[i]);
        }
    }
    if (n_open == 1 && elements >= 0 && others > 0 && elements % others == 0)
        extent[open] = elements / others;
    sx_onnx_set_shape(trace, op, 0, shape_of(extent, n));
    return copy_data(trace, op);
}

sx_status sx_infer_flatten(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *from = sx_onnx_input_shape(trace, op, 0);
    int64_t axis = sx_onnx_int(op->at, "axis", 1);
    sx_onnx_copy_type(trace, op, 0, 0);
    if (from->n < 0) return SX_OK;
    axis = axis < 0 ? axis + from->n : axis;
    if (axis < 0 || axis > from->n) return SX_OK;
    sx_onnx_shape front = *from, back = {.n = from->n - (int)axis};
    front.n = (int)axis;
    memcpy(back.dim, from->dim + axis, (size_t)back.n * sizeof *back.dim);
    sx_onnx_set_shape(trace, op, 0,
                      shape_of((const int64_t[]){sx_onnx_elements(&front), sx_onnx_elements(&back)}, 2));
    return copy_data(trace, op);
}

/* The axes of an operation, from its second input or its attribute; -1 where it has none or they are not known. */
static int list_axes(const sx_onnx_trace *trace, const sx_onnx_op *op, int64_t *axes, bool *given) {
    *given = op->n_inputs > 1 && op->input[1] != SX_ONNX_NONE;
    if (*given) return sx_onnx_input_ints(trace, op, 1, axes, SX_MAX_RANKS);
    const int n = sx_onnx_ints(op->at, "axes", axes, SX_MAX_RANKS);
    *given = n >= 0;
    return n;
}

sx_status sx_infer_squeeze(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *from = sx_onnx_input_shape(trace, op, 0);
    int64_t axes[SX_MAX_RANKS];
    bool given, removed[SX_MAX_RANKS] = {false};
    const int n = list_axes(trace, op, axes, &given);
    sx_onnx_shape shape = {0};
    sx_onnx_copy_type(trace, op, 0, 0);
    if (from->n < 0 || (given && n < 0) || (!given && !sx_onnx_known(from))) return SX_OK;
    for (int i = 0; i < from->n && !given; i++) removed[i] = from->dim[i] == 1;
    for (int i = 0; i < n; i++) {
        const int axis = sx_onnx_axis(from, axes[i]);
        if (axis < 0) return SX_OK;
        removed[axis] = true;
    }
    for (int i = 0; i < from->n; i++)
        if (!removed[i]) shape.dim[shape.n++] = from->dim[i];
    sx_onnx_set_shape(trace, op, 0, shape);
    return copy_data(trace, op);
}

sx_status sx_infer_unsqueeze(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *from = sx_onnx_input_shape(trace, op, 0);
    int64_t axes[SX_MAX_RANKS];
    bool given, added[SX_MAX_RANKS] = {false};
    const int n = list_axes(trace, op, axes, &given);
    sx_onnx_copy_type(trace, op, 0, 0);
    if (from->n < 0 || n < 0 || from->n + n > SX_MAX_RANKS) return SX_OK;
    sx_onnx_shape shape = {.n = from->n + n};
    for (int i = 0; i < n; i++) {
        const int axis = sx_onnx_axis(&shape, axes[i]);
        if (axis < 0 || added[axis]) return SX_OK;
        added[axis] = true;
    }
    for (int i = 0, k = 0; i < shape.n; i++) shape.dim[i] = added[i] ? 1 : from->dim[k++];
    sx_onnx_set_shape(trace, op, 0, shape);
    return copy_data(trace, op);
}

sx_status sx_infer_transpose(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *from = sx_onnx_input_shape(trace, op, 0);
    int64_t order[SX_MAX_RANKS];
    const int n = sx_onnx_ints(op->at, "perm", order, SX_MAX_RANKS);
    sx_onnx_copy_type(trace, op, 0, 0);
    if (from->n < 0 || (n >= 0 && n != from->n)) return SX_OK;
    sx_onnx_shape shape = *from;
    for (int i = 0; i < from->n; i++) {
        const int axis = n < 0 ? from->n - 1 - i : sx_onnx_axis(from, order[i]);
        if (axis < 0) return SX_OK;
        shape.dim[i] = from->dim[axis];
    }
    sx_onnx_set_shape(trace, op, 0, shape);
    return from->n < 2 ? copy_data(trace, op) : SX_OK;
}

sx_status sx_infer_concat(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_shape shape = *sx_onnx_input_shape(trace, op, 0);
    const int axis = sx_onnx_axis(&shape, sx_onnx_int(op->at, "axis", 0));
    double *data = trace->numbers;
    size_t n = 0;
    bool known = shape.n == 1;
    sx_onnx_copy_type(trace, op, 0, 0);
    if (axis < 0) return SX_OK;
    shape.dim[axis] = 0;
    for (size_t i = 0; i < op->n_inputs; i++) {
        const sx_onnx_value *value = sx_onnx_input(trace, op, i);
        const int64_t extent = value && value->shape.n == shape.n ? value->shape.dim[axis] : -1;
        shape.dim[axis] = extent < 0 || shape.dim[axis] < 0 ? -1 : shape.dim[axis] + extent;
        known = known && extent >= 0 && value->data && n + (size_t)extent <= SX_ONNX_MAX_DATA;
        if (shape.dim[axis] > SX_ONNX_MAX_EXTENT) shape.dim[axis] = -1;
        if (known && extent) memcpy(data + n, value->data, (size_t)extent * sizeof *data);
        if (known) n += (size_t)extent;
    }
    sx_onnx_set_shape(trace, op, 0, shape);
    return known ? sx_onnx_set_data(trace, op, 0, data) : SX_OK;
}

/* Takes the elements of a list that indices name, where both are known. */
static sx_status gather_data(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_value *from = sx_onnx_input(trace, op, 0);
    int64_t *index = trace->whole;
    double *data = trace->numbers;
    if (!from->data || from->shape.n != 1) return SX_OK;
    const int n = sx_onnx_input_ints(trace, op, 1, index, SX_ONNX_MAX_DATA);
    for (int i = 0; i < n; i++) {
        const int64_t extent = from->shape.dim[0], at = index[i] < 0 ? index[i] + extent : index[i];
        if (at < 0 || at >= extent) return SX_OK;
        data[i] = from->data[at];
    }
    return n >= 0 ? sx_onnx_set_data(trace, op, 0, data) : SX_OK;
}

sx_status sx_infer_gather(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *from = sx_onnx_input_shape(trace, op, 0), *index = sx_onnx_input_shape(trace, op, 1);
    const int axis = sx_onnx_axis(from, sx_onnx_int(op->at, "axis", 0));
    sx_onnx_copy_type(trace, op, 0, 0);
    if (axis < 0 || index->n < 0 || from->n - 1 + index->n > SX_MAX_RANKS) return SX_OK;
    sx_onnx_shape shape = {0};
    for (int i = 0; i < axis; i++) shape.dim[shape.n++] = from->dim[i];
    for (int i = 0; i < index->n; i++) shape.dim[shape.n++] = index->dim[i];
    for (int i = axis + 1; i < from->n; i++) shape.dim[shape.n++] = from->dim[i];
    sx_onnx_set_shape(trace, op, 0, shape);
    return gather_data(trace, op);
}

sx_status sx_infer_gather_elements(sx_onnx_trace *trace, const sx_onnx_op *op) {
    sx_onnx_copy_type(trace, op, 0, 0);
    sx_onnx_set_shape(trace, op, 0, *sx_onnx_input_shape(trace, op, 1));
    return SX_OK;
}

sx_status sx_infer_gather_nd(sx_onnx_trace *trace, const sx_onnx_op *op) {
    const sx_onnx_shape *from = sx_onnx_input_shape(trace, op, 0), *index = sx_onnx_input_shape(trace, op, 1);
    const int64_t batch = sx_onnx_int(op->at, "batch_dims", 0);
    sx_onnx_copy_type(trace, op, 0, 0);
    if (from->n < 0 || index->n < 1 || batch < 0) return SX_OK;
    const int64_t depth = index->dim[index->n - 1], rest = from->n - batch - depth;
    if (depth < 0 || rest < 0 || index->n - 1 + rest > SX_MAX_RANKS) return SX_OK;
    sx_onnx_shape shape = {0};
    for (int i = 0; i < index->n - 1; i++) shape.dim[shape.n++] = index->dim[i];
    for (int64_t i = batch + depth; i < from->n; i++) shape.dim[shape.n++] = from->dim[i];
    sx_onnx_set_shape(trace, op, 0, shape);
    return SX_OK;
}

sx_status sx_infer_range(sx_onnx_trace *trace, const sx_onnx_op *op) {
    double limit[3], *data = trace->numbers;
    sx_onnx_copy_type(trace, op, 0, 0);
    sx_onnx_set_shape(trace, op, 0, shape_of((const int64_t[]){-1}, 1));
    for (size_t i = 0; i < 3; i++) {
        const sx_onnx_value *value = sx_onnx_input(trace, op, i);
        if (!value || !value->data || sx_onnx_elements(&value->shape) != 1) return SX_OK;
        limit[i] = value->data[0];
    }
    const double n = ceil((limit[1] - limit[0]) / limit[2]);
    if (!(n < 0x1p40)) return SX_OK;
    const int64_t count = n > 0 ? (int64_t)n : 0;
    sx_onnx_set_shape(trace, op, 0, shape_of(&count, 1));
    if (count > SX_ONNX_MAX_DATA) return SX_OK;
    for (int64_t i = 0; i < count; i++) data[i] = limit[0] + (double)i * limit[2];
    return sx_onnx_set_data(trace, op, 0, data);
}
