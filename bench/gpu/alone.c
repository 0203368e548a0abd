/* What a GPU does with images of spaces, without the library: for machines that have a GPU but neither libyaml nor jansson.
 * bench-gpu-image makes the files.
 *
 *   bench-gpu bits IMAGE EXPECTED       scores of drawn points against sums over whole costs that the library wrote
 *   bench-gpu rates IMAGE               scores a second: single, of the mappers random, pruned and gamma, and swept
 *   bench-gpu brief IMAGE               scores a second: single and of gamma alone
 *   bench-gpu same IMAGE N              looks at N factorisations, and draws, prunes and breeds about as many, on the GPU,
 *                                       and on the CPU by the same code
 *   bench-gpu search IMAGE [SECONDS]    looks at all mappings, for a given number of seconds at most */
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
                             const sx_core_score *score) {
    sx_gpu_view view = sx_gpu_view_of(image, image);
    sx_core_lane alone = {0, 1, 0, 1, 1};
    uint64_t differ = 0;
    for (uint64_t i = 0; i < n; i++) {
        static sx_core_scratch own;
        sx_core_state st = {.own = &own};
        sx_core_score here = {0, 0, 0, 0};
        double charge[SX_CORE_TENSORS * SX_CORE_CHARGE];
        if (number[i] == UINT64_MAX) continue;
        sx_gpu_draw_nest(&view, &st, seed, number[i]);
        if (sx_gpu_score_nest(&view, &st, charge, alone, &here) != SX_CORE_LEGAL ||
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
    sx_core_score *score = malloc(n * sizeof *score);
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
            legal += verdict[i] == SX_CORE_LEGAL;
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

/* Single scores. */
static void rate_single(const sx_gpu_module *module, const sx_gpu_image *image, sx_gpu_device *device) {
    uint64_t n = SX_GPU_MEASURED, *number = malloc(n * sizeof *number);
    sx_core_score *score = malloc(n * sizeof *score);
    uint8_t *verdict = malloc(n);
    double seconds;
    if (!number || !score || !verdict) exit(3);
    need(module->measure(device, 3, n, 512, number, score, verdict, &seconds, message));
    printf("%s: %.3f G scores/s\n", image->name, (double)n / seconds / 1e9);
    free(number);
    free(score);
    free(verdict);
}

/* Those of the CPU's gamma, in parts of 2^16. */
static const sx_core_chances chances = {6554, 6554, 32768, 6554, 65536, 52429};

/* Draws and breeds a few points. */
static void try_points(const sx_gpu_module *module, const sx_gpu_image *image, sx_gpu_found *found,
                       sx_gpu_point *point) {
    sx_gpu_device *device;
    const sx_gpu_epoch epoch = {7, 0, 64, 4, chances};
    memset(point, 0, sizeof *point);
    *found = (sx_gpu_found){.best = {.value = INFINITY}};
    need(module->make(image, &device, message));
    need(module->draw(device, 7, 0, 20000, found, message));
    need(module->evolve(device, &epoch, found, point, message));
    module->end(device);
    found->seconds = 0;
}

/* Children of some islands. */
static void rate_children(const sx_gpu_module *module, const sx_gpu_image *image, sx_gpu_device *device,
                          uint32_t islands) {
    sx_gpu_found bred = {.best = {.value = INFINITY}};
    sx_gpu_point point;
    for (uint64_t i = 0; i < 8; i++) {
        sx_gpu_epoch epoch = {5, 16 * i, 16, islands, chances};
        need(module->evolve(device, &epoch, &bred, &point, message));
    }
    printf("%s: gamma %.3f G children/s of %u islands, best %.17g\n", image->name,
           8.0 * 16 * islands * SX_GPU_ISLAND / bred.seconds / 1e9, islands, bred.best.value);
}

/* Single scores and children alone, for comparisons of kernels; and whether a few points are the CPU's. */
static int rate_brief(const sx_gpu_module *module, const sx_gpu_image *image) {
    sx_gpu_device *device;
    need(module->make(image, &device, message));
    rate_single(module, image, device);
    for (uint32_t islands = 2048; islands <= 8192; islands *= 4)
        rate_children(module, image, device, islands);
    module->end(device);
    static sx_gpu_found found[2];
    static sx_gpu_point best[2];
    try_points(module, image, &found[0], &best[0]);
    try_points(sx_gpu_emulation(), image, &found[1], &best[1]);
    bool same =
        memcmp(&found[0], &found[1], sizeof found[0]) == 0 && memcmp(&best[0], &best[1], sizeof best[0]) == 0;
    printf("%s: GPU and CPU draw and breed %s\n", image->name, same ? "the same" : "other things");
    return !same;
}

/* The mappers, draw or breed, score and reduce; and a sweep of a second. */
static int rates(const sx_gpu_module *module, const sx_gpu_image *image) {
    sx_gpu_device *device;
    uint64_t draws = 1ull << 22, rounds = 64, listed, from = image->factorisations / 3, blocks = 0,
             children = 0;
    sx_gpu_found drawn = {.best = {.value = INFINITY}}, pruned = drawn, bred = drawn, swept = drawn;
    sx_gpu_missed missed = {0, MISSED, place};
    sx_gpu_point point;
    need(module->make(image, &device, message));
    rate_single(module, image, device);
    for (uint64_t i = 0; i < rounds; i++) {
        sx_gpu_epoch epoch = {5, 16 * i, 16, 2048, chances};
        need(module->draw(device, 5, i * draws, draws, &drawn, message));
        need(module->prune(device, 5, i * draws, draws, UINT64_MAX, &listed, &pruned, message));
        need(module->evolve(device, &epoch, &bred, &point, message));
        blocks += listed;
        children += 16 * 2048 * SX_GPU_ISLAND;
    }
    printf(
        "%s: random %.3f G draws/s, gamma %.3f G children/s, pruned %.3f G draws/s of which %.3g %% can be "
        "legal\n",
        image->name, (double)(rounds * draws) / drawn.seconds / 1e9, (double)children / bred.seconds / 1e9,
        (double)(rounds * draws) / pruned.seconds / 1e9, 100 * (double)blocks / (double)(rounds * draws));
    show_found("  random", &drawn);
    show_found("  pruned", &pruned);
    show_found("  gamma", &bred);
    need(module->search(device, &from, image->factorisations, 1.0, &swept, &missed, message));
    show_found("  swept", &swept);
    module->end(device);
    return 0;
}

/* What the searches of a module find in a part of a space. */
typedef struct searches {
    sx_gpu_found swept, drawn, pruned, bred;
    sx_gpu_point point; /* the best of those that were bred */
    uint64_t listed;
    unsigned long long missed;
} searches;

/* Searches a part of a space in all ways. */
static void search_part(const sx_gpu_module *module, const sx_gpu_image *image, uint64_t n, searches *out) {
    sx_gpu_device *device;
    sx_gpu_missed missed = {0, MISSED, place};
    uint64_t from = image->factorisations / 7 * 3, to = from + n;
    if (to > image->factorisations) to = image->factorisations;
    memset(out, 0, sizeof *out);
    out->swept.best.value = out->drawn.best.value = out->pruned.best.value = out->bred.best.value = INFINITY;
    need(module->make(image, &device, message));
    while (from < to) need(module->search(device, &from, to, 0, &out->swept, &missed, message));
    need(module->draw(device, 7, 3, 10 * n, &out->drawn, message));
    need(module->prune(device, 7, 3, n, UINT64_MAX, &out->listed, &out->pruned, message));
    for (uint64_t first = 0; first < 64; first += 16) {
        sx_gpu_epoch epoch = {11, first, 16, (uint32_t)(n / 1000 + 1), chances};
        need(module->evolve(device, &epoch, &out->bred, &out->point, message));
    }
    module->end(device);
    out->missed = missed.n;
    out->swept.seconds = out->drawn.seconds = out->pruned.seconds = out->bred.seconds = 1;
}

static void show_searches(const char *where, const searches *s) {
    printf("%s, %llu blocks of orders\n", where, (unsigned long long)s->listed);
    show_found("  swept", &s->swept);
    show_found("  random", &s->drawn);
    show_found("  pruned", &s->pruned);
    show_found("  gamma", &s->bred);
}

/* Searches a part of a space on the GPU, and on one core of the CPU. */
static int same(const sx_gpu_module *module, const sx_gpu_image *image, uint64_t n) {
    static searches gpu, cpu;
    search_part(module, image, n, &gpu);
    show_searches("GPU", &gpu);
    search_part(sx_gpu_emulation(), image, n, &cpu);
    show_searches("CPU", &cpu);
    bool equal = memcmp(&gpu, &cpu, sizeof gpu) == 0;
    printf("%s, %llu factorisations: GPU and CPU find %s\n", image->name, (unsigned long long)n,
           equal ? "the same" : "other things");
    return !equal;
}

/* Looks at all mappings, for a given number of seconds at most. */
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
    if (strcmp(argv[1], "brief") == 0) return rate_brief(module, image);
    if (strcmp(argv[1], "search") == 0) return search(module, image, argc > 3 ? atof(argv[3]) : 0);
    if (strcmp(argv[1], "same") == 0 && argc > 3) return same(module, image, strtoull(argv[3], NULL, 10));
    return 2;
}
