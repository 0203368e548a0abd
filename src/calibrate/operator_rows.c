#include "calibrate/operator_rows.h"

#include "base/vector.h"
#include "text/document/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the dimensions of an operator are read. */
typedef enum dims_form {
    GEMM,
    CONV,
    DEPTHWISE,
    ROWS,
    NORM,
    TWO_ROWS,
    PREFILL,
    CAUSAL,
    DECODE,
    LINK
} dims_form;

/* The operators that can be read: their names in files, the kind that they are, and the dimensions by which rows of a
 * group are alike. */
static const struct {
    const char *name, *kind;
    dims_form dims;
    const char *group;
} known[] = {
    {"gemm", "gemm", GEMM, "n k"},
    {"conv", "conv", CONV, "c k r stride h"},
    {"depthwise", "depthwise", DEPTHWISE, "c r h"},
    {"softmax", "softmax", NORM, "cols"},
    {"layer-norm", "layer-norm", NORM, "cols"},
    {"layernorm", "layer-norm", NORM, "cols"},
    {"rms-norm", "rms-norm", NORM, "cols"},
    {"gelu", "gelu", ROWS, "cols"},
    {"add", "add", TWO_ROWS, "cols"},
    {"attention-prefill", "attention-prefill", PREFILL, "t"},
    {"attention-prefill-causal", "attention-prefill-causal", CAUSAL, "t"},
    {"prefill_attention", "attention-prefill-causal", CAUSAL, "t"},
    {"attention-decode", "attention-decode", DECODE, "s"},
    {"all_reduce", "all-reduce", LINK, "chips bytes elements"},
    {"all_gather", "all-gather", LINK, "chips bytes elements"},
    {"reduce_scatter", "reduce-scatter", LINK, "chips bytes elements"},
    {"alltoall", "all-to-all", LINK, "chips bytes elements"},
};
enum { N_KNOWN = sizeof known / sizeof *known };

static const sx_operator_form form_of[] = {
    [GEMM] = SX_FORM_PRODUCT,   [CONV] = SX_FORM_PRODUCT,  [DEPTHWISE] = SX_FORM_STREAM,
    [ROWS] = SX_FORM_STREAM,    [NORM] = SX_FORM_ROWS,     [TWO_ROWS] = SX_FORM_STREAM,
    [PREFILL] = SX_FORM_BLOCKS, [CAUSAL] = SX_FORM_BLOCKS, [DECODE] = SX_FORM_STREAM,
    [LINK] = SX_FORM_LINK,
};

/* A row as it is being read. */
typedef struct reading {
    const sx_csv *csv;
    int op, dims, dtype, time;
    double time_scale;
    double weight_bits, bits; /* of the dtype */
} reading;

/* The text of a dimension in a list such as "m=1 n=4096"; NULL where there is none. */
static const char *find_dim(const char *dims, const char *name, size_t length) {
    for (const char *at = dims; at; at = strchr(at, ' ')) {
        at += strspn(at, " ");
        if (strncmp(at, name, length) == 0 && at[length] == '=') return at + length + 1;
    }
    return NULL;
}

/* Reads a dimension, which must be a positive number. */
static sx_status read_dim(const reading *r, const char *name, double *out) {
    const char *text = find_dim(r->csv->field[r->dims], name, strlen(name));
    char *end;
    if (!text)
        return sx_error_at(sx_csv_place(r->csv, r->dims), "there is no dimension '%s' in '%.60s'", name,
                           r->csv->field[r->dims]);
    *out = strtod(text, &end);
    if (end > text && (*end == ' ' || !*end) && *out >= 1 && *out <= 1e15) return SX_OK;
    return sx_error_at(sx_csv_place(r->csv, r->dims), "'%s' is '%.20s'; it must be a number of at least 1",
                       name, text);
}

/* The same of one of two names. */
static sx_status read_either(const reading *r, const char *name, const char *other, double *out) {
    return read_dim(r, find_dim(r->csv->field[r->dims], name, strlen(name)) ? name : other, out);
}

