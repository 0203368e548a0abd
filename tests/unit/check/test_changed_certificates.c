/* What the independent checker's reader makes of certificates in which one value is another one: the error or the doubt word
 * for word, or all that it read, as hashes. They are changed on purpose, as messages are. */
#include "support/changed_json.h"
#include "support/expect.h"
#include "support/sanitized.h"

#include "base/hash.h"
#include "check/space.h"
#include "ir/law.h"
#include "sextant/certificate.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum outcome { READ, DOUBTED, REFUSED, OUTCOMES };

/* How many texts came to what, and a hash of each. */
typedef struct tally {
    uint64_t n[OUTCOMES], hash[OUTCOMES];
} tally;

static void add(uint64_t *hash, int64_t number) {
    *hash = sx_hash_mix(*hash, (uint64_t)number);
}

static void add_text(uint64_t *hash, const char *text) {
    *hash = sx_hash_bytes(text, strlen(text), *hash);
}

static void add_ratio(uint64_t *hash, sx_ratio ratio) {
    add(hash, ratio.num);
    add(hash, ratio.den);
}

static void add_double(uint64_t *hash, double number) {
    char text[40];
    snprintf(text, sizeof text, "%.17g", number);
    add_text(hash, text);
}

static void add_problem(uint64_t *hash, const sx_problem *p) {
    for (int d = 0; d < p->n_dims; d++) {
        add_text(hash, p->dim_name[d]);
        add(hash, p->size[d]);
    }
    for (int v = 0; v < p->n_tensors; v++) {
        const sx_tensor *t = &p->tensor[v];
        add_text(hash, t->name);
        add(hash, t->output);
        add(hash, t->bits);
        for (int r = 0; r < t->n_ranks; r++)
            for (int d = 0; d < p->n_dims; d++) add(hash, t->coef[r][d]);
    }
}

static void add_level(uint64_t *hash, const sx_check_level *level, int n_tensors) {
    const int64_t numbers[] = {
        level->mesh[0],       level->mesh[1], level->fanout[0],   level->fanout[1],  level->entries,
        level->usable,        level->banks,   level->word_bits,   level->block_size, level->cluster_size,
        level->leak,          level->address, level->hop,         level->router,     level->fill_latency,
        level->drain_latency, level->adds,    level->transparent, level->gate,       level->may};
    add_text(hash, level->name);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) add(hash, numbers[i]);
    for (int i = 0; i < SX_N_ACCESSES; i++) add(hash, level->energy[i]);
    for (int i = 0; i < SX_N_PORTS; i++) add_ratio(hash, level->port[i]);
    for (int v = 0; v < n_tensors; v++) add_ratio(hash, level->port_scale[v]);
    add_ratio(hash, level->min_utilization);
}

static void add_law(uint64_t *hash, const sx_law *law) {
    const double numbers[] = {
        law->slots,    law->exposed,       law->launch,     law->start, law->load_bus, law->load_request,
        law->load_min, law->store_request, law->store_time, law->line,  law->soft,     law->write_factor,
        law->rows,     law->min_rows,      law->preload,    law->issue, law->page,     law->page_time};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) add_double(hash, numbers[i]);
    add(hash, law->tail + 2 * law->refetch + 4 * law->spill);
    for (int i = 0; i < law->n_caches; i++) {
        add_double(hash, law->cache[i].bytes);
        add_double(hash, law->cache[i].ways);
        add_double(hash, law->cache[i].miss);
    }
    for (int i = 0; i < law->n_array; i++) {
        add_text(hash, law->array[i].dim);
        add(hash, law->array[i].size);
    }
    for (int i = 0; i < law->n_layouts; i++) {
        add_text(hash, law->layout[i].tensor);
        add_text(hash, law->layout[i].dims);
    }
    add_text(hash, law->stream);
}

static void add_machine(uint64_t *hash, const sx_check_case *c) {
    const sx_check_machine *m = &c->machine;
    add(hash, m->scale);
    add(hash, m->compute_energy);
    add(hash, m->compute_mesh[0]);
    add(hash, m->compute_mesh[1]);
    for (int s = 0; s < m->n_levels; s++) add_level(hash, &m->level[s], c->problem.n_tensors);
    if (m->lawful) add_law(hash, &m->law);
}

