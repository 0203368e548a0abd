/* The section `graph`: tensors, and nodes that name them. docs/graph.md has the format. */
#include "frontend/graph_read.h"
#include "base/text.h"
#include "frontend/graph_function.h"
#include "frontend/known_keys.h"

#include "frontend/einsum.h"
#include "ir/graph.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BITS = 8, MAX_BITS = 1 << 16 };
#define MAX_COUNT (UINT64_C(1) << 62)

/* A name and the index of its tensor. */
typedef struct entry {
    const char *name;
    size_t index;
} entry;

typedef struct reader {
    sx_input *input;
    sx_arena *arena;
    const sx_path_scope *scope; /* of paths in einsums */
    const sx_node *tensors, *nodes;
    entry *entry; /* the tensors, sorted by name */
    sx_graph graph;
    sx_graph_node node; /* being read, with its operands */
    sx_graph_operand *operand;
    size_t n_operands, room;
} reader;

static const sx_key_rule graph_rules[] = {
    SX_KEY("name", "text!", "of the network"),
    SX_KEY("tensors", "[@graph_tensor]!", "its tensors"),
    SX_KEY("nodes", "[@graph_node]!", "its operations"),
    SX_KEY("run", "@run", "what the graph is a run of"),
};
const sx_keys sx_keys_graph = SX_KEYS("graph", false, graph_rules);
static const sx_key_rule run_rules[] = {
    SX_KEY("phase", "text", "prefill, decode, forward or encode"),
    SX_KEY("batch", "whole", "sequences"),
    SX_KEY("tokens", "whole", "tokens of a run"),
    SX_KEY("context", "whole", "tokens before the run"),
    SX_KEY("parameters", "whole", "of the model"),
    SX_KEY("active_parameters", "whole", "of the model, used by a token"),
};
const sx_keys sx_keys_run = SX_KEYS("run", false, run_rules);
static const sx_key_rule graph_tensor_rules[] = {
    SX_KEY("name", "text!", "unique among tensors"),
    SX_KEY("shape", "[count]!", "its extents"),
    SX_KEY("bits", "count", "of an element (8)"),
    SX_KEY("weight", "bool", "the same for every run"),
    SX_KEY("output", "bool", "wanted outside although a node reads it"),
    SX_KEY("state", "bool", "survives the run, as a cache of keys does"),
    SX_KEY("held", "whole", "elements of a state that stay after the run (all)"),
};
const sx_keys sx_keys_graph_tensor = SX_KEYS("graph_tensor", false, graph_tensor_rules);
static const sx_key_rule graph_node_rules[] = {
    SX_KEY("name", "text!", "unique among nodes"),
    SX_KEY("layer", "text", "nodes of one layer compute the same on tensors of their own"),
    SX_KEY("kind", "text", "einsum, pool, softmax, norm, elementwise or another kind"),
    SX_KEY("function", "text", "what is computed of an element or a window"),
    SX_KEY("axis", "whole", "of softmax, norm and concat: the rank along which"),
    SX_KEY("repeat", "count", "how often the einsum is run, each time on another part"),
    SX_KEY("einsum", "text", "of an einsum or a pool: its text, as for --problem"),
    SX_KEY("reads", "names|[text|@plain_operand]", "tensors read by a node without an einsum"),
    SX_KEY("writes", "names|[text|@plain_operand]", "tensors written by a node without an einsum"),
    SX_KEY("operands", "{text|@operand}",
           "of an einsum or a pool: a tensor of the graph for each of its tensors"),
    SX_KEY("counts", "@count", "what the tensors do not say"),
};
const sx_keys sx_keys_graph_node = SX_KEYS("graph_node", false, graph_node_rules);
static const sx_key_rule count_rules[] = {
    SX_KEY("useful", "number", "multiply-accumulates of which something comes"),
    SX_KEY("elements", "number", "of a node without an einsum"),
    SX_KEY("row", "number", "elements of a row"),
    SX_KEY("reads", "number", "elements read"),
    SX_KEY("state_reads", "number", "elements of states read"),
    SX_KEY("state_writes", "number", "elements of states written"),
};
const sx_keys sx_keys_count = SX_KEYS("count", false, count_rules);
static const sx_key_rule part_rules[] = {
    SX_KEY("rank", "whole!", "of the tensor"),
    SX_KEY("offset", "whole", "the first element"),
    SX_KEY("length", "count!", "how many"),
    SX_KEY("block", "whole", "elements that lie together"),
};
const sx_keys sx_keys_part = SX_KEYS("part", false, part_rules);
static const sx_key_rule operand_rules[] = {
    SX_KEY("tensor", "text!", "of the graph"),
    SX_KEY("ranks", "list", "for each rank of the tensor the einsum's rank or ranks"),
    SX_KEY("split", "whole", "the rank that repetitions divide"),
    SX_KEY("pad", "[[whole]]", "padding of each rank, before and after"),
    SX_KEY("of", "whole", "parts of which repetitions use some"),
    SX_KEY("part", "@part|[@part]", "the elements that are used"),
};
const sx_keys sx_keys_operand = SX_KEYS("operand", false, operand_rules);
static const sx_key_rule plain_operand_rules[] = {
    SX_KEY("tensor", "text!", "of the graph"),
    SX_KEY("part", "@part|[@part]", "the elements that are used"),
};
const sx_keys sx_keys_plain_operand = SX_KEYS("plain_operand", false, plain_operand_rules);

