/* From sizes and options to the graph of one run. */
#include "frontend/llm/sequence.h"

#include <inttypes.h>
#include <string.h>

enum { USUAL_TOKENS = 2048, USUAL_CONTEXT = 4096, MOST_TOKENS = 1 << 24 };

/* The phases that a family has. */
static bool has_phase(sx_model_family family, sx_phase phase) {
    const bool tokens =
        family == SX_FAMILY_DECODER || family == SX_FAMILY_MAMBA || family == SX_FAMILY_WHISPER;
    if (phase == SX_PHASE_ENCODE) return family == SX_FAMILY_WHISPER;
    return (phase == SX_PHASE_FORWARD) != tokens;
}

/* Settles the phase. */
static sx_status settle_phase(const sx_model_sizes *z, sx_network_options *o) {
    const bool tokens = has_phase(z->family, SX_PHASE_DECODE);
    if (o->phase == SX_PHASE_ANY) o->phase = tokens ? SX_PHASE_PREFILL : SX_PHASE_FORWARD;
    if (has_phase(z->family, o->phase)) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "%s has no phase '%s'", z->name, sx_phase_name(o->phase)),
                         "it has %s",
                         z->family == SX_FAMILY_WHISPER ? "encode, prefill and decode"
                         : tokens                       ? "prefill and decode"
                                                        : "forward alone");
}

/* Settles the new tokens of a sequence and those before them. */
static sx_status settle_tokens(const sx_model_sizes *z, sx_network_options *o) {
    const bool decodes = o->phase == SX_PHASE_DECODE;
    const uint64_t usual = z->family == SX_FAMILY_WHISPER ? 4 : USUAL_TOKENS;
    if (o->phase == SX_PHASE_FORWARD || o->phase == SX_PHASE_ENCODE) {
        if (!o->tokens && !o->has_context) return SX_OK;
        return sx_error_new(SX_ERR_USAGE, "%s goes with the phases prefill and decode",
                            o->tokens ? "--tokens" : "--context");
    }
    if (!o->tokens) o->tokens = decodes ? 1 : z->positions && z->positions < usual ? z->positions : usual;
    if (!o->has_context && decodes) {
        o->context = USUAL_CONTEXT;
        if (z->positions && z->positions < USUAL_CONTEXT + o->tokens)
            o->context = z->positions > o->tokens ? z->positions - o->tokens : 0;
    }
    if (o->tokens > MOST_TOKENS || o->context > MOST_TOKENS ||
        o->batch * (o->tokens + o->context) > UINT32_MAX)
        return sx_error_new(SX_ERR_LIMIT, "%" PRIu64 " tokens after %" PRIu64 " in %u sequences are too many",
                            o->tokens, o->context, (unsigned)o->batch);
    if (!z->positions || o->context + o->tokens <= z->positions) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_USAGE,
                                      "%s has %" PRIu64 " learned positions; %" PRIu64
                                      " tokens after %" PRIu64 " are beyond them",
                                      z->name, z->positions, o->tokens, o->context),
                         "--context + --tokens is at most %" PRIu64, z->positions);
}

/* Refuses what is said of experts where there are none, or more of them than can be hit. */
static sx_status check_experts(const sx_model_sizes *z, const sx_network_options *o) {
    const uint64_t slots = o->batch * o->tokens * z->experts.chosen;
    const uint64_t most = slots < z->experts.all ? slots : z->experts.all;
    if (!z->experts.all && (o->experts_hit || o->balanced))
        return sx_error_new(SX_ERR_USAGE, "%s has no experts, which --routing and --experts-hit are about",
                            z->name);
    if (!z->mla.kv && o->mla != SX_MLA_BY_PHASE)
        return sx_error_new(SX_ERR_USAGE, "%s has no attention over latents, which --mla is about", z->name);
    if (!o->experts_hit || (o->experts_hit >= z->experts.chosen && o->experts_hit <= most)) return SX_OK;
    return sx_error_new(SX_ERR_USAGE,
                        "--experts-hit is %" PRIu64 "; here %" PRIu64 " to %" PRIu64 " can be hit",
                        o->experts_hit, z->experts.chosen, most);
}

/* Builds the network of a family. */
static void build_network(sx_seq *s, const sx_model_sizes *text) {
    switch (s->sizes->family) {
    case SX_FAMILY_DECODER:
        sx_seq_decoder(s);
        break;
    case SX_FAMILY_MAMBA:
        sx_seq_mamba(s);
        break;
    case SX_FAMILY_VIT:
        sx_seq_vit(s);
        break;
    case SX_FAMILY_CLIP:
        sx_seq_clip(s, text);
        break;
    case SX_FAMILY_SAM:
        sx_seq_sam(s);
        break;
    case SX_FAMILY_WHISPER:
        sx_seq_whisper(s);
        break;
    case SX_FAMILY_DIT:
        sx_seq_dit(s);
        break;
    case SX_FAMILY_UNET:
        sx_seq_unet(s);
        break;
    }
}

/* The graph of sizes. */
static sx_status make_graph(const sx_model_sizes *sizes, const sx_model_sizes *text,
                            const sx_network_options *options, sx_graph *out) {
    sx_network_options o = options ? *options : (sx_network_options){0};
    sx_net net;
    memset(&net, 0, sizeof net);
    if (!o.batch) o.batch = 1;
    if (o.training || o.training_step)
        return sx_error_new(SX_ERR_USAGE, "--training is not known for %s", sizes->name);
    if (o.both)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--phase both is two graphs, where one is wanted"),
                             "give --phase prefill or --phase decode");
    SX_TRY(settle_phase(sizes, &o));
    SX_TRY(settle_tokens(sizes, &o));
    SX_TRY(check_experts(sizes, &o));
    net.batch = o.batch;
    net.bits = o.bits ? o.bits : 8;
    memcpy(net.graph.name, sizes->name, sizeof net.graph.name);
    sx_graph_run *run = &net.graph.run;
    *run = (sx_graph_run){.batch = o.batch, .tokens = o.tokens, .context = o.context};
    strcpy(run->phase, sx_phase_name(o.phase));
    sx_seq s = {.net = &net,
                .sizes = sizes,
                .options = &o,
                .batch = o.batch,
                .tokens = o.tokens,
                .context = o.context};
    build_network(&s, text);
    if (!run->active_parameters) run->active_parameters = run->parameters;
    return sx_net_finish(&net, out);
}

/* The last word of a path, without an ending that says its format. */
static void last_word(const char *path, char name[SX_NAME_SIZE]) {
    static const char *const endings[] = {".json", ".yaml", ".yml"};
    const char *slash = strrchr(path, '/'), *base = slash && slash[1] ? slash + 1 : path;
    size_t length = strlen(base);
    for (size_t i = 0; i < 3; i++) {
        const size_t n = strlen(endings[i]);
        if (length > n && strcmp(base + length - n, endings[i]) == 0) length -= n;
    }
    if (length >= SX_NAME_SIZE) length = SX_NAME_SIZE - 1;
    memcpy(name, base, length);
}

sx_status sx_config_graph(sx_input *input, const sx_node *map, sx_graph *out) {
    const sx_node *path = sx_node_get(map, "_name_or_path");
    const bool named = path && path->kind == SX_NODE_SCALAR && *path->text;
    sx_model_sizes sizes, text = {0};
    SX_TRY(sx_sizes_read(input, map, &sizes, &text));
    last_word(named ? path->text : map->place.file ? map->place.file : "network", sizes.name);
    return make_graph(&sizes, &text, sx_input_run(input), out);
}
