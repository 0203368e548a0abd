#include "report/figures.h"

#include "ir/arch.h"
#include "report/table.h"

#include <math.h>

/* Those that depend on the clock are 0 where there is none. An operation is half a MAC. */
typedef struct figures {
    double clock_hz, seconds, watts, tops, peak_tops;
    double tops_per_watt, pj_per_mac;
    double area_mm2; /* of all components whose area is given; 0: none is */
} figures;

int sx_dram_level(const sx_arch *arch) {
    for (int s = arch->n_levels - 1; s >= 0; s--)
        if (arch->level[s].technology == SX_DRAM) return s;
    return arch->n_levels - 1;
}

double sx_metadata_traffic(const sx_problem *problem, const sx_arch *arch, const sx_cost *cost, int level,
                           int tensor) {
    double bits = 0;
    for (int i = 0; i < arch->sparse.n_formats; i++) {
        const sx_tensor_format *f = &arch->sparse.format[i];
        uint32_t width[2];
        if (f->level != level || sx_problem_tensor(problem, arch->sparse.name[f->tensor]) != tensor) continue;
        for (int r = 0; r < f->n_ranks; r++) {
            if (!sx_rank_bits(&arch->level[level].metadata, &arch->sparse.rank[f->first + r], width))
                continue;
            for (int a = 0; a < SX_N_ACCESSES; a++)
                for (int k = 0; k < 2; k++)
                    bits += cost->rank[f->first + r].words[SX_RANDOM][a][k] * width[k];
        }
    }
    return bits;
}

/* Bits of a tensor that go to and from a level, all instances. */
static double traffic_bits(const sx_problem *problem, const sx_arch *arch, const sx_cost *cost, int level,
                           int tensor) {
    const sx_cost_tensor *t = &cost->level[level].tensor[tensor];
    double width = sx_element_bits(&arch->level[level], &problem->tensor[tensor]), words = 0;
    if (!t->kept) return 0;
    if (!cost->sparse) return width * ((double)t->reads + (double)t->fills + (double)t->updates);
    for (int a = 0; a < SX_N_ACCESSES; a++) words += t->actions[SX_RANDOM][a];
    return t->instances * (width * words + sx_metadata_traffic(problem, arch, cost, level, tensor));
}

void sx_work_of(const sx_problem *problem, const sx_arch *arch, const sx_cost *cost, sx_work *out) {
    int level = sx_dram_level(arch);
    *out = (sx_work){.macs = (double)sx_problem_computes(problem),
                     .cycles = (double)cost->cycles,
                     .energy_pj = cost->energy_pj};
    for (int v = 0; v < problem->n_tensors; v++) {
        out->tensor_bytes[v] = traffic_bits(problem, arch, cost, level, v) / 8;
        out->dram_bytes += out->tensor_bytes[v];
    }
}

void sx_work_add(const sx_work *work, double times, sx_work *out) {
    out->macs += times * work->macs;
    out->cycles += times * work->cycles;
    out->energy_pj += times * work->energy_pj;
    out->dram_bytes += times * work->dram_bytes;
    out->time.seconds += times * work->time.seconds;
}

/* The figures of a work. */
static figures figures_of(const sx_arch *arch, const sx_work *work) {
    double cycle = arch->cycle_seconds, joules = work->energy_pj * 1e-12;
    figures f = {.pj_per_mac = work->macs > 0 ? work->energy_pj / work->macs : 0,
                 .tops_per_watt = work->energy_pj > 0 ? 2 * work->macs / work->energy_pj : 0};
    double um2 = (double)arch->compute.instances * arch->compute.area;
    for (int s = 0; s < arch->n_levels; s++) um2 += (double)arch->level[s].instances * arch->level[s].area;
    f.area_mm2 = um2 * 1e-6;
    if (cycle <= 0 || work->cycles <= 0) return f;
    double hertz = 1 / cycle, whole = round(hertz);
    f.clock_hz = fabs(hertz - whole) < 1e-9 * hertz ? whole : hertz;
    f.seconds = work->cycles * cycle;
    f.watts = joules / f.seconds;
    f.tops = 2 * work->macs / f.seconds * 1e-12;
    f.peak_tops = 2 * (double)arch->compute.instances / cycle * 1e-12;
    return f;
}