/* The value under a key, which must be a list. */
static SX_MUST_USE sx_status require_list(const sx_node *map, const char *key, const char *what,
                                          const sx_node **out) {
    SX_TRY(sx_node_require(map, key, what, out));
    return sx_node_expect(*out, SX_NODE_LIST, key);
}

static SX_MUST_USE sx_status read_tensor(reader *r, const sx_node *item) {
    const sx_node *node;
    sx_graph_tensor tensor;
    uint64_t bits = DEFAULT_BITS;
    memset(&tensor, 0, sizeof tensor);
    SX_TRY(sx_node_check_keys(NULL, item, "the tensor", &sx_keys_graph_tensor));
    SX_TRY(sx_node_require(item, "name", "the tensor", &node));
    SX_TRY(sx_node_name(node, "name", tensor.name));
    SX_TRY(require_list(item, "shape", "the tensor", &node));
    if (node->n > SX_MAX_RANKS)
        return sx_error_at(node->place, "tensor '%s' has %zu ranks; at most %d are allowed", tensor.name,
                           node->n, SX_MAX_RANKS);
    for (; tensor.n_ranks < node->n; tensor.n_ranks++)
        SX_TRY(
            sx_node_range(node->item[tensor.n_ranks], "shape", 1, MAX_COUNT, &tensor.extent[tensor.n_ranks]));
    node = sx_node_get(item, "bits");
    if (node) SX_TRY(sx_node_range(node, "bits", 1, MAX_BITS, &bits));
    tensor.bits = (uint32_t)bits;
    SX_TRY(sx_node_get_bool(item, "weight", &tensor.weight));
    SX_TRY(sx_node_get_bool(item, "output", &tensor.output));
    SX_TRY(sx_node_get_bool(item, "state", &tensor.state));
    SX_TRY(sx_node_get_u64(item, "held", &tensor.held));
    return sx_graph_add_tensor(&r->graph, &tensor, NULL);
}

