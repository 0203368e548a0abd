/* The rules of a graph. An error is about one node or one tensor, which the checker notes before it looks. */
#include "ir/graph.h"

#include "base/status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BITS = 1 << 16 };

typedef struct checker {
    const sx_graph *graph;
    sx_graph_blame *blame;
    size_t *producer; /* of each tensor, as far as nodes were checked */
    bool *used;       /* whether an operand is of this tensor; in the end, whether one writes a part of it */
    const char **names; /* room for all names of nodes or tensors, whichever are more */
} checker;

static bool is_name(const char name[SX_NAME_SIZE]) {
    return name[0] && memchr(name, 0, SX_NAME_SIZE);
}

static SX_MUST_USE sx_status check_tensor(checker *c, size_t index) {
    const sx_graph_tensor *t = &c->graph->tensor[index];
    double words = 1;
    c->blame->tensor = index;
    if (!is_name(t->name)) return sx_error_new(SX_ERR_INPUT, "tensor %zu has no name", index + 1);
    if (t->n_ranks > SX_MAX_RANKS)
        return sx_error_new(SX_ERR_LIMIT, "tensor '%s' has %zu ranks; at most %d are allowed", t->name,
                            t->n_ranks, SX_MAX_RANKS);
    for (size_t g = 0; g < t->n_ranks; g++) {
        if (t->extent[g] == 0)
            return sx_error_new(SX_ERR_INPUT, "rank %zu of tensor '%s' has no elements", g, t->name);
        words *= (double)t->extent[g];
    }
    if (t->state && t->weight)
        return sx_error_new(SX_ERR_INPUT, "tensor '%s' is a weight and a state; a weight never changes",
                            t->name);
    if (t->held && (!t->state || (double)t->held > words))
        return sx_error_new(SX_ERR_INPUT, "tensor '%s' holds %" PRIu64 " elements, but %s", t->name, t->held,
                            t->state ? "has fewer" : "is no state");
    if (words >= 0x1p62)
        return sx_error_new(SX_ERR_LIMIT, "tensor '%s' has more than 2^62 elements", t->name);
    if (t->bits < 1 || t->bits > MAX_BITS)
        return sx_error_new(SX_ERR_LIMIT, "an element of tensor '%s' has %u bits; 1 to %d are allowed",
                            t->name, (unsigned)t->bits, MAX_BITS);
    return SX_OK;
}

/* Compares two names for qsort; equal ones by where they are. */
static int by_name(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    int order = strcmp(*x, *y);
    return order ? order : (*x > *y) - (*x < *y);
}

/* Refuses names that occur twice among n, each the first field of an item of `size` bytes; *which is the
 * second of the two. */
static SX_MUST_USE sx_status check_names(checker *c, const void *items, size_t n, size_t size,
                                         const char *what, size_t *which) {
    const char *base = items;
    for (size_t i = 0; i < n; i++) c->names[i] = base + i * size;
    if (n) qsort(c->names, n, sizeof *c->names, by_name);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(c->names[i - 1], c->names[i]) != 0) continue;
        *which = (size_t)(c->names[i] - base) / size;
        return sx_error_new(SX_ERR_INPUT, "two %s are called '%s'", what, c->names[i]);
    }
    return SX_OK;
}

/* Whether an operand lists each of n ranks of the einsum's tensor once, and nothing beyond them. */
static bool lists_ranks(const sx_graph_operand *operand, size_t n_graph, size_t n) {
    size_t total = 0;
    unsigned seen = 0;
    for (size_t g = 0; g < SX_MAX_RANKS; g++) {
        if (g >= n_graph && operand->n_of[g]) return false;
        total += operand->n_of[g];
    }
    if (total != n) return false;
    for (size_t i = 0; i < n; i++) {
        if (operand->rank[i] >= n || seen & 1u << operand->rank[i]) return false;
        seen |= 1u << operand->rank[i];
    }
    return true;
}

/* The largest coefficient of a rank, and how many elements it spans. */
static uint64_t rank_extent(const sx_problem *einsum, const int32_t *coef, uint64_t *largest) {
    uint64_t extent = 1;
    *largest = 1;
    for (int d = 0; d < einsum->n_dims; d++) {
        const uint64_t c = (uint64_t)llabs((long long)coef[d]);
        extent += c * (einsum->size[d] - 1u);
        if (c > *largest) *largest = c;
    }
    return extent;
}

