/* Answers are points of the kind "answers". Their space is told from others by the command of the evaluator and, of mappings, the
 * architecture and the problem; a point is the question. The value is infinite where the evaluator refused. Metrics of a mapping
 * are its features and the logarithm of measured over modelled, as mappers/measured learns them. */
#include "session/answers.h"

#include "base/json.h"
#include "base/status.h"
#include "base/vector.h"
#include "frontend/input.h"
#include "learn/elementary.h"
#include "mappers/measured/features.h"
#include "mapspace/map_space.h"
#include "session/search_record.h"
#include "sextant/all.h"
#include "space/outside_evaluator.h"
#include "store/points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kind[] = "answers";

enum { NAME = 8 }; /* bytes of a feature's name */

/* An answer that is kept. */
typedef struct answer {
    char *question;
    double value;
} answer;

struct sx_answers {
    sx_answers_of of;
    char *space; /* canonical JSON */
    answer *answer;
    size_t n, room;
    /* Of mappings: */
    const sx_map_space *map; /* NULL: placements */
    sx_model_workspace *workspace;
    sx_cost *cost;
    size_t d;
    double *features;        /* d + 1, the logarithm of measured over modelled being last */
    sx_metric_value *metric; /* d + 1 */
    char (*name)[NAME];      /* d */
    bool learns;             /* the evaluator remembers nothing yet */
};

/* The JSON that a text has, or an error. */
static sx_status read_json(const char *text, json_t **out) {
    *out = sx_json_read(text);
    return *out ? SX_OK : sx_error_memory();
}

/* What tells the answers of an evaluator about a problem on an architecture from others. */
static sx_status map_identity(const sx_outside_evaluator *outside, const sx_problem *problem,
                              const sx_arch *arch, json_t **out) {
    const unsigned repeats = sx_outside_evaluator_repeats(outside);
    char *arch_text = NULL, *problem_text = NULL;
    json_t *arch_json = NULL, *problem_json = NULL;
    sx_status status = sx_arch_write(arch, SX_JSON_DIGITS, &arch_text);
    if (!status) status = sx_problem_write(problem, SX_JSON_DIGITS, &problem_text);
    if (!status) status = read_json(arch_text, &arch_json);
    if (!status) status = read_json(problem_text, &problem_json);
    free(arch_text);
    free(problem_text);
    *out = json_pack("{s:s, s:o, s:o}", "evaluator", sx_outside_evaluator_command(outside), "arch", arch_json,
                     "problem", problem_json);
    if (repeats > 1) sx_json_set(*out, "repeats", json_integer(repeats));
    return status;
}

/* Whether a space's text is one of answers of an evaluator on an architecture; *out has its JSON then. */
static bool is_of(const char *text, const char *command, const json_t *arch, json_t **out) {
    json_t *space = sx_json_read(text);
    const char *of = json_string_value(json_object_get(space, "evaluator"));
    if (of && strcmp(of, command) == 0 && json_equal(json_object_get(space, "arch"), arch)) {
        *out = space;
        return true;
    }
    json_decref(space);
    return false;
}

/* Takes an answer into memory. */
static sx_status add_answer(sx_answers *a, const char *question, double value) {
    char *copy = strdup(question);
    if (!copy || !sx_reserve(&a->answer, &a->room, a->n + 1, sizeof *a->answer)) {
        free(copy);
        return sx_error_memory();
    }
    a->answer[a->n++] = (answer){copy, value};
    return SX_OK;
}

/* Lets the evaluator remember the features of a record: "ratio" is the first metric by name, "x00" the second. */
static void remember_record(const sx_answers *a, const sx_point_record *record) {
    if (record->n_metrics != a->d + 1) return;
    for (size_t i = 0; i < a->d; i++) a->features[i] = record->metric[i + 1].value;
    sx_outside_evaluator_remember(a->of.outside, a->d, a->features, record->metric[0].value);
}

/* Reads a kept answer: it may be about the same space, or be learned from. */
static sx_status load_record(void *user, const sx_point_record *record) {
    sx_answers *a = user;
    json_t *arch = NULL, *space = NULL, *own = NULL;
    bool same = strcmp(record->space, a->space) == 0;
    if (same && !a->of.again) SX_TRY(add_answer(a, record->point, record->search.value));
    if (!a->learns) return SX_OK;
    SX_TRY(read_json(a->space, &own));
    arch = json_object_get(own, "arch");
    if (is_of(record->space, sx_outside_evaluator_command(a->of.outside), arch, &space))
        remember_record(a, record);
    json_decref(space);
    json_decref(own);
    return SX_OK;
}

static bool find_answer(void *user, const char *question, double *value) {
    const sx_answers *a = user;
    for (size_t i = 0; i < a->n; i++) {
        if (strcmp(a->answer[i].question, question) != 0) continue;
        *value = a->answer[i].value;
        return true;
    }
    return false;
}

/* Sets the metrics of a mapping's answer; returns how many there are. */
static size_t set_metrics(sx_answers *a, const void *point, double value) {
    if (!a->map || !(value > 0) || isinf(value)) return 0;
    if (!sx_mapping_features(a->map, a->workspace, sx_map_point(point), a->cost, a->features)) return 0;
    a->metric[0] = (sx_metric_value){"ratio", sx_log(value) - a->features[0] - a->features[1]};
    for (size_t i = 0; i < a->d; i++) a->metric[i + 1] = (sx_metric_value){a->name[i], a->features[i]};
    return a->d + 1;
}

