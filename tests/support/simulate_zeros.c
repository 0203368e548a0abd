/* The oracle of sparse tensors: draws the non-zeros of every tensor, goes through every multiply-accumulate of the nest,
 * and looks at real words: which deliveries of a tensor meet a non-zero of the tensors on which they depend, and which
 * computes have operands that are not zero. It knows nothing of probabilities. */
#include "support/zeros_oracle.h"

#include "base/status.h"
#include "base/vector.h"
#include "oracle/simulate.h"
#include "text/coordinates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool sx_zeros_indexes(const sx_zeros_nest *z, int v, int d) {
    for (int r = 0; r < z->problem->tensor[v].n_ranks; r++)
        if (z->problem->tensor[v].coef[r][d]) return true;
    return false;
}

bool sx_zeros_keeps(const sx_zeros_nest *z, int level, int v) {
    return z->mapping->level[level].keep >> v & 1;
}

int sx_zeros_child(const sx_zeros_nest *z, int v, int level) {
    for (level--; level >= 0 && !sx_zeros_keeps(z, level, v);) level--;
    return level;
}

/* Lays out the loops; an error where they leave remainders. */
static sx_status lay_out(sx_zeros_nest *z) {
    const sx_mapping *m = z->mapping;
    int64_t step[SX_MAX_DIMS];
    for (int d = 0; d < m->n_dims; d++) step[d] = 1;
    for (int s = 0; s < m->n_levels; s++)
        for (int slot = 0; slot < 2; slot++)
            for (int i = 0; i < m->n_dims; i++) {
                uint8_t d = slot ? m->level[s].temporal_order[i] : m->level[s].spatial_order[i];
                uint32_t n = slot ? m->level[s].temporal[d] : m->level[s].spatial[d];
                if (n == 1) continue;
                z->loop[z->n_loops++] = (sx_zeros_loop){(uint8_t)s, d, slot == 0, n, 0, step[d]};
                step[d] *= n;
            }
    for (int d = 0; d < m->n_dims; d++)
        if (step[d] != z->problem->size[d])
            return sx_error_new(SX_ERR_INPUT, "sparse tensors are simulated without remainders only");
    return SX_OK;
}

bool sx_zeros_next(sx_zeros_nest *z) {
    for (int i = 0; i < z->n_loops; i++) {
        if (++z->loop[i].digit < z->loop[i].n) return true;
        z->loop[i].digit = 0;
    }
    return false;
}

uint64_t sx_zeros_word(const sx_zeros_nest *z, int v) {
    const sx_tensor *tensor = &z->problem->tensor[v];
    int64_t at[SX_MAX_DIMS] = {0};
    uint64_t word = 0;
    for (int i = 0; i < z->n_loops; i++) at[z->loop[i].dim] += z->loop[i].digit * z->loop[i].step;
    for (int r = 0; r < tensor->n_ranks; r++) {
        int64_t place = 0, size = 1;
        for (int d = 0; d < z->problem->n_dims; d++) {
            int64_t coef = tensor->coef[r][d], last = z->problem->size[d] - 1;
            place += coef * (coef < 0 ? at[d] - last : at[d]);
            size += llabs(coef) * last;
        }
        word = word * (uint64_t)size + (uint64_t)place;
    }
    return word;
}

uint64_t sx_zeros_group(const sx_zeros_nest *z, const sx_zeros_groups *g) {
    uint64_t at = 0;
    for (int i = 0; i < z->n_loops; i++)
        if (g->weight[i]) at += z->loop[i].digit / g->joined[i] * g->weight[i];
    return at;
}

void sx_zeros_split(sx_zeros_groups *g, int i, uint32_t n, uint32_t joined) {
    g->weight[i] = g->n;
    g->joined[i] = joined;
    g->n *= n / joined;
}

/* The words of a tensor's tile at a level (-1: a compute unit): each rank from its first to its last coordinate. */
static uint64_t tile_words(const sx_zeros_nest *z, int v, int level) {
    const sx_tensor *tensor = &z->problem->tensor[v];
    uint64_t extent[SX_MAX_DIMS], words = 1;
    for (int d = 0; d < SX_MAX_DIMS; d++) extent[d] = 1;
    for (int i = 0; i < z->n_loops; i++)
        if (z->loop[i].level <= level) extent[z->loop[i].dim] *= z->loop[i].n;
    for (int r = 0; r < tensor->n_ranks; r++) {
        uint64_t span = 1;
        for (int d = 0; d < z->problem->n_dims; d++)
            span += (uint64_t)abs(tensor->coef[r][d]) * (extent[d] - 1);
        words *= span;
    }
    return words;
}

