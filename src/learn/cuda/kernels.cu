#include "learn/cuda/kernels.cuh"

enum { THREADS = 256, MAX_BLOCKS = 2048 };

static int blocks_for(size_t n) {
    size_t blocks = (n + THREADS - 1) / THREADS;
    return (int)(blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS);
}

static __device__ float float_of(float x) {
    return x;
}
static __device__ float float_of(__nv_bfloat16 x) {
    return __bfloat162float(x);
}
static __device__ void store_float(float *to, float x) {
    *to = x;
}
static __device__ void store_float(__nv_bfloat16 *to, float x) {
    *to = __float2bfloat16(x);
}

/* The first of the numbers of a thread's items, and their distance. */
#define EACH(i, n)                                                                                           \
    (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (n); i += (size_t)gridDim.x * blockDim.x)

template <typename T>
static __global__ void gather_rows(const data_set *data, const step_head *head, int batch, int width,
                                   int padded, T *to) {
    const uint32_t *row = (const uint32_t *)(head + 1);
    for
        EACH(i, (size_t)batch * padded) {
            size_t r = i / padded;
            int column = (int)(i % padded);
            store_float(&to[i], column < width ? data->input[row[r] * (size_t)width + column] : 0);
        }
}

void launch_gather(const data_set *data, const step_head *head, int batch, int width, int padded, bool half,
                   void *to, cudaStream_t stream) {
    int blocks = blocks_for((size_t)batch * padded);
    if (half)
        gather_rows<<<blocks, THREADS, 0, stream>>>(data, head, batch, width, padded, (__nv_bfloat16 *)to);
    else
        gather_rows<<<blocks, THREADS, 0, stream>>>(data, head, batch, width, padded, (float *)to);
}

/* The loss of a difference and its derivative: those of learn/loss.c. */
static __device__ float loss_of(int loss, float d, float *slope) {
    if (loss == 1) {
        *slope = 2 * d;
        return d * d;
    }
    float sign = d > 0 ? 1.f : d < 0 ? -1.f : d;
    *slope = loss == 0 && fabsf(d) <= 1 ? d : sign;
    return loss == 2 ? fabsf(d) : fabsf(d) <= 1 ? 0.5f * d * d : fabsf(d) - 0.5f;
}

