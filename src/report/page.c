/* The data of a page: JSON that src/report/page/page.js draws. */
#include "report/page.h"

#include "base/json.h"
#include "base/status.h"
#include "ir/arch.h"
#include "report/cost_svg.h"
#include "report/figures.h"
#include "report/json_parts.h"
#include "report/loops.h"
#include "report/svg.h"
#include "sextant/input.h"
#include "sextant/version.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The loops of a mapping, outermost first. */
static json_t *loops_json(const sx_evaluation *e) {
    sx_loop_line lines[SX_MAX_LOOP_LINES];
    int n = sx_loops_list(&e->mapping, &e->problem, lines);
    json_t *list = json_array();
    for (int i = 0; i < n; i++) {
        json_t *loop = json_pack("{s:s, s:s, s:I, s:I}", "level", e->arch.level[lines[i].level].name, "dim",
                                 e->problem.dim_name[lines[i].dim], "factor", (json_int_t)lines[i].factor,
                                 "last", (json_int_t)lines[i].last);
        if (lines[i].spatial) sx_json_set(loop, "axis", json_string(lines[i].on_y ? "Y" : "X"));
        sx_json_append(list, loop);
    }
    return list;
}

/* Whether a layer's score is that of the model. */
static bool score_agrees(const sx_answer *answer, const sx_cost *cost) {
    return answer->score.cycles == (double)cost->cycles &&
           fabs(answer->score.energy_pj - cost->energy_pj) <= 1e-9 * cost->energy_pj;
}

/* What a page shows of a layer's mapping. */
static sx_status detail_json(const sx_evaluation *e, json_t **out) {
    char *text;
    sx_work work;
    SX_TRY(sx_cost_write(&e->cost, &e->problem, &e->arch, &text));
    sx_work_of(&e->problem, &e->arch, &e->cost, &work);
    json_t *cost = sx_json_noun(text);
    int level = sx_limiting_level(&e->cost);
    sx_json_set(cost, "limited_by", sx_json_string(level < 0 ? NULL : e->arch.level[level].name));
    sx_json_set(cost, "figures", sx_figures_json(&e->problem, &e->arch, &work));
    *out =
        json_pack("{s:o, s:o, s:o}", "cost", cost, "loops", loops_json(e), "macs", sx_json_number(work.macs));
    return SX_OK;
}

/* The levels of an architecture, innermost first. */
static json_t *levels_json(const sx_arch *arch) {
    json_t *list = json_array();
    for (int s = 0; s < arch->n_levels; s++) {
        const sx_storage *l = &arch->level[s];
        sx_json_append(list,
                       json_pack("{s:s, s:o, s:o, s:I, s:b}", "name", l->name, "capacity",
                                 sx_json_number(sx_usable_words(l)), "instances", sx_json_count(l->instances),
                                 "bits", (json_int_t)l->word_bits, "fanout", l->transparent));
    }
    return list;
}

/* The details of every layer that has a search of its own and whose score is the model's, with the options that a
 * result has; null for the others. */
static sx_status details_json(const sx_result *r, json_t *list) {
    sx_evaluation *e = calloc(1, sizeof *e);
    sx_status status = e ? SX_OK : sx_error_memory();
    for (size_t i = 0; i < r->session.n_layers && !status; i++) {
        const sx_layer_result *layer = &r->session.layer[i];
        json_t *detail = NULL;
        if (layer->found && layer->same_as == i) {
            status = sx_layer_evaluate(r, i, e);
            if (!status && e->verdict.reason == SX_LEGAL && score_agrees(&layer->best, &e->cost))
                status = detail_json(e, &detail);
        }
        sx_json_append(list, detail ? detail : json_null());
    }
    free(e);
    return status;
}

sx_status sx_page_result(const char *file, const sx_result *r, json_t **out) {
    char *text;
    sx_roof roof = sx_roof_of(&r->arch);
    json_t *details = json_array();
    sx_status status = details_json(r, details);
    if (!status) status = sx_result_write(r, &text);
    if (status) {
        json_decref(details);
        return status;
    }
    *out = json_pack("{s:o, s:s, s:o, s:o, s:s, s:o, s:o, s:o}", "file", sx_json_string(file), "kind", "map",
                     "result", sx_json_noun(text), "levels", levels_json(&r->arch), "compute",
                     r->arch.compute.name, "peak", sx_json_number(roof.peak), "bandwidth",
                     sx_json_number(roof.bandwidth), "details", details);
    return *out ? SX_OK : sx_error_memory();
}

