/* What becomes of the points of random spaces, of all kinds and larger ones: neighbours, crossings, mappings made points and
 * vectors, what the core takes of them, what levels may keep, lay out and order, and what such spaces say of their size; as
 * hashes that are changed on purpose. */
#include "support/core_hash.h"
#include "support/expect.h"
#include "support/map_neighbour.h"
#include "support/random_space.h"

#include "base/hash.h"
#include "core/steps.h"
#include "mapspace/map_choices.h"
#include "mapspace/map_core.h"
#include "mapspace/map_parts.h"
#include "space/outside_evaluator.h"
#include "space/scorer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SPACES = 8, LARGER = 3, MOST = 1500, DRAWS = 6, NEIGHBOURS = 40, CHANGED = 4 };
enum part {
    SIZES,
    NUMBERED,
    NEIGHBOUR,
    CROSSED,
    CONVERTED,
    CORE,
    COMPACT,
    CHOICES,
    SCORES,
    QUESTIONS,
    PARTS
};

typedef struct bench {
    const sx_space *space;
    const sx_map_space *map;
    size_t size;
    sx_map_choices *choices;
    sx_core_space core;
    const char *why; /* the core does not cover the space; NULL: it does */
    uint64_t hash[PARTS];
} bench;

static void add(bench *b, enum part part, uint64_t number) {
    b->hash[part] = sx_hash_mix(b->hash[part], number);
}

static void add_bytes(bench *b, enum part part, const void *bytes, size_t size) {
    b->hash[part] = sx_hash_bytes(bytes, size, b->hash[part]);
}

static void add_text(bench *b, enum part part, const char *text) {
    add_bytes(b, part, text, strlen(text));
}

static void add_double(bench *b, enum part part, double number) {
    char text[40];
    snprintf(text, sizeof text, "%.9g ", number);
    add_text(b, part, text);
}

/* Adds the account of a size, of numbers and estimates, and points by numbers that may be too large. */
static void add_sizes(bench *b, sx_rng *rng, void *point) {
    sx_size line;
    sx_expect_ok(sx_space_count(b->space));
    for (size_t i = 0; sx_space_size(b->space, i, &line); i++) {
        char text[40];
        sx_cardinal_text(&line.count, text, sizeof text);
        add_text(b, SIZES, line.name);
        add_text(b, SIZES, text);
        add_double(b, SIZES, line.error);
    }
    for (int bits = 0; bits < 128; bits += 9) {
        const sx_u128 number = ((sx_u128)sx_rng_next(rng) << 64 | sx_rng_next(rng)) >> (128 - bits - 1);
        const sx_cardinal index = {.high = (uint64_t)(number >> 64), .low = (uint64_t)number, .exact = true};
        const bool there = sx_space_at(b->space, &index, point);
        add(b, NUMBERED, there);
        if (there) add_bytes(b, NUMBERED, point, b->size);
    }
}

/* Adds the first neighbours of a point, and what it becomes with genes of another one. */
static void add_relatives(bench *b, sx_rng *rng, const void *point, void *next) {
    size_t n = 0;
    while (n < NEIGHBOURS && sx_map_neighbour(b->space, point, n, next)) {
        add_bytes(b, NEIGHBOUR, next, b->size);
        n++;
    }
    add(b, NEIGHBOUR, n);
    if (!sx_space_draw_legal(b->space, rng, next, NULL)) return;
    for (size_t gene = 0; gene < b->space->n_genes; gene += 1 + sx_rng_below(rng, 3)) {
        sx_map_take(b->space, gene, point, next);
        sx_map_normalize(b->map, next);
        add_bytes(b, CROSSED, next, b->size);
        add(b, CROSSED, b->space->type->check(b->space, next));
    }
}

