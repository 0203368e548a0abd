/* The designs that keep all limits. */
#include "codesign/choices.h"
#include "codesign/designs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COMBINATIONS = 1000000 };

/* A limit resolved in the architecture: the memories it is of, as levels. */
typedef struct bound_limit {
    uint32_t levels;
    double words, area; /* INFINITY: any */
} bound_limit;

/* The levels that a name of a limit stands for: a level, a part of one, or all parts. */
static sx_status find_levels(const sx_designs *designs, const sx_choices *choices, const sx_area_limit *limit,
                             const char *name, uint32_t *out) {
    char part[2 * SX_NAME_SIZE];
    uint32_t levels = 0;
    int whole = sx_arch_level(&designs->base, name);
    if (whole >= 0) levels |= 1u << whole;
    for (size_t i = 0; i < choices->n_memories; i++) {
        const sx_memory_choice *m = &choices->memory[i];
        size_t length = strlen(m->level);
        bool all = strcmp(m->level, name) == 0;
        bool one = strncmp(m->level, name, length) == 0 && name[length] == '/' &&
                   strcmp(name + length + 1, m->tensor) == 0;
        if (!m->tensor[0] || (!all && !one)) continue;
        sx_split_name(m->level, m->tensor, part);
        levels |= 1u << sx_arch_level(&designs->base, part);
    }
    if (!levels) return sx_error_at(limit->place, "the limit names '%s', which is not a memory", name);
    *out |= levels;
    return SX_OK;
}

/* The area of one memory of a given number of words, of the kind of the first of some levels. */
static sx_status area_of(const sx_designs *designs, const sx_choices *choices, const sx_area_limit *limit,
                         uint32_t levels, double *out) {
    int level = __builtin_ctz(levels);
    const sx_storage *base = &designs->base.level[level];
    const sx_size_cost *size_cost = &choices->size_cost[SX_SIZE_COST_AREA];
    char part[2 * SX_NAME_SIZE];
    for (size_t i = 0; i < choices->n_memories; i++) {
        const sx_memory_choice *m = &choices->memory[i];
        sx_split_name(m->level, m->tensor, part);
        if (strcmp(m->tensor[0] ? part : m->level, base->name) != 0) continue;
        if (sx_size_cost_given(&m->size_cost[SX_SIZE_COST_AREA]))
            size_cost = &m->size_cost[SX_SIZE_COST_AREA];
    }
    sx_size_cost preset = sx_size_cost_preset(SX_SIZE_COST_AREA, base, 0);
    return sx_size_cost_value(sx_size_cost_given(size_cost) ? size_cost : &preset, base, 0, limit->area_of,
                              base->name, "area", out);
}

static sx_status bind_limit(const sx_designs *designs, const sx_choices *choices, const sx_area_limit *limit,
                            bound_limit *out) {
    *out = (bound_limit){.words = INFINITY, .area = INFINITY};
    for (size_t i = 0; i < limit->n_names; i++)
        SX_TRY(find_levels(designs, choices, limit, limit->name[i], &out->levels));
    if (limit->words) out->words = (double)limit->words;
    if (limit->area > 0) out->area = limit->area;
    if (!limit->area_of) return SX_OK;
    double area;
    SX_TRY(area_of(designs, choices, limit, out->levels, &area));
    out->area = fmin(out->area, area);
    return SX_OK;
}

/* Whether a choice of options keeps a limit. */
static bool keeps_limit(const sx_designs *designs, const bound_limit *limit, const uint8_t *option) {
    double words = 0, area = 0;
    uint32_t left = limit->levels;
    for (size_t k = 0; k < designs->n_parameters; k++) {
        const sx_design_parameter *parameter = &designs->parameter[k];
        if (parameter->array || !(left >> parameter->level & 1)) continue;
        left &= ~(1u << parameter->level);
        words += (double)parameter->option[option[k]].words;
        area += parameter->option[option[k]].area;
    }
    for (; left; left &= left - 1) {
        int level = __builtin_ctz(left);
        words += (double)designs->base.level[level].entries;
        area += designs->area[level];
    }
    return words <= limit->words && area <= limit->area * (1 + 1e-12);
}

/* Goes on to the next combination; false after the last. */
static bool next_design(const sx_designs *designs, uint8_t *option) {
    for (size_t k = designs->n_parameters; k > 0; k--) {
        if (++option[k - 1] < designs->parameter[k - 1].n_options) return true;
        option[k - 1] = 0;
    }
    return false;
}

static sx_status count_designs(sx_designs *designs) {
    double n = 1;
    for (size_t k = 0; k < designs->n_parameters; k++) n *= (double)designs->parameter[k].n_options;
    if (n > MOST_COMBINATIONS)
        return sx_error_hint(sx_error_new(SX_ERR_LIMIT,
                                          "the choices make %.3g combinations; at most %d are allowed", n,
                                          MOST_COMBINATIONS),
                             "remove sizes that are close together");
    designs->combinations = (size_t)n;
    return SX_OK;
}

/* Why no design is left. */
static sx_status nothing_left(const sx_designs *designs, double area, double smallest, size_t kept) {
    if (kept > 0)
        return sx_error_hint(sx_error_new(SX_ERR_INPUT, "no design has an area of %.6g um^2 or less", area),
                             "the smallest within all limits has %.6g um^2", smallest);
    return sx_error_hint(sx_error_new(SX_ERR_INPUT, "no design is within the limits"),
                         "all %zu combinations exceed a limit: raise one, or add smaller sizes",
                         designs->combinations);
}

sx_status sx_designs_list(sx_designs *designs, const sx_choices *choices, double area) {
    bound_limit limit[SX_MAX_LEVELS];
    uint8_t option[SX_MAX_DESIGN_PARAMETERS] = {0};
    double smallest = INFINITY;
    size_t kept = 0;
    SX_TRY(count_designs(designs));
    for (size_t i = 0; i < choices->n_limits; i++)
        SX_TRY(bind_limit(designs, choices, &choices->limit[i], &limit[i]));
    designs->option = calloc(designs->combinations, designs->n_parameters ? designs->n_parameters : 1);
    designs->total = calloc(designs->combinations, sizeof *designs->total);
    if (!designs->option || !designs->total) return sx_error_memory();
    do {
        bool good = true;
        for (size_t i = 0; i < choices->n_limits && good; i++) good = keeps_limit(designs, &limit[i], option);
        if (!good) continue;
        double total = sx_designs_measure(designs, option);
        kept++;
        smallest = fmin(smallest, total);
        if (area > 0 && total > area * (1 + 1e-12)) continue;
        memcpy(designs->option + designs->n * designs->n_parameters, option, designs->n_parameters);
        designs->total[designs->n++] = total;
    } while (next_design(designs, option));
    return designs->n ? SX_OK : nothing_left(designs, area, smallest, kept);
}
