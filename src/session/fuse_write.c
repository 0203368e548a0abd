/* A fused network as a file: the section `fused` (docs/fusion.md, "The fused mapping as a file"). */
#include "session/fusing.h"

#include "base/json.h"
#include "base/status.h"
#include "text/write/write.h"

#include <stdlib.h>

/* What the parts of the file are written from. */
typedef struct fused_writer {
    sx_tree tree;
    const sx_fused *fused;
    const sx_arch *arch;
    int exchange;
    sx_arch *cut; /* room for a machine */
    sx_status status;
} fused_writer;

/* The list of directives of a run's mapping. */
static json_t *mapping_tree(fused_writer *w, const sx_fused_run *run) {
    const sx_cut cut = {.resident = run->resident, .occupied = run->occupied};
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
        sx_tree_put(&w->tree, object, "layer", sx_tree_text(&w->tree, w->fused->layer[layer].name));
        if (run->rows) sx_tree_put(&w->tree, object, "rows", json_integer(run->rows));
        if (run->again) sx_tree_put(&w->tree, object, "again", json_true());
        sx_tree_put(&w->tree, object, "mapping", mapping_tree(w, run));
        sx_tree_append(&w->tree, list, object);
    }
}

static json_t *tensors_tree(fused_writer *w, size_t group) {
    json_t *list = json_array();
    for (size_t t = 0; t < w->fused->n_tensors; t++) {
        const sx_fused_tensor *tensor = &w->fused->tensor[t];
        if (tensor->group != group) continue;
        json_t *object = json_object();
        sx_tree_put(&w->tree, object, "name", sx_tree_text(&w->tree, tensor->name));
        sx_tree_put(&w->tree, object, "level", sx_tree_text(&w->tree, w->fused->level));
        sx_tree_put(&w->tree, object, "words", sx_tree_u64(&w->tree, tensor->words));
        sx_tree_put(&w->tree, object, "depth", json_integer(tensor->depth));
        sx_tree_append(&w->tree, list, object);
    }
    return list;
}

/* The loops of a group, how they treat windows, and what is held while they run. */
static void put_loops(fused_writer *w, const sx_fused_group *group, json_t *object) {
    json_t *loops = json_array(), *held = json_array();
    for (int i = 0; i < group->n_loops; i++) {
        json_t *loop = json_object();
        sx_tree_put(&w->tree, loop, "dimension", sx_tree_text(&w->tree, group->loop[i].dimension));
        sx_tree_put(&w->tree, loop, "bound", json_integer(group->loop[i].bound));
        sx_tree_append(&w->tree, loops, loop);
    }
    for (int i = 0; i < group->n_held; i++)
        sx_tree_append(&w->tree, held, sx_tree_text(&w->tree, group->held[i]));
    sx_tree_put(&w->tree, object, "loops", loops);
    if (group->n_loops) {
        sx_tree_put(&w->tree, object, "window",
                    sx_tree_text(&w->tree, group->recompute ? "recompute" : "retain"));
        sx_tree_put(&w->tree, object, "hold", held);
        if (group->one_pass) sx_tree_put(&w->tree, object, "softmax", sx_tree_text(&w->tree, "one-pass"));
    } else {
        json_decref(held);
    }
}

static json_t *group_tree(fused_writer *w, size_t g) {
    const sx_fused_group *group = &w->fused->group[g];
    json_t *object = json_object(), *layers = json_array(), *runs = json_array();
    for (size_t i = group->first; i <= group->last; i++) {
        sx_tree_append(&w->tree, layers, sx_tree_text(&w->tree, w->fused->layer[i].name));
        add_runs(w, i, runs);
    }
    sx_tree_put(&w->tree, object, "layers", layers);
    put_loops(w, group, object);
    sx_tree_put(&w->tree, object, "tensors", tensors_tree(w, g));
    sx_tree_put(&w->tree, object, "runs", runs);
    return object;
}

sx_status sx_session_fused_write(const sx_fused *fused, const char *network, const sx_arch *arch,
                                 sx_format format, char **out) {
    fused_writer w = {.fused = fused, .arch = arch, .cut = malloc(sizeof *w.cut)};
    if (!w.cut) return sx_error_memory();
    w.status = sx_cut_level(arch, fused->level, &w.exchange);
    json_t *root = json_object(), *object = json_object(), *groups = json_array(), *runs = json_array();
    sx_tree_put(&w.tree, object, "network", sx_tree_text(&w.tree, network));
    sx_tree_put(&w.tree, object, "exchange", sx_tree_text(&w.tree, fused->level));
    for (size_t g = 0; g < fused->n_groups; g++) sx_tree_append(&w.tree, groups, group_tree(&w, g));
    for (size_t i = 0; i < fused->n_layers; i++)
        if (fused->layer[i].group == SX_NO_INDEX) add_runs(&w, i, runs);
    sx_tree_put(&w.tree, object, "groups", groups);
    sx_tree_put(&w.tree, object, "runs", runs);
    sx_tree_put(&w.tree, root, "fused", object);
    sx_status printed = sx_tree_print(&w.tree, root, format, out);
    free(w.cut);
    if (!w.status) return printed;
    sx_status_free(printed);
    return w.status;
}
