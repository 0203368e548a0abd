/* Checks the claims of a certificate, one after another: the mapping, the totals, every spatial mapping, and
 * then what closes the spatial mappings that the compulsory bound does not. Nothing here comes from the
 * search: spatial mappings, tiles and orders are enumerated anew (verify_space.c, order_list.c,
 * enumeration.c), bounds and costs are those of the model.
 *
 * A certificate of a space with remainders lists nothing: what no bound closes is enumerated, first mappings whose factors
 * divide, then those that leave remainders (remainder_walk.c).
 *
 * Complexity: one bound per spatial mapping, and an enumeration for each entry. */
#include "base/clock.h"
#include "base/pool.h"
#include "base/status.h"
#include "sextant/certificate.h"
#include "verify/enumeration.h"
#include "verify/exact_energy.h"
#include "verify/remainder_walk.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 1 << 20, MOST_CHOICES = 16 };
static const double MOST_MEMORY = 4.0 * (1 << 30); /* bytes of tables, of all threads together */
static const uint64_t MOST_SPATIAL = 100000000;

/* A check that is being made. */
typedef struct check {
    const sx_certificate *c;
    const sx_verify_options *options;
    sx_verification *out;
    sx_model *model;
    sx_verify_space space;
    sx_bound *bound;
    sx_latency_bound *latency; /* NULL: the objective has not the tile pipeline's */
    sx_order_list *order_list;
    sx_check_context context;
    sx_check_budget budget;
    sx_enumeration **enumeration; /* per thread */
    unsigned threads;
    size_t *order; /* entries by their factors */
    bool *met;     /* those whose spatial mapping was met, by that order */
    double began;
    pthread_mutex_t lock; /* of all that follows, and of *out */
    sx_status failure;
} check;

/* Notes that a claim does not hold; the first such note stays. False. */
static SX_PRINTF(3, 4) bool refute(check *k, const char *claim, const char *format, ...) {
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&k->lock);
    if (k->out->verdict == SX_CLAIMS_OPEN) {
        k->out->verdict = SX_CLAIMS_FAIL;
        snprintf(k->out->claim, sizeof k->out->claim, "%s", claim);
        vsnprintf(k->out->why, sizeof k->out->why, format, args);
    }
    pthread_mutex_unlock(&k->lock);
    va_end(args);
    atomic_store(&k->budget.over, true);
    return false;
}

/* The spatial factors of an entry. */
static void spatial_of(const check *k, size_t entry, uint32_t (*out)[SX_MAX_DIMS]) {
    const uint32_t *factor = k->c->proof->spatial + entry * k->c->proof->width;
    memset(out, 0, SX_MAX_LEVELS * sizeof *out);
    for (int s = 0; s < k->c->arch.n_levels; s++, factor += k->c->problem.n_dims)
        memcpy(out[s], factor, k->c->problem.n_dims * sizeof *factor);
}

/* Describes spatial factors, such as "GlobalBuffer C=4 M=2", in a buffer. */
static const char *name_spatial(const check *k, const uint32_t (*spatial)[SX_MAX_DIMS], char text[256]) {
    size_t n = 0;
    snprintf(text, 256, "no spatial loops");
    for (int s = 0; s < k->c->arch.n_levels; s++)
        for (int d = 0, first = 1; d < k->c->problem.n_dims; d++) {
            if (spatial[s][d] == 1 || n >= 256) continue;
            n += (size_t)snprintf(text + n, 256 - n, "%s%s%s %s=%u", first && n ? ", " : "",
                                  first ? k->c->arch.level[s].name : "", first ? ":" : "",
                                  k->c->problem.dim_name[d], (unsigned)spatial[s][d]);
            first = 0;
        }
    return text;
}

