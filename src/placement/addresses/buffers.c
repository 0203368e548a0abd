#include "placement/addresses/buffers.h"

#include "base/file.h"
#include "base/vector.h"
#include "text/csv.h"

#include <stdlib.h>
#include <string.h>

enum { ID, LOWER, UPPER, SIZE, OFFSET, N_COLUMNS };
enum { FILE_LIMIT = 1 << 28 };

static const char *const names[] = {
    [ID] = "id", [LOWER] = "lower", [UPPER] = "upper", [SIZE] = "size", [OFFSET] = "offset"};

typedef struct reader {
    sx_csv csv;
    int which[N_COLUMNS]; /* the field of a column; -1: none */
} reader;

/* Finds the columns by their names. */
static sx_status read_head(reader *r) {
    const sx_csv *csv = &r->csv;
    for (int c = 0; c < N_COLUMNS; c++) r->which[c] = -1;
    for (int f = 0; f < (int)csv->n_columns; f++) {
        int c = 0;
        while (c < N_COLUMNS && strcmp(csv->column[f], names[c]) != 0) c++;
        if (c == N_COLUMNS)
            return sx_error_hint(sx_error_at(sx_csv_place(csv, f), "unknown column '%s'", csv->column[f]),
                                 "columns are id, lower, upper and size; offset is written");
        if (r->which[c] >= 0) return sx_error_at(sx_csv_place(csv, f), "duplicate column '%s'", names[c]);
        r->which[c] = f;
    }
    for (int c = 0; c < OFFSET; c++)
        if (r->which[c] < 0)
            return sx_error_hint(sx_error_at(sx_csv_place(csv, -1), "there is no column '%s'", names[c]),
                                 "the first line names the columns: id,lower,upper,size");
    return SX_OK;
}

/* Reads a whole number of a column of the line at hand. */
static sx_status read_count(const reader *r, int column, uint64_t *out) {
    const sx_place place = sx_csv_place(&r->csv, r->which[column]);
    const char *text = r->csv.field[r->which[column]];
    uint64_t value = 0;
    if (*text == '-' && text[1] >= '0' && text[1] <= '9')
        return sx_error_at(place, "%s is negative: %s", names[column], text);
    if (*text == 0) return sx_error_at(place, "%s is missing", names[column]);
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9')
            return sx_error_at(place, "%s must be a whole number, not '%s'", names[column], text);
        if (value > (INT64_MAX - (uint64_t)(*c - '0')) / 10)
            return sx_error_at(place, "%s is too large: %s", names[column], text);
        value = value * 10 + (uint64_t)(*c - '0');
    }
    *out = value;
    return SX_OK;
}

/* Reads the buffer of the line at hand. */
static sx_status read_row(const reader *r, char **id, sx_buffer *out) {
    const sx_place place = sx_csv_place(&r->csv, r->which[ID]);
    *id = r->csv.field[r->which[ID]];
    if (**id == 0) return sx_error_at(place, "id is missing");
    SX_TRY(read_count(r, LOWER, &out->lower));
    SX_TRY(read_count(r, UPPER, &out->upper));
    SX_TRY(read_count(r, SIZE, &out->size));
    if (out->upper <= out->lower)
        return sx_error_hint(
            sx_error_at(sx_csv_place(&r->csv, r->which[UPPER]),
                        "buffer '%s' ends at %llu, before it has begun at %llu", *id,
                        (unsigned long long)out->upper, (unsigned long long)out->lower),
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
    return sx_error_at((sx_place){r->csv.name, first->line, 1}, "duplicate id '%s', first on line %d",
                       first->id, first[-1].line);
}

/* Reads all rows into vectors. */
static sx_status read_rows(reader *r, sx_vector *buffers, sx_vector *ids, sx_vector *lines) {
    while (true) {
        bool more;
        SX_TRY(sx_csv_next(&r->csv, &more));
        if (!more) break;
        sx_buffer *buffer = sx_vector_add(buffers);
        char **id = sx_vector_add(ids);
        named *line = sx_vector_add(lines);
        if (!buffer || !id || !line) return sx_error_memory();
        *buffer = (sx_buffer){0};
        SX_TRY(read_row(r, id, buffer));
        *line = (named){*id, r->csv.line};
    }
    if (buffers->n > SX_MAX_BUFFERS)
        return sx_error_at((sx_place){r->csv.name, 0, 0}, "more than %d buffers", SX_MAX_BUFFERS);
    return check_ids(r, (named *)lines->data, lines->n);
}

sx_status sx_buffers_parse(const char *name, SX_TAKE char *text, size_t size, sx_buffers *out) {
    sx_vector buffers = {.size = sizeof(sx_buffer)}, ids = {.size = sizeof(char *)},
              lines = {.size = sizeof(named)};
    reader r;
    SX_TRY(sx_csv_parse(name, text, size, &r.csv));
    sx_status status = read_head(&r);
    if (!status) status = read_rows(&r, &buffers, &ids, &lines);
    sx_vector_clear(&lines);
    if (!status) {
        *out = (sx_buffers){buffers.n, (sx_buffer *)buffers.data, (char **)ids.data, text};
        return SX_OK;
    }
    sx_csv_fini(&r.csv);
    sx_vector_clear(&buffers);
    sx_vector_clear(&ids);
    return status;
}

sx_status sx_buffers_read(const char *path, sx_buffers *out) {
    char *text;
    size_t size;
    SX_TRY(sx_file_read(path, FILE_LIMIT, &text, &size));
    return sx_buffers_parse(path, text, size, out);
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
        sx_csv_add(out, buffers->id[i], ",");
        sx_text_add(out, "%llu,%llu,%llu,%llu\n", (unsigned long long)b->lower, (unsigned long long)b->upper,
                    (unsigned long long)b->size, (unsigned long long)b->offset);
    }
}
