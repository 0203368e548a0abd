/* Systolic arrays: for a kernel (a product of two tensors) and a device, a family of designs, each with tiles
 * to choose. Source: Odyssey (DAC 2023); docs/systolic.md describes the model. */
#ifndef SX_SYSTOLIC_H
#define SX_SYSTOLIC_H

#include "sextant/device.h"
#include "sextant/space.h"

/* --- kernels: what an array computes --- */

enum { SX_MAX_SYSTOLIC_LOOPS = 8 };

/* The three tensors: of the two inputs the one that windows slide over, if any, is the first. */
enum { SX_FIRST, SX_SECOND, SX_RESULT, SX_N_OPERANDS };

/* A loop that is tiled. */
typedef struct sx_systolic_loop {
    char name[SX_NAME_SIZE];
    uint32_t size;
    uint8_t operands; /* bit a: it indexes array a */
    uint32_t stride;  /* of the first input's rank by this loop, at least 1 */
    uint32_t reach;   /* words of that rank that a window adds to a tile of e steps, which is
                         (e - 1) * stride + 1 + reach long; 0: no window slides along it */
    uint32_t window;  /* steps of the window that slides along it; 0: none does */
} sx_systolic_loop;

/* A kernel. Loops of the windows are not tiled: they only multiply the work of a step. */
typedef struct sx_systolic_kernel {
    char name[SX_NAME_SIZE];
    char operand[SX_N_OPERANDS][SX_NAME_SIZE];
    int n_loops;
    sx_systolic_loop loop[SX_MAX_SYSTOLIC_LOOPS];
    bool sliding; /* numbered as the paper's convolutions; otherwise as its matrix products */
    int simd; /* the SIMD loop, whose inner tile is the lanes of a PE: the last reduction, or else the last
                     loop that indexes all arrays */
    int last[SX_N_OPERANDS];       /* the loop of each array's last rank */
    uint32_t steps;                /* of the window, for each step of the loops */
    uint32_t words[SX_N_OPERANDS]; /* of each array per step of its loops: of weights, the window's */
    double macs;                   /* multiply-accumulates of the kernel */
    uint64_t count;                /* how often it is run */
} sx_systolic_kernel;

/* A problem as a kernel; an error says why no systolic array computes it. */
SX_MUST_USE sx_status sx_systolic_kernel_of(const sx_problem *problem, sx_systolic_kernel *out);

/* The paper's kernels: a matrix product C[i,j] += A[i,k] * B[j,k], and a convolution of `o` times `i`
 * channels, an output of `r` times `c` and a window of `p` times `q`. */
SX_MUST_USE sx_status sx_systolic_matrix(uint32_t i, uint32_t j, uint32_t k, sx_systolic_kernel *out);
SX_MUST_USE sx_status sx_systolic_convolution(uint32_t i, uint32_t o, uint32_t r, uint32_t c, uint32_t p,
                                              uint32_t q, sx_systolic_kernel *out);

/* Brings n kernels to loops in common, so that one array can run them all: a matrix product is a convolution
 * with a window of one word, and what lacks a loop has it with size 1. Returns an error where they are too
 * many. */
SX_MUST_USE sx_status sx_systolic_join(sx_systolic_kernel *kernels, size_t n);

/* --- designs: which loops are space loops, and which tensor is stationary --- */

typedef struct sx_systolic_design {
    uint8_t n_space;
    uint8_t space[2];              /* the space loops, in order */
    uint8_t stationary;            /* the tensor whose tile stays longest: its tile loops are outermost */
    uint8_t dataflow, permutation; /* the paper's numbers of both */
} sx_systolic_design;

/* The designs of a kernel: 18 for matrix products, 30 for convolutions. */
size_t sx_systolic_n_designs(const sx_systolic_kernel *kernel);
void sx_systolic_design_at(const sx_systolic_kernel *kernel, size_t index, sx_systolic_design *out);
/* "3_2", and "[i,j] <[i,j],k>". */
void sx_systolic_design_name(const sx_systolic_design *design, char *text, size_t size);
void sx_systolic_design_text(const sx_systolic_kernel *kernel, const sx_systolic_design *design, char *text,
                             size_t size);
/* The number of the design of a name such as "3_2" or "kernel3_2"; an error names those there are. */
SX_MUST_USE sx_status sx_systolic_design_find(const sx_systolic_kernel *kernel, const char *name,
                                              size_t *out);

/* --- the space of tiles --- */

/* Which first-level tiles there are, of a loop of n steps. */
typedef enum sx_systolic_tiles {
    SX_TILES_PADDED,   /* the SIMD loop: divisors of n; others: 1 to n and every ceil(n/x)*x (DAC 2023) */
    SX_TILES_FULL,     /* every loop: 1 to n and every ceil(n/x)*x */
    SX_TILES_DIVISORS, /* every loop: divisors of n */
} sx_systolic_tiles;

typedef struct sx_systolic_options {
    const char *element; /* a data type of the device; NULL: its first */
    bool corrected;      /* the corrected model; otherwise the published one */
    bool thin;           /* arrays of two dimensions may have a side of 1 */
    sx_systolic_tiles tiles;
    uint32_t pad_to;  /* first-level tiles up to this are there in any case, however short the loop, unless
                         they must divide it or it is the SIMD loop; 0: none */
    double least_dsp; /* share of the usable DSP blocks that a design must use; 0: none */
    const size_t *designs; /* numbers of the designs that may be chosen, n_designs of them; NULL: all */
    size_t n_designs;
} sx_systolic_options;

/* A point: a design and its tiles; loops beyond the kernel's are 0. */
typedef struct sx_systolic_point {
    uint32_t design;   /* its number among all designs of the kernel */
    uint32_t reserved; /* 0 */
    uint32_t t1[SX_MAX_SYSTOLIC_LOOPS], t2[SX_MAX_SYSTOLIC_LOOPS];
} sx_systolic_point;

