/* Interpolation in a table of CACTI's runs.
 *
 * Within one organisation (how CACTI cuts the array into mats) every figure is linear in the depth; between runs of
 * different organisations, and between widths at equal depth, logarithms are interpolated. Banks: the figures of a bank and the
 * wires to it, k(node, banks) * width * sqrt(area), and where the table has runs with several banks or ports near, the ratio
 * that they have to this rule, weighted by their distance. */
#include "estimate/cacti.h"

#include <math.h>
#include <string.h>

enum { LEAST_WIDTH = 32, MOST_WIDTH = 512, N_BANK_COLUMNS = 4 };

const double sx_cacti_nodes[SX_N_CACTI_NODES] = {22, 32, 45, 65, 90};

/* pJ per bit and mm of wires to 2, 4, 8 and 16 banks, by node. */
static const double bank_wire[SX_N_CACTI_NODES][N_BANK_COLUMNS] = {{0.11, 0.16, 0.22, 0.24},
                                                                   {0.16, 0.30, 0.32, 0.38},
                                                                   {0.19, 0.32, 0.46, 0.47},
                                                                   {0.31, 0.40, 0.59, 0.59},
                                                                   {0.32, 0.59, 0.79, 0.87}};

/* The number of rows of runs; after them come those of published energies, which have no leakage. */
static size_t count_runs(void) {
    size_t n = sx_n_cacti_rows;
    while (n > 0 && !(sx_cacti_rows[n - 1].value[SX_SRAM_LEAK] > 0)) n--;
    return n;
}

/* The runs of one node, width, and number of banks and ports, by depth. */
typedef struct curve {
    const sx_cacti_row *row;
    size_t n;
} curve;

/* Compares rows in the order of the table, depths aside. */
static int compare_curves(const sx_cacti_row *a, const sx_cacti_row *b) {
    const int difference[] = {a->node - b->node, a->width - b->width, a->banks - b->banks,
                              a->ports - b->ports};
    for (int i = 0; i < 4; i++)
        if (difference[i]) return difference[i];
    return 0;
}

