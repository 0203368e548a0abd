/* The space of a model's mappings as callers see it. */
#include "api/mappings.h"
#include "api/options.h"
#include "base/status.h"
#include "mapspace/map_space.h"

#include <stdlib.h>
#include <string.h>

enum { STEP_TRIES = 100 };

sx_status sx_mapping_space_new(const sx_model *model, const sx_constraints *constraints,
                               const sx_options *options, sx_space **out) {
    sx_map_space_options space = sx_options_space(options);
    return sx_map_space_new(model, constraints, &space, out);
}

/* Refuses mappings that are not of a space's problem and architecture. */
static sx_status check_shape(const sx_space *space, const sx_mapping *mapping) {
    sx_mapping own;
    const sx_map_space *map = sx_map_space_of(space);
    sx_mapping_init(&own, map->problem, map->arch);
    if (sx_mapping_same_shape(&own, mapping)) return SX_OK;
    return sx_error_new(SX_ERR_USAGE, "the mapping is not of the space's problem and architecture");
}

sx_status sx_space_draw(const sx_space *space, uint64_t seed, uint64_t first, sx_mappings *out) {
    SX_TRY(check_shape(space, &out->shape));
    return sx_map_space_draw(space, seed, first, out->n, out->stride, out->data);
}

/* Sets *why to a copy of a sentence, where it is asked for. */
static sx_status copy_sentence(const char *sentence, char **why) {
    if (!why) return SX_OK;
    *why = strdup(sentence);
    return *why ? SX_OK : sx_error_memory();
}

sx_status sx_space_holds(const sx_space *space, const sx_mapping *mapping, bool *holds, char **why) {
    char text[512] = "the space does not hold this mapping";
    SX_TRY(check_shape(space, mapping));
    void *point = malloc(sx_space_point_size(space));
    if (!point) return sx_error_memory();
    bool held = sx_map_space_point(space, mapping, point) && sx_space_legal(space, point, text, sizeof text);
    free(point);
    if (!held) SX_TRY(copy_sentence(text, why));
    *holds = held;
    return SX_OK;
}

sx_status sx_space_step(const sx_space *space, uint64_t seed, uint64_t number, sx_mapping *mapping,
                        bool *changed) {
    SX_TRY(check_shape(space, mapping));
    const size_t size = sx_space_point_size(space);
    unsigned char *point = malloc(2 * size);
    if (!point) return sx_error_memory();
    sx_rng rng = sx_rng_stream(seed, "api.step", number);
    bool held = sx_map_space_point(space, mapping, point) && sx_space_legal(space, point, NULL, 0);
    if (held) *changed = sx_space_mutate(space, &rng, -1, false, STEP_TRIES, point, point + size);
    if (held && *changed) sx_map_space_mapping(space, point, mapping);
    free(point);
    return held ? SX_OK : sx_error_new(SX_ERR_USAGE, "the mapping is not in the space");
}
