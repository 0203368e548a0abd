/* The first dialect: `arithmetic` and a list of `storage` levels, innermost first. Beside Timeloop's keys a
 * level may have `keep` (the only tensors it is built for), `bypass`, `transparent`, `banks`, `leak_energy`,
 * and `read_energy`, `fill_energy` and `update_energy` instead of an ERT, and the architecture a name:
 * everything an architecture can hold can be written in it. */
#include "frontend/known_keys.h"
#include "frontend/timeloop/arch_builder.h"
#include "frontend/timeloop/constraints.h"
#include "ir/arch.h"

#include <stdio.h>
#include <string.h>

/* The element a map describes; what it has is checked against the keys. A name must be there where `out` has
 * none to take its place. */
static sx_status read_element(sx_arch_builder *b, const sx_node *map, const char *kind, const sx_keys *keys,
                              sx_arch_component *out) {
    char what[SX_NAME_SIZE + 32];
    const sx_node *name = sx_node_get(map, "name");
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, kind));
    if (!name && !out->name) return sx_node_require(map, "name", kind, &name);
    if (name) SX_TRY(sx_node_text(name, "name", &out->name));
    out->name_size = strlen(out->name);
    out->place = name ? name->place : map->place;
    snprintf(what, sizeof what, "%s '%.*s'", kind, SX_NAME_SIZE - 1, out->name);
    return sx_node_check_keys(b->input, map, what, keys);
}

/* Reads the energies of gated and skipped accesses and of metadata. */
static sx_status read_action_energies(const sx_node *map, sx_metadata_store *m) {
    const sx_node *energies = sx_node_get(map, "action_energies");
    if (!energies) return SX_OK;
    SX_TRY(sx_node_expect(energies, SX_NODE_MAP, "'action_energies'"));
    for (size_t i = 0; i < energies->n; i++) {
        double *energy = sx_action_energy(m, energies->pair[i].key);
        if (!energy)
            return sx_error_hint(
                sx_error_at(energies->pair[i].place, "'%.64s' is not a known action", energies->pair[i].key),
                "such as gated_read, skipped_update, metadata_fill, gated_metadata_read");
        SX_TRY(sx_node_double(energies->pair[i].value, energies->pair[i].key, energy));
    }
    return SX_OK;
}

/* Reads the energies of a level's own; all three of an access or none. */
static sx_status read_energies(const sx_attribute_scope *scope, sx_storage *level, sx_level_draft *draft) {
    static const char *const keys[] = {"read_energy", "fill_energy", "update_energy"};
    double *const energy[] = {&level->read_energy, &level->fill_energy, &level->update_energy};
    const char *given = sx_attribute_first(scope, keys, 3);
    for (int i = 0; i < 3 && given; i++) {
        if (!sx_attribute_pair(scope, keys[i]))
            return sx_error_at(sx_attribute_pair(scope, given)->place, "'%s' is given without '%s'", given,
                               keys[i]);
        SX_TRY(sx_attribute_double(scope, keys[i], energy[i]));
        draft->energy_given = true;
    }
    draft->leak_given = sx_attribute_pair(scope, "leak_energy");
    SX_TRY(sx_attribute_bool(scope, "unpriced", &level->unpriced));
    return sx_attribute_double(scope, "leak_energy", &level->leak_energy);
}

static sx_status read_storage(sx_arch_builder *b, const sx_node *map, const sx_attribute_scope *variables) {
    const sx_attribute_scope scope = {.map = map, .outer = variables};
    sx_arch_component element = {.attributes = &scope};
    const sx_keys keys = sx_storage_keys(true);
    sx_storage *level;
    SX_TRY(read_element(b, map, "the storage level", &keys, &element));
    SX_TRY(sx_builder_storage(b, &element, &level));
    SX_TRY(read_energies(&scope, level, &b->draft[b->arch.n_levels - 1]));
    SX_TRY(read_action_energies(map, &level->metadata));
    SX_TRY(sx_tensor_names(map, "keep", level->keeps, &level->n_keeps));
    SX_TRY(sx_tensor_names(map, "bypass", level->bypasses, &level->n_bypasses));
    SX_TRY(sx_attribute_u32(&scope, "banks", &level->banks));
    bool transparent = level->transparent;
    SX_TRY(sx_attribute_bool(&scope, "transparent", &transparent));
    level->transparent |= transparent;
    return SX_OK;
}

