/* A fused network explained: the tree of loops of every group, and what each tensor saves and why. */
#include "report/fused.h"
#include "report/table.h"

/* Adds names of a layer's tensors, those of a mask. */
static void add_names(const sx_problem *problem, unsigned mask, sx_text *out) {
    bool any = false;
    for (int v = 0; v < problem->n_tensors; v++) {
        if (!(mask >> v & 1)) continue;
        sx_text_add(out, "%s%s", any ? ", " : "", problem->tensor[v].name);
        any = true;
    }
    if (!any) sx_text_add(out, "nothing");
}

/* Adds the runs of a layer: how often it runs on how many rows, and where its tensors are. */
static void add_runs(const sx_fused *f, size_t layer, int depth, sx_text *out) {
    for (size_t r = 0; r < f->n_runs; r++) {
        const sx_fused_run *run = &f->run[r];
        const unsigned all = (1u << run->problem.n_tensors) - 1;
        if (run->layer != layer) continue;
        sx_text_add(out, "%*s%s", 2 + 2 * depth, "", f->layer[layer].name);
        if (run->rows)
            sx_text_add(out, ": %s rows, %s times", sx_show_count(run->rows).text,
                        sx_show_count(run->times).text);
        if (run->again) sx_text_add(out, ", adding to sums");
        sx_text_add(out, "; on chip: ");
        const unsigned on_chip = (unsigned)run->resident | run->second;
        add_names(&run->problem, on_chip, out);
        sx_text_add(out, "; through DRAM: ");
        add_names(&run->problem, all & ~on_chip, out);
        sx_text_add(out, "\n");
    }
}

/* Adds the loops of a group as a tree, with its layers inside. */
static void add_tree(const sx_fused *f, const sx_fused_group *group, sx_text *out) {
    for (int i = 0; i < group->n_loops; i++)
        sx_text_add(out, "%*sfor %s in %s\n", 2 + 2 * i, "", group->loop[i].dimension,
                    sx_show_count(group->loop[i].bound).text);
    for (size_t l = group->first; l <= group->last; l++) add_runs(f, l, group->n_loops, out);
    for (int i = 0; i < group->n_held; i++)
        sx_text_add(out,
                    i < group->n_sliced
                        ? "  slices of %s are held in %s, each while the innermost loop runs\n"
                        : "  %s is held in %s while the loops run\n",
                    group->held[i], f->level);
    if (group->one_pass)
        sx_text_add(out, "  the softmax runs by slices, with a running maximum and sum for each row\n");
}

/* Adds why a tensor stays and what becomes of its rows. */
static void add_tensor(const sx_fused *f, const sx_fused_tensor *tensor, sx_text *out) {
    sx_text_add(out, "  %s stays %s: %s of %s words of %s, from %s to %s", tensor->name,
                tensor->depth ? "by tiles" : "whole", sx_show_count((double)tensor->words).text,
                sx_show_count((double)(tensor->second ? f->second_capacity : f->capacity)).text,
                tensor->second ? f->second : f->level, f->layer[tensor->first].name,
                f->layer[tensor->last].name);
    if (tensor->recompute && tensor->rows_again)
        sx_text_add(out, "; windows of two steps share rows, and %u are made again", tensor->rows_again);
    else if (tensor->rows_kept)
        sx_text_add(out, "; windows of two steps share rows, and %u are kept between them",
                    tensor->rows_kept);
    if (!f->given)
        sx_text_add(out, "; saves %s of DRAM traffic", sx_show_scaled(tensor->saved_bytes, "B").text);
    sx_text_add(out, "\n");
}

void sx_fused_explain(const sx_fused *f, sx_text *out) {
    if (!f->found) return;
    for (size_t g = 0; g < f->n_groups; g++) {
        const sx_fused_group *group = &f->group[g];
        sx_text_add(out, "\nGroup %zu: %s to %s\n", g + 1, f->layer[group->first].name,
                    f->layer[group->last].name);
        add_tree(f, group, out);
        for (size_t t = 0; t < f->n_tensors; t++)
            if (f->tensor[t].group == g) add_tensor(f, &f->tensor[t], out);
    }
}
