#include "store/schema.h"

#include "base/file.h"
#include "sextant/rng.h"
#include "support/compared.h"
#include "support/expect.h"
#include "support/records.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A file's bytes. */
typedef struct bytes {
    char *data;
    size_t size;
} bytes;

static bytes read_bytes(const char *path) {
    bytes b;
    sx_expect_ok(sx_file_read(path, 1 << 26, &b.data, &b.size));
    return b;
}

/* Asserts that a file is refused with a text that holds `part`, that not one of its bytes changed, and that
 * nothing was left beside it. */
static void assert_refused(const char *path, const char *part) {
    bytes before = read_bytes(path);
    int files = sx_scratch_files();
    sx_store *store = NULL;
    sx_expect_error(sx_store_open(path, &store), part);
    assert_null(store);
    bytes after = read_bytes(path);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.data, after.data, before.size);
    assert_int_equal(sx_scratch_files(), files);
    free(before.data);
    free(after.data);
}

/* Runs SQL on a file, which is made where there is none. */
static void run_sql(const char *path, const char *sql) {
    sqlite3 *handle;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

/* Makes a database with n records. */
static void fill(const char *path, uint64_t n) {
    sx_store *store;
    sx_expect_ok(sx_store_open(path, &store));
    for (uint64_t i = 0; i < n; i++) {
        sx_record record;
        sx_test_record(i, &record);
        sx_expect_ok(sx_store_add(store, &record));
    }
    sx_store_close(store);
}

/* Opens a database and returns how many runs it holds. */
static uint64_t runs_in(const char *path) {
    sx_store *store;
    sx_store_counts counts;
    sx_expect_ok(sx_store_open(path, &store));
    sx_expect_ok(sx_store_count(store, &counts));
    sx_store_close(store);
    return counts.runs;
}

static void what_is_no_database_is_refused(void **state) {
    (void)state;
    const char *path = sx_scratch("a");
    char long_text[5000];
    memset(long_text, 'x', sizeof long_text);
    sx_expect_ok(sx_file_write(path, "x", 1));
    assert_refused(path, "' is not a database\n  give a file that Sextant made");
    sx_expect_ok(sx_file_write(path, "SQLite format 3", 16));
    assert_refused(path, "is not a database");
    sx_expect_ok(sx_file_write(path, long_text, sizeof long_text));
    assert_refused(path, "is not a database");
}

static void what_is_no_file_is_refused(void **state) {
    (void)state;
    sx_store *store = NULL;
    sx_expect_error(sx_store_open("", &store), "a database needs a file name");
    sx_expect_error(sx_store_open(sx_scratch("."), &store), "is a folder, not a database");
    sx_expect_error(sx_store_open(sx_scratch("no/such"), &store), "No such file or directory");
    assert_int_equal(mkfifo(sx_scratch("pipe"), 0666), 0);
    sx_expect_error(sx_store_open(sx_scratch("pipe"), &store), "is not a file");
    assert_null(store);
    assert_int_equal(sx_scratch_files(), 1);
}

static void other_programs_files_are_refused(void **state) {
    (void)state;
    const char *path = sx_scratch("a.db");
    run_sql(path, "CREATE TABLE runs(x); INSERT INTO runs VALUES(1)");
    assert_refused(path, "is a SQLite database of another program");
    run_sql(path, "PRAGMA journal_mode=WAL; INSERT INTO runs VALUES(2)");
    assert_refused(path, "is a SQLite database of another program");
    run_sql(path, "PRAGMA application_id=7");
    assert_refused(path, "is a SQLite database of another program");
}

static void newer_schemas_are_refused(void **state) {
    (void)state;
    const char *path = sx_scratch("a.db");
    fill(path, 3);
    run_sql(path, "PRAGMA user_version=99");
    assert_refused(path, "was written by a newer Sextant (its schema is version 99");
    run_sql(path, "PRAGMA user_version=0");
    assert_refused(path, "is damaged: it has no schema version");
}

static void missing_tables_are_refused(void **state) {
    (void)state;
    const char *path = sx_scratch("a.db");
    fill(path, 3);
    run_sql(path, "PRAGMA foreign_keys=OFF; ALTER TABLE mappings DROP COLUMN cycles");
    assert_refused(path, "is damaged: its table 'mappings' was altered");
    run_sql(path, "PRAGMA foreign_keys=OFF; DROP TABLE mappings");
    assert_refused(path, "is damaged: its index 'mappings_by_arch' is missing");
}

/* Triggers, views and other things that a file brings along are named and refused. */
static void intruders_are_refused(void **state) {
    (void)state;
    static const char *const things[][3] = {
        {"CREATE TRIGGER evil AFTER INSERT ON runs BEGIN DELETE FROM mappings; DELETE FROM runs; END",
         "contains the trigger 'evil', which Sextant did not create", "DROP TRIGGER evil"},
        {"CREATE VIEW spy AS SELECT * FROM runs", "contains the view 'spy', which", "DROP VIEW spy"},
        {"CREATE TABLE notes(x)", "contains the table 'notes', which", "DROP TABLE notes"},
        {"CREATE INDEX odd ON runs(abs(value))", "contains the index 'odd', which", "DROP INDEX odd"},
        {"ALTER TABLE runs ADD COLUMN more REAL AS (value + 1)", "is damaged: its table 'runs' was altered",
         "ALTER TABLE runs DROP COLUMN more"},
    };
    const char *path = sx_scratch("a.db");
    fill(path, 3);
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        run_sql(path, things[i][0]);
        assert_refused(path, things[i][1]);
        run_sql(path, things[i][2]);
        if (i + 1 < sizeof things / sizeof *things) assert_int_equal(runs_in(path), 3);
    }
}

