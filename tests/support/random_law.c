#include "support/random_law.h"

#include "ir/law.h"

#include <math.h>
#include <stdio.h>

/* One of some numbers. */
static double pick(sx_rng *rng, const double *number, size_t n) {
    return number[sx_rng_below(rng, n)];
}
#define PICK(...) pick(rng, (const double[]){__VA_ARGS__}, sizeof(double[]){__VA_ARGS__} / sizeof(double))

static void draw_array(sx_rng *rng, const sx_problem *problem, sx_law *law) {
    const int first = (int)sx_rng_below(rng, problem->n_dims);
    law->n_array = problem->n_dims > 1 && sx_rng_below(rng, 2) ? 2 : 1;
    for (int i = 0; i < law->n_array; i++) {
        const char *name = problem->dim_name[(first + i) % problem->n_dims];
        snprintf(law->array[i].dim, sizeof law->array[i].dim, "%s", name);
        law->array[i].size = (uint32_t)sx_rng_range(rng, 2, 3);
    }
    law->rows = PICK(1, 2, 4);
    law->min_rows = PICK(0, 3);
    law->preload = PICK(0, 3);
    law->issue = PICK(0, 1, 5);
    snprintf(law->stream, sizeof law->stream, "%s", problem->dim_name[sx_rng_below(rng, problem->n_dims)]);
}

void sx_random_law(sx_rng *rng, const sx_problem *problem, bool array, sx_law *law) {
    sx_law_init(law);
    law->tail = sx_rng_below(rng, 2);
    law->refetch = sx_rng_below(rng, 4);
    law->spill = law->refetch && sx_rng_below(rng, 4) == 0;
    law->slots = PICK(INFINITY, 1, 2, 3);
    law->exposed = PICK(0, 0.25, 1);
    law->launch = PICK(0, 3, 40);
    law->start = PICK(0, 7);
    law->load_bus = array ? PICK(4, 16) : PICK(0, 0, 4);
    law->load_request = PICK(INFINITY, 16);
    law->load_min = PICK(0, 2);
    law->store_request = PICK(INFINITY, 8);
    law->store_time = PICK(0, 0.5);
    law->page_time = PICK(0, 1.5);
    law->page = PICK(16, 64);
    law->line = PICK(4, 8);
    law->soft = PICK(INFINITY, 1);
    law->write_factor = PICK(1, 2);
    law->n_caches = (uint8_t)sx_rng_below(rng, 3);
    for (int i = 0; i < law->n_caches; i++)
        law->cache[i] = (sx_law_cache){PICK(32, 64, 256), PICK(1, 2, 4), PICK(5, 20)};
    if (array) draw_array(rng, problem, law);
}
