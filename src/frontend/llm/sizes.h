/* The sizes of a network that is described by a configuration: a language model, or a network of an image or of sounds
 * with a transformer in it. docs/llm.md has the keys of configurations and the rules by which sizes become a graph. */
#ifndef SX_FRONTEND_LLM_SIZES_H
#define SX_FRONTEND_LLM_SIZES_H

#include "frontend/input.h"
#include "sextant/network.h"
#include "text/document/document.h"

/* How a network is made from its sizes. */
typedef enum sx_model_family {
    SX_FAMILY_DECODER,
    SX_FAMILY_MAMBA,
    SX_FAMILY_VIT,
    SX_FAMILY_CLIP,
    SX_FAMILY_SAM,
    SX_FAMILY_WHISPER,
    SX_FAMILY_DIT,
    SX_FAMILY_UNET,
} sx_model_family;

/* Attention over latents: widths of the latents of queries (0: none) and of keys and values, and per head of the parts
 * that positions turn, that they do not, and of values. kv 0: there are no latents. */
typedef struct sx_mla_sizes {
    uint64_t q, kv, rope, nope, v;
} sx_mla_sizes;

/* Experts: how many, how many a token uses, their width, that of those which every token uses (0: none), and parameters
 * of the router beside its matrix. all 0: there are none. */
typedef struct sx_expert_sizes {
    uint64_t all, chosen, hidden, shared, router_extra;
    bool bias, router_bias;
} sx_expert_sizes;

enum { SX_MAX_STAGES = 8, SX_MAX_LAYERS = 4096 };

/* What a layer has: a window of attention, experts, attention over the whole image (of SAM). */
enum { SX_LAYER_WINDOW = 1, SX_LAYER_EXPERTS = 2, SX_LAYER_WHOLE = 4 };

/* A width is that of a token's vector, `hidden` that between the two layers of a perceptron. */
typedef struct sx_model_sizes {
    char name[SX_NAME_SIZE];
    sx_model_family family;
    uint64_t layers, width, heads, kv_heads, head, hidden, vocab;
    uint64_t rotary;    /* features of a head that positions turn; 0: none */
    uint64_t positions; /* learned ones; 0: there is no limit of the length */
    uint64_t window;    /* keys that a token sees; 0: all */
    uint64_t period;    /* every period-th layer sees all keys where no list of layers says it; 0: none */
    uint8_t layer[SX_MAX_LAYERS]; /* what each layer has */
    bool layer_norm, gated, gelu, tied, qkv_bias, out_bias, mlp_bias, head_bias, qk_norm, post_norms,
        parallel, sinks;
    bool window_asked; /* there is no window but where use_sliding_window says so */
    sx_mla_sizes mla;
    sx_expert_sizes experts;
    uint64_t state, conv, rank; /* of Mamba: states of a feature, filter, width of the step */
    uint64_t image, patch, channels, classes, projection; /* of an image, and what is read off it */
    uint64_t frames, mel, decoder_layers, decoder_heads, decoder_hidden; /* of sounds */
    uint64_t neck, global; /* of SAM: width after the layers, layers without a window */
    uint64_t stage[SX_MAX_STAGES], stage_heads[SX_MAX_STAGES], n_stages, text_width,
        text_tokens; /* of a U-Net */
    uint64_t out_channels;
    bool pre_norm, no_patch_bias, quick_gelu;
} sx_model_sizes;

/* Reads a configuration: a map in the manner of a config.json. *text becomes the sizes of the text part of a network that
 * has two (CLIP). An error says which key is missing or wrong; the input gets a warning of those that are not understood. */
SX_MUST_USE sx_status sx_sizes_read(sx_input *input, const sx_node *map, sx_model_sizes *out,
                                    sx_model_sizes *text);

/* Whether a map is such a configuration: it has `model_type` or `_class_name`, or a width that only these have. */
bool sx_sizes_given(const sx_node *map);

/* The graph of one run of the network that a configuration describes, called by the last word of its `_name_or_path` or
 * else like its file. An error where the options do not go with it. *out is freed with sx_graph_fini. */
SX_MUST_USE sx_status sx_config_graph(sx_input *input, const sx_node *map, sx_graph *out);

#endif
