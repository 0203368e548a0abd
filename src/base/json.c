#include "base/json.h"

#include "base/decimal.h"

#include <assert.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local bool out_of_memory; /* the tree of this thread may lack any part */

/* Where memory is out while a text is read, jansson gets some of a reserve: version 2.14 writes beyond a token
 * whose buffer cannot grow. */
static _Alignas(16) unsigned char reserve[1 << 20];
static atomic_size_t reserved;
static _Thread_local bool reading;

/* Memory for jansson. */
static void *allocate_json(size_t size) {
    void *memory = malloc(size);
    if (memory) return memory;
    out_of_memory = true;
    if (!reading || size > sizeof reserve) return NULL;
    size_t from = atomic_fetch_add(&reserved, (size + 15) / 16 * 16);
    return from <= sizeof reserve - size ? reserve + from : NULL;
}

/* Frees it; that of the reserve is not used again. */
static void release_json(void *memory) {
    uintptr_t at = (uintptr_t)memory, first = (uintptr_t)reserve;
    if (at < first || at >= first + sizeof reserve) free(memory);
}

void sx_json_begin(void) {
    json_set_alloc_funcs(allocate_json, release_json);
}

void sx_json_fail(void) {
    out_of_memory = true;
}

bool sx_json_failed(void) {
    return out_of_memory;
}

json_t *sx_json_number(double value) {
    if (value == floor(value) && fabs(value) < 0x1p53) return json_integer((json_int_t)value);
    return sx_json_real(value);
}

json_t *sx_json_real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *sx_json_count(uint64_t value) {
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

json_t *sx_json_exact(uint64_t value) {
    char digits[24];
    if (value <= INT64_MAX) return json_integer((json_int_t)value);
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    return json_string(digits);
}

json_t *sx_json_string(const char *text) {
    json_t *string = text ? json_string(text) : json_null();
    char *copy = string ? NULL : strdup(text);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c >= 0x80) *c = '?';
    if (copy) string = json_string(copy);
    free(copy);
    return string;
}

json_t *sx_json_text(const char *text) {
    return json_string_nocheck(text);
}

json_t *sx_json_set(json_t *object, const char *key, json_t *item) {
    if (json_object_set_new(object, key, item) == 0) return item;
    sx_json_fail();
    return NULL;
}

json_t *sx_json_append(json_t *list, json_t *item) {
    if (json_array_append_new(list, item) == 0) return item;
    sx_json_fail();
    return NULL;
}

json_t *sx_json_load(const char *text, size_t size, json_error_t *error) {
    reading = true;
    json_t *tree = json_loadb(text, size, 0, error);
    reading = false;
    return tree;
}

json_t *sx_json_read(const char *text) {
    return sx_json_load(text, strlen(text), NULL);
}

enum { NUMBER_ROOM = 64, SHORT = 15 }; /* a number of up to 15 characters has no digits too many */

/* Writes a number in the fewest digits, with a fraction or an exponent, that without needless signs and zeros;
 * returns its length. */
static size_t write_number(double value, char out[NUMBER_ROOM]) {
    char text[SX_DECIMAL_SIZE];
    sx_decimal_text(value, text);
    int mantissa = (int)strcspn(text, "e");
    bool whole = !strpbrk(text, ".e");
    int n = snprintf(out, NUMBER_ROOM, "%.*s%s", mantissa, text, whole ? ".0" : "");
    if (text[mantissa]) n += snprintf(out + n, NUMBER_ROOM - (size_t)n, "e%d", atoi(text + mantissa + 1));
    return (size_t)n;
}

/* The number that a token of JSON stands for. */
static double read_number(const char *token, size_t size) {
    char copy[NUMBER_ROOM];
    memcpy(copy, token, size);
    copy[size] = 0;
    char *point = strchr(copy, '.');
    if (point) *point = localeconv()->decimal_point[0];
    return strtod(copy, NULL);
}

/* How many bytes the string, the number or the character at the beginning of printed JSON has; *real: it is a
 * number that is written as no integer. */
static size_t token_size(const char *text, bool *real) {
    size_t n = 1;
    *real = false;
    if (*text == '"') {
        while (text[n] != '"') n += text[n] == '\\' ? 2 : 1;
        return n + 1;
    }
    if (*text != '-' && (*text < '0' || *text > '9')) return 1;
    n = strspn(text, "-+.0123456789eE");
    *real = strspn(text, "-0123456789") < n;
    return n;
}

char *sx_json_print(const json_t *tree, size_t flags) {
    char *text = json_dumps(tree, flags);
    if (!out_of_memory) return text;
    out_of_memory = false;
    release_json(text);
    return NULL;
}

char *sx_json_dump(const json_t *tree, size_t flags) {
    char *text = sx_json_print(tree, flags | JSON_REAL_PRECISION(17)), *to = text;
    if (!text) return NULL;
    for (const char *at = text; *at;) {
        char number[NUMBER_ROOM];
        bool real;
        size_t n = token_size(at, &real), length = n;
        if (real && n > SHORT) length = write_number(read_number(at, n), number);
        assert(length <= n);
        memmove(to, length < n ? number : at, length);
        to += length;
        at += n;
    }
    *to = 0;
    return text;
}
