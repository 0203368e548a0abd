/* SRAM by CACTI under the rules of Accelergy 0.4 and 0.3, and DRAM by bit.
 *
 * The rules are those of accelergy-cacti-plug-in at 291018b (0.4) and 02cd6de (0.3): least sizes, how narrow and shallow
 * memories are scaled, which attributes reach CACTI, and what becomes of nodes that CACTI does not know. */
#include "estimate/component.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* Least words of a bank, bits of a word, and the adder of an address generator by Accelergy 0.3, pJ and mW. */
enum { LEAST_DEPTH = 64, LEAST_WIDTH = 32 };
static const double SMART_03 = 0.0488;
static const double SMART_LEAK_03 = 0.0119;

/* The smallest power of two that is not below a number. */
static uint32_t power_above(double value) {
    uint32_t power = 1;
    while (power < value && power < 1u << 15) power *= 2;
    return power;
}

/* Error bands of the table's figures beside CACTI, by how they were found. */
static double fit_band(sx_cacti_fit fit) {
    static const double band[] = {1.01, 1.07, 1.1, 1.2, 1.5};
    return band[fit];
}

/* Figures at any node: of the table as they are, between two of them by lines, beyond them by the rules of 0.4. */
static void at_node(sx_sram_shape shape, double node, sx_estimate *e, sx_sram_figures *out) {
    const double low = sx_cacti_nodes[0], high = sx_cacti_nodes[SX_N_CACTI_NODES - 1];
    const double inside = fmin(fmax(node, low), high);
    int above = 0;
    while (sx_cacti_nodes[above] < inside) above++;
    shape.node = sx_cacti_nodes[above];
    sx_cacti_fit fit = sx_cacti_find(&shape, out);
    if (inside < sx_cacti_nodes[above]) {
        sx_sram_figures below;
        shape.node = sx_cacti_nodes[above - 1];
        sx_cacti_find(&shape, &below);
        double t = (inside - shape.node) / (sx_cacti_nodes[above] - shape.node);
        for (int i = 0; i < SX_N_SRAM_FIGURES; i++)
            out->value[i] = below.value[i] + (out->value[i] - below.value[i]) * t;
        sx_estimate_say(e, "%g nm between %g and %g", node, shape.node, sx_cacti_nodes[above]);
    }
    static const char *const how[] = {NULL, "between runs of CACTI", "between CACTI's widths",
                                      "banks and ports by rule", "beyond CACTI's runs"};
    if (how[fit]) sx_estimate_say(e, "%s", how[fit]);
    e->low = 1 / 1.3;
    e->high = 1.3;
    e->leak_low = 1 / 3.0;
    e->leak_high = 3000; /* high-performance cells at 360 K leak that much more than itrs-lstp at 300 K */
    sx_estimate_widen(e, fit_band(fit));
}

/* Scales figures to a node that CACTI does not know. */
static void leave_table(double node, bool published, sx_estimate *e, sx_sram_figures *f) {
    double energy = 1, area = 1, leak = 1;
    if (node < 22) {
        energy = published ? pow(node / 22, 0.57) : sqrt(node / 22);
        area = node / 22;
        leak = 0.79 * sqrt(node / 22);
        sx_estimate_say(e, published ? "22 nm x (%g/22)^0.57" : "22 nm x sqrt(%g/22)", node);
        sx_estimate_widen(e, fmin(pow(22 / node, 0.73), 5));
    } else if (node > 90) {
        energy = area = leak = node / 90 * (node / 90);
        sx_estimate_say(e, "90 nm x (%g/90)^2", node);
        sx_estimate_widen(e, 1.5);
    }
    f->value[SX_SRAM_READ] *= energy;
    f->value[SX_SRAM_WRITE] *= energy;
    f->value[SX_SRAM_AREA] *= area;
    f->value[SX_SRAM_LEAK] *= leak;
}

/* Sets an estimate: mW over a cycle are pJ. */
static void set_figures(const sx_component *c, const sx_sram_figures *f, double banks, sx_estimate *e) {
    e->read = f->value[SX_SRAM_READ];
    e->write = e->update = f->value[SX_SRAM_WRITE];
    e->leak = f->value[SX_SRAM_LEAK] * banks * c->cycle_seconds * 1e9;
    e->area = f->value[SX_SRAM_AREA] * 1e6;
    e->access = f->value[SX_SRAM_ACCESS];
}

