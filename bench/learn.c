/* How fast networks train and answer, side by side with PyTorch where there is one.
 *
 *   training   one step (forward, Huber loss, backward, SGD with momentum) of Mind Mappings' network on a batch of 256
 *   gradient   outputs and the gradient with respect to the inputs of one row, on one thread, of that network and of the
 *              compact one
 *   GPU        training steps per precision and size of batch, where the build has CUDA and the machine a GPU
 *
 *   threads    samples per second of the training of that network with 1, 2, 4, ... threads, by the own product, by
 *              OpenBLAS and by PyTorch; steps alone, without held-out problems
 *
 * usage: bench-learn [cpu|gpu|product]   (default: cpu and gpu; product: the matrix product alone)
 *        bench-learn threads [BATCH [MOST_THREADS]] */
#include "bench.h"
#include "learn/trainer.h"
#include "sextant/rng.h"

#include <math.h>
#include <string.h>

enum { BATCH = 256, THREADS = 2, ROUNDS = 3, ROWS = 1 << 16 };

static const uint32_t paper[] = {62, 64, 256, 1024, 2048, 2048, 1024, 256, 64, 12};
static const uint32_t compact[] = {62, 128, 256, 256, 128, 12};
enum { N_PAPER = sizeof paper / sizeof *paper, N_COMPACT = sizeof compact / sizeof *compact };

/* PyTorch 2.11 with fused SGD and CUDA graphs on an H200, samples per second, as given. */
static const double graphed[3][3] = {{316e3, 633e3, 865e3}, {600e3, 1.66e6, 3.77e6}, {581e3, 1.85e6, 6.68e6}};

static sx_nn *net_new(const uint32_t *width, size_t n) {
    sx_nn *net;
    bench_need(sx_nn_new_mlp(width, n, SX_NN_RELU, SX_NN_KINDS, &net));
    sx_nn_initialise(net, SX_NN_HE, 1);
    return net;
}

static float *numbers(size_t n) {
    float *x = malloc(n * sizeof *x);
    if (!x) exit(3);
    sx_rng rng = sx_rng_stream(1, "bench.learn", 0);
    for (size_t i = 0; i < n; i++) x[i] = (float)(2 * sx_rng_double(&rng) - 1);
    return x;
}

/* Keeps the lesser of two times; 0 is none. */
static void keep_least(double *least, double x) {
    if (*least == 0 || x < *least) *least = x;
}

/* Training: a net, its trainer and rows to draw from. */
typedef struct training {
    sx_nn *net;
    sx_optimizer *optimizer;
    sx_trainer *trainer;
    float *input, *target;
    uint32_t *row;
    size_t batch;
    sx_rng rng;
} training;

static sx_status training_init(training *t, sx_matrix_engine *engine, const sx_trainer_options *options) {
    const sx_optimizer_options sgd = sx_optimizer_defaults(SX_SGD);
    *t = (training){.batch = options->batch, .rng = sx_rng_stream(1, "bench.rows", 0)};
    t->net = net_new(paper, N_PAPER);
    bench_need(sx_optimizer_new(&sgd, t->net->n_parameters, &t->optimizer));
    t->input = numbers((size_t)ROWS * t->net->inputs);
    t->target = numbers((size_t)ROWS * t->net->outputs);
    t->row = malloc(t->batch * sizeof *t->row);
    if (!t->row) exit(3);
    SX_TRY(sx_trainer_new(t->net, t->optimizer, engine, options, &t->trainer));
    return sx_trainer_data(t->trainer, t->input, t->target, ROWS);
}

static void training_fini(training *t) {
    sx_trainer_free(t->trainer);
    sx_optimizer_free(t->optimizer);
    sx_nn_free(t->net);
    free(t->input);
    free(t->target);
    free(t->row);
}

/* Seconds per step, of some steps: by the wall, and of all threads by the processor. */
static double steps(training *t, int n, double *processor) {
    double loss, start, begin;
    bench_need(sx_trainer_loss(t->trainer, &loss));
    start = bench_now(2);
    begin = bench_now(1);
    for (int i = 0; i < n; i++) {
        for (size_t r = 0; r < t->batch; r++) t->row[r] = (uint32_t)(sx_rng_next(&t->rng) % ROWS);
        bench_need(sx_trainer_step(t->trainer, t->row, 0.01f));
    }
    bench_need(sx_trainer_loss(t->trainer, &loss));
    if (!isfinite(loss)) exit(3);
    if (processor) keep_least(processor, (bench_now(1) - begin) / n);
    return (bench_now(2) - start) / n;
}

