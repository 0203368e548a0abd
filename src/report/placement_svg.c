/* The figure of `sextant place`: bands of tensors by memory, as in Figure 6 of the EGRL paper, the use of each memory
 * over the steps, matrices of the shift from the compiler's memories to those found, and the best so far against
 * evaluations. */
#include "report/placement.h"
#include "report/plot.h"
#include "report/svg.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 900, LEFT = 130, RIGHT = 20, BAND = 26, PANEL = 90, GAP = 34, SQUARE = 150, FOOT = 260 };

/* Colours from slow to fast, each darker than the one before. */
static const char *memory_colour(size_t memory, size_t n) {
    static const char *const scale[] = {"#d9e2ec", "#9fc3e0", "#5b9bd0", "#2a6fb0", "#174a84", "#0b2a55"};
    size_t last = sizeof scale / sizeof *scale - 1;
    return scale[n < 2 ? 0 : n == 2 ? memory * 4 : n == 3 ? memory * 2 : memory < last ? memory : last];
}

/* Where a step begins. */
static double at_step(const sx_placement_space *space, size_t step) {
    return LEFT + (double)(WIDTH - LEFT - RIGHT) * (double)step / (double)space->graph.n_nodes;
}

/* Draws a band: a bar for each node. */
static void draw_band(const sx_placement_space *space, const uint8_t *placement, size_t first, double y,
                      const char *label, sx_text *out) {
    char style[64];
    sx_svg_text(out, LEFT - 8, y + BAND * 0.65, SX_ANCHOR_END, "font-size=\"11\"", label);
    for (size_t i = 0; i < space->graph.n_nodes; i++) {
        size_t tensor = 2 * i + first;
        if (!space->size[tensor]) continue;
        snprintf(style, sizeof style, "fill=\"%s\"",
                 memory_colour(placement[tensor], space->chip.n_memories));
        sx_svg_rect(out, at_step(space, i), y, at_step(space, i + 1) - at_step(space, i), BAND, style);
    }
}

/* Draws the use of a memory over the steps, as shares of its capacity. */
static void draw_use(const sx_placement_space *space, const uint8_t *placement, size_t memory, double y,
                     sx_text *out) {
    char style[64];
    double capacity = (double)space->chip.memory[memory].capacity;
    uint64_t use = 0;
    for (size_t i = 0; i < space->graph.n_nodes; i++)
        if (placement[2 * i] == memory) use += space->size[2 * i];
    snprintf(style, sizeof style, "fill=\"%s\"", memory_colour(memory, space->chip.n_memories));
    sx_svg_text(out, LEFT - 8, y + PANEL * 0.5, SX_ANCHOR_END, "font-size=\"11\"",
                space->chip.memory[memory].name);
    for (size_t s = 0; s < space->graph.n_nodes; s++) {
        if (placement[2 * s + 1] == memory) use += space->size[2 * s + 1];
        double height = PANEL * ((double)use / capacity);
        sx_svg_rect(out, at_step(space, s), y + PANEL - height, at_step(space, s + 1) - at_step(space, s),
                    height, style);
        for (size_t k = space->first_ended[s]; k < space->first_ended[s + 1]; k++)
            if (placement[2 * space->ending[k] + 1] == memory) use -= space->size[2 * space->ending[k] + 1];
    }
    sx_svg_line(out, LEFT, y, WIDTH - RIGHT, y, "stroke=\"#333\" stroke-dasharray=\"4 3\"");
    sx_svg_line(out, LEFT, y + PANEL, WIDTH - RIGHT, y + PANEL, "stroke=\"#333\"");
}

/* Draws how the tensors of each of the compiler's memories (rows, fast to slow) are shared out to memories (columns). */
static void draw_shift(const sx_placement_space *space, const uint8_t *placement, size_t first, double x,
                       double y, const char *label, sx_text *out) {
    size_t n = space->chip.n_memories, count[SX_MAX_MEMORIES][SX_MAX_MEMORIES] = {{0}},
           all[SX_MAX_MEMORIES] = {0};
    double cell = SQUARE / (double)n;
    char style[64], text[32];
    sx_svg_text(out, x + SQUARE / 2.0, y - 8, SX_ANCHOR_MIDDLE, "font-size=\"11\"", label);
    for (size_t t = first; t < space->n_tensors; t += 2) {
        if (!space->size[t]) continue;
        count[space->compiled[t]][placement[t]]++;
        all[space->compiled[t]]++;
    }
    for (size_t i = 0; i < n; i++) {
        size_t from = n - 1 - i;
        sx_svg_text(out, x - 6, y + ((double)i + 0.6) * cell, SX_ANCHOR_END, "font-size=\"10\"",
                    space->chip.memory[from].name);
        sx_svg_text(out, x + ((double)i + 0.5) * cell, y + SQUARE + 13, SX_ANCHOR_MIDDLE, "font-size=\"10\"",
                    space->chip.memory[from].name);
        for (size_t k = 0; k < n; k++) {
            double share = all[from] ? (double)count[from][n - 1 - k] / (double)all[from] : 0;
            int shade = 255 - (int)(170 * share + 0.5);
            snprintf(style, sizeof style, "fill=\"#%02x%02xff\" stroke=\"#999\"", (unsigned)shade,
                     (unsigned)shade);
            sx_svg_rect(out, x + (double)k * cell, y + (double)i * cell, cell, cell, style);
            snprintf(text, sizeof text, "%.0f%%", 100 * share);
            if (n <= 5 && all[from])
                sx_svg_text(out, x + ((double)k + 0.5) * cell, y + ((double)i + 0.6) * cell, SX_ANCHOR_MIDDLE,
                            "font-size=\"10\"", text);
        }
    }
}