/* Adds what limits say, and what the space makes of them. */
static void add_limits(uint64_t *hash, const sx_check_case *c) {
    sx_check_space space;
    sx_status status = sx_check_space_init(&space, c);
    if (status) add_text(hash, sx_status_message(status));
    for (int s = 0; s < c->machine.n_levels && !status; s++) {
        const sx_level_limits *limits = &c->limits.level[s];
        add_ratio(hash, c->shares[s].min_utilization);
        add_ratio(hash, c->shares[s].min_parallelism);
        add(hash, limits->split);
        add(hash, limits->no_temporal_reuse);
        add(hash, limits->no_multicast);
        add(hash, limits->no_link_transfer);
        add(hash, limits->rmw_first_update);
        add(hash, space.may[s]);
        add(hash, space.must[s]);
        add(hash, space.banked[s] + 2 * space.splits[s]);
        for (int d = 0; d < c->problem.n_dims; d++) {
            add(hash, space.temporal[s][d].least);
            add(hash, space.temporal[s][d].most);
            add(hash, space.spatial[s][d].least);
            add(hash, space.spatial[s][d].most);
            add(hash, space.rank[s][0][d]);
            add(hash, space.rank[s][1][d]);
        }
    }
    sx_status_free(status);
    sx_check_space_fini(&space);
}

static void add_point(uint64_t *hash, const sx_check_point *point) {
    const sx_mapping *m = &point->mapping;
    add_double(hash, point->energy_pj);
    add_double(hash, point->cycles);
    add_double(hash, point->latency);
    for (int i = 0; i < 2; i++) {
        add(hash, (int64_t)point->exact[i]);
        add(hash, (int64_t)(point->exact[i] >> 64));
    }
    for (int s = 0; s < m->n_levels; s++) {
        const sx_mapping_level *at = &m->level[s];
        const int64_t numbers[] = {at->split,
                                   at->x_part,
                                   at->keep,
                                   at->no_temporal_reuse,
                                   at->no_multicast,
                                   at->no_link_transfer,
                                   at->rmw_first_update};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) add(hash, numbers[i]);
        for (int d = 0; d < m->n_dims; d++) {
            add(hash, at->temporal[d]);
            add(hash, at->spatial[d]);
            add(hash, at->temporal_order[d]);
            add(hash, at->spatial_order[d]);
        }
    }
}

static void add_case(uint64_t *hash, const sx_check_case *c) {
    const bool flags[] = {c->keep_all,          c->no_banks,     c->split_axes, c->no_first_read_elision,
                          c->no_link_transfers, c->remainders,   c->tile,       c->claim.latency,
                          c->claim.tie,         c->claim.optimal};
    const int64_t numbers[] = {c->claim.goal.energy_power,   c->claim.goal.delay_power,
                               c->claim.second.energy_power, c->claim.second.delay_power,
                               (int64_t)c->claim.arrays,     (int64_t)c->n_front};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) add(hash, flags[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) add(hash, numbers[i]);
    add_double(hash, c->claim.value);
    add_double(hash, c->claim.lower_bound);
    add_problem(hash, &c->problem);
    add_machine(hash, c);
    add_limits(hash, c);
    add_point(hash, &c->best);
    for (size_t i = 0; i < c->n_front; i++) add_point(hash, &c->front[i]);
}

static void read_text(void *user, const char *text) {
    tally *t = user;
    sx_check_doubt doubt;
    sx_check_case *c;
    sx_status status = sx_check_case_read("c", text, strlen(text), &c, &doubt);
    enum outcome outcome = status ? REFUSED : doubt.why[0] ? DOUBTED : READ;
    t->n[outcome]++;
    if (status) {
        char *whole = sx_status_text(status);
        add_text(&t->hash[outcome], whole);
        sx_free(whole);
        sx_status_free(status);
        return;
    }
    add_text(&t->hash[outcome], doubt.why);
    if (outcome == READ) add_case(&t->hash[outcome], c);
    sx_check_case_free(c);
}

/* Gives an architecture a law, and all else that a level may say. */
static void enrich_arch(sx_arch *arch) {
    sx_storage *level = &arch->level[1], *top = &arch->level[arch->n_levels - 1];
    sx_law *law = &arch->law[arch->n_laws++];
    level->write_bandwidth = 2.5;
    level->shared_bandwidth = 3;
    level->n_scales = 1;
    level->bandwidth_scale[0] = (sx_tensor_scale){"A", 0.5};
    level->power_gated_at = 2;
    level->multiple_buffering = 2;
    level->min_utilization = 0.125;
    level->energy_per_hop = 0.1;
    level->router_energy = 0.3;
    level->addr_gen_energy = 0.7;
    level->leak_energy = 0.01;
    level->fill_latency = 3;
    level->drain_latency = 4;
    arch->level[0].banks = 4;
    sx_law_init(law);
    law->tail = true;
    law->slots = 2;
    law->exposed = 0.25;
    law->n_caches = law->n_array = law->n_layouts = 1;
    law->cache[0] = (sx_law_cache){1024, 4, 20};
    law->array[0] = (struct sx_law_array){"m", 4};
    law->layout[0] = (struct sx_law_layout){"A", "m k"};
    strcpy(law->stream, "n");
    top->law = arch->n_laws;
}