/* Seconds of one input gradient. */
static double gradient(const sx_nn *net, int n) {
    sx_matrix_engine *engine;
    sx_nn_pass *pass;
    float d_output[64], d_input[64], *input = numbers(net->inputs);
    for (int i = 0; i < 64; i++) d_output[i] = 1;
    bench_need(sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &engine));
    bench_need(sx_nn_pass_new(net, engine, 1, &pass));
    double start = bench_now(1);
    for (int i = 0; i < n; i++) {
        sx_nn_forward(pass, input, 1);
        sx_nn_backward(pass, d_output, NULL, d_input);
        input[i % (int)net->inputs] += 0.01f * d_input[0];
    }
    double seconds = (bench_now(1) - start) / n;
    sx_nn_pass_free(pass);
    sx_matrix_engine_free(engine);
    free(input);
    return seconds;
}

/* What PyTorch needs, by bench/learn.py: seconds per training step, by wall and processor, and per gradient; false where there is
 * no PyTorch. */
static bool torch(double seconds[4]) {
    char command[4096];
    snprintf(command, sizeof command, "python3 %s/learn.py %d %d 2>/dev/null", SX_BENCH_DATA, BATCH, THREADS);
    FILE *python = popen(command, "r");
    if (!python) return false;
    bool read = fscanf(python, "%lf %lf %lf %lf", &seconds[0], &seconds[1], &seconds[2], &seconds[3]) == 4;
    return pclose(python) == 0 && read;
}

/* Rounds of ours and of PyTorch in turn, the best of each. */
static void measure_cpu(void) {
    sx_pool *pool;
    sx_matrix_engine *engine, *blas = NULL;
    training own, by_blas;
    const sx_trainer_options options = {.loss = SX_LOSS_HUBER, .batch = BATCH};
    double best[6] = {0}, rival[6] = {0}, seconds[4];
    sx_nn *nets[] = {net_new(paper, N_PAPER), net_new(compact, N_COMPACT)};
    bool has_torch = true;
    bench_need(sx_pool_new(THREADS, &pool));
    bench_need(sx_matrix_engine_new(SX_MATRIX_OWN, pool, &engine));
    bench_need(training_init(&own, engine, &options));
    sx_status_free(sx_matrix_engine_new(SX_MATRIX_OPENBLAS, pool, &blas));
    if (blas) bench_need(training_init(&by_blas, blas, &options));
    for (int round = 0; round < ROUNDS; round++) {
        keep_least(&best[0], steps(&own, 6, &best[1]));
        keep_least(&best[2], gradient(nets[0], 100));
        keep_least(&best[3], gradient(nets[1], 2000));
        if (blas) keep_least(&best[4], steps(&by_blas, 6, &best[5]));
        has_torch = has_torch && torch(seconds);
        for (int i = 0; has_torch && i < 4; i++) keep_least(&rival[i], seconds[i]);
    }
    static const char *const what[] = {
        "training step, batch 256, 2 threads", "  its processor time",      "input gradient, 1 thread",
        "input gradient, compact, 1 thread",   "training step by OpenBLAS", "  its processor time"};
    printf("%-40s %12s %12s\n", "milliseconds, best of rounds", "own", has_torch ? "PyTorch" : "");
    for (int i = 0; i < (blas ? 6 : 4); i++) {
        printf("%-40s %12.4f", what[i], 1e3 * best[i]);
        if (has_torch) printf(" %12.4f", 1e3 * rival[i % 4]);
        printf("\n");
    }
    if (!has_torch) printf("PyTorch is not installed (Debian: python3-torch): nothing to compare with\n");
    if (blas) training_fini(&by_blas);
    training_fini(&own);
    sx_matrix_engine_free(blas);
    sx_matrix_engine_free(engine);
    sx_pool_free(pool);
    sx_nn_free(nets[0]);
    sx_nn_free(nets[1]);
}

/* Samples per second of training by a back end with a given number of threads; 0 where the build lacks it. */
static double samples_per_second(sx_matrix_backend backend, size_t batch, unsigned threads) {
    const sx_trainer_options options = {.loss = SX_LOSS_HUBER, .batch = batch};
    sx_matrix_engine *engine = NULL;
    sx_pool *pool;
    training t;
    double best = 0;
    bench_need(sx_pool_new(threads, &pool));
    sx_status_free(sx_matrix_engine_new(backend, pool, &engine));
    if (engine) {
        bench_need(training_init(&t, engine, &options));
        steps(&t, 1, NULL);
        for (int round = 0; round < ROUNDS; round++) keep_least(&best, steps(&t, 4, NULL));
        training_fini(&t);
    }
    sx_matrix_engine_free(engine);
    sx_pool_free(pool);
    return best > 0 ? (double)batch / best : 0;
}