void sx_graph_span(const sx_problem *einsum, int tensor, const sx_graph_operand *operand, size_t g,
                   uint64_t repeat, uint64_t *span, uint64_t *stride) {
    const sx_tensor *t = &einsum->tensor[tensor];
    size_t first = 0;
    uint64_t largest = 1;
    for (size_t i = 0; i < g; i++) first += operand->n_of[i];
    *span = 1;
    *stride = 1;
    for (size_t i = 0; i < operand->n_of[g]; i++)
        *span *= rank_extent(einsum, t->coef[operand->rank[first + i]], &largest);
    const bool split = operand->split == (int)g;
    if (operand->n_of[g] == 1 && !split) *stride = largest;
    const uint64_t shares = operand->of ? operand->of : repeat;
    if (split) *span = shares > UINT64_MAX / *span ? UINT64_MAX : *span * shares;
}

/* Checks an operand's part of rank g: that it lies in the tensor, and (einsum not NULL) is as long as the einsum's ranks
 * span. */
static SX_MUST_USE sx_status check_part(const checker *c, const sx_graph_node *node, size_t v, size_t g) {
    const sx_graph_operand *operand = &c->graph->operand[node->first + v];
    const sx_graph_tensor *tensor = &c->graph->tensor[operand->tensor];
    const sx_graph_part *part = &operand->part[g];
    const bool projected = node->einsum != SX_NO_INDEX;
    const uint64_t shares = !projected || operand->split != (int)g ? 1
                            : operand->of                          ? operand->of
                                                                   : node->repeat;
    const uint64_t share = tensor->extent[g] / shares, block = part->block ? part->block : share;
    uint64_t span = 0, stride;
    if (tensor->extent[g] % shares || block == 0 || share % block || part->offset > block ||
        part->length > block - part->offset)
        return sx_error_hint(
            sx_error_new(SX_ERR_INPUT,
                         "node '%s' uses %" PRIu64 " elements from %" PRIu64 " on of every %" PRIu64
                         " along rank %zu of tensor '%s', which has %" PRIu64,
                         node->name, part->length, part->offset, block, g, tensor->name, tensor->extent[g]),
            "offset + length is at most the block, and blocks divide the rank");
    if (!projected) return SX_OK;
    sx_graph_operand whole = *operand;
    whole.split = -1;
    sx_graph_span(&c->graph->einsum[node->einsum], (int)v, &whole, g, 1, &span, &stride);
    if (span == share / block * part->length) return SX_OK;
    return sx_error_new(SX_ERR_INPUT,
                        "node '%s': %s of its einsum spans %" PRIu64
                        " along rank %zu of tensor '%s', of which it uses "
                        "%" PRIu64,
                        node->name, c->graph->einsum[node->einsum].tensor[v].name, span, g, tensor->name,
                        share / block * part->length);
}

/* Checks how the ranks of an einsum's tensor lie in those of the graph's. */
static SX_MUST_USE sx_status check_spans(const checker *c, const sx_graph_node *node, int v) {
    const sx_graph_operand *operand = &c->graph->operand[node->first + (size_t)v];
    const sx_graph_tensor *tensor = &c->graph->tensor[operand->tensor];
    const sx_problem *einsum = &c->graph->einsum[node->einsum];
    for (size_t g = 0; g < tensor->n_ranks; g++) {
        const uint64_t padded = tensor->extent[g] + operand->before[g] + operand->after[g];
        uint64_t span, stride;
        if (g < SX_MAX_PART_RANKS && operand->part[g].length) {
            SX_TRY(check_part(c, node, (size_t)v, g));
            continue;
        }
        sx_graph_span(einsum, v, operand, g, node->repeat, &span, &stride);
        if (span <= padded && padded - span < stride) continue;
        return sx_error_hint(
            sx_error_new(SX_ERR_INPUT,
                         "node '%s': %s of its einsum spans %" PRIu64
                         " along rank %zu of tensor '%s', which has "
                         "%" PRIu64 " with its padding",
                         node->name, einsum->tensor[v].name, span, g, tensor->name, padded),
            "the two must be equal, except that a window of stride s may leave up to s - 1 elements");
    }
    return SX_OK;
}

