#include "fuzz/mutate_onnx.h"

#include "frontend/onnx/rules.h"
#include "fuzz/message.h"
#include "sextant/rng.h"

#include <stdlib.h>
#include <string.h>

/* The messages of onnx.proto that models are made of. */
enum {
    LEAF,
    MODEL,
    OPSET,
    GRAPH,
    NODE,
    ATTRIBUTE,
    TENSOR,
    SPARSE,
    INFO,
    TYPE,
    TENSOR_TYPE,
    SHAPE,
    DIM,
    FUNCTION,
    EXTERNAL
};

/* The fields of each message. What is in one: m a message, v the name of a value, o of an operation, a of an attribute, d
 * of a domain, y of a size, s a text, i a number, e the type of elements, f 32 bits, F 64 bits, b bytes. */
typedef struct part {
    uint8_t owner, number;
    char kind;
    uint8_t type;
} part;
static const part parts[] = {
    {MODEL, 7, 'm', GRAPH},      {MODEL, 8, 'm', OPSET},       {MODEL, 25, 'm', FUNCTION},
    {OPSET, 1, 'd', LEAF},       {OPSET, 2, 'i', LEAF},        {GRAPH, 1, 'm', NODE},
    {GRAPH, 5, 'm', TENSOR},     {GRAPH, 11, 'm', INFO},       {GRAPH, 12, 'm', INFO},
    {GRAPH, 13, 'm', INFO},      {GRAPH, 15, 'm', SPARSE},     {NODE, 1, 'v', LEAF},
    {NODE, 2, 'v', LEAF},        {NODE, 3, 's', LEAF},         {NODE, 4, 'o', LEAF},
    {NODE, 5, 'm', ATTRIBUTE},   {NODE, 7, 'd', LEAF},         {NODE, 8, 's', LEAF},
    {ATTRIBUTE, 1, 'a', LEAF},   {ATTRIBUTE, 2, 'f', LEAF},    {ATTRIBUTE, 3, 'i', LEAF},
    {ATTRIBUTE, 4, 's', LEAF},   {ATTRIBUTE, 5, 'm', TENSOR},  {ATTRIBUTE, 6, 'm', GRAPH},
    {ATTRIBUTE, 7, 'f', LEAF},   {ATTRIBUTE, 8, 'i', LEAF},    {ATTRIBUTE, 21, 'a', LEAF},
    {TENSOR, 1, 'i', LEAF},      {TENSOR, 2, 'e', LEAF},       {TENSOR, 4, 'f', LEAF},
    {TENSOR, 5, 'i', LEAF},      {TENSOR, 7, 'i', LEAF},       {TENSOR, 8, 'v', LEAF},
    {TENSOR, 9, 'b', LEAF},      {TENSOR, 10, 'F', LEAF},      {TENSOR, 11, 'i', LEAF},
    {TENSOR, 13, 'm', EXTERNAL}, {SPARSE, 1, 'm', TENSOR},     {SPARSE, 3, 'i', LEAF},
    {INFO, 1, 'v', LEAF},        {INFO, 2, 'm', TYPE},         {TYPE, 1, 'm', TENSOR_TYPE},
    {TENSOR_TYPE, 1, 'e', LEAF}, {TENSOR_TYPE, 2, 'm', SHAPE}, {SHAPE, 1, 'm', DIM},
    {DIM, 1, 'i', LEAF},         {DIM, 2, 'y', LEAF},          {FUNCTION, 1, 'o', LEAF},
    {FUNCTION, 4, 'v', LEAF},    {FUNCTION, 5, 'v', LEAF},     {FUNCTION, 6, 'a', LEAF},
    {FUNCTION, 7, 'm', NODE},    {FUNCTION, 10, 'd', LEAF},    {FUNCTION, 11, 'm', ATTRIBUTE},
    {FUNCTION, 12, 'm', INFO},   {FUNCTION, 13, 's', LEAF},    {EXTERNAL, 1, 's', LEAF},
    {EXTERNAL, 2, 's', LEAF},
};
enum { N_PARTS = sizeof parts / sizeof *parts };

