/* What a GPU does with images of spaces, without the library: for machines that have a GPU but neither libyaml nor jansson.
 * bench-gpu-image makes the files.
 *
 *   bench-gpu bits IMAGE EXPECTED       scores of drawn points against sums over whole costs that the library wrote
 *   bench-gpu rates IMAGE               scores a second, single, drawn and swept
 *   bench-gpu same IMAGE N              looks at N factorisations on the GPU, and on the CPU by the same code
 *   bench-gpu search IMAGE [SECONDS]    looks at all mappings, for so many seconds at most */
#include "gpu/expected.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const sx_gpu_module *sx_gpu_module_get(void);

static char message[SX_CUDA_MESSAGE];
enum { MISSED = 1 << 16 };
static sx_gpu_place place[MISSED];

/* Ends the program with what the module says. */
static void need(int code) {
    if (!code) return;
    fprintf(stderr, "GPU: %s\n", message);
    exit(3);
}

/* A file, whole. */
static void *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    *size = (size_t)ftell(file);
    void *bytes = malloc(*size ? *size : 1);
    rewind(file);
    if (!bytes || fread(bytes, 1, *size, file) != *size) exit(2);
    fclose(file);
    return bytes;
}

/* The same points on the CPU of this machine: how many scores differ. */
static uint64_t compare_host(const sx_gpu_image *image, uint64_t seed, uint64_t n, const uint64_t *number,
                             const sx_gpu_score *score) {
    sx_gpu_view view = sx_gpu_view_of(image, image);
    sx_gpu_lane alone = {0, 1, 0, 1, 1};
    uint64_t differ = 0;
    for (uint64_t i = 0; i < n; i++) {
        static sx_gpu_scratch own;
        sx_gpu_state st = {.own = &own};
        sx_gpu_score here = {0, 0, 0, 0};
        double charge[SX_GPU_TENSORS * SX_GPU_CHARGE];
        if (number[i] == UINT64_MAX) continue;
        sx_gpu_draw(&view, &st, seed, number[i]);
        if (sx_gpu_score_point(&view, &st, charge, alone, &here) != SX_GPU_LEGAL ||
            memcmp(&here, &score[i], sizeof here) != 0)
            differ++;
    }
    return differ;
}

/* Scores the points of EXPECTED. */
static int bits(const sx_gpu_module *module, const sx_gpu_image *image, const gpu_expected *expected) {
    sx_gpu_device *device;
    uint64_t n = expected->n, none = 0, bad = 0, legal = 0;
    uint64_t *number = malloc(n * sizeof *number);
    sx_gpu_score *score = malloc(n * sizeof *score);
    uint8_t *verdict = malloc(n);
    double seconds;
    if (!number || !score || !verdict) return 3;
    need(module->make(image, &device, message));
    need(module->measure(device, expected->seed, n, expected->tries, number, score, verdict, &seconds,
                         message));
    for (uint64_t at = 0; at < n; at += GPU_CHUNK) {
        uint64_t sum = gpu_sum_begin();
        for (uint64_t i = at; i < at + GPU_CHUNK && i < n; i++) {
            none += number[i] == UINT64_MAX;
            if (number[i] == UINT64_MAX) continue;
            legal += verdict[i] == SX_GPU_LEGAL;
            sum = gpu_sum_add(sum, number[i], &score[i]);
        }
        bad += sum != expected->sum[at / GPU_CHUNK];
    }
    printf("%s: %llu points, %llu legal, %llu without, %llu of %llu sums differ from the library\n",
           image->name, (unsigned long long)n, (unsigned long long)legal, (unsigned long long)none,
           (unsigned long long)bad, (unsigned long long)((n + GPU_CHUNK - 1) / GPU_CHUNK));
    printf("%s: %llu scores differ from this machine's CPU\n", image->name,
           (unsigned long long)compare_host(image, expected->seed, n, number, score));
    module->end(device);
    return bad != 0;
}

static void show_found(const char *what, const sx_gpu_found *f) {
    printf("%s: %.3f s, %.6g legal (%.3f G/s), %.6g orders (%.3f G/s), %.6g factorisations, %.6g not "
           "covered, best %.17g at "
           "%llu/%u/%u/%u\n",
           what, f->seconds, (double)f->counts.legal, (double)f->counts.legal / f->seconds / 1e9,
           (double)f->counts.orders, (double)f->counts.orders / f->seconds / 1e9,
           (double)f->counts.factorisations, (double)f->counts.uncovered, f->best.value,
           (unsigned long long)f->best.at.factorisation, f->best.at.layout, f->best.at.order,
           f->best.at.keep);
    fflush(stdout);
}