/* Adds which tensor takes how many bytes. */
static void add_shares(const sx_problem *problem, const sx_arch *arch, const sx_work *work, sx_text *out) {
    const sx_storage *level = &arch->level[sx_dram_level(arch)];
    bool sized = false;
    for (int v = 0; v < problem->n_tensors; v++) sized |= problem->tensor[v].bits != 0;
    for (int v = 0; v < problem->n_tensors; v++) {
        const sx_tensor *tensor = &problem->tensor[v];
        sx_text_add(out, "%s%s %s", v ? ", " : "", sx_show_name(tensor->name, 18).text,
                    sx_show_scaled(work->tensor_bytes[v], "B").text);
        if (sized) sx_text_add(out, " (%u bits)", sx_element_bits(level, tensor));
    }
    if (!sized) sx_text_add(out, "; %u-bit words", level->word_bits);
}

void sx_figures_rows(const sx_problem *problem, const sx_arch *arch, const sx_work *work, sx_table *table) {
    figures f = figures_of(arch, work);
    sx_text shares = {0};
    if (work->macs <= 0) return;
    sx_table_cell(table, "per MAC");
    sx_table_cell(table, "%s", sx_show_energy(f.pj_per_mac).text);
    sx_table_cell(table, "%.4g TOPS/W", f.tops_per_watt);
    sx_table_cell(table, "%s", sx_show_name(arch->level[sx_dram_level(arch)].name, 11).text);
    sx_table_cell(table, "%s", sx_show_scaled(work->dram_bytes, "B").text);
    add_shares(problem, arch, work, &shares);
    sx_table_cell_text(table, &shares);
    if (f.clock_hz > 0) {
        sx_table_cell(table, "time");
        sx_table_cell(table, "%s", sx_show_scaled(f.seconds, "s").text);
        sx_table_cell(table, "at %s: %s, %.4g of %.4g TOPS", sx_show_scaled(f.clock_hz, "Hz").text,
                      sx_show_scaled(f.watts, "W").text, f.tops, f.peak_tops);
    }
    if (f.area_mm2 > 0) {
        sx_table_cell(table, "area");
        sx_table_cell(table, "%.4g mm2", f.area_mm2);
        sx_table_blank(table, 1);
    }
}

void sx_figures_sentence(const sx_arch *arch, const sx_work *work, sx_text *out) {
    figures f = figures_of(arch, work);
    sx_text line = {0};
    if (work->macs <= 0) return;
    if (f.clock_hz > 0)
        sx_text_add(&line, "%s at %s: %s, %.4g of %.4g TOPS. ", sx_show_scaled(f.seconds, "s").text,
                    sx_show_scaled(f.clock_hz, "Hz").text, sx_show_scaled(f.watts, "W").text, f.tops,
                    f.peak_tops);
    sx_text_add(&line, "%s per MAC, %.4g TOPS/W; %s to and from %s", sx_show_energy(f.pj_per_mac).text,
                f.tops_per_watt, sx_show_scaled(work->dram_bytes, "B").text,
                arch->level[sx_dram_level(arch)].name);
    if (f.area_mm2 > 0) sx_text_add(&line, "; %.4g mm2", f.area_mm2);
    sx_text_add(&line, ".");
    sx_text_add(out, "  ");
    sx_wrap_free(&line, 2, 2, out);
}

/* The widths and bytes of tensors. */
static json_t *tensors_json(const sx_problem *problem, const sx_arch *arch, const sx_work *work) {
    json_t *list = json_array();
    for (int v = 0; v < problem->n_tensors; v++)
        sx_json_append(list, json_pack("{s:s, s:I, s:o}", "name", problem->tensor[v].name, "bits",
                                       (json_int_t)sx_element_bits(&arch->level[sx_dram_level(arch)],
                                                                   &problem->tensor[v]),
                                       "dram_bytes", sx_json_number(work->tensor_bytes[v])));
    return list;
}

json_t *sx_figures_json(const sx_problem *problem, const sx_arch *arch, const sx_work *work) {
    figures f = figures_of(arch, work);
    json_t *object = json_pack("{s:f, s:f, s:o}", "pj_per_mac", f.pj_per_mac, "tops_per_watt",
                               f.tops_per_watt, "dram_bytes", sx_json_number(work->dram_bytes));
    if (f.clock_hz > 0) {
        sx_json_set(object, "clock_hz", json_real(f.clock_hz));
        sx_json_set(object, "seconds", json_real(f.seconds));
        sx_json_set(object, "watts", json_real(f.watts));
        sx_json_set(object, "tops", json_real(f.tops));
        sx_json_set(object, "peak_tops", json_real(f.peak_tops));
    }
    if (f.area_mm2 > 0) sx_json_set(object, "area_mm2", json_real(f.area_mm2));
    if (problem) sx_json_set(object, "tensors", tensors_json(problem, arch, work));
    return object;
}