/* Changes a mapping, so that most are none of the space. */
static void change_mapping(sx_rng *rng, sx_mapping *m) {
    sx_mapping_level *at = &m->level[sx_rng_below(rng, m->n_levels)];
    const int d = (int)sx_rng_below(rng, m->n_dims), e = (int)sx_rng_below(rng, m->n_dims);
    switch (sx_rng_below(rng, 9)) {
    case 0:
        at->temporal[d] = (uint32_t)sx_rng_below(rng, 5);
        break;
    case 1:
        at->spatial[d] *= 2;
        break;
    case 2:
        at->keep ^= (uint8_t)(1u << sx_rng_below(rng, m->n_tensors));
        break;
    case 3:
        at->temporal_order[d] = at->temporal_order[e];
        break;
    case 4:
        at->spatial_order[d] = at->spatial_order[e];
        break;
    case 5:
        at->split = (uint8_t)sx_rng_below(rng, m->n_dims + 2u);
        break;
    case 6:
        at->no_link_transfer ^= 1;
        break;
    case 7:
        m->n_tensors ^= sx_rng_below(rng, 3) == 0;
        break;
    default:
        sx_rng_shuffle(rng, at->temporal_order, m->n_dims);
        break;
    }
}

/* Adds what the core takes of a mapping. */
static void add_nest(bench *b, const sx_mapping *m) {
    sx_core_nest nest;
    if (b->why) return;
    const bool covered = sx_map_core_nest(b->map, m, &nest);
    add(b, CORE, covered);
    for (int s = 0; s < b->map->arch->n_levels && covered; s++) {
        add(b, CORE, nest.loops[s].dims << 8 | nest.loops[s].n);
        add(b, CORE, nest.slots[s].dims << 8 | nest.slots[s].n);
        add(b, CORE, (uint64_t)nest.slots[s].n_x << 8 | nest.keep[s]);
    }
}

/* Whether a mapping has a factor of 0, of which there is no vector. */
static bool has_zero(const sx_mapping *m) {
    for (int s = 0; s < m->n_levels; s++)
        for (int d = 0; d < m->n_dims; d++)
            if (m->level[s].temporal[d] == 0 || m->level[s].spatial[d] == 0) return true;
    return false;
}

/* Adds what a point, and mappings like it, are as mappings, as points and as vectors. */
static void add_conversions(bench *b, sx_rng *rng, const void *point, void *next) {
    static double values[SX_MAP_MAX_VALUES];
    for (int i = 0; i <= CHANGED; i++) {
        sx_mapping m;
        char text[300] = "";
        sx_map_space_mapping(b->space, point, &m);
        for (int k = 0; k < i; k++) change_mapping(rng, &m);
        add_nest(b, &m);
        add(b, CONVERTED, sx_map_space_point(b->space, &m, next));
        add_bytes(b, CONVERTED, next, b->size);
        if (m.n_tensors == b->map->problem->n_tensors)
            add(b, CONVERTED, sx_map_explain_fanout(b->map, &m, text, sizeof text));
        add_text(b, CONVERTED, text);
        if (has_zero(&m)) continue;
        sx_expect_ok(sx_map_vector(b->space, &m, values));
        for (size_t v = 0; v < sx_space_n_values(b->space); v++) add_double(b, CONVERTED, values[v]);
    }
}

/* Adds a point in its compact form, and the same changed at random. */
static void add_compact(bench *b, sx_rng *rng, const void *point, void *next) {
    sx_compact_level compact[SX_CORE_LEVELS + SX_CORE_WORDS / 2];
    sx_core_rng random = {sx_rng_next(rng)};
    if (b->why) return;
    const size_t size = sx_compact_size(&b->core);
    sx_map_compact(b->map, &b->core, point, &random, compact);
    add_bytes(b, COMPACT, compact, size);
    add(b, COMPACT, sx_map_compact_holds(&b->core, compact));
    sx_map_expand(b->map, &b->core, compact, next);
    add_bytes(b, COMPACT, next, b->size);
    for (int i = 0; i < 30; i++) {
        unsigned char *byte = (unsigned char *)compact + sx_rng_below(rng, size), kept = *byte;
        *byte ^= (unsigned char)(1u << sx_rng_below(rng, 8));
        add(b, COMPACT, sx_map_compact_holds(&b->core, compact));
        *byte = kept;
    }
}

