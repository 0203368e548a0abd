/* What a database has for a page. */
#include "base/status.h"
#include "report/json_parts.h"
#include "report/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is gathered from a database. */
typedef struct gathering {
    const char *file;
    sx_store *store;
    double cycle_seconds;
    json_t *list;      /* of the page */
    sx_result *result; /* of the current architecture and objective */
    json_t *rows;      /* of the current kind of points */
} gathering;

/* Makes room for one more layer. */
static sx_status reserve_layer(sx_result *r) {
    size_t n = r->session.n_layers + 1;
    sx_layer *layer = realloc(r->network.layer, n * sizeof *layer);
    if (layer) r->network.layer = layer;
    sx_layer_result *result = realloc(r->session.layer, n * sizeof *result);
    if (result) r->session.layer = result;
    if (!layer || !result) return sx_error_memory();
    memset(&layer[n - 1], 0, sizeof *layer);
    memset(&result[n - 1], 0, sizeof *result);
    r->network.n_layers = r->session.n_layers = n;
    return SX_OK;
}

/* Adds a record as a layer. */
static sx_status take_record(void *user, const sx_record *record) {
    sx_result *r = ((gathering *)user)->result;
    SX_TRY(reserve_layer(r));
    size_t i = r->session.n_layers - 1;
    sx_layer *layer = &r->network.layer[i];
    layer->problem = record->problem;
    layer->count = 1;
    if (record->problem.name[0])
        memcpy(layer->name, record->problem.name, SX_NAME_SIZE);
    else
        snprintf(layer->name, sizeof layer->name, "problem %zu", i + 1);
    r->session.layer[i] = (sx_layer_result){
        .same_as = i,
        .searched = true,
        .found = true,
        .best = {.mapping = record->mapping, .score = record->score, .value = record->search.value},
        .summary = {.evaluations = record->search.evaluations,
                    .valid = record->search.valid,
                    .seconds = record->search.seconds,
                    .lower_bound = record->search.lower_bound,
                    .optimal = record->search.optimal},
        .warm_from = -1,
    };
    r->session.total.cycles += record->score.cycles;
    r->session.total.energy_pj += record->score.energy_pj;
    r->session.total.latency += record->score.latency;
    r->options.model.latency_tile |= record->score.latency != record->score.cycles;
    return SX_OK;
}

/* Fills a result with the best mappings of an architecture under an objective, and adds it. */
static sx_status add_result(gathering *g, const sx_arch *arch, const char *objective) {
    sx_result *r = g->result;
    json_t *item = NULL;
    r->arch = *arch;
    r->arch.cycle_seconds = g->cycle_seconds;
    snprintf(r->network.name, sizeof r->network.name, "%s", "database");
    snprintf(r->objective, sizeof r->objective, "%s", objective);
    r->session.complete = r->session.found = true;
    r->mapper = strdup("best of the database");
    if (!r->mapper) return sx_error_memory();
    SX_TRY(sx_store_best(g->store, arch, objective, take_record, g));
    SX_TRY(sx_page_result(g->file, r, &item));
    return sx_json_append(g->list, item) ? SX_OK : sx_error_memory();
}

static sx_status take_arch(void *user, const sx_arch *arch, const char *objective) {
    gathering *g = user;
    SX_TRY(sx_result_new(&g->result));
    sx_status status = add_result(g, arch, objective);
    sx_result_free(g->result);
    g->result = NULL;
    return status;
}

/* Adds a point as a row. */
static sx_status take_point(void *user, const sx_point_record *p) {
    json_t *metrics = json_object();
    for (size_t i = 0; i < p->n_metrics; i++)
        sx_json_set(metrics, p->metric[i].name, sx_json_number(p->metric[i].value));
    json_t *row = json_pack("{s:o, s:o, s:o, s:s, s:I, s:b, s:o}", "name", sx_json_string(p->name), "point",
                            sx_json_string(p->point), "value", sx_json_number(p->search.value), "navigator",
                            p->search.navigator, "evaluations", (json_int_t)p->search.evaluations, "optimal",
                            p->search.optimal, "metrics", metrics);
    return sx_json_append(((gathering *)user)->rows, row) ? SX_OK : sx_error_memory();
}

static sx_status take_kind(void *user, const char *kind, const char *objective) {
    gathering *g = user;
    g->rows = json_array();
    json_t *item = json_pack("{s:o, s:s, s:{s:s, s:s, s:O}}", "file", sx_json_string(g->file), "kind",
                             "points", "result", "kind", kind, "objective", objective, "rows", g->rows);
    sx_status status =
        item ? sx_store_best_points(g->store, kind, NULL, objective, take_point, g) : sx_error_memory();
    json_decref(g->rows);
    if (!status && !sx_json_append(g->list, json_incref(item))) status = sx_error_memory();
    json_decref(item);
    return status;
}

sx_status sx_page_store(const char *file, sx_store *store, double cycle_seconds, json_t *list) {
    gathering g = {.file = file, .store = store, .cycle_seconds = cycle_seconds, .list = list};
    size_t before = json_array_size(list);
    SX_TRY(sx_store_archs(store, take_arch, &g));
    SX_TRY(sx_store_kinds(store, take_kind, &g));
    if (json_array_size(list) > before) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_INPUT, "the database '%s' has no results", file),
                         "`sextant map --db %s` adds some", file);
}
