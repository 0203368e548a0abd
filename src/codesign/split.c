/* A level with a memory for each tensor instead of one for all: as many levels of the same number of
 * instances, each built for one tensor, as in the catalog's eyeriss. */
#include "base/text.h"
#include "codesign/choices.h"
#include "codesign/designs.h"

#include <stdio.h>
#include <string.h>

void sx_split_name(const char *level, const char *tensor, char name[2 * SX_NAME_SIZE]) {
    snprintf(name, 2 * SX_NAME_SIZE, "%s_%s", level, tensor);
}

static bool is_among(const char (*names)[SX_NAME_SIZE], int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

/* Refuses the part of a tensor that the level is not built for. */
static sx_status check_part(const sx_storage *level, const sx_memory_choice *part) {
    bool kept = level->n_keeps == 0 || is_among(level->keeps, level->n_keeps, part->tensor);
    if (kept && !is_among(level->bypasses, level->n_bypasses, part->tensor) && !level->transparent)
        return SX_OK;
    return sx_error_at(part->place, "%s cannot keep %s", level->name, part->tensor);
}

/* Makes the level of a tensor's part. All but the innermost reach the next inner one over no network. */
static sx_status make_part(const sx_storage *level, const sx_memory_choice *choice, bool innermost,
                           sx_storage *out) {
    char name[2 * SX_NAME_SIZE];
    *out = *level;
    sx_split_name(level->name, choice->tensor, name);
    SX_TRY(sx_error_place(sx_text_name(out->name, SX_NAME_SIZE, name, "a part of a level"), choice->place));
    memset(out->keeps, 0, sizeof out->keeps);
    memset(out->bypasses, 0, sizeof out->bypasses);
    out->n_keeps = 1;
    out->n_bypasses = 0;
    memcpy(out->keeps[0], choice->tensor, SX_NAME_SIZE);
    if (innermost) return SX_OK;
    out->energy_per_hop = out->router_energy = 0;
    out->fill_latency = out->drain_latency = 0;
    return SX_OK;
}

/* Splits one level into the parts that follow from choice `first` on. */
static sx_status split_level(const sx_choices *choices, size_t first, int at, sx_arch *arch) {
    const sx_storage level = arch->level[at];
    int n = 0;
    for (size_t i = first; i < choices->n_memories; i++)
        n += choices->memory[i].tensor[0] && strcmp(choices->memory[i].level, level.name) == 0;
    if (arch->n_levels + n - 1 > SX_MAX_LEVELS)
        return sx_error_at(choices->memory[first].place, "with %s split there are more than %d levels",
                           level.name, SX_MAX_LEVELS);
    size_t further = (size_t)(arch->n_levels - at - 1);
    memmove(&arch->level[at + n], &arch->level[at + 1], further * sizeof *arch->level);
    arch->n_levels = (uint8_t)(arch->n_levels + n - 1);
    n = 0;
    for (size_t i = first; i < choices->n_memories; i++) {
        const sx_memory_choice *choice = &choices->memory[i];
        if (!choice->tensor[0] || strcmp(choice->level, level.name) != 0) continue;
        SX_TRY(check_part(&level, choice));
        SX_TRY(make_part(&level, choice, n == 0, &arch->level[at + n]));
        n++;
    }
    for (int s = 0; s < arch->n_levels; s++)
        if (arch->level[s].power_gated_at > at)
            arch->level[s].power_gated_at = (int8_t)(arch->level[s].power_gated_at + n - 1);
    return SX_OK;
}

sx_status sx_arch_split(const sx_choices *choices, sx_arch *arch) {
    for (size_t i = 0; i < choices->n_memories; i++) {
        const sx_memory_choice *choice = &choices->memory[i];
        int at = sx_arch_level(arch, choice->level);
        if (choice->tensor[0] && at >= 0) SX_TRY(split_level(choices, i, at, arch));
    }
    return SX_OK;
}
