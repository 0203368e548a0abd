/* The state of a run as bytes: a mark, the options of the run, counters, points, trace, the states of the navigators, and
 * a hash of it all. Numbers are as the machine has them, which the mark tells too. The cache is left out. The identity
 * of space and model is the business of the file that holds the state (base/saved_state.h). */
#include "base/hash.h"
#include "base/saved_state.h"
#include "run/worker_pool.h"
#include "sextant/all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "SEXTKCP", and the format as a digit in the highest byte. */
#define FORMAT 6
#define FORMAT_SHIFT 56
#define NAME 0x50434b54584553u
#define MARK ((uint64_t)('0' + FORMAT) << FORMAT_SHIFT | NAME)

typedef struct counters {
    uint64_t evaluations, valid, rejected, cache_hits, improved, drawn;
    double seconds, lower_bound;
    uint64_t optimal;
} counters;

sx_status sx_checkpoint_identify(const sx_run *run, char **out) {
    const sx_run_options *o = &run->options;
    char objective[256];
    sx_text text = {0};
    sx_objective_text(&o->objective, objective, sizeof objective);
    sx_identity_add(&text, "space", "%s, %zu bytes", run->space->type->name, run->space->point_size);
    sx_identity_add(&text, "model", "%s", run->model->type->name);
    sx_identity_add(&text, "navigator", "%s", run->navigator);
    sx_identity_add(&text, "objective", "%s within %.17g", objective, o->objective.tolerance);
    sx_identity_add(&text, "evaluations", "%llu", (unsigned long long)o->evaluations);
    sx_identity_add(&text, "target", "%.17g", o->target);
    sx_identity_add(&text, "patience", "%llu", (unsigned long long)o->patience);
    sx_identity_add(&text, "seed", "%llu", (unsigned long long)o->seed);
    sx_identity_add(&text, "best-points", "%u", o->k_best);
    sx_identity_add(&text, "front", "%s", o->pareto ? "kept" : "not kept");
    sx_identity_add_digest(&text, "start-points", "",
                           sx_hash_bytes(o->starts, o->n_starts * run->space->point_size, o->n_starts));
    return sx_text_take(&text, out);
}

/* The error for a checkpoint of another run. */
static sx_status other_run(const char *there, const char *here) {
    sx_text what = {0};
    const bool other = sx_identity_differs(there, strlen(there), here, &what);
    sx_status error =
        what.failed || !other
            ? sx_error_memory()
            : sx_error_hint(
                  sx_error_new(SX_ERR_INPUT, "the checkpoint belongs to another run: %s", what.data),
                  "use the options that it was made with, or remove it to start over");
    sx_text_free(&what);
    return error;
}

static void add_number(sx_text *text, uint64_t number) {
    sx_text_add_bytes(text, (const char *)&number, sizeof number);
}

/* Adds a size and a number of bytes. */
static void add_block(sx_text *text, const void *bytes, size_t size) {
    add_number(text, size);
    if (size) sx_text_add_bytes(text, bytes, size);
}

static void add_shelf(sx_text *text, const sx_archive *archive) {
    add_number(text, archive->n);
    for (size_t i = 0; i < archive->n; i++) {
        sx_archived kept = archive->kept[i];
        kept.slot = 0;
        sx_text_add_bytes(text, (const char *)&kept, sizeof kept);
        sx_text_add_bytes(text, sx_archive_point(archive, i), archive->point_size);
    }
}

/* Adds what is kept of a navigator that is called again and again. */
static void add_called(sx_text *text, const sx_resumable_call *called) {
    add_number(text, called->used);
    add_number(text, called->from);
    add_number(text, called->name);
    add_number(text, called->seen);
    add_number(text, called->ended);
    add_block(text, called->state, called->size);
}

sx_status sx_checkpoint_write(const sx_run *run, char **bytes, size_t *size) {
    const counters c = {run->evaluations,    run->valid,       run->rejected,
                        run->cache_hits,     run->improved,    run->drawn,
                        sx_run_seconds(run), run->lower_bound, run->optimal};
    sx_text text = {0};
    add_number(&text, MARK);
    add_block(&text, run->identity, strlen(run->identity));
    add_block(&text, &c, sizeof c);
    add_shelf(&text, &run->best);
    add_shelf(&text, &run->front);
    add_block(&text, run->trace, run->n_trace * sizeof *run->trace);
    add_number(&text, run->depth + 1u);
    for (unsigned i = 0; i <= run->depth; i++)
        add_block(&text, run->frame[i].state, run->frame[i].state_size);
    for (int i = 0; i < SX_MAX_CALLED; i++) add_called(&text, &run->called[i]);
    add_number(&text, text.failed ? 0 : sx_hash_bytes(text.data, text.size, MARK));
    *size = text.size;
    return sx_text_take(&text, bytes);
}

/* Bytes that are being read; `damaged` once there were fewer than their numbers say. */
typedef struct reader {
    const unsigned char *at;
    size_t left;
    bool damaged;
} reader;

