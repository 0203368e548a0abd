#include "fuse/group_chain.h"
#include "ir/rank.h"

#include <string.h>

/* The only dimension of a rank of the graph's tensor; -1: there is no such, or others have part in it. */
static int plain_dimension(const sx_chain_link *link, int tensor, int rank) {
    const sx_graph_operand *operand = &link->operand[tensor];
    int at = 0, dim = -1;
    for (int g = 0; g < rank; g++) at += operand->n_of[g];
    if (operand->n_of[rank] != 1 || operand->split == rank) return -1;
    const int32_t *coef = link->problem->tensor[tensor].coef[operand->rank[at]];
    for (int d = 0; d < link->problem->n_dims; d++) {
        if (coef[d] == 0 || link->problem->size[d] == 1) continue;
        if (dim >= 0 || coef[d] != 1) return -1;
        dim = d;
    }
    return dim;
}

/* The rank of the graph's tensor in which a dimension has part, alone in its rank of the einsum's but for a window;
 * -1: none or several. Sets stride, reach and padding. */
static int rank_of_dimension(sx_chain_link *link, int tensor, int dim) {
    const sx_graph_operand *operand = &link->operand[tensor];
    const sx_tensor *t = &link->problem->tensor[tensor];
    int found = -1, at = 0;
    for (int g = 0; at < t->n_ranks && g < SX_MAX_RANKS; at += operand->n_of[g], g++) {
        for (int i = at; i < at + operand->n_of[g]; i++) {
            const int32_t *coef = t->coef[operand->rank[i]];
            if (coef[dim] == 0) continue;
            if (found >= 0 || operand->n_of[g] != 1 || operand->split == g || coef[dim] < 0) return -1;
            found = g;
            link->stride = (uint32_t)coef[dim];
            link->pad = operand->before[g];
            link->reach = 1;
            for (int d = 0; d < link->problem->n_dims; d++)
                if (d != dim) link->reach += (uint32_t)coef[d] * (link->problem->size[d] - 1);
        }
    }
    return found;
}

static const sx_graph_tensor *tensor_of(const sx_layer_chain *chain, const sx_chain_link *link, int v) {
    return &chain->exchange->graph->tensor[link->operand[v].tensor];
}

static bool same_shape(const sx_graph_tensor *a, const sx_graph_tensor *b) {
    return a->n_ranks == b->n_ranks && memcmp(a->extent, b->extent, a->n_ranks * sizeof *a->extent) == 0;
}

/* Finds the layers: n einsums one after the other, each reading what the one before wrote. */
static bool find_links(sx_layer_chain *chain, size_t first) {
    const sx_exchange *x = chain->exchange;
    int n = 0;
    for (size_t s = first; s < x->n_steps && n < chain->n; s++) {
        if (x->step[s].layer == SX_NO_INDEX) continue;
        sx_chain_link *link = &chain->link[n];
        const sx_graph_node *node = &x->graph->node[x->step[s].node];
        *link = (sx_chain_link){.step = s,
                                .problem = &x->network->layer[x->step[s].layer].problem,
                                .operand = &x->graph->operand[node->first],
                                .out = -1,
                                .in = -1,
                                .other = -1,
                                .row = -1,
                                .channel = -1};
        if (link->problem->n_tensors != 3 || x->step[s].repeat != x->step[first].repeat) return false;
        for (int v = 0; v < 3; v++)
            if (link->operand[v].written) link->out = v;
        const size_t passed = n ? x->step[link[-1].step].value[link[-1].out] : SX_NO_INDEX;
        for (int v = 0; v < 3 && n; v++)
            if (v != link->out && x->step[s].value[v] == passed && link->in < 0) link->in = v;
        if (n && (link->in < 0 ||
                  !same_shape(tensor_of(chain, &link[-1], link[-1].out), tensor_of(chain, link, link->in))))
            return false;
        if (n) link->other = 3 - link->out - link->in;
        if (n && x->step[s].value[link->other] == passed) return false;
        n++;
    }
    chain->heads = x->step[first].repeat;
    return n == chain->n && chain->link[n - 1].step - first < SX_EXCHANGE_SPAN;
}

/* Whether what lies between the layers works on tiles of these rows: no pool, no change of shape, nothing along them. */
static bool between_allows(const sx_layer_chain *chain) {
    const sx_exchange *x = chain->exchange;
    for (int l = 0; l + 1 < chain->n; l++)
        for (size_t s = chain->link[l].step + 1; s < chain->link[l + 1].step; s++) {
            const sx_graph_node *node = &x->graph->node[x->step[s].node];
            if (node->kind == SX_OP_ELEMENT_WISE) continue;
            if (node->kind != SX_OP_SOFTMAX && node->kind != SX_OP_NORM) return false;
            if (node->axis == chain->link[l].row_out) return false;
        }
    return true;
}

