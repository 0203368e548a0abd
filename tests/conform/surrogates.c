/* Surrogates of the grounds, for the navigator that needs them: they are written to share/sextant beside this
 * program, where it looks. */
#include "ground.h"

#include "support/expect.h"
#include "surrogate/shipped.h"
#include "surrogate/train.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* The family of one problem. */
static void family_of(const sx_problem *problem, sx_family *out) {
    *out = (sx_family){.name = "ground", .problem = *problem};
    for (int d = 0; d < problem->n_dims; d++) {
        out->dim[d] = (sx_family_dim){.same_as = -1, .n_parts = 1, .n_sizes = 1};
        out->dim[d].part[0] = (sx_size_range){problem->size[d], problem->size[d], 1};
    }
}

/* Trains a small surrogate of a ground and writes it. */
static void make_surrogate(const ground *g, const char *path) {
    sx_train_options options;
    sx_train_result result;
    sx_family *family = calloc(1, sizeof *family);
    assert_non_null(family);
    family_of(sx_model_problem(g->model), family);
    sx_train_options_init(&options);
    options.data.arch = sx_model_arch(g->model);
    options.data.family = family;
    options.data.space = sx_map_space_of(g->space)->options;
    options.data.n_problems = 8;
    options.held_problems = 1;
    options.n_widths = 2;
    options.width[0] = options.width[1] = 32;
    options.epochs = 2;
    sx_expect_ok(sx_train(&options, &result));
    sx_expect_ok(sx_surrogate_write(path, result.surrogate));
    sx_train_result_fini(&result);
    free(family);
}

void make_surrogates(const ground *grounds, size_t n) {
    char folder[4096], path[4200];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 64);
    if (length < 0) return;
    folder[length] = 0;
    strcpy(strrchr(folder, '/'), "/share");
    (void)mkdir(folder, 0777);
    strcat(folder, "/sextant");
    (void)mkdir(folder, 0777);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/ground-%zu%s", folder, i, SX_SURROGATE_SUFFIX);
        make_surrogate(&grounds[i], path);
    }
}