/* Checks an operand of a node that has an einsum. */
static SX_MUST_USE sx_status check_projected(const checker *c, const sx_graph_node *node, int v) {
    const sx_graph_operand *operand = &c->graph->operand[node->first + (size_t)v];
    const sx_graph_tensor *tensor = &c->graph->tensor[operand->tensor];
    const sx_tensor *t = &c->graph->einsum[node->einsum].tensor[v];
    if (operand->written != t->output)
        return sx_error_new(SX_ERR_INPUT, "node '%s' %s tensor '%s', but in its einsum %s is an %s",
                            node->name, operand->written ? "writes" : "reads", tensor->name, t->name,
                            t->output ? "output" : "input");
    if (!lists_ranks(operand, tensor->n_ranks, t->n_ranks))
        return sx_error_new(SX_ERR_INPUT,
                            "node '%s': the ranks of tensor '%s' do not use each of the %d ranks of %s once",
                            node->name, tensor->name, t->n_ranks, t->name);
    if (operand->split < -1 || operand->split >= (int)tensor->n_ranks)
        return sx_error_new(SX_ERR_INPUT, "node '%s': tensor '%s' has no rank %d to split", node->name,
                            tensor->name, operand->split);
    if (operand->of && (operand->split < 0 || operand->written || operand->of < node->repeat))
        return sx_error_hint(sx_error_new(SX_ERR_INPUT,
                                          "node '%s' uses %" PRIu64 " of %" PRIu64 " parts of tensor '%s'",
                                          node->name, node->repeat, operand->of, tensor->name),
                             "'of' goes with 'split', for a tensor that is read, and is at least 'repeat'");
    if (operand->written && node->repeat > 1 && operand->split < 0)
        return sx_error_new(SX_ERR_INPUT, "node '%s': all %" PRIu64 " repetitions write the whole of '%s'",
                            node->name, node->repeat, tensor->name);
    return check_spans(c, node, v);
}

static SX_MUST_USE sx_status check_einsum(const checker *c, const sx_graph_node *node) {
    const sx_problem *einsum = &c->graph->einsum[node->einsum];
    if (node->n_operands != einsum->n_tensors)
        return sx_error_new(SX_ERR_INPUT, "node '%s' has %zu operands; its einsum has %d tensors", node->name,
                            node->n_operands, einsum->n_tensors);
    if ((double)sx_problem_computes(einsum) * (double)node->repeat >= 0x1p62)
        return sx_error_new(SX_ERR_LIMIT, "node '%s' takes more than 2^62 steps", node->name);
    for (int v = 0; v < einsum->n_tensors; v++) SX_TRY(check_projected(c, node, v));
    return SX_OK;
}

/* The error for a tensor whose shape does not fit its node. */
static SX_ERROR sx_status misfit_shape(const sx_graph_node *node, const sx_graph_tensor *tensor,
                                       const sx_graph_tensor *out) {
    return sx_error_new(SX_ERR_INPUT, "%s node '%s': the shape of '%s' does not fit that of its output '%s'",
                        sx_op_kind_name(node->kind), node->name, tensor->name, out->name);
}

/* Whether a tensor has the shape of another, or one that is broadcast to it: fewer ranks stand for the last
 * ones, and extents may be 1. */
static bool broadcasts_to(const sx_graph_tensor *tensor, const sx_graph_tensor *to) {
    if (tensor->n_ranks > to->n_ranks) return false;
    const size_t missing = to->n_ranks - tensor->n_ranks;
    for (size_t g = 0; g < tensor->n_ranks; g++)
        if (tensor->extent[g] != 1 && tensor->extent[g] != to->extent[missing + g]) return false;
    return true;
}

/* Whether a tensor can be a part of a concatenation. */
static bool is_part(const sx_graph_tensor *tensor, const sx_graph_tensor *whole, size_t axis) {
    if (tensor->n_ranks != whole->n_ranks) return false;
    for (size_t g = 0; g < whole->n_ranks; g++)
        if (g == axis ? tensor->extent[g] > whole->extent[g] : tensor->extent[g] != whole->extent[g])
            return false;
    return true;
}

/* A tensor as large as what an operand uses of it. */
static sx_graph_tensor used_part(const checker *c, const sx_graph_operand *operand) {
    sx_graph_tensor used = c->graph->tensor[operand->tensor];
    for (size_t g = 0; g < used.n_ranks; g++)
        used.extent[g] = sx_graph_used_extent(&c->graph->tensor[operand->tensor], operand, g);
    return used;
}

