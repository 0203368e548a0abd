/* Forged certificates before the independent checker. Each is a certificate that a search of a random small space wrote,
 * changed in one place: numbers, machine, problem, constraints, options, mapping, objective, front. Whether the forgery is a
 * true claim by chance is decided by listing all mappings of the forged space; one that is not must not be accepted:
 * test_check_forgeries [count [seed]]. */
#include "support/check_space.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/small_certificate.h"

#include "sextant/independent.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct settings {
    uint64_t count, seed;
} settings;

/* Ways to forge. */
typedef enum forgery {
    FORGE_ENERGY,
    FORGE_CYCLES,
    FORGE_VALUE,
    FORGE_BOUND,
    FORGE_EXACT,
    FORGE_ARRAYS,
    FORGE_WORSE_MAPPING,
    FORGE_FACTORS,
    FORGE_ORDER,
    FORGE_KEEP,
    FORGE_CAPACITY,
    FORGE_PRICE,
    FORGE_BANDWIDTH,
    FORGE_BANKS,
    FORGE_BLOCK,
    FORGE_BUFFERING,
    FORGE_MESH,
    FORGE_LATENCY,
    FORGE_WIDTH,
    FORGE_OBJECTIVE,
    FORGE_SIZE,
    FORGE_LIMIT,
    FORGE_FREED,
    FORGE_OPTION,
    FORGE_FRONT,
    N_FORGERIES
} forgery;

/* How often something came out, by the kind of forgery. */
typedef struct tally {
    uint64_t made[N_FORGERIES], refused, undecided, unreadable, true_held, true_refused, late, uncounted,
        honest, honest_holds, near;
} tally;

static const char *const forgery_names[N_FORGERIES] = {
    "energy",  "cycles",    "value",  "bound",    "exact energy", "spatial mappings", "worse mapping",
    "factors", "order",     "keep",   "capacity", "price",        "bandwidth",        "banks",
    "block",   "buffering", "mesh",   "latency",  "width",        "objective",        "size",
    "limit",   "freed",     "option", "front"};

/* Moves a number up or down by a step. */
static double shift_number(sx_rng *rng, double x, double step) {
    return sx_rng_below(rng, 2) || x < step ? x + step : x - step;
}

/* Changes the numbers that are claimed. */
static void forge_claim(sx_rng *rng, forgery how, sx_certificate *c) {
    switch (how) {
    case FORGE_ENERGY:
        c->score.energy_pj = shift_number(rng, c->score.energy_pj, 0.125);
        c->energy_exact[0] = 0;
        break;
    case FORGE_CYCLES:
        c->score.cycles = shift_number(rng, c->score.cycles, 1);
        break;
    case FORGE_VALUE:
        c->value = shift_number(rng, c->value, 0.125);
        break;
    case FORGE_BOUND:
        c->optimal = sx_rng_below(rng, 2);
        c->lower_bound += sx_rng_below(rng, 2) ? 0.125 : c->lower_bound / 16;
        break;
    case FORGE_EXACT:
        if (c->energy_exact[0]) c->energy_exact[0] = (char)('1' + (c->energy_exact[0] - '0') % 9);
        break;
    default:
        c->proof->n_spatial += sx_rng_below(rng, 2) ? 1 : (uint64_t)-1;
        break;
    }
}

/* Makes the claim that a mapping is optimal, with its own cost; false where it has none. */
static bool claim_mapping(const sx_model *model, const sx_mapping *mapping, sx_certificate *c) {
    sx_model_workspace *evaluator;
    sx_expect_ok(sx_model_workspace_new(model, &evaluator));
    bool legal = sx_evaluate_score(evaluator, mapping, &c->score).reason == SX_LEGAL;
    sx_model_workspace_free(evaluator);
    c->mapping = *mapping;
    c->energy_exact[0] = 0;
    c->value = c->lower_bound = sx_objective_value(&c->objective, &c->score);
    return legal;
}

