/* Adding, counting, and finding the best. Which run is best does not depend on the order they were added in:
 * among equals it is the one with the strongest proof, then the first by hash. */
#include "sextant/store.h"

#include "base/text.h"
#include "store/point_rows.h"
#include "store/points.h"
#include "store/rows.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct sx_store {
    sx_database database;
};

const char *sx_store_engine(void) {
    return sqlite3_libversion();
}

sx_status sx_store_open(const char *path, sx_store **out) {
    return sx_store_open_within(path, SX_STORE_WAIT, out);
}

sx_status sx_store_open_within(const char *path, double seconds, sx_store **out) {
    if (!(seconds >= 0 && seconds <= SX_STORE_MOST_WAIT))
        return sx_error_new(SX_ERR_USAGE, "cannot wait %g seconds for a database; at the most %d", seconds,
                            SX_STORE_MOST_WAIT);
    sx_store *store = calloc(1, sizeof *store);
    if (!store) return sx_error_memory();
    sx_status status = sx_database_open(path, seconds, &store->database);
    if (!status) status = sx_rows_probe(&store->database);
    if (!status) status = sx_point_rows_probe(&store->database);
    if (status)
        sx_store_close(store);
    else
        *out = store;
    return status;
}

void sx_store_close(sx_store *store) {
    if (!store) return;
    sx_database_close(&store->database);
    free(store);
}

sx_status sx_store_add(sx_store *store, const sx_record *record) {
    sx_rows rows;
    SX_TRY(sx_rows_init(record, &rows));
    sx_status status = sx_database_begin(&store->database);
    if (!status) status = sx_database_end(&store->database, sx_rows_insert(&store->database, &rows));
    sx_rows_fini(&rows);
    return status;
}

sx_status sx_store_count(sx_store *store, sx_store_counts *out) {
    static const char sql[] = "SELECT (SELECT count(*) FROM problems), (SELECT count(*) FROM archs),"
                              " (SELECT count(*) FROM mappings), (SELECT count(*) FROM runs),"
                              " (SELECT count(*) FROM spaces), (SELECT count(*) FROM points),"
                              " (SELECT count(*) FROM searches)";
    sqlite3_stmt *statement;
    bool row;
    SX_TRY(sx_database_prepare(&store->database, sql, &statement));
    sx_status status = sx_database_step(&store->database, statement, &row);
    if (!status)
        *out = (sx_store_counts){
            .problems = (uint64_t)sqlite3_column_int64(statement, 0),
            .archs = (uint64_t)sqlite3_column_int64(statement, 1),
            .mappings = (uint64_t)sqlite3_column_int64(statement, 2),
            .runs = (uint64_t)sqlite3_column_int64(statement, 3),
            .spaces = (uint64_t)sqlite3_column_int64(statement, 4),
            .points = (uint64_t)sqlite3_column_int64(statement, 5),
            .searches = (uint64_t)sqlite3_column_int64(statement, 6),
        };
    sqlite3_finalize(statement);
    return status;
}

static const char select_scores[] =
    "SELECT m.problem, r.hash, r.value, m.energy_pj, m.cycles, m.utilization, m.last_level_accesses"
    " FROM mappings m JOIN runs r ON r.mapping = m.hash WHERE m.arch = ?1 AND r.objective = ?2"
    " ORDER BY m.problem, r.optimal DESC, r.lower_bound DESC, m.hash, r.hash";

/* A candidate for the best run. */
typedef struct candidate {
    sx_key problem, run;
    double value;
    sx_score score;
} candidate;

/* The current row of select_scores. */
static candidate read_candidate(sqlite3_stmt *statement) {
    return (candidate){
        .problem = sx_database_key(statement, 0),
        .run = sx_database_key(statement, 1),
        .value = sqlite3_column_double(statement, 2),
        .score = {.energy_pj = sqlite3_column_double(statement, 3),
                  .cycles = sqlite3_column_double(statement, 4),
                  .utilization = sqlite3_column_double(statement, 5),
                  .last_level_accesses = sqlite3_column_double(statement, 6)},
    };
}

static bool is_better(const sx_objective *objective, const candidate *a, const candidate *b) {
    if (objective->n_criteria > 1) return sx_objective_compare(objective, &a->score, &b->score) < 0;
    return a->value < b->value;
}