/* Compares the claimed energy without rounding with the mapping's. */
static sx_status check_exact_energy(check *k) {
    char exact[SX_FRACTION_SIZE];
    if (!*k->c->energy_exact) return SX_OK;
    SX_TRY(sx_mapping_exact_energy(k->model, &k->c->mapping, exact));
    if (strcmp(exact, k->c->energy_exact) != 0)
        refute(k, "mapping", "it takes %s pJ without rounding, not %s",
               *exact ? exact : "an unknown number of", k->c->energy_exact);
    return SX_OK;
}

/* Evaluates the mapping again. */
static sx_status check_mapping(check *k) {
    const sx_certificate *c = k->c;
    sx_model_workspace *workspace;
    sx_score score;
    char why[400];
    if (!sx_verify_space_contains(&k->space, &c->mapping, why, sizeof why)) {
        refute(k, "mapping", "it is not in the space: %s", why);
        return SX_OK;
    }
    SX_TRY(sx_model_workspace_new(k->model, &workspace));
    sx_verdict verdict = sx_evaluate_score(workspace, &c->mapping, &score);
    sx_model_workspace_free(workspace);
    SX_TRY(sx_verdict_status(&verdict, k->space.problem, k->space.arch));
    double value = sx_objective_value(&c->objective, &score);
    if (c->model.latency_tile && score.latency != c->score.latency)
        refute(k, "mapping", "its latency is %.17g cycles, not %.17g", score.latency, c->score.latency);
    else if (score.energy_pj != c->score.energy_pj || score.cycles != c->score.cycles)
        refute(k, "mapping", "it takes %.17g pJ and %.17g cycles, not %.17g and %.17g", score.energy_pj,
               score.cycles, c->score.energy_pj, c->score.cycles);
    else if (value != c->value)
        refute(k, "value", "the objective of the mapping is %.17g, not %.17g", value, c->value);
    return check_exact_energy(k);
}

/* Compares the numbers with each other. */
static bool check_totals(check *k) {
    const sx_certificate *c = k->c;
    uint64_t searched = 0;
    for (size_t i = 0; i < c->proof->n_entries; i++) searched += c->proof->searched[i];
    if (c->optimal && c->lower_bound != c->value)
        return refute(k, "optimal", "the lower bound is %.17g, not the value %.17g", c->lower_bound,
                      c->value);
    if (c->lower_bound > c->value)
        return refute(k, "lower bound", "it is %.17g, above the value %.17g", c->lower_bound, c->value);
    if (searched != c->searched || c->proof->n_entries - searched != c->tables)
        return refute(
            k, "entries",
            "%llu spatial mappings are listed as searched and %llu as bounded by tables, not %llu and %llu",
            (unsigned long long)searched, (unsigned long long)(c->proof->n_entries - searched),
            (unsigned long long)c->searched, (unsigned long long)c->tables);
    if (c->proof->n_spatial > MOST_SPATIAL || c->compulsory > MOST_SPATIAL ||
        c->compulsory + c->proof->n_entries != c->proof->n_spatial)
        return refute(k, "arrays", "%llu are not the %llu closed by the compulsory bound and the %zu listed",
                      (unsigned long long)c->proof->n_spatial, (unsigned long long)c->compulsory,
                      c->proof->n_entries);
    return true;
}

/* The order of two entries by their factors. */
static int compare_entries(const sx_proof *proof, const uint32_t *a, const uint32_t *b) {
    for (size_t i = 0; i < proof->width; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Sinks an entry to its place in a heap of the first n (the largest on top). */
static void sink_entry(const check *k, size_t at, size_t n) {
    const sx_proof *p = k->c->proof;
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && compare_entries(p, p->spatial + k->order[child] * p->width,
                                             p->spatial + k->order[child + 1] * p->width) < 0)
            child++;
        if (compare_entries(p, p->spatial + k->order[at] * p->width,
                            p->spatial + k->order[child] * p->width) >= 0)
            return;
        size_t kept = k->order[at];
        k->order[at] = k->order[child];
        k->order[child] = kept;
    }
}

