#include "frontend/timing_section.h"

#include "frontend/input.h"
#include "frontend/known_keys.h"
#include "ir/timing.h"
#include "text/document/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a reader works with: the input, and the architecture whose levels the section names. */
typedef struct reader {
    sx_input *input;
    const sx_arch *arch;
    sx_timing *out;
} reader;

/* The level of that name; an error with the nearest where there is none. */
static sx_status find_level(const sx_arch *arch, const char *name, sx_place place, int *out) {
    const char *known[SX_MAX_LEVELS + 1] = {"compute"};
    size_t n = 1;
    for (int s = 0; s < arch->n_levels; s++) {
        *out = s;
        if (strcmp(arch->level[s].name, name) == 0) return SX_OK;
        if (!arch->level[s].transparent) known[n++] = arch->level[s].name;
    }
    return sx_error_unknown(place, "resource", name, known, n);
}

/* Reads the efficiencies of a kind. */
static sx_status read_efficiencies(const reader *r, const sx_node *map, sx_timing_kind *kind) {
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "'efficiency'"));
    for (size_t i = 0; i < map->n; i++) {
        const sx_pair *pair = &map->pair[i];
        double *to = &kind->compute;
        int level;
        if (strcmp(pair->key, "compute") != 0) {
            SX_TRY(find_level(r->arch, pair->key, pair->place, &level));
            to = &kind->level[level];
        }
        SX_TRY(sx_node_double(pair->value, pair->key, to));
        sx_status bad = sx_timing_check_efficiency(pair->key, *to);
        if (bad) return sx_error_place(bad, pair->value->place);
    }
    return SX_OK;
}

/* Reads the numbers of a kind, of which those not given stay as they are. */
static sx_status read_numbers(const reader *r, const sx_node *map, sx_timing_kind *kind) {
    const sx_timing_key *key;
    const sx_node *node;
    for (size_t i = 0; (key = sx_timing_number(i)); i++) {
        if (!(node = sx_node_get(map, key->name))) continue;
        SX_TRY(sx_node_double(node, key->name, sx_timing_value(kind, key)));
        sx_status bad = sx_timing_check_number(key, *sx_timing_value(kind, key));
        if (bad) return sx_error_place(bad, node->place);
    }
    node = sx_node_get(map, "efficiency");
    return node ? read_efficiencies(r, node, kind) : SX_OK;
}

sx_keys sx_timing_keys(sx_key_rule rule[SX_MOST_KEYS], bool whole) {
    static const sx_key_rule others[] = {
        SX_KEY("efficiency", "any", "share of a resource's rate that is reached, of all or by resource"),
        SX_KEY("units", "whole", "units that run kernels"),
        SX_KEY("shared", "text", "the level that the units share"),
        SX_KEY("tiles", "names", "shapes of a kernel's tiles, such as 128x64"),
        SX_KEY("rates", "{number}", "how much faster operands of that many bits multiply"),
        SX_KEY("link", "@link", "the link between chips"),
        SX_KEY("operators", "{@timing_kind}", "numbers of one kind of operators")};
    sx_keys keys = {whole ? "timing" : "timing_kind", false, rule, 0};
    const sx_timing_key *key;
    for (size_t i = 0; (key = sx_timing_number(i)); i++)
        rule[keys.n++] = (sx_key_rule)SX_KEY(key->name, "number", NULL);
    for (size_t i = 0; i < (whole ? sizeof others / sizeof *others : 1); i++) rule[keys.n++] = others[i];
    return keys;
}

