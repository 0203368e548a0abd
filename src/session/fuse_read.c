/* A fused mapping from a file: the section `fused` (docs/fusion.md, "The fused mapping as a file"). */
#include "session/fusing.h"

#include "base/status.h"
#include "frontend/input.h"
#include "fuse/group_chain.h"
#include "fuse/order.h"
#include "sextant/all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run of the file. */
typedef struct file_run {
    const sx_node *node;
    size_t layer; /* in order */
    uint32_t rows;
    bool again, used;
} file_run;

typedef struct fused_reader {
    sx_fusing *f;
    sx_fused *out;
    const sx_node *map; /* the section */
    sx_vector runs;     /* file_run */
} fused_reader;

/* The items of a list that may be missing. */
static sx_status list_of(const sx_node *map, const char *key, size_t *n, const sx_node *const **item) {
    const sx_node *list = sx_node_get(map, key);
    *n = 0;
    if (!list) return SX_OK;
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, key));
    *n = list->n;
    *item = (const sx_node *const *)list->item;
    return SX_OK;
}

/* The step of the layer that a node names. */
static sx_status step_of(const fused_reader *r, const sx_node *node, size_t *out) {
    const sx_exchange *x = &r->f->exchange;
    const char *name;
    SX_TRY(sx_node_text(node, "layer", &name));
    for (size_t s = 0; s < x->n_steps; s++)
        if (x->step[s].layer != SX_NO_INDEX && strcmp(x->graph->node[x->step[s].node].name, name) == 0) {
            *out = s;
            return SX_OK;
        }
    return sx_error_at(node->place, "%s has no layer '%.64s'", x->graph->name, name);
}

/* The tensor of the graph that a node names. */
static sx_status tensor_of(const fused_reader *r, const sx_node *node, size_t *out) {
    const sx_graph *graph = r->f->exchange.graph;
    const char *name;
    SX_TRY(sx_node_text(node, "tensor", &name));
    *out = sx_graph_find_tensor(graph, name);
    if (*out != SX_NO_INDEX) return SX_OK;
    return sx_error_at(node->place, "%s has no tensor '%.64s'", graph->name, name);
}

/* Lets the value of a whole tensor stay in one of the exchange memories. */
static sx_status read_whole(fused_reader *r, const sx_node *node, size_t tensor, bool second) {
    sx_exchange *x = &r->f->exchange;
    const size_t v = x->value_of[tensor];
    const char *reason = v == SX_NO_INDEX ? "comes from outside of the network" : x->value[v].reason;
    if (reason)
        return sx_error_at(node->place, "the tensor %s cannot stay on chip: it %s",
                           x->graph->tensor[tensor].name, reason);
    if (second && x->value[v].second_slot == SX_NO_SLOT)
        return sx_error_at(node->place, "the tensor %s cannot stay in %s", x->graph->tensor[tensor].name,
                           r->out->second);
    x->value[v].choice = second ? SX_EXCHANGE_SECOND : SX_EXCHANGE_FIRST;
    return SX_OK;
}

/* Reads a tensor of a group; one without loops around it stays whole. */
static sx_status read_tensor(fused_reader *r, const sx_node *map) {
    const sx_node *node;
    const char *level = r->out->level;
    uint32_t depth = 0;
    size_t tensor;
    SX_TRY(sx_node_check_keys(NULL, map, "the tensor", &sx_keys_fused_tensor));
    SX_TRY(sx_node_require(map, "name", "the tensor", &node));
    SX_TRY(tensor_of(r, node, &tensor));
    SX_TRY(sx_node_get_u32(map, "depth", &depth));
    SX_TRY(sx_node_get_text(map, "level", &level));
    const bool second = r->out->second[0] && strcmp(level, r->out->second) == 0;
    if (!second && strcmp(level, r->out->level) != 0)
        return sx_error_at(sx_node_key_place(map, "level"), "tensors stay in the exchange memory, %s",
                           r->out->level);
    return depth ? SX_OK : read_whole(r, node, tensor, second);
}