/* Reads the widths that a dtype stands for: bf16, fp16, fp32, int8, fp8, or w4a16 and its like. */
static sx_status read_widths(reading *r) {
    const char *text = r->csv->field[r->dtype];
    unsigned weight, other;
    char rest, kind[8];
    if (sscanf(text, "w%2ua%2u%c", &weight, &other, &rest) != 2) {
        if (sscanf(text, "%5[a-z]%2u%c", kind, &other, &rest) != 2) other = 0;
        weight = other;
    }
    if (weight < 1 || other < 1 || weight > 64 || other > 64)
        return sx_error_hint(sx_error_at(sx_csv_place(r->csv, r->dtype), "'%.20s' is no known dtype", text),
                             "such as bf16, fp16, fp32, int8 or w4a16");
    r->weight_bits = weight;
    r->bits = other;
    return SX_OK;
}

static sx_status read_gemm(const reading *r, sx_timed_operator *op) {
    SX_TRY(read_dim(r, "m", &op->m));
    SX_TRY(read_dim(r, "n", &op->n));
    SX_TRY(read_dim(r, "k", &op->k));
    op->repeat = 1;
    op->bytes =
        (op->m * op->k * r->bits + op->n * op->k * r->weight_bits + op->m * op->n * fmax(r->bits, 16)) / 8;
    return SX_OK;
}

/* A convolution as a product: a row for each place of the picture, padding such that it keeps its size. */
static sx_status read_conv(const reading *r, bool depthwise, sx_timed_operator *op) {
    double n, c, k, h, size, stride = 1;
    SX_TRY(read_dim(r, "n", &n));
    SX_TRY(read_dim(r, "c", &c));
    SX_TRY(read_dim(r, "r", &size));
    SX_TRY(read_dim(r, "h", &h));
    if (find_dim(r->csv->field[r->dims], "stride", 6)) SX_TRY(read_dim(r, "stride", &stride));
    k = c;
    if (!depthwise) SX_TRY(read_dim(r, "k", &k));
    const double places = n * ceil(h / stride) * ceil(h / stride);
    op->bytes = (n * c * h * h + places * k) * r->bits / 8 +
                (depthwise ? 1 : c) * k * size * size * r->weight_bits / 8;
    if (depthwise) {
        op->blocks = ceil(places * c / 256);
        return SX_OK;
    }
    op->repeat = 1;
    op->unaligned = fmod(c, 8) != 0;
    op->m = places;
    op->n = k;
    op->k = c * size * size;
    return SX_OK;
}

/* An operator over rows: it reads a given number of tensors and writes one. */
static sx_status read_rows(const reading *r, double reads, bool norm, sx_timed_operator *op) {
    double rows, columns;
    SX_TRY(read_dim(r, "rows", &rows));
    SX_TRY(read_dim(r, "cols", &columns));
    op->bytes = (reads + 1) * rows * columns * r->bits / 8;
    op->blocks = norm ? rows : ceil(rows * columns / 1024);
    op->columns = norm ? columns : 0;
    op->again = rows * columns * r->bits / 8;
    return SX_OK;
}

/* Fused attention: of t queries over as many keys, or of one over s. */
static sx_status read_attention(const reading *r, dims_form form, sx_timed_operator *op) {
    double b, heads, kv, d, t = 1, s;
    SX_TRY(read_dim(r, "b", &b));
    SX_TRY(read_dim(r, "hq", &heads));
    SX_TRY(read_dim(r, "hkv", &kv));
    SX_TRY(read_either(r, "hd", "d", &d));
    SX_TRY(read_dim(r, form == DECODE ? "s" : "t", &s));
    if (form != DECODE) t = s;
    op->macs = 2 * b * heads * d * (form == CAUSAL ? t * (t + 1) / 2 : t * s);
    op->bytes = 2 * b * d * (heads * t + kv * s) * r->bits / 8;
    op->blocks = form == DECODE ? b * kv * ceil(s / 256) : b * heads * ceil(t / 128);
    if (form == DECODE) op->macs = 0;
    return SX_OK;
}

static sx_status read_collective(const reading *r, sx_operator_row *out) {
    double size;
    bool bytes = find_dim(r->csv->field[r->dims], "bytes", 5) != NULL;
    SX_TRY(read_dim(r, "chips", &out->chips));
    SX_TRY(read_dim(r, bytes ? "bytes" : "elements", &size));
    out->op.bytes = bytes ? size : size * r->bits / 8;
    return SX_OK;
}

