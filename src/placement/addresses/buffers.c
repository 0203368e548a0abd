#include "placement/addresses/buffers.h"

#include "base/file.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

enum { ID, LOWER, UPPER, SIZE, OFFSET, N_COLUMNS };
enum { MOST_FIELDS = 16, FILE_LIMIT = 1 << 28 };

static const char *const names[] = {
    [ID] = "id", [LOWER] = "lower", [UPPER] = "upper", [SIZE] = "size", [OFFSET] = "offset"};

typedef struct reader {
    const char *name;
    int line;
    char *at;                 /* where the next line begins */
    size_t n_fields;          /* of the line at hand */
    char *field[MOST_FIELDS]; /* zero-terminated */
    int column[MOST_FIELDS];  /* of their first characters */
    size_t n_columns;         /* fields of every line */
    size_t which[N_COLUMNS];  /* the field of a column; MOST_FIELDS: none */
} reader;

/* The place of a field of the line at hand. */
static sx_place place_of(const reader *r, size_t field) {
    return (sx_place){r->name, r->line, field < r->n_fields ? r->column[field] : 1};
}

/* Removes blanks around a field; returns how many were before it. */
static int trim(char **field) {
    int before = 0;
    while (**field == ' ' || **field == '\t') {
        ++*field;
        before++;
    }
    size_t size = strlen(*field);
    while (size > 0 && ((*field)[size - 1] == ' ' || (*field)[size - 1] == '\t')) (*field)[--size] = 0;
    return before;
}

/* Cuts the next line that is not empty into fields; false at the end of the text. */
static bool next_line(reader *r, sx_status *status) {
    char *line;
    do {
        if (*r->at == 0) return false;
        line = r->at;
        size_t size = strcspn(line, "\n");
        r->at = line + size + (line[size] == '\n');
        line[size] = 0;
        if (size > 0 && line[size - 1] == '\r') line[size - 1] = 0;
        r->line++;
    } while (line[strspn(line, " \t")] == 0);
    char *begin = line;
    for (r->n_fields = 0; begin;) {
        if (r->n_fields == MOST_FIELDS) {
            *status = sx_error_at((sx_place){r->name, r->line, 1}, "more than %d columns", MOST_FIELDS);
            return false;
        }
        char *end = strchr(begin, ','), *field = begin;
        if (end) *end = 0;
        r->column[r->n_fields] = (int)(begin - line) + 1 + trim(&field);
        r->field[r->n_fields++] = field;
        begin = end ? end + 1 : NULL;
    }
    return true;
}

/* Reads the names of the columns. */
static sx_status read_head(reader *r) {
    sx_status status = SX_OK;
    for (int c = 0; c < N_COLUMNS; c++) r->which[c] = MOST_FIELDS;
    if (!next_line(r, &status))
        return status ? status
                      : sx_error_hint(sx_error_at((sx_place){r->name, 0, 0}, "the file is empty"),
                                      "the first line names the columns: id,lower,upper,size");
    r->n_columns = r->n_fields;
    for (size_t f = 0; f < r->n_fields; f++) {
        int c = 0;
        while (c < N_COLUMNS && strcmp(r->field[f], names[c]) != 0) c++;
        if (c == N_COLUMNS)
            return sx_error_hint(sx_error_at(place_of(r, f), "unknown column '%s'", r->field[f]),
                                 "columns are id, lower, upper and size; offset is written");
        if (r->which[c] != MOST_FIELDS) return sx_error_at(place_of(r, f), "duplicate column '%s'", names[c]);
        r->which[c] = f;
    }
    for (int c = 0; c < OFFSET; c++)
        if (r->which[c] == MOST_FIELDS)
            return sx_error_hint(sx_error_at(place_of(r, MOST_FIELDS), "there is no column '%s'", names[c]),
                                 "the first line names the columns: id,lower,upper,size");
    return SX_OK;
}

/* Reads a whole number of a column of the line at hand. */
static sx_status read_count(const reader *r, int column, uint64_t *out) {
    size_t f = r->which[column];
    const char *text = r->field[f];
    uint64_t value = 0;
    if (*text == '-' && text[1] >= '0' && text[1] <= '9')
        return sx_error_at(place_of(r, f), "%s is negative: %s", names[column], text);
    if (*text == 0) return sx_error_at(place_of(r, f), "%s is missing", names[column]);
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9')
            return sx_error_at(place_of(r, f), "%s must be a whole number, not '%s'", names[column], text);
        if (value > (INT64_MAX - (uint64_t)(*c - '0')) / 10)
            return sx_error_at(place_of(r, f), "%s is too large: %s", names[column], text);
        value = value * 10 + (uint64_t)(*c - '0');
    }
    *out = value;
    return SX_OK;
}