/* Reads the layers of a group, which must be a chain that can run in common loops. */
static sx_status read_chain(const fused_reader *r, const sx_node *map, sx_layer_chain *out) {
    const sx_node *list;
    size_t first;
    SX_TRY(sx_node_require(map, "layers", "the group", &list));
    SX_TRY(sx_node_expect(list, SX_NODE_LIST, "layers"));
    if (list->n < 2 || list->n > SX_MAX_GROUP)
        return sx_error_at(list->place, "a group with loops has 2 to %d layers", SX_MAX_GROUP);
    SX_TRY(step_of(r, list->item[0], &first));
    bool chain = sx_layer_chain_find(&r->f->exchange, first, (int)list->n, out);
    for (size_t l = 0; chain && l < list->n; l++) {
        size_t step;
        SX_TRY(step_of(r, list->item[l], &step));
        chain = step == out->link[l].step;
    }
    if (chain) return SX_OK;
    return sx_error_hint(sx_error_at(list->place, "these layers cannot run in steps of common loops"),
                         "each layer reads what the one before wrote, and no other layer does");
}

/* Reads a loop of a group. */
static sx_status read_loop(const sx_node *map, const sx_layer_chain *chain, sx_group_choice *out) {
    const sx_chain_link *last = &chain->link[chain->n - 1];
    const sx_node *node, *bound;
    uint64_t times;
    SX_TRY(sx_node_check_keys(NULL, map, "the loop", &sx_keys_fused_loop));
    SX_TRY(sx_node_require(map, "dimension", "the loop", &node));
    SX_TRY(sx_node_require(map, "bound", "the loop", &bound));
    SX_TRY(sx_node_range(bound, "bound", 1, UINT32_MAX, &times));
    if (sx_node_is(node, "repeat")) {
        if ((double)times == chain->heads) return SX_OK;
        return sx_error_at(bound->place, "the layers are repeated %.0f times", chain->heads);
    }
    if (sx_node_is(node, last->problem->dim_name[last->row])) {
        const uint32_t rows = out->slices > 1 ? out->tile : last->rows_out;
        const uint32_t each = (uint32_t)((rows + times - 1) / times);
        if (out->slices > 1)
            out->inner = each;
        else
            out->tile = each;
        if ((rows + each - 1) / each == times) return SX_OK;
        return sx_error_at(bound->place, "%u rows have no %llu steps of one size", rows,
                           (unsigned long long)times);
    }
    if (chain->channels > 1 && sx_node_is(node, last->problem->dim_name[last->channel])) {
        out->slices = (uint32_t)times;
        if (chain->channels % times == 0) return SX_OK;
        return sx_error_at(bound->place, "%llu does not divide the %u channels", (unsigned long long)times,
                           chain->channels);
    }
    return sx_error_hint(sx_error_at(node->place, "these layers have no common loop over '%.64s'",
                                     node->text ? node->text : ""),
                         "the loops are over repeat, %s%s%s", last->problem->dim_name[last->row],
                         chain->channels > 1 ? " and " : "",
                         chain->channels > 1 ? last->problem->dim_name[last->channel] : "");
}

/* Whether the exchange memory is built to keep a tensor from outside of a chain. */
static bool may_hold(const sx_layer_chain *chain, size_t tensor) {
    const sx_exchange *x = chain->exchange;
    for (int l = 0; l < chain->n; l++)
        for (int v = 0; v < chain->link[l].problem->n_tensors; v++)
            if (chain->link[l].operand[v].tensor == tensor &&
                !(sx_arch_keep_mask(x->arch, x->level, chain->link[l].problem) >> v & 1))
                return false;
    return true;
}

/* Reads what is held while the loops of a group run. */
static sx_status read_held(const fused_reader *r, const sx_node *map, const sx_layer_chain *chain,
                           sx_group_choice *out) {
    const sx_node *const *item = NULL;
    size_t n;
    SX_TRY(list_of(map, "hold", &n, &item));
    for (size_t i = 0; i < n; i++) {
        size_t tensor;
        SX_TRY(tensor_of(r, item[i], &tensor));
        const sx_chain_link *first = &chain->link[0];
        bool known = first->operand[first->in].tensor == tensor;
        out->holds_in |= known;
        for (int l = 0; l < chain->n; l++)
            if (chain->link[l].operand[chain->link[l].other].tensor == tensor) {
                out->held |= 1u << l;
                known = true;
            }
        if (!known)
            return sx_error_at(item[i]->place, "%s does not come from outside of the group", item[i]->text);
        if (!may_hold(chain, tensor))
            return sx_error_at(item[i]->place, "%s does not keep %s", r->out->level, item[i]->text);
    }
    return SX_OK;
}

