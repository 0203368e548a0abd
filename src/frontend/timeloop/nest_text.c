#include "frontend/timeloop/nest_text.h"

#include "sextant/arch.h"
#include "text/document/scan.h"
#include "text/document/yaml.h"

#include <stdio.h>
#include <string.h>

/* Loops of one level, outermost first. */
typedef enum loop_kind { TEMPORAL, SPATIAL_Y, SPATIAL_X, N_KINDS } loop_kind;

typedef struct loop {
    const sx_node *dim, *factor; /* "K", and "K=64" or "K=4,3" */
} loop;

enum { MAX_LOOPS = SX_MAX_DIMS, MAX_DIRECTIVES = 3 * SX_MAX_LEVELS + 1 };

typedef struct reader {
    sx_arena *arena;
    const char *file;
    int line;
    const sx_node *level; /* its name; NULL before the first */
    loop loop[N_KINDS][MAX_LOOPS];
    size_t n[N_KINDS];
    const sx_node *directive[MAX_DIRECTIVES];
    size_t n_directives;
    bool looped;   /* a line of a loop has followed the level's */
    bool complete; /* "<< Compute >>" was read, which Timeloop prints since 2023 */
} reader;

static sx_place place_at(const reader *r, int column) {
    return (sx_place){r->file, r->line, column};
}

/* A scalar, in the arena. */
static SX_MUST_USE sx_status make_scalar(const reader *r, int column, const char *text, size_t size,
                                         const sx_node **out) {
    sx_node *node = sx_arena_alloc(r->arena, 1, sizeof *node);
    const char *copy = sx_arena_copy(r->arena, text, size);
    if (!node || !copy) return sx_arena_error(r->arena);
    *node = (sx_node){.kind = SX_NODE_SCALAR, .place = place_at(r, column), .text = copy};
    *out = node;
    return sx_node_measure(node);
}

static SX_MUST_USE sx_status make_list(const reader *r, const sx_node *const *item, size_t n,
                                       const sx_node **out) {
    sx_node *node = sx_arena_alloc(r->arena, 1, sizeof *node);
    const sx_node **copy = sx_arena_alloc(r->arena, n, sizeof *copy);
    if (!node || !copy) return sx_arena_error(r->arena);
    if (n) memcpy(copy, item, n * sizeof *copy);
    *node = (sx_node){.kind = SX_NODE_LIST, .place = place_at(r, 1), .n = n, .item = copy};
    *out = node;
    return sx_node_measure(node);
}

static SX_MUST_USE sx_status make_map(const reader *r, const sx_pair *pair, size_t n, const sx_node **out) {
    sx_node *node = sx_arena_alloc(r->arena, 1, sizeof *node);
    sx_pair *copy = sx_arena_alloc(r->arena, n, sizeof *copy);
    if (!node || !copy) return sx_arena_error(r->arena);
    memcpy(copy, pair, n * sizeof *copy);
    *node = (sx_node){.kind = SX_NODE_MAP, .place = copy[0].place, .n = n, .pair = copy};
    *out = node;
    return sx_node_measure(node);
}

/* Adds a directive for the level: its target, its type and some more pairs, of which the first is `more`. */
static SX_MUST_USE sx_status add_directive(reader *r, const char *type, const sx_pair *more, size_t n) {
    sx_pair pair[5] = {{.key = "target", .place = r->level->place, .value = r->level},
                       {.key = "type", .place = r->level->place}};
    if (r->n_directives == MAX_DIRECTIVES)
        return sx_error_at(r->level->place, "more than %d levels", SX_MAX_LEVELS);
    SX_TRY(make_scalar(r, 1, type, strlen(type), &pair[1].value));
    memcpy(pair + 2, more, n * sizeof *more);
    return make_map(r, pair, n + 2, &r->directive[r->n_directives++]);
}

