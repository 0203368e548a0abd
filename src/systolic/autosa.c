/* The options with which AutoSA builds a design. Source: the released program of Odyssey, which lists the
 * orders of loops for each of its 16 dataflows; they all follow from one rule: the space loops come first,
 * then the others, each in the program's order. What differs: the window's sizes are the kernel's, not always
 * 3 by 3; a loop's tiles are compared with each other, not with those at the same place of the other list.
 *
 * Complexity: one pass over the loops. */
#include "base/text.h"
#include "systolic/space.h"

/* The order in which AutoSA takes the loops of a design. */
static void order_loops(const sx_systolic_plan *plan, int order[SX_MAX_SYSTOLIC_LOOPS]) {
    int n = 0;
    for (int others = 0; others < 2; others++)
        for (int d = 0; d < plan->form.n_loops; d++)
            if ((plan->form.space >> d & 1) != others) order[n++] = d;
}

/* Refuses kernels that the released program has no options for. */
static sx_status check_loops(const sx_systolic_space *space, const sx_systolic_plan *plan) {
    const sx_systolic_kernel *kernel = &space->kernel[0];
    if (plan->form.summed != (sx_loops)(1u << plan->simd))
        return sx_error_hint(sx_error_new(SX_ERR_USAGE, "there are no AutoSA options for '%s'", kernel->name),
                             "AutoSA needs a kernel that is summed along one loop, the SIMD loop");
    for (size_t i = 1; i < space->n_kernels; i++)
        for (int d = 0; d < space->n_loops; d++)
            if (space->kernel[i].loop[d].window != kernel->loop[d].window)
                return sx_error_hint(sx_error_new(SX_ERR_USAGE,
                                                  "the windows of '%s' and '%s' differ; AutoSA allows one",
                                                  kernel->name, space->kernel[i].name),
                                     "generate the options of each layer separately");
    return SX_OK;
}

/* Adds a list of numbers in brackets. */
static void add_list(sx_text *text, const char *name, const uint32_t *number, int n) {
    sx_text_add(text, ";kernel[]->%s[", name);
    for (int i = 0; i < n; i++) sx_text_add(text, "%s%u", i ? "," : "", number[i]);
    sx_text_add(text, "]");
}

sx_status sx_systolic_autosa(const sx_space *base, const sx_systolic_point *point, char **out) {
    const sx_systolic_space *space = sx_systolic_space_of(base);
    sx_systolic_cost cost;
    sx_systolic_fault fault = sx_systolic_evaluate(base, point, -1, &cost);
    if (!sx_systolic_has_cost(fault))
        return sx_error_new(SX_ERR_INPUT, "the tiles are not legal: %s", base->type->reason(base, fault));
    const sx_systolic_plan *plan = &space->plan[point->design];
    SX_TRY(check_loops(space, plan));
    int order[SX_MAX_SYSTOLIC_LOOPS] = {0}, n_latency = 0, n_simd = 0;
    uint32_t part[SX_MAX_SYSTOLIC_LOOPS], latency[SX_MAX_SYSTOLIC_LOOPS], simd[2 * SX_MAX_SYSTOLIC_LOOPS];
    order_loops(plan, order);
    for (int d = 0; d < plan->form.n_loops; d++)
        if (space->kernel[0].loop[d].window) simd[n_simd++] = space->kernel[0].loop[d].window;
    for (int i = 0; i < plan->form.n_loops; i++) {
        int d = order[i];
        part[i] = point->t1[d];
        if (d == plan->simd) continue;
        latency[n_latency++] = point->t2[d];
        if (point->t1[d] == point->t2[d]) simd[n_simd++] = 1;
    }
    simd[n_simd++] = point->t2[plan->simd];
    sx_text text = {0};
    sx_text_add(&text, "{kernel[]->space_time[%u]", plan->design.dataflow);
    add_list(&text, "array_part", part, plan->form.n_loops);
    add_list(&text, "latency", latency, n_latency);
    add_list(&text, "simd", simd, n_simd);
    sx_text_add(&text, "}");
    return sx_text_take(&text, out);
}
