/* Measured operators: what was run, and how long it took. */
#ifndef SX_CALIBRATE_OPERATOR_ROWS_H
#define SX_CALIBRATE_OPERATOR_ROWS_H

#include "calibrate/measured.h"
#include "timing/operator.h"

/* What decides the numbers that rows of a kind can show. */
typedef enum sx_operator_form {
    SX_FORM_PRODUCT, /* matrix products and convolutions: waves of tiles */
    SX_FORM_STREAM,  /* element-wise, depthwise, decode attention: bandwidth */
    SX_FORM_ROWS,    /* normalisations, softmax: bandwidth, and rows that a unit goes through */
    SX_FORM_BLOCKS,  /* attention of a prompt: compute in blocks of rows */
    SX_FORM_LINK,    /* collective operations between chips */
} sx_operator_form;

/* One row. */
typedef struct sx_operator_row {
    int line;
    uint32_t kind, group; /* of the list of kinds; rows of a group are alike */
    double seconds;
    sx_timed_operator op;
    double chips; /* of a collective operation */
} sx_operator_row;

/* A kind of operators that the rows have, such as "gemm" or "gemm-w4a16". */
typedef struct sx_row_kind {
    char name[SX_NAME_SIZE], collective[SX_NAME_SIZE]; /* the operation of SX_FORM_LINK */
    sx_operator_form form;
} sx_row_kind;

typedef struct sx_operator_rows {
    size_t n, room, n_groups, group_room;
    sx_operator_row *row;
    char (*group)[160];
    uint32_t n_kinds;
    sx_row_kind kind[SX_MAX_KINDS];
    sx_measurements rejected; /* rows that are left out, with their reasons */
} sx_operator_rows;

/* Which rows of a file are read. */
typedef struct sx_row_filter {
    size_t n;
    const char *const *where; /* each COLUMN=VALUE, all of which a row must have */
    const char *time;         /* the column with the time; NULL: microseconds, cold_us or seconds */
} sx_row_filter;

/* Whether a file has rows of operators: columns op and dims. */
SX_MUST_USE sx_status sx_operator_rows_are(const char *path, bool *out);

/* Reads rows with the columns op, dims, dtype and a time; those that cannot be used are listed. *out is freed with
 * sx_operator_rows_free, also after an error. */
SX_MUST_USE sx_status sx_operator_rows_read(const char *path, const sx_row_filter *filter,
                                            sx_operator_rows *out);
void sx_operator_rows_free(sx_operator_rows *rows);

#endif