/* Adds scores of the points of a space, legal or not, before a limit and without one, and their keys. */
static void add_scores(bench *b, sx_rng *rng, void *points) {
    static const char *const objectives[] = {"edp", "last-level,energy", "latency"};
    sx_outcome out[2 * DRAWS];
    sx_objective objective;
    sx_scorer *scorer;
    uint64_t key[2];
    char *point = points;
    sx_expect_ok(sx_objective_parse(objectives[sx_rng_below(rng, 3)], &objective));
    sx_status status = sx_scorer_new(b->space, NULL, &objective, &scorer);
    sx_expect_ok(status);
    for (size_t i = 0; i < 2 * DRAWS; i++)
        if (i % 2 || !sx_space_draw_legal(b->space, rng, point + i * b->size, NULL))
            sx_map_draw(b->space, rng, point + i * b->size);
    for (int bounded = 0; bounded < 2; bounded++) {
        const double limit = bounded && isfinite(out[0].value) ? out[0].value : INFINITY;
        sx_expect_ok(sx_scorer_score(scorer, point, 2 * DRAWS, limit, out));
        for (size_t i = 0; i < 2 * DRAWS; i++) {
            add(b, SCORES, out[i].reason);
            add_double(b, SCORES, out[i].value);
            if (out[i].reason == 0) add_double(b, SCORES, out[i].metrics.value[0]);
            if (out[i].reason && out[i].reason != SX_BEYOND)
                add_text(b, SCORES, b->space->type->reason(b->space, out[i].reason));
        }
    }
    sx_scorer_key(scorer, point, key);
    add(b, SCORES, key[0]);
    add(b, SCORES, key[1]);
    sx_scorer_free(scorer);
}

/* Takes down a question that an evaluator would be asked, and answers it. */
static bool note_question(void *user, const char *question, double *value) {
    add_text(user, QUESTIONS, question);
    *value = 2;
    return true;
}

/* Adds what an evaluator outside is asked about a point. */
static void add_question(bench *b, const void *point) {
    const sx_answer_keeper keeper = {.user = b, .find = note_question};
    sx_outside_evaluator_options options;
    sx_outside_evaluator *outside;
    sx_point_model *model;
    sx_objective objective;
    sx_scorer *scorer;
    sx_outcome out;
    sx_outside_evaluator_options_init(&options);
    options.command = "false";
    sx_expect_ok(sx_outside_evaluator_new(&options, &outside));
    sx_outside_evaluator_set_keeper(outside, &keeper);
    sx_expect_ok(sx_outside_evaluator_map_model(outside, b->space, &model));
    sx_outside_evaluator_objective(&objective);
    sx_expect_ok(sx_scorer_new(b->space, model, &objective, &scorer));
    sx_expect_ok(sx_scorer_score(scorer, point, 1, INFINITY, &out));
    add(b, QUESTIONS, out.reason);
    if (out.reason == 0) assert_true(out.value == 2);
    sx_scorer_free(scorer);
    sx_outside_evaluator_model_free(model);
    sx_outside_evaluator_free(outside);
}