/* Single scores, draws and sweeps. */
static int rates(const sx_gpu_module *module, const sx_gpu_image *image) {
    sx_gpu_device *device;
    uint64_t n = SX_GPU_MEASURED, draws = 1ull << 28, from = image->factorisations / 3;
    uint64_t *number = malloc(n * sizeof *number);
    sx_gpu_score *score = malloc(n * sizeof *score);
    uint8_t *verdict = malloc(n);
    sx_gpu_found drawn = {.best = {.value = INFINITY}}, swept = drawn;
    sx_gpu_missed missed = {0, MISSED, place};
    double seconds;
    if (!number || !score || !verdict) return 3;
    need(module->make(image, &device, message));
    need(module->measure(device, 3, n, 512, number, score, verdict, &seconds, message));
    printf("%s: %.3f G scores/s\n", image->name, (double)n / seconds / 1e9);
    need(module->draw(device, 5, 0, draws, &drawn, message));
    printf("%s: %.3f G draws/s, %.3f G legal/s, best %.17g\n", image->name,
           (double)draws / drawn.seconds / 1e9, (double)drawn.counts.legal / drawn.seconds / 1e9,
           drawn.best.value);
    need(module->search(device, &from, image->factorisations, 1.0, &swept, &missed, message));
    show_found(image->name, &swept);
    module->end(device);
    return 0;
}

/* Looks at some factorisations on the GPU, and on one core of the CPU. */
static int same(const sx_gpu_module *module, const sx_gpu_image *image, uint64_t n) {
    sx_gpu_device *device;
    static sx_gpu_scratch own;
    static double charge[SX_GPU_TENSORS * 64 * SX_GPU_CHARGE];
    sx_gpu_view view = sx_gpu_view_of(image, image);
    sx_gpu_state st = {.own = &own};
    sx_gpu_found a = {.best = {.value = INFINITY}}, b = a;
    sx_gpu_missed missed = {0, MISSED, place}, others = {0, 0, NULL};
    uint64_t first = image->factorisations / 7 * 3, from = first, to = first + n;
    if (to > image->factorisations) to = image->factorisations;
    need(module->make(image, &device, message));
    need(module->search(device, &from, to, 0, &a, &missed, message));
    show_found("GPU", &a);
    for (uint64_t f = first; f < to; f++) sx_gpu_look_at(&view, &st, charge, f, &b.best, &b.counts, &others);
    b.seconds = 1;
    show_found("CPU", &b);
    bool equal = memcmp(&a.counts, &b.counts, sizeof a.counts) == 0 &&
                 memcmp(&a.best, &b.best, sizeof a.best) == 0 && missed.n == others.n;
    printf("%s, %llu factorisations: GPU and CPU find %s\n", image->name, (unsigned long long)(to - first),
           equal ? "the same" : "other things");
    module->end(device);
    return !equal;
}

/* Looks at all mappings, for so many seconds at most. */
static int search(const sx_gpu_module *module, const sx_gpu_image *image, double seconds) {
    sx_gpu_device *device;
    sx_gpu_found found = {.best = {.value = INFINITY}};
    sx_gpu_missed missed = {0, MISSED, place};
    uint64_t from = 0;
    need(module->make(image, &device, message));
    need(module->search(device, &from, image->factorisations, seconds, &found, &missed, message));
    show_found(image->name, &found);
    printf("%s: %llu of %llu factorisations looked at: %s\n", image->name, (unsigned long long)from,
           (unsigned long long)image->factorisations, from == image->factorisations ? "all" : "not all");
    module->end(device);
    return from != image->factorisations;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    const sx_gpu_module *module = sx_gpu_module_get();
    size_t size;
    const sx_gpu_image *image = read_file(argv[2], &size);
    if (!sx_gpu_image_is_whole(image, size)) {
        fprintf(stderr, "%s is no image of a space, or it is damaged\n", argv[2]);
        return 2;
    }
    if (strcmp(argv[1], "bits") == 0 && argc > 3) return bits(module, image, read_file(argv[3], &size));
    if (strcmp(argv[1], "rates") == 0) return rates(module, image);
    if (strcmp(argv[1], "search") == 0) return search(module, image, argc > 3 ? atof(argv[3]) : 0);
    if (strcmp(argv[1], "same") == 0 && argc > 3) return same(module, image, strtoull(argv[3], NULL, 10));
    return 2;
}
