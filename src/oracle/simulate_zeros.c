/* The oracle of sparse tensors: draws the non-zeros of every tensor, goes through every multiply-accumulate of the nest,
 * and looks at real words: which deliveries of a tensor meet a non-zero of the tensors on which they depend, and which
 * computes have operands that are not zero. It knows nothing of probabilities. */
#include "base/status.h"
#include "base/vector.h"
#include "frontend/coordinates.h"
#include "oracle/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NEST = 2 * SX_MAX_LEVELS * SX_MAX_DIMS };

/* A loop of more than one iteration. */
typedef struct loop {
    uint8_t level, dim;
    bool spatial;
    uint32_t n, digit; /* digit: the iteration in hand */
    int64_t step;
} loop;

/* Groups of points of the nest, told apart by some loops; neighbouring iterations of a loop may be one. */
typedef struct groups {
    uint64_t weight[MAX_NEST]; /* 0: the loop does not tell them apart */
    uint32_t joined[MAX_NEST];
    uint64_t n;
    bool *met; /* a non-zero lies in the group */
} groups;

/* Accesses to a tensor at a level depend on the words of another one that are used with a delivery. */
typedef struct dependence {
    int target, level, on;
    groups delivery;
} dependence;

/* A nest with its tensors. */
typedef struct zeros {
    const sx_problem *problem;
    const sx_arch *arch;
    const sx_mapping *mapping;
    int n_loops;
    loop loop[MAX_NEST]; /* innermost first */
    bool *filled[SX_MAX_TENSORS];
    uint64_t words[SX_MAX_TENSORS];
    uint8_t names[SX_MAX_SPARSE_NAMES]; /* tensor of a name of the architecture; SX_MAX_TENSORS: none */
    bool acts[SX_MAX_TENSORS][SX_MAX_LEVELS], skips[SX_MAX_TENSORS][SX_MAX_LEVELS];
    dependence *dependence;
    size_t n_dependences, room;
} zeros;

static bool indexes(const zeros *z, int v, int d) {
    for (int r = 0; r < z->problem->tensor[v].n_ranks; r++)
        if (z->problem->tensor[v].coef[r][d]) return true;
    return false;
}

static bool keeps(const zeros *z, int level, int v) {
    return z->mapping->level[level].keep >> v & 1;
}

/* The next inner level that keeps a tensor; -1: compute units. */
static int child_of(const zeros *z, int v, int level) {
    for (level--; level >= 0 && !keeps(z, level, v);) level--;
    return level;
}

/* Lays out the loops; an error where they leave remainders. */
static sx_status lay_out(zeros *z) {
    const sx_mapping *m = z->mapping;
    int64_t step[SX_MAX_DIMS];
    for (int d = 0; d < m->n_dims; d++) step[d] = 1;
    for (int s = 0; s < m->n_levels; s++)
        for (int slot = 0; slot < 2; slot++)
            for (int i = 0; i < m->n_dims; i++) {
                uint8_t d = slot ? m->level[s].temporal_order[i] : m->level[s].spatial_order[i];
                uint32_t n = slot ? m->level[s].temporal[d] : m->level[s].spatial[d];
                if (n == 1) continue;
                z->loop[z->n_loops++] = (loop){(uint8_t)s, d, slot == 0, n, 0, step[d]};
                step[d] *= n;
            }
    for (int d = 0; d < m->n_dims; d++)
        if (step[d] != z->problem->size[d])
            return sx_error_new(SX_ERR_INPUT, "sparse tensors are simulated without remainders only");
    return SX_OK;
}

/* Goes on to the next point of the nest; false after the last. */
static bool next_point(zeros *z) {
    for (int i = 0; i < z->n_loops; i++) {
        if (++z->loop[i].digit < z->loop[i].n) return true;
        z->loop[i].digit = 0;
    }
    return false;
}

