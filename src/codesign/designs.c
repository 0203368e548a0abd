/* From a base architecture and choices to designs. */
#include "codesign/designs.h"

#include "codesign/choices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names of an architecture's levels. */
static size_t list_levels(const sx_arch *arch, const char **name) {
    for (int s = 0; s < arch->n_levels; s++) name[s] = arch->level[s].name;
    return arch->n_levels;
}

/* Refuses choices of levels that there are not. */
static sx_status check_names(const sx_arch *base, const sx_choices *choices) {
    const char *name[SX_MAX_LEVELS];
    size_t n = list_levels(base, name);
    for (size_t i = 0; i < choices->n_memories; i++)
        if (sx_arch_level(base, choices->memory[i].level) < 0)
            return sx_error_unknown(choices->memory[i].place, "memory", choices->memory[i].level, name, n);
    for (size_t i = 0; i < choices->n_arrays; i++)
        if (choices->array[i].level[0] && sx_arch_level(base, choices->array[i].level) < 0)
            return sx_error_unknown(choices->array[i].place, "level", choices->array[i].level, name, n);
    return SX_OK;
}

/* The cost function of a memory: its own, the one for all, or the preset one. */
static sx_size_cost size_cost_of(const sx_choices *choices, const sx_memory_choice *memory,
                                 sx_size_cost_kind kind, const sx_storage *base, double base_value) {
    if (memory && sx_size_cost_given(&memory->size_cost[kind])) return memory->size_cost[kind];
    if (sx_size_cost_given(&choices->size_cost[kind])) return choices->size_cost[kind];
    if (kind == SX_SIZE_COST_WRITE)
        return size_cost_of(choices, memory, SX_SIZE_COST_ENERGY, base, base_value);
    return sx_size_cost_preset(kind, base, base_value);
}

/* What a memory costs at a size. */
static sx_status cost_option(const sx_choices *choices, const sx_memory_choice *memory,
                             const sx_storage *base, sx_design_option *out) {
    const struct {
        sx_size_cost_kind kind;
        double base;
        double *to;
    } row[] = {{SX_SIZE_COST_ENERGY, base->read_energy, &out->read},
               {SX_SIZE_COST_WRITE, base->fill_energy, &out->fill},
               {SX_SIZE_COST_WRITE, base->update_energy, &out->update},
               {SX_SIZE_COST_LEAKAGE, base->leak_energy, &out->leak},
               {SX_SIZE_COST_AREA, 0, &out->area}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        sx_size_cost size_cost = size_cost_of(choices, memory, row[i].kind, base, row[i].base);
        SX_TRY(sx_size_cost_value(&size_cost, base, row[i].base, out->words, base->name,
                                  sx_size_cost_key(row[i].kind), row[i].to));
    }
    return SX_OK;
}

/* Whether a memory takes area: it is on the chip and has a size. */
static bool has_area(const sx_storage *level) {
    return level->technology != SX_DRAM && level->entries != SX_UNLIMITED && !level->transparent;
}

/* Gives a memory that is not chosen, but of which cost functions are given, the energies of its size. */
static sx_status settle_fixed(const sx_choices *choices, const sx_memory_choice *memory, sx_storage *level) {
    sx_design_option cost = {.words = level->entries};
    if (level->entries == SX_UNLIMITED)
        return sx_error_hint(sx_error_at(memory->place, "%s has no size", level->name),
                             "give its sizes, or leave it out");
    SX_TRY(cost_option(choices, memory, level, &cost));
    if (sx_size_cost_given(&memory->size_cost[SX_SIZE_COST_ENERGY])) level->read_energy = cost.read;
    if (sx_size_cost_given(&memory->size_cost[SX_SIZE_COST_ENERGY]) ||
        sx_size_cost_given(&memory->size_cost[SX_SIZE_COST_WRITE])) {
        level->fill_energy = cost.fill;
        level->update_energy = cost.update;
    }
    if (sx_size_cost_given(&memory->size_cost[SX_SIZE_COST_LEAKAGE])) level->leak_energy = cost.leak;
    return SX_OK;
}

/* Adds the design parameter of a memory. */
static sx_status add_memory(sx_designs *designs, const sx_choices *choices, const sx_memory_choice *memory) {
    char part[2 * SX_NAME_SIZE];
    bool split = memory->tensor[0] != 0;
    sx_split_name(memory->level, memory->tensor, part);
    int level = sx_arch_level(&designs->base, split ? part : memory->level);
    sx_storage *base = &designs->base.level[level];
    if (base->technology == SX_DRAM || base->transparent)
        return sx_error_at(memory->place, "%s is %s: it has no size to choose", base->name,
                           base->transparent ? "a fan-out only" : "a DRAM");
    if (memory->n_sizes == 0) return settle_fixed(choices, memory, base);
    sx_design_parameter *parameter = &designs->parameter[designs->n_parameters];
    *parameter = (sx_design_parameter){.level = level, .n_options = memory->n_sizes};
    snprintf(parameter->name, sizeof parameter->name, "%s%s%s", memory->level, split ? "/" : "",
             memory->tensor);
    if (split) memcpy(designs->split[designs->n_splits++], memory->tensor, SX_NAME_SIZE);
    parameter->option = calloc(memory->n_sizes, sizeof *parameter->option);
    if (!parameter->option) return sx_error_memory();
    designs->n_parameters++;
    for (size_t i = 0; i < memory->n_sizes; i++) {
        parameter->option[i].words = memory->size[i];
        SX_TRY(cost_option(choices, memory, base, &parameter->option[i]));
    }
    return SX_OK;
}

