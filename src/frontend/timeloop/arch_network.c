/* Networks by name: a component of a network's class that two neighbouring levels name stands for what is said of the
 * outer level's network (topology.cpp, network-legacy.cpp of Timeloop's public source). */
#include "frontend/timeloop/arch_builder.h"

#include <stdio.h>
#include <string.h>

static const char *const level_keys[SX_N_CONNECTORS] = {"network_read", "network_fill", "network_drain",
                                                        "network_update"};

sx_status sx_builder_connect(const sx_arch_component *e, bool compute, const sx_pair **network) {
    static const char *const compute_keys[SX_N_CONNECTORS] = {NULL, "network_operand", "network_result",
                                                              NULL};
    for (int i = 0; i < SX_N_CONNECTORS; i++) {
        const char *key = compute ? compute_keys[i] : level_keys[i], *name;
        network[i] = key ? sx_attribute_pair(e->attributes, key) : NULL;
        if (network[i] && sx_node_empty(network[i]->value)) network[i] = NULL;
        if (network[i]) SX_TRY(sx_node_text(network[i]->value, key, &name));
    }
    return SX_OK;
}

sx_status sx_builder_network(sx_arch_builder *b, const sx_arch_component *e) {
    const sx_attribute_scope *a = e->attributes;
    if (b->n_networks == SX_MAX_EXTRA || e->name_size >= SX_NAME_SIZE) return SX_OK;
    sx_named_network net = {.place = e->place, .attributes = a->map, .level = -1, .bits = 16};
    memcpy(net.name, e->name, e->name_size);
    net.legacy = strcmp(e->class, "XY_NoC") == 0 || strcmp(e->class, "Legacy") == 0;
    snprintf(net.class, sizeof net.class, "%.*s", SX_NAME_SIZE - 1, e->class);
    const sx_pair *type = sx_attribute_pair(a, "network_type");
    net.shares = type && sx_node_is(type->value, "M:N");
    uint64_t latency[2] = {0, 0};
    SX_TRY(sx_attribute_u64(a, "fill_latency", &latency[0]));
    SX_TRY(sx_attribute_u64(a, "drain_latency", &latency[1]));
    net.late = latency[0] || latency[1];
    static const char *const bits[] = {"datawidth", "word_width", "word_bits", "network_word_bits"};
    for (int i = 0; i < 4; i++) SX_TRY(sx_attribute_u32(a, bits[i], &net.bits));
    net.hop_given = sx_attribute_pair(a, "energy_per_hop");
    net.tile_given = sx_attribute_pair(a, "tile_width");
    net.router_given = sx_attribute_pair(a, "router_energy");
    SX_TRY(sx_attribute_double(a, "energy_per_hop", &net.energy_per_hop));
    SX_TRY(sx_attribute_double(a, "router_energy", &net.router_energy));
    SX_TRY(sx_attribute_double(a, "wire_energy", &net.wire_energy));
    SX_TRY(sx_attribute_double(a, "tile_width", &net.tile_width));
    b->networks[b->n_networks++] = net;
    return SX_OK;
}

/* The network of that name, NULL where there is none. */
static sx_named_network *find_network(sx_arch_builder *b, const char *name) {
    for (int i = 0; i < b->n_networks; i++)
        if (strcmp(b->networks[i].name, name) == 0) return &b->networks[i];
    return NULL;
}

/* Whether two pairs name the same network; one that is not there names none. */
static bool same_network(const sx_pair *a, const sx_pair *b) {
    return a && b ? strcmp(a->value->text, b->value->text) == 0 : a == b;
}

