/* Which of the three dialects an architecture is written in. */
#include "frontend/timeloop/arch_builder.h"
#include "frontend/timeloop/variables.h"

#include "frontend/keys.h"

#include <stdlib.h>
#include <string.h>

/* Reads the architecture in the dialect its keys tell. */
static sx_status read_dialect(sx_arch_builder *b, const sx_pair *section, const sx_attribute_scope *variables,
                              sx_arch *out) {
    const sx_node *arch = section->value;
    const sx_pair *clock = sx_node_pair(variables->map, SX_CYCLE_KEY);
    bool tree = sx_node_get(arch, "nodes") || sx_node_get(arch, "subtree");
    if (sx_node_get(arch, "nodes"))
        SX_TRY(sx_arch_read_v4(b, arch, variables));
    else if (tree)
        SX_TRY(sx_arch_read_v3(b, arch, variables));
    else if (sx_node_get(arch, "storage"))
        SX_TRY(sx_arch_read_flat(b, arch, variables));
    else
        return sx_error_hint(
            sx_error_at(arch->place, "'%s' has no known format", section->key),
            "expected 'nodes' (v0.4), 'subtree' (v0.2 and v0.3), or 'arithmetic' and 'storage'");
    const sx_node *vector = sx_node_get(arch, "vector");
    if (vector) SX_TRY(sx_arch_read_vector(b, vector, variables, 1));
    if (clock && b->arch.cycle_seconds == 0) {
        double seconds;
        SX_TRY(sx_input_use(b->input, clock));
        SX_TRY(sx_attribute_number(variables, clock->value, SX_CYCLE_KEY, &seconds));
        SX_TRY(sx_builder_clock(b, clock->value->place, seconds));
    }
    return sx_builder_finish(b, tree, out);
}

/* Warns of variables that look like one that is read by its name, unless an expression uses them. */
static SX_MUST_USE sx_status warn_of_slips(sx_input *input, const sx_node *variables) {
    static const sx_key_rule rules[] = {SX_KEY(SX_CYCLE_KEY, "expression", NULL),
                                        SX_KEY("technology", "any", NULL)};
    static const sx_keys read_by_name = SX_KEYS("variables", true, rules);
    for (size_t i = 0; i < variables->n; i++) {
        const sx_pair *pair = &variables->pair[i];
        if (sx_pair_has(pair, SX_CYCLE_KEY) || sx_pair_has(pair, "technology")) continue;
        if (pair->place.file && strcmp(pair->place.file, SX_SETTING_FILE) == 0) continue;
        const char *meant = sx_key_missing(variables, pair->key, &read_by_name);
        if (meant)
            SX_TRY(sx_input_unknown(input, pair, "nothing uses the variable '%.64s'; is '%s' meant?",
                                    pair->key, meant));
    }
    return SX_OK;
}

sx_status sx_input_arch(sx_input *input, sx_arch *out) {
    const sx_pair *arch, *architecture;
    sx_attribute_scope names;
    SX_TRY(sx_input_single(input, "arch", &arch));
    SX_TRY(sx_input_single(input, "architecture", &architecture));
    SX_TRY(sx_variables_scope(input, &names));
    if (!arch && !architecture)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "no architecture given"),
                             "a file with a section 'architecture:' or 'arch:' is needed");
    if (arch && architecture)
        return sx_error_at(arch->place, "second architecture; the first is at %s:%d:%d",
                           architecture->place.file, architecture->place.line, architecture->place.column);
    SX_TRY(warn_of_slips(input, names.map));
    sx_arch_builder *builder = calloc(1, sizeof *builder);
    if (!builder) return sx_error_memory();
    builder->input = input;
    builder->estimator = sx_input_estimator(input);
    builder->place = arch ? arch->place : architecture->place;
    sx_status status = read_dialect(builder, arch ? arch : architecture, &names, out);
    free(builder);
    return status;
}
