/* Every noun is a row under the hash of its content, so that writing it again changes nothing. A new file
 * goes through all versions from the first one on: what an old file becomes is what a new one is. */
#include "store/schema.h"

#include <stdio.h>

static const char *const steps[] = {
    "CREATE TABLE problems ("
    "  hash TEXT PRIMARY KEY NOT NULL,"
    "  name TEXT NOT NULL,"
    "  text TEXT NOT NULL"
    ") STRICT;"
    "CREATE TABLE archs ("
    "  hash TEXT PRIMARY KEY NOT NULL,"
    "  name TEXT NOT NULL,"
    "  text TEXT NOT NULL"
    ") STRICT;"
    "CREATE TABLE mappings ("
    "  hash TEXT PRIMARY KEY NOT NULL,"
    "  problem TEXT NOT NULL REFERENCES problems(hash),"
    "  arch TEXT NOT NULL REFERENCES archs(hash),"
    "  text TEXT NOT NULL,"
    "  energy_pj REAL NOT NULL,"
    "  cycles REAL NOT NULL,"
    "  utilization REAL NOT NULL,"
    "  last_level_accesses REAL NOT NULL"
    ") STRICT;"
    "CREATE TABLE runs ("
    "  hash TEXT PRIMARY KEY NOT NULL,"
    "  mapping TEXT NOT NULL REFERENCES mappings(hash),"
    "  objective TEXT NOT NULL,"
    "  value REAL NOT NULL,"
    "  mapper TEXT NOT NULL,"
    "  options TEXT,"
    "  version TEXT NOT NULL,"
    "  seed TEXT NOT NULL,"
    "  evaluations INTEGER NOT NULL,"
    "  valid INTEGER NOT NULL,"
    "  seconds REAL NOT NULL,"
    "  lower_bound REAL NOT NULL,"
    "  optimal INTEGER NOT NULL"
    ") STRICT;",

    "CREATE INDEX mappings_by_arch ON mappings(arch, problem);"
    "CREATE INDEX runs_by_mapping ON runs(mapping, objective);",
};

enum { NEWEST = sizeof steps / sizeof steps[0] };

int sx_schema_newest(void) {
    return NEWEST;
}

const char *sx_schema_step(int version) {
    return steps[version];
}

/* The version of an open file; 0 for an empty one. Another program's file is an error. */
static SX_MUST_USE sx_status read_version(sx_database *database, int64_t *out) {
    int64_t application, version, things;
    SX_TRY(sx_database_number(database, "PRAGMA application_id", &application));
    SX_TRY(sx_database_number(database, "PRAGMA user_version", &version));
    SX_TRY(sx_database_number(database, "SELECT count(*) FROM sqlite_schema", &things));
    bool empty = application == 0 && version == 0 && things == 0;
    if (!empty && application != SX_SCHEMA_APPLICATION) return sx_database_foreign(database);
    if (!empty && (version < 1 || version > NEWEST)) return sx_database_unknown_version(database, version);
    *out = version;
    return SX_OK;
}

/* Takes the steps from a file's version to the newest, inside a transaction. */
static SX_MUST_USE sx_status take_steps(sx_database *database) {
    char numbers[80];
    int64_t version;
    SX_TRY(read_version(database, &version));
    for (; version < NEWEST; version++) SX_TRY(sx_database_do(database, steps[version]));
    snprintf(numbers, sizeof numbers, "PRAGMA application_id=%d;PRAGMA user_version=%d",
             SX_SCHEMA_APPLICATION, NEWEST);
    return sx_database_do(database, numbers);
}

sx_status sx_schema_update(sx_database *database) {
    int64_t version;
    SX_TRY(read_version(database, &version));
    if (version == NEWEST) return SX_OK;
    SX_TRY(sx_database_begin(database));
    return sx_database_end(database, take_steps(database));
}
