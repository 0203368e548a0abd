#include "sextant/sparse.h"

#include "base/status.h"
#include "ir/arch.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const kind_names[] = {"CP", "RLE", "B", "UOP", "UB"};
enum { N_KINDS = sizeof kind_names / sizeof kind_names[0] };

bool sx_sparse_active(const sx_sparse *sparse) {
    return sparse->n_formats || sparse->n_actions || sparse->gates_compute || sparse->skips_compute;
}

bool sx_rank_compressed(sx_rank_kind kind) {
    return kind == SX_RANK_CP || kind == SX_RANK_RLE || kind == SX_RANK_B;
}

const char *sx_rank_kind_name(sx_rank_kind kind) {
    return kind_names[kind];
}

int sx_rank_kind_named(const char *name) {
    for (int i = 0; i < N_KINDS; i++)
        if (strcasecmp(name, kind_names[i]) == 0) return i;
    return -1;
}

/* Whether a set holds only names that there are. */
static bool set_known(const sx_sparse *sparse, uint32_t set) {
    return sparse->n_names == SX_MAX_SPARSE_NAMES || set >> sparse->n_names == 0;
}

static sx_status check_rank(const sx_sparse *sparse, const sx_rank_format *rank) {
    bool good = rank->kind < N_KINDS && rank->n_flattened <= SX_MAX_FLATTENED;
    for (int i = 0; good && i < rank->n_flattened; i++) good = set_known(sparse, rank->flattened[i]);
    return good ? SX_OK : sx_error_new(SX_ERR_INPUT, "a rank of a format is out of range");
}

static sx_status check_format(const sx_sparse *sparse, int index, int n_levels) {
    const sx_tensor_format *f = &sparse->format[index];
    if (f->level >= n_levels || f->tensor >= sparse->n_names || f->n_ranks < 1 ||
        f->n_ranks > SX_MAX_FORMAT_RANKS || f->first + f->n_ranks > sparse->n_ranks)
        return sx_error_new(SX_ERR_INPUT, "a format is out of range");
    for (int i = 0; i < index; i++)
        if (sparse->format[i].level == f->level && sparse->format[i].tensor == f->tensor)
            return sx_error_new(SX_ERR_INPUT, "'%s' has two formats at one level", sparse->name[f->tensor]);
    const sx_rank_format *rank = &sparse->rank[f->first];
    bool plain = false;
    for (int r = 0; r < f->n_ranks; r++) {
        SX_TRY(check_rank(sparse, &rank[r]));
        bool compressed = sx_rank_compressed((sx_rank_kind)rank[r].kind);
        if (plain && compressed)
            return sx_error_hint(sx_error_new(SX_ERR_INPUT,
                                              "a format of '%s' has a compressed rank outside an "
                                              "uncompressed one",
                                              sparse->name[f->tensor]),
                                 "ranks are listed from the outermost; put UOP and UB before CP, RLE and B");
        plain |= !compressed;
    }
    return SX_OK;
}

static sx_status check_action(const sx_sparse *sparse, const sx_sparse_action *action, int n_levels) {
    bool good =
        action->level < n_levels && action->n_options >= 1 && action->n_options <= SX_MAX_ACTION_OPTIONS;
    for (int i = 0; good && i < action->n_options; i++) {
        const sx_action_option *o = &action->option[i];
        good = o->target < sparse->n_names && set_known(sparse, o->on) && o->on != 0;
    }
    return good ? SX_OK : sx_error_new(SX_ERR_INPUT, "a gating or skipping action is out of range");
}

sx_status sx_sparse_check(const sx_sparse *sparse, int n_levels) {
    if (sparse->n_names > SX_MAX_SPARSE_NAMES || sparse->n_formats > SX_MAX_FORMATS ||
        sparse->n_ranks > SX_MAX_ALL_RANKS || sparse->n_actions > SX_MAX_ACTIONS)
        return sx_error_new(SX_ERR_LIMIT, "the sparse optimizations exceed a limit");
    for (int i = 0; i < sparse->n_names; i++)
        if (!memchr(sparse->name[i], 0, SX_NAME_SIZE) || !sparse->name[i][0])
            return sx_error_new(SX_ERR_INPUT, "the sparse optimizations name something without a name");
    for (int i = 0; i < sparse->n_formats; i++) SX_TRY(check_format(sparse, i, n_levels));
    for (int i = 0; i < sparse->n_actions; i++) SX_TRY(check_action(sparse, &sparse->action[i], n_levels));
    return SX_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

static int by_tensor(const void *a, const void *b) {
    const sx_tensor_format *x = a, *y = b;
    return x->level != y->level ? x->level - y->level : x->tensor - y->tensor;
}

/* A set of names by their numbers after sorting. */
static uint32_t renumber_names(uint32_t set, const uint8_t *number) {
    uint32_t out = 0;
    for (; set; set &= set - 1) out |= 1u << number[__builtin_ctz(set)];
    return out;
}

/* Sorts names, and numbers all references to them anew. */
static void order_names(sx_sparse *sparse, const sx_sparse *from) {
    uint8_t number[SX_MAX_SPARSE_NAMES] = {0};
    qsort(sparse->name, sparse->n_names, SX_NAME_SIZE, by_name);
    for (int i = 0; i < from->n_names; i++)
        while (strcmp(sparse->name[number[i]], from->name[i]) != 0) number[i]++;
    for (int i = 0; i < sparse->n_formats; i++) sparse->format[i].tensor = number[sparse->format[i].tensor];
    for (int i = 0; i < sparse->n_ranks; i++)
        for (int k = 0; k < sparse->rank[i].n_flattened; k++)
            sparse->rank[i].flattened[k] = renumber_names(sparse->rank[i].flattened[k], number);
    for (int i = 0; i < sparse->n_actions; i++)
        for (int k = 0; k < sparse->action[i].n_options; k++) {
            sx_action_option *o = &sparse->action[i].option[k];
            o->target = number[o->target];
            o->on = renumber_names(o->on, number);
        }
}

void sx_sparse_order(sx_sparse *sparse) {
    sx_sparse from = *sparse;
    order_names(sparse, &from);
    from = *sparse;
    uint16_t first = 0;
    qsort(sparse->format, sparse->n_formats, sizeof *sparse->format, by_tensor);
    for (int i = 0; i < sparse->n_formats; i++) {
        sx_tensor_format *f = &sparse->format[i];
        memcpy(&sparse->rank[first], &from.rank[f->first], f->n_ranks * sizeof *from.rank);
        f->first = first;
        first = (uint16_t)(first + f->n_ranks);
    }
    int n = 0;
    for (int s = 0; n < from.n_actions; s++)
        for (int i = 0; i < from.n_actions; i++)
            if (from.action[i].level == s) sparse->action[n++] = from.action[i];
}
