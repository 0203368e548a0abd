#include "frontend/timeloop/arch_builder.h"

#include "base/text.h"
#include "frontend/timeloop/constraints.h"
#include "frontend/timeloop/ert.h"
#include "frontend/timeloop/sparse_section.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* Puts the levels innermost first. */
static void reverse_levels(sx_arch_builder *b) {
    for (int i = 0, j = b->arch.n_levels - 1; i < j; i++, j--) {
        sx_storage level = b->arch.level[i];
        sx_level_draft draft = b->draft[i];
        b->arch.level[i] = b->arch.level[j];
        b->draft[i] = b->draft[j];
        b->arch.level[j] = level;
        b->draft[j] = draft;
    }
}

/* Finds the level that gates each level's power; a level that names itself gates its own. */
static sx_status settle_gates(sx_arch_builder *b) {
    for (int s = 0; s < b->arch.n_levels; s++) {
        const sx_pair *gate = b->draft[s].gate;
        const char *name, *known[SX_MAX_LEVELS];
        if (!gate) continue;
        SX_TRY(sx_node_text(gate->value, "power_gated_at", &name));
        int level = sx_arch_level(&b->arch, name);
        for (int i = 0; i < b->arch.n_levels; i++) known[i] = b->arch.level[i].name;
        if (level < 0)
            return sx_error_unknown(gate->value->place, "storage level", name, known, b->arch.n_levels);
        b->arch.level[s].power_gated_at = (int8_t)(level == s ? -1 : level);
    }
    return SX_OK;
}

/* Says that the ERT lacks a component, whose energies are then those of the technology model. */
static sx_status warn_missing(sx_arch_builder *b, const sx_ert *ert, const char *name) {
    return sx_input_warn(b->input, ert->place,
                         "the ERT has no table for '%s': its energies come from formulas", name);
}

/* Warns that a table of the ERT has no action that is looked for, as one that has only `access`. */
static sx_status note_useless(sx_arch_builder *b, const sx_ert *ert, const char *name, const char *wanted) {
    double access = -1;
    SX_TRY(sx_ert_energy(ert, sx_ert_table(ert, name), (const char *const[]){"access"}, 1, &access));
    return sx_input_warn(b->input, ert->place,
                         "the ERT's table of '%s' has %snone of %s: its energies come from formulas", name,
                         access >= 0 ? "'access' but " : "", wanted);
}

/* The energy of the first of some actions that a table has, named by a prefix, a middle and an end; the table
 * of `write` serves for fills and updates. */
static sx_status sparse_energy(const sx_ert *ert, const sx_node *table, const char *const *prefixes, size_t n,
                               int access, double *out) {
    static const char *const ends[SX_N_ACCESSES] = {"read", "fill", "update"};
    for (size_t i = 0; i < n; i++)
        for (int write = 0; write <= (access != SX_READ); write++) {
            char name[64];
            const char *const action = name;
            double energy = -1;
            snprintf(name, sizeof name, "%s%s", prefixes[i], write ? "write" : ends[access]);
            SX_TRY(sx_ert_energy(ert, table, &action, 1, &energy));
            if (energy < 0) continue;
            *out = energy;
            return SX_OK;
        }
    return SX_OK;
}

/* Takes the energies of gated and skipped accesses and of metadata. */
static sx_status take_sparse_energies(const sx_ert *ert, const sx_node *table, sx_metadata_store *m) {
    static const char *const data[][2] = {{"gated_", NULL}, {"skipped_", "gated_"}};
    static const char *const metadata[][2] = {{"random_metadata_", "metadata_"},
                                              {"gated_metadata_", NULL},
                                              {"skipped_metadata_", "gated_metadata_"}};
    for (int a = 0; a < SX_N_ACCESSES; a++) {
        SX_TRY(sparse_energy(ert, table, data[0], 1, a, &m->data_energy[SX_GATED][a]));
        SX_TRY(sparse_energy(ert, table, data[1], 2, a, &m->data_energy[SX_SKIPPED][a]));
        SX_TRY(sparse_energy(ert, table, metadata[0], 2, a, &m->metadata_energy[SX_RANDOM][a]));
        SX_TRY(sparse_energy(ert, table, metadata[1], 1, a, &m->metadata_energy[SX_GATED][a]));
        SX_TRY(sparse_energy(ert, table, metadata[2], 2, a, &m->metadata_energy[SX_SKIPPED][a]));
    }
    SX_TRY(
        sx_ert_energy(ert, table, (const char *const[]){"decompression_count"}, 1, &m->decompression_energy));
    return sx_ert_energy(ert, table, (const char *const[]){"compression_count"}, 1, &m->compression_energy);
}

