/* Every noun is a row under the hash of its content, so that writing it again changes nothing. A new file
 * goes through all versions from the first one on: updated files and new ones have the same tables. */
#include "store/schema.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

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

    "CREATE TABLE spaces ("
    "  hash TEXT PRIMARY KEY NOT NULL,"
    "  kind TEXT NOT NULL,"
    "  name TEXT NOT NULL,"
    "  text TEXT NOT NULL"
    ") STRICT;"
    "CREATE TABLE points ("
    "  hash TEXT PRIMARY KEY NOT NULL,"
    "  space TEXT NOT NULL REFERENCES spaces(hash),"
    "  text TEXT NOT NULL"
    ") STRICT;"
    "CREATE TABLE metrics ("
    "  point TEXT NOT NULL REFERENCES points(hash),"
    "  name TEXT NOT NULL,"
    "  value REAL NOT NULL,"
    "  PRIMARY KEY (point, name)"
    ") STRICT;"
    "CREATE TABLE searches ("
    "  hash TEXT PRIMARY KEY NOT NULL,"
    "  point TEXT NOT NULL REFERENCES points(hash),"
    "  objective TEXT NOT NULL,"
    "  value REAL NOT NULL,"
    "  navigator TEXT NOT NULL,"
    "  options TEXT,"
    "  version TEXT NOT NULL,"
    "  seed TEXT NOT NULL,"
    "  evaluations INTEGER NOT NULL,"
    "  valid INTEGER NOT NULL,"
    "  seconds REAL NOT NULL,"
    "  lower_bound REAL NOT NULL,"
    "  optimal INTEGER NOT NULL"
    ") STRICT;"
    "CREATE INDEX points_by_space ON points(space);"
    "CREATE INDEX searches_by_point ON searches(point, objective);",

    "ALTER TABLE mappings ADD COLUMN latency REAL;",
};

enum { NEWEST = sizeof steps / sizeof steps[0] };

int sx_schema_newest(void) {
    return NEWEST;
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

/* What a file is made of, without the statistics that ANALYZE leaves. */
static const char select_objects[] = "SELECT type, name, coalesce(sql, '') FROM sqlite_schema"
                                     " WHERE name NOT LIKE 'sqlite#_stat%' ESCAPE '#' ORDER BY type, name";

/* A column's text, "" where there is none. */
static const char *column_text(sqlite3_stmt *statement, int index) {
    const char *text = (const char *)sqlite3_column_text(statement, index);
    return text ? text : "";
}

/* Compares the current objects of two statements: as strcmp, by type and name. */
static int compare_objects(sqlite3_stmt *a, sqlite3_stmt *b) {
    int order = strcmp(column_text(a, 0), column_text(b, 0));
    return order ? order : strcmp(column_text(a, 1), column_text(b, 1));
}

/* The error for an object that is missing or altered. */
static SX_ERROR sx_status altered_object(const sx_database *database, sqlite3_stmt *object, const char *how) {
    char text[160];
    snprintf(text, sizeof text, "its %.20s '%.100s' %s", column_text(object, 0), column_text(object, 1), how);
    return sx_database_damaged(database, text);
}

/* The error for an object that Sextant did not create. */
static SX_ERROR sx_status foreign_object(const sx_database *database, sqlite3_stmt *object) {
    return sx_error_hint(sx_error_new(SX_ERR_INPUT,
                                      "the database '%s' contains the %s '%s', which Sextant did not create",
                                      database->path, column_text(object, 0), column_text(object, 1)),
                         "name another file, or drop it with the program sqlite3");
}

/* Compares the objects of a file with those of a model, both listed in order. */
static SX_MUST_USE sx_status compare_lists(sx_database *database, sqlite3_stmt *have, sx_database *model,
                                           sqlite3_stmt *want) {
    bool here, there;
    SX_TRY(sx_database_step(database, have, &here));
    SX_TRY(sx_database_step(model, want, &there));
    while (here || there) {
        int order = !here ? 1 : !there ? -1 : compare_objects(have, want);
        if (order < 0) return foreign_object(database, have);
        if (order > 0) return altered_object(database, want, "is missing");
        if (strcmp(column_text(have, 2), column_text(want, 2)) != 0)
            return altered_object(database, have, "was altered");
        SX_TRY(sx_database_step(database, have, &here));
        SX_TRY(sx_database_step(model, want, &there));
    }
    return SX_OK;
}

/* Makes the tables of a version in memory, and compares a file with them. */
static SX_MUST_USE sx_status compare_with(sx_database *database, sx_database *model, int64_t version) {
    sqlite3_stmt *have = NULL, *want = NULL;
    for (int64_t i = 0; i < version; i++) SX_TRY(sx_database_do(model, steps[i]));
    SX_TRY(sx_database_prepare(database, select_objects, &have));
    sx_status status = sx_database_prepare(model, select_objects, &want);
    if (!status) status = compare_lists(database, have, model, want);
    sqlite3_finalize(have);
    sqlite3_finalize(want);
    return status;
}

sx_status sx_schema_check(sx_database *database, int64_t *version) {
    sx_database model = {.path = database->path};
    SX_TRY(read_version(database, version));
    if (sqlite3_open_v2(":memory:", &model.handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL) !=
        SQLITE_OK) {
        sqlite3_close(model.handle);
        return sx_error_memory();
    }
    sx_status status = compare_with(database, &model, *version);
    sqlite3_close(model.handle);
    return status;
}

/* Takes the steps from a file's version to the newest, inside a transaction. */
static SX_MUST_USE sx_status take_steps(sx_database *database) {
    char numbers[80];
    int64_t version;
    SX_TRY(sx_schema_check(database, &version));
    if (version == NEWEST) return SX_OK;
    for (; version < NEWEST; version++) SX_TRY(sx_database_do(database, steps[version]));
    snprintf(numbers, sizeof numbers, "PRAGMA application_id=%d;PRAGMA user_version=%d",
             SX_SCHEMA_APPLICATION, NEWEST);
    return sx_database_do(database, numbers);
}

sx_status sx_schema_update(sx_database *database) {
    SX_TRY(sx_database_begin(database));
    return sx_database_end(database, take_steps(database));
}