/* The deliveries of a tensor from a level: a tile that goes to the next inner one, where it stays until a temporal
 * loop moves it, and to all children that want the same; or a word that goes to a compute unit. Deliveries of one
 * block are one. */
static sx_status find_deliveries(const sx_zeros_nest *z, int v, int level, sx_zeros_groups *g) {
    int child = sx_zeros_child(z, v, level);
    bool moved = child < 0;
    uint64_t delivered = tile_words(z, v, child);
    memset(g, 0, sizeof *g);
    g->n = 1;
    const sx_storage *at = &z->arch->level[level];
    uint64_t block = at->block_size, bits = z->problem->tensor[v].bits;
    if (bits) block = bits > block * at->word_bits ? 1 : block * at->word_bits / bits;
    uint64_t need = (block + delivered - 1) / delivered;
    for (int i = 0; i < z->n_loops; i++) {
        const sx_zeros_loop *l = &z->loop[i];
        bool mine = sx_zeros_indexes(z, v, l->dim);
        if (l->level <= child) continue;
        moved |= mine && !l->spatial;
        if (!mine && (l->spatial ? l->level <= level : !moved)) continue;
        uint32_t joined = 1;
        if (mine && need > 1 && l->level <= level) {
            joined = need < l->n ? (uint32_t)need : l->n;
            need = (need + l->n - 1) / l->n;
        }
        if (l->n % joined)
            return sx_error_new(SX_ERR_INPUT, "blocks that loops do not fill are not simulated");
        sx_zeros_split(g, i, l->n, joined);
    }
    return SX_OK;
}

/* Adds what one action makes a tensor's accesses depend on. */
static sx_status add_action(sx_zeros_nest *z, const sx_sparse_action *action) {
    const sx_action_option *option = &action->option[0];
    int target = z->names[option->target], level = action->level;
    if (action->n_options > 1)
        return sx_error_new(SX_ERR_INPUT, "actions with several options are not simulated");
    if (target == SX_MAX_TENSORS) return SX_OK;
    while (level < z->arch->n_levels && !sx_zeros_keeps(z, level, target)) level++;
    if (level == z->arch->n_levels) return SX_OK;
    for (int i = 0; i < z->arch->sparse.n_names; i++) {
        if (!(option->on >> i & 1) || z->names[i] == SX_MAX_TENSORS) continue;
        if (!sx_reserve(&z->dependence, &z->room, z->n_dependences + 1, sizeof *z->dependence))
            return sx_error_memory();
        sx_zeros_dependence *d = &z->dependence[z->n_dependences++];
        d->target = target;
        d->level = level;
        d->on = z->names[i];
        d->delivery.met = NULL;
        SX_TRY(find_deliveries(z, target, level, &d->delivery));
        d->delivery.met = calloc(d->delivery.n, sizeof *d->delivery.met);
        if (!d->delivery.met) return sx_error_memory();
        z->acts[target][level] = true;
        z->skips[target][level] |= action->skips;
    }
    return SX_OK;
}

/* Fills a given number of words of a tensor, every choice being as likely. */
static sx_status draw_anywhere(sx_zeros_nest *z, int v, uint64_t n, sx_rng *rng) {
    uint64_t *word = malloc(z->words[v] * sizeof *word);
    if (!word) return sx_error_memory();
    for (uint64_t i = 0; i < z->words[v]; i++) word[i] = i;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t other = i + sx_rng_below(rng, z->words[v] - i), at = word[other];
        word[other] = word[i];
        z->filled[v][at] = true;
    }
    free(word);
    return SX_OK;
}

/* Fills words of a tensor in the order in which the nest reaches them, evenly from a random start: so every run of
 * them has its share, rounded up or down. */
static void draw_evenly(sx_zeros_nest *z, int v, double share, sx_rng *rng) {
    double start = sx_rng_double(rng);
    do {
        uint64_t number = 0, weight = 1;
        for (int i = 0; i < z->n_loops; i++) {
            if (!sx_zeros_indexes(z, v, z->loop[i].dim)) continue;
            number += z->loop[i].digit * weight;
            weight *= z->loop[i].n;
        }
        double low = floor((double)number * share + start),
               high = floor((double)(number + 1) * share + start);
        z->filled[v][sx_zeros_word(z, v)] = high > low;
    } while (sx_zeros_next(z));
}