static const char *const attributes[] = {"kernel_shape",
                                         "strides",
                                         "pads",
                                         "dilations",
                                         "group",
                                         "auto_pad",
                                         "ceil_mode",
                                         "axis",
                                         "axes",
                                         "perm",
                                         "to",
                                         "value",
                                         "value_int",
                                         "value_ints",
                                         "value_float",
                                         "value_floats",
                                         "transA",
                                         "transB",
                                         "equation",
                                         "keepdims",
                                         "hidden_size",
                                         "direction",
                                         "layout",
                                         "output_shape",
                                         "body",
                                         "then_branch",
                                         "else_branch",
                                         "num_scan_inputs",
                                         "allowzero",
                                         "blocksize",
                                         "q_num_heads",
                                         "kv_num_heads",
                                         "start",
                                         "end",
                                         "scales",
                                         "split",
                                         "starts",
                                         "ends",
                                         "shape",
                                         "batch_dims",
                                         "k",
                                         "output_padding",
                                         "scan_input_axes",
                                         "scan_output_axes",
                                         "noop_with_empty_axes",
                                         "output_dtype"};
static const char *const texts[] = {"",          "SAME_UPPER",    "SAME_LOWER", "VALID",
                                    "NOTSET",    "ij,jk->ik",     "bhid,bhjd",  "...k,kn->...n",
                                    "ii->i",     "bidirectional", "a,b,c->",    "->",
                                    "i...,j...", "\xc3\xa9\xff",  "name"};
static const char *const domains[] = {"", "ai.onnx", "com.microsoft", "own"};
static const char *const symbols[] = {"batch", "height", "x_0", "n"};

/* The numbers that are tried. */
static const int64_t numbers[] = {0,
                                  1,
                                  -1,
                                  2,
                                  3,
                                  4,
                                  5,
                                  6,
                                  7,
                                  8,
                                  9,
                                  -2,
                                  16,
                                  17,
                                  31,
                                  64,
                                  127,
                                  128,
                                  1 << 20,
                                  (1 << 20) + 1,
                                  INT32_MAX,
                                  UINT32_MAX,
                                  20,
                                  1,
                                  (INT64_C(1) << 40),
                                  (INT64_C(1) << 40) + 1,
                                  INT64_MAX,
                                  INT64_MIN,
                                  INT32_MIN,
                                  2,
                                  1,
                                  3};
#define COUNT(list) (sizeof(list) / sizeof *(list))

static uint8_t type_of(uint8_t owner, uint32_t number) {
    for (size_t i = 0; i < N_PARTS; i++)
        if (parts[i].owner == owner && parts[i].number == number) return parts[i].type;
    return LEAF;
}

static char kind_of(const sx_tree_field *field) {
    for (size_t i = 0; i < N_PARTS; i++)
        if (parts[i].owner == field->owner && parts[i].number == field->number) return parts[i].kind;
    return 0;
}

typedef struct mutator {
    sx_tree tree;
    sx_rng rng;
} mutator;

static size_t below(mutator *m, size_t bound) {
    return (size_t)sx_rng_below(&m->rng, bound);
}

/* A field for which a test holds, chosen at random; SX_NO_FIELD where a hundred tries find none. */
typedef bool field_test(const sx_tree_field *field, const sx_tree_field *like);
static int random_field(mutator *m, field_test *fits, const sx_tree_field *like, int from, int to) {
    for (int i = 0; i < 100 && to > from; i++) {
        const int f = from + (int)below(m, (size_t)(to - from));
        if (fits(&m->tree.field[f], like)) return f;
    }
    return SX_NO_FIELD;
}

static bool is_any(const sx_tree_field *field, const sx_tree_field *like) {
    (void)like;
    return field->owner != LEAF;
}
static bool is_message(const sx_tree_field *field, const sx_tree_field *like) {
    (void)like;
    return field->type != LEAF;
}
static bool is_alike(const sx_tree_field *field, const sx_tree_field *like) {
    return field->owner == like->owner && field->number == like->number;
}
static bool is_value(const sx_tree_field *field, const sx_tree_field *like) {
    (void)like;
    return kind_of(field) == 'v';
}
static bool holds_type(const sx_tree_field *field, const sx_tree_field *like) {
    return field->type == like->owner;
}

/* A text of our own, copied to where it stays. */
static sx_bytes own_text(mutator *m, const char *text) {
    const size_t size = strlen(text);
    sx_tree *tree = &m->tree;
    if (tree->n_scratch + size > SX_MAX_SCRATCH) return (sx_bytes){0};
    unsigned char *copy = tree->scratch + tree->n_scratch;
    memcpy(copy, text, size);
    tree->n_scratch += size;
    return (sx_bytes){copy, size};
}

/* A few bytes. */
static sx_bytes random_bytes(mutator *m) {
    char text[33];
    const size_t size = below(m, sizeof text);
    for (size_t i = 0; i < size; i++) text[i] = (char)(1 + below(m, below(m, 2) ? 8 : 255));
    text[size] = 0;
    return own_text(m, text);
}

