/* The architecture in Timeloop's flat dialect, innermost level first. Energies are written out, so that no
 * table is needed to read it back; keys of our own: read_energy, fill_energy, update_energy, leak_energy,
 * keep, bypass, banks, transparent. */
#include "ir/arch.h"
#include "frontend/write/latency_section.h"
#include "frontend/write/sparse_section.h"

#include <math.h>

/* Puts a number unless it is infinite: no limit is no key. */
static void put_limit(sx_tree *tree, json_t *map, const char *key, double value) {
    if (isfinite(value)) sx_tree_put(tree, map, key, sx_tree_double(tree, value));
}

static void put_names(sx_tree *tree, json_t *map, const char *key, const char (*names)[SX_NAME_SIZE], int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; i++) sx_tree_append(tree, list, sx_tree_text(tree, names[i]));
    if (n)
        sx_tree_put(tree, map, key, list);
    else
        json_decref(list);
}

static void put_mesh(sx_tree *tree, json_t *map, uint64_t instances, uint64_t x, uint64_t y) {
    sx_tree_put(tree, map, "instances", sx_tree_u64(tree, instances));
    sx_tree_put(tree, map, "meshX", sx_tree_u64(tree, x));
    sx_tree_put(tree, map, "meshY", sx_tree_u64(tree, y));
}

/* What a level's accesses cost, and its network. */
static void put_energies(sx_tree *tree, json_t *map, const sx_storage *s) {
    sx_tree_put(tree, map, "read_energy", sx_tree_double(tree, s->read_energy));
    sx_tree_put(tree, map, "fill_energy", sx_tree_double(tree, s->fill_energy));
    sx_tree_put(tree, map, "update_energy", sx_tree_double(tree, s->update_energy));
    sx_tree_put(tree, map, "leak_energy", sx_tree_double(tree, s->leak_energy));
    sx_tree_put(tree, map, "addr-gen-energy", sx_tree_double(tree, s->addr_gen_energy));
    sx_tree_put(tree, map, "energy-per-hop", sx_tree_double(tree, s->energy_per_hop));
    sx_tree_put(tree, map, "router-energy", sx_tree_double(tree, s->router_energy));
    if (s->fill_latency) sx_tree_put(tree, map, "network_fill_latency", sx_tree_u64(tree, s->fill_latency));
    if (s->drain_latency)
        sx_tree_put(tree, map, "network_drain_latency", sx_tree_u64(tree, s->drain_latency));
}

/* What a level has for sparse tensors. */
static void put_metadata(sx_tree *tree, json_t *map, const sx_metadata_store *from) {
    sx_metadata_store m = *from;
    json_t *energies = json_object();
    const char *name;
    if (m.word_bits) sx_tree_put(tree, map, "metadata_word_bits", sx_tree_u64(tree, m.word_bits));
    if (m.width) sx_tree_put(tree, map, "metadata_storage_width", sx_tree_u64(tree, m.width));
    if (m.depth) sx_tree_put(tree, map, "metadata_storage_depth", sx_tree_u64(tree, m.depth));
    if (m.decompresses) sx_tree_put(tree, map, "decompression_supported", sx_tree_bool(true));
    if (m.compresses) sx_tree_put(tree, map, "compression_supported", sx_tree_bool(true));
    for (size_t i = 0; (name = sx_action_energy_name(i)); i++) {
        double energy = *sx_action_energy(&m, name);
        if (energy > 0) sx_tree_put(tree, energies, name, sx_tree_double(tree, energy));
    }
    if (json_object_size(energies))
        sx_tree_put(tree, map, "action_energies", energies);
    else
        json_decref(energies);
}

/* What a level may keep. */
static void put_tensors(sx_tree *tree, json_t *map, const sx_storage *s) {
    if (s->transparent) sx_tree_put(tree, map, "transparent", sx_tree_bool(true));
    put_names(tree, map, "keep", s->keeps, s->n_keeps);
    put_names(tree, map, "bypass", s->bypasses, s->n_bypasses);
    if (!s->n_scales) return;
    json_t *scales = json_object();
    for (int i = 0; i < s->n_scales; i++)
        sx_tree_put(tree, scales, s->bandwidth_scale[i].tensor,
                    sx_tree_double(tree, s->bandwidth_scale[i].scale));
    sx_tree_put(tree, map, "per_dataspace_bandwidth_consumption_scale", scales);
}

