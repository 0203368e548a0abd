/* Scalars: numbers, booleans and names out of text. */
#include "base/text.h"
#include "text/document/document.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Reads digits of a base up to the end of the text. */
static bool read_digits(const char *text, unsigned base, uint64_t *out) {
    uint64_t value = 0;
    if (!*text) return false;
    for (; *text; text++) {
        int c = tolower((unsigned char)*text);
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                                                : 99;
        if (digit >= base || value > (UINT64_MAX - digit) / base) return false;
        value = value * base + digit;
    }
    *out = value;
    return true;
}

bool sx_text_u64(const char *text, uint64_t *out) {
    if (*text == '+') text++;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) return read_digits(text + 2, 16, out);
    if (read_digits(text, 10, out)) return true;
    double value;
    if (!isdigit((unsigned char)*text) || !sx_text_double(text, &value)) return false;
    if (value < 0 || value > 0x1p53 || value != floor(value)) return false;
    *out = (uint64_t)value;
    return true;
}

bool sx_text_i64(const char *text, int64_t *out) {
    uint64_t value;
    bool negative = *text == '-';
    if (!sx_text_u64(text + negative, &value)) return false;
    if (negative && text[1] == '+') return false;
    if (value > (uint64_t)INT64_MAX) return false;
    *out = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

/* Whether the text is a number as JSON and YAML write decimal ones (leading and final points allowed). */
static bool decimal_shape(const char *text) {
    size_t digits = 0;
    if (*text == '+' || *text == '-') text++;
    for (; isdigit((unsigned char)*text); text++) digits++;
    if (*text == '.')
        for (text++; isdigit((unsigned char)*text); text++) digits++;
    if (digits == 0) return false;
    if (*text != 'e' && *text != 'E') return *text == 0;
    text++;
    if (*text == '+' || *text == '-') text++;
    if (!isdigit((unsigned char)*text)) return false;
    while (isdigit((unsigned char)*text)) text++;
    return *text == 0;
}

/* Whether the text is a way to write infinity; its sign goes to *out. */
static bool infinity_shape(const char *text, double *out) {
    bool negative = *text == '-';
    if (*text == '+' || *text == '-') text++;
    if (*text == '.') text++;
    if (strcasecmp(text, "inf") != 0 && strcasecmp(text, "infinity") != 0) return false;
    *out = negative ? -INFINITY : INFINITY;
    return true;
}

bool sx_text_double(const char *text, double *out) {
    char copy[512];
    size_t length = strlen(text);
    if (infinity_shape(text, out)) return true;
    if (length >= sizeof copy || !decimal_shape(text)) return false;
    memcpy(copy, text, length + 1);
    char *point = strchr(copy, '.');
    if (point) *point = localeconv()->decimal_point[0];
    char *end;
    double value = strtod(copy, &end);
    if (*end || !isfinite(value)) return false;
    *out = value;
    return true;
}

/* The error for a value that is not what it must be. */
static SX_MUST_USE sx_status not_a(const sx_node *node, const char *what, const char *right) {
    if (node->kind == SX_NODE_NULL)
        return sx_error_at(node->place, "'%s' must be %s, but is empty", what, right);
    if (node->kind != SX_NODE_SCALAR)
        return sx_error_at(node->place, "'%s' must be %s, but is a %s", what, right,
                           node->kind == SX_NODE_LIST ? "list" : "map");
    return sx_error_at(node->place, "'%s' must be %s, but is '%.64s'", what, right, node->text);
}

/* Whether a whole number begins with a 0 that readers of YAML, Timeloop's among them, take for the sign of an octal
 * number, so that its value is another one for them, or none. */
static bool octal_shape(const char *text) {
    if (*text == '+' || *text == '-') text++;
    size_t zeros = strspn(text, "0"), digits = strspn(text, "0123456789");
    return zeros > 0 && text[digits] == 0 && (digits > zeros + 1 || text[zeros] > '7');
}

sx_status sx_node_decimal(const sx_node *node, const char *what) {
    if (node->kind != SX_NODE_SCALAR || !octal_shape(node->text)) return SX_OK;
    return sx_error_hint(sx_error_at(node->place,
                                     "'%s' is %.64s, which some readers take for an octal number", what,
                                     node->text),
                         "write it without the leading 0");
}

sx_status sx_node_u64(const sx_node *node, const char *what, uint64_t *out) {
    SX_TRY(sx_node_decimal(node, what));
    if (node->kind == SX_NODE_SCALAR && sx_text_u64(node->text, out)) return SX_OK;
    return not_a(node, what, "a whole number from 0 to 2^64-1");
}

sx_status sx_node_range(const sx_node *node, const char *what, uint64_t low, uint64_t high, uint64_t *out) {
    uint64_t value;
    char right[80];
    snprintf(right, sizeof right, "a whole number from %llu to %llu", (unsigned long long)low,
             (unsigned long long)high);
    SX_TRY(sx_node_decimal(node, what));
    if (node->kind != SX_NODE_SCALAR || !sx_text_u64(node->text, &value) || value < low || value > high)
        return not_a(node, what, right);
    *out = value;
    return SX_OK;
}

sx_status sx_node_u32(const sx_node *node, const char *what, uint32_t *out) {
    uint64_t value;
    SX_TRY(sx_node_decimal(node, what));
    if (node->kind != SX_NODE_SCALAR || !sx_text_u64(node->text, &value) || value > UINT32_MAX)
        return not_a(node, what, "a whole number from 0 to 2^32-1");
    *out = (uint32_t)value;
    return SX_OK;
}

sx_status sx_node_i64(const sx_node *node, const char *what, int64_t *out) {
    SX_TRY(sx_node_decimal(node, what));
    if (node->kind == SX_NODE_SCALAR && sx_text_i64(node->text, out)) return SX_OK;
    return not_a(node, what, "a whole number from -(2^63-1) to 2^63-1");
}

sx_status sx_node_double(const sx_node *node, const char *what, double *out) {
    SX_TRY(sx_node_decimal(node, what));
    if (node->kind == SX_NODE_SCALAR && sx_text_double(node->text, out)) return SX_OK;
    return not_a(node, what, "a number");
}

sx_status sx_node_bool(const sx_node *node, const char *what, bool *out) {
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", "1", "0"};
    if (node->kind == SX_NODE_SCALAR)
        for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
            if (strcasecmp(node->text, words[i]) == 0) {
                *out = i % 2 == 0;
                return SX_OK;
            }
    return not_a(node, what, "true or false");
}

sx_status sx_node_text(const sx_node *node, const char *what, const char **out) {
    if (node->kind != SX_NODE_SCALAR) return not_a(node, what, "a text");
    *out = node->text;
    return SX_OK;
}

/* Whether every character can be shown as it is. */
static bool is_printable(const char *text) {
    uint32_t code;
    for (size_t size; (size = sx_text_character(text, &code)) && sx_text_visible(code);) text += size;
    return *text == 0;
}

sx_status sx_node_name(const sx_node *node, const char *what, char *field) {
    const char *text = NULL;
    SX_TRY(sx_node_text(node, what, &text));
    if (!is_printable(text))
        return sx_error_at(node->place, "'%s' has characters that cannot be printed", what);
    return sx_error_place(sx_text_name(field, SX_NAME_SIZE, text, what), node->place);
}

/* Calls `each` with the words of a scalar. */
static SX_MUST_USE sx_status visit_words(const sx_node *node, sx_name_visitor *each, void *user) {
    static const char separators[] = " \t\r\n,";
    for (const char *at = node->text; *(at += strspn(at, separators));) {
        size_t length = strcspn(at, separators);
        char word[SX_NAME_SIZE];
        sx_place place = node->place;
        place.column += (int)(at - node->text) + (node->quoted ? 1 : 0);
        if (length >= sizeof word)
            return sx_error_at(place, "the name '%.16s...' is longer than %d bytes", at, SX_NAME_SIZE - 1);
        memcpy(word, at, length);
        word[length] = 0;
        SX_TRY(each(user, word, place));
        at += length;
    }
    return SX_OK;
}

sx_status sx_node_names(const sx_node *node, const char *what, sx_name_visitor *each, void *user) {
    if (node->kind == SX_NODE_NULL) return SX_OK;
    if (node->kind == SX_NODE_SCALAR) return visit_words(node, each, user);
    if (node->kind != SX_NODE_LIST) return not_a(node, what, "a list of names");
    for (size_t i = 0; i < node->n; i++) {
        const char *name = NULL;
        SX_TRY(sx_node_text(node->item[i], what, &name));
        SX_TRY(each(user, name, node->item[i]->place));
    }
    return SX_OK;
}
