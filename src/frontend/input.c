#include "frontend/input.h"
#include "sextant/network.h"

#include "base/text.h"
#include "base/vector.h"
#include "base/warnings.h"
#include "text/document/scan.h"
#include "text/template/template.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_NOTES = 1000, MAX_SECTIONS = 10000, MAX_MEMORY = 128 << 20, MAX_SETTINGS = 100 };

/* A note or a warning. */
struct remark {
    const char *text;    /* with the place in front */
    const char *message; /* without it */
    const char *format;  /* what kind of remark it is */
    const char *key;     /* that is not understood or counted; NULL: another remark */
    bool counts_not;     /* of a key that is understood, but not counted */
    sx_place place;
};

struct sx_input {
    sx_arena arena;
    const sx_pair **section;
    size_t n_sections, room;
    struct remark note[MAX_NOTES], warning[MAX_NOTES];
    size_t n_notes, n_warnings;
    sx_vector used;       /* sx_pair: those that expressions use */
    bool strict;          /* unknown keys and warnings are errors */
    bool lenient;         /* misspelt keys are no errors */
    bool remainders;      /* fixed factors need not divide */
    struct file_id *file; /* regular files added so far */
    size_t n_files, file_room;
    const char *energies; /* where those of the architecture come from; NULL: none was read */
    bool by_formula;      /* some of them */
    double clock;         /* seconds of a cycle that the user sets; 0: none */
    sx_estimator estimator, estimator_used; /* asked for; of the architecture that was read */
    bool estimates_all;                     /* stated energies are left aside */
    bool expects_ert;                       /* an energy table may be added */
    const sx_estimated_component *component;
    size_t n_components;
    sx_template_options templates;
    sx_settings own_settings;
    sx_path_scope scope; /* the folders of files given by the user, and those for includes */
    bool data;           /* files outside its own folder are not read for it */
    bool has_run;
    sx_network_options run; /* of a configuration */
};

/* The identity of a file, whatever its name. */
struct file_id {
    dev_t device;
    ino_t number;
};

void sx_input_set_run(sx_input *input, const sx_network_options *options) {
    input->run = *options;
    input->has_run = true;
}

const sx_network_options *sx_input_run(const sx_input *input) {
    return input->has_run ? &input->run : NULL;
}

sx_status sx_input_new(sx_input **out) {
    sx_input *input = calloc(1, sizeof *input);
    if (!input) return sx_error_memory();
    input->arena.limit = MAX_MEMORY;
    input->used.size = sizeof(sx_pair);
    input->templates.settings = &input->own_settings;
    *out = input;
    return SX_OK;
}

void sx_input_free(sx_input *input) {
    if (!input) return;
    sx_arena_free(&input->arena);
    sx_vector_clear(&input->used);
    sx_settings_fini(&input->own_settings);
    free(input->section);
    free(input->file);
    free(input);
}

/* Appends a text to an array of the arena that has n of them. */
static SX_MUST_USE sx_status append_text(sx_arena *arena, const char ***list, size_t n, const char *text) {
    const char **grown = sx_arena_alloc(arena, n + 1, sizeof *grown);
    if (!grown || !text) return sx_arena_error(arena);
    if (n) memcpy(grown, *list, n * sizeof *grown);
    grown[n] = text;
    *list = grown;
    return SX_OK;
}

sx_status sx_input_add_folder(sx_input *input, const char *folder) {
    sx_path_scope *scope = &input->scope;
    for (size_t i = 0; i < scope->n_folders; i++)
        if (strcmp(scope->folder[i], folder) == 0) return SX_OK;
    const char *copy = sx_arena_copy(&input->arena, folder, strlen(folder));
    SX_TRY(append_text(&input->arena, &scope->folder, scope->n_folders, copy));
    scope->n_folders++;
    return SX_OK;
}

sx_status sx_input_include_path(sx_input *input, const char *folder) {
    sx_template_options *o = &input->templates;
    struct stat info;
    size_t length = strlen(folder);
    if (o->n_folders == MAX_SETTINGS)
        return sx_error_new(SX_ERR_LIMIT, "more than %d folders for includes", MAX_SETTINGS);
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return sx_error_new(SX_ERR_FILE, "'%s' is not a folder", folder);
    char *name = sx_arena_alloc(&input->arena, length + 2, 1);
    if (!name) return sx_arena_error(&input->arena);
    memcpy(name, folder, length);
    if (length && name[length - 1] != '/') name[length] = '/';
    SX_TRY(append_text(&input->arena, &o->folder, o->n_folders, name));
    o->n_folders++;
    return sx_input_add_folder(input, name);
}

const sx_path_scope *sx_input_scope(const sx_input *input) {
    return input->data ? NULL : &input->scope;
}