/* Reads the dimensions of a row. */
static sx_status read_dims(const reading *r, dims_form form, sx_operator_row *out) {
    sx_timed_operator *op = &out->op;
    op->row_bits = r->bits;
    op->col_bits = r->weight_bits;
    switch (form) {
    case GEMM:
        return read_gemm(r, op);
    case CONV:
        return read_conv(r, false, op);
    case DEPTHWISE:
        return read_conv(r, true, op);
    case ROWS:
        return read_rows(r, 1, false, op);
    case NORM:
        return read_rows(r, 1, true, op);
    case TWO_ROWS:
        return read_rows(r, 2, false, op);
    case LINK:
        return read_collective(r, out);
    default:
        return read_attention(r, form, op);
    }
}

/* The number of a kind, which is added where it is new. */
static sx_status number_kind(sx_operator_rows *rows, const reading *r, size_t index, uint32_t *out) {
    char name[SX_NAME_SIZE];
    bool plain = r->weight_bits == 16 && r->bits == 16;
    snprintf(name, sizeof name, "%s%s%.16s", known[index].kind, plain ? "" : "-",
             plain ? "" : r->csv->field[r->dtype]);
    if (known[index].dims == LINK) snprintf(name, sizeof name, "%s", known[index].kind);
    for (*out = 0; *out < rows->n_kinds; ++*out)
        if (strcmp(rows->kind[*out].name, name) == 0) return SX_OK;
    if (rows->n_kinds == SX_MAX_KINDS)
        return sx_error_new(SX_ERR_LIMIT, "more than %d kinds of operators", SX_MAX_KINDS);
    sx_row_kind *kind = &rows->kind[rows->n_kinds++];
    memcpy(kind->name, name, sizeof name);
    kind->form = form_of[known[index].dims];
    snprintf(kind->collective, sizeof kind->collective, "%s", known[index].kind);
    return SX_OK;
}

/* The number of a row's group: its kind, and those of its dimensions that tell groups of it apart. */
static sx_status number_group(sx_operator_rows *rows, const reading *r, size_t index, uint32_t kind,
                              uint32_t *out) {
    char text[sizeof *rows->group];
    size_t used = (size_t)snprintf(text, sizeof text, "%u", kind);
    for (const char *at = known[index].group; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        const char *value = find_dim(r->csv->field[r->dims], at, length);
        if (value && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, " %.*s=%.*s", (int)length, at,
                                     (int)strcspn(value, " "), value);
        at += length;
    }
    for (*out = 0; *out < rows->n_groups; ++*out)
        if (strcmp(rows->group[*out], text) == 0) return SX_OK;
    if (!sx_reserve(&rows->group, &rows->group_room, rows->n_groups + 1, sizeof *rows->group))
        return sx_error_memory();
    memcpy(rows->group[rows->n_groups++], text, sizeof text);
    return SX_OK;
}

/* Reads the row at hand. */
static sx_status read_row(reading *r, sx_operator_rows *rows, sx_operator_row *out) {
    const char *names[N_KNOWN], *op = r->csv->field[r->op];
    size_t index = 0;
    for (size_t i = 0; i < N_KNOWN; i++) names[i] = known[i].name;
    while (index < N_KNOWN && strcmp(known[index].name, op) != 0) index++;
    if (index == N_KNOWN)
        return sx_error_unknown(sx_csv_place(r->csv, r->op), "operator", op, names, N_KNOWN);
    SX_TRY(read_widths(r));
    SX_TRY(sx_csv_number(r->csv, r->time, &out->seconds));
    if (!(out->seconds > 0))
        return sx_error_at(sx_csv_place(r->csv, r->time), "the time is %g; it must be above 0", out->seconds);
    out->seconds *= r->time_scale;
    out->line = r->csv->line;
    SX_TRY(read_dims(r, known[index].dims, out));
    SX_TRY(number_kind(rows, r, index, &out->kind));
    return number_group(rows, r, index, out->kind, &out->group);
}

