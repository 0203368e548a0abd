/* Checks that training ends in the known bits on this machine, for several numbers of threads, and that training on a GPU,
 * where there is one, agrees with the CPU within what its precision allows. */
#include "learn/kernel.h"
#include "learn/trainer.h"
#include "sextant/rng.h"
#include "support/learn_state.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 2000, BATCH = 200, STEPS = 60 };

static void need(sx_status status) {
    if (!status) return;
    fprintf(stderr, "%s\n", sx_status_text(status));
    exit(1);
}

static int check_bits(void) {
    static const char *const name[] = {"own", "plain"};
    const sx_matrix_kernel *kernel = sx_matrix_kernel_best();
    int wrong = 0;
    printf("kernel: %s\n", kernel ? kernel->name : "none");
    for (unsigned threads = 0; threads <= 3; threads++) {
        for (int i = 0; i < 2; i++) {
            uint64_t hash;
            need(sx_learn_state((sx_matrix_backend)i, threads, &hash));
            bool right = hash == SX_LEARN_STATE;
            printf("%s, %u threads: %016" PRIx64 " %s\n", name[i], threads, hash,
                   right ? "as known" : "WRONG");
            wrong += !right;
        }
    }
    return wrong;
}

/* Trains a small net on a function; the mean loss of the last ten steps. False where there is no GPU. */
static bool train(sx_trainer_device device, sx_trainer_precision precision, sx_optimizer_kind kind,
                  sx_nn *net, double loss[2]) {
    static float input[ROWS * 10], target[ROWS * 3];
    const sx_optimizer_options rule = sx_optimizer_defaults(kind);
    const sx_trainer_options options = {device, precision, SX_LOSS_HUBER, BATCH};
    sx_optimizer *optimizer;
    sx_matrix_engine *engine;
    sx_trainer *trainer;
    sx_rng rng = sx_rng_stream(1, "check", 0);
    for (size_t i = 0; i < ROWS * 10; i++) input[i] = (float)(2 * sx_rng_double(&rng) - 1);
    for (size_t i = 0; i < ROWS * 3; i++) target[i] = input[i / 3 * 10 + i % 3] * input[i / 3 * 10 + 5] * 3;
    need(sx_optimizer_new(&rule, net->n_parameters, &optimizer));
    need(sx_matrix_engine_new(SX_MATRIX_OWN, NULL, &engine));
    sx_status status = sx_trainer_new(net, optimizer, engine, &options, &trainer);
    if (status) {
        printf("no GPU: %s\n", status->message);
        sx_status_free(status);
        sx_optimizer_free(optimizer);
        sx_matrix_engine_free(engine);
        return false;
    }
    need(sx_trainer_data(trainer, input, target, ROWS));
    for (int i = 0; i < STEPS; i++) {
        uint32_t row[BATCH];
        for (size_t r = 0; r < BATCH; r++) row[r] = (uint32_t)sx_rng_below(&rng, ROWS);
        need(sx_trainer_step(trainer, row, kind == SX_SGD ? 0.05f : 0.003f));
        if (i == 0) need(sx_trainer_loss(trainer, &loss[0]));
        if (i == STEPS - 11) need(sx_trainer_loss(trainer, &loss[1]));
    }
    need(sx_trainer_loss(trainer, &loss[1]));
    need(sx_trainer_sync(trainer));
    sx_trainer_free(trainer);
    sx_optimizer_free(optimizer);
    sx_matrix_engine_free(engine);
    return true;
}

/* How far two nets are apart, relative to what training has changed. */
static double distance(const sx_nn *a, const sx_nn *b, const sx_nn *start) {
    double apart = 0, moved = 0;
    for (size_t i = 0; i < a->n_parameters; i++) {
        double d = (double)a->parameter[i] - (double)b->parameter[i];
        double m = (double)a->parameter[i] - (double)start->parameter[i];
        apart += d * d;
        moved += m * m;
    }
    return sqrt(apart / moved);
}

static int check_gpu(void) {
    static const uint32_t width[] = {10, 40, 200, 100, 3};
    static const double allowed[] = {0.01, 0.1, 0.4};
    int wrong = 0;
    for (int kind = SX_SGD; kind <= SX_ADAM; kind++) {
        sx_nn *start, *cpu, *gpu;
        double right[2], loss[2];
        need(sx_nn_new_mlp(width, 5, SX_NN_RELU, SX_NN_KINDS, &start));
        sx_nn_initialise(start, SX_NN_HE, 3);
        need(sx_nn_copy(start, &cpu));
        train(SX_DEVICE_CPU, SX_FP32, (sx_optimizer_kind)kind, cpu, right);
        for (int precision = SX_FP32; precision <= SX_BF16; precision++) {
            need(sx_nn_copy(start, &gpu));
            if (!train(SX_DEVICE_CUDA, (sx_trainer_precision)precision, (sx_optimizer_kind)kind, gpu, loss))
                exit(wrong > 0);
            double apart = distance(cpu, gpu, start);
            bool agrees = apart < allowed[precision] && fabs(loss[0] - right[0]) < 0.02 * right[0];
            printf("%s, precision %d: loss %.6f to %.6f, on the CPU %.6f to %.6f, parameters %.2g apart %s\n",
                   kind == SX_ADAM ? "adam" : "sgd", precision, loss[0], loss[1], right[0], right[1], apart,
                   agrees ? "" : "WRONG");
            wrong += !agrees;
            sx_nn_free(gpu);
        }
        sx_nn_free(cpu);
        sx_nn_free(start);
    }
    return wrong;
}

int main(void) {
    int wrong = check_bits();
    if (wrong) return 1;
    return check_gpu() > 0;
}
