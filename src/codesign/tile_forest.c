/* Trees of tiles for all unrollings, and the costs of what they keep.
 *
 * Source: Sunstone (thesis 2022), sections 5.2.1 and 5.2.2. A tile is priced with the energies of its own
 * memories. What the memories further out will be is not known yet: they get the least energies of their
 * choices, so that the price is what the whole costs at least. */
#include "codesign/tile_forest.h"

#include "base/status.h"
#include "ir/arch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Makes every memory as large and as cheap as any of its options. */
static void choose_largest(const sx_designs *designs, sx_arch *out) {
    for (size_t k = 0; k < designs->n_parameters; k++) {
        const sx_design_parameter *parameter = &designs->parameter[k];
        sx_storage *level = &out->level[parameter->level];
        if (parameter->array) continue;
        sx_design_parameter_apply(parameter, parameter->n_options - 1, out);
        for (size_t i = 0; i < parameter->n_options; i++) {
            level->read_energy = fmin(level->read_energy, parameter->option[i].read);
            level->fill_energy = fmin(level->fill_energy, parameter->option[i].fill);
            level->update_energy = fmin(level->update_energy, parameter->option[i].update);
            level->leak_energy = fmin(level->leak_energy, parameter->option[i].leak);
        }
    }
}

/* Finds which choices are of the innermost memory. */
static sx_status find_chosen(const sx_designs *designs, const sx_sunstone *plan, sx_tile_forest *out) {
    sx_tile_memories *chosen = &out->chosen;
    chosen->n_combinations = 1;
    for (size_t k = 0; k < designs->n_parameters; k++) {
        const sx_design_parameter *parameter = &designs->parameter[k];
        bool inner = !parameter->array && parameter->level >= plan->memory[0].first &&
                     parameter->level <= plan->memory[0].last;
        if (!inner || plan->n_stages == 1) continue;
        int i = chosen->n++;
        out->parameter[i] = k;
        chosen->memory[i].level = parameter->level;
        chosen->memory[i].n_options = parameter->n_options;
        chosen->memory[i].stride = chosen->n_combinations;
        chosen->memory[i].option = calloc(parameter->n_options, sizeof(sx_level));
        if (!chosen->memory[i].option) return sx_error_memory();
        chosen->n_combinations *= parameter->n_options;
    }
    chosen->allowed = calloc(chosen->n_combinations, sizeof *chosen->allowed);
    out->apart = calloc(chosen->n_combinations, sizeof *out->apart);
    return chosen->allowed && out->apart ? SX_OK : sx_error_memory();
}

/* Compiles option o of the chosen memories that have that option. */
static sx_status compile_option(const sx_codesign *c, size_t target, const sx_arch *largest, size_t o,
                                sx_tile_forest *g) {
    sx_model *model = NULL;
    sx_arch *arch = sx_arch_copy(largest);
    if (!arch) return sx_error_memory();
    for (int i = 0; i < g->chosen.n; i++)
        if (o < g->chosen.memory[i].n_options)
            sx_design_parameter_apply(&c->designs->parameter[g->parameter[i]], o, arch);
    sx_status status = sx_model_new(c->target[target].problem, arch, &c->options->model, &model);
    for (int i = 0; i < g->chosen.n && !status; i++)
        if (o < g->chosen.memory[i].n_options)
            g->chosen.memory[i].option[o] = model->level[g->chosen.memory[i].level];
    sx_model_free(model);
    free(arch);
    return status;
}

/* Compiles the options of the chosen memories. */
static sx_status compile_options(const sx_codesign *c, size_t target, const sx_arch *largest,
                                 sx_tile_forest *g) {
    size_t most = 0;
    for (int i = 0; i < g->chosen.n; i++)
        if (g->chosen.memory[i].n_options > most) most = g->chosen.memory[i].n_options;
    for (size_t o = 0; o < most; o++) SX_TRY(compile_option(c, target, largest, o, g));
    return SX_OK;
}

uint32_t sx_tile_forest_number(const sx_tile_forest *forest, const sx_designs *designs, size_t design) {
    size_t number = 0;
    for (int i = 0; i < forest->chosen.n; i++)
        number += sx_design_options(designs, design)[forest->parameter[i]] * forest->chosen.memory[i].stride;
    return (uint32_t)number;
}