/* The next bytes, NULL where there are fewer. */
static const void *read_bytes(reader *r, size_t size) {
    if (r->damaged || size > r->left) {
        r->damaged = true;
        return NULL;
    }
    const void *bytes = r->at;
    r->at += size;
    r->left -= size;
    return bytes;
}

static uint64_t take_number(reader *r) {
    uint64_t number = 0;
    const void *bytes = read_bytes(r, sizeof number);
    if (bytes) memcpy(&number, bytes, sizeof number);
    return number;
}

/* A copy of the next block with a zero behind it, NULL where memory is out or the bytes are. */
static void *take_block(reader *r, size_t *size) {
    uint64_t n = take_number(r);
    const void *bytes = n <= r->left ? read_bytes(r, (size_t)n) : read_bytes(r, SIZE_MAX);
    char *copy = bytes ? malloc((size_t)n + 1) : NULL;
    if (!copy) return NULL;
    memcpy(copy, bytes, (size_t)n);
    copy[n] = 0;
    *size = (size_t)n;
    return copy;
}

/* Fills an archive of at most `limit` points; false when memory is out. */
static bool take_shelf(reader *r, size_t limit, sx_archive *archive) {
    uint64_t n = take_number(r);
    if (n > limit || n > r->left / (sizeof *archive->kept + archive->point_size)) r->damaged = true;
    if (r->damaged) return true;
    if (!sx_archive_reserve(archive, (size_t)n)) return false;
    for (size_t i = 0; i < n; i++) {
        memcpy(&archive->kept[i], read_bytes(r, sizeof *archive->kept), sizeof *archive->kept);
        archive->kept[i].slot = i;
        memcpy(archive->points + i * archive->point_size, read_bytes(r, archive->point_size),
               archive->point_size);
    }
    archive->n = (size_t)n;
    return true;
}

/* Whether counts are such as a run may have. */
static bool counts_hold(const sx_run *run, const counters *c) {
    const uint64_t most = run->options.evaluations ? run->options.evaluations : UINT64_MAX / 4;
    return c->evaluations <= most && c->improved <= c->evaluations && c->drawn <= c->improved &&
           c->valid <= c->evaluations && c->cache_hits <= c->evaluations && c->rejected <= UINT64_MAX / 4 &&
           c->seconds >= 0 && c->seconds < 1e15 && c->lower_bound >= 0 && isfinite(c->lower_bound) &&
           c->optimal <= 1;
}

/* Whether points are of the space and cost what is said of them. */
static sx_status check_shelf(const sx_run *run, const sx_archive *archive, sx_scorer *scorer) {
    for (size_t i = 0; i < archive->n; i++) {
        const sx_archived *kept = &archive->kept[i];
        const void *point = sx_archive_point(archive, i);
        sx_outcome is;
        if (!sx_run_holds(run, point, 1) || run->space->type->check(run->space, point) != 0)
            return sx_checkpoint_damaged("run");
        SX_TRY(sx_scorer_score(scorer, point, 1, INFINITY, &is));
        if (is.reason || memcmp(&is.metrics, &kept->metrics, sizeof is.metrics) != 0 ||
            is.value != kept->value || kept->evaluation < 1 || kept->evaluation > run->evaluations)
            return sx_checkpoint_damaged("run");
    }
    return SX_OK;
}

/* Whether the best and the front are in order. */
static bool shelves_are_sorted(const sx_run *run) {
    const sx_archived *best = run->best.kept, *front = run->front.kept;
    const uint8_t x = run->goal.front[0], y = run->goal.front[1];
    for (size_t i = 1; i < run->best.n; i++)
        if (sx_goal_compare(&run->goal, &best[i].metrics, &best[i - 1].metrics) < 0) return false;
    for (size_t i = 1; i < run->front.n; i++)
        if (!(front[i].metrics.value[x] > front[i - 1].metrics.value[x]) ||
            !(front[i].metrics.value[y] < front[i - 1].metrics.value[y]))
            return false;
    return true;
}

/* Whether the trace leads to the best. */
static bool trace_holds(const sx_run *run) {
    const sx_trace_point *line = run->trace;
    for (size_t i = 0; i < run->n_trace; i++)
        if (!isfinite(line[i].value) || !(line[i].seconds >= 0 && line[i].seconds < 1e15) ||
            line[i].evaluations > run->evaluations ||
            (i > 0 && line[i].evaluations <= line[i - 1].evaluations))
            return false;
    if (run->best.n == 0 || run->n_trace == 0) return run->best.n == 0 && run->n_trace == 0 && !run->optimal;
    line += run->n_trace - 1;
    return line->value == run->best.kept[0].value && line->evaluations == run->best.kept[0].evaluation &&
           run->improved == line->evaluations && run->valid > 0;
}

