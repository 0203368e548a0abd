#include "fuse/inner.h"

#include "base/hash.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of what a problem is a part. */
typedef struct whole_problem {
    uint64_t problem;
    double parts; /* 0: of none */
    bool sums;    /* all but the first find sums of those before */
} whole_problem;

sx_status sx_inner_init(sx_inner *inner, const sx_objective *objective, uint64_t capacity) {
    const sx_criterion *first = &objective->criterion[0];
    if (objective->n_criteria != 1 || (first->kind != SX_PRODUCT && first->kind != SX_LATENCY))
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "--fuse minimises a product of powers of energy and delay or latency, "
                                       "and no other objective"),
            "use --objective energy, delay or edp, or latency with --latency tile");
    *inner = (sx_inner){.capacity = capacity,
                        .root = 1 / (first->energy_power + first->delay_power),
                        .objective = *objective,
                        .problem = {.size = sizeof(sx_problem)},
                        .whole = {.size = sizeof(whole_problem)},
                        .optimum = {.size = sizeof(sx_inner_optimum)},
                        .mapping = {.size = sizeof(sx_mapping)},
                        .proof = {.size = sizeof(sx_inner_proof)}};
    return SX_OK;
}

void sx_inner_fini(sx_inner *inner) {
    sx_vector_clear(&inner->problem);
    sx_vector_clear(&inner->whole);
    sx_vector_clear(&inner->optimum);
    sx_vector_clear(&inner->mapping);
    for (size_t i = 0; i < inner->proof.n; i++)
        free(((sx_inner_proof *)sx_vector_at(&inner->proof, i))->text);
    sx_vector_clear(&inner->proof);
    sx_hash_table_clear(&inner->problems);
    sx_hash_table_clear(&inner->optima);
}

double sx_inner_weight(const sx_inner *inner, double value) {
    return inner->root == 1 ? value : pow(value, inner->root);
}

sx_status sx_inner_problem(sx_inner *inner, const sx_problem *problem, uint64_t *out) {
    sx_problem *item = sx_vector_add(&inner->problem);
    if (!item) return sx_error_memory();
    *item = *problem;
    memset(item->name, 0, sizeof item->name);
    const sx_hash_keys keys = {inner->problem.data, sizeof *item, sizeof *item};
    uint32_t index = sx_hash_table_put(&inner->problems, keys, item, sx_hash_bytes(item, sizeof *item, 0),
                                       (uint32_t)inner->problem.n - 1);
    if (index != inner->problem.n - 1) inner->problem.n--;
    if (index == SX_HASH_NONE) return sx_error_memory();
    while (inner->whole.n < inner->problem.n) {
        whole_problem *none = sx_vector_add(&inner->whole);
        if (!none) return sx_error_memory();
        *none = (whole_problem){0};
    }
    *out = index;
    return SX_OK;
}

sx_status sx_inner_note_whole(sx_inner *inner, uint64_t part, const sx_problem *whole, double parts,
                              bool sums) {
    uint64_t number;
    SX_TRY(sx_inner_problem(inner, whole, &number));
    whole_problem *item = sx_vector_at(&inner->whole, part);
    if (item->parts == 0 && number != part) *item = (whole_problem){number, parts, sums};
    return SX_OK;
}

/* Enters an optimum that is not known yet. */
static sx_status enter_optimum(sx_inner *inner, const sx_inner_key *key, uint32_t *out) {
    sx_inner_optimum *item = sx_vector_add(&inner->optimum);
    if (!item) return sx_error_memory();
    const size_t new = inner->optimum.n - 1;
    *item = (sx_inner_optimum){.key = *key, .relaxed = new, .value = INFINITY};
    if (!sx_hash_table_add(&inner->optima, sx_hash_bytes(key, sizeof *key, 0), (uint32_t) new))
        return sx_error_memory();
    *out = (uint32_t) new;
    if (key->cut.occupied <= inner->capacity && key->cut.occupied_second <= inner->second)
        return inner->minimum(inner->user, sx_vector_at(&inner->problem, key->problem), &key->cut,
                              &item->bound);
    item->bound = INFINITY;
    item->effort = SX_INNER_SEARCH;
    return SX_OK;
}

