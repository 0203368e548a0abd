/* A fused network as a file: the section `fused` (docs/fusion.md, "The fused mapping as a file"). */
#include "session/fusing.h"

#include "base/json.h"
#include "base/status.h"
#include "text/write/write.h"

#include <stdio.h>
#include <stdlib.h>

/* What the parts of the file are written from. */
typedef struct fused_writer {
    const sx_fused *fused;
    const sx_arch *arch;
    int exchange;
    sx_arch *cut; /* room for a machine */
    sx_status status;
} fused_writer;

/* The list of directives of a run's mapping. */
static json_t *mapping_tree(fused_writer *w, const sx_fused_run *run) {
    const sx_cut cut = sx_fused_run_cut(run);
    char *text = NULL;
    sx_cut_arch(w->arch, w->exchange, &cut, w->cut);
    if (!w->status) w->status = sx_mapping_write(&run->mapping, &run->problem, w->cut, SX_JSON, &text);
    json_t *noun = text ? sx_json_read(text) : NULL, *list = json_incref(json_object_get(noun, "mapping"));
    json_decref(noun);
    free(text);
    return list;
}

/* The runs of a layer are added to a list. */
static void add_runs(fused_writer *w, size_t layer, json_t *list) {
    for (size_t r = 0; r < w->fused->n_runs; r++) {
        const sx_fused_run *run = &w->fused->run[r];
        if (run->layer != layer) continue;
        json_t *object = json_object();
        sx_json_set(object, "layer", sx_json_text(w->fused->layer[layer].name));
        if (run->rows) sx_json_set(object, "rows", json_integer(run->rows));
        if (run->again) sx_json_set(object, "again", json_true());
        sx_json_set(object, "mapping", mapping_tree(w, run));
        sx_json_append(list, object);
    }
}

static json_t *tensors_tree(fused_writer *w, size_t group) {
    json_t *list = json_array();
    for (size_t t = 0; t < w->fused->n_tensors; t++) {
        const sx_fused_tensor *tensor = &w->fused->tensor[t];
        if (tensor->group != group) continue;
        json_t *object = json_object();
        sx_json_set(object, "name", sx_json_text(tensor->name));
        sx_json_set(object, "level", sx_json_text(tensor->second ? w->fused->second : w->fused->level));
        sx_json_set(object, "words", sx_json_exact(tensor->words));
        sx_json_set(object, "depth", json_integer(tensor->depth));
        sx_json_append(list, object);
    }
    return list;
}

/* The loops of a group, how they treat windows, and what is held while they run. */
static void put_loops(const sx_fused_group *group, json_t *object) {
    json_t *loops = json_array(), *held = json_array();
    for (int i = 0; i < group->n_loops; i++) {
        json_t *loop = json_object();
        sx_json_set(loop, "dimension", sx_json_text(group->loop[i].dimension));
        sx_json_set(loop, "bound", json_integer(group->loop[i].bound));
        sx_json_append(loops, loop);
    }
    for (int i = 0; i < group->n_held; i++) sx_json_append(held, sx_json_text(group->held[i]));
    sx_json_set(object, "loops", loops);
    if (group->n_loops) {
        sx_json_set(object, "window", sx_json_text(group->recompute ? "recompute" : "retain"));
        sx_json_set(object, "hold", held);
        if (group->one_pass) sx_json_set(object, "softmax", sx_json_text("one-pass"));
    } else {
        json_decref(held);
    }
}

static json_t *group_tree(fused_writer *w, size_t g) {
    const sx_fused_group *group = &w->fused->group[g];
    json_t *object = json_object(), *layers = json_array(), *runs = json_array();
    for (size_t i = group->first; i <= group->last; i++) {
        sx_json_append(layers, sx_json_text(w->fused->layer[i].name));
        add_runs(w, i, runs);
    }
    sx_json_set(object, "layers", layers);
    put_loops(group, object);
    sx_json_set(object, "tensors", tensors_tree(w, g));
    sx_json_set(object, "runs", runs);
    return object;
}

sx_status sx_session_fused_write(const sx_fused *fused, const char *network, const sx_arch *arch,
                                 sx_format format, char **out) {
    fused_writer w = {.fused = fused, .arch = arch, .cut = malloc(sizeof *w.cut)};
    if (!w.cut) return sx_error_memory();
    int second;
    char levels[2 * SX_NAME_SIZE + 1];
    snprintf(levels, sizeof levels, "%s%s%s", fused->level, fused->second[0] ? "," : "", fused->second);
    w.status = sx_cut_levels(arch, levels, &w.exchange, &second);
    json_t *root = json_object(), *object = json_object(), *groups = json_array(), *runs = json_array();
    sx_json_set(object, "network", sx_json_text(network));
    sx_json_set(object, "exchange", sx_json_text(levels));
    if (fused->reordered) {
        json_t *order = json_array();
        for (size_t i = 0; i < fused->n_layers; i++)
            sx_json_append(order, sx_json_text(fused->layer[i].name));
        sx_json_set(object, "order", order);
    }
    for (size_t g = 0; g < fused->n_groups; g++) sx_json_append(groups, group_tree(&w, g));
    for (size_t i = 0; i < fused->n_layers; i++)
        if (fused->layer[i].group == SX_NO_INDEX) add_runs(&w, i, runs);
    sx_json_set(object, "groups", groups);
    sx_json_set(object, "runs", runs);
    sx_json_set(root, "fused", object);
    sx_status printed = sx_json_write(root, format, out);
    free(w.cut);
    if (!w.status) return printed;
    sx_status_free(printed);
    return w.status;
}
