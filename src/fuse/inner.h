/* The inner optima of a fused network: for each layer, or part of one, and each way to cut it at the exchange memory,
 * what is known of the best mapping: a lower bound at first, the mapping once it is searched. */
#ifndef SX_FUSE_INNER_H
#define SX_FUSE_INNER_H

#include "base/hash_table.h"
#include "base/vector.h"
#include "fuse/cut.h"
#include "sextant/objective.h"
#include "sextant/warnings.h"

/* What a search of a cut layer gave. */
typedef struct sx_inner_answer {
    bool found;
    bool stopped; /* the search did not end by itself: another one might find more */
    sx_score score;
    double bound;         /* proven lower bound of the objective; 0: none */
    uint64_t used;        /* words of the exchange memory that the mapping's own tiles take */
    uint64_t used_second; /* and of the second one */
    sx_mapping mapping;
    char *proof;    /* of the bound: a certificate as text, which the table frees; NULL: none */
    bool any_tiles; /* the bound is of all tiles, those that leave remainders included */
} sx_inner_answer;

/* How much is done to find an optimum. */
typedef enum sx_inner_effort {
    SX_INNER_MINIMUM, /* only a lower bound is known */
    SX_INNER_SKETCH,  /* a short search */
    SX_INNER_SEARCH,  /* a whole one */
} sx_inner_effort;

/* Searches a cut layer; *out->found is false where there is no mapping or none was found. */
typedef sx_status sx_inner_search(void *user, const sx_problem *problem, const sx_cut *cut,
                                  sx_inner_effort effort, sx_inner_answer *out);
/* A lower bound of the objective that costs next to nothing. */
typedef sx_status sx_inner_minimum(void *user, const sx_problem *problem, const sx_cut *cut, double *out);

/* Energy and cycles that no mapping is below. */
typedef sx_status sx_inner_least(void *user, const sx_problem *problem, const sx_cut *cut, sx_score *out);

/* Searches a cut layer by energy^power * cycles^(1 - power), with no effort or for a good mapping; the answer's bound is of
 * that. */
typedef sx_status sx_inner_search_power(void *user, const sx_problem *problem, const sx_cut *cut,
                                        double power, sx_inner_effort effort, sx_inner_answer *out);

/* More tensors that could stay in the exchange memory than those of a cut, and the energy that each mapping costs at least more
 * that does not have them there. The cut is as it was where nothing is known. */
typedef sx_status sx_inner_relax(void *user, const sx_problem *problem, sx_cut *cut, double *more);

/* Powers by which cut layers are searched: energy^(k / SX_INNER_POWERS) * cycles^(1 - k / SX_INNER_POWERS). */
enum { SX_INNER_POWERS = 8 };

typedef struct sx_inner_key {
    uint64_t problem; /* of sx_inner.problem */
    sx_cut cut;
} sx_inner_key;

typedef struct sx_inner_optimum {
    sx_inner_key key;
    sx_inner_effort effort; /* spent on it */
    size_t
        relaxed; /* an optimum that bounds it: energy * share + more, cycles * share; its own index: there is none */
    double share, more;
    double minimum; /* as sx_inner_minimum says */
    double bound;   /* of the objective; INFINITY: no mapping exists */
    double value;   /* INFINITY before it is searched */
    sx_score score;
    sx_score least; /* energy and cycles that no mapping is below; no cycles: not asked for yet */
    uint64_t used, used_second;
    bool any_tiles;    /* its mappings may leave remainders: bounds of tiles that divide are none of it */
    size_t mapping;    /* of sx_inner.mapping */
    unsigned powers;   /* that were searched, a mask */
    unsigned polished; /* of them, those that were searched for a good mapping */
    double power[SX_INNER_POWERS + 1]; /* of these, lower bounds as logarithms */
    size_t found;                      /* the last of its mappings in sx_inner.found, over one; 0: none */
    double sum_share[2], sum;          /* the last that sx_inner_sum found by its own bounds */
} sx_inner_optimum;

/* A mapping of an optimum, of which products may have several. */
typedef struct sx_inner_found {
    sx_score score;
    uint64_t used, used_second;
    size_t mapping, before; /* before: the one before it of the same optimum, over one; 0: none */
    unsigned powers;        /* by which no better one was found, a mask */
} sx_inner_found;

/* The proof of a bound. */
typedef struct sx_inner_proof {
    sx_inner_key key;
    double bound;
    char *text;
} sx_inner_proof;

typedef struct sx_inner {
    uint64_t capacity; /* of the exchange memory */
    uint64_t second;   /* that of the second one; 0: there is none */
    double root;       /* one over the sum of the objective's powers */
    sx_objective objective;
    sx_inner_search *search;
    sx_inner_minimum *minimum;
    bool any_room;                       /* minimum and least are the same whatever room tiles have */
    sx_inner_least *least;               /* NULL: unknown */
    sx_inner_search_power *search_power; /* NULL: unknown */
    sx_inner_relax *relax;               /* NULL: nothing is known of other cuts */
    void *user;
    sx_vector problem, whole, optimum, mapping, proof; /* whole: by problem, of what it is a part */
    sx_vector found;                                   /* sx_inner_found */
    sx_hash_table problems, optima;
    size_t n_searched;
    sx_warnings *warnings; /* of the caller; may be NULL */
    bool refuted;          /* a bound was above a value: nothing that rests on bounds is proven */
} sx_inner;