/* Checks all that was read. */
static sx_status check_run(const sx_run *run) {
    sx_scorer scorer;
    SX_TRY(sx_scorer_init(&scorer, run->space, run->model, &run->goal));
    sx_status status = check_shelf(run, &run->best, &scorer);
    if (!status) status = check_shelf(run, &run->front, &scorer);
    sx_scorer_fini(&scorer);
    if (!status && !(shelves_are_sorted(run) && trace_holds(run))) status = sx_checkpoint_damaged("run");
    return status;
}

/* Reads what is kept of a navigator that is called again and again; false when memory is out. */
static bool take_called(reader *r, const sx_run *run, sx_resumable_call *c) {
    c->used = take_number(r);
    c->from = take_number(r);
    c->name = take_number(r);
    c->seen = take_number(r);
    c->ended = take_number(r) != 0;
    if (c->used > run->evaluations || c->from > run->evaluations) r->damaged = true;
    c->state = take_block(r, &c->size);
    if (!c->state) return r->damaged;
    if (c->size > 0) return true;
    free(c->state);
    c->state = NULL;
    return true;
}

/* Reads all after the identity into the run; false when memory is out. */
static bool take_run(reader *r, sx_run *run) {
    counters c;
    size_t size = 0;
    if (take_number(r) != sizeof c) r->damaged = true;
    const void *bytes = read_bytes(r, sizeof c);
    if (!bytes) return true;
    memcpy(&c, bytes, sizeof c);
    if (!counts_hold(run, &c)) {
        r->damaged = true;
        return true;
    }
    run->evaluations = c.evaluations;
    run->valid = c.valid;
    run->rejected = c.rejected;
    run->cache_hits = c.cache_hits;
    run->improved = c.improved;
    run->drawn = c.drawn;
    run->began -= c.seconds;
    run->lower_bound = c.lower_bound;
    run->optimal = c.optimal != 0;
    if (!take_shelf(r, run->options.k_best, &run->best)) return false;
    if (!take_shelf(r, run->options.pareto ? SIZE_MAX : 0, &run->front)) return false;
    if (!(run->trace = take_block(r, &size))) return r->damaged;
    run->n_trace = run->trace_room = size / sizeof *run->trace;
    if (size % sizeof *run->trace) r->damaged = true;
    for (size_t i = 0; i < run->n_trace; i++)
        run->cutoff = fmin(run->cutoff, sx_worker_pool_cutoff(&run->options.objective, run->trace[i].value));
    uint64_t n = take_number(r);
    if (n < 1 || n > SX_MAX_DEPTH) r->damaged = true;
    for (uint64_t i = 0; i < n && !r->damaged; i++)
        if (!(run->frame[i].saved = take_block(r, &run->frame[i].saved_size))) return r->damaged;
    for (int i = 0; i < SX_MAX_CALLED; i++)
        if (!take_called(r, run, &run->called[i])) return false;
    return true;
}

sx_status sx_checkpoint_damaged(const char *where) {
    return sx_error_hint(
        sx_error_new(SX_ERR_INPUT, "the checkpoint is damaged: the %s state is not valid", where),
        "remove it to start over");
}

/* Reads the state of a run; what is read stays there also after an error. */
static sx_status read_run(sx_run *run, const void *bytes, size_t size) {
    reader r = {bytes, size, false};
    uint64_t hash = 0;
    const uint64_t mark = take_number(&r);
    if (size < 2 * sizeof hash || (mark ^ MARK) << (64 - FORMAT_SHIFT) != 0)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "not a checkpoint of a run"),
                             "remove it to start over");
    if (mark != MARK)
        return sx_error_hint(
            sx_error_new(SX_ERR_INPUT,
                         "the state of the run was written in format %d; this program reads format %d",
                         (int)(mark >> FORMAT_SHIFT) - '0', FORMAT),
            "remove it to start over");
    r.left -= sizeof hash;
    memcpy(&hash, (const unsigned char *)bytes + size - sizeof hash, sizeof hash);
    r.damaged = hash != sx_hash_bytes(bytes, size - sizeof hash, MARK);
    size_t length = 0;
    char *there = take_block(&r, &length);
    sx_status status = there || r.damaged ? SX_OK : sx_error_memory();
    if (there && strcmp(there, run->identity) != 0)
        status = other_run(there, run->identity);
    else if (there && !take_run(&r, run))
        status = sx_error_memory();
    if (!status && (r.damaged || r.left != 0)) status = sx_checkpoint_damaged("run");
    if (!status) status = check_run(run);
    free(there);
    return status;
}

sx_status sx_checkpoint_read(sx_run *run, const void *bytes, size_t size) {
    sx_status status = read_run(run, bytes, size);
    if (!status) return SX_OK;
    run->best.n = run->front.n = run->n_trace = 0;
    run->evaluations = run->valid = run->rejected = run->cache_hits = run->improved = run->drawn = 0;
    run->lower_bound = 0;
    run->optimal = false;
    return status;
}