/* Changes the mapping: another one of the space, or one with a loop moved; as often as not its own cost is claimed. */
static void forge_mapping(sx_rng *rng, forgery how, const sx_small_space *small, sx_certificate *c) {
    sx_mapping m = c->mapping;
    int s = (int)sx_rng_below(rng, m.n_levels), other = (int)sx_rng_below(rng, m.n_levels);
    int d = (int)sx_rng_below(rng, m.n_dims);
    uint64_t rejected = 0;
    void *point = malloc(sx_space_point_size(small->space));
    if (how == FORGE_WORSE_MAPPING) {
        if (sx_space_draw_legal(small->space, rng, point, &rejected))
            sx_map_space_mapping(small->space, point, &m);
    } else if (how == FORGE_FACTORS) {
        m.level[other].temporal[d] *= m.level[s].temporal[d];
        if (s != other) m.level[s].temporal[d] = 1;
    } else if (how == FORGE_ORDER) {
        sx_rng_shuffle(rng, m.level[s].temporal_order, m.n_dims);
    } else {
        m.level[s].keep ^= (uint8_t)(1u << sx_rng_below(rng, m.n_tensors));
    }
    sx_certificate before = *c;
    if (!sx_rng_below(rng, 2) || !claim_mapping(small->model, &m, c)) {
        *c = before;
        c->mapping = m;
    }
    free(point);
}

/* Changes the machine. */
static void forge_machine(sx_rng *rng, forgery how, sx_arch *arch) {
    sx_storage *level = &arch->level[sx_rng_below(rng, arch->n_levels)];
    double *prices[] = {&level->read_energy,     &level->fill_energy, &level->update_energy,
                        &level->addr_gen_energy, &level->leak_energy, &arch->compute.energy};
    double *ports[] = {&level->read_bandwidth, &level->write_bandwidth, &level->shared_bandwidth};
    double *port = ports[sx_rng_below(rng, 3)], *price = prices[sx_rng_below(rng, 6)];
    switch (how) {
    case FORGE_CAPACITY:
        if (level->entries == SX_UNLIMITED)
            level->entries = 1 + sx_rng_below(rng, 40);
        else
            level->entries +=
                sx_rng_below(rng, 2) || level->entries < 2 ? 1 + sx_rng_below(rng, 9) : (uint64_t)-1;
        break;
    case FORGE_PRICE:
        *price = shift_number(rng, *price, 0.25);
        break;
    case FORGE_BANDWIDTH:
        *port = isfinite(*port) && sx_rng_below(rng, 2) ? INFINITY : 0.25 * (double)sx_rng_range(rng, 1, 12);
        break;
    case FORGE_BANKS:
        level->banks = (uint32_t)sx_rng_below(rng, 6);
        break;
    case FORGE_BLOCK:
        level->block_size = level->block_size == 1 ? 2 : 1;
        break;
    case FORGE_BUFFERING:
        level->multiple_buffering = level->multiple_buffering > 1 ? 1 : 2;
        break;
    case FORGE_MESH:
        arch->compute.mesh_x *= 2;
        arch->compute.instances *= 2;
        break;
    default:
        level->fill_latency += 1;
        break;
    }
}

/* Changes the constraints: one more limit of a factor, or none at all of a level. */
static void forge_limits(sx_rng *rng, forgery how, sx_certificate *c) {
    sx_level_limits *level = &c->constraints.level[sx_rng_below(rng, c->arch.n_levels)];
    sx_constraints none;
    int d = (int)sx_rng_below(rng, c->problem.n_dims);
    sx_constraints_init(&none, &c->problem, &c->arch);
    if (how == FORGE_FREED) {
        c->constraints.level[level - c->constraints.level] = none.level[level - c->constraints.level];
        return;
    }
    switch (sx_rng_below(rng, 5)) {
    case 0:
        level->temporal.max[d] = 1 + (uint32_t)sx_rng_below(rng, 3);
        break;
    case 1:
        level->spatial.max[d] = 1;
        break;
    case 2:
        level->must_bypass ^= (uint8_t)(1u << sx_rng_below(rng, c->problem.n_tensors));
        break;
    case 3:
        *(sx_rng_below(rng, 2) ? &level->no_multicast : &level->no_coalesce) ^=
            (uint8_t)(1u << sx_rng_below(rng, c->problem.n_tensors));
        break;
    default:
        level->must_keep ^= (uint8_t)(1u << sx_rng_below(rng, c->problem.n_tensors));
        break;
    }
}

