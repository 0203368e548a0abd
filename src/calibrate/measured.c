#include "calibrate/measured.h"

#include "base/vector.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { R, S, P, Q, C, K, N, N_DIMS };
static const char dim_names[] = "RSPQCKN";
static const char *const tensor_names[] = {"Inputs", "Weights", "Outputs"};
static const char tensor_letters[] = "IWO";

/* The convolution of a row, tensors as they lie in memory: rows of the picture outermost, channels innermost. */
static sx_status make_convolution(const double *size, const double *stride, sx_problem *out) {
    static const int8_t rank[3][4] = {{N, Q, P, C}, {S, R, C, K}, {N, Q, P, K}};
    memset(out, 0, sizeof *out);
    out->n_dims = N_DIMS;
    out->n_tensors = 3;
    strcpy(out->name, "convolution");
    for (int d = 0; d < N_DIMS; d++) {
        if (!(size[d] >= 1 && size[d] <= SX_MAX_DIM_SIZE && size[d] == floor(size[d])))
            return sx_error_new(SX_ERR_INPUT, "%c is %g; it must be a whole number of at least 1",
                                dim_names[d], size[d]);
        out->dim_name[d][0] = dim_names[d];
        out->size[d] = (uint32_t)size[d];
    }
    for (int v = 0; v < 3; v++) {
        sx_tensor *tensor = &out->tensor[v];
        strcpy(tensor->name, tensor_names[v]);
        tensor->n_ranks = 4;
        tensor->output = v == 2;
        for (int r = 0; r < 4; r++) tensor->coef[r][rank[v][r]] = 1;
    }
    for (int i = 0; i < 2; i++)
        if (!(stride[i] >= 1 && stride[i] <= SX_MAX_COEF && stride[i] == floor(stride[i])))
            return sx_error_new(SX_ERR_INPUT, "a stride is %g; it must be a whole number of at least 1",
                                stride[i]);
    out->tensor[0].coef[1][Q] = (int32_t)stride[1];
    out->tensor[0].coef[1][S] = 1;
    out->tensor[0].coef[2][P] = (int32_t)stride[0];
    out->tensor[0].coef[2][R] = 1;
    return sx_problem_check(out);
}

/* Reads a whole number and advances *at; 0 where there is none. */
static uint32_t read_count(const char **at) {
    uint64_t value = 0;
    while (isdigit((unsigned char)**at) && value <= SX_MAX_DIM_SIZE)
        value = value * 10 + (uint64_t)(*(*at)++ - '0');
    return value <= SX_MAX_DIM_SIZE ? (uint32_t)value : 0;
}

/* Reads the letters of the tensors that a level keeps; advances *at beyond the bracket. */
static bool read_keep(const char **at, const sx_problem *problem, uint8_t *keep) {
    if (*(*at)++ != '[') return false;
    for (*keep = 0; **at && **at != ']'; (*at)++) {
        const char *letter = strchr(tensor_letters, **at);
        int v = letter ? sx_problem_tensor(problem, tensor_names[letter - tensor_letters]) : -1;
        if (v < 0) return false;
        *keep |= (uint8_t)(1u << v);
    }
    return *(*at)++ == ']';
}

/* The loops of one level as they are read: from outside inwards. */
typedef struct level_loops {
    uint8_t temporal[SX_MAX_DIMS], spatial[SX_MAX_DIMS];
    int n_temporal, n_spatial;
} level_loops;

/* Puts the dimensions of loops first, innermost first, and the others after them. */
static void set_order(const uint8_t *outer_first, int n, int n_dims, uint8_t *order) {
    bool placed[SX_MAX_DIMS] = {false};
    int at = 0;
    for (int i = n - 1; i >= 0; i--) {
        order[at++] = outer_first[i];
        placed[outer_first[i]] = true;
    }
    for (int d = 0; d < n_dims; d++)
        if (!placed[d]) order[at++] = (uint8_t)d;
}

/* Reads one loop such as "K16X"; false where it is none, or its dimension has two loops of that kind. */
static bool read_loop(const char **at, const sx_problem *problem, sx_mapping_level *level,
                      level_loops *loops) {
    const char name[2] = {**at, 0};
    int d = sx_problem_dim(problem, name);
    if (d < 0) return false;
    ++*at;
    uint32_t factor = read_count(at);
    bool spatial = **at == 'X';
    if (spatial) ++*at;
    if (factor == 0) return false;
    if (factor == 1) return true;
    uint32_t *to = spatial ? &level->spatial[d] : &level->temporal[d];
    if (*to != 1) return false;
    *to = factor;
    if (spatial)
        loops->spatial[loops->n_spatial++] = (uint8_t)d;
    else
        loops->temporal[loops->n_temporal++] = (uint8_t)d;
    return true;
}