/* Adds the directive of a level's loops of some kinds, from the innermost out. */
static SX_MUST_USE sx_status add_loops(reader *r, const char *type, int from, int to) {
    const sx_node *dim[2 * MAX_LOOPS], *factor[2 * MAX_LOOPS];
    size_t n = 0;
    for (int kind = to; kind >= from; kind--)
        for (size_t i = r->n[kind]; i-- > 0; n++) {
            dim[n] = r->loop[kind][i].dim;
            factor[n] = r->loop[kind][i].factor;
            for (size_t k = 0; k < n; k++)
                if (strcmp(dim[k]->text, dim[n]->text) == 0)
                    return sx_error_hint(sx_error_at(dim[n]->place, "two %s loops over '%s' at '%s'", type,
                                                     dim[n]->text, r->level->text),
                                         "give the mapping as YAML (.map.yaml)");
        }
    if (n == 0) return SX_OK;
    sx_place place = dim[n - 1]->place;
    sx_pair pair[3] = {{.key = "factors", .place = place},
                       {.key = "permutation", .place = place},
                       {.key = "split", .place = place}};
    char split[16];
    int length = snprintf(split, sizeof split, "%zu", r->n[SPATIAL_X]);
    SX_TRY(make_list(r, factor, n, &pair[0].value));
    SX_TRY(make_list(r, dim, n, &pair[1].value));
    SX_TRY(make_scalar(r, 1, split, (size_t)length, &pair[2].value));
    return add_directive(r, type, pair, from == TEMPORAL ? 2 : 3);
}

/* Adds the directives of the loops of the level that was read. */
static SX_MUST_USE sx_status finish_level(reader *r) {
    if (!r->level) return SX_OK;
    SX_TRY(add_loops(r, "temporal", TEMPORAL, TEMPORAL));
    SX_TRY(add_loops(r, "spatial", SPATIAL_Y, SPATIAL_X));
    memset(r->n, 0, sizeof r->n);
    return SX_OK;
}

/* The error for a line that is not part of a loop nest. */
static SX_MUST_USE sx_status bad_line(const reader *r, int column) {
    return sx_error_hint(sx_error_at(place_at(r, column), "this is not a line of Timeloop's loop nests"),
                         "for example 'DRAM [ Weights:64 (64) ]' and '| for K in [0:8) (Spatial-X)'; a "
                         "mapping can also be given as YAML (.map.yaml)");
}

/* Reads "Buffer [ Weights:64 (64) Outputs:8 (8) ]". */
static SX_MUST_USE sx_status read_level(reader *r, const char *line) {
    const sx_node *kept[SX_MAX_TENSORS];
    size_t n = 0, length = strcspn(line, " [");
    const char *at = line + length + strspn(line + length, " ");
    if (length == 0 || *at != '[') return bad_line(r, 1);
    SX_TRY(finish_level(r));
    r->looped = false;
    SX_TRY(make_scalar(r, 1, line, length, &r->level));
    for (at++; *(at += strspn(at, " ")) != ']'; n++) {
        int column = (int)(at - line) + 1;
        length = strcspn(at, ": ]");
        if (length == 0 || at[length] != ':') return bad_line(r, column);
        if (n == SX_MAX_TENSORS)
            return sx_error_at(place_at(r, column), "more than %d tensors", SX_MAX_TENSORS);
        SX_TRY(make_scalar(r, column, at, length, &kept[n]));
        at += length + 1;
        at += strspn(at, "0123456789");
        at += strspn(at, " ");
        if (*at == '(') at += strcspn(at, ")]");
        at += *at == ')';
    }
    sx_pair pair = {.key = "keep_only", .place = r->level->place};
    SX_TRY(make_list(r, kept, n, &pair.value));
    return add_directive(r, "dataspace", &pair, 1);
}