/* Checks the tensors that a node without an einsum reads against the one it writes. */
static SX_MUST_USE sx_status check_shapes(const checker *c, const sx_graph_node *node,
                                          const sx_graph_tensor *out) {
    sx_graph_tensor used;
    const sx_graph_tensor *read = &used;
    uint64_t along = 0;
    size_t n_read = 0;
    for (size_t v = 0; v < node->n_operands; v++) {
        const sx_graph_operand *operand = &c->graph->operand[node->first + v];
        if (operand->written) continue;
        used = used_part(c, operand);
        if (node->kind == SX_OP_CONCAT) {
            if (!is_part(read, out, (size_t)node->axis)) return misfit_shape(node, read, out);
            along += read->extent[node->axis];
        } else if (node->kind == SX_OP_RESHAPE) {
            if (sx_graph_words(read) != sx_graph_words(out)) return misfit_shape(node, read, out);
        } else if (!broadcasts_to(read, out) ||
                   (n_read == 0 && node->kind != SX_OP_ELEMENT_WISE && !broadcasts_to(out, read))) {
            return misfit_shape(node, read, out);
        }
        n_read++;
    }
    if (n_read == 0) return sx_error_new(SX_ERR_INPUT, "node '%s' reads nothing", node->name);
    if (n_read > 1 && (node->kind == SX_OP_RESHAPE || node->kind == SX_OP_SOFTMAX))
        return sx_error_new(SX_ERR_INPUT, "%s node '%s' reads %zu tensors; it takes one",
                            sx_op_kind_name(node->kind), node->name, n_read);
    if (node->kind == SX_OP_CONCAT && along != out->extent[node->axis])
        return sx_error_new(
            SX_ERR_INPUT, "node '%s': what is concatenated has %" PRIu64 " along rank %d; '%s' has %" PRIu64,
            node->name, along, node->axis, out->name, out->extent[node->axis]);
    return SX_OK;
}

/* Checks a node without an einsum. */
static SX_MUST_USE sx_status check_plain(const checker *c, const sx_graph_node *node) {
    sx_graph_tensor used;
    const sx_graph_tensor *out = &used;
    size_t n_written = 0;
    for (size_t v = 0; v < node->n_operands; v++) {
        const sx_graph_operand *operand = &c->graph->operand[node->first + v];
        for (size_t g = 0; g < SX_MAX_PART_RANKS && g < c->graph->tensor[operand->tensor].n_ranks; g++)
            if (operand->part[g].length) SX_TRY(check_part(c, node, v, g));
        if (!operand->written) continue;
        used = used_part(c, operand);
        n_written++;
    }
    if (n_written == 0 || (n_written > 1 && node->kind != SX_OP_OTHER))
        return sx_error_new(SX_ERR_INPUT, "node '%s' writes %zu tensors; it must be one", node->name,
                            n_written);
    const bool along = node->kind == SX_OP_SOFTMAX || node->kind == SX_OP_NORM || node->kind == SX_OP_CONCAT;
    if (along ? node->axis < 0 || (size_t)node->axis >= out->n_ranks : node->axis != -1)
        return sx_error_new(SX_ERR_INPUT, "node '%s': its axis %d is %s", node->name, node->axis,
                            along ? "no rank of its output" : "not used by its operation");
    return node->kind == SX_OP_OTHER ? SX_OK : check_shapes(c, node, out);
}

/* Whether two operands of one tensor use parts that are apart. */
static bool are_apart(const sx_graph_operand *a, const sx_graph_operand *b) {
    for (size_t g = 0; g < SX_MAX_PART_RANKS; g++) {
        const sx_graph_part *p = &a->part[g], *q = &b->part[g];
        if (p->length && q->length && p->block == q->block &&
            (p->offset + p->length <= q->offset || q->offset + q->length <= p->offset))
            return true;
    }
    return false;
}

