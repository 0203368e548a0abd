#include "session/fuse_checkpoint.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/saved_state.h"
#include "base/status.h"
#include "base/text.h"
#include "session/session.h"
#include "sextant/all.h"

#include <stdlib.h>
#include <string.h>

/* What a search is of: the problem by two hashes, since it is large. */
typedef struct memo_key {
    uint64_t problem[2];
    sx_cut cut;
    uint32_t effort;
    int16_t exchange, second;
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

struct sx_fuse_memo {
    const sx_session_options *options;
    sx_text layers,
        identity; /* of the checkpoint: its body without this part, and whose it is; empty: it cannot be written */
    sx_vector records;
    sx_hash_table index;
    double saved; /* sx_clock_seconds */
    bool changed, warned;
};

static memo_key key_of(const sx_problem *problem, const sx_fuse_at *at, sx_inner_effort effort) {
    return (memo_key){
        {sx_hash_bytes(problem, sizeof *problem, 0), sx_hash_bytes(problem, sizeof *problem, 1)},
        *at->cut,
        (uint32_t)effort,
        (int16_t)at->exchange,
        (int16_t)at->second};
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

static sx_status refuse_damaged(const sx_fuse_memo *memo) {
    return sx_state_refuse(memo->options->checkpoint, "is damaged");
}

/* Reads the records of a file. */
static sx_status read_records(sx_fuse_memo *memo, const char *at, size_t left) {
    while (left) {
        memo_record record;
        if (left < sizeof record) return refuse_damaged(memo);
        memcpy(&record, at, sizeof record);
        at += sizeof record;
        left -= sizeof record;
        if (record.proof_size > left) return refuse_damaged(memo);
        record.proof = record.proof_size ? strndup(at, record.proof_size) : NULL;
        if (record.proof_size && !record.proof) return sx_error_memory();
        at += record.proof_size;
        left -= record.proof_size;
        sx_status status = add_record(memo, &record);
        if (status) free(record.proof);
        SX_TRY(status);
    }
    return SX_OK;
}

/* Reads the checkpoint of the layers, whose search has found it to be its own. */
static sx_status read_memo(sx_fuse_memo *memo) {
    const char *path = memo->options->checkpoint;
    char *bytes;
    size_t size, own;
    sx_saved_state saved;
    SX_TRY(sx_state_load(&sx_session_state, path, &bytes, &size));
    if (!bytes) return SX_OK;
    sx_status status = sx_state_parse(&sx_session_state, path, bytes, size, &saved);
    if (!status && !sx_session_split_fused(&saved, &own)) status = refuse_damaged(memo);
    if (!status) {
        sx_text_add_bytes(&memo->identity, saved.identity, saved.identity_size);
        sx_text_add_bytes(&memo->layers, saved.body, saved.size);
        status = memo->identity.failed || memo->layers.failed
                     ? sx_error_memory()
                     : read_records(memo, saved.body + saved.size, own);
    }
    free(bytes);
    return status;
}

sx_status sx_fuse_memo_open(const sx_session_options *options, sx_fuse_memo **out) {
    *out = NULL;
    if (!options->checkpoint) return SX_OK;
    sx_fuse_memo *memo = calloc(1, sizeof *memo);
    if (!memo) return sx_error_memory();
    memo->options = options;
    memo->records.size = sizeof(memo_record);
    memo->saved = sx_clock_seconds();
    sx_status status = read_memo(memo);
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
    sx_text_free(&memo->layers);
    sx_text_free(&memo->identity);
    free(memo);
}

bool sx_fuse_memo_find(const sx_fuse_memo *memo, const sx_problem *problem, const sx_fuse_at *at,
                       sx_inner_effort effort, sx_inner_answer *out) {
    const memo_key key = key_of(problem, at, effort);
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

sx_status sx_fuse_memo_add(sx_fuse_memo *memo, const sx_problem *problem, const sx_fuse_at *at,
                           sx_inner_effort effort, const sx_inner_answer *answer) {
    memo_record record;
    memset(&record, 0, sizeof record);
    record.key = key_of(problem, at, effort);
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
    sx_text own = {0}, body = {0};
    if (!memo->changed || !memo->layers.size) return SX_OK;
    add_bytes(memo, &own);
    sx_text_add_bytes(&body, memo->layers.data, memo->layers.size);
    if (!own.failed) sx_session_add_fused(own.data, own.size, &body);
    sx_status status = own.failed || body.failed
                           ? sx_error_memory()
                           : sx_state_write(&sx_session_state, memo->options->checkpoint, memo->identity.data,
                                            memo->identity.size, body.data, body.size);
    sx_text_free(&own);
    sx_text_free(&body);
    memo->saved = sx_clock_seconds();
    memo->changed = status != NULL;
    if (!status || status->code != SX_ERR_WRITE) return status;
    if (memo->options->warn && !memo->warned) memo->options->warn(memo->options->user, status);
    memo->warned = true;
    sx_status_free(status);
    return SX_OK;
}
