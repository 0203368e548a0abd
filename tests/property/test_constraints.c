/* Random constraints, written as text and read back, judge mappings as a slow and obvious checker does: one
 * statement after the other, and orders by trying every permutation there is. What is refused as a
 * contradiction, no mapping keeps. */
#include "base/text.h"
#include "sextant/input.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/random_legal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

/* What the constraints say of one slot. */
typedef struct slot_said {
    char relation[SX_MAX_DIMS]; /* '=', '<', '>', or 0 for nothing */
    uint32_t value[SX_MAX_DIMS];
    int n_inner, n_outer;
    uint8_t inner[SX_MAX_DIMS], outer[SX_MAX_DIMS];
    int split; /* -1: nothing */
} slot_said;

/* All that is said. */
typedef struct said {
    slot_said spatial[SX_MAX_LEVELS], temporal[SX_MAX_LEVELS];
    uint8_t keep[SX_MAX_LEVELS], bypass[SX_MAX_LEVELS];
    double parallelism;
} said;

/* A problem on an architecture, mappings, and what they are held to. */
typedef struct trial {
    sx_model *model;
    const sx_problem *problem;
    const sx_arch *arch;
    bool remainders;
    sx_mapping mapping;
    said said;
} trial;

static bool chance(sx_rng *rng, unsigned percent) {
    return sx_rng_below(rng, 100) < percent;
}

/* Says something of a factor: mostly what a mapping's one obeys. */
static void draw_factor(sx_rng *rng, slot_said *slot, int d, uint32_t factor, uint32_t size) {
    static const char relations[] = "=<>";
    slot->relation[d] = relations[sx_rng_below(rng, 3)];
    slot->value[d] = chance(rng, 85) ? factor : (uint32_t)sx_rng_range(rng, 1, size + 1);
    if (chance(rng, 30) && slot->relation[d] == '<') slot->value[d] += (uint32_t)sx_rng_below(rng, 4);
    if (chance(rng, 30) && slot->relation[d] == '>' && slot->value[d] > 1) slot->value[d]--;
}

/* Says something of an order: its first and last dimensions, sometimes with two of them exchanged. */
static void draw_order(sx_rng *rng, slot_said *slot, const uint8_t *order, int n) {
    uint8_t copy[SX_MAX_DIMS];
    memcpy(copy, order, (size_t)n);
    if (chance(rng, 20)) sx_rng_shuffle(rng, copy, (unsigned)n);
    slot->n_inner = (int)sx_rng_below(rng, (uint64_t)n + 1);
    slot->n_outer = chance(rng, 50) ? (int)sx_rng_below(rng, (uint64_t)(n - slot->n_inner) + 1) : 0;
    memcpy(slot->inner, copy, (size_t)slot->n_inner);
    memcpy(slot->outer, copy + n - slot->n_outer, (size_t)slot->n_outer);
}

static void draw_slot(sx_rng *rng, const trial *t, slot_said *slot, const uint32_t *factor,
                      const uint8_t *order) {
    slot->split = -1;
    for (int d = 0; d < t->problem->n_dims; d++)
        if (chance(rng, 8)) draw_factor(rng, slot, d, factor[d], t->problem->size[d]);
    if (chance(rng, 25)) draw_order(rng, slot, order, t->problem->n_dims);
}

/* Whether a split puts all loops of a level on an axis without a fan-out: that is read as the other axis, with a
 * warning. */
static bool split_turns(const trial *t, int s, int split) {
    uint64_t x = sx_arch_fanout_x(t->arch, s), y = sx_arch_fanout_y(t->arch, s);
    return (split == 0 && y == 1 && x > 1) || (split == t->problem->n_dims && x == 1 && y > 1);
}

/* Draws constraints that a mapping may well keep. */
static void draw_said(sx_rng *rng, trial *t) {
    memset(&t->said, 0, sizeof t->said);
    for (int s = 0; s < t->arch->n_levels; s++) {
        const sx_mapping_level *level = &t->mapping.level[s];
        draw_slot(rng, t, &t->said.spatial[s], level->spatial, level->spatial_order);
        draw_slot(rng, t, &t->said.temporal[s], level->temporal, level->temporal_order);
        if (chance(rng, 25))
            t->said.spatial[s].split =
                chance(rng, 70) ? level->split : (int)sx_rng_below(rng, t->problem->n_dims + 1u);
        if (split_turns(t, s, t->said.spatial[s].split)) t->said.spatial[s].split = -1;
        for (int v = 0; v < t->problem->n_tensors; v++) {
            if (!chance(rng, 15)) continue;
            bool keep = chance(rng, 90) == (level->keep >> v & 1);
            uint8_t *mask = keep ? &t->said.keep[s] : &t->said.bypass[s];
            *mask = (uint8_t)(*mask | 1u << v);
        }
    }
    if (chance(rng, 15)) t->said.parallelism = (double)sx_rng_below(rng, 20) / 64;
}

