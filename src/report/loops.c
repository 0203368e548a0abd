#include "report/loops.h"

#include "ir/axes.h"
#include "ir/rank.h"
#include "report/table.h"

#include <stdlib.h>

bool sx_dim_indexes(const sx_problem *problem, int tensor, int dim) {
    return sx_tensor_has(&problem->tensor[tensor], dim);
}

/* Says for each loop how many iterations its last round has: the digits of size - 1 in the mixed radix of the
 * dimension's factors. */
static void find_last(const sx_problem *problem, sx_loop_line *lines, int n) {
    uint64_t left[SX_MAX_DIMS];
    for (int d = 0; d < problem->n_dims; d++) left[d] = problem->size[d] - 1u;
    for (int i = n - 1; i >= 0; i--) {
        sx_loop_line *line = &lines[i];
        line->last = (uint32_t)(left[line->dim] % line->factor) + 1;
        left[line->dim] /= line->factor;
    }
}

/* Appends a level's spatial loops; one on both axes is two. Returns the number of lines. */
static int list_spatial(const sx_mapping_level *level, int s, int n_dims, sx_loop_line *lines, int n) {
    int both = sx_axes_both(level);
    for (int i = n_dims - 1; i >= 0; i--) {
        int d = level->spatial_order[i];
        uint32_t factor = level->spatial[d];
        if (factor == 1) continue;
        sx_loop_line line = {
            .level = s, .dim = d, .spatial = true, .on_y = i >= level->split, .factor = factor};
        if (d == both) {
            lines[n] = line;
            lines[n].on_y = true;
            lines[n++].factor = factor / level->x_part;
            line.factor = level->x_part;
        }
        lines[n++] = line;
    }
    return n;
}

int sx_loops_list(const sx_mapping *mapping, const sx_problem *problem,
                  sx_loop_line lines[SX_MAX_LOOP_LINES]) {
    int n = 0;
    for (int s = mapping->n_levels - 1; s >= 0; s--) {
        const sx_mapping_level *level = &mapping->level[s];
        for (int i = mapping->n_dims - 1; i >= 0; i--) {
            int d = level->temporal_order[i];
            if (level->temporal[d] == 1) continue;
            lines[n++] = (sx_loop_line){.level = s, .dim = d, .factor = level->temporal[d]};
        }
        n = list_spatial(level, s, mapping->n_dims, lines, n);
    }
    find_last(problem, lines, n);
    return n;
}

/* The columns that a loop at a depth is indented by; less on a narrow terminal. */
static int indent_of(int depth, const sx_text *out) {
    int most = out->width && out->width < 80 ? out->width / 2 : 40;
    return 2 * depth < most ? 2 * depth : most;
}

static void print_line(const sx_loop_line *line, int depth, const sx_problem *problem, sx_text *out) {
    int indent = indent_of(depth, out);
    sx_text_add(out, "  | %*s%s %s in [0:%u)", indent, "", line->spatial ? "par-for" : "for",
                problem->dim_name[line->dim], (unsigned)line->factor);
    if (line->last != line->factor) sx_text_add(out, ", last %u", (unsigned)line->last);
    if (line->spatial) sx_text_add(out, " (%c)", line->on_y ? 'Y' : 'X');
    sx_text_add(out, "\n");
}

/* Adds a level's name and what it keeps. */
static void print_level(const sx_mapping *mapping, int level, const sx_problem *problem, const sx_arch *arch,
                        sx_text *out) {
    sx_text line = {0};
    const char *between = "keeps ";
    sx_text_add(&line, "%s %s", arch->level[level].name, mapping->level[level].keep ? "" : "keeps nothing");
    for (int v = 0; v < problem->n_tensors; v++) {
        if (!(mapping->level[level].keep >> v & 1)) continue;
        sx_text_add(&line, "%s%s", between, problem->tensor[v].name);
        between = ", ";
    }
    sx_text_add(out, "  ");
    sx_wrap_free(&line, 2, 4, out);
}

void sx_loops_print(const sx_mapping *mapping, const sx_problem *problem, const sx_arch *arch, sx_text *out) {
    sx_loop_line lines[SX_MAX_LOOP_LINES];
    int n = sx_loops_list(mapping, problem, lines), at = 0;
    for (int s = mapping->n_levels - 1; s >= 0; s--) {
        print_level(mapping, s, problem, arch, out);
        for (; at < n && lines[at].level == s; at++) print_line(&lines[at], at, problem, out);
    }
    sx_text_add(out, "  %s\n  | %*smultiply-accumulate\n", arch->compute.name, indent_of(n, out), "");
}

double sx_box_words(const sx_problem *problem, const sx_mapping *mapping, int tensor, int level,
                    const uint32_t *times) {
    const sx_tensor *t = &problem->tensor[tensor];
    double box = 1;
    for (int r = 0; r < t->n_ranks; r++) {
        double extent = 1;
        for (int d = 0; d < problem->n_dims; d++) {
            double reach = (double)sx_mapping_extent(mapping, level, d);
            if (times) reach *= times[d];
            extent += abs(t->coef[r][d]) * (reach - 1);
        }
        box *= extent;
    }
    return box;
}