/* The curve of a shape; n is 0 where the table has none. */
static curve find_curve(uint32_t node, uint32_t width, uint32_t banks, uint32_t ports) {
    const sx_cacti_row wanted = {
        .node = (uint16_t)node, .width = (uint16_t)width, .banks = (uint16_t)banks, .ports = (uint16_t)ports};
    const size_t n_runs = count_runs();
    size_t low = 0, high = n_runs;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_curves(&sx_cacti_rows[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    size_t n = 0;
    while (low + n < n_runs && compare_curves(&sx_cacti_rows[low + n], &wanted) == 0) n++;
    return (curve){&sx_cacti_rows[low], n};
}

/* The value at a share t of the way between two, by logarithms where they are positive. */
static double between_logs(double a, double b, double t) {
    return a > 0 && b > 0 ? a * pow(b / a, t) : a;
}

/* Interpolates, or extrapolates by logarithms, between two rows of a curve. */
static void between_rows(const sx_cacti_row *a, const sx_cacti_row *b, double depth, sx_sram_figures *out) {
    bool line = b->same && depth >= a->depth && depth <= b->depth;
    double t = line ? (depth - a->depth) / ((double)b->depth - a->depth)
                    : log(depth / a->depth) / log((double)b->depth / a->depth);
    for (int i = 0; i < SX_N_SRAM_FIGURES; i++)
        out->value[i] =
            line ? a->value[i] + (b->value[i] - a->value[i]) * t : between_logs(a->value[i], b->value[i], t);
}

/* The figures of a curve of two rows or more at a depth. */
static sx_cacti_fit at_depth(curve c, double depth, sx_sram_figures *out) {
    size_t high = 1;
    while (high + 1 < c.n && c.row[high].depth < depth) high++;
    const sx_cacti_row *a = &c.row[high - 1], *b = &c.row[high];
    between_rows(a, b, depth, out);
    if (depth < c.row[0].depth || depth > c.row[c.n - 1].depth) return SX_CACTI_BEYOND;
    return b->same || b->depth <= 1.1 * a->depth || depth == a->depth || depth == b->depth ? SX_CACTI_CURVE
                                                                                           : SX_CACTI_GRID;
}

/* The row of exactly that shape; NULL where there is none. */
static const sx_cacti_row *find_row(const sx_sram_shape *s) {
    for (size_t i = 0; i < sx_n_cacti_rows; i++) {
        const sx_cacti_row *row = &sx_cacti_rows[i];
        if (row->depth == s->depth && row->width == s->width && row->node == s->node &&
            row->banks == s->banks && row->ports == s->ports)
            return row;
    }
    return NULL;
}

/* The width of the table's curves below one, so that the next is twice it. */
static uint32_t width_below(double width) {
    uint32_t low = LEAST_WIDTH;
    while (low * 4 <= MOST_WIDTH && low * 2 < width) low *= 2;
    return low;
}

/* Figures of one bank and one port at any width. */
static sx_cacti_fit one_port(double node, double width, double depth, sx_sram_figures *out) {
    uint32_t low = width_below(width), exact = width == low ? low : width == 2.0 * low ? 2 * low : 0;
    if (exact) return at_depth(find_curve((uint32_t)node, exact, 1, 1), depth, out);
    sx_sram_figures a, b;
    sx_cacti_fit fit = at_depth(find_curve((uint32_t)node, low, 1, 1), depth, &a);
    sx_cacti_fit other = at_depth(find_curve((uint32_t)node, 2 * low, 1, 1), depth, &b);
    for (int i = 0; i < SX_N_SRAM_FIGURES; i++)
        out->value[i] = between_logs(a.value[i], b.value[i], log2(width / low));
    bool beyond =
        fit == SX_CACTI_BEYOND || other == SX_CACTI_BEYOND || width < LEAST_WIDTH || width > MOST_WIDTH;
    return beyond ? SX_CACTI_BEYOND : SX_CACTI_WIDTHS;
}

/* What a second port does to the energies of an access, fitted to runs of CACTI. */
static double port_ratio(double width, double depth) {
    double l = log2(depth), v = log2(width);
    return exp(-0.1546 + 0.0222 * l - 0.0105 * v + 0.0009 * l * l + 0.0018 * l * v + 0.0018 * v * v);
}

/* Figures of one bank with several ports. */
static sx_cacti_fit one_bank(const sx_sram_shape *s, double depth, sx_sram_figures *out) {
    curve c = find_curve((uint32_t)s->node, (uint32_t)s->width, 1, s->ports);
    if (s->ports > 1 && s->width == floor(s->width) && c.n > 1 && depth >= c.row[0].depth &&
        depth <= c.row[c.n - 1].depth) {
        sx_cacti_fit fit = at_depth(c, depth, out);
        if (fit == SX_CACTI_CURVE) return fit;
    }
    sx_cacti_fit fit = one_port(s->node, s->width, depth, out);
    if (s->ports <= 1) return fit;
    double ratio = pow(port_ratio(s->width, fmax(depth, 2)), s->ports - 1);
    out->value[SX_SRAM_READ] *= ratio;
    out->value[SX_SRAM_WRITE] *= ratio;
    out->value[SX_SRAM_AREA] *= s->ports;
    return SX_CACTI_BANKS;
}

/* The place of a node in the table. */
static int node_index(double node) {
    int i = 0;
    while (i < SX_N_CACTI_NODES - 1 && sx_cacti_nodes[i] < node) i++;
    return i;
}

/* The rule for banks: figures of one, and wires. */
static sx_cacti_fit by_rule(const sx_sram_shape *s, sx_sram_figures *out) {
    sx_cacti_fit fit = one_bank(s, s->depth / s->banks, out);
    if (s->banks <= 1) return fit;
    int column = 0;
    while (column < N_BANK_COLUMNS - 1 && (2u << column) < s->banks) column++;
    double area = out->value[SX_SRAM_AREA] * s->banks;
    double wires = s->ports * bank_wire[node_index(s->node)][column] * s->width * sqrt(area);
    out->value[SX_SRAM_READ] += wires;
    out->value[SX_SRAM_WRITE] += wires;
    out->value[SX_SRAM_AREA] = area;
    return fit == SX_CACTI_BEYOND ? fit : SX_CACTI_BANKS;
}

/* How near two memories are: 1 for the same. */
static double shape_nearness(const sx_sram_shape *s, const sx_cacti_row *row) {
    double distance = fabs(log2(row->width / s->width)) + 0.5 * fabs(log2(row->depth / s->depth)) +
                      0.7 * fabs(log2((double)row->banks / s->banks)) +
                      2 * fabs((double)row->ports - s->ports) + 2 * fabs(log(row->node / s->node));
    return exp(-1.2 * distance);
}

/* Sums of logarithms with weights. */
typedef struct log_mean {
    double sum[SX_N_SRAM_FIGURES], weight[SX_N_SRAM_FIGURES];
} log_mean;

/* Adds the ratio of a run to the rule, by its nearness to a memory. */
static void add_ratio(const sx_sram_shape *s, const sx_cacti_row *row, log_mean *mean) {
    const sx_sram_shape shape = {row->node, row->width, row->depth, row->banks, row->ports};
    sx_sram_figures rule;
    double near = shape_nearness(s, row);
    if (near < 1e-3) return;
    by_rule(&shape, &rule);
    for (int i = 0; i < SX_N_SRAM_FIGURES; i++) {
        if (!(row->value[i] > 0)) continue;
        mean->sum[i] += near * log(row->value[i] / rule.value[i]);
        mean->weight[i] += near;
    }
}

/* Multiplies the figures by the ratios to the rule that runs with several banks or ports have near by. Of curves that were
 * followed closely the powers of two count. */
static void correct_by_runs(const sx_sram_shape *s, sx_sram_figures *out) {
    const double prior = 0.2; /* weight of the rule as it is */
    const size_t close = 40;
    log_mean mean = {{0}, {prior, prior, prior, prior, prior}};
    size_t n;
    for (size_t r = 0; r < sx_n_cacti_rows; r += n) {
        const sx_cacti_row *row = &sx_cacti_rows[r];
        for (n = 1; r + n < sx_n_cacti_rows && compare_curves(row, row + n) == 0;) n++;
        bool other = (row->banks > 1) != (s->banks > 1);
        if (row->width < LEAST_WIDTH || other || row->banks * row->ports == 1) continue;
        for (size_t i = 0; i < n; i++)
            if (n < close || !(row[i].depth & (row[i].depth - 1))) add_ratio(s, &row[i], &mean);
    }
    for (int i = 0; i < SX_N_SRAM_FIGURES; i++) out->value[i] *= exp(mean.sum[i] / mean.weight[i]);
}

sx_cacti_fit sx_cacti_find(const sx_sram_shape *shape, sx_sram_figures *out) {
    const sx_cacti_row *row = find_row(shape);
    curve c = find_curve((uint32_t)shape->node, (uint32_t)shape->width, shape->banks, shape->ports);
    sx_sram_figures on_curve;
    if (c.n > 1 && shape->width == c.row[0].width && at_depth(c, shape->depth, &on_curve) == SX_CACTI_CURVE) {
        *out = on_curve;
        return SX_CACTI_CURVE;
    }
    sx_cacti_fit fit = by_rule(shape, out);
    if (shape->banks > 1 || shape->ports > 1) correct_by_runs(shape, out);
    if (!row) return fit;
    for (int i = 0; i < SX_N_SRAM_FIGURES; i++)
        if (row->value[i] > 0) out->value[i] = row->value[i];
    return SX_CACTI_CURVE;
}

/* The figures of the table's run at a power of two. */
static void at_power(uint32_t node, uint32_t width, double depth, sx_sram_figures *out) {
    curve c = find_curve(node, width, 1, 1);
    const sx_cacti_row *below = NULL, *above = NULL, *last = NULL;
    for (size_t i = 0; i < c.n; i++) {
        const sx_cacti_row *row = &c.row[i];
        if (row->depth & (row->depth - 1)) continue;
        if (row->depth <= depth || !below) {
            last = below;
            below = row;
        } else if (!above) {
            above = row;
        }
    }
    if (!above) {
        above = below;
        below = last;
    }
    double t = log(depth / below->depth) / log((double)above->depth / below->depth);
    for (int i = 0; i < SX_N_SRAM_FIGURES; i++)
        out->value[i] = between_logs(below->value[i], above->value[i], t);
}

void sx_cacti_smooth(double node, double width, double depth, sx_sram_figures *out) {
    sx_sram_figures a, b;
    uint32_t low = width_below(width);
    at_power((uint32_t)node, low, depth, &a);
    at_power((uint32_t)node, 2 * low, depth, &b);
    for (int i = 0; i < SX_N_SRAM_FIGURES; i++)
        out->value[i] = between_logs(a.value[i], b.value[i], log2(width / low));
}