static int by_name(const void *a, const void *b) {
    const entry *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static SX_MUST_USE sx_status read_tensors(reader *r) {
    const size_t n = r->tensors->n;
    for (size_t i = 0; i < n; i++) SX_TRY(read_tensor(r, r->tensors->item[i]));
    r->entry = sx_arena_alloc(r->arena, n + 1, sizeof *r->entry);
    if (!r->entry) return sx_arena_error(r->arena);
    for (size_t i = 0; i < n; i++) r->entry[i] = (entry){r->graph.tensor[i].name, i};
    qsort(r->entry, n, sizeof *r->entry, by_name);
    return SX_OK;
}

/* The index of the tensor of a name. */
static SX_MUST_USE sx_status find_tensor(const reader *r, const char *name, sx_place place, size_t *out) {
    const entry wanted = {name, 0};
    const size_t n = r->tensors->n;
    const entry *found = bsearch(&wanted, r->entry, n, sizeof *r->entry, by_name);
    if (found) {
        *out = found->index;
        return SX_OK;
    }
    const char **known = sx_arena_alloc(r->arena, n + 1, sizeof *known);
    if (!known) return sx_arena_error(r->arena);
    for (size_t i = 0; i < n; i++) known[i] = r->entry[i].name;
    const char *nearest = sx_name_nearest(name, known, n);
    sx_status error = sx_error_at(place, "unknown tensor '%.64s'", name);
    if (nearest) return sx_error_hint(error, "did you mean '%s'?", nearest);
    return sx_error_hint(error, "every tensor is an item of 'tensors'");
}

/* Appends an operand to those of the node being read. */
static SX_MUST_USE sx_status add_operand(reader *r, const sx_graph_operand *operand) {
    if (r->n_operands == r->room) {
        const size_t room = r->room ? 2 * r->room : 16;
        sx_graph_operand *grown = sx_arena_alloc(r->arena, room, sizeof *grown);
        if (!grown) return sx_arena_error(r->arena);
        if (r->room) memcpy(grown, r->operand, r->room * sizeof *grown);
        r->operand = grown;
        r->room = room;
    }
    r->operand[r->n_operands++] = *operand;
    return SX_OK;
}

/* Reads one part: the rank, and which elements of it. */
static SX_MUST_USE sx_status read_part(const sx_node *map, const sx_graph_tensor *tensor,
                                       sx_graph_operand *out) {
    const sx_node *node;
    uint64_t rank;
    SX_TRY(sx_node_check_keys(NULL, map, "the part", &sx_keys_part));
    SX_TRY(sx_node_require(map, "rank", "the part", &node));
    SX_TRY(sx_node_range(node, "rank", 0, SX_MAX_PART_RANKS - 1, &rank));
    if (rank >= tensor->n_ranks)
        return sx_error_at(node->place, "tensor '%s' has no rank %d", tensor->name, (int)rank);
    sx_graph_part *part = &out->part[rank];
    SX_TRY(sx_node_require(map, "length", "the part", &node));
    SX_TRY(sx_node_range(node, "length", 1, MAX_COUNT, &part->length));
    node = sx_node_get(map, "offset");
    if (node) SX_TRY(sx_node_range(node, "offset", 0, MAX_COUNT, &part->offset));
    node = sx_node_get(map, "block");
    return node ? sx_node_range(node, "block", 1, MAX_COUNT, &part->block) : SX_OK;
}

/* Reads the parts of an operand: a map, or a list of them for several ranks. */
static SX_MUST_USE sx_status read_parts(const sx_node *map, const sx_graph_tensor *tensor,
                                        sx_graph_operand *out) {
    const sx_node *parts = sx_node_get(map, "part");
    if (!parts) return SX_OK;
    if (parts->kind != SX_NODE_LIST) return read_part(parts, tensor, out);
    for (size_t i = 0; i < parts->n; i++) SX_TRY(read_part(parts->item[i], tensor, out));
    return SX_OK;
}

/* Adds a tensor that a node without an einsum reads or writes; visitors. */
static SX_MUST_USE sx_status add_named(reader *r, const char *name, sx_place place, bool written) {
    size_t tensor;
    SX_TRY(find_tensor(r, name, place, &tensor));
    const sx_graph_operand operand = sx_graph_whole(tensor, written, 0);
    return add_operand(r, &operand);
}

static SX_MUST_USE sx_status add_read(void *user, const char *name, sx_place place) {
    return add_named(user, name, place, false);
}

static SX_MUST_USE sx_status add_written(void *user, const char *name, sx_place place) {
    return add_named(user, name, place, true);
}

/* Adds what a node without an einsum reads or writes: names, and maps of a name and its parts. */
static SX_MUST_USE sx_status add_plain(reader *r, const sx_node *node, const char *key, bool written) {
    bool maps = false;
    for (size_t i = 0; node->kind == SX_NODE_LIST && i < node->n; i++)
        maps |= node->item[i]->kind == SX_NODE_MAP;
    if (!maps) return sx_node_names(node, key, written ? add_written : add_read, r);
    for (size_t i = 0; i < node->n; i++) {
        const sx_node *item = node->item[i], *name = item;
        const bool map = item->kind == SX_NODE_MAP;
        const char *text;
        size_t tensor;
        if (map) SX_TRY(sx_node_check_keys(NULL, item, "the operand", &sx_keys_plain_operand));
        if (map) SX_TRY(sx_node_require(item, "tensor", "the operand", &name));
        SX_TRY(sx_node_text(name, "tensor", &text));
        SX_TRY(find_tensor(r, text, name->place, &tensor));
        sx_graph_operand operand = sx_graph_whole(tensor, written, 0);
        if (map) SX_TRY(read_parts(item, &r->graph.tensor[tensor], &operand));
        SX_TRY(add_operand(r, &operand));
    }
    return SX_OK;
}

/* Reads the ranks of the einsum's tensor that make up rank g: a number, or a list of them. */
static SX_MUST_USE sx_status read_rank(const sx_node *node, size_t g, size_t *n, sx_graph_operand *out) {
    const sx_node *const *item = node->kind == SX_NODE_LIST ? node->item : &node;
    const size_t n_items = node->kind == SX_NODE_LIST ? node->n : 1;
    for (size_t i = 0; i < n_items; i++) {
        uint64_t rank;
        SX_TRY(sx_node_range(item[i], "ranks", 0, SX_MAX_RANKS - 1, &rank));
        if (*n == SX_MAX_RANKS) return sx_error_at(item[i]->place, "more than %d ranks", SX_MAX_RANKS);
        out->rank[(*n)++] = (uint8_t)rank;
        out->n_of[g]++;
    }
    return SX_OK;
}

/* Refuses a list that has not one item for each rank of a tensor. */
static SX_MUST_USE sx_status expect_ranks(const sx_node *list, const char *key,
                                          const sx_graph_tensor *tensor) {
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, key));
    if (list->n == tensor->n_ranks) return SX_OK;
    return sx_error_at(list->place, "%s has %zu items; tensor '%s' has %zu ranks", key, list->n, tensor->name,
                       tensor->n_ranks);
}