/* Reads which tensors between the layers of a group have their tiles in the second memory. */
static sx_status read_second_tiles(const fused_reader *r, const sx_node *map, const sx_layer_chain *chain,
                                   sx_group_choice *out) {
    const sx_exchange *x = &r->f->exchange;
    const sx_node *const *item = NULL;
    size_t n;
    SX_TRY(list_of(map, "tensors", &n, &item));
    for (size_t i = 0; i < n && r->out->second[0]; i++) {
        size_t tensor;
        uint32_t depth = 0;
        int l = 0;
        SX_TRY(tensor_of(r, sx_node_get(item[i], "name"), &tensor));
        SX_TRY(sx_node_get_u32(item[i], "depth", &depth));
        if (!depth || !sx_node_is(sx_node_get(item[i], "level"), r->out->second)) continue;
        while (l + 1 < chain->n && chain->link[l].operand[chain->link[l].out].tensor != tensor) l++;
        if (l + 1 == chain->n)
            return sx_error_at(item[i]->place, "%s does not pass between layers of the group",
                               x->graph->tensor[tensor].name);
        if (!x->value[x->value_of[tensor]].second_tiles)
            return sx_error_at(item[i]->place, "%s does not keep %s", r->out->second,
                               x->graph->tensor[tensor].name);
        out->second |= 1u << l;
    }
    return SX_OK;
}

/* Reads a group with loops. */
static sx_status read_group(fused_reader *r, const sx_node *map, size_t n_loops, const sx_node *const *loop) {
    sx_layer_chain chain;
    const char *window = "retain", *softmax = "three-pass";
    SX_TRY(sx_node_get_text(map, "softmax", &softmax));
    if (strcmp(softmax, "three-pass") != 0 && strcmp(softmax, "one-pass") != 0)
        return sx_error_hint(
            sx_error_at(sx_node_key_place(map, "softmax"), "a softmax has no '%.64s'", softmax),
            "known: three-pass, one-pass");
    r->f->exchange.one_pass = strcmp(softmax, "one-pass") == 0;
    SX_TRY(read_chain(r, map, &chain));
    sx_group_choice choice = {.tile = chain.link[chain.n - 1].rows_out, .slices = 1};
    for (size_t i = 0; i < n_loops; i++) SX_TRY(read_loop(loop[i], &chain, &choice));
    SX_TRY(sx_node_get_text(map, "window", &window));
    if (strcmp(window, "retain") != 0 && strcmp(window, "recompute") != 0)
        return sx_error_hint(
            sx_error_at(sx_node_key_place(map, "window"), "'%.64s' is no way to treat windows", window),
            "known: retain, recompute");
    choice.window = strcmp(window, "retain") == 0 ? SX_GROUP_RETAIN : SX_GROUP_RECOMPUTE;
    SX_TRY(read_held(r, map, &chain, &choice));
    SX_TRY(read_second_tiles(r, map, &chain, &choice));
    sx_fuse_group *group = sx_vector_add(&r->f->groups);
    bool possible;
    if (!group) return sx_error_memory();
    SX_TRY(sx_fuse_group_make(&chain, &r->f->inner, &choice, group, &possible));
    if (possible) return SX_OK;
    if (choice.inner)
        return sx_error_hint(sx_error_at(map->place, "this group cannot have two loops over %s", group->row),
                             "no stride may be larger than its window, and what is held has slices");
    return sx_error_at(map->place, "the steps of this group differ in too many ways");
}

/* Reads a run, of a group or of a layer alone. */
static sx_status read_run(fused_reader *r, const sx_node *map) {
    const sx_node *node;
    size_t step;
    SX_TRY(sx_node_check_keys(NULL, map, "the run", &sx_keys_fused_run));
    SX_TRY(sx_node_require(map, "layer", "the run", &node));
    SX_TRY(step_of(r, node, &step));
    SX_TRY(sx_node_require(map, "mapping", "the run", &node));
    file_run run = {.node = map, .layer = r->f->order[step]};
    SX_TRY(sx_node_get_u32(map, "rows", &run.rows));
    SX_TRY(sx_node_get_bool(map, "again", &run.again));
    file_run *item = sx_vector_add(&r->runs);
    if (!item) return sx_error_memory();
    *item = run;
    return SX_OK;
}

