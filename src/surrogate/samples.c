/* Making data sets. One job is the mappings of one problem: the problem comes from the stream of its number,
 * every mapping from the stream of its own. A shard is written whole or not at all, so that a full disk or a
 * kill costs no more than the shard in the making. Reading is by mapping the files into memory: a data set
 * may be larger than it. */
#include "surrogate/samples.h"

#include "base/cancel.h"
#include "base/hash.h"
#include "base/pool.h"
#include "base/ranks.h"
#include "base/text.h"
#include "mapspace/map_space.h"
#include "model/model.h"
#include "surrogate/shard.h"
#include "surrogate/surrogate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PROBLEM_TRIES = 16 }; /* problems that are drawn to find one with a legal mapping */

typedef struct shard {
    float *row;
    sx_shard_map map; /* where the rows are those of a file */
} shard;

struct sx_samples {
    sx_samples_options options;
    sx_encoding encoding;
    size_t width; /* numbers of a row */
    uint64_t key;
    size_t n_shards, n_whole;
    shard *shard;
};

/* The shard in the making. */
typedef struct making {
    sx_samples *samples;
    uint64_t first, n; /* problems */
    sx_pool *pool;
    float *row;
    sx_status *status; /* of every problem */
} making;

/* Makes the model and the space of a problem of a family. */
static sx_status make_space(const sx_samples_options *options, const sx_problem *problem, sx_model **model,
                            sx_space **space) {
    sx_model *m;
    SX_TRY(sx_model_new(problem, options->arch, &options->model, &m));
    sx_status status = sx_map_space_new(m, NULL, &options->space, space);
    if (status)
        sx_model_free(m);
    else
        *model = m;
    return status;
}

/* A problem with all that its samples need. */
typedef struct drawn {
    sx_problem problem;
    sx_model *model;
    sx_space *space;
    sx_model_workspace *workspace;
    void *point;
    sx_score minimum;
    sx_cost cost;
} drawn;

static void drawn_free(drawn *d) {
    sx_model_workspace_free(d->workspace);
    sx_space_free(d->space);
    sx_model_free(d->model);
    free(d->point);
    *d = (drawn){0};
}

/* Makes the space of a problem and sees whether it has a legal mapping. */
static sx_status try_problem(const sx_samples *samples, drawn *d, sx_rng *rng, bool *legal) {
    SX_TRY(make_space(&samples->options, &d->problem, &d->model, &d->space));
    SX_TRY(sx_model_workspace_new(d->model, &d->workspace));
    d->point = malloc(sx_space_point_size(d->space));
    if (!d->point) return sx_error_memory();
    d->minimum = sx_model_algorithmic_minimum(d->model);
    sx_guard_watch(d->model->guard, samples->options.cancel, 0);
    *legal = sx_space_draw_legal(d->space, rng, d->point, NULL);
    return sx_space_unfinished_status(d->space);
}

/* Draws problem number `index`: the first of a few that has a legal mapping. */
static sx_status draw_problem(const sx_samples *samples, uint64_t index, drawn *d) {
    const sx_samples_options *o = &samples->options;
    sx_rng rng = sx_rng_stream(o->seed, o->stream, index);
    bool legal = false;
    for (int i = 0; i < PROBLEM_TRIES; i++) {
        drawn_free(d);
        sx_family_draw(o->family, &rng, &d->problem);
        SX_TRY(try_problem(samples, d, &rng, &legal));
        if (legal || sx_space_unfinished(d->space)) return SX_OK;
    }
    char *text;
    SX_TRY(sx_einsum_text(&d->problem, &text));
    sx_status error = sx_error_new(SX_ERR_INPUT, "%d problems of the family '%s' have no legal mapping on %s",
                                   PROBLEM_TRIES, o->family->name, o->arch->name);
    error = sx_error_hint(error, "the last was %s; smaller sizes may have one", text);
    free(text);
    return error;
}

