/* The cost of a legal mapping as JSON, levels innermost first. Counts are per instance. */
#include "text/write/write.h"

#include "ir/arch.h"

#include <math.h>
#include <stdio.h>

/* A count, whole where it is. */
static SX_OWN json_t *count(sx_tree *tree, double value) {
    if (value >= 0 && value <= 0x1p53 && value == floor(value)) return sx_tree_u64(tree, (uint64_t)value);
    return sx_tree_double(tree, value);
}

/* A total divided among the instances. */
static SX_OWN json_t *share(sx_tree *tree, uint64_t total, uint64_t instances) {
    if (instances == 0) return sx_tree_u64(tree, total);
    if (total % instances == 0) return sx_tree_u64(tree, total / instances);
    return sx_tree_double(tree, (double)total / (double)instances);
}

static const char *const kinds[SX_N_ACTION_KINDS] = {"random", "gated", "skipped"};
static const char *const accesses[SX_N_ACCESSES] = {"read", "fill", "update"};

/* What became of a tensor's accesses at a level, per instance. */
static void put_actions(sx_tree *tree, json_t *map, const sx_cost_tensor *t) {
    json_t *actions = json_object();
    char name[32];
    for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++)
        for (int a = 0; a < SX_N_ACCESSES; a++) {
            snprintf(name, sizeof name, "%s_%s", kinds[kind], accesses[a]);
            sx_tree_put(tree, actions, name, count(tree, t->actions[kind][a]));
        }
    sx_tree_put(tree, map, "average_instances", count(tree, t->instances));
    sx_tree_put(tree, map, "density", sx_tree_double(tree, t->density));
    sx_tree_put(tree, map, "actions", actions);
    sx_tree_put(tree, map, "decompressions", count(tree, t->decompressions));
    sx_tree_put(tree, map, "compressions", count(tree, t->compressions));
}

/* On which words the level's gating or skipping depends, where it has some. */
static void put_conditions(sx_tree *tree, json_t *map, const sx_cost_tensor *t, const sx_problem *problem) {
    json_t *list = json_array();
    for (int v = 0; v < problem->n_tensors; v++) {
        if (!t->condition_words[v]) continue;
        json_t *item = json_object();
        sx_tree_put(tree, item, "on", sx_tree_text(tree, problem->tensor[v].name));
        sx_tree_put(tree, item, "words", sx_tree_u64(tree, t->condition_words[v]));
        sx_tree_put(tree, item, "empty", sx_tree_double(tree, t->condition_empty[v]));
        sx_tree_append(tree, list, item);
    }
    if (json_array_size(list))
        sx_tree_put(tree, map, "conditions", list);
    else
        json_decref(list);
}

/* Metadata and payload words of all ranks for one kind of access; NULL where there are none. */
static SX_OWN json_t *rank_words(sx_tree *tree, const sx_cost_rank *rank, int n, int kind, int access) {
    json_t *list = json_array();
    bool any = false;
    for (int r = 0; r < n; r++) {
        const double *words = rank[r].words[kind][access];
        json_t *pair = json_array();
        for (int i = 0; i < 2; i++) sx_tree_append(tree, pair, count(tree, words[i]));
        sx_tree_append(tree, list, pair);
        any |= words[0] != 0 || words[1] != 0;
    }
    if (any) return list;
    json_decref(list);
    return NULL;
}

/* The metadata of a tensor's format at a level, its ranks innermost first. */
static void put_metadata(sx_tree *tree, json_t *map, const sx_cost_tensor *t, const sx_cost_rank *rank,
                         int n) {
    json_t *metadata = json_object(), *capacity = json_array();
    char name[40];
    for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++)
        for (int a = 0; a < SX_N_ACCESSES; a++) {
            json_t *words = rank_words(tree, rank, n, kind, a);
            snprintf(name, sizeof name, "%s_metadata_%s", kinds[kind], accesses[a]);
            if (words) sx_tree_put(tree, metadata, name, words);
        }
    for (int r = 0; r < n; r++) {
        json_t *pair = json_array();
        for (int i = 0; i < 2; i++) sx_tree_append(tree, pair, sx_tree_u64(tree, rank[r].capacity[i]));
        sx_tree_append(tree, capacity, pair);
    }
    sx_tree_put(tree, map, "metadata", metadata);
    sx_tree_put(tree, map, "metadata_capacity", capacity);
    sx_tree_put(tree, map, "metadata_bits", sx_tree_u64(tree, t->metadata_bits));
}

/* Adds what is known of a sparse tensor at a level. */
static void put_sparse(sx_tree *tree, json_t *map, const sx_cost *cost, int s, int v,
                       const sx_problem *problem, const sx_arch *arch) {
    const sx_cost_tensor *t = &cost->level[s].tensor[v];
    put_actions(tree, map, t);
    put_conditions(tree, map, t, problem);
    for (int i = 0; i < arch->sparse.n_formats && t->kept; i++) {
        const sx_tensor_format *f = &arch->sparse.format[i];
        if (f->level == s && sx_problem_tensor(problem, arch->sparse.name[f->tensor]) == v)
            put_metadata(tree, map, t, &cost->rank[f->first], f->n_ranks);
    }
}