/* Changes what remains: widths, objective, sizes, options. */
static void forge_rest(sx_rng *rng, forgery how, sx_certificate *c) {
    static const char *const objectives[] = {"edp", "energy", "delay", "ed2p"};
    uint32_t *size = &c->problem.size[sx_rng_below(rng, c->problem.n_dims)];
    bool *options[] = {&c->space.keep_all, &c->space.no_banks, &c->space.split_axes,
                       &c->model.no_first_read_elision, &c->model.no_link_transfers};
    switch (how) {
    case FORGE_WIDTH:
        c->problem.tensor[sx_rng_below(rng, c->problem.n_tensors)].bits =
            (uint8_t)(8 << sx_rng_below(rng, 3));
        break;
    case FORGE_OBJECTIVE:
        sx_expect_ok(sx_objective_parse(objectives[sx_rng_below(rng, 4)], &c->objective));
        if (sx_rng_below(rng, 2)) c->value = c->lower_bound = sx_objective_value(&c->objective, &c->score);
        break;
    case FORGE_SIZE:
        *size = sx_rng_below(rng, 2) && *size > 1 ? *size - 1 : 2 * *size;
        break;
    default:
        *options[sx_rng_below(rng, 5)] ^= true;
        break;
    }
}

/* Claims a front of the optimum alone, which need not be the whole one. */
static void forge_front(sx_certificate *c) {
    c->front = calloc(1, sizeof *c->front);
    assert_non_null(c->front);
    c->n_front = 1;
    c->front->mapping = c->mapping;
    c->front->score = c->score;
}

static void forge(sx_rng *rng, forgery how, const sx_small_space *small, sx_certificate *c) {
    if (how <= FORGE_ARRAYS)
        forge_claim(rng, how, c);
    else if (how <= FORGE_KEEP)
        forge_mapping(rng, how, small, c);
    else if (how <= FORGE_LATENCY)
        forge_machine(rng, how, &c->arch);
    else if (how <= FORGE_SIZE)
        forge_rest(rng, how, c);
    else if (how <= FORGE_FREED)
        forge_limits(rng, how, c);
    else if (how == FORGE_FRONT)
        forge_front(c);
    else
        forge_rest(rng, how, c);
}

/* Whether two numbers are the same but for rounding. */
static bool is_near(double a, double b) {
    return fabs(a - b) <= 1e-13 * fabs(b);
}

/* Whether no mapping of a list has less of energy or of cycles than a front of one mapping. */
static bool front_covers(const sx_small_space *small, const sx_score *point) {
    sx_mapping_list list;
    bool covered = true;
    sx_list_mappings(small, &list);
    for (size_t i = 0; i < list.n; i++)
        covered &= list.score[i].energy_pj >= point->energy_pj && list.score[i].cycles >= point->cycles;
    sx_free_mappings(&list);
    return covered;
}

/* Whether no mapping of its space is below what a certificate claims, by more than a share. */
static bool is_least(const sx_certificate *c, const sx_small_space *forged, double slack) {
    return sx_small_least(forged, &c->objective, NULL) >= c->lower_bound * (1 - slack) * (1 - 2e-11);
}

/* Whether all that a certificate claims is so, by the model and by listing its space, which is `forged`. `late`: its cycles
 * may differ by that number from the model's, which may count one too many of a full port (docs/proof.md), and mappings may be
 * below by a share of `slack`. */
static bool is_true(const sx_certificate *c, const sx_small_space *forged, double late, double slack) {
    sx_model_workspace *evaluator;
    sx_score score;
    void *point = malloc(sx_space_point_size(forged->space));
    bool inside = sx_map_space_point(forged->space, &c->mapping, point) &&
                  sx_space_legal(forged->space, point, NULL, 0);
    free(point);
    sx_expect_ok(sx_model_workspace_new(forged->model, &evaluator));
    bool legal = sx_evaluate_score(evaluator, &c->mapping, &score).reason == SX_LEGAL;
    sx_model_workspace_free(evaluator);
    if (!inside || !legal || !is_near(c->score.energy_pj, score.energy_pj) ||
        fabs(c->score.cycles - score.cycles) > late ||
        !is_near(c->value, sx_objective_value(&c->objective, late > 0 ? &c->score : &score)))
        return false;
    if (c->optimal && !is_near(c->lower_bound, c->value)) return false;
    if (!is_least(c, forged, slack)) return false;
    return !c->n_front || front_covers(forged, &c->front->score);
}

