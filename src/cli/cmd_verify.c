/* `sextant verify`: whether certificates hold. */
#include "base/file.h"
#include "cli/against.h"
#include "cli/bind.h"
#include "cli/command.h"
#include "cli/everything.h"
#include "cli/independent.h"
#include "cli/progress.h"
#include "cli/search.h"
#include "report/json_parts.h"
#include "report/scope.h"
#include "sextant/certificate.h"
#include "sextant/fused.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 64 << 20 };

/* What is done for every file. */
typedef struct job {
    const sx_args *args;
    bool json, quiet, no_clock;
    unsigned threads;
    const sx_cancel *cancel;
    sx_progress_line line;
    double told;
    json_t *list; /* with --json */
    sx_against against;
    sx_everything everything;
    sx_alone alone;
    sx_output *result;
} job;

/* Shows how a check is going, at most ten times a second. */
static void show_progress(void *user, const sx_verify_progress *p) {
    job *j = user;
    if (p->seconds < j->told + 0.1 && p->seconds >= j->told) return;
    j->told = p->seconds;
    if (p->spatial < p->n_spatial)
        sx_progress_note(&j->line, "%s of %s spatial mappings", sx_show_count((double)p->spatial).text,
                         sx_show_count((double)p->n_spatial).text);
    else
        sx_progress_note(&j->line, "%s of %s entries, %s mappings evaluated, %s steps",
                         sx_show_count((double)p->entries).text, sx_show_count((double)p->n_entries).text,
                         sx_show_count((double)p->evaluations).text, sx_show_count((double)p->steps).text);
}

/* The text of a verdict. */
static const char *verdict_name(sx_claims verdict) {
    static const char *const names[] = {"holds", "does not hold", "was not checked completely"};
    return names[verdict];
}

/* Adds an object to the list, with what checks found that every kind of certificate may have. */
static void append_result(const job *j, const sx_verification *v, json_t *object) {
    if (j->alone.asked) sx_json_set(object, "independent", sx_alone_json(&j->alone, j->no_clock));
    if (v->verdict == SX_CLAIMS_FAIL) {
        sx_json_set(object, "claim", json_string(v->claim));
        sx_json_set(object, "why", sx_json_string(v->why));
    }
    sx_json_append(j->list, object);
}

/* Adds a result as JSON. */
static sx_status add_json(const job *j, const char *path, const sx_certificate *c, const sx_verification *v) {
    char objective[256];
    json_t *scope;
    SX_TRY(sx_scope_json(c, &scope));
    sx_objective_text(&c->objective, objective, sizeof objective);
    json_t *object = json_pack(
        "{s:o, s:b, s:b, s:s, s:s, s:s, s:o, s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "file",
        sx_json_string(path), "holds", v->verdict == SX_CLAIMS_HOLD, "complete", v->verdict != SX_CLAIMS_OPEN,
        "problem", c->problem.name, "arch", c->arch.name, "objective", objective, "value",
        sx_json_real(c->value), "lower_bound", sx_json_real(c->lower_bound), "optimal", c->optimal, "arrays",
        (json_int_t)c->proof->n_spatial, "compulsory", (json_int_t)c->compulsory, "tables",
        (json_int_t)c->tables, "searched", (json_int_t)c->searched, "arrays_checked",
        (json_int_t)v->done.spatial, "entries_checked", (json_int_t)v->done.entries, "evaluations",
        (json_int_t)v->done.evaluations, "seconds", j->no_clock ? 0 : v->done.seconds);
    sx_json_set(object, "scope", scope);
    if (j->everything.asked && v->verdict == SX_CLAIMS_HOLD)
        sx_json_set(object, "brute_force", sx_everything_json(&j->everything, j->no_clock));
    if (c->n_front) sx_json_set(object, "front", json_integer((json_int_t)c->n_front));
    append_result(j, v, object);
    return SX_OK;
}

/* Adds how the spatial mappings were closed. */
static void add_reasons(const sx_certificate *c, const sx_verification *v, sx_table *table) {
    sx_table_cell(table, "spatial");
    if (c->space.remainders) {
        sx_table_cell(table, "%s spatial mappings, whether their factors divide or not",
                      sx_show_count((double)v->done.spatial).text);
        sx_table_cell(table, "  searched");
        sx_table_cell(table, "%s searched, %s mappings evaluated",
                      sx_show_count((double)v->done.entries).text,
                      sx_show_count((double)v->done.evaluations).text);
        return;
    }
    sx_table_cell(table, "%s spatial mappings", sx_show_count((double)c->proof->n_spatial).text);
    sx_table_cell(table, "  compulsory");
    sx_table_cell(table, "%s closed by the compulsory traffic of each tensor",
                  sx_show_count((double)c->compulsory).text);
    sx_table_cell(table, "  tables");
    sx_table_cell(table, "%s closed by tables over all tiles", sx_show_count((double)c->tables).text);
    sx_table_cell(table, "  searched");
    sx_table_cell(table, "%s searched, %s mappings evaluated", sx_show_count((double)c->searched).text,
                  sx_show_count((double)v->done.evaluations).text);
}

