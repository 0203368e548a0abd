#include "looptree/cascade.h"

#include "base/status.h"
#include "ir/rank.h"

#include <stdlib.h>
#include <string.h>

void sx_cascade_fini(sx_cascade *cascade) {
    free(cascade->einsum);
    free(cascade->tensor_of);
    free(cascade->tensor);
    *cascade = (sx_cascade){.n_einsums = 0};
}

bool sx_cascade_uses(const sx_cascade *cascade, size_t e, size_t tensor, int *local) {
    for (int v = 0; v < cascade->einsum[e].n_tensors; v++) {
        if (cascade->tensor_of[e][v] != tensor) continue;
        if (local) *local = v;
        return true;
    }
    return false;
}

static size_t find_tensor(const sx_cascade *cascade, const char *name) {
    size_t t = 0;
    while (t < cascade->n_tensors && strcmp(cascade->tensor[t].name, name) != 0) t++;
    return t;
}

/* Whether a rank is a single dimension: then all users see the same extent. */
static bool is_plain_rank(const sx_problem *einsum, const sx_tensor *tensor, int rank) {
    int n = 0;
    for (int d = 0; d < einsum->n_dims; d++) n += tensor->coef[rank][d] != 0;
    return n == 1;
}

/* Refuses a tensor whose ranks are not those of its first user. A window may reach over the border. */
static sx_status check_ranks(const sx_cascade *cascade, size_t e, int local, size_t t) {
    const sx_problem *einsum = &cascade->einsum[e], *other = &cascade->einsum[cascade->tensor[t].first];
    int theirs = 0;
    if (!sx_cascade_uses(cascade, cascade->tensor[t].first, t, &theirs) || other == einsum) return SX_OK;
    const sx_tensor *mine = &einsum->tensor[local], *first = &other->tensor[theirs];
    if (mine->n_ranks != first->n_ranks)
        return sx_error_new(SX_ERR_INPUT, "tensor '%s' has %d ranks in '%s' and %d in '%s'", mine->name,
                            first->n_ranks, other->name, mine->n_ranks, einsum->name);
    for (int r = 0; r < mine->n_ranks; r++) {
        uint64_t a = sx_rank_extent(other, theirs, r, other->size),
                 b = sx_rank_extent(einsum, local, r, einsum->size);
        if (a != b && is_plain_rank(other, first, r) && is_plain_rank(einsum, mine, r))
            return sx_error_new(SX_ERR_INPUT, "rank %d of tensor '%s' is %llu long in '%s' and %llu in '%s'",
                                r + 1, mine->name, (unsigned long long)a, other->name, (unsigned long long)b,
                                einsum->name);
    }
    return SX_OK;
}

/* Enters the use of a tensor by einsum e. */
static sx_status add_use(sx_cascade *cascade, size_t e, int local, uint32_t bits) {
    const sx_tensor *tensor = &cascade->einsum[e].tensor[local];
    const size_t t = find_tensor(cascade, tensor->name);
    const uint32_t width = tensor->bits ? tensor->bits : bits;
    sx_cascade_tensor *entry = &cascade->tensor[t];
    if (t == cascade->n_tensors) {
        *entry = (sx_cascade_tensor){.bits = width, .first = e};
        memcpy(entry->name, tensor->name, sizeof entry->name);
        cascade->n_tensors++;
    }
    if (entry->bits != width)
        return sx_error_new(SX_ERR_INPUT, "elements of tensor '%s' have %u bits in '%s' and %u before",
                            tensor->name, width, cascade->einsum[e].name, entry->bits);
    if (tensor->output && entry->written)
        return sx_error_new(SX_ERR_INPUT, "two einsums write tensor '%s'; the second is '%s'", tensor->name,
                            cascade->einsum[e].name);
    if (tensor->output && entry->read)
        return sx_error_new(SX_ERR_INPUT, "'%s' writes tensor '%s' after '%s' has used it",
                            cascade->einsum[e].name, tensor->name, cascade->einsum[entry->first].name);
    entry->shared |= entry->first != e;
    entry->last = e;
    entry->written |= tensor->output;
    entry->read |= !tensor->output;
    cascade->tensor_of[e][local] = t;
    return check_ranks(cascade, e, local, t);
}

sx_status sx_cascade_init(sx_cascade *cascade, const sx_problem *einsum, size_t n, uint32_t bits) {
    *cascade = (sx_cascade){.n_einsums = n};
    cascade->einsum = calloc(n ? n : 1, sizeof *cascade->einsum);
    cascade->tensor_of = calloc(n ? n : 1, sizeof *cascade->tensor_of);
    cascade->tensor = calloc(n ? n * SX_MAX_TENSORS : 1, sizeof *cascade->tensor);
    sx_status status = SX_OK;
    if (!cascade->einsum || !cascade->tensor_of || !cascade->tensor) status = sx_error_memory();
    for (size_t e = 0; e < n && !status; e++) {
        cascade->einsum[e] = einsum[e];
        for (int v = 0; v < einsum[e].n_tensors && !status; v++) status = add_use(cascade, e, v, bits);
    }
    if (status) sx_cascade_fini(cascade);
    return status;
}
