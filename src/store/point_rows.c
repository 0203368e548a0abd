/* A space is stored under the hash of its kind and its text, without its name. The hash of a point covers its
 * space, its text and its metrics; that of a search its point and all there is to know about it but the
 * seconds it took. JSON is stored in one canonical form: sorted keys, no spaces. */
#include "store/point_rows.h"

#include "base/json.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sx_key space_key(const char *kind, const char *text) {
    sx_digest d = sx_digest_start;
    sx_digest_text(&d, kind);
    sx_digest_number(&d, 0);
    sx_digest_text(&d, text);
    return sx_digest_key(&d);
}

static sx_key point_key(const sx_key *space, const char *text, const sx_metric_value *metric, size_t n) {
    sx_digest d = sx_digest_start;
    sx_digest_text(&d, space->hex);
    sx_digest_text(&d, text);
    for (size_t i = 0; i < n; i++) {
        sx_digest_number(&d, strlen(metric[i].name));
        sx_digest_text(&d, metric[i].name);
        sx_digest_double(&d, metric[i].value);
    }
    return sx_digest_key(&d);
}

static sx_key search_key(const sx_key *point, const char *options, const sx_search_record *record) {
    const char *texts[] = {record->objective, record->navigator, options ? options : "", record->version};
    sx_digest d = sx_digest_start;
    sx_digest_text(&d, point->hex);
    sx_digest_number(&d, options != NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sx_digest_number(&d, strlen(texts[i]));
        sx_digest_text(&d, texts[i]);
    }
    sx_digest_double(&d, record->value);
    sx_digest_number(&d, record->seed);
    sx_digest_number(&d, record->evaluations);
    sx_digest_number(&d, record->valid);
    sx_digest_double(&d, record->lower_bound);
    sx_digest_number(&d, record->optimal);
    return sx_digest_key(&d);
}

/* Refuses what SQLite would not give back as it was. */
static SX_MUST_USE sx_status check_record(const sx_point_record *r) {
    if (!r->kind || !r->kind[0] || !r->space || !r->name || !r->point || !r->search.objective ||
        !r->search.navigator || !r->search.version)
        return sx_error_new(SX_ERR_USAGE, "a record needs a kind, a space, a name, a point, an objective, a "
                                          "navigator and a version");
    for (size_t i = 0; i < r->n_metrics; i++) {
        if (!r->metric[i].name) return sx_error_new(SX_ERR_USAGE, "a metric of a record needs a name");
        if (isnan(r->metric[i].value))
            return sx_error_new(SX_ERR_USAGE, "a record holds a value that is not a number");
    }
    return sx_database_check_search(&r->search);
}

/* The canonical form of JSON text; `what` names it in errors. */
static SX_MUST_USE sx_status canonical_json(const char *text, const char *what, SX_OWN char **out) {
    json_t *tree = sx_json_read(text);
    if (!tree && sx_json_failed()) return sx_error_memory();
    if (!tree) return sx_error_new(SX_ERR_USAGE, "the %s of a record is not a JSON object or list", what);
    *out = sx_json_print(tree, JSON_SORT_KEYS | JSON_COMPACT);
    json_decref(tree);
    return *out ? SX_OK : sx_error_memory();
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const sx_metric_value *)a)->name, ((const sx_metric_value *)b)->name);
}

/* Copies the metrics of a record in the order of their names. */
static SX_MUST_USE sx_status sort_metrics(const sx_point_record *record, sx_point_rows *rows) {
    size_t n = record->n_metrics;
    rows->metric = calloc(n + 1, sizeof *rows->metric);
    if (!rows->metric) return sx_error_memory();
    if (n) memcpy(rows->metric, record->metric, n * sizeof *rows->metric);
    if (n) qsort(rows->metric, n, sizeof *rows->metric, by_name);
    for (size_t i = 1; i < n; i++)
        if (strcmp(rows->metric[i - 1].name, rows->metric[i].name) == 0)
            return sx_error_new(SX_ERR_USAGE, "a record has the metric '%s' twice", rows->metric[i].name);
    return SX_OK;
}

