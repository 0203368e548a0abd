/* Weight update. The gradient of a layer's weights is a computation of the same kind as the layer, with the
 * roles swapped (Sunstone, thesis 2022, chapter 6: N<-C, C<-N, R<-P, S<-Q, P<-R, Q<-S). From
 *   dW[k,c,r,s] += dO[n,k,p,q] * I[n,c,p*stride+r*dilation,...]
 * one sees that the weight gradients are the outputs of a convolution, one "image" per input channel; its
 * filters are the output gradients, as large as the outputs were; what it sums over is the batch; and the
 * layer's stride is the dilation of the new filter, its dilation the new stride. The thesis has stride 1
 * only. Groups stay apart; in a depthwise layer the groups have one channel each, but a sum over the batch.
 *
 * For Outputs[B,M,N] += Weights[M,K] * Inputs[B,K,N] it is dW[m,k] += dO[b,m,n] * I[b,k,n]: again a product,
 * with N and K swapped, output gradients in the weights' place and a sum over the batch, unless every batch
 * has a matrix of its own. */
/* Data gradient. From dI[n,c,p*stride+r*dilation,...] += W[k,c,r,s] * dO[n,k,p,q] one sees that the gradient of
 * a layer's inputs is the transposed convolution: the output is what windows slide over, each of its elements a
 * sum over the windows that contain it. It takes the multiply-accumulates of the layer, one by one. (A
 * convolution of the output gradients, padded and for strides filled up with zeros, would multiply by these
 * zeros.) For products it is dI[b,k,n] += W[m,k] * dO[b,m,n]: M and K are swapped. */
#include "frontend/catalog/layers.h"

#include "base/text.h"

#include <string.h>

static uint32_t or_one(uint32_t value) {
    return value ? value : 1;
}

static void add_dim(sx_problem *problem, char letter, uint32_t size) {
    problem->dim_name[problem->n_dims][0] = letter;
    problem->size[problem->n_dims++] = size;
}

/* Adds a tensor whose ranks are dimensions of one letter each. */
static sx_tensor *add_tensor(sx_problem *problem, const char *name, const char *ranks) {
    sx_tensor *tensor = &problem->tensor[problem->n_tensors];
    tensor->output = problem->n_tensors++ == 0;
    strncpy(tensor->name, name, sizeof tensor->name - 1);
    for (; *ranks; ranks++) {
        const char dim[2] = {*ranks, 0};
        tensor->coef[tensor->n_ranks++][sx_problem_dim(problem, dim)] = 1;
    }
    return tensor;
}

/* Gives the finished problem its name, checks it and hands it over. */
static sx_status finish_problem(sx_problem *problem, const char *name, sx_problem *out) {
    SX_TRY(sx_text_name(problem->name, sizeof problem->name, name, "a layer"));
    SX_TRY(sx_problem_check(problem));
    *out = *problem;
    return SX_OK;
}

/* Makes the last two ranks of the inputs, which are P and Q so far, sliding windows. */
static void slide_inputs(sx_problem *problem, sx_tensor *inputs, const sx_conv *conv) {
    int32_t *rows = inputs->coef[inputs->n_ranks - 2], *columns = inputs->coef[inputs->n_ranks - 1];
    rows[sx_problem_dim(problem, "P")] = (int32_t)or_one(conv->stride_p);
    rows[sx_problem_dim(problem, "R")] = (int32_t)or_one(conv->dilation_r);
    columns[sx_problem_dim(problem, "Q")] = (int32_t)or_one(conv->stride_q);
    columns[sx_problem_dim(problem, "S")] = (int32_t)or_one(conv->dilation_s);
}

/* Adds the third rank of a volume to the tensors of a convolution. */
static void add_depth(sx_problem *problem, const sx_conv *conv) {
    const int t = problem->n_dims, z = t + 1;
    add_dim(problem, 'T', conv->t);
    add_dim(problem, 'Z', conv->z);
    problem->tensor[0].coef[problem->tensor[0].n_ranks++][z] = 1;
    problem->tensor[1].coef[problem->tensor[1].n_ranks++][t] = 1;
    int32_t *planes = problem->tensor[2].coef[problem->tensor[2].n_ranks++];
    planes[z] = (int32_t)or_one(conv->stride_z);
    planes[t] = (int32_t)or_one(conv->dilation_t);
}

