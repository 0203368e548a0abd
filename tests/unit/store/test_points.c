#include "sextant/store.h"

#include "store/points.h"
#include "store/schema.h"
#include "support/expect.h"
#include "support/records.h"

#include <math.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const sx_metric_value metrics[] = {{"latency", 1234.5}, {"bram", 7}, {"energy", 0.1}};

static sx_point_record record_of(const char *space, const char *point, double value) {
    return (sx_point_record){.kind = "systolic",
                             .space = space,
                             .name = "a space",
                             .point = point,
                             .n_metrics = 3,
                             .metric = metrics,
                             .search = {.value = value,
                                        .objective = "delay",
                                        .navigator = "exact",
                                        .options = "{\"evaluations\": 10}",
                                        .version = "0.1.0",
                                        .seed = UINT64_MAX,
                                        .evaluations = 10,
                                        .valid = 5,
                                        .seconds = 0.25,
                                        .lower_bound = 0.125,
                                        .optimal = false}};
}

static sx_store *open_store(void) {
    sx_store *store;
    sx_expect_ok(sx_store_open(sx_scratch("a.db"), &store));
    return store;
}

static void add(sx_store *store, const sx_point_record *record) {
    sx_expect_ok(sx_store_add_point(store, record));
}

/* What a visit was told. */
typedef struct seen {
    int n;
    double value[8];
    bool optimal[8];
    char text[1000];
} seen;

static sx_status see(void *user, const sx_point_record *r) {
    seen *s = user;
    assert_true(s->n < 8);
    s->value[s->n] = r->search.value;
    s->optimal[s->n] = r->search.optimal;
    snprintf(
        s->text, sizeof s->text, "%s|%s|%s|%s|%zu %s=%g %s=%g %s=%.17g|%s|%s|%s|%s|%llu %llu %llu %g %g %d",
        r->kind, r->space, r->name, r->point, r->n_metrics, r->metric[0].name, r->metric[0].value,
        r->metric[1].name, r->metric[1].value, r->metric[2].name, r->metric[2].value, r->search.objective,
        r->search.navigator, r->search.options ? r->search.options : "none", r->search.version,
        (unsigned long long)r->search.seed, (unsigned long long)r->search.evaluations,
        (unsigned long long)r->search.valid, r->search.seconds, r->search.lower_bound, r->search.optimal);
    s->n++;
    return SX_OK;
}

/* Writes down the kinds and objectives that are visited. */
static sx_status note_kind(void *user, const char *kind, const char *objective) {
    char *text = user;
    snprintf(text + strlen(text), 200 - strlen(text), "%s/%s ", kind, objective);
    return SX_OK;
}

static void what_is_added_is_read_back_after_closing(void **state) {
    (void)state;
    sx_store *store = open_store();
    sx_point_record record = record_of("{\"b\": [1, 2],  \"a\": {\"x\": 1.5}}", "{\"t\": 3}", 99.5);
    add(store, &record);
    record.search.options = NULL;
    record.search.value = 98;
    record.kind = "placement";
    add(store, &record);
    sx_store_close(store);
    store = open_store();
    seen s = {0};
    sx_expect_ok(sx_store_best_points(store, "systolic", NULL, "delay", see, &s));
    assert_int_equal(s.n, 1);
    assert_string_equal(s.text,
                        "systolic|{\"a\":{\"x\":1.5},\"b\":[1,2]}|a space|{\"t\":3}|3 bram=7 energy=0.1 "
                        "latency=1234.5|delay|exact|{\"evaluations\":10}|0.1.0|18446744073709551615 10 5 "
                        "0.25 0.125 0");
    sx_expect_ok(sx_store_best_points(store, "placement", NULL, "delay", see, &s));
    assert_int_equal(s.n, 2);
    assert_non_null(strstr(s.text, "placement|"));
    assert_non_null(strstr(s.text, "|none|"));
    char kinds[200] = "";
    sx_expect_ok(sx_store_kinds(store, note_kind, kinds));
    assert_string_equal(kinds, "placement/delay systolic/delay ");
    sx_expect_ok(sx_store_best_points(store, "systolic", NULL, "energy", see, &s));
    sx_expect_ok(sx_store_best_points(store, "map", NULL, "delay", see, &s));
    assert_int_equal(s.n, 2);
    sx_store_close(store);
}