/* An empty table. An error where the objective is no product of powers of energy and delay, or of energy and latency. */
SX_MUST_USE sx_status sx_inner_init(sx_inner *inner, const sx_objective *objective, uint64_t capacity);
void sx_inner_fini(sx_inner *inner);

/* The number of a problem, which is entered without its name. */
SX_MUST_USE sx_status sx_inner_problem(sx_inner *inner, const sx_problem *problem, uint64_t *out);

/* Notes that a problem is a part of another: `parts` of it, one after the other, compute the whole; `sums`: all but the
 * first one find sums of those before. The first such note of a problem stays. */
SX_MUST_USE sx_status sx_inner_note_whole(sx_inner *inner, uint64_t part, const sx_problem *whole,
                                          double parts, bool sums);

/* The number of the optimum of a cut problem, entered with its minimum as the bound where it is new. */
SX_MUST_USE sx_status sx_inner_find(sx_inner *inner, uint64_t problem, const sx_cut *cut, size_t *out);

/* Whether more effort up to that cannot change an optimum: it was spent, or value and bound are equal. */
bool sx_inner_settled(const sx_inner *inner, size_t optimum, sx_inner_effort effort);

/* The first of the optima that bound an optimum, from the most relaxed one to itself, that is not settled. */
size_t sx_inner_unsettled(const sx_inner *inner, size_t optimum, sx_inner_effort effort);

/* Lowers the bound of an optimum that is above its value; where that is more than rounding, or a relaxed optimum is bounded
 * so, inner->refuted becomes true. */
void sx_inner_uphold(sx_inner *inner, size_t optimum);

/* Searches an optimum with that effort, unless it is settled. */
SX_MUST_USE sx_status sx_inner_settle(sx_inner *inner, size_t optimum, sx_inner_effort effort);

/* Enters an answer that is known beforehand. */
SX_MUST_USE sx_status sx_inner_enter(sx_inner *inner, size_t optimum, sx_inner_effort effort,
                                     const sx_inner_answer *answer);

static inline const sx_inner_optimum *sx_inner_at(const sx_inner *inner, size_t optimum) {
    return sx_vector_at(&inner->optimum, optimum);
}

/* The lower bound of an optimum: no less than with more room, with more tensors on chip, or as a part of a larger problem. */
double sx_inner_bound(const sx_inner *inner, size_t optimum);

/* The share of an optimum in the sum that a plan minimises: the objective to the power of `root`, so that the sum's
 * power bounds the product of the sums from below (Hoelder). */
double sx_inner_weight(const sx_inner *inner, double value);

/* The cycles that the objective counts: Timeloop's, or the latency of the tile pipeline. */
double sx_inner_delay(const sx_inner *inner, const sx_score *score);

/* A lower bound of energy * share[0] + cycles * share[1] of an optimum whose objective is their product: by its bound, by energy
 * and cycles that no mapping is below, by searches of other powers, and by the optima that bound it. */
SX_MUST_USE sx_status sx_inner_sum(sx_inner *inner, size_t optimum, const double share[2], double *out);

/* Searches an optimum, or the most relaxed of those that bound it that was not searched so, by the power whose product bounds
 * such a sum best; *searched: there was one. */
SX_MUST_USE sx_status sx_inner_search_sum(sx_inner *inner, size_t optimum, const double share[2],
                                          bool *searched);

/* Searches an optimum by that power for a good mapping, unless the best that is known is near its bound or it was searched so;
 * *searched: it was. */
SX_MUST_USE sx_status sx_inner_polish_sum(sx_inner *inner, size_t optimum, const double share[2],
                                          bool *searched);

/* The least such sum of the mappings of an optimum that are known; INFINITY: there are none. */
double sx_inner_known_sum(const sx_inner *inner, size_t optimum, const double share[2]);

/* Chooses of the mappings of every optimum the one with the least such sum; NULL: with the least objective. */
void sx_inner_select(sx_inner *inner, const double *share);

/* The same, with scores that mappings which no search for good ones gave are likely to have after one: plans that are joined by
 * them are worth such searches. The next selection replaces them. */
SX_MUST_USE sx_status sx_inner_select_likely(sx_inner *inner, const double share[2]);

/* Whether a cut leaves tiles less than the memories. */
static inline bool sx_inner_less_room(const sx_cut *cut) {
    return cut->occupied > 0 || cut->occupied_second > 0;
}

/* The number of the optimum of a cut problem where it was entered; else SX_NO_INDEX. */
size_t sx_inner_known(const sx_inner *inner, uint64_t problem, const sx_cut *cut);

/* Whether one cut is another with no less room in both memories. */
bool sx_inner_same_cut(const sx_cut *roomy, const sx_cut *cut);

/* Keeps one more mapping of an optimum of a product. */
SX_MUST_USE sx_status sx_inner_keep(sx_inner *inner, size_t optimum, const sx_inner_found *found);

/* Of the mappings of an optimum, keeps those that fit into another one's room for it as well. */
SX_MUST_USE sx_status sx_inner_share(sx_inner *inner, size_t from, size_t optimum);

#endif
