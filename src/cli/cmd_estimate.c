#include "base/file.h"
#include "cli/command.h"
#include "cli/search.h"
#include "frontend/catalog/catalog.h"
#include "frontend/input.h"
#include "report/estimates.h"

#include <stdlib.h>
#include <string.h>

/* What the command works with. */
typedef struct estimation {
    sx_sources sources;
    sx_arch arch;
    sx_estimates estimates;
} estimation;

/* The arguments with operands as values of --arch, but folders; *given is the caller's. */
static sx_status operands_as_archs(const sx_args *args, sx_args *out, sx_given **given) {
    static const sx_option arch = SX_OPTION_ARCH;
    *out = *args;
    *given = malloc((args->n_given + args->n_operands + 1) * sizeof **given);
    if (!*given) return sx_error_memory();
    memcpy(*given, args->given, args->n_given * sizeof **given);
    out->given = *given;
    out->n_operands = 0;
    for (size_t i = 0; i < args->n_operands; i++)
        if (sx_is_folder(args->operand[i]) && !sx_is_named(SX_NOUN_ARCH, args->operand[i]))
            out->operand[out->n_operands++] = args->operand[i];
        else
            out->given[out->n_given++] = (sx_given){&arch, args->operand[i]};
    return SX_OK;
}

/* Writes a table to the file of an option, where it was given. */
static sx_status write_table(const sx_args *args, const char *option, const estimation *e, unsigned tables,
                             sx_output *result) {
    const char *path = sx_args_text(args, option, 0);
    char *text;
    if (!path) return SX_OK;
    SX_TRY(sx_estimates_write(&e->estimates, tables, &text));
    sx_status status = sx_output_write(result, path, text);
    free(text);
    return status;
}

/* Reads the architecture and keeps the estimates of its components. */
static sx_status read_estimates(const sx_args *args, estimation *e) {
    SX_TRY(sx_sources_load(args, &e->sources));
    SX_TRY(sx_sources_arch(&e->sources, &e->arch));
    if (e->sources.arch && !e->sources.arch_input) {
        const char *arch = sx_args_text(args, "arch", 0);
        SX_TRY(sx_catalog_arch_input(arch, &e->sources.named_arch));
        SX_TRY(sx_input_arch(e->sources.named_arch, &e->arch));
        e->sources.arch_input = e->sources.named_arch;
    }
    e->estimates.arch = e->arch.name;
    e->estimates.component = sx_input_components(e->sources.arch_input, &e->estimates.n);
    e->estimates.estimator = sx_estimator_name(sx_input_estimator_used(e->sources.arch_input));
    return SX_OK;
}

/* Reads, estimates and outputs the result. */
static sx_status estimate_components(const sx_args *args, estimation *e, sx_output *result) {
    static const char *const files[] = {"output", "ert", "art"};
    for (size_t i = 0; i < 3; i++) {
        const char *path = sx_args_text(args, files[i], 0);
        if (path) SX_TRY(sx_file_writable(path));
    }
    if (!args->n_operands && !sx_args_flag(args, "arch"))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "an architecture is missing"),
                             "`sextant estimate arch.yaml`");
    SX_TRY(read_estimates(args, e));
    SX_TRY(sx_search_notes(args, &e->sources, false, result));
    SX_TRY(write_table(args, "output", e, SX_TABLE_ERT | SX_TABLE_ART, result));
    SX_TRY(write_table(args, "ert", e, SX_TABLE_ERT, result));
    SX_TRY(write_table(args, "art", e, SX_TABLE_ART, result));
    if (sx_args_flag(args, "json")) return sx_estimates_json(&e->estimates, &result->out);
    sx_estimates_print(&e->estimates, &result->out);
    return SX_OK;
}

/* `sextant estimate`. */
static sx_status run_estimate(const sx_args *args, sx_output *result) {
    sx_args with_archs;
    sx_given *given = NULL;
    estimation *e = calloc(1, sizeof *e);
    if (!e) return sx_error_memory();
    sx_status status = operands_as_archs(args, &with_archs, &given);
    if (!status) status = estimate_components(&with_archs, e, result);
    sx_sources_fini(&e->sources);
    free(given);
    free(e);
    return status;
}

static const sx_option options[] = {
    SX_OPTION_ARCH,
    SX_OPTION_ESTIMATOR,
    SX_OPTION_NO_ERT,
    SX_ROW_ONCE("ert", 0, "FILE", TEXT, "write the energies as an energy table (ERT) of Accelergy's"),
    SX_ROW_ONCE("art", 0, "FILE", TEXT, "write the areas as an area table (ART) of Accelergy's"),
    SX_OPTIONS_READ,
    SX_OPTION_JSON,
    SX_ROW_ONCE("output", 'o', "FILE", TEXT, "write both tables to one file"),
    SX_OPTION_HELP,
};

const sx_command sx_command_estimate = {
    .name = "estimate",
    .about = "energies and areas of an architecture's components",
    .usage = "ARCH [-o FILE] [OPTION ...]",
    .details =
        "ARCH is a file, a folder, or a name of the catalog. Every component is estimated, also where\n"
        "files state its energies. docs/estimate.md has the rules.\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run_estimate,
};