/* Adds what was claimed and checked, for a person. */
static sx_status print_claims(const job *j, const sx_certificate *c, const sx_verification *v, sx_text *out) {
    sx_table table;
    char objective[256];
    sx_objective_text(&c->objective, objective, sizeof objective);
    sx_table_begin(&table, "ll");
    sx_table_cell(&table, "the mapping");
    sx_table_cell(&table, "costs %s and %s cycles: %s %.6g", sx_show_energy(c->score.energy_pj).text,
                  sx_show_count(c->score.cycles).text, objective, c->value);
    sx_table_cell(&table, "lower bound");
    if (c->optimal)
        sx_table_cell(&table, "equal to the value: no mapping within the scope is better");
    else
        sx_table_cell(&table, "%.6g, %s of the value: no mapping within the scope is below it",
                      c->lower_bound, sx_show_percent(c->value != 0 ? c->lower_bound / c->value : 0).text);
    if (c->n_front) {
        bool holds = j->alone.asked && j->alone.report.verdict == SX_INDEPENDENT_HOLDS;
        sx_table_cell(&table, "front");
        sx_table_cell(
            &table, "%s mappings%s", sx_show_count((double)c->n_front).text,
            holds ? ": each mapping within the scope has no less energy and no fewer cycles than one of them"
                  : ", not checked");
    }
    sx_status status = sx_scope_rows(c, &table);
    if (!sx_certificate_open(c)) add_reasons(c, v, &table);
    if (j->everything.asked) sx_everything_row(&j->everything, j->no_clock, &table);
    if (j->alone.asked) sx_alone_rows(&j->alone, j->no_clock, &table);
    if (!j->no_clock) {
        sx_table_cell(&table, "time");
        sx_table_cell(&table, "%.2f s", v->done.seconds);
    }
    sx_table_end(&table, 2, out);
    return status;
}

/* Says that what the rules of the search confirm is undecided without them. */
static void print_undecided(const job *j, const char *path, const sx_verification *v) {
    if (v->verdict == SX_CLAIMS_HOLD && j->alone.asked && j->alone.report.verdict != SX_INDEPENDENT_HOLDS)
        sx_text_add(&j->result->err, "%s: %s without the rules of the search: %s\n", path,
                    sx_alone_verdict(&j->alone), j->alone.report.why);
}

/* Adds a result for a person; ours: it is of what the user gave. */
static sx_status print_verification(const job *j, const char *path, const sx_certificate *c,
                                    const sx_verification *v, bool ours) {
    sx_text *out = v->verdict == SX_CLAIMS_HOLD ? &j->result->out : &j->result->err;
    sx_text_add(out, "%s: the certificate of %s on %s %s\n", path,
                c->problem.name[0] ? c->problem.name : "a problem",
                c->arch.name[0] ? c->arch.name : "an architecture",
                ours ? verdict_name(v->verdict) : "is not of what was given");
    if (v->verdict == SX_CLAIMS_FAIL) sx_text_add(out, "  %s: %s\n", v->claim, v->why);
    if (v->verdict == SX_CLAIMS_OPEN && sx_certificate_open(c))
        sx_text_add(out, "  %s\n",
                    j->alone.asked ? j->alone.report.why
                    : c->space.remainders
                        ? "the least latency of a space with remainders: no rule of the search bounds it"
                        : "the optimum of several criteria: only --independent checks it");
    else if (v->verdict == SX_CLAIMS_OPEN)
        sx_text_add(
            out, "  stopped early: %s of %s spatial mappings and %s of %s entries checked, and they hold\n",
            sx_show_count((double)v->done.spatial).text, sx_show_count((double)v->done.n_spatial).text,
            sx_show_count((double)v->done.entries).text, sx_show_count((double)v->done.n_entries).text);
    print_undecided(j, path, v);
    if (v->verdict == SX_CLAIMS_HOLD && c->n_front && !j->alone.asked)
        sx_text_add(&j->result->err, "%s: its front is undecided: only --independent checks it\n", path);
    return v->verdict == SX_CLAIMS_HOLD && !j->quiet ? print_claims(j, c, v, out) : SX_OK;
}

