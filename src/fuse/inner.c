#include "fuse/inner.h"

#include "base/hash.h"
#include "base/status.h"
#include "run/uphold.h"
#include "sextant/network.h"

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
                        .proof = {.size = sizeof(sx_inner_proof)},
                        .found = {.size = sizeof(sx_inner_found)}};
    return SX_OK;
}

void sx_inner_fini(sx_inner *inner) {
    sx_vector_clear(&inner->problem);
    sx_vector_clear(&inner->whole);
    sx_vector_clear(&inner->optimum);
    sx_vector_clear(&inner->mapping);
    sx_vector_clear(&inner->found);
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

/* Enters an optimum that is not known yet; its minimum follows. */
static sx_status enter_optimum(sx_inner *inner, const sx_inner_key *key, uint32_t *out) {
    sx_inner_optimum *item = sx_vector_add(&inner->optimum);
    if (!item) return sx_error_memory();
    const size_t new = inner->optimum.n - 1;
    *item = (sx_inner_optimum){.key = *key, .relaxed = new, .value = INFINITY, .sum_share = {NAN, NAN}};
    if (!sx_hash_table_add(&inner->optima, sx_hash_bytes(key, sizeof *key, 0), (uint32_t) new))
        return sx_error_memory();
    *out = (uint32_t) new;
    if (key->cut.occupied <= inner->capacity && key->cut.occupied_second <= inner->second) return SX_OK;
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

size_t sx_inner_known(const sx_inner *inner, uint64_t problem, const sx_cut *cut) {
    const sx_inner_key key = {problem, *cut};
    const sx_hash_keys keys = {inner->optimum.data, sizeof(sx_inner_optimum), sizeof key};
    const uint32_t index = sx_hash_table_find(&inner->optima, keys, &key, sx_hash_bytes(&key, sizeof key, 0));
    return index == SX_HASH_NONE ? SX_NO_INDEX : index;
}

/* Relaxes a key to the problem that it is a part of; false where there is none. */
static bool relax_part(const sx_inner *inner, sx_inner_key *key, double *share) {
    const whole_problem *whole = sx_vector_at(&inner->whole, key->problem);
    if (whole->parts == 0 || (whole->sums && !key->cut.found)) return false;
    key->problem = whole->problem;
    key->cut.found = 0;
    *share = 1 / whole->parts;
    return true;
}

/* Relaxes a key in one way: more room, more tensors on chip, a larger problem; false where none is left. Where cycles count, the
 * larger problem is first: more tensors on chip leave out the bandwidth of the exchange memory. */
static sx_status relax_key(sx_inner *inner, sx_inner_key *key, double *share, double *more, bool *any) {
    sx_cut *cut = &key->cut;
    const sx_cut before = *cut;
    *share = 1;
    *more = 0;
    *any = sx_inner_less_room(cut);
    cut->occupied = cut->occupied_second = 0;
    if (*any || !inner->relax) return SX_OK;
    *any = inner->objective.criterion[0].delay_power > 0 && relax_part(inner, key, share);
    if (*any) return SX_OK;
    if (!cut->second)
        SX_TRY(inner->relax(inner->user, sx_vector_at(&inner->problem, key->problem), cut, more));
    *any = cut->resident != before.resident || relax_part(inner, key, share);
    return SX_OK;
}

/* Sets the minimum of a new optimum: where room makes no difference, that of the optimum with all of it, by which it is bounded. */
static sx_status set_minimum(sx_inner *inner, size_t optimum) {
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    const sx_problem *problem = sx_vector_at(&inner->problem, item->key.problem);
    if (inner->any_room && sx_inner_less_room(&item->key.cut))
        item->minimum = sx_inner_at(inner, item->relaxed)->minimum;
    else
        SX_TRY(inner->minimum(inner->user, problem, &item->key.cut, &item->minimum));
    if (!isinf(item->bound)) item->bound = item->minimum;
    return SX_OK;
}

/* Enters the optimum that bounds a new one, and those that bound it, and sets all minima. */
static sx_status link_optimum(sx_inner *inner, const sx_inner_key *of, size_t optimum) {
    sx_inner_key key = *of;
    bool new, any;
    double share, more;
    size_t relaxed;
    SX_TRY(relax_key(inner, &key, &share, &more, &any));
    if (!any) return set_minimum(inner, optimum);
    SX_TRY(find_optimum(inner, &key, &new, &relaxed));
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    item->relaxed = relaxed;
    item->share = share;
    item->more = more;
    if (new) SX_TRY(link_optimum(inner, &key, relaxed));
    return set_minimum(inner, optimum);
}

sx_status sx_inner_find(sx_inner *inner, uint64_t problem, const sx_cut *cut, size_t *out) {
    const sx_inner_key key = {problem, *cut};
    bool new;
    SX_TRY(find_optimum(inner, &key, &new, out));
    return new ? link_optimum(inner, &key, *out) : SX_OK;
}

/* The greatest lower bound of an optimum, which its value does not limit. */
static double greatest_bound(const sx_inner *inner, size_t optimum) {
    const sx_inner_optimum *item = sx_inner_at(inner, optimum);
    double bound = item->bound;
    if (item->relaxed != optimum && !item->any_tiles) {
        const double share = inner->root == 1 ? item->share : pow(item->share, 1 / inner->root),
                     more = inner->objective.criterion[0].delay_power == 0 ? item->more : 0;
        bound = fmax(bound, share * sx_inner_bound(inner, item->relaxed) + more);
    }
    return bound;
}

double sx_inner_bound(const sx_inner *inner, size_t optimum) {
    return fmin(sx_inner_at(inner, optimum)->value, greatest_bound(inner, optimum));
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

bool sx_inner_same_cut(const sx_cut *roomy, const sx_cut *cut) {
    return roomy->resident == cut->resident && roomy->found == cut->found && roomy->second == cut->second &&
           roomy->free_port == cut->free_port && roomy->occupied <= cut->occupied &&
           roomy->occupied_second <= cut->occupied_second;
}

/* Whether the answer of one optimum holds for another: the same problem and tensors, and a mapping that was best
 * with no less room and still fits. */
static bool answer_holds(const sx_inner *inner, size_t optimum, const sx_inner_key *key,
                         sx_inner_effort effort) {
    const sx_inner_optimum *known = sx_inner_at(inner, optimum);
    const sx_cut *b = &key->cut;
    if (known->key.problem != key->problem || !sx_inner_same_cut(&known->key.cut, b)) return false;
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

/* Keeps a mapping; *out is its number. */
static sx_status add_mapping(sx_inner *inner, const sx_mapping *from, size_t *out) {
    sx_mapping *mapping = sx_vector_add(&inner->mapping);
    if (!mapping) return sx_error_memory();
    *mapping = *from;
    *out = inner->mapping.n - 1;
    return SX_OK;
}

void sx_inner_uphold(sx_inner *inner, size_t optimum) {
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    double bound = greatest_bound(inner, optimum);
    bool optimal;
    if (isinf(item->value)) return;
    inner->refuted |=
        !sx_uphold_bound(inner->warnings, "a layer of a fused group", item->value, &bound, &optimal);
    item->bound = fmin(item->bound, item->value);
}

sx_status sx_inner_enter(sx_inner *inner, size_t optimum, sx_inner_effort effort,
                         const sx_inner_answer *answer) {
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    item->effort = effort;
    item->bound = fmax(item->bound, answer->bound);
    item->any_tiles = answer->any_tiles;
    if (answer->proof) SX_TRY(enter_proof(inner, &item->key, answer));
    if (!answer->found && !answer->stopped) item->bound = INFINITY;
    const double value = answer->found ? sx_objective_value(&inner->objective, &answer->score) : INFINITY;
    item->sum_share[0] = NAN;
    if (value < item->value) {
        size_t mapping;
        SX_TRY(add_mapping(inner, &answer->mapping, &mapping));
        item->mapping = mapping;
        item->score = answer->score;
        item->used = answer->used;
        item->used_second = answer->used_second;
        item->value = value;
        const sx_inner_found found = {answer->score, answer->used, answer->used_second, mapping, 0, 0};
        if (inner->search_power) SX_TRY(sx_inner_keep(inner, optimum, &found));
    }
    sx_inner_uphold(inner, optimum);
    return SX_OK;
}

sx_status sx_inner_settle(sx_inner *inner, size_t optimum, sx_inner_effort effort) {
    sx_inner_optimum *item = sx_vector_at(&inner->optimum, optimum);
    if (sx_inner_settled(inner, optimum, effort)) return SX_OK;
    for (size_t i = 0; i < inner->optimum.n; i++) {
        if (i == optimum || !answer_holds(inner, i, &item->key, effort)) continue;
        const sx_inner_optimum *known = sx_inner_at(inner, i);
        item->effort = known->effort;
        item->bound = known->any_tiles ? known->bound : fmax(item->bound, known->bound);
        item->value = known->value;
        item->score = known->score;
        item->used = known->used;
        item->used_second = known->used_second;
        item->mapping = known->mapping;
        item->any_tiles = known->any_tiles;
        item->sum_share[0] = NAN;
        sx_inner_uphold(inner, optimum);
        return sx_inner_share(inner, i, optimum);
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
