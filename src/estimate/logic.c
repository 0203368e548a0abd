/* Register files, arithmetic and wires.
 *
 * Accelergy takes them from Aladdin's table of 40 nm operators, for cycles of 1 and of 5 ns; `published` from Horowitz (ISSCC
 * 2014, 45 nm) with energies in proportion to node^0.57, as published operators fall from 45 to 7 nm. */
#include "estimate/component.h"

#include <math.h>

/* Aladdin's operators of 32 bits for a cycle of 1 ns and of 5 ns: pJ and um^2. */
typedef struct operators {
    double multiply, add, floating, multiplier_area, adder_area, floating_area;
    double multiplier_idle, adder_idle; /* pJ per cycle; below 0: not known */
} operators;
static const operators FAST = {12.68, 0.21, 52.0, 6350, 278, 5687, -1, 0.0024};
static const operators SLOW = {8.63, 0.0857, 32.328, 4600, 179, 4120, 0.24, 0.0119};

/* The share of a multiplication in a floating-point multiply-accumulate. */
static const double MULTIPLY_SHARE = 35.3 / 52.0;

/* Per bit: a register's energy, area and leakage (pJ per ns), and comparators of 32 bits, by version. */
static const double REGISTER = 0.009;
static const double REGISTER_AREA = 5.98;
static const double COMPARE_04 = 0.02947;
static const double COMPARE_03 = 0.029015;
static const double COMPARE_AREA = 70;
static const double MULTIPLEXER = 0.018 / 16;

double sx_logic_scale(double node) {
    static const double table[][2] = {{7, 0.094}, {10, 0.118}, {16, 0.174}, {22, 0.294}, {32, 0.65934},
                                      {45, 1},    {65, 1.24},  {90, 1.90},  {130, 3.2}};
    const int n = sizeof table / sizeof *table;
    if (node < 7) return table[0][1] * sqrt(node / 7);
    int i = 1;
    while (i < n - 1 && table[i][0] < node) i++;
    double t = log(node / table[i - 1][0]) / log(table[i][0] / table[i - 1][0]);
    return table[i - 1][1] * pow(table[i][1] / table[i - 1][1], t);
}

double sx_address_adder(const sx_component *c, double words) {
    double bits = words > 1 ? ceil(log2(words)) : 0;
    if (!c->neurosim) return 0.21 * bits / 32;
    double at_32 = 0.028 / 14, at_45 = 0.057 / 14;
    return bits * (at_32 + (at_45 - at_32) * (c->node - 32) / 13);
}

/* The ratio of energies to Aladdin's table, which is taken as it is from 40 to 45 nm. */
static double aladdin_scale(double node, sx_estimate *e) {
    if (node >= 40 && node <= 45) return 1;
    sx_estimate_say(e, "40 nm x %.3g (Stillmaker and Baas)", sx_logic_scale(node));
    if (node < 22) sx_estimate_widen(e, fmin(pow(22 / node, 0.6), 4));
    return sx_logic_scale(node);
}

/* Areas shrink with the square of the node down to 22 nm, below in proportion. */
static double area_scale(double node) {
    double square = fmax(node, 22) / 45;
    return square * square * fmin(node / 22, 1);
}

static void set_band(sx_estimate *e, double factor) {
    e->low = e->leak_low = 1 / factor;
    e->high = e->leak_high = factor;
}

/* Register files by Accelergy 0.3: a comparator of the address for every entry. */
static void regfile_03(const sx_component *c, sx_estimate *e) {
    double bits = c->depth > 1 ? ceil(log2(c->depth)) : 0, scale = aladdin_scale(c->node, e);
    double compared = c->depth * bits / 32;
    e->read = e->write = e->update = c->depth > 0 ? (REGISTER * c->width + COMPARE_03 * compared) * scale : 0;
    e->leak = c->depth > 0 ? (0.000385 * c->width + 0.00011 * compared) * c->cycle_seconds / 5e-9 * scale : 0;
    e->area = (REGISTER_AREA * c->width + COMPARE_AREA * compared) * area_scale(c->node);
    if (!c->generates) return;
    e->read += 0.0488;
    e->write += 0.0488;
    e->update += 0.0488;
    e->leak += SLOW.adder_idle * c->cycle_seconds / 5e-9;
    e->area += SLOW.adder_area;
    sx_estimate_say(e, "with an adder for addresses");
}

