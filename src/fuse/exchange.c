#include "fuse/exchange.h"

#include "base/status.h"
#include "fuse/cut.h"
#include "ir/arch.h"
#include "ir/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values that may stay and are alive together: with two memories each has three places. */
enum { SLOTS = 64, MOST_ALIVE = 14, MOST_ALIVE_TWO = 9 };

/* Under construction: per tensor of the graph. */
typedef struct tensor_facts {
    size_t *root;        /* union-find: tensors of one value */
    size_t *born, *dead; /* steps; born SX_NO_INDEX: from outside */
    uint64_t *words;     /* of the exchange memory */
    const char **reason; /* why it cannot stay */
} tensor_facts;

void sx_exchange_fini(sx_exchange *exchange) {
    free(exchange->step);
    free(exchange->value);
    free(exchange->value_of);
    free(exchange->words);
    free(exchange->second_words);
    memset(exchange, 0, sizeof *exchange);
}

static void tensor_facts_fini(tensor_facts *t) {
    free(t->root);
    free(t->born);
    free(t->dead);
    free(t->words);
    free(t->reason);
}

static sx_status tensor_facts_init(tensor_facts *t, size_t n) {
    *t = (tensor_facts){calloc(n + 1, sizeof *t->root), calloc(n + 1, sizeof *t->born),
                        calloc(n + 1, sizeof *t->dead), calloc(n + 1, sizeof *t->words),
                        calloc(n + 1, sizeof *t->reason)};
    if (!t->root || !t->born || !t->dead || !t->words || !t->reason) return sx_error_memory();
    for (size_t i = 0; i < n; i++) {
        t->root[i] = i;
        t->born[i] = SX_NO_INDEX;
    }
    return SX_OK;
}

static size_t find_root(const tensor_facts *t, size_t tensor) {
    while (t->root[tensor] != tensor) tensor = t->root[tensor];
    return tensor;
}

/* Makes two tensors one value, known by the one that was made first. */
static void unite_tensors(tensor_facts *t, size_t a, size_t b) {
    a = find_root(t, a);
    b = find_root(t, b);
    if (a != b) t->root[t->born[a] <= t->born[b] ? b : a] = t->born[a] <= t->born[b] ? a : b;
}

static const sx_graph_operand *operands_of(const sx_graph *graph, const sx_graph_node *node) {
    return &graph->operand[node->first];
}

/* Sets where in the order tensors are made and last read, and what of them the outermost memory needs. */
static void set_lifetimes(const sx_exchange *x, tensor_facts *t) {
    for (size_t s = 0; s < x->n_steps; s++) {
        const sx_graph_node *node = &x->graph->node[x->step[s].node];
        const sx_graph_operand *operand = operands_of(x->graph, node);
        for (size_t i = 0; i < node->n_operands; i++) {
            if (operand[i].written) t->born[operand[i].tensor] = s;
            t->dead[operand[i].tensor] = s;
            if (node->kind == SX_OP_OTHER)
                t->reason[operand[i].tensor] = "is used by an operation of unknown kind";
            if (sx_graph_uses_part(&operand[i])) t->reason[operand[i].tensor] = "is used in parts";
        }
    }
    for (size_t i = 0; i < x->graph->n_tensors; i++) {
        const sx_graph_tensor *g = &x->graph->tensor[i];
        if (g->weight || t->born[i] == SX_NO_INDEX)
            t->reason[i] = g->weight ? "is a weight" : "is an input of the network";
        else if (g->state)
            t->reason[i] = "is a state";
        else if (g->output || t->dead[i] == t->born[i])
            t->reason[i] = "is an output of the network";
    }
}

/* Joins what a node that is no einsum reads and writes: its output takes the place of what was computed last, a
 * concatenation that of all parts. */
static void unite_node(const sx_graph *graph, const sx_graph_node *node, tensor_facts *t) {
    const sx_graph_operand *operand = operands_of(graph, node);
    const bool all = node->kind == SX_OP_CONCAT;
    size_t latest = SX_NO_INDEX, out = SX_NO_INDEX;
    for (size_t i = 0; i < node->n_operands; i++) {
        size_t tensor = operand[i].tensor;
        if (operand[i].written && out == SX_NO_INDEX) out = tensor;
        if (operand[i].written || t->born[tensor] == SX_NO_INDEX) continue;
        if (latest == SX_NO_INDEX || t->born[tensor] > t->born[latest]) latest = tensor;
    }
    if (out == SX_NO_INDEX) return;
    for (size_t i = 0; i < node->n_operands; i++) {
        size_t tensor = operand[i].tensor;
        if (tensor == latest || operand[i].written || (all && t->born[tensor] != SX_NO_INDEX))
            unite_tensors(t, tensor, out);
    }
}

