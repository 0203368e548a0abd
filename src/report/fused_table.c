#include "report/fused.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

enum { NAME_WIDTH = 26, BAR_WIDTH = 20 };

/* Two memories and the words around them, as "%s%s%s" of printf shows them: "GLB and L1". */
#define SHOW_MEMORIES(f) (f)->level, (f)->second[0] ? " and " : "", (f)->second

/* "optimal", or how far a value is above its bound at most. */
static void gap_cell(sx_table *table, double value, double bound) {
    if (!(bound > 0))
        sx_table_cell(table, "-");
    else if (value <= bound * (1 + 1e-9))
        sx_table_cell(table, "proven");
    else
        sx_table_cell(table, "%s", sx_show_percent(value / bound - 1).text);
}

/* The loops that the layers of a group share, such as "P 28, C 2". */
static void loops_cell(sx_table *table, const sx_fused_group *group) {
    sx_text text = {0};
    for (int i = 0; i < group->n_loops; i++)
        sx_text_add(&text, "%s%s %u", i ? ", " : "", group->loop[i].dimension, group->loop[i].bound);
    if (group->n_loops == 0) sx_text_add(&text, "-");
    sx_table_cell_text(table, &text);
}

static void group_rows(const sx_fused *f, sx_text *out) {
    sx_table table;
    sx_table_begin(&table, f->given ? "rllRlr" : "rllRlrrrr");
    const char *head[] = {"group", "from", "to", "layers", "loops", "energy", "unfused", "gain", "gap"};
    for (size_t i = 0; i < (f->given ? 6 : sizeof head / sizeof *head); i++)
        sx_table_cell(&table, "%s", head[i]);
    for (size_t g = 0; g < f->n_groups; g++) {
        const sx_fused_group *group = &f->group[g];
        sx_table_cell(&table, "%zu", g + 1);
        sx_table_cell(&table, "%s", sx_show_name(f->layer[group->first].name, NAME_WIDTH).text);
        sx_table_cell(&table, "%s", sx_show_name(f->layer[group->last].name, NAME_WIDTH).text);
        sx_table_cell(&table, "%zu", group->last - group->first + 1);
        loops_cell(&table, group);
        sx_table_cell(&table, "%s", sx_show_energy(group->score.energy_pj).text);
        if (f->given) continue;
        sx_table_cell(&table, "%s", sx_show_energy(group->unfused.energy_pj).text);
        sx_table_cell(&table, "%.2f", group->unfused.energy_pj / group->score.energy_pj);
        gap_cell(&table, group->value, group->bound);
    }
    sx_table_end(&table, 2, out);
}

