/* Building graphs over sequences of tokens. A tensor of tokens has the ranks (feature, token), tokens by position and then
 * by sequence, so that the new tokens of all sequences lie together at the end of a cache. After a failure adding does
 * nothing. Nodes are called LAYER.NAME, and NAME is the layer of the network they are one of. */
#ifndef SX_FRONTEND_LLM_SEQUENCE_H
#define SX_FRONTEND_LLM_SEQUENCE_H

#include "frontend/catalog/networks.h"
#include "frontend/llm/sizes.h"

typedef struct sx_seq {
    sx_net *net;
    const sx_model_sizes *sizes;
    const sx_network_options *options;
    uint64_t batch, tokens, context; /* sequences, new tokens of each, tokens of each in the caches */
    char layer[SX_NAME_SIZE];        /* before the names of nodes: "", "layer3." */
    char suffix[SX_NAME_SIZE];       /* after the names of nodes and layers */
} sx_seq;

/* A tensor as an operand of a node: its ranks as for sx_net_operand (einsums alone), the rank that repetitions split and of
 * how many shares, parts of its first two ranks, and elements before its second one (of a filter). */
typedef struct sx_seq_use {
    size_t tensor; /* SX_NO_INDEX: of an einsum, a tensor of the size that it uses is made */
    const char *ranks;
    int split;
    uint64_t of;
    sx_graph_part part[2];
    uint32_t before;
} sx_seq_use;

/* The whole of a tensor, for a node without an einsum. */
sx_seq_use sx_seq_whole(size_t tensor);
/* Features from `offset` on, `length` of every `block` (0: of all). */
sx_seq_use sx_seq_features(size_t tensor, uint64_t offset, uint64_t length, uint64_t block);
/* The new tokens of a cache, or the last n tokens. */
sx_seq_use sx_seq_last(const sx_seq *s, size_t tensor, uint64_t n);

/* Adds an einsum of the tensors Outputs, Weights and Inputs, given as text; gives its output. */
typedef struct sx_seq_einsum {
    const char *name, *text;
    uint64_t repeat; /* 0: 1 */
    sx_seq_use use[3];
    sx_graph_counts counts;
} sx_seq_einsum;
size_t sx_seq_add_einsum(sx_seq *s, const sx_seq_einsum *e);

/* The text of the einsum of a product: m features of k, for n tokens. */
enum { SX_PRODUCT_TEXT = 160 };
void sx_seq_product_text(uint64_t m, uint64_t k, uint64_t n, char text[SX_PRODUCT_TEXT]);

/* A product with weights: m features from all of a tensor, or from the first k of it (0: all). */
size_t sx_seq_dense(sx_seq *s, const char *name, size_t in, uint64_t m);
size_t sx_seq_dense_of(sx_seq *s, const char *name, sx_seq_use in, uint64_t m, size_t weights);

/* Adds a node without an einsum. It writes a tensor of that shape (n_ranks 0: none) and those that are given. */
enum { SX_SEQ_OPERANDS = 6 };
typedef struct sx_seq_plain {
    const char *name, *function;
    sx_op_kind kind;
    int axis; /* of norm and softmax */
    size_t n_ranks;
    uint64_t extent[4];
    size_t n_reads, n_writes;
    sx_seq_use read[SX_SEQ_OPERANDS], written[SX_SEQ_OPERANDS];
    sx_graph_counts counts;
} sx_seq_plain;
size_t sx_seq_add_plain(sx_seq *s, const sx_seq_plain *p);

/* The usual ones: a function of one or two tensors of one shape, and a normalisation over the features of what is used (its
 * weights are made). */
size_t sx_seq_function(sx_seq *s, const char *name, const char *function, size_t a, size_t b);
size_t sx_seq_norm(sx_seq *s, const char *name, sx_seq_use in, bool layer_norm);

/* The same elements under other ranks. */
size_t sx_seq_reshape(sx_seq *s, const char *name, size_t in, size_t n_ranks, const uint64_t *extent);

/* A tensor that keeps elements from run to run, `held` of them (0: all). */
size_t sx_seq_state(sx_seq *s, const char *name, uint64_t rows, uint64_t columns, uint64_t held);

/* The extent of a tensor along a rank. */
uint64_t sx_seq_extent(const sx_seq *s, size_t tensor, size_t rank);

/* Attention: queries, keys and values as uses of tensors of tokens whose split rank are the features of heads. */
typedef struct sx_seq_attention {
    const char *tag;               /* after the names scores, softmax and context: "", ".local" */
    uint64_t batch, groups, heads; /* sequences, key heads (repetitions), query heads of each */
    uint64_t head, value;          /* features of a key, and of a value */
    uint64_t keys, queries;
    bool one_rank; /* a query head for each key head, without a rank of its own */
    sx_seq_use query, key, value_use;
    uint64_t useful; /* pairs of key and query that count; 0: all */
    uint64_t read;   /* keys that are read from a cache, where that is more than `keys` */
} sx_seq_attention;
/* Scores, softmax and context; gives (features of all heads, tokens). */
size_t sx_seq_attend(sx_seq *s, const sx_seq_attention *a);

/* Keys that new tokens see, summed over the tokens of a sequence: those before each and itself, `window` of them at most
 * (0: all). */
uint64_t sx_seq_causal_pairs(uint64_t tokens, uint64_t context, uint64_t window);

/* The embeddings of the new tokens and their table; and the scores of all words after the last token of each sequence, or
 * after all. */
size_t sx_seq_embed(sx_seq *s, const char *function, size_t *table);
void sx_seq_head(sx_seq *s, size_t in, size_t table);

/* The parts of networks. Each reads (width, tokens) and gives the same. */
size_t sx_seq_latent_attention(sx_seq *s, size_t in);
size_t sx_seq_experts(sx_seq *s, size_t in);
size_t sx_seq_perceptron(sx_seq *s, size_t in, const char *stem, uint64_t hidden);

/* Attention of groups of query heads over cached keys and values, `window` of them (0: all); without the product after
 * it. */
size_t sx_seq_attend_cached(sx_seq *s, size_t in, uint64_t window, const char *tag);

/* Patches of an image as tokens, with positions and `extra` tokens of its own; and the layers of an encoder, whose nodes
 * are called after a stem. */
size_t sx_seq_patches(sx_seq *s, uint64_t extra);
size_t sx_seq_encoder(sx_seq *s, size_t in, uint64_t layers, const char *stem, bool causal);

/* Attention of tokens whose query, key and value are one vector, head by head. */
size_t sx_seq_attend_joined(sx_seq *s, size_t joined, uint64_t batch, uint64_t tokens);

/* Whole networks. */
void sx_seq_decoder(sx_seq *s);
void sx_seq_mamba(sx_seq *s);
void sx_seq_vit(sx_seq *s);
void sx_seq_clip(sx_seq *s, const sx_model_sizes *text);
void sx_seq_sam(sx_seq *s);
void sx_seq_whisper(sx_seq *s);
void sx_seq_dit(sx_seq *s);
void sx_seq_unet(sx_seq *s);

#endif
