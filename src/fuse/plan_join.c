/* The join over a graph (docs/fusion.md): from the first step to the last, the best way to each set of values in the
 * exchange memory. Two beginnings with the same set look the same to the rest, so the better one is kept. The number
 * of sets at a step is at most two to the power of the values that are alive. */
#include "fuse/plan.h"

#include "base/hash.h"
#include "base/status.h"
#include "fuse/vector_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One of the best beginnings that lead to a state. */
typedef struct beginning {
    uint64_t state;    /* before the next step */
    sx_plan_part part; /* the last one */
    double weight;
    size_t before; /* the beginning without it: among those that end before its first step */
} beginning;

/* Beginnings that end before a step: k for each state, the best first; those that are not found have an infinite weight. */
typedef struct boundary {
    sx_vector all;
    sx_hash_table table; /* by state: the first of each, over k */
} boundary;

typedef struct join {
    const sx_plan_space *space;
    bool by_bound;
    const double
        *share;   /* sums of energy and cycles with these factors are joined; NULL: roots of the objective */
    size_t k;     /* beginnings that are kept for each state */
    boundary *at; /* before each step, and after the last */
    bool late;    /* it ended before all were found */
} join;

void sx_plan_fini(sx_plan *plan) {
    free(plan->part);
    memset(plan, 0, sizeof *plan);
}

/* The most words of a value in a memory from one step to another. */
static uint64_t most_words(const sx_exchange *x, const uint64_t *words, size_t v, size_t first, size_t last) {
    uint64_t most = 0;
    for (size_t s = first; s <= last; s++)
        if (words[s * x->n_values + v] > most) most = words[s * x->n_values + v];
    return most;
}

uint64_t sx_plan_occupied(const sx_exchange *exchange, size_t first, size_t last, uint64_t state) {
    uint64_t words = exchange->reserved;
    for (size_t v = 0; v < exchange->n_values && state; v++) {
        const sx_exchange_value *value = &exchange->value[v];
        if (value->last < first || value->first > last || value->reason || !(state >> value->slot & 1))
            continue;
        words += most_words(exchange, exchange->words, v, first, last);
    }
    return words;
}

uint64_t sx_plan_occupied_second(const sx_exchange *exchange, size_t first, size_t last, uint64_t state) {
    uint64_t words = 0;
    for (size_t v = 0; exchange->second >= 0 && v < exchange->n_values && state; v++) {
        const sx_exchange_value *value = &exchange->value[v];
        if (value->last < first || value->first > last || !sx_plan_stays_second(value, state)) continue;
        words += most_words(exchange, exchange->second_words, v, first, last);
    }
    return words;
}

/* Whether the memories have room for the values of a state, and for so many words more of each. */
static bool has_room(const sx_exchange *x, size_t first, size_t last, uint64_t state, uint64_t more,
                     uint64_t more_second) {
    return sx_plan_occupied(x, first, last, state) + more <= x->capacity &&
           sx_plan_occupied_second(x, first, last, state) + more_second <= x->second_capacity;
}

/* Adds the tensors of a step that are whole in an exchange memory to a cut. Where all that a memory could hold for
 * the layer stays there anyway, its room makes no difference. */
static void set_cut_of_step(const sx_exchange *x, size_t step, uint64_t state, sx_cut *cut) {
    const sx_problem *problem = &x->network->layer[x->step[step].layer].problem;
    for (int v = 0; v < problem->n_tensors; v++) {
        size_t value = x->step[step].value[v];
        if (value == SX_NO_INDEX || !sx_plan_stays(&x->value[value], state)) continue;
        const bool second = sx_plan_stays_second(&x->value[value], state);
        if (second) cut->resident &= (uint8_t) ~(1u << v);
        *(second ? &cut->second : &cut->resident) |= (uint8_t)(1u << v);
    }
    const unsigned on_chip = (unsigned)cut->resident | cut->second;
    if ((sx_arch_keep_mask(x->arch, x->level, problem) & ~on_chip) == 0) cut->occupied = 0;
    if (x->second < 0) return;
    cut->second_level = (uint8_t)x->second;
    if ((sx_arch_keep_mask(x->arch, x->second, problem) & ~(unsigned)cut->second) == 0)
        cut->occupied_second = 0;
}

sx_cut sx_plan_step_cut(const sx_exchange *exchange, size_t step, uint64_t state) {
    sx_cut cut = {.occupied = sx_plan_occupied(exchange, step, step, state),
                  .occupied_second = sx_plan_occupied_second(exchange, step, step, state)};
    set_cut_of_step(exchange, step, state, &cut);
    return cut;
}