/* Takes the energies that the ERT has for a level. */
static sx_status take_energies(sx_arch_builder *b, const sx_ert *ert, int level) {
    static const char *const read[] = {"random_read", "read"};
    static const char *const fill[] = {"random_fill", "random_write", "fill", "write"};
    static const char *const update[] = {"random_update", "random_write", "update", "write"};
    sx_storage *s = &b->arch.level[level];
    const sx_node *table = sx_ert_table(ert, s->name);
    double energy[3] = {-1, -1, -1};
    SX_TRY(sx_ert_check_actions(b->input, ert, s->name, false));
    SX_TRY(sx_ert_energy(ert, table, read, N(read), &energy[0]));
    SX_TRY(sx_ert_energy(ert, table, fill, N(fill), &energy[1]));
    SX_TRY(sx_ert_energy(ert, table, update, N(update), &energy[2]));
    const bool any = energy[0] >= 0 || energy[1] >= 0 || energy[2] >= 0;
    for (int a = 0; a < 3 && any; a++)
        if (energy[a] < 0)
            SX_TRY(sx_input_warn(b->input, table->place,
                                 "the ERT's table of '%s' has no '%s': its energy comes from the formula",
                                 s->name, (const char *const[]){"read", "fill", "update"}[a]));
    if (energy[0] >= 0) s->read_energy = energy[0];
    if (energy[1] >= 0) s->fill_energy = energy[1];
    if (energy[2] >= 0) s->update_energy = energy[2];
    s->unpriced &= !any;
    if (any)
        b->draft[level].source = SX_BY_ERT;
    else
        SX_TRY(note_useless(b, ert, s->name, "read, fill, update and write"));
    SX_TRY(take_sparse_energies(ert, table, &s->metadata));
    if (b->draft[level].leak_given) return SX_OK;
    return sx_ert_energy(ert, table, (const char *const[]){"leak"}, 1, &s->leak_energy);
}

/* Gives a level its energies: its own, else the ERT's, else the technology model's, which also stands in for
 * actions that the ERT lacks. */
static sx_status settle_level(sx_arch_builder *b, const sx_ert *ert, int level) {
    sx_storage *s = &b->arch.level[level];
    const bool given = b->draft[level].energy_given && !sx_input_estimates_all(b->input);
    const double leak = s->leak_energy, area = s->area;
    b->draft[level].source = given ? SX_BY_ARCH : SX_BY_FORMULA;
    if (s->transparent || given) return SX_OK;
    const sx_node *table = sx_ert_table(ert, s->name);
    bool unsized = s->technology == SX_SRAM && s->entries == SX_UNLIMITED;
    if (ert->tables && !table && !b->draft[level].component.unknown)
        SX_TRY(unsized ? sx_ert_missing(ert, s->name) : warn_missing(b, ert, s->name));
    if (unsized && !table)
        return sx_error_hint(
            sx_error_at(b->draft[level].place, "'%s' has neither a size nor an energy", s->name),
            "give 'entries' or 'depth', 'vector-access-energy', or an ERT");
    if (!unsized) sx_builder_estimate_level(b, level);
    if (!table) return SX_OK;
    s->leak_energy = leak;
    s->area = area;
    return take_energies(b, ert, level);
}

