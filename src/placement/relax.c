#include "placement/relax.h"

#include "base/status.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STATES = 1024, MAX_ENTRIES = 1 << 16, MAX_TRACKED = 10 };

/* A state while the nodes are planned. */
typedef struct frontier {
    size_t n;
    size_t node[MAX_TRACKED + 1];
} frontier;

/* The memories to the power of n. */
static size_t memories_power(const sx_placement_space *space, size_t n) {
    size_t product = 1;
    while (n-- > 0) product *= space->chip.n_memories;
    return product;
}

/* Drops outputs that no later step reads, then the smallest while there are too many; whether none were. */
static bool shrink_frontier(const sx_placement_space *space, size_t step, frontier *f) {
    size_t kept = 0;
    bool complete = true;
    for (size_t j = 0; j < f->n; j++)
        if (space->graph.node[f->node[j]].last > step) f->node[kept++] = f->node[j];
    f->n = kept;
    while (f->n > MAX_TRACKED || memories_power(space, f->n) > MAX_STATES) {
        size_t least = 0;
        for (size_t j = 1; j < f->n; j++)
            if (space->size[2 * f->node[j] + 1] < space->size[2 * f->node[least] + 1]) least = j;
        memmove(f->node + least, f->node + least + 1, (--f->n - least) * sizeof *f->node);
        complete = false;
    }
    return complete;
}

/* The frontier after a node; *complete becomes false where outputs are dropped. */
static frontier advance_frontier(const sx_placement_space *space, size_t node, const frontier *before,
                                 bool *complete) {
    frontier after = *before;
    if (space->size[2 * node + 1] > 0) after.node[after.n++] = node;
    *complete &= shrink_frontier(space, node, &after);
    return after;
}

/* The position of an output; n where it is not tracked. */
static size_t frontier_position(const frontier *f, size_t node) {
    size_t j = 0;
    while (j < f->n && f->node[j] != node) j++;
    return j;
}

/* The tracked inputs of a node as positions, as many as the table has room for, else *complete becomes false; returns
 * how many. */
static size_t tracked_inputs(const sx_placement_space *space, size_t node, const frontier *f, size_t *at,
                             bool *complete) {
    const sx_place_node *of = &space->graph.node[node];
    size_t n = 0;
    for (size_t k = 0; k < of->n_inputs; k++) {
        size_t j = frontier_position(f, space->graph.input[of->first_input + k]);
        if (j == f->n) continue;
        if (memories_power(space, n + 3) <= MAX_ENTRIES)
            at[n++] = j;
        else
            *complete = false;
    }
    return n;
}

/* Fills in the times of a node for all memories of its n inputs. */
static void fill_table(const sx_placement_space *space, size_t node, const frontier *f, const size_t *at,
                       size_t n, double *table) {
    size_t memories = space->chip.n_memories, combos = memories_power(space, n);
    for (size_t c = 0; c < combos; c++)
        for (size_t a = 0; a < memories; a++)
            for (size_t w = 0; w < memories; w++) {
                uint64_t bytes[SX_MAX_MEMORIES] = {0};
                for (size_t k = 0, rest = c; k < n; k++, rest /= memories)
                    bytes[rest % memories] += space->moved[2 * f->node[at[k]] + 1];
                bytes[a] += space->moved[2 * node + 1];
                bool streams = sx_place_is_stream(space, node, w);
                if (!streams) bytes[w] += space->moved[2 * node];
                table[(c * memories + a) * memories + w] =
                    (double)sx_place_node_time(space, node, bytes, streams);
            }
}

/* Fills in where the states of a node lead. */
static void fill_states(const sx_placement_space *space, const frontier *f, const frontier *after,
                        const size_t *at, size_t n, uint32_t *combo, uint32_t *next) {
    size_t memories = space->chip.n_memories, states = memories_power(space, f->n);
    for (size_t s = 0; s < states; s++) {
        size_t digit[MAX_TRACKED + 1], to = 0, entry = 0;
        for (size_t j = 0, rest = s; j < f->n; j++, rest /= memories) {
            size_t there = frontier_position(after, f->node[j]);
            digit[j] = rest % memories;
            if (there < after->n) to += digit[j] * memories_power(space, there);
        }
        for (size_t k = n; k-- > 0;) entry = entry * memories + digit[at[k]];
        combo[s] = (uint32_t)entry;
        next[s] = (uint32_t)to;
    }
}

/* Adds up the outputs of the states of a node by memory. */
static void fill_use(const sx_placement_space *space, const frontier *f, uint64_t *use) {
    size_t memories = space->chip.n_memories, states = memories_power(space, f->n);
    for (size_t s = 0; s < states; s++)
        for (size_t j = 0, rest = s; j < f->n; j++, rest /= memories)
            use[s * memories + rest % memories] += space->size[2 * f->node[j] + 1];
}