/* Samples per second of PyTorch with 1, 2, 4, ... threads; 0 where there is none. */
static void torch_by_threads(size_t batch, unsigned most, double *out) {
    char command[4096];
    int at = snprintf(command, sizeof command, "python3 %s/learn.py steps %zu", SX_BENCH_DATA, batch);
    for (unsigned threads = 1; threads <= most; threads *= 2)
        at += snprintf(command + at, sizeof command - (size_t)at, " %u", threads);
    snprintf(command + at, sizeof command - (size_t)at, " 2>/dev/null");
    FILE *python = popen(command, "r");
    for (unsigned threads = 1; threads <= most; threads *= 2, out++)
        if (!python || fscanf(python, "%lf", out) != 1) *out = 0;
    if (python) pclose(python);
}

static void measure_threads(size_t batch, unsigned most) {
    double rival[16] = {0}, *at = rival;
    torch_by_threads(batch, most, rival);
    printf("samples per second, batch %zu\n%8s %10s %10s %10s\n", batch, "threads", "own", "OpenBLAS",
           "PyTorch");
    for (unsigned threads = 1; threads <= most; threads *= 2, at++) {
        printf("%8u %10.0f %10.0f %10.0f\n", threads, samples_per_second(SX_MATRIX_OWN, batch, threads),
               samples_per_second(SX_MATRIX_OPENBLAS, batch, threads), *at);
        fflush(stdout);
    }
}

static void measure_gpu(void) {
    static const char *const name[] = {"fp32", "tf32", "bf16"};
    static const size_t batch[] = {256, 1024, 8192};
    printf("%-12s %8s %16s %16s %8s\n", "GPU", "batch", "samples/s", "PyTorch, given", "ratio");
    for (int p = 0; p < 3; p++) {
        for (int b = 0; b < 3; b++) {
            const sx_trainer_options options = {SX_DEVICE_CUDA, (sx_trainer_precision)p, SX_LOSS_HUBER,
                                                batch[b]};
            training t;
            sx_status status = training_init(&t, NULL, &options);
            if (status) {
                printf("no GPU figures: %s\n", status->message);
                sx_status_free(status);
                training_fini(&t);
                return;
            }
            double best = 0;
            steps(&t, 20, NULL);
            for (int round = 0; round < ROUNDS; round++) keep_least(&best, steps(&t, 100, NULL));
            double rate = (double)batch[b] / best;
            printf("%-12s %8zu %16.0f %16.0f %8.2f\n", name[p], batch[b], rate, graphed[p][b],
                   rate / graphed[p][b]);
            fflush(stdout);
            training_fini(&t);
        }
    }
}

/* GFLOP/s of the products of one layer of 2048 x 2048: forward, gradient of weights, gradient of inputs. */
static void measure_product(void) {
    enum { N = 2048 };
    float *a = numbers((size_t)BATCH * N), *b = numbers((size_t)N * N), *c = numbers((size_t)N * N);
    const sx_matmul product[] = {
        {.m = BATCH, .n = N, .k = N, .a = a, .b = b, .c = c},
        {.m = N, .n = N, .k = BATCH, .a = a, .b = a, .c = c, .a_transposed = true},
        {.m = BATCH, .n = N, .k = N, .a = a, .b = b, .c = c, .b_transposed = true},
    };
    for (unsigned threads = 1; threads <= THREADS; threads++) {
        sx_pool *pool;
        sx_matrix_engine *engine;
        bench_need(sx_pool_new(threads, &pool));
        bench_need(sx_matrix_engine_new(SX_MATRIX_OWN, pool, &engine));
        for (int i = 0; i < 3; i++) {
            double best = 0;
            for (int round = 0; round < 3 * ROUNDS; round++) {
                double start = bench_now(threads);
                sx_matrix_product(engine, &product[i]);
                keep_least(&best, bench_now(threads) - start);
            }
            printf("product %d, %u threads: %.1f GFLOP/s\n", i, threads, 2e-9 * BATCH * N * N / best);
        }
        sx_matrix_engine_free(engine);
        sx_pool_free(pool);
    }
    free(a);
    free(b);
    free(c);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "product") == 0) measure_product();
    if (strcmp(what, "threads") == 0)
        measure_threads(argc > 2 ? strtoul(argv[2], NULL, 10) : 1024,
                        argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) & 0x3ff : 16);
    if (!what[0] || strcmp(what, "cpu") == 0) measure_cpu();
    if (!what[0] || strcmp(what, "gpu") == 0) measure_gpu();
    return 0;
}