/* The word of a tensor that is used at the point in hand. */
static uint64_t word_at(const zeros *z, int v) {
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

static uint64_t group_at(const zeros *z, const groups *g) {
    uint64_t at = 0;
    for (int i = 0; i < z->n_loops; i++)
        if (g->weight[i]) at += z->loop[i].digit / g->joined[i] * g->weight[i];
    return at;
}

/* Lets a loop tell groups apart, so many of its iterations being one. */
static void split_by(groups *g, int i, uint32_t n, uint32_t joined) {
    g->weight[i] = g->n;
    g->joined[i] = joined;
    g->n *= n / joined;
}

/* The deliveries of a tensor from a level: a tile that goes to the next inner one, where it stays until a temporal
 * loop moves it, and to all children that want the same; or a word that goes to a compute unit. Deliveries of one
 * block are one. */
static sx_status find_deliveries(const zeros *z, int v, int level, groups *g) {
    int child = child_of(z, v, level);
    bool moved = child < 0;
    uint64_t delivered = 1;
    memset(g, 0, sizeof *g);
    g->n = 1;
    for (int i = 0; i < z->n_loops; i++)
        if (z->loop[i].level <= child && indexes(z, v, z->loop[i].dim)) delivered *= z->loop[i].n;
    uint64_t block = z->arch->level[level].block_size, need = (block + delivered - 1) / delivered;
    for (int i = 0; i < z->n_loops; i++) {
        const loop *l = &z->loop[i];
        bool mine = indexes(z, v, l->dim);
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
        split_by(g, i, l->n, joined);
    }
    return SX_OK;
}

/* Adds what one action makes a tensor's accesses depend on. */
static sx_status add_action(zeros *z, const sx_sparse_action *action) {
    const sx_action_option *option = &action->option[0];
    int target = z->names[option->target], level = action->level;
    if (action->n_options > 1)
        return sx_error_new(SX_ERR_INPUT, "actions with several options are not simulated");
    if (target == SX_MAX_TENSORS) return SX_OK;
    while (level < z->arch->n_levels && !keeps(z, level, target)) level++;
    if (level == z->arch->n_levels) return SX_OK;
    for (int i = 0; i < z->arch->sparse.n_names; i++) {
        if (!(option->on >> i & 1) || z->names[i] == SX_MAX_TENSORS) continue;
        if (!sx_reserve(&z->dependence, &z->room, z->n_dependences + 1, sizeof *z->dependence))
            return sx_error_memory();
        dependence *d = &z->dependence[z->n_dependences++];
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

/* Fills so many words of a tensor, every choice being as likely. */
static sx_status draw_anywhere(zeros *z, int v, uint64_t n, sx_rng *rng) {
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
static void draw_evenly(zeros *z, int v, double share, sx_rng *rng) {
    double start = sx_rng_double(rng);
    do {
        uint64_t number = 0, weight = 1;
        for (int i = 0; i < z->n_loops; i++) {
            if (!indexes(z, v, z->loop[i].dim)) continue;
            number += z->loop[i].digit * weight;
            weight *= z->loop[i].n;
        }
        double low = floor((double)number * share + start),
               high = floor((double)(number + 1) * share + start);
        z->filled[v][word_at(z, v)] = high > low;
    } while (next_point(z));
}

/* Fills the words that the file of a tensor lists. */
static sx_status draw_listed(zeros *z, int v) {
    sx_coordinates listed;
    SX_TRY(sx_coordinates_read(z->problem->tensor[v].data, z->problem, v, &listed));
    for (size_t i = 0; i < listed.n; i++) z->filled[v][listed.word[i]] = true;
    sx_coordinates_fini(&listed);
    return SX_OK;
}

/* Draws the non-zeros of a tensor whose density is given; one that is not is dense. */
static sx_status draw(zeros *z, int v, sx_rng *rng) {
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

/* Whether a tensor has a format at a level. */
static bool has_format(const zeros *z, int v, int level) {
    const sx_sparse *sparse = &z->arch->sparse;
    for (int i = 0; i < sparse->n_formats; i++)
        if (sparse->format[i].level == level && z->names[sparse->format[i].tensor] == v) return true;
    return false;
}

/* Whether the deliveries at the point in hand, of a tensor from a level, meet non-zeros of all on which they depend. */
static bool meets(const zeros *z, int v, int level) {
    for (size_t i = 0; i < z->n_dependences; i++) {
        const dependence *d = &z->dependence[i];
        if (d->target == v && d->level == level && !d->delivery.met[group_at(z, &d->delivery)]) return false;
    }
    return true;
}

/* Counts the accesses that the compute in hand takes its part of, for one tensor at all levels. */
static void count_accesses(const zeros *z, int v, sx_zeros *out) {
    bool exists = true, filled = z->filled[v][word_at(z, v)];
    for (int s = z->arch->n_levels - 1; s >= 0; s--) {
        if (!keeps(z, s, v)) continue;
        out->stored[s][v] += filled;
        bool held = filled || !has_format(z, v, s), after = exists && meets(z, v, s);
        out->fills[s][v] += held && exists;
        if (held && exists) out->accesses[s][v][after ? SX_RANDOM : z->skips[v][s] ? SX_SKIPPED : SX_GATED]++;
        exists = after;
    }
}

/* Counts the compute in hand. */
static void count_compute(const zeros *z, sx_zeros *out) {
    const sx_sparse *sparse = &z->arch->sparse;
    bool gated = false, skipped = false, zero = false, absent = false, any = false;
    for (size_t i = 0; i < z->n_dependences; i++) {
        const dependence *d = &z->dependence[i];
        if (z->problem->tensor[d->target].output || z->problem->tensor[d->on].output) continue;
        if (d->delivery.met[group_at(z, &d->delivery)]) continue;
        gated = true;
        skipped |= z->skips[d->target][d->level];
    }
    if (skipped) return;
    for (int v = 0; v < z->problem->n_tensors; v++) {
        if (z->problem->tensor[v].output) continue;
        int inner = 0;
        while (!keeps(z, inner, v)) inner++;
        bool filled = z->filled[v][word_at(z, v)], left_out = has_format(z, v, inner);
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
static void count(zeros *z, sx_zeros *out) {
    double points = 1;
    do {
        for (size_t i = 0; i < z->n_dependences; i++) {
            dependence *d = &z->dependence[i];
            d->delivery.met[group_at(z, &d->delivery)] |= z->filled[d->on][word_at(z, d->on)];
        }
    } while (next_point(z));
    do {
        for (int v = 0; v < z->problem->n_tensors; v++) count_accesses(z, v, out);
        count_compute(z, out);
    } while (next_point(z));
    for (int i = 0; i < z->n_loops; i++) points *= z->loop[i].n;
    for (int v = 0; v < z->problem->n_tensors; v++)
        for (int s = 0; s < z->arch->n_levels; s++) {
            for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++) out->accesses[s][v][kind] /= points;
            out->fills[s][v] /= points;
            out->stored[s][v] /= points;
        }
}

/* Finds which tensors the architecture's names are. */
static void find_names(zeros *z) {
    for (int i = 0; i < z->arch->sparse.n_names; i++) {
        int v = sx_problem_tensor(z->problem, z->arch->sparse.name[i]);
        z->names[i] = (uint8_t)(v < 0 ? SX_MAX_TENSORS : v);
    }
}

static sx_status simulate(zeros *z, sx_rng *rng, sx_zeros *out) {
    SX_TRY(lay_out(z));
    find_names(z);
    for (int i = 0; i < z->arch->sparse.n_actions; i++) SX_TRY(add_action(z, &z->arch->sparse.action[i]));
    for (int v = 0; v < z->problem->n_tensors; v++) SX_TRY(draw(z, v, rng));
    memset(out, 0, sizeof *out);
    count(z, out);
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
    zeros *z = calloc(1, sizeof *z);
    if (!z) return sx_error_memory();
    z->problem = problem;
    z->arch = arch;
    z->mapping = mapping;
    sx_status status = simulate(z, rng, out);
    for (int v = 0; v < SX_MAX_TENSORS; v++) free(z->filled[v]);
    for (size_t i = 0; i < z->n_dependences; i++) free(z->dependence[i].delivery.met);
    free(z->dependence);
    free(z);
    return status;
}
