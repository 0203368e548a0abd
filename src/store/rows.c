/* A problem or an architecture is stored without its name, which is stored beside it: the hash is that of the
 * computation or the hardware, whatever it is called, and the name is the first one it was stored under. The
 * hash of a mapping covers its problem, architecture and costs; that of a run its mapping and all there is to
 * know about it but the seconds it took, so that a run repeated is the same run. Hashes are checked when rows
 * are read. A latency that is `cycles` is NULL and not in the hash: so rows of files that had no such column keep
 * theirs. */
#include "store/rows.h"

#include "frontend/input.h"
#include "ir/arch.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sx_key mapping_key(const sx_key *problem, const sx_key *arch, const char *text,
                          const sx_score *score) {
    sx_digest d = sx_digest_start;
    sx_digest_text(&d, problem->hex);
    sx_digest_text(&d, arch->hex);
    sx_digest_text(&d, text);
    sx_digest_double(&d, score->energy_pj);
    sx_digest_double(&d, score->cycles);
    sx_digest_double(&d, score->utilization);
    sx_digest_double(&d, score->last_level_accesses);
    if (score->latency != score->cycles) sx_digest_double(&d, score->latency);
    return sx_digest_key(&d);
}

static sx_key run_key(const sx_key *mapping, const char *objective, const sx_search_record *record) {
    sx_digest d = sx_digest_start;
    sx_digest_text(&d, mapping->hex);
    sx_digest_text(&d, objective);
    sx_digest_double(&d, record->value);
    sx_digest_text(&d, record->navigator);
    sx_digest_number(&d, record->options != NULL);
    sx_digest_text(&d, record->options ? record->options : "");
    sx_digest_text(&d, record->version);
    sx_digest_number(&d, record->seed);
    sx_digest_number(&d, record->evaluations);
    sx_digest_number(&d, record->valid);
    sx_digest_double(&d, record->lower_bound);
    sx_digest_number(&d, record->optimal);
    return sx_digest_key(&d);
}

/* The text of an architecture without its name, and without its clock and areas: no cost depends on them. */
static SX_MUST_USE sx_status arch_text(const sx_arch *arch, SX_OWN char **out) {
    sx_arch *nameless = sx_arch_copy(arch);
    if (!nameless) return sx_error_memory();
    memset(nameless->name, 0, sizeof nameless->name);
    nameless->cycle_seconds = nameless->compute.area = 0;
    for (int s = 0; s < nameless->n_levels; s++) nameless->level[s].area = 0;
    sx_status status = sx_arch_write(nameless, SX_JSON_DIGITS, out);
    free(nameless);
    return status;
}

/* The text of a problem without its name. */
static SX_MUST_USE sx_status problem_text(const sx_problem *problem, SX_OWN char **out) {
    sx_problem nameless = *problem;
    memset(nameless.name, 0, sizeof nameless.name);
    return sx_problem_write(&nameless, SX_JSON_DIGITS, out);
}

sx_status sx_rows_arch_key(const sx_arch *arch, sx_key *out) {
    char *text;
    SX_TRY(arch_text(arch, &text));
    *out = sx_text_key(text);
    free(text);
    return SX_OK;
}

sx_status sx_rows_problem_key(const sx_problem *problem, sx_key *out) {
    char *text;
    SX_TRY(problem_text(problem, &text));
    *out = sx_text_key(text);
    free(text);
    return SX_OK;
}

/* Refuses what SQLite would not give back as it was. */
static SX_MUST_USE sx_status check_record(const sx_record *record) {
    const sx_score *score = &record->score;
    const sx_search_record *search = &record->search;
    if (!search->objective || !search->navigator || !search->version)
        return sx_error_new(SX_ERR_USAGE, "a record needs an objective, a mapper and a version");
    if (isnan(score->energy_pj) || isnan(score->cycles) || isnan(score->utilization) ||
        isnan(score->last_level_accesses) || isnan(score->latency))
        return sx_error_new(SX_ERR_USAGE, "a record holds a value that is not a number");
    return sx_database_check_search(search);
}

/* Writes an objective in its canonical form. */
static SX_MUST_USE sx_status objective_text(const char *objective, char *text, size_t size) {
    sx_objective parsed;
    SX_TRY(sx_objective_parse(objective, &parsed));
    sx_objective_text(&parsed, text, size);
    return SX_OK;
}

sx_status sx_rows_arch_read(const char *name, const char *text, sx_arch *out) {
    sx_input *input = NULL;
    sx_status status = sx_input_new(&input);
    if (!status) status = sx_input_add_text(input, "arch", text, strlen(text));
    if (!status) status = sx_input_arch(input, out);
    sx_input_free(input);
    if (!status) snprintf(out->name, SX_NAME_SIZE, "%s", name);
    return status;
}