/* Adds the choices of a level for some loops and tiles. */
static void add_choices(bench *b, sx_rng *rng, int s, void *point) {
    const int n_dims = b->map->problem->n_dims;
    const uint32_t loops = (uint32_t)sx_rng_below(rng, (uint64_t)1 << n_dims);
    const bool matters = sx_map_order_matters(b->map, s, sx_rng_below(rng, 2));
    sx_map_keep keep[256];
    uint32_t extent[SX_MAX_DIMS], factor[SX_MAX_DIMS];
    size_t n;
    add(b, CHOICES, matters);
    for (int twice = 0; twice < 2; twice++) {
        const uint8_t(*order)[SX_MAX_DIMS] = sx_map_orders_of(b->choices, s, loops, matters, &n);
        for (size_t i = 0; order && i < n; i++) add_bytes(b, CHOICES, order[i], (size_t)n_dims);
        const uint16_t *layout = sx_map_layouts_of(b->choices, s, loops, &n);
        for (size_t i = 0; layout && i < n; i++) add(b, CHOICES, layout[i]);
    }
    add_double(b, CHOICES, sx_map_count_orders(b->map, s, loops, 20));
    add_double(b, CHOICES, sx_map_probe_orders(b->map, s, loops, rng));
    for (int d = 0; d < n_dims; d++) {
        extent[d] = (uint32_t)sx_rng_range(rng, 1, b->map->problem->size[d]);
        factor[d] = (uint32_t)sx_rng_range(rng, 1, 4);
    }
    add(b, CHOICES, sx_map_layout_fits(b->map, s, factor, (unsigned)sx_rng_below(rng, 1u << n_dims)));
    const int keeps = sx_map_keeps_of(b->map, s, extent, keep);
    add(b, CHOICES, (uint64_t)keeps);
    for (int i = 0; i < keeps; i++) {
        add(b, CHOICES, keep[i].keep);
        add_bytes(b, CHOICES, keep[i].banks, sizeof keep[i].banks);
    }
    sx_map_set_layout(b->map, s, (unsigned)loops, point);
    add_bytes(b, CHOICES, point, b->size);
    for (int i = 0; i < b->map->arch->n_levels; i++)
        sx_rng_shuffle(rng, sx_map_level(point, i)->temporal_order, (unsigned)n_dims);
    sx_map_normalize_loops(b->map, point);
    add_bytes(b, CHOICES, point, b->size);
    for (int v = 0; v < b->map->problem->n_tensors && b->map->banked[s]; v++)
        for (unsigned banks = 1; banks < 4; banks++)
            add(b, CHOICES, sx_map_fits(b->map, s, v, sx_rng_below(rng, 40), banks));
}

/* Adds what the core takes of a space. */
static void add_core(bench *b) {
    b->why = sx_map_core_space(b->map, &b->core);
    if (b->why) {
        add_text(b, CORE, b->why);
        return;
    }
    const size_t first = offsetof(sx_core_space, n_slots);
    b->hash[CORE] = sx_core_model_hash(&b->core.model, b->hash[CORE]);
    add_bytes(b, CORE, (const char *)&b->core + first, sizeof b->core - first);
    sx_core_splits *splits;
    sx_expect_ok(sx_map_core_splits(b->map, &b->core, &splits));
    for (int d = 0; d < b->map->problem->n_dims && splits; d++)
        add(b, CORE, splits->n[d] ? splits->n[d] ^ splits->loops[d][splits->n[d] - 1][0] : 0);
    free(splits);
}

static void add_space(bench *b, sx_rng *rng, const sx_small_space *small) {
    sx_mapping drawn[3];
    b->space = small->space;
    b->map = small->map;
    b->size = sx_space_point_size(small->space);
    char *point = calloc(2 * DRAWS, b->size), *next = point + b->size;
    assert_non_null(point);
    sx_expect_ok(sx_map_choices_new(b->map, &b->choices));
    add_core(b);
    add_sizes(b, rng, point);
    for (int i = 0; i < DRAWS; i++) {
        add(b, CROSSED, sx_space_draw_legal(b->space, rng, point, NULL));
        add_relatives(b, rng, point, next);
        add_conversions(b, rng, point, next);
        add_compact(b, rng, point, next);
        if (i == 0) add_question(b, point);
        add_choices(b, rng, (int)sx_rng_below(rng, b->map->arch->n_levels), point);
    }
    add_scores(b, rng, point);
    sx_status status = sx_map_space_draw(b->space, 1, 2, 3, sizeof *drawn, drawn);
    if (status)
        add_text(b, CONVERTED, sx_status_message(status));
    else
        add_bytes(b, CONVERTED, drawn, sizeof drawn);
    sx_status_free(status);
    sx_map_choices_free(b->choices);
    free(point);
}

typedef struct row {
    const char *name;
    uint64_t hash[PARTS];
} row;

