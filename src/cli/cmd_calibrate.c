#include "base/file.h"
#include "base/file_error.h"
#include "calibrate/fit_latency.h"
#include "calibrate/operator_rows.h"
#include "cli/calibrate_operators.h"
#include "cli/command.h"
#include "cli/search.h"
#include "input/named.h"
#include "report/json_parts.h"
#include "report/table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Two keys whose logs correlate more than that over the bootstrap cannot be told apart. */
static const double ALIKE = 0.9;

/* What the command works with. */
typedef struct calibration {
    sx_arch arch;
    sx_measurements rows;
    sx_fit fit;
    unsigned folds, samples;
    bool energies; /* these are fitted, not cycles */
} calibration;

/* Adds the keys of --free, or those that are usually not known: of the first law, where they have a value. */
static sx_status choose_keys(const sx_args *args, calibration *c) {
    static const char usual[] = "start,store_time,caches.1.miss,caches.2.miss,issue,exposed";
    const char *given = sx_args_text(args, "free", 0);
    char *text = strdup(given ? given : usual), *rest;
    sx_status status = text ? SX_OK : sx_error_memory();
    if (!status && c->arch.n_laws == 0 && !given)
        status = sx_error_hint(
            sx_error_new(SX_ERR_INPUT, "no level of '%s' has a map of `latency` keys", c->arch.name),
            "docs/latency.md has the keys; the architecture 'gemmini' has them; --free names bandwidths or "
            "energies, "
            "such as DRAM.shared_bandwidth");
    for (char *word = text ? strtok_r(text, ",", &rest) : NULL; word && !status;
         word = strtok_r(NULL, ",", &rest)) {
        status = sx_fit_free_key(&c->fit, &c->arch, word);
        if (given || !status || status->code == SX_ERR_MEMORY) continue;
        sx_status_free(status);
        status = SX_OK;
    }
    free(text);
    return status;
}

/* Leaves out rows without what is fitted and those that the machine cannot run whatever its memories. */
static sx_status drop_rows(calibration *c) {
    sx_measurements *m = &c->rows;
    sx_model_options options = {.latency_tile = c->arch.n_laws > 0};
    sx_arch *arch = malloc(sizeof *arch);
    size_t kept = 0;
    sx_status status = arch ? SX_OK : sx_error_memory();
    if (arch) *arch = c->arch;
    for (int s = 0; arch && s < arch->n_levels; s++) arch->level[s].entries = SX_UNLIMITED;
    for (size_t i = 0; i < m->n && !status; i++) {
        char why[160];
        snprintf(why, sizeof why, "no %s measured", c->energies ? "energy was" : "cycles were");
        sx_model *model = NULL;
        bool good = sx_measured_value(&m->row[i], c->energies) > 0;
        if (good) status = sx_model_new(&m->row[i].problem, arch, &options, &model);
        if (model) {
            sx_verdict verdict = sx_check(model, &m->row[i].mapping);
            good = verdict.reason == SX_LEGAL;
            sx_verdict_text(&verdict, &m->row[i].problem, arch, why, sizeof why);
        }
        sx_model_free(model);
        if (good)
            m->row[kept++] = m->row[i];
        else if (!status)
            status = sx_measurements_reject(m, m->row[i].line, why);
    }
    free(arch);
    if (!status) m->n = kept;
    return status;
}

static void quality_row(const char *name, const sx_fit_quality *q, sx_table *table) {
    sx_table_cell(table, "%s", name);
    sx_table_cell(table, "%s", sx_show_percent(q->mean_error).text);
    sx_table_cell(table, "%.2f", q->worst);
    sx_table_cell(table, "%.4f", q->rank_correlation);
    sx_table_cell(table, "%u / %u / %u", q->right, q->wrong, q->blind);
    sx_table_cell(table, "%.3f", q->pick);
}

