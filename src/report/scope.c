#include "report/scope.h"

#include "base/status.h"
#include "ir/arch.h"
#include "verify/certificate.h"

#include <stdlib.h>
#include <string.h>

/* The architecture of the catalog that equals this one but for its name; *name is NULL where there is none. */
static sx_status catalog_arch(const sx_arch *arch, const char **name) {
    sx_arch *built_in = malloc(sizeof *built_in);
    sx_status status = built_in ? SX_OK : sx_error_memory();
    bool same = false;
    for (size_t i = 0; !status && !same && (*name = sx_catalog_arch_name(i, NULL)) != NULL; i++) {
        status = sx_catalog_arch(*name, built_in);
        if (!status) status = sx_scope_same_arch(built_in, arch, NULL, &same);
    }
    free(built_in);
    return status;
}

/* Adds a value of a constraint: a number, names, or limits by name. */
static void add_limit(const json_t *value, sx_text *out) {
    const char *key, *mark = "";
    size_t i;
    json_t *item;
    if (json_is_array(value)) {
        json_array_foreach(value, i, item) sx_text_add(out, "%s%s", i ? ", " : "", json_string_value(item));
    } else if (json_is_object(value)) {
        json_object_foreach((json_t *)value, key, item) {
            sx_text_add(out, json_is_integer(item) ? "%s%s=" : "%s%s ", mark, key);
            add_limit(item, out);
            mark = json_is_integer(item) ? " " : ", ";
        }
    } else {
        sx_text_add(out, "%.6g", json_number_value(value));
    }
}

/* Adds the constraints of a level. */
static void add_level(json_t *level, sx_text *out) {
    const char *key, *mark = "";
    json_t *value;
    json_object_foreach(level, key, value) {
        if (strcmp(key, "level") == 0) continue;
        sx_text_add(out, "%s%s ", mark, key);
        add_limit(value, out);
        mark = "; ";
    }
}

/* Adds a row for every level that has constraints, or one that says that there are none. */
static sx_status constraint_rows(const sx_certificate *c, sx_table *table) {
    json_t *levels = sx_limits_tree(&c->constraints, &c->problem, &c->arch), *level;
    size_t i;
    sx_table_cell(table, "  constraints");
    if (json_array_size(levels) == 0) sx_table_cell(table, "none");
    json_array_foreach(levels, i, level) {
        sx_text text = {0};
        if (i > 0) sx_table_blank(table, 1);
        sx_text_add(&text, "%s: ", json_string_value(json_object_get(level, "level")));
        add_level(level, &text);
        sx_table_cell_text(table, &text);
    }
    json_decref(levels);
    return sx_json_failed() ? sx_error_memory() : SX_OK;
}

sx_status sx_scope_rows(const sx_certificate *c, sx_table *table) {
    const char *built_in;
    char formats[SX_FORMATS_TEXT_SIZE];
    SX_TRY(catalog_arch(&c->arch, &built_in));
    sx_format_search_text(&c->model.formats, formats);
    sx_table_cell(table, "scope");
    sx_table_cell(table, "all mappings of this problem onto this architecture within what follows");
    sx_table_cell(table, "  architecture");
    if (built_in)
        sx_table_cell(table, "equal to '%s' of the catalog", built_in);
    else
        sx_table_cell(table, "equal to none of the catalog");
    SX_TRY(constraint_rows(c, table));
    sx_table_cell(table, "  space");
    sx_table_cell(table, "%s, a dimension spread over %s of an array; %s%s",
                  c->space.remainders ? "any factors (--remainders)" : "factors that divide (no remainders)",
                  c->space.split_axes ? "one axis or both (--split-axes)" : "one axis",
                  c->space.keep_all ? "every level keeps all tensors it can (--keep-all)"
                                    : "levels keep or bypass tensors",
                  c->space.no_banks ? "; banked levels choose tensors, not shares (--no-banks)" : "");
    sx_table_cell(table, "  model");
    sx_table_cell(
        table, "%s, %s%s%s%s%s%s", c->model.no_link_transfers ? "without link transfers" : "link transfers",
        c->model.no_first_read_elision ? "first reads of outputs charged"
                                       : "first reads of outputs not charged",
        c->model.sparse_timeloop ? ", Timeloop's sparse semantics" : "",
        c->model.like_timeloop ? ", files read as by Timeloop (--like timeloop)" : "",
        c->model.densities.n ? ", a range of densities" : "", formats[0] ? ", formats: " : "", formats);
    return SX_OK;
}

