/* How SQLite is used: a rollback journal (a single file between transactions), synchronous=EXTRA (a commit
 * outlives a kill and a power loss), and transactions that take the write lock at once and wait for it. */
#include "store/database.h"

#include "store/schema.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    HEADER_SIZE = 100,
    VERSION_AT = 60,
    APPLICATION_AT = 68,
    MOST_CHECKED = 2048, /* pages of a file that is checked whole when it is opened */
};

sx_status sx_database_damaged(const sx_database *database, const char *how) {
    return sx_error_hint(
        sx_error_new(SX_ERR_INPUT, "the database '%s' is damaged: %s", database->path, how),
        "restore a backup, or recover what is left with: sqlite3 FILE .recover | sqlite3 NEW_FILE");
}

sx_status sx_database_foreign(const sx_database *database) {
    return sx_error_hint(
        sx_error_new(SX_ERR_INPUT, "'%s' is a SQLite database of another program", database->path),
        "give a file that Sextant made, or one that does not exist yet");
}

sx_status sx_database_unknown_version(const sx_database *database, int64_t version) {
    if (version < 1) return sx_database_damaged(database, "it has no schema version");
    return sx_error_hint(
        sx_error_new(SX_ERR_INPUT,
                     "the database '%s' was written by a newer Sextant (its schema is version "
                     "%lld, the newest known here is %d)",
                     database->path, (long long)version, sx_schema_newest()),
        "use that newer Sextant, or another file");
}

static SX_ERROR sx_status not_a_database(const sx_database *database) {
    return sx_error_hint(sx_error_new(SX_ERR_INPUT, "'%s' is not a database", database->path),
                         "give a file that Sextant made, or one that does not exist yet");
}

/* The error for a file that cannot be used, with the operating system's reason, if any. */
static SX_ERROR sx_status refused_file(sx_database *database, sx_code code, const char *verb) {
    int system = sqlite3_system_errno(database->handle);
    if (!system) sqlite3_file_control(database->handle, "main", SQLITE_FCNTL_LAST_ERRNO, &system);
    return sx_error_new(code, "cannot %s the database '%s': %s", verb, database->path,
                        system ? strerror(system) : sqlite3_errmsg(database->handle));
}

static SX_ERROR sx_status unwritable_file(const sx_database *database) {
    return sx_error_hint(sx_error_new(SX_ERR_FILE, "the database '%s' cannot be written", database->path),
                         "both the file and its folder must be writable");
}

static SX_ERROR sx_status in_use(const sx_database *database) {
    return sx_error_hint(
        sx_error_new(SX_ERR_FILE,
                     "the database '%s' is in use: another program has been writing to it for %g seconds",
                     database->path, database->wait),
        "try again when it is done");
}

/* The error for SQLite's last failure. */
static SX_ERROR sx_status last_error(sx_database *database) {
    const char *message = sqlite3_errmsg(database->handle);
    switch (sqlite3_errcode(database->handle) & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return in_use(database);
    case SQLITE_FULL:
        return sx_error_new(SX_ERR_WRITE, "no room is left for the database '%s'", database->path);
    case SQLITE_NOMEM:
        return sx_error_memory();
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return unwritable_file(database);
    case SQLITE_CANTOPEN:
        return refused_file(database, SX_ERR_FILE, "open");
    case SQLITE_IOERR:
        return refused_file(database, SX_ERR_WRITE, "use");
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return sx_database_damaged(database, message);
    default:
        return sx_error_new(SX_ERR_INTERNAL, "the database '%s': %s", database->path, message);
    }
}

sx_status sx_database_do(sx_database *database, const char *sql) {
    if (sqlite3_exec(database->handle, sql, NULL, NULL, NULL) == SQLITE_OK) return SX_OK;
    return last_error(database);
}

sx_status sx_database_prepare(sx_database *database, const char *sql, sqlite3_stmt **out) {
    if (sqlite3_prepare_v2(database->handle, sql, -1, out, NULL) == SQLITE_OK) return SX_OK;
    return last_error(database);
}

sx_status sx_database_step(sx_database *database, sqlite3_stmt *statement, bool *row) {
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) return last_error(database);
    *row = code == SQLITE_ROW;
    return SX_OK;
}

void sx_database_bind(sqlite3_stmt *statement, int index, const char *text) {
    sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
}