/* Whether the values between the layers have no other users, and may stay by tiles; heads must be apart. */
static bool values_allow(const sx_layer_chain *chain) {
    const sx_exchange *x = chain->exchange;
    for (int l = 0; l + 1 < chain->n; l++) {
        const sx_chain_link *link = &chain->link[l], *next = link + 1;
        const sx_exchange_value *value = &x->value[x->step[link->step].value[link->out]];
        if (!value->by_tiles || value->first < chain->link[0].step || value->last > next->step) return false;
        if (chain->heads > 1 && (link->operand[link->out].split < 0 || next->operand[next->in].split < 0))
            return false;
    }
    for (size_t v = 0; v < x->n_values; v++) {
        bool own = false;
        for (int l = 0; l < chain->n; l++) own |= x->step[chain->link[l].step].value[chain->link[l].out] == v;
        if (!own && x->value[v].first >= chain->link[0].step &&
            x->value[v].first <= chain->link[chain->n - 1].step)
            return false;
    }
    return true;
}

/* Traces rows from the last tensor to the first. */
static bool trace_rows(sx_layer_chain *chain, int rank) {
    for (int l = chain->n - 1; l >= 0; l--) {
        sx_chain_link *link = &chain->link[l];
        if (rank < 0) return false;
        link->row_out = rank;
        link->row = plain_dimension(link, link->out, rank);
        link->rows_out = (uint32_t)tensor_of(chain, link, link->out)->extent[rank];
        if (link->row < 0 || link->problem->size[link->row] != link->rows_out) return false;
        if (l > 0) {
            if (sx_tensor_has(&link->problem->tensor[link->other], link->row)) return false;
            rank = rank_of_dimension(link, link->in, link->row);
            if (rank >= 0) link->rows_in = (uint32_t)tensor_of(chain, link, link->in)->extent[rank];
            continue;
        }
        for (int v = 0; v < 3; v++)
            if (v != link->out && sx_tensor_has(&link->problem->tensor[v], link->row)) {
                if (link->in >= 0) return false;
                link->in = v;
            }
        if (link->in < 0) return false;
        link->other = 3 - link->out - link->in;
        rank = rank_of_dimension(link, link->in, link->row);
        if (rank < 0) return false;
        link->rows_in = (uint32_t)tensor_of(chain, link, link->in)->extent[rank];
    }
    return true;
}

/* Traces a channel loop: from a rank of the first output that its input has not, to a sum of the last layer. */
static bool trace_channels(sx_layer_chain *chain, int rank) {
    sx_chain_link *first = &chain->link[0];
    if (rank == first->row_out) return false;
    for (int l = 0; l < chain->n; l++) {
        sx_chain_link *link = &chain->link[l];
        if (l == 0) {
            link->channel = plain_dimension(link, link->out, rank);
            if (link->channel < 0 || sx_tensor_has(&link->problem->tensor[link->in], link->channel))
                return false;
            continue;
        }
        link->channel = plain_dimension(link, link->in, rank);
        if (link->channel < 0) return false;
        const bool summed = !sx_tensor_has(&link->problem->tensor[link->out], link->channel);
        if (summed != (l == chain->n - 1)) return false;
        if (link->problem->size[link->channel] != first->problem->size[first->channel]) return false;
        int next = -1;
        for (size_t g = 0; !summed && g < tensor_of(chain, link, link->out)->n_ranks; g++)
            if (plain_dimension(link, link->out, (int)g) == link->channel) next = (int)g;
        if (!summed && next < 0) return false;
        rank = next;
    }
    for (size_t s = first->step; s < chain->link[chain->n - 1].step; s++) {
        const sx_op_kind kind = chain->exchange->graph->node[chain->exchange->step[s].node].kind;
        if (kind == SX_OP_NORM || (kind == SX_OP_SOFTMAX && !chain->exchange->one_pass)) return false;
        chain->one_pass |= kind == SX_OP_SOFTMAX;
    }
    chain->channels = first->problem->size[first->channel];
    return true;
}