/* Says which pairs of keys the data cannot tell apart, and whether the fit is worth it. */
static void print_doubts(const calibration *c, sx_text *out) {
    const sx_fit *fit = &c->fit;
    for (size_t a = 0; a < fit->n_free && c->samples > 1; a++)
        for (size_t b = 0; b < a; b++)
            if (fabs(fit->correlation[a][b]) > ALIKE)
                sx_text_add(
                    out,
                    "  The rows cannot tell %s and %s apart: over the bootstrap they correlate by %.2f.\n",
                    fit->key[b].name, fit->key[a].name, fit->correlation[a][b]);
    if (c->folds > 1 && fit->validated.mean_error >= fit->prior.mean_error)
        sx_text_add(out, "  warning: cross-validated, the error is not below that of the values before.\n");
}

static void print_keys(const calibration *c, sx_text *out) {
    sx_table table;
    sx_table_begin(&table, "lrrrr");
    static const char *const head[] = {"key", "before", "after", "16 %", "84 %"};
    for (int i = 0; i < 5; i++) sx_table_cell(&table, "%s", head[i]);
    for (size_t k = 0; k < c->fit.n_free; k++) {
        sx_table_cell(&table, "%s", c->fit.key[k].name);
        sx_table_cell(&table, "%.4g", c->fit.before[k]);
        sx_table_cell(&table, "%.4g", c->fit.after[k]);
        if (c->samples < 2) sx_table_blank(&table, 2);
        if (c->samples < 2) continue;
        sx_table_cell(&table, "%.4g", c->fit.low[k]);
        sx_table_cell(&table, "%.4g", c->fit.high[k]);
    }
    sx_table_end(&table, 2, out);
}

static void print_result(const calibration *c, sx_text *out) {
    static const char *const head[] = {
        "", "mean error", "worst", "rank corr.", "pairs right/wrong/blind", "cost of pick"};
    const sx_fit *fit = &c->fit;
    sx_table table;
    sx_text_add(out, "%zu rows of %u layers on %s\n\n", c->rows.n, c->rows.n_layers, c->arch.name);
    print_keys(c, out);
    sx_text_add(out, "\n");
    sx_table_begin(&table, "lrrrrr");
    for (int i = 0; i < 6; i++) sx_table_cell(&table, "%s", head[i]);
    quality_row("before", &fit->prior, &table);
    quality_row("after", &fit->fitted, &table);
    if (c->folds > 1) quality_row("cross-validated", &fit->validated, &table);
    sx_table_end(&table, 2, out);
    sx_text_add(out, "\n");
    print_doubts(c, out);
    for (size_t i = 0; i < c->rows.n; i++) {
        const double measured = sx_measured_value(&c->rows.row[i], c->energies);
        double ratio = fit->predicted[i] / measured;
        if (fmax(ratio, 1 / ratio) > 1.25)
            sx_text_add(out, "  line %d does not fit: %.0f predicted, %.0f measured\n", c->rows.row[i].line,
                        fit->predicted[i], measured);
    }
    for (size_t i = 0; i < c->rows.n_rejected; i++)
        sx_text_add(out, "  line %d is left out: %s\n", c->rows.rejected[i].line, c->rows.rejected[i].reason);
}

static json_t *quality_json(const sx_fit_quality *q) {
    return json_pack("{s:f, s:f, s:f, s:i, s:i, s:i, s:f}", "mean_error", q->mean_error, "worst", q->worst,
                     "rank_correlation", q->rank_correlation, "right", (int)q->right, "wrong", (int)q->wrong,
                     "blind", (int)q->blind, "cost_of_pick", q->pick);
}

static sx_status print_json(const calibration *c, sx_text *out) {
    const sx_fit *fit = &c->fit;
    json_t *keys = json_array(), *rejected = json_array();
    for (size_t k = 0; k < fit->n_free; k++) {
        json_t *key = json_pack("{s:s, s:f, s:f}", "key", fit->key[k].name, "before", fit->before[k], "after",
                                fit->after[k]);
        if (c->samples > 1) sx_json_set(key, "low", sx_json_real(fit->low[k]));
        if (c->samples > 1) sx_json_set(key, "high", sx_json_real(fit->high[k]));
        sx_json_append(keys, key);
    }
    for (size_t i = 0; i < c->rows.n_rejected; i++)
        sx_json_append(rejected, json_pack("{s:i, s:s}", "row", c->rows.rejected[i].line, "reason",
                                           c->rows.rejected[i].reason));
    json_t *object =
        json_pack("{s:s, s:i, s:i, s:o, s:o, s:o, s:o}", "arch", c->arch.name, "rows",
                  (int)(c->rows.n + c->rows.n_rejected), "used", (int)c->rows.n, "keys", keys, "before",
                  quality_json(&fit->prior), "after", quality_json(&fit->fitted), "rejected", rejected);
    if (c->folds > 1) sx_json_set(object, "cross_validated", quality_json(&fit->validated));
    return sx_json_finish(object, out);
}