/* The space of a certificate; false where there is none, or it is too large to list. */
static bool make_forged(const sx_certificate *c, sx_small_space *out) {
    enum { MOST_POINTS = 40000 };
    memset(out, 0, sizeof *out);
    out->c.problem = c->problem;
    out->c.arch = c->arch;
    out->c.options = c->model;
    out->limits = c->constraints;
    out->options = c->space;
    sx_status status = sx_model_new(&c->problem, &c->arch, &c->model, &out->model);
    if (!status) status = sx_map_space_new(out->model, &out->limits, &out->options, &out->space);
    if (status) {
        sx_status_free(status);
        if (out->model) sx_model_free(out->model);
        return false;
    }
    out->map = sx_map_space_of(out->space);
    sx_cardinal most = {.exact = true, .low = MOST_POINTS};
    void *point = malloc(sx_space_point_size(out->space));
    bool small = !sx_space_at(out->space, &most, point);
    free(point);
    if (!small) sx_small_space_fini(out);
    return small;
}

/* Makes one forgery and checks it; false where it could not be made. */
static bool check_forgery(sx_rng *rng, forgery how, const sx_small_space *small, const sx_certificate *honest,
                          uint64_t number, tally *t) {
    const sx_independent_options options = {.threads = 1};
    sx_independent_report report;
    sx_small_space forged;
    char *text, *before;
    sx_certificate *c = sx_certificate_again(honest);
    if (!c) return false; /* it has more than a file can say */
    sx_expect_ok(sx_certificate_write(c, &before));
    forge(rng, how, small, c);
    sx_status status = sx_certificate_write(c, &text);
    bool made = !status && strcmp(before, text) != 0 && make_forged(c, &forged);
    if (status) sx_status_free(status);
    if (made) {
        bool counted = c->space.remainders || c->proof->n_spatial == honest->proof->n_spatial;
        bool honest_claim = how != FORGE_EXACT && counted && is_true(c, &forged, 0, 0);
        t->made[how]++;
        status = sx_independent_check("forged", text, strlen(text), &options, &report);
        if (status)
            t->unreadable++;
        else if (report.verdict == SX_INDEPENDENT_HOLDS && !honest_claim &&
                 is_true(c, &forged, 1, report.slack))
            t->late++;
        else if (report.verdict == SX_INDEPENDENT_HOLDS && report.uncounted && is_least(c, &forged, 0) &&
                 (!c->optimal || is_near(c->value, sx_objective_value(&c->objective, &c->score))))
            t->uncounted++;
        else if (report.verdict == SX_INDEPENDENT_HOLDS && !honest_claim)
            sx_fail_case(&forged, number, forgery_names[how], "a false claim is accepted");
        else if (report.verdict == SX_INDEPENDENT_UNDECIDED)
            t->undecided++;
        else if (report.verdict == SX_INDEPENDENT_HOLDS)
            t->true_held++;
        else
            *(honest_claim ? &t->true_refused : &t->refused) += 1;
        sx_status_free(status);
        sx_small_space_fini(&forged);
    }
    if (!status) free(text);
    free(before);
    sx_certificate_free(c);
    return made;
}

/* Changes each number that is claimed of a proven optimum by a share of 10^-5 to 10^-9, as no rounding does. */
static void check_near(const sx_small_space *small, const sx_certificate *honest, uint64_t number, tally *t) {
    static const char *const names[] = {"value", "bound", "energy", "cycles"};
    const sx_independent_options options = {.threads = 1};
    sx_rng rng = sx_rng_stream(number, "near", 0);
    for (int i = 0; i < 4 && honest->optimal; i++) {
        sx_independent_report report;
        char *text;
        sx_certificate *c = sx_certificate_again(honest);
        if (!c) return;
        double *const claimed[] = {&c->value, &c->lower_bound, &c->score.energy_pj, &c->score.cycles};
        const double share = pow(10, -5 - (double)sx_rng_below(&rng, 5)), before = *claimed[i];
        *claimed[i] *= 1 + (sx_rng_below(&rng, 2) ? share : -share);
        c->energy_exact[0] = 0;
        sx_expect_ok(sx_certificate_write(c, &text));
        sx_expect_ok(sx_independent_check("near", text, strlen(text), &options, &report));
        if (*claimed[i] != before && report.verdict == SX_INDEPENDENT_HOLDS && !report.uncounted)
            sx_fail_case(small, number, names[i], "changed by 10^-5 to 10^-9 is accepted");
        t->near += report.verdict == SX_INDEPENDENT_FAILS;
        free(text);
        sx_certificate_free(c);
    }
}

