/* The cost of a legal mapping as JSON, levels innermost first. Counts are per instance. */
#include "text/write/write.h"

#include "ir/arch.h"

#include <math.h>
#include <stdio.h>

/* A count, whole where it is. */
static SX_OWN json_t *count_json(double value) {
    if (value >= 0 && value <= 0x1p53 && value == floor(value)) return sx_json_exact((uint64_t)value);
    return sx_json_real(value);
}

/* A total divided among the instances. */
static SX_OWN json_t *share_json(uint64_t total, uint64_t instances) {
    if (instances == 0) return sx_json_exact(total);
    if (total % instances == 0) return sx_json_exact(total / instances);
    return sx_json_real((double)total / (double)instances);
}

static const char *const kinds[SX_N_ACTION_KINDS] = {"random", "gated", "skipped"};
static const char *const accesses[SX_N_ACCESSES] = {"read", "fill", "update"};

/* What became of a tensor's accesses at a level, per instance. */
static void put_actions(json_t *map, const sx_cost_tensor *t) {
    json_t *actions = json_object();
    char name[32];
    for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++)
        for (int a = 0; a < SX_N_ACCESSES; a++) {
            snprintf(name, sizeof name, "%s_%s", kinds[kind], accesses[a]);
            sx_json_set(actions, name, count_json(t->actions[kind][a]));
        }
    sx_json_set(map, "average_instances", count_json(t->instances));
    sx_json_set(map, "density", sx_json_real(t->density));
    sx_json_set(map, "actions", actions);
    sx_json_set(map, "decompressions", count_json(t->decompressions));
    sx_json_set(map, "compressions", count_json(t->compressions));
}

/* On which words the level's gating or skipping depends, where it has some. */
static void put_conditions(json_t *map, const sx_cost_tensor *t, const sx_problem *problem) {
    json_t *list = json_array();
    for (int v = 0; v < problem->n_tensors; v++) {
        if (!t->condition_words[v]) continue;
        json_t *item = json_object();
        sx_json_set(item, "on", sx_json_text(problem->tensor[v].name));
        sx_json_set(item, "words", sx_json_exact(t->condition_words[v]));
        sx_json_set(item, "empty", sx_json_real(t->condition_empty[v]));
        sx_json_append(list, item);
    }
    if (json_array_size(list))
        sx_json_set(map, "conditions", list);
    else
        json_decref(list);
}

/* Metadata and payload words of all ranks for one kind of access; NULL where there are none. */
static SX_OWN json_t *rank_words(const sx_cost_rank *rank, int n, int kind, int access) {
    json_t *list = json_array();
    bool any = false;
    for (int r = 0; r < n; r++) {
        const double *words = rank[r].words[kind][access];
        json_t *pair = json_array();
        for (int i = 0; i < 2; i++) sx_json_append(pair, count_json(words[i]));
        sx_json_append(list, pair);
        any |= words[0] != 0 || words[1] != 0;
    }
    if (any) return list;
    json_decref(list);
    return NULL;
}

/* The metadata of a tensor's format at a level, its ranks innermost first. */
static void put_metadata(json_t *map, const sx_cost_tensor *t, const sx_cost_rank *rank, int n) {
    json_t *metadata = json_object(), *capacity = json_array();
    char name[40];
    for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++)
        for (int a = 0; a < SX_N_ACCESSES; a++) {
            json_t *words = rank_words(rank, n, kind, a);
            snprintf(name, sizeof name, "%s_metadata_%s", kinds[kind], accesses[a]);
            if (words) sx_json_set(metadata, name, words);
        }
    for (int r = 0; r < n; r++) {
        json_t *pair = json_array();
        for (int i = 0; i < 2; i++) sx_json_append(pair, sx_json_exact(rank[r].capacity[i]));
        sx_json_append(capacity, pair);
    }
    sx_json_set(map, "metadata", metadata);
    sx_json_set(map, "metadata_capacity", capacity);
    sx_json_set(map, "metadata_bits", sx_json_exact(t->metadata_bits));
}