/* Makes the samples of a problem. */
static sx_status sample_problem(const sx_samples *samples, uint64_t index, drawn *d, float *row) {
    const sx_samples_options *o = &samples->options;
    const sx_encoding *e = &samples->encoding;
    double values[SX_MAX_INPUTS > SX_MAX_OUTPUTS ? SX_MAX_INPUTS : SX_MAX_OUTPUTS];
    SX_TRY(draw_problem(samples, index, d));
    for (uint64_t i = 0; i < o->per_problem; i++) {
        sx_rng rng = sx_rng_stream(o->seed ^ sx_hash_bytes(o->stream, strlen(o->stream), 0), "mapping",
                                   index * o->per_problem + i);
        bool legal = sx_space_draw_legal(d->space, &rng, d->point, NULL);
        SX_TRY(sx_space_unfinished_status(d->space));
        if (sx_space_unfinished(d->space)) return SX_OK; /* cancelled: the shard is not kept */
        sx_verdict verdict = {0};
        if (legal) verdict = sx_evaluate(d->workspace, sx_map_point(d->point), &d->cost);
        SX_TRY(sx_verdict_status(&verdict, &d->problem, o->arch));
        if (!legal || verdict.reason != SX_LEGAL)
            return sx_error_new(SX_ERR_INTERNAL, "a sampled mapping is not legal");
        sx_encode_point(sx_map_space_of(d->space), d->point, values);
        for (size_t v = 0; v < e->n_inputs; v++) *row++ = (float)values[v];
        sx_encode_cost(e, &d->cost, &d->minimum, values);
        for (size_t v = 0; v < e->n_outputs; v++) *row++ = (float)values[v];
    }
    return SX_OK;
}

/* One job: the samples of one problem of the shard. */
static void make_problem(void *user, size_t index, unsigned worker) {
    making *m = user;
    const sx_samples *samples = m->samples;
    (void)worker;
    if (sx_is_cancelled(samples->options.cancel)) return;
    drawn *d = calloc(1, sizeof *d);
    if (!d) {
        m->status[index] = sx_error_memory();
        return;
    }
    float *row = m->row + index * samples->options.per_problem * samples->width;
    m->status[index] = sample_problem(samples, m->first + index, d, row);
    drawn_free(d);
    free(d);
}

/* The first failure of n, the others freed. */
static sx_status first_of(sx_status *status, uint64_t n) {
    sx_status first = SX_OK;
    for (uint64_t i = 0; i < n; i++) {
        if (first)
            sx_status_free(status[i]);
        else
            first = status[i];
    }
    return first;
}

/* The bytes of the rows of n problems. */
static size_t row_bytes(const making *m, size_t n) {
    return n * m->samples->options.per_problem * m->samples->width * sizeof *m->row;
}

/* Fills the rows of problems, which it makes room for. */
static sx_status fill_rows(making *m) {
    m->row = malloc(row_bytes(m, m->n));
    m->status = calloc(m->n, sizeof *m->status);
    sx_status status = m->row && m->status ? SX_OK : sx_error_memory();
    if (!status) {
        sx_pool_run(m->pool, m->n, make_problem, NULL, m);
        status = first_of(m->status, m->n);
    }
    free(m->status);
    return status;
}

/* Makes the rows of some problems of a shard that processes divide. */
static sx_status make_some(void *user, size_t first, size_t n, sx_text *out) {
    making some = *(const making *)user;
    some.first += first;
    some.n = n;
    sx_status status = fill_rows(&some);
    if (!status) sx_text_add_bytes(out, (const char *)some.row, row_bytes(&some, n));
    free(some.row);
    return status;
}

/* Takes them. */
static sx_status take_some(void *user, size_t first, size_t n, const char *bytes, size_t size) {
    const making *m = user;
    if (size != row_bytes(m, n)) return sx_error_new(SX_ERR_INTERNAL, "the message of samples is damaged");
    memcpy((char *)m->row + row_bytes(m, first), bytes, size);
    return SX_OK;
}

/* Fills the rows of a shard, divided among processes. */
static sx_status share_rows(making *m) {
    const sx_samples_options *o = &m->samples->options;
    const sx_shared work = {.n = m->n,
                            .grouped = true,
                            .mark = m->first,
                            .cancel = o->cancel,
                            .user = m,
                            .make = make_some,
                            .take = take_some};
    m->row = malloc(row_bytes(m, m->n));
    return m->row ? sx_ranks_share(o->ranks, &work, NULL) : sx_error_memory();
}

