#include "systolic/points.h"

#include "base/arena.h"
#include "frontend/einsum.h"
#include "text/document/yaml.h"
#include "text/template/template.h"

#include <stdio.h>
#include <string.h>

enum { MAX_MEMORY = 4 << 20 }; /* of a line */

/* The sizes of a problem, in the order of their names. */
static sx_status read_sizes(const sx_node *problem, const char *names, uint32_t *size) {
    SX_TRY(sx_node_expect(problem, SX_NODE_MAP, "'problem'"));
    for (int i = 0; names[i]; i++) {
        const char key[] = {names[i], 0};
        const sx_node *value;
        SX_TRY(sx_node_require(problem, key, "the problem", &value));
        SX_TRY(sx_node_u32(value, key, &size[i]));
    }
    return SX_OK;
}

/* Reads a problem of one of the paper's two families. */
static sx_status read_family(const sx_node *line, sx_systolic_kernel *out) {
    const sx_node *family, *problem;
    const char *name;
    uint32_t s[6];
    sx_status status;
    SX_TRY(sx_node_require(line, "family", "a point without an einsum", &family));
    SX_TRY(sx_node_text(family, "family", &name));
    SX_TRY(sx_node_require(line, "problem", "a point", &problem));
    if (strcmp(name, "mm") == 0) {
        SX_TRY(read_sizes(problem, "ijk", s));
        status = sx_systolic_matrix(s[0], s[1], s[2], out);
    } else if (strcmp(name, "conv") == 0) {
        SX_TRY(read_sizes(problem, "iorcpq", s));
        status = sx_systolic_convolution(s[0], s[1], s[2], s[3], s[4], s[5], out);
    } else {
        return sx_error_hint(sx_error_at(family->place, "the family is '%.40s'", name),
                             "it is mm or conv; any other problem is an einsum");
    }
    return sx_error_place(status, problem->place);
}

/* Reads a problem that is an einsum. */
static sx_status read_einsum(const sx_node *node, sx_systolic_kernel *out) {
    const char *text;
    sx_problem problem;
    SX_TRY(sx_node_text(node, "einsum", &text));
    sx_status error = sx_einsum_parse_at(text, (sx_place){node->place.file, 1, 1}, NULL, &problem);
    if (error) {
        sx_status here =
            sx_error_at(node->place, "at character %d of the einsum: %s", error->column, error->message);
        if (error->hint) here = sx_error_hint(here, "%s", error->hint);
        sx_status_free(error);
        return here;
    }
    return sx_error_place(sx_systolic_kernel_of(&problem, out), node->place);
}

/* Reads a loop's tile of a level. */
static sx_status read_tile(const sx_node *tiles, const sx_systolic_loop *loop, int level, uint32_t *out) {
    char key[SX_NAME_SIZE + 4];
    const sx_node *value;
    snprintf(key, sizeof key, "%s_t%d", loop->name, level);
    *out = 1;
    if (loop->size == 1 && !sx_node_get(tiles, key)) return SX_OK;
    SX_TRY(sx_node_require(tiles, key, "'tiles'", &value));
    return sx_node_u32(value, key, out);
}

/* Refuses tiles of loops that a kernel does not have. */
static sx_status check_tiles(const sx_node *tiles, const sx_systolic_kernel *kernel) {
    char key[2 * SX_MAX_SYSTOLIC_LOOPS][SX_NAME_SIZE + 4];
    const char *known[2 * SX_MAX_SYSTOLIC_LOOPS];
    size_t n = 0;
    for (int d = 0; d < kernel->n_loops; d++)
        for (int level = 1; level <= 2; level++, n++) {
            snprintf(key[n], sizeof key[n], "%s_t%d", kernel->loop[d].name, level);
            known[n] = key[n];
        }
    for (size_t i = 0; i < tiles->n; i++) {
        bool found = false;
        for (size_t k = 0; k < n; k++) found = found || sx_key_equal(tiles->pair[i].key, known[k]);
        if (!found) return sx_error_unknown(tiles->pair[i].place, "tile", tiles->pair[i].key, known, n);
    }
    return SX_OK;
}

/* Reads a line that is a tree. */
static sx_status read_line(const sx_node *line, sx_outside_point *out) {
    sx_outside_point p = {.kernel = {.count = 1}};
    const sx_node *value;
    const char *design;
    size_t number;
    SX_TRY(sx_node_expect(line, SX_NODE_MAP, "a point"));
    if ((value = sx_node_get(line, "einsum")))
        SX_TRY(read_einsum(value, &p.kernel));
    else
        SX_TRY(read_family(line, &p.kernel));
    SX_TRY(sx_node_require(line, "design", "a point", &value));
    SX_TRY(sx_node_text(value, "design", &design));
    SX_TRY(sx_error_place(sx_systolic_design_find(&p.kernel, design, &number), value->place));
    p.point.design = (uint32_t)number;
    SX_TRY(sx_node_require(line, "tiles", "a point", &value));
    SX_TRY(sx_node_expect(value, SX_NODE_MAP, "'tiles'"));
    SX_TRY(check_tiles(value, &p.kernel));
    for (int d = 0; d < p.kernel.n_loops; d++) {
        SX_TRY(read_tile(value, &p.kernel.loop[d], 1, &p.point.t1[d]));
        SX_TRY(read_tile(value, &p.kernel.loop[d], 2, &p.point.t2[d]));
    }
    *out = p;
    return SX_OK;
}

/* Reads the tree of a text, whose places are those of the line. */
static sx_status read_text(sx_arena *arena, sx_source *source, const char *file, size_t line,
                           sx_outside_point *out) {
    const sx_node **roots;
    size_t n;
    for (size_t i = 0; i < source->n_spans; i++) source->span[i].from_line += line - 1;
    SX_TRY(sx_yaml_read(arena, source, &roots, &n));
    if (n == 1) return read_line(roots[0], out);
    return sx_error_hint(sx_error_at((sx_place){file, (int)line, 1}, "%zu objects in one line", n),
                         "a line holds one point, a JSON object");
}

/* Gives an error a place in its line, where it has none or one behind its end, and adds a hint.
 */
static sx_status finish_error(sx_status error, const char *file, size_t line, size_t size) {
    if (!error) return SX_OK;
    error = sx_error_place(error, (sx_place){file, (int)line, 1});
    if (error->line > (int)line) {
        error->line = (int)line;
        error->column = (int)size + 1;
    }
    if (error->hint || error->code != SX_ERR_INPUT) return error;
    return sx_error_hint(error, "for example {\"family\": \"mm\", \"problem\": {\"i\": 64, \"j\": 64, \"k\": "
                                "64}, \"design\": \"3_2\", \"tiles\": {\"i_t1\": 16, \"i_t2\": 4, ...}}");
}

sx_status sx_outside_point_read(const char *file, size_t line, const char *text, size_t size,
                                sx_outside_point *out) {
    sx_arena arena = {.limit = MAX_MEMORY};
    sx_source source = {0};
    sx_status status = sx_source_text(&arena, NULL, file, text, size, &source);
    if (!status) status = read_text(&arena, &source, file, line, out);
    sx_source_fini(&source);
    sx_arena_free(&arena);
    return finish_error(status, file, line, size);
}
