/* A surrogate: a net that predicts what mappings cost, and what it was trained for. */
#ifndef SX_SURROGATE_SURROGATE_H
#define SX_SURROGATE_SURROGATE_H

#include "learn/net.h"
#include "surrogate/encoding.h"
#include "surrogate/family.h"

/* What the net sees and says: log2 of sizes, factors and ratios, or these as they are; the outputs of
 * sx_encoding, or EDP alone. */
typedef struct sx_surrogate_form {
    bool raw_inputs, raw_outputs, edp;
} sx_surrogate_form;

/* How well it was trained, for people. */
typedef struct sx_surrogate_record {
    uint64_t samples, seed, steps;
    char loss[16];
    double held_loss, rank; /* on held-out problems; the rank correlation of EDP */
} sx_surrogate_record;

typedef struct sx_surrogate {
    sx_nn *net;
    char arch[SX_NAME_SIZE], family[SX_NAME_SIZE];
    uint64_t arch_hash;
    char *family_text;
    sx_problem problem; /* the einsum of the family */
    sx_map_space_options space;
    sx_model_options model;
    sx_surrogate_form form;
    sx_encoding encoding;
    sx_surrogate_record record;
    float input_mean[SX_MAX_INPUTS], input_deviation[SX_MAX_INPUTS];
    float output_mean[SX_MAX_OUTPUTS], output_deviation[SX_MAX_OUTPUTS];
} sx_surrogate;

/* How many outputs its net has. */
size_t sx_surrogate_n_outputs(const sx_surrogate *surrogate);

/* The hash of what describes an architecture, but for its name. */
SX_MUST_USE sx_status sx_arch_hash(const sx_arch *arch, uint64_t *out);

/* Reads and writes a weight file. What is no surrogate is refused. */
SX_MUST_USE sx_status sx_surrogate_read(const char *path, SX_OWN sx_surrogate **out);
SX_MUST_USE sx_status sx_surrogate_write(const char *path, const sx_surrogate *surrogate);
void sx_surrogate_free(SX_TAKE sx_surrogate *surrogate);

/* All that a weight file says besides the weights, as text, freed with free(); and taking it from there. */
SX_MUST_USE sx_status sx_surrogate_text(const sx_surrogate *surrogate, SX_OWN char **out);
SX_MUST_USE sx_status sx_surrogate_parse(const char *path, const char *text, sx_surrogate *out);

/* What a net is given for a value of the vector, before it is normalised: sizes and factors as logarithms or, raw, as they
 * are; shares of banks likewise, so that what fits a share is linear in the inputs. Raw is as in the paper, without what
 * fits its banks. And back. */
double sx_surrogate_number(const sx_surrogate *surrogate, size_t input, double value);
double sx_surrogate_value(const sx_surrogate *surrogate, size_t input, double number);

/* Turns rows of samples into what the net is given and what it should say. */
void sx_surrogate_inputs(const sx_surrogate *surrogate, const float *row, float *out);
void sx_surrogate_targets(const sx_surrogate *surrogate, const float *row, float *out);

/* log2 of the predicted EDP over the minimum, of the net's outputs. */
double sx_surrogate_edp(const sx_surrogate *surrogate, const float *output);

#endif
