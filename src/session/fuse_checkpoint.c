#include "session/fuse_checkpoint.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/text.h"
#include "sextant/all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const size_t FILE_LIMIT = (size_t)1 << 32;
static const char mark[] = "sextant fused checkpoint 2\n";

/* What a search is of: the problem by two hashes, since it is large. */
typedef struct memo_key {
    uint64_t problem[2];
    sx_cut cut;
    uint64_t effort;
} memo_key;

/* A record as it is in the file, before the text of its proof. */
typedef struct memo_record {
    memo_key key;
    sx_score score;
    double bound;
    uint64_t used, used_second, found, proof_size;
    sx_mapping mapping;
    char *proof;
} memo_record;

/* The first bytes of the file. */
typedef struct memo_head {
    char mark[sizeof mark];
    uint64_t identity, hash, n; /* of the search; of all bytes after the head; records */
} memo_head;

struct sx_fuse_memo {
    const sx_session_options *options;
    char *path;
    uint64_t identity;
    sx_vector records;
    sx_hash_table index;
    double saved; /* sx_clock_seconds */
    bool changed, warned;
};

/* A hash of all that answers depend on beside their keys. */
static sx_status hash_search(const sx_network *network, const sx_arch *arch, const sx_session_options *o,
                             uint64_t *out) {
    char objective[256];
    const bool flags[] = {o->space.keep_all,          o->space.no_banks,     o->space.split_axes,
                          o->space.remainders,        o->model.latency_tile, o->model.no_first_read_elision,
                          o->model.no_link_transfers, o->run.proof};
    sx_constraints *limits = malloc(sizeof *limits);
    sx_status status = limits ? SX_OK : sx_error_memory();
    sx_objective_text(&o->run.objective, objective, sizeof objective);
    uint64_t hash = sx_hash_bytes(sx_version(), strlen(sx_version()), sizeof(memo_record));
    hash = sx_hash_bytes(arch, sizeof *arch, sx_hash_bytes(flags, sizeof flags, hash));
    hash = sx_hash_bytes(objective, strlen(objective), sx_hash_bytes(o->mapper, strlen(o->mapper), hash));
    hash = sx_hash_bytes(&o->run.seed, sizeof o->run.seed, hash);
    for (size_t i = 0; i < network->n_layers && o->constraints && !status; i++) {
        const sx_problem *problem = &network->layer[i].problem;
        sx_constraints_init(limits, problem, arch);
        status = o->constraints(o->user, problem, arch, limits);
        hash = sx_hash_bytes(limits, sizeof *limits, hash);
    }
    free(limits);
    *out = hash;
    return status;
}

static memo_key key_of(const sx_problem *problem, const sx_cut *cut, sx_inner_effort effort) {
    return (memo_key){
        {sx_hash_bytes(problem, sizeof *problem, 0), sx_hash_bytes(problem, sizeof *problem, 1)},
        *cut,
        (uint64_t)effort};
}

/* The record of a key; NULL: none. */
static const memo_record *find_record(const sx_fuse_memo *memo, const memo_key *key) {
    const sx_hash_keys keys = {memo->records.data, sizeof(memo_record), sizeof *key};
    const uint32_t at = sx_hash_table_find(&memo->index, keys, key, sx_hash_bytes(key, sizeof *key, 0));
    return at == SX_HASH_NONE ? NULL : sx_vector_at(&memo->records, at);
}

/* Adds a record, whose proof is the memo's from then on. */
static sx_status add_record(sx_fuse_memo *memo, const memo_record *record) {
    memo_record *item = sx_vector_add(&memo->records);
    if (!item) return sx_error_memory();
    *item = *record;
    const sx_hash_keys keys = {memo->records.data, sizeof *item, sizeof item->key};
    if (sx_hash_table_put(&memo->index, keys, &item->key, sx_hash_bytes(&item->key, sizeof item->key, 0),
                          (uint32_t)(memo->records.n - 1)) == SX_HASH_NONE)
        return sx_error_memory();
    return SX_OK;
}

static sx_status refuse_checkpoint(const sx_fuse_memo *memo, const char *what) {
    return sx_error_hint(sx_error_new(SX_ERR_INPUT, "the checkpoint '%s' %s", memo->path, what),
                         "use another file, or remove this one to start over");
}

/* Reads the records of a file. */
static sx_status read_records(sx_fuse_memo *memo, const char *at, size_t left, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        memo_record record;
        if (left < sizeof record) return refuse_checkpoint(memo, "is damaged");
        memcpy(&record, at, sizeof record);
        at += sizeof record;
        left -= sizeof record;
        if (record.proof_size > left) return refuse_checkpoint(memo, "is damaged");
        record.proof = record.proof_size ? strndup(at, record.proof_size) : NULL;
        if (record.proof_size && !record.proof) return sx_error_memory();
        at += record.proof_size;
        left -= record.proof_size;
        sx_status status = add_record(memo, &record);
        if (status) free(record.proof);
        SX_TRY(status);
    }
    return left ? refuse_checkpoint(memo, "is damaged") : SX_OK;
}