/* Draws predicted against measured cycles. */
static sx_status write_figure(const char *path, const calibration *c) {
    const size_t n = c->rows.n;
    double *measured = malloc(n * sizeof *measured + 1);
    if (!measured) return sx_error_memory();
    for (size_t i = 0; i < n; i++) measured[i] = sx_measured_value(&c->rows.row[i], c->energies);
    sx_status status =
        sx_calibrate_draw(path, "Measured and predicted cycles", n, measured, c->fit.predicted);
    free(measured);
    return status;
}

static sx_status write_arch(const char *path, const sx_arch *arch, sx_output *result) {
    char *text;
    SX_TRY(sx_arch_write(arch, SX_YAML, &text));
    sx_status status = sx_output_write(result, path, text);
    free(text);
    return status;
}

/* Where problems and mappings of rows are looked for. */
typedef struct row_reader {
    const sx_args *args;
    const char *table; /* the file of rows: paths in it are relative to its folder */
} row_reader;

/* Adds a file that a row names to an input. One that is absent is an error of the row; one that cannot be read, of the
 * system. */
static sx_status add_row_file(const row_reader *reader, const char *path, sx_input *input) {
    const char *slash = strrchr(reader->table, '/');
    sx_text full = {0};
    char *text;
    if (slash && *path != '/') sx_text_add(&full, "%.*s", (int)(slash + 1 - reader->table), reader->table);
    sx_text_add(&full, "%s", path);
    SX_TRY(sx_text_take(&full, &text));
    sx_status status = access(text, F_OK) != 0 && sx_file_is_absent(errno)
                           ? sx_file_error(SX_ERR_INPUT, "open", text)
                           : sx_input_add_file(input, text);
    free(text);
    return status;
}

/* The problem of a row: a name of the catalog, sizes, an einsum or a file. */
static sx_status read_row_problem(const row_reader *reader, const char *value, sx_problem *out) {
    sx_network network = {0};
    sx_input *input;
    if (!sx_is_named(SX_NOUN_PROBLEM, value)) {
        SX_TRY(sx_input_new(&input));
        sx_status status = add_row_file(reader, value, input);
        if (!status) status = sx_input_problem(input, out);
        sx_input_free(input);
        return status;
    }
    SX_TRY(strpbrk(value, "[{") ? sx_named_einsum(value, &network)
                                : sx_named_problem(reader->args, value, &network));
    sx_status status = network.n_layers == 1 ? SX_OK
                                             : sx_error_hint(sx_error_new(SX_ERR_INPUT, "'%s' has %zu layers",
                                                                          value, (size_t)network.n_layers),
                                                             "a row is one layer: NETWORK/LAYER");
    if (!status) *out = network.layer[0].problem;
    sx_network_fini(&network);
    return status;
}

/* Reads the problem and the mapping file of a row. */
static sx_status read_nouns(void *user, const char *problem, const char *mapping, const sx_arch *arch,
                            sx_measured *out) {
    sx_input *input;
    SX_TRY(read_row_problem(user, problem, &out->problem));
    SX_TRY(sx_input_new(&input));
    sx_status status = add_row_file(user, mapping, input);
    if (!status) status = sx_input_mapping(input, &out->problem, arch, &out->mapping);
    sx_input_free(input);
    return status;
}

