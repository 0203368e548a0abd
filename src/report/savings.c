#include "report/savings.h"

#include "report/formats.h"
#include "report/table.h"

#include <string.h>

/* Metadata and payload words of a format that are accessed. */
static double metadata_words(const sx_evaluation *e, const sx_tensor_format *format) {
    double sum = 0;
    for (int r = 0; format && r < format->n_ranks; r++)
        for (int a = 0; a < SX_N_ACCESSES; a++) {
            const double *words = e->cost.rank[format->first + r].words[SX_RANDOM][a];
            sum += words[0] + words[1];
        }
    return sum;
}

static void tensor_row(const sx_evaluation *e, int level, int tensor, sx_table *table) {
    const sx_cost_tensor *t = &e->cost.level[level].tensor[tensor];
    const sx_tensor_format *format = sx_format_of(&e->arch, &e->problem, level, tensor);
    char name[SX_FORMAT_NAME_SIZE];
    double instances = (double)e->cost.level[level].instances, dense, sum[SX_N_ACTION_KINDS] = {0};
    dense = (double)(t->reads + t->fills + t->updates) / instances;
    for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++)
        for (int a = 0; a < SX_N_ACCESSES; a++) sum[kind] += t->actions[kind][a];
    sx_table_cell(table, "  %s", sx_show_name(e->problem.tensor[tensor].name, 16).text);
    sx_format_name(&e->arch, format, name);
    sx_table_cell(table, "%s", name);
    sx_table_cell(table, "%s", format ? sx_show_percent(t->density).text : "");
    sx_table_cell(table, "%s", sx_show_count(dense).text);
    for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++)
        sx_table_cell(table, "%s", sx_show_count(sum[kind]).text);
    sx_table_cell(table, "%s", format ? sx_show_count(metadata_words(e, format)).text : "");
    sx_table_cell(table, "%s", format ? sx_show_count((double)t->metadata_bits).text : "");
}

/* The computes, by what became of them. */
static void print_computes(const sx_evaluation *e, sx_text *out) {
    const sx_cost *cost = &e->cost;
    double all = (double)cost->algorithmic_computes, random = (double)cost->computes;
    double gone = all - random - cost->gated_computes - cost->skipped_computes;
    sx_text line = {0};
    sx_text_add(&line, "Of %s computes %s take place, %s are gated, %s skipped", sx_show_count(all).text,
                sx_show_count(random).text, sx_show_count(cost->gated_computes).text,
                sx_show_count(cost->skipped_computes).text);
    if (gone >= 0.5) sx_text_add(&line, ", and %s never reach the compute units", sx_show_count(gone).text);
    sx_text_add(&line, ".");
    sx_text_add(out, "\n  ");
    sx_wrap_free(&line, 2, 2, out);
}

/* Says that densities have no effect, where some are given. */
static void print_unused(const sx_evaluation *e, sx_text *out) {
    bool any = false;
    for (int v = 0; v < e->problem.n_tensors; v++)
        any |= e->problem.tensor[v].density_model != SX_DENSITY_NONE;
    if (any)
        sx_text_add(out, "\nDensities have no effect: the architecture has no formats and neither gates nor "
                         "skips.\n");
}

/* Whether hardware does anything about the zeros of a tensor: a format, an access that depends on it, or gated
 * computes. */
static bool has_use(const sx_evaluation *e, int v) {
    const sx_sparse *sparse = &e->arch.sparse;
    const char *name = e->problem.tensor[v].name;
    bool used = sparse->gates_compute && !e->problem.tensor[v].output;
    for (int i = 0; i < sparse->n_formats; i++)
        used |= strcmp(sparse->name[sparse->format[i].tensor], name) == 0;
    for (int i = 0; i < sparse->n_actions; i++)
        for (int k = 0; k < sparse->action[i].n_options; k++)
            for (int n = 0; n < sparse->n_names; n++)
                used |= sparse->action[i].option[k].on >> n & 1 && strcmp(sparse->name[n], name) == 0;
    return used;
}

/* How dense the tensors are, and which of their zeros have no effect. */
static void print_densities(const sx_evaluation *e, sx_text *out) {
    sx_text line = {0}, unused = {0};
    for (int v = 0; v < e->cost.n_tensors; v++) {
        const sx_tensor *tensor = &e->problem.tensor[v];
        bool given = tensor->density_model != SX_DENSITY_NONE;
        double density = given ? tensor->density : 1;
        for (int s = 0; s < e->cost.n_levels && !given; s++)
            if (e->cost.level[s].tensor[v].kept) density = e->cost.level[s].tensor[v].density;
        if (density >= 1) continue;
        sx_shown name = sx_show_name(tensor->name, 16);
        sx_text_add(
            &line, "%s%s %s (%s)", line.size ? ", " : "Non-zeros: ", name.text, sx_show_percent(density).text,
            given ? sx_density_model_name((sx_density_model)tensor->density_model) : "from its operands");
        if (given && !has_use(e, v)) sx_text_add(&unused, "%s%s", unused.size ? ", " : "", name.text);
    }
    if (unused.size)
        sx_text_add(&line, ". Zeros of %s have no effect: no format, access or gated compute is about them",
                    unused.data);
    line.failed |= unused.failed;
    sx_text_free(&unused);
    if (line.size || line.failed) {
        sx_text_add(&line, ".");
        sx_text_add(out, "  ");
        sx_wrap_free(&line, 2, 2, out);
    }
}

void sx_report_sparse(const sx_evaluation *e, sx_text *out) {
    static const char *const titles[] = {"",      "format",  "density",  "dense", "accessed",
                                         "gated", "skipped", "metadata", "bits"};
    const sx_cost *cost = &e->cost;
    if (!cost->sparse) {
        print_unused(e, out);
        return;
    }
    sx_table table;
    sx_table_begin(&table, "llrrrrrRR");
    for (int i = 0; i < 9; i++) sx_table_cell(&table, "%s", titles[i]);
    for (int s = cost->n_levels - 1; s >= 0; s--) {
        bool any = false;
        for (int v = 0; v < cost->n_tensors; v++) any |= cost->level[s].tensor[v].kept;
        if (any) sx_table_heading(&table, "%s", sx_show_name(e->arch.level[s].name, 26).text);
        for (int v = 0; v < cost->n_tensors; v++)
            if (cost->level[s].tensor[v].kept) tensor_row(e, s, v, &table);
    }
    sx_text_add(out,
                "\nWhat zeros save, in words per instance: dense accesses, and those that take place, are "
                "gated or\nskipped; words of metadata accessed, and bits of metadata that a tile takes at "
                "most.\n\n");
    sx_table_end(&table, 2, out);
    print_computes(e, out);
    print_densities(e, out);
}