/* Reads how the ranks of an operand are related, and its padding. */
static SX_MUST_USE sx_status read_ranks(const sx_node *map, const sx_graph_tensor *tensor,
                                        sx_graph_operand *out) {
    const sx_node *ranks = sx_node_get(map, "ranks"), *pad = sx_node_get(map, "pad");
    const sx_node *split = sx_node_get(map, "split");
    uint64_t value;
    size_t n = 0;
    if (ranks) {
        *out = sx_graph_whole(out->tensor, out->written, 0);
        SX_TRY(expect_ranks(ranks, "'ranks'", tensor));
        for (size_t g = 0; g < ranks->n; g++) SX_TRY(read_rank(ranks->item[g], g, &n, out));
    }
    if (pad) SX_TRY(expect_ranks(pad, "'pad'", tensor));
    for (size_t g = 0; pad && g < pad->n; g++) {
        const sx_node *sides = pad->item[g];
        SX_TRY(sx_node_expect(sides, SX_NODE_LIST, "the padding of a rank"));
        if (sides->n != 2)
            return sx_error_at(sides->place, "the padding of a rank is two numbers, before and after");
        SX_TRY(sx_node_range(sides->item[0], "pad", 0, SX_MAX_DIM_SIZE, &value));
        out->before[g] = (uint32_t)value;
        SX_TRY(sx_node_range(sides->item[1], "pad", 0, SX_MAX_DIM_SIZE, &value));
        out->after[g] = (uint32_t)value;
    }
    if (sx_node_get(map, "of")) SX_TRY(sx_node_range(sx_node_get(map, "of"), "of", 1, MAX_COUNT, &out->of));
    if (!split) return SX_OK;
    SX_TRY(sx_node_range(split, "split", 0, SX_MAX_RANKS - 1, &value));
    out->split = (int8_t)value;
    return SX_OK;
}

/* Reads the operand that is tensor v of an einsum: the name of a tensor, or a map. */
static SX_MUST_USE sx_status read_operand(reader *r, const sx_node *value, const sx_problem *einsum, int v) {
    const bool map = value->kind == SX_NODE_MAP;
    const sx_node *name = value;
    const char *text;
    size_t tensor;
    if (map) SX_TRY(sx_node_check_keys(NULL, value, "the operand", &sx_keys_operand));
    if (map) SX_TRY(sx_node_require(value, "tensor", "the operand", &name));
    SX_TRY(sx_node_text(name, "tensor", &text));
    SX_TRY(find_tensor(r, text, name->place, &tensor));
    sx_graph_operand operand = sx_graph_whole(tensor, einsum->tensor[v].output, einsum->tensor[v].n_ranks);
    if (map) SX_TRY(read_ranks(value, &r->graph.tensor[tensor], &operand));
    if (map) SX_TRY(read_parts(value, &r->graph.tensor[tensor], &operand));
    return add_operand(r, &operand);
}