/* Sets limits of every sort. */
static void enrich_limits(sx_constraints *limits) {
    sx_level_limits *level = &limits->level[1], *outer = &limits->level[2];
    level->temporal.min[0] = 2;
    level->temporal.max[1] = 4;
    level->temporal.rest[2] = true;
    level->spatial.n_inner = level->spatial.n_outer = 1;
    level->spatial.inner[0] = 2;
    level->spatial.outer[0] = 1;
    level->split = 1;
    level->must_keep = 4;
    outer->must_bypass = 2;
    outer->min_utilization = 0.25;
    outer->min_parallelism = 0.5;
    outer->no_temporal_reuse = 1;
    outer->no_multicast = 2;
    outer->no_link_transfer = 4;
    outer->rmw_first_update = 1;
}

/* The text of a certificate with nearly all that one may say. */
static char *make_text(const char *objective) {
    sx_certificate *c = calloc(1, sizeof *c);
    char *text;
    assert_non_null(c);
    sx_expect_ok(sx_einsum_parse("O[m,n] += A[m,k]*B[k,2*n+m] {m:8,n:8,k:4}", &c->problem));
    c->problem.tensor[1].bits = 8;
    sx_expect_ok(sx_problem_bind(&c->problem, 2, "Weights"));
    sx_expect_ok(sx_catalog_arch("accel-b", &c->arch));
    enrich_arch(&c->arch);
    sx_expect_ok(sx_objective_parse(objective, &c->objective));
    sx_mapping_init(&c->mapping, &c->problem, &c->arch);
    sx_constraints_init(&c->constraints, &c->problem, &c->arch);
    enrich_limits(&c->constraints);
    c->space.remainders = c->space.split_axes = c->model.latency_tile = true;
    c->mapping.level[1].no_multicast = c->mapping.level[2].no_temporal_reuse = 2;
    c->value = c->lower_bound = 12;
    c->score = (sx_score){.energy_pj = 3, .cycles = 4, .latency = 5};
    strcpy(c->energy_exact, "7/25");
    c->optimal = true;
    sx_expect_ok(sx_proof_new(7, (size_t)c->arch.n_levels * c->problem.n_dims, &c->proof));
    sx_expect_ok(sx_certificate_write(c, &text));
    sx_certificate_free(c);
    return text;
}

static void what_is_read_of_changed_certificates(void **state) {
    (void)state;
    static const char *const others[] = {"energy", "delay",     "ed2p,delay", "e^4*d^3",
                                         "d,e",    "e^2*d,edp", "latency"};
    static const tally expected = {{558, 93, 1926},
                                   {0x3ad23c3145a7fa4bu, 0x097fd36268869716u, 0xf8a8c6a10762e675u}};
    tally t = {{0}, {0}};
    char *text = make_text("edp");
    sx_changed_json(text, NULL, read_text, &t);
    free(text);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        text = make_text(others[i]);
        read_text(&t, text);
        free(text);
    }
    if (memcmp(&t, &expected, sizeof t) == 0) return;
    print_error("{{%llu, %llu, %llu}, {0x%016llxu, 0x%016llxu, 0x%016llxu}}\n", (unsigned long long)t.n[0],
                (unsigned long long)t.n[1], (unsigned long long)t.n[2], (unsigned long long)t.hash[0],
                (unsigned long long)t.hash[1], (unsigned long long)t.hash[2]);
    fail();
}

/* The value at a path such as "arch/storage/0". */
static json_t *value_at(json_t *root, const char *path) {
    char name[64];
    while (root && *path) {
        const size_t n = strcspn(path, "/");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        root = json_is_array(root) ? json_array_get(root, (size_t)atoi(name)) : json_object_get(root, name);
        path += n + (path[n] == '/');
    }
    assert_non_null(root);
    return root;
}