static void the_best_of_every_space_is_visited_once(void **state) {
    (void)state;
    sx_store *store = open_store();
    const char *spaces[] = {"{\"n\":1}", "{\"n\":2}"};
    for (int i = 0; i < 6; i++) {
        sx_point_record record = record_of(spaces[i % 2], i < 3 ? "[1]" : "[2]", 10 - i);
        add(store, &record);
    }
    sx_point_record proven = record_of(spaces[1], "[3]", 5); /* as good as the best of its space */
    proven.search.optimal = true;
    add(store, &proven);
    seen s = {0};
    sx_expect_ok(sx_store_best_points(store, "systolic", NULL, "delay", see, &s));
    assert_int_equal(s.n, 2);
    assert_true(s.value[0] + s.value[1] == 6 + 5);
    s = (seen){0};
    sx_expect_ok(sx_store_best_points(store, "systolic", " { \"n\" : 2 } ", "delay", see, &s));
    assert_int_equal(s.n, 1);
    assert_true(s.value[0] == 5 && s.optimal[0]);
    sx_store_counts counts;
    sx_expect_ok(sx_store_count(store, &counts));
    assert_int_equal(counts.spaces, 2);
    assert_int_equal(counts.points, 5);
    assert_int_equal(counts.searches, 7);
    assert_int_equal(counts.runs + counts.mappings + counts.problems + counts.archs, 0);
    sx_store_close(store);
}

static void all_of_every_space_are_visited(void **state) {
    sx_store *store = open_store();
    const sx_point_record all[] = {
        record_of("{\"n\":1}", "{\"p\":1}", 3), record_of("{\"n\":1}", "{\"p\":2}", INFINITY),
        record_of("{\"n\":2}", "{\"p\":3}", 1), record_of("{\"n\":1}", "{\"p\":4}", 2)};
    seen s = {0};
    double sum = 0;
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) add(store, &all[i]);
    sx_expect_ok(sx_store_all_points(store, "systolic", "delay", see, &s));
    assert_int_equal(s.n, 4);
    for (int i = 0; i < s.n; i++) sum += isinf(s.value[i]) ? 100 : s.value[i];
    assert_true(sum == 106);
    s.n = 0;
    sx_expect_ok(sx_store_all_points(store, "systolic", "energy", see, &s));
    assert_int_equal(s.n, 0);
    sx_store_close(store);
}

static void the_same_again_adds_nothing(void **state) {
    (void)state;
    sx_store *store = open_store();
    sx_point_record record = record_of("{\"a\":1,\"b\":2}", "{}", 1);
    add(store, &record);
    const sx_metric_value other_order[] = {metrics[2], metrics[0], metrics[1]};
    record = record_of("{ \"b\": 2, \"a\": 1 }", "{ }", 1);
    record.metric = other_order;
    record.name = "another name";
    record.search.seconds = 9;
    add(store, &record);
    sx_store_counts counts;
    sx_expect_ok(sx_store_count(store, &counts));
    assert_int_equal(counts.spaces, 1);
    assert_int_equal(counts.points, 1);
    assert_int_equal(counts.searches, 1);
    sx_store_close(store);
}

static void what_would_not_read_back_is_refused(void **state) {
    (void)state;
    sx_store *store = open_store();
    sx_point_record record = record_of("no json", "{}", 1);
    sx_expect_error(sx_store_add_point(store, &record), "the space of a record is not a JSON object or list");
    record = record_of("{}", "{", 1);
    sx_expect_error(sx_store_add_point(store, &record), "the point of a record is not");
    record = record_of("{}", "{}", NAN);
    sx_expect_error(sx_store_add_point(store, &record), "a record holds a value that is not a number");
    const sx_metric_value twice[] = {{"a", 1}, {"b", 1}, {"a", 1}};
    record = record_of("{}", "{}", 1);
    record.metric = twice;
    sx_expect_error(sx_store_add_point(store, &record), "a record has the metric 'a' twice");
    record = record_of("{}", "{}", 1);
    record.kind = NULL;
    sx_expect_error(sx_store_add_point(store, &record), "a record needs a kind");
    record = record_of("{}", "{}", 1);
    record.name = NULL;
    sx_expect_error(sx_store_add_point(store, &record), "a record needs a kind");
    record = record_of("{}", "{}", 1);
    record.search.objective = NULL;
    sx_expect_error(sx_store_add_point(store, &record), "a record needs a kind");
    sx_store_counts counts;
    sx_expect_ok(sx_store_count(store, &counts));
    assert_int_equal(counts.spaces + counts.points + counts.searches, 0);
    sx_store_close(store);
}