/* The name of a value of the model, or of none. */
static sx_bytes random_value(mutator *m) {
    static const char *const fresh[] = {"", "u", "v", "w"};
    const int f = below(m, 5) ? random_field(m, is_value, NULL, 0, m->tree.n) : SX_NO_FIELD;
    return f == SX_NO_FIELD ? own_text(m, fresh[below(m, COUNT(fresh))]) : m->tree.field[f].bytes;
}

/* The name of an operation of the table. */
static sx_bytes random_operation(mutator *m) {
    size_t n = 0;
    while (sx_onnx_rule_at(n)) n++;
    return own_text(m, sx_onnx_rule_at(below(m, n))->name);
}

/* Gives a field that is no message something else to hold. */
static void fill_leaf(mutator *m, sx_tree_field *field, char kind) {
    const int64_t number = below(m, 3) ? (int64_t)below(m, 10) : numbers[below(m, COUNT(numbers))];
    static const double reals[] = {0, 1, 2, 0.5, -1, 3, 1e300, -1e300};
    const float single = (float)reals[below(m, COUNT(reals))];
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    field->wire = strchr("ie", kind) ? 0 : kind == 'f' ? 5 : kind == 'F' ? 1 : 2;
    field->value = kind == 'e' ? below(m, 26) : kind == 'f' || kind == 'F' ? bits : (uint64_t)number;
    field->bytes = kind == 'v'   ? random_value(m)
                   : kind == 'o' ? random_operation(m)
                   : kind == 'a' ? own_text(m, attributes[below(m, COUNT(attributes))])
                   : kind == 'd' ? own_text(m, domains[below(m, COUNT(domains))])
                   : kind == 'y' ? own_text(m, symbols[below(m, COUNT(symbols))])
                   : kind == 's' ? own_text(m, texts[below(m, COUNT(texts))])
                                 : random_bytes(m);
}

/* Makes a new field of a part of a message; what it holds is new, too. */
static int make_field(mutator *m, const part *p, int depth) {
    sx_tree_field field = {.number = p->number,
                           .owner = p->owner,
                           .type = p->type,
                           .wire = 2,
                           .first = SX_NO_FIELD,
                           .next = SX_NO_FIELD};
    if (p->kind != 'm') fill_leaf(m, &field, p->kind);
    const int made = sx_tree_add(&m->tree, &field);
    for (size_t i = 0; made != SX_NO_FIELD && p->kind == 'm' && depth < 4 && i < N_PARTS; i++) {
        if (parts[i].owner != p->type || (parts[i].kind == 'm' && below(m, 3))) continue;
        for (size_t times = below(m, 3); times; times--) {
            const int inner = make_field(m, &parts[i], depth + 1);
            if (inner != SX_NO_FIELD) sx_tree_insert(&m->tree, made, inner, -1);
        }
    }
    return made;
}

static void remove_field(mutator *m) {
    const int f = random_field(m, is_any, NULL, 0, m->tree.n);
    const int owner = f == SX_NO_FIELD ? SX_NO_FIELD : sx_tree_owner(&m->tree, f);
    if (owner != SX_NO_FIELD) sx_tree_remove(&m->tree, owner, f);
}

/* Copies a field to a message that may have it. */
static void copy_field(mutator *m, int from, int to) {
    const int f = random_field(m, is_any, NULL, from, to);
    if (f == SX_NO_FIELD) return;
    const int owner = random_field(m, holds_type, &m->tree.field[f], 0, m->tree.n);
    const int copy = owner == SX_NO_FIELD ? SX_NO_FIELD : sx_tree_copy(&m->tree, f);
    if (copy != SX_NO_FIELD) sx_tree_insert(&m->tree, owner, copy, (int)below(m, 12));
}

/* Moves a field among those of its message. */
static void move_field(mutator *m) {
    const int f = random_field(m, is_any, NULL, 0, m->tree.n);
    const int owner = f == SX_NO_FIELD ? SX_NO_FIELD : sx_tree_owner(&m->tree, f);
    if (owner == SX_NO_FIELD) return;
    sx_tree_remove(&m->tree, owner, f);
    sx_tree_insert(&m->tree, owner, f, (int)below(m, 12));
}

