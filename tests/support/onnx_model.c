#include "support/onnx_model.h"

#include "base/text.h"
#include "sextant/input.h"
#include "support/expect.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_WORD = 256, FLOAT = 1, INT64 = 7 };

static const char *const type_names[] = {"none", "f32", "u8",  "i8",  "u16", "i16", "i32",  "i64", "text",
                                         "b",    "f16", "f64", "u32", "u64", "c64", "c128", "bf16"};
enum { N_TYPES = sizeof type_names / sizeof *type_names };

/* The type of a name, 0 where there is none such. */
static int type_named(const char *word) {
    for (int i = 1; i < N_TYPES; i++)
        if (strcmp(type_names[i], word) == 0) return i;
    return 0;
}

static void add_varint(sx_text *out, uint64_t value) {
    for (; value > 127; value >>= 7) sx_text_add_bytes(out, (char[]){(char)(value | 128)}, 1);
    sx_text_add_bytes(out, (char[]){(char)value}, 1);
}

static void add_number(sx_text *out, uint32_t field, int64_t value) {
    add_varint(out, (uint64_t)field << 3);
    add_varint(out, (uint64_t)value);
}

static void add_bytes(sx_text *out, uint32_t field, const char *bytes, size_t size) {
    add_varint(out, (uint64_t)field << 3 | 2);
    add_varint(out, size);
    sx_text_add_bytes(out, bytes, size);
}

static void add_word(sx_text *out, uint32_t field, const char *word) {
    add_bytes(out, field, word, strlen(word));
}

/* Adds a message and frees it. */
static void add_message(sx_text *out, uint32_t field, sx_text *message) {
    add_bytes(out, field, message->data ? message->data : "", message->size);
    sx_text_free(message);
}

static void add_float(sx_text *out, uint32_t field, double number) {
    const float value = (float)number;
    add_varint(out, (uint64_t)field << 3 | 5);
    sx_text_add_bytes(out, (const char *)&value, sizeof value);
}

/* A statement that is being read. */
typedef struct reader {
    const char *at, *end;
} reader;

/* Reads the next word, up to a blank or one of the signs; false at the end. */
static bool read_word(reader *r, const char *signs, char word[MAX_WORD]) {
    size_t n = 0;
    while (r->at < r->end && isspace((unsigned char)*r->at)) r->at++;
    while (r->at < r->end && !isspace((unsigned char)*r->at) && !strchr(signs, *r->at)) {
        assert_true(n + 1 < MAX_WORD);
        word[n++] = *r->at++;
    }
    word[n] = 0;
    return n > 0;
}

/* Whether a sign follows, which is then left behind. */
static bool read_sign(reader *r, char sign) {
    while (r->at < r->end && isspace((unsigned char)*r->at)) r->at++;
    if (r->at == r->end || *r->at != sign) return false;
    r->at++;
    return true;
}

/* Adds a number as an element of a type, the lowest byte first. */
static void add_element(sx_text *out, int type, const char *word) {
    const double real = strtod(word, NULL);
    const float single = (float)real;
    const int64_t whole = (int64_t)strtoll(word, NULL, 10);
    if (type == FLOAT)
        sx_text_add_bytes(out, (const char *)&single, sizeof single);
    else if (strcmp(type_names[type], "f64") == 0)
        sx_text_add_bytes(out, (const char *)&real, sizeof real);
    else
        sx_text_add_bytes(out, (const char *)&whole, sx_onnx_type_bits(type) / 8);
}

/* Reads `[TYPE] EXTENT... [: NUMBER...]` as a tensor. */
static void read_tensor(reader *r, const char *name, bool external, sx_text *out) {
    char word[MAX_WORD];
    sx_text raw = {0};
    int type = FLOAT;
    while (read_word(r, ":}", word)) {
        if (type_named(word))
            type = type_named(word);
        else
            add_number(out, 1, strtoll(word, NULL, 10));
    }
    add_number(out, 2, type);
    if (*name) add_word(out, 8, name);
    if (read_sign(r, ':'))
        while (read_word(r, "}", word)) add_element(&raw, type, word);
    if (external)
        add_word(out, 13, "");
    else
        add_message(out, 9, &raw);
}