/* Refuses a node that writes what another one has written, unless it updates it or writes a part of its own. */
static SX_MUST_USE sx_status check_writer(const checker *c, size_t index, const sx_graph_operand *operand) {
    const sx_graph *graph = c->graph;
    const sx_graph_node *node = &graph->node[index];
    if (graph->tensor[operand->tensor].state || c->producer[operand->tensor] == SX_NO_INDEX) return SX_OK;
    for (size_t v = 0; node->kind == SX_OP_OTHER && v < node->n_operands; v++) {
        const sx_graph_operand *read = &graph->operand[node->first + v];
        if (!read->written && read->tensor == operand->tensor &&
            memcmp(read->part, operand->part, sizeof read->part) == 0)
            return SX_OK;
    }
    for (size_t i = 0; i < index; i++)
        for (size_t v = 0; v < graph->node[i].n_operands; v++) {
            const sx_graph_operand *other = &graph->operand[graph->node[i].first + v];
            if (other->written && other->tensor == operand->tensor && !are_apart(other, operand))
                return sx_error_new(SX_ERR_INPUT, "nodes '%s' and '%s' both write tensor '%s'",
                                    graph->node[i].name, node->name, graph->tensor[operand->tensor].name);
        }
    return SX_OK;
}

/* Where nodes run in the order of the graph, refuses one that reads a tensor which a later one writes first. */
static SX_MUST_USE sx_status check_order(checker *c, size_t *count) {
    const sx_graph *graph = c->graph;
    if (!sx_graph_runs_in_order(graph, count)) return SX_OK;
    for (size_t t = 0; t < graph->n_tensors; t++) count[t] = SX_NO_INDEX;
    for (size_t i = graph->n_nodes; i-- > 0;)
        for (size_t v = 0; v < graph->node[i].n_operands; v++)
            if (graph->operand[graph->node[i].first + v].written)
                count[graph->operand[graph->node[i].first + v].tensor] = i;
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (size_t v = 0; v < graph->node[i].n_operands; v++) {
            const sx_graph_operand *operand = &graph->operand[graph->node[i].first + v];
            const size_t first = count[operand->tensor];
            if (operand->written || graph->tensor[operand->tensor].state || first == SX_NO_INDEX || first < i)
                continue;
            c->blame->node = i;
            return sx_error_hint(
                sx_error_new(SX_ERR_INPUT, "node '%s' reads tensor '%s' before node '%s' writes it",
                             graph->node[i].name, graph->tensor[operand->tensor].name,
                             graph->node[first].name),
                "with states, or with tensors that several nodes write, nodes run in their order");
        }
    return SX_OK;
}

/* Checks the indices of a node's operands, and who writes what. */
static SX_MUST_USE sx_status check_operands(checker *c, size_t index) {
    const sx_graph_node *node = &c->graph->node[index];
    if (node->first > c->graph->n_operands || node->n_operands > c->graph->n_operands - node->first)
        return sx_error_new(SX_ERR_INPUT, "node '%s' has operands that do not exist", node->name);
    for (size_t v = 0; v < node->n_operands; v++) {
        const sx_graph_operand *operand = &c->graph->operand[node->first + v];
        if (operand->tensor >= c->graph->n_tensors)
            return sx_error_new(SX_ERR_INPUT, "node '%s' has an operand that is not a tensor", node->name);
        const sx_graph_tensor *tensor = &c->graph->tensor[operand->tensor];
        c->used[operand->tensor] = true;
        if (!operand->written) continue;
        if (tensor->weight)
            return sx_error_new(SX_ERR_INPUT, "node '%s' writes '%s', which is a weight", node->name,
                                tensor->name);
        SX_TRY(check_writer(c, index, operand));
        c->producer[operand->tensor] = index;
    }
    return SX_OK;
}

static SX_MUST_USE sx_status check_node(checker *c, size_t index) {
    const sx_graph_node *node = &c->graph->node[index];
    c->blame->node = index;
    if (!is_name(node->name)) return sx_error_new(SX_ERR_INPUT, "node %zu has no name", index + 1);
    if (!is_name(node->layer) || !memchr(node->function, 0, SX_NAME_SIZE))
        return sx_error_new(SX_ERR_INPUT, "node '%s' has no layer, or a function without an end", node->name);
    if (node->kind >= SX_N_OP_KINDS)
        return sx_error_new(SX_ERR_INPUT, "node '%s' is of an unknown kind", node->name);
    const bool projected = node->kind == SX_OP_EINSUM || node->kind == SX_OP_POOL;
    if (projected ? node->einsum >= c->graph->n_einsums : node->einsum != SX_NO_INDEX)
        return sx_error_new(SX_ERR_INPUT, "%s node '%s' %s", sx_op_kind_name(node->kind), node->name,
                            projected ? "has no einsum" : "must not have an einsum");
    if (node->repeat < 1 || (node->repeat > 1 && !projected))
        return sx_error_new(SX_ERR_INPUT, "node '%s' is repeated %" PRIu64 " times%s", node->name,
                            node->repeat, node->repeat ? ", but has no einsum" : "");
    if (projected && node->axis != -1)
        return sx_error_new(SX_ERR_INPUT, "node '%s': its axis %d is not used by its operation", node->name,
                            node->axis);
    SX_TRY(check_operands(c, index));
    return projected ? check_einsum(c, node) : check_plain(c, node);
}