static sx_status read_runs(fused_reader *r, const sx_node *map) {
    const sx_node *const *item = NULL;
    size_t n;
    SX_TRY(list_of(map, "runs", &n, &item));
    for (size_t i = 0; i < n; i++) SX_TRY(read_run(r, item[i]));
    return SX_OK;
}

/* Checks the layers of a group without loops, which only says what runs together: each run of it is of one of them. */
static sx_status check_layers(const fused_reader *r, const sx_node *map) {
    const sx_node *const *layer = NULL, *const *run = NULL;
    size_t n_layers, n_runs, step;
    SX_TRY(list_of(map, "layers", &n_layers, &layer));
    SX_TRY(list_of(map, "runs", &n_runs, &run));
    for (size_t i = 0; i < n_layers; i++) SX_TRY(step_of(r, layer[i], &step));
    for (size_t i = 0; i < n_runs && n_layers; i++) {
        const sx_node *of = sx_node_get(run[i], "layer");
        bool named = !of || of->kind != SX_NODE_SCALAR;
        for (size_t l = 0; l < n_layers && !named; l++) named = strcmp(layer[l]->text, of->text) == 0;
        if (!named)
            return sx_error_at(of->place, "the layer '%.64s' is not among the group's layers", of->text);
    }
    return SX_OK;
}

/* Reads all groups: tensors, loops and runs. */
static sx_status read_groups(fused_reader *r) {
    const sx_node *const *group = NULL, *const *item = NULL;
    size_t n, n_items;
    SX_TRY(list_of(r->map, "groups", &n, &group));
    for (size_t g = 0; g < n; g++) {
        SX_TRY(sx_node_check_keys(NULL, group[g], "the group", &sx_keys_fused_group));
        SX_TRY(list_of(group[g], "tensors", &n_items, &item));
        for (size_t t = 0; t < n_items; t++) SX_TRY(read_tensor(r, item[t]));
        SX_TRY(list_of(group[g], "loops", &n_items, &item));
        SX_TRY(n_items ? read_group(r, group[g], n_items, item) : check_layers(r, group[g]));
        SX_TRY(read_runs(r, group[g]));
    }
    return read_runs(r, r->map);
}

/* The group that begins with a step; SX_NO_INDEX: none. */
static size_t group_at(const sx_fusing *f, size_t step) {
    for (size_t g = 0; g < f->groups.n; g++)
        if (((const sx_fuse_group *)sx_vector_at(&f->groups, g))->first == step) return g;
    return SX_NO_INDEX;
}

/* The slots of what is whole in the exchange memory while a part runs. Sets out->illegal where a part holds a whole tensor
 * that passes inside of it. */
static uint64_t state_of(const fused_reader *r, const sx_plan_part *part) {
    const sx_exchange *x = &r->f->exchange;
    uint64_t state = 0;
    for (size_t v = 0; v < x->n_values; v++) {
        const sx_exchange_value *value = &x->value[v];
        if (!sx_exchange_must_stay(value) || value->first > part->last || value->last < part->first) continue;
        if (part->group != SX_NO_INDEX && value->first >= part->first && value->last <= part->last)
            snprintf(r->out->illegal, sizeof r->out->illegal, "%s passes inside of a group: tiles of it stay",
                     x->graph->tensor[value->tensor].name);
        state |= UINT64_C(1) << (value->choice == SX_EXCHANGE_SECOND ? value->second_slot : value->slot);
    }
    return state;
}

/* Makes the parts of the plan: groups, and steps one by one. */
static sx_status make_parts(fused_reader *r) {
    const sx_exchange *x = &r->f->exchange;
    sx_plan *plan = &r->f->answer.plan;
    plan->part = calloc(x->n_steps + 1, sizeof *plan->part);
    if (!plan->part) return sx_error_memory();
    plan->found = true;
    for (size_t s = 0; s < x->n_steps;) {
        sx_plan_part part = {.first = s, .last = s, .optimum = SX_NO_INDEX, .group = group_at(r->f, s)};
        if (part.group != SX_NO_INDEX)
            part.last = ((const sx_fuse_group *)sx_vector_at(&r->f->groups, part.group))->last;
        for (size_t inside = part.first + 1; inside <= part.last; inside++)
            if (group_at(r->f, inside) != SX_NO_INDEX)
                return sx_error_at(r->map->place, "%s is in two groups",
                                   x->graph->node[x->step[inside].node].name);
        part.state = state_of(r, &part);
        plan->part[plan->n_parts++] = part;
        s = part.last + 1;
    }
    return SX_OK;
}