/* Register files by the components of Accelergy 0.4's exercises, or its plug-in's own class. */
static void regfile_04(const sx_component *c, sx_estimate *e) {
    double bits = c->depth > 1 ? ceil(log2(c->depth)) : 0;
    double cycles = c->cycle_seconds * 1e9;
    if (c->primitive) {
        double scale = aladdin_scale(c->node, e);
        e->read = e->write = e->update = (REGISTER * c->width + COMPARE_04 * c->depth * bits / 32) * scale;
        e->leak = (9.45e-6 * c->width + 2.5135e-5 * c->depth * bits / 32) * cycles * scale;
        e->area = (REGISTER_AREA * c->width + COMPARE_AREA * c->depth * bits / 32) * area_scale(c->node);
        return;
    }
    double width = fmax(32, c->width), depth = fmax(64, c->depth);
    double scale = sx_logic_scale(c->node), adder = c->generates ? sx_address_adder(c, c->depth) : 0;
    double part = c->width / width * pow(c->depth / depth, 0.78) * scale;
    e->read = (REGISTER * width + COMPARE_04 * depth) * part + adder;
    e->write = e->update = COMPARE_04 * depth * part + adder;
    e->leak = ((9.45e-6 * width + 2.5135e-5 * depth) * (c->width / width) * (c->depth / depth) * scale +
               (c->generates ? 0.0024 * bits / 32 : 0)) *
              cycles;
    e->area = 7.089 * width * depth * (c->width / width) * (c->depth / depth) * area_scale(c->node);
    if (width > c->width || depth > c->depth) sx_estimate_say(e, "scaled from %g x %g", depth, width);
    if (c->generates) sx_estimate_say(e, "with an adder of %g bits for addresses", bits);
}

/* Register files by their registers and a multiplexer for each bit of the address. */
static void regfile_published(const sx_component *c, sx_estimate *e) {
    double bits = c->depth > 1 ? ceil(log2(c->depth)) : 0, scale = pow(c->node / 45, 0.57);
    e->read = (REGISTER + MULTIPLEXER * bits) * c->width * scale;
    e->write = e->update = REGISTER * c->width * scale;
    e->leak = -1;
    e->area = REGISTER_AREA * c->width * c->depth * area_scale(c->node);
    sx_estimate_say(e, "registers and multiplexers, no comparators");
}

void sx_estimate_regfile(const sx_component *c, sx_estimator estimator, sx_estimate *e) {
    set_band(e, 3);
    if (estimator == SX_ESTIMATOR_ACCELERGY_03)
        regfile_03(c, e);
    else if (estimator == SX_ESTIMATOR_ACCELERGY_04)
        regfile_04(c, e);
    else
        regfile_published(c, e);
}

/* The bits of a component's operands. */
static double operand_bits(double stated, double width) {
    return stated > 0 ? stated : width > 0 ? width : 32;
}

/* Which operators a component has. */
static bool has_multiplier(const sx_component *c) {
    return c->kind == SX_COMPONENT_MAC || c->kind == SX_COMPONENT_MULTIPLIER;
}
static bool has_adder(const sx_component *c) {
    return c->kind == SX_COMPONENT_MAC || c->kind == SX_COMPONENT_ADDER;
}

/* Floating point by Aladdin: multiplications by the square of the mantissa, additions in proportion. */
static void floating_accelergy(const sx_component *c, const operators *t, double scale, sx_estimate *e) {
    double m = operand_bits(c->mantissa, 24) / 24;
    double multiply = MULTIPLY_SHARE * m * m, add = (1 - MULTIPLY_SHARE) * m;
    double both = (has_multiplier(c) ? multiply : 0) + (has_adder(c) ? add : 0);
    e->read = t->floating * both * scale;
    e->area = t->floating_area * both * area_scale(c->node);
    e->leak = -1;
}

