/* The table of operations: what is known of each, one row for each name. */
#include "frontend/onnx/rules.h"

#include <math.h>

static double add(double a, double b) {
    return a + b;
}
static double subtract(double a, double b) {
    return a - b;
}
static double multiply(double a, double b) {
    return a * b;
}
static double divide(double a, double b) {
    return b != 0 ? a / b : 0;
}
static double least(double a, double b) {
    return a < b ? a : b;
}
static double largest(double a, double b) {
    return a > b ? a : b;
}
static double power(double a, double b) {
    return pow(a, b);
}
static double equal(double a, double b) {
    return a == b;
}
static double less(double a, double b) {
    return a < b;
}
static double greater(double a, double b) {
    return a > b;
}
static double at_most(double a, double b) {
    return a <= b;
}
static double at_least(double a, double b) {
    return a >= b;
}
static double both(double a, double b) {
    return a != 0 && b != 0;
}
static double either(double a, double b) {
    return a != 0 || b != 0;
}
static double not(double a, double b) {
    (void)b;
    return a == 0;
}
static double minus(double a, double b) {
    (void)b;
    return -a;
}
static double magnitude(double a, double b) {
    (void)b;
    return fabs(a);
}
static double down(double a, double b) {
    (void)b;
    return floor(a);
}
static double up(double a, double b) {
    (void)b;
    return ceil(a);
}
static double root(double a, double b) {
    (void)b;
    return sqrt(a);
}
static double same(double a, double b) {
    (void)b;
    return a;
}

/* A remainder with the sign of the divisor. */
static double remainder_of(double a, double b) {
    return b != 0 ? a - floor(a / b) * b : 0;
}

#define FUNCTION(name)                                                                                       \
    { name, SX_OP_ELEMENT_WISE, sx_infer_same, NULL, NULL, true, false, false }
#define ELEMENT(name, element)                                                                               \
    { name, SX_OP_ELEMENT_WISE, sx_infer_broadcast, NULL, element, false, false, false }
#define TEST(name, element)                                                                                  \
    { name, SX_OP_ELEMENT_WISE, sx_infer_bool, NULL, element, false, false, false }
#define UNARY(name, element)                                                                                 \
    { name, SX_OP_ELEMENT_WISE, sx_infer_same, NULL, element, true, false, false }
#define NORM(name)                                                                                           \
    { name, SX_OP_NORM, sx_infer_norm, NULL, NULL, false, false, false }
#define REDUCE(name, element)                                                                                \
    { name, SX_OP_OTHER, sx_infer_reduce, NULL, element, false, false, false }
#define POOL(name, infer)                                                                                    \
    { name, SX_OP_POOL, infer, NULL, NULL, false, false, false }
#define MAPPED(name, infer, lower)                                                                           \
    { name, SX_OP_EINSUM, infer, lower, NULL, false, true, false }
#define HEAVY(name, infer)                                                                                   \
    { name, SX_OP_OTHER, infer, NULL, NULL, false, true, false }
#define MOVE(name, infer)                                                                                    \
    { name, SX_OP_OTHER, infer, NULL, NULL, false, false, true }
#define RESHAPE(name, infer)                                                                                 \
    { name, SX_OP_RESHAPE, infer, NULL, same, false, false, true }
#define OTHER(name, infer)                                                                                   \
    { name, SX_OP_OTHER, infer, NULL, NULL, false, false, false }

/* Nothing is known of the output. */
static sx_status infer_nothing(sx_onnx_trace *trace, const sx_onnx_op *op) {
    (void)trace;
    (void)op;
    return SX_OK;
}

