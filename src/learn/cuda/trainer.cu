/* A training step as one CUDA graph. The first stream runs forward and the gradients of activations, one layer after another;
 * beside it the second stream computes the gradients of weights and updates them. SGD's momentum is added by the product
 * itself: v = dy x + momentum v. Widths are padded to multiples of 16 by zeros, which stay zeros.
 *
 * What is fused to a product, whether weights are also kept transposed (tensor cores take TF32 only along k), and whether two
 * streams are better than one is measured when the state is made: results of a GPU are not the same bits in every run. */
#include "learn/cuda/gemm.cuh"
#include "learn/cuda/kernels.cuh"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LAYERS = 64, MAX_BUFFERS = 8 * MAX_LAYERS + 32, SLOTS = 8, WIDTH_UNIT = 16, LAYER_UNIT = 128 };
enum { FP32, TF32, BF16 };
enum { SGD, ADAM };

typedef struct layer_state {
    int real_in, real_out, in, out; /* widths, padded */
    bool relu, mask_fused, bias_fused, transposed;
    size_t host_first, first, n_weights, n; /* parameters: where the caller's and the padded ones begin */
    gemm forward, inputs, weights;          /* y, gradients of inputs and of weights */
    gemm masked;                            /* y with a mask, until it is known to be better */
    void *y, *dy, *mask;
    float *turned; /* the weights transposed; NULL: not kept */
} layer_state;

struct sx_cuda_state {
    int n_layers, batch, loss, optimizer, precision;
    size_t n_parameters, n_padded;
    uint64_t steps;
    layer_state layer[MAX_LAYERS];
    update rule; /* of all parameters */
    void *input;
    step_head *head;
    data_set *data;
    double *part, *sum;
    float *column_part;
    void *workspace[2], *buffer[MAX_BUFFERS];
    int n_buffers;
    float *data_input, *data_target;
    cublasLtHandle_t blas;
    cudaStream_t stream[2];
    cudaEvent_t event[3 * MAX_LAYERS];
    int n_events;
    cudaGraphExec_t graph;
    char *slot[SLOTS]; /* pinned: what a step needs, until it is copied */
    cudaEvent_t copied[SLOTS];
};

static int padded_width(int width) {
    return (width + WIDTH_UNIT - 1) / WIDTH_UNIT * WIDTH_UNIT;
}

/* Memory of the GPU, zeroed, freed with the state. */
static int take_memory(sx_cuda_state *s, size_t size, void **out, char *message) {
    TRY_CUDA(cudaMalloc(out, size));
    s->buffer[s->n_buffers++] = *out;
    TRY_CUDA(cudaMemset(*out, 0, size));
    return 0;
}

static size_t element_bytes(const sx_cuda_state *s) {
    return s->precision == BF16 ? sizeof(__nv_bfloat16) : sizeof(float);
}

/* Where layers' parameters are, and memory for their activations. */
static int lay_out(sx_cuda_state *s, const sx_cuda_plan *plan, char *message) {
    for (int i = 0; i < s->n_layers; i++) {
        layer_state *l = &s->layer[i];
        const sx_cuda_layer *from = &plan->layer[i];
        l->real_in = (int)from->inputs;
        l->real_out = (int)from->outputs;
        l->in = padded_width(l->real_in);
        l->out = padded_width(l->real_out);
        l->relu = from->relu;
        l->host_first = from->first;
        l->first = s->n_padded;
        l->n_weights = (size_t)l->in * l->out;
        l->n = (l->n_weights + (size_t)l->out + LAYER_UNIT - 1) / LAYER_UNIT * LAYER_UNIT;
        s->n_padded += l->n;
        size_t stride = ((size_t)l->out + 127) / 128 * 128;
        TRY(take_memory(s, (size_t)s->batch * l->out * element_bytes(s), &l->y, message));
        TRY(take_memory(s, (size_t)s->batch * l->out * element_bytes(s), &l->dy, message));
        if (l->relu) TRY(take_memory(s, (size_t)s->batch * stride / 8, &l->mask, message));
    }
    return 0;
}

static int widest_layer(const sx_cuda_state *s) {
    int width = s->layer[0].in;
    for (int i = 0; i < s->n_layers; i++)
        if (s->layer[i].out > width) width = s->layer[i].out;
    return width;
}