/* Fills the words that the file of a tensor lists. */
static sx_status draw_listed(sx_zeros_nest *z, int v) {
    sx_coordinates listed;
    SX_TRY(sx_coordinates_read(z->problem->tensor[v].data, z->problem, v, &listed));
    for (size_t i = 0; i < listed.n; i++) z->filled[v][listed.word[i]] = true;
    sx_coordinates_fini(&listed);
    return SX_OK;
}

/* Draws the non-zeros of a tensor whose density is given; one that is not is dense. */
static sx_status draw_words(sx_zeros_nest *z, int v, sx_rng *rng) {
    const sx_tensor *tensor = &z->problem->tensor[v];
    z->words[v] = sx_problem_words(z->problem, v);
    z->filled[v] = calloc(z->words[v], sizeof *z->filled[v]);
    if (!z->filled[v]) return sx_error_memory();
    switch ((sx_density_model)tensor->density_model) {
    case SX_DENSITY_NONE:
        memset(z->filled[v], true, z->words[v]);
        return SX_OK;
    case SX_DENSITY_FIXED_STRUCTURED:
        draw_evenly(z, v, tensor->density, rng);
        return SX_OK;
    case SX_DENSITY_HYPERGEOMETRIC:
        return draw_anywhere(z, v, (uint64_t)ceil(tensor->density * (double)z->words[v]), rng);
    case SX_DENSITY_ACTUAL:
        return draw_listed(z, v);
    case SX_DENSITY_BANDED:
        break;
    }
    sx_sim_box whole = sx_sim_whole(z->problem, v);
    uint64_t columns = (uint64_t)(whole.high[1] - whole.low[1]);
    for (uint64_t i = 0; i < z->words[v]; i++)
        z->filled[v][i] = llabs((int64_t)(i / columns) - (int64_t)(i % columns)) <= tensor->band_width;
    return SX_OK;
}

const sx_tensor_format *sx_zeros_format(const sx_zeros_nest *z, int v, int level) {
    const sx_sparse *sparse = &z->arch->sparse;
    for (int i = 0; i < sparse->n_formats; i++)
        if (sparse->format[i].level == level && z->names[sparse->format[i].tensor] == v)
            return &sparse->format[i];
    return NULL;
}

/* Whether the deliveries at the current point, of a tensor from a level, meet non-zeros of all on which they depend. */
static bool meets_nonzeros(const sx_zeros_nest *z, int v, int level) {
    for (size_t i = 0; i < z->n_dependences; i++) {
        const sx_zeros_dependence *d = &z->dependence[i];
        if (d->target == v && d->level == level && !d->delivery.met[sx_zeros_group(z, &d->delivery)])
            return false;
    }
    return true;
}

/* Counts the accesses that the current compute takes its part of, for one tensor at all levels. */
static void count_accesses(const sx_zeros_nest *z, int v, sx_zeros *out) {
    bool exists = true, filled = z->filled[v][sx_zeros_word(z, v)];
    for (int s = z->arch->n_levels - 1; s >= 0; s--) {
        if (!sx_zeros_keeps(z, s, v)) continue;
        out->stored[s][v] += filled;
        bool held = filled || !sx_zeros_format(z, v, s), after = exists && meets_nonzeros(z, v, s);
        int kind = after ? SX_RANDOM : z->skips[v][s] ? SX_SKIPPED : SX_GATED;
        out->fills[s][v] += held && exists;
        if (held && exists) out->accesses[s][v][kind]++;
        if (exists) sx_zeros_metadata_add(z, v, s, kind, out);
        exists = after;
    }
}

/* Counts the current compute. */
static void count_compute(const sx_zeros_nest *z, sx_zeros *out) {
    const sx_sparse *sparse = &z->arch->sparse;
    bool gated = false, skipped = false, zero = false, absent = false, any = false;
    for (size_t i = 0; i < z->n_dependences; i++) {
        const sx_zeros_dependence *d = &z->dependence[i];
        if (z->problem->tensor[d->target].output || z->problem->tensor[d->on].output) continue;
        if (d->delivery.met[sx_zeros_group(z, &d->delivery)]) continue;
        gated = true;
        skipped |= z->skips[d->target][d->level];
    }
    if (skipped) return;
    for (int v = 0; v < z->problem->n_tensors; v++) {
        if (z->problem->tensor[v].output) continue;
        int inner = 0;
        while (!sx_zeros_keeps(z, inner, v)) inner++;
        bool filled = z->filled[v][sx_zeros_word(z, v)], left_out = sx_zeros_format(z, v, inner);
        zero |= !filled && !left_out;
        absent |= !filled && left_out;
        any |= filled || !left_out;
    }
    if (gated) {
        out->computes[SX_GATED]++;
    } else if (any) {
        int kind = absent && sparse->skips_compute             ? SX_SKIPPED
                   : (absent || zero) && sparse->gates_compute ? SX_GATED
                                                               : SX_RANDOM;
        out->computes[kind]++;
    }
}

