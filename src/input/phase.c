#include "input/phase.h"

#include "base/file.h"
#include "base/text.h"
#include "input/sources.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };

bool sx_phase_both(const sx_args *args) {
    const char *phase = sx_args_text(args, "phase", 0);
    return phase && strcmp(phase, "both") == 0;
}

sx_network_options sx_phase_part(const sx_network_options *both, sx_phase phase) {
    sx_network_options o = *both;
    o.both = false;
    o.phase = phase;
    if (phase == SX_PHASE_DECODE) o.tokens = 0;
    o.context = both->has_context ? both->context : both->tokens;
    o.has_context = phase == SX_PHASE_DECODE && o.context;
    if (!o.has_context) o.context = 0;
    return o;
}

sx_status sx_phase_single(const sx_args *args) {
    if (!sx_phase_both(args)) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--phase both is two graphs, where one is wanted"),
                         "give --phase prefill or --phase decode");
}

/* The number of the word that an option has among some, 0 without the option. */
static sx_status read_word(const sx_args *args, const char *option, const char *const *words, size_t n,
                           size_t *out) {
    const char *word = sx_args_text(args, option, 0);
    *out = 0;
    if (!word) return SX_OK;
    for (size_t i = 0; i < n; i++) {
        *out = i;
        if (strcmp(word, words[i]) == 0) return SX_OK;
    }
    sx_text all = {0};
    for (size_t i = 0; i < n; i++)
        sx_text_add(&all, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", words[i]);
    sx_status error = sx_error_hint(sx_error_new(SX_ERR_USAGE, "--%s '%s' is not known", option, word),
                                    "it is %s", all.data ? all.data : "another word");
    sx_text_free(&all);
    return error;
}

sx_status sx_phase_options(const sx_args *args, sx_network_options *out) {
    static const char *const phases[] = {"both", "prefill", "decode", "forward", "encode"};
    static const char *const logits[] = {"last", "all"}, *const routing[] = {"uniform", "balanced"};
    static const char *const latents[] = {"by-phase", "absorbed", "expanded"};
    static const char *const causal[] = {"rectangle", "skip"};
    size_t phase, all, balanced, mla, skip;
    SX_TRY(read_word(args, "phase", phases, 5, &phase));
    SX_TRY(read_word(args, "logits", logits, 2, &all));
    SX_TRY(read_word(args, "routing", routing, 2, &balanced));
    SX_TRY(read_word(args, "mla", latents, 3, &mla));
    SX_TRY(read_word(args, "causal", causal, 2, &skip));
    out->phase = (sx_phase)phase;
    out->both = sx_phase_both(args);
    out->causal_skip = skip == 1;
    out->all_logits = all == 1;
    out->balanced = balanced == 1;
    out->mla = (sx_mla)mla;
    out->tokens = sx_args_count(args, "tokens", 0);
    out->has_context = sx_args_flag(args, "context");
    out->context = sx_args_count(args, "context", 0);
    out->experts_hit = sx_args_count(args, "experts-hit", 0);
    if (sx_args_flag(args, "tokens") && !out->tokens)
        return sx_error_new(SX_ERR_USAGE, "--tokens is 0; a run has at least one new token");
    if (sx_args_flag(args, "experts-hit") && !out->experts_hit)
        return sx_error_new(SX_ERR_USAGE, "--experts-hit is 0; a token uses at least one expert");
    if (out->balanced && out->experts_hit)
        return sx_error_new(SX_ERR_USAGE, "--routing balanced and --experts-hit cannot be combined");
    return SX_OK;
}

/* Whether a value is a file of JSON, or a layer of one, with a key that only configurations have. */
static bool is_config(const char *value) {
    static const char *const keys[] = {"\"model_type\"", "\"_class_name\"", "\"hidden_size\"", "\"n_embd\""};
    char file[SX_LONG_PATH];
    const char *path = sx_layer_of(value, file) ? file : value;
    const size_t n = strlen(path);
    char *text;
    size_t size;
    if (n < 5 || strcmp(path + n - 5, ".json") != 0) return false;
    sx_status status = sx_file_read(path, MOST_BYTES, &text, &size);
    if (status) {
        sx_status_free(status);
        return false;
    }
    bool found = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) found = found || strstr(text, keys[i]);
    free(text);
    return found;
}

bool sx_phase_config(const sx_args *args) {
    static const char *const options[] = {"problem", "graph"};
    const char *value;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; (value = sx_args_text(args, options[k], i)); i++)
            if (is_config(value)) return true;
    for (size_t i = 0; i < args->n_operands; i++)
        if (is_config(args->operand[i])) return true;
    return false;
}