/* Draws ticks with their labels along the bottom or the left of a frame. */
static void draw_ticks(const sx_axis_scale *scale, bool bottom, double edge, sx_text *out) {
    sx_tick tick[SX_MAX_TICKS];
    size_t n = sx_axis_scale_ticks(scale, tick, SX_MAX_TICKS);
    for (size_t i = 0; i < n; i++) {
        double at = sx_axis_scale_at(scale, tick[i].value);
        if (!tick[i].labelled) continue;
        if (bottom) {
            sx_svg_line(out, at, edge, at, edge + 4, "stroke=\"#444\"");
            sx_plot_label(at, edge + 16, SX_LABEL_CENTRED, &tick[i], out);
        } else {
            sx_svg_line(out, edge - 4, at, edge, at, "stroke=\"#444\"");
            sx_plot_label(edge - 6, at + 4, SX_LABEL_ENDS, &tick[i], out);
        }
    }
}

/* Draws the best so far against evaluations: as speedup over the compiler where latency is the objective. */
static void draw_curve(const sx_placement_job *job, double x, double y, double width, sx_text *out) {
    bool delay = strcmp(job->objective, "delay") == 0;
    double baseline = (double)job->in->baseline / SX_FEMTO, end = (double)job->summary.evaluations;
    sx_axis_scale across = {.log = true}, up = {0};
    sx_axis_scale_include(&across, 1);
    sx_axis_scale_include(&across, 10);
    sx_axis_scale_include(&across, end);
    if (delay) sx_axis_scale_include(&up, 1);
    for (size_t i = 0; i < job->n_trace; i++)
        sx_axis_scale_include(&up, delay ? baseline / job->trace[i].value : job->trace[i].value);
    sx_axis_scale_finish(&across, 0, x, x + width);
    sx_axis_scale_finish(&up, 0.05, y + SQUARE, y);
    sx_svg_text(out, x + width / 2, y - 8, SX_ANCHOR_MIDDLE, "font-size=\"11\"",
                delay ? "speedup over the compiler against evaluations"
                      : "best objective against evaluations");
    sx_svg_line(out, x, y, x, y + SQUARE, "stroke=\"#444\"");
    sx_svg_line(out, x, y + SQUARE, x + width, y + SQUARE, "stroke=\"#444\"");
    draw_ticks(&across, true, y + SQUARE, out);
    draw_ticks(&up, false, x, out);
    if (delay)
        sx_svg_line(out, x, sx_axis_scale_at(&up, 1), x + width, sx_axis_scale_at(&up, 1),
                    "stroke=\"#333\" stroke-dasharray=\"4 3\"");
    for (size_t i = 0; i < job->n_trace; i++) {
        double from = sx_axis_scale_at(&across, (double)job->trace[i].evaluations);
        double to =
            sx_axis_scale_at(&across, i + 1 < job->n_trace ? (double)job->trace[i + 1].evaluations : end);
        double value = delay ? baseline / job->trace[i].value : job->trace[i].value,
               at = sx_axis_scale_at(&up, value);
        sx_svg_line(out, from, at, to, at, "stroke=\"#2a6fb0\" stroke-width=\"2\"");
        if (i + 1 == job->n_trace) break;
        double next = delay ? baseline / job->trace[i + 1].value : job->trace[i + 1].value;
        sx_svg_line(out, to, at, to, sx_axis_scale_at(&up, next), "stroke=\"#2a6fb0\" stroke-width=\"2\"");
    }
}

void sx_placement_svg(const sx_placement_job *job, sx_text *out) {
    const sx_placement_space *space = job->in;
    size_t n = space->chip.n_memories;
    char title[2 * SX_NAME_SIZE + 40];
    double y = 50;
    snprintf(title, sizeof title, "Placement of %s on %s", space->graph.name, space->chip.name);
    sx_svg_open(out, WIDTH, 50 + 4 * (BAND + 6) + GAP + (double)n * (PANEL + 14) + 40 + FOOT, title);
    sx_svg_text(out, WIDTH / 2.0, 22, SX_ANCHOR_MIDDLE, "font-size=\"15\"", title);
    for (size_t m = 0; m < n; m++) {
        char style[64];
        snprintf(style, sizeof style, "fill=\"%s\" stroke=\"#333\"", memory_colour(m, n));
        sx_svg_rect(out, LEFT + 110 * (double)m, 30, 12, 12, style);
        sx_svg_text(out, LEFT + 110 * (double)m + 17, 40, SX_ANCHOR_START, "font-size=\"11\"",
                    space->chip.memory[m].name);
    }
    draw_band(space, space->compiled, 0, y, "weights, compiler", out);
    draw_band(space, job->placement, 0, y += BAND + 6, "weights, found", out);
    draw_band(space, space->compiled, 1, y += BAND + 6, "outputs, compiler", out);
    draw_band(space, job->placement, 1, y += BAND + 6, "outputs, found", out);
    y += BAND + GAP;
    for (size_t m = n; m-- > 0; y += PANEL + 14) draw_use(space, job->placement, m, y, out);
    sx_svg_text(out, (LEFT + WIDTH - RIGHT) / 2.0, y + 12, SX_ANCHOR_MIDDLE, "font-size=\"11\"",
                "step; the dashed line is the capacity");
    y += 70;
    draw_shift(space, job->placement, 0, LEFT, y, "weights: compiler (rows) to found", out);
    draw_shift(space, job->placement, 1, LEFT + SQUARE + 90, y, "outputs: compiler (rows) to found", out);
    draw_curve(job, LEFT + 2 * SQUARE + 200, y, WIDTH - RIGHT - LEFT - 2 * SQUARE - 200, out);
    sx_svg_close(out);
}