/* Adds what is known of a sparse tensor at a level. */
static void put_sparse(json_t *map, const sx_cost *cost, int s, int v, const sx_problem *problem,
                       const sx_arch *arch) {
    const sx_cost_tensor *t = &cost->level[s].tensor[v];
    put_actions(map, t);
    put_conditions(map, t, problem);
    for (int i = 0; i < arch->sparse.n_formats && t->kept; i++) {
        const sx_tensor_format *f = &arch->sparse.format[i];
        if (f->level == s && sx_problem_tensor(problem, arch->sparse.name[f->tensor]) == v)
            put_metadata(map, t, &cost->rank[f->first], f->n_ranks);
    }
}

static SX_OWN json_t *level_tensor(const sx_cost_tensor *t, const char *name, uint64_t instances) {
    json_t *map = json_object();
    sx_json_set(map, "name", sx_json_text(name));
    sx_json_set(map, "kept", json_boolean(t->kept));
    sx_json_set(map, "utilized_capacity", sx_json_exact(t->tile));
    sx_json_set(map, "reads", share_json(t->reads, instances));
    sx_json_set(map, "fills", share_json(t->fills, instances));
    sx_json_set(map, "updates", share_json(t->updates, instances));
    sx_json_set(map, "energy_pj", sx_json_real(t->energy_pj));
    sx_json_set(map, "temporal_reductions", share_json(t->temporal_reductions, instances));
    sx_json_set(map, "address_generations", count_json(t->address_generations));
    sx_json_set(map, "partition", share_json(t->partition, instances));
    sx_json_set(map, "total_reads", sx_json_exact(t->reads));
    sx_json_set(map, "total_fills", sx_json_exact(t->fills));
    sx_json_set(map, "total_updates", sx_json_exact(t->updates));
    return map;
}

/* Adds the width of a tensor's elements, where one is given, and the words that its tile takes. */
static void put_width(json_t *map, const sx_cost_tensor *t, const sx_storage *level,
                      const sx_tensor *tensor) {
    if (!tensor->bits) return;
    sx_json_set(map, "bits", sx_json_exact(tensor->bits));
    sx_json_set(map, "utilized_words",
                sx_json_exact((uint64_t)sx_element_words(level, tensor, (double)t->tile)));
}

static SX_OWN json_t *level_json(const sx_cost *cost, int s, const sx_problem *problem, const sx_arch *arch) {
    const sx_cost_level *l = &cost->level[s];
    json_t *map = json_object(), *tensors = json_array();
    for (int v = 0; v < problem->n_tensors; v++) {
        json_t *tensor = level_tensor(&l->tensor[v], problem->tensor[v].name, l->instances);
        put_width(tensor, &l->tensor[v], &arch->level[s], &problem->tensor[v]);
        if (cost->sparse) put_sparse(tensor, cost, s, v, problem, arch);
        sx_json_append(tensors, tensor);
    }
    sx_json_set(map, "name", sx_json_text(arch->level[s].name));
    sx_json_set(map, "word_bits", sx_json_exact(arch->level[s].word_bits));
    sx_json_set(map, "instances_used", sx_json_exact(l->instances));
    sx_json_set(map, "clusters_used", sx_json_exact(l->clusters));
    sx_json_set(map, "energy_pj", sx_json_real(l->energy_pj));
    sx_json_set(map, "leakage_pj", sx_json_real(l->leakage_pj));
    sx_json_set(map, "cycles", sx_json_exact(l->cycles));
    sx_json_set(map, "slowdown", sx_json_real(l->slowdown));
    sx_json_set(map, "tensors", tensors);
    return map;
}

static SX_OWN json_t *network_tensor(const sx_cost_net_tensor *t, const char *name) {
    json_t *map = json_object();
    sx_json_set(map, "name", sx_json_text(name));
    sx_json_set(map, "ingresses", count_json(t->ingresses));
    sx_json_set(map, "multicast", sx_json_exact(t->multicast));
    sx_json_set(map, "fanout", sx_json_exact(t->fanout));
    sx_json_set(map, "link_transfers", count_json(t->link_transfers));
    sx_json_set(map, "spatial_reductions", count_json(t->spatial_reductions));
    sx_json_set(map, "hops", sx_json_real(t->hops));
    sx_json_set(map, "energy_pj", sx_json_real(t->energy_pj));
    sx_json_set(map, "link_energy_pj", sx_json_real(t->link_energy_pj));
    return map;
}

