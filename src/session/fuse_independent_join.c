/* Plans joined from the last step to the first: what the rest of a network costs at least, for each set of values in the exchange
 * memory before a step. The search and `verify` go from the first step to the last (fuse/plan_join.c). */
#include "base/hash.h"
#include "base/status.h"
#include "ir/arch.h"
#include "session/fuse_independent.h"
#include "sextant/all.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The least weight of all steps from one on, with certain values on chip before it. */
typedef struct rest_entry {
    uint64_t step, state;
    double weight;
} rest_entry;

typedef struct rest_table {
    const sx_plan_space *space;
    sx_vector entries;
    sx_hash_table index;
    sx_status status;
} rest_table;

static double least_rest(rest_table *t, size_t step, uint64_t state);

/* The bound of a cut problem to the root. */
static double weigh_cut(rest_table *t, uint64_t problem, const sx_cut *cut) {
    size_t optimum = 0;
    if (!t->status) t->status = sx_inner_find(t->space->inner, problem, cut, &optimum);
    return t->status ? 0 : sx_inner_weight(t->space->inner, sx_inner_bound(t->space->inner, optimum));
}

/* Whether values on chip have room while a step runs. */
static bool values_fit(const sx_exchange *x, size_t step, uint64_t state) {
    uint64_t words = x->reserved, second = 0;
    for (size_t v = 0; v < x->n_values; v++) {
        if (x->value[v].first > step || step > x->value[v].last || !sx_plan_stays(&x->value[v], state))
            continue;
        if (sx_plan_stays_second(&x->value[v], state))
            second += x->second_words[step * x->n_values + v];
        else
            words += sx_exchange_words(x, step, v);
    }
    return words <= x->capacity && second <= x->second_capacity;
}

/* What a step alone costs, INFINITY where the memory has no room. */
static double weigh_step(rest_table *t, size_t step, uint64_t state) {
    const sx_exchange *x = t->space->exchange;
    uint64_t problem = 0;
    if (!values_fit(x, step, state)) return INFINITY;
    if (x->step[step].layer == SX_NO_INDEX) return 0;
    const sx_cut cut = sx_plan_step_cut(x, step, state);
    if (!t->status)
        t->status =
            sx_inner_problem(t->space->inner, &x->network->layer[x->step[step].layer].problem, &problem);
    return t->status ? 0 : x->step[step].repeat * weigh_cut(t, problem, &cut);
}

/* What a group costs, INFINITY where the memory has no room. */
static double weigh_group(rest_table *t, const sx_fuse_group *group, uint64_t state) {
    const sx_exchange *x = t->space->exchange;
    double weight = 0;
    if (sx_plan_occupied(x, group->first, group->last, state) + group->peak > x->capacity ||
        sx_plan_occupied_second(x, group->first, group->last, state) + group->peak_second >
            x->second_capacity)
        return INFINITY;
    for (int m = 0; m < group->n_moves; m++) {
        const size_t value = group->move[m].value;
        if (value == SX_NO_INDEX || !sx_plan_stays(&x->value[value], state)) weight += group->move[m].weight;
    }
    for (int r = 0; r < group->n_runs; r++) {
        const sx_cut cut = sx_plan_run_cut(x, group, &group->run[r], state);
        weight += group->run[r].times * weigh_cut(t, group->run[r].problem, &cut);
    }
    return weight;
}

/* What becomes of value v in a part from `first` to `last`: -1 it cannot be so, 0 it is not on chip, 1 it may be, 2 it must. */
static int choice_of(const sx_exchange_value *value, size_t first, size_t last, bool group) {
    if (value->first < first || value->first > last || value->choice == SX_EXCHANGE_OUT) return 0;
    if (group && value->last <= last) return 0;
    if (value->reason) return -1;
    return sx_exchange_must_stay(value) ? 2 : 1;
}

static double least_choice(rest_table *t, const sx_fuse_group *group, size_t step, size_t v, uint64_t state);

