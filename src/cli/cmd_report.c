/* `sextant report`: results as one HTML page. */
#include "base/file.h"
#include "base/json.h"
#include "cli/clock.h"
#include "cli/command.h"
#include "frontend/onnx/onnx.h"
#include "report/json_parts.h"
#include "report/page.h"
#include "sextant/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 256 << 20 };

/* A result that could not be read, with the reason where it is of another version. */
static sx_status explain_unreadable(sx_status error, const char *path, const json_t *answer) {
    const char *version = json_string_value(json_object_get(json_object_get(answer, "repeat"), "version"));
    if (error->code == SX_ERR_MEMORY || !version || strcmp(version, sx_version()) == 0) return error;
    return sx_error_hint(error, "'%s' was written by Sextant %.32s, and this is %s: search again", path,
                         version, sx_version());
}

/* Adds a result of `map`. */
static sx_status add_result(const sx_args *args, const char *path, const char *text, size_t size,
                            const json_t *answer, json_t *list) {
    static const char *const copied[] = {"fused", "runs", "totals", "vector", "serving"};
    sx_result *r;
    json_t *item = NULL;
    sx_status status = sx_result_read(path, text, size, &r);
    if (status) return explain_unreadable(status, path, answer);
    status = sx_clock_apply(args, &r->arch);
    if (!status) status = sx_page_result(path, r, &item);
    for (size_t i = 0; i < sizeof copied / sizeof *copied && !status; i++) {
        json_t *value = json_object_get(answer, copied[i]);
        if (value) sx_json_set(item, copied[i], json_incref(value));
    }
    sx_result_free(r);
    if (!status) sx_json_append(list, item);
    return status;
}

/* Refuses a result of another format, which stands beside the version. */
static sx_status check_format(const char *path, const json_t *answer) {
    const json_t *repeat = json_object_get(answer, "repeat");
    const json_t *format = json_object_get(repeat ? repeat : answer, "format");
    if (!json_is_integer(format) || json_integer_value(format) == SX_RESULT_FORMAT) return SX_OK;
    return sx_error_new(SX_ERR_INPUT, "'%s' was written in format %lld; this program reads format %d", path,
                        (long long)json_integer_value(format), SX_RESULT_FORMAT);
}

/* Adds a file of JSON. */
static sx_status add_json(const sx_args *args, const char *path, const char *text, size_t size,
                          json_t *list) {
    json_error_t error;
    json_t *answer = sx_json_load(text, size, &error), *item = NULL;
    if (sx_json_failed()) {
        json_decref(answer);
        return sx_error_memory();
    }
    if (!answer && sx_onnx_is_path(path))
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "'%s' is an ONNX model, not a result", path),
                             "map it first: `sextant map --problem %s --json -o result.json`", path);
    if (!answer)
        return sx_error_hint(
            sx_error_at((sx_place){path, error.line, error.column}, "not valid JSON: %s", error.text),
            "a report is made of results written with --json, or of a database of --db");
    sx_status status = check_format(path, answer);
    if (!status)
        status = sx_page_is_result(answer) ? add_result(args, path, text, size, answer, list)
                                           : sx_page_answer(path, answer, &item);
    if (!status && item) sx_json_append(list, item);
    json_decref(answer);
    return status;
}

/* Adds what is in a database. */
static sx_status add_database(const sx_args *args, const char *path, json_t *list) {
    sx_store *store = NULL;
    double cycle_seconds = 0;
    SX_TRY(sx_clock_read(args, &cycle_seconds));
    SX_TRY(sx_store_open(path, &store));
    sx_status status = sx_page_store(path, store, cycle_seconds, list);
    sx_store_close(store);
    return status;
}

/* Whether a file begins as databases do; one that cannot be opened does not. */
static bool is_database(const char *path) {
    static const char sqlite[] = "SQLite format 3";
    char head[sizeof sqlite] = "";
    struct stat info;
    bool regular = stat(path, &info) == 0 && S_ISREG(info.st_mode);
    FILE *file = regular ? fopen(path, "rb") : NULL;
    bool whole = file && fread(head, sizeof head, 1, file) == 1;
    if (file) fclose(file);
    return whole && memcmp(head, sqlite, sizeof sqlite) == 0;
}

/* Adds a file of any kind; a database may have any size. */
static sx_status add_file(const sx_args *args, const char *path, json_t *list) {
    char *text;
    size_t size;
    if (is_database(path)) return add_database(args, path, list);
    SX_TRY(sx_file_read(path, MOST_BYTES, &text, &size));
    sx_status status = add_json(args, path, text, size, list);
    free(text);
    return status;
}

/* The title of a page: --title, or what its only result is of. */
static void make_title(const sx_args *args, const json_t *list, char *title, size_t size) {
    const char *given = sx_args_text(args, "title", 0);
    const json_t *result = json_object_get(json_array_get(list, 0), "result");
    const json_t *first = json_array_get(json_object_get(result, "results"), 0);
    const char *network = json_string_value(json_object_get(result, "network"));
    const char *arch = json_string_value(json_object_get(first, "arch"));
    const char *layer = json_string_value(json_object_get(first, "problem"));
    const bool single = json_array_size(json_object_get(result, "results")) == 1 && layer && network &&
                        strcmp(layer, network) != 0;
    const bool named = single && strncmp(layer, network, strlen(network)) == 0; /* as NETWORK/LAYER */
    if (given)
        snprintf(title, size, "%s", given);
    else if (json_array_size(list) == 1 && network && arch)
        snprintf(title, size, "%s%s%s on %s", named ? "" : network, single && !named ? "/" : "",
                 single ? layer : "", arch);
    else
        snprintf(title, size, "Sextant report");
}

/* `sextant report`. */
static sx_status run_report(const sx_args *args, sx_output *result) {
    const char *output = sx_args_text(args, "output", 0);
    char title[512];
    if (args->n_operands == 0)
        return sx_error_hint(
            sx_error_new(SX_ERR_USAGE, "no result given"),
            "`sextant map ... --json -o result.json`, then `sextant report result.json -o report.html`");
    if (output) SX_TRY(sx_file_writable(output));
    json_t *list = json_array();
    sx_status status = list ? SX_OK : sx_error_memory();
    for (size_t i = 0; i < args->n_operands && !status; i++) status = add_file(args, args->operand[i], list);
    if (!status) {
        make_title(args, list, title, sizeof title);
        sx_output_to_file(result, output);
        status = sx_page_write(list, title, &result->out);
    }
    json_decref(list);
    return status;
}

static const sx_option options[] = {
    SX_OPTION_CLOCK,
    SX_ROW_ONCE("title", 0, "TEXT", TEXT, "title of the page"),
    SX_OPTION_OUTPUT,
    SX_OPTION_HELP,
};

const sx_command sx_command_report = {
    .name = "report",
    .about = "an HTML page from result files or a database",
    .usage = "RESULT.json|DATABASE ... [-o report.html] [OPTION ...]",
    .details =
        "A RESULT is what map, systolic, place, compare, codesign or verify print with --json. Several\n"
        "results of map are compared side by side; with what verify prints, layers say whether their\n"
        "certificates hold. The page is one file and needs no network.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run_report,
};