/* Makes a list or a map have n members, copies of the first one. */
static void fill_list(json_t *list, size_t n) {
    char name[16];
    if (json_is_array(list)) {
        while (json_array_size(list) < n)
            json_array_append_new(list, json_deep_copy(json_array_get(list, 0)));
        return;
    }
    while (json_object_size(list) < n) {
        snprintf(name, sizeof name, "z%zu", json_object_size(list));
        json_object_set_new(list, name, json_deep_copy(json_object_iter_value(json_object_iter(list))));
    }
}

/* Whether a certificate is refused with a word. */
static bool is_refused(const json_t *root, const char *word) {
    char *text = json_dumps(root, 0);
    sx_check_doubt doubt;
    sx_check_case *c = NULL;
    sx_status status = sx_check_case_read("c", text, strlen(text), &c, &doubt);
    const bool refused = status && strstr(sx_status_message(status), word);
    sx_status_free(status);
    sx_check_case_free(c);
    free(text);
    return refused;
}

static void lists_may_be_as_long_as_a_limit(void **state) {
    (void)state;
    static const struct {
        const char *path, *word;
        size_t most;
    } cases[] = {
        {"arch/storage", "1 to 24 levels", SX_MAX_LEVELS},
        {"arch/storage/2/latency/caches", "at most 4 caches", SX_MAX_CACHES},
        {"arch/storage/2/latency/array", "at most 4 dimensions", SX_MAX_ARRAY},
        {"arch/storage/2/latency/layout", "at most 8 tensors", SX_MAX_TENSORS},
        {"problem/shape/dimensions", "more than 16 dimensions", SX_MAX_DIMS},
        {"problem/shape/data-spaces", "more than 8 tensors", SX_MAX_TENSORS},
        {"problem/shape/data-spaces/0/projection", "more than 16 ranks", SX_MAX_RANKS},
    };
    char *text = make_text("edp");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += SX_SANITIZED ? 3 : 1) {
        json_t *root = json_loads(text, 0, NULL), *list = value_at(root, cases[i].path);
        fill_list(list, cases[i].most);
        if (is_refused(root, cases[i].word)) fail_msg("%s: %zu", cases[i].path, cases[i].most);
        fill_list(list, cases[i].most + 1);
        if (!is_refused(root, cases[i].word)) fail_msg("%s: %zu", cases[i].path, cases[i].most + 1);
        json_decref(root);
    }
    free(text);
}

static void numbers_may_be_as_large_as_a_limit(void **state) {
    (void)state;
    static const struct {
        const char *path, *key;
        json_int_t least, most;
    } cases[] = {
        {"arch/storage/1", "meshX", 1, INT32_MAX},
        {"arch/storage/1", "meshY", 1, INT32_MAX},
        {"arch/storage/1", "instances", 1, INT64_MAX},
        {"arch/storage/1", "entries", 0, INT64_MAX},
        {"arch/storage/0", "banks", 0, INT32_MAX},
        {"arch/storage/1", "word-bits", 1, INT32_MAX},
        {"arch/storage/1", "block-size", 1, INT32_MAX},
        {"arch/storage/1", "cluster-size", 1, INT32_MAX},
        {"arch/storage/1", "network_fill_latency", 0, INT32_MAX},
        {"arch/storage/1", "network_drain_latency", 0, INT32_MAX},
        {"arch/storage/2/latency/array", "m", 1, UINT32_MAX},
        {"problem/instance", "m", 1, SX_MAX_DIM_SIZE},
        {"problem/shape/data-spaces/1", "bits", 1, SX_MAX_ELEMENT_BITS},
        {"certificate", "arrays", 0, INT64_MAX},
    };
    char *text = make_text("edp");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += SX_SANITIZED ? 3 : 1) {
        const json_int_t least = cases[i].least, most = cases[i].most;
        json_t *root = json_loads(text, 0, NULL), *map = value_at(root, cases[i].path);
        assert_non_null(json_object_get(map, cases[i].key));
        for (int k = 0; k < 4; k++) {
            const json_int_t value = k == 0   ? least - 1
                                     : k == 1 ? least
                                     : k == 2 ? most
                                              : most + (most < INT64_MAX);
            const bool within = value >= least && value <= most;
            char word[64];
            snprintf(word, sizeof word, "from %lld to %lld", (long long)least, (long long)most);
            json_object_set_new(map, cases[i].key, json_integer(value));
            if (is_refused(root, word) == within) fail_msg("%s: %lld", cases[i].key, (long long)value);
        }
        json_decref(root);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_of_changed_certificates),
        cmocka_unit_test(lists_may_be_as_long_as_a_limit),
        cmocka_unit_test(numbers_may_be_as_large_as_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