/* Reads, fits and outputs the result. */
static sx_status calibrate_arch(const sx_args *args, sx_sources *sources, calibration *c, sx_output *result) {
    const char *output = sx_args_text(args, "output", 0), *svg = sx_args_text(args, "svg", 0);
    if (args->n_operands != 1)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "one file with measured rows is needed"),
                             "`sextant calibrate measured.csv -a gemmini -o fitted.yaml`");
    if (output) SX_TRY(sx_file_writable(output));
    if (svg) SX_TRY(sx_file_writable(svg));
    bool operators;
    SX_TRY(sx_operator_rows_are(args->operand[0], &operators));
    if (operators) return sx_calibrate_operators(args, sources, result);
    static const char *const of_operators[] = {"where", "time-column"};
    for (size_t i = 0; i < 2; i++)
        if (sx_args_flag(args, of_operators[i]))
            return sx_error_new(SX_ERR_USAGE, "--%s is for rows of operators, and these are of mappings",
                                of_operators[i]);
    c->folds = (unsigned)sx_args_count(args, "folds", 5);
    c->samples = (unsigned)sx_args_count(args, "samples", 16);
    SX_TRY(sx_sources_arch(sources, &c->arch));
    SX_TRY(sx_search_notes(args, sources, false, result));
    SX_TRY(choose_keys(args, c));
    SX_TRY(sx_fit_of_energies(&c->fit, &c->energies));
    row_reader reader = {args, args->operand[0]};
    SX_TRY(sx_measurements_read(args->operand[0], &c->arch, read_nouns, &reader, &c->rows));
    SX_TRY(drop_rows(c));
    if (c->rows.n == 0 || c->fit.n_free == 0)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "%s: no %s", args->operand[0],
                                          c->rows.n ? "key to fit" : "row can be used"),
                             "%s", c->rows.n_rejected ? c->rows.rejected[0].reason : "--free names keys");
    SX_TRY(sx_fit_keys(&c->fit, &c->rows, &c->arch, c->folds, c->samples, sx_args_count(args, "seed", 0)));
    if (output) SX_TRY(write_arch(output, &c->arch, result));
    if (svg) SX_TRY(write_figure(svg, c));
    if (sx_args_flag(args, "json")) return print_json(c, &result->out);
    print_result(c, &result->out);
    return SX_OK;
}

/* `sextant calibrate`. */
static sx_status run_calibrate(const sx_args *args, sx_output *result) {
    sx_sources sources = {0};
    calibration *c = calloc(1, sizeof *c);
    if (!c) return sx_error_memory();
    sx_args inputs = *args;
    inputs.n_operands = 0;
    sx_status status = sx_sources_load(&inputs, &sources);
    if (!status) status = calibrate_arch(args, &sources, c, result);
    sx_sources_fini(&sources);
    sx_measurements_free(&c->rows);
    sx_fit_fini(&c->fit);
    free(c);
    return status;
}

static const sx_option options[] = {
    SX_OPTION_ARCH,
    SX_ROW_ONCE("free", 0, "KEY,...", TEXT,
                "keys to fit, such as start,store_time,issue,exposed,load_bus,caches.1.miss, or of levels "
                "DRAM.shared_bandwidth or DRAM.read_energy"),
    SX_ROW_ONCE("folds", 0, "N", COUNT, "parts of the cross-validation by layers (5); 0: none"),
    SX_ROW_ONCE("samples", 0, "N", COUNT, "samples of the bootstrap over layers (16; operators: 0); 0: none"),
    SX_ROW_ONCE("seed", 's', "N", COUNT, "seed of both (0)"),
    SX_ROW_MANY("where", 0, "COLUMN=VALUE", TEXT,
                "only rows of operators with that value, such as dtype=bf16"),
    SX_ROW_ONCE("time-column", 0, "COLUMN", TEXT,
                "column with the microseconds of operators (microseconds, cold_us or seconds)"),
    SX_ROW_ONCE("svg", 0, "FILE", TEXT, "draw predicted against measured cycles"),
    SX_OPTION_ESTIMATOR,
    SX_OPTIONS_READ,
    SX_OPTION_JSON,
    SX_OPTION_OUTPUT,
    SX_OPTION_HELP,
};

const sx_command sx_command_calibrate = {
    .name = "calibrate",
    .about = "fit an architecture's latency keys or timing to measurements",
    .usage = "MEASURED.csv --arch FILE|NAME [-o ARCH.yaml] [OPTION ...]",
    .details =
        "Columns: R, S, P, Q, C, K, N, stride, mapping and cycles; or op, dims, dtype and microseconds "
        "(docs/calibrate.md).\n"
        "Rows that cannot be used are listed with the reason. -o writes the architecture with what was "
        "fitted.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run_calibrate,
};
