/* Records as rows: each noun a JSON text under the hash of its content. */
#ifndef SX_STORE_ROWS_H
#define SX_STORE_ROWS_H

#include "base/arena.h"
#include "sextant/store.h"
#include "store/database.h"
#include "store/key.h"

/* Looks for every statement's tables and columns, so that a file without them is refused when it is opened.
 */
SX_MUST_USE sx_status sx_rows_probe(sx_database *database);

/* The key of an architecture: of all that it is but its name. */
SX_MUST_USE sx_status sx_rows_arch_key(const sx_arch *arch, sx_key *out);

/* The key of a problem, likewise. */
SX_MUST_USE sx_status sx_rows_problem_key(const sx_problem *problem, sx_key *out);

/* Room for an objective's text. */
#define SX_ROWS_OBJECTIVE 256

/* A record made ready to be written. Borrows the record. */
typedef struct sx_rows {
    const sx_record *record;
    char *problem, *arch, *mapping; /* texts */
    char objective[SX_ROWS_OBJECTIVE];
    sx_key problem_key, arch_key, mapping_key, run_key;
} sx_rows;

/* Makes rows, which are freed with sx_rows_fini; refuses a record that would not read back. */
SX_MUST_USE sx_status sx_rows_init(const sx_record *record, sx_rows *out);
void sx_rows_fini(sx_rows *rows);

/* Reads an architecture that was stored under a name. */
SX_MUST_USE sx_status sx_rows_arch_read(const char *name, const char *text, sx_arch *out);

/* Inserts what is not there yet, inside a transaction. */
SX_MUST_USE sx_status sx_rows_insert(sx_database *database, const sx_rows *rows);

/* Reads the record of a run on an architecture, into the arena. A row that does not match its
 * hashes is an error. */
SX_MUST_USE sx_status sx_rows_read(sx_database *database, const sx_key *run, const sx_arch *arch,
                                   const sx_key *arch_key, sx_arena *arena, const sx_record **out);

#endif
