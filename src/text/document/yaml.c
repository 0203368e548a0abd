#include "text/document/yaml.h"

#include "base/vector.h"
#include "text/document/merge.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

typedef struct anchor {
    const char *name;
    const sx_node *node; /* NULL while it is being read */
} anchor;

/* A growing array of pairs that all open lists and maps share; items of lists are pairs without keys. */
typedef struct stack {
    sx_pair *pair;
    size_t n, room;
} stack;

typedef struct reader {
    yaml_parser_t parser;
    sx_arena *arena;
    const sx_source *source;
    stack open;
    anchor anchor[SX_MAX_ANCHORS];
    size_t n_anchors, n_nodes;
} reader;

static sx_place place_of(const reader *r, yaml_mark_t mark) {
    return sx_source_place(r->source, mark.line, mark.column);
}

/* The error of libyaml, with a hint where the cause is known. */
static SX_MUST_USE sx_status syntax_error(const reader *r) {
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem;
    if (!p->problem) return sx_error_memory(); /* some tokens do not even set YAML_MEMORY_ERROR */
    if (p->error == YAML_READER_ERROR)
        return sx_error_hint(sx_error_at(sx_source_offset(r->source, p->problem_offset), "%s", problem),
                             "the text must be UTF-8 without control characters");
    sx_status error = sx_error_at(place_of(r, p->problem_mark), "%s%s%s", p->context ? p->context : "",
                                  p->context ? ": " : "", problem);
    if (strstr(problem, "tab character")) return sx_error_hint(error, "indent with spaces");
    if (strstr(problem, "cannot start any token"))
        return sx_error_hint(error, "indent with spaces, not tabs, and quote texts that begin with @ or `");
    if (strstr(problem, "did not find expected ',' or"))
        return sx_error_hint(error, "is a bracket not closed, or a comma missing?");
    if (strstr(problem, "mapping values are not allowed"))
        return sx_error_hint(error, "is a line indented too far, or a text with ': ' not quoted?");
    if (strstr(problem, "could not find expected ':'") || strstr(problem, "found unexpected ':'"))
        return sx_error_hint(error, "a map's key is followed by a colon and a space");
    if (strstr(problem, "did not find expected key") || strstr(problem, "did not find expected '-'"))
        return sx_error_hint(error, "entries of one map or list must be indented alike");
    return error;
}

static SX_MUST_USE sx_status next_event(reader *r, yaml_event_t *event) {
    return yaml_parser_parse(&r->parser, event) ? SX_OK : syntax_error(r);
}

sx_status sx_node_measure(sx_node *node) {
    node->weight = 1;
    node->height = 1;
    for (size_t i = 0; i < node->n; i++) {
        const sx_node *child = node->kind == SX_NODE_MAP ? node->pair[i].value : node->item[i];
        node->weight += child->weight;
        if (child->height >= node->height) node->height = child->height + 1;
        if (node->weight > SX_MAX_NODES)
            return sx_error_at(node->place, "with aliases expanded, the text has more than %d values",
                               SX_MAX_NODES);
    }
    if (node->height > SX_MAX_HEIGHT)
        return sx_error_at(node->place, "lists and maps are nested deeper than %d", SX_MAX_HEIGHT);
    return SX_OK;
}

/* The tag as we keep it: none for YAML's own and for "!". */
static SX_MUST_USE sx_status keep_tag(reader *r, const char *tag, sx_node *node) {
    if (!tag || strcmp(tag, "!") == 0 || strncmp(tag, "tag:yaml.org,", 13) == 0) return SX_OK;
    if (strncmp(tag, "!include", 8) == 0 && strcmp(tag, SX_INCLUDED_TAG) != 0)
        return sx_error_hint(
            sx_error_at(node->place, "'%.32s' is not supported here", tag),
            "write '!include relative/path.yaml' or {{include('relative/path.yaml', 'section')}}");
    if (strlen(tag) > 256) return sx_error_at(node->place, "a tag is longer than 256 bytes");
    node->tag = sx_arena_copy(r->arena, tag, strlen(tag));
    return node->tag ? SX_OK : sx_arena_error(r->arena);
}

/* A new node for an event that begins one. */
static SX_MUST_USE sx_status node_new(reader *r, const yaml_event_t *event, sx_node_kind kind,
                                      const char *tag, sx_node **out) {
    sx_place place = place_of(r, event->start_mark);
    if (++r->n_nodes > SX_MAX_NODES)
        return sx_error_at(place, "the text has more than %d values", SX_MAX_NODES);
    sx_node *node = sx_arena_alloc(r->arena, 1, sizeof *node);
    if (!node) return sx_arena_error(r->arena);
    node->kind = kind;
    node->place = place;
    node->weight = 1;
    node->height = 1;
    SX_TRY(keep_tag(r, tag, node));
    *out = node;
    return SX_OK;
}