/* Memory for parameters, the optimizer and what changes from step to step. */
static int take_rest(sx_cuda_state *s, const sx_cuda_plan *plan, char *message) {
    size_t size = s->n_padded * sizeof(float), head = sizeof(step_head) + s->batch * sizeof(uint32_t);
    TRY(take_memory(s, size, (void **)&s->rule.parameter, message));
    TRY(take_memory(s, size, (void **)&s->rule.first, message));
    TRY(take_memory(s, size, (void **)&s->rule.gradient, message));
    if (s->optimizer == ADAM) TRY(take_memory(s, size, (void **)&s->rule.second, message));
    if (s->precision == BF16)
        TRY(take_memory(s, s->n_padded * sizeof(__nv_bfloat16), (void **)&s->rule.copy, message));
    TRY(take_memory(s, (size_t)s->batch * s->layer[0].in * element_bytes(s), &s->input, message));
    TRY(take_memory(s, head, (void **)&s->head, message));
    TRY(take_memory(s, sizeof(data_set), (void **)&s->data, message));
    TRY(take_memory(s, SX_LOSS_BLOCKS * sizeof(double), (void **)&s->part, message));
    TRY(take_memory(s, sizeof(double), (void **)&s->sum, message));
    TRY(take_memory(s, (size_t)SX_SUM_PARTS * widest_layer(s) * sizeof(float), (void **)&s->column_part,
                    message));
    for (int i = 0; i < 2; i++) TRY(take_memory(s, SX_GEMM_WORKSPACE, &s->workspace[i], message));
    for (int i = 0; i < SLOTS; i++) {
        TRY_CUDA(cudaMallocHost((void **)&s->slot[i], head));
        TRY_CUDA(cudaEventCreateWithFlags(&s->copied[i], cudaEventDisableTiming));
    }
    s->rule.momentum = plan->momentum;
    s->rule.beta1 = plan->beta1;
    s->rule.beta2 = plan->beta2;
    s->rule.epsilon = plan->epsilon;
    return 0;
}

/* The weights that products read. */
static const void *weights_of(const sx_cuda_state *s, const layer_state *l, size_t offset) {
    return s->precision == BF16 ? (const void *)(s->rule.copy + l->first + offset)
                                : (const void *)(s->rule.parameter + l->first + offset);
}

static const void *input_of(const sx_cuda_state *s, int i) {
    return i ? s->layer[i - 1].y : s->input;
}

/* What all products of the net have in common. */
static gemm_plan plan_of(const sx_cuda_state *s, int m, int n, int k) {
    gemm_plan p;
    memset(&p, 0, sizeof p);
    p.m = m;
    p.n = n;
    p.k = k;
    p.in = p.out = p.bias_type = s->precision == BF16 ? CUDA_R_16BF : CUDA_R_32F;
    p.compute = s->precision == TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    p.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    return p;
}

/* Milliseconds that reading or writing a number of bytes takes, about, in a kernel of its own. */
static float traffic_time(size_t bytes) {
    return 0.002f + (float)bytes / 3.5e9f;
}

/* Takes the first of two ways to compute a product where it is the better one, the other one needing so much more time
 * besides; an error where neither is there. Returns 0 in *second for the first way. */
static int take_better(gemm *first, gemm *other, float besides, bool *second, char *message) {
    if (!first->found && !other->found) {
        const gemm_plan *p = &first->plan;
        snprintf(message, SX_CUDA_MESSAGE, "cuBLAS has no product of %d x %d x %d", p->m, p->n, p->k);
        return 1;
    }
    *second = !first->found || (other->found && other->time + besides < first->time);
    if (*second) {
        gemm_end(first);
        *first = *other;
        memset(other, 0, sizeof *other);
    }
    gemm_end(other);
    return 0;
}

static int make_gemm(sx_cuda_state *s, gemm *g, const gemm_plan *plan, char *message) {
    return gemm_make(g, plan, s->blas, s->workspace[0], message);
}

/* y = relu(x W + b), by the weights or by the transposed ones. */
static gemm_plan forward_plan(const sx_cuda_state *s, int i, bool transposed) {
    const layer_state *l = &s->layer[i];
    gemm_plan p = plan_of(s, l->out, s->batch, l->in);
    p.a_transposed = transposed;
    p.a = transposed ? l->turned : weights_of(s, l, 0);
    p.b = input_of(s, i);
    p.d = l->y;
    p.epilogue = l->relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
    p.bias = (void *)weights_of(s, l, l->n_weights);
    return p;
}

