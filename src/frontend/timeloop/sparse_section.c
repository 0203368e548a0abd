#include "frontend/timeloop/sparse_section.h"
#include "frontend/known_keys.h"

#include "base/text.h"
#include "ir/arch.h"

#include <stdio.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* What is being read: the component of one target. */
typedef struct target {
    sx_input *input;
    sx_arch *arch;
    int level; /* n_levels: the compute unit */
} target;

/* The number of a name, which is added where it is new. */
static sx_status name_number(sx_sparse *sparse, const char *name, sx_place place, uint8_t *out) {
    for (uint8_t i = 0; i < sparse->n_names; i++)
        if (strcmp(sparse->name[i], name) == 0) {
            *out = i;
            return SX_OK;
        }
    if (sparse->n_names == SX_MAX_SPARSE_NAMES)
        return sx_error_at(place, "more than %d tensors and dimensions are named", SX_MAX_SPARSE_NAMES);
    SX_TRY(
        sx_error_place(sx_text_name(sparse->name[sparse->n_names], SX_NAME_SIZE, name, "a tensor"), place));
    *out = sparse->n_names++;
    return SX_OK;
}

/* A set of names in the making. */
typedef struct name_set {
    sx_sparse *sparse;
    uint32_t *set;
} name_set;

/* Adds a name to a set; a visitor. */
static sx_status add_to_set(void *user, const char *name, sx_place place) {
    const name_set *s = user;
    uint8_t number;
    SX_TRY(name_number(s->sparse, name, place, &number));
    *s->set |= 1u << number;
    return SX_OK;
}

/* Reads `flattened_rankIDs`: lists of dimensions, or one list. */
static sx_status read_flattened(sx_sparse *sparse, const sx_node *lists, sx_rank_format *rank) {
    if (sx_node_empty(lists)) return SX_OK;
    SX_TRY(sx_node_expect(lists, SX_NODE_LIST, "'flattened_rankIDs'"));
    bool nested = lists->item[0]->kind == SX_NODE_LIST;
    size_t n = nested ? lists->n : 1;
    if (n > SX_MAX_FLATTENED)
        return sx_error_at(lists->place, "more than %d lists of flattened ranks", SX_MAX_FLATTENED);
    for (size_t i = 0; i < n; i++) {
        name_set set = {sparse, &rank->flattened[i]};
        SX_TRY(sx_node_names(nested ? lists->item[i] : lists, "flattened_rankIDs", add_to_set, &set));
    }
    rank->n_flattened = (uint8_t)n;
    return SX_OK;
}

/* Refuses a rank whose words do not fit the level's metadata storage. */
static sx_status check_bits(const target *t, const sx_node *map, const sx_rank_format *rank) {
    const sx_storage *level = &t->arch->level[t->level];
    uint32_t bits[2];
    if (sx_rank_bits(&level->metadata, rank, bits)) return SX_OK;
    uint32_t most = bits[0] > bits[1] ? bits[0] : bits[1];
    return sx_error_hint(
        sx_error_at(map->place, "a rank has words of %u bits, but the metadata storage of '%s' is %u wide",
                    most, level->name, level->metadata.width),
        "give '%s' a 'metadata_storage_width' of at least %u", level->name, most);
}

static const sx_key_rule sparse_rank_rules[] = {
    SX_KEY("format", "text!", "how the rank is stored: UOP, CP, RLE, B or U"),
    SX_KEY("flattened_rankIDs", "any", "dimensions that the rank is made of"),
    SX_KEY("metadata_word_bits", "number", "bits of a word of metadata"),
    SX_KEY("payload_word_bits", "number", "bits of a payload"),
};
const sx_keys sx_keys_sparse_rank = SX_KEYS("sparse_rank", true, sparse_rank_rules);