/* Compares two nodes by layer, then by place. */
static int by_layer(const void *a, const void *b) {
    const sx_graph_node *const *x = a, *const *y = b;
    int order = strcmp((*x)->layer, (*y)->layer);
    return order ? order : (*x > *y) - (*x < *y);
}

/* Refuses nodes of one layer that compute different things. */
static SX_MUST_USE sx_status check_layers(const checker *c) {
    const size_t n = c->graph->n_nodes;
    const sx_graph_node **node = malloc((n + 1) * sizeof *node);
    if (!node) return sx_error_memory();
    for (size_t i = 0; i < n; i++) node[i] = &c->graph->node[i];
    qsort(node, n, sizeof *node, by_layer);
    sx_status status = SX_OK;
    for (size_t i = 1; i < n && !status; i++) {
        const sx_graph_node *a = node[i - 1], *b = node[i];
        if (strcmp(a->layer, b->layer) != 0 || (a->einsum == b->einsum && a->kind == b->kind)) continue;
        c->blame->node = (size_t)(b - c->graph->node);
        status =
            sx_error_new(SX_ERR_INPUT, "nodes '%s' and '%s' are of one layer, but compute different things",
                         a->name, b->name);
    }
    free(node);
    return status;
}

/* Refuses tensors that no node uses, and outputs that none writes. */
static SX_MUST_USE sx_status check_use(const checker *c) {
    for (size_t t = 0; t < c->graph->n_tensors; t++) {
        const sx_graph_tensor *tensor = &c->graph->tensor[t];
        c->blame->tensor = t;
        if (!c->used[t] && !tensor->state)
            return sx_error_new(SX_ERR_INPUT, "tensor '%s' is neither read nor written", tensor->name);
        if (tensor->output && c->producer[t] == SX_NO_INDEX)
            return sx_error_new(SX_ERR_INPUT, "tensor '%s' is an output that no node writes", tensor->name);
    }
    c->blame->tensor = SX_NO_INDEX;
    return SX_OK;
}

/* The part of rank g that an operand uses, with the length of its blocks; the whole rank is one block. What a node writes
 * into every block is the whole rank: a part that all heads share need not be copied to the rest. */
static sx_graph_part blocks_of(const sx_graph_tensor *tensor, const sx_graph_node *node,
                               const sx_graph_operand *operand, size_t g) {
    sx_graph_part part = {0, 0, 0};
    if (g < SX_MAX_PART_RANKS) part = operand->part[g];
    if (!part.length || (part.block && operand->written))
        return (sx_graph_part){0, tensor->extent[g], tensor->extent[g]};
    const uint64_t parts = operand->split == (int)g ? operand->of ? operand->of : node->repeat : 1;
    if (!part.block) part.block = tensor->extent[g] / parts;
    return part;
}

/* How many elements of rank g two parts share. Parts of blocks of different lengths share what the smaller one has. */
static uint64_t shared_extent(uint64_t extent, sx_graph_part a, sx_graph_part b) {
    if (a.block != b.block) {
        const uint64_t in_a = extent / a.block * a.length, in_b = extent / b.block * b.length;
        return in_a < in_b ? in_a : in_b;
    }
    const uint64_t end_a = a.offset + a.length, end_b = b.offset + b.length;
    const uint64_t from = a.offset > b.offset ? a.offset : b.offset, to = end_a < end_b ? end_a : end_b;
    return from < to ? extent / a.block * (to - from) : 0;
}

/* How many elements that an operand reads some nodes write; parts that are updated count again. */
static uint64_t written_elements(const sx_graph *graph, const sx_graph_node *reader,
                                 const sx_graph_operand *read) {
    const sx_graph_tensor *tensor = &graph->tensor[read->tensor];
    uint64_t sum = 0;
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (size_t v = 0; v < graph->node[i].n_operands; v++) {
            const sx_graph_operand *write = &graph->operand[graph->node[i].first + v];
            if (!write->written || write->tensor != read->tensor) continue;
            uint64_t shared = 1;
            for (size_t g = 0; g < tensor->n_ranks; g++)
                shared *= shared_extent(tensor->extent[g], blocks_of(tensor, reader, read, g),
                                        blocks_of(tensor, &graph->node[i], write, g));
            sum += shared;
        }
    return sum;
}