static SX_OWN json_t *level_tensor(sx_tree *tree, const sx_cost_tensor *t, const char *name,
                                   uint64_t instances) {
    json_t *map = json_object();
    sx_tree_put(tree, map, "name", sx_tree_text(tree, name));
    sx_tree_put(tree, map, "kept", sx_tree_bool(t->kept));
    sx_tree_put(tree, map, "utilized_capacity", sx_tree_u64(tree, t->tile));
    sx_tree_put(tree, map, "reads", share(tree, t->reads, instances));
    sx_tree_put(tree, map, "fills", share(tree, t->fills, instances));
    sx_tree_put(tree, map, "updates", share(tree, t->updates, instances));
    sx_tree_put(tree, map, "energy_pj", sx_tree_double(tree, t->energy_pj));
    sx_tree_put(tree, map, "temporal_reductions", share(tree, t->temporal_reductions, instances));
    sx_tree_put(tree, map, "address_generations", count(tree, t->address_generations));
    sx_tree_put(tree, map, "partition", share(tree, t->partition, instances));
    sx_tree_put(tree, map, "total_reads", sx_tree_u64(tree, t->reads));
    sx_tree_put(tree, map, "total_fills", sx_tree_u64(tree, t->fills));
    sx_tree_put(tree, map, "total_updates", sx_tree_u64(tree, t->updates));
    return map;
}

/* Adds the width of a tensor's elements, where one is given, and the words that its tile takes. */
static void put_width(sx_tree *tree, json_t *map, const sx_cost_tensor *t, const sx_storage *level,
                      const sx_tensor *tensor) {
    if (!tensor->bits) return;
    sx_tree_put(tree, map, "bits", sx_tree_u64(tree, tensor->bits));
    sx_tree_put(tree, map, "utilized_words",
                sx_tree_u64(tree, (uint64_t)sx_element_words(level, tensor, (double)t->tile)));
}

static SX_OWN json_t *level(sx_tree *tree, const sx_cost *cost, int s, const sx_problem *problem,
                            const sx_arch *arch) {
    const sx_cost_level *l = &cost->level[s];
    json_t *map = json_object(), *tensors = json_array();
    for (int v = 0; v < problem->n_tensors; v++) {
        json_t *tensor = level_tensor(tree, &l->tensor[v], problem->tensor[v].name, l->instances);
        put_width(tree, tensor, &l->tensor[v], &arch->level[s], &problem->tensor[v]);
        if (cost->sparse) put_sparse(tree, tensor, cost, s, v, problem, arch);
        sx_tree_append(tree, tensors, tensor);
    }
    sx_tree_put(tree, map, "name", sx_tree_text(tree, arch->level[s].name));
    sx_tree_put(tree, map, "word_bits", sx_tree_u64(tree, arch->level[s].word_bits));
    sx_tree_put(tree, map, "instances_used", sx_tree_u64(tree, l->instances));
    sx_tree_put(tree, map, "clusters_used", sx_tree_u64(tree, l->clusters));
    sx_tree_put(tree, map, "energy_pj", sx_tree_double(tree, l->energy_pj));
    sx_tree_put(tree, map, "leakage_pj", sx_tree_double(tree, l->leakage_pj));
    sx_tree_put(tree, map, "cycles", sx_tree_u64(tree, l->cycles));
    sx_tree_put(tree, map, "slowdown", sx_tree_double(tree, l->slowdown));
    sx_tree_put(tree, map, "tensors", tensors);
    return map;
}

static SX_OWN json_t *network_tensor(sx_tree *tree, const sx_cost_net_tensor *t, const char *name) {
    json_t *map = json_object();
    sx_tree_put(tree, map, "name", sx_tree_text(tree, name));
    sx_tree_put(tree, map, "ingresses", count(tree, t->ingresses));
    sx_tree_put(tree, map, "multicast", sx_tree_u64(tree, t->multicast));
    sx_tree_put(tree, map, "fanout", sx_tree_u64(tree, t->fanout));
    sx_tree_put(tree, map, "link_transfers", count(tree, t->link_transfers));
    sx_tree_put(tree, map, "spatial_reductions", count(tree, t->spatial_reductions));
    sx_tree_put(tree, map, "hops", sx_tree_double(tree, t->hops));
    sx_tree_put(tree, map, "energy_pj", sx_tree_double(tree, t->energy_pj));
    sx_tree_put(tree, map, "link_energy_pj", sx_tree_double(tree, t->link_energy_pj));
    return map;
}