/* Reads one rank of a format. */
static sx_status read_rank(const target *t, const sx_node *map, sx_rank_format *out) {
    static const char *const known[] = {"CP", "RLE", "B", "UOP", "UB"};
    const sx_node *format;
    SX_TRY(sx_node_check_keys(t->input, map, "the rank", &sx_keys_sparse_rank));
    SX_TRY(sx_node_require(map, "format", "the rank", &format));
    SX_TRY(sx_node_expect(format, SX_NODE_SCALAR, "'format'"));
    int kind = sx_rank_kind_named(format->text);
    if (kind < 0 && (strcmp(format->text, "U") == 0 || strcmp(format->text, "u") == 0))
        return sx_error_hint(
            sx_error_at(format->place, "'U' is not a format: an uncompressed tensor has none"),
            "leave the tensor out of 'representation_format'");
    if (kind < 0) return sx_error_unknown(format->place, "rank format", format->text, known, N(known));
    out->kind = (uint8_t)kind;
    out->metadata_bits = out->payload_bits = SX_BITS_DEFAULT;
    SX_TRY(sx_node_get_u32(map, "metadata_word_bits", &out->metadata_bits));
    SX_TRY(sx_node_get_u32(map, "payload_word_bits", &out->payload_bits));
    if (sx_node_get(map, "flattened_rankIDs"))
        SX_TRY(read_flattened(&t->arch->sparse, sx_node_get(map, "flattened_rankIDs"), out));
    return check_bits(t, map, out);
}

/* Reads `rank_application_order`. */
static sx_status read_order(const sx_node *map, bool *inner_to_outer) {
    static const char *const known[] = {"outer_to_inner", "inner_to_outer"};
    const sx_node *order = sx_node_get(map, "rank_application_order");
    if (!order) return SX_OK;
    SX_TRY(sx_node_expect(order, SX_NODE_SCALAR, "'rank_application_order'"));
    *inner_to_outer = sx_key_equal(order->text, known[1]);
    if (*inner_to_outer || sx_key_equal(order->text, known[0])) return SX_OK;
    return sx_error_unknown(order->place, "rank application order", order->text, known, N(known));
}

/* Refuses a second format of a tensor at a level, and a compressed rank outside an uncompressed one. */
static sx_status check_format(const target *t, const sx_node *map) {
    return sx_error_place(sx_sparse_check(&t->arch->sparse, t->arch->n_levels), map->place);
}

static const sx_key_rule sparse_format_rules[] = {
    SX_KEY("name", "text!", "the tensor"),
    SX_KEY("ranks", "[@sparse_rank]", "its ranks, outermost first"),
    SX_KEY("rank_application_order", "text", "inner-to-outer or outer-to-inner"),
};
const sx_keys sx_keys_sparse_format = SX_KEYS("sparse_format", true, sparse_format_rules);

/* Reads the format of one tensor. */
static sx_status read_format(const target *t, const sx_node *map) {
    sx_sparse *sparse = &t->arch->sparse;
    const sx_node *name, *ranks;
    SX_TRY(sx_node_check_keys(t->input, map, "the data space", &sx_keys_sparse_format));
    SX_TRY(sx_node_require(map, "name", "the data space", &name));
    SX_TRY(sx_node_expect(name, SX_NODE_SCALAR, "'name'"));
    SX_TRY(sx_node_require(map, "ranks", "the data space", &ranks));
    SX_TRY(sx_node_expect(ranks, SX_NODE_LIST, "'ranks'"));
    if (ranks->n == 0 || ranks->n > SX_MAX_FORMAT_RANKS)
        return sx_error_at(ranks->place, "a format has %zu ranks; 1 to %d are allowed", ranks->n,
                           SX_MAX_FORMAT_RANKS);
    if (sparse->n_formats == SX_MAX_FORMATS || sparse->n_ranks + ranks->n > SX_MAX_ALL_RANKS)
        return sx_error_at(map->place, "more than %d formats or %d ranks", SX_MAX_FORMATS, SX_MAX_ALL_RANKS);
    sx_tensor_format *f = &sparse->format[sparse->n_formats];
    *f = (sx_tensor_format){
        .level = (uint8_t)t->level, .n_ranks = (uint8_t)ranks->n, .first = sparse->n_ranks};
    SX_TRY(name_number(sparse, name->text, name->place, &f->tensor));
    SX_TRY(read_order(map, &f->inner_to_outer));
    for (size_t i = 0; i < ranks->n; i++)
        SX_TRY(read_rank(t, ranks->item[ranks->n - 1 - i], &sparse->rank[sparse->n_ranks + i]));
    sparse->n_ranks = (uint16_t)(sparse->n_ranks + ranks->n);
    sparse->n_formats++;
    return check_format(t, map);
}

