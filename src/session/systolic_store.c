/* Records are of the kind "systolic". The identity of a space is its kernels, the resources of the device,
 * the data type, the designs and tiles that may be chosen, and the version of the model. A point is written
 * as `sextant systolic --eval` reads it. What a record says of costs is not trusted: the point is evaluated
 * anew. */
#include "session/systolic_store.h"

#include "base/json.h"
#include "base/status.h"
#include "session/search_record.h"
#include "sextant/all.h"
#include "systolic/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kind[] = "systolic";

/* The loops of a kernel. */
static json_t *loops_json(const sx_systolic_kernel *kernel) {
    json_t *list = json_array();
    for (int d = 0; d < kernel->n_loops; d++) {
        const sx_systolic_loop *l = &kernel->loop[d];
        sx_json_append(list, json_pack("{s:s, s:I, s:i, s:I, s:I, s:I}", "name", l->name, "size",
                                       (json_int_t)l->size, "operands", (int)l->operands, "stride",
                                       (json_int_t)l->stride, "reach", (json_int_t)l->reach, "window",
                                       (json_int_t)l->window));
    }
    return list;
}

static json_t *kernel_json(const sx_systolic_kernel *kernel) {
    return json_pack("{s:o, s:b, s:i, s:[i, i, i], s:I, s:[I, I, I], s:I}", "loops", loops_json(kernel),
                     "sliding", kernel->sliding, "simd", kernel->simd, "last", kernel->last[SX_FIRST],
                     kernel->last[SX_SECOND], kernel->last[SX_RESULT], "steps", (json_int_t)kernel->steps,
                     "words", (json_int_t)kernel->words[SX_FIRST], (json_int_t)kernel->words[SX_SECOND],
                     (json_int_t)kernel->words[SX_RESULT], "count", (json_int_t)kernel->count);
}

/* The name of a design of a space. */
static void name_design(const sx_systolic_space *space, uint32_t number, char name[16]) {
    sx_systolic_design design;
    sx_systolic_design_at(&space->kernel[0], number, &design);
    sx_systolic_design_name(&design, name, 16);
}

/* The identity of a space as JSON; NULL when memory is out. */
static char *space_text(const sx_systolic_space *space) {
    const sx_systolic_limits *l = &space->limits;
    const sx_systolic_options *o = &space->options;
    json_t *kernels = json_array(), *designs = json_array();
    for (size_t i = 0; i < space->n_kernels; i++) sx_json_append(kernels, kernel_json(&space->kernel[i]));
    for (size_t i = 0; i < space->n_open; i++) {
        char name[16];
        name_design(space, space->open_list[i], name);
        sx_json_append(designs, json_string(name));
    }
    json_t *object = json_pack(
        "{s:o, s:o, s:{s:f, s:f, s:f, s:f}, s:{s:I, s:f, s:I}, s:b, s:b, s:i, s:I, s:f}", "kernels", kernels,
        "designs", designs, "usable", "dsp", l->dsp, "bram18k", l->bram, "port_words", l->port_words,
        "row_cycles", l->row_cycles, "type", "bits", (json_int_t)l->bits, "dsp_per_mac", l->dsp_per_mac,
        "add_latency", (json_int_t)l->add_latency, "corrected", o->corrected, "thin", o->thin, "tiles",
        (int)o->tiles, "pad_to", (json_int_t)o->pad_to, "min_dsp", o->least_dsp);
    return sx_search_json(object);
}

/* A point as JSON; NULL when memory is out. */
static char *point_text(const sx_systolic_space *space, const sx_systolic_point *point) {
    json_t *tiles = json_object();
    char name[16];
    for (int d = 0; d < space->n_loops; d++) {
        char key[SX_NAME_SIZE + 4];
        snprintf(key, sizeof key, "%s_t1", space->kernel[0].loop[d].name);
        sx_json_set(tiles, key, json_integer(point->t1[d]));
        snprintf(key, sizeof key, "%s_t2", space->kernel[0].loop[d].name);
        sx_json_set(tiles, key, json_integer(point->t2[d]));
    }
    name_design(space, point->design, name);
    json_t *object = json_pack("{s:s, s:o}", "design", name, "tiles", tiles);
    return sx_search_json(object);
}