/* The network between a level and what is inside it, named as Timeloop does. */
static SX_OWN json_t *network_json(const sx_cost *cost, int s, const sx_problem *problem,
                                   const sx_arch *arch) {
    char name[2 * SX_NAME_SIZE + 8];
    const char *inner = s ? arch->level[s - 1].name : arch->compute.name;
    json_t *map = json_object(), *tensors = json_array();
    snprintf(name, sizeof name, "%s <==> %s", arch->level[s].name, inner);
    for (int v = 0; v < problem->n_tensors; v++)
        sx_json_append(tensors, network_tensor(&cost->network[s].tensor[v], problem->tensor[v].name));
    sx_json_set(map, "name", sx_json_text(name));
    sx_json_set(map, "energy_pj", sx_json_real(cost->network[s].energy_pj));
    sx_json_set(map, "tensors", tensors);
    return map;
}

/* What the latency of a boundary is made of: its stages per launch, and the parts whose sum it is. */
static json_t *latency_parts(const sx_cost_boundary *b) {
    json_t *map = json_object();
    sx_json_set(map, "n", count_json(b->launches));
    sx_json_set(map, "start", sx_json_real(b->start));
    sx_json_set(map, "launches", sx_json_real(b->first));
    sx_json_set(map, "load", sx_json_real(b->load));
    sx_json_set(map, "compute", sx_json_real(b->compute));
    sx_json_set(map, "store", sx_json_real(b->store));
    sx_json_set(map, "period", sx_json_real(b->period));
    sx_json_set(map, "exposed", sx_json_real(b->exposed));
    sx_json_set(map, "drain", sx_json_real(b->drain));
    return map;
}

/* The latency of the tile pipeline, where there is one: as a whole, the parts of the outermost boundary, and of all of
 * them, innermost first. */
static void put_latency(json_t *root, const sx_cost *cost, const sx_arch *arch) {
    if (cost->n_boundaries == 0) return;
    json_t *list = json_array();
    for (int i = 0; i < cost->n_boundaries; i++) {
        json_t *map = latency_parts(&cost->boundary[i]);
        sx_json_set(map, "level", sx_json_text(arch->level[cost->boundary[i].level].name));
        sx_json_append(list, map);
    }
    sx_json_set(root, "latency", sx_json_real(cost->latency));
    sx_json_set(root, "latency_parts", latency_parts(&cost->boundary[cost->n_boundaries - 1]));
    sx_json_set(root, "boundaries", list);
}

sx_status sx_cost_write(const sx_cost *cost, const sx_problem *problem, const sx_arch *arch, char **out) {
    if (cost->n_levels != arch->n_levels || cost->n_tensors != problem->n_tensors)
        return sx_error_new(SX_ERR_USAGE, "the cost is not of this problem and architecture");
    json_t *root = json_object(), *levels = json_array(), *networks = json_array();
    for (int s = 0; s < cost->n_levels; s++) {
        sx_json_append(levels, level_json(cost, s, problem, arch));
        sx_json_append(networks, network_json(cost, s, problem, arch));
    }
    sx_json_set(root, "legal", json_boolean(true));
    sx_json_set(root, "cycles", sx_json_exact(cost->cycles));
    sx_json_set(root, "energy_pj", sx_json_real(cost->energy_pj));
    sx_json_set(root, "edp", sx_json_real(cost->edp));
    sx_json_set(root, "utilization", sx_json_real(cost->utilization));
    sx_json_set(root, "computes", sx_json_exact(cost->computes));
    if (cost->sparse) {
        sx_json_set(root, "sparse", json_boolean(true));
        sx_json_set(root, "gated_computes", count_json(cost->gated_computes));
        sx_json_set(root, "skipped_computes", count_json(cost->skipped_computes));
        sx_json_set(root, "algorithmic_computes", sx_json_exact(cost->algorithmic_computes));
    }
    sx_json_set(root, "compute_cycles", sx_json_exact(cost->compute_cycles));
    sx_json_set(root, "compute_instances_used", sx_json_exact(cost->compute_instances));
    sx_json_set(root, "compute_energy_pj", sx_json_real(cost->compute_energy_pj));
    sx_json_set(root, "last_level_accesses", count_json(cost->last_level_accesses));
    sx_json_set(root, "perfect", json_boolean(cost->perfect));
    put_latency(root, cost, arch);
    sx_json_set(root, "levels", levels);
    sx_json_set(root, "networks", networks);
    return sx_json_write(root, SX_JSON, out);
}
