/* The table of operations: what is known of each, one row for each name. */
#include "frontend/onnx/build.h"

#include <math.h>

/* What an operation does to one element of each input; where it has one input, b is a. */
#define NUMBER(name, value)                                                                                  \
    static double name(double a, double b) {                                                                 \
        (void)a, (void)b;                                                                                    \
        return value;                                                                                        \
    }
NUMBER(add_numbers, a + b)
NUMBER(subtract_numbers, a - b)
NUMBER(multiply_numbers, (a * b))
NUMBER(divide_numbers, b != 0 ? a / b : 0)
NUMBER(remainder_of, b != 0 ? a - floor(a / b) * b : 0) /* with the sign of the divisor */
NUMBER(power_of, pow(a, b))
NUMBER(least_number, a < b ? a : b)
NUMBER(largest_number, a > b ? a : b)
NUMBER(is_equal, a == b)
NUMBER(is_less, a < b)
NUMBER(is_greater, a > b)
NUMBER(at_most, a <= b)
NUMBER(at_least, a >= b)
NUMBER(both_hold, a != 0 && b != 0)
NUMBER(either_holds, a != 0 || b != 0)
NUMBER(does_not_hold, a == 0)
NUMBER(negative_of, -a)
NUMBER(magnitude_of, fabs(a))
NUMBER(round_down, floor(a))
NUMBER(round_up, ceil(a))
NUMBER(square_root, sqrt(a))
NUMBER(same_number, a)

#define MICROSOFT "com.microsoft"
#define FUNCTION(name, inputs)                                                                               \
    { name, NULL, inputs, SX_OP_ELEMENT_WISE, sx_infer_same, NULL, NULL, true, false, false }
#define ELEMENT(name, inputs, element)                                                                       \
    { name, NULL, inputs, SX_OP_ELEMENT_WISE, sx_infer_broadcast, NULL, element, false, false, false }
#define TEST(name, inputs, element)                                                                          \
    { name, NULL, inputs, SX_OP_ELEMENT_WISE, sx_infer_bool, NULL, element, false, false, false }
#define UNARY(name, inputs, element)                                                                         \
    { name, NULL, inputs, SX_OP_ELEMENT_WISE, sx_infer_same, NULL, element, true, false, false }
#define FOLLOWS(name, inputs, infer)                                                                         \
    { name, NULL, inputs, SX_OP_ELEMENT_WISE, infer, NULL, NULL, true, false, false }
#define SOFTMAX(name, inputs)                                                                                \
    { name, NULL, inputs, SX_OP_SOFTMAX, sx_infer_norm, NULL, NULL, false, false, false }
#define NORM(name, inputs)                                                                                   \
    { name, NULL, inputs, SX_OP_NORM, sx_infer_norm, NULL, NULL, false, false, false }
#define REDUCE(name, element)                                                                                \
    { name, NULL, "data axes?", SX_OP_OTHER, sx_infer_reduce, NULL, element, false, false, false }
#define POOL(name, infer)                                                                                    \
    { name, NULL, "X", SX_OP_POOL, infer, NULL, NULL, false, false, false }
#define MAPPED(name, inputs, infer, lower)                                                                   \
    { name, NULL, inputs, SX_OP_EINSUM, infer, lower, NULL, false, true, false }
#define HEAVY(name, inputs, infer)                                                                           \
    { name, NULL, inputs, SX_OP_OTHER, infer, NULL, NULL, false, true, false }
#define MOVE(name, inputs, infer)                                                                            \
    { name, NULL, inputs, SX_OP_OTHER, infer, NULL, NULL, false, false, true }
#define RESHAPE(name, inputs, infer)                                                                         \
    { name, NULL, inputs, SX_OP_RESHAPE, infer, NULL, same_number, false, false, true }
#define OTHER(name, inputs, infer)                                                                           \
    { name, NULL, inputs, SX_OP_OTHER, infer, NULL, NULL, false, false, false }

/* Nothing is known of the output. */
static sx_status infer_nothing(sx_onnx_trace *trace, const sx_onnx_op *op) {
    (void)trace;
    (void)op;
    return SX_OK;
}