/* Gives a message a new field. */
static void add_field(mutator *m) {
    const int message = random_field(m, is_message, NULL, 0, m->tree.n);
    size_t most = 0, chosen;
    for (size_t i = 0; i < N_PARTS && message != SX_NO_FIELD; i++)
        most += parts[i].owner == m->tree.field[message].type;
    if (!most) return;
    chosen = below(m, most);
    for (size_t i = 0; i < N_PARTS; i++) {
        if (parts[i].owner != m->tree.field[message].type || chosen--) continue;
        const int made = make_field(m, &parts[i], 0);
        if (made != SX_NO_FIELD) sx_tree_insert(&m->tree, message, made, (int)below(m, 12));
        return;
    }
}

/* Changes what a field holds: to something new, to what another such field holds, or by one bit. */
static void change_leaf(mutator *m) {
    const int f = random_field(m, is_any, NULL, 0, m->tree.n);
    if (f == SX_NO_FIELD || m->tree.field[f].type) return;
    sx_tree_field *field = &m->tree.field[f];
    const char kind = kind_of(field);
    const int other = random_field(m, is_alike, field, 0, m->tree.n);
    switch (below(m, 4)) {
    case 0:
        if (other == SX_NO_FIELD) break;
        field->bytes = m->tree.field[other].bytes;
        field->value = m->tree.field[other].value;
        break;
    case 1:
        field->value ^= UINT64_C(1) << below(m, 64);
        break;
    case 2:
        field->value += below(m, 2) ? 1 : UINT64_MAX;
        break;
    default:
        if (kind) fill_leaf(m, field, kind);
    }
}

/* Gives a node another operation, which may read more values or fewer. */
static void change_operation(mutator *m) {
    const sx_tree_field operation = {.owner = NODE, .number = 4};
    const int f = random_field(m, is_alike, &operation, 0, m->tree.n);
    if (f != SX_NO_FIELD) m->tree.field[f].bytes = random_operation(m);
}

/* Leaves out an input of a node: its name becomes empty. */
static void leave_out(mutator *m) {
    const sx_tree_field input = {.owner = NODE, .number = 1};
    const int f = random_field(m, is_alike, &input, 0, m->tree.n);
    if (f != SX_NO_FIELD) m->tree.field[f].bytes = (sx_bytes){0};
}

/* Makes one change. */
static void change(mutator *m) {
    switch (below(m, 10)) {
    case 0:
        remove_field(m);
        break;
    case 1:
    case 2:
        copy_field(m, 0, m->tree.n);
        break;
    case 3:
        move_field(m);
        break;
    case 4:
    case 5:
        add_field(m);
        break;
    case 6:
        change_operation(m);
        break;
    case 7:
        leave_out(m);
        break;
    default:
        change_leaf(m);
    }
}

/* A mutator with a model; false where it cannot be read. */
static bool begin(mutator *m, const uint8_t *data, size_t size, unsigned seed) {
    m->tree.n = 0;
    m->tree.n_scratch = 0;
    m->rng = sx_rng_stream(seed, "fuzz.onnx", 0);
    return sx_tree_read(&m->tree, (sx_bytes){data, size}, MODEL, type_of) != SX_NO_FIELD;
}

static mutator *the_mutator(void) {
    static mutator m;
    return &m;
}

size_t sx_mutate_onnx(uint8_t *data, size_t size, size_t room, unsigned seed) {
    mutator *m = the_mutator();
    unsigned char *out = malloc(room + 1);
    if (!out) return size;
    if (!begin(m, data, size, seed)) {
        (void)begin(m, NULL, 0, seed);
        for (size_t i = 0; i < N_PARTS && parts[i].owner == MODEL; i++) {
            const int made = make_field(m, &parts[i], 0);
            if (made != SX_NO_FIELD) sx_tree_insert(&m->tree, 0, made, -1);
        }
    }
    for (size_t times = 1 + below(m, 4); times; times--) change(m);
    const size_t written = sx_tree_write(&m->tree, 0, out, room);
    if (written) memcpy(data, out, written);
    free(out);
    if (written && below(m, 64) == 0) data[below(m, written)] ^= (uint8_t)(1u << below(m, 8));
    return written ? written : size;
}

size_t sx_cross_onnx(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                     size_t room, unsigned seed) {
    mutator *m = the_mutator();
    if (!begin(m, a, a_size, seed)) return 0;
    const int first = m->tree.n;
    if (sx_tree_read(&m->tree, (sx_bytes){b, b_size}, MODEL, type_of) == SX_NO_FIELD) return 0;
    const int end = m->tree.n;
    for (size_t times = 1 + below(m, 4); times; times--) copy_field(m, first, end);
    return sx_tree_write(&m->tree, 0, out, room);
}
