#include "session/fuse_label.h"

#include "session/fuse_independent.h"

#include <math.h>
#include <string.h>

/* Where bounds come from. */
typedef struct label_bounds {
    const sx_fuse_searcher *searcher;
    const sx_fuse_label *label;
    size_t n;
    bool alone;
} label_bounds;

/* Whether the bound of a label holds for a cut problem: the same with at least as much room. */
static bool label_holds(const sx_fuse_label *label, const sx_problem *problem, const sx_cut *cut) {
    return sx_inner_same_cut(&label->cut, cut) && label->cut.second_level == cut->second_level &&
           memcmp(label->problem.size, problem->size, sizeof problem->size) == 0 &&
           memcmp(&label->problem, problem, sizeof *problem) == 0;
}

/* The best known bound of a cut problem. */
static sx_status find_bound(void *user, const sx_problem *problem, const sx_cut *cut, double *out) {
    const label_bounds *b = user;
    sx_inner_minimum *minimum = b->alone ? sx_fuse_alone_minimum : sx_fuse_inner_minimum;
    SX_TRY(minimum((void *)b->searcher, problem, cut, out));
    for (size_t i = 0; i < b->n; i++)
        if ((!b->alone || b->label[i].alone) && label_holds(&b->label[i], problem, cut))
            *out = fmax(*out, b->label[i].bound);
    return SX_OK;
}

/* As sx_fuse_inner_relax. */
static sx_status relax_cut(void *user, const sx_problem *problem, sx_cut *cut, double *more) {
    return sx_fuse_inner_relax((void *)((const label_bounds *)user)->searcher, problem, cut, more);
}

/* The least weight of the plans of one order by bounds. */
static sx_status join_bounds(sx_fusing *f, bool alone, double *out) {
    const sx_plan_space space = {.exchange = &f->exchange,
                                 .inner = &f->inner,
                                 .group = (const sx_fuse_group *)f->groups.data,
                                 .n_groups = f->groups.n};
    sx_plan plan;
    if (alone) return sx_fuse_alone_join(&space, out);
    sx_status status = sx_plan_join(&space, true, &plan);
    *out = plan.found ? plan.weight : INFINITY;
    sx_plan_fini(&plan);
    return status;
}

sx_status sx_fuse_label_bound(const sx_graph *graph, const sx_network *network, const sx_arch *arch,
                              const sx_session_options *session, const sx_fusing_options *options,
                              const sx_fuse_label *label, size_t n, bool alone, double *out,
                              size_t *n_groups) {
    sx_fusing f = {.options = session, .searcher = {.arch = arch, .options = session}};
    label_bounds bounds = {&f.searcher, label, n, alone};
    bool chosen;
    sx_status status = sx_fusing_prepare(&f, graph, network, options, &chosen);
    f.inner.minimum = find_bound;
    f.inner.any_room = false;
    if (f.inner.relax) f.inner.relax = relax_cut;
    f.inner.user = &bounds;
    *out = INFINITY;
    *n_groups = 0;
    for (size_t i = 0; i < f.orders.n && !status; i++) {
        double weight;
        status = i ? sx_fusing_set_order(&f, options, i) : sx_fusing_list_groups(&f, options);
        if (!status) status = join_bounds(&f, alone, &weight);
        if (!status) *out = fmin(*out, weight);
        *n_groups += f.groups.n;
    }
    sx_fusing_fini(&f);
    return status;
}