/* Reads `[TYPE] EXTENT...` as what is said of a value. */
static void read_info(reader *r, const char *name, sx_text *out) {
    char word[MAX_WORD];
    sx_text shape = {0}, tensor = {0}, type = {0};
    int element = FLOAT;
    bool any = false;
    while (read_word(r, "", word)) {
        sx_text dim = {0};
        if (type_named(word)) {
            element = type_named(word);
            any = any || strcmp(word, "i64") == 0;
            continue;
        }
        any = true;
        if (isdigit((unsigned char)*word))
            add_number(&dim, 1, strtoll(word, NULL, 10));
        else if (*word != '?')
            add_word(&dim, 2, word);
        add_message(&shape, 1, &dim);
    }
    add_number(&tensor, 1, element);
    if (any) add_message(&tensor, 2, &shape);
    add_message(&type, 1, &tensor);
    add_word(out, 1, name);
    add_message(out, 2, &type);
}

/* Reads the numbers of a list. */
static void read_list(reader *r, sx_text *out) {
    char word[MAX_WORD];
    while (read_word(r, ",]", word)) {
        if (strchr(word, '.'))
            add_float(out, 7, strtod(word, NULL));
        else
            add_number(out, 8, strtoll(word, NULL, 10));
        (void)read_sign(r, ',');
    }
    assert_true(read_sign(r, ']'));
}

/* Where a statement ends: at one of the separators that is in no brackets, or at the end. */
static const char *statement_end(const char *at, const char *end, const char *separators) {
    int depth = 0;
    for (; at < end && (depth || !strchr(separators, *at)); at++) depth += (*at == '(') - (*at == ')');
    return at;
}

static void read_statement(reader r, sx_text *model, sx_text *graph, int64_t *opset);

/* Reads the statements of a graph in brackets, the first of which was read. */
static void read_graph(reader *r, sx_text *out) {
    const char *end = statement_end(r->at, r->end, ")");
    assert_true(end < r->end);
    while (r->at < end) {
        const char *next = statement_end(r->at, end, "|");
        read_statement((reader){r->at, next}, NULL, out, NULL);
        r->at = next + (next < end);
    }
    r->at = end + 1;
}

/* Reads the value of an attribute. */
static void read_attribute(reader *r, const char *name, sx_text *out) {
    char word[MAX_WORD];
    add_word(out, 1, name);
    if (read_sign(r, '[')) {
        read_list(r, out);
    } else if (read_sign(r, '(')) {
        sx_text graph = {0};
        read_graph(r, &graph);
        add_message(out, 6, &graph);
    } else if (read_sign(r, '@')) {
        assert_true(read_word(r, "", word));
        add_word(out, 21, word);
    } else if (read_sign(r, '{')) {
        sx_text tensor = {0};
        read_tensor(r, "", false, &tensor);
        assert_true(read_sign(r, '}'));
        add_message(out, 5, &tensor);
    } else if (read_sign(r, '\'')) {
        const char *quote = memchr(r->at, '\'', (size_t)(r->end - r->at));
        assert_non_null(quote);
        add_bytes(out, 4, r->at, (size_t)(quote - r->at));
        r->at = quote + 1;
    } else {
        assert_true(read_word(r, "", word));
        if (strchr(word, '.'))
            add_float(out, 2, strtod(word, NULL));
        else
            add_number(out, 3, strtoll(word, NULL, 10));
    }
}

/* Reads the names of inputs or outputs up to a sign. */
static void read_names(reader *r, uint32_t field, sx_text *out) {
    char word[MAX_WORD];
    while (r->at < r->end && isspace((unsigned char)*r->at)) r->at++;
    while (!(r->at + 1 < r->end && r->at[0] == '-' && r->at[1] == '>') && read_word(r, ",", word)) {
        add_word(out, field, strcmp(word, "-") == 0 ? "" : word);
        if (!read_sign(r, ',')) break;
    }
}

/* Reads a node whose operation was read. */
static void read_node(reader *r, const char *op, sx_text *out) {
    char word[MAX_WORD];
    read_names(r, 1, out);
    assert_true(read_sign(r, '-') && read_sign(r, '>'));
    read_names(r, 2, out);
    add_word(out, 4, op);
    while (read_word(r, "=", word)) {
        char value[MAX_WORD];
        sx_text attribute = {0};
        assert_true(read_sign(r, '='));
        if (strcmp(word, "name") == 0 || strcmp(word, "domain") == 0) {
            assert_true(read_word(r, "", value));
            add_word(out, word[0] == 'n' ? 3 : 7, value);
        } else {
            read_attribute(r, word, &attribute);
            add_message(out, 5, &attribute);
        }
    }
}

