/* Mappings scored a second by the mappers of docs/gpu.md, on one core of the CPU and on a GPU, beside the core on one core:
 * the ratio is to drawn points for random and gamma, and to those under choices of kept tensors for pruned. Draws of random
 * and children of gamma count whether they are legal or not. */
#include "gpu/gpu.h"
#include "scores.h"

#include <math.h>

static const char *const cases[][2] = {
    {"bert-large-ff", "accel-a"},
    {"mttkrp-0", "accel-a"},
    {"resnet-conv4", "accel-a"},
};

enum { RANDOM, PRUNED, GAMMA, N_WAYS };
static const char *const ways[] = {"random", "pruned", "gamma"};

/* Ends the program where a module fails. */
static void need(int code, const char *message) {
    bench_need(sx_gpu_complaint(code, message));
}

/* A step of a way; returns how many mappings it scored. */
static double step(const sx_gpu_module *module, sx_gpu_device *device, int way, uint64_t i, uint64_t size) {
    sx_gpu_found found = {.best = {.value = INFINITY}};
    sx_gpu_epoch epoch = {1, 16 * i, 16, (uint32_t)(size / 512), {6554, 6554, 32768, 6554, 65536, 52429}};
    sx_gpu_point point;
    uint64_t listed;
    char message[SX_CUDA_MESSAGE];
    if (way == RANDOM) need(module->draw(device, 1, i * size, size, &found, message), message);
    if (way == GAMMA) need(module->evolve(device, &epoch, &found, &point, message), message);
    if (way != PRUNED) return (double)size;
    need(module->prune(device, 1, i * size / 64, size / 64, UINT64_MAX, &listed, &found, message), message);
    return (double)found.counts.legal;
}

/* Mappings a second, by the wall, after a step that does not count. */
static double rate_of(const sx_gpu_module *module, sx_gpu_device *device, int way, uint64_t size) {
    double n = 0, begin;
    step(module, device, way, 0, size);
    begin = bench_now(2);
    for (uint64_t i = 1; bench_now(2) < begin + 0.3; i++) n += step(module, device, way, i, size);
    return n / (bench_now(2) - begin);
}

/* Prints the rates of a module, and their ratios to the core. */
static void print_rates(const char *name, const sx_gpu_module *module, sx_gpu_device *device, uint64_t size,
                        const double *core) {
    for (int way = 0; way < N_WAYS; way++) {
        double rate = rate_of(module, device, way, size);
        printf("  %-8s %10.2f %8.1fx", ways[way], rate / 1e6, rate / core[way == PRUNED]);
    }
    printf("   %s\n", name);
}

/* Prints the rates of a space. */
static void print_case(const char *problem_name, const char *arch_name) {
    sx_problem problem;
    sx_arch arch;
    sx_objective objective;
    sx_gpu_image *image;
    sx_gpu_device *device;
    const sx_gpu_module *module;
    setup s;
    double rate[2], core[2], sum = 0;
    char message[SX_CUDA_MESSAGE];
    bench_need(sx_catalog_problem(problem_name, &problem));
    bench_need(sx_catalog_arch(arch_name, &arch));
    prepare(&s, &problem, &arch);
    compare(&s, DRAWN, rate, &sum);
    core[0] = rate[0];
    compare(&s, KEPT, rate, &sum);
    core[1] = rate[0];
    printf("%s on %s: core %.2f drawn, %.2f kept\n", problem_name, arch_name, core[0] / 1e6, core[1] / 1e6);
    bench_need(sx_objective_parse("edp", &objective));
    bench_need(sx_gpu_image_new(s.space, &objective, SX_GPU_POINTS | SX_GPU_TABLES, &image));
    for (int gpu = 0; gpu < 2; gpu++) {
        sx_status status = sx_gpu_module_find(gpu, &module);
        if (!status) status = sx_gpu_complaint(module->make(image, &device, message), message);
        if (status) {
            printf("  no GPU (%s)\n", status->message);
            sx_status_free(status);
            continue;
        }
        print_rates(gpu ? "GPU" : "CPU, one core", module, device, gpu ? 1 << 22 : 1 << 16, core);
        module->end(device);
    }
    free(image);
    finish(&s);
    if (sum < 0) printf("\n");
}

int main(void) {
    printf(
        "Millions of mappings per second: the mappers of GPUs, and their ratio to the core on one core\n\n");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) print_case(cases[c][0], cases[c][1]);
    return 0;
}
