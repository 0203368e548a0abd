/* Three formats are read. A Matrix Market file begins with "%%MatrixMarket matrix coordinate FIELD SYMMETRY"; after
 * comments ("%") comes a line of rows, columns and entries, then one line per entry: row, column, value. A mask is one
 * line of as many 0s and 1s as the tensor has words, without spaces. Any other file has one line per entry: a
 * coordinate per rank and the value, which may be missing; "#" begins a comment. Coordinates count from 1. */
#include "text/coordinates.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/vector.h"
#include "ir/density.h"
#include "text/document/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An entry with the line where it stands. */
typedef struct entry {
    uint64_t word;
    uint32_t line;
} entry;

/* A file that is being read. */
typedef struct reader {
    const char *at, *end, *line_start;
    sx_place line; /* of the current line */
    const sx_tensor *tensor;
    uint64_t size[SX_MAX_RANKS];
    int n_values; /* numbers of a value; -1: one or none */
    bool market, mirrored;
    uint64_t declared; /* entries, of a Matrix Market file */
    entry *list;
    size_t n, room;
} reader;

static sx_place place_of(const reader *r, const char *at) {
    return (sx_place){r->line.file, r->line.line, (int)(at - r->line_start) + 1};
}

/* Goes on to the next line that is not empty and no comment; false at the end. */
static bool next_line(reader *r) {
    for (;;) {
        if (r->line.line > 0) {
            const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
            r->at = stop ? stop + 1 : r->end;
        }
        r->line.line++;
        r->line_start = r->at;
        if (r->at == r->end) return false;
        while (r->at < r->end && strchr(" \t\r", *r->at) && *r->at) r->at++;
        if (r->at < r->end && *r->at != '\n' && *r->at != (r->market ? '%' : '#')) return true;
    }
}

/* The next word of the line, of at most `room` - 1 bytes; where it stands, or NULL at the end of the line. */
static const char *next_word(reader *r, char *word, size_t room) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) r->at++;
    const char *from = r->at;
    while (r->at < r->end && *r->at != ' ' && *r->at != '\t' && *r->at != '\r' && *r->at != '\n') r->at++;
    size_t n = (size_t)(r->at - from);
    if (!n) return NULL;
    if (n >= room) n = room - 1;
    memcpy(word, from, n);
    word[n] = 0;
    return from;
}

/* Reads a whole number from `low` to `high`. */
static sx_status read_number(reader *r, const char *what, uint64_t low, uint64_t high, uint64_t *out) {
    char word[24];
    const char *from = next_word(r, word, sizeof word);
    if (!from) return sx_error_at(place_of(r, r->at), "expected %s", what);
    uint64_t value = 0;
    const char *digit = word;
    for (; *digit >= '0' && *digit <= '9' && value < UINT64_MAX / 16; digit++)
        value = value * 10 + (uint64_t)(*digit - '0');
    if (*digit || digit == word) return sx_error_at(place_of(r, from), "expected %s", what);
    if (value < low || value > high)
        return sx_error_at(place_of(r, from), "%s is out of range: it must be from %llu to %llu", what,
                           (unsigned long long)low, (unsigned long long)high);
    *out = value;
    return SX_OK;
}

/* Reads the value of an entry; *zero where all its numbers are. */
static sx_status read_value(reader *r, bool *zero) {
    char word[64];
    bool all = true;
    int n = 0;
    for (;; n++) {
        double value;
        const char *from = next_word(r, word, sizeof word);
        if (!from) break;
        if (n == (r->n_values < 0 ? 1 : r->n_values))
            return sx_error_at(place_of(r, from), "unexpected text after the entry");
        if (!sx_text_double(word, &value)) return sx_error_at(place_of(r, from), "expected a number");
        all &= value == 0;
    }
    if (n < r->n_values) return sx_error_at(place_of(r, r->at), "expected the value of the entry");
    *zero = n > 0 && all;
    return SX_OK;
}