/* Orders the entries by their factors; refutes where two are the same. */
static void order_entries(check *k) {
    const sx_proof *p = k->c->proof;
    size_t n = p->n_entries;
    for (size_t i = 0; i < n; i++) k->order[i] = i;
    for (size_t i = n / 2; i-- > 0;) sink_entry(k, i, n);
    for (size_t i = n; i-- > 1;) {
        size_t kept = k->order[0];
        k->order[0] = k->order[i];
        k->order[i] = kept;
        sink_entry(k, 0, i);
    }
    for (size_t i = 1; i < n; i++)
        if (compare_entries(p, p->spatial + k->order[i - 1] * p->width,
                            p->spatial + k->order[i] * p->width) == 0) {
            uint32_t spatial[SX_MAX_LEVELS][SX_MAX_DIMS];
            char text[256];
            spatial_of(k, k->order[i], spatial);
            refute(k, "entries", "duplicate entry: %s", name_spatial(k, spatial, text));
            return;
        }
}

/* The place of a spatial mapping among the ordered entries; SIZE_MAX where it has no entry. */
static size_t find_entry(const check *k, const uint32_t (*spatial)[SX_MAX_DIMS]) {
    const sx_proof *p = k->c->proof;
    uint32_t factor[SX_MAX_LEVELS * SX_MAX_DIMS];
    size_t low = 0, high = p->n_entries, n_dims = k->c->problem.n_dims;
    for (size_t s = 0; s < k->c->arch.n_levels; s++)
        memcpy(factor + s * n_dims, spatial[s], n_dims * sizeof *factor);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = compare_entries(p, p->spatial + k->order[mid] * p->width, factor);
        if (order == 0) return mid;
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return SIZE_MAX;
}

/* Tells how far the check has come. */
static void tell_progress(void *user) {
    check *k = user;
    if (!k->options->progress) return;
    pthread_mutex_lock(&k->lock);
    sx_verify_progress done = k->out->done;
    pthread_mutex_unlock(&k->lock);
    done.steps = atomic_load(&k->budget.steps);
    done.seconds = sx_clock_seconds() - k->began;
    k->options->progress(k->options->user, &done);
}

/* Looks at a spatial mapping: it has an entry, or the compulsory bound closes it. */
static bool meet_spatial(void *user, const uint32_t (*spatial)[SX_MAX_DIMS]) {
    enum { OFTEN = 4096 };
    check *k = user;
    char text[256];
    if (++k->out->done.spatial > k->c->proof->n_spatial)
        return refute(k, "arrays", "more than %llu spatial mappings",
                      (unsigned long long)k->c->proof->n_spatial);
    if (k->out->done.spatial % OFTEN == 0) tell_progress(k);
    size_t entry = find_entry(k, spatial);
    if (entry != SIZE_MAX) {
        k->met[entry] = true;
        return true;
    }
    double bound = sx_enumeration_compulsory(k->enumeration[0], spatial);
    if (bound >= sx_proof_floor(k->c->lower_bound)) return true;
    return refute(k, "compulsory",
                  "the compulsory bound is %.10g, below the lower bound %.10g, for a spatial mapping that is "
                  "not listed: %s",
                  bound, k->c->lower_bound, name_spatial(k, spatial, text));
}

/* Enumerates all spatial mappings. */
static void check_spatial_mappings(check *k) {
    order_entries(k);
    sx_verify_space_list_spatial(&k->space, false, &k->budget, meet_spatial, k);
    if (atomic_load(&k->budget.over)) return;
    if (k->out->done.spatial < k->c->proof->n_spatial)
        refute(k, "arrays", "there are %llu spatial mappings, not %llu",
               (unsigned long long)k->out->done.spatial, (unsigned long long)k->c->proof->n_spatial);
    for (size_t i = 0; i < k->c->proof->n_entries; i++) {
        if (k->met[i]) continue;
        uint32_t spatial[SX_MAX_LEVELS][SX_MAX_DIMS];
        char text[256];
        spatial_of(k, k->order[i], spatial);
        refute(k, "entries", "a listed spatial mapping is not in the space: %s",
               name_spatial(k, spatial, text));
        return;
    }
}

