/* Whether a mapping belongs to a space, in words. */
#include "verify/verify_space.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A mapping that is checked, and where the reason is written. */
typedef struct candidate {
    const sx_verify_space *space;
    const sx_mapping *mapping;
    char *text;
    size_t size;
} candidate;

/* Says why not; false. */
static SX_PRINTF(2, 3) bool refuse(const candidate *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(c->text, c->size, format, args);
    va_end(args);
    return false;
}

/* Whether the factors of a level lie within their limits. */
static bool factors_good(const candidate *c, int s) {
    const sx_mapping_level *at = &c->mapping->level[s];
    for (int d = 0; d < c->space->problem->n_dims; d++) {
        sx_limit t = c->space->temporal[s][d], x = c->space->spatial[s][d];
        if (at->temporal[d] < t.least || at->temporal[d] > t.most || at->spatial[d] < x.least ||
            at->spatial[d] > x.most)
            return refuse(c, "%s: a factor of %s is out of its limits", c->space->arch->level[s].name,
                          c->space->problem->dim_name[d]);
    }
    return true;
}

/* Whether the spatial loops of a level lie as the space lays them. */
static bool spread_good(const candidate *c, int s) {
    const sx_mapping_level *at = &c->mapping->level[s];
    sx_mapping_level laid = *at;
    unsigned x = 0;
    for (int i = 0; i < at->split; i++) x |= 1u << at->spatial_order[i];
    sx_verify_space_set_layout(c->space, s, x, &laid);
    if (!sx_verify_space_fits(c->space, s, at->spatial, x & sx_verify_space_loops(c->space, at->spatial)))
        return refuse(c, "%s: its spatial loops do not fit, or violate a constraint",
                      c->space->arch->level[s].name);
    if (memcmp(&laid, at, sizeof laid) != 0)
        return refuse(c, "%s: its spatial loops are not in the order of the space",
                      c->space->arch->level[s].name);
    return true;
}

/* Whether a level keeps what the space has it keep. */
static bool keep_good(const candidate *c, int s) {
    const sx_mapping_level *at = &c->mapping->level[s];
    uint32_t extent[SX_MAX_DIMS];
    for (int d = 0; d < SX_MAX_DIMS; d++) extent[d] = 1;
    for (int d = 0; d < c->space->problem->n_dims; d++) {
        uint64_t reach = sx_mapping_extent(c->mapping, s, d), size = c->space->problem->size[d];
        /* Tiles with remainders end with the dimension. */
        extent[d] = (uint32_t)(reach < size ? reach : size);
    }
    bool good = !(c->space->must[s] & ~(unsigned)at->keep) && !(at->keep & ~(unsigned)c->space->may[s]) &&
                sx_verify_space_banks_fit(c->space, s, at->keep, extent);
    return good ||
           refuse(c, "%s: it keeps other tensors than the space allows", c->space->arch->level[s].name);
}

/* Whether a level forbids the kinds of reuse that the constraints have all mappings forbid, and no others. */
static bool reuse_good(const candidate *c, int s) {
    sx_mapping_level imposed = c->mapping->level[s];
    sx_level_limits_impose(&c->space->constraints->level[s], &imposed);
    return memcmp(&imposed, &c->mapping->level[s], sizeof imposed) == 0 ||
           refuse(c, "%s: it forbids other kinds of reuse than the mappings of the space",
                  c->space->arch->level[s].name);
}

bool sx_verify_space_contains(const sx_verify_space *space, const sx_mapping *mapping, char *text,
                              size_t size) {
    candidate c = {space, mapping, text, size};
    sx_verdict verdict = sx_check(space->model, mapping);
    if (verdict.reason != SX_LEGAL) {
        sx_verdict_text(&verdict, space->problem, space->arch, text, size);
        return false;
    }
    if (!space->remainders && !sx_mapping_perfect(mapping, space->problem))
        return refuse(&c, "its factors leave remainders");
    sx_mapping canonical = *mapping;
    sx_mapping_canonical(&canonical);
    c.mapping = &canonical;
    for (int s = 0; s < space->arch->n_levels; s++) {
        if (!reuse_good(&c, s)) return false;
        if (!factors_good(&c, s) || !spread_good(&c, s) || !keep_good(&c, s)) return false;
    }
    return sx_constraints_allow(space->constraints, &canonical, space->problem, space->arch, text, size);
}