/* Counts the words that tensors take of a memory, and gives those that it is not built to keep a reason in `unkept`. */
static void count_words(const sx_exchange *x, int level, tensor_facts *t, const char **unkept) {
    const sx_storage *memory = &x->arch->level[level];
    for (size_t i = 0; i < x->graph->n_tensors; i++) t->words[i] = sx_graph_words(&x->graph->tensor[i]);
    for (size_t s = 0; s < x->n_steps; s++) {
        if (x->step[s].layer == SX_NO_INDEX) continue;
        const sx_problem *problem = &x->network->layer[x->step[s].layer].problem;
        const sx_graph_node *node = &x->graph->node[x->step[s].node];
        const unsigned kept = sx_arch_keep_mask(x->arch, level, problem);
        for (int v = 0; v < problem->n_tensors; v++) {
            size_t tensor = operands_of(x->graph, node)[v].tensor;
            double words = sx_element_words(memory, &problem->tensor[v],
                                            (double)sx_graph_words(&x->graph->tensor[tensor]));
            if (words > (double)t->words[tensor]) t->words[tensor] = (uint64_t)words;
            if (!(kept >> v & 1) && !unkept[tensor]) unkept[tensor] = "is not kept by the exchange memory";
            if (problem->tensor[v].density_model) unkept[tensor] = "is sparse";
        }
    }
}

/* Makes the steps: all nodes in a given order, or in the graph's own. */
static sx_status make_steps(sx_exchange *x, const size_t *given) {
    size_t *order = calloc(x->graph->n_nodes + 1, sizeof *order);
    x->step = calloc(x->graph->n_nodes + 1, sizeof *x->step);
    sx_status status = order && x->step ? sx_graph_order(x->graph, order) : sx_error_memory();
    if (!status && given) memcpy(order, given, x->graph->n_nodes * sizeof *order);
    for (size_t s = 0; s < x->graph->n_nodes && !status; s++) {
        const sx_graph_node *node = &x->graph->node[order[s]];
        sx_exchange_step *step = &x->step[x->n_steps++];
        *step = (sx_exchange_step){.node = order[s], .layer = SX_NO_INDEX, .repeat = (double)node->repeat};
        for (int v = 0; v < SX_MAX_TENSORS; v++) step->value[v] = SX_NO_INDEX;
        if (node->kind != SX_OP_EINSUM) continue;
        const sx_layer *layer = sx_network_layer(x->network, node->layer);
        if (!layer)
            status = sx_error_new(SX_ERR_INPUT, "--fuse: the node %s is no layer of the network", node->name);
        else
            step->layer = (size_t)(layer - x->network->layer);
    }
    free(order);
    return status;
}

/* The words of all tensors of a value that are alive in a step. The output of a node that is no einsum and no pool
 * overwrites inputs that are not read later. */
static uint64_t words_alive(const sx_exchange *x, const tensor_facts *t, size_t step, size_t root) {
    const sx_graph_node *node = &x->graph->node[x->step[step].node];
    uint64_t words = 0, written = 0, ending = 0;
    for (size_t i = 0; i < x->graph->n_tensors; i++)
        if (t->born[i] != SX_NO_INDEX && t->born[i] <= step && step <= t->dead[i] && find_root(t, i) == root)
            words += t->words[i];
    if (node->kind == SX_OP_EINSUM || node->kind == SX_OP_POOL) return words;
    for (size_t i = 0; i < node->n_operands; i++) {
        const sx_graph_operand *operand = &operands_of(x->graph, node)[i];
        if (find_root(t, operand->tensor) != root) continue;
        if (operand->written) written += t->words[operand->tensor];
        if (!operand->written && t->dead[operand->tensor] == step) ending += t->words[operand->tensor];
    }
    return words - (written < ending ? written : ending);
}

