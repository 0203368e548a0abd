/* Accelergy's area reference table: the area of an instance of every component, um^2. */
#include "frontend/known_keys.h"
#include "frontend/timeloop/arch_builder.h"
#include "frontend/timeloop/ert.h"

#include <math.h>

static const sx_key_rule art_table_rules[] = {
    SX_KEY("name", "text!", "the component"),
    SX_KEY("area", "number!", "um^2 of an instance"),
};
const sx_keys sx_keys_art_table = SX_KEYS("art_table", true, art_table_rules);

/* Checks a table of the list form. */
static sx_status check_table(sx_input *input, const sx_node *table) {
    const sx_node *name, *area;
    SX_TRY(sx_node_check_keys(input, table, "a table of the ART", &sx_keys_art_table));
    SX_TRY(sx_node_require(table, "name", "a table of the ART", &name));
    SX_TRY(sx_node_expect(name, SX_NODE_SCALAR, "the name of a table"));
    return sx_node_require(table, "area", "a table of the ART", &area);
}

static const sx_key_rule art_rules[] = {
    SX_KEY("version", "any", "of the format"),
    SX_KEY("tables", "[@art_table]!", "areas by component"),
};
const sx_keys sx_keys_art = SX_KEYS("art", true, art_rules);

/* Finds the section and checks its form: that of the ERT, with an area for each component. */
static sx_status find_art(sx_input *input, sx_ert *out) {
    const sx_pair *section;
    SX_TRY(sx_input_single(input, "ART", &section));
    if (!section || section->value->kind == SX_NODE_NULL) return SX_OK;
    SX_TRY(sx_node_check_keys(input, section->value, "the ART", &sx_keys_art));
    out->place = section->place;
    SX_TRY(sx_node_require(section->value, "tables", "the ART", &out->tables));
    out->named = out->tables->kind == SX_NODE_MAP;
    if (out->named) return SX_OK;
    SX_TRY(sx_node_expect(out->tables, SX_NODE_LIST, "the 'tables' of the ART"));
    for (size_t i = 0; i < out->tables->n; i++) SX_TRY(check_table(input, out->tables->item[i]));
    return SX_OK;
}

/* Takes a component's area, if the table has one. */
static sx_status take_area(sx_input *input, const sx_ert *art, const char *component, double *out) {
    const sx_node *table = sx_ert_table(art, component), *value = table;
    double area;
    SX_TRY(sx_ert_check_single(input, art, component, "ART"));
    if (table && table->kind == SX_NODE_MAP)
        SX_TRY(sx_node_require(table, "area", "a table of the ART", &value));
    if (!value) return SX_OK;
    SX_TRY(sx_node_double(value, "area", &area));
    if (!isfinite(area) || area < 0)
        return sx_error_at(value->place, "'area' is %g; it must be a finite number that is not negative",
                           area);
    *out = area;
    return SX_OK;
}

/* Warns that the table has no area for a component that has none of its own. */
static sx_status warn_missing_area(sx_arch_builder *b, const sx_ert *art, const char *component,
                                   double area) {
    if (area > 0 || sx_ert_table(art, component)) return SX_OK;
    return sx_input_warn(b->input, art->place, "the ART has no table for '%s': its area is not known",
                         component);
}

sx_status sx_builder_areas(sx_arch_builder *b) {
    sx_ert art = {0};
    SX_TRY(find_art(b->input, &art));
    if (!art.tables) return SX_OK;
    for (int s = 0; s < b->arch.n_levels; s++) {
        sx_storage *level = &b->arch.level[s];
        if (level->transparent) continue;
        SX_TRY(take_area(b->input, &art, level->name, &level->area));
        if (level->technology != SX_DRAM) SX_TRY(warn_missing_area(b, &art, level->name, level->area));
    }
    SX_TRY(take_area(b->input, &art, b->arch.compute.name, &b->arch.compute.area));
    return warn_missing_area(b, &art, b->arch.compute.name, b->arch.compute.area);
}