/* Notes what an enumeration found out about an entry. */
static void conclude_entry(check *k, size_t entry, sx_check_outcome outcome, double least,
                           uint64_t evaluations, const uint32_t (*spatial)[SX_MAX_DIMS], unsigned worker) {
    bool searched = k->c->proof->searched[entry];
    char text[256];
    name_spatial(k, spatial, text);
    if (outcome == SX_CHECK_BELOW && searched)
        refute(k, "searched", "a mapping with a value of %.17g, below the lower bound %.17g, was found at %s",
               least, k->c->lower_bound, text);
    if (outcome == SX_CHECK_BELOW && !searched)
        refute(k, "tables", "the tables give a bound of no more than %.10g, not %.10g, at %s", least,
               k->c->proof->bound[entry], text);
    if (outcome == SX_CHECK_FAILED) atomic_store(&k->budget.over, true);
    pthread_mutex_lock(&k->lock);
    if (outcome == SX_CHECK_NONE_BELOW) k->out->done.entries++;
    k->out->done.evaluations += evaluations;
    if (outcome == SX_CHECK_FAILED && !k->failure)
        k->failure = sx_enumeration_failure(k->enumeration[worker]);
    pthread_mutex_unlock(&k->lock);
}

/* A job: checks an entry. */
static void check_entry(void *user, size_t entry, unsigned worker) {
    check *k = user;
    uint32_t spatial[SX_MAX_LEVELS][SX_MAX_DIMS];
    const uint32_t(*factors)[SX_MAX_DIMS] = (const uint32_t(*)[SX_MAX_DIMS])spatial;
    const sx_proof *p = k->c->proof;
    char text[256];
    double least = INFINITY;
    sx_check_outcome outcome;
    if (atomic_load(&k->budget.over)) return;
    uint64_t before = sx_enumeration_evaluations(k->enumeration[worker]);
    spatial_of(k, entry, spatial);
    if (p->searched[entry]) {
        outcome = sx_enumeration_check_mappings(k->enumeration[worker], factors,
                                                sx_proof_floor(k->c->lower_bound), &least);
    } else if (p->bound[entry] < sx_proof_floor(k->c->lower_bound)) {
        refute(k, "tables", "a bound of %.10g is below the lower bound %.10g, at %s", p->bound[entry],
               k->c->lower_bound, name_spatial(k, factors, text));
        return;
    } else {
        outcome = sx_enumeration_check_bounds(k->enumeration[worker], factors,
                                              sx_proof_floor(p->bound[entry]), &least);
    }
    conclude_entry(k, entry, outcome, least, sx_enumeration_evaluations(k->enumeration[worker]) - before,
                   factors, worker);
}

/* The bytes that tables may take. */
static double memory_of(const check *k) {
    return k->options->memory > 0 ? k->options->memory : MOST_MEMORY;
}

/* How many threads can have tables at once; an error where not even one can. */
static sx_status set_threads(check *k) {
    const sx_bound *b = k->bound;
    double n_levels = k->model->n_levels, forms = 0;
    for (int v = 0; v < k->model->n_tensors; v++) forms += b->form[v].n_points;
    double each =
        (double)b->lattice.n_points * (n_levels * b->n_classes * SX_MAX_TABLED + 4) * sizeof(double);
    each += forms * n_levels * (n_levels * sizeof(sx_least_traffic) + SX_MAX_MEASURES * sizeof(double));
    k->threads = k->options->threads ? k->options->threads : 1;
    if (each > memory_of(k))
        return sx_error_new(SX_ERR_LIMIT, "the tables of its bounds would take %.1f GiB", each / (1 << 30));
    if (each * k->threads > memory_of(k)) k->threads = (unsigned)(memory_of(k) / each);
    return SX_OK;
}