void sx_input_is_data(sx_input *input) {
    input->data = true;
}

void sx_input_is_own(sx_input *input) {
    input->scope.any = true;
}

sx_status sx_input_set(sx_input *input, const char *name, const char *value) {
    sx_template_options *o = &input->templates;
    sx_arena *arena = &input->arena;
    if (!sx_name_simple(name))
        return sx_error_new(SX_ERR_USAGE, "'%.64s' cannot be the name of a variable", name);
    for (size_t i = 0; i < o->n_variables; i++)
        if (strcmp(o->name[i], name) == 0)
            return sx_error_hint(sx_error_new(SX_ERR_USAGE, "'%.64s' is set twice: to '%.64s' and to '%.64s'",
                                              name, o->value[i], value),
                                 "set it once");
    if (o->n_variables == MAX_SETTINGS)
        return sx_error_new(SX_ERR_LIMIT, "more than %d variables are set", MAX_SETTINGS);
    SX_TRY(append_text(arena, &o->name, o->n_variables, sx_arena_copy(arena, name, strlen(name))));
    SX_TRY(append_text(arena, &o->value, o->n_variables, sx_arena_copy(arena, value, strlen(value))));
    o->n_variables++;
    return SX_OK;
}

const char *sx_input_setting(const sx_input *input, size_t index, const char **value) {
    const sx_template_options *o = &input->templates;
    if (index >= o->n_variables) return NULL;
    *value = o->value[index];
    return o->name[index];
}

sx_settings *sx_input_settings(const sx_input *input) {
    return input->templates.settings;
}

void sx_input_share_settings(sx_input *input, sx_settings *settings) {
    input->templates.settings = settings;
}

const sx_template_options *sx_input_templates(const sx_input *input) {
    return &input->templates;
}

void sx_input_read_as(sx_input *input, sx_reading how) {
    input->strict |= how == SX_READ_STRICT;
    input->lenient |= how == SX_READ_LENIENT;
    input->templates.like_timeloop |= how == SX_READ_LIKE_TIMELOOP;
    input->remainders |= how == SX_READ_REMAINDERS;
}

bool sx_input_is_like_timeloop(const sx_input *input) {
    return input->templates.like_timeloop;
}

bool sx_input_has_remainders(const sx_input *input) {
    return input->remainders;
}

/* Makes room for a given number of sections more. */
static SX_MUST_USE sx_status reserve_sections(sx_input *input, size_t more) {
    size_t n = input->n_sections + more;
    if (n > MAX_SECTIONS)
        return sx_error_new(SX_ERR_LIMIT, "the input has more than %d sections", MAX_SECTIONS);
    return sx_reserve(&input->section, &input->room, n, sizeof *input->section) ? SX_OK : sx_error_memory();
}

sx_status sx_input_add_node(sx_input *input, const sx_node *root) {
    SX_TRY(reserve_sections(input, root->n));
    for (size_t i = 0; i < root->n; i++) input->section[input->n_sections++] = &root->pair[i];
    return SX_OK;
}

static bool same_place(sx_place a, sx_place b) {
    if (!a.file || !b.file) return a.file == b.file;
    return a.line == b.line && a.column == b.column && strcmp(a.file, b.file) == 0;
}

/* Whether one of the first n sections is at a place. */
static bool has_place(const sx_input *input, size_t n, sx_place place) {
    for (size_t i = 0; i < n; i++)
        if (same_place(input->section[i]->place, place)) return true;
    return false;
}

sx_status sx_input_borrow(sx_input *input, const sx_input *from, const char *key) {
    size_t before = input->n_sections;
    SX_TRY(reserve_sections(input, from->n_sections));
    for (size_t i = 0; i < from->scope.n_folders; i++)
        SX_TRY(sx_input_add_folder(input, from->scope.folder[i]));
    for (size_t i = 0; i < from->n_sections; i++) {
        const sx_pair *section = from->section[i];
        if (key && !sx_pair_has(section, key)) continue;
        if (!has_place(input, before, section->place)) input->section[input->n_sections++] = section;
    }
    return SX_OK;
}

sx_status sx_input_added_before(sx_input *input, const char *path, bool *before) {
    struct stat info;
    *before = false;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return SX_OK;
    for (size_t i = 0; i < input->n_files && !*before; i++)
        *before = input->file[i].device == info.st_dev && input->file[i].number == info.st_ino;
    if (*before) return SX_OK;
    if (!sx_reserve(&input->file, &input->file_room, input->n_files + 1, sizeof *input->file))
        return sx_error_memory();
    input->file[input->n_files++] = (struct file_id){info.st_dev, info.st_ino};
    return SX_OK;
}