/* Notes a claim that is false by the independent check. */
static void fail_alone(const job *j, sx_verification *v) {
    if (j->alone.report.verdict != SX_INDEPENDENT_FAILS) return;
    v->verdict = SX_CLAIMS_FAIL;
    snprintf(v->claim, sizeof v->claim, "independent");
    snprintf(v->why, sizeof v->why, "%s", j->alone.report.why);
}

/* Checks a certificate that the search's rules confirm without them; a false claim is one of "independent". */
static sx_status check_alone(job *j, const char *path, const char *text, size_t size, sx_verification *v) {
    SX_TRY(sx_independent_check(path, text, size, &j->alone.options, &j->alone.report));
    if (j->alone.report.verdict == SX_INDEPENDENT_HOLDS) v->verdict = SX_CLAIMS_HOLD;
    fail_alone(j, v);
    return SX_OK;
}

/* Notes the exit code of one certificate. */
static void note_exit(job *j, size_t n_front, const sx_verification *v) {
    static const sx_exit exits[] = {SX_EXIT_FOUND, SX_EXIT_NONE, SX_EXIT_OPEN};
    sx_exit exit = exits[v->verdict];
    if (exit == SX_EXIT_FOUND && (j->alone.asked || n_front)) exit = sx_alone_exit(&j->alone);
    j->result->incomplete |= v->verdict == SX_CLAIMS_OPEN;
    sx_output_exits(j->result, exit);
}

/* Adds what plans the claims are about. */
static void add_fused_scope(const sx_fused_claim *c, sx_table *table) {
    sx_text scope = {0};
    sx_text_add(&scope,
                "plans of whole tensors in %s and of the %s groups that are listed, tiles that divide",
                c->level, sx_show_count((double)c->n_groups).text);
    if (strcmp(c->tensors, "auto") != 0) sx_text_add(&scope, ", as --fuse=%s lets them be", c->tensors);
    if (strcmp(c->window, "best") != 0) sx_text_add(&scope, ", with --window %s", c->window);
    if (c->orders > 1) sx_text_add(&scope, ", orders as --orders %zu lists them", c->orders);
    sx_table_cell(table, "scope");
    sx_table_cell_text(table, &scope);
}

/* Adds what the certificate of a fused network claims and what was checked, for a person. */
static void print_fused(const job *j, const char *path, const sx_fused_claim *c, const sx_verification *v) {
    sx_text *out = v->verdict == SX_CLAIMS_HOLD ? &j->result->out : &j->result->err;
    sx_table table;
    sx_text_add(out, "%s: the certificate of %s, fused, on %s %s\n", path, c->network, c->arch,
                verdict_name(v->verdict));
    if (v->verdict == SX_CLAIMS_FAIL) sx_text_add(out, "  %s: %s\n", v->claim, v->why);
    print_undecided(j, path, v);
    if (v->verdict != SX_CLAIMS_HOLD || j->quiet) return;
    sx_table_begin(&table, "ll");
    sx_table_cell(&table, "the fused mapping");
    sx_table_cell(&table, "costs %s and %s cycles: %s %.6g", sx_show_energy(c->score.energy_pj).text,
                  sx_show_count(c->score.cycles).text, c->objective, c->value);
    sx_table_cell(&table, "lower bound");
    sx_table_cell(&table, "%.6g, %s of the value: no plan within the scope is below it", c->lower_bound,
                  sx_show_percent(c->lower_bound / c->value).text);
    add_fused_scope(c, &table);
    sx_table_cell(&table, "labels");
    sx_table_cell(&table, "%s certificates of cut layers hold; all others are bounded by compulsory traffic",
                  sx_show_count((double)c->n_labels).text);
    if (j->alone.asked && j->alone.report.verdict == SX_INDEPENDENT_HOLDS)
        sx_alone_rows(&j->alone, j->no_clock, &table);
    if (!j->no_clock) {
        sx_table_cell(&table, "time");
        sx_table_cell(&table, "%.2f s", v->done.seconds);
    }
    sx_table_end(&table, 2, out);
}

/* The same as JSON. */
static void add_fused_json(const job *j, const char *path, const sx_fused_claim *c,
                           const sx_verification *v) {
    json_t *object = json_pack(
        "{s:o, s:b, s:b, s:b, s:s, s:s, s:s, s:o, s:o, s:b, s:I, s:I, s:f}", "file", sx_json_string(path),
        "holds", v->verdict == SX_CLAIMS_HOLD, "complete", v->verdict != SX_CLAIMS_OPEN, "fused", 1,
        "network", c->network, "arch", c->arch, "objective", c->objective, "value", sx_json_real(c->value),
        "lower_bound", sx_json_real(c->lower_bound), "optimal", c->optimal, "labels", (json_int_t)c->n_labels,
        "groups", (json_int_t)c->n_groups, "seconds", j->no_clock ? 0 : v->done.seconds);
    append_result(j, v, object);
}

