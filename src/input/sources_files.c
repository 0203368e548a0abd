/* Files and folders given without an option. */
#include "input/sources.h"

#include "frontend/input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What the options bring. */
static unsigned given_by_options(const sx_args *args) {
    unsigned given = 0;
    if (sx_args_flag(args, "arch")) given |= SX_HOLDS_ARCH;
    if (sx_args_flag(args, "problem")) given |= SX_HOLDS_PROBLEM;
    if (sx_args_flag(args, "mapping") || !sx_args_allow(args, "mapping")) given |= SX_HOLDS_MAPPING;
    if (sx_args_flag(args, "constraints")) given |= SX_HOLDS_CONSTRAINTS | SX_HOLDS_MAPSPACE;
    return given;
}

/* What the files read so far bring. */
static unsigned given_by_files(const sx_input *input) {
    unsigned given = 0;
    if (sx_input_has(input, SX_DOCUMENT_ARCH)) given |= SX_HOLDS_ARCH;
    if (sx_noun_section(input, SX_NOUN_PROBLEM)) given |= SX_HOLDS_PROBLEM;
    if (sx_input_has(input, SX_DOCUMENT_MAPPING)) given |= SX_HOLDS_MAPPING;
    if (sx_input_first(input, "mapper")) given |= SX_HOLDS_MAPPER;
    return given;
}

/* The error for an argument that is neither a file nor a folder. */
static sx_status no_file(const char *value) {
    sx_status error = sx_error_new(SX_ERR_USAGE, "unexpected argument '%s': there is no such file", value);
    if (strpbrk(value, "[]{}+="))
        return sx_error_hint(error, "quote an einsum and give it by --problem: '%s'",
                             "O[m,n] += A[m,k]*B[k,n] {m:64,n:64,k:64}");
    return sx_error_hint(
        error, "names of the catalog, and sizes such as 64x64x64, are given by --arch and --problem");
}

/* Reads the arguments that are files. */
static sx_status read_files(sx_sources *sources, sx_input *input) {
    const sx_args *args = sources->args;
    struct stat info;
    for (size_t i = 0; i < args->n_operands; i++) {
        if (stat(args->operand[i], &info) != 0) return no_file(args->operand[i]);
        if (!S_ISDIR(info.st_mode)) SX_TRY(sx_input_add_file(input, args->operand[i]));
    }
    return SX_OK;
}

/* Warns of objectives that are not used because several files hold one. */
static sx_status warn_of_mappers(const sx_args *args, const sx_folder *folder, sx_input *input) {
    size_t n = 0;
    while (sx_folder_candidate(folder, SX_HOLDS_MAPPER, n)) n++;
    if (n < 2 || sx_folder_takes(folder, SX_HOLDS_MAPPER)) return SX_OK;
    if (!sx_args_allow(args, "objective") || sx_args_flag(args, "objective")) return SX_OK;
    return sx_input_warn(input, (sx_place){0},
                         "'%s' has %zu mapper sections; none is used, add the intended file, such as %s",
                         folder->path, n, sx_folder_candidate(folder, SX_HOLDS_MAPPER, 0)->path);
}

/* Adds the files that are taken of a folder; which of them, is said. */
static sx_status add_taken(const sx_folder *folder, sx_input *input, sx_text *said) {
    size_t n = 0, skip = strlen(folder->path);
    sx_text list = {0};
    sx_status status = sx_input_include_path(input, folder->path);
    for (size_t i = 0; i < folder->n && !status; i++) {
        const char *path = folder->file[i].path;
        if (!folder->file[i].taken) continue;
        status = sx_input_add_file(input, path);
        sx_text_add(&list, "%s%s", n++ ? ", " : "", path + skip + (path[skip] == '/'));
    }
    if (!status && n && !list.failed) sx_text_add(said, "note: %s: read %s\n", folder->path, list.data);
    if (list.failed && !status) status = sx_error_memory();
    sx_text_free(&list);
    return status;
}