/* Plans all nodes, or (fill) fills in their tables. */
static void plan_nodes(sx_place_relax *relax, bool fill, size_t *entries, size_t *states) {
    const sx_placement_space *space = relax->space;
    frontier f = {0};
    *entries = *states = 0;
    relax->complete = true;
    for (size_t i = 0; i < space->graph.n_nodes; i++) {
        size_t at[MAX_TRACKED + 1], n = tracked_inputs(space, i, &f, at, &relax->complete);
        frontier after = advance_frontier(space, i, &f, &relax->complete);
        sx_relax_node *node = &relax->node[i];
        size_t own = frontier_position(&after, i);
        node->n_states = memories_power(space, f.n);
        node->table = *entries;
        node->states = *states;
        node->n_entries = memories_power(space, n + 2);
        node->output_stride = own < after.n ? memories_power(space, own) : 0;
        if (fill) {
            fill_table(space, i, &f, at, n, relax->table + node->table);
            fill_states(space, &f, &after, at, n, relax->combo + node->states, relax->next + node->states);
            fill_use(space, &f, relax->use + node->states * space->chip.n_memories);
        }
        *entries += node->n_entries;
        *states += node->n_states;
        f = after;
    }
    relax->node[space->graph.n_nodes] = (sx_relax_node){.n_states = 1, .table = *entries, .states = *states};
}

sx_status sx_place_relax_init(const sx_placement_space *space, sx_place_relax *relax) {
    size_t entries, states, n = space->graph.n_nodes, m = space->chip.n_memories;
    *relax = (sx_place_relax){.space = space};
    relax->node = calloc(n + 1, sizeof *relax->node);
    if (!relax->node) return sx_error_memory();
    plan_nodes(relax, false, &entries, &states);
    relax->table = calloc(entries, sizeof *relax->table);
    relax->combo = calloc(states, sizeof *relax->combo);
    relax->next = calloc(states, sizeof *relax->next);
    relax->below = calloc(states + 1, sizeof *relax->below);
    relax->above = calloc(states + 1, sizeof *relax->above);
    relax->reduced = calloc(entries, sizeof *relax->reduced);
    relax->use = calloc(states * m, sizeof *relax->use);
    relax->fits = calloc(states, sizeof *relax->fits);
    relax->price = calloc(space->n_tensors * m, sizeof *relax->price);
    relax->marginal = calloc(space->n_tensors * m, sizeof *relax->marginal);
    if (space->reads_ahead) {
        relax->own = calloc(entries, sizeof *relax->own);
        relax->share = calloc(n, sizeof *relax->share);
        if (!relax->own || !relax->share) {
            sx_place_relax_fini(relax);
            return sx_error_memory();
        }
    }
    if (relax->table && relax->combo && relax->next && relax->below && relax->above && relax->reduced &&
        relax->use && relax->fits && relax->price && relax->marginal) {
        plan_nodes(relax, true, &entries, &states);
        if (relax->own) memcpy(relax->own, relax->table, entries * sizeof *relax->own);
        memset(relax->fits, UINT8_MAX, states * sizeof *relax->fits);
        return SX_OK;
    }
    sx_place_relax_fini(relax);
    return sx_error_memory();
}

void sx_place_relax_fini(sx_place_relax *relax) {
    free(relax->node);
    free(relax->table);
    free(relax->own);
    free(relax->share);
    free(relax->combo);
    free(relax->next);
    free(relax->below);
    free(relax->above);
    free(relax->reduced);
    free(relax->use);
    free(relax->fits);
    free(relax->price);
    free(relax->marginal);
    *relax = (sx_place_relax){0};
}

void sx_place_relax_mix(sx_place_relax *relax, const double *share) {
    const sx_placement_space *space = relax->space;
    size_t memories = space->chip.n_memories;
    for (size_t i = 0; i < space->graph.n_nodes; i++) {
        const sx_relax_node *node = &relax->node[i];
        assert(share[i] >= 0 && share[i] <= 1 && (i == 0 || share[i] <= share[i - 1]));
        if (share[i] == relax->share[i]) continue;
        relax->share[i] = share[i];
        double stream = (double)sx_place_stream_time(space, i, 0);
        for (size_t e = 0; e < node->n_entries; e++)
            relax->table[node->table + e] = floor((1 - share[i]) * relax->own[node->table + e] +
                                                  (e % memories == 0 ? share[i] * stream : 0));
    }
}