static sx_status settle_compute(sx_arch_builder *b, const sx_ert *ert) {
    static const char *const actions[] = {"mac_random", "mult_random", "mac", "mult", "compute"};
    static const char *const gated[] = {"mac_gated", "mult_gated", "compute_gated"};
    static const char *const skipped[] = {"mac_skipped", "mult_skipped", "compute_skipped"};
    sx_compute *c = &b->arch.compute;
    const sx_node *table = sx_ert_table(ert, c->name);
    double energy = -1;
    const bool given = b->compute_energy_given && !sx_input_estimates_all(b->input);
    b->compute_source = given ? SX_BY_ARCH : SX_BY_FORMULA;
    if (!given) sx_builder_estimate_compute(b, !table);
    if (!table) return ert->tables && !given && !c->unpriced ? warn_missing(b, ert, c->name) : SX_OK;
    SX_TRY(sx_ert_check_actions(b->input, ert, c->name, true));
    SX_TRY(sx_ert_energy(ert, table, actions, N(actions), &energy));
    if (energy >= 0) {
        c->energy = energy;
        c->unpriced = false;
        b->compute_source = SX_BY_ERT;
        SX_TRY(sx_ert_energy(ert, table, gated, N(gated), &c->gated_energy));
        c->skipped_energy = c->gated_energy;
        return sx_ert_energy(ert, table, skipped, N(skipped), &c->skipped_energy);
    }
    return note_useless(b, ert, c->name, "mac, mult and compute");
}

/* Says that a component's energies are not scaled: a warning where neither the architecture nor an ERT states them. */
static sx_status tell_scale(sx_arch_builder *b, const char *name, sx_place place, sx_energy_source source) {
    if (source >= SX_UNPRICED)
        return sx_input_add_note(b->input, place, "'energy_scale' of '%s' has no effect on the result", name);
    return sx_input_warn(b->input, place,
                         "'energy_scale' of '%s' is ignored: energies of formulas and estimates are not "
                         "scaled, those of an ERT have it in them",
                         name);
}

static sx_status tell_scales(sx_arch_builder *b) {
    for (int s = 0; s < b->arch.n_levels; s++)
        if (b->draft[s].scaled)
            SX_TRY(tell_scale(b, b->arch.level[s].name, b->draft[s].place, b->draft[s].source));
    return b->compute_scaled ? tell_scale(b, b->arch.compute.name, b->place, b->compute_source) : SX_OK;
}

/* The energy of a hop where wires are described instead: bits * length * energy. An ERT's table of wires
 * counts for all levels; where nothing states an energy, wires of a stated length and routers are estimated. */
static sx_status settle_wires(sx_arch_builder *b, const sx_ert *ert) {
    double wire = 0;
    const sx_node *table = sx_ert_table(ert, "wire");
    if (!table) table = sx_ert_table(ert, "Wire");
    if (table) SX_TRY(sx_ert_energy(ert, table, (const char *const[]){"transfer_random"}, 1, &wire));
    for (int s = 0; s < b->arch.n_levels; s++) {
        const sx_level_draft *draft = &b->draft[s];
        double energy = wire > 0 ? wire : draft->wire_energy;
        if (!(energy > 0)) sx_builder_estimate_network(b, s, &energy);
        if (draft->hop_given || !(energy > 0)) continue;
        if (!draft->tile_given && sx_input_section(b->input, "ART", 0))
            return sx_error_hint(
                sx_error_at(draft->place, "the wires of '%s' have no length", b->arch.level[s].name),
                "give 'tile-width'; lengths are not derived from areas");
        b->arch.level[s].energy_per_hop = draft->network_bits * (draft->tile_width / 1000) * energy;
    }
    return SX_OK;
}

/* Adds the names of the components whose energies come from a source; false where there are none. */
static bool add_components(const sx_arch_builder *b, sx_energy_source source, sx_text *out) {
    bool any = false;
    for (int s = b->arch.n_levels - 1; s >= 0; s--) {
        if (b->arch.level[s].transparent || b->draft[s].source != source) continue;
        sx_text_add(out, "%s%s", any ? ", " : "", b->arch.level[s].name);
        any = true;
    }
    if (b->compute_source != source) return any;
    sx_text_add(out, "%s%s", any ? ", " : "", b->arch.compute.name);
    return true;
}