sx_key sx_database_key(sqlite3_stmt *statement, int column) {
    sx_key key = {0};
    const char *text = (const char *)sqlite3_column_text(statement, column);
    if (text) strncpy(key.hex, text, sizeof key.hex - 1);
    return key;
}

const char *sx_database_text(sqlite3_stmt *statement, int column, sx_arena *arena) {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    return sx_arena_copy(arena, text ? text : "", text ? size : 0);
}

sx_status sx_database_finish(sx_database *database, sqlite3_stmt *statement) {
    bool row;
    sx_status status = sx_database_step(database, statement, &row);
    sqlite3_finalize(statement);
    return status;
}

sx_status sx_database_probe(sx_database *database, const char *const *sql, size_t n) {
    for (size_t i = 0; i < n; i++) {
        sqlite3_stmt *statement;
        SX_TRY(sx_database_prepare(database, sql[i], &statement));
        sqlite3_finalize(statement);
    }
    return SX_OK;
}

sx_status sx_database_insert_search(sx_database *database, const char *sql, const sx_key *key,
                                    const sx_key *found, const sx_search_record *search) {
    const char *const texts[] = {search->navigator, search->options, search->version};
    sqlite3_stmt *statement;
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, search->seed);
    SX_TRY(sx_database_prepare(database, sql, &statement));
    sx_database_bind(statement, 1, key->hex);
    sx_database_bind(statement, 2, found->hex);
    sx_database_bind(statement, 3, search->objective);
    sqlite3_bind_double(statement, 4, search->value);
    for (int i = 0; i < 3; i++) sx_database_bind(statement, 5 + i, texts[i]);
    sx_database_bind(statement, 8, seed);
    sqlite3_bind_int64(statement, 9, (int64_t)search->evaluations);
    sqlite3_bind_int64(statement, 10, (int64_t)search->valid);
    sqlite3_bind_double(statement, 11, search->seconds);
    sqlite3_bind_double(statement, 12, search->lower_bound);
    sqlite3_bind_int(statement, 13, search->optimal);
    return sx_database_finish(database, statement);
}

bool sx_database_read_search(sqlite3_stmt *statement, int first, sx_arena *arena, sx_search_record *out) {
    const char *options = sx_database_text(statement, first + 3, arena);
    const char *seed = sx_database_text(statement, first + 5, arena);
    *out = (sx_search_record){
        .objective = sx_database_text(statement, first, arena),
        .value = sqlite3_column_double(statement, first + 1),
        .navigator = sx_database_text(statement, first + 2, arena),
        .options = sqlite3_column_type(statement, first + 3) == SQLITE_NULL ? NULL : options,
        .version = sx_database_text(statement, first + 4, arena),
        .seed = seed ? strtoull(seed, NULL, 10) : 0,
        .evaluations = (uint64_t)sqlite3_column_int64(statement, first + 6),
        .valid = (uint64_t)sqlite3_column_int64(statement, first + 7),
        .seconds = sqlite3_column_double(statement, first + 8),
        .lower_bound = sqlite3_column_double(statement, first + 9),
        .optimal = sqlite3_column_int(statement, first + 10) != 0,
    };
    return seed && options && out->objective && out->navigator && out->version;
}

sx_status sx_database_check_search(const sx_search_record *search) {
    if (isnan(search->value) || isnan(search->seconds) || isnan(search->lower_bound))
        return sx_error_new(SX_ERR_USAGE, "a record holds a value that is not a number");
    if (search->evaluations > INT64_MAX || search->valid > INT64_MAX)
        return sx_error_new(SX_ERR_LIMIT, "a record counts more than 2^63 evaluations");
    return SX_OK;
}

sx_status sx_database_number(sx_database *database, const char *sql, int64_t *out) {
    sqlite3_stmt *statement;
    bool row;
    SX_TRY(sx_database_prepare(database, sql, &statement));
    sx_status status = sx_database_step(database, statement, &row);
    if (!status) *out = row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return status;
}

sx_status sx_database_begin(sx_database *database) {
    return sx_database_do(database, "BEGIN IMMEDIATE");
}