/* Fills rows that are all zero. */
static SX_MUST_USE sx_status make_rows(const sx_point_record *record, sx_point_rows *rows) {
    rows->record = record;
    SX_TRY(check_record(record));
    SX_TRY(canonical_json(record->space, "space", &rows->space));
    SX_TRY(canonical_json(record->point, "point", &rows->point));
    if (record->search.options) SX_TRY(canonical_json(record->search.options, "options", &rows->options));
    SX_TRY(sort_metrics(record, rows));
    rows->space_key = space_key(record->kind, rows->space);
    rows->point_key = point_key(&rows->space_key, rows->point, rows->metric, record->n_metrics);
    rows->search_key = search_key(&rows->point_key, rows->options, &record->search);
    return SX_OK;
}

sx_status sx_point_rows_init(const sx_point_record *record, sx_point_rows *out) {
    *out = (sx_point_rows){0};
    sx_status status = make_rows(record, out);
    if (status) sx_point_rows_fini(out);
    return status;
}

void sx_point_rows_fini(sx_point_rows *rows) {
    free(rows->space);
    free(rows->point);
    free(rows->options);
    free(rows->metric);
    *rows = (sx_point_rows){0};
}

static const char insert_space[] = "INSERT INTO spaces(hash, kind, name, text) VALUES(?1, ?2, ?3, ?4)"
                                   " ON CONFLICT(hash) DO NOTHING";
static const char insert_point[] = "INSERT INTO points(hash, space, text) VALUES(?1, ?2, ?3)"
                                   " ON CONFLICT(hash) DO NOTHING";
static const char insert_metric[] = "INSERT INTO metrics(point, name, value) VALUES(?1, ?2, ?3)"
                                    " ON CONFLICT(point, name) DO NOTHING";
static const char insert_search[] =
    "INSERT INTO searches(hash, point, objective, value, navigator, options, version, seed, evaluations,"
    " valid, seconds, lower_bound, optimal) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
    " ON CONFLICT(hash) DO NOTHING";

/* The columns of select_search. */
enum column {
    SEARCH_POINT,
    SEARCH_RECORD,
    POINT_TEXT = SEARCH_RECORD + SX_SEARCH_COLUMNS,
    SPACE_KIND,
    SPACE_NAME,
    SPACE_TEXT,
    POINT_METRICS, /* how many */
};
static const char select_search[] =
    "SELECT r.point, r.objective, r.value, r.navigator, r.options, r.version, r.seed, r.evaluations, r.valid,"
    " r.seconds, r.lower_bound, r.optimal, p.text, s.kind, s.name, s.text,"
    " (SELECT count(*) FROM metrics m WHERE m.point = p.hash)"
    " FROM searches r JOIN points p ON p.hash = r.point JOIN spaces s ON s.hash = p.space WHERE r.hash = ?1";
static const char select_metrics[] = "SELECT name, value FROM metrics WHERE point = ?1 ORDER BY name";
static const char select_best[] =
    "SELECT p.space, r.hash FROM spaces s JOIN points p ON p.space = s.hash"
    " JOIN searches r ON r.point = p.hash"
    " WHERE s.kind = ?1 AND r.objective = ?2 AND (?3 IS NULL OR s.hash = ?3)"
    " ORDER BY p.space, r.value, r.optimal DESC, r.lower_bound DESC, p.hash, r.hash";

sx_status sx_point_rows_probe(sx_database *database) {
    static const char *const all[] = {insert_space,  insert_point,   insert_metric, insert_search,
                                      select_search, select_metrics, select_best};
    return sx_database_probe(database, all, sizeof all / sizeof all[0]);
}

sx_status sx_point_rows_insert(sx_database *database, const sx_point_rows *rows) {
    sqlite3_stmt *statement;
    SX_TRY(sx_database_prepare(database, insert_space, &statement));
    sx_database_bind(statement, 1, rows->space_key.hex);
    sx_database_bind(statement, 2, rows->record->kind);
    sx_database_bind(statement, 3, rows->record->name);
    sx_database_bind(statement, 4, rows->space);
    SX_TRY(sx_database_finish(database, statement));
    SX_TRY(sx_database_prepare(database, insert_point, &statement));
    sx_database_bind(statement, 1, rows->point_key.hex);
    sx_database_bind(statement, 2, rows->space_key.hex);
    sx_database_bind(statement, 3, rows->point);
    SX_TRY(sx_database_finish(database, statement));
    for (size_t i = 0; i < rows->record->n_metrics; i++) {
        SX_TRY(sx_database_prepare(database, insert_metric, &statement));
        sx_database_bind(statement, 1, rows->point_key.hex);
        sx_database_bind(statement, 2, rows->metric[i].name);
        sqlite3_bind_double(statement, 3, rows->metric[i].value);
        SX_TRY(sx_database_finish(database, statement));
    }
    sx_search_record search = rows->record->search;
    search.options = rows->options;
    return sx_database_insert_search(database, insert_search, &rows->search_key, &rows->point_key, &search);
}