bool sx_tile_forest_matches(const sx_tile_forest *forest, const sx_sunstone *plan) {
    return plan->n_memories == forest->n_memories &&
           memcmp(plan->memory, forest->memory, sizeof forest->memory) == 0 &&
           memcmp(plan->keep, forest->keep, sizeof forest->keep) == 0;
}

bool sx_tile_forest_candidate(const sx_tile_forest *forest, const sx_tile_node *node, uint32_t number,
                              bool own) {
    if (own) return node->memory == number;
    if (!sx_tile_within(&forest->chosen, node->memory, number)) return false;
    for (int d = 0; d < SX_MAX_DIMS; d++)
        if (node->child[d] != SX_TILE_NOWHERE && sx_tile_within(&forest->chosen, node->child[d], number))
            return false;
    return true;
}

/* Lists the nodes of all unrollings. */
static sx_status list_nodes(sx_codesign *c, const sx_sunstone *plan, sx_tile_forest *g) {
    const double limit = plan->on.limit;
    sx_sunstone_partial start = sx_sunstone_start(plan),
                        at = {.point = malloc(plan->space->space.point_size)};
    if (!at.point) return sx_error_memory();
    for (size_t r = 0; r < g->roots.n && !sx_codesign_stopped(c); r++) {
        sx_sunstone_copy(plan, &start, &at);
        sx_sunstone_put_unrolling(plan, &plan->stage[0], sx_vector_at(&g->roots, r), &at);
        sx_tile_tree(c, plan, &g->chosen, &at, r, (size_t)limit, &g->nodes, &c->out->counts.nodes);
    }
    free(at.point);
    if (g->nodes.failed) return sx_error_memory();
    if ((double)g->nodes.n < limit) return SX_OK;
    return sx_error_hint(sx_error_new(SX_ERR_LIMIT, "more than %.0f tiles", limit),
                         "constrain the space, or use --method grid");
}