/* The level whose fan-out an array is. */
static sx_status find_array(const sx_arch *arch, const sx_array_choice *array, int *out) {
    if (array->level[0]) {
        *out = sx_arch_level(arch, array->level);
        if (*out >= 0) return SX_OK;
        return sx_error_hint(sx_error_at(array->place, "the level '%s' is split by tensor", array->level),
                             "name the level outside the array");
    }
    for (int s = arch->n_levels - 1; s >= 0; s--)
        if (sx_arch_fanout_x(arch, s) * sx_arch_fanout_y(arch, s) > 1) {
            *out = s;
            return SX_OK;
        }
    return sx_error_hint(sx_error_at(array->place, "no level of %s has a fan-out", arch->name),
                         "name the level: {LEVEL: [4x4, 8x8]} in a file, array/LEVEL=4x4,8x8 with --choose");
}

static sx_status add_array(sx_designs *designs, const sx_array_choice *array) {
    sx_design_parameter *parameter = &designs->parameter[designs->n_parameters];
    int level;
    SX_TRY(find_array(&designs->base, array, &level));
    *parameter = (sx_design_parameter){.array = true, .level = level, .n_options = array->n_shapes};
    for (size_t k = 0; k < designs->n_parameters; k++)
        if (designs->parameter[k].array && designs->parameter[k].level == level)
            return sx_error_at(array->place, "duplicate choice of the array of %s",
                               designs->base.level[level].name);
    snprintf(parameter->name, sizeof parameter->name, "array%s%s", array->level[0] ? "/" : "", array->level);
    parameter->option = calloc(array->n_shapes, sizeof *parameter->option);
    if (!parameter->option) return sx_error_memory();
    designs->n_parameters++;
    for (size_t i = 0; i < array->n_shapes; i++) {
        parameter->option[i].x = array->shape[i].x;
        parameter->option[i].y = array->shape[i].y;
    }
    return SX_OK;
}

/* Gives all that is inside a level another fan-out of it. */
static void set_mesh(sx_arch *arch, int level, uint64_t x, uint64_t y) {
    uint64_t old_x = sx_arch_fanout_x(arch, level), old_y = sx_arch_fanout_y(arch, level);
    for (int s = level - 1; s >= -1; s--) {
        uint64_t *mesh_x = s >= 0 ? &arch->level[s].mesh_x : &arch->compute.mesh_x;
        uint64_t *mesh_y = s >= 0 ? &arch->level[s].mesh_y : &arch->compute.mesh_y;
        *mesh_x = *mesh_x / old_x * x;
        *mesh_y = *mesh_y / old_y * y;
        *(s >= 0 ? &arch->level[s].instances : &arch->compute.instances) = *mesh_x * *mesh_y;
    }
}

void sx_design_parameter_apply(const sx_design_parameter *parameter, size_t option, sx_arch *arch) {
    const sx_design_option *o = &parameter->option[option];
    sx_storage *level = &arch->level[parameter->level];
    if (parameter->array) {
        set_mesh(arch, parameter->level, o->x, o->y);
        return;
    }
    level->entries = o->words;
    level->read_energy = o->read;
    level->fill_energy = o->fill;
    level->update_energy = o->update;
    level->leak_energy = o->leak;
}

/* The architecture of such options. */
static void make_arch(const sx_designs *designs, const uint8_t *option, sx_arch *out) {
    *out = designs->base;
    for (size_t k = 0; k < designs->n_parameters; k++)
        sx_design_parameter_apply(&designs->parameter[k], option[k], out);
}

double sx_designs_measure(sx_designs *designs, const uint8_t *option) {
    const sx_arch *arch = &designs->measured;
    double each[SX_MAX_LEVELS], total = 0;
    make_arch(designs, option, &designs->measured);
    memcpy(each, designs->area, sizeof each);
    for (size_t k = 0; k < designs->n_parameters; k++)
        if (!designs->parameter[k].array)
            each[designs->parameter[k].level] = designs->parameter[k].option[option[k]].area;
    for (int s = 0; s < arch->n_levels; s++) total += each[s] * (double)arch->level[s].instances;
    return total + designs->compute_area * (double)arch->compute.instances;
}