static void tensor_rows(const sx_fused *f, sx_text *out) {
    sx_table table;
    sx_table_begin(&table, f->given ? "rlllrrl" : "rlllrrrl");
    const char *head[] = {"group", "stays", "from", "to", "words", "share", "DRAM saved", "rows"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        if (!f->given || i != 6) sx_table_cell(&table, "%s", head[i]);
    for (size_t t = 0; t < f->n_tensors; t++) {
        const sx_fused_tensor *tensor = &f->tensor[t];
        sx_table_cell(&table, "%zu", tensor->group + 1);
        sx_table_cell(&table, "%s", sx_show_name(tensor->name, NAME_WIDTH).text);
        sx_table_cell(&table, "%s", sx_show_name(f->layer[tensor->first].name, NAME_WIDTH).text);
        sx_table_cell(&table, "%s", sx_show_name(f->layer[tensor->last].name, NAME_WIDTH).text);
        sx_table_cell(&table, "%s", sx_show_count((double)tensor->words).text);
        const uint64_t capacity = tensor->second ? f->second_capacity : f->capacity;
        sx_table_cell(&table, "%s", sx_show_percent((double)tensor->words / (double)capacity).text);
        if (!f->given) sx_table_cell(&table, "%s", sx_show_scaled(tensor->saved_bytes, "B").text);
        const char *in = tensor->second ? " in " : "", *level = tensor->second ? f->second : "";
        if (tensor->recompute && tensor->rows_again)
            sx_table_cell(&table, "%u again%s%s", tensor->rows_again, in, level);
        else if (tensor->rows_kept)
            sx_table_cell(&table, "%u kept%s%s", tensor->rows_kept, in, level);
        else
            sx_table_cell(&table, "%s%s%s", tensor->depth ? "tiles" : "whole", in, level);
    }
    sx_table_end(&table, 2, out);
}

/* The use of a memory: words of tensors that stay, of tiles, and of all that there is. */
typedef struct memory_use {
    double stay, tiles, capacity;
} memory_use;

static memory_use use_of(const sx_fused *f, const sx_fused_layer *layer, bool second) {
    if (second)
        return (memory_use){(double)layer->second_words, (double)layer->second_tiles,
                            (double)f->second_capacity};
    return (memory_use){(double)layer->resident_words, (double)layer->tile_words, (double)f->capacity};
}

/* A bar of an exchange memory: '#' tensors that stay, '+' tiles, '.' free. */
static void use_bar(const memory_use *use, char bar[BAR_WIDTH + 1]) {
    double unit = use->capacity / BAR_WIDTH, stay = use->stay / unit, used = stay + use->tiles / unit;
    for (int i = 0; i < BAR_WIDTH; i++) bar[i] = i + 0.5 < stay ? '#' : i + 0.5 < used ? '+' : '.';
    bar[BAR_WIDTH] = 0;
}

static void memory_rows(const sx_fused *f, bool second, sx_text *out) {
    sx_table table;
    char bar[BAR_WIDTH + 1];
    sx_table_begin(&table, "lrrrl");
    const char *head[] = {"layer", "stays", "tiles", "in use", second ? f->second : f->level};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) sx_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < f->n_layers; i++) {
        const sx_fused_layer *layer = &f->layer[i];
        const memory_use use = use_of(f, layer, second);
        use_bar(&use, bar);
        sx_table_cell(&table, "%s", sx_show_name(layer->name, NAME_WIDTH).text);
        sx_table_cell(&table, "%s", sx_show_count(use.stay).text);
        sx_table_cell(&table, "%s", sx_show_count(use.tiles).text);
        sx_table_cell(&table, "%s", sx_show_percent((use.stay + use.tiles) / use.capacity).text);
        sx_table_cell(&table, "%s", bar);
    }
    sx_table_end(&table, 2, out);
}

/* The best plans, in order. */
static void other_rows(const sx_fused *f, sx_text *out) {
    sx_table table;
    sx_table_begin(&table, "rrrrrrr");
    const char *head[] = {"plan", "groups", "stay", "energy", "cycles", "EDP", "DRAM"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) sx_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i <= f->n_others; i++) {
        const sx_fused *plan = i ? f->other[i - 1] : f;
        sx_table_cell(&table, "%zu", i + 1);
        sx_table_cell(&table, "%zu", plan->n_groups);
        sx_table_cell(&table, "%zu", plan->n_tensors);
        sx_table_cell(&table, "%s", sx_show_energy(plan->total.energy_pj).text);
        sx_table_cell(&table, "%s", sx_show_count(plan->total.cycles).text);
        sx_table_cell(&table, "%.4g", plan->total.energy_pj * plan->total.cycles);
        sx_table_cell(&table, "%s", sx_show_scaled(plan->dram_bytes, "B").text);
    }
    sx_table_end(&table, 2, out);
}

/* What each size of the memory gives. */
static void size_rows(const sx_fused *f, sx_text *out) {
    sx_table table;
    sx_table_begin(&table, "rrrrrrrl");
    const char *head[] = {"words", "stay", "energy", "cycles", "EDP", "DRAM", "gap", "energy"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) sx_table_cell(&table, "%s", head[i]);
    for (size_t i = 0; i < f->n_sizes; i++) {
        const sx_fused_size *size = &f->size[i];
        const int length =
            (int)lround(BAR_WIDTH * size->total.energy_pj / f->size[f->n_sizes - 1].total.energy_pj);
        sx_table_cell(&table, "%s", sx_show_count((double)size->words).text);
        sx_table_cell(&table, "%zu", size->n_tensors);
        sx_table_cell(&table, "%s", sx_show_energy(size->total.energy_pj).text);
        sx_table_cell(&table, "%s", sx_show_count(size->total.cycles).text);
        sx_table_cell(&table, "%.4g", size->total.energy_pj * size->total.cycles);
        sx_table_cell(&table, "%s", sx_show_scaled(size->dram_bytes, "B").text);
        gap_cell(&table, size->value, size->lower_bound);
        sx_table_cell(&table, "%.*s", length > BAR_WIDTH ? BAR_WIDTH : length, "####################");
    }
    sx_table_end(&table, 2, out);
}