/* The least over the memories that value v may stay in. */
static double least_place(rest_table *t, const sx_fuse_group *group, size_t step, size_t v, uint64_t state) {
    const sx_exchange_value *value = &t->space->exchange->value[v];
    double least = INFINITY;
    if (value->choice != SX_EXCHANGE_SECOND)
        least = least_choice(t, group, step, v + 1, state | UINT64_C(1) << value->slot);
    if (value->second_slot != SX_NO_SLOT && value->choice != SX_EXCHANGE_FIRST)
        least = fmin(least, least_choice(t, group, step, v + 1, state | UINT64_C(1) << value->second_slot));
    return least;
}

/* The least over all choices about the values from v on that a part makes; group NULL: it is one step. */
static double least_choice(rest_table *t, const sx_fuse_group *group, size_t step, size_t v, uint64_t state) {
    const sx_exchange *x = t->space->exchange;
    const size_t last = group ? group->last : step;
    while (v < x->n_values && choice_of(&x->value[v], step, last, group) == 0) v++;
    if (v < x->n_values) {
        const int choice = choice_of(&x->value[v], step, last, group);
        if (choice < 0) return INFINITY;
        const double stays = least_place(t, group, step, v, state);
        return choice == 2 ? stays : fmin(stays, least_choice(t, group, step, v + 1, state));
    }
    const double weight = group ? weigh_group(t, group, state) : weigh_step(t, step, state);
    if (isinf(weight)) return INFINITY;
    for (size_t i = 0; i < x->n_values; i++)
        if (x->value[i].last >= step && x->value[i].last <= last && !x->value[i].reason) {
            state &= ~(UINT64_C(1) << x->value[i].slot);
            if (x->value[i].second_slot != SX_NO_SLOT) state &= ~(UINT64_C(1) << x->value[i].second_slot);
        }
    return weight + least_rest(t, last + 1, state);
}

/* The least of a step and all groups that begin with it. */
static double least_part(rest_table *t, size_t step, uint64_t state) {
    double least = least_choice(t, NULL, step, 0, state);
    for (size_t g = 0; g < t->space->n_groups; g++)
        if (t->space->group[g].first == step)
            least = fmin(least, least_choice(t, &t->space->group[g], step, 0, state));
    return least;
}

/* The least of all steps from one on. */
static double least_rest(rest_table *t, size_t step, uint64_t state) {
    const rest_entry key = {step, state, 0};
    const size_t size = offsetof(rest_entry, weight);
    if (step == t->space->exchange->n_steps || t->status) return 0;
    const uint64_t hash = sx_hash_bytes(&key, size, 0);
    sx_hash_keys keys = {t->entries.data, sizeof key, size};
    const uint32_t found = sx_hash_table_find(&t->index, keys, &key, hash);
    if (found != SX_HASH_NONE) return ((const rest_entry *)sx_vector_at(&t->entries, found))->weight;
    const double weight = least_part(t, step, state);
    rest_entry *entry = sx_vector_add(&t->entries);
    if (!entry) {
        if (!t->status) t->status = sx_error_memory();
        return 0;
    }
    *entry = (rest_entry){step, state, weight};
    keys.first = t->entries.data;
    if (sx_hash_table_put(&t->index, keys, &key, hash, (uint32_t)(t->entries.n - 1)) == SX_HASH_NONE &&
        !t->status)
        t->status = sx_error_memory();
    return weight;
}

sx_status sx_fuse_alone_join(const sx_plan_space *space, double *out) {
    rest_table t = {.space = space, .entries = {.size = sizeof(rest_entry)}};
    *out = least_rest(&t, 0, 0);
    sx_vector_clear(&t.entries);
    sx_hash_table_clear(&t.index);
    return t.status;
}