sx_cut sx_plan_run_cut(const sx_exchange *exchange, const sx_fuse_group *group, const sx_group_run *run,
                       uint64_t state) {
    sx_cut cut = run->cut;
    cut.occupied += sx_plan_occupied(exchange, group->first, group->last, state);
    cut.occupied_second += sx_plan_occupied_second(exchange, group->first, group->last, state);
    set_cut_of_step(exchange, run->step, state, &cut);
    return cut;
}

/* What a known score adds to a sum. */
static double weigh_score(const join *j, const sx_score *score) {
    if (j->share)
        return j->share[0] * score->energy_pj + j->share[1] * sx_inner_delay(j->space->inner, score);
    return sx_inner_weight(j->space->inner, sx_objective_value(&j->space->inner->objective, score));
}

/* What an inner optimum adds to a sum. */
static sx_status weigh_optimum(const join *j, size_t optimum, double *out) {
    sx_inner *inner = j->space->inner;
    if (j->share && j->by_bound) return sx_inner_sum(inner, optimum, j->share, out);
    if (j->share) {
        const sx_inner_optimum *item = sx_inner_at(inner, optimum);
        *out = isinf(item->value) ? INFINITY : weigh_score(j, &item->score);
        return SX_OK;
    }
    const double value = j->by_bound ? sx_inner_bound(inner, optimum) : sx_inner_at(inner, optimum)->value;
    *out = sx_inner_weight(inner, value);
    return SX_OK;
}

/* What a cut problem adds to a sum, and the number of its optimum; by values nothing is entered. */
static sx_status weigh_cut(const join *j, uint64_t problem, const sx_cut *cut, size_t *optimum, double *out) {
    sx_inner *inner = j->space->inner;
    *out = INFINITY;
    if (j->by_bound)
        SX_TRY(sx_inner_find(inner, problem, cut, optimum));
    else
        *optimum = sx_inner_known(inner, problem, cut);
    return *optimum == SX_NO_INDEX ? SX_OK : weigh_optimum(j, *optimum, out);
}

/* What a step on the vector unit adds to a sum. */
static double weigh_vector(const join *j, size_t step, uint64_t state, const sx_fuse_group *group) {
    const sx_score score = sx_vector_step_score(j->space->exchange, step, state, group, NULL);
    return weigh_score(j, &score);
}

/* What a step costs in a state; INFINITY where it is not possible. */
static sx_status weigh_step(const join *j, sx_plan_part *part, double *weight) {
    const sx_exchange *x = j->space->exchange;
    const sx_exchange_step *step = &x->step[part->first];
    *weight = has_room(x, part->first, part->first, part->state, 0, 0) ? 0 : INFINITY;
    if (step->layer == SX_NO_INDEX && step->vector.operations > 0)
        *weight += weigh_vector(j, part->first, part->state, NULL);
    if (step->layer == SX_NO_INDEX || isinf(*weight)) return SX_OK;
    uint64_t problem;
    const sx_cut cut = sx_plan_step_cut(x, part->first, part->state);
    SX_TRY(sx_inner_problem(j->space->inner, &x->network->layer[step->layer].problem, &problem));
    SX_TRY(weigh_cut(j, problem, &cut, &part->optimum, weight));
    *weight *= step->repeat;
    return SX_OK;
}

sx_status sx_plan_group_optimum(const sx_plan_space *space, const sx_fuse_group *group,
                                const sx_group_run *run, uint64_t state, size_t *out) {
    const sx_cut cut = sx_plan_run_cut(space->exchange, group, run, state);
    return sx_inner_find(space->inner, run->problem, &cut, out);
}

/* What a group costs in a state; INFINITY where it is not possible. */
static sx_status weigh_group(const join *j, const sx_plan_part *part, double *weight) {
    const sx_exchange *x = j->space->exchange;
    const sx_fuse_group *group = &j->space->group[part->group];
    *weight = INFINITY;
    if (!has_room(x, group->first, group->last, part->state, group->peak, group->peak_second)) return SX_OK;
    double sum = 0;
    for (int m = 0; m < group->n_moves; m++) {
        const size_t value = group->move[m].value;
        if (value == SX_NO_INDEX || !sx_plan_stays(&x->value[value], part->state))
            sum += j->share ? weigh_score(j, &group->move[m].score) : group->move[m].weight;
    }
    for (size_t s = group->first; s <= group->last; s++)
        if (x->step[s].vector.operations > 0) sum += weigh_vector(j, s, part->state, group);
    for (int r = 0; r < group->n_runs && !isinf(sum); r++) {
        const sx_cut cut = sx_plan_run_cut(x, group, &group->run[r], part->state);
        size_t optimum;
        double each;
        SX_TRY(weigh_cut(j, group->run[r].problem, &cut, &optimum, &each));
        sum += group->run[r].times * each;
    }
    *weight = sum;
    return SX_OK;
}

