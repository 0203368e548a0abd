#include "support/small_map.h"

#include "model/model.h"

#include "support/expect.h"

#include <math.h>
#include <string.h>

enum { ROOM = 1 << 20 };

void sx_small_map_open(sx_small_map *map, const char *einsum, const char *arch,
                       const sx_constraints *constraints, const sx_map_space_options *options) {
    sx_problem problem;
    sx_arch read;
    sx_expect_ok(sx_einsum_parse(einsum, &problem));
    if (strchr(arch, ':')) {
        sx_input *input = sx_expect_input(arch);
        sx_expect_ok(sx_input_arch(input, &read));
        sx_input_free(input);
    } else {
        sx_expect_ok(sx_catalog_arch(arch, &read));
    }
    sx_expect_ok(sx_model_new(&problem, &read, NULL, &map->model));
    sx_expect_ok(sx_map_space_new(map->model, constraints, options, &map->space));
    map->map = sx_map_space_of(map->space);
    map->recorder = NULL;
}

void sx_small_map_close(sx_small_map *map) {
    sx_recorder_free(map->recorder);
    sx_space_free(map->space);
    sx_model_free(map->model);
}

sx_run_summary sx_small_map_search(sx_small_map *map, const char *navigator, uint64_t seed,
                                   uint64_t evaluations, double *best) {
    sx_run_options options;
    sx_run *run;
    sx_found found;
    sx_run_options_init(&options);
    options.seed = seed;
    options.evaluations = evaluations;
    sx_recorder_free(map->recorder);
    sx_expect_ok(sx_recorder_new(map->space, NULL, ROOM, &map->recorder));
    sx_expect_ok(sx_run_new(map->space, sx_recorder_model(map->recorder), &options, &run));
    sx_expect_ok(sx_run_search(run, navigator));
    sx_run_summary summary = sx_run_result(run);
    if (best) *best = sx_run_best(run, 0, &found) ? found.value : INFINITY;
    sx_run_free(run);
    return summary;
}

const sx_mapping *sx_small_map_point(const sx_small_map *map, size_t index) {
    double value;
    return sx_recorder_point(map->recorder, index, &value);
}

bool sx_small_map_holds(const sx_small_map *m, const sx_mapping *mapping, int level, int tensor) {
    bool inside = true, ordered = true;
    for (int j = 0; j < mapping->n_dims; j++) {
        int d = mapping->level[level].temporal_order[j];
        if (mapping->level[level].temporal[d] == 1) continue;
        bool indexes = m->map->model->shape[tensor].dims >> d & 1;
        ordered = ordered && (inside || indexes);
        inside = inside && !indexes;
    }
    return ordered;
}
