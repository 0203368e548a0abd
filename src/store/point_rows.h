/* Results of any space as rows: the space, the point with its metrics, and the search that found it. */
#ifndef SX_STORE_POINT_ROWS_H
#define SX_STORE_POINT_ROWS_H

#include "base/text.h"
#include "sextant/store.h"
#include "store/database.h"

/* Prepares every statement, so that a file without its tables and columns is refused when it is opened. */
SX_MUST_USE sx_status sx_point_rows_probe(sx_database *database);

/* A record ready to be written. Borrows the record. */
typedef struct sx_point_rows {
    const sx_point_record *record;
    char *space, *point, *options; /* canonical JSON; options: NULL where the record has none */
    sx_metric_value *metric;       /* sorted by name */
    sx_key space_key, point_key, search_key;
} sx_point_rows;

/* Makes rows, which are freed with sx_point_rows_fini; refuses a record that would not read back. */
SX_MUST_USE sx_status sx_point_rows_init(const sx_point_record *record, sx_point_rows *out);
void sx_point_rows_fini(sx_point_rows *rows);

/* Inserts what is not there yet, inside a transaction. */
SX_MUST_USE sx_status sx_point_rows_insert(sx_database *database, const sx_point_rows *rows);

/* Adds the keys of searches of a kind under an objective, one after another: the best of each space, or all, the best of a
 * space first; `space` as for sx_store_best_points. */
SX_MUST_USE sx_status sx_point_rows_keys(sx_database *database, const char *kind, const char *space,
                                         const char *objective, bool all, sx_text *keys);

/* Reads the record of a search. Its texts are in the arena. A row that does not match its hash is an error.
 */
SX_MUST_USE sx_status sx_point_rows_read(sx_database *database, const sx_key *search, sx_arena *arena,
                                         sx_point_record *out);

#endif