/* Says which tensor has no room: the one made last of those that are on chip while a part runs. */
static void refuse_tensor(const fused_reader *r, const sx_plan_part *part, bool second, uint64_t words) {
    const sx_exchange *x = &r->f->exchange;
    const uint64_t *each = second ? x->second_words : x->words,
                   capacity = second ? x->second_capacity : x->capacity;
    const sx_exchange_value *last = NULL;
    uint64_t its = 0;
    for (size_t v = 0; v < x->n_values; v++) {
        const sx_exchange_value *value = &x->value[v];
        if (value->choice != (second ? SX_EXCHANGE_SECOND : SX_EXCHANGE_FIRST) || value->first > part->last ||
            value->last < part->first)
            continue;
        if (last && value->first < last->first) continue;
        last = value;
        its = 0;
        for (size_t s = part->first; s <= part->last; s++)
            if (each[s * x->n_values + v] > its) its = each[s * x->n_values + v];
    }
    const uint64_t others = words - its;
    if (last)
        snprintf(r->out->illegal, sizeof r->out->illegal,
                 "%s needs %llu words of %s from %s to %s, %llu are free",
                 x->graph->tensor[last->tensor].name, (unsigned long long)its,
                 second ? r->out->second : r->out->level, x->graph->node[x->step[last->first].node].name,
                 x->graph->node[x->step[last->last].node].name,
                 (unsigned long long)(others < capacity ? capacity - others : 0));
}

/* Says that the tiles of a group have no room in a memory. */
static void refuse_tiles(const fused_reader *r, const sx_fuse_group *group, const char *level, uint64_t words,
                         uint64_t free_words) {
    const sx_exchange *x = &r->f->exchange;
    snprintf(r->out->illegal, sizeof r->out->illegal,
             "the tiles from %s to %s need %llu words of %s, %llu are free",
             x->graph->node[x->step[group->first].node].name, x->graph->node[x->step[group->last].node].name,
             (unsigned long long)words, level, (unsigned long long)free_words);
}

/* Finds the first part for which the exchange memories have no room. */
static void check_room(const fused_reader *r) {
    const sx_exchange *x = &r->f->exchange;
    for (size_t i = 0; i < r->f->answer.plan.n_parts && !r->out->illegal[0]; i++) {
        const sx_plan_part *part = &r->f->answer.plan.part[i];
        const uint64_t whole = sx_plan_occupied(x, part->first, part->last, part->state);
        const uint64_t second = sx_plan_occupied_second(x, part->first, part->last, part->state);
        if (second > x->second_capacity) refuse_tensor(r, part, true, second);
        if (whole > x->capacity) refuse_tensor(r, part, false, whole);
        if (whole > x->capacity || second > x->second_capacity || part->group == SX_NO_INDEX) continue;
        const sx_fuse_group *group = sx_vector_at(&r->f->groups, part->group);
        if (second + group->peak_second > x->second_capacity)
            refuse_tiles(r, group, r->out->second, group->peak_second, x->second_capacity - second);
        if (whole + group->peak > x->capacity)
            refuse_tiles(r, group, r->out->level, group->peak, x->capacity - whole);
    }
}

/* The error for what an input would only warn of or note: a fused mapping has nothing for other tools. */
static sx_status refuse_remarks(const sx_input *input) {
    sx_warnings *warnings = NULL;
    const char *place = NULL, *note = sx_input_note(input, 0);
    sx_status status = sx_warnings_new(&warnings);
    if (!status) status = sx_input_warnings(input, warnings);
    const char *text = status ? NULL : sx_warnings_at(warnings, 0, &place);
    if (text)
        status = sx_error_new(SX_ERR_INPUT, "%s%s%s", place ? place : "", place ? ": " : "", text);
    else if (!status && note)
        status = sx_error_new(SX_ERR_INPUT, "%s", note);
    sx_warnings_free(warnings);
    return status;
}