static void write_tensors(sx_text *text, const trial *t, const char *key, unsigned mask) {
    if (!mask) return;
    sx_text_add(text, ", %s: [", key);
    for (int v = 0; v < t->problem->n_tensors; v++)
        if (mask >> v & 1) sx_text_add(text, "%s, ", t->problem->tensor[v].name);
    sx_text_add(text, "]");
}

static void write_slot(sx_text *text, const trial *t, int s, const char *type, const slot_said *slot) {
    sx_text_add(text, "- {type: %s, target: %s, factors: [", type, t->arch->level[s].name);
    for (int d = 0; d < t->problem->n_dims; d++)
        if (slot->relation[d])
            sx_text_add(text, "'%s%c%s%u', ", t->problem->dim_name[d], slot->relation[d],
                        slot->relation[d] == '=' ? "" : "=", slot->value[d]);
    sx_text_add(text, "], permutation: [");
    for (int i = 0; i < slot->n_inner; i++) sx_text_add(text, "%s, ", t->problem->dim_name[slot->inner[i]]);
    if (slot->n_outer) sx_text_add(text, "_, ");
    for (int i = 0; i < slot->n_outer; i++) sx_text_add(text, "%s, ", t->problem->dim_name[slot->outer[i]]);
    sx_text_add(text, "]");
    if (slot->split >= 0) sx_text_add(text, ", split: %d", slot->split);
    if (t->remainders) sx_text_add(text, ", remainders: 1");
    sx_text_add(text, "}\n");
}

/* The constraints as Timeloop's text. */
static char *write_said(const trial *t) {
    sx_text text = {0};
    char *out = NULL;
    sx_text_add(&text, "mapspace_constraints:\n");
    for (int s = 0; s < t->arch->n_levels; s++) {
        write_slot(&text, t, s, "temporal", &t->said.temporal[s]);
        write_slot(&text, t, s, "spatial", &t->said.spatial[s]);
        sx_text_add(&text, "- {type: datatype, target: %s", t->arch->level[s].name);
        write_tensors(&text, t, "keep", t->said.keep[s]);
        write_tensors(&text, t, "bypass", t->said.bypass[s]);
        sx_text_add(&text, "}\n");
    }
    if (t->said.parallelism > 0)
        sx_text_add(&text, "- {type: parallelism, target: %s, min: %.17g}\n", t->arch->level[0].name,
                    t->said.parallelism);
    sx_expect_ok(sx_text_take(&text, &out));
    return out;
}

/* Whether a full order of the dimensions begins and ends as said, has the loops of a mapping in their own
 * order, and divides them between X and Y as the mapping does. */
static bool order_fits(const slot_said *slot, const uint8_t *full, int n, const uint32_t *factor,
                       const uint8_t *order, int split) {
    int loops = 0;
    for (int i = 0; i < slot->n_inner; i++)
        if (full[i] != slot->inner[i]) return false;
    for (int i = 0; i < slot->n_outer; i++)
        if (full[n - slot->n_outer + i] != slot->outer[i]) return false;
    for (int i = 0; i < n; i++) {
        if (factor[full[i]] == 1) continue;
        while (factor[order[loops]] == 1) loops++;
        if (order[loops] != full[i]) return false;
        if (slot->split >= 0 && (i < slot->split) != (loops < split)) return false;
        loops++;
    }
    return true;
}

/* Whether some full order fits, trying all ways to fill it from a position on. */
static bool some_order(const slot_said *slot, uint8_t *full, int at, int n, const uint32_t *factor,
                       const uint8_t *order, int split) {
    if (at == n) return order_fits(slot, full, n, factor, order, split);
    for (int i = at; i < n; i++) {
        uint8_t kept = full[at];
        full[at] = full[i];
        full[i] = kept;
        bool fits = some_order(slot, full, at + 1, n, factor, order, split);
        full[i] = full[at];
        full[at] = kept;
        if (fits) return true;
    }
    return false;
}

static bool slot_obeyed(const slot_said *slot, int n, const uint32_t *factor, const uint8_t *order,
                        int split) {
    uint8_t full[SX_MAX_DIMS] = {0};
    for (int d = 0; d < n; d++) {
        full[d] = (uint8_t)d;
        if (slot->relation[d] == '=' && factor[d] != slot->value[d]) return false;
        if (slot->relation[d] == '<' && factor[d] > slot->value[d]) return false;
        if (slot->relation[d] == '>' && factor[d] < slot->value[d]) return false;
    }
    return some_order(slot, full, 0, n, factor, order, split);
}