/* Checks the certificate of a fused network and adds the outcome. */
static sx_status verify_fused(job *j, const char *path, const char *text, size_t size) {
    sx_fused_claim claim;
    sx_verification v;
    const sx_verify_options options = {.threads = j->threads, .cancel = j->cancel};
    if (j->everything.asked)
        return sx_error_new(SX_ERR_USAGE,
                            "%s: the certificate of a fused network is checked without --brute-force", path);
    (void)sx_interrupt_catch();
    SX_TRY(sx_fused_certificate_verify(path, text, size, &options, j->alone.asked ? &j->alone.options : NULL,
                                       &claim, &v, &j->alone.report));
    if (j->alone.asked && v.verdict == SX_CLAIMS_HOLD) fail_alone(j, &v);
    note_exit(j, 0, &v);
    if (j->json)
        add_fused_json(j, path, &claim, &v);
    else
        print_fused(j, path, &claim, &v);
    return SX_OK;
}

/* Checks a certificate and adds the outcome. */
static sx_status verify_text(job *j, const char *path, const char *text, size_t size) {
    sx_certificate *c;
    sx_verification v;
    sx_verify_options options = {
        .threads = j->threads, .cancel = j->cancel, .progress = j->line.on ? show_progress : NULL, .user = j};
    if (sx_fused_certificate_is(text, size)) return verify_fused(j, path, text, size);
    SX_TRY(sx_certificate_read(path, text, size, &c));
    (void)sx_interrupt_catch();
    sx_progress_title(&j->line, "%s", path);
    j->told = 0;
    bool ours = true; /* of what the user gave */
    memset(&v, 0, sizeof v);
    sx_status status = sx_against_follow(&j->against, c, j->result);
    if (!status) status = sx_against_check(&j->against, c, &v, &ours);
    if (!status && ours) status = sx_certificate_verify(c, &options, &v);
    if (!status && ours && j->everything.asked && v.verdict == SX_CLAIMS_HOLD)
        status = sx_everything_check(&j->everything, c, &v);
    memset(&j->alone.report, 0, sizeof j->alone.report);
    j->alone.report.verdict = SX_INDEPENDENT_UNDECIDED;
    bool left = v.verdict == SX_CLAIMS_OPEN && sx_certificate_open(c); /* to the independent check */
    if (!status && ours && j->alone.asked && (v.verdict == SX_CLAIMS_HOLD || left))
        status = check_alone(j, path, text, size, &v);
    sx_progress_end(&j->line);
    if (!status) {
        note_exit(j, c->n_front, &v);
        status = j->json ? add_json(j, path, c, &v) : print_verification(j, path, c, &v, ours);
    }
    sx_certificate_free(c);
    return sx_error_place(status, (sx_place){path, 0, 0});
}

/* Reports a certificate that was not checked because of Ctrl-C. */
static void skip_certificate(job *j, const char *path) {
    sx_output_exits(j->result, SX_EXIT_OPEN);
    if (j->json)
        sx_json_append(j->list,
                       json_pack("{s:o, s:b, s:b}", "file", sx_json_string(path), "holds", 0, "complete", 0));
    else
        sx_text_add(&j->result->err, "%s: not checked (interrupted)\n", path);
}

/* Checks a certificate, unless there was a Ctrl-C before. */
static sx_status verify_file(job *j, const char *path) {
    char *text;
    size_t size;
    if (sx_cancel_is_set(j->cancel)) {
        skip_certificate(j, path);
        return SX_OK;
    }
    SX_TRY(sx_file_read(path, MOST_BYTES, &text, &size));
    sx_status status = verify_text(j, path, text, size);
    free(text);
    return status;
}

/* Whether an entry of a folder is a certificate. */
static int is_certificate(const struct dirent *entry) {
    const char *suffix = SX_CERTIFICATE_SUFFIX;
    size_t n = strlen(entry->d_name), k = strlen(suffix);
    return n > k && strcmp(entry->d_name + n - k, suffix) == 0;
}