/* Reads the folders. */
static sx_status read_folders(sx_sources *sources, sx_input *input, sx_text *said) {
    for (size_t i = 0; i < sources->n_folders; i++) {
        sx_folder *folder = &sources->folder[i];
        sx_folder_choose(folder, given_by_options(sources->args), given_by_files(input));
        SX_TRY(add_taken(folder, input, said));
        SX_TRY(warn_of_mappers(sources->args, folder, input));
    }
    return SX_OK;
}

/* Lists what lies in the folders among the arguments. */
static sx_status scan_folders(sx_sources *sources) {
    const sx_args *args = sources->args;
    struct stat info;
    sources->folder = calloc(args->n_operands, sizeof *sources->folder);
    if (!sources->folder) return sx_error_memory();
    for (size_t i = 0; i < args->n_operands; i++)
        if (stat(args->operand[i], &info) == 0 && S_ISDIR(info.st_mode))
            SX_TRY(sx_folder_scan(args->operand[i], &sources->folder[sources->n_folders++]));
    return SX_OK;
}

/* Takes what Timeloop's front end made of a folder's files where these cannot be read: `status` is why. */
static sx_status take_processed(sx_sources *sources, SX_TAKE sx_status status) {
    const sx_folder_file *file = sources->n_folders == 1 ? sx_folder_processed(&sources->folder[0]) : NULL;
    if (!file || file->taken || status->code != SX_ERR_INPUT) return status;
    if (status->hint && strstr(status->hint, "--set"))
        return sx_error_hint(status, "give it by --set; or name %s, which Timeloop's front end made of it",
                             file->path);
    sx_folder *folder = &sources->folder[0];
    for (size_t i = 0; i < folder->n; i++) folder->file[i].taken = &folder->file[i] == file;
    folder->whole = true;
    sx_input *input = NULL;
    sx_text_free(&sources->said);
    sx_text_add(&sources->said,
                "note: %s:%d:%d: %s; reading the processed input that Timeloop wrote instead\n",
                status->file ? status->file : folder->path, status->line, status->column, status->message);
    sx_status again = sx_sources_input(sources->args, &input);
    if (!again) again = read_files(sources, input);
    if (!again) again = add_taken(folder, input, &sources->said);
    sx_input_free(sources->input[SX_NOUN_FILES]);
    sources->input[SX_NOUN_FILES] = input;
    if (!again) {
        sx_status_free(status);
        return SX_OK;
    }
    sx_status_free(again);
    return status;
}

sx_status sx_sources_operands(sx_sources *sources) {
    if (!sources->args->n_operands) return SX_OK;
    SX_TRY(scan_folders(sources));
    SX_TRY(sx_sources_input(sources->args, &sources->input[SX_NOUN_FILES]));
    sx_input *input = sources->input[SX_NOUN_FILES];
    SX_TRY(read_files(sources, input));
    sx_status status = read_folders(sources, input, &sources->said);
    if (status) SX_TRY(take_processed(sources, status));
    return sources->said.failed ? sx_error_memory() : SX_OK;
}

sx_status sx_sources_unclear(const sx_sources *sources, unsigned holds, const char *option) {
    const unsigned limits = SX_HOLDS_CONSTRAINTS | SX_HOLDS_MAPSPACE;
    const char *what = holds == SX_HOLDS_ARCH      ? "architectures"
                       : holds == SX_HOLDS_PROBLEM ? "problems"
                       : holds == SX_HOLDS_MAPPING ? "mappings"
                                                   : "files of constraints";
    for (size_t i = 0; i < sources->n_folders; i++) {
        const sx_folder *folder = &sources->folder[i];
        bool several = sx_folder_candidate(folder, holds, 1) != NULL;
        if (sx_folder_takes(folder, holds) || (holds & limits && (!several || folder->whole))) continue;
        return sx_folder_unclear(folder, holds, option, what);
    }
    return SX_OK;
}