/* Adds what the vector unit has of a sum. */
static void add_vector(const sx_fused *f, sx_text *line) {
    if (!(f->vector.cycles > 0)) return;
    sx_text_add(line, "Of that the vector unit has %s and %s cycles (unfused %s and %s). ",
                sx_show_energy(f->vector.energy_pj).text, sx_show_count(f->vector.cycles).text,
                sx_show_energy(f->vector_unfused.energy_pj).text,
                sx_show_count(f->vector_unfused.cycles).text);
}

/* Adds the use of the second exchange memory. */
static void add_second_peak(const sx_fused *f, sx_text *line) {
    if (f->second[0])
        sx_text_add(line, " At most %s of %s words of %s are in use. ",
                    sx_show_count((double)f->second_peak).text,
                    sx_show_count((double)f->second_capacity).text, f->second);
}

/* Adds how much better than what was found the best plan may be, where the plan is the search's. */
static void add_open(const sx_fused *f, const char *objective, sx_text *line) {
    if (!f->chosen || f->optimal || !(f->lower_bound > 0)) return;
    sx_text_add(line, "The best plan of whole tensors and groups is at most %s better (%s).",
                sx_show_percent(f->value / f->lower_bound - 1).text, objective);
}

/* Adds which tiles the plans have that this is said of. */
static void add_tiles(const sx_fused *f, sx_text *line) {
    if (!f->chosen || !(f->optimal || f->lower_bound > 0)) return;
    if (f->tiles == SX_FUSED_TILES_DIVIDE) sx_text_add(line, " This holds for tiles that divide.");
    if (f->tiles == SX_FUSED_TILES_ANY)
        sx_text_add(line, " This holds for tiles that divide, and for any in layers with nothing in %s%s%s.",
                    SHOW_MEMORIES(f));
}

/* Adds that the search was ended, if it was. */
static void add_stopped(const sx_fused *f, sx_text *line) {
    if (f->stopped) sx_text_add(line, " The search was stopped before it was complete.");
}

/* Adds how many times less a figure is, or more where the ratio is below 1 beyond what is shown. */
static void add_times(double ratio, const char *of, sx_text *line) {
    const bool more = ratio < 0.9995;
    sx_text_add(line, "(%.3g times %s%s)", more ? 1 / ratio : ratio, more ? "more" : "less", of);
}

/* Adds that nothing stays, and what is proven. */
static void add_nothing(const sx_fused *f, const char *objective, sx_text *out) {
    sx_text line = {0};
    sx_text_add(&line, "Nothing stays in %s%s%s%s: the network costs what its layers cost. ",
                SHOW_MEMORIES(f), f->chosen && f->optimal ? ", which is proven to be best" : "");
    add_open(f, objective, &line);
    add_tiles(f, &line);
    add_stopped(f, &line);
    sx_text_add(out, "  ");
    sx_wrap_free(&line, 2, 2, out);
}