#define COLUMN(csv, ...)                                                                                     \
    sx_csv_column(csv, (const char *const[]){__VA_ARGS__},                                                   \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Finds the columns. */
static sx_status find_columns(const sx_csv *csv, const char *time, reading *r) {
    *r = (reading){csv, COLUMN(csv, "op"), COLUMN(csv, "dims"), COLUMN(csv, "dtype"), -1, 1e-6, 0, 0};
    r->time = time ? COLUMN(csv, time) : COLUMN(csv, "microseconds", "cold_us", "seconds");
    const char *missing = r->op < 0      ? "op"
                          : r->dims < 0  ? "dims"
                          : r->dtype < 0 ? "dtype"
                          : r->time < 0  ? (time ? time : "microseconds")
                                         : NULL;
    if (missing)
        return sx_error_hint(sx_error_at((sx_place){csv->name, 1, 1}, "there is no column '%s'", missing),
                             "columns are op, dims, dtype and a time: microseconds, cold_us or seconds, or "
                             "that of --time-column");
    if (strcmp(csv->column[r->time], "seconds") == 0) r->time_scale = 1;
    return SX_OK;
}

/* Whether the row at hand has all values that are asked for; a column that is not there is an error. */
static sx_status row_wanted(const sx_csv *csv, const sx_row_filter *filter, bool *out) {
    *out = true;
    for (size_t i = 0; i < filter->n; i++) {
        char column[64];
        const char *equals = strchr(filter->where[i], '=');
        const int length = equals ? (int)(equals - filter->where[i]) : 0;
        if (length < 1 || length >= (int)sizeof column)
            return sx_error_new(SX_ERR_USAGE, "--where %s: expected COLUMN=VALUE", filter->where[i]);
        snprintf(column, sizeof column, "%.*s", length, filter->where[i]);
        const int at = COLUMN(csv, column);
        if (at < 0)
            return sx_error_new(SX_ERR_USAGE, "--where %s: %s has no column '%s'", filter->where[i],
                                csv->name, column);
        *out &= at < (int)csv->n_fields && strcmp(csv->field[at], equals + 1) == 0;
    }
    return SX_OK;
}

/* Reads all rows that are wanted. */
static sx_status read_all(sx_csv *csv, const sx_row_filter *filter, sx_operator_rows *rows) {
    reading r;
    bool wanted, more = true;
    SX_TRY(find_columns(csv, filter->time, &r));
    for (;;) {
        sx_status status = sx_csv_next(csv, &more);
        if (!more) return status;
        sx_status refused = row_wanted(csv, filter, &wanted);
        if (refused || !wanted) {
            sx_status_free(status);
            if (refused) return refused;
            continue;
        }
        if (!sx_reserve(&rows->row, &rows->room, rows->n + 1, sizeof *rows->row)) {
            sx_status_free(status);
            return sx_error_memory();
        }
        memset(&rows->row[rows->n], 0, sizeof *rows->row);
        if (!status) status = read_row(&r, rows, &rows->row[rows->n]);
        if (status)
            SX_TRY(sx_measurements_leave_out(&rows->rejected, csv->line, status));
        else
            rows->n++;
    }
}

sx_status sx_operator_rows_read(const char *path, const sx_row_filter *filter, sx_operator_rows *out) {
    sx_csv csv;
    *out = (sx_operator_rows){0};
    SX_TRY(sx_csv_open(path, &csv));
    sx_status status = read_all(&csv, filter, out);
    for (size_t i = 0; i < out->n; i++) out->row[i].op.kind = out->kind[out->row[i].kind].name;
    sx_csv_fini(&csv);
    return status;
}

sx_status sx_operator_rows_are(const char *path, bool *out) {
    sx_csv csv;
    SX_TRY(sx_csv_open(path, &csv));
    *out = COLUMN(&csv, "op") >= 0 && COLUMN(&csv, "dims") >= 0;
    sx_csv_fini(&csv);
    return SX_OK;
}

void sx_operator_rows_free(sx_operator_rows *rows) {
    free(rows->row);
    free(rows->group);
    sx_measurements_free(&rows->rejected);
    *rows = (sx_operator_rows){0};
}