/* The same with a mask of what was positive is made besides. */
static int make_forward(sx_cuda_state *s, int i, char *message) {
    layer_state *l = &s->layer[i];
    gemm_plan p = forward_plan(s, i, false);
    TRY(make_gemm(s, &l->forward, &p, message));
    if (s->precision == TF32) {
        gemm turned;
        TRY(take_memory(s, l->n_weights * sizeof(float), (void **)&l->turned, message));
        p = forward_plan(s, i, true);
        TRY(make_gemm(s, &turned, &p, message));
        TRY(take_better(&l->forward, &turned, traffic_time(2 * l->n_weights * sizeof(float)),
                        &l->transposed, message));
    }
    if (!l->relu) return 0;
    p = l->forward.plan;
    p.epilogue = CUBLASLT_EPILOGUE_RELU_AUX_BIAS;
    p.mask = l->mask;
    p.mask_stride = ((int64_t)l->out + 127) / 128 * 128;
    return make_gemm(s, &l->masked, &p, message);
}

/* dx = dy W^T where x is positive: by the mask, or by a kernel of its own. */
static int make_inputs(sx_cuda_state *s, int i, char *message) {
    layer_state *l = &s->layer[i], *before = &s->layer[i - 1];
    gemm_plan p = plan_of(s, l->in, s->batch, l->out);
    gemm masked;
    memset(&masked, 0, sizeof masked);
    p.a_transposed = true;
    p.a = weights_of(s, l, 0);
    p.b = l->dy;
    p.d = before->dy;
    TRY(make_gemm(s, &l->inputs, &p, message));
    if (before->masked.found) {
        p.epilogue = CUBLASLT_EPILOGUE_DRELU;
        p.mask = before->mask;
        p.mask_stride = before->masked.plan.mask_stride;
        TRY(make_gemm(s, &masked, &p, message));
    }
    float besides = before->masked.time - before->forward.time -
                    traffic_time(3 * (size_t)s->batch * l->in * element_bytes(s));
    TRY(take_better(&l->inputs, &masked, besides, &before->mask_fused, message));
    if (before->mask_fused) {
        gemm_end(&before->forward);
        before->forward = before->masked;
        memset(&before->masked, 0, sizeof before->masked);
    }
    return 0;
}

/* dW = x^T dy, added to momentum times v by SGD, and db. */
static int make_weights(sx_cuda_state *s, int i, char *message) {
    layer_state *l = &s->layer[i];
    gemm_plan p = plan_of(s, l->out, l->in, s->batch);
    gemm biased;
    p.b_transposed = true;
    p.a = l->dy;
    p.b = input_of(s, i);
    p.out = p.bias_type = CUDA_R_32F;
    p.d = s->optimizer == SGD ? s->rule.first + l->first : (float *)s->rule.gradient + l->first;
    p.beta = s->optimizer == SGD ? s->rule.momentum : 0;
    TRY(make_gemm(s, &l->weights, &p, message));
    p.epilogue = CUBLASLT_EPILOGUE_BGRADA;
    p.bias = (float *)s->rule.gradient + l->first + l->n_weights;
    TRY(make_gemm(s, &biased, &p, message));
    return take_better(&l->weights, &biased,
                       -2 * traffic_time((size_t)s->batch * l->out * element_bytes(s)), &l->bias_fused,
                       message);
}

/* Lets one stream wait for what the other has been given until now. */
static int wait_for(sx_cuda_state *s, int waiting, int other, char *message) {
    cudaEvent_t *event = &s->event[s->n_events++];
    TRY_CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    TRY_CUDA(cudaEventRecord(*event, s->stream[other]));
    TRY_CUDA(cudaStreamWaitEvent(s->stream[waiting], *event, 0));
    return 0;
}