/* Sums of a block's threads, in a fixed order. */
static __device__ void block_sum(double sum, double *out) {
    __shared__ double all[THREADS];
    all[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) all[threadIdx.x] += all[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = all[0];
}

template <typename T>
static __global__ void loss_kernel(int loss, const data_set *data, const step_head *head, int batch,
                                   int width, int padded, const T *output, T *gradient, double *part) {
    const uint32_t *row = (const uint32_t *)(head + 1);
    double sum = 0;
    float scale = 1.f / ((float)batch * (float)width);
    for
        EACH(i, (size_t)batch * padded) {
            size_t r = i / padded;
            int column = (int)(i % padded);
            float slope = 0;
            if (column < width)
                sum += loss_of(loss, float_of(output[i]) - data->target[row[r] * (size_t)width + column],
                               &slope);
            store_float(&gradient[i], slope * scale);
        }
    block_sum(sum / ((double)batch * width), &part[blockIdx.x]);
}

void launch_loss(int loss, const data_set *data, const step_head *head, int batch, int width, int padded,
                 bool half, const void *output, void *gradient, double *part, cudaStream_t stream) {
    if (half)
        loss_kernel<<<SX_LOSS_BLOCKS, THREADS, 0, stream>>>(loss, data, head, batch, width, padded,
                                                            (const __nv_bfloat16 *)output,
                                                            (__nv_bfloat16 *)gradient, part);
    else
        loss_kernel<<<SX_LOSS_BLOCKS, THREADS, 0, stream>>>(loss, data, head, batch, width, padded,
                                                            (const float *)output, (float *)gradient, part);
}

static __global__ void loss_sum(const double *part, double *sum) {
    double s = 0;
    for (int i = 0; i < SX_LOSS_BLOCKS; i++) s += part[i];
    *sum += s;
}

void launch_loss_sum(const double *part, double *sum, cudaStream_t stream) {
    loss_sum<<<1, 1, 0, stream>>>(part, sum);
}

template <typename T> static __global__ void mask(const T *output, T *gradient, size_t n) {
    for
        EACH(i, n)
    if (!(float_of(output[i]) > 0)) store_float(&gradient[i], 0);
}

void launch_mask(const void *output, void *gradient, size_t n, bool half, cudaStream_t stream) {
    if (half)
        mask<<<blocks_for(n), THREADS, 0, stream>>>((const __nv_bfloat16 *)output, (__nv_bfloat16 *)gradient,
                                                    n);
    else
        mask<<<blocks_for(n), THREADS, 0, stream>>>((const float *)output, (float *)gradient, n);
}

/* A block sums 32 columns of every SX_SUM_PARTS-th group of eight rows. */
template <typename T> static __global__ void part_sums(const T *rows, int n, int width, float *part) {
    __shared__ float sums[8][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    float s = 0;
    for (int i = blockIdx.y * 8 + threadIdx.y; column < width && i < n; i += 8 * SX_SUM_PARTS)
        s += float_of(rows[(size_t)i * width + column]);
    sums[threadIdx.y][threadIdx.x] = s;
    __syncthreads();
    if (threadIdx.y > 0 || column >= width) return;
    for (int i = 1; i < 8; i++) s += sums[i][threadIdx.x];
    part[(size_t)blockIdx.y * width + column] = s;
}

static __global__ void sum_parts(const float *part, int width, float *sum) {
    for
        EACH(i, (size_t)width) {
            float s = 0;
            for (int p = 0; p < SX_SUM_PARTS; p++) s += part[(size_t)p * width + i];
            sum[i] = s;
        }
}

void launch_column_sums(const void *rows, int n, int width, bool half, float *part, float *sum,
                        cudaStream_t stream) {
    dim3 threads(32, 8), blocks((width + 31) / 32, SX_SUM_PARTS);
    if (half)
        part_sums<<<blocks, threads, 0, stream>>>((const __nv_bfloat16 *)rows, n, width, part);
    else
        part_sums<<<blocks, threads, 0, stream>>>((const float *)rows, n, width, part);
    sum_parts<<<blocks_for(width), THREADS, 0, stream>>>(part, width, sum);
}

/* A block moves a tile of 32 by 32. */
static __global__ void transpose_matrix(const float *from, int rows, int columns, float *to) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (x < columns && y + i < rows)
            tile[threadIdx.y + i][threadIdx.x] = from[(size_t)(y + i) * columns + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (x < rows && y + i < columns) to[(size_t)(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
}

void launch_transpose(const float *from, int rows, int columns, float *to, cudaStream_t stream) {
    dim3 threads(32, 8), blocks((columns + 31) / 32, (rows + 31) / 32);
    transpose_matrix<<<blocks, threads, 0, stream>>>(from, rows, columns, to);
}

/* Four values as bf16, in one store. */
static __device__ void put_copy(__nv_bfloat16 *copy, size_t i, float4 p) {
    __nv_bfloat162 pair[2] = {__floats2bfloat162_rn(p.x, p.y), __floats2bfloat162_rn(p.z, p.w)};
    ((uint2 *)copy)[i] = *(const uint2 *)pair;
}

static __device__ void sgd_one(float *p, float *v, float g, bool weight, float momentum, float rate) {
    if (!weight) *v = momentum * *v + g;
    *p -= rate * *v;
}

/* Four parameters at a time: the numbers of weights and of parameters are multiples of four. */
static __global__ void sgd_step(update u, const step_head *head) {
    float rate = head->rate;
    for
        EACH(i, u.n / 4) {
            bool weight = 4 * i < u.n_weights;
            float4 p = ((float4 *)u.parameter)[i], v = ((float4 *)u.first)[i], g = make_float4(0, 0, 0, 0);
            if (!weight) g = ((const float4 *)u.gradient)[i];
            sgd_one(&p.x, &v.x, g.x, weight, u.momentum, rate);
            sgd_one(&p.y, &v.y, g.y, weight, u.momentum, rate);
            sgd_one(&p.z, &v.z, g.z, weight, u.momentum, rate);
            sgd_one(&p.w, &v.w, g.w, weight, u.momentum, rate);
            ((float4 *)u.parameter)[i] = p;
            if (!weight) ((float4 *)u.first)[i] = v;
            if (u.copy) put_copy(u.copy, i, p);
        }
}

void launch_sgd(const update *u, const step_head *head, cudaStream_t stream) {
    sgd_step<<<blocks_for(u->n / 4), THREADS, 0, stream>>>(*u, head);
}

static __device__ void adam_one(const update *u, const step_head *h, float *p, float *m, float *v, float g) {
    *m = u->beta1 * *m + (1 - u->beta1) * g;
    *v = u->beta2 * *v + (1 - u->beta2) * g * g;
    *p -= h->rate * h->correct1 * *m / (sqrtf(*v * h->correct2) + u->epsilon);
}

static __global__ void adam_step(update u, const step_head *head) {
    step_head h = *head;
    for
        EACH(i, u.n / 4) {
            float4 p = ((float4 *)u.parameter)[i], m = ((float4 *)u.first)[i], v = ((float4 *)u.second)[i];
            float4 g = ((const float4 *)u.gradient)[i];
            adam_one(&u, &h, &p.x, &m.x, &v.x, g.x);
            adam_one(&u, &h, &p.y, &m.y, &v.y, g.y);
            adam_one(&u, &h, &p.z, &m.z, &v.z, g.z);
            adam_one(&u, &h, &p.w, &m.w, &v.w, g.w);
            ((float4 *)u.parameter)[i] = p;
            ((float4 *)u.first)[i] = m;
            ((float4 *)u.second)[i] = v;
            if (u.copy) put_copy(u.copy, i, p);
        }
}

void launch_adam(const update *u, const step_head *head, cudaStream_t stream) {
    adam_step<<<blocks_for(u->n / 4), THREADS, 0, stream>>>(*u, head);
}

static __global__ void copy_half(const float *from, __nv_bfloat16 *to, size_t n) {
    for
        EACH(i, n) to[i] = __float2bfloat16(from[i]);
}

void launch_copy(const float *from, __nv_bfloat16 *to, size_t n, cudaStream_t stream) {
    copy_half<<<blocks_for(n), THREADS, 0, stream>>>(from, to, n);
}