/* Reads the file, where it exists. */
static sx_status read_memo(sx_fuse_memo *memo) {
    struct stat info;
    char *bytes;
    size_t size;
    memo_head head;
    if (stat(memo->path, &info) != 0 && errno == ENOENT) return SX_OK;
    SX_TRY(sx_file_read_regular(memo->path, FILE_LIMIT, &bytes, &size));
    sx_status status = SX_OK;
    if (size >= sizeof head) memcpy(&head, bytes, sizeof head);
    if (size < sizeof head || memcmp(head.mark, mark, sizeof mark) != 0)
        status = refuse_checkpoint(memo, "is not a checkpoint of a fused network");
    else if (sx_hash_bytes(bytes + sizeof head, size - sizeof head, 0) != head.hash)
        status = refuse_checkpoint(memo, "is damaged");
    else if (head.identity != memo->identity)
        status = refuse_checkpoint(memo, "belongs to another search");
    else
        status = read_records(memo, bytes + sizeof head, size - sizeof head, head.n);
    free(bytes);
    return status;
}

sx_status sx_fuse_memo_open(const sx_network *network, const sx_arch *arch, const sx_session_options *options,
                            sx_fuse_memo **out) {
    *out = NULL;
    if (!options->checkpoint) return SX_OK;
    const size_t size = strlen(options->checkpoint) + sizeof SX_FUSE_CHECKPOINT_SUFFIX;
    sx_fuse_memo *memo = calloc(1, sizeof *memo);
    if (!memo) return sx_error_memory();
    memo->options = options;
    memo->records.size = sizeof(memo_record);
    memo->saved = sx_clock_seconds();
    memo->path = malloc(size);
    sx_status status = memo->path ? SX_OK : sx_error_memory();
    if (!status) snprintf(memo->path, size, "%s%s", options->checkpoint, SX_FUSE_CHECKPOINT_SUFFIX);
    if (!status) status = hash_search(network, arch, options, &memo->identity);
    if (!status) status = read_memo(memo);
    if (status)
        sx_fuse_memo_free(memo);
    else
        *out = memo;
    return status;
}

void sx_fuse_memo_free(sx_fuse_memo *memo) {
    if (!memo) return;
    for (size_t i = 0; i < memo->records.n; i++)
        free(((memo_record *)sx_vector_at(&memo->records, i))->proof);
    sx_vector_clear(&memo->records);
    sx_hash_table_clear(&memo->index);
    free(memo->path);
    free(memo);
}

bool sx_fuse_memo_find(const sx_fuse_memo *memo, const sx_problem *problem, const sx_cut *cut,
                       sx_inner_effort effort, sx_inner_answer *out) {
    const memo_key key = key_of(problem, cut, effort);
    const memo_record *record = find_record(memo, &key);
    if (!record) return false;
    char *proof = record->proof ? strndup(record->proof, record->proof_size) : NULL;
    if (record->proof && !proof) return false;
    *out = (sx_inner_answer){.found = record->found,
                             .score = record->score,
                             .bound = record->bound,
                             .used = record->used,
                             .used_second = record->used_second,
                             .mapping = record->mapping,
                             .proof = proof};
    return true;
}

sx_status sx_fuse_memo_add(sx_fuse_memo *memo, const sx_problem *problem, const sx_cut *cut,
                           sx_inner_effort effort, const sx_inner_answer *answer) {
    memo_record record;
    memset(&record, 0, sizeof record);
    record.key = key_of(problem, cut, effort);
    record.score = answer->score;
    record.bound = answer->bound;
    record.used = answer->used;
    record.used_second = answer->used_second;
    record.found = answer->found;
    if (answer->found) record.mapping = answer->mapping;
    if (answer->proof) {
        record.proof_size = strlen(answer->proof);
        record.proof = strndup(answer->proof, record.proof_size);
        if (!record.proof) return sx_error_memory();
    }
    sx_status status = add_record(memo, &record);
    if (status) free(record.proof);
    SX_TRY(status);
    memo->changed = true;
    if (sx_clock_seconds() - memo->saved < memo->options->run.checkpoint_seconds) return SX_OK;
    return sx_fuse_memo_save(memo);
}

/* The bytes of all records. */
static void add_bytes(const sx_fuse_memo *memo, sx_text *out) {
    for (size_t i = 0; i < memo->records.n; i++) {
        memo_record record = *(const memo_record *)sx_vector_at(&memo->records, i);
        const char *proof = record.proof;
        record.proof = NULL;
        sx_text_add_bytes(out, (const char *)&record, sizeof record);
        if (proof) sx_text_add_bytes(out, proof, record.proof_size);
    }
}

sx_status sx_fuse_memo_save(sx_fuse_memo *memo) {
    sx_text body = {0}, file = {0};
    memo_head head;
    if (!memo->changed) return SX_OK;
    memset(&head, 0, sizeof head);
    add_bytes(memo, &body);
    memcpy(head.mark, mark, sizeof mark);
    head.identity = memo->identity;
    head.hash = body.failed ? 0 : sx_hash_bytes(body.data ? body.data : "", body.size, 0);
    head.n = memo->records.n;
    sx_text_add_bytes(&file, (const char *)&head, sizeof head);
    if (!body.failed) sx_text_add_bytes(&file, body.data, body.size);
    sx_status status =
        body.failed || file.failed ? sx_error_memory() : sx_file_write(memo->path, file.data, file.size);
    sx_text_free(&body);
    sx_text_free(&file);
    memo->saved = sx_clock_seconds();
    memo->changed = status != NULL;
    if (!status || status->code != SX_ERR_WRITE) return status;
    if (memo->options->warn && !memo->warned) memo->options->warn(memo->options->user, status);
    memo->warned = true;
    sx_status_free(status);
    return SX_OK;
}