/* The areas of memories that are not chosen, and of a compute unit. */
static sx_status measure_fixed(sx_designs *designs, const sx_choices *choices) {
    for (int s = 0; s < designs->base.n_levels; s++) {
        const sx_storage *level = &designs->base.level[s];
        const sx_memory_choice *memory = NULL;
        for (size_t i = 0; i < choices->n_memories; i++)
            if (!choices->memory[i].tensor[0] && strcmp(choices->memory[i].level, level->name) == 0)
                memory = &choices->memory[i];
        if (!has_area(level) || (memory && memory->n_sizes)) continue;
        sx_size_cost size_cost = size_cost_of(choices, memory, SX_SIZE_COST_AREA, level, 0);
        bool part = false;
        for (size_t k = 0; k < designs->n_parameters; k++)
            part |= !designs->parameter[k].array && designs->parameter[k].level == s;
        if (!part)
            SX_TRY(sx_size_cost_value(&size_cost, level, 0, level->entries, level->name, "area",
                                      &designs->area[s]));
    }
    sx_size_cost size_cost =
        sx_size_cost_given(&choices->compute_area) ? choices->compute_area : sx_size_cost_compute_area();
    return sx_size_cost_of_compute(&size_cost, &designs->base.compute, &designs->compute_area);
}

/* Refuses designs whose architecture breaks a rule. */
static sx_status check_archs(sx_designs *designs) {
    uint8_t option[SX_MAX_DESIGN_PARAMETERS] = {0};
    for (size_t k = 0; k < designs->n_parameters; k++) {
        for (size_t i = 0; i < designs->parameter[k].n_options; i++) {
            option[k] = (uint8_t)i;
            make_arch(designs, option, &designs->measured);
            SX_TRY(sx_arch_check(&designs->measured));
        }
        option[k] = (uint8_t)(designs->parameter[k].n_options - 1);
    }
    return SX_OK;
}

static sx_status build_designs(const sx_arch *base, const sx_choices *choices, double area, sx_designs *out) {
    out->base = *base;
    SX_TRY(check_names(base, choices));
    SX_TRY(sx_arch_split(choices, &out->base));
    for (size_t i = 0; i < choices->n_memories; i++) SX_TRY(add_memory(out, choices, &choices->memory[i]));
    for (size_t i = 0; i < choices->n_arrays; i++) SX_TRY(add_array(out, &choices->array[i]));
    if (out->n_parameters == 0)
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "no choices given"),
                             "give memory sizes or array shapes with --choices FILE or --choose L1=64,128");
    SX_TRY(check_archs(out));
    SX_TRY(measure_fixed(out, choices));
    return sx_designs_list(out, choices, area > 0 ? area : choices->area_budget);
}

sx_status sx_designs_new(const sx_arch *base, const sx_choices *choices, double area, sx_designs **out) {
    sx_designs *designs = calloc(1, sizeof *designs);
    if (!designs) return sx_error_memory();
    sx_status status = build_designs(base, choices, area, designs);
    if (status)
        sx_designs_free(designs);
    else
        *out = designs;
    return status;
}

void sx_designs_free(sx_designs *designs) {
    if (!designs) return;
    for (size_t k = 0; k < designs->n_parameters; k++) free(designs->parameter[k].option);
    free(designs->option);
    free(designs->total);
    free(designs);
}

size_t sx_designs_count(const sx_designs *designs) {
    return designs->n;
}

size_t sx_designs_combinations(const sx_designs *designs) {
    return designs->combinations;
}

void sx_designs_arch(const sx_designs *designs, size_t index, sx_arch *out) {
    make_arch(designs, sx_design_options(designs, index), out);
}

double sx_designs_area(const sx_designs *designs, size_t index) {
    return designs->total[index];
}

const char *sx_designs_choice(const sx_designs *designs, size_t index) {
    return index < designs->n_parameters ? designs->parameter[index].name : NULL;
}

void sx_designs_setting(const sx_designs *designs, size_t design, size_t index, char *text, size_t size) {
    const sx_design_parameter *parameter = &designs->parameter[index];
    const sx_design_option *o = &parameter->option[sx_design_options(designs, design)[index]];
    if (parameter->array)
        snprintf(text, size, "%llux%llu", (unsigned long long)o->x, (unsigned long long)o->y);
    else
        snprintf(text, size, "%llu", (unsigned long long)o->words);
}

sx_status sx_designs_check(const sx_designs *designs, const sx_problem *problem) {
    for (size_t i = 0; i < designs->n_splits; i++) {
        const char *name[SX_MAX_TENSORS];
        if (sx_problem_tensor(problem, designs->split[i]) >= 0) continue;
        for (int v = 0; v < problem->n_tensors; v++) name[v] = problem->tensor[v].name;
        return sx_error_unknown((sx_place){NULL, 0, 0}, "tensor to split a level by:", designs->split[i],
                                name, problem->n_tensors);
    }
    return SX_OK;
}