sx_status sx_layer_conv(const sx_conv *conv, const char *name, sx_problem *out) {
    const uint32_t groups = or_one(conv->groups);
    const bool grouped = groups > 1, depthwise = grouped && conv->c == 1 && conv->k == 1;
    sx_problem problem;
    memset(&problem, 0, sizeof problem);
    add_dim(&problem, 'R', conv->r);
    add_dim(&problem, 'S', conv->s);
    add_dim(&problem, 'P', conv->p);
    add_dim(&problem, 'Q', conv->q);
    if (!depthwise) {
        add_dim(&problem, 'C', conv->c);
        add_dim(&problem, 'K', conv->k);
    }
    if (grouped) add_dim(&problem, depthwise ? 'D' : 'G', groups);
    add_dim(&problem, 'N', conv->n);
    add_tensor(&problem, "Outputs", depthwise ? "NDQP" : grouped ? "NGKQP" : "NKQP");
    add_tensor(&problem, "Weights", depthwise ? "DRS" : grouped ? "GCKRS" : "CKRS");
    slide_inputs(&problem,
                 add_tensor(&problem, "Inputs",
                            depthwise ? "NDPQ"
                            : grouped ? "NGCPQ"
                                      : "NCPQ"),
                 conv);
    if (conv->z) add_depth(&problem, conv);
    return finish_problem(&problem, name, out);
}

sx_status sx_layer_conv_data_gradient(const sx_conv *conv, const char *name, sx_problem *out) {
    sx_problem forward, problem;
    SX_TRY(sx_layer_conv(conv, name, &forward));
    problem = forward;
    problem.tensor[0] = forward.tensor[2];
    problem.tensor[2] = forward.tensor[0];
    memcpy(problem.tensor[0].name, forward.tensor[0].name, SX_NAME_SIZE);
    memcpy(problem.tensor[2].name, forward.tensor[2].name, SX_NAME_SIZE);
    problem.tensor[0].output = true;
    problem.tensor[2].output = false;
    return finish_problem(&problem, name, out);
}

sx_status sx_layer_pool(const sx_conv *window, const char *name, sx_problem *out) {
    sx_problem problem;
    memset(&problem, 0, sizeof problem);
    add_dim(&problem, 'R', window->r);
    add_dim(&problem, 'S', window->s);
    add_dim(&problem, 'P', window->p);
    add_dim(&problem, 'Q', window->q);
    add_dim(&problem, 'D', or_one(window->groups));
    add_dim(&problem, 'N', window->n);
    add_tensor(&problem, "Outputs", "NDQP");
    slide_inputs(&problem, add_tensor(&problem, "Inputs", "NDPQ"), window);
    return finish_problem(&problem, name, out);
}

sx_conv sx_conv_weight_update(const sx_conv *conv) {
    return (sx_conv){.n = conv->c,
                     .c = conv->n,
                     .k = conv->k,
                     .p = conv->r,
                     .q = conv->s,
                     .r = conv->p,
                     .s = conv->q,
                     .groups = conv->groups,
                     .stride_p = conv->dilation_r,
                     .stride_q = conv->dilation_s,
                     .dilation_r = conv->stride_p,
                     .dilation_s = conv->stride_q};
}

sx_status sx_layer_product(const sx_product *product, const char *name, sx_problem *out) {
    sx_problem problem;
    memset(&problem, 0, sizeof problem);
    add_dim(&problem, 'B', product->b);
    add_dim(&problem, 'M', product->m);
    add_dim(&problem, 'K', product->k);
    add_dim(&problem, 'N', product->n);
    add_tensor(&problem, "Outputs", product->summed ? "MN" : "BMN");
    add_tensor(&problem, "Weights", product->paired ? "BMK" : "MK");
    add_tensor(&problem, "Inputs", "BKN");
    return finish_problem(&problem, name, out);
}

sx_product sx_product_weight_update(const sx_product *product) {
    return (sx_product){.b = product->b,
                        .m = product->m,
                        .k = product->n,
                        .n = product->k,
                        .paired = true,
                        .summed = !product->paired};
}

sx_product sx_product_data_gradient(const sx_product *product) {
    return (sx_product){
        .b = product->b, .m = product->k, .k = product->m, .n = product->n, .paired = product->paired};
}