static const sx_onnx_rule rules[] = {
    MAPPED("Conv", sx_infer_conv, sx_lower_conv),
    MAPPED("ConvInteger", sx_infer_conv, sx_lower_conv),
    MAPPED("FusedConv", sx_infer_conv, sx_lower_conv),
    MAPPED("QLinearConv", sx_infer_qlinear_conv, sx_lower_qlinear_conv),
    MAPPED("ConvTranspose", sx_infer_conv_transpose, sx_lower_conv_transpose),
    MAPPED("Gemm", sx_infer_gemm, sx_lower_gemm),
    MAPPED("MatMul", sx_infer_matmul, sx_lower_matmul),
    MAPPED("MatMulInteger", sx_infer_matmul, sx_lower_matmul),
    MAPPED("QLinearMatMul", sx_infer_qlinear_matmul, sx_lower_qlinear_matmul),
    MAPPED("Einsum", sx_infer_einsum, sx_lower_einsum),
    MAPPED("LSTM", sx_infer_recurrent, sx_lower_recurrent),
    MAPPED("GRU", sx_infer_recurrent, sx_lower_recurrent),
    MAPPED("RNN", sx_infer_recurrent, sx_lower_recurrent),
    MAPPED("Attention", sx_infer_attention, sx_lower_attention),
    HEAVY("MultiHeadAttention", sx_infer_norm),
    HEAVY("DeformConv", sx_infer_conv),
    HEAVY("Loop", infer_nothing),
    HEAVY("Scan", infer_nothing),
    HEAVY("If", infer_nothing),
    FUNCTION("Relu"),
    FUNCTION("PRelu"),
    FUNCTION("LeakyRelu"),
    FUNCTION("Elu"),
    FUNCTION("Selu"),
    FUNCTION("Celu"),
    FUNCTION("ThresholdedRelu"),
    FUNCTION("Sigmoid"),
    FUNCTION("HardSigmoid"),
    FUNCTION("HardSwish"),
    FUNCTION("Swish"),
    FUNCTION("Mish"),
    FUNCTION("Softplus"),
    FUNCTION("Softsign"),
    FUNCTION("Tanh"),
    FUNCTION("Gelu"),
    FUNCTION("FastGelu"),
    FUNCTION("QuickGelu"),
    FUNCTION("BiasGelu"),
    FUNCTION("Erf"),
    FUNCTION("Clip"),
    FUNCTION("Shrink"),
    FUNCTION("BatchNormalization"),
    FUNCTION("Dropout"),
    FUNCTION("Exp"),
    FUNCTION("Log"),
    FUNCTION("Reciprocal"),
    FUNCTION("Round"),
    FUNCTION("Sign"),
    FUNCTION("Sin"),
    FUNCTION("Cos"),
    FUNCTION("Tan"),
    FUNCTION("Asin"),
    FUNCTION("Acos"),
    FUNCTION("Atan"),
    FUNCTION("Sinh"),
    FUNCTION("Cosh"),
    FUNCTION("Asinh"),
    FUNCTION("Acosh"),
    FUNCTION("Atanh"),
    FUNCTION("BitwiseNot"),
    UNARY("Not", not ),
    UNARY("Neg", minus),
    UNARY("Abs", magnitude),
    UNARY("Floor", down),
    UNARY("Ceil", up),
    UNARY("Sqrt", root),
    UNARY("Identity", same),
    TEST("IsNaN", NULL),
    TEST("IsInf", NULL),
    {"Cast", SX_OP_ELEMENT_WISE, sx_infer_cast, NULL, NULL, true, false, false},
    {"CastLike", SX_OP_ELEMENT_WISE, sx_infer_cast, NULL, NULL, true, false, false},
    {"QuantizeLinear", SX_OP_ELEMENT_WISE, sx_infer_quantize, NULL, NULL, true, false, false},
    {"DequantizeLinear", SX_OP_ELEMENT_WISE, sx_infer_dequantize, NULL, NULL, true, false, false},
    OTHER("DynamicQuantizeLinear", sx_infer_dynamic_quantize),
    ELEMENT("Add", add),
    ELEMENT("Sub", subtract),
    ELEMENT("Mul", multiply),
    ELEMENT("Div", divide),
    ELEMENT("Mod", remainder_of),
    ELEMENT("Pow", power),
    ELEMENT("Min", least),
    ELEMENT("Max", largest),
    ELEMENT("Sum", add),
    ELEMENT("Mean", NULL),

    ELEMENT("BitShift", NULL),
    ELEMENT("BitwiseAnd", NULL),
    ELEMENT("BitwiseOr", NULL),
    ELEMENT("BitwiseXor", NULL),
    TEST("And", both),
    TEST("Or", either),
    TEST("Xor", NULL),
    TEST("Equal", equal),
    TEST("Less", less),
    TEST("Greater", greater),
    TEST("LessOrEqual", at_most),
    TEST("GreaterOrEqual", at_least),
    {"Where", SX_OP_ELEMENT_WISE, sx_infer_where, NULL, NULL, false, false, false},
    {"Softmax", SX_OP_SOFTMAX, sx_infer_norm, NULL, NULL, false, false, false},
    {"LogSoftmax", SX_OP_SOFTMAX, sx_infer_norm, NULL, NULL, false, false, false},
    {"Hardmax", SX_OP_SOFTMAX, sx_infer_norm, NULL, NULL, false, false, false},
    NORM("LayerNormalization"),
    NORM("SimplifiedLayerNormalization"),
    NORM("RMSNormalization"),
    NORM("InstanceNormalization"),
    NORM("GroupNormalization"),
    NORM("LpNormalization"),
    NORM("LRN"),
    NORM("MeanVarianceNormalization"),
    NORM("CumSum"),
    OTHER("SkipLayerNormalization", sx_infer_norm),
    OTHER("SkipSimplifiedLayerNormalization", sx_infer_norm),
    OTHER("RotaryEmbedding", sx_infer_norm),
    OTHER("ScatterND", sx_infer_norm),
    OTHER("ScatterElements", sx_infer_norm),
    OTHER("Scatter", sx_infer_norm),
    OTHER("ReverseSequence", sx_infer_norm),
    OTHER("Bernoulli", sx_infer_norm),
    OTHER("RandomNormalLike", sx_infer_norm),
    OTHER("RandomUniformLike", sx_infer_norm),
    OTHER("EyeLike", sx_infer_norm),
    MOVE("Trilu", sx_infer_norm),
    REDUCE("ReduceSum", add),
    REDUCE("ReduceProd", multiply),
    REDUCE("ReduceMax", largest),
    REDUCE("ReduceMin", least),
    REDUCE("ReduceMean", NULL),
    REDUCE("ReduceL1", NULL),
    REDUCE("ReduceL2", NULL),
    REDUCE("ReduceLogSum", NULL),
    REDUCE("ReduceLogSumExp", NULL),
    REDUCE("ReduceSumSquare", NULL),
    OTHER("ArgMax", sx_infer_arg),
    OTHER("ArgMin", sx_infer_arg),
    POOL("MaxPool", sx_infer_pool),
    POOL("AveragePool", sx_infer_pool),
    POOL("LpPool", sx_infer_pool),
    POOL("GlobalAveragePool", sx_infer_global_pool),
    POOL("GlobalMaxPool", sx_infer_global_pool),
    POOL("GlobalLpPool", sx_infer_global_pool),
    MOVE("Constant", sx_infer_constant),
    MOVE("Shape", sx_infer_shape),
    MOVE("Size", sx_infer_size),
    MOVE("ConstantOfShape", sx_infer_constant_of_shape),
    MOVE("Range", sx_infer_range),
    RESHAPE("Reshape", sx_infer_reshape),
    RESHAPE("Flatten", sx_infer_flatten),
    RESHAPE("Squeeze", sx_infer_squeeze),
    RESHAPE("Unsqueeze", sx_infer_unsqueeze),
    MOVE("Transpose", sx_infer_transpose),
    MOVE("Slice", sx_infer_slice),
    MOVE("Split", sx_infer_split),
    {"Concat", SX_OP_CONCAT, sx_infer_concat, NULL, NULL, false, false, true},
    MOVE("Gather", sx_infer_gather),
    MOVE("GatherElements", sx_infer_gather_elements),
    MOVE("GatherND", sx_infer_gather_nd),
    MOVE("Expand", sx_infer_expand),
    MOVE("Tile", sx_infer_tile),
    MOVE("Pad", sx_infer_pad),
    OTHER("Resize", sx_infer_resize),
    OTHER("Upsample", sx_infer_resize),
    MOVE("OneHot", sx_infer_one_hot),
    OTHER("TopK", sx_infer_top_k),
    MOVE("DepthToSpace", sx_infer_depth_to_space),
    MOVE("SpaceToDepth", sx_infer_space_to_depth),
};

const sx_onnx_rule *sx_onnx_rule_of(const sx_onnx_node *node) {
    const bool known = node->domain.size == 0 || sx_bytes_are(node->domain, "ai.onnx") ||
                       sx_bytes_are(node->domain, "com.microsoft");
    for (size_t i = 0; known && i < sizeof rules / sizeof *rules; i++)
        if (sx_bytes_are(node->op, rules[i].name)) return &rules[i];
    return NULL;
}
