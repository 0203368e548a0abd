/* The figure of `sextant place`: bands of tensors by memory, as in Figure 6 of the EGRL paper, and the use of
 * each memory over the steps. */
#include "report/placement.h"
#include "report/svg.h"

#include <stdio.h>

enum { WIDTH = 900, LEFT = 130, RIGHT = 20, BAND = 26, PANEL = 90, GAP = 34 };

/* Colours from slow to fast, each darker than the one before. */
static const char *colour(size_t memory, size_t n) {
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
        snprintf(style, sizeof style, "fill=\"%s\"", colour(placement[tensor], space->chip.n_memories));
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
    snprintf(style, sizeof style, "fill=\"%s\"", colour(memory, space->chip.n_memories));
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

void sx_placement_svg(const sx_placement_job *job, sx_text *out) {
    const sx_placement_space *space = job->in;
    size_t n = space->chip.n_memories;
    char title[2 * SX_NAME_SIZE + 40];
    double y = 50;
    snprintf(title, sizeof title, "Placement of %s on %s", space->graph.name, space->chip.name);
    sx_svg_open(out, WIDTH, 50 + 4 * (BAND + 6) + GAP + (double)n * (PANEL + 14) + 40, title);
    sx_svg_text(out, WIDTH / 2.0, 22, SX_ANCHOR_MIDDLE, "font-size=\"15\"", title);
    for (size_t m = 0; m < n; m++) {
        char style[64];
        snprintf(style, sizeof style, "fill=\"%s\" stroke=\"#333\"", colour(m, n));
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
    sx_svg_close(out);
}