/* Reads back what was written, so that nothing is stored that cannot be read. */
static SX_MUST_USE sx_status check_readable(const sx_rows *rows) {
    sx_problem problem;
    sx_mapping mapping;
    SX_TRY(sx_input_nouns(rows->problem, rows->mapping, true, &rows->record->arch, &problem, &mapping));
    if (sx_mapping_hash(&mapping) == sx_mapping_hash(&rows->record->mapping)) return SX_OK;
    return sx_error_new(SX_ERR_INTERNAL, "a mapping of '%s' is not read as it was written",
                        rows->record->problem.name);
}

/* Fills rows that are all zero. */
static SX_MUST_USE sx_status make_rows(const sx_record *record, sx_rows *rows) {
    sx_mapping canonical = record->mapping;
    rows->record = record;
    SX_TRY(check_record(record));
    SX_TRY(objective_text(record->search.objective, rows->objective, sizeof rows->objective));
    SX_TRY(problem_text(&record->problem, &rows->problem));
    SX_TRY(arch_text(&record->arch, &rows->arch));
    sx_mapping_canonical(&canonical);
    SX_TRY(sx_mapping_write(&canonical, &record->problem, &record->arch, SX_JSON, &rows->mapping));
    SX_TRY(check_readable(rows));
    rows->problem_key = sx_text_key(rows->problem);
    rows->arch_key = sx_text_key(rows->arch);
    rows->mapping_key = mapping_key(&rows->problem_key, &rows->arch_key, rows->mapping, &record->score);
    rows->run_key = run_key(&rows->mapping_key, rows->objective, &record->search);
    return SX_OK;
}

sx_status sx_rows_init(const sx_record *record, sx_rows *out) {
    *out = (sx_rows){0};
    sx_status status = make_rows(record, out);
    if (status) sx_rows_fini(out);
    return status;
}

void sx_rows_fini(sx_rows *rows) {
    free(rows->problem);
    free(rows->arch);
    free(rows->mapping);
    *rows = (sx_rows){0};
}

static const char insert_problem[] = "INSERT INTO problems(hash, name, text) VALUES(?1, ?2, ?3)"
                                     " ON CONFLICT(hash) DO NOTHING";
static const char insert_arch[] = "INSERT INTO archs(hash, name, text) VALUES(?1, ?2, ?3)"
                                  " ON CONFLICT(hash) DO NOTHING";
static const char insert_mapping[] =
    "INSERT INTO mappings(hash, problem, arch, text, energy_pj, cycles, utilization, last_level_accesses,"
    " latency) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT(hash) DO NOTHING";
static const char insert_run[] =
    "INSERT INTO runs(hash, mapping, objective, value, mapper, options, version, seed, evaluations, valid,"
    " seconds, lower_bound, optimal) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
    " ON CONFLICT(hash) DO NOTHING";

/* The columns of select_record. */
enum column {
    RUN_HASH,
    RUN_MAPPING,
    RUN_SEARCH,
    MAPPING_PROBLEM = RUN_SEARCH + SX_SEARCH_COLUMNS,
    MAPPING_TEXT,
    MAPPING_ENERGY,
    MAPPING_CYCLES,
    MAPPING_UTILIZATION,
    MAPPING_ACCESSES,
    MAPPING_LATENCY,
    PROBLEM_NAME,
    PROBLEM_TEXT,
};
static const char select_record[] =
    "SELECT r.hash, r.mapping, r.objective, r.value, r.mapper, r.options, r.version, r.seed, r.evaluations,"
    " r.valid, r.seconds, r.lower_bound, r.optimal, m.problem, m.text, m.energy_pj, m.cycles, m.utilization,"
    " m.last_level_accesses, m.latency, p.name, p.text"
    " FROM runs r JOIN mappings m ON m.hash = r.mapping JOIN problems p ON p.hash = m.problem"
    " WHERE r.hash = ?1";

sx_status sx_rows_probe(sx_database *database) {
    static const char *const all[] = {insert_problem, insert_arch, insert_mapping, insert_run, select_record};
    return sx_database_probe(database, all, sizeof all / sizeof all[0]);
}

static SX_MUST_USE sx_status insert_named(sx_database *database, const char *sql, const sx_key *key,
                                          const char *name, const char *text) {
    sqlite3_stmt *statement;
    SX_TRY(sx_database_prepare(database, sql, &statement));
    sx_database_bind(statement, 1, key->hex);
    sx_database_bind(statement, 2, name);
    sx_database_bind(statement, 3, text);
    return sx_database_finish(database, statement);
}