/* Notes a new anchor; *index is where it is kept (SIZE_MAX: there is none). */
static SX_MUST_USE sx_status anchor_new(reader *r, const yaml_char_t *name, sx_place place, size_t *index) {
    *index = SIZE_MAX;
    if (!name) return SX_OK;
    if (r->n_anchors == SX_MAX_ANCHORS) return sx_error_at(place, "more than %d anchors", SX_MAX_ANCHORS);
    const char *copy = sx_arena_copy(r->arena, (const char *)name, strlen((const char *)name));
    if (!copy) return sx_arena_error(r->arena);
    *index = r->n_anchors++;
    r->anchor[*index] = (anchor){copy, NULL};
    return SX_OK;
}

/* The node that an alias stands for. */
static SX_MUST_USE sx_status read_alias(reader *r, const yaml_event_t *event, const sx_node **out) {
    const char *name = (const char *)event->data.alias.anchor;
    sx_place place = place_of(r, event->start_mark);
    if (++r->n_nodes > SX_MAX_NODES)
        return sx_error_at(place, "the text has more than %d values", SX_MAX_NODES);
    for (size_t i = r->n_anchors; i-- > 0;) {
        if (strcmp(r->anchor[i].name, name) != 0) continue;
        if (!r->anchor[i].node)
            return sx_error_at(place, "the alias '*%.64s' is inside its own anchor", name);
        *out = r->anchor[i].node;
        return SX_OK;
    }
    return sx_error_hint(sx_error_at(place, "there is no anchor for the alias '*%.64s'", name),
                         "an anchor '&%.64s' must come before it in the same document", name);
}

static bool null_text(const char *text) {
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0) return true;
    return false;
}

static SX_MUST_USE sx_status read_scalar(reader *r, const yaml_event_t *event, sx_node **out) {
    const char *text = (const char *)event->data.scalar.value;
    size_t size = event->data.scalar.length;
    sx_node *node;
    SX_TRY(node_new(r, event, SX_NODE_SCALAR, (const char *)event->data.scalar.tag, &node));
    if (size > SX_MAX_SCALAR || memchr(text, 0, size))
        return sx_error_at(node->place,
                           size > SX_MAX_SCALAR ? "a text is longer than 1 MB" : "a text has a zero byte");
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (!node->quoted && null_text(text)) node->kind = SX_NODE_NULL;
    node->blank = node->kind == SX_NODE_NULL && size == 0;
    node->text = node->kind == SX_NODE_NULL ? "" : sx_arena_copy(r->arena, text, size);
    if (!node->text) return sx_arena_error(r->arena);
    *out = node;
    return SX_OK;
}

/* Makes a scalar of SX_INCLUDED_TAG a copy of the node that it stands for. */
static SX_MUST_USE sx_status read_included(const reader *r, sx_node *node) {
    uint64_t index;
    if (node->kind != SX_NODE_SCALAR || !sx_text_u64(node->text, &index) || index >= r->source->n_nodes)
        return sx_error_at(node->place, "'" SX_INCLUDED_TAG "' is not read");
    *node = *r->source->node[index];
    return SX_OK;
}

static SX_MUST_USE sx_status push_pair(reader *r, sx_pair pair) {
    stack *s = &r->open;
    if (!sx_reserve(&s->pair, &s->room, s->n + 1, sizeof *s->pair)) return sx_error_memory();
    s->pair[s->n++] = pair;
    return SX_OK;
}

static SX_MUST_USE sx_status read_value(reader *r, const yaml_event_t *event, unsigned depth,
                                        const sx_node **out);

static SX_MUST_USE sx_status read_list(reader *r, sx_node *node, unsigned depth) {
    size_t base = r->open.n;
    for (;;) {
        yaml_event_t event;
        const sx_node *value;
        SX_TRY(next_event(r, &event));
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        sx_status status = end ? SX_OK : read_value(r, &event, depth, &value);
        yaml_event_delete(&event);
        if (status) return status;
        if (end) break;
        SX_TRY(push_pair(r, (sx_pair){.value = value}));
    }
    node->n = r->open.n - base;
    node->item = sx_arena_alloc(r->arena, node->n, sizeof *node->item);
    if (!node->item) return sx_arena_error(r->arena);
    for (size_t i = 0; i < node->n; i++) node->item[i] = r->open.pair[base + i].value;
    r->open.n = base;
    return sx_node_measure(node);
}