/* Reads a function of the domain own. */
static void read_function(reader *r, sx_text *out) {
    char word[MAX_WORD];
    sx_text graph = {0};
    assert_true(read_word(r, "", word));
    add_word(out, 1, word);
    read_names(r, 4, out);
    assert_true(read_sign(r, '-') && read_sign(r, '>'));
    read_names(r, 5, out);
    while (!read_sign(r, '(')) {
        sx_text attribute = {0};
        assert_true(read_word(r, "=", word) && read_sign(r, '='));
        read_attribute(r, word, &attribute);
        add_message(out, 11, &attribute);
    }
    read_graph(r, &graph);
    sx_wire wire = sx_wire_of((sx_bytes){(const unsigned char *)graph.data, graph.size});
    for (sx_field field; sx_wire_next(&wire, &field);)
        if (field.number == 1) add_bytes(out, 7, (const char *)field.bytes.data, field.bytes.size);
    sx_text_free(&graph);
    add_word(out, 10, "own");
}

/* Reads a statement into the graph, the opset, or as a function into the model. */
static void read_statement(reader r, sx_text *model, sx_text *graph, int64_t *opset) {
    static const char *const infos[] = {"in", "out", "say"};
    char word[MAX_WORD], name[MAX_WORD];
    sx_text message = {0};
    if (!read_word(&r, "", word)) return;
    for (uint32_t i = 0; i < 3; i++)
        if (strcmp(word, infos[i]) == 0) {
            assert_true(read_word(&r, "", name));
            read_info(&r, name, &message);
            add_message(graph, 11 + i, &message);
            return;
        }
    if (strcmp(word, "opset") == 0) {
        assert_true(opset && read_word(&r, "", name));
        *opset = strtoll(name, NULL, 10);
    } else if (strcmp(word, "function") == 0) {
        assert_non_null(model);
        read_function(&r, &message);
        add_message(model, 25, &message);
    } else if (strcmp(word, "weight") == 0 || strcmp(word, "data") == 0) {
        assert_true(read_word(&r, "", name));
        read_tensor(&r, name, word[0] == 'w', &message);
        add_message(graph, 5, &message);
    } else {
        read_node(&r, word, &message);
        add_message(graph, 1, &message);
    }
}

unsigned char *sx_onnx_bytes(const char *model, size_t *size) {
    sx_text out = {0}, graph = {0}, opset = {0};
    int64_t version = 20;
    for (const char *at = model, *end = model + strlen(model); at < end;) {
        const char *next = statement_end(at, end, ";\n");
        read_statement((reader){at, next}, &out, &graph, &version);
        at = next + (next < end);
    }
    add_message(&out, 7, &graph);
    add_number(&opset, 2, version);
    add_message(&out, 8, &opset);
    assert_false(out.failed);
    *size = out.size;
    return (unsigned char *)out.data;
}

static const sx_onnx_symbol symbols[] = {{"batch", 2, NULL}, {"n", 5, NULL}};

sx_status sx_onnx_read_text(const char *model, sx_onnx *out) {
    size_t size;
    unsigned char *bytes = sx_onnx_bytes(model, &size);
    sx_status status = sx_onnx_parse("m.onnx", bytes, size, symbols, 2, out);
    free(bytes);
    return status;
}

/* Writes what is known of a value. */
static void write_value(const sx_onnx_value *value, sx_text *out) {
    const int64_t n = sx_onnx_elements(&value->shape);
    sx_text_add(out, "%s", value->type >= 0 && value->type < N_TYPES ? type_names[value->type] : "other");
    sx_text_add(out, value->shape.n < 0 ? "*" : "[");
    for (int i = 0; i < value->shape.n; i++) {
        if (value->shape.dim[i] < 0)
            sx_text_add(out, "%s?", i ? "," : "");
        else
            sx_text_add(out, "%s%lld", i ? "," : "", (long long)value->shape.dim[i]);
    }
    if (value->shape.n >= 0) sx_text_add(out, "]");
    if (!value->data) return;
    sx_text_add(out, "{");
    for (int64_t i = 0; i < n; i++) sx_text_add(out, "%s%g", i ? " " : "", value->data[i]);
    sx_text_add(out, "}");
}

