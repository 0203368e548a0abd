#include "mappers/measured/features.h"

#include "learn/elementary.h"

enum { OF_ALL = 2, OF_A_LEVEL = 5, MOST_TWOS = 6 };

size_t sx_mapping_features_count(const sx_map_space *space) {
    return OF_ALL + OF_A_LEVEL * (size_t)space->arch->n_levels;
}

/* How often 2 divides a size: what decides conflicts of banks. */
static double count_twos(uint64_t size) {
    int n = 0;
    while (size > 0 && size % 2 == 0 && n < MOST_TWOS) {
        size /= 2;
        n++;
    }
    return n;
}

/* The features of a level. */
static void describe_level(const sx_cost *cost, const sx_mapping *mapping, int level, double *out) {
    const sx_cost_level *at = &cost->level[level];
    double moved = 0, held = 0, twos = 0, iterations = 1,
           instances = at->instances ? (double)at->instances : 1;
    for (int v = 0; v < cost->n_tensors; v++) {
        const sx_cost_tensor *tensor = &at->tensor[v];
        moved += (double)tensor->reads + (double)tensor->fills + (double)tensor->updates;
        held += (double)tensor->tile;
        twos += count_twos(tensor->tile);
    }
    for (int d = 0; d < mapping->n_dims; d++) iterations *= mapping->level[level].temporal[d];
    out[0] = sx_log(1 + moved / instances);
    out[1] = sx_log(1 + held);
    out[2] = sx_log(instances);
    out[3] = sx_log(iterations);
    out[4] = twos;
}

bool sx_mapping_features(const sx_map_space *space, sx_model_workspace *workspace, const sx_mapping *mapping,
                         sx_cost *cost, double *out) {
    if (sx_evaluate(workspace, mapping, cost).reason != SX_LEGAL) return false;
    out[0] = sx_log(cost->energy_pj);
    out[1] = sx_log((double)cost->cycles);
    for (int l = 0; l < space->arch->n_levels; l++)
        describe_level(cost, mapping, l, out + OF_ALL + OF_A_LEVEL * l);
    return true;
}