/* Fills the rows of a shard; *whole is false where that was cancelled. */
static sx_status make_rows(making *m, bool *whole) {
    const sx_samples_options *o = &m->samples->options;
    sx_status status = sx_ranks_active(o->ranks) ? share_rows(m) : fill_rows(m);
    *whole = !status && !sx_is_cancelled(o->cancel);
    return status;
}

/* Where a shard lies. */
static sx_status shard_path(const sx_samples *samples, size_t index, char **out) {
    sx_text text = {0};
    sx_text_add(&text, "%s/%s-%05zu.shard", samples->options.folder, samples->options.stream, index);
    return sx_text_take(&text, out);
}

/* Takes a shard from its file; not there: *found is false. */
static sx_status take_shard(sx_samples *samples, size_t index, const sx_shard_head *head, bool *found) {
    char *path;
    *found = false;
    if (!samples->options.folder) return SX_OK;
    SX_TRY(shard_path(samples, index, &path));
    sx_status status = sx_shard_read(path, head, &samples->shard[index].map, found);
    if (*found) samples->shard[index].row = samples->shard[index].map.row;
    free(path);
    return status;
}

/* Writes a shard and takes it from there. */
static sx_status write_shard(sx_samples *samples, size_t index, const sx_shard_head *head, float *row) {
    char *path;
    bool found;
    SX_TRY(shard_path(samples, index, &path));
    sx_status status = sx_shard_write(path, head, row);
    free(path);
    if (status)
        return sx_error_hint(status, "%zu of %zu shards are complete; the same command continues from there",
                             index, samples->n_shards);
    SX_TRY(take_shard(samples, index, head, &found));
    if (!found) return sx_error_new(SX_ERR_FILE, "a shard that was just written is gone");
    return SX_OK;
}

/* Takes a shard from its file in process 0, and tells all processes whether it is there. */
static sx_status look_for_shard(sx_samples *samples, size_t index, const sx_shard_head *head, bool *found) {
    sx_ranks *ranks = samples->options.ranks;
    char *bytes = NULL;
    size_t size = 0;
    *found = false;
    if (!sx_ranks_follows(ranks)) SX_TRY(take_shard(samples, index, head, found));
    if (!sx_ranks_active(ranks)) return SX_OK;
    if (*found) bytes = calloc(++size, 1);
    if (*found && !bytes) return sx_error_memory();
    sx_status status = sx_ranks_tell(ranks, &bytes, &size);
    *found = size > 0;
    free(bytes);
    return status;
}

/* Makes or takes shard number `index`; *whole is false where that was cancelled. Only process 0 has its rows. */
static sx_status add_shard(sx_samples *samples, sx_pool *pool, size_t index, bool *whole) {
    const sx_samples_options *o = &samples->options;
    making m = {.samples = samples, .first = index * SX_SHARD_PROBLEMS, .n = SX_SHARD_PROBLEMS, .pool = pool};
    if (m.first + m.n > o->n_problems) m.n = o->n_problems - m.first;
    sx_shard_head head = {.key = samples->key, .n_rows = m.n * o->per_problem, .width = samples->width};
    SX_TRY(look_for_shard(samples, index, &head, whole));
    if (*whole) return SX_OK;
    sx_status status = make_rows(&m, whole);
    if (!status && *whole && o->folder && !sx_ranks_follows(o->ranks)) {
        status = write_shard(samples, index, &head, m.row);
    } else if (!status && *whole && !o->folder) {
        samples->shard[index].row = m.row;
        return SX_OK;
    }
    free(m.row);
    return status;
}

