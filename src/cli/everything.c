#include "cli/everything.h"

#include "report/json_parts.h"
#include "report/table.h"
#include "session/everywhere.h"
#include "sextant/model.h"

#include <stdio.h>

/* The share by which bounds, sums of doubles, may be off (docs/verify.md). */
static const double TOLERANCE = 1e-11;

/* Spaces of more mappings are refused; MOST_BY_MODEL: those that only the cost model takes. */
static const double MOST_ON_GPU = 1e15, MOST_ON_CPU = 1e10, MOST_BY_MODEL = 1e9;

/* Shows the progress of scoring all mappings on a GPU; false where it is to stop. */
static bool go_on(void *user, uint64_t done, uint64_t all, const sx_gpu_found *found) {
    sx_everything *e = user;
    sx_gpu_show(e->line, &e->told, done, all, "factorisations", found->best.value);
    return !sx_cancel_is_set(e->cancel);
}

/* Shows how it is going on the CPU. */
static void show_progress(void *user, uint64_t done, uint64_t all, bool mappings, double best) {
    sx_everything *e = user;
    sx_gpu_show(e->line, &e->told, done, all, mappings ? "mappings" : "factorisations", best);
}

/* Compares what was found with what is claimed. */
static void compare_claim(const sx_gpu_look_answer *a, const sx_certificate *c, sx_verification *v) {
    const char *why = NULL;
    if (!a->complete) {
        v->verdict = SX_CLAIMS_OPEN;
        return;
    }
    if (a->value < c->lower_bound * (1 - TOLERANCE))
        why = "a mapping of the space is better";
    else if (!a->found || a->value > c->value)
        why = "no mapping of the space is as good";
    if (!why) return;
    v->verdict = SX_CLAIMS_FAIL;
    snprintf(v->claim, sizeof v->claim, "brute force");
    snprintf(v->why, sizeof v->why, "%s: the best has %.17g, the certificate says %.17g", why, a->value,
             c->value);
}

/* Looks at all mappings of a model. */
static sx_status score_every_mapping(sx_everything *e, const sx_certificate *c, const sx_model *model) {
    sx_gpu_look_options on_gpu = {.gpu = true, .limit = MOST_ON_GPU, .go_on = go_on, .user = e};
    sx_everywhere_options on_cpu = {.limit = MOST_ON_CPU,
                                    .model_limit = MOST_BY_MODEL,
                                    .threads = e->threads,
                                    .cancel = e->cancel,
                                    .progress = show_progress,
                                    .user = e};
    sx_space *space;
    SX_TRY(sx_map_space_new(model, &c->constraints, &c->space, &space));
    e->told = 0;
    sx_status status = e->gpu ? sx_gpu_look_everywhere(space, &c->objective, &on_gpu, &e->answer)
                              : sx_look_everywhere(space, &c->objective, &on_cpu, &e->answer);
    sx_space_free(space);
    return status;
}

sx_status sx_everything_check(sx_everything *e, const sx_certificate *c, sx_verification *v) {
    sx_model *model;
    SX_TRY(sx_model_new(&c->problem, &c->arch, &c->model, &model));
    sx_status status = score_every_mapping(e, c, model);
    sx_model_free(model);
    if (!status) compare_claim(&e->answer, c, v);
    return status;
}

void sx_everything_row(const sx_everything *e, bool no_clock, sx_table *table) {
    const sx_gpu_look_answer *a = &e->answer;
    char seconds[32] = "";
    if (!no_clock) snprintf(seconds, sizeof seconds, " in %.2f s", a->seconds);
    sx_table_cell(table, "brute force");
    sx_table_cell(table,
                  "all %s legal mappings that differ in cost, of %s, scored on the %s%s: none is better",
                  sx_show_count((double)a->counts.legal).text, sx_show_count(a->mappings).text,
                  e->gpu ? "GPU" : "CPU", seconds);
}

json_t *sx_everything_json(const sx_everything *e, bool no_clock) {
    const sx_gpu_look_answer *a = &e->answer;
    return json_pack("{s:s, s:b, s:o, s:I, s:I, s:I, s:o, s:f}", "device", e->gpu ? "gpu" : "cpu", "complete",
                     a->complete, "distinct", sx_json_real(a->mappings), "legal", (json_int_t)a->counts.legal,
                     "orders", (json_int_t)a->counts.orders, "by_model", (json_int_t)a->counts.uncovered,
                     "best", sx_json_real(a->value), "seconds", no_clock ? 0.0 : a->seconds);
}