/* Gathers the keys of the best runs, one for each problem, from the rows of select_scores. */
static SX_MUST_USE sx_status gather_keys(sx_database *database, sqlite3_stmt *statement,
                                         const sx_objective *objective, sx_text *keys) {
    candidate best = {0};
    for (bool row;;) {
        SX_TRY(sx_database_step(database, statement, &row));
        candidate next = row ? read_candidate(statement) : (candidate){0};
        bool same = row && strcmp(next.problem.hex, best.problem.hex) == 0;
        if (!same && best.run.hex[0]) sx_text_add_bytes(keys, (const char *)&best.run, sizeof best.run);
        if (!row) break;
        if (!same || is_better(objective, &next, &best)) best = next;
    }
    return keys->failed ? sx_error_memory() : SX_OK;
}

/* The keys of the best runs on an architecture under an objective, one after another. */
static SX_MUST_USE sx_status best_keys(sx_database *database, const sx_key *arch,
                                       const sx_objective *objective, sx_text *keys) {
    sqlite3_stmt *statement;
    char text[SX_ROWS_OBJECTIVE];
    sx_objective_text(objective, text, sizeof text);
    SX_TRY(sx_database_prepare(database, select_scores, &statement));
    sqlite3_bind_text(statement, 1, arch->hex, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, text, -1, SQLITE_STATIC);
    sx_status status = gather_keys(database, statement, objective, keys);
    sqlite3_finalize(statement);
    return status;
}

/* Visits the records of runs on an architecture, whose keys are in a list; those with a file of non-zeros that
 * cannot or may not be read are passed over. */
static SX_MUST_USE sx_status visit_all(sx_store *store, const sx_arch *arch, const sx_key *key,
                                       const sx_text *keys, sx_store_visit *visit, void *user) {
    sx_status status = SX_OK;
    for (size_t at = 0; !status && at < keys->size; at += sizeof(sx_key)) {
        sx_arena arena = {0};
        const sx_record *record;
        sx_key run;
        memcpy(&run, keys->data + at, sizeof run);
        status = sx_rows_read(&store->database, &run, arch, key, &arena, &record);
        if (!status) {
            status = visit(user, record);
        } else if (status->code == SX_ERR_FILE) {
            sx_status_free(status);
            status = SX_OK;
        }
        sx_arena_free(&arena);
    }
    return status;
}

sx_status sx_store_best(sx_store *store, const sx_arch *arch, const char *objective, sx_store_visit *visit,
                        void *user) {
    sx_key key;
    sx_objective parsed;
    sx_text keys = {0};
    SX_TRY(sx_objective_parse(objective, &parsed));
    SX_TRY(sx_rows_arch_key(arch, &key));
    sx_status status = best_keys(&store->database, &key, &parsed, &keys);
    if (!status) status = visit_all(store, arch, &key, &keys, visit, user);
    sx_text_free(&keys);
    return status;
}

static const char select_proven[] =
    "SELECT r.hash FROM mappings m JOIN runs r ON r.mapping = m.hash"
    " WHERE m.arch = ?1 AND m.problem = ?2 AND r.objective = ?3 AND r.optimal = 1 ORDER BY m.hash, r.hash";

/* The keys of the runs that proved their answer, one after another. */
static SX_MUST_USE sx_status proven_keys(sx_database *database, const sx_key *arch, const sx_key *problem,
                                         const char *objective, sx_text *keys) {
    sqlite3_stmt *statement;
    bool row = false;
    SX_TRY(sx_database_prepare(database, select_proven, &statement));
    sqlite3_bind_text(statement, 1, arch->hex, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, problem->hex, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, objective, -1, SQLITE_STATIC);
    sx_status status;
    while (!(status = sx_database_step(database, statement, &row)) && row) {
        sx_key run = sx_database_key(statement, 0);
        sx_text_add_bytes(keys, (const char *)&run, sizeof run);
    }
    sqlite3_finalize(statement);
    return !status && keys->failed ? sx_error_memory() : status;
}

sx_status sx_store_proven(sx_store *store, const sx_problem *problem, const sx_arch *arch,
                          const char *objective, sx_store_visit *visit, void *user) {
    sx_key arch_key, problem_key;
    sx_objective parsed;
    char text[SX_ROWS_OBJECTIVE];
    sx_text keys = {0};
    SX_TRY(sx_objective_parse(objective, &parsed));
    sx_objective_text(&parsed, text, sizeof text);
    SX_TRY(sx_rows_arch_key(arch, &arch_key));
    SX_TRY(sx_rows_problem_key(problem, &problem_key));
    sx_status status = proven_keys(&store->database, &arch_key, &problem_key, text, &keys);
    if (!status) status = visit_all(store, arch, &arch_key, &keys, visit, user);
    sx_text_free(&keys);
    return status;
}