/* A tile of JSON; 0 if it is not a valid one. */
static uint32_t read_tile(const json_t *tiles, const char *loop, const char *suffix) {
    char key[SX_NAME_SIZE + 4];
    snprintf(key, sizeof key, "%s_%s", loop, suffix);
    json_int_t value = json_integer_value(json_object_get(tiles, key));
    return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* Reads what point_text wrote; false where the text is no point of the space. */
static bool read_point(const sx_systolic_space *space, const char *text, sx_systolic_point *out) {
    json_t *object = sx_json_read(text);
    const json_t *tiles = json_object_get(object, "tiles");
    const char *name = json_string_value(json_object_get(object, "design"));
    sx_systolic_point point = {0};
    size_t design = 0;
    sx_status unknown = name ? sx_systolic_design_find(&space->kernel[0], name, &design) : SX_OK;
    bool fine = name && !unknown;
    sx_status_free(unknown);
    point.design = (uint32_t)design;
    for (int d = 0; fine && d < space->n_loops; d++) {
        point.t1[d] = read_tile(tiles, space->kernel[0].loop[d].name, "t1");
        point.t2[d] = read_tile(tiles, space->kernel[0].loop[d].name, "t2");
    }
    json_decref(object);
    fine = fine && space->space.type->holds(&space->space, &point) &&
           sx_systolic_fault_of(space, &point) == SX_SYSTOLIC_FINE;
    if (fine) *out = point;
    return fine;
}

/* An answer that is looked for. */
typedef struct recall_state {
    const sx_systolic_job *job;
    const sx_systolic_space *space;
    sx_systolic_answer *out;
} recall_state;

/* Takes over the point of a record, if it is one and costs what the record says. */
static sx_status take_record(void *user, const sx_point_record *record) {
    recall_state *state = user;
    sx_systolic_point point;
    sx_systolic_cost cost;
    if (!read_point(state->space, record->point, &point)) return SX_OK;
    (void)sx_systolic_evaluate(&state->space->space, &point, -1, &cost);
    double value =
        sx_systolic_value(&state->job->run.objective, &cost, sx_systolic_use(state->space, cost.latency));
    if (value != record->search.value) return SX_OK;
    sx_systolic_answer *out = state->out;
    out->found = true;
    out->point = point;
    out->cost = cost;
    out->value = value;
    if (state->job->again || !sx_search_is_proven(&record->search)) return SX_OK;
    out->searched = out->proven_before = true;
    out->summary = sx_search_recalled(&record->search);
    return SX_OK;
}

sx_status sx_systolic_recall(const sx_systolic_job *job, const sx_space *base, sx_systolic_answer *out) {
    recall_state state = {job, sx_systolic_space_of(base), out};
    char *text = space_text(state.space);
    if (!text) return sx_error_memory();
    out->recalled = true;
    sx_status status = sx_store_best_points(job->store, kind, text, job->objective, take_record, &state);
    free(text);
    return status;
}

sx_status sx_systolic_keep(const sx_systolic_job *job, const sx_space *base,
                           const sx_systolic_answer *answer) {
    const sx_systolic_space *space = sx_systolic_space_of(base);
    const sx_systolic_cost *c = &answer->cost;
    const sx_metric_value metrics[] = {
        {"latency_cycles", c->latency}, {"dsp", c->dsp},
        {"bram18k", c->bram18k},        {"offchip_words", c->offchip_words},
        {"energy", c->energy},          {"utilization", sx_systolic_use(space, c->latency)},
    };
    const sx_point_record record = {.kind = kind,
                                    .space = space_text(space),
                                    .name = space->n_kernels > 1 ? job->name : space->kernel[0].name,
                                    .point = point_text(space, &answer->point),
                                    .n_metrics = sizeof metrics / sizeof *metrics,
                                    .metric = metrics};
    return sx_search_keep(job->store, &job->run, &answer->summary, job->objective, job->method, answer->value,
                          &record);
}