/* How many tiles bounds may be made for. */
static uint32_t most_points(const check *k) {
    double room = memory_of(k) / (4 * sizeof(double) * k->model->n_tensors);
    return room < MOST_POINTS ? (uint32_t)room : MOST_POINTS;
}

/* Makes the bounds of the latency. */
static sx_status bound_latency(check *k) {
    uint32_t most[SX_MAX_LEVELS][SX_MAX_DIMS];
    for (int s = 0; s < k->space.arch->n_levels; s++)
        for (int d = 0; d < k->space.problem->n_dims; d++) most[s][d] = k->space.temporal[s][d].most;
    return sx_latency_bound_new(k->bound, k->space.must, most, &k->latency);
}

/* Makes all that a check needs. */
static sx_status prepare_check(check *k) {
    const sx_certificate *c = k->c;
    int choices = sx_verify_space_n_keeps(&k->space);
    if (choices > MOST_CHOICES)
        return sx_error_new(SX_ERR_LIMIT, "2^%d ways to keep and bypass tensors are too many", choices);
    SX_TRY(sx_bound_new(k->model, k->space.constraints, most_points(k), &k->bound));
    SX_TRY(sx_bound_survey(k->bound, k->space.must, k->space.may,
                           &(sx_interrupt){sx_check_budget_over, &k->budget}));
    SX_TRY(sx_bound_quicken(k->bound));
    SX_TRY(sx_order_list_new(&k->space, false, &k->order_list));
    SX_TRY(set_threads(k));
    if (c->objective.criterion[0].kind == SX_LATENCY && k->model->law) SX_TRY(bound_latency(k));
    k->context =
        (sx_check_context){&k->space, k->bound, k->order_list, &c->objective, &k->budget, k->latency};
    k->enumeration = calloc(k->threads, sizeof *k->enumeration);
    k->order = calloc(c->proof->n_entries + 1, sizeof *k->order);
    k->met = calloc(c->proof->n_entries + 1, sizeof *k->met);
    if (!k->enumeration || !k->order || !k->met) return sx_error_memory();
    for (unsigned i = 0; i < k->threads; i++) SX_TRY(sx_enumeration_new(&k->context, &k->enumeration[i]));
    sx_enumeration_on_tick(k->enumeration[0], tell_progress, k);
    return SX_OK;
}

/* Checks the entries on all threads. */
static sx_status check_entries(check *k) {
    sx_pool *pool;
    SX_TRY(sx_pool_new(k->threads, &pool));
    sx_pool_run(pool, k->c->proof->n_entries, check_entry, tell_progress, k);
    sx_pool_free(pool);
    return k->failure;
}

/* Notes what an enumeration of unlisted mappings found out; false to end. */
static bool conclude_unlisted(check *k, sx_check_outcome outcome, double least, SX_TAKE sx_status failure) {
    if (outcome == SX_CHECK_BELOW)
        refute(k, "lower bound", "a mapping with a value of %.17g, below the lower bound %.17g, was found",
               least, k->c->lower_bound);
    if (outcome == SX_CHECK_FAILED) {
        atomic_store(&k->budget.over, true);
        k->failure = failure;
    }
    return outcome == SX_CHECK_NONE_BELOW;
}

/* Looks at a spatial mapping of a space with remainders whose factors divide: at its mappings whose factors divide. */
static bool meet_unlisted(void *user, const uint32_t (*spatial)[SX_MAX_DIMS]) {
    check *k = user;
    sx_enumeration *t = k->enumeration[0];
    const double floor = sx_proof_floor(k->c->lower_bound);
    const uint64_t before = sx_enumeration_evaluations(t);
    double least = INFINITY;
    if (sx_enumeration_compulsory(t, spatial) >= floor) return true;
    sx_check_outcome outcome = sx_enumeration_check_mappings(t, spatial, floor, &least);
    k->out->done.evaluations += sx_enumeration_evaluations(t) - before;
    return conclude_unlisted(k, outcome, least, sx_enumeration_failure(t));
}