/* Reads "for K in [0:64) (Spatial-X)" or "for P in [0:4,3)". */
static SX_MUST_USE sx_status read_loop(reader *r, const char *line, const char *at) {
    sx_scan scan = {line, at, place_at(r, 1)};
    char dim[SX_NAME_SIZE], word[SX_NAME_SIZE], factor[SX_NAME_SIZE + 48];
    int64_t begin, end, rest = 0;
    if (!sx_scan_name(&scan, word) || strcmp(word, "for") != 0) return bad_line(r, (int)(at - line) + 1);
    int column = sx_scan_place(&scan).column;
    if (!sx_scan_name(&scan, dim) || !sx_scan_name(&scan, word) || strcmp(word, "in") != 0 ||
        !sx_scan_take(&scan, "[") || !sx_scan_number(&scan, &begin) || begin != 0 ||
        !sx_scan_take(&scan, ":") || !sx_scan_number(&scan, &end))
        return bad_line(r, column);
    if (sx_scan_take(&scan, ",") && !sx_scan_number(&scan, &rest)) return bad_line(r, column);
    if (!sx_scan_take(&scan, ")")) return bad_line(r, column);
    loop_kind kind = sx_scan_take(&scan, "(Spatial-X)")   ? SPATIAL_X
                     : sx_scan_take(&scan, "(Spatial-Y)") ? SPATIAL_Y
                                                          : TEMPORAL;
    if (sx_scan_peek(&scan)) return bad_line(r, sx_scan_place(&scan).column);
    r->looped = true;
    if (end == 1) return SX_OK;
    if (r->n[kind] == MAX_LOOPS) return sx_error_at(place_at(r, column), "more than %d loops", MAX_LOOPS);
    loop *l = &r->loop[kind][r->n[kind]++];
    int length = rest ? snprintf(factor, sizeof factor, "%s=%lld,%lld", dim, (long long)end, (long long)rest)
                      : snprintf(factor, sizeof factor, "%s=%lld", dim, (long long)end);
    SX_TRY(make_scalar(r, column, dim, strlen(dim), &l->dim));
    return make_scalar(r, column, factor, (size_t)length, &l->factor);
}

/* Reads one line. */
static SX_MUST_USE sx_status read_line(reader *r, const char *line) {
    const char *at = line + strspn(line, " \t");
    if (!*at || at[strspn(at, "- ")] == 0) return SX_OK;
    if (*at != '|') return read_level(r, line);
    at += 1 + strspn(at + 1, " \t");
    if (strncmp(at, "<< Compute >>", 13) == 0) {
        r->complete = true;
        return SX_OK;
    }
    if (!*at) return SX_OK;
    if (!r->level) return bad_line(r, 1);
    return read_loop(r, line, at);
}

/* Ends a nest without "<< Compute >>". Every level then has a loop, and the last is the innermost of the machine:
 * otherwise the file is cut off. */
static SX_MUST_USE sx_status end_old_nest(reader *r) {
    sx_pair innermost = {.key = "innermost", .place = r->level->place};
    if (!r->looped)
        return sx_error_hint(
            sx_error_at(r->level->place, "the loop nest ends at '%s' without a loop", r->level->text),
            "Timeloop ends a nest with a loop, or with '<< Compute >>' since 2023: is the file cut off?");
    SX_TRY(make_scalar(r, 1, "true", 4, &innermost.value));
    return add_directive(r, "dataspace", &innermost, 1);
}

bool sx_nest_text_begins(const char *text, size_t size) {
    const char *at = text, *end = text + size;
    while (at < end && strchr(" \r\n", *at)) at++;
    const char *name = at;
    while (at < end && !strchr(" :{}#,[]\n", *at)) at++;
    return at > name && end - at > 1 && at[0] == ' ' && at[1] == '[';
}

sx_status sx_nest_text_read(sx_arena *arena, const char *file, const char *text, size_t size,
                            const sx_node **out) {
    reader *r = sx_arena_alloc(arena, 1, sizeof *r);
    const char *name = sx_arena_copy(arena, file, strlen(file));
    if (!r || !name) return sx_arena_error(arena);
    *r = (reader){.arena = arena, .file = name, .line = 1};
    for (const char *at = text, *end = text + size; at < end; r->line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        size_t length = (size_t)(stop - at);
        while (length && (at[length - 1] == ' ' || at[length - 1] == '\r')) length--;
        const char *line = sx_arena_copy(arena, at, length);
        if (!line) return sx_arena_error(arena);
        SX_TRY(read_line(r, line));
        at = stop + 1;
    }
    r->line = 1;
    SX_TRY(finish_level(r));
    if (!r->level) return bad_line(r, 1);
    if (!r->complete) SX_TRY(end_old_nest(r));
    sx_pair mapping = {.key = "mapping", .place = place_at(r, 1)};
    SX_TRY(make_list(r, r->directive, r->n_directives, &mapping.value));
    return make_map(r, &mapping, 1, out);
}
