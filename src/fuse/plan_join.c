/* The join over a graph (docs/fusion.md, "Whole machines"): from the first step to the last, the best way to each set
 * of values in the exchange memory. Two beginnings with the same set look the same to the rest, so the better one is
 * kept. The number of sets at a step is at most two to the power of the values that are alive. */
#include "fuse/plan.h"

#include "base/hash.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The best beginning that leads to a state. */
typedef struct beginning {
    uint64_t state;  /* before the next step */
    uint64_t during; /* while the last step ran */
    double weight;
    size_t before;  /* the beginning without the last step */
    size_t optimum; /* of the last step */
} beginning;

typedef struct join {
    const sx_exchange *exchange;
    sx_inner *inner;
    bool by_bound;
    sx_vector all;       /* beginnings of all lengths, those of one length together */
    size_t *first;       /* of the beginnings with s steps */
    sx_hash_table table; /* those of the current length by state, counted from first */
} join;

void sx_plan_fini(sx_plan *plan) {
    free(plan->step);
    memset(plan, 0, sizeof *plan);
}

uint64_t sx_plan_occupied(const sx_exchange *exchange, size_t step, uint64_t state) {
    uint64_t words = 0;
    for (size_t v = 0; v < exchange->n_values && state; v++)
        if (sx_exchange_words(exchange, step, v) && sx_plan_stays(&exchange->value[v], state))
            words += sx_exchange_words(exchange, step, v);
    return words;
}

/* How the layer of a step is cut in a state. Where all that the memory could hold for it stays there anyway, its room
 * makes no difference. */
static sx_cut cut_of(const sx_exchange *x, size_t step, uint64_t state, uint64_t occupied) {
    const sx_problem *problem = &x->network->layer[x->step[step].layer].problem;
    sx_cut cut = {.occupied = occupied};
    for (int v = 0; v < problem->n_tensors; v++) {
        size_t value = x->step[step].value[v];
        if (value != SX_NO_INDEX && sx_plan_stays(&x->value[value], state))
            cut.resident |= (uint8_t)(1u << v);
    }
    if ((sx_arch_keep_mask(x->arch, x->level, problem) & ~(unsigned)cut.resident) == 0) cut.occupied = 0;
    return cut;
}

/* What a step costs in a state; INFINITY where it is not possible. */
static sx_status weigh_step(join *j, size_t step, uint64_t state, size_t *optimum, double *weight) {
    const sx_exchange *x = j->exchange;
    const uint64_t occupied = sx_plan_occupied(x, step, state);
    *optimum = SX_NO_INDEX;
    *weight = occupied > x->capacity ? INFINITY : 0;
    if (x->step[step].layer == SX_NO_INDEX || isinf(*weight)) return SX_OK;
    uint64_t problem;
    const sx_cut cut = cut_of(x, step, state, occupied);
    SX_TRY(sx_inner_problem(j->inner, &x->network->layer[x->step[step].layer].problem, &problem));
    SX_TRY(sx_inner_find(j->inner, problem, &cut, optimum));
    const sx_inner_optimum *found = sx_inner_at(j->inner, *optimum);
    *weight = x->step[step].repeat * sx_inner_weight(j->inner, j->by_bound ? found->bound : found->value);
    return SX_OK;
}

/* Enters a beginning, unless one with the same state is at least as good. */
static sx_status enter_beginning(join *j, size_t first, const beginning *new) {
    beginning *item = sx_vector_add(&j->all);
    if (!item) return sx_error_memory();
    *item = *new;
    const size_t index = j->all.n - 1 - first;
    const sx_hash_keys keys = {sx_vector_at(&j->all, first), sizeof *item, sizeof item->state};
    uint32_t at = sx_hash_table_put(&j->table, keys, &new->state,
                                    sx_hash_words((const int64_t *)&new->state, 1), (uint32_t)index);
    if (at == SX_HASH_NONE) return sx_error_memory();
    if (at == index) return SX_OK;
    j->all.n--;
    beginning *known = sx_vector_at(&j->all, first + at);
    if (new->weight < known->weight) *known = *new;
    return SX_OK;
}

/* Slots of the values that a step makes, those that must stay, and those that end with it. */
static void slots_of_step(const sx_exchange *x, size_t step, uint64_t *made, uint64_t *stay, uint64_t *end) {
    *made = *stay = *end = 0;
    for (size_t v = 0; v < x->n_values; v++) {
        const sx_exchange_value *value = &x->value[v];
        if (value->choice == SX_EXCHANGE_OUT) continue;
        const uint64_t bit = UINT64_C(1) << value->slot;
        if (value->first == step) *made |= bit;
        if (value->first == step && value->choice == SX_EXCHANGE_STAY) *stay |= bit;
        if (value->last == step) *end |= bit;
    }
}

/* Prolongs all beginnings by a step, with each choice about what it makes. */
static sx_status prolong(join *j, size_t step) {
    uint64_t made, stay, end;
    const size_t first = j->all.n;
    slots_of_step(j->exchange, step, &made, &stay, &end);
    j->first[step + 1] = first;
    if (!sx_hash_table_begin(&j->table, 2 * (first - j->first[step]))) return sx_error_memory();
    for (size_t b = j->first[step]; b < first; b++)
        for (uint64_t chosen = 0;; chosen = (chosen - made) & made) {
            const beginning from = *(const beginning *)sx_vector_at(&j->all, b);
            beginning to = {.during = from.state | chosen, .before = b};
            double weight = INFINITY;
            if ((chosen & stay) == stay) SX_TRY(weigh_step(j, step, to.during, &to.optimum, &weight));
            to.state = to.during & ~end;
            to.weight = from.weight + weight;
            if (!isinf(to.weight)) SX_TRY(enter_beginning(j, first, &to));
            if (chosen == made) break;
        }
    return SX_OK;
}

/* Copies out the plan of a beginning of full length. */
static sx_status copy_plan(const join *j, size_t last, sx_plan *out) {
    const size_t n = j->exchange->n_steps;
    out->step = calloc(n + 1, sizeof *out->step);
    if (!out->step) return sx_error_memory();
    out->n_steps = n;
    out->found = true;
    out->weight = ((const beginning *)sx_vector_at(&j->all, last))->weight;
    for (size_t s = n; s-- > 0;) {
        const beginning *b = sx_vector_at(&j->all, last);
        out->step[s] = (sx_plan_step){b->during, b->optimum};
        last = b->before;
    }
    return SX_OK;
}

sx_status sx_plan_join(const sx_exchange *exchange, sx_inner *inner, bool by_bound, sx_plan *out) {
    join j = {.exchange = exchange, .inner = inner, .by_bound = by_bound, .all = {.size = sizeof(beginning)}};
    memset(out, 0, sizeof *out);
    j.first = calloc(exchange->n_steps + 2, sizeof *j.first);
    sx_status status = j.first ? SX_OK : sx_error_memory();
    const beginning none = {.optimum = SX_NO_INDEX};
    if (!status && !sx_hash_table_begin(&j.table, 1)) status = sx_error_memory();
    if (!status) status = enter_beginning(&j, 0, &none);
    for (size_t s = 0; s < exchange->n_steps && !status; s++) status = prolong(&j, s);
    if (!status && j.all.n > j.first[exchange->n_steps])
        status = copy_plan(&j, j.first[exchange->n_steps], out);
    free(j.first);
    sx_vector_clear(&j.all);
    sx_hash_table_clear(&j.table);
    return status;
}