/* Statistics that the user had SQLite gather are no intruders. */
static void statistics_are_fine(void **state) {
    (void)state;
    const char *path = sx_scratch("a.db");
    fill(path, 3);
    run_sql(path, "ANALYZE");
    assert_int_equal(runs_in(path), 3);
}

/* A trigger that comes later is not obeyed: an open database runs none. */
static void later_triggers_do_nothing(void **state) {
    (void)state;
    const char *path = sx_scratch("a.db");
    sx_store *store;
    sx_store_counts counts;
    sx_record record;
    fill(path, 3);
    sx_expect_ok(sx_store_open(path, &store));
    run_sql(path, "CREATE TRIGGER evil AFTER INSERT ON runs BEGIN DELETE FROM runs; END");
    sx_test_record(7, &record);
    sx_expect_ok(sx_store_add(store, &record));
    sx_expect_ok(sx_store_count(store, &counts));
    assert_int_equal(counts.runs, 4);
    sx_store_close(store);
}

/* In a process without the rights of root: 0 when opening is refused with these words, or, without any, is not. */
static int open_without_rights(const char *path, const char *part) {
    if (geteuid() == 0 && setuid(65534) != 0) return 1;
    sx_store *store = NULL;
    sx_status status = sx_store_open(path, &store);
    if (!part) return status ? 2 : 0;
    return status && strstr(status->message, part) ? 0 : 2;
}

static void expect_without_rights(const char *path, const char *part) {
    int code;
    pid_t child = fork();
    if (child == 0) _exit(open_without_rights(path, part));
    waitpid(child, &code, 0);
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), 0);
}

static void what_cannot_be_written_is_refused(void **state) {
    (void)state;
    const char *path = sx_scratch("a.db"), *folder = sx_scratch(".");
    fill(path, 1);
    chmod(path, 0444);
    chmod(folder, 0777);
    expect_without_rights(path, "cannot be written");
    chmod(path, 0666);
    chmod(folder, 0555);
    expect_without_rights(path, "cannot be written");
    expect_without_rights(sx_scratch("new.db"), "cannot be written");
    chmod(path, 0);
    expect_without_rights(path, "Permission denied");
    chmod(folder, 0700);
}