static void spaces_of_all_kinds(void **state) {
    (void)state;
    static const row expected[SX_N_KINDS] = {
        {"banks",
         {0x0e0e695518284c38u, 0xf1aee4e6862aa5cdu, 0xf6101d846b67f889u, 0x643a3dd6f86a8336u,
          0x79c0651e862bad66u, 0x12e0a05c0afa4a05u, 0x0000000000000000u, 0xce9de7f76d1da670u,
          0xffda95a51dcec71fu, 0xa63089d2b90b900cu}},
        {"sparse",
         {0xa921bb54900a7d67u, 0x5004ad790e470ba1u, 0xe42350efb28984b1u, 0x40715aafd9bc4b95u,
          0x8c293ff0aaa8d0e3u, 0x00325d1f8e426031u, 0x0000000000000000u, 0xb3b2f0cef1457edcu,
          0xc5c1d4be4ae0e5ceu, 0x4cb9a87f3a05739fu}},
        {"remainders",
         {0x31483efdb2d57305u, 0x3451b83c8c28afd7u, 0x340fcc07a59b4c53u, 0x67795fc4f727589du,
          0x9382dd5eb95a9daeu, 0x6fe5d967018bab2du, 0x0000000000000000u, 0x190c277afbfd0008u,
          0x77066383a3031f34u, 0xaabeeaf82b761cacu}},
        {"split axes",
         {0xf041b949b2c24684u, 0x07476f5bcdf690f0u, 0x83e0f5f6c15f34d2u, 0x7dec1800570b0370u,
          0x4eae9dd0e5d93c74u, 0x06375ecd9e77ab52u, 0x0000000000000000u, 0x28c66902b500cdcau,
          0x5f1be064fb014b39u, 0xbf6c300e0962b6c4u}},
        {"network",
         {0x0d018be4808284e4u, 0xe9d9a08b1071a612u, 0x59e049b0cd134177u, 0x248d734204a23dd5u,
          0x1269fd4e86f17cafu, 0xb50fec94a5823c73u, 0x0000000000000000u, 0x253992ff5e565887u,
          0xb4ff0be9012f6611u, 0xeb1fb3c573f60fb3u}},
        {"links",
         {0x80259bfdf8df1585u, 0x4d5c46571e998a51u, 0xece0beb42473c71fu, 0x176dd95c84114344u,
          0xd37f07a605fc1140u, 0xf3c92345c9c6e48cu, 0x0000000000000000u, 0x1f42b6d30cfb22e4u,
          0x04191b81ce0712a6u, 0x320049c4b814f3adu}},
        {"bits",
         {0x4565e26038a17ec1u, 0xae735d59e132212cu, 0x91a66f8a3d37cd59u, 0xf1564de410e16191u,
          0xe749f60d328c24f1u, 0xa0b0650f60037844u, 0x323456cbf15a5fd6u, 0xdd25a90f4372fe12u,
          0x6cfb4e29a3074cd9u, 0xf7ce46d79361ba1au}},
        {"constraints",
         {0x806037303ed98965u, 0xd4fd758308157444u, 0x943ae4a4b827cc6cu, 0xc9eb3c3330fe2f1eu,
          0x5bfced0177301fb5u, 0xb0a163c758c1c4e5u, 0x0000000000000000u, 0xc43e58e81fd5357fu,
          0x49f3eb451ce6977eu, 0x725ebbf55d902f82u}},
        {"least use",
         {0xf32a5406e318c482u, 0x81c59ebc57530b27u, 0x9b97462d723a8a1fu, 0x5ada52afeb68025du,
          0x435d88706b48552cu, 0x2b2c82803f0b8358u, 0x0000000000000000u, 0xe7b91de7b5da5108u,
          0x80a5080de515c26bu, 0x8aa4f9c811d95ba6u}},
        {"buffering",
         {0xfb7e516f314b8eedu, 0x5ea81dad80c7f67bu, 0x9d458d1e1b738a00u, 0x0494a55a7bce08beu,
          0x44f8178a2c51e751u, 0xb489721d235a5fa7u, 0xff1881fa9d73f1c7u, 0x3f4bed32ebf077eau,
          0xa09bc527b3f9f221u, 0x64995977ae578cd8u}},
        {"transparent",
         {0x29e16117b5df1107u, 0x66312e0c0d694555u, 0x659e5686b7201480u, 0xbebfb1e0fc8e695au,
          0x8403f709155d1cc4u, 0x923fa2740d63107fu, 0x187427b72082ea07u, 0xe8221994bc78c543u,
          0x58eb0ada7d7b27f2u, 0x21ee7fa6443bdddfu}},
        {"windows",
         {0x967c4596c3542782u, 0x4697578b7799d290u, 0x7d68da5c75fd42d4u, 0x6a9b005aa017fca7u,
          0x787f6b2f2576ad69u, 0xe22903948397f8aeu, 0x0000000000000000u, 0x4d734c6c15f50bc8u,
          0x03626da855e5d0acu, 0xaf6a8da5939a0a33u}},
        {"quiet",
         {0x17034fd6a0832526u, 0xbe52d2734c0aa321u, 0x7b6978e2c7bdf613u, 0x71e7cc43f659f902u,
          0x5c05ce30acb7ff70u, 0x64e734cc8ccace13u, 0x0ce2fd537b4beb2cu, 0x53dd7445639cd787u,
          0xdab5201c274ce80du, 0x61cc6e250181a5a0u}},
    };
    bool good = true;
    for (int kind = 0; kind < SX_N_KINDS; kind++) {
        static bench b;
        memset(&b, 0, sizeof b);
        for (uint64_t i = 0; i < SPACES; i++) {
            sx_rng rng = sx_rng_stream((uint64_t)kind, "mapped points", i);
            sx_small_space small;
            sx_random_space_of(&rng, (sx_space_kind)kind, MOST, &small);
            add_space(&b, &rng, &small);
            sx_small_space_fini(&small);
        }
        good &= sx_is_recorded(sx_space_kind_name((sx_space_kind)kind), b.hash, expected[kind].hash, PARTS);
    }
    assert_true(good);
}