/* Reads the operands of a node with an einsum, in the order of the einsum's tensors. */
static SX_MUST_USE sx_status read_operands(reader *r, const sx_node *item, const sx_problem *einsum) {
    const sx_node *map;
    SX_TRY(sx_node_require(item, "operands", "a node with an einsum", &map));
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "'operands'"));
    for (size_t i = 0; i < map->n; i++) {
        bool known = false;
        for (int v = 0; v < einsum->n_tensors; v++)
            known |= strcmp(einsum->tensor[v].name, map->pair[i].key) == 0;
        if (!known)
            return sx_error_at(map->pair[i].place, "the einsum has no tensor '%.64s'", map->pair[i].key);
    }
    for (int v = 0; v < einsum->n_tensors; v++) {
        const sx_pair *pair = sx_node_pair(map, einsum->tensor[v].name);
        if (!pair)
            return sx_error_at(map->place, "tensor '%s' of the einsum is missing", einsum->tensor[v].name);
        SX_TRY(read_operand(r, pair->value, einsum, v));
    }
    return SX_OK;
}

/* Reads the kind: an einsum where there is one and nothing is said. */
static SX_MUST_USE sx_status read_kind(const sx_node *item, bool has_einsum, sx_op_kind *out) {
    const sx_node *node = sx_node_get(item, "kind");
    const char *known[SX_N_OP_KINDS];
    *out = SX_OP_EINSUM;
    if (!node && has_einsum) return SX_OK;
    if (!node) SX_TRY(sx_node_require(item, "kind", "a node without an einsum", &node));
    for (int i = 0; i < SX_N_OP_KINDS; i++) {
        known[i] = sx_op_kind_name((sx_op_kind)i);
        if (node->kind != SX_NODE_SCALAR || !sx_key_equal(node->text, known[i])) continue;
        *out = (sx_op_kind)i;
        return SX_OK;
    }
    SX_TRY(sx_node_expect(node, SX_NODE_SCALAR, "'kind'"));
    return sx_error_unknown(node->place, "kind of node", node->text, known, SX_N_OP_KINDS);
}

/* Reads what a node counts besides what its tensors say. */
static SX_MUST_USE sx_status read_counts(const sx_node *item, sx_graph_counts *out) {
    const sx_node *map = sx_node_get(item, "counts");
    if (!map) return SX_OK;
    SX_TRY(sx_node_check_keys(NULL, map, "the counts", &sx_keys_count));
    SX_TRY(sx_node_get_u64(map, "useful", &out->useful));
    SX_TRY(sx_node_get_u64(map, "elements", &out->elements));
    SX_TRY(sx_node_get_u64(map, "row", &out->row));
    SX_TRY(sx_node_get_u64(map, "reads", &out->reads));
    SX_TRY(sx_node_get_u64(map, "state_reads", &out->state_reads));
    return sx_node_get_u64(map, "state_writes", &out->state_writes);
}

/* Reads which run of a network the graph is. */
static SX_MUST_USE sx_status read_run(const sx_node *graph, sx_graph_run *out) {
    const sx_node *map = sx_node_get(graph, "run"), *phase;
    const char *text;
    if (!map) return SX_OK;
    SX_TRY(sx_node_check_keys(NULL, map, "the run", &sx_keys_run));
    phase = sx_node_get(map, "phase");
    if (phase) {
        SX_TRY(sx_node_text(phase, "phase", &text));
        SX_TRY(sx_error_place(sx_text_name(out->phase, sizeof out->phase, text, "a phase"), phase->place));
    }
    SX_TRY(sx_node_get_u64(map, "batch", &out->batch));
    SX_TRY(sx_node_get_u64(map, "tokens", &out->tokens));
    SX_TRY(sx_node_get_u64(map, "context", &out->context));
    SX_TRY(sx_node_get_u64(map, "parameters", &out->parameters));
    return sx_node_get_u64(map, "active_parameters", &out->active_parameters);
}