/* The folder of a name without one is the current one; that of a file below the root is the root. */
static void folders_of_names(void **state) {
    (void)state;
    char here[512];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(sx_scratch(".")), 0);
    chmod(".", 0555);
    expect_without_rights("new.db", "cannot be written");
    expect_without_rights("/new.db", "cannot be written");
    chmod(".", 0777);
    expect_without_rights("new.db", NULL);
    assert_int_equal(access("new.db", F_OK), 0);
    chmod(".", 0700);
    assert_int_equal(chdir(here), 0);
}

static void empty_files_and_links_are_fine(void **state) {
    (void)state;
    sx_expect_ok(sx_file_write(sx_scratch("empty"), "", 0));
    fill(sx_scratch("empty"), 2);
    assert_int_equal(runs_in(sx_scratch("empty")), 2);
    assert_int_equal(symlink("empty", sx_scratch("link")), 0);
    fill(sx_scratch("link"), 3);
    assert_int_equal(runs_in(sx_scratch("empty")), 3);
    assert_int_equal(symlink("fresh", sx_scratch("dangling")), 0);
    fill(sx_scratch("dangling"), 4);
    assert_int_equal(runs_in(sx_scratch("fresh")), 4);
}

static void every_name_is_a_files_name(void **state) {
    (void)state;
    static const char *const names[] = {":memory:", "file:a?mode=memory", "a b'\"%.db", "-x"};
    char here[512];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(sx_scratch(".")), 0);
    for (int i = 0; i < 4; i++) {
        fill(names[i], 1);
        assert_int_equal(access(names[i], F_OK), 0);
        assert_int_equal(runs_in(names[i]), 1);
    }
    assert_int_equal(chdir(here), 0);
}

/* The tables of the first version, as files of it have them. */
static const char first_version[] = "CREATE TABLE problems ("
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
                                    ") STRICT;";

/* What a first version of the tables, filled by SQL alone, holds. */
static const char first_version_rows[] =
    "INSERT INTO problems VALUES('p', 'name', 'text');"
    "INSERT INTO archs VALUES('a', 'name', 'text');"
    "INSERT INTO mappings VALUES('m', 'p', 'a', 'text', 1, 2, 0.5, 4);"
    "INSERT INTO runs VALUES('r', 'm', 'edp', 2, 'random', NULL, '0.1.0', '1', 10, 5, 0.5, 0, 0);";

static void an_older_schema_is_brought_up_to_date(void **state) {
    (void)state;
    char mark[80];
    const char *path = sx_scratch("old.db"), *fresh = sx_scratch("fresh.db");
    snprintf(mark, sizeof mark, "PRAGMA application_id=%d; PRAGMA user_version=1", SX_SCHEMA_APPLICATION);
    run_sql(path, first_version);
    run_sql(path, first_version_rows);
    run_sql(path, mark);
    assert_int_equal(runs_in(path), 1);
    fill(path, 5);
    assert_int_equal(runs_in(path), 6);
    fill(fresh, 0);
    char sql[700];
    snprintf(sql, sizeof sql,
             "ATTACH '%s' AS fresh; CREATE TEMP TABLE same(n INTEGER CHECK (n = 0));"
             "INSERT INTO same SELECT count(*) FROM (SELECT name, sql FROM main.sqlite_schema"
             " EXCEPT SELECT name, sql FROM fresh.sqlite_schema);"
             "INSERT INTO same SELECT count(*) FROM (SELECT name, sql FROM fresh.sqlite_schema"
             " EXCEPT SELECT name, sql FROM main.sqlite_schema);"
             "INSERT INTO same SELECT user_version - %d FROM pragma_user_version",
             fresh, sx_schema_newest());
    run_sql(path, sql);
    assert_int_equal(sx_scratch_files(), 2);
}