/* Refuses nodes that read elements which an earlier run must have left in a tensor that is no state. */
static SX_MUST_USE sx_status check_left(checker *c) {
    const sx_graph *graph = c->graph;
    for (size_t t = 0; t < graph->n_tensors; t++) c->used[t] = false;
    for (size_t i = 0; i < graph->n_operands; i++) {
        const sx_graph_operand *operand = &graph->operand[i];
        if (operand->written && !graph->tensor[operand->tensor].state && sx_graph_uses_part(operand))
            c->used[operand->tensor] = true;
    }
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (size_t v = 0; v < graph->node[i].n_operands; v++) {
            const sx_graph_operand *operand = &graph->operand[graph->node[i].first + v];
            if (operand->written || !c->used[operand->tensor]) continue;
            const sx_graph_tensor *tensor = &graph->tensor[operand->tensor];
            uint64_t read = 1;
            for (size_t g = 0; g < tensor->n_ranks; g++) {
                const sx_graph_part part = blocks_of(tensor, &graph->node[i], operand, g);
                read *= tensor->extent[g] / part.block * part.length;
            }
            if (written_elements(graph, &graph->node[i], operand) >= read) continue;
            c->blame->node = i;
            return sx_error_hint(
                sx_error_new(SX_ERR_INPUT, "node '%s' reads elements of tensor '%s' that no node writes",
                             graph->node[i].name, tensor->name),
                "a tensor that keeps what an earlier run wrote, such as a cache of keys, has "
                "'state: true'");
        }
    return SX_OK;
}

/* All rules, one after the other. */
static SX_MUST_USE sx_status check_all(checker *c, size_t *order) {
    const sx_graph *graph = c->graph;
    if (!is_name(graph->name)) return sx_error_new(SX_ERR_INPUT, "the graph has no name");
    if (graph->n_nodes == 0) return sx_error_new(SX_ERR_INPUT, "the graph has no nodes");
    for (size_t i = 0; i < graph->n_einsums; i++) SX_TRY(sx_problem_check(&graph->einsum[i]));
    for (size_t t = 0; t < graph->n_tensors; t++) SX_TRY(check_tensor(c, t));
    SX_TRY(
        check_names(c, graph->tensor, graph->n_tensors, sizeof *graph->tensor, "tensors", &c->blame->tensor));
    c->blame->tensor = SX_NO_INDEX;
    for (size_t i = 0; i < graph->n_nodes; i++) SX_TRY(check_node(c, i));
    SX_TRY(check_names(c, graph->node, graph->n_nodes, sizeof *graph->node, "nodes", &c->blame->node));
    SX_TRY(check_order(c, order));
    SX_TRY(sx_graph_order_of(graph, order, &c->blame->node));
    SX_TRY(check_layers(c));
    c->blame->node = SX_NO_INDEX;
    SX_TRY(check_use(c));
    return check_left(c);
}

sx_status sx_graph_examine(const sx_graph *graph, sx_graph_blame *blame) {
    const size_t n_nodes = graph->n_nodes, n_tensors = graph->n_tensors;
    const size_t n_names = n_nodes > n_tensors ? n_nodes : n_tensors;
    checker c = {.graph = graph, .blame = blame};
    *blame = (sx_graph_blame){SX_NO_INDEX, SX_NO_INDEX};
    c.producer = malloc((n_tensors + 1) * sizeof *c.producer);
    c.used = calloc(n_tensors + 1, sizeof *c.used);
    c.names = malloc((n_names + 1) * sizeof *c.names);
    size_t *order = malloc((n_names + 1) * sizeof *order);
    for (size_t t = 0; c.producer && t < n_tensors; t++) c.producer[t] = SX_NO_INDEX;
    sx_status status = c.producer && c.used && c.names && order ? check_all(&c, order) : sx_error_memory();
    free(c.producer);
    free(c.used);
    free(c.names);
    free(order);
    return status;
}

sx_status sx_graph_check(const sx_graph *graph) {
    sx_graph_blame blame;
    return sx_graph_examine(graph, &blame);
}
