/* The components of an architecture as the estimators see them. */
#include "frontend/timeloop/arch_builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Nodes that are taken for such, nm. */
static const double LEAST_NODE = 1, MOST_NODE = 1000;

/* The node that Timeloop's front end writes where none is stated. */
static const double NOT_SAID = -1;

sx_status sx_process_node(const sx_node *value, double *out) {
    *out = 0;
    if (!value || value->kind != SX_NODE_SCALAR) return SX_OK;
    char *end;
    double node = strtod(value->text, &end);
    if (end == value->text) return SX_OK;
    while (*end == ' ') end++;
    if ((*end && strcasecmp(end, "nm") != 0) || node == NOT_SAID) return SX_OK;
    if (!(node >= LEAST_NODE && node <= MOST_NODE))
        return sx_error_hint(sx_error_at(value->place, "a process node of %g nm", node),
                             "nodes from %g to %g nm are taken, such as technology: 45nm", LEAST_NODE,
                             MOST_NODE);
    *out = node;
    return SX_OK;
}

/* The process node of a component: that of the innermost attribute, container or variable that states one. */
static sx_status find_node(sx_arch_builder *b, const sx_arch_component *e, double *out) {
    *out = 0;
    for (const sx_attribute_scope *scope = e->attributes; scope && *out == 0; scope = scope->outer) {
        const sx_pair *pair = sx_node_pair(scope->map, "technology");
        if (!pair) continue;
        const sx_node *value;
        SX_TRY(sx_attribute_named(scope, pair->value, &value));
        SX_TRY(sx_process_node(value, out));
        if (*out > 0 && scope->names_only) SX_TRY(sx_input_use(b->input, pair));
    }
    if (*out == 0) *out = b->node;
    return SX_OK;
}

/* Reads the sum of the attributes of some keys. */
static sx_status read_sum(const sx_arch_component *e, const char *const *keys, size_t n, double *out) {
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        double value = 0;
        SX_TRY(sx_attribute_double(e->attributes, keys[i], &value));
        *out += value;
    }
    return SX_OK;
}

/* Reads banks, ports and what operators have. */
static sx_status read_parts(const sx_arch_builder *b, const sx_arch_component *e, sx_component *c) {
    static const char *const banks[] = {"n_banks", "num_banks"};
    static const char *const any[] = {"n_ports", "num_ports", "nports"};
    static const char *const old[] = {"n_rdwr_ports", "n_rd_ports", "n_wr_ports"};
    const sx_pair *type = sx_attribute_pair(e->attributes, "type");
    SX_TRY(read_sum(e, banks, 2, &c->banks));
    if (b->estimator == SX_ESTIMATOR_ACCELERGY_03)
        SX_TRY(read_sum(e, old, 3, &c->ports));
    else
        SX_TRY(sx_attribute_double(e->attributes, "n_rw_ports", &c->ports));
    if (!(c->ports > 0)) SX_TRY(read_sum(e, any, 3, &c->ports));
    SX_TRY(sx_attribute_double(e->attributes, "multiplier_width", &c->multiplier_width));
    SX_TRY(sx_attribute_double(e->attributes, "adder_width", &c->adder_width));
    SX_TRY(sx_attribute_double(e->attributes, "exponent", &c->exponent));
    SX_TRY(sx_attribute_double(e->attributes, "mantissa", &c->mantissa));
    if (type && type->value->kind == SX_NODE_SCALAR)
        snprintf(c->dram, sizeof c->dram, "%.*s", SX_COMPONENT_TEXT - 1, type->value->text);
    return SX_OK;
}

/* Warns of a class that looks like a known one misspelt. */
static sx_status warn_class(const sx_arch_builder *b, const sx_arch_component *e, const char *class) {
    const char *meant = class ? sx_class_meant(b->input, class) : NULL;
    if (!meant) return SX_OK;
    return sx_input_warn(b->input, e->place, "the class '%.64s' of '%.*s' is not known; is '%s' meant?",
                         class, (int)e->name_size, e->name, meant);
}