/* Checks the mappings of a space with remainders that leave some. */
static sx_status check_remainders(check *k) {
    sx_check_context context = k->context;
    sx_remainder_walk *walk = NULL;
    SX_TRY(sx_order_list_new(&k->space, true, &context.order_list));
    sx_status status = sx_remainder_walk_new(&context, &walk);
    if (!status) {
        double least = INFINITY;
        sx_check_outcome outcome =
            sx_remainder_walk_check(walk, sx_proof_floor(k->c->lower_bound), tell_progress, k, &least);
        const sx_walk_counts counts = sx_remainder_walk_counts(walk);
        k->out->done.spatial = k->out->done.n_spatial = counts.spatial;
        k->out->done.entries = k->out->done.n_entries = counts.searched;
        k->out->done.evaluations += counts.evaluations;
        conclude_unlisted(k, outcome, least, sx_remainder_walk_failure(walk));
    }
    sx_remainder_walk_free(walk);
    sx_order_list_free(context.order_list);
    return status;
}

/* Checks a space with remainders, of which nothing is listed. */
static sx_status check_unlisted(check *k) {
    sx_verify_space_list_spatial(&k->space, false, &k->budget, meet_unlisted, k);
    if (!atomic_load(&k->budget.over)) SX_TRY(check_remainders(k));
    return k->failure;
}

/* Checks what closes each spatial mapping. */
static sx_status check_listed(check *k) {
    check_spatial_mappings(k);
    return atomic_load(&k->budget.over) ? SX_OK : check_entries(k);
}

/* Goes from claim to claim. The lower bound of what has no entries stays open. */
static sx_status check_all(check *k) {
    const sx_certificate *c = k->c;
    SX_TRY(sx_model_new(&c->problem, &c->arch, &c->model, &k->model));
    SX_TRY(sx_verify_space_init(&k->space, k->model, &c->constraints, &c->space));
    SX_TRY(check_mapping(k));
    if (k->out->verdict == SX_CLAIMS_FAIL || !check_totals(k) || sx_certificate_open(c)) return SX_OK;
    SX_TRY(prepare_check(k));
    SX_TRY(c->space.remainders ? check_unlisted(k) : check_listed(k));
    if (!atomic_load(&k->budget.over)) k->out->verdict = SX_CLAIMS_HOLD;
    return SX_OK;
}

void sx_verify_options_init(sx_verify_options *options) {
    *options = (sx_verify_options){0};
}

sx_status sx_certificate_verify(const sx_certificate *certificate, const sx_verify_options *options,
                                sx_verification *out) {
    check *k = calloc(1, sizeof *k);
    if (!k) return sx_error_memory();
    memset(out, 0, sizeof *out);
    *k = (check){.c = certificate, .options = options, .out = out, .began = sx_clock_seconds()};
    k->budget.cancel = options->cancel;
    k->budget.most = options->steps;
    out->verdict = SX_CLAIMS_OPEN;
    out->done.n_entries = certificate->proof->n_entries;
    out->done.n_spatial = certificate->proof->n_spatial;
    sx_status status = pthread_mutex_init(&k->lock, NULL) == 0 ? SX_OK : sx_error_memory();
    if (!status) {
        status = check_all(k);
        pthread_mutex_destroy(&k->lock);
    }
    out->done.steps = atomic_load(&k->budget.steps);
    out->done.seconds = sx_clock_seconds() - k->began;
    for (unsigned i = 0; i < k->threads && k->enumeration; i++) sx_enumeration_free(k->enumeration[i]);
    free(k->enumeration);
    free(k->order);
    free(k->met);
    sx_order_list_free(k->order_list);
    sx_latency_bound_free(k->latency);
    sx_bound_free(k->bound);
    sx_verify_space_fini(&k->space);
    sx_model_free(k->model);
    free(k);
    return status;
}
