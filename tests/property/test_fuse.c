/* The search of fused mappings against all paths of small cascades, listed one by one and evaluated: test_fuse [count
 * [seed]]. The listing knows no dominance: it puts every holder into every order and every loop into every place. */
#include "base/hash.h"
#include "looptree/fuse_search.h"
#include "sextant/input.h"
#include "sextant/rng.h"
#include "support/expect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_EINSUMS = 3, MOST_HOLDERS = 12, MOST_COMBINATIONS = 300000, MOST_COMPUTES = 24 };

typedef struct settings {
    uint64_t count, seed;
} settings;

/* Cascades; sizes stand for %u, from a on. */
static const char *const shapes[][MOST_EINSUMS] = {
    {"B[m,n] += A[m,k]*W[k,n] {m:%a,n:%b,k:%c}", "C[m,p] += B[m,n]*V[n,p] {m:%a,n:%b,p:%d}"},
    {"B[m,n] += A[m,k]*W[k,n] {m:%a,n:%b,k:%c}", "C[m,n] += B[m,n]*V[n] {m:%a,n:%b}"},
    {"B[m] += A[m,k] {m:%a,k:%b}", "C[m] += B[m]*A[m,k] {m:%a,k:%b}"},
    {"B[x] += A[x+r]*W[r] {x:4,r:%b}", "C[y] += B[y+s]*V[s] {y:3,s:2}"},
    {"B[x,c] += A[x,c] {x:4,c:%b}", "C[y,c] += B[y+s,c]*V[s] {y:3,s:2,c:%b}"},
    {"B[m] += A[m] {m:%a}", "C[m,n] += B[m]*V[n] {m:%a,n:%b}", "D[m,n] += C[m,n]*B[m] {m:%a,n:%b}"},
    {"B[m] += A[m]*X[m] {m:%a}", "C[m] += B[m] {m:%a}", "D[m] += C[m]*B[m]*X[m] {m:%a}"},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* An einsum's text with its sizes. */
static void fill_in(const char *shape, const uint32_t *size, char *out) {
    for (; *shape; shape++) {
        if (*shape == '%')
            out += sprintf(out, "%u", size[*++shape - 'a']);
        else
            *out++ = *shape;
    }
    *out = '\0';
}

static void draw_cascade(sx_rng *rng, sx_cascade *cascade) {
    static sx_problem einsum[MOST_EINSUMS];
    static const uint32_t sizes[] = {1, 2, 2, 4};
    const size_t shape = sx_rng_below(rng, N_SHAPES);
    uint32_t size[4];
    size_t n = 0;
    for (int i = 0; i < 4; i++) size[i] = sizes[sx_rng_below(rng, 4)];
    for (; n < MOST_EINSUMS && shapes[shape][n]; n++) {
        char text[200];
        fill_in(shapes[shape][n], size, text);
        sx_expect_ok(sx_einsum_parse(text, &einsum[n]));
    }
    sx_expect_ok(sx_cascade_init(cascade, einsum, n, 8));
}

static void draw_machine(sx_rng *rng, sx_arch *arch) {
    memset(arch, 0, sizeof *arch);
    arch->n_levels = (uint8_t)(sx_rng_below(rng, 4) ? 2 : 3);
    strcpy(arch->name, "random");
    for (int s = 0; s < arch->n_levels; s++) {
        sx_storage *level = &arch->level[s];
        const bool outermost = s == arch->n_levels - 1;
        sx_storage_init(level);
        sprintf(level->name, "L%d", s);
        level->word_bits = 8;
        if (!outermost) level->entries = (uint64_t)sx_rng_range(rng, 2, s + 2 == arch->n_levels ? 24 : 3);
        level->read_energy = (double)sx_rng_range(rng, 0, outermost ? 40 : 4);
        level->fill_energy = (double)sx_rng_range(rng, 0, outermost ? 40 : 4);
        level->read_bandwidth = sx_rng_below(rng, 2) ? INFINITY : 0.5 * (double)sx_rng_range(rng, 1, 6);
        level->write_bandwidth = sx_rng_below(rng, 2) ? INFINITY : 0.5 * (double)sx_rng_range(rng, 1, 6);
    }
    sx_compute_init(&arch->compute);
    strcpy(arch->compute.name, "MAC");
    arch->compute.energy = 1;
}

/* What others see of a path: shared loops, and every reservation with its depth and bits. Compared as bytes. */
typedef struct face_key {
    uint32_t n, fused, word[4 * MOST_HOLDERS + 2 * SX_MAX_DIMS];
} face_key;

typedef struct listed_path {
    face_key key;
    double energy, latency;
    uint32_t next; /* of the same key; SX_HASH_NONE: none */
    sx_path path;
} listed_path;

/* The listing of an einsum's paths: the holders in their order, then the loops of every gap. */
typedef struct listing {
    const sx_arch *arch;
    const sx_cascade *cascade;
    size_t e;
    sx_path_node holder[MOST_HOLDERS];
    int n_holders, n_top; /* those of the outermost memory stand first, without loops above */
    int last_exchange;    /* gaps up to this one hold shared loops */
    uint32_t bound[MOST_HOLDERS + 1][SX_MAX_DIMS];
    listed_path *list;
    size_t n, room;
    sx_hash_table index;
} listing;

static const sx_problem *einsum_of(const listing *l) {
    return &l->cascade->einsum[l->e];
}

static void make_key(const listing *l, const sx_path_layout *layout, const sx_path_cost *cost,
                     face_key *key) {
    memset(key, 0, sizeof *key);
    for (int i = 0; i < cost->n_reservations; i++) {
        const sx_reservation *r = &cost->reservation[i];
        key->word[key->n++] = (uint32_t)(r->level << 8 | r->tensor);
        key->word[key->n++] = r->depth;
        key->word[key->n++] = (uint32_t)r->bits;
        if (r->backing && l->cascade->tensor[l->cascade->tensor_of[l->e][r->tensor]].shared &&
            r->depth > key->fused)
            key->fused = r->depth;
    }
    for (uint32_t i = 0, loops = 0; loops < key->fused; i++) {
        const sx_path_step *step = &layout->step[i];
        if (step->node.kind == SX_PATH_HOLD) continue;
        key->word[key->n++] = step->node.index;
        key->word[key->n++] = step->bound;
        loops++;
    }
}

/* Enters a path unless one that looks the same costs no more. */
static void add_path(listing *l, const sx_path *path) {
    listed_path p = {.path = *path};
    uint32_t bits[SX_MAX_TENSORS] = {8, 8, 8, 8, 8, 8, 8, 8};
    sx_path_layout layout;
    sx_path_cost cost;
    int index;
    assert_int_equal(sx_path_lay_out(l->arch, einsum_of(l), path, &layout, &index), SX_PATH_OK);
    assert_true(sx_looptree_cost(l->arch, einsum_of(l), bits, &layout, &cost));
    make_key(l, &layout, &cost, &p.key);
    p.energy = cost.energy;
    p.latency = cost.latency;
    const sx_hash_keys keys = {l->list, sizeof p, sizeof p.key};
    const uint32_t at = (uint32_t)l->n;
    const uint32_t head =
        sx_hash_table_put(&l->index, keys, &p.key, sx_hash_bytes(&p.key, sizeof p.key, 0), at);
    for (uint32_t i = head; i != at && i != SX_HASH_NONE; i = l->list[i].next)
        if (l->list[i].energy <= p.energy && l->list[i].latency <= p.latency) return;
    assert_true(sx_reserve(&l->list, &l->room, l->n + 1, sizeof p));
    p.next = SX_HASH_NONE;
    if (head != at) {
        p.next = l->list[head].next;
        l->list[head].next = at;
    }
    l->list[l->n++] = p;
}

/* Writes the loops of gap g in every order, then the holder below it, and so on. */
static void order_loops(listing *l, sx_path *path, uint32_t *extent, int g, uint32_t done) {
    bool all = true;
    for (int d = 0; d < einsum_of(l)->n_dims; d++) {
        if (l->bound[g][d] == 1 || done >> d & 1) continue;
        all = false;
        extent[d] /= l->bound[g][d];
        path->node[path->n_nodes++] =
            (sx_path_node){.kind = SX_PATH_LOOP, .index = (uint8_t)d, .tile = extent[d]};
        order_loops(l, path, extent, g, done | 1u << d);
        path->n_nodes--;
        extent[d] *= l->bound[g][d];
    }
    if (!all) return;
    if (g == l->n_holders - l->n_top) {
        add_path(l, path);
        return;
    }
    path->node[path->n_nodes++] = l->holder[l->n_top + g];
    order_loops(l, path, extent, g + 1, 0);
    path->n_nodes--;
}

/* Whether a loop over a dimension may stand in gap g: it moves every tensor that is not held above, alone in a rank. */
static bool may_loop(const listing *l, int g, int d) {
    for (int v = 0; v < einsum_of(l)->n_tensors; v++) {
        bool held = false;
        for (int i = 0; i < l->n_top + g; i++) held |= l->holder[i].index == v;
        if (!held && sx_relevance_of(einsum_of(l), v, d, NULL) != SX_FULLY_RELEVANT) return false;
    }
    return true;
}

/* Divides what is left of dimension d among the gaps from g on; `shared`: a shared loop of it is there. */
static void divide_dim(listing *l, int d, int g, uint32_t left, bool shared) {
    const int n_gaps = l->n_holders - l->n_top + 1;
    if (d == einsum_of(l)->n_dims) {
        sx_path path = {.n_nodes = 0};
        uint32_t extent[SX_MAX_DIMS];
        memcpy(extent, einsum_of(l)->size, sizeof extent);
        for (int i = 0; i < l->n_top; i++) path.node[path.n_nodes++] = l->holder[i];
        order_loops(l, &path, extent, 0, 0);
        return;
    }
    if (g == n_gaps) {
        if (left == 1)
            divide_dim(l, d + 1, 0, d + 1 < einsum_of(l)->n_dims ? einsum_of(l)->size[d + 1] : 1, false);
        return;
    }
    for (uint32_t bound = 1; bound <= left; bound++) {
        const bool is_shared = bound > 1 && g < l->last_exchange;
        if (left % bound || (bound > 1 && !may_loop(l, g, d)) || (is_shared && shared)) continue;
        l->bound[g][d] = bound;
        divide_dim(l, d, g + 1, left / bound, shared || is_shared);
    }
    l->bound[g][d] = 1;
}

/* Every order of the holders of one level, then those of the next. */
static void order_holders(listing *l, const uint32_t *hold, int level, uint32_t left) {
    const int outermost = l->arch->n_levels - 1;
    if (!left && level == 0) {
        l->last_exchange = 0;
        for (int i = l->n_top; i < l->n_holders; i++)
            if (!l->holder[i].sinks &&
                l->cascade->tensor[l->cascade->tensor_of[l->e][l->holder[i].index]].shared)
                l->last_exchange = i - l->n_top + 1;
        divide_dim(l, 0, 0, einsum_of(l)->size[0], false);
        return;
    }
    if (!left) {
        order_holders(l, hold, level - 1, hold[level - 1]);
        return;
    }
    for (uint32_t set = left; set; set &= set - 1) {
        const int v = __builtin_ctz(set);
        bool backing = true;
        for (int i = 0; i < l->n_holders; i++) backing &= l->holder[i].index != v;
        l->holder[l->n_holders++] = (sx_path_node){
            .kind = SX_PATH_HOLD, .level = (int8_t)level, .index = (uint8_t)v, .sinks = !backing};
        if (level == outermost) l->n_top = l->n_holders;
        order_holders(l, hold, level, left & ~(1u << v));
        l->n_holders--;
        if (level == outermost) break; /* their order means nothing */
    }
}

static void list_paths(listing *l, uint32_t *hold, int level) {
    const int outermost = l->arch->n_levels - 1;
    const uint32_t all = (1u << einsum_of(l)->n_tensors) - 1;
    if (level < 0) {
        l->n_holders = l->n_top = 0;
        order_holders(l, hold, outermost, hold[outermost]);
        return;
    }
    for (uint32_t set = 0; set <= all; set++) {
        bool legal = true;
        for (int v = 0; v < einsum_of(l)->n_tensors && level >= outermost - 1; v++) {
            const bool passes = sx_cascade_passes(&l->cascade->tensor[l->cascade->tensor_of[l->e][v]]);
            const bool above = level == outermost ? passes : hold[outermost] >> v & 1;
            legal &= above || set >> v & 1;
        }
        hold[level] = set;
        if (legal) list_paths(l, hold, level - 1);
    }
}

/* The least value over all choices of a path for each einsum. */
static void combine_paths(const listing *all, size_t e, sx_fused_mapping *mapping,
                          sx_fuse_objective objective, double *best, uint64_t *tried) {
    const sx_cascade *cascade = all->cascade;
    if (e == cascade->n_einsums || e == MOST_EINSUMS) {
        sx_fused_cost cost;
        sx_fused_verdict verdict;
        ++*tried;
        sx_expect_ok(sx_fused_evaluate(all->arch, cascade, mapping, &cost, &verdict));
        if (!verdict.reason) *best = fmin(*best, sx_fuse_value(objective, cost.energy, cost.latency));
        return;
    }
    for (size_t i = 0; i < all[e].n; i++) {
        mapping->path[e] = all[e].list[i].path;
        combine_paths(all, e + 1, mapping, objective, best, tried);
    }
}

/* Searches a cascade and compares; false where the listing is too long. */
static bool check_cascade(const sx_arch *arch, const sx_cascade *cascade, sx_fuse_objective objective) {
    listing all[MOST_EINSUMS];
    sx_path path[MOST_EINSUMS];
    sx_fused_mapping mapping = {.n_einsums = cascade->n_einsums, .path = path};
    double best = INFINITY, combinations = 1;
    uint64_t tried = 0;
    for (size_t e = 0; e < cascade->n_einsums; e++)
        if (sx_problem_computes(&cascade->einsum[e]) > (arch->n_levels == 2 ? MOST_COMPUTES : 4))
            return false;
    memset(all, 0, sizeof all);
    for (size_t e = 0; e < cascade->n_einsums; e++) {
        uint32_t hold[SX_MAX_LEVELS];
        all[e] = (listing){.arch = arch, .cascade = cascade, .e = e};
        list_paths(&all[e], hold, arch->n_levels - 1);
        combinations *= (double)all[e].n;
    }
    const bool few = combinations <= MOST_COMBINATIONS;
    if (few) {
        const sx_fuse_options options = {.objective = objective};
        sx_fuse_answer answer;
        combine_paths(all, 0, &mapping, objective, &best, &tried);
        sx_expect_ok(sx_fuse_search(arch, cascade, &options, &answer));
        assert_true(answer.found == isfinite(best));
        if (answer.found && fabs(answer.value - best) > 1e-12 * best)
            print_error("the search finds %.17g, the listing %.17g\n", answer.value, best);
        assert_true(!answer.found || fabs(answer.value - best) <= 1e-12 * best);
        sx_fused_mapping_fini(&answer.mapping);
    }
    for (size_t e = 0; e < cascade->n_einsums; e++) {
        sx_hash_table_clear(&all[e].index);
        free(all[e].list);
    }
    return few;
}

static void searches_find_the_least(void **state) {
    const settings *s = *state;
    uint64_t checked = 0;
    for (uint64_t i = 0; i < s->count; i++) {
        sx_rng rng = sx_rng_stream(s->seed, "fuse", i);
        sx_cascade cascade;
        sx_arch arch;
        draw_cascade(&rng, &cascade);
        draw_machine(&rng, &arch);
        const sx_fuse_objective objective =
            (sx_fuse_objective)sx_rng_range(&rng, SX_FUSE_ENERGY, SX_FUSE_EDP);
        checked += check_cascade(&arch, &cascade, objective);
        sx_cascade_fini(&cascade);
    }
    print_message("%llu of %llu cascades listed\n", (unsigned long long)checked,
                  (unsigned long long)s->count);
    assert_true(checked > 0);
}

int main(int argc, char **argv) {
    settings s = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) / 20 + 10 : 60,
                  .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(searches_find_the_least, &s)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
