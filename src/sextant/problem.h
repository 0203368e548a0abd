/* A problem: an einsum with one output and any number of inputs, every rank of a tensor an affine sum of
 * dimensions. */
#ifndef SX_PROBLEM_H
#define SX_PROBLEM_H

#include "sextant/error.h"
#include "sextant/read.h"

#define SX_MAX_DIMS 16
#define SX_MAX_TENSORS 8
#define SX_MAX_RANKS 16
#define SX_NAME_SIZE 64                  /* bytes of a name with its final zero */
#define SX_PATH_SIZE 256                 /* bytes of the path of a file with non-zeros, with its final zero */
#define SX_MAX_DIM_SIZE ((1u << 31) - 1) /* largest dimension */
#define SX_MAX_COEF (1 << 20)            /* largest magnitude of a stride or dilation */
#define SX_MAX_ELEMENT_BITS 128          /* widest element of a tensor */

/* Where the non-zeros of a tensor are. */
typedef enum sx_density_model {
    SX_DENSITY_NONE = 0,         /* not said: dense; an output's may follow from the operands */
    SX_DENSITY_FIXED_STRUCTURED, /* every tile has its share, rounded up or down at random */
    SX_DENSITY_HYPERGEOMETRIC,   /* the non-zeros lie anywhere, every place as likely */
    SX_DENSITY_BANDED,           /* of a matrix: those within a distance of the diagonal */
    SX_DENSITY_ACTUAL,           /* those that a file lists */
} sx_density_model;

typedef struct sx_tensor {
    char name[SX_NAME_SIZE];
    char alias[SX_NAME_SIZE]; /* what architectures, constraints and mappings may also call it; "": nothing */
    uint8_t n_ranks;
    bool output;
    uint8_t density_model;   /* sx_density_model */
    uint8_t bits;            /* of an element; 0: one word of the level that holds it */
    uint32_t band_width;     /* banded: word (i, j) is a non-zero where |i - j| is at most that; else 0 */
    double density;          /* share of non-zeros, above 0 and at most 1; 0 without a model */
    uint64_t data_hash;      /* actual: of the non-zeros' places; else 0 */
    char data[SX_PATH_SIZE]; /* actual: the file that lists the non-zeros; else "" */
    int32_t coef[SX_MAX_RANKS]
                [SX_MAX_DIMS]; /* rank r = sum over dims d of coef[r][d] * d; 0: d is not in it */
} sx_tensor;

/* Plain data, zero-padded: two equal problems are equal bytes. */
typedef struct sx_problem {
    char name[SX_NAME_SIZE];
    uint8_t n_dims, n_tensors;
    char dim_name[SX_MAX_DIMS][SX_NAME_SIZE];
    uint32_t size[SX_MAX_DIMS];
    sx_tensor tensor[SX_MAX_TENSORS];
} sx_problem;

/* Refuses a problem that breaks a rule: limits, empty or repeated names, sizes of 0, a tensor without ranks
 * or a rank without dimensions, not exactly one output, counts beyond 2^62. */
SX_MUST_USE sx_status sx_problem_check(const sx_problem *problem);

/* The index of the output. */
int sx_problem_output(const sx_problem *problem);

/* The words that a whole tensor spans (its bounding box, as the model counts tiles). */
uint64_t sx_problem_words(const sx_problem *problem, int tensor);

/* The tensor that a name such as Inputs, Weights or Outputs stands for, -1 where no rule says: the output; of
 * two inputs by their own names, else the one with a sliding window is the input and the other the weights,
 * else the first and the second; of more than two only by their own names. */
int sx_problem_role(const sx_problem *problem, const char *name);

/* Gives a tensor an alias; an error where the name is taken, or the tensor has another alias. */
SX_MUST_USE sx_status sx_problem_bind(sx_problem *problem, int tensor, const char *name);

/* Says how dense a tensor is; an error where the density is not above 0 and at most 1. The model is one of those
 * that a share describes: fixed-structured or hypergeometric. */
SX_MUST_USE sx_status sx_tensor_set_density(sx_tensor *tensor, sx_density_model model, double density);

/* Says how many bits an element of a tensor has; an error unless 1 to SX_MAX_ELEMENT_BITS. */
SX_MUST_USE sx_status sx_tensor_set_bits(sx_tensor *tensor, uint64_t bits);

/* Says that the non-zeros of a tensor lie within a distance of the diagonal; an error unless it is a matrix. */
SX_MUST_USE sx_status sx_problem_set_band(sx_problem *problem, int tensor, uint32_t width);

/* Takes the non-zeros of a tensor from a file: a Matrix Market file, or lines of a word's coordinates, one per
 * rank and counted from 1, with or without the word's value. An error where a rank is not one dimension. */
SX_MUST_USE sx_status sx_problem_set_data(sx_problem *problem, int tensor, const char *path);

/* The name of a density model, such as "hypergeometric", and the model of a name (hyphens and underscores
 * being alike); SX_DENSITY_NONE where there is none. */
const char *sx_density_model_name(sx_density_model model);
sx_density_model sx_density_model_named(const char *name);

#endif