/* Orders nodes by cost, then as they were found. */
static int by_value(const void *a, const void *b) {
    const sx_sunstone_item *x = &((const sx_tile_node *)a)->item, *y = &((const sx_tile_node *)b)->item;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Prices the nodes of one combination, which are of one unrolling after another. */
static void price_nodes(sx_sunstone *plan, sx_tile_forest *g, uint32_t number) {
    sx_vector tiles = {.size = sizeof(sx_sunstone_tile)};
    for (size_t i = 0; i < g->nodes.n;) {
        uint64_t root = ((sx_tile_node *)sx_vector_at(&g->nodes, i))->item.root;
        size_t end = i;
        tiles.n = 0;
        plan->items.n = 0;
        for (; end < g->nodes.n; end++) {
            const sx_tile_node *node = sx_vector_at(&g->nodes, end);
            if (node->item.root != root) break;
            sx_sunstone_tile *tile = node->memory == number ? sx_vector_add(&tiles) : NULL;
            if (tile) *tile = node->item.tile;
        }
        if (tiles.n) sx_sunstone_price(plan, root, &tiles);
        for (size_t n = 0; i < end; i++) {
            sx_tile_node *node = sx_vector_at(&g->nodes, i);
            if (node->memory != number) continue;
            const sx_sunstone_item *item = n < plan->items.n ? sx_vector_at(&plan->items, n) : NULL;
            node->item.value = INFINITY;
            if (!item || memcmp(&item->tile, &node->item.tile, sizeof item->tile) != 0) continue;
            node->item = *item;
            n++;
        }
    }
    if (tiles.failed) atomic_store(&plan->failed, true);
    sx_vector_clear(&tiles);
}

/* Prices the nodes of a combination with the energies of its memories. */
static sx_status price_combination(sx_codesign *c, size_t target, const sx_arch *largest, uint32_t number,
                                   sx_tile_forest *g) {
    sx_target_space *target_space = calloc(1, sizeof *target_space);
    sx_sunstone plan;
    sx_sunstone_switches on = sx_plain_switches();
    bool usable;
    if (!target_space) return sx_error_memory();
    target_space->arch = *largest;
    for (int i = 0; i < g->chosen.n; i++)
        sx_design_parameter_apply(&c->designs->parameter[g->parameter[i]],
                                  sx_tile_option(&g->chosen, i, number), &target_space->arch);
    sx_status status = sx_target_space_init(c, target, target_space, &usable);
    if (!status && usable) {
        status =
            sx_sunstone_init(sx_map_space_of(target_space->space), &c->options->run.objective, &on, &plan);
        if (!status) {
            g->apart[number] = !sx_tile_forest_matches(g, &plan);
            plan.roots = g->roots;
            if (!g->apart[number]) price_nodes(&plan, g, number);
            plan.roots = (sx_vector){.size = 0};
            if (atomic_load(&plan.failed)) status = sx_error_memory();
            c->out->counts.partial += plan.partial;
            c->out->counts.tiles[0] += plan.tiles[0];
            sx_sunstone_fini(&plan);
        }
    }
    sx_target_space_fini(target_space);
    sx_target_space_free(target_space);
    return status;
}

/* Prices all nodes and puts them in order. */
static sx_status price_forest(sx_codesign *c, size_t target, const sx_arch *largest, sx_tile_forest *g) {
    for (size_t i = 0; i < g->chosen.n_combinations && !sx_codesign_stopped(c); i++)
        if (g->chosen.allowed[i]) SX_TRY(price_combination(c, target, largest, (uint32_t)i, g));
    for (size_t i = 0; i < g->nodes.n; i++) ((sx_tile_node *)sx_vector_at(&g->nodes, i))->item.number = i;
    if (g->nodes.n) qsort(g->nodes.data, g->nodes.n, g->nodes.size, by_value);
    return SX_OK;
}

/* Builds the trees by the plan for the largest memories. */
static sx_status build_forest(sx_codesign *c, size_t target, const sx_arch *largest, const sx_sunstone *plan,
                              const bool *like, sx_tile_forest *g) {
    g->flat = plan->n_stages == 1;
    g->n_memories = plan->n_memories;
    memcpy(g->memory, plan->memory, sizeof g->memory);
    memcpy(g->keep, plan->keep, sizeof g->keep);
    g->roots.size = sx_sunstone_parts_size(&plan->stage[0]);
    if (plan->n_stages > c->out->counts.n_memories) c->out->counts.n_memories = plan->n_stages;
    SX_TRY(find_chosen(c->designs, plan, g));
    for (size_t d = 0; d < c->designs->n; d++)
        if (like[d]) g->chosen.allowed[sx_tile_forest_number(g, c->designs, d)] = true;
    if (g->flat) return SX_OK;
    SX_TRY(compile_options(c, target, largest, g));
    for (int d = 0; d < plan->space->problem->n_dims; d++)
        if (plan->left[d] == 0) return SX_OK;
    sx_sunstone_list_unrollings(plan, &plan->stage[0], plan->left, &g->roots);
    if (g->roots.failed) return sx_error_memory();
    SX_TRY(list_nodes(c, plan, g));
    return price_forest(c, target, largest, g);
}

sx_status sx_tile_forest_init(sx_codesign *c, size_t target, size_t design, const bool *like,
                              sx_tile_forest *out) {
    sx_target_space *target_space;
    sx_sunstone plan;
    sx_sunstone_switches on = sx_plain_switches();
    SX_TRY(sx_target_space_new(c->designs, design, &target_space));
    *out = (sx_tile_forest){.nodes = {.size = sizeof(sx_tile_node)}};
    choose_largest(c->designs, &target_space->arch);
    sx_status status = sx_target_space_init(c, target, target_space, &out->usable);
    if (!status && out->usable) {
        status =
            sx_sunstone_init(sx_map_space_of(target_space->space), &c->options->run.objective, &on, &plan);
        if (!status) {
            status = build_forest(c, target, &target_space->arch, &plan, like, out);
            sx_sunstone_fini(&plan);
        }
    }
    sx_target_space_fini(target_space);
    sx_target_space_free(target_space);
    return status;
}

void sx_tile_forest_fini(sx_tile_forest *forest) {
    for (int i = 0; i < forest->chosen.n; i++) free(forest->chosen.memory[i].option);
    free(forest->chosen.allowed);
    free(forest->apart);
    sx_vector_clear(&forest->roots);
    sx_vector_clear(&forest->nodes);
}