/* Why the connection inside a level cannot take the network that its keys name; "": it can. */
static void refuse_connection(const sx_arch_builder *b, int s, const sx_pair *const *outer,
                              const sx_pair *const *inner, const sx_named_network *net, char why[160]) {
    const char *below = s > 0 ? b->arch.level[s - 1].name : b->arch.compute.name;
    *why = 0;
    if (!outer[SX_READS])
        snprintf(why, 160, "it names no network for reads");
    else if (!net)
        snprintf(why, 160, "there is no network '%.48s'", outer[SX_READS]->value->text);
    else if (!same_network(outer[SX_READS], inner[SX_FILLS]))
        snprintf(why, 160, "'%.48s' does not name it as its '%s'", below,
                 s > 0 ? "network_fill" : "network_operand");
    else if ((outer[SX_UPDATES] || inner[SX_DRAINS]) && (!same_network(outer[SX_UPDATES], inner[SX_DRAINS]) ||
                                                         !same_network(outer[SX_READS], outer[SX_UPDATES])))
        snprintf(why, 160, "reads and updates take one network between '%.32s' and '%.32s'",
                 b->arch.level[s].name, below);
    else if (net->level >= 0)
        snprintf(why, 160, "'%.48s' has it, too", b->arch.level[net->level].name);
    else if (!net->legacy)
        snprintf(why, 160, "networks of class '%.48s' are not modelled", net->class);
    else if (net->shares || net->late)
        snprintf(why, 160, "%s are not modelled",
                 net->shares ? "networks of type M:N" : "latencies of networks");
}

static const sx_key_rule network_rules[] = {
    SX_KEY("network_word_bits", "expression", "bits of a hop (16)"),
    SX_KEY_SAME("word_bits", "network_word_bits"),
    SX_KEY_SAME("word_width", "network_word_bits"),
    SX_KEY_SAME("datawidth", "network_word_bits"),
    SX_KEY("network_type", "text", "1:N"),
    SX_KEY("energy_per_hop", "expression", "pJ of a word and hop"),
    SX_KEY("router_energy", "expression", "pJ of a word"),
    SX_KEY("wire_energy", "expression", "pJ of a bit and mm"),
    SX_KEY("tile_width", "expression", "um of a hop"),
    SX_KEY("fill_latency", "expression", "only 0"),
    SX_KEY("drain_latency", "expression", "only 0"),
};
static const sx_keys network_keys = SX_KEYS("network", true, network_rules);

/* Gives a level the energies of a network. */
static sx_status join_network(sx_arch_builder *b, int s, sx_named_network *net) {
    sx_level_draft *draft = &b->draft[s];
    char what[SX_NAME_SIZE + 32];
    snprintf(what, sizeof what, "the network '%s'", net->name);
    SX_TRY(sx_attributes_check(b->input, net->attributes, what, &network_keys));
    net->level = s;
    b->arch.level[s].energy_per_hop = net->energy_per_hop;
    b->arch.level[s].router_energy = net->router_energy;
    draft->hop_given = net->hop_given;
    draft->tile_given = net->tile_given;
    draft->router_given = net->router_given;
    draft->wire_energy = net->wire_energy;
    draft->tile_width = net->tile_width;
    draft->network_bits = net->bits;
    return SX_OK;
}

sx_status sx_builder_settle_networks(sx_arch_builder *b) {
    for (int s = 0; s < b->arch.n_levels; s++) {
        const sx_pair *const *outer = b->draft[s].network;
        const sx_pair *const *inner = s > 0 ? b->draft[s - 1].network : b->compute_network;
        const sx_pair *first = outer[SX_READS]     ? outer[SX_READS]
                               : outer[SX_UPDATES] ? outer[SX_UPDATES]
                               : inner[SX_FILLS]   ? inner[SX_FILLS]
                                                   : inner[SX_DRAINS];
        char why[160];
        if (!first) continue;
        sx_named_network *net = outer[SX_READS] ? find_network(b, outer[SX_READS]->value->text) : NULL;
        refuse_connection(b, s, outer, inner, net, why);
        if (*why)
            SX_TRY(sx_input_differ(b->input, first->place, "'%.64s' is ignored: %s", first->key, why));
        else
            SX_TRY(join_network(b, s, net));
    }
    for (int i = 0; i < b->n_networks; i++)
        if (b->networks[i].level < 0)
            SX_TRY(sx_input_add_note(b->input, b->networks[i].place, "the network '%s' is not used",
                                     b->networks[i].name));
    return SX_OK;
}