/* Rows of a domain come before those of any with the same name. */
static const sx_onnx_rule rules[] = {
    {"Attention", MICROSOFT, "input weights? bias? mask_index? past?", SX_OP_EINSUM, sx_infer_attention,
     sx_onnx_add_plain, NULL, false, true, false},
    {"RotaryEmbedding", MICROSOFT, "input position_ids cos_cache sin_cache", SX_OP_OTHER, sx_infer_norm, NULL,
     NULL, false, false, false},
    {"Range", MICROSOFT, "start limit delta?", SX_OP_OTHER, sx_infer_range, NULL, NULL, false, false, true},
    MAPPED("Conv", "X W B?", sx_infer_conv, sx_lower_conv),
    MAPPED("ConvInteger", "x w x_zero_point? w_zero_point?", sx_infer_conv, sx_lower_conv),
    MAPPED("FusedConv", "X W B? Z?", sx_infer_conv, sx_lower_conv),
    MAPPED("QLinearConv", "x x_scale x_zero_point w w_scale w_zero_point y_scale y_zero_point B?",
           sx_infer_qlinear_conv, sx_lower_qlinear_conv),
    MAPPED("ConvTranspose", "X W B?", sx_infer_conv_transpose, sx_lower_conv_transpose),
    MAPPED("Gemm", "A B C?", sx_infer_gemm, sx_lower_gemm),
    MAPPED("MatMul", "A B", sx_infer_matmul, sx_lower_matmul),
    MAPPED("MatMulInteger", "A B a_zero_point? b_zero_point?", sx_infer_matmul, sx_lower_matmul),
    MAPPED("QLinearMatMul", "a a_scale a_zero_point b b_scale b_zero_point y_scale y_zero_point",
           sx_infer_qlinear_matmul, sx_lower_qlinear_matmul),
    MAPPED("Einsum", "Inputs*", sx_infer_einsum, sx_lower_einsum),
    MAPPED("LSTM", "X W R B? sequence_lens? initial_h? initial_c? P?", sx_infer_recurrent,
           sx_lower_recurrent),
    MAPPED("GRU", "X W R B? sequence_lens? initial_h?", sx_infer_recurrent, sx_lower_recurrent),
    MAPPED("RNN", "X W R B? sequence_lens? initial_h?", sx_infer_recurrent, sx_lower_recurrent),
    MAPPED("Attention", "Q K V attn_mask? past_key?past_value past_value?past_key nonpad_kv_seqlen?",
           sx_infer_attention, sx_lower_attention),
    HEAVY("MultiHeadAttention",
          "query key? value? bias? key_padding_mask? attention_bias? past_key?past_value past_value?past_key",
          sx_infer_norm),
    HEAVY("DeformConv", "X W offset B? mask?", sx_infer_conv),
    HEAVY("Loop", NULL, infer_nothing),
    HEAVY("Scan", NULL, infer_nothing),
    HEAVY("If", NULL, infer_nothing),
    FUNCTION("Relu", "X"),
    FUNCTION("PRelu", "X slope"),
    FUNCTION("LeakyRelu", "X"),
    FUNCTION("Elu", "X"),
    FUNCTION("Selu", "X"),
    FUNCTION("Celu", "X"),
    FUNCTION("ThresholdedRelu", "X"),
    FUNCTION("Sigmoid", "input"),
    FUNCTION("HardSigmoid", "X"),
    FUNCTION("HardSwish", "X"),
    FUNCTION("Swish", "X"),
    FUNCTION("Mish", "X"),
    FUNCTION("Softplus", "X"),
    FUNCTION("Softsign", "X"),
    FUNCTION("Tanh", "input"),
    FUNCTION("Gelu", "X"),
    FUNCTION("FastGelu", "X bias?"),
    FUNCTION("QuickGelu", "X"),
    FUNCTION("BiasGelu", "A B"),
    FUNCTION("Erf", "input"),
    FUNCTION("Clip", "input min? max?"),
    FUNCTION("Shrink", "input"),
    FUNCTION("BatchNormalization", "X scale B input_mean input_var"),
    FUNCTION("Dropout", "data ratio? training_mode?"),
    FUNCTION("Exp", "input"),
    FUNCTION("Log", "input"),
    FUNCTION("Reciprocal", "X"),
    FUNCTION("Round", "X"),
    FUNCTION("Sign", "input"),
    FUNCTION("Sin", "input"),
    FUNCTION("Cos", "input"),
    FUNCTION("Tan", "input"),
    FUNCTION("Asin", "input"),
    FUNCTION("Acos", "input"),
    FUNCTION("Atan", "input"),
    FUNCTION("Sinh", "input"),
    FUNCTION("Cosh", "input"),
    FUNCTION("Asinh", "input"),
    FUNCTION("Acosh", "input"),
    FUNCTION("Atanh", "input"),
    FUNCTION("BitwiseNot", "X"),
    UNARY("Not", "X", does_not_hold),
    UNARY("Neg", "X", negative_of),
    UNARY("Abs", "X", magnitude_of),
    UNARY("Floor", "X", round_down),
    UNARY("Ceil", "X", round_up),
    UNARY("Sqrt", "X", square_root),
    UNARY("Identity", "input", same_number),
    TEST("IsNaN", "X", NULL),
    TEST("IsInf", "X", NULL),
    FOLLOWS("Cast", "input", sx_infer_cast),
    FOLLOWS("CastLike", "input target_type", sx_infer_cast),
    FOLLOWS("QuantizeLinear", "x y_scale y_zero_point?", sx_infer_quantize),
    FOLLOWS("DequantizeLinear", "x x_scale x_zero_point?", sx_infer_dequantize),
    OTHER("DynamicQuantizeLinear", "x", sx_infer_dynamic_quantize),
    ELEMENT("Add", "A B", add_numbers),
    ELEMENT("Sub", "A B", subtract_numbers),
    ELEMENT("Mul", "A B", multiply_numbers),
    ELEMENT("Div", "A B", divide_numbers),
    ELEMENT("Mod", "A B", remainder_of),
    ELEMENT("Pow", "X Y", power_of),
    ELEMENT("Min", "data_0*", least_number),
    ELEMENT("Max", "data_0*", largest_number),
    ELEMENT("Sum", "data_0*", add_numbers),
    ELEMENT("Mean", "data_0*", NULL),

    ELEMENT("BitShift", "X Y", NULL),
    ELEMENT("BitwiseAnd", "A B", NULL),
    ELEMENT("BitwiseOr", "A B", NULL),
    ELEMENT("BitwiseXor", "A B", NULL),
    TEST("And", "A B", both_hold),
    TEST("Or", "A B", either_holds),
    TEST("Xor", "A B", NULL),
    TEST("Equal", "A B", is_equal),
    TEST("Less", "A B", is_less),
    TEST("Greater", "A B", is_greater),
    TEST("LessOrEqual", "A B", at_most),
    TEST("GreaterOrEqual", "A B", at_least),
    {"Where", NULL, "condition X Y", SX_OP_ELEMENT_WISE, sx_infer_where, NULL, NULL, false, false, false},
    SOFTMAX("Softmax", "input"),
    SOFTMAX("LogSoftmax", "input"),
    SOFTMAX("Hardmax", "input"),
    NORM("LayerNormalization", "X Scale B?"),
    NORM("SimplifiedLayerNormalization", "X scale"),
    NORM("RMSNormalization", "X scale"),
    NORM("InstanceNormalization", "input scale B"),
    NORM("GroupNormalization", "X scale bias"),
    NORM("LpNormalization", "input"),
    NORM("LRN", "X"),
    NORM("MeanVarianceNormalization", "X"),
    NORM("CumSum", "x axis"),
    OTHER("SkipLayerNormalization", "input skip gamma beta? bias?", sx_infer_norm),
    OTHER("SkipSimplifiedLayerNormalization", "input skip gamma bias?", sx_infer_norm),
    OTHER("RotaryEmbedding", "X cos_cache sin_cache position_ids?", sx_infer_norm),
    OTHER("ScatterND", "data indices updates", sx_infer_norm),
    OTHER("ScatterElements", "data indices updates", sx_infer_norm),
    OTHER("Scatter", "data indices updates", sx_infer_norm),
    OTHER("ReverseSequence", "input sequence_lens", sx_infer_norm),
    OTHER("Bernoulli", "input", sx_infer_norm),
    OTHER("RandomNormalLike", "input", sx_infer_norm),
    OTHER("RandomUniformLike", "input", sx_infer_norm),
    OTHER("EyeLike", "input", sx_infer_norm),
    MOVE("Trilu", "input k?", sx_infer_norm),
    REDUCE("ReduceSum", add_numbers),
    REDUCE("ReduceProd", multiply_numbers),
    REDUCE("ReduceMax", largest_number),
    REDUCE("ReduceMin", least_number),
    REDUCE("ReduceMean", NULL),
    REDUCE("ReduceL1", NULL),
    REDUCE("ReduceL2", NULL),
    REDUCE("ReduceLogSum", NULL),
    REDUCE("ReduceLogSumExp", NULL),
    REDUCE("ReduceSumSquare", NULL),
    OTHER("ArgMax", "data", sx_infer_arg),
    OTHER("ArgMin", "data", sx_infer_arg),
    POOL("MaxPool", sx_infer_pool),
    POOL("AveragePool", sx_infer_pool),
    POOL("LpPool", sx_infer_pool),
    POOL("GlobalAveragePool", sx_infer_global_pool),
    POOL("GlobalMaxPool", sx_infer_global_pool),
    POOL("GlobalLpPool", sx_infer_global_pool),
    MOVE("Constant", "", sx_infer_constant),
    MOVE("Shape", "data", sx_infer_shape),
    MOVE("Size", "data", sx_infer_size),
    MOVE("ConstantOfShape", "input", sx_infer_constant_of_shape),
    MOVE("Range", "start limit delta", sx_infer_range),
    RESHAPE("Reshape", "data shape@shape", sx_infer_reshape),
    RESHAPE("Flatten", "input", sx_infer_flatten),
    RESHAPE("Squeeze", "data axes?", sx_infer_squeeze),
    RESHAPE("Unsqueeze", "data axes@axes", sx_infer_unsqueeze),
    MOVE("Transpose", "data", sx_infer_transpose),
    MOVE("Slice", "data starts@starts ends@ends axes? steps?", sx_infer_slice),
    MOVE("Split", "input split?", sx_infer_split),
    {"Concat", NULL, "inputs*", SX_OP_CONCAT, sx_infer_concat, NULL, NULL, false, false, true},
    MOVE("Gather", "data indices", sx_infer_gather),
    MOVE("GatherElements", "data indices", sx_infer_gather_elements),
    MOVE("GatherND", "data indices", sx_infer_gather_nd),
    MOVE("Expand", "input shape", sx_infer_expand),
    MOVE("Tile", "input repeats", sx_infer_tile),
    MOVE("Pad", "data pads? constant_value? axes?", sx_infer_pad),
    OTHER("Resize", "X roi? scales? sizes?", sx_infer_resize),
    OTHER("Upsample", "X scales?", sx_infer_resize),
    MOVE("OneHot", "indices depth values", sx_infer_one_hot),
    OTHER("TopK", "X K@k", sx_infer_top_k),
    MOVE("DepthToSpace", "input", sx_infer_depth_to_space),
    MOVE("SpaceToDepth", "input", sx_infer_space_to_depth),
};

const sx_onnx_rule *sx_onnx_rule_at(size_t index) {
    return index < sizeof rules / sizeof *rules ? &rules[index] : NULL;
}

const sx_onnx_rule *sx_onnx_rule_of(const sx_onnx_node *node) {
    const bool known = node->domain.size == 0 || sx_bytes_are(node->domain, "ai.onnx") ||
                       sx_bytes_are(node->domain, MICROSOFT);
    const sx_onnx_rule *rule;
    for (size_t i = 0; known && (rule = sx_onnx_rule_at(i)); i++)
        if (sx_bytes_are(node->op, rule->name) && (!rule->domain || sx_bytes_are(node->domain, rule->domain)))
            return rule;
    return NULL;
}
