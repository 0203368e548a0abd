/* The keys of a configuration in the manner of a config.json. Errors say which key is missing or wrong, and where. */
#ifndef SX_FRONTEND_LLM_CONFIG_KEYS_H
#define SX_FRONTEND_LLM_CONFIG_KEYS_H

#include "frontend/llm/sizes.h"

enum { SX_MOST_READ = 256 };

/* The keys of a configuration and of its parts that were asked for and are there. */
typedef struct sx_config_marks {
    const sx_pair *read[SX_MOST_READ];
    size_t n;
} sx_config_marks;

/* A configuration, and the kind of model it is of. A nested one is a part of another, which leaves out what its kind has
 * by default: sizes that are set before they are read stay. */
typedef struct sx_config {
    const sx_node *map;
    const char *kind;
    bool nested;
    sx_config_marks *marks; /* NULL: none are kept */
} sx_config;

#define SX_CONFIG_HEADS "num_attention_heads n_head"

/* The value of a key, NULL where it is not there or null. */
const sx_node *sx_config_get(const sx_config *c, const char *key);

/* Warns of the keys of a configuration, and of the parts of it that were read, that nothing asked for and that are not
 * known to change no size. */
SX_MUST_USE sx_status sx_config_check_read(sx_input *input, const sx_config *c);

/* A number that must be there, under the first of some keys with spaces between them; and a number of layers. */
SX_MUST_USE sx_status sx_config_need(const sx_config *c, const char *keys, uint64_t *out);
SX_MUST_USE sx_status sx_config_need_layers(const sx_config *c, const char *keys, uint64_t *out);

/* A number from `low` on, and a truth value, that may be missing or null; *out stays then. */
SX_MUST_USE sx_status sx_config_may(const sx_config *c, const char *keys, uint64_t low, uint64_t *out);
SX_MUST_USE sx_status sx_config_flag(const sx_config *c, const char *key, bool *out);

/* The list or map under a key, NULL where it is missing or null. */
SX_MUST_USE sx_status sx_config_items(const sx_config *c, const char *key, sx_node_kind kind,
                                      const sx_node **out);

/* Sets a flag of the layers whose numbers are the items of a list; *n, where not NULL, becomes how many there are. */
SX_MUST_USE sx_status sx_config_mark_layers(const sx_config *c, const char *key, sx_model_sizes *z,
                                            uint8_t flag, uint64_t *n);

/* Refuses a size that another one does not divide. */
SX_MUST_USE sx_status sx_config_check_divides(const sx_config *c, uint64_t of, const char *of_key,
                                              uint64_t by, const char *by_key);

/* The map under a key, as a configuration of its own. */
SX_MUST_USE sx_status sx_config_within(const sx_config *c, const char *key, sx_config *out);

/* Width, layers and heads, which all that work on tokens have. */
SX_MUST_USE sx_status sx_config_common(const sx_config *c, sx_model_sizes *z);

/* Refuses a key with a value that would change what the kind of model computes in a way that is not known. */
SX_MUST_USE sx_status sx_config_check_known(const sx_config *c);

/* Reads the keys of networks of images and sounds. */
SX_MUST_USE sx_status sx_config_read_vit(const sx_config *c, sx_model_sizes *z);
SX_MUST_USE sx_status sx_config_read_clip(const sx_config *c, sx_model_sizes *z, sx_model_sizes *text);
SX_MUST_USE sx_status sx_config_read_sam(const sx_config *c, sx_model_sizes *z);
SX_MUST_USE sx_status sx_config_read_whisper(const sx_config *c, sx_model_sizes *z);
SX_MUST_USE sx_status sx_config_read_dit(const sx_config *c, sx_model_sizes *z);
SX_MUST_USE sx_status sx_config_read_unet(const sx_config *c, sx_model_sizes *z);

#endif
