#include "base/saved_state.h"

#include "base/file.h"
#include "base/hash.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const size_t FILE_LIMIT = (size_t)1 << 32;

/* Digits of a digest, which format 1 had where later ones have their number; bytes of the first line at the most. */
enum { DIGEST = 16, LINE = 160 };

/* Adds a line, in whose value line breaks become spaces; frees the value. */
static void add_line(sx_text *text, const char *key, SX_TAKE sx_text *value) {
    for (size_t i = 0; i < value->size; i++)
        if (value->data[i] == '\n') value->data[i] = ' ';
    if (value->failed)
        text->failed = true;
    else
        sx_text_add(text, "%s %s\n", key, value->size ? value->data : "");
    sx_text_free(value);
}

void sx_identity_add(sx_text *text, const char *key, const char *format, ...) {
    va_list args;
    sx_text value = {0};
    va_start(args, format);
    sx_text_add_list(&value, format, args);
    va_end(args);
    add_line(text, key, &value);
}

void sx_identity_add_digest(sx_text *text, const char *key, const char *value, unsigned long long digest) {
    sx_identity_add(text, key, "%s %0*llx", value, DIGEST, digest);
}

/* A key with its value, of `size` bytes; NULL where an identity does not have it. */
static const char *find_value(const char *identity, size_t size, const char *key, size_t length,
                              size_t *out) {
    const char *end = identity + size;
    while (identity < end) {
        const char *stop = memchr(identity, '\n', (size_t)(end - identity));
        if (!stop) return NULL;
        if ((size_t)(stop - identity) > length && memcmp(identity, key, length) == 0 &&
            identity[length] == ' ') {
            *out = (size_t)(stop - identity) - length - 1;
            return identity + length + 1;
        }
        identity = stop + 1;
    }
    return NULL;
}

/* The bytes of a value without its digest, if it has one. */
static size_t named_part(const char *value, size_t size) {
    if (size <= DIGEST || value[size - DIGEST - 1] != ' ') return size;
    for (size_t i = size - DIGEST; i < size; i++)
        if (!isxdigit((unsigned char)value[i])) return size;
    return size - DIGEST - 1;
}

bool sx_identity_differs(const char *there, size_t size, const char *here, sx_text *out) {
    for (const char *key = here; *key; key += strcspn(key, "\n") + 1) {
        const size_t length = strcspn(key, " ");
        const char *is = key + length + 1;
        const size_t is_size = strcspn(is, "\n");
        size_t was_size = 0;
        const char *was = find_value(there, size, key, length, &was_size);
        if (was && was_size == is_size && memcmp(was, is, is_size) == 0) continue;
        const size_t is_named = named_part(is, is_size), was_named = was ? named_part(was, was_size) : 0;
        if (!was)
            sx_text_add(out, "it does not say its %.*s", (int)length, key);
        else if (was_named == is_named && memcmp(was, is, is_named) == 0)
            sx_text_add(out, "it was made with another %.*s%s%.*s", (int)length, key,
                        is_named ? " of the name " : "", (int)is_named, is);
        else
            sx_text_add(out, "it was made with %.*s %.*s, not %.*s", (int)length, key, (int)was_named, was,
                        (int)is_named, is);
        return true;
    }
    if (size == strlen(here)) return false;
    sx_text_add(out, "it says more than this one");
    return true;
}

static const char another[] = "use another file, or remove this one to start over";

sx_status sx_state_refuse(const char *path, const char *what) {
    return sx_error_hint(sx_error_new(SX_ERR_INPUT, "the checkpoint '%s' %s", path, what), another);
}

/* The error for a file of another kind. */
static sx_status refuse_kind(const sx_state_kind *kind, const char *path) {
    char what[128];
    snprintf(what, sizeof what, "is not a %s", kind->about);
    return sx_state_refuse(path, what);
}

sx_status sx_state_load(const sx_state_kind *kind, const char *path, char **bytes, size_t *size) {
    struct stat info;
    *bytes = NULL;
    *size = 0;
    if (stat(path, &info) != 0 && errno == ENOENT) return SX_OK;
    if (!sx_file_begins(path, kind->mark, strlen(kind->mark))) return refuse_kind(kind, path);
    return sx_file_read_regular(path, FILE_LIMIT, bytes, size);
}

/* The first line of a file. */
static int first_line(char line[LINE], const sx_state_kind *kind, uint64_t hash, size_t body,
                      size_t identity) {
    return snprintf(line, LINE, "%s%u %0*" PRIx64 " %zu %zu\n", kind->mark, kind->format, DIGEST, hash, body,
                    identity);
}

sx_status sx_state_parse(const sx_state_kind *kind, const char *path, const char *bytes, size_t size,
                         sx_saved_state *out) {
    const size_t mark = strlen(kind->mark);
    char line[LINE], what[128];
    uint64_t hash;
    unsigned format;
    size_t body, identity;
    if (size < mark || memcmp(bytes, kind->mark, mark) != 0) return refuse_kind(kind, path);
    const size_t digits = strspn(bytes + mark, "0123456789abcdef");
    if (digits == 0 || (digits != DIGEST && sscanf(bytes + mark, "%4u", &format) != 1))
        return sx_state_refuse(path, "is damaged");
    if (digits == DIGEST) format = 1;
    if (format != kind->format) {
        snprintf(what, sizeof what, "was written in format %u; this program reads format %u", format,
                 kind->format);
        return sx_state_refuse(path, what);
    }
    if (sscanf(bytes + mark + digits, " %16" SCNx64 " %zu %zu", &hash, &body, &identity) != 3)
        return sx_state_refuse(path, "is damaged");
    const size_t head = (size_t)first_line(line, kind, hash, body, identity);
    if (size < head || memcmp(bytes, line, head) != 0 || size - head != body || identity > body ||
        sx_hash_bytes(bytes + head, body, identity) != hash)
        return sx_state_refuse(path, "is damaged");
    *out = (sx_saved_state){bytes + head, bytes + head + identity, identity, body - identity};
    return SX_OK;
}

sx_status sx_state_check(const char *path, const sx_saved_state *state, const char *identity) {
    sx_text what = {0};
    sx_status error = SX_OK;
    if (sx_identity_differs(state->identity, state->identity_size, identity, &what))
        error = what.failed
                    ? sx_error_memory()
                    : sx_error_hint(sx_error_new(SX_ERR_INPUT,
                                                 "the checkpoint '%s' belongs to another search: %s", path,
                                                 what.data),
                                    "use the options and inputs that it was made with, or %s", another + 4);
    sx_text_free(&what);
    return error;
}

sx_status sx_state_write(const sx_state_kind *kind, const char *path, const char *identity,
                         size_t identity_size, const char *body, size_t size) {
    char line[LINE];
    sx_text all = {0}, file = {0};
    if (identity_size) sx_text_add_bytes(&all, identity, identity_size);
    if (size) sx_text_add_bytes(&all, body, size);
    if (!all.failed) {
        const uint64_t hash = sx_hash_bytes(all.data ? all.data : "", all.size, identity_size);
        sx_text_add_bytes(&file, line, (size_t)first_line(line, kind, hash, all.size, identity_size));
        if (all.size) sx_text_add_bytes(&file, all.data, all.size);
    }
    sx_status status =
        all.failed || file.failed ? sx_error_memory() : sx_file_write(path, file.data, file.size);
    sx_text_free(&all);
    sx_text_free(&file);
    return status;
}