/* Fails the test unless two texts are equal, naming the model. */
static void expect_text(const char *model, const char *name, sx_text *got, const char *want) {
    assert_false(got->failed);
    const bool same = strcmp(got->data ? got->data : "", want) == 0;
    if (!same)
        print_error("%s\n%s is %s\nwanted   %s\n", model, name, got->data ? got->data : "nothing", want);
    sx_text_free(got);
    assert_true(same);
}

void sx_expect_value(const char *model, const char *name, const char *description) {
    size_t size;
    unsigned char *bytes = sx_onnx_bytes(model, &size);
    sx_onnx_trace trace;
    sx_text got = {0};
    sx_status status = sx_onnx_trace_model((sx_bytes){bytes, size}, symbols, 2, &trace);
    if (status) print_error("%s\n", model);
    sx_expect_ok(status);
    for (uint32_t i = 0; i < trace.values.n; i++)
        if (sx_bytes_are(sx_onnx_value_at(&trace, i)->name, name))
            write_value(sx_onnx_value_at(&trace, i), &got);
    sx_onnx_trace_fini(&trace);
    free(bytes);
    expect_text(model, name, &got, description);
}

/* Writes an operand of a node. */
static void write_operand(const sx_graph *graph, const sx_graph_node *node, size_t index, sx_text *out) {
    const sx_graph_operand *operand = &graph->operand[node->first + index];
    const sx_graph_tensor *tensor = &graph->tensor[operand->tensor];
    size_t at = 0;
    sx_text_add(out, " %s", tensor->name);
    if (node->einsum == SX_NO_INDEX) {
        sx_text_add(out, operand->written ? "=" : "");
        return;
    }
    if (operand->split >= 0) sx_text_add(out, "@%d", operand->split);
    sx_text_add(out, "(");
    for (size_t g = 0; g < tensor->n_ranks; g++) {
        sx_text_add(out, g ? "|" : "");
        for (size_t i = 0; i < operand->n_of[g]; i++) sx_text_add(out, "%d", operand->rank[at++]);
        if (operand->before[g] || operand->after[g])
            sx_text_add(out, "+%u..%u", operand->before[g], operand->after[g]);
    }
    sx_text_add(out, ")");
}

/* Writes a node. */
static void write_node(const sx_graph *graph, size_t index, sx_text *out) {
    const sx_graph_node *node = &graph->node[index];
    if (node->einsum != SX_NO_INDEX) {
        char *einsum;
        sx_expect_ok(sx_einsum_text(&graph->einsum[node->einsum], &einsum));
        sx_text_add(out, "%s", einsum);
        sx_free(einsum);
    }
    if (node->kind != SX_OP_EINSUM) {
        sx_text_add(out, "%s%s", node->einsum == SX_NO_INDEX ? "" : " ", sx_op_kind_name(node->kind));
        sx_text_add(out, " %s", node->function);
        if (node->axis >= 0) sx_text_add(out, "/%d", node->axis);
    }
    if (node->repeat != 1) sx_text_add(out, " x%llu", (unsigned long long)node->repeat);
    for (size_t i = 0; i < node->n_operands; i++) write_operand(graph, node, i, out);
}

void sx_expect_node(const char *model, const char *name, const char *description) {
    sx_onnx onnx;
    sx_text got = {0};
    sx_status status = sx_onnx_read_text(model, &onnx);
    if (status) print_error("%s\n", model);
    sx_expect_ok(status);
    const size_t index = sx_graph_find_node(&onnx.graph, name);
    if (index != SX_NO_INDEX) write_node(&onnx.graph, index, &got);
    sx_onnx_fini(&onnx);
    expect_text(model, name, &got, description);
}

void sx_expect_refused(const char *model, const char *part) {
    sx_onnx onnx;
    sx_status status = sx_onnx_read_text(model, &onnx);
    if (!status) {
        print_error("%s\nis not refused\n", model);
        sx_onnx_fini(&onnx);
    }
    sx_expect_error(status, part);
}