/* Sets the words of a memory that values take in the steps in which they are alive. */
static sx_status set_words(const sx_exchange *x, const tensor_facts *t, uint64_t **out) {
    *out = calloc(x->n_values * x->n_steps + 1, sizeof **out);
    if (!*out) return sx_error_memory();
    for (size_t v = 0; v < x->n_values; v++)
        for (size_t s = x->value[v].first; s <= x->value[v].last; s++)
            (*out)[s * x->n_values + v] = words_alive(x, t, s, find_root(t, x->value[v].tensor));
    return SX_OK;
}

/* Makes a value of each set of united tensors that a node writes. */
static sx_status make_values(sx_exchange *x, const tensor_facts *t) {
    const size_t n = x->graph->n_tensors;
    x->value = calloc(n + 1, sizeof *x->value);
    x->value_of = calloc(n + 1, sizeof *x->value_of);
    if (!x->value || !x->value_of) return sx_error_memory();
    for (size_t i = 0; i < n; i++) x->value_of[i] = SX_NO_INDEX;
    for (size_t i = 0; i < n; i++)
        if (t->born[i] != SX_NO_INDEX && t->root[i] == i) {
            x->value_of[i] = x->n_values;
            x->value[x->n_values++] =
                (sx_exchange_value){.tensor = i, .first = t->born[i], .second_slot = SX_NO_SLOT};
        }
    for (size_t i = 0; i < n; i++) {
        if (t->born[i] == SX_NO_INDEX) continue;
        x->value_of[i] = x->value_of[find_root(t, i)];
        sx_exchange_value *value = &x->value[x->value_of[i]];
        if (t->born[i] < value->first) value->first = t->born[i];
        if (t->dead[i] > value->last) value->last = t->dead[i];
        if (t->reason[i]) value->reason = t->reason[i];
    }
    return set_words(x, t, &x->words);
}

/* Marks the values that may also stay in the second memory, as far as its size and what it keeps allow. */
static sx_status set_second(sx_exchange *x, tensor_facts *t) {
    const char **unkept = calloc(x->graph->n_tensors + 1, sizeof *unkept);
    sx_status status = unkept ? SX_OK : sx_error_memory();
    if (!status) count_words(x, x->second, t, unkept);
    if (!status) status = set_words(x, t, &x->second_words);
    for (size_t v = 0; v < x->n_values && !status; v++) {
        bool fits = true;
        for (size_t i = 0; i < x->graph->n_tensors; i++) fits &= x->value_of[i] != v || !unkept[i];
        x->value[v].second_tiles = fits;
        for (size_t s = x->value[v].first; s <= x->value[v].last; s++)
            fits &= x->second_words[s * x->n_values + v] <= x->second_capacity;
        x->value[v].second_slot = fits ? 0 : SX_NO_SLOT;
    }
    free(unkept);
    return status;
}

/* How many values that may stay are alive in a step. */
static int count_alive(const sx_exchange *x, size_t step) {
    int n = 0;
    for (size_t v = 0; v < x->n_values; v++)
        n += !x->value[v].reason && x->value[v].first <= step && step <= x->value[v].last;
    return n;
}

/* Why a value cannot stay whole beside those that are alive when it is made; NULL: it can. */
static const char *refuse_whole(const sx_exchange *x, size_t v, int slot) {
    for (size_t s = x->value[v].first; s <= x->value[v].last; s++)
        if (sx_exchange_words(x, s, v) > x->capacity) return "is larger than the exchange memory";
    return slot == SLOTS || count_alive(x, x->value[v].first) > (x->second >= 0 ? MOST_ALIVE_TWO : MOST_ALIVE)
               ? "is alive with too many others"
               : NULL;
}

/* A slot that no value has had within SX_EXCHANGE_SPAN steps; SLOTS: there is none. */
static int free_slot(const sx_exchange *x, const size_t *holder, size_t step) {
    int slot = 0;
    while (slot < SLOTS && holder[slot] != SX_NO_INDEX &&
           x->value[holder[slot]].last + SX_EXCHANGE_SPAN >= step)
        slot++;
    return slot;
}

/* Gives values that may meet different slots; values that never fit, and those beyond what a plan can tell apart, cannot stay
 * whole. */