/* Kinds of operators that networks of the catalog have; any other function of a graph may have numbers, too. */
static const sx_key_rule kind_rules[] = {
    SX_KEY("gemm", NULL, NULL),
    SX_KEY("conv", NULL, NULL),
    SX_KEY("depthwise", NULL, NULL),
    SX_KEY("attention-decode", NULL, NULL),
    SX_KEY("attention-prefill", NULL, NULL),
    SX_KEY("attention-prefill-causal", NULL, NULL),
    SX_KEY("softmax", NULL, NULL),
    SX_KEY("layer-norm", NULL, NULL),
    SX_KEY("rms-norm", NULL, NULL),
    SX_KEY("group-norm", NULL, NULL),
    SX_KEY("gelu", NULL, NULL),
    SX_KEY("gelu-mul", NULL, NULL),
    SX_KEY("silu", NULL, NULL),
    SX_KEY("silu-mul", NULL, NULL),
    SX_KEY("rotary", NULL, NULL),
    SX_KEY("add", NULL, NULL),
};
static const sx_keys kinds_known = SX_KEYS("operators", true, kind_rules);

/* Warns of a kind that looks like a known one that has no numbers. */
static SX_MUST_USE sx_status warn_of_slip(const reader *r, const sx_node *map, const sx_pair *pair) {
    for (size_t i = 0; i < kinds_known.n; i++)
        if (strcmp(kinds_known.rule[i].key, pair->key) == 0) return SX_OK;
    const char *meant = sx_key_missing(map, pair->key, &kinds_known);
    if (!meant) return SX_OK;
    return sx_input_warn(r->input, pair->place,
                         "the numbers of '%.64s' count only for operators of just that name; is '%s' meant?",
                         pair->key, meant);
}

/* Reads the kinds that have numbers of their own. */
static sx_status read_kinds(const reader *r, const sx_node *map) {
    sx_key_rule rules[SX_MOST_KEYS];
    const sx_keys keys = sx_timing_keys(rules, false);
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "'operators'"));
    for (size_t i = 0; i < map->n; i++) {
        const sx_pair *pair = &map->pair[i];
        char what[SX_NAME_SIZE + 24];
        size_t index;
        if (!pair->key[0] || strlen(pair->key) >= SX_NAME_SIZE)
            return sx_error_at(pair->place, "a kind of operators has a name of 1 to %d letters",
                               SX_NAME_SIZE - 1);
        snprintf(what, sizeof what, "the operators '%s'", pair->key);
        SX_TRY(sx_node_check_keys(NULL, pair->value, what, &keys));
        SX_TRY(warn_of_slip(r, map, pair));
        SX_TRY(sx_error_place(sx_timing_own(r->out, pair->key, &index), pair->place));
        SX_TRY(read_numbers(r, pair->value, &r->out->kind[index]));
    }
    return SX_OK;
}

/* Adds a shape of tiles such as 128x64. */
static sx_status add_tile(void *user, const char *name, sx_place place) {
    sx_timing *out = user;
    unsigned rows, columns;
    char rest;
    if (sscanf(name, "%5ux%5u%c", &rows, &columns, &rest) != 2 || rows < 1 || columns < 1)
        return sx_error_hint(sx_error_at(place, "'%.32s' is no shape of a tile", name), "such as 128x64");
    if (out->n_tiles == SX_MAX_KERNEL_TILES)
        return sx_error_at(place, "more than %d shapes of tiles", SX_MAX_KERNEL_TILES);
    out->tile[out->n_tiles][0] = rows;
    out->tile[out->n_tiles++][1] = columns;
    return SX_OK;
}

/* Reads what kernels are made of: the units, the level that they share, and their tiles. */
static sx_status read_units(const reader *r, const sx_node *map) {
    const sx_node *units = sx_node_get(map, "units"), *shared = sx_node_get(map, "shared"),
                  *tiles = sx_node_get(map, "tiles");
    uint64_t n;
    int level = r->arch->n_levels - 1;
    if (!units && !shared && !tiles) return SX_OK;
    if (!units || !shared || !tiles)
        return sx_error_at((units    ? units
                            : shared ? shared
                                     : tiles)
                               ->place,
                           "'units', 'shared' and 'tiles' need each other");
    SX_TRY(sx_node_range(units, "units", 1, 1 << 20, &n));
    SX_TRY(sx_node_expect(shared, SX_NODE_SCALAR, "'shared'"));
    SX_TRY(find_level(r->arch, shared->text, shared->place, &level));
    SX_TRY(sx_node_names(tiles, "'tiles'", add_tile, r->out));
    r->out->units = (uint32_t)n;
    r->out->shared = (uint8_t)level;
    return r->out->n_tiles ? SX_OK : sx_error_at(tiles->place, "a kernel has at least one shape of tiles");
}