/* The least energy of a word of a tensor in a level. */
static double word_energy(const sx_storage *level, const sx_tensor *tensor) {
    const double words = fmin(1, (double)sx_element_bits(level, tensor) / level->word_bits);
    return words / level->cluster_size *
           ((tensor->output ? level->update_energy : level->read_energy) / level->block_size +
            level->addr_gen_energy);
}

/* The different words of a tensor, at least: where a dimension is in two ranks, those of its longest rank. */
static double least_words(const sx_problem *problem, const sx_tensor *tensor) {
    double all = 1, longest = 1;
    unsigned seen = 0;
    bool twice = false;
    for (int r = 0; r < tensor->n_ranks; r++) {
        double values = 1;
        for (int d = 0; d < problem->n_dims; d++) {
            if (!tensor->coef[r][d]) continue;
            values += problem->size[d] - 1.0;
            twice |= seen >> d & 1;
            seen |= 1u << d;
        }
        all *= values;
        longest = fmax(longest, values);
    }
    return twice ? longest : all;
}

/* The level at which a tensor of a cut layer is read or updated at least once for every word. */
static int home_of(const sx_fuse_searcher *s, const sx_cut *cut, int tensor) {
    if (cut->second >> tensor & 1) return cut->second_level;
    return cut->resident >> tensor & 1 ? s->exchange : s->arch->n_levels - 1;
}

/* Whether the sums of an output are there before the layer runs and every word of them is read: each rank is one dimension. */
static bool is_found(const sx_problem *problem, const sx_cut *cut, int tensor) {
    const sx_tensor *output = &problem->tensor[tensor];
    for (int r = 0; r < output->n_ranks; r++) {
        int dims = 0;
        for (int d = 0; d < problem->n_dims; d++) dims += abs(output->coef[r][d]);
        if (dims != 1) return false;
    }
    return cut->found >> tensor & 1;
}

/* The cycles in which a level's ports move words; in a relaxed cut those of what stays in the exchange memory have any speed. */
static double port_cycles(const sx_fuse_searcher *s, const sx_problem *problem, const sx_cut *cut,
                          int level) {
    const sx_storage *memory = &s->arch->level[level];
    double reads = 0, writes = 0;
    if (memory->banks || memory->n_scales || (cut->free_port && level == s->exchange)) return 0;
    for (int v = 0; v < problem->n_tensors; v++) {
        const sx_tensor *tensor = &problem->tensor[v];
        if (home_of(s, cut, v) != level) continue;
        const double words = least_words(problem, tensor) * (double)sx_element_bits(memory, tensor) /
                             memory->word_bits / (double)memory->instances;
        *(tensor->output ? &writes : &reads) += words;
        if (is_found(problem, cut, v)) reads += words;
    }
    return ceil(fmax(fmax(reads / memory->read_bandwidth, writes / memory->write_bandwidth),
                     (reads + writes) / memory->shared_bandwidth) *
                (1 - 1e-12));
}

sx_status sx_fuse_alone_minimum(void *user, const sx_problem *problem, const sx_cut *cut, double *out) {
    const sx_fuse_searcher *s = user;
    const sx_arch *arch = s->arch;
    const double operations = (double)sx_problem_computes(problem);
    sx_score least = {.energy_pj = operations * arch->compute.energy,
                      .cycles = ceil(operations / (double)arch->compute.instances)};
    for (int l = 0; l < arch->n_levels; l++)
        least.cycles = fmax(least.cycles, port_cycles(s, problem, cut, l));
    for (int v = 0; v < problem->n_tensors; v++) {
        const sx_tensor *tensor = &problem->tensor[v];
        const sx_storage *home = &arch->level[home_of(s, cut, v)];
        double energy = word_energy(home, tensor);
        if (is_found(problem, cut, v))
            energy += fmin(1, (double)sx_element_bits(home, tensor) / home->word_bits) / home->cluster_size *
                      home->read_energy / home->block_size;
        least.energy_pj += least_words(problem, tensor) * energy;
    }
    *out = sx_objective_value(&s->options->run.objective, &least);
    return SX_OK;
}
