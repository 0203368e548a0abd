#include "base/ranks.h"

#include <stdlib.h>
#include <string.h>

static const double WORTH = 0.002; /* seconds from which on small work is divided */
enum { MOST_BACKOFF = 7 };         /* the most times that it is not, as a power of two */

bool sx_ranks_active(const sx_ranks *ranks) {
    return ranks && ranks->others > 0 && !ranks->busy;
}

bool sx_ranks_follows(const sx_ranks *ranks) {
    return ranks && ranks->number > 0;
}

/* The account of work of a kind; NULL: there are too many kinds. */
static sx_work_kind *kind_of(sx_ranks *ranks, void (*kind)(void)) {
    for (size_t i = 0; i < SX_WORK_KINDS; i++) {
        sx_work_kind *k = &ranks->kind[i];
        if (!k->kind) k->kind = kind;
        if (k->kind == kind) return k;
    }
    return NULL;
}

bool sx_ranks_worth(sx_ranks *ranks, void (*kind)(void)) {
    sx_work_kind *k = kind_of(ranks, kind);
    if (!k || k->skip == 0) return k != NULL;
    k->skip--;
    return false;
}

void sx_ranks_took(sx_ranks *ranks, void (*kind)(void), double seconds) {
    sx_work_kind *k = kind_of(ranks, kind);
    bool worth = seconds >= WORTH;
    if (!k) return;
    k->backoff = worth ? 0 : k->backoff < MOST_BACKOFF ? k->backoff + 1 : MOST_BACKOFF;
    k->skip = worth ? 0 : 1u << k->backoff;
}

/* Makes and takes one part after another. */
static sx_status share_alone(const sx_shared *work, sx_shared_result *out) {
    sx_status status = SX_OK;
    for (; out->taken < work->n && !status && !sx_cancel_is_set(work->cancel); out->taken += !status) {
        sx_text bytes = {0};
        status = work->make(work->user, out->taken, 1, &bytes);
        if (!status && bytes.failed) status = sx_error_memory();
        if (!status) status = work->take(work->user, out->taken, 1, bytes.data, bytes.size);
        sx_text_free(&bytes);
    }
    return status;
}

sx_status sx_ranks_share(sx_ranks *ranks, const sx_shared *work, sx_shared_result *out) {
    sx_shared_result result = {0};
    sx_status status =
        sx_ranks_active(ranks) ? ranks->share(ranks, work, &result) : share_alone(work, &result);
    if (out) *out = result;
    return status;
}

/* Bytes of process 0, and where they go to. */
typedef struct told {
    char **bytes;
    size_t *size;
} told;

static sx_status add_told(void *user, size_t first, size_t n, sx_text *out) {
    const told *t = user;
    (void)first;
    (void)n;
    if (*t->size) sx_text_add_bytes(out, *t->bytes, *t->size);
    return SX_OK;
}

static sx_status take_told(void *user, size_t first, size_t n, const char *bytes, size_t size) {
    const told *t = user;
    (void)first;
    (void)n;
    char *copy = malloc(size + 1);
    if (!copy) return sx_error_memory();
    if (size) memcpy(copy, bytes, size);
    copy[size] = 0;
    free(*t->bytes);
    *t->bytes = copy;
    *t->size = size;
    return SX_OK;
}

sx_status sx_ranks_tell(sx_ranks *ranks, char **bytes, size_t *size) {
    told t = {bytes, size};
    const sx_shared work = {.n = 1, .everyone = true, .user = &t, .make = add_told, .take = take_told};
    return sx_ranks_active(ranks) ? sx_ranks_share(ranks, &work, NULL) : SX_OK;
}

sx_status sx_ranks_finish(sx_ranks *ranks) {
    ranks->finished = true;
    return sx_error_new(SX_ERR_INTERNAL, "process %u has done its part", ranks->number);
}