/* The space of one array that runs n kernels (joined, where there are several); what a point costs is the sum
 * over kernels and their counts. Its model has the metrics energy (in energies of one multiply-accumulate),
 * latency (cycles), utilization (the share of all usable DSP blocks' cycles that compute) and offchip_words.
 * options may be NULL. */
SX_MUST_USE sx_status sx_systolic_space_new(const sx_systolic_kernel *kernels, size_t n,
                                            const sx_device *device, const sx_systolic_options *options,
                                            SX_OWN sx_space **out);

/* What a point costs. Resources are those of the largest kernel, the rest are sums over kernels and counts.
 */
typedef struct sx_systolic_cost {
    double latency; /* cycles: prologue + steady + epilogue */
    double prologue, steady, epilogue;
    double dsp, bram18k;
    double offchip_words;
    double energy; /* in energies of one multiply-accumulate */
} sx_systolic_cost;

/* Why tiles make no design. */
typedef enum sx_systolic_fault {
    SX_SYSTOLIC_FINE,
    SX_SYSTOLIC_TILES,     /* a tile is 0 or beyond 2^31, or t2 does not divide t1 */
    SX_SYSTOLIC_LANES,     /* lanes are no power of two, or more than 256 bits hold */
    SX_SYSTOLIC_HIDING,    /* too few independent sums in a PE to hide the latency of adding */
    SX_SYSTOLIC_PACK,      /* a transfer would pack a number of words that is no power of two */
    SX_SYSTOLIC_THIN,      /* a side of a two-dimensional array is 1 */
    SX_SYSTOLIC_OUTSIDE,   /* t1, or the design, is not of the space */
    SX_SYSTOLIC_DSP,       /* more DSP blocks than usable */
    SX_SYSTOLIC_BRAM,      /* more BRAM than usable */
    SX_SYSTOLIC_UNDERUSED, /* fewer DSP blocks than asked for */
} sx_systolic_fault;

/* Whether the model has a cost for tiles of that fault: for SX_SYSTOLIC_FINE and from SX_SYSTOLIC_THIN on. */
bool sx_systolic_has_cost(sx_systolic_fault fault);

/* The cost of a point, of kernel number `kernel` only or (-1) of all. *out is filled where there is a cost.
 */
sx_systolic_fault sx_systolic_evaluate(const sx_space *space, const sx_systolic_point *point, int kernel,
                                       sx_systolic_cost *out);

/* The same without a space, for one kernel: t1 may be anything. */
SX_MUST_USE sx_status sx_systolic_cost_of(const sx_systolic_kernel *kernel, const sx_device *device,
                                          const sx_systolic_options *options, const sx_systolic_point *point,
                                          sx_systolic_fault *fault, sx_systolic_cost *out);

/* The DSP blocks and BRAM that a design may use. */
double sx_device_usable_dsp(const sx_device *device);
double sx_device_usable_bram(const sx_device *device);

/* What a part of the array is for. */
typedef enum sx_systolic_role {
    SX_SYSTOLIC_COMPUTES, /* the PEs */
    SX_SYSTOLIC_ENTERS,   /* into the buffers next to the PEs */
    SX_SYSTOLIC_LEAVES,   /* out of them */
    SX_SYSTOLIC_PASSES,   /* through a level above */
    SX_SYSTOLIC_COMES,    /* from memory, at the top level */
    SX_SYSTOLIC_GOES,     /* to memory */
} sx_systolic_role;

/* A term of the latency: a part of the array is busy for so long in each phase. The latency is the sum of the
 * largest of each phase. Of a tensor, except where the PEs compute. */
typedef struct sx_systolic_term {
    sx_systolic_role role;
    uint8_t operand, level;
    double prologue, steady, epilogue;
} sx_systolic_term;

/* Buffers of a tensor: into the PEs, out of them, or the sums in the PEs themselves. */
typedef struct sx_systolic_buffer {
    sx_systolic_role role; /* ENTERS, LEAVES or COMPUTES */
    uint8_t operand, level;
    double copies;      /* in all, double buffers counted twice */
    double words, pack; /* of one; pack: words per transfer */
    double bram18k;     /* of all */
} sx_systolic_buffer;

enum { SX_MAX_SYSTOLIC_TERMS = 16, SX_MAX_SYSTOLIC_BUFFERS = 8 };

/* The terms and buffers of a design, written down one by one. */
typedef struct sx_systolic_items {
    size_t n_terms, n_buffers;
    sx_systolic_term term[SX_MAX_SYSTOLIC_TERMS];
    sx_systolic_buffer buffer[SX_MAX_SYSTOLIC_BUFFERS];
} sx_systolic_items;

/* The items of a point that has a cost, for one kernel, whose design and tiles may be of any space. */
SX_MUST_USE sx_status sx_systolic_itemize(const sx_systolic_kernel *kernel, const sx_device *device,
                                          const sx_systolic_options *options, const sx_systolic_point *point,
                                          sx_systolic_items *out);

/* A term or a buffer in words, such as "A from memory (L3)". */
void sx_systolic_role_text(const sx_systolic_kernel *kernel, sx_systolic_role role, int operand, int level,
                           char *text, size_t size);

/* What AutoSA's option --sa-sizes says for a point, its program's loops being in the kernel's order; freed
 * with free(). An error says why there is none: tiles that make no design, kernels that are not summed along
 * the SIMD loop alone, several kernels with windows of several sizes. */
SX_MUST_USE sx_status sx_systolic_autosa(const sx_space *space, const sx_systolic_point *point,
                                         SX_OWN char **out);

#endif