static sx_status add_entry(reader *r, uint64_t word) {
    if (r->n == SX_MAX_NONZEROS) return sx_error_at(r->line, "more than %d non-zeros", (int)SX_MAX_NONZEROS);
    if (!sx_reserve(&r->list, &r->room, r->n + 1, sizeof *r->list)) return sx_error_memory();
    r->list[r->n++] = (entry){word, (uint32_t)r->line.line};
    return SX_OK;
}

/* Reads the entry of the current line. */
static sx_status read_entry(reader *r) {
    static const char *const names[] = {"a row", "a column"};
    uint64_t at[SX_MAX_RANKS], word = 0;
    bool zero;
    for (int i = 0; i < r->tensor->n_ranks; i++) {
        SX_TRY(read_number(r, r->market ? names[i] : "a coordinate", 1, r->size[i], &at[i]));
        word = word * r->size[i] + at[i] - 1;
    }
    SX_TRY(read_value(r, &zero));
    if (zero) return SX_OK;
    SX_TRY(add_entry(r, word));
    if (r->mirrored && at[0] != at[1]) return add_entry(r, (at[1] - 1) * r->size[1] + at[0] - 1);
    return SX_OK;
}

/* Reads one word of the header, which must be one of the given; its number. */
static sx_status read_choice(reader *r, const char *what, const char *const *known, size_t n, int *out) {
    char word[32];
    const char *from = next_word(r, word, sizeof word);
    if (!from) return sx_error_at(place_of(r, r->at), "the header has no %s", what);
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(word, known[i]) == 0) {
            *out = (int)i;
            return SX_OK;
        }
    char values[96] = "";
    for (size_t i = 0, at = 0; i < n; i++)
        at += (size_t)snprintf(values + at, sizeof values - at, "%s%s", i ? ", " : "", known[i]);
    return sx_error_hint(sx_error_at(place_of(r, from), "unknown %s", what), "valid values: %s", values);
}