/* Larger spaces, whose sizes are estimated: by their number, false past the last. */
static bool larger_space(sx_rng *rng, int number, sx_small_space *out) {
    static const char *const archs[] = {"eyeriss", "accel-a", "mind-mappings", "edge-unified"};
    if (number < LARGER)
        sx_random_link_space(rng, out);
    else if (number < 2 * LARGER)
        sx_random_plain_space(rng, 0, out);
    else if (number < 2 * LARGER + 4)
        sx_catalog_space(
            "O[n,k,p,q] += I[n,c,p+r,q+s]*W[k,c,r,s] {n:4,k:96,c:48,p:28,q:28,r:3,s:3}",
            archs[number - 2 * LARGER],
            &(sx_map_space_options){.remainders = number % 4 == 0, .split_axes = number % 4 == 2}, out);
    else
        return sx_largest_space((number - 2 * LARGER - 4) / 2, number % 2, out);
    return true;
}

static void larger_spaces(void **state) {
    (void)state;
    static const row expected = {"larger",
                                 {0xec33160e3bb7d279u, 0xd1524dc6c57c0425u, 0x85f56fc24245127au,
                                  0xce7a58537bf2721eu, 0x35d583d803af3d9bu, 0x92ca2a92bb9ccc82u,
                                  0x5b1dcf843018f6b6u, 0x4277aa164dd64c0cu, 0x8af1c154dda2eb8du,
                                  0xb4df8b9fd72fd65au}};
    static bench b;
    memset(&b, 0, sizeof b);
    for (int i = 0;; i++) {
        sx_rng rng = sx_rng_stream((uint64_t)i, "larger points", 0);
        sx_small_space small;
        if (!larger_space(&rng, i, &small)) break;
        add_space(&b, &rng, &small);
        sx_small_space_fini(&small);
    }
    assert_true(sx_is_recorded("larger", b.hash, expected.hash, PARTS));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_of_all_kinds),
        cmocka_unit_test(larger_spaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