/* Fails the test unless the record is one of those that were added. */
static sx_status check_seen(void *user, const sx_record *record) {
    sx_record original;
    (void)user;
    sx_test_record(record->search.seed, &original);
    assert_memory_equal(&record->mapping, &original.mapping, sizeof original.mapping);
    assert_memory_equal(&record->score, &original.score, sizeof original.score);
    assert_true(record->search.value == original.search.value);
    assert_string_equal(record->search.navigator, original.search.navigator);
    return SX_OK;
}

/* Opens a file that may be damaged: refused unchanged, or all that is read from it was once added. Returns
 * whether it was opened and read to the end. */
static bool read_or_refuse(const char *path) {
    sx_store *store = NULL;
    sx_record any;
    bytes before = read_bytes(path), after;
    sx_status status = sx_store_open(path, &store);
    if (status) {
        assert_true(status->code == SX_ERR_INPUT || status->code == SX_ERR_FILE);
        after = read_bytes(path);
        assert_int_equal(before.size, after.size);
        assert_memory_equal(before.data, after.data, before.size);
        free(after.data);
    } else {
        sx_test_record(0, &any);
        status = sx_store_best(store, &any.arch, "edp", check_seen, NULL);
    }
    bool good = !status;
    sx_status_free(status);
    sx_store_close(store);
    free(before.data);
    return good;
}

static void cut_files_are_refused(void **state) {
    (void)state;
    const char *path = sx_scratch("a.db"), *cut = sx_scratch("cut.db");
    fill(path, 40);
    bytes whole = read_bytes(path);
    for (size_t size = whole.size - 1; size > 0; size = size * 9 / 10) {
        sx_expect_ok(sx_file_write(cut, whole.data, size));
        assert_false(read_or_refuse(cut));
    }
    free(whole.data);
}

static void flipped_bytes_never_pass_for_results(void **state) {
    (void)state;
    const char *path = sx_scratch("a.db"), *bad = sx_scratch("bad.db");
    fill(path, 40);
    bytes whole = read_bytes(path);
    int caught = 0;
    for (uint64_t i = 0; i < 400; i++) {
        sx_rng rng = sx_rng_stream(1, "flip", i);
        size_t at = sx_rng_below(&rng, i % 4 ? whole.size : 200);
        char kept = whole.data[at];
        whole.data[at] ^= (char)(1u << sx_rng_below(&rng, 8));
        sx_expect_ok(sx_file_write(bad, whole.data, whole.size));
        caught += !read_or_refuse(bad);
        whole.data[at] = kept;
    }
    sx_expect_compared("flipped bytes that were noticed", (uint64_t)caught, 20);
    free(whole.data);
}

/* Writes bytes over a page of a file. */
static void damage_page(const char *path, long page) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (page - 1) * 4096, SEEK_SET), 0);
    for (int i = 0; i < 4096; i++) fputc(0xff, file);
    assert_int_equal(fclose(file), 0);
}

/* Opening does not read all of a large file: damage within it shows when it is read. */
static void large_files_are_opened_without_reading_all(void **state) {
    (void)state;
    const char *path = sx_scratch("a.db");
    fill(path, 3);
    run_sql(path, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
                  " INSERT INTO spaces(hash, kind, name, text)"
                  " SELECT printf('%032x', i), 'k', 'n', hex(zeroblob(1900)) FROM n");
    damage_page(path, 2500);
    assert_int_equal(runs_in(path), 3);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, sx_scratch_setup, sx_scratch_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(large_files_are_opened_without_reading_all),
        CASE(what_is_no_database_is_refused),
        CASE(what_is_no_file_is_refused),
        CASE(other_programs_files_are_refused),
        CASE(newer_schemas_are_refused),
        CASE(missing_tables_are_refused),
        CASE(intruders_are_refused),
        CASE(statistics_are_fine),
        CASE(later_triggers_do_nothing),
        CASE(what_cannot_be_written_is_refused),
        CASE(folders_of_names),
        CASE(empty_files_and_links_are_fine),
        CASE(every_name_is_a_files_name),
        CASE(an_older_schema_is_brought_up_to_date),
        CASE(cut_files_are_refused),
        CASE(flipped_bytes_never_pass_for_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