/* Reads the header of a Matrix Market file and the line with its sizes. */
static sx_status read_header(reader *r) {
    static const char *const objects[] = {"matrix"}, *const formats[] = {"coordinate"};
    static const char *const fields[] = {"pattern", "real", "complex", "integer"};
    static const char *const kinds[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    char word[32];
    uint64_t size;
    int choice;
    (void)next_word(r, word, sizeof word);
    SX_TRY(read_choice(r, "object of a Matrix Market file", objects, 1, &choice));
    SX_TRY(read_choice(r, "format of a Matrix Market file", formats, 1, &choice));
    SX_TRY(read_choice(r, "field of a Matrix Market file", fields, 4, &r->n_values));
    if (r->n_values == 3) r->n_values = 1;
    SX_TRY(read_choice(r, "symmetry of a Matrix Market file", kinds, 4, &choice));
    r->mirrored = choice > 0;
    if (r->tensor->n_ranks != 2)
        return sx_error_hint(sx_error_at(r->line, "'%s' has %d ranks, but the file holds a matrix",
                                         r->tensor->name, r->tensor->n_ranks),
                             "list the non-zeros as lines of %d coordinates", r->tensor->n_ranks);
    if (!next_line(r)) return sx_error_at(r->line, "expected the numbers of rows, columns and entries");
    for (int i = 0; i < 2; i++) {
        const char *what = i ? "the number of columns" : "the number of rows";
        SX_TRY(read_number(r, what, 1, SX_MAX_DIM_SIZE, &size));
        if (size != r->size[i])
            return sx_error_hint(sx_error_at(r->line, "the file has %llu %s, but '%s' has %llu",
                                             (unsigned long long)size, i ? "columns" : "rows",
                                             r->tensor->name, (unsigned long long)r->size[i]),
                                 "rows are the tensor's first rank, columns its second");
    }
    if (r->mirrored && r->size[0] != r->size[1])
        return sx_error_at(r->line, "a %s matrix has as many columns as rows", kinds[choice]);
    return read_number(r, "the number of entries", 0, SX_MAX_NONZEROS, &r->declared);
}

/* Whether the file is a mask. A number with as many digits would be no coordinate of the tensor. */
static bool is_mask(const reader *r) {
    uint64_t words = 1, n = 0, size = (uint64_t)(r->end - r->at);
    for (int i = 0; i < r->tensor->n_ranks; i++) words *= r->size[i];
    while (n < size && (r->at[n] == '0' || r->at[n] == '1')) n++;
    if (n != words) return false;
    while (n < size && (r->at[n] == '\n' || r->at[n] == '\r')) n++;
    return n == size;
}

/* Reads a mask: the words in the order of the ranks, the last one fastest. */
static sx_status read_mask(reader *r) {
    r->line.line = 1;
    for (const char *at = r->at; at < r->end; at++)
        if (*at == '1') SX_TRY(add_entry(r, (uint64_t)(at - r->at)));
    return r->n ? SX_OK : sx_error_at(r->line, "the mask has no 1");
}

/* Reads all entries. */
static sx_status read_entries(reader *r) {
    static const char magic[] = "%%MatrixMarket";
    uint64_t read = 0;
    if (is_mask(r)) return read_mask(r);
    r->market = r->end - r->at >= (ptrdiff_t)sizeof magic - 1 && !memcmp(r->at, magic, sizeof magic - 1);
    r->n_values = -1;
    if (r->market) {
        r->line.line = 1;
        r->line_start = r->at;
        SX_TRY(read_header(r));
    }
    for (; next_line(r); read++) {
        if (r->market && read == r->declared)
            return sx_error_at(r->line, "more entries than the %llu that the file declares",
                               (unsigned long long)r->declared);
        SX_TRY(read_entry(r));
    }
    if (r->market && read < r->declared)
        return sx_error_at(r->line, "the file ends after %llu of %llu entries", (unsigned long long)read,
                           (unsigned long long)r->declared);
    if (r->n == 0) return sx_error_at(r->line, "the file lists no non-zeros");
    return SX_OK;
}

static int by_word(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->word != y->word) return x->word < y->word ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Sorts the entries and hands them over; an error where one is listed twice. */
static sx_status hand_over(reader *r, sx_coordinates *out) {
    qsort(r->list, r->n, sizeof *r->list, by_word);
    for (size_t i = 1; i < r->n; i++)
        if (r->list[i].word == r->list[i - 1].word)
            return sx_error_at((sx_place){r->line.file, (int)r->list[i].line, 1},
                               "this word is listed before, in line %u", (unsigned)r->list[i - 1].line);
    uint64_t *word = malloc(r->n * sizeof *word);
    if (!word) return sx_error_memory();
    uint64_t hash = 0;
    for (size_t i = 0; i < r->n; i++) hash = sx_hash_mix(hash, word[i] = r->list[i].word);
    *out = (sx_coordinates){word, r->n, hash};
    return SX_OK;
}

sx_status sx_coordinates_parse(const char *file, const char *text, size_t size, const sx_problem *problem,
                               int tensor, sx_coordinates *out) {
    uint8_t dim[SX_MAX_RANKS];
    SX_TRY(sx_tensor_places(problem, tensor, dim));
    reader r = {.at = text,
                .end = text + size,
                .line = {.file = file, .column = 1},
                .tensor = &problem->tensor[tensor]};
    for (int i = 0; i < r.tensor->n_ranks; i++) r.size[i] = problem->size[dim[i]];
    sx_status status = read_entries(&r);
    if (!status) status = hand_over(&r, out);
    free(r.list);
    return status;
}

sx_status sx_coordinates_read(const char *path, const sx_problem *problem, int tensor, sx_coordinates *out) {
    char *text;
    size_t size;
    SX_TRY(sx_file_read_regular(path, SX_MAX_COORDINATE_FILE, &text, &size));
    sx_status status = sx_coordinates_parse(path, text, size, problem, tensor, out);
    free(text);
    return status;
}

void sx_coordinates_fini(sx_coordinates *coordinates) {
    free(coordinates->word);
}

sx_status sx_problem_set_data(sx_problem *problem, int tensor, const char *path) {
    sx_coordinates found;
    SX_TRY(sx_coordinates_read(path, problem, tensor, &found));
    double words = (double)sx_problem_words(problem, tensor);
    sx_status status =
        sx_tensor_set_places(&problem->tensor[tensor], path, found.hash, (double)found.n / words);
    sx_coordinates_fini(&found);
    return status;
}