sx_status sx_builder_describe(sx_arch_builder *b, const sx_arch_component *e, sx_component_kind kind,
                              sx_component *out, char class[SX_NAME_SIZE]) {
    const sx_pair *stated = sx_attribute_pair(e->attributes, "class");
    const char *text = e->subclass ? e->subclass : e->class;
    sx_component c = {.kind = kind};
    if (!text && stated && stated->value->kind == SX_NODE_SCALAR) text = stated->value->text;
    SX_TRY(warn_class(b, e, text));
    if (e->subclass) SX_TRY(warn_class(b, e, e->class));
    SX_TRY(read_parts(b, e, &c));
    c.unknown = text && !sx_component_classify(text, b->estimator, &c);
    if (c.unknown && e->class) {
        c.unknown = !sx_component_classify(e->class, b->estimator, &c) || sx_component_is_generic(e->class);
        c.dummy = false;
    }
    if (kind == SX_COMPONENT_DRAM || (kind == SX_COMPONENT_MAC && c.kind != SX_COMPONENT_MAC)) c.kind = kind;
    SX_TRY(find_node(b, e, &c.node));
    snprintf(class, SX_NAME_SIZE, "%.*s", SX_NAME_SIZE - 1, text ? text : sx_component_kind_name(c.kind));
    *out = c;
    return SX_OK;
}

sx_status sx_builder_extra(sx_arch_builder *b, const sx_arch_component *e) {
    sx_estimated_component extra = {.count = e->instances ? e->instances : 1};
    if (b->n_extra == SX_MAX_EXTRA || e->name_size >= SX_NAME_SIZE) return SX_OK;
    if (!sx_component_classify(e->class, b->estimator, &extra.component)) return SX_OK;
    SX_TRY(sx_builder_describe(b, e, extra.component.kind, &extra.component, extra.class));
    extra.component.width = 32;
    const char *const widths[] = {"width", "datawidth", "word_bits"};
    for (size_t i = 0; i < 3; i++)
        SX_TRY(sx_attribute_double(e->attributes, widths[i], &extra.component.width));
    memcpy(extra.name, e->name, e->name_size);
    b->extra[b->n_extra++] = extra;
    return SX_OK;
}

/* Has every storage level be a memory of a known kind, as it is for Timeloop's formulas. */
static void ignore_classes(sx_arch_builder *b) {
    b->compute_assumed = b->compute.unknown && !b->compute.dummy;
    b->compute.unknown = b->compute.dummy = false;
    for (int s = 0; s < b->arch.n_levels; s++) {
        sx_component *c = &b->draft[s].component;
        b->draft[s].assumed = c->unknown && !c->dummy;
        c->unknown = c->dummy = false;
        if (c->kind != SX_COMPONENT_DRAM) c->kind = SX_COMPONENT_SRAM;
    }
}

/* Gives the components the sizes of their levels. As many words as CiMLoop writes for no limit are no size of a memory. */
static void describe_sizes(sx_arch_builder *b, double node) {
    for (int s = 0; s < b->arch.n_levels; s++) {
        const sx_storage *level = &b->arch.level[s];
        sx_component *c = &b->draft[s].component;
        c->width = (double)level->word_bits * level->block_size * level->cluster_size;
        c->depth = level->entries == SX_UNLIMITED ? 0 : ceil((double)level->entries / level->block_size);
        if (level->technology == SX_DRAM) c->kind = SX_COMPONENT_DRAM;
        if (c->kind != SX_COMPONENT_DRAM && c->depth >= UINT32_MAX) c->unknown = true;
        if (level->unpriced) c->unknown = true;
        if (!(c->node > 0)) c->node = node;
        c->cycle_seconds = b->arch.cycle_seconds;
    }
    b->compute.width = b->arch.compute.word_bits;
    if (b->arch.compute.unpriced) b->compute.unknown = true;
    b->compute.cycle_seconds = b->arch.cycle_seconds;
    if (!(b->compute.node > 0)) b->compute.node = node;
    for (int i = 0; i < b->n_extra; i++) {
        b->extra[i].component.cycle_seconds = b->arch.cycle_seconds;
        if (!(b->extra[i].component.node > 0)) b->extra[i].component.node = node;
    }
}

void sx_builder_settle_estimator(sx_arch_builder *b) {
    double node = b->compute.node;
    for (int s = 0; s < b->arch.n_levels; s++)
        if (b->draft[s].component.node > 0 && !(node > 0)) node = b->draft[s].component.node;
    describe_sizes(b, node);
    const bool like = sx_input_is_like_timeloop(b->input);
    if (b->estimator == SX_ESTIMATOR_PRESET)
        b->estimator = like || !(node > 0) ? SX_ESTIMATOR_TIMELOOP : SX_ESTIMATOR_ACCELERGY_04;
    if (like && b->estimator == SX_ESTIMATOR_TIMELOOP) ignore_classes(b);
}