static void arithmetic_accelergy(const sx_component *c, sx_estimator estimator, sx_estimate *e) {
    const bool slow = c->cycle_seconds >= 3e-9;
    const operators *t = slow ? &SLOW : &FAST;
    double m = operand_bits(c->multiplier_width, c->width) / 32,
           a = operand_bits(c->adder_width, c->width) / 32;
    double scale = aladdin_scale(c->node, e);
    if (estimator == SX_ESTIMATOR_ACCELERGY_03 && !c->floating) a = m = operand_bits(0, c->width) / 32;
    sx_estimate_say(e, "operators for cycles of %d ns", slow ? 5 : 1);
    if (c->floating) {
        floating_accelergy(c, t, scale, e);
        return;
    }
    e->read = ((has_multiplier(c) ? t->multiply * m * m : 0) + (has_adder(c) ? t->add * a : 0)) * scale;
    e->area =
        ((has_multiplier(c) ? t->multiplier_area * m * m : 0) + (has_adder(c) ? t->adder_area * a : 0)) *
        (c->node >= 40 && c->node <= 45 ? 1 : area_scale(c->node));
    double cycles = c->cycle_seconds / (slow ? 5e-9 : 1e-9);
    e->leak = has_multiplier(c) && t->multiplier_idle < 0
                  ? -1
                  : ((has_multiplier(c) ? t->multiplier_idle * m * m : 0) +
                     (has_adder(c) ? t->adder_idle * a : 0)) *
                        scale * cycles;
}

/* Powers through the figures of two widths: 8 and 32 bits, mantissas of 11 and 24. */
static void arithmetic_published(const sx_component *c, sx_estimate *e) {
    double m = operand_bits(c->multiplier_width, c->width), a = operand_bits(c->adder_width, c->width);
    double f = operand_bits(c->mantissa, 11) / 11, scale = pow(c->node / 45, 0.57),
           area = area_scale(c->node);
    double multiply = c->floating ? 1.1 * pow(f, 1.555) : 0.2 * pow(m / 8, 1.98);
    double add = c->floating ? 0.4 * pow(f, 1.04) : 0.03 * pow(a / 8, 0.868);
    double multiplier_area = c->floating ? 1640 * pow(f, 1.982) : 282 * pow(m / 8, 1.816);
    double adder_area = c->floating ? 1360 * pow(f, 1.44) : 137 * a / 32;
    e->read = ((has_multiplier(c) ? multiply : 0) + (has_adder(c) ? add : 0)) * scale;
    e->area = ((has_multiplier(c) ? multiplier_area : 0) + (has_adder(c) ? adder_area : 0)) * area;
    e->leak = -1;
    if (c->node != 45) sx_estimate_say(e, "45 nm x (%g/45)^0.57", c->node);
    if (c->node < 22) sx_estimate_widen(e, 1.5);
}

/* A millimetre of wire, and a hop through a router: a register in and out, and a multiplexer of five ports. */
static void wire_or_router(const sx_component *c, sx_estimator estimator, sx_estimate *e) {
    bool published = estimator == SX_ESTIMATOR_PUBLISHED;
    double capacitance = 0.44 * pow(c->node / 180, log(0.44 / 0.247) / log(180 / 13.0));
    double at_45 = 0.44 * pow(45 / 180.0, log(0.44 / 0.247) / log(180 / 13.0));
    double wire = published ? 0.5 * 0.2 * 0.7 * 0.7 : 0.325 * capacitance / at_45;
    double router = (2 * REGISTER + 3 * MULTIPLEXER) * sx_logic_scale(c->node);
    bool hop = c->kind == SX_COMPONENT_ROUTER;
    e->read = e->write = e->update = (hop ? router : wire) * c->width;
    e->leak = -1;
    e->area = hop ? 2 * REGISTER_AREA * c->width * area_scale(c->node) : 0;
    sx_estimate_say(e, hop         ? "a register in and out, a multiplexer of five ports; no arbiter"
                       : published ? "per mm: 0.2 pF at 0.7 V, half of the bits change"
                                   : "per mm: 0.325 pJ a bit at 45 nm, in proportion to capacitance");
    set_band(e, hop ? 5 : 2);
}

void sx_estimate_logic(const sx_component *c, sx_estimator estimator, sx_estimate *e) {
    set_band(e, 3);
    if (c->kind == SX_COMPONENT_WIRE || c->kind == SX_COMPONENT_ROUTER) {
        wire_or_router(c, estimator, e);
        return;
    }
    if (c->kind == SX_COMPONENT_REGISTER) {
        e->read = e->write = e->update = REGISTER * c->width * aladdin_scale(c->node, e);
        e->area = REGISTER_AREA * c->width * area_scale(c->node);
        e->leak = 9.45e-6 * c->width * c->cycle_seconds * 1e9;
        return;
    }
    if (estimator == SX_ESTIMATOR_PUBLISHED)
        arithmetic_published(c, e);
    else
        arithmetic_accelergy(c, estimator, e);
    e->write = e->update = e->read;
}
