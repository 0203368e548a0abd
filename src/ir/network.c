#include "sextant/network.h"

#include <stdlib.h>
#include <string.h>

void sx_network_fini(sx_network *network) {
    free(network->layer);
    memset(network, 0, sizeof *network);
}

const sx_layer *sx_network_layer(const sx_network *network, const char *name) {
    for (size_t i = 0; i < network->n_layers; i++)
        if (strcmp(network->layer[i].name, name) == 0) return &network->layer[i];
    return NULL;
}

/* Whether two problems differ in nothing but their own name. Names of dimensions and tensors count:
 * constraints and buffers built for one tensor go by them. */
static bool same_computation(const sx_problem *a, const sx_problem *b) {
    static const size_t after_name = sizeof a->name;
    return memcmp((const char *)a + after_name, (const char *)b + after_name, sizeof *a - after_name) == 0;
}

size_t sx_network_distinct(const sx_network *network, size_t *first) {
    size_t n = 0;
    for (size_t i = 0; i < network->n_layers; i++) {
        size_t j = 0;
        while (j < i && !same_computation(&network->layer[j].problem, &network->layer[i].problem)) j++;
        if (first) first[i] = j;
        n += j == i;
    }
    return n;
}