/* Has the input know where the energies come from: each source, with its components where there are several.
 */
static sx_status tell_source(const sx_arch_builder *b, const sx_ert *ert) {
    sx_text text = {0}, names[SX_N_ENERGY_SOURCES] = {{0}};
    bool has[SX_N_ENERGY_SOURCES], failed = false;
    int n = 0;
    for (int i = 0; i < SX_N_ENERGY_SOURCES; i++)
        n += has[i] = add_components(b, (sx_energy_source)i, &names[i]);
    for (int i = SX_N_ENERGY_SOURCES - 1; i >= 0; i--) {
        if (!has[i]) continue;
        sx_text_add(&text, "%s", text.size ? "; " : "");
        if (i == SX_BY_ERT) sx_text_add(&text, "ERT file %s", ert->place.file);
        if (i == SX_BY_ARCH) sx_text_add(&text, "architecture file");
        if (i == SX_BY_ESTIMATE) sx_text_add(&text, "estimate (%s)", sx_estimator_name(b->estimator));
        if (i == SX_BY_FORMULA) sx_text_add(&text, "formula (Timeloop's default technology)");
        if (i == SX_UNPRICED) sx_text_add(&text, "unpriced, counted as 0,");
        if (i == SX_BY_CLASS) sx_text_add(&text, "0 by their class");
        if (n > 1) sx_text_add(&text, " for %s", names[i].data ? names[i].data : "");
    }
    for (int i = 0; i < SX_N_ENERGY_SOURCES; i++) {
        failed |= names[i].failed;
        sx_text_free(&names[i]);
    }
    sx_status status =
        failed || text.failed
            ? sx_error_memory()
            : sx_input_set_energies(b->input, text.data,
                                    has[SX_BY_FORMULA] || has[SX_BY_ESTIMATE] || has[SX_UNPRICED]);
    sx_text_free(&text);
    return status;
}

/* Warns of a component whose energies are not known, or are assumed as Timeloop does. */
static sx_status warn_unpriced(sx_arch_builder *b, bool unpriced, sx_place place, const char *name,
                               const char *class, const sx_component *c) {
    const char *size = c->depth >= UINT32_MAX ? ", without a size" : "";
    if (!unpriced)
        return sx_input_warn(b->input, place,
                             "no energy of '%s' (class %.64s%s) is known: it has Timeloop's formula, which "
                             "knows no classes",
                             name, class, size);
    return sx_input_warn(
        b->input, place,
        "no energy of '%s' (class %.64s%s) is known: it counts as 0 pJ; an ERT, an energy of "
        "its own or a known class prices it",
        name, class, size);
}

/* Warns of all that are unpriced, once no energy table will be added. */
static sx_status tell_unpriced(sx_arch_builder *b) {
    if (sx_input_expects_ert(b->input)) return SX_OK;
    for (int s = b->arch.n_levels - 1; s >= 0; s--) {
        const sx_storage *level = &b->arch.level[s];
        const bool assumed = b->draft[s].assumed && b->draft[s].source == SX_BY_FORMULA;
        if ((level->unpriced || assumed) && !level->transparent)
            SX_TRY(warn_unpriced(b, !assumed, b->draft[s].place, level->name, b->draft[s].class,
                                 &b->draft[s].component));
    }
    const bool assumed = b->compute_assumed && b->compute_source == SX_BY_FORMULA;
    if (!b->arch.compute.unpriced && !assumed) return SX_OK;
    return warn_unpriced(b, !assumed, b->compute_place, b->arch.compute.name, b->compute_class, &b->compute);
}

/* Gives gated and skipped computes the energy of the ERT's others, where it has none of theirs. */
static void settle_ineffectual(sx_arch_builder *b) {
    sx_compute *c = &b->arch.compute;
    if (b->compute_source != SX_BY_ERT || !sx_sparse_active(&b->arch.sparse)) return;
    if (c->gated_energy < 0) c->gated_energy = c->energy;
    if (c->skipped_energy < 0) c->skipped_energy = c->gated_energy;
}