/* Checks the certificate before it is forged. */
static void check_honest(const sx_small_space *small, const sx_certificate *c, uint64_t number, tally *t) {
    const sx_independent_options options = {.threads = 1};
    sx_independent_report report;
    char *text;
    sx_expect_ok(sx_certificate_write(c, &text));
    sx_expect_ok(sx_independent_check("honest", text, strlen(text), &options, &report));
    free(text);
    if (report.verdict == SX_INDEPENDENT_FAILS && !strstr(report.why, "not what is claimed"))
        sx_fail_case(small, number, "an honest certificate is refused", report.why);
    t->honest++;
    t->honest_holds += report.verdict == SX_INDEPENDENT_HOLDS;
    if (report.verdict == SX_INDEPENDENT_HOLDS) check_near(small, c, number, t);
}

/* Forges the certificate of one space in several ways. */
static uint64_t forge_space(sx_rng *rng, bool remainders, uint64_t number, tally *t) {
    enum { PER_SPACE = 12 };
    static const char *const objectives[] = {"edp", "energy", "delay", "ed2p"};
    sx_small_space small;
    sx_objective objective;
    uint64_t made = 0;
    (remainders ? sx_draw_remainder_space : sx_draw_check_space)(rng, &small);
    sx_expect_ok(sx_objective_parse(objectives[sx_rng_below(rng, remainders ? 3 : 4)], &objective));
    sx_certificate *c = sx_small_certificate(&small, &objective, "optimal", 0);
    if (c) check_honest(&small, c, number, t);
    for (int i = 0; i < PER_SPACE && c; i++)
        made += check_forgery(rng, (forgery)sx_rng_below(rng, N_FORGERIES), &small, c, number, t);
    sx_certificate_free(c);
    sx_small_space_fini(&small);
    return made;
}

/* Forges certificates until there are `count` forgeries, and says what came of them. */
static void forge_many(uint64_t count, uint64_t seed, bool remainders, tally *t) {
    uint64_t made = 0;
    for (uint64_t i = 0; made < count; i++) {
        sx_rng rng = sx_rng_stream(seed, remainders ? "forged remainders" : "forgeries", i);
        made += forge_space(&rng, remainders, i, t);
    }
    print_message("%llu certificates, %llu hold\n", (unsigned long long)t->honest,
                  (unsigned long long)t->honest_holds);
    print_message(
        "%llu forgeries: %llu refused, %llu undecided, %llu not readable; true by chance: %llu hold, %llu "
        "refused; a cycle of a full port: %llu hold; bounds of mappings that are not counted: %llu hold\n",
        (unsigned long long)made, (unsigned long long)t->refused, (unsigned long long)t->undecided,
        (unsigned long long)t->unreadable, (unsigned long long)t->true_held,
        (unsigned long long)t->true_refused, (unsigned long long)t->late, (unsigned long long)t->uncounted);
    for (int i = 0; i < N_FORGERIES; i++)
        print_message("  %s: %llu\n", forgery_names[i], (unsigned long long)t->made[i]);
    assert_true(t->true_refused * 100 <= made);
}

static void forgeries_are_refused(void **state) {
    const settings *set = *state;
    tally t = {0};
    forge_many(set->count, set->seed, false, &t);
    for (int i = 0; i < N_FORGERIES; i++) sx_expect_compared(forgery_names[i], t.made[i], set->count / 200);
    sx_expect_compared("certificates", t.honest_holds, t.honest * 9 / 10);
    sx_expect_compared("refused forgeries", t.refused, set->count / 2);
    sx_expect_compared("refused claims near the true one", t.near, t.honest * 2);
}

static void forged_remainders_are_refused(void **state) {
    const settings *set = *state;
    tally t = {0};
    forge_many(set->count / 2, set->seed, true, &t);
    sx_expect_compared("certificates", t.honest_holds, t.honest / 2);
    sx_expect_compared("refused forgeries", t.refused, set->count / 8);
}

/* A space in which a mapping that is forged as the optimum takes a cycle more than another one by the model, and no more
 * without rounding. */
static void rounded_claims_have_slack(void **state) {
    enum { SEED = 9201, NUMBER = 9 };
    sx_rng rng = sx_rng_stream(SEED, "forgeries", NUMBER);
    tally t = {0};
    (void)state;
    forge_space(&rng, false, NUMBER, &t);
    assert_true(t.late > 0);
}

int main(int argc, char **argv) {
    settings set = {argc > 1 ? strtoull(argv[1], NULL, 10) : 800, argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(forgeries_are_refused, &set),
        cmocka_unit_test_prestate(forged_remainders_are_refused, &set),
        cmocka_unit_test(rounded_claims_have_slack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