/* Whether the loops of a level spread over more of a mesh row than it has: they lie on Y then. */
static bool lies_on_y(const sx_arch *arch, int s, const sx_mapping_level *level, int n_dims) {
    uint64_t inner = s ? arch->level[s - 1].mesh_x : arch->compute.mesh_x, spread = 1;
    for (int d = 0; d < n_dims; d++) spread *= level->spatial[d];
    return spread > inner / arch->level[s].mesh_x;
}

/* Reads one level, "L2[WI] N1 K16X"; advances *at beyond it. */
static bool read_level(const char **at, const sx_problem *problem, const sx_arch *arch, sx_mapping *mapping) {
    level_loops loops = {.n_temporal = 0};
    if (*(*at)++ != 'L') return false;
    uint32_t s = read_count(at);
    if (s >= arch->n_levels || mapping->level[s].keep) return false;
    sx_mapping_level *level = &mapping->level[s];
    if (!read_keep(at, problem, &level->keep)) return false;
    while (**at == ' ' && (*at)[1] != '-') {
        ++*at;
        if (!read_loop(at, problem, level, &loops)) return false;
    }
    set_order(loops.temporal, loops.n_temporal, problem->n_dims, level->temporal_order);
    set_order(loops.spatial, loops.n_spatial, problem->n_dims, level->spatial_order);
    level->split = lies_on_y(arch, (int)s, level, problem->n_dims) ? 0 : (uint8_t)loops.n_spatial;
    return true;
}

/* Reads a mapping by its text. */
static sx_status read_loops(const char *text, sx_place place, const sx_problem *problem, const sx_arch *arch,
                            sx_mapping *out) {
    const char *at = text;
    sx_mapping_init(out, problem, arch);
    for (int s = 0; s < arch->n_levels; s++) {
        out->level[s].keep = 0;
        for (int d = 0; d < problem->n_dims; d++) out->level[s].temporal[d] = out->level[s].spatial[d] = 1;
    }
    bool good = true;
    while (good) {
        good = read_level(&at, problem, arch, out);
        if (!good || !*at) break;
        good = strncmp(at, " - ", 3) == 0;
        at += 3;
    }
    if (!good)
        return sx_error_hint(sx_error_at((sx_place){place.file, place.line, place.column + (int)(at - text)},
                                         "the mapping cannot be read from here: '%.24s'",
                                         at - 1 >= text ? at - 1 : at),
                             "such as 'L3[WIO] K2 - L2[WI] K16X - L1[O] C8 C16X - L0[W] P8', L0 being the "
                             "innermost of %d levels",
                             arch->n_levels);
    if (sx_mapping_perfect(out, problem)) return SX_OK;
    return sx_error_at(place, "the factors of the mapping do not multiply to the sizes of the problem");
}

sx_status sx_measurements_reject(sx_measurements *m, int line, const char *reason) {
    if (!sx_reserve(&m->rejected, &m->rejected_room, m->n_rejected + 1, sizeof *m->rejected))
        return sx_error_memory();
    sx_rejected *to = &m->rejected[m->n_rejected++];
    to->line = line;
    snprintf(to->reason, sizeof to->reason, "%s", reason);
    return SX_OK;
}

/* The columns of a file. */
typedef struct columns {
    int dim[N_DIMS], stride[2], mapping, problem, cycles, energy;
    double energy_scale;
} columns;