/* The number of the optimum of a key, entered where it is new. */
static sx_status find_optimum(sx_inner *inner, const sx_inner_key *key, bool *new, size_t *out) {
    const sx_hash_keys keys = {inner->optimum.data, sizeof(sx_inner_optimum), sizeof *key};
    uint32_t index = sx_hash_table_find(&inner->optima, keys, key, sx_hash_bytes(key, sizeof *key, 0));
    *new = index == SX_HASH_NONE;
    if (*new) SX_TRY(enter_optimum(inner, key, &index));
    *out = index;
    return SX_OK;
}

/* Relaxes a key in one way: more room, more tensors on chip, a larger problem; false where none is left. */
static sx_status relax_key(sx_inner *inner, sx_inner_key *key, double *share, double *more, bool *any) {
    sx_cut *cut = &key->cut;
    const sx_cut before = *cut;
    *share = 1;
    *more = 0;
    *any = cut->occupied > 0 || cut->occupied_second > 0;
    cut->occupied = cut->occupied_second = 0;
    if (*any || !inner->relax || cut->second) return SX_OK;
    SX_TRY(inner->relax(inner->user, sx_vector_at(&inner->problem, key->problem), cut, more));
    *any = cut->resident != before.resident;
    const whole_problem *whole = sx_vector_at(&inner->whole, key->problem);
    if (*any || whole->parts == 0 || (whole->sums && !cut->found)) return SX_OK;
    *any = true;
    key->problem = whole->problem;
    cut->found = 0;
    *share = pow(whole->parts, -1 / inner->root);
    return SX_OK;
}

sx_status sx_inner_find(sx_inner *inner, uint64_t problem, const sx_cut *cut, size_t *out) {
    sx_inner_key key = {problem, *cut};
    bool new, any;
    size_t optimum, relaxed;
    SX_TRY(find_optimum(inner, &key, &new, out));
    for (optimum = *out; new; optimum = relaxed) {
        double share, more;
        SX_TRY(relax_key(inner, &key, &share, &more, &any));
        if (!any) break;
        SX_TRY(find_optimum(inner, &key, &new, &relaxed));
        sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
        item->relaxed = relaxed;
        item->share = share;
        item->more = more;
    }
    return SX_OK;
}

double sx_inner_bound(const sx_inner *inner, size_t optimum) {
    const sx_inner_optimum *item = sx_inner_at(inner, optimum);
    double bound = item->bound;
    if (item->relaxed != optimum)
        bound = fmax(bound, item->share * sx_inner_bound(inner, item->relaxed) + item->more);
    return fmin(item->value, bound);
}

size_t sx_inner_unsettled(const sx_inner *inner, size_t optimum, sx_inner_effort effort) {
    const size_t relaxed = sx_inner_at(inner, optimum)->relaxed;
    const size_t first = relaxed == optimum ? optimum : sx_inner_unsettled(inner, relaxed, effort);
    return sx_inner_settled(inner, first, effort) ? optimum : first;
}

bool sx_inner_settled(const sx_inner *inner, size_t optimum, sx_inner_effort effort) {
    const sx_inner_optimum *item = sx_inner_at(inner, optimum);
    return item->effort >= effort ||
           (item->effort > SX_INNER_MINIMUM && sx_inner_bound(inner, optimum) >= item->value);
}

/* Whether the answer of one optimum holds for another: the same problem and tensors, and a mapping that was best
 * with no less room and still fits. */
static bool answer_holds(const sx_inner *inner, size_t optimum, const sx_inner_key *key,
                         sx_inner_effort effort) {
    const sx_inner_optimum *known = sx_inner_at(inner, optimum);
    const sx_cut *a = &known->key.cut, *b = &key->cut;
    if (known->key.problem != key->problem || a->resident != b->resident || a->found != b->found ||
        a->second != b->second)
        return false;
    if (a->occupied > b->occupied || a->occupied_second > b->occupied_second) return false;
    if (!sx_inner_settled(inner, optimum, effort)) return false;
    return isinf(known->bound) ||
           (!isinf(known->value) && known->used + b->occupied <= inner->capacity &&
            (!inner->second || known->used_second + b->occupied_second <= inner->second));
}