static SX_MUST_USE sx_status insert_mapping_row(sx_database *database, const sx_rows *rows) {
    const sx_score *score = &rows->record->score;
    sqlite3_stmt *statement;
    SX_TRY(sx_database_prepare(database, insert_mapping, &statement));
    sx_database_bind(statement, 1, rows->mapping_key.hex);
    sx_database_bind(statement, 2, rows->problem_key.hex);
    sx_database_bind(statement, 3, rows->arch_key.hex);
    sx_database_bind(statement, 4, rows->mapping);
    sqlite3_bind_double(statement, 5, score->energy_pj);
    sqlite3_bind_double(statement, 6, score->cycles);
    sqlite3_bind_double(statement, 7, score->utilization);
    sqlite3_bind_double(statement, 8, score->last_level_accesses);
    if (score->latency != score->cycles) sqlite3_bind_double(statement, 9, score->latency);
    return sx_database_finish(database, statement);
}

sx_status sx_rows_insert(sx_database *database, const sx_rows *rows) {
    const sx_record *record = rows->record;
    SX_TRY(insert_named(database, insert_problem, &rows->problem_key, record->problem.name, rows->problem));
    SX_TRY(insert_named(database, insert_arch, &rows->arch_key, record->arch.name, rows->arch));
    SX_TRY(insert_mapping_row(database, rows));
    sx_search_record search = record->search;
    search.objective = rows->objective;
    return sx_database_insert_search(database, insert_run, &rows->run_key, &rows->mapping_key, &search);
}

/* The texts of a row that are not the record's own. */
typedef struct row_texts {
    const char *run, *mapping, *problem, *mapping_text, *problem_name, *problem_text;
} row_texts;

/* Takes a row of select_record apart; false when memory is out. */
static bool take_row(sqlite3_stmt *s, sx_arena *arena, sx_record *record, row_texts *texts) {
    bool whole = sx_database_read_search(s, RUN_SEARCH, arena, &record->search);
    record->score.energy_pj = sqlite3_column_double(s, MAPPING_ENERGY);
    record->score.cycles = sqlite3_column_double(s, MAPPING_CYCLES);
    record->score.latency = sqlite3_column_type(s, MAPPING_LATENCY) == SQLITE_NULL
                                ? record->score.cycles
                                : sqlite3_column_double(s, MAPPING_LATENCY);
    record->score.utilization = sqlite3_column_double(s, MAPPING_UTILIZATION);
    record->score.last_level_accesses = sqlite3_column_double(s, MAPPING_ACCESSES);
    *texts = (row_texts){
        .run = sx_database_text(s, RUN_HASH, arena),
        .mapping = sx_database_text(s, RUN_MAPPING, arena),
        .problem = sx_database_text(s, MAPPING_PROBLEM, arena),
        .mapping_text = sx_database_text(s, MAPPING_TEXT, arena),
        .problem_name = sx_database_text(s, PROBLEM_NAME, arena),
        .problem_text = sx_database_text(s, PROBLEM_TEXT, arena),
    };
    return whole && texts->run && texts->mapping && texts->problem && texts->mapping_text &&
           texts->problem_name && texts->problem_text;
}

/* Whether the row's hashes are those of its content. */
static bool row_is_whole(const row_texts *texts, const sx_record *record, const sx_key *arch_key) {
    sx_key problem = sx_text_key(texts->problem_text);
    sx_key mapping = mapping_key(&problem, arch_key, texts->mapping_text, &record->score);
    sx_key run = run_key(&mapping, record->search.objective, &record->search);
    return strcmp(problem.hex, texts->problem) == 0 && strcmp(mapping.hex, texts->mapping) == 0 &&
           strcmp(run.hex, texts->run) == 0;
}

sx_status sx_rows_read(sx_database *database, const sx_key *run, const sx_arch *arch, const sx_key *arch_key,
                       sx_arena *arena, const sx_record **out) {
    sqlite3_stmt *statement;
    row_texts texts;
    bool row;
    sx_record *record = sx_arena_alloc(arena, 1, sizeof *record);
    if (!record) return sx_arena_error(arena);
    record->arch = *arch;
    SX_TRY(sx_database_prepare(database, select_record, &statement));
    sx_database_bind(statement, 1, run->hex);
    sx_status status = sx_database_step(database, statement, &row);
    if (!status && !row) status = sx_database_damaged(database, "a run has no mapping");
    if (!status && !take_row(statement, arena, record, &texts)) status = sx_arena_error(arena);
    sqlite3_finalize(statement);
    if (status) return status;
    if (!row_is_whole(&texts, record, arch_key))
        return sx_database_damaged(database, "a row does not match its hash");
    SX_TRY(sx_input_nouns(texts.problem_text, texts.mapping_text, false, arch, &record->problem,
                          &record->mapping));
    memset(record->problem.name, 0, SX_NAME_SIZE);
    snprintf(record->problem.name, SX_NAME_SIZE, "%s", texts.problem_name);
    *out = record;
    return SX_OK;
}