static void assign_slots(sx_exchange *x) {
    size_t holder[SLOTS];
    for (size_t v = 0; v < x->n_values; v++) x->value[v].by_tiles = !x->value[v].reason;
    for (int i = 0; i < SLOTS; i++) holder[i] = SX_NO_INDEX;
    for (size_t s = 0; s < x->n_steps; s++)
        for (size_t v = 0; v < x->n_values; v++) {
            sx_exchange_value *value = &x->value[v];
            if (value->first != s || value->reason) continue;
            int slot = free_slot(x, holder, s);
            value->reason = refuse_whole(x, v, slot);
            if (value->reason) continue;
            holder[slot] = v;
            value->slot = (uint8_t)slot;
            if (value->second_slot == SX_NO_SLOT) continue;
            slot = free_slot(x, holder, s);
            value->second_slot = slot < SLOTS ? (uint8_t)slot : SX_NO_SLOT;
            if (slot < SLOTS) holder[slot] = v;
        }
    for (size_t v = 0; v < x->n_values; v++)
        if (x->value[v].reason) x->value[v].second_slot = SX_NO_SLOT;
}

sx_status sx_exchange_init(const sx_graph *graph, const sx_network *network, const sx_arch *arch, int level,
                           int second, const size_t *order, sx_exchange *out) {
    tensor_facts t = {0};
    *out = (sx_exchange){.graph = graph,
                         .network = network,
                         .arch = arch,
                         .level = level,
                         .capacity = sx_cut_capacity(arch, level),
                         .second = second,
                         .second_capacity = second >= 0 ? sx_cut_capacity(arch, second) : 0};
    sx_status status = tensor_facts_init(&t, graph->n_tensors);
    if (!status) status = make_steps(out, order);
    if (!status) {
        set_lifetimes(out, &t);
        for (size_t s = 0; s < out->n_steps; s++)
            if (out->step[s].layer == SX_NO_INDEX) unite_node(graph, &graph->node[out->step[s].node], &t);
        count_words(out, level, &t, t.reason);
        status = make_values(out, &t);
        if (!status && second >= 0) status = set_second(out, &t);
    }
    for (size_t s = 0; s < out->n_steps && !status; s++) {
        const sx_graph_node *node = &graph->node[out->step[s].node];
        for (size_t v = 0; out->step[s].layer != SX_NO_INDEX && v < node->n_operands; v++)
            out->step[s].value[v] = out->value_of[operands_of(graph, node)[v].tensor];
    }
    if (!status) assign_slots(out);
    for (size_t v = 0; v < out->n_values && !status; v++)
        if (out->value[v].reason) out->value[v].choice = SX_EXCHANGE_OUT;
    tensor_facts_fini(&t);
    return status;
}

/* Lets the value of one named tensor stay. */
static sx_status force_tensor(sx_exchange *x, const char *name) {
    size_t tensor = sx_graph_find_tensor(x->graph, name);
    if (tensor == SX_NO_INDEX)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--fuse: %s has no tensor '%s'", x->graph->name, name),
            "`sextant list %s --json` names the tensors; --fuse=auto chooses them", x->graph->name);
    const size_t value = x->value_of[tensor];
    const char *reason = value != SX_NO_INDEX              ? x->value[value].reason
                         : x->graph->tensor[tensor].weight ? "is a weight"
                                                           : "is an input of the network";
    if (reason && !(value != SX_NO_INDEX && x->value[value].by_tiles))
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--fuse: the tensor %s cannot stay on chip: it %s", name, reason),
            "only what one layer makes and others read can: `sextant map --fuse` lists such tensors");
    x->value[value].choice = SX_EXCHANGE_STAY;
    return SX_OK;
}

sx_status sx_exchange_force(sx_exchange *exchange, const char *tensors) {
    for (size_t v = 0; v < exchange->n_values; v++) exchange->value[v].choice = SX_EXCHANGE_OUT;
    while (*tensors) {
        size_t length = strcspn(tensors, ",");
        char name[SX_NAME_SIZE];
        snprintf(name, sizeof name, "%.*s", (int)length, tensors);
        SX_TRY(force_tensor(exchange, name));
        tensors += length + (tensors[length] == ',');
    }
    for (size_t v = 0; v < exchange->n_values; v++)
        exchange->value[v].by_tiles &= exchange->value[v].choice == SX_EXCHANGE_STAY;
    return SX_OK;
}