/* Reads the sparse optimizations of the architecture: those beside its components, its own, and those of
 * sections. */
static sx_status settle_sparse(sx_arch_builder *b) {
    const sx_pair *section;
    for (int s = 0; s < b->arch.n_levels; s++)
        if (b->draft[s].sparse) SX_TRY(sx_sparse_read_component(b->input, b->draft[s].sparse, s, &b->arch));
    if (b->compute_sparse)
        SX_TRY(sx_sparse_read_component(b->input, b->compute_sparse, b->arch.n_levels, &b->arch));
    if (b->sparse) SX_TRY(sx_sparse_read(b->input, b->sparse, &b->arch));
    for (size_t i = 0; (section = sx_input_section(b->input, "sparse_optimizations", i)); i++)
        SX_TRY(sx_sparse_read(b->input, section->value, &b->arch));
    settle_ineffectual(b);
    return SX_OK;
}

/* Turns bandwidths in words per second into words per cycle of the clock that the user sets, or else of the file's. */
static sx_status settle_rates(sx_arch_builder *b) {
    const double set = sx_input_clock(b->input), seconds = set > 0 ? set : b->arch.cycle_seconds;
    for (int s = 0; s < b->arch.n_levels; s++) {
        sx_storage *level = &b->arch.level[s];
        double *const value[] = {&level->read_bandwidth, &level->write_bandwidth, &level->shared_bandwidth};
        for (int i = 0; i < 3; i++) {
            const sx_node *rate = b->draft[s].rate[i];
            if (!rate) continue;
            if (seconds == 0)
                return sx_error_hint(
                    sx_error_at(rate->place, "a bandwidth in bytes per second needs the clock"),
                    "give global_cycle_seconds or --clock, or words per cycle");
            *value[i] *= seconds;
        }
    }
    return SX_OK;
}

sx_status sx_builder_finish(sx_arch_builder *b, bool outermost_first, sx_arch *out) {
    sx_ert ert;
    if (!b->has_compute) return sx_error_at(b->place, "the architecture has no compute unit");
    if (!b->arch.n_levels) return sx_error_at(b->place, "the architecture has no storage level");
    if (outermost_first) reverse_levels(b);
    const sx_level_draft *outermost = &b->draft[b->arch.n_levels - 1];
    if (outermost->empty)
        return sx_error_hint(sx_error_at(outermost->place, "the size of the outermost memory is 0"),
                             "leave it out for a memory without a limit");
    SX_TRY(settle_gates(b));
    SX_TRY(sx_builder_settle_networks(b));
    SX_TRY(settle_rates(b));
    SX_TRY(sx_constraints_sections(b->input, b->defaults_v4, &b->arch));
    SX_TRY(sx_ert_find(b->input, &ert));
    sx_builder_settle_estimator(b);
    for (int s = 0; s < b->arch.n_levels; s++) SX_TRY(settle_level(b, &ert, s));
    SX_TRY(settle_compute(b, &ert));
    SX_TRY(tell_scales(b));
    SX_TRY(settle_wires(b, &ert));
    SX_TRY(sx_builder_areas(b));
    SX_TRY(settle_sparse(b));
    sx_status error = sx_arch_check(&b->arch);
    if (error) return sx_error_place(error, b->place);
    SX_TRY(tell_source(b, &ert));
    SX_TRY(tell_unpriced(b));
    SX_TRY(sx_builder_tell_components(b));
    *out = b->arch;
    return SX_OK;
}