#define COLUMN(csv, ...)                                                                                     \
    sx_csv_column(csv, (const char *const[]){__VA_ARGS__},                                                   \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static sx_status find_columns(const sx_csv *csv, columns *out) {
    bool all = true;
    for (int d = 0; d < N_DIMS; d++) {
        const char name[2] = {dim_names[d], 0};
        out->dim[d] = COLUMN(csv, name);
        all &= out->dim[d] >= 0;
    }
    out->stride[0] = COLUMN(csv, "wstride", "stride");
    out->stride[1] = COLUMN(csv, "hstride", "wstride", "stride");
    out->problem = COLUMN(csv, "problem");
    out->mapping = COLUMN(csv, "mapping");
    out->cycles = COLUMN(csv, "cycles", "rtl_cycles");
    out->energy = COLUMN(csv, "energy_pj", "energy_uj");
    out->energy_scale = out->energy >= 0 && strcmp(csv->column[out->energy], "energy_uj") == 0 ? 1e6 : 1;
    const char *missing = out->mapping < 0                         ? "mapping"
                          : out->problem < 0 && !all               ? "problem"
                          : out->cycles < 0 && out->energy < 0     ? "cycles"
                          : out->problem < 0 && out->stride[0] < 0 ? "stride"
                                                                   : NULL;
    if (!missing) return SX_OK;
    return sx_error_hint(
        sx_error_at((sx_place){csv->name, 1, 1}, "there is no column '%s'", missing),
        "columns are R, S, P, Q, C, K, N, stride, mapping, cycles; or problem, mapping, cycles; "
        "energy_pj beside or instead of cycles");
}

/* Reads a positive number of a column, where there is one. */
static sx_status read_positive(const sx_csv *csv, int column, double scale, double *out) {
    *out = 0;
    if (column < 0) return SX_OK;
    SX_TRY(sx_csv_number(csv, column, out));
    *out *= scale;
    if (*out > 0) return SX_OK;
    return sx_error_at(sx_csv_place(csv, column), "'%s' is %g; it must be above 0", csv->column[column],
                       *out);
}

/* Reads the row at hand. */
static sx_status read_row(const sx_csv *csv, const columns *c, const sx_arch *arch, sx_read_measured *read,
                          void *user, sx_measured *out) {
    out->line = csv->line;
    SX_TRY(read_positive(csv, c->cycles, 1, &out->cycles));
    SX_TRY(read_positive(csv, c->energy, c->energy_scale, &out->energy_pj));
    if (c->problem >= 0) {
        sx_status status = read(user, csv->field[c->problem], csv->field[c->mapping], arch, out);
        return status ? sx_error_place(status, sx_csv_place(csv, c->problem)) : SX_OK;
    }
    double size[N_DIMS], stride[2];
    for (int d = 0; d < N_DIMS; d++) SX_TRY(sx_csv_number(csv, c->dim[d], &size[d]));
    for (int i = 0; i < 2; i++) SX_TRY(sx_csv_number(csv, c->stride[i], &stride[i]));
    sx_status bad = make_convolution(size, stride, &out->problem);
    if (bad) return sx_error_place(bad, sx_csv_place(csv, c->dim[0]));
    return read_loops(csv->field[c->mapping], sx_csv_place(csv, c->mapping), &out->problem, arch,
                      &out->mapping);
}

/* Gives a row the number of its layer. */
static void set_layer(sx_measurements *m, sx_measured *row) {
    for (size_t i = 0; i < m->n; i++) {
        if (memcmp(&m->row[i].problem, &row->problem, sizeof row->problem) != 0) continue;
        row->layer = m->row[i].layer;
        return;
    }
    row->layer = m->n_layers++;
}

sx_status sx_measurements_leave_out(sx_measurements *m, int line, sx_status error) {
    const sx_code code = error->code;
    if (code != SX_ERR_INPUT && code != SX_ERR_LIMIT && code != SX_ERR_USAGE) return error;
    char *text = sx_status_text(error);
    sx_status status = text ? sx_measurements_reject(m, line, text) : sx_error_memory();
    free(text);
    sx_status_free(error);
    return status;
}

/* Reads all rows. */
static sx_status read_rows(sx_csv *csv, const sx_arch *arch, sx_read_measured *read, void *user,
                           sx_measurements *m) {
    columns c;
    SX_TRY(find_columns(csv, &c));
    if (c.problem >= 0 && !read)
        return sx_error_at((sx_place){csv->name, 1, 1}, "the column 'problem' cannot be read here");
    for (bool more = true;;) {
        sx_status status = sx_csv_next(csv, &more);
        if (!more) return status;
        if (!sx_reserve(&m->row, &m->room, m->n + 1, sizeof *m->row)) {
            sx_status_free(status);
            return sx_error_memory();
        }
        sx_measured *row = &m->row[m->n];
        memset(row, 0, sizeof *row);
        if (!status) status = read_row(csv, &c, arch, read, user, row);
        if (status) {
            SX_TRY(sx_measurements_leave_out(m, csv->line, status));
            continue;
        }
        set_layer(m, row);
        m->n++;
    }
}

sx_status sx_measurements_read(const char *path, const sx_arch *arch, sx_read_measured *read, void *user,
                               sx_measurements *out) {
    sx_csv csv;
    *out = (sx_measurements){0};
    SX_TRY(sx_csv_open(path, &csv));
    sx_status status = read_rows(&csv, arch, read, user, out);
    sx_csv_fini(&csv);
    if (status) sx_measurements_free(out);
    return status;
}

void sx_measurements_free(sx_measurements *m) {
    free(m->row);
    free(m->rejected);
    *m = (sx_measurements){0};
}
