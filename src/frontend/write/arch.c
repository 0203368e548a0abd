/* The architecture in Timeloop's flat dialect, innermost level first. Energies are written out, so that no
 * table is needed to read it back; keys of our own: read_energy, fill_energy, update_energy, leak_energy,
 * keep, bypass, banks, transparent. */
#include "ir/arch.h"
#include "frontend/write/latency_section.h"
#include "frontend/write/sparse_section.h"

#include <math.h>

/* Puts a number unless it is infinite: no limit is no key. */
static void put_limit(json_t *map, const char *key, double value) {
    if (isfinite(value)) sx_json_set(map, key, sx_json_real(value));
}

static void put_names(json_t *map, const char *key, const char (*names)[SX_NAME_SIZE], int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; i++) sx_json_append(list, sx_json_text(names[i]));
    if (n)
        sx_json_set(map, key, list);
    else
        json_decref(list);
}

static void put_mesh(json_t *map, uint64_t instances, uint64_t x, uint64_t y) {
    sx_json_set(map, "instances", sx_json_exact(instances));
    sx_json_set(map, "meshX", sx_json_exact(x));
    sx_json_set(map, "meshY", sx_json_exact(y));
}

/* What a level's accesses cost, and its network. */
static void put_energies(json_t *map, const sx_storage *s) {
    sx_json_set(map, "read_energy", sx_json_real(s->read_energy));
    sx_json_set(map, "fill_energy", sx_json_real(s->fill_energy));
    sx_json_set(map, "update_energy", sx_json_real(s->update_energy));
    sx_json_set(map, "leak_energy", sx_json_real(s->leak_energy));
    if (s->unpriced) sx_json_set(map, "unpriced", json_boolean(true));
    sx_json_set(map, "addr-gen-energy", sx_json_real(s->addr_gen_energy));
    sx_json_set(map, "energy-per-hop", sx_json_real(s->energy_per_hop));
    sx_json_set(map, "router-energy", sx_json_real(s->router_energy));
    if (s->fill_latency) sx_json_set(map, "network_fill_latency", sx_json_exact(s->fill_latency));
    if (s->drain_latency) sx_json_set(map, "network_drain_latency", sx_json_exact(s->drain_latency));
}

/* What a level has for sparse tensors. */
static void put_metadata(json_t *map, const sx_metadata_store *from) {
    sx_metadata_store m = *from;
    json_t *energies = json_object();
    const char *name;
    if (m.word_bits) sx_json_set(map, "metadata_word_bits", sx_json_exact(m.word_bits));
    if (m.width) sx_json_set(map, "metadata_storage_width", sx_json_exact(m.width));
    if (m.depth) sx_json_set(map, "metadata_storage_depth", sx_json_exact(m.depth));
    if (m.decompresses) sx_json_set(map, "decompression_supported", json_boolean(true));
    if (m.compresses) sx_json_set(map, "compression_supported", json_boolean(true));
    for (size_t i = 0; (name = sx_action_energy_name(i)); i++) {
        double energy = *sx_action_energy(&m, name);
        if (energy > 0) sx_json_set(energies, name, sx_json_real(energy));
    }
    if (json_object_size(energies))
        sx_json_set(map, "action_energies", energies);
    else
        json_decref(energies);
}

/* What a level may keep. */
static void put_tensors(json_t *map, const sx_storage *s) {
    if (s->transparent) sx_json_set(map, "transparent", json_boolean(true));
    put_names(map, "keep", s->keeps, s->n_keeps);
    put_names(map, "bypass", s->bypasses, s->n_bypasses);
    if (!s->n_scales) return;
    json_t *scales = json_object();
    for (int i = 0; i < s->n_scales; i++)
        sx_json_set(scales, s->bandwidth_scale[i].tensor, sx_json_real(s->bandwidth_scale[i].scale));
    sx_json_set(map, "per_dataspace_bandwidth_consumption_scale", scales);
}

