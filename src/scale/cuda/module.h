/* What the module that scores mappings on a GPU gives and takes: plain C, so that the module and the library share no
 * code. */
#ifndef SX_SCALE_CUDA_MODULE_H
#define SX_SCALE_CUDA_MODULE_H

#include "base/cuda.h"
#include "scale/cuda/space.h"

/* Changes with everything below. */
enum { SX_GPU_MODULE_VERSION = 1 };
enum { SX_GPU_MEASURED = 1 << 22 };

/* What a look at all mappings found. */
typedef struct sx_gpu_found {
    sx_gpu_best best;
    sx_gpu_counts counts;
    double seconds; /* on the GPU; 0 on the CPU */
} sx_gpu_found;

/* An image in the memory of a GPU. */
typedef struct sx_gpu_device sx_gpu_device;

/* Functions return 0, or another number with a message of SX_CUDA_MESSAGE bytes. */
typedef struct sx_gpu_module {
    int version;
    int (*make)(const sx_gpu_image *image, sx_gpu_device **out, char *message);
    void (*end)(sx_gpu_device *device);
    /* Scores points; what becomes of each goes to `verdict`. */
    int (*score)(sx_gpu_device *device, const sx_gpu_point *point, size_t n, sx_gpu_score *score,
                 uint8_t *verdict, char *message);
    /* Looks at all mappings from factorisation *from up to `to`, and adds to what was found. Ends after about so many
     * seconds (0: never); *from is then where to go on. */
    int (*search)(sx_gpu_device *device, uint64_t *from, uint64_t to, double seconds, sx_gpu_found *found,
                  sx_gpu_missed *missed, char *message);
    /* The best of n points drawn from a seed, numbers `first` and following; best.at.factorisation is its number. Counts
     * those that were legal. */
    int (*draw)(sx_gpu_device *device, uint64_t seed, uint64_t first, uint64_t n, sx_gpu_found *found,
                char *message);
    /* For measurements: draws n legal points that stay on the GPU, each the first of `tries` numbers of a seed (number[i];
     * UINT64_MAX: none), and scores them; *seconds: the least time of several scorings. n is at most SX_GPU_MEASURED. */
    int (*measure)(sx_gpu_device *device, uint64_t seed, uint64_t n, unsigned tries, uint64_t *number,
                   sx_gpu_score *score, uint8_t *verdict, double *seconds, char *message);
} sx_gpu_module;

/* The module's one symbol, "sx_gpu_module_get". */
typedef const sx_gpu_module *sx_gpu_module_getter(void);

#endif
