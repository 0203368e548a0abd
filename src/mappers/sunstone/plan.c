/* What Sunstone's search of a space begins with: which levels are one memory, what each stage decides, and
 * the models in which the outer memories have no limits. */
#include "mappers/sunstone/plan.h"

#include "base/status.h"
#include "ir/arch.h"
#include "mappers/sunstone/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sets what levels keep: all they may, as far as there is room for one word of each. */
static void set_keeps(sx_sunstone *plan) {
    const sx_map_space *space = plan->space;
    for (int s = 0; s < space->arch->n_levels; s++) {
        unsigned keep = space->fixed_keep[s] | space->banked[s];
        keep |= space->free_keep[s] & ~(unsigned)plan->on.bypass[s];
        const sx_level *level = &space->model->level[s];
        for (int v = space->problem->n_tensors - 1; v >= 0 && level->limited; v--)
            if (__builtin_popcount(keep) > level->effective && space->free_keep[s] >> v & 1)
                keep &= ~(1u << v);
        plan->keep[s] = (uint8_t)keep;
    }
}

/* The last level of the memory whose innermost level that keeps something is `main`. */
static int find_last(const sx_sunstone *plan, int main) {
    const sx_arch *arch = plan->space->arch;
    unsigned kept = plan->keep[main];
    int last = main;
    for (int s = main + 1; s < arch->n_levels && !plan->on.uneven; s++) {
        if (plan->keep[s] & kept || arch->level[s].instances != arch->level[main].instances) break;
        if (plan->keep[s]) last = s;
        kept |= plan->keep[s];
    }
    return last;
}

/* Joins levels to memories. */
static void find_memories(sx_sunstone *plan) {
    int n_levels = plan->space->arch->n_levels;
    for (int s = 0; s < n_levels;) {
        int main = s;
        while (main < n_levels - 1 && !plan->keep[main]) main++;
        int last = find_last(plan, main);
        plan->memory[plan->n_memories++] = (sx_sunstone_memory){(uint8_t)s, (uint8_t)last, (uint8_t)main};
        s = last + 1;
    }
}

bool sx_sunstone_uneven(const sx_map_space *space) {
    sx_sunstone plan = {.space = space};
    set_keeps(&plan);
    find_memories(&plan);
    bool joined = false;
    for (int i = 0; i < plan.n_memories; i++) joined |= plan.memory[i].main < plan.memory[i].last;
    return joined;
}

/* Makes the model of an architecture in which all levels beyond one have no limit of size. */
static sx_status relax_levels(const sx_model *model, int last, sx_model **out) {
    sx_arch *arch = sx_arch_copy(sx_model_arch(model));
    if (!arch) return sx_error_memory();
    for (int s = 0; s < arch->n_levels; s++) {
        sx_storage *level = &arch->level[s];
        level->min_utilization = 0;
        if (s <= last || level->entries == SX_UNLIMITED) continue;
        level->entries = level->banks ? (uint64_t)level->banks << 48 : SX_UNLIMITED;
    }
    sx_status status = sx_model_new(sx_model_problem(model), arch, &model->options, out);
    if (!status) sx_model_share_guard(*out, model->guard);
    free(arch);
    return status;
}

/* Gives the fan-outs of a memory to the first stage at which no fan-out lies between it and that: loops are
 * unrolled before the tiles inside are chosen. */
static void set_parts(sx_sunstone *plan, int memory) {
    int stage = memory > 0 ? memory - 1 : 0;
    bool between = false;
    for (; stage > 0; stage--) {
        for (int s = plan->memory[stage].first; s <= plan->memory[stage].last; s++)
            between |= plan->space->spatial_slot[s] >= 0;
        if (between) break;
    }
    sx_sunstone_stage *to = &plan->stage[stage];
    for (int s = plan->memory[memory].first; s <= plan->memory[memory].last; s++)
        if (plan->space->spatial_slot[s] >= 0) to->part[to->n_parts++] = (uint8_t)s;
}

static sx_status set_stages(sx_sunstone *plan) {
    plan->n_stages = plan->n_memories > 1 ? plan->n_memories - 1 : 1;
    for (int i = 0; i < plan->n_memories; i++) set_parts(plan, i);
    for (int i = 0; i < plan->n_stages; i++) {
        sx_sunstone_stage *stage = &plan->stage[i];
        stage->memory = plan->n_memories > 1 ? i : -1;
        stage->outer = plan->n_memories > 1 ? i + 1 : 0;
        if (i < plan->n_stages - 1)
            SX_TRY(relax_levels(plan->space->model, plan->memory[i].last, &stage->relaxed));
    }
    if (plan->n_stages > 1) SX_TRY(relax_levels(plan->space->model, -1, &plan->open));
    size_t parts = (size_t)(plan->stage[0].n_parts ? plan->stage[0].n_parts : 1);
    plan->roots.size = parts * sizeof(sx_sunstone_unrolling);
    plan->items.size = sizeof(sx_sunstone_item);
    return SX_OK;
}

/* Makes the point that all begin as, with the factors that the constraints ask for at least, and what that
 * leaves of the dimensions: 0 where it cannot be divided so. */
static sx_status set_base(sx_sunstone *plan) {
    const sx_map_space *space = plan->space;
    plan->base = malloc(space->space.point_size);
    if (!plan->base) return sx_error_memory();
    memcpy(plan->base, space->blank, space->space.point_size);
    for (int d = 0; d < space->problem->n_dims; d++) {
        uint32_t left = space->problem->size[d];
        for (int i = 0; i < space->n_slots; i++) left = left % space->min[d][i] ? 0 : left / space->min[d][i];
        plan->left[d] = left;
        sx_map_set_factors(space, d, space->min[d], plan->base);
    }
    for (int s = 0; s < space->arch->n_levels; s++) sx_map_level(plan->base, s)->keep = plan->keep[s];
    return SX_OK;
}

sx_status sx_sunstone_init(const sx_map_space *space, const sx_objective *objective,
                           const sx_sunstone_switches *on, sx_sunstone *out) {
    *out = (sx_sunstone){
        .space = space, .objective = objective, .on = *on, .incumbent = INFINITY, .cutoff = INFINITY};
    set_keeps(out);
    find_memories(out);
    sx_status status = set_stages(out);
    if (!status) status = set_base(out);
    if (!status) status = sx_sunstone_orders_new(space->problem, on->order, &out->orders);
    if (!status) status = sx_sunstone_divisors_init(space->problem, &out->divisors);
    if (status) sx_sunstone_fini(out);
    return status;
}

void sx_sunstone_fini(sx_sunstone *plan) {
    for (int i = 0; i < plan->n_stages; i++) sx_model_free(plan->stage[i].relaxed);
    sx_model_free(plan->open);
    sx_sunstone_orders_free(plan->orders);
    sx_sunstone_divisors_fini(&plan->divisors);
    sx_vector_clear(&plan->roots);
    sx_vector_clear(&plan->items);
    free(plan->base);
    plan->base = NULL;
}