sx_status sx_scope_json(const sx_certificate *c, json_t **out) {
    char formats[SX_FORMATS_TEXT_SIZE];
    char *densities = NULL;
    const char *built_in;
    SX_TRY(catalog_arch(&c->arch, &built_in));
    if (c->model.densities.n) SX_TRY(sx_density_range_text(&c->model.densities, &densities));
    sx_format_search_text(&c->model.formats, formats);
    *out = json_pack("{s:o, s:o, s:b, s:b, s:b, s:b, s:b, s:b, s:s, s:o, s:o, s:o*}", "catalog_arch",
                     sx_json_string(built_in), "constraints",
                     sx_limits_tree(&c->constraints, &c->problem, &c->arch), "remainders",
                     c->space.remainders, "keep_all", c->space.keep_all, "no_banks", c->space.no_banks,
                     "split_axes", c->space.split_axes, "no_link_transfers", c->model.no_link_transfers,
                     "no_first_read_elision", c->model.no_first_read_elision, "sparse_semantics",
                     c->model.sparse_timeloop ? "timeloop" : "exact", "densities", sx_json_string(densities),
                     "search_formats", sx_json_string(formats[0] ? formats : NULL), "like",
                     c->model.like_timeloop ? json_string("timeloop") : NULL);
    free(densities);
    if (*out && !sx_json_failed()) return SX_OK;
    json_decref(*out);
    return sx_error_memory();
}

/* The line that begins at a text, without spaces in front, as a length. */
static int line_length(const char **line) {
    *line += strspn(*line, " -");
    return (int)strcspn(*line, "\n");
}

/* Whether two texts are the same; adds their first different lines to `why`, where it is not NULL. Frees both. */
static bool same_text(SX_TAKE char *a, SX_TAKE char *b, sx_text *why) {
    size_t i = 0, line = 0;
    for (; a[i] && a[i] == b[i]; i++)
        if (a[i] == '\n') line = i + 1;
    bool same = a[i] == b[i];
    if (!same && why) {
        const char *x = a + line, *y = b + line;
        int n = line_length(&x), m = line_length(&y);
        sx_text_add(why, "'%.*s', not '%.*s'", n, x, m, y);
    }
    free(a);
    free(b);
    return same;
}

/* An architecture as text, but for its name and how its file spells zeros. */
static sx_status nameless_arch(const sx_arch *arch, char **out) {
    sx_arch *copy = sx_arch_copy(arch);
    if (!copy) return sx_error_memory();
    memset(copy->name, 0, sizeof copy->name);
    copy->sparse.timeloop = false;
    sx_status status = sx_arch_write(copy, SX_YAML, out);
    free(copy);
    return status;
}

/* A problem as text, but for its name. */
static sx_status nameless_problem(const sx_problem *problem, char **out) {
    sx_problem copy = *problem;
    memset(copy.name, 0, sizeof copy.name);
    return sx_problem_write(&copy, SX_YAML, out);
}

sx_status sx_scope_same_arch(const sx_arch *a, const sx_arch *b, sx_text *why, bool *same) {
    char *first, *second;
    SX_TRY(nameless_arch(a, &first));
    sx_status status = nameless_arch(b, &second);
    if (status) return free(first), status;
    *same = same_text(first, second, why);
    return SX_OK;
}

sx_status sx_scope_same_problem(const sx_problem *a, const sx_problem *b, sx_text *why, bool *same) {
    char *first, *second;
    SX_TRY(nameless_problem(a, &first));
    sx_status status = nameless_problem(b, &second);
    if (status) return free(first), status;
    *same = same_text(first, second, why);
    return SX_OK;
}

/* Adds the constraints of the level of that name, or "none". */
static void add_level_of(const json_t *levels, const char *name, sx_text *out) {
    size_t i;
    json_t *level;
    json_array_foreach(levels, i, level) {
        if (strcmp(json_string_value(json_object_get(level, "level")), name) != 0) continue;
        add_level(level, out);
        return;
    }
    sx_text_add(out, "none");
}

sx_status sx_scope_same_constraints(const sx_certificate *c, const sx_constraints *other, sx_text *why,
                                    bool *same) {
    json_t *mine = sx_limits_tree(&c->constraints, &c->problem, &c->arch);
    json_t *theirs = sx_limits_tree(other, &c->problem, &c->arch);
    bool failed = sx_json_failed();
    *same = true;
    for (int s = 0; s < c->arch.n_levels && *same; s++) {
        sx_text first = {0}, second = {0};
        add_level_of(mine, c->arch.level[s].name, &first);
        add_level_of(theirs, c->arch.level[s].name, &second);
        failed |= first.failed || second.failed;
        *same = failed || strcmp(first.data, second.data) == 0;
        if (!*same)
            sx_text_add(why, "%s has '%s', and '%s' as given", c->arch.level[s].name, first.data,
                        second.data);
        sx_text_free(&first);
        sx_text_free(&second);
    }
    json_decref(mine);
    json_decref(theirs);
    return failed ? sx_error_memory() : SX_OK;
}