static sx_status read_compute(sx_arch_builder *b, const sx_node *map, const sx_attribute_scope *variables) {
    const sx_attribute_scope scope = {.map = map, .outer = variables};
    sx_arch_component element = {.name = "arithmetic", .attributes = &scope};
    const sx_keys keys = sx_compute_keys(true);
    SX_TRY(read_element(b, map, "the arithmetic", &keys, &element));
    SX_TRY(sx_builder_compute(b, &element));
    SX_TRY(sx_attribute_bool(&scope, "unpriced", &b->arch.compute.unpriced));
    SX_TRY(sx_attribute_double(&scope, "gated_energy", &b->arch.compute.gated_energy));
    return sx_attribute_double(&scope, "skipped_energy", &b->arch.compute.skipped_energy);
}

static const sx_key_rule vector_unit_rules[] = {
    SX_KEY("lanes", "expression!", "elements per cycle"),
    SX_KEY("energy", "expression", "pJ of an element"),
    SX_KEY("exp", "expression", "elements that an exponential function counts as"),
    SX_KEY("row", "expression", "elements that stay in the unit between passes"),
    SX_KEY("passes", "expression", "passes over memory of softmax and norms"),
    SX_KEY_IDLE("comment"),
    SX_KEY_IDLE("technology"),
    SX_KEY_IDLE(SX_CYCLE_KEY),
};
const sx_keys sx_keys_vector_unit = SX_KEYS("vector_unit", true, vector_unit_rules);

sx_status sx_arch_read_vector(sx_arch_builder *b, const sx_node *map, const sx_attribute_scope *variables,
                              uint64_t instances) {
    const sx_attribute_scope scope = {.map = map, .outer = variables};
    sx_vector_unit *unit = &b->arch.vector;
    const sx_node *lanes;
    if (unit->lanes > 0) return sx_error_at(map->place, "the architecture has a second vector unit");
    *unit = (sx_vector_unit){.exp = SX_VECTOR_EXP, .passes = SX_VECTOR_PASSES};
    SX_TRY(sx_node_check_keys(b->input, map, "the vector unit", &sx_keys_vector_unit));
    SX_TRY(sx_node_require(map, "lanes", "the vector unit", &lanes));
    SX_TRY(sx_attribute_double(&scope, "lanes", &unit->lanes));
    unit->lanes *= (double)instances;
    SX_TRY(sx_attribute_double(&scope, "energy", &unit->energy));
    SX_TRY(sx_attribute_double(&scope, "exp", &unit->exp));
    SX_TRY(sx_attribute_u64(&scope, "row", &unit->row));
    SX_TRY(sx_attribute_u32(&scope, "passes", &unit->passes));
    return sx_error_place(sx_vector_unit_check(unit), map->place);
}

static const sx_key_rule flat_arch_rules[] = {
    SX_KEY("name", "text", "of the architecture"),
    SX_KEY("arithmetic", "@compute!", "the compute units"),
    SX_KEY("storage", "[@storage]!", "the levels, innermost first"),
    SX_KEY("constraints", "@constraints", "constraints of mappings"),
    SX_KEY("sparse_optimizations", "@sparse|[@sparse_target]|null", "formats, gating and skipping"),
    SX_KEY("vector", "@vector_unit", "the unit for softmax, norms and the like"),
    SX_KEY(SX_CYCLE_KEY, "expression", "seconds of a cycle"),
    SX_KEY_IDLE("version"),
};
const sx_keys sx_keys_flat_arch = SX_KEYS("flat_arch", true, flat_arch_rules);

sx_status sx_arch_read_flat(sx_arch_builder *b, const sx_node *arch, const sx_attribute_scope *variables) {
    const sx_node *storage, *arithmetic, *clock = sx_node_get(arch, SX_CYCLE_KEY);
    double seconds;
    SX_TRY(sx_node_check_keys(b->input, arch, "the architecture", &sx_keys_flat_arch));
    SX_TRY(sx_node_require(arch, "arithmetic", "the architecture", &arithmetic));
    SX_TRY(sx_node_require(arch, "storage", "the architecture", &storage));
    SX_TRY(sx_node_expect(storage, SX_NODE_LIST, "'storage'"));
    SX_TRY(sx_node_get_name(arch, "name", b->arch.name));
    if (clock) SX_TRY(sx_node_double(clock, SX_CYCLE_KEY, &seconds));
    if (clock) SX_TRY(sx_builder_clock(b, clock->place, seconds));
    b->sparse = sx_node_get(arch, "sparse_optimizations");
    SX_TRY(read_compute(b, arithmetic, variables));
    for (size_t i = 0; i < storage->n; i++) SX_TRY(read_storage(b, storage->item[i], variables));
    return SX_OK;
}