/* Reads the mapping of a run and holds it against what the cut machine demands. */
static sx_status read_mapping(const fused_reader *r, const file_run *from, const sx_cut *cut,
                              sx_fused_run *run) {
    const sx_fuse_searcher *s = &r->f->searcher;
    sx_arch *arch = malloc(sizeof *arch);
    sx_constraints *limits = calloc(2, sizeof *limits);
    sx_input *input = NULL;
    sx_status status = arch && limits ? sx_input_new(&input) : sx_error_memory();
    if (!status) {
        sx_cut_arch(s->arch, s->exchange, cut, arch);
        sx_constraints_init(&limits[0], &run->problem, s->arch);
        sx_cut_constraints(s->arch, &limits[0], s->exchange, cut, &limits[1]);
        status = sx_input_add_node(input, from->node);
    }
    if (!status)
        status =
            sx_error_place(sx_input_mapping(input, &run->problem, arch, &run->mapping), from->node->place);
    if (!status) status = refuse_remarks(input);
    char why[160];
    if (!status && !sx_constraints_allow(&limits[1], &run->mapping, &run->problem, arch, why, sizeof why))
        snprintf(r->out->illegal, sizeof r->out->illegal, "%.64s: %s", r->out->layer[run->layer].name, why);
    sx_input_free(input);
    free(limits);
    free(arch);
    return status;
}

/* Adds a run that the plan needs, with its mapping from the file. */
static sx_status add_run(fused_reader *r, const sx_group_run *run, const sx_cut *cut) {
    sx_fused_run *added;
    SX_TRY(sx_fused_add_run(r->f, run, cut, r->out, &added));
    for (size_t i = 0; i < r->runs.n; i++) {
        file_run *from = sx_vector_at(&r->runs, i);
        if (from->layer != added->layer || from->rows != added->rows || from->again != added->again) continue;
        from->used = true;
        return read_mapping(r, from, cut, added);
    }
    const char *layer = r->out->layer[added->layer].name;
    if (!run->rows) return sx_error_at(r->map->place, "there is no mapping of the layer %s", layer);
    return sx_error_at(r->map->place, "there is no mapping of the layer %s for %u rows%s", layer, run->rows,
                       added->again ? " again" : "");
}

/* Adds the runs of a part. */
static sx_status add_part(fused_reader *r, const sx_plan_part *part) {
    const sx_exchange *x = &r->f->exchange;
    const sx_exchange_step *step = &x->step[part->first];
    if (part->group != SX_NO_INDEX) {
        const sx_fuse_group *group = sx_vector_at(&r->f->groups, part->group);
        for (int i = 0; i < group->n_runs; i++) {
            const sx_cut cut = sx_plan_run_cut(x, group, &group->run[i], part->state);
            SX_TRY(add_run(r, &group->run[i], &cut));
        }
        return SX_OK;
    }
    if (step->layer == SX_NO_INDEX) return SX_OK;
    sx_group_run run = {.step = part->first, .times = step->repeat};
    const sx_cut cut = sx_plan_step_cut(x, part->first, part->state);
    SX_TRY(sx_inner_problem(&r->f->inner, &x->network->layer[step->layer].problem, &run.problem));
    return add_run(r, &run, &cut);
}

/* Adds all runs, and refuses those of the file that the plan has not. */
static sx_status add_parts(fused_reader *r) {
    for (size_t i = 0; i < r->f->answer.plan.n_parts; i++) SX_TRY(add_part(r, &r->f->answer.plan.part[i]));
    for (size_t i = 0; i < r->runs.n; i++) {
        const file_run *run = sx_vector_at(&r->runs, i);
        if (run->used) continue;
        return sx_error_at(run->node->place, "%s does not run so: no step of its group makes %u rows%s",
                           r->out->layer[run->layer].name, run->rows, run->again ? " again" : "");
    }
    return SX_OK;
}

/* Holds the words that a group says a tensor takes against those that it takes. */
static sx_status check_words(const fused_reader *r, const sx_node *group) {
    const sx_node *const *item = NULL;
    size_t n;
    SX_TRY(list_of(group, "tensors", &n, &item));
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < r->out->n_tensors; t++) {
            const sx_fused_tensor *tensor = &r->out->tensor[t];
            uint64_t words = tensor->words;
            if (!sx_node_is(sx_node_get(item[i], "name"), tensor->name)) continue;
            SX_TRY(sx_node_get_u64(item[i], "words", &words));
            if (words != tensor->words)
                return sx_error_at(sx_node_key_place(item[i], "words"), "%s takes %llu words of %s, not %llu",
                                   tensor->name, (unsigned long long)tensor->words,
                                   tensor->second ? r->out->second : r->out->level,
                                   (unsigned long long)words);
        }
    return SX_OK;
}