/* The network between a level and what is inside it, named as Timeloop does. */
static SX_OWN json_t *network(sx_tree *tree, const sx_cost *cost, int s, const sx_problem *problem,
                              const sx_arch *arch) {
    char name[2 * SX_NAME_SIZE + 8];
    const char *inner = s ? arch->level[s - 1].name : arch->compute.name;
    json_t *map = json_object(), *tensors = json_array();
    snprintf(name, sizeof name, "%s <==> %s", arch->level[s].name, inner);
    for (int v = 0; v < problem->n_tensors; v++)
        sx_tree_append(tree, tensors,
                       network_tensor(tree, &cost->network[s].tensor[v], problem->tensor[v].name));
    sx_tree_put(tree, map, "name", sx_tree_text(tree, name));
    sx_tree_put(tree, map, "energy_pj", sx_tree_double(tree, cost->network[s].energy_pj));
    sx_tree_put(tree, map, "tensors", tensors);
    return map;
}

/* What the latency of a boundary is made of: its stages per launch, and the parts whose sum it is. */
static json_t *latency_parts(sx_tree *tree, const sx_cost_boundary *b) {
    json_t *map = json_object();
    sx_tree_put(tree, map, "n", count(tree, b->launches));
    sx_tree_put(tree, map, "start", sx_tree_double(tree, b->start));
    sx_tree_put(tree, map, "launches", sx_tree_double(tree, b->first));
    sx_tree_put(tree, map, "load", sx_tree_double(tree, b->load));
    sx_tree_put(tree, map, "compute", sx_tree_double(tree, b->compute));
    sx_tree_put(tree, map, "store", sx_tree_double(tree, b->store));
    sx_tree_put(tree, map, "period", sx_tree_double(tree, b->period));
    sx_tree_put(tree, map, "exposed", sx_tree_double(tree, b->exposed));
    sx_tree_put(tree, map, "drain", sx_tree_double(tree, b->drain));
    return map;
}

/* The latency of the tile pipeline, where there is one: as a whole, the parts of the outermost boundary, and of all of
 * them, innermost first. */
static void put_latency(sx_tree *tree, json_t *root, const sx_cost *cost, const sx_arch *arch) {
    if (cost->n_boundaries == 0) return;
    json_t *list = json_array();
    for (int i = 0; i < cost->n_boundaries; i++) {
        json_t *map = latency_parts(tree, &cost->boundary[i]);
        sx_tree_put(tree, map, "level", sx_tree_text(tree, arch->level[cost->boundary[i].level].name));
        sx_tree_append(tree, list, map);
    }
    sx_tree_put(tree, root, "latency", sx_tree_double(tree, cost->latency));
    sx_tree_put(tree, root, "latency_parts", latency_parts(tree, &cost->boundary[cost->n_boundaries - 1]));
    sx_tree_put(tree, root, "boundaries", list);
}

sx_status sx_cost_write(const sx_cost *cost, const sx_problem *problem, const sx_arch *arch, char **out) {
    if (cost->n_levels != arch->n_levels || cost->n_tensors != problem->n_tensors)
        return sx_error_new(SX_ERR_USAGE, "the cost is not of this problem and architecture");
    sx_tree tree = {0};
    json_t *root = json_object(), *levels = json_array(), *networks = json_array();
    for (int s = 0; s < cost->n_levels; s++) {
        sx_tree_append(&tree, levels, level(&tree, cost, s, problem, arch));
        sx_tree_append(&tree, networks, network(&tree, cost, s, problem, arch));
    }
    sx_tree_put(&tree, root, "legal", sx_tree_bool(true));
    sx_tree_put(&tree, root, "cycles", sx_tree_u64(&tree, cost->cycles));
    sx_tree_put(&tree, root, "energy_pj", sx_tree_double(&tree, cost->energy_pj));
    sx_tree_put(&tree, root, "edp", sx_tree_double(&tree, cost->edp));
    sx_tree_put(&tree, root, "utilization", sx_tree_double(&tree, cost->utilization));
    sx_tree_put(&tree, root, "computes", sx_tree_u64(&tree, cost->computes));
    if (cost->sparse) {
        sx_tree_put(&tree, root, "sparse", sx_tree_bool(true));
        sx_tree_put(&tree, root, "gated_computes", count(&tree, cost->gated_computes));
        sx_tree_put(&tree, root, "skipped_computes", count(&tree, cost->skipped_computes));
        sx_tree_put(&tree, root, "algorithmic_computes", sx_tree_u64(&tree, cost->algorithmic_computes));
    }
    sx_tree_put(&tree, root, "compute_cycles", sx_tree_u64(&tree, cost->compute_cycles));
    sx_tree_put(&tree, root, "compute_instances_used", sx_tree_u64(&tree, cost->compute_instances));
    sx_tree_put(&tree, root, "compute_energy_pj", sx_tree_double(&tree, cost->compute_energy_pj));
    sx_tree_put(&tree, root, "last_level_accesses", count(&tree, cost->last_level_accesses));
    sx_tree_put(&tree, root, "perfect", sx_tree_bool(cost->perfect));
    put_latency(&tree, root, cost, arch);
    sx_tree_put(&tree, root, "levels", levels);
    sx_tree_put(&tree, root, "networks", networks);
    return sx_tree_print(&tree, root, SX_JSON, out);
}
