/* What the module that scores mappings on a GPU gives and takes: plain C, so that the module and the library share no
 * code. */
#ifndef SX_GPU_MODULE_H
#define SX_GPU_MODULE_H

#include "base/cuda.h"
#include "gpu/tables.h"

/* Changes with everything below. */
enum { SX_GPU_MODULE_VERSION = 3 };
enum { SX_GPU_MEASURED = 1 << 22 };
enum {
    SX_GPU_ISLAND = 32, /* members of an island: the threads of a warp */
    SX_GPU_POINT = 2 * SX_GPU_LEVELS + SX_CORE_WORDS
};

/* A compact point, of any space that an image can be of. */
typedef struct sx_gpu_point {
    uint64_t word[SX_GPU_POINT];
} sx_gpu_point;

/* A member of a population. */
typedef struct sx_gpu_member {
    sx_gpu_point point;
    double value; /* infinite: no legal point yet */
} sx_gpu_member;

/* What scoring all mappings of a space found. */
typedef struct sx_gpu_found {
    sx_gpu_best best;
    sx_gpu_counts counts;
    double seconds; /* on the GPU; 0 on the CPU */
} sx_gpu_found;

/* Generations of a population: islands of SX_GPU_ISLAND members each. */
typedef struct sx_gpu_epoch {
    uint64_t seed;
    uint64_t first; /* generation; at 0 the population begins anew */
    uint32_t
        generations; /* at the beginning, an island's best member takes the place of the next island's worst */
    uint32_t islands;
    sx_core_chances chances; /* of a mutation's changes */
} sx_gpu_epoch;

/* An image in the memory of a GPU. */
typedef struct sx_gpu_device sx_gpu_device;

/* Functions return 0, or another number with a message of SX_CUDA_MESSAGE bytes. */
typedef struct sx_gpu_module {
    int version;
    int (*make)(const sx_gpu_image *image, sx_gpu_device **out, char *message);
    void (*end)(sx_gpu_device *device);
    /* Scores points; what becomes of each goes to `verdict`. */
    int (*score)(sx_gpu_device *device, const sx_core_nest *point, size_t n, sx_core_score *score,
                 uint8_t *verdict, char *message);
    /* Scores all mappings from factorisation *from up to `to`, and adds to what was found. Ends after about `seconds`
     * (0: never); *from is then where to go on. */
    int (*search)(sx_gpu_device *device, uint64_t *from, uint64_t to, double seconds, sx_gpu_found *found,
                  sx_gpu_missed *missed, char *message);
    /* The best of n points drawn from a seed, numbers `first` and following; best.at.factorisation is its number. Counts
     * those that were legal. */
    int (*draw)(sx_gpu_device *device, uint64_t seed, uint64_t first, uint64_t n, sx_gpu_found *found,
                char *message);
    /* Lists the blocks of orders drawn from a seed, numbers `first` to first + n - 1; *listed: how many can be legal. Where
     * these are no more than `most`, scores them under all sets of kept tensors. n is at most SX_GPU_MEASURED. */
    int (*prune)(sx_gpu_device *device, uint64_t seed, uint64_t first, uint64_t n, uint64_t most,
                 uint64_t *listed, sx_gpu_found *found, char *message);
    /* Goes on with a population, which stays on the GPU. The best member goes to *best where it is better than
     * found->best; best.at.factorisation is its number. Counts children that were legal. */
    int (*evolve)(sx_gpu_device *device, const sx_gpu_epoch *epoch, sx_gpu_found *found, sx_gpu_point *best,
                  char *message);
    /* For measurements, NULL on the CPU: draws n legal points that stay on the GPU, each the first of `tries` numbers
     * of a seed (number[i];
     * UINT64_MAX: none), and scores them; *seconds: the least time of several scorings. n is at most SX_GPU_MEASURED. */
    int (*measure)(sx_gpu_device *device, uint64_t seed, uint64_t n, unsigned tries, uint64_t *number,
                   sx_core_score *score, uint8_t *verdict, double *seconds, char *message);
} sx_gpu_module;

/* The same functions on one core of the CPU, with the same results. Images are not copied. */
#ifdef __cplusplus
extern "C"
#endif
    const sx_gpu_module *
    sx_gpu_emulation(void);

/* The module's one symbol, "sx_gpu_module_get". */
typedef const sx_gpu_module *sx_gpu_module_getter(void);

#endif