sx_role sx_class_role(const char *class) {
    static const struct {
        const char *part;
        sx_role role;
    } parts[] = {
        {"DRAM", SX_ROLE_STORAGE},    {"SRAM", SX_ROLE_STORAGE},
        {"dram", SX_ROLE_STORAGE},    {"sram", SX_ROLE_STORAGE},
        {"regfile", SX_ROLE_STORAGE}, {"smartbuffer", SX_ROLE_STORAGE},
        {"storage", SX_ROLE_STORAGE}, {"mac", SX_ROLE_COMPUTE},
        {"compute", SX_ROLE_COMPUTE}, {"XY_NoC", SX_ROLE_NETWORK},
        {"Legacy", SX_ROLE_NETWORK},  {"ReductionTree", SX_ROLE_NETWORK},
        {"nothing", SX_ROLE_NOTHING}, {"SimpleMulticast", SX_ROLE_NETWORK},
        {"cache", SX_ROLE_STORAGE},
    };
    if (strcmp(class, "vector") == 0) return SX_ROLE_VECTOR;
    for (size_t i = 0; i < N(parts); i++)
        if (strstr(class, parts[i].part)) return parts[i].role;
    return SX_ROLE_NONE;
}

/* Whether a section of the input defines a class. */
static bool defines_class(const sx_input *input, const char *section, const char *class) {
    const sx_pair *pair;
    for (size_t i = 0; (pair = sx_input_section(input, section, i)); i++) {
        const sx_node *list = pair->value->kind == SX_NODE_MAP ? sx_node_get(pair->value, "classes") : NULL;
        for (size_t c = 0; list && list->kind == SX_NODE_LIST && c < list->n; c++) {
            const sx_node *item = list->item[c];
            const sx_node *name = item->kind == SX_NODE_MAP ? sx_node_get(item, "name") : NULL;
            if (name && sx_node_is(name, class)) return true;
        }
    }
    return false;
}

const char *sx_class_meant(const sx_input *input, const char *class) {
    const char *meant = NULL;
    char text[SX_NAME_SIZE];
    size_t n, size = strlen(class);
    const char *const *known = sx_component_classes(&n);
    unsigned nearest = UINT_MAX;
    while (size > 0 && strchr("0123456789_", class[size - 1])) size--;
    if (size >= sizeof text || defines_class(input, "compound_components", class) ||
        defines_class(input, "components", class))
        return NULL;
    memcpy(text, class, size);
    text[size] = 0;
    for (size_t i = 0; i < n && nearest > 0; i++) {
        unsigned distance = sx_key_distance(text, known[i]);
        if (distance >= nearest) continue;
        nearest = distance;
        meant = known[i];
    }
    return nearest == 0 ? NULL : meant;
}

sx_status sx_class_unknown(const sx_input *input, const sx_node *class) {
    const char *meant = sx_class_meant(input, class->text);
    sx_status error = sx_error_at(class->place, "'%.64s' is not a known class", class->text);
    if (meant) return sx_error_hint(error, "did you mean '%s'?", meant);
    return sx_error_hint(
        error, "a class has DRAM, SRAM, regfile, smartbuffer, storage, cache, mac or compute in its "
               "name, or is 'vector'");
}

/* Reads a run of digits; false where there is none or it is too large. */
static bool read_index(const char **at, uint64_t *out) {
    uint64_t value = 0;
    const char *begin = *at;
    for (; **at >= '0' && **at <= '9' && value <= UINT32_MAX; ++*at)
        value = value * 10 + (uint64_t)(**at - '0');
    *out = value;
    return *at > begin && value <= UINT32_MAX;
}

sx_status sx_name_range(const sx_node *node, const char *name, size_t *size, uint64_t *instances) {
    *size = strcspn(name, "[");
    *instances = 1;
    if (!name[*size]) return SX_OK;
    const char *at = name + *size + 1;
    uint64_t first, last;
    bool good = read_index(&at, &first) && strncmp(at, "..", 2) == 0;
    at += good ? 2 : 0;
    good = good && read_index(&at, &last) && strcmp(at, "]") == 0;
    if (good && last < first)
        return sx_error_hint(sx_error_at(node->place, "the range of '%.64s' is reversed", name),
                             "the smaller index comes first: '%.*s[%llu..%llu]'", (int)*size, name,
                             (unsigned long long)last, (unsigned long long)first);
    if (!good)
        return sx_error_hint(sx_error_at(node->place, "the range of '%.64s' is not valid", name),
                             "instances are written as 'PE[0..13]' or 'PE[1..14]'");
    *instances = last - first + 1;
    return SX_OK;
}