/* Goes through all points twice: first for what deliveries meet, then to count. */
static void count_zeros(sx_zeros_nest *z, sx_zeros *out) {
    double points = 1;
    do {
        for (size_t i = 0; i < z->n_dependences; i++) {
            sx_zeros_dependence *d = &z->dependence[i];
            d->delivery.met[sx_zeros_group(z, &d->delivery)] |= z->filled[d->on][sx_zeros_word(z, d->on)];
        }
    } while (sx_zeros_next(z));
    do {
        for (int v = 0; v < z->problem->n_tensors; v++) count_accesses(z, v, out);
        count_compute(z, out);
    } while (sx_zeros_next(z));
    for (int i = 0; i < z->n_loops; i++) points *= z->loop[i].n;
    for (int v = 0; v < z->problem->n_tensors; v++)
        for (int s = 0; s < z->arch->n_levels; s++) {
            for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++) {
                out->accesses[s][v][kind] /= points;
                for (int i = 0; i < 2; i++) out->metadata[s][v][kind][i] /= points;
            }
            for (int i = 0; i < 2; i++) out->fill_metadata[s][v][i] /= points;
            out->counts_metadata[s][v] = z->tiles[v][s] != NULL;
            out->fills[s][v] /= points;
            out->stored[s][v] /= points;
        }
}

/* Finds which tensors the architecture's names are. */
static void find_names(sx_zeros_nest *z) {
    for (int i = 0; i < z->arch->sparse.n_names; i++) {
        int v = sx_problem_tensor(z->problem, z->arch->sparse.name[i]);
        z->names[i] = (uint8_t)(v < 0 ? SX_MAX_TENSORS : v);
    }
}

/* Derives the non-zeros of an output whose density is not given: the words that some product of non-zeros reaches. */
static void derive_output(sx_zeros_nest *z) {
    int output = 0;
    while (!z->problem->tensor[output].output) output++;
    if (z->problem->tensor[output].density_model != SX_DENSITY_NONE) return;
    memset(z->filled[output], false, z->words[output]);
    do {
        bool product = true;
        for (int v = 0; v < z->problem->n_tensors; v++)
            if (v != output) product &= z->filled[v][sx_zeros_word(z, v)];
        z->filled[output][sx_zeros_word(z, output)] |= product;
    } while (sx_zeros_next(z));
}

static sx_status simulate_zeros(sx_zeros_nest *z, sx_rng *rng, sx_zeros *out) {
    SX_TRY(lay_out(z));
    find_names(z);
    for (int i = 0; i < z->arch->sparse.n_actions; i++) SX_TRY(add_action(z, &z->arch->sparse.action[i]));
    for (int v = 0; v < z->problem->n_tensors; v++) SX_TRY(draw_words(z, v, rng));
    derive_output(z);
    SX_TRY(sx_zeros_metadata_new(z));
    memset(out, 0, sizeof *out);
    count_zeros(z, out);
    return SX_OK;
}

sx_status sx_simulate_zeros(const sx_problem *problem, const sx_arch *arch, const sx_mapping *mapping,
                            uint64_t max_steps, sx_rng *rng, sx_zeros *out) {
    SX_TRY(sx_problem_check(problem));
    SX_TRY(sx_arch_check(arch));
    if (sx_problem_computes(problem) > max_steps)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT, "the simulation needs more than %llu steps",
                                          (unsigned long long)max_steps),
                             "simulate a smaller problem");
    sx_zeros_nest *z = calloc(1, sizeof *z);
    if (!z) return sx_error_memory();
    z->problem = problem;
    z->arch = arch;
    z->mapping = mapping;
    sx_status status = simulate_zeros(z, rng, out);
    for (int v = 0; v < SX_MAX_TENSORS; v++) free(z->filled[v]);
    sx_zeros_metadata_free(z);
    for (size_t i = 0; i < z->n_dependences; i++) free(z->dependence[i].delivery.met);
    free(z->dependence);
    free(z);
    return status;
}
