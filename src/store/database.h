/* A SQLite file of ours: opening it, statements, transactions and errors. */
#ifndef SX_STORE_DATABASE_H
#define SX_STORE_DATABASE_H

#include "base/arena.h"
#include "sextant/store.h"
#include "store/key.h"

#include <stdbool.h>
#include <stdint.h>

/* As sqlite3.h declares them. */
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

/* An open file; `path` is what the user calls it. */
typedef struct sx_database {
    sqlite3 *handle;
    char *path;
    double wait; /* seconds for other programs that write */
} sx_database;

/* Opens a file, or makes an empty one. A file that is no database of ours, is damaged, comes from a newer
 * schema or cannot be written is refused before anything is written. Waits for other programs a given number of seconds. */
SX_MUST_USE sx_status sx_database_open(const char *path, double wait, sx_database *out);
void sx_database_close(sx_database *database);

/* The error for a damaged file. */
SX_ERROR sx_status sx_database_damaged(const sx_database *database, const char *how);

/* The error for another program's file. */
SX_ERROR sx_status sx_database_foreign(const sx_database *database);

/* The error for an unknown schema version. */
SX_ERROR sx_status sx_database_unknown_version(const sx_database *database, int64_t version);

/* Runs statements that give no rows. */
SX_MUST_USE sx_status sx_database_do(sx_database *database, const char *sql);

/* The number that a statement gives. */
SX_MUST_USE sx_status sx_database_number(sx_database *database, const char *sql, int64_t *out);

/* A prepared statement, which the caller frees with sqlite3_finalize. */
SX_MUST_USE sx_status sx_database_prepare(sx_database *database, const char *sql, SX_OWN sqlite3_stmt **out);

/* Goes to the next row; *row is false past the last. */
SX_MUST_USE sx_status sx_database_step(sx_database *database, sqlite3_stmt *statement, bool *row);

/* Binds a text that outlives the statement, or NULL. */
void sx_database_bind(sqlite3_stmt *statement, int index, const char *text);

/* Copies a column that holds a key. */
sx_key sx_database_key(sqlite3_stmt *statement, int column);

/* A copy of a column's text, "" where it is NULL; NULL when memory is out. */
const char *sx_database_text(sqlite3_stmt *statement, int column, sx_arena *arena);

/* Runs a statement that gives no rows, and frees it. */
SX_MUST_USE sx_status sx_database_finish(sx_database *database, SX_TAKE sqlite3_stmt *statement);

/* An error unless all of n statements can be prepared. */
SX_MUST_USE sx_status sx_database_probe(sx_database *database, const char *const *sql, size_t n);

/* Inserts a search by a statement of 13 values: its key, that of what it found, and the search. */
SX_MUST_USE sx_status sx_database_insert_search(sx_database *database, const char *sql, const sx_key *key,
                                                const sx_key *found, const sx_search_record *search);

/* The columns of a search in a row, from the objective on. */
enum { SX_SEARCH_COLUMNS = 11 };

/* Reads a search from these columns of a row, its texts into the arena; false when memory is out. */
bool sx_database_read_search(sqlite3_stmt *statement, int first, sx_arena *arena, sx_search_record *out);

/* Refuses a search that SQLite would not give back as it was. */
SX_MUST_USE sx_status sx_database_check_search(const sx_search_record *search);

/* Begins a transaction that writes, waiting for other programs to finish theirs. */
SX_MUST_USE sx_status sx_database_begin(sx_database *database);

/* Ends it: on disk where `status` is success, undone where it is not. Returns `status`, or why it could not
 * be kept. */
SX_MUST_USE sx_status sx_database_end(sx_database *database, SX_TAKE sx_status status);

#endif