/* Whether the mapping does all that is said. */
static bool obeyed(const trial *t) {
    double used = 1;
    for (int s = 0; s < t->arch->n_levels; s++) {
        const sx_mapping_level *level = &t->mapping.level[s];
        int n = t->problem->n_dims;
        if (t->said.keep[s] & ~level->keep || t->said.bypass[s] & level->keep) return false;
        if (!slot_obeyed(&t->said.temporal[s], n, level->temporal, level->temporal_order, 0)) return false;
        if (!slot_obeyed(&t->said.spatial[s], n, level->spatial, level->spatial_order, level->split))
            return false;
        for (int d = 0; d < n; d++) used *= level->spatial[d];
    }
    return used / (double)t->arch->compute.instances >= t->said.parallelism;
}

/* Changes a mapping in one place, legal or not. */
static void change(sx_rng *rng, sx_mapping *m) {
    sx_mapping_level *level = &m->level[sx_rng_below(rng, m->n_levels)];
    uint64_t d = sx_rng_below(rng, m->n_dims);
    switch (sx_rng_below(rng, 6)) {
    case 0:
        level->temporal[d] = level->temporal[d] == 1 ? 2 : 1;
        break;
    case 1:
        level->spatial[d] = level->spatial[d] == 1 ? 2 : 1;
        break;
    case 2:
        sx_rng_shuffle(rng, level->temporal_order, m->n_dims);
        break;
    case 3:
        sx_rng_shuffle(rng, level->spatial_order, m->n_dims);
        break;
    case 4:
        level->split = (uint8_t)sx_rng_below(rng, m->n_dims + 1u);
        break;
    default:
        level->keep ^= (uint8_t)(1u << sx_rng_below(rng, m->n_tensors));
        break;
    }
}

/* How often constraints were refused, kept and broken. */
typedef struct outcome {
    uint64_t refused, kept, broken;
} outcome;

/* Judges one mapping both ways. */
static bool agree(const trial *t, const sx_constraints *limits, outcome *seen) {
    char why[256] = "";
    bool slow = obeyed(t);
    bool fast = sx_constraints_allow(limits, &t->mapping, t->problem, t->arch, why, sizeof why);
    bool mute = sx_constraints_allow(limits, &t->mapping, t->problem, t->arch, NULL, 0);
    *(fast ? &seen->kept : &seen->broken) += 1;
    if (slow != fast) print_error("the checker says %d, the library %d (%s)\n", slow, fast, why);
    return slow == fast && fast == mute && fast == (why[0] == 0);
}

/* Runs one trial; false where something disagrees. */
static bool run(sx_rng *rng, trial *t, const char *text, outcome *seen) {
    static sx_constraints limits;
    sx_input *input = sx_expect_input(text);
    sx_input_read_as(input, SX_READ_STRICT);
    sx_status status = sx_input_constraints(input, t->problem, t->arch, &limits);
    bool good = true;
    if (status) {
        seen->refused++;
        good = !obeyed(t);
        if (!good) print_error("refused, but kept: %s\n", status->message);
    }
    for (int i = 0; i < 6 && good && !status; i++) {
        good = agree(t, &limits, seen);
        change(rng, &t->mapping);
    }
    sx_status_free(status);
    sx_input_free(input);
    return good;
}

static void constraints_mean_what_they_say(void **state) {
    static const char *const problems[] = {
        "Outputs[M,P] += Inputs[C,P+R]*Weights[M,C,R] {M:8,P:12,C:6,R:3}",
        "Outputs[M,N] += Inputs[M,K]*Weights[K,N] {M:16,N:24,K:30}",
    };
    static const char *const archs[] = {"edge-unified", "eyeriss", "simba", "accel-b"};
    const settings *set = *state;
    outcome seen = {0};
    for (uint64_t i = 0; i < set->count; i++) {
        static trial t;
        sx_rng rng = sx_rng_stream(set->seed, "constraints", i);
        sx_model_workspace *evaluator;
        sx_catalog_model(problems[i % 2], archs[i / 2 % 4], &t.model, &evaluator);
        t.problem = sx_model_problem(t.model);
        t.arch = sx_model_arch(t.model);
        t.remainders = i % 3 == 0;
        unsigned flags = SX_LEGAL_DIRECTIVES | (t.remainders ? SX_LEGAL_REMAINDERS : 0);
        if (sx_random_legal(&rng, t.model, flags, &t.mapping)) {
            draw_said(&rng, &t);
            char *text = write_said(&t);
            bool good = run(&rng, &t, text, &seen);
            if (!good)
                print_error("seed %llu, case %llu:\n%s", (unsigned long long)set->seed, (unsigned long long)i,
                            text);
            free(text);
            assert_true(good);
        }
        sx_model_workspace_free(evaluator);
        sx_model_free(t.model);
    }
    print_message("%llu refused, %llu kept, %llu broken\n", (unsigned long long)seen.refused,
                  (unsigned long long)seen.kept, (unsigned long long)seen.broken);
    sx_expect_compared("mappings that keep to constraints", seen.kept, set->count / 4);
    sx_expect_compared("mappings that break constraints", seen.broken, set->count / 4);
}

int main(int argc, char **argv) {
    settings set = {.count = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000,
                    .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(constraints_mean_what_they_say, &set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