static const sx_key_rule sparse_formats_rules[] = {
    SX_KEY("data_spaces", "[@sparse_format]", "formats by tensor"),
};
const sx_keys sx_keys_sparse_formats = SX_KEYS("sparse_formats", true, sparse_formats_rules);

static sx_status read_formats(const target *t, const sx_node *formats) {
    if (sx_node_empty(formats)) return SX_OK;
    SX_TRY(sx_node_check_keys(t->input, formats, "'representation_format'", &sx_keys_sparse_formats));
    const sx_node *list = sx_node_get(formats, "data_spaces");
    if (!list || sx_node_empty(list)) return SX_OK;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "'data_spaces'"));
    for (size_t i = 0; i < list->n; i++) SX_TRY(read_format(t, list->item[i]));
    return SX_OK;
}

/* Reads what an action does: whether it skips or gates. */
static sx_status read_type(sx_input *input, const sx_node *map, bool *skips) {
    static const char *const known[] = {"gating", "skipping"};
    const sx_node *type;
    SX_TRY(sx_node_require(map, "type", "the optimization", &type));
    SX_TRY(sx_node_expect(type, SX_NODE_SCALAR, "'type'"));
    *skips = sx_key_equal(type->text, "skipping");
    if (*skips || sx_key_equal(type->text, "gating")) return SX_OK;
    *skips = sx_key_equal(type->text, "skipping_spatial") || sx_key_equal(type->text, "spatial_skipping");
    if (*skips)
        return sx_input_differ(
            input, type->place,
            "'%s' is read as 'skipping': instances whose tiles are all zeros take no other tiles, so "
            "that spatial loops must not exceed the fan-out",
            type->text);
    if (sx_key_equal(type->text, "position_skipping"))
        return sx_error_hint(sx_error_at(type->place,
                                         "'%s' is not modelled and would change the result: instances would "
                                         "take the tensor's non-zeros one "
                                         "after the other, not the words at their coordinates",
                                         type->text),
                             "give the tensor a format here, which leaves its zeros out, and the compute "
                             "unit a 'compute_optimization' of "
                             "type 'skipping', so that absent operands take no time");
    return sx_error_unknown(type->place, "type of optimization", type->text, known, N(known));
}

static const sx_key_rule sparse_option_rules[] = {
    SX_KEY("target", "text", "the tensor whose accesses are saved"),
    SX_KEY("condition_on", "names", "tensors whose zeros decide"),
    SX_KEY("type", "text", "gating or skipping"),
    SX_KEY("options", "any", "several of them"),
};
const sx_keys sx_keys_sparse_option = SX_KEYS("sparse_option", true, sparse_option_rules);

/* Reads one option of an action: a target and the tensors it depends on. */
static sx_status read_option(const target *t, const sx_node *map, sx_action_option *out) {
    const sx_node *name, *on;
    SX_TRY(sx_node_check_keys(t->input, map, "the option", &sx_keys_sparse_option));
    SX_TRY(sx_node_require(map, "target", "the option", &name));
    SX_TRY(sx_node_expect(name, SX_NODE_SCALAR, "'target'"));
    SX_TRY(sx_node_require(map, "condition_on", "the option", &on));
    SX_TRY(name_number(&t->arch->sparse, name->text, name->place, &out->target));
    name_set set = {&t->arch->sparse, &out->on};
    SX_TRY(sx_node_names(on, "condition_on", add_to_set, &set));
    if (!out->on) return sx_error_at(on->place, "'condition_on' names no tensor");
    if (out->on >> out->target & 1)
        return sx_error_hint(sx_error_at(on->place, "'%s' is conditioned on itself", name->text),
                             "a tensor's own zeros are left out by its format");
    return SX_OK;
}