/* The number of the first beginning of a state, made where there is none. */
static sx_status find_state(boundary *at, size_t k, uint64_t state, size_t *out) {
    const size_t first = at->all.n;
    for (size_t r = 0; r < k; r++) {
        beginning *item = sx_vector_add(&at->all);
        if (!item) return sx_error_memory();
        *item = (beginning){.state = state, .weight = INFINITY};
    }
    const sx_hash_keys keys = {at->all.data, k * sizeof(beginning), sizeof state};
    uint32_t entry = sx_hash_table_put(&at->table, keys, &state, sx_hash_words((const int64_t *)&state, 1),
                                       (uint32_t)(first / k));
    if (entry == SX_HASH_NONE) return sx_error_memory();
    if (entry != first / k) at->all.n = first;
    *out = entry * k;
    return SX_OK;
}

/* Enters a beginning among the k best of its state; of equal ones the first stays before. */
static sx_status enter_beginning(boundary *at, size_t k, const beginning *new) {
    size_t first;
    SX_TRY(find_state(at, k, new->state, &first));
    beginning *item = sx_vector_at(&at->all, first);
    size_t r = k;
    while (r > 0 && new->weight < item[r - 1].weight) r--;
    if (r == k) return SX_OK;
    memmove(&item[r + 1], &item[r], (k - 1 - r) * sizeof *item);
    item[r] = *new;
    return SX_OK;
}

/* Whether a part makes a value and something else than the part itself needs it. */
static bool makes_value(const sx_exchange_value *value, const sx_plan_part *part) {
    const bool begins = part->first <= value->first && value->first <= part->last;
    return begins && (part->group == SX_NO_INDEX || value->last > part->last);
}

/* Slots of the values that a part makes and that may stay whole after it or in it, whether one must, and slots of those that end
 * with it. False where one must stay that can do so only by tiles. */
static bool slots_of_part(const sx_exchange *x, const sx_plan_part *part, uint64_t *made, bool *must,
                          uint64_t *end) {
    *made = *end = 0;
    *must = false;
    for (size_t v = 0; v < x->n_values; v++) {
        const sx_exchange_value *value = &x->value[v];
        const bool makes = makes_value(value, part);
        const bool ends = part->first <= value->last && value->last <= part->last;
        if (value->choice == SX_EXCHANGE_OUT || (!makes && value->first >= part->first)) continue;
        if (makes && value->reason) return false;
        uint64_t bits = 0;
        if (!value->reason) bits = UINT64_C(1) << value->slot;
        if (value->second_slot != SX_NO_SLOT) bits |= UINT64_C(1) << value->second_slot;
        if (makes) *made |= bits;
        *must |= makes && sx_exchange_must_stay(value);
        if (ends) *end |= bits;
    }
    return true;
}

/* Whether the values that a part makes are where they may be in a state: each in one memory at most, and where it must be. */
static bool state_allowed(const sx_exchange *x, const sx_plan_part *part, uint64_t state) {
    for (size_t v = 0; v < x->n_values; v++) {
        const sx_exchange_value *value = &x->value[v];
        if (value->choice == SX_EXCHANGE_OUT || !makes_value(value, part)) continue;
        const bool first = !value->reason && (state >> value->slot & 1),
                   second = sx_plan_stays_second(value, state);
        if (first && second) return false;
        if (value->choice == SX_EXCHANGE_STAY && !first && !second) return false;
        if (value->choice == SX_EXCHANGE_FIRST && !first) return false;
        if (value->choice == SX_EXCHANGE_SECOND && !second) return false;
    }
    return true;
}

/* Prolongs the k beginnings of a state by a part of a weight. */
static sx_status prolong_state(join *j, const sx_plan_part *part, size_t first, uint64_t end, double weight) {
    for (size_t r = 0; r < j->k; r++) {
        const beginning *before = sx_vector_at(&j->at[part->first].all, first + r);
        const beginning new = {.state = part->state & ~end,
                               .part = *part,
                               .before = first + r,
                               .weight = before->weight + weight};
        if (!isinf(new.weight)) SX_TRY(enter_beginning(&j->at[part->last + 1], j->k, &new));
    }
    return SX_OK;
}