sx_status sx_store_add_point(sx_store *store, const sx_point_record *record) {
    sx_point_rows rows;
    SX_TRY(sx_point_rows_init(record, &rows));
    sx_status status = sx_database_begin(&store->database);
    if (!status) status = sx_database_end(&store->database, sx_point_rows_insert(&store->database, &rows));
    sx_point_rows_fini(&rows);
    return status;
}

/* Visits results of a kind under an objective: the best of each space, or all. */
static SX_MUST_USE sx_status visit_points(sx_store *store, const char *kind, const char *space,
                                          const char *objective, bool all, sx_store_visit_point *visit,
                                          void *user) {
    sx_text keys = {0};
    sx_status status = sx_point_rows_keys(&store->database, kind, space, objective, all, &keys);
    for (size_t at = 0; !status && at < keys.size; at += sizeof(sx_key)) {
        sx_arena arena = {0};
        sx_point_record record;
        sx_key search;
        memcpy(&search, keys.data + at, sizeof search);
        status = sx_point_rows_read(&store->database, &search, &arena, &record);
        if (!status) {
            status = visit(user, &record);
        } else if (status->code == SX_ERR_FILE) {
            sx_status_free(status);
            status = SX_OK;
        }
        sx_arena_free(&arena);
    }
    sx_text_free(&keys);
    return status;
}

sx_status sx_store_best_points(sx_store *store, const char *kind, const char *space, const char *objective,
                               sx_store_visit_point *visit, void *user) {
    return visit_points(store, kind, space, objective, false, visit, user);
}

sx_status sx_store_all_points(sx_store *store, const char *kind, const char *objective,
                              sx_store_visit_point *visit, void *user) {
    return visit_points(store, kind, NULL, objective, true, visit, user);
}

static const char select_archs[] =
    "SELECT DISTINCT a.hash, a.name, a.text, r.objective FROM archs a JOIN mappings m ON m.arch = a.hash"
    " JOIN runs r ON r.mapping = m.hash ORDER BY a.name, a.hash, r.objective";

/* Visits the architecture of the current row of select_archs. */
static SX_MUST_USE sx_status visit_arch(sx_database *database, sqlite3_stmt *statement,
                                        sx_store_visit_arch *visit, void *user) {
    sx_arena arena = {0};
    sx_arch *arch = sx_arena_alloc(&arena, 1, sizeof *arch);
    sx_key key = sx_database_key(statement, 0);
    const char *name = sx_database_text(statement, 1, &arena), *text = sx_database_text(statement, 2, &arena),
               *objective = sx_database_text(statement, 3, &arena);
    sx_status status = arch && name && text && objective ? SX_OK : sx_arena_error(&arena);
    if (!status && strcmp(sx_text_key(text).hex, key.hex) != 0)
        status = sx_database_damaged(database, "a row does not match its hash");
    if (!status) status = sx_rows_arch_read(name, text, arch);
    if (!status) status = visit(user, arch, objective);
    sx_arena_free(&arena);
    return status;
}

sx_status sx_store_archs(sx_store *store, sx_store_visit_arch *visit, void *user) {
    sqlite3_stmt *statement;
    bool row = false;
    sx_status status;
    SX_TRY(sx_database_prepare(&store->database, select_archs, &statement));
    while (!(status = sx_database_step(&store->database, statement, &row)) && row)
        if ((status = visit_arch(&store->database, statement, visit, user))) break;
    sqlite3_finalize(statement);
    return status;
}

static const char select_kinds[] =
    "SELECT DISTINCT s.kind, r.objective FROM spaces s JOIN points p ON p.space = s.hash"
    " JOIN searches r ON r.point = p.hash ORDER BY s.kind, r.objective";

sx_status sx_store_kinds(sx_store *store, sx_store_visit_kind *visit, void *user) {
    sqlite3_stmt *statement;
    bool row = false;
    sx_status status;
    SX_TRY(sx_database_prepare(&store->database, select_kinds, &statement));
    while (!(status = sx_database_step(&store->database, statement, &row)) && row) {
        sx_arena arena = {0};
        const char *kind = sx_database_text(statement, 0, &arena),
                   *objective = sx_database_text(statement, 1, &arena);
        status = kind && objective ? visit(user, kind, objective) : sx_arena_error(&arena);
        sx_arena_free(&arena);
        if (status) break;
    }
    sqlite3_finalize(statement);
    return status;
}