/* Reads what a node has besides its operands. */
static SX_MUST_USE sx_status read_fields(reader *r, const sx_node *item) {
    const sx_node *node;
    sx_graph_node *out = &r->node;
    uint64_t axis;
    memset(out, 0, sizeof *out);
    out->repeat = 1;
    out->axis = -1;
    SX_TRY(sx_node_require(item, "name", "the node", &node));
    SX_TRY(sx_node_name(node, "name", out->name));
    memcpy(out->layer, out->name, sizeof out->layer);
    SX_TRY(sx_node_get_name(item, "layer", out->layer));
    SX_TRY(sx_node_get_name(item, "function", out->function));
    SX_TRY(read_kind(item, sx_node_get(item, "einsum") != NULL, &out->kind));
    if (out->function[0])
        SX_TRY(sx_graph_check_function(r->input, out, sx_node_get(item, "function")->place));
    SX_TRY(read_counts(item, &out->counts));
    node = sx_node_get(item, "repeat");
    if (node) SX_TRY(sx_node_range(node, "repeat", 1, MAX_COUNT, &out->repeat));
    node = sx_node_get(item, "axis");
    if (!node) return SX_OK;
    SX_TRY(sx_node_range(node, "axis", 0, SX_MAX_RANKS - 1, &axis));
    out->axis = (int)axis;
    return SX_OK;
}

/* Refuses a key that goes with the other sort of node. */
static SX_MUST_USE sx_status refuse_key(const sx_node *item, const char *key, const char *instead) {
    const sx_pair *pair = sx_node_pair(item, key);
    if (!pair) return SX_OK;
    return sx_error_hint(sx_error_at(pair->place, "'%s' does not belong to this node", key), "%s", instead);
}

static SX_MUST_USE sx_status read_node(reader *r, const sx_node *item) {
    const sx_node *text, *node;
    SX_TRY(sx_node_check_keys(NULL, item, "the node", &sx_keys_graph_node));
    SX_TRY(read_fields(r, item));
    r->n_operands = 0;
    text = sx_node_get(item, "einsum");
    if (text) {
        sx_problem einsum;
        sx_place place = text->place;
        SX_TRY(sx_node_expect(text, SX_NODE_SCALAR, "'einsum'"));
        place.column += text->quoted;
        SX_TRY(sx_einsum_parse_at(text->text, place, r->scope, &einsum));
        SX_TRY(refuse_key(item, "reads", "a node with an einsum has 'operands'"));
        SX_TRY(refuse_key(item, "writes", "a node with an einsum has 'operands'"));
        SX_TRY(read_operands(r, item, &einsum));
        return sx_graph_add_node(&r->graph, &r->node, &einsum, r->operand, r->n_operands, NULL);
    }
    SX_TRY(refuse_key(item, "operands", "a node without an einsum has 'reads' and 'writes'"));
    SX_TRY(sx_node_require(item, "writes", "a node without an einsum", &node));
    SX_TRY(add_plain(r, node, "writes", true));
    node = sx_node_get(item, "reads");
    if (node) SX_TRY(add_plain(r, node, "reads", false));
    return sx_graph_add_node(&r->graph, &r->node, NULL, r->operand, r->n_operands, NULL);
}

/* Reads all of it and checks it; an error has the place of its node or tensor. */
static SX_MUST_USE sx_status read_graph(reader *r, const sx_node *graph) {
    const sx_node *name;
    sx_graph_blame blame;
    SX_TRY(sx_node_check_keys(NULL, graph, "the graph", &sx_keys_graph));
    SX_TRY(sx_node_require(graph, "name", "the graph", &name));
    SX_TRY(sx_node_name(name, "name", r->graph.name));
    SX_TRY(read_run(graph, &r->graph.run));
    SX_TRY(require_list(graph, "tensors", "the graph", &r->tensors));
    SX_TRY(require_list(graph, "nodes", "the graph", &r->nodes));
    SX_TRY(read_tensors(r));
    for (size_t i = 0; i < r->nodes->n; i++) SX_TRY(read_node(r, r->nodes->item[i]));
    sx_status status = sx_graph_examine(&r->graph, &blame);
    const sx_node *at = blame.node != SX_NO_INDEX     ? r->nodes->item[blame.node]
                        : blame.tensor != SX_NO_INDEX ? r->tensors->item[blame.tensor]
                                                      : graph;
    return sx_error_place(status, at->place);
}

sx_status sx_graph_read(sx_input *input, sx_graph *out) {
    const sx_pair *section;
    SX_TRY(sx_input_single(input, "graph", &section));
    if (!section)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "no graph given"), "a file with 'graph:' is needed");
    reader *r = sx_arena_alloc(sx_input_arena(input), 1, sizeof *r);
    if (!r) return sx_arena_error(sx_input_arena(input));
    r->input = input;
    r->arena = sx_input_arena(input);
    r->scope = sx_input_scope(input);
    sx_status status = read_graph(r, section->value);
    if (status)
        sx_graph_fini(&r->graph);
    else
        *out = r->graph;
    return status;
}