/* Sets the prices of all tensors; returns what the capacities are worth. */
static double set_prices(sx_place_relax *relax, const double *lambda) {
    const sx_placement_space *space = relax->space;
    size_t n = space->graph.n_nodes, memories = space->chip.n_memories;
    double worth = 0;
    for (size_t t = 0; t < space->n_tensors; t++) relax->price[t * memories] = 0;
    for (size_t m = 1; m < memories; m++) {
        double all = 0;
        for (size_t s = 0; s < n; s++) all += lambda[m * n + s];
        worth += all * (double)space->chip.memory[m].capacity;
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t s = i; s <= space->graph.node[i].last; s++) sum += lambda[m * n + s];
            relax->price[2 * i * memories + m] = all * (double)space->size[2 * i];
            relax->price[(2 * i + 1) * memories + m] = sum * (double)space->size[2 * i + 1];
        }
    }
    return worth;
}

/* For each memory of the inputs and the output of a node: the least time with the price of output and weights.
 */
static void reduce_node(sx_place_relax *relax, const uint16_t *allowed, size_t node, double *out) {
    size_t m = relax->space->chip.n_memories, n = relax->node[node].n_entries / (m * m);
    const double *table = relax->table + relax->node[node].table, *weights = relax->price + 2 * node * m,
                 *output = weights + m;
    for (size_t c = 0; c < n; c++)
        for (size_t a = 0; a < m; a++, table += m) {
            double best = INFINITY;
            for (size_t w = 0; w < m && allowed[2 * node + 1] >> a & 1; w++)
                if (allowed[2 * node] >> w & 1) best = fmin(best, table[w] + weights[w]);
            out[c * m + a] = best + output[a];
        }
}

/* The reduced times of a node lie where its table does. */
static double *reduced_of(const sx_place_relax *relax, size_t node) {
    return relax->reduced + relax->node[node].table;
}

/* Takes the least memories from the first state on. */
static void extract_placement(const sx_place_relax *relax, const uint16_t *allowed, uint8_t *placement) {
    size_t m = relax->space->chip.n_memories, state = 0;
    for (size_t i = 0; i < relax->space->graph.n_nodes; i++) {
        const sx_relax_node *node = &relax->node[i];
        size_t combo = relax->combo[node->states + state], next = relax->next[node->states + state], a = 0,
               w = 0;
        const double *row = reduced_of(relax, i) + combo * m,
                     *after = relax->below + relax->node[i + 1].states;
        unsigned fits = relax->fits[node->states + state];
        double least = INFINITY;
        for (size_t k = 0; k < m; k++) {
            if (!(fits >> k & 1)) continue;
            double cost = row[k] + after[next + k * node->output_stride];
            if (cost < least) a = k;
            if (cost < least) least = cost;
        }
        const double *table = relax->table + node->table + (combo * m + a) * m,
                     *price = relax->price + 2 * i * m;
        least = INFINITY;
        for (size_t k = 0; k < m; k++)
            if ((allowed[2 * i] >> k & 1) && table[k] + price[k] < least) {
                least = table[k] + price[k];
                w = k;
            }
        placement[2 * i] = (uint8_t)w;
        placement[2 * i + 1] = (uint8_t)a;
        state = next + a * node->output_stride;
    }
}

/* Solves what is left with the prices of tensors, at these prices of the capacities. */
static double solve_prices(sx_place_relax *relax, const uint16_t *allowed, double worth, uint8_t *placement) {
    size_t m = relax->space->chip.n_memories;
    relax->below[relax->node[relax->space->graph.n_nodes].states] = 0;
    for (size_t i = relax->space->graph.n_nodes; i-- > 0;) {
        const sx_relax_node *node = &relax->node[i];
        const double *after = relax->below + relax->node[i + 1].states, *row = reduced_of(relax, i);
        reduce_node(relax, allowed, i, reduced_of(relax, i));
        for (size_t s = 0; s < node->n_states; s++) {
            const double *cost = row + relax->combo[node->states + s] * m;
            const double *to = after + relax->next[node->states + s];
            unsigned fits = relax->fits[node->states + s];
            double least = INFINITY;
            for (size_t a = 0; a < m; a++)
                if (fits >> a & 1) least = fmin(least, cost[a] + to[a * node->output_stride]);
            relax->below[node->states + s] = least;
        }
    }
    relax->worth = worth;
    relax->magnitude = relax->below[0] + worth;
    if (isinf(relax->below[0])) return INFINITY;
    extract_placement(relax, allowed, placement);
    return relax->below[0] - worth;
}

double sx_place_relax_bound(sx_place_relax *relax, const uint16_t *allowed, const double *lambda,
                            uint8_t *placement) {
    return solve_prices(relax, allowed, set_prices(relax, lambda), placement);
}

