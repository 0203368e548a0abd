/* Sums over scores of drawn points, by which a GPU's bits are compared with the library's on another machine. */
#ifndef SX_BENCH_GPU_EXPECTED_H
#define SX_BENCH_GPU_EXPECTED_H

#include "gpu/module.h"

enum { GPU_CHUNK = 256 /* points of a sum */ };

/* Points 0 to n - 1, each the first legal one of `tries` draws. */
typedef struct gpu_expected {
    uint64_t seed, n;
    uint32_t tries, padding;
    uint64_t sum[]; /* of each chunk */
} gpu_expected;

static inline uint64_t gpu_sum_begin(void) {
    return 0xcbf29ce484222325u;
}

/* Adds the bits of a score. */
static inline uint64_t gpu_sum_add(uint64_t sum, uint64_t number, const sx_core_score *score) {
    uint64_t word[5] = {number, 0, 0, 0, 0};
    const unsigned char *from = (const unsigned char *)score;
    unsigned char *to = (unsigned char *)&word[1];
    for (size_t i = 0; i < sizeof *score; i++) to[i] = from[i];
    for (int i = 0; i < 5; i++) {
        sum = (sum ^ word[i]) * 0x100000001b3u;
        sum ^= sum >> 29;
    }
    return sum;
}

#endif