void sx_estimate_sram_04(const sx_component *c, sx_estimate *e) {
    double banks = c->generates ? 1 : fmax(c->banks, 1);
    double width = fmax(LEAST_WIDTH, 8 * ceil(c->width / 8)), depth = fmax(c->depth, LEAST_DEPTH * banks);
    sx_sram_figures f;
    if (c->generates && c->banks > 1) sx_estimate_say(e, "n_banks is not passed on");
    at_node((sx_sram_shape){0, width, depth, power_above(banks), power_above(fmax(c->ports, 1))}, c->node, e,
            &f);
    leave_table(c->node, false, e, &f);
    if (width > c->width || depth > c->depth) sx_estimate_say(e, "scaled from %g x %g", depth, width);
    double narrow = (0.7 * c->width / width + 0.3) * pow(c->depth / depth, 0.78);
    double small = c->width / width * (c->depth / depth);
    f.value[SX_SRAM_READ] *= narrow;
    f.value[SX_SRAM_WRITE] *= narrow;
    f.value[SX_SRAM_AREA] *= small;
    f.value[SX_SRAM_LEAK] *= small;
    set_figures(c, &f, banks, e);
    if (!c->generates) return;
    double bits = c->depth > 1 ? ceil(log2(c->depth)) : 0, adder = sx_address_adder(c, c->depth);
    e->read += adder;
    e->write += adder;
    e->update += adder;
    e->leak += 0.0024 * bits / 32 * c->cycle_seconds * 1e9;
    e->area += 278 * bits / 32;
    sx_estimate_say(e, "with an adder of %g bits for addresses", bits);
}

void sx_sram_by_size(double width, double depth, sx_sram_figures *out) {
    double least_width = fmax(LEAST_WIDTH, width), least_depth = fmax(depth, LEAST_DEPTH);
    sx_cacti_smooth(45, least_width, least_depth, out);
    double energy = (0.7 * width / least_width + 0.3) * pow(depth / least_depth, 0.78);
    double small = width / least_width * (depth / least_depth);
    const double factor[SX_N_SRAM_FIGURES] = {energy, energy, small, small * 1e6, 1};
    for (int i = 0; i < SX_N_SRAM_FIGURES; i++) out->value[i] = sx_round_figure(out->value[i] * factor[i]);
}

void sx_estimate_sram_03(const sx_component *c, sx_estimate *e) {
    double banks = fmax(c->banks, 1), depth = fmax(c->depth, LEAST_DEPTH);
    sx_sram_figures f;
    at_node((sx_sram_shape){0, c->width, depth, power_above(banks), (uint32_t)fmax(c->ports, 1)}, c->node, e,
            &f);
    leave_table(c->node, false, e, &f);
    if (depth > c->depth) sx_estimate_say(e, "at least %d words", LEAST_DEPTH);
    if (c->width < LEAST_WIDTH) {
        sx_estimate_say(e, "a bus below 32 bits");
        sx_estimate_widen(e, 1.5);
    }
    set_figures(c, &f, banks, e);
    if (!c->generates) return;
    e->read += SMART_03;
    e->write += SMART_03;
    e->update += SMART_03;
    e->leak += SMART_LEAK_03; /* its operators are those for 5 ns, whatever the cycle */
    e->area += 179;
    sx_estimate_say(e, "with an adder for addresses");
}

void sx_estimate_sram_published(const sx_component *c, sx_estimate *e) {
    double banks = fmax(c->banks, 1), width = fmax(LEAST_WIDTH, c->width),
           depth = fmax(c->depth, LEAST_DEPTH * banks);
    sx_sram_figures f;
    at_node((sx_sram_shape){0, width, depth, power_above(banks), (uint32_t)fmax(c->ports, 1)}, c->node, e,
            &f);
    leave_table(c->node, true, e, &f);
    double part = c->width / width, energy = part * pow(c->depth / depth, 0.78);
    if (width > c->width || depth > c->depth) sx_estimate_say(e, "scaled from %g x %g", depth, width);
    f.value[SX_SRAM_READ] *= energy;
    f.value[SX_SRAM_WRITE] *= energy;
    f.value[SX_SRAM_AREA] *= part * (c->depth / depth);
    f.value[SX_SRAM_LEAK] *= part * (c->depth / depth);
    set_figures(c, &f, power_above(banks), e);
}

void sx_estimate_dram(const sx_component *c, sx_estimator estimator, sx_estimate *e) {
    static const struct {
        const char *name;
        double accelergy, published; /* pJ per bit */
    } known[] = {{"LPDDR4", 8, 8},    {"LPDDR", 40, 40}, {"DDR3", 70, 70},     {"GDDR5", 14, 14},
                 {"HBM2", 3.9, 6.25}, {"HMC", 4.2, 4.2}, {"HBM3", 4.05, 4.05}, {"HBM4", 3.2, 3.2}};
    size_t kind = 0;
    while (kind < sizeof known / sizeof *known && strcasecmp(known[kind].name, c->dram) != 0) kind++;
    bool found = kind < sizeof known / sizeof *known;
    if (!found) kind = 0;
    double bit = estimator == SX_ESTIMATOR_PUBLISHED ? known[kind].published : known[kind].accelergy;
    e->read = e->write = e->update = bit * c->width;
    e->leak = 0;
    e->low = 1 / 1.6;
    e->high = 1.6;
    sx_estimate_say(e, "%s, %g pJ a bit", known[kind].name, bit);
    if (found) return;
    if (c->dram[0]) sx_estimate_say(e, "no public figure of %s", c->dram);
    e->low = 0.4;
    e->high = 9;
}