static int give_forward(sx_cuda_state *s, char *message) {
    const layer_state *first = &s->layer[0], *last = &s->layer[s->n_layers - 1];
    bool half = s->precision == BF16;
    launch_gather(s->data, s->head, s->batch, first->real_in, first->in, half, s->input, s->stream[0]);
    for (int i = 0; i < s->n_layers; i++)
        TRY(gemm_run(&s->layer[i].forward, s->blas, s->workspace[0], s->stream[0], message));
    launch_loss(s->loss, s->data, s->head, s->batch, last->real_out, last->out, half, last->y, last->dy,
                s->part, s->stream[0]);
    TRY(wait_for(s, 1, 0, message));
    launch_loss_sum(s->part, s->sum, s->stream[1]);
    return 0;
}

/* Gradients of a layer's weights and its update, beside the gradient of its inputs. */
static int give_backward(sx_cuda_state *s, int i, char *message) {
    layer_state *l = &s->layer[i];
    bool half = s->precision == BF16;
    TRY(gemm_run(&l->weights, s->blas, s->workspace[1], s->stream[1], message));
    if (!l->bias_fused)
        launch_column_sums(l->dy, s->batch, l->out, half, s->column_part,
                           (float *)s->rule.gradient + l->first + l->n_weights, s->stream[1]);
    if (i > 0) {
        const layer_state *before = &s->layer[i - 1];
        TRY(gemm_run(&l->inputs, s->blas, s->workspace[0], s->stream[0], message));
        if (before->relu && !before->mask_fused)
            launch_mask(before->y, before->dy, (size_t)s->batch * before->out, half, s->stream[0]);
        TRY(wait_for(s, 1, 0, message));
    }
    update u = s->rule;
    u.parameter += l->first;
    u.first += l->first;
    u.gradient += l->first;
    if (u.second) u.second += l->first;
    if (u.copy) u.copy += l->first;
    u.n_weights = l->n_weights;
    u.n = l->n;
    if (s->optimizer == SGD)
        launch_sgd(&u, s->head, s->stream[1]);
    else
        launch_adam(&u, s->head, s->stream[1]);
    if (l->transposed) launch_transpose(u.parameter, l->in, l->out, l->turned, s->stream[1]);
    return 0;
}

/* Records a step as a graph. */
static int record_step(sx_cuda_state *s, cudaGraphExec_t *out, char *message) {
    cudaGraph_t graph;
    TRY_CUDA(cudaStreamBeginCapture(s->stream[0], cudaStreamCaptureModeThreadLocal));
    TRY(give_forward(s, message));
    for (int i = s->n_layers; i-- > 0;) TRY(give_backward(s, i, message));
    TRY(wait_for(s, 0, 1, message));
    TRY_CUDA(cudaStreamEndCapture(s->stream[0], &graph));
    TRY_CUDA(cudaGraphInstantiate(out, graph, 0));
    TRY_CUDA(cudaGraphDestroy(graph));
    return 0;
}

/* Milliseconds of a step, on one row of zeros at a rate of 0. */
static int measure_graph(sx_cuda_state *s, cudaGraphExec_t graph, float *time, char *message) {
    enum { WARM = 3, TIMED = 10 };
    cudaEvent_t start, stop;
    TRY_CUDA(cudaEventCreate(&start));
    TRY_CUDA(cudaEventCreate(&stop));
    for (int i = 0; i < WARM + TIMED; i++) {
        if (i == WARM) TRY_CUDA(cudaEventRecord(start, s->stream[0]));
        TRY_CUDA(cudaGraphLaunch(graph, s->stream[0]));
    }
    TRY_CUDA(cudaEventRecord(stop, s->stream[0]));
    TRY_CUDA(cudaEventSynchronize(stop));
    TRY_CUDA(cudaEventElapsedTime(time, start, stop));
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    return 0;
}

/* Records a step on two streams and on one, and keeps the faster graph. */
static int choose_graph(sx_cuda_state *s, char *message) {
    data_set none;
    void *zeros;
    cudaGraphExec_t graph[2];
    float time[2];
    cudaStream_t second = s->stream[1];
    TRY(take_memory(s, widest_layer(s) * sizeof(float), &zeros, message));
    none.input = none.target = (const float *)zeros;
    TRY_CUDA(cudaMemcpy(s->data, &none, sizeof none, cudaMemcpyHostToDevice));
    TRY_CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 2; i++) {
        s->stream[1] = i ? s->stream[0] : second;
        int failed = record_step(s, &graph[i], message) || measure_graph(s, graph[i], &time[i], message);
        s->stream[1] = second;
        if (failed) return 1;
    }
    s->graph = graph[time[1] < time[0]];
    cudaGraphExecDestroy(graph[time[1] >= time[0]]);
    TRY_CUDA(cudaMemset(s->sum, 0, sizeof *s->sum));
    return 0;
}