bool sx_layer_chain_find(const sx_exchange *exchange, size_t first, int n, sx_layer_chain *out) {
    *out = (sx_layer_chain){.exchange = exchange, .n = n, .channels = 1};
    if (exchange->step[first].layer == SX_NO_INDEX || !find_links(out, first) || !values_allow(out))
        return false;
    const sx_chain_link *last = &out->link[n - 1];
    const sx_graph_tensor *end = tensor_of(out, last, last->out);
    int best = -1;
    for (size_t g = 0; g < end->n_ranks; g++) {
        sx_layer_chain tried = *out;
        if (!trace_rows(&tried, (int)g) || !between_allows(&tried)) continue;
        if (best < 0 || end->extent[g] > end->extent[best]) best = (int)g;
    }
    if (best < 0 || !trace_rows(out, best)) return false;
    for (size_t g = 0; g < tensor_of(out, out->link, out->link[0].out)->n_ranks; g++) {
        sx_layer_chain tried = *out;
        if (!trace_channels(&tried, (int)g)) continue;
        *out = tried;
        break;
    }
    if (out->channels == 1)
        for (int l = 0; l < n; l++) out->link[l].channel = -1;
    return true;
}

/* Counts a step that makes a number of rows of a tensor. */
static bool count_rows(sx_row_schedule *s, int tensor, uint32_t rows) {
    if (rows == 0) return true;
    s->tensor[tensor].total += rows;
    if (rows > s->tensor[tensor].made) s->tensor[tensor].made = rows;
    for (int k = 0; k < s->tensor[tensor].n_kinds; k++)
        if (s->tensor[tensor].rows[k] == rows) {
            s->tensor[tensor].times[k]++;
            return true;
        }
    if (s->tensor[tensor].n_kinds == SX_MAX_ROW_KINDS) return false;
    s->tensor[tensor].rows[s->tensor[tensor].n_kinds] = rows;
    s->tensor[tensor].times[s->tensor[tensor].n_kinds++] = 1;
    return true;
}

/* Rows of one tensor over the steps. */
typedef struct row_state {
    int64_t lo, hi; /* needed in this step */
    int64_t reach;  /* made so far */
} row_state;

/* The rows that a layer reads for rows [lo, hi) of its output; none for none. */
static void rows_needed(const sx_chain_link *link, int64_t lo, int64_t hi, row_state *out) {
    out->lo = (int64_t)link->stride * lo - link->pad;
    out->hi = (int64_t)link->stride * (hi - 1) + link->reach - link->pad;
    if (out->lo < 0) out->lo = 0;
    if (out->hi > link->rows_in) out->hi = link->rows_in;
    if (lo >= hi || out->lo > out->hi) out->lo = out->hi = 0;
}

/* One step of all tensors, from the last to the first. */
static bool add_step(const sx_layer_chain *chain, sx_group_window window, row_state *row,
                     sx_row_schedule *s) {
    for (int t = chain->n; t >= 0; t--) {
        row_state *r = &row[t];
        const bool any = r->lo < r->hi;
        int64_t lo = r->lo;
        if (any && t < chain->n && window == SX_GROUP_RETAIN) {
            if (r->reach > r->lo && r->reach - r->lo > s->tensor[t].kept)
                s->tensor[t].kept = (uint32_t)(r->reach - r->lo);
            lo = r->reach > lo ? r->reach : lo;
        }
        const int64_t hi = any && r->hi > lo ? r->hi : lo;
        if (any && r->hi - r->lo > s->tensor[t].tile) s->tensor[t].tile = (uint32_t)(r->hi - r->lo);
        if (any && hi > r->reach) r->reach = hi;
        if (!count_rows(s, t, any ? (uint32_t)(hi - lo) : 0)) return false;
        if (t > 0) rows_needed(&chain->link[t - 1], any ? lo : 0, any ? hi : 0, &row[t - 1]);
    }
    return true;
}

bool sx_row_schedule_make(const sx_layer_chain *chain, uint32_t tile, uint32_t inner, sx_group_window window,
                          sx_row_schedule *out) {
    row_state row[SX_MAX_GROUP + 1] = {0};
    const uint32_t rows = chain->link[chain->n - 1].rows_out, each = inner ? inner : tile;
    memset(out, 0, sizeof *out);
    for (uint32_t at = 0; at < rows; at += tile) {
        const uint32_t end = at + tile < rows ? at + tile : rows;
        for (int t = 0; inner && window == SX_GROUP_RECOMPUTE && t <= chain->n; t++) row[t].reach = 0;
        for (uint32_t in = at; in < end; in += each, out->steps++) {
            row[chain->n].lo = in;
            row[chain->n].hi = in + each < end ? in + each : end;
            if (!add_step(chain, inner ? SX_GROUP_RETAIN : window, row, out)) return false;
        }
    }
    return true;
}
