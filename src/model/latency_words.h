/* Words of an evaluation at the levels that launch tiles, per instance. */
#ifndef SX_MODEL_LATENCY_WORDS_H
#define SX_MODEL_LATENCY_WORDS_H

#include "sextant/arch.h"

typedef struct sx_latency_words {
    double reads[SX_MAX_LAWS][SX_MAX_TENSORS], updates[SX_MAX_LAWS][SX_MAX_TENSORS];
} sx_latency_words;

#endif