/* The answers of other commands: keys that tell them apart, and the list whose items have keys that must be there. */
static const struct {
    const char *kind, *key, *list, *item;
} kinds[] = {
    {"place", "memories", "nodes", "name"},    {"systolic", "device", "results", "problem"},
    {"compare", "rows", "rows", "mapper"},     {"codesign", "designs", "designs", NULL},
    {"verify", "results", "results", "holds"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

bool sx_page_is_result(const json_t *answer) {
    return json_object_get(answer, "results") && json_object_get(answer, "repeat") &&
           !json_object_get(answer, "device");
}

/* Refuses a list whose items are not objects with a key. */
static sx_status check_items(const char *file, const json_t *list, const char *name, const char *key) {
    if (!json_is_array(list)) return sx_error_at((sx_place){file, 0, 0}, "'%s' is not a list", name);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_object(item) || (key && !json_object_get(item, key)))
            return sx_error_at((sx_place){file, 0, 0}, "item %zu of '%s' has no '%s'", i + 1, name,
                               key ? key : "");
    }
    return SX_OK;
}

/* Whether an answer is of a kind. */
static bool is_kind(size_t kind, const json_t *answer) {
    const json_t *list = json_object_get(answer, kinds[kind].list);
    if (!json_object_get(answer, kinds[kind].key)) return false;
    return strcmp(kinds[kind].kind, "verify") != 0 || json_object_get(json_array_get(list, 0), "holds");
}

sx_status sx_page_answer(const char *file, json_t *answer, json_t **out) {
    for (size_t i = 0; i < N_KINDS; i++) {
        if (!is_kind(i, answer)) continue;
        SX_TRY(check_items(file, json_object_get(answer, kinds[i].list), kinds[i].list, kinds[i].item));
        *out = json_pack("{s:o, s:s, s:O}", "file", sx_json_string(file), "kind", kinds[i].kind, "result",
                         answer);
        return *out ? SX_OK : sx_error_memory();
    }
    return sx_error_hint(
        sx_error_at((sx_place){file, 0, 0}, "the file is not a result of Sextant"),
        "a report is made of what map, systolic, place, compare, codesign and verify print with --json, "
        "or of a database of --db");
}

/* Adds JSON so that nothing in it ends the element it is in. */
static void add_data(const char *json, sx_text *out) {
    for (size_t size; *json; json += size) {
        size = strcspn(json, "<");
        sx_text_add_bytes(out, json, size);
        if (json[size] == 0) return;
        sx_text_add(out, "\\u003c");
        size++;
    }
}

/* Adds the text that replaces a mark of the template. */
static void add_part(const char *mark, size_t size, const char *title, const char *data, sx_text *out) {
    if (size == strlen("TITLE") && strncmp(mark, "TITLE", size) == 0) sx_svg_escape(out, title);
    if (size == strlen("STYLE") && strncmp(mark, "STYLE", size) == 0) sx_text_add(out, "%s", sx_page_css);
    if (size == strlen("SCRIPT") && strncmp(mark, "SCRIPT", size) == 0)
        sx_text_add(out, "%s%s%s%s%s", sx_page_fused_js, sx_page_runs_js, sx_page_js, sx_page_pipeline_js,
                    sx_page_roofline_js);
    if (size == strlen("DATA") && strncmp(mark, "DATA", size) == 0) add_data(data, out);
}

sx_status sx_page_write(const json_t *list, const char *title, sx_text *out) {
    json_t *page = json_pack("{s:s, s:s, s:O}", "version", sx_version(), "title", title, "inputs", list);
    char *data = page ? sx_json_dump(page, JSON_COMPACT) : NULL;
    json_decref(page);
    if (!data || sx_json_failed()) {
        free(data);
        return sx_error_memory();
    }
    for (const char *at = sx_page_html; *at;) {
        const char *mark = strstr(at, "@@"), *end = mark ? strstr(mark + 2, "@@") : NULL;
        if (!end) {
            sx_text_add(out, "%s", at);
            break;
        }
        sx_text_add_bytes(out, at, (size_t)(mark - at));
        add_part(mark + 2, (size_t)(end - mark - 2), title, data, out);
        at = end + 2;
    }
    free(data);
    return out->failed ? sx_error_memory() : SX_OK;
}