/* Reads one gating or skipping action of a level. */
static sx_status read_action(const target *t, const sx_node *map) {
    sx_sparse *sparse = &t->arch->sparse;
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "an action"));
    if (sparse->n_actions == SX_MAX_ACTIONS)
        return sx_error_at(map->place, "more than %d actions", SX_MAX_ACTIONS);
    sx_sparse_action *a = &sparse->action[sparse->n_actions];
    *a = (sx_sparse_action){.level = (uint8_t)t->level};
    SX_TRY(read_type(t->input, map, &a->skips));
    const sx_node *options = sx_node_get(map, "options");
    size_t n = options ? options->n : 1;
    if (options) SX_TRY(sx_node_expect(options, SX_NODE_LIST, "'options'"));
    if (n == 0 || n > SX_MAX_ACTION_OPTIONS)
        return sx_error_at(options->place, "an action has %zu options; 1 to %d are allowed", n,
                           SX_MAX_ACTION_OPTIONS);
    for (size_t i = 0; i < n; i++) SX_TRY(read_option(t, options ? options->item[i] : map, &a->option[i]));
    a->n_options = (uint8_t)n;
    sparse->n_actions++;
    return SX_OK;
}

/* Reads what a compute unit does; Timeloop has a second, longer name for either. */
static sx_status read_compute_type(sx_input *input, const sx_node *map, bool *skips) {
    const sx_node *type = sx_node_get(map, "type");
    bool scalar = type && type->kind == SX_NODE_SCALAR;
    *skips = scalar && sx_key_equal(type->text, "skip_on_not_aligned_operands");
    if (*skips || (scalar && sx_key_equal(type->text, "gate_on_zero_operand"))) return SX_OK;
    return read_type(input, map, skips);
}

static const sx_key_rule sparse_compute_rules[] = {
    SX_KEY("type", "text!", "gating or skipping"),
};
const sx_keys sx_keys_sparse_compute = SX_KEYS("sparse_compute", true, sparse_compute_rules);

/* Reads gating and skipping of computes. */
static sx_status read_compute(const target *t, const sx_node *list) {
    if (sx_node_empty(list)) return SX_OK;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "'compute_optimization'"));
    for (size_t i = 0; i < list->n; i++) {
        bool skips = false;
        SX_TRY(
            sx_node_check_keys(t->input, list->item[i], "the compute optimization", &sx_keys_sparse_compute));
        SX_TRY(read_compute_type(t->input, list->item[i], &skips));
        if (skips)
            t->arch->sparse.skips_compute = true;
        else
            t->arch->sparse.gates_compute = true;
    }
    return SX_OK;
}

static const sx_key_rule sparse_target_rules[] = {
    SX_KEY("name", "text", "the level or compute unit"),
    SX_KEY("target", "text", "the level or compute unit"),
    SX_KEY("representation_format", "@sparse_formats|null", "how tensors are stored there"),
    SX_KEY("action_optimization", "[@sparse_option]|null", "accesses that are gated or skipped"),
    SX_KEY("compute_optimization", "[@sparse_compute]|null", "computes that are gated or skipped"),
};
const sx_keys sx_keys_sparse_target = SX_KEYS("sparse_target", true, sparse_target_rules);

sx_status sx_sparse_read_component(sx_input *input, const sx_node *map, int level, sx_arch *arch) {
    const target t = {input, arch, level};
    SX_TRY(sx_node_check_keys(input, map, "'sparse_optimizations'", &sx_keys_sparse_target));
    const sx_node *formats = sx_node_get(map, "representation_format");
    const sx_node *actions = sx_node_get(map, "action_optimization");
    const sx_node *compute = sx_node_get(map, "compute_optimization");
    bool storage = level < arch->n_levels;
    if (!storage && ((formats && !sx_node_empty(formats)) || (actions && !sx_node_empty(actions))))
        return sx_error_hint(
            sx_error_at(map->place, "'%s' is the compute unit and stores nothing", arch->compute.name),
            "it can have 'compute_optimization'; formats and actions belong to storage levels");
    if (formats) SX_TRY(read_formats(&t, formats));
    if (actions && !sx_node_empty(actions)) {
        SX_TRY(sx_node_expect(actions, SX_NODE_LIST, "'action_optimization'"));
        for (size_t i = 0; i < actions->n; i++) SX_TRY(read_action(&t, actions->item[i]));
    }
    if (compute) SX_TRY(read_compute(&t, compute));
    sx_sparse_order(&arch->sparse);
    arch->sparse.timeloop = true;
    return SX_OK;
}

