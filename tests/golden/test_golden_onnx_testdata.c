/* The models of Debian's package libonnx-testdata, one for each case of every operation of the standard: each is
 * read, or refused with words, and its outputs have the shapes that it says. Skipped where the package is not
 * installed. */
#include "base/file_map.h"
#include "frontend/onnx/trace.h"
#include "support/expect.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define FOLDER "/usr/share/libonnx-testdata/data"
enum { SKIPPED = 77 };

typedef struct tally {
    size_t read, refused, layers, outputs, wrong;
} tally;

static const sx_onnx_symbol symbols[] = {{"N", 2, NULL}, {"M", 3, NULL}, {"n", 2, NULL}, {"batch", 1, NULL}};

/* Compares the shapes that follow from the operations with those that the file says of its outputs. */
static void compare_outputs(const char *path, const sx_file_map *map, tally *t) {
    sx_onnx_trace trace;
    sx_expect_ok(sx_onnx_trace_model((sx_bytes){map->data, map->size}, symbols, 4, &trace));
    const sx_onnx_graph *graph = &trace.model.graph;
    for (size_t i = 0; i < graph->n_outputs; i++) {
        const sx_onnx_shape *said = &graph->output[i].shape;
        for (uint32_t k = 0; k < trace.values.n && sx_onnx_known(said); k++) {
            const sx_onnx_value *value = sx_onnx_value_at(&trace, k);
            if (!value->wanted || sx_bytes_compare(value->name, graph->output[i].name) != 0) continue;
            const bool same = value->shape.n == said->n &&
                              memcmp(value->shape.dim, said->dim, (size_t)said->n * sizeof *said->dim) == 0;
            if (!same) print_error("%s: output %zu has another shape\n", path, i);
            t->outputs++;
            t->wrong += !same;
        }
    }
    sx_onnx_trace_fini(&trace);
}

/* Reads one model; sizes that it leaves open are given where they have usual names. */
static void read_model(const char *path, tally *t) {
    sx_file_map map;
    sx_onnx onnx;
    sx_expect_ok(sx_file_map_open(path, &map));
    sx_status status = sx_onnx_parse(path, map.data, map.size, symbols, 4, &onnx);
    if (!status) {
        t->read++;
        t->layers += onnx.n_layers;
        sx_onnx_fini(&onnx);
        compare_outputs(path, &map, t);
    } else {
        assert_true(status->message && *status->message);
        print_message("%s: %s\n", path, status->message);
        sx_status_free(status);
        t->refused++;
    }
    sx_file_unmap(&map);
}

/* Reads all models below a folder. */
static void walk(const char *folder, tally *t) {
    DIR *list = opendir(folder);
    if (!list) return;
    for (struct dirent *entry; (entry = readdir(list));) {
        char path[1024];
        struct stat info;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%.500s/%.500s", folder, entry->d_name);
        if (stat(path, &info) != 0) continue;
        if (S_ISDIR(info.st_mode))
            walk(path, t);
        else if (sx_onnx_is_path(path))
            read_model(path, t);
    }
    closedir(list);
}

static void every_model_is_read(void **state) {
    tally t = {0};
    (void)state;
    walk(FOLDER, &t);
    print_message("%zu models read, %zu refused, %zu layers; %zu of %zu outputs have another shape\n", t.read,
                  t.refused, t.layers, t.wrong, t.outputs);
    assert_true(t.read + t.refused > 1000 && t.refused * 100 <= t.read && t.layers >= 70);
    assert_true(t.outputs > 1000 && t.wrong == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_model_is_read)};
    struct stat info;
    if (stat(FOLDER, &info) != 0) {
        print_message("skipped: " FOLDER " is missing (package libonnx-testdata)\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