static SX_OWN json_t *write_storage(const sx_arch *arch, const sx_storage *s) {
    json_t *map = json_object();
    sx_json_set(map, "name", sx_json_text(s->name));
    sx_json_set(map, "technology", sx_json_text(s->technology == SX_DRAM ? "DRAM" : "SRAM"));
    if (s->entries != SX_UNLIMITED) sx_json_set(map, "entries", sx_json_exact(s->entries));
    put_mesh(map, s->instances, s->mesh_x, s->mesh_y);
    sx_json_set(map, "word-bits", sx_json_exact(s->word_bits));
    sx_json_set(map, "block-size", sx_json_exact(s->block_size));
    sx_json_set(map, "cluster-size", sx_json_exact(s->cluster_size));
    if (s->banks) sx_json_set(map, "banks", sx_json_exact(s->banks));
    sx_json_set(map, "multiple-buffering", sx_json_real(s->multiple_buffering));
    sx_json_set(map, "min-utilization", sx_json_real(s->min_utilization));
    put_limit(map, "read_bandwidth", s->read_bandwidth);
    put_limit(map, "write_bandwidth", s->write_bandwidth);
    put_limit(map, "shared_bandwidth", s->shared_bandwidth);
    sx_json_set(map, "reduction_supported", json_boolean(s->reduction_supported));
    if (s->power_gated_at >= 0 && &arch->level[s->power_gated_at] != s)
        sx_json_set(map, "power_gated_at", sx_json_text(arch->level[s->power_gated_at].name));
    put_energies(map, s);
    if (s->area > 0) sx_json_set(map, "area", sx_json_real(s->area));
    put_metadata(map, &s->metadata);
    if (s->law) sx_json_set(map, "latency", sx_law_tree(&arch->law[s->law - 1]));
    put_tensors(map, s);
    return map;
}

/* Adds the vector unit, where there is one. */
static void put_vector(json_t *body, const sx_vector_unit *unit) {
    if (!(unit->lanes > 0)) return;
    json_t *map = json_object();
    sx_json_set(map, "lanes", sx_json_real(unit->lanes));
    sx_json_set(map, "energy", sx_json_real(unit->energy));
    sx_json_set(map, "exp", sx_json_real(unit->exp));
    if (unit->row) sx_json_set(map, "row", sx_json_exact(unit->row));
    sx_json_set(map, "passes", sx_json_exact(unit->passes));
    sx_json_set(body, "vector", map);
}

sx_status sx_arch_write(const sx_arch *arch, sx_format format, char **out) {
    SX_TRY(sx_arch_check(arch));
    json_t *root = json_object(), *body = json_object(), *compute = json_object(), *levels = json_array();
    sx_json_set(compute, "name", sx_json_text(arch->compute.name));
    put_mesh(compute, arch->compute.instances, arch->compute.mesh_x, arch->compute.mesh_y);
    sx_json_set(compute, "word-bits", sx_json_exact(arch->compute.word_bits));
    sx_json_set(compute, "energy", sx_json_real(arch->compute.energy));
    if (arch->compute.unpriced) sx_json_set(compute, "unpriced", json_boolean(true));
    if (arch->compute.gated_energy >= 0)
        sx_json_set(compute, "gated_energy", sx_json_real(arch->compute.gated_energy));
    if (arch->compute.skipped_energy >= 0)
        sx_json_set(compute, "skipped_energy", sx_json_real(arch->compute.skipped_energy));
    if (arch->compute.area > 0) sx_json_set(compute, "area", sx_json_real(arch->compute.area));
    for (int s = 0; s < arch->n_levels; s++) sx_json_append(levels, write_storage(arch, &arch->level[s]));
    if (arch->name[0]) sx_json_set(body, "name", sx_json_text(arch->name));
    if (arch->cycle_seconds > 0) sx_json_set(body, "global_cycle_seconds", sx_json_real(arch->cycle_seconds));
    sx_json_set(body, "arithmetic", compute);
    sx_json_set(body, "storage", levels);
    put_vector(body, &arch->vector);
    if (sx_sparse_active(&arch->sparse)) sx_json_set(body, "sparse_optimizations", sx_sparse_tree(arch));
    sx_json_set(root, "arch", body);
    return sx_json_write(root, format, out);
}