/* Copies values of all parameters between the caller's order and the padded one. */
static void reorder_weights(const sx_cuda_state *s, float *host, float *pad, bool to_pad) {
    for (int i = 0; i < s->n_layers; i++) {
        const layer_state *l = &s->layer[i];
        for (int r = 0; r <= l->real_in; r++) { /* the last row is the biases */
            float *a = host + l->host_first + (size_t)r * l->real_out;
            float *b = pad + l->first + (r < l->real_in ? (size_t)r * l->out : l->n_weights);
            memcpy(to_pad ? b : a, to_pad ? a : b, l->real_out * sizeof(float));
        }
    }
}

/* Copies values of all parameters to or from the GPU. */
static int transfer_weights(sx_cuda_state *s, float *host, float *device, bool to_device, char *message) {
    size_t size = s->n_padded * sizeof(float);
    float *pad = (float *)calloc(s->n_padded, sizeof(float));
    if (!pad) {
        snprintf(message, SX_CUDA_MESSAGE, "out of memory");
        return 1;
    }
    if (to_device) reorder_weights(s, host, pad, true);
    cudaError_t error = cudaMemcpy(to_device ? device : pad, to_device ? pad : device, size,
                                   to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
    if (!to_device && error == cudaSuccess) reorder_weights(s, host, pad, false);
    free(pad);
    TRY_CUDA(error);
    return 0;
}

static int upload_plan(sx_cuda_state *s, const sx_cuda_plan *plan, char *message) {
    float *state = (float *)plan->state;
    TRY(transfer_weights(s, (float *)plan->parameter, s->rule.parameter, true, message));
    TRY(transfer_weights(s, state, s->rule.first, true, message));
    if (s->optimizer == ADAM)
        TRY(transfer_weights(s, state + s->n_parameters, s->rule.second, true, message));
    if (s->rule.copy) launch_copy(s->rule.parameter, s->rule.copy, s->n_padded, 0);
    for (int i = 0; i < s->n_layers; i++) {
        const layer_state *l = &s->layer[i];
        if (l->transposed) launch_transpose(s->rule.parameter + l->first, l->in, l->out, l->turned, 0);
    }
    TRY_CUDA(cudaDeviceSynchronize());
    return 0;
}

static int prepare_state(sx_cuda_state *s, const sx_cuda_plan *plan, char *message) {
    s->n_layers = (int)plan->n_layers;
    s->batch = (int)plan->batch;
    s->loss = plan->loss;
    s->optimizer = plan->optimizer;
    s->precision = plan->precision;
    s->n_parameters = plan->n_parameters;
    s->steps = plan->steps;
    TRY_CUDA(cudaSetDevice(0));
    TRY(lay_out(s, plan, message));
    TRY(take_rest(s, plan, message));
    TRY_BLAS(cublasLtCreate(&s->blas));
    for (int i = 0; i < 2; i++) TRY_CUDA(cudaStreamCreateWithFlags(&s->stream[i], cudaStreamNonBlocking));
    for (int i = 0; i < s->n_layers; i++) {
        TRY(make_forward(s, i, message));
        if (i > 0) TRY(make_inputs(s, i, message));
        TRY(make_weights(s, i, message));
    }
    TRY(choose_graph(s, message));
    return upload_plan(s, plan, message);
}

static void free_state(sx_cuda_state *s) {
    if (!s) return;
    cudaDeviceSynchronize();
    if (s->graph) cudaGraphExecDestroy(s->graph);
    for (int i = 0; i < s->n_layers; i++) {
        gemm_end(&s->layer[i].forward);
        gemm_end(&s->layer[i].masked);
        gemm_end(&s->layer[i].inputs);
        gemm_end(&s->layer[i].weights);
    }
    for (int i = 0; i < s->n_events; i++) cudaEventDestroy(s->event[i]);
    for (int i = 0; i < SLOTS; i++) {
        if (s->copied[i]) cudaEventDestroy(s->copied[i]);
        cudaFreeHost(s->slot[i]);
    }
    if (s->blas) cublasLtDestroy(s->blas);
    for (int i = 0; i < 2; i++)
        if (s->stream[i]) cudaStreamDestroy(s->stream[i]);
    for (int i = 0; i < s->n_buffers; i++) cudaFree(s->buffer[i]);
    cudaFree(s->data_input);
    cudaFree(s->data_target);
    free(s);
}

static int make_trainer(const sx_cuda_plan *plan, sx_cuda_state **out, char *message) {
    int devices = 0;
    TRY_CUDA(cudaGetDeviceCount(&devices));
    if (devices < 1 || plan->n_layers > MAX_LAYERS) {
        snprintf(message, SX_CUDA_MESSAGE, devices < 1 ? "there is none" : "too many layers");
        return 1;
    }
    sx_cuda_state *s = (sx_cuda_state *)calloc(1, sizeof *s);
    if (!s) {
        snprintf(message, SX_CUDA_MESSAGE, "out of memory");
        return 1;
    }
    if (prepare_state(s, plan, message)) {
        free_state(s);
        return 1;
    }
    *out = s;
    return 0;
}

/* A copy of the caller's numbers in the GPU's memory. */
static int copy_numbers(const float *from, size_t n, float **out, char *message) {
    TRY_CUDA(cudaMalloc((void **)out, n * sizeof(float)));
    TRY_CUDA(cudaMemcpy(*out, from, n * sizeof(float), cudaMemcpyHostToDevice));
    return 0;
}

static int load_data(sx_cuda_state *s, const float *input, const float *target, size_t n, char *message) {
    TRY_CUDA(cudaDeviceSynchronize());
    cudaFree(s->data_input);
    cudaFree(s->data_target);
    s->data_input = s->data_target = NULL;
    TRY(copy_numbers(input, n * s->layer[0].real_in, &s->data_input, message));
    TRY(copy_numbers(target, n * s->layer[s->n_layers - 1].real_out, &s->data_target, message));
    data_set set = {s->data_input, s->data_target};
    TRY_CUDA(cudaMemcpy(s->data, &set, sizeof set, cudaMemcpyHostToDevice));
    return 0;
}

static int run_step(sx_cuda_state *s, const uint32_t *row, float rate, char *message) {
    int slot = (int)(s->steps % SLOTS);
    size_t size = sizeof(step_head) + s->batch * sizeof *row;
    s->steps++;
    step_head head = {rate, (float)(1 / (1 - pow((double)s->rule.beta1, (double)s->steps))),
                      (float)(1 / (1 - pow((double)s->rule.beta2, (double)s->steps))), 0};
    TRY_CUDA(cudaEventSynchronize(s->copied[slot]));
    memcpy(s->slot[slot], &head, sizeof head);
    memcpy(s->slot[slot] + sizeof head, row, s->batch * sizeof *row);
    TRY_CUDA(cudaMemcpyAsync(s->head, s->slot[slot], size, cudaMemcpyHostToDevice, s->stream[0]));
    TRY_CUDA(cudaEventRecord(s->copied[slot], s->stream[0]));
    TRY_CUDA(cudaGraphLaunch(s->graph, s->stream[0]));
    return 0;
}

static int read_loss(sx_cuda_state *s, double *sum, char *message) {
    TRY_CUDA(cudaStreamSynchronize(s->stream[0]));
    TRY_CUDA(cudaMemcpy(sum, s->sum, sizeof *sum, cudaMemcpyDeviceToHost));
    TRY_CUDA(cudaMemset(s->sum, 0, sizeof *sum));
    TRY_CUDA(cudaDeviceSynchronize());
    return 0;
}

static int sync_state(sx_cuda_state *s, float *parameter, float *state, char *message) {
    TRY_CUDA(cudaStreamSynchronize(s->stream[0]));
    TRY(transfer_weights(s, parameter, s->rule.parameter, false, message));
    TRY(transfer_weights(s, state, s->rule.first, false, message));
    if (s->optimizer == ADAM)
        TRY(transfer_weights(s, state + s->n_parameters, s->rule.second, false, message));
    return 0;
}

extern "C" __attribute__((visibility("default"))) const sx_cuda_module *sx_cuda_module_get(void) {
    static const sx_cuda_module module = {
        SX_CUDA_MODULE_VERSION, make_trainer, free_state, load_data, run_step, read_loss, sync_state};
    return &module;
}