/* Checks all certificates of a folder, by name. */
static sx_status verify_folder(job *j, const char *folder) {
    struct dirent **entry;
    int n = scandir(folder, &entry, is_certificate, alphasort);
    if (n < 0) return sx_error_system(SX_ERR_FILE, "cannot read the folder '%s'", folder);
    sx_status status = SX_OK;
    if (n == 0)
        status = sx_error_hint(sx_error_new(SX_ERR_INPUT, "the folder '%s' holds no certificates", folder),
                               "names of certificates end in %s", SX_CERTIFICATE_SUFFIX);
    for (int i = 0; i < n; i++) {
        sx_text path = {0};
        sx_text_add(&path, "%s/%s", folder, entry[i]->d_name);
        if (!status) status = path.failed ? sx_error_memory() : verify_file(j, path.data);
        sx_text_free(&path);
        free(entry[i]);
    }
    free(entry);
    return status;
}

/* Checks what an operand names. */
static sx_status verify_path(job *j, const char *path) {
    struct stat info;
    bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    return folder ? verify_folder(j, path) : verify_file(j, path);
}

/* Checks all operands. */
static sx_status verify_all(const sx_args *args, job *j) {
    SX_TRY(sx_alone_init(args, j->threads, j->cancel, &j->alone));
    sx_status status = sx_against_load(args, &j->against, j->result);
    sx_progress_begin(&j->line, args);
    if (j->json) j->list = json_array();
    for (size_t i = 0; i < args->n_operands && !status; i++) status = verify_path(j, args->operand[i]);
    sx_against_fini(&j->against);
    if (!j->json) return status;
    sx_status printed = sx_json_finish(json_pack("{s:o}", "results", j->list), &j->result->out);
    if (!status) return printed;
    sx_status_free(printed);
    return status;
}

/* `sextant verify`. */
static sx_status run_verify(const sx_args *args, sx_output *result) {
    unsigned threads;
    if (args->n_operands == 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "no certificate given"),
                             "`sextant map --certificate FILE` writes one");
    SX_TRY(sx_search_threads(args, &threads));
    SX_TRY(sx_search_writable(args));
    job *j = calloc(1, sizeof *j);
    if (!j) return sx_error_memory();
    j->args = args;
    j->json = sx_args_flag(args, "json");
    j->quiet = sx_args_flag(args, "quiet");
    j->no_clock = sx_args_flag(args, "no-clock");
    j->threads = threads;
    j->result = result;
    sx_output_to_file(result, sx_args_text(args, "output", 0));
    j->cancel = sx_interrupt_flag();
    j->everything.gpu = sx_args_flag(args, "gpu");
    j->everything.asked = j->everything.gpu || sx_args_flag(args, "brute-force");
    j->everything.cancel = j->cancel;
    j->everything.threads = threads;
    j->everything.line = &j->line;
    sx_status status = verify_all(args, j);
    free(j);
    return status;
}

static const sx_option options[] = {
    SX_OPTION_ARCH,
    SX_OPTIONS_NETWORK,
    SX_OPTION_CONSTRAINTS,
    SX_OPTION_ESTIMATOR,
    SX_OPTIONS_FILES,
    SX_OPTION_BIND,
    SX_OPTION_NO_ERT,
    SX_ROW_FLAG("brute-force", 0, "score every mapping of the space, too (small spaces)"),
    SX_ROW_FLAG("gpu", 0, "the same on an NVIDIA GPU (spaces of up to 10^15 mappings)"),
    SX_ROW_FLAG("independent", 0,
                "check by rules that the search has no part in, too (exact integers; docs/proof.md)"),
    SX_ROW_ONCE("time", 't', "SECONDS", NUMBER,
                "time limit of --independent for each certificate, which is then undecided"),
    SX_OPTION_THREADS,
    SX_OPTION_NO_CLOCK,
    SX_OPTION_JSON,
    SX_OPTION_OUTPUT,
    SX_OPTION_QUIET,
    SX_OPTION_HELP,
};

const sx_command sx_command_verify = {
    .name = "verify",
    .about = "check certificates of optimality, with code independent of the search",
    .usage = "FILE|FOLDER ... [OPTION ...]",
    .details =
        "`sextant map --certificate FILE` writes certificates. In a folder, all files whose names end "
        "in\n" SX_CERTIFICATE_SUFFIX " are checked.\nWith --arch, --problem or --constraints, a certificate "
        "must be of these: of this architecture, of one of these\n"
        "problems, of a space with these constraints (none, where --arch has none and --constraints is not "
        "given).\n",
    .exits =
        {[SX_EXIT_FOUND] = "all claims hold",
         [SX_EXIT_NONE] = "a claim does not hold (which one and why is shown)",
         [SX_EXIT_BAD] = "bad usage, or a file cannot be read or is damaged",
         [SX_EXIT_OPEN] =
             "a claim stays undecided: only --independent checks it, or that cannot decide it, or Ctrl-C "
             "or a limit of time stopped the check"},
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run_verify,
};