/* The level that a target names, n_levels for the compute unit. */
static sx_status find_level(const sx_node *name, const sx_arch *arch, int *out) {
    const char *known[SX_MAX_LEVELS + 1], *text = name->text;
    char own[SX_NAME_SIZE] = "";
    bool range = false; /* inside one, such as [0..3] */
    for (const char *at = text; *at; at++) {
        if (*at == '.' && !range) text = at + 1;
        range = *at == '[' || (range && *at != ']');
    }
    size_t size = strcspn(text, "[");
    if (size < sizeof own) memcpy(own, text, size);
    for (int s = 0; s < arch->n_levels; s++) known[s] = arch->level[s].name;
    known[arch->n_levels] = arch->compute.name;
    *out = sx_arch_level(arch, own);
    if (*out < 0 && strcmp(own, arch->compute.name) == 0) *out = arch->n_levels;
    if (*out >= 0) return SX_OK;
    return sx_error_unknown(name->place, "level of the architecture", name->text, known,
                            (size_t)arch->n_levels + 1);
}

/* Reads `semantics`, by which a file that Sextant wrote asks for the exact one; Timeloop does not know it. */
static sx_status read_semantics(const sx_node *semantics, sx_sparse *sparse) {
    static const char *const known[] = {"exact", "timeloop"};
    SX_TRY(sx_node_expect(semantics, SX_NODE_SCALAR, "'semantics'"));
    sparse->timeloop = strcmp(semantics->text, known[1]) == 0;
    if (sparse->timeloop || strcmp(semantics->text, known[0]) == 0) return SX_OK;
    return sx_error_unknown(semantics->place, "sparse semantics", semantics->text, known, N(known));
}

/* Reads the targets of a section. */
static sx_status read_targets(sx_input *input, const sx_node *targets, sx_arch *arch) {
    if (!targets || sx_node_empty(targets)) return SX_OK;
    SX_TRY(sx_node_expect(targets, SX_NODE_LIST, "the targets of 'sparse_optimizations'"));
    for (size_t i = 0; i < targets->n; i++) {
        const sx_node *map = targets->item[i], *name = sx_node_get(map, "name");
        int level = 0;
        SX_TRY(sx_node_expect(map, SX_NODE_MAP, "a target of 'sparse_optimizations'"));
        if (!name) SX_TRY(sx_node_require(map, "target", "the target", &name));
        SX_TRY(sx_node_expect(name, SX_NODE_SCALAR, "'name'"));
        SX_TRY(find_level(name, arch, &level));
        SX_TRY(sx_sparse_read_component(input, map, level, arch));
    }
    return SX_OK;
}

static const sx_key_rule sparse_rules[] = {
    SX_KEY("version", "any", "of the format"),
    SX_KEY("targets", "[@sparse_target]", "by level"),
    SX_KEY("semantics", "text", "exact or timeloop"),
};
const sx_keys sx_keys_sparse = SX_KEYS("sparse", true, sparse_rules);

sx_status sx_sparse_read(sx_input *input, const sx_node *node, sx_arch *arch) {
    const sx_node *targets = node, *semantics = sx_node_get(node, "semantics");
    if (node->kind == SX_NODE_MAP) {
        SX_TRY(sx_node_check_keys(input, node, "'sparse_optimizations'", &sx_keys_sparse));
        targets = sx_node_get(node, "targets");
    }
    SX_TRY(read_targets(input, targets, arch));
    return semantics ? read_semantics(semantics, &arch->sparse) : SX_OK;
}