const sx_pair *sx_input_section(const sx_input *input, const char *key, size_t index) {
    for (size_t i = 0; i < input->n_sections; i++)
        if ((!key || sx_pair_has(input->section[i], key)) && index-- == 0) return input->section[i];
    return NULL;
}

sx_status sx_input_single(const sx_input *input, const char *key, const sx_pair **out) {
    const sx_pair *found = NULL, *pair;
    for (size_t i = 0; (pair = sx_input_section(input, key, i)); i++) {
        if (sx_node_empty(pair->value)) continue;
        if (found)
            return sx_error_hint(sx_error_at(pair->place, "duplicate section '%s'", key),
                                 "the first is at %s:%d:%d", found->place.file, found->place.line,
                                 found->place.column);
        found = pair;
    }
    *out = found;
    return SX_OK;
}

sx_status sx_input_set_energies(sx_input *input, const char *source, bool by_formula) {
    input->energies = sx_arena_copy(&input->arena, source, strlen(source));
    if (!input->energies) return sx_arena_error(&input->arena);
    input->by_formula = by_formula;
    return SX_OK;
}

void sx_input_expect_ert(sx_input *input, bool expects) {
    input->expects_ert = expects;
}

bool sx_input_expects_ert(const sx_input *input) {
    return input->expects_ert;
}

void sx_input_set_clock(sx_input *input, double seconds) {
    input->clock = seconds;
}

double sx_input_clock(const sx_input *input) {
    return input->clock;
}

bool sx_input_by_formula(const sx_input *input) {
    return input->by_formula;
}

void sx_input_set_estimator(sx_input *input, sx_estimator estimator) {
    input->estimator = estimator;
}

sx_estimator sx_input_estimator(const sx_input *input) {
    return input->estimator;
}

void sx_input_estimate_all(sx_input *input) {
    input->estimates_all = true;
}

bool sx_input_estimates_all(const sx_input *input) {
    return input->estimates_all;
}

void sx_input_set_components(sx_input *input, const sx_estimated_component *components, size_t n,
                             sx_estimator used) {
    input->estimator_used = used;
    input->component = components;
    input->n_components = n;
}

sx_estimator sx_input_estimator_used(const sx_input *input) {
    return input->estimator_used;
}

const sx_estimated_component *sx_input_components(const sx_input *input, size_t *n) {
    *n = input->n_components;
    return input->component;
}

const char *sx_input_energies(const sx_input *input) {
    return input->energies;
}

sx_arena *sx_input_arena(sx_input *input) {
    return &input->arena;
}

const sx_pair *sx_input_first(const sx_input *input, const char *key) {
    const sx_pair *pair;
    for (size_t i = 0; (pair = sx_input_section(input, key, i)); i++)
        if (!sx_node_empty(pair->value)) return pair;
    return NULL;
}

/* Keeps a message with its place in a list unless it is there already or the list is full. */
static SX_MUST_USE sx_status keep_remark(sx_input *input, struct remark *list, size_t *n, sx_place place,
                                         const char *key, const char *format, va_list args) {
    char message[512];
    sx_text text = {0};
    vsnprintf(message, sizeof message, format, args);
    if (place.file) sx_text_add(&text, "%s:%d:%d: ", place.file, place.line, place.column);
    sx_text_add(&text, "%s", message);
    if (text.failed) return sx_error_memory();
    bool known = *n == MAX_NOTES;
    for (size_t i = 0; i < *n && !known; i++) known = strcmp(list[i].text, text.data) == 0;
    const char *copy = known ? NULL : sx_arena_copy(&input->arena, text.data, text.size);
    sx_text_free(&text);
    if (known) return SX_OK;
    if (!copy) return sx_arena_error(&input->arena);
    list[(*n)++] = (struct remark){.text = copy,
                                   .message = copy + strlen(copy) - strlen(message),
                                   .format = format,
                                   .key = key,
                                   .place = place};
    return SX_OK;
}

/* The error of a strict input. */
static SX_MUST_USE sx_status refuse_strictly(sx_place place, const char *format, va_list args) {
    char message[512];
    vsnprintf(message, sizeof message, format, args);
    return sx_error_hint(sx_error_at(place, "%s", message),
                         "without --strict this is only a note or a warning");
}

sx_status sx_input_add_note(sx_input *input, sx_place place, const char *format, ...) {
    va_list args;
    va_start(args, format);
    sx_status status = keep_remark(input, input->note, &input->n_notes, place, NULL, format, args);
    va_end(args);
    return status;
}

sx_status sx_input_repeated(sx_input *input, sx_place place, const char *format, ...) {
    va_list args;
    va_start(args, format);
    sx_status status = input->strict
                           ? refuse_strictly(place, format, args)
                           : keep_remark(input, input->note, &input->n_notes, place, NULL, format, args);
    va_end(args);
    return status;
}

