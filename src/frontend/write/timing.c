/* The section `timing` of an architecture as text. */
#include "ir/timing.h"
#include "frontend/timing_section.h"
#include "text/write/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A number with four digits, which is more than fits of measurements know. */
static double rounded_value(double value) {
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    return strtod(text, NULL);
}

/* Puts the numbers of a kind that differ from those of another. */
static void put_numbers(json_t *map, const sx_arch *arch, const sx_timing_kind *from,
                        const sx_timing_kind *other) {
    sx_timing_kind kind = *from, base = *other;
    json_t *shares = json_object();
    const sx_timing_key *key;
    for (size_t i = 0; (key = sx_timing_number(i)); i++) {
        const double value = *sx_timing_value(&kind, key);
        if (value == *sx_timing_value(&base, key)) continue;
        sx_json_set(map, key->name, isinf(value) ? sx_json_text("inf") : sx_json_real(rounded_value(value)));
    }
    if (kind.compute != base.compute)
        sx_json_set(shares, "compute", sx_json_real(rounded_value(kind.compute)));
    for (int s = arch->n_levels - 1; s >= 0; s--)
        if (kind.level[s] != base.level[s])
            sx_json_set(shares, arch->level[s].name, sx_json_real(rounded_value(kind.level[s])));
    if (json_object_size(shares))
        sx_json_set(map, "efficiency", shares);
    else
        json_decref(shares);
}

/* Puts what kernels are made of. */
static void put_units(json_t *map, const sx_arch *arch, const sx_timing *timing) {
    json_t *tiles = json_array();
    for (int i = 0; i < timing->n_tiles; i++) {
        char text[32];
        snprintf(text, sizeof text, "%ux%u", timing->tile[i][0], timing->tile[i][1]);
        sx_json_append(tiles, sx_json_text(text));
    }
    sx_json_set(map, "units", sx_json_exact(timing->units));
    sx_json_set(map, "shared", sx_json_text(arch->level[timing->shared].name));
    sx_json_set(map, "tiles", tiles);
}

/* The whole section. */
static json_t *timing_tree(const sx_arch *arch, const sx_timing *timing) {
    json_t *map = json_object(), *kinds = json_object(), *rates = json_object();
    sx_timing_kind plain;
    sx_timing_kind_init(&plain);
    put_numbers(map, arch, &timing->kind[0], &plain);
    if (timing->units) put_units(map, arch, timing);
    for (int i = 0; i < timing->n_rates; i++) {
        char bits[16];
        snprintf(bits, sizeof bits, "%u", timing->rate_bits[i]);
        sx_json_set(rates, bits, sx_json_real(timing->rate[i]));
    }
    if (timing->n_rates) sx_json_set(map, "rates", json_incref(rates));
    if (timing->link_bandwidth > 0) {
        json_t *link = json_object();
        sx_json_set(link, "bandwidth", sx_json_real(rounded_value(timing->link_bandwidth)));
        sx_json_set(link, "latency", sx_json_real(rounded_value(timing->link_latency)));
        sx_json_set(map, "link", link);
    }
    for (int i = 1; i < timing->n_kinds; i++) {
        json_t *kind = json_object();
        put_numbers(kind, arch, &timing->kind[i], &timing->kind[0]);
        sx_json_set(kinds, timing->kind[i].name, kind);
    }
    if (timing->n_kinds > 1) sx_json_set(map, "operators", json_incref(kinds));
    json_decref(kinds);
    json_decref(rates);
    return map;
}

sx_status sx_timing_write(const sx_arch *arch, const sx_timing *timing, char **out) {
    char *machine, *section;
    SX_TRY(sx_arch_write(arch, SX_YAML, &machine));
    json_t *root = json_object();
    sx_json_set(root, "timing", timing_tree(arch, timing));
    sx_status status = sx_json_write(root, SX_YAML, &section);
    sx_text text = {0};
    if (!status) {
        sx_text_add(&text, "%s%s", machine, section);
        free(section);
        status = sx_text_take(&text, out);
    }
    free(machine);
    return status;
}