double sx_place_relax_weights(sx_place_relax *relax, const uint16_t *allowed, const double *lambda,
                              const uint64_t *room, uint8_t *placement) {
    const sx_placement_space *space = relax->space;
    size_t memories = space->chip.n_memories;
    double worth = 0;
    for (size_t m = 1; m < memories; m++) worth += lambda[m] * (double)room[m];
    for (size_t t = 0; t < space->n_tensors; t++)
        for (size_t m = 0; m < memories; m++)
            relax->price[t * memories + m] =
                m > 0 && !sx_place_is_output(t) ? lambda[m] * (double)space->size[t] : 0;
    return solve_prices(relax, allowed, worth, placement);
}

void sx_place_relax_limit(sx_place_relax *relax, const uint64_t *most) {
    const sx_placement_space *space = relax->space;
    size_t memories = space->chip.n_memories;
    for (size_t i = 0; i < space->graph.n_nodes; i++)
        for (size_t s = relax->node[i].states; s < relax->node[i + 1].states; s++) {
            const uint64_t *use = relax->use + s * memories;
            unsigned fits = 1;
            for (size_t m = 1; m < memories; m++)
                if (use[m] + space->size[2 * i + 1] <= most[m]) fits |= 1u << m;
            for (size_t m = 1; m < memories; m++)
                if (use[m] > most[m]) fits = 0;
            relax->fits[s] = (uint16_t)fits;
        }
}

void sx_place_relax_peaks(const sx_place_relax *relax, size_t memory, uint64_t bytes, uint64_t *below,
                          uint64_t *above) {
    const sx_placement_space *space = relax->space;
    *below = 0;
    *above = UINT64_MAX;
    for (size_t i = 0; i < space->graph.n_nodes; i++)
        for (size_t s = relax->node[i].states; s < relax->node[i + 1].states; s++)
            for (int own = 0; own < 2; own++) {
                uint64_t use = relax->use[s * space->chip.n_memories + memory];
                if (own) use += space->size[2 * i + 1];
                if (use <= bytes && use > *below) *below = use;
                if (use > bytes && use < *above) *above = use;
            }
}

/* Goes through a node: the marginals of its tensors, and the least costs up to the next states. */
static void pass_node(sx_place_relax *relax, const uint16_t *allowed, size_t i) {
    size_t m = relax->space->chip.n_memories;
    const sx_relax_node *node = &relax->node[i];
    const double *after = relax->below + relax->node[i + 1].states, *row = reduced_of(relax, i);
    double *to = relax->above + relax->node[i + 1].states, *weights = relax->marginal + 2 * i * m,
           *output = weights + m;
    const double *price = relax->price + 2 * i * m;
    for (size_t s = 0; s < node->n_states; s++) {
        double so_far = relax->above[node->states + s];
        size_t combo = relax->combo[node->states + s];
        for (size_t a = 0; a < m && so_far < INFINITY; a++) {
            if (!(relax->fits[node->states + s] >> a & 1)) continue;
            size_t next = relax->next[node->states + s] + a * node->output_stride;
            double cost = so_far + row[combo * m + a];
            if (isinf(cost)) continue;
            to[next] = fmin(to[next], cost);
            output[a] = fmin(output[a], cost + after[next]);
            const double *table = relax->table + node->table + (combo * m + a) * m;
            for (size_t w = 0; w < m; w++)
                if (allowed[2 * i] >> w & 1)
                    weights[w] = fmin(weights[w], so_far + table[w] + price[w] + price[m + a] + after[next]);
        }
    }
}

void sx_place_relax_marginals(sx_place_relax *relax, const uint16_t *allowed) {
    size_t n = relax->space->graph.n_nodes, m = relax->space->chip.n_memories;
    for (size_t s = 0; s <= relax->node[n].states; s++) relax->above[s] = INFINITY;
    for (size_t k = 0; k < 2 * n * m; k++) relax->marginal[k] = INFINITY;
    relax->above[0] = 0;
    for (size_t i = 0; i < n; i++) pass_node(relax, allowed, i);
    for (size_t k = 0; k < 2 * n * m; k++) relax->marginal[k] -= relax->worth;
}

double sx_place_relax_error(const sx_place_relax *relax) {
    return 16 * (double)(relax->space->graph.n_nodes + 8) * DBL_EPSILON * relax->magnitude;
}

uint64_t sx_place_relax_steps(const sx_place_relax *relax) {
    const sx_relax_node *end = &relax->node[relax->space->graph.n_nodes];
    return end->states * relax->space->chip.n_memories + end->table;
}