/* Adds a warning, about a key where there is one; an error where the input is strict. */
static SX_MUST_USE sx_status add_remark(sx_input *input, sx_place place, const char *key, const char *format,
                                        va_list args) {
    return input->strict ? refuse_strictly(place, format, args)
                         : keep_remark(input, input->warning, &input->n_warnings, place, key, format, args);
}

sx_status sx_input_unknown(sx_input *input, const sx_pair *pair, const char *format, ...) {
    va_list args;
    va_start(args, format);
    sx_status status = add_remark(input, pair->place, pair->key, format, args);
    va_end(args);
    return status;
}

sx_status sx_input_misspelt(sx_input *input, const sx_pair *pair, const char *noun, const char *what,
                            const char *meant) {
    if (input->lenient)
        return sx_input_warn(input, pair->place,
                             "unknown %s of %s: '%.64s' is ignored, though '%s' is probably meant", noun,
                             what, pair->key, meant);
    return sx_error_hint(sx_error_at(pair->place, "unknown %s of %s: '%.64s'", noun, what, pair->key),
                         "did you mean '%s'? --lenient ignores the key, with a warning", meant);
}

sx_status sx_input_uncounted(sx_input *input, const sx_pair *pair, const char *format, ...) {
    va_list args;
    const size_t before = input->n_warnings;
    va_start(args, format);
    sx_status status = add_remark(input, pair->place, pair->key, format, args);
    va_end(args);
    if (input->n_warnings > before) input->warning[before].counts_not = true;
    return status;
}

/* Whether an expression uses a pair. */
static bool is_used(const sx_input *input, const char *key, sx_place place) {
    for (size_t i = 0; i < input->used.n; i++) {
        const sx_pair *pair = sx_vector_at(&input->used, i);
        if (strcmp(pair->key, key) == 0 && same_place(pair->place, place)) return true;
    }
    return false;
}

sx_status sx_input_use(sx_input *input, const sx_pair *pair) {
    if (pair->place.file && strcmp(pair->place.file, SX_SETTING_FILE) == 0)
        return sx_settings_know(sx_input_settings(input), pair->key, true);
    if (is_used(input, pair->key, pair->place)) return SX_OK;
    sx_pair *kept = sx_vector_add(&input->used);
    if (!kept) return sx_error_memory();
    *kept = *pair;
    return SX_OK;
}

sx_status sx_input_warn(sx_input *input, sx_place place, const char *format, ...) {
    va_list args;
    va_start(args, format);
    sx_status status = add_remark(input, place, NULL, format, args);
    va_end(args);
    return status;
}

sx_status sx_input_differ(sx_input *input, sx_place place, const char *format, ...) {
    va_list args;
    char message[512];
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (!input->templates.like_timeloop) return sx_input_warn(input, place, "%s", message);
    return sx_error_hint(sx_error_at(place, "%s, unlike Timeloop", message),
                         "without --like timeloop this is a warning");
}

const char *sx_input_note(const sx_input *input, size_t index) {
    return index < input->n_notes ? input->note[index].text : NULL;
}

/* Whether two remarks say the same of one place, if with other numbers; without a place, in the same words. */
static bool remarks_alike(const struct remark *a, const struct remark *b) {
    return a->format == b->format && same_place(a->place, b->place) &&
           (a->place.file || strcmp(a->message, b->message) == 0);
}

/* Adds a warning that stands for `times` of its kind. */
static void add_warning(const struct remark *remark, size_t times, sx_warnings *out) {
    sx_text place = {0}, message = {0};
    sx_text_add(&message, "%s", remark->message);
    if (times > 1) sx_text_add(&message, " (and %zu more of this kind there)", times - 1);
    if (remark->place.file)
        sx_text_add(&place, "%s:%d:%d", remark->place.file, remark->place.line, remark->place.column);
    sx_warnings_add(out, place.failed ? NULL : place.data, remark->counts_not ? NULL : remark->key,
                    message.failed ? remark->message : message.data);
    sx_text_free(&place);
    sx_text_free(&message);
}

sx_status sx_input_warnings(const sx_input *input, sx_warnings *out) {
    for (size_t i = 0; i < input->n_warnings; i++) {
        const struct remark *warning = &input->warning[i];
        size_t before = 0, n = 0;
        if (warning->key && is_used(input, warning->key, warning->place)) continue;
        for (size_t j = 0; j < input->n_warnings; j++) {
            bool same = remarks_alike(warning, &input->warning[j]);
            before += same && j < i;
            n += same;
        }
        if (!before) add_warning(warning, n, out);
    }
    return sx_warnings_status(out);
}