/* Reads the buffer of the line at hand. */
static sx_status read_row(const reader *r, char **id, sx_buffer *out) {
    if (r->n_fields != r->n_columns)
        return sx_error_at(place_of(r, r->n_fields < r->n_columns ? MOST_FIELDS : r->n_columns),
                           "%zu fields, but %zu columns", r->n_fields, r->n_columns);
    *id = r->field[r->which[ID]];
    if (**id == 0) return sx_error_at(place_of(r, r->which[ID]), "id is missing");
    if (strchr(*id, '"')) return sx_error_at(place_of(r, r->which[ID]), "an id must not have quotes");
    SX_TRY(read_count(r, LOWER, &out->lower));
    SX_TRY(read_count(r, UPPER, &out->upper));
    SX_TRY(read_count(r, SIZE, &out->size));
    if (out->upper <= out->lower)
        return sx_error_hint(
            sx_error_at(place_of(r, r->which[UPPER]), "buffer '%s' ends at %llu, before it has begun at %llu",
                        *id, (unsigned long long)out->upper, (unsigned long long)out->lower),
            "lower is the first step at which a buffer lives, upper the step after the last");
    return SX_OK;
}

/* An id and its line. */
typedef struct named {
    const char *id;
    int line;
} named;

static int compare_named(const void *a, const void *b) {
    const named *x = a, *y = b;
    int order = strcmp(x->id, y->id);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Refuses two buffers of one id; of several pairs, the one whose second line is first. */
static sx_status check_ids(const reader *r, named *list, size_t n) {
    const named *first = NULL;
    if (n > 1) qsort(list, n, sizeof *list, compare_named);
    for (size_t i = 1; i < n; i++)
        if (strcmp(list[i - 1].id, list[i].id) == 0 && (!first || list[i].line < first->line))
            first = &list[i];
    if (!first) return SX_OK;
    return sx_error_at((sx_place){r->name, first->line, 1}, "duplicate id '%s', first on line %d", first->id,
                       first[-1].line);
}

/* Reads all rows into vectors. */
static sx_status read_rows(reader *r, sx_vector *buffers, sx_vector *ids, sx_vector *lines) {
    sx_status status = SX_OK;
    while (!status && next_line(r, &status)) {
        sx_buffer *buffer = sx_vector_add(buffers);
        char **id = sx_vector_add(ids);
        named *line = sx_vector_add(lines);
        if (!buffer || !id || !line) return sx_error_memory();
        *buffer = (sx_buffer){0};
        SX_TRY(read_row(r, id, buffer));
        *line = (named){*id, r->line};
    }
    if (!status && buffers->n > SX_MAX_BUFFERS)
        status = sx_error_at((sx_place){r->name, 0, 0}, "more than %d buffers", SX_MAX_BUFFERS);
    return status ? status : check_ids(r, (named *)lines->data, lines->n);
}

/* Reads a text that is the caller's, and changed. */
static sx_status read_text(const char *name, char *text, size_t size, sx_buffers *out) {
    sx_vector buffers = {.size = sizeof(sx_buffer)}, ids = {.size = sizeof(char *)},
              lines = {.size = sizeof(named)};
    reader r = {.name = name, .at = text};
    sx_status status =
        strlen(text) == size ? SX_OK : sx_error_at((sx_place){name, 0, 0}, "the file is not text");
    if (!status) status = read_head(&r);
    if (!status) status = read_rows(&r, &buffers, &ids, &lines);
    sx_vector_clear(&lines);
    if (!status) {
        *out = (sx_buffers){buffers.n, (sx_buffer *)buffers.data, (char **)ids.data, text};
        return SX_OK;
    }
    sx_vector_clear(&buffers);
    sx_vector_clear(&ids);
    return status;
}

sx_status sx_buffers_parse(const char *name, const char *text, size_t size, sx_buffers *out) {
    char *copied = malloc(size + 1);
    if (!copied) return sx_error_memory();
    memcpy(copied, text, size);
    copied[size] = 0;
    sx_status status = read_text(name, copied, size, out);
    if (status) free(copied);
    return status;
}

sx_status sx_buffers_read(const char *path, sx_buffers *out) {
    char *text;
    size_t size;
    SX_TRY(sx_file_read(path, FILE_LIMIT, &text, &size));
    sx_status status = sx_buffers_parse(path, text, size, out);
    free(text);
    return status;
}

void sx_buffers_fini(sx_buffers *buffers) {
    free(buffers->buffer);
    free(buffers->id);
    free(buffers->text);
}

void sx_buffers_write(const sx_buffers *buffers, sx_text *out) {
    sx_text_add(out, "id,lower,upper,size,offset\n");
    for (size_t i = 0; i < buffers->n; i++) {
        const sx_buffer *b = &buffers->buffer[i];
        sx_text_add(out, "%s,%llu,%llu,%llu,%llu\n", buffers->id[i], (unsigned long long)b->lower,
                    (unsigned long long)b->upper, (unsigned long long)b->size, (unsigned long long)b->offset);
    }
}