static sx_status keep_answer(void *user, const void *point, const char *question, double value) {
    sx_answers *a = user;
    const sx_point_record record = {.kind = kind,
                                    .space = a->space,
                                    .name = a->of.name,
                                    .point = question,
                                    .n_metrics = set_metrics(a, point, value),
                                    .metric = a->metric,
                                    .search = {.value = value,
                                               .objective = SX_JUDGED,
                                               .navigator = a->of.method,
                                               .version = sx_version(),
                                               .seed = a->of.seed,
                                               .evaluations = 1,
                                               .valid = isinf(value) ? 0U : 1U}};
    return sx_store_add_point(a->of.store, &record);
}

/* Makes what the features of mappings need. */
static sx_status prepare_features(sx_answers *a, const sx_space *space) {
    size_t n;
    a->map = sx_map_space_of(space);
    a->d = sx_mapping_features_count(a->map);
    (void)sx_outside_evaluator_remembered(a->of.outside, a->d, &n);
    a->learns = n == 0;
    a->cost = malloc(sizeof *a->cost);
    a->features = calloc(a->d + 1, sizeof *a->features);
    a->metric = calloc(a->d + 1, sizeof *a->metric);
    a->name = calloc(a->d, sizeof *a->name);
    if (!a->cost || !a->features || !a->metric || !a->name) return sx_error_memory();
    for (size_t i = 0; i < a->d; i++) snprintf(a->name[i], NAME, "x%02u", (unsigned)i % 100);
    return sx_model_workspace_new(a->map->model, &a->workspace);
}

/* Opens answers about a space that a JSON object tells from others, which is freed. */
static sx_status open_answers(const sx_answers_of *of, const sx_space *space, json_t *identity,
                              sx_answers **out) {
    sx_answers *a = calloc(1, sizeof *a);
    char *text = sx_search_json(identity);
    if (!a || !text) {
        free(a);
        free(text);
        return sx_error_memory();
    }
    *a = (sx_answers){.of = *of, .space = text};
    sx_status status = space ? prepare_features(a, space) : SX_OK;
    if (!status) status = sx_store_all_points(of->store, kind, SX_JUDGED, load_record, a);
    if (status) {
        sx_answers_close(a);
        return status;
    }
    const sx_answer_keeper keeper = {a, find_answer, keep_answer};
    sx_outside_evaluator_set_keeper(of->outside, &keeper);
    *out = a;
    return SX_OK;
}

sx_status sx_answers_open_map(const sx_answers_of *of, const sx_space *space, sx_answers **out) {
    const sx_map_space *map = sx_map_space_of(space);
    json_t *identity;
    SX_TRY(map_identity(of->outside, map->problem, map->arch, &identity));
    return open_answers(of, space, identity, out);
}

sx_status sx_answers_open_placement(const sx_answers_of *of, const char *identity, sx_answers **out) {
    json_t *placements;
    SX_TRY(read_json(identity, &placements));
    return open_answers(of, NULL, placements, out);
}

void sx_answers_close(sx_answers *answers) {
    if (!answers) return;
    sx_outside_evaluator_set_keeper(answers->of.outside, NULL);
    for (size_t i = 0; i < answers->n; i++) free(answers->answer[i].question);
    free(answers->answer);
    sx_model_workspace_free(answers->workspace);
    free(answers->cost);
    free(answers->features);
    free(answers->metric);
    free(answers->name);
    free(answers->space);
    free(answers);
}

/* The visit of best answers. */
typedef struct best_visit {
    const char *command;
    const sx_arch *arch;
    json_t *arch_json;
    sx_store_visit *visit;
    void *user;
    sx_record *record;
} best_visit;

/* Reads problem and mapping of an answer; false where they are not read, as those of another version may not be. */
static bool read_answer(const best_visit *b, const json_t *space, const char *question) {
    json_t *asked = sx_json_read(question), *mapping = json_object();
    sx_json_set(mapping, "mapping", json_incref(json_object_get(asked, "mapping")));
    char *mapping_text = sx_json_print(mapping, JSON_COMPACT);
    char *problem_text = sx_json_print(json_object_get(space, "problem"), JSON_COMPACT);
    sx_status status = mapping_text && problem_text
                           ? sx_input_nouns(problem_text, mapping_text, false, b->arch, &b->record->problem,
                                            &b->record->mapping)
                           : sx_error_memory();
    bool read = !status;
    sx_status_free(status);
    free(mapping_text);
    free(problem_text);
    json_decref(mapping);
    json_decref(asked);
    return read;
}

static sx_status visit_best(void *user, const sx_point_record *record) {
    const best_visit *b = user;
    json_t *space = NULL;
    if (isinf(record->search.value) || !is_of(record->space, b->command, b->arch_json, &space)) return SX_OK;
    bool read = read_answer(b, space, record->point);
    json_decref(space);
    b->record->search.value = record->search.value;
    return read ? b->visit(b->user, b->record) : SX_OK;
}

sx_status sx_answers_best(sx_store *store, const sx_outside_evaluator *outside, const sx_arch *arch,
                          sx_store_visit *visit, void *user) {
    best_visit b = {
        .command = sx_outside_evaluator_command(outside), .arch = arch, .visit = visit, .user = user};
    char *text;
    SX_TRY(sx_arch_write(arch, SX_JSON_DIGITS, &text));
    sx_status status = read_json(text, &b.arch_json);
    free(text);
    b.record = calloc(1, sizeof *b.record);
    if (!status && !b.record) status = sx_error_memory();
    if (!status) status = sx_store_best_points(store, kind, NULL, SX_JUDGED, visit_best, &b);
    json_decref(b.arch_json);
    free(b.record);
    return status;
}