/* What tells one data set from another. */
static sx_status key_of(sx_samples *samples) {
    const sx_samples_options *o = &samples->options;
    char *family;
    uint64_t arch;
    SX_TRY(sx_arch_hash(o->arch, &arch));
    SX_TRY(sx_family_text(o->family, &family));
    uint64_t numbers[] = {
        SX_ENCODING_VERSION, arch, o->seed, o->per_problem,
        (uint64_t)o->space.remainders | (uint64_t)o->space.keep_all << 1 | (uint64_t)o->space.no_banks << 2 |
            (uint64_t)o->model.no_first_read_elision << 3 | (uint64_t)o->model.no_link_transfers << 4};
    uint64_t key = sx_hash_bytes(numbers, sizeof numbers, 0);
    key = sx_hash_bytes(o->stream, strlen(o->stream), key);
    samples->key = sx_hash_bytes(family, strlen(family), key);
    free(family);
    return SX_OK;
}

/* Learns the encoding from the space of the first problem. */
static sx_status learn_encoding(sx_samples *samples) {
    drawn *d = calloc(1, sizeof *d);
    if (!d) return sx_error_memory();
    sx_status status = draw_problem(samples, 0, d);
    if (!status) {
        sx_encoding_of(sx_map_space_of(d->space), &samples->encoding);
        samples->width = samples->encoding.n_inputs + samples->encoding.n_outputs;
    }
    drawn_free(d);
    free(d);
    return status;
}

/* Makes ready: encoding, key, folder. */
static sx_status prepare_samples(sx_samples *samples) {
    const sx_samples_options *o = &samples->options;
    SX_TRY(learn_encoding(samples));
    SX_TRY(key_of(samples));
    samples->n_shards = (size_t)((o->n_problems + SX_SHARD_PROBLEMS - 1) / SX_SHARD_PROBLEMS);
    samples->shard = calloc(samples->n_shards, sizeof *samples->shard);
    if (!samples->shard) return sx_error_memory();
    if (o->folder && !sx_ranks_follows(o->ranks) && mkdir(o->folder, 0777) != 0 && errno != EEXIST)
        return sx_error_system(SX_ERR_FILE, "cannot create the folder '%s'", o->folder);
    return SX_OK;
}

/* Makes all shards, until it is cancelled. */
static sx_status make_shards(sx_samples *samples) {
    const sx_samples_options *o = &samples->options;
    sx_pool *pool;
    bool whole = true;
    SX_TRY(sx_pool_new(o->threads ? o->threads : 1, &pool));
    sx_status status = SX_OK;
    while (!status && whole && samples->n_whole < samples->n_shards && !sx_is_cancelled(o->cancel)) {
        status = add_shard(samples, pool, samples->n_whole, &whole);
        samples->n_whole += !status && whole;
        if (!status && o->progress) o->progress(o->user, sx_samples_count(samples));
    }
    sx_pool_free(pool);
    return status;
}

sx_status sx_samples_new(const sx_samples_options *options, sx_samples **out) {
    sx_samples *samples = calloc(1, sizeof *samples);
    if (!samples) return sx_error_memory();
    samples->options = *options;
    sx_status status = prepare_samples(samples);
    if (!status) status = make_shards(samples);
    if (status)
        sx_samples_free(samples);
    else
        *out = samples;
    return status;
}

void sx_samples_free(sx_samples *samples) {
    if (!samples) return;
    for (size_t i = 0; samples->shard && i < samples->n_shards; i++) {
        if (samples->options.folder)
            sx_shard_unmap(&samples->shard[i].map);
        else
            free(samples->shard[i].row);
    }
    free(samples->shard);
    free(samples);
}

uint64_t sx_samples_count(const sx_samples *samples) {
    uint64_t problems = (uint64_t)samples->n_whole * SX_SHARD_PROBLEMS;
    if (problems > samples->options.n_problems) problems = samples->options.n_problems;
    return problems * samples->options.per_problem;
}

bool sx_samples_complete(const sx_samples *samples) {
    return samples->n_whole == samples->n_shards;
}

const sx_encoding *sx_samples_encoding(const sx_samples *samples) {
    return &samples->encoding;
}

const float *sx_samples_row(const sx_samples *samples, uint64_t index) {
    uint64_t rows = (uint64_t)SX_SHARD_PROBLEMS * samples->options.per_problem;
    return samples->shard[index / rows].row + (index % rows) * samples->width;
}