sx_status sx_point_rows_keys(sx_database *database, const char *kind, const char *space,
                             const char *objective, bool all, sx_text *keys) {
    sqlite3_stmt *statement;
    char *text = NULL;
    sx_key of = {0}, last = {0};
    bool row = false;
    if (space) SX_TRY(canonical_json(space, "space", &text));
    if (text) of = space_key(kind, text);
    free(text);
    SX_TRY(sx_database_prepare(database, select_best, &statement));
    sx_database_bind(statement, 1, kind);
    sx_database_bind(statement, 2, objective);
    if (space) sx_database_bind(statement, 3, of.hex);
    sx_status status;
    while (!(status = sx_database_step(database, statement, &row)) && row) {
        sx_key next = sx_database_key(statement, 0), search = sx_database_key(statement, 1);
        if (all || strcmp(next.hex, last.hex) != 0)
            sx_text_add_bytes(keys, (const char *)&search, sizeof search);
        last = next;
    }
    sqlite3_finalize(statement);
    return !status && keys->failed ? sx_error_memory() : status;
}

/* Takes the row of select_search apart; false when memory is out. */
static bool take_row(sqlite3_stmt *s, sx_arena *arena, sx_point_record *record, sx_key *point) {
    bool whole = sx_database_read_search(s, SEARCH_RECORD, arena, &record->search);
    *point = sx_database_key(s, SEARCH_POINT);
    record->point = sx_database_text(s, POINT_TEXT, arena);
    record->kind = sx_database_text(s, SPACE_KIND, arena);
    record->name = sx_database_text(s, SPACE_NAME, arena);
    record->space = sx_database_text(s, SPACE_TEXT, arena);
    record->n_metrics = (size_t)sqlite3_column_int64(s, POINT_METRICS);
    return whole && record->point && record->kind && record->name && record->space;
}

/* Reads the metrics of a point. */
static SX_MUST_USE sx_status read_metrics(sx_database *database, const sx_key *point, sx_arena *arena,
                                          sx_point_record *record) {
    sx_metric_value *metric = sx_arena_alloc(arena, record->n_metrics + 1, sizeof *metric);
    sqlite3_stmt *statement;
    size_t n = 0;
    bool row = false;
    if (!metric) return sx_arena_error(arena);
    SX_TRY(sx_database_prepare(database, select_metrics, &statement));
    sx_database_bind(statement, 1, point->hex);
    sx_status status;
    while (!(status = sx_database_step(database, statement, &row)) && row && n < record->n_metrics) {
        metric[n].name = sx_database_text(statement, 0, arena);
        metric[n].value = sqlite3_column_double(statement, 1);
        if (!metric[n++].name) status = sx_arena_error(arena);
        if (status) break;
    }
    sqlite3_finalize(statement);
    record->metric = metric;
    record->n_metrics = n;
    return status;
}

sx_status sx_point_rows_read(sx_database *database, const sx_key *search, sx_arena *arena,
                             sx_point_record *out) {
    sqlite3_stmt *statement;
    sx_key point;
    bool row;
    sx_point_record record = {0};
    SX_TRY(sx_database_prepare(database, select_search, &statement));
    sx_database_bind(statement, 1, search->hex);
    sx_status status = sx_database_step(database, statement, &row);
    if (!status && !row) status = sx_database_damaged(database, "a search has no point");
    if (!status && !take_row(statement, arena, &record, &point)) status = sx_arena_error(arena);
    sqlite3_finalize(statement);
    if (status) return status;
    SX_TRY(read_metrics(database, &point, arena, &record));
    sx_key space = space_key(record.kind, record.space);
    sx_key content = point_key(&space, record.point, record.metric, record.n_metrics);
    sx_key whole = search_key(&content, record.search.options, &record.search);
    if (strcmp(content.hex, point.hex) != 0 || strcmp(whole.hex, search->hex) != 0)
        return sx_database_damaged(database, "a row does not match its hash");
    *out = record;
    return SX_OK;
}