/* Keeps the proof of a bound, in the place of a weaker one. */
static sx_status enter_proof(sx_inner *inner, const sx_inner_key *key, const sx_inner_answer *answer) {
    sx_inner_proof *item = NULL;
    for (size_t i = 0; i < inner->proof.n && !item; i++) {
        sx_inner_proof *known = sx_vector_at(&inner->proof, i);
        if (memcmp(&known->key, key, sizeof *key) == 0) item = known;
    }
    if (item && item->bound >= answer->bound) {
        free(answer->proof);
        return SX_OK;
    }
    if (item)
        free(item->text);
    else
        item = sx_vector_add(&inner->proof);
    if (!item) {
        free(answer->proof);
        return sx_error_memory();
    }
    *item = (sx_inner_proof){*key, answer->bound, answer->proof};
    return SX_OK;
}

sx_status sx_inner_enter(sx_inner *inner, size_t optimum, sx_inner_effort effort,
                         const sx_inner_answer *answer) {
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    item->effort = effort;
    item->bound = fmax(item->bound, answer->bound);
    if (answer->proof) SX_TRY(enter_proof(inner, &item->key, answer));
    if (!answer->found && !answer->stopped) item->bound = INFINITY;
    const double value = answer->found ? sx_objective_value(&inner->objective, &answer->score) : INFINITY;
    if (value < item->value) {
        sx_mapping *mapping = sx_vector_add(&inner->mapping);
        if (!mapping) return sx_error_memory();
        *mapping = answer->mapping;
        item->mapping = inner->mapping.n - 1;
        item->score = answer->score;
        item->used = answer->used;
        item->used_second = answer->used_second;
        item->value = value;
    }
    if (!isinf(item->value)) item->bound = fmin(item->bound, item->value);
    return SX_OK;
}

sx_status sx_inner_settle(sx_inner *inner, size_t optimum, sx_inner_effort effort) {
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    if (sx_inner_settled(inner, optimum, effort)) return SX_OK;
    for (size_t i = 0; i < inner->optimum.n; i++) {
        if (i == optimum || !answer_holds(inner, i, &item->key, effort)) continue;
        const sx_inner_optimum before = *item;
        *item = *sx_inner_at(inner, i);
        item->key = before.key;
        item->relaxed = before.relaxed;
        item->share = before.share;
        item->more = before.more;
        item->bound = fmin(fmax(item->bound, before.bound), item->value);
        return SX_OK;
    }
    sx_inner_answer answer = {0};
    inner->n_searched++;
    SX_TRY(inner->search(inner->user, sx_vector_at(&inner->problem, item->key.problem), &item->key.cut,
                         effort, &answer));
    return sx_inner_enter(inner, optimum, effort, &answer);
}

double sx_inner_delay(const sx_inner *inner, const sx_score *score) {
    return inner->objective.criterion[0].kind == SX_LATENCY ? score->latency : score->cycles;
}

/* Sets energy and cycles that no mapping of an optimum is below, unless they are set. */
static sx_status set_least(sx_inner *inner, sx_inner_optimum *item) {
    if (item->least.cycles != 0 || !inner->least) return SX_OK;
    return inner->least(inner->user, sx_vector_at(&inner->problem, item->key.problem), &item->key.cut,
                        &item->least);
}

sx_status sx_inner_search_extremes(sx_inner *inner, size_t optimum, bool *searched) {
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    sx_score least = {0};
    *searched = false;
    if (item->extremes || !inner->extremes || isinf(sx_inner_bound(inner, optimum))) return SX_OK;
    SX_TRY(set_least(inner, item));
    SX_TRY(inner->extremes(inner->user, sx_vector_at(&inner->problem, item->key.problem), &item->key.cut,
                           &least));
    item->least.energy_pj = fmax(item->least.energy_pj, least.energy_pj);
    item->least.cycles = fmax(item->least.cycles, least.cycles);
    item->extremes = *searched = true;
    return SX_OK;
}

sx_status sx_inner_sum(sx_inner *inner, size_t optimum, const double share[2], double *out) {
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    const double product = sx_inner_bound(inner, optimum);
    if (!isinf(product)) SX_TRY(set_least(inner, item));
    const double energy = item->least.energy_pj, cycles = fmax(sx_inner_delay(inner, &item->least), 1);
    double at =
        share[1] > 0 ? sqrt(product * share[0] / share[1]) : INFINITY; /* cycles where the sum is least */
    at = fmax(fmin(at, product / fmax(energy, 1e-300)), cycles);
    *out = share[1] * at + share[0] * fmax(energy, product / at);
    if (share[0] == 0 || share[1] == 0) *out = share[0] * energy + share[1] * cycles;
    if (isinf(product)) *out = INFINITY;
    return SX_OK;
}