/* Runs SQL on a file, which is made where there is none. */
static void run_sql(const char *sql) {
    sqlite3 *handle;
    assert_int_equal(sqlite3_open(sx_scratch("a.db"), &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

static void changed_rows_are_noticed(void **state) {
    (void)state;
    static const char *const changes[] = {
        "UPDATE metrics SET value = 8 WHERE name = 'bram'",
        "UPDATE points SET text = '[9]'",
        "UPDATE searches SET value = 0.5",
        "UPDATE spaces SET text = '{\"n\":3}'",
        "DELETE FROM metrics WHERE name = 'energy'",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        seen s = {0};
        remove(sx_scratch("a.db"));
        sx_store *store = open_store();
        sx_point_record record = record_of("{\"n\":1}", "[1]", 1);
        add(store, &record);
        sx_store_close(store);
        run_sql(changes[i]);
        store = open_store();
        sx_expect_error(sx_store_best_points(store, "systolic", NULL, "delay", see, &s),
                        "a row does not match its hash");
        assert_int_equal(s.n, 0);
        sx_store_close(store);
    }
}

/* A database as version 2 of the tables wrote it, before there were other spaces than that of mappings. */
static const char second_version[] =
    "CREATE TABLE problems (  hash TEXT PRIMARY KEY NOT NULL,  name TEXT NOT NULL,  text TEXT NOT NULL) "
    "STRICT;"
    "CREATE TABLE archs (  hash TEXT PRIMARY KEY NOT NULL,  name TEXT NOT NULL,  text TEXT NOT NULL) STRICT;"
    "CREATE TABLE mappings (  hash TEXT PRIMARY KEY NOT NULL,  problem TEXT NOT NULL REFERENCES "
    "problems(hash),"
    "  arch TEXT NOT NULL REFERENCES archs(hash),  text TEXT NOT NULL,  energy_pj REAL NOT NULL,"
    "  cycles REAL NOT NULL,  utilization REAL NOT NULL,  last_level_accesses REAL NOT NULL) STRICT;"
    "CREATE TABLE runs (  hash TEXT PRIMARY KEY NOT NULL,  mapping TEXT NOT NULL REFERENCES mappings(hash),"
    "  objective TEXT NOT NULL,  value REAL NOT NULL,  mapper TEXT NOT NULL,  options TEXT,"
    "  version TEXT NOT NULL,  seed TEXT NOT NULL,  evaluations INTEGER NOT NULL,  valid INTEGER NOT NULL,"
    "  seconds REAL NOT NULL,  lower_bound REAL NOT NULL,  optimal INTEGER NOT NULL) STRICT;"
    "CREATE INDEX mappings_by_arch ON mappings(arch, problem);"
    "CREATE INDEX runs_by_mapping ON runs(mapping, objective);"
    "INSERT INTO problems VALUES('p', 'name', 'text');"
    "INSERT INTO archs VALUES('a', 'name', 'text');"
    "INSERT INTO mappings VALUES('m', 'p', 'a', 'text', 1, 2, 0.5, 4);"
    "INSERT INTO runs VALUES('r', 'm', 'edp', 2, 'random', NULL, '0.1.0', '1', 10, 5, 0.5, 0, 0);"
    "PRAGMA application_id=1400403054; PRAGMA user_version=2";

static void databases_of_mappings_only_take_points_after_an_update(void **state) {
    (void)state;
    run_sql(second_version);
    sx_store *store = open_store();
    sx_point_record record = record_of("{\"n\":1}", "[1]", 1);
    add(store, &record);
    sx_store_counts counts;
    sx_expect_ok(sx_store_count(store, &counts));
    assert_int_equal(counts.runs, 1);
    assert_int_equal(counts.mappings, 1);
    assert_int_equal(counts.searches, 1);
    sx_store_close(store);
    char check[120];
    snprintf(check, sizeof check,
             "CREATE TEMP TABLE t(n INTEGER CHECK (n = %d));"
             "INSERT INTO t SELECT user_version FROM pragma_user_version",
             sx_schema_newest());
    run_sql(check);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, sx_scratch_setup, sx_scratch_teardown)

/* A database that another program writes to is waited for no longer than said, now and later. */
static void waits_no_longer_than_said(void **state) {
    (void)state;
    sqlite3 *writer;
    sx_store *store = NULL;
    sx_expect_error(sx_store_open_within(sx_scratch("a.db"), -1, &store), "cannot wait -1 seconds");
    sx_expect_error(sx_store_open_within(sx_scratch("a.db"), NAN, &store), "cannot wait");
    sx_expect_error(sx_store_open_within(sx_scratch("a.db"), SX_STORE_MOST_WAIT + 1.0, &store),
                    "at the most 86400");
    assert_null(store);
    sx_expect_ok(sx_store_open_within(sx_scratch("a.db"), 0, &store));
    assert_int_equal(sqlite3_open(sx_scratch("a.db"), &writer), SQLITE_OK);
    assert_int_equal(sqlite3_exec(writer, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    sx_record record;
    sx_test_record(1, &record);
    sx_expect_error(sx_store_add(store, &record),
                    "is in use: another program has been writing to it for 0 seconds");
    assert_int_equal(sqlite3_exec(writer, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(writer), SQLITE_OK);
    sx_expect_ok(sx_store_add(store, &record));
    sx_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(what_is_added_is_read_back_after_closing),
        CASE(the_best_of_every_space_is_visited_once),
        CASE(all_of_every_space_are_visited),
        CASE(the_same_again_adds_nothing),
        CASE(what_would_not_read_back_is_refused),
        CASE(changed_rows_are_noticed),
        CASE(databases_of_mappings_only_take_points_after_an_update),
        CASE(waits_no_longer_than_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