/* The estimate of a level: its part of what the instances of its cluster share. */
static void estimate_level(const sx_arch_builder *b, int level, sx_estimate *e) {
    const double parts = b->arch.level[level].cluster_size;
    sx_estimate_component(&b->draft[level].component, b->estimator, e);
    if (parts == 1) return;
    e->read /= parts;
    e->write /= parts;
    e->update /= parts;
    e->area /= parts;
    if (e->leak > 0) e->leak /= parts;
    sx_estimate_say(e, "one of %g instances that share it", parts);
}

/* Where the energies of an estimate come from. */
static sx_energy_source source_of(const sx_arch_builder *b, const sx_component *c, const sx_estimate *e) {
    if (e->unpriced) return SX_UNPRICED;
    if (c->dummy) return SX_BY_CLASS;
    return b->estimator == SX_ESTIMATOR_TIMELOOP ? SX_BY_FORMULA : SX_BY_ESTIMATE;
}

void sx_builder_estimate_level(sx_arch_builder *b, int level) {
    sx_storage *s = &b->arch.level[level];
    sx_estimate e;
    estimate_level(b, level, &e);
    s->read_energy = e.read;
    s->fill_energy = e.write;
    s->update_energy = e.update;
    s->unpriced = e.unpriced;
    b->draft[level].source = source_of(b, &b->draft[level].component, &e);
    if (b->draft[level].source != SX_BY_ESTIMATE) return;
    if (s->leak_energy == 0 && e.leak > 0) s->leak_energy = e.leak;
    if (s->area == 0) s->area = e.area;
}

/* Whether the energies of a level, or of the one that fans out there, are estimates. */
static bool has_estimates(const sx_arch_builder *b, int level) {
    while (level + 1 < b->arch.n_levels && b->arch.level[level].transparent) level++;
    return b->draft[level].source == SX_BY_ESTIMATE;
}

void sx_builder_estimate_network(sx_arch_builder *b, int level, double *wire) {
    sx_level_draft *draft = &b->draft[level];
    sx_storage *s = &b->arch.level[level];
    sx_component part = {.kind = SX_COMPONENT_WIRE, .node = draft->component.node, .width = 1};
    sx_estimate e;
    if (!has_estimates(b, level)) return;
    sx_estimate_component(&part, b->estimator, &e);
    if (draft->tile_given) *wire = e.read;
    for (int i = 0; i < b->n_extra; i++) {
        if (b->extra[i].component.kind != SX_COMPONENT_ROUTER || draft->router_given) continue;
        if (sx_arch_fanout_x(&b->arch, level) * sx_arch_fanout_y(&b->arch, level) == 1) continue;
        part = b->extra[i].component;
        part.width = draft->network_bits;
        sx_estimate_component(&part, b->estimator, &e);
        s->router_energy = e.read;
    }
}

void sx_builder_estimate_compute(sx_arch_builder *b, bool with_area) {
    sx_compute *c = &b->arch.compute;
    sx_estimate e;
    sx_estimate_component(&b->compute, b->estimator, &e);
    c->energy = e.read;
    c->unpriced = e.unpriced;
    b->compute_source = source_of(b, &b->compute, &e);
    if (with_area && c->area == 0) c->area = e.area;
}

sx_status sx_builder_tell_components(sx_arch_builder *b) {
    sx_estimated_component *list = sx_arena_alloc(
        sx_input_arena(b->input), (size_t)b->arch.n_levels + 1 + (size_t)b->n_extra, sizeof *list);
    size_t n = 0;
    if (!list) return sx_arena_error(sx_input_arena(b->input));
    for (int s = b->arch.n_levels - 1; s >= 0; s--) {
        if (b->arch.level[s].transparent) continue;
        sx_estimated_component *c = &list[n++];
        *c =
            (sx_estimated_component){.count = b->arch.level[s].instances, .component = b->draft[s].component};
        memcpy(c->name, b->arch.level[s].name, sizeof c->name);
        memcpy(c->class, b->draft[s].class, sizeof c->class);
        estimate_level(b, s, &c->estimate);
    }
    sx_estimated_component *mac = &list[n++];
    *mac = (sx_estimated_component){.count = b->arch.compute.instances, .component = b->compute};
    memcpy(mac->name, b->arch.compute.name, sizeof mac->name);
    memcpy(mac->class, b->compute_class, sizeof mac->class);
    sx_estimate_component(&b->compute, b->estimator, &mac->estimate);
    for (int i = 0; i < b->n_extra; i++, n++) {
        list[n] = b->extra[i];
        sx_estimate_component(&list[n].component, b->estimator, &list[n].estimate);
    }
    sx_input_set_components(b->input, list, n, b->estimator);
    return SX_OK;
}