/* A key, given its event: the text of a scalar, or of what an alias stands for. */
static SX_MUST_USE sx_status read_key(reader *r, const yaml_event_t *event, unsigned depth, sx_pair *pair) {
    const sx_node *node;
    pair->place = place_of(r, event->start_mark);
    SX_TRY(read_value(r, event, depth, &node));
    if (node->kind == SX_NODE_LIST || node->kind == SX_NODE_MAP)
        return sx_error_hint(sx_error_at(pair->place, "a key must be a single word"),
                             "is '{{' meant to be '{'?");
    pair->key = node->text;
    pair->literal = r->source->literal && strchr(node->text, '-');
    return SX_OK;
}

static SX_MUST_USE sx_status read_map(reader *r, sx_node *node, unsigned depth) {
    size_t base = r->open.n;
    for (;;) {
        yaml_event_t event;
        sx_pair pair = {0};
        SX_TRY(next_event(r, &event));
        bool end = event.type == YAML_MAPPING_END_EVENT;
        sx_status status = end ? SX_OK : read_key(r, &event, depth, &pair);
        yaml_event_delete(&event);
        if (status) return status;
        if (end) break;
        SX_TRY(next_event(r, &event));
        status = read_value(r, &event, depth, &pair.value);
        yaml_event_delete(&event);
        if (status) return status;
        SX_TRY(push_pair(r, pair));
    }
    node->n = r->open.n - base;
    sx_pair *pairs = sx_arena_alloc(r->arena, node->n, sizeof *pairs);
    if (!pairs) return sx_arena_error(r->arena);
    if (node->n) memcpy(pairs, r->open.pair + base, node->n * sizeof *pairs);
    node->pair = pairs;
    r->open.n = base;
    return sx_merge(r->arena, node);
}

/* The value that begins with an event. */
static sx_status read_value(reader *r, const yaml_event_t *event, unsigned depth, const sx_node **out) {
    if (event->type == YAML_ALIAS_EVENT) return read_alias(r, event, out);
    bool list = event->type == YAML_SEQUENCE_START_EVENT, map = event->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *name = list  ? event->data.sequence_start.anchor
                              : map ? event->data.mapping_start.anchor
                                    : event->data.scalar.anchor;
    size_t index;
    sx_node *node;
    if (depth == SX_MAX_HEIGHT)
        return sx_error_at(place_of(r, event->start_mark), "lists and maps are nested deeper than %d",
                           SX_MAX_HEIGHT);
    SX_TRY(anchor_new(r, name, place_of(r, event->start_mark), &index));
    if (list) {
        SX_TRY(node_new(r, event, SX_NODE_LIST, (const char *)event->data.sequence_start.tag, &node));
        SX_TRY(read_list(r, node, depth + 1));
    } else if (map) {
        SX_TRY(node_new(r, event, SX_NODE_MAP, (const char *)event->data.mapping_start.tag, &node));
        SX_TRY(read_map(r, node, depth + 1));
    } else {
        SX_TRY(read_scalar(r, event, &node));
        if (node->tag && strcmp(node->tag, SX_INCLUDED_TAG) == 0) SX_TRY(read_included(r, node));
    }
    node->anchored = name != NULL;
    if (name) r->anchor[index].node = node;
    *out = node;
    return SX_OK;
}

/* Reads documents up to the end of the text; they are left on the stack. */
static SX_MUST_USE sx_status read_stream(reader *r) {
    for (bool end = false; !end;) {
        yaml_event_t event;
        const sx_node *value = NULL;
        SX_TRY(next_event(r, &event));
        sx_status status = SX_OK;
        end = event.type == YAML_STREAM_END_EVENT;
        if (event.type == YAML_DOCUMENT_START_EVENT) r->n_anchors = 0;
        bool begins = event.type == YAML_SCALAR_EVENT || event.type == YAML_SEQUENCE_START_EVENT ||
                      event.type == YAML_MAPPING_START_EVENT || event.type == YAML_ALIAS_EVENT;
        if (begins) status = read_value(r, &event, 0, &value);
        yaml_event_delete(&event);
        if (status) return status;
        if (value && value->kind != SX_NODE_NULL) SX_TRY(push_pair(r, (sx_pair){.value = value}));
    }
    return SX_OK;
}

sx_status sx_yaml_read(sx_arena *arena, const sx_source *source, const sx_node ***roots, size_t *n) {
    reader *r = calloc(1, sizeof *r);
    if (!r || !yaml_parser_initialize(&r->parser)) {
        free(r);
        return sx_error_memory();
    }
    r->arena = arena;
    r->source = source;
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)source->text, source->size);
    sx_status status = read_stream(r);
    const sx_node **list = status ? NULL : sx_arena_alloc(arena, r->open.n, sizeof *list);
    if (!status && !list) status = sx_arena_error(arena);
    for (size_t i = 0; i < r->open.n && !status; i++) list[i] = r->open.pair[i].value;
    if (!status) {
        *roots = list;
        *n = r->open.n;
    }
    free(r->open.pair);
    yaml_parser_delete(&r->parser);
    free(r);
    return status;
}