/* Reads how much faster narrow operands multiply. */
static sx_status read_rates(const sx_node *map, sx_timing *out) {
    SX_TRY(sx_node_expect(map, SX_NODE_MAP, "'rates'"));
    if (map->n > SX_MAX_RATES) return sx_error_at(map->place, "more than %d rates", SX_MAX_RATES);
    for (size_t i = 0; i < map->n; i++) {
        const sx_pair *pair = &map->pair[i];
        uint64_t bits;
        if (!sx_text_u64(pair->key, &bits) || bits < 1 || bits > 64)
            return sx_error_at(pair->place, "'%.32s' is no number of bits from 1 to 64", pair->key);
        SX_TRY(sx_node_double(pair->value, pair->key, &out->rate[i]));
        if (!(out->rate[i] > 0 && out->rate[i] <= 1024))
            return sx_error_at(pair->value->place, "a rate is %g; it must be above 0 and at most 1024",
                               out->rate[i]);
        out->rate_bits[i] = (uint32_t)bits;
    }
    out->n_rates = (uint8_t)map->n;
    return SX_OK;
}

static const sx_key_rule link_rules[] = {
    SX_KEY("bandwidth", "number!", "bytes per second"),
    SX_KEY("latency", "number", "seconds"),
};
const sx_keys sx_keys_link = SX_KEYS("link", false, link_rules);

/* Reads the link between chips. */
static sx_status read_link(const sx_node *map, sx_timing *out) {
    const sx_node *bandwidth;
    SX_TRY(sx_node_check_keys(NULL, map, "the link", &sx_keys_link));
    SX_TRY(sx_node_require(map, "bandwidth", "the link", &bandwidth));
    SX_TRY(sx_node_double(bandwidth, "bandwidth", &out->link_bandwidth));
    if (!(out->link_bandwidth > 0 && out->link_bandwidth <= 1e18))
        return sx_error_at(bandwidth->place, "'bandwidth' is %g; it must be above 0, in bytes per second",
                           out->link_bandwidth);
    SX_TRY(sx_node_get_double(map, "latency", &out->link_latency));
    if (out->link_latency >= 0 && out->link_latency <= 1) return SX_OK;
    return sx_error_at(sx_node_get(map, "latency")->place, "'latency' is %g; it must be 0 to 1, in seconds",
                       out->link_latency);
}

/* Reads all parts of the section. */
static sx_status read_section(sx_input *input, const sx_pair *section, const reader *r) {
    sx_key_rule rules[SX_MOST_KEYS];
    const sx_keys keys = sx_timing_keys(rules, true);
    const sx_node *map = section->value, *node;
    size_t first;
    SX_TRY(sx_node_check_keys(input, map, "the timing", &keys));
    if (r->arch->cycle_seconds == 0)
        return sx_error_hint(sx_error_at(section->place, "a timing needs the clock of the architecture"),
                             "give it global_cycle_seconds");
    SX_TRY(sx_timing_own(r->out, "", &first));
    SX_TRY(read_numbers(r, map, &r->out->kind[first]));
    SX_TRY(read_units(r, map));
    if ((node = sx_node_get(map, "rates"))) SX_TRY(read_rates(node, r->out));
    if ((node = sx_node_get(map, "link"))) SX_TRY(read_link(node, r->out));
    node = sx_node_get(map, "operators");
    return node ? read_kinds(r, node) : SX_OK;
}

sx_status sx_timing_read(sx_input *input, const sx_arch *arch, sx_timing *out) {
    const sx_pair *section;
    sx_timing *timing = calloc(1, sizeof *timing);
    if (!timing) return sx_error_memory();
    sx_status status = sx_input_single(input, "timing", &section);
    if (!status && section) status = read_section(input, section, &(reader){input, arch, timing});
    if (!status) *out = *timing;
    free(timing);
    return status;
}