/* Prolongs all beginnings before a part by it, with each choice about what it makes. */
static sx_status prolong_beginnings(join *j, const sx_plan_part *part) {
    uint64_t made, end;
    bool must;
    const boundary *from = &j->at[part->first];
    if (!slots_of_part(j->space->exchange, part, &made, &must, &end)) return SX_OK;
    const bool any = j->space->exchange->second < 0 && !must;
    for (size_t b = 0; b < from->all.n; b += j->k)
        for (uint64_t chosen = 0;; chosen = (chosen - made) & made) {
            sx_plan_part new = *part;
            double weight = INFINITY;
            new.state = ((const beginning *)sx_vector_at(&from->all, b))->state | chosen;
            if (any || state_allowed(j->space->exchange, part, chosen))
                SX_TRY(part->group == SX_NO_INDEX ? weigh_step(j, &new, &weight)
                                                  : weigh_group(j, &new, &weight));
            if (!isinf(weight)) SX_TRY(prolong_state(j, &new, b, end, weight));
            if (chosen == made) break;
        }
    return SX_OK;
}

/* Copies out the plan of a beginning of full length; there is one state: nothing stays after the last step. */
static sx_status copy_plan(const join *j, size_t index, sx_plan *out) {
    size_t at = j->space->exchange->n_steps;
    out->weight = ((const beginning *)sx_vector_at(&j->at[at].all, index))->weight;
    if (isinf(out->weight)) return SX_OK;
    out->part = calloc(at + 1, sizeof *out->part);
    if (!out->part) return sx_error_memory();
    out->found = true;
    while (at > 0) {
        const beginning *b = sx_vector_at(&j->at[at].all, index);
        out->part[out->n_parts++] = b->part;
        index = b->before;
        at = b->part.first;
    }
    for (size_t i = 0; i < out->n_parts / 2; i++) {
        const sx_plan_part part = out->part[i];
        out->part[i] = out->part[out->n_parts - 1 - i];
        out->part[out->n_parts - 1 - i] = part;
    }
    return SX_OK;
}

/* Goes through all steps. */
static sx_status join_steps(join *j) {
    const sx_plan_space *space = j->space;
    sx_plan_part part = {.optimum = SX_NO_INDEX};
    size_t g = 0;
    for (part.first = 0; part.first < space->exchange->n_steps; part.first++) {
        j->late = j->by_bound && sx_plan_late(space);
        if (j->late) return SX_OK;
        part.last = part.first;
        part.group = SX_NO_INDEX;
        SX_TRY(prolong_beginnings(j, &part));
        for (; g < space->n_groups && space->group[g].first == part.first; g++) {
            part.last = space->group[g].last;
            part.group = g;
            SX_TRY(prolong_beginnings(j, &part));
        }
    }
    return SX_OK;
}

/* The k best plans by roots of the objective, or by sums of energy and cycles. */
static sx_status join_plans(const sx_plan_space *space, bool by_bound, const double *share, size_t k,
                            sx_plan *out) {
    const size_t n = space->exchange->n_steps;
    join j = {
        .space = space, .by_bound = by_bound, .share = share, .k = k, .at = calloc(n + 2, sizeof *j.at)};
    memset(out, 0, k * sizeof *out);
    if (!j.at) return sx_error_memory();
    for (size_t s = 0; s <= n; s++) j.at[s].all.size = sizeof(beginning);
    const beginning none = {.part = {.optimum = SX_NO_INDEX, .group = SX_NO_INDEX}};
    sx_status status = enter_beginning(&j.at[0], k, &none);
    if (!status) status = join_steps(&j);
    for (size_t r = 0; r < k && !status && !j.late && j.at[n].all.n; r++) status = copy_plan(&j, r, &out[r]);
    for (size_t s = 0; s <= n; s++) {
        sx_vector_clear(&j.at[s].all);
        sx_hash_table_clear(&j.at[s].table);
    }
    free(j.at);
    return status;
}

sx_status sx_plan_join_sums(const sx_plan_space *space, bool by_bound, const double share[2], sx_plan *out) {
    return join_plans(space, by_bound, share, 1, out);
}

sx_status sx_plan_join_best(const sx_plan_space *space, bool by_bound, size_t k, sx_plan *out) {
    return join_plans(space, by_bound, NULL, k, out);
}

sx_status sx_plan_join(const sx_plan_space *space, bool by_bound, sx_plan *out) {
    return sx_plan_join_best(space, by_bound, 1, out);
}

sx_status sx_plan_sum(const sx_plan_space *space, const double *share, const sx_plan *plan, double *out) {
    const join j = {.space = space, .share = share};
    *out = 0;
    for (size_t i = 0; i < plan->n_parts; i++) {
        sx_plan_part part = plan->part[i];
        double weight;
        SX_TRY(part.group == SX_NO_INDEX ? weigh_step(&j, &part, &weight) : weigh_group(&j, &part, &weight));
        *out += weight;
    }
    return SX_OK;
}