sx_status sx_database_end(sx_database *database, sx_status status) {
    if (!status) status = sx_database_do(database, "COMMIT");
    if (status && !sqlite3_get_autocommit(database->handle))
        sqlite3_exec(database->handle, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* Whether files can be made in the folder of a path; a missing folder is reported later. */
static bool folder_writable(const char *path) {
    char folder[4096];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s/.", slash ? (int)(slash - path) : 1, slash ? path : ".");
    return access(folder, W_OK) == 0 || errno == ENOENT || errno == ENOTDIR;
}

/* Refuses a path that is there and is not a file, or one too short for a header (SQLite takes a file of one
 * byte for an empty one), or where a file would have to be made and cannot be. */
static SX_MUST_USE sx_status check_path(const sx_database *database) {
    struct stat info;
    const char *path = database->path;
    if (!path[0]) return sx_error_new(SX_ERR_USAGE, "a database needs a file name");
    if (stat(path, &info) != 0) return folder_writable(path) ? SX_OK : unwritable_file(database);
    if (S_ISDIR(info.st_mode))
        return sx_error_hint(sx_error_new(SX_ERR_FILE, "'%s' is a folder, not a database", path),
                             "give a file, which is made where there is none: --db results.db");
    if (!S_ISREG(info.st_mode)) return sx_error_new(SX_ERR_FILE, "'%s' is not a file", path);
    if (info.st_size > 0 && info.st_size < HEADER_SIZE) return not_a_database(database);
    return SX_OK;
}

/* Refuses a file that cannot be written, or is (behind all links) in a folder that cannot be. */
static SX_MUST_USE sx_status check_writable(const sx_database *database) {
    const char *real = sqlite3_db_filename(database->handle, "main");
    return access(real, W_OK) == 0 && folder_writable(real) ? SX_OK : unwritable_file(database);
}

/* A big-endian number of four bytes. */
static int64_t big_endian(const unsigned char *at) {
    return (int64_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

/* Takes the lock that readers share, waiting for a writer to be done: what is read while a writer copies its
 * pages into the file may be inconsistent. */
static SX_MUST_USE sx_status lock_file(sx_database *database, sqlite3_file *file) {
    const struct timespec pause = {.tv_nsec = 5000000};
    for (long waits = 0;; waits++) {
        int code = file->pMethods->xLock(file, SQLITE_LOCK_SHARED);
        if (code == SQLITE_OK) return SX_OK;
        if ((code & 0xff) != SQLITE_BUSY) return refused_file(database, SX_ERR_FILE, "lock");
        if ((double)waits >= database->wait * 200) return in_use(database);
        nanosleep(&pause, NULL);
    }
}

/* Reads the header, and how many bytes there are, through SQLite's own file handle, before SQLite itself
 * looks at the file (which may repair it). Opening the file a second time instead would drop the
 * locks this process holds on it. */
static SX_MUST_USE sx_status read_header(sx_database *database, unsigned char *header, sqlite3_int64 *size) {
    sqlite3_file *file = NULL;
    sqlite3_file_control(database->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (!file || !file->pMethods) return refused_file(database, SX_ERR_FILE, "read");
    SX_TRY(lock_file(database, file));
    bool good = file->pMethods->xFileSize(file, size) == SQLITE_OK &&
                (*size == 0 || file->pMethods->xRead(file, header, HEADER_SIZE, 0) == SQLITE_OK);
    file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
    return good ? SX_OK : refused_file(database, SX_ERR_FILE, "read");
}

/* Refuses what is not ours by its header. */
static SX_MUST_USE sx_status check_header(sx_database *database) {
    sqlite3_int64 size = 0;
    unsigned char header[HEADER_SIZE];
    SX_TRY(read_header(database, header, &size));
    if (size == 0) return SX_OK;
    if (memcmp(header, "SQLite format 3", 16) != 0) return not_a_database(database);
    if (big_endian(header + APPLICATION_AT) != SX_SCHEMA_APPLICATION) return sx_database_foreign(database);
    int64_t version = big_endian(header + VERSION_AT);
    if (version < 1 || version > sx_schema_newest()) return sx_database_unknown_version(database, version);
    return SX_OK;
}

/* Refuses a file that ends within its last page, which SQLite would fill up with zeros. Where there is a
 * write-ahead log the pages need not be in the file. */
static SX_MUST_USE sx_status check_length(sx_database *database) {
    int64_t pages, page_size, log;
    sqlite3_int64 size = 0;
    sqlite3_file *file = NULL;
    SX_TRY(sx_database_number(database, "SELECT journal_mode = 'wal' FROM pragma_journal_mode", &log));
    SX_TRY(sx_database_number(database, "PRAGMA page_count", &pages));
    SX_TRY(sx_database_number(database, "PRAGMA page_size", &page_size));
    sqlite3_file_control(database->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (file->pMethods->xFileSize(file, &size) != SQLITE_OK)
        return refused_file(database, SX_ERR_FILE, "read");
    return log || size >= pages * page_size ? SX_OK : sx_database_damaged(database, "its end is missing");
}

/* Asks SQLite whether the file is whole. Of a large file, which would take seconds, only the schema is
 * checked: rows are compared with their hashes when they are read, and SQLite tells of damaged pages then. */
static SX_MUST_USE sx_status check_whole(sx_database *database) {
    sqlite3_stmt *statement;
    int64_t pages;
    bool row;
    SX_TRY(sx_database_number(database, "PRAGMA page_count", &pages));
    const char *question =
        pages <= MOST_CHECKED ? "PRAGMA quick_check(1)" : "PRAGMA quick_check(sqlite_schema)";
    SX_TRY(sx_database_prepare(database, question, &statement));
    sx_status status = sx_database_step(database, statement, &row);
    if (!status && row) {
        const char *said = (const char *)sqlite3_column_text(statement, 0);
        if (!said)
            status = sx_error_memory();
        else if (strcmp(said, "ok") != 0)
            status = sx_database_damaged(database, said);
    }
    sqlite3_finalize(statement);
    return status;
}

/* Opens the file by a name that SQLite cannot take for a URI or a database in memory. */
static SX_MUST_USE sx_status open_handle(sx_database *database) {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    char *name = sqlite3_mprintf("%s%s", database->path[0] == '/' ? "" : "./", database->path);
    if (!name) return sx_error_memory();
    int code = sqlite3_open_v2(name, &database->handle, flags, NULL);
    sqlite3_free(name);
    if (!database->handle) return sx_error_memory();
    return code == SQLITE_OK ? SX_OK : last_error(database);
}

/* Keeps SQLite from running triggers, views and extensions of a file. */
static SX_MUST_USE sx_status disable_triggers(sx_database *database) {
    static const int settings[][2] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},  {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (sqlite3_db_config(database->handle, settings[i][0], settings[i][1], (int *)NULL) != SQLITE_OK)
            return sx_error_new(SX_ERR_INTERNAL, "this SQLite cannot open databases defensively");
    return sx_database_do(database, "PRAGMA synchronous=EXTRA;PRAGMA foreign_keys=ON;"
                                    "PRAGMA trusted_schema=OFF;PRAGMA cell_size_check=ON");
}

/* Checks what is in the file, within a transaction, so that all questions are about one state of it. */
static SX_MUST_USE sx_status check_content(sx_database *database, int64_t *version) {
    SX_TRY(check_whole(database));
    SX_TRY(check_length(database));
    return sx_schema_check(database, version);
}

/* Opens and checks, in the order that writes nothing to what is refused. */
static SX_MUST_USE sx_status open_checked(sx_database *database) {
    int64_t version = 0;
    SX_TRY(check_path(database));
    SX_TRY(open_handle(database));
    sqlite3_extended_result_codes(database->handle, 0);
    sqlite3_busy_timeout(database->handle, (int)(database->wait * 1000));
    SX_TRY(check_header(database));
    SX_TRY(check_writable(database));
    SX_TRY(disable_triggers(database));
    SX_TRY(sx_database_do(database, "BEGIN"));
    SX_TRY(sx_database_end(database, check_content(database, &version)));
    if (sqlite3_db_readonly(database->handle, "main") != 0) return unwritable_file(database);
    return version == sx_schema_newest() ? SX_OK : sx_schema_update(database);
}

sx_status sx_database_open(const char *path, double wait, sx_database *out) {
    sx_database database = {.path = strdup(path), .wait = wait};
    if (!database.path) return sx_error_memory();
    sx_status status = open_checked(&database);
    if (status)
        sx_database_close(&database);
    else
        *out = database;
    return status;
}

void sx_database_close(sx_database *database) {
    sqlite3_close(database->handle);
    free(database->path);
    *database = (sx_database){0};
}