/* Reads the order of the layers into n_nodes numbers of *out, which is freed with free(); NULL: there is none. */
static sx_status read_order(const fused_reader *r, const sx_graph *graph, size_t **out) {
    const sx_node *const *item = NULL;
    size_t n, n_einsums = 0, bad = 0;
    SX_TRY(list_of(r->map, "order", &n, &item));
    if (!sx_node_get(r->map, "order")) return SX_OK;
    for (size_t i = 0; i < graph->n_nodes; i++) n_einsums += graph->node[i].kind == SX_OP_EINSUM;
    if (n != n_einsums)
        return sx_error_at(sx_node_key_place(r->map, "order"), "the order has %zu of %zu layers", n,
                           n_einsums);
    const char **name = calloc(n + 1, sizeof *name);
    *out = calloc(graph->n_nodes + 1, sizeof **out);
    sx_status status = name && *out ? SX_OK : sx_error_memory();
    for (size_t i = 0; i < n && !status; i++) status = sx_node_text(item[i], "layer", &name[i]);
    if (!status) status = sx_order_by_names(graph, name, n, *out, &bad);
    if (!status && bad < n)
        status = sx_error_hint(sx_error_at(item[bad]->place, "'%.64s' cannot run here", name[bad]),
                               "the order has every layer of %s once, after those whose outputs it reads",
                               graph->name);
    free(name);
    return status;
}

/* Makes the steps, in the order that the section gives. */
static sx_status read_steps(fused_reader *r, const sx_graph *graph, const sx_network *network,
                            const char *exchange) {
    size_t *order = NULL;
    sx_status status = read_order(r, graph, &order);
    if (!status)
        status = sx_error_place(sx_fusing_init(r->f, graph, network, exchange, order),
                                sx_node_key_place(r->map, "exchange"));
    r->out->reordered = order;
    free(order);
    return status;
}

/* Reads the whole section. */
static sx_status read_fused(fused_reader *r, const sx_graph *graph, const sx_network *network) {
    const char *exchange = NULL, *name = graph->name;
    SX_TRY(sx_node_check_keys(NULL, r->map, "the fused mapping", &sx_keys_fused));
    SX_TRY(sx_node_get_text(r->map, "exchange", &exchange));
    SX_TRY(sx_node_get_text(r->map, "network", &name));
    if (strcmp(name, graph->name) != 0)
        return sx_error_at(sx_node_key_place(r->map, "network"), "the fused mapping is of %.64s, not of %s",
                           name, graph->name);
    SX_TRY(read_steps(r, graph, network, exchange));
    sx_fused_set_memories(r->f, r->out);
    SX_TRY(sx_fused_set_layers(r->f, r->out));
    for (size_t v = 0; v < r->f->exchange.n_values; v++) r->f->exchange.value[v].choice = SX_EXCHANGE_OUT;
    SX_TRY(read_groups(r));
    SX_TRY(make_parts(r));
    check_room(r);
    if (r->out->illegal[0]) return SX_OK;
    SX_TRY(add_parts(r));
    if (r->out->illegal[0]) return SX_OK;
    SX_TRY(sx_fused_set_figures(r->f, r->out));
    r->out->found = !r->out->illegal[0];
    const sx_node *groups = sx_node_get(r->map, "groups");
    for (size_t g = 0; r->out->found && groups && g < groups->n; g++) SX_TRY(check_words(r, groups->item[g]));
    return SX_OK;
}

sx_status sx_session_fused_read(const sx_graph *graph, const sx_network *network, const sx_arch *arch,
                                const sx_session_options *options, const sx_input *input, uint64_t steps,
                                sx_fused **out) {
    const sx_pair *section;
    SX_TRY(sx_input_single(input, "fused", &section));
    if (!section) return sx_error_new(SX_ERR_INPUT, "there is no section `fused`");
    sx_fusing f = {.options = options, .searcher = {.arch = arch, .options = options, .steps = steps}};
    fused_reader r = {
        .f = &f, .out = calloc(1, sizeof *r.out), .map = section->value, .runs = {.size = sizeof(file_run)}};
    if (!r.out) return sx_error_memory();
    r.out->given = true;
    sx_status status = read_fused(&r, graph, network);
    sx_vector_clear(&r.runs);
    sx_fusing_fini(&f);
    if (status)
        sx_fused_free(r.out);
    else
        *out = r.out;
    return status;
}