static SX_OWN json_t *storage(sx_tree *tree, const sx_arch *arch, const sx_storage *s) {
    json_t *map = json_object();
    sx_tree_put(tree, map, "name", sx_tree_text(tree, s->name));
    sx_tree_put(tree, map, "technology", sx_tree_text(tree, s->technology == SX_DRAM ? "DRAM" : "SRAM"));
    if (s->entries != SX_UNLIMITED) sx_tree_put(tree, map, "entries", sx_tree_u64(tree, s->entries));
    put_mesh(tree, map, s->instances, s->mesh_x, s->mesh_y);
    sx_tree_put(tree, map, "word-bits", sx_tree_u64(tree, s->word_bits));
    sx_tree_put(tree, map, "block-size", sx_tree_u64(tree, s->block_size));
    sx_tree_put(tree, map, "cluster-size", sx_tree_u64(tree, s->cluster_size));
    if (s->banks) sx_tree_put(tree, map, "banks", sx_tree_u64(tree, s->banks));
    sx_tree_put(tree, map, "multiple-buffering", sx_tree_double(tree, s->multiple_buffering));
    sx_tree_put(tree, map, "min-utilization", sx_tree_double(tree, s->min_utilization));
    put_limit(tree, map, "read_bandwidth", s->read_bandwidth);
    put_limit(tree, map, "write_bandwidth", s->write_bandwidth);
    put_limit(tree, map, "shared_bandwidth", s->shared_bandwidth);
    sx_tree_put(tree, map, "reduction_supported", sx_tree_bool(s->reduction_supported));
    if (s->power_gated_at >= 0 && &arch->level[s->power_gated_at] != s)
        sx_tree_put(tree, map, "power_gated_at", sx_tree_text(tree, arch->level[s->power_gated_at].name));
    put_energies(tree, map, s);
    if (s->area > 0) sx_tree_put(tree, map, "area", sx_tree_double(tree, s->area));
    put_metadata(tree, map, &s->metadata);
    if (s->law) sx_tree_put(tree, map, "latency", sx_law_tree(tree, &arch->law[s->law - 1]));
    put_tensors(tree, map, s);
    return map;
}

/* Adds the vector unit, where there is one. */
static void put_vector(sx_tree *tree, json_t *body, const sx_vector_unit *unit) {
    if (!(unit->lanes > 0)) return;
    json_t *map = json_object();
    sx_tree_put(tree, map, "lanes", sx_tree_double(tree, unit->lanes));
    sx_tree_put(tree, map, "energy", sx_tree_double(tree, unit->energy));
    sx_tree_put(tree, map, "exp", sx_tree_double(tree, unit->exp));
    if (unit->row) sx_tree_put(tree, map, "row", sx_tree_u64(tree, unit->row));
    sx_tree_put(tree, map, "passes", sx_tree_u64(tree, unit->passes));
    sx_tree_put(tree, body, "vector", map);
}

sx_status sx_arch_write(const sx_arch *arch, sx_format format, char **out) {
    SX_TRY(sx_arch_check(arch));
    sx_tree tree = {0};
    json_t *root = json_object(), *body = json_object(), *compute = json_object(), *levels = json_array();
    sx_tree_put(&tree, compute, "name", sx_tree_text(&tree, arch->compute.name));
    put_mesh(&tree, compute, arch->compute.instances, arch->compute.mesh_x, arch->compute.mesh_y);
    sx_tree_put(&tree, compute, "word-bits", sx_tree_u64(&tree, arch->compute.word_bits));
    sx_tree_put(&tree, compute, "energy", sx_tree_double(&tree, arch->compute.energy));
    if (arch->compute.gated_energy >= 0)
        sx_tree_put(&tree, compute, "gated_energy", sx_tree_double(&tree, arch->compute.gated_energy));
    if (arch->compute.skipped_energy >= 0)
        sx_tree_put(&tree, compute, "skipped_energy", sx_tree_double(&tree, arch->compute.skipped_energy));
    if (arch->compute.area > 0)
        sx_tree_put(&tree, compute, "area", sx_tree_double(&tree, arch->compute.area));
    for (int s = 0; s < arch->n_levels; s++)
        sx_tree_append(&tree, levels, storage(&tree, arch, &arch->level[s]));
    if (arch->name[0]) sx_tree_put(&tree, body, "name", sx_tree_text(&tree, arch->name));
    if (arch->cycle_seconds > 0)
        sx_tree_put(&tree, body, "global_cycle_seconds", sx_tree_double(&tree, arch->cycle_seconds));
    sx_tree_put(&tree, body, "arithmetic", compute);
    sx_tree_put(&tree, body, "storage", levels);
    put_vector(&tree, body, &arch->vector);
    if (sx_sparse_active(&arch->sparse))
        sx_tree_put(&tree, body, "sparse_optimizations", sx_sparse_tree(&tree, arch));
    sx_tree_put(&tree, root, "arch", body);
    return sx_tree_print(&tree, root, format, out);
}