/* Adds what the fused network costs against the unfused one, and what is proven. */
static void add_summary(const sx_fused *f, const char *objective, sx_text *out) {
    sx_text line = {0};
    const double energy = f->unfused.energy_pj / f->total.energy_pj,
                 delay = f->unfused.cycles / f->total.cycles;
    sx_text_add(&line, "%zu of %zu tensors between layers stay in %s%s%s, in %zu group%s: %s instead of %s ",
                f->n_tensors, f->n_candidates, SHOW_MEMORIES(f), f->n_groups, f->n_groups == 1 ? "" : "s",
                sx_show_energy(f->total.energy_pj).text, sx_show_energy(f->unfused.energy_pj).text);
    add_times(energy, " energy", &line);
    sx_text_add(&line, ", %s cycles instead of %s, EDP %.4g instead of %.4g ",
                sx_show_count(f->total.cycles).text, sx_show_count(f->unfused.cycles).text,
                f->total.energy_pj * f->total.cycles, f->unfused.energy_pj * f->unfused.cycles);
    add_times(energy * delay, "", &line);
    sx_text_add(&line, ". ");
    if (f->total.latency != f->total.cycles) {
        sx_text_add(&line, "Latency %s cycles instead of %s ", sx_show_count(round(f->total.latency)).text,
                    sx_show_count(round(f->unfused.latency)).text);
        add_times(f->unfused.latency / f->total.latency, "", &line);
        sx_text_add(&line, ". ");
    }
    add_vector(f, &line);
    sx_text_add(&line, "%s to and from DRAM instead of %s; at most %s of %s words of %s in use. ",
                sx_show_scaled(f->dram_bytes, "B").text, sx_show_scaled(f->dram_bytes_unfused, "B").text,
                sx_show_count((double)f->peak).text, sx_show_count((double)f->capacity).text, f->level);
    add_second_peak(f, &line);
    if (!f->chosen)
        sx_text_add(&line, "What stays was asked for.");
    else if (f->optimal)
        sx_text_add(&line, "Proven: no plan of whole tensors and groups in %s%s%s gives less %s.",
                    SHOW_MEMORIES(f), objective);
    add_open(f, objective, &line);
    add_tiles(f, &line);
    if (f->n_orders > 1)
        sx_text_add(&line, " Of %zu orders of the layers %s is best.", f->n_orders,
                    f->reordered ? "another than the network's" : "the network's own");
    add_stopped(f, &line);
    if (f->seconds > 0)
        sx_text_add(&line, " %zu searches of cut layers in %.2f s.", f->n_searches, f->seconds);
    sx_text_add(out, "\n  ");
    sx_wrap_free(&line, 2, 2, out);
}

/* Adds what a fused mapping that was given costs. */
static void add_given_summary(const sx_fused *f, sx_text *out) {
    sx_text line = {0};
    sx_text_add(&line, "%zu tensors stay in %s%s%s, in %zu group%s: %s, %s cycles, EDP %.4g. ", f->n_tensors,
                SHOW_MEMORIES(f), f->n_groups, f->n_groups == 1 ? "" : "s",
                sx_show_energy(f->total.energy_pj).text, sx_show_count(f->total.cycles).text,
                f->total.energy_pj * f->total.cycles);
    if (f->total.latency != f->total.cycles)
        sx_text_add(&line, "Latency %s cycles. ", sx_show_count(round(f->total.latency)).text);
    add_vector(f, &line);
    sx_text_add(&line, "%s to and from DRAM; at most %s of %s words of %s in use.",
                sx_show_scaled(f->dram_bytes, "B").text, sx_show_count((double)f->peak).text,
                sx_show_count((double)f->capacity).text, f->level);
    add_second_peak(f, &line);
    sx_text_add(out, "\n  ");
    sx_wrap_free(&line, 2, 2, out);
}

void sx_fused_report(const sx_fused *f, const char *objective, bool verbose, sx_text *out) {
    sx_text_add(out, "\nFused, with tensors exchanged in %s%s%s\n\n", SHOW_MEMORIES(f));
    if (!f->found) {
        sx_text_add(out, "  no plan was found: some layer has no mapping\n");
        return;
    }
    if (f->n_groups) {
        group_rows(f, out);
        sx_text_add(out, "\n");
        tensor_rows(f, out);
    }
    if (verbose) {
        sx_text_add(out, "\n");
        memory_rows(f, false, out);
        if (f->second[0]) sx_text_add(out, "\n");
        if (f->second[0]) memory_rows(f, true, out);
    }
    if (f->given)
        add_given_summary(f, out);
    else if (f->n_tensors)
        add_summary(f, objective, out);
    else
        add_nothing(f, objective, out);
    if (f->n_others) {
        sx_text_add(out, "\nThe %zu best plans\n\n", f->n_others + 1);
        other_rows(f, out);
    }
    if (!f->n_sizes) return;
    sx_text_add(out, "\nThe best plan for each size of %s\n\n", f->level);
    size_rows(f, out);
    if (f->sizes_stopped)
        sx_text_add(out, "\n  The search was stopped before the sizes below %s words.\n",
                    sx_show_count((double)f->size[f->n_sizes - 1].words).text);
}
