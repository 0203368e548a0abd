/* The section `timing` of an architecture as text. */
#include "ir/timing.h"
#include "frontend/timing_section.h"
#include "text/write/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A number with four digits, which is more than fits of measurements know. */
static double rounded(double value) {
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    return strtod(text, NULL);
}

/* Puts the numbers of a kind that differ from those of another. */
static void put_numbers(sx_tree *tree, json_t *map, const sx_arch *arch, const sx_timing_kind *from,
                        const sx_timing_kind *other) {
    sx_timing_kind kind = *from, base = *other;
    json_t *shares = json_object();
    const sx_timing_key *key;
    for (size_t i = 0; (key = sx_timing_number(i)); i++) {
        const double value = *sx_timing_value(&kind, key);
        if (value == *sx_timing_value(&base, key)) continue;
        sx_tree_put(tree, map, key->name,
                    isinf(value) ? sx_tree_text(tree, "inf") : sx_tree_double(tree, rounded(value)));
    }
    if (kind.compute != base.compute)
        sx_tree_put(tree, shares, "compute", sx_tree_double(tree, rounded(kind.compute)));
    for (int s = arch->n_levels - 1; s >= 0; s--)
        if (kind.level[s] != base.level[s])
            sx_tree_put(tree, shares, arch->level[s].name, sx_tree_double(tree, rounded(kind.level[s])));
    if (json_object_size(shares))
        sx_tree_put(tree, map, "efficiency", shares);
    else
        json_decref(shares);
}

/* Puts what kernels are made of. */
static void put_units(sx_tree *tree, json_t *map, const sx_arch *arch, const sx_timing *timing) {
    json_t *tiles = json_array();
    for (int i = 0; i < timing->n_tiles; i++) {
        char text[32];
        snprintf(text, sizeof text, "%ux%u", timing->tile[i][0], timing->tile[i][1]);
        sx_tree_append(tree, tiles, sx_tree_text(tree, text));
    }
    sx_tree_put(tree, map, "units", sx_tree_u64(tree, timing->units));
    sx_tree_put(tree, map, "shared", sx_tree_text(tree, arch->level[timing->shared].name));
    sx_tree_put(tree, map, "tiles", tiles);
}

/* The whole section. */
static json_t *timing_tree(sx_tree *tree, const sx_arch *arch, const sx_timing *timing) {
    json_t *map = json_object(), *kinds = json_object(), *rates = json_object();
    sx_timing_kind plain;
    sx_timing_kind_init(&plain);
    put_numbers(tree, map, arch, &timing->kind[0], &plain);
    if (timing->units) put_units(tree, map, arch, timing);
    for (int i = 0; i < timing->n_rates; i++) {
        char bits[16];
        snprintf(bits, sizeof bits, "%u", timing->rate_bits[i]);
        sx_tree_put(tree, rates, bits, sx_tree_double(tree, timing->rate[i]));
    }
    if (timing->n_rates) sx_tree_put(tree, map, "rates", json_incref(rates));
    if (timing->link_bandwidth > 0) {
        json_t *link = json_object();
        sx_tree_put(tree, link, "bandwidth", sx_tree_double(tree, rounded(timing->link_bandwidth)));
        sx_tree_put(tree, link, "latency", sx_tree_double(tree, rounded(timing->link_latency)));
        sx_tree_put(tree, map, "link", link);
    }
    for (int i = 1; i < timing->n_kinds; i++) {
        json_t *kind = json_object();
        put_numbers(tree, kind, arch, &timing->kind[i], &timing->kind[0]);
        sx_tree_put(tree, kinds, timing->kind[i].name, kind);
    }
    if (timing->n_kinds > 1) sx_tree_put(tree, map, "operators", json_incref(kinds));
    json_decref(kinds);
    json_decref(rates);
    return map;
}

sx_status sx_timing_write(const sx_arch *arch, const sx_timing *timing, char **out) {
    sx_tree tree = {0};
    char *machine, *section;
    SX_TRY(sx_arch_write(arch, SX_YAML, &machine));
    json_t *root = json_object();
    sx_tree_put(&tree, root, "timing", timing_tree(&tree, arch, timing));
    sx_status status = sx_tree_print(&tree, root, SX_YAML, &section);
    sx_text text = {0};
    if (!status) {
        sx_text_add(&text, "%s%s", machine, section);
        free(section);
        status = sx_text_take(&text, out);
    }
    free(machine);
    return status;
}
