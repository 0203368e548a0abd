/* Which rules count for a component, and what is common to all. */
#include "estimate/component.h"
#include "ir/arch.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

static const char *const estimator_names[] = {"preset", "timeloop", "accelergy-0.4", "accelergy-0.3",
                                              "published"};

const char *sx_estimator_name(sx_estimator estimator) {
    return estimator_names[estimator];
}

sx_status sx_estimator_find(const char *name, sx_estimator *out) {
    for (size_t i = 1; i < N(estimator_names); i++) {
        if (strcmp(name, estimator_names[i]) != 0) continue;
        *out = (sx_estimator)i;
        return SX_OK;
    }
    return sx_error_hint(sx_error_new(SX_ERR_USAGE, "--estimator: '%s' is not a valid value", name),
                         "accelergy-0.4, accelergy-0.3, published or timeloop");
}

const char *sx_component_kind_name(sx_component_kind kind) {
    static const char *const names[] = {"SRAM",  "regfile",  "DRAM", "mac",   "multiplier",
                                        "adder", "register", "wire", "router"};
    return names[kind];
}

/* Whether the memories of a class generate their addresses, by an estimator's rules. */
static bool generates_addresses(const char *class, sx_estimator estimator) {
    if (estimator == SX_ESTIMATOR_ACCELERGY_03) return strstr(class, "smartbuffer_");
    return strstr(class, "smartbuffer") || strcmp(class, "storage") == 0;
}

/* Whether actions of a class cost nothing: those of Accelergy's dummy classes, and CiMLoop's free_mac. */
static bool costs_nothing(const char *class) {
    return strstr(class, "dummy") || strncmp(class, "free_", 5) == 0;
}

bool sx_component_is_generic(const char *class) {
    return strcmp(class, "storage") == 0 || strcmp(class, "compute") == 0 || costs_nothing(class);
}

const char *const *sx_component_classes(size_t *n) {
    static const char *const names[] = {"DRAM",
                                        "SRAM",
                                        "regfile",
                                        "reg_storage",
                                        "smartbuffer",
                                        "smartbuffer_SRAM",
                                        "smartbuffer_RF",
                                        "storage",
                                        "compute",
                                        "intmac",
                                        "fpmac",
                                        "multiplier",
                                        "intmultiplier",
                                        "fpmultiplier",
                                        "adder",
                                        "intadder",
                                        "fpadder",
                                        "register",
                                        "aladdin_register",
                                        "router",
                                        "wire",
                                        "XY_NoC",
                                        "Legacy",
                                        "ReductionTree",
                                        "SimpleMulticast",
                                        "nothing",
                                        "vector",
                                        "dummy_storage",
                                        "dummy_compute",
                                        "cache"};
    *n = N(names);
    return names;
}

bool sx_component_classify(const char *class, sx_estimator estimator, sx_component *out) {
    static const struct {
        const char *part;
        sx_component_kind kind;
    } parts[] = {
        {"DRAM", SX_COMPONENT_DRAM},
        {"SRAM", SX_COMPONENT_SRAM},
        {"dram", SX_COMPONENT_SRAM},
        {"sram", SX_COMPONENT_SRAM},
        {"cache", SX_COMPONENT_SRAM},
        {"regfile", SX_COMPONENT_REGFILE},
        {"_RF", SX_COMPONENT_REGFILE},
        {"reg_storage", SX_COMPONENT_REGFILE},
        {"smartbuffer", SX_COMPONENT_SRAM},
        {"storage", SX_COMPONENT_SRAM},
        {"mac", SX_COMPONENT_MAC},
        {"compute", SX_COMPONENT_MAC},
        {"multiplier", SX_COMPONENT_MULTIPLIER},
        {"adder", SX_COMPONENT_ADDER},
        {"register", SX_COMPONENT_REGISTER},
        {"NoC", SX_COMPONENT_ROUTER},
        {"router", SX_COMPONENT_ROUTER},
        {"wire", SX_COMPONENT_WIRE},
    };
    for (size_t i = 0; i < N(parts); i++) {
        if (!strstr(class, parts[i].part)) continue;
        out->kind = parts[i].kind;
        out->generates = generates_addresses(class, estimator);
        out->primitive = strcmp(class, "regfile") == 0 || strcmp(class, "SRAM") == 0;
        out->dummy = costs_nothing(class);
        out->floating = strncmp(class, "fp", 2) == 0 || out->exponent > 0;
        return true;
    }
    return false;
}

void sx_estimate_say(sx_estimate *e, const char *format, ...) {
    size_t used = strlen(e->rule);
    va_list args;
    if (used && used + 2 < sizeof e->rule) used += (size_t)sprintf(e->rule + used, "; ");
    va_start(args, format);
    vsnprintf(e->rule + used, sizeof e->rule - used, format, args);
    va_end(args);
}

void sx_estimate_widen(sx_estimate *e, double factor) {
    e->low /= factor;
    e->high *= factor;
}

double sx_round_figure(double value) {
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

/* Timeloop's formulas, which know neither node nor kind. */
static void estimate_timeloop(const sx_component *c, sx_estimate *e) {
    bool dram = c->kind == SX_COMPONENT_DRAM;
    bool memory =
        c->kind == SX_COMPONENT_SRAM || c->kind == SX_COMPONENT_REGFILE || c->kind == SX_COMPONENT_REGISTER;
    e->source = "Timeloop's default technology";
    if (memory)
        e->read = c->depth > 0 ? sx_pat_sram(c->width * c->depth / 8192, c->width) : 0;
    else
        e->read = dram ? sx_pat_dram(c->width) : c->kind == SX_COMPONENT_MAC ? sx_pat_mac(c->width) : 0;
    e->write = e->update = e->read;
    e->leak = -1;
    e->unpriced = !memory && !dram && c->kind != SX_COMPONENT_MAC;
    if (e->unpriced) {
        sx_estimate_say(e, "it has no formula of a component of this kind");
        return;
    }
    e->low = memory ? 0.05 : 0.3;
    e->high = memory ? 1.7 : dram ? 6 : 9;
    sx_estimate_say(e, "no node, no kind");
}

/* What a component lacks is as the rules presume. */
static sx_component complete_component(const sx_component *component, sx_estimator estimator,
                                       sx_estimate *e) {
    sx_component c = *component;
    if (!(c.node > 0) && c.kind != SX_COMPONENT_DRAM) sx_estimate_say(e, "no node is stated: 45 nm");
    if (!(c.node > 0)) c.node = 45;
    bool slow = estimator == SX_ESTIMATOR_ACCELERGY_03 && c.kind != SX_COMPONENT_SRAM;
    if (!(c.cycle_seconds > 0)) c.cycle_seconds = slow ? 5e-9 : 1e-9;
    return c;
}

/* Estimates by all rules but Timeloop's. */
static void estimate_by_rules(const sx_component *c, sx_estimator estimator, sx_estimate *e) {
    bool published = estimator == SX_ESTIMATOR_PUBLISHED;
    switch (c->kind) {
    case SX_COMPONENT_SRAM:
        e->source = "CACTI 7, itrs-lstp cells, 300 K";
        if (c->width > 0 && c->depth > 0)
            (published                                ? sx_estimate_sram_published
             : estimator == SX_ESTIMATOR_ACCELERGY_03 ? sx_estimate_sram_03
                                                      : sx_estimate_sram_04)(c, e);
        return;
    case SX_COMPONENT_REGFILE:
        e->source = "Aladdin, 40 nm";
        sx_estimate_regfile(c, estimator, e);
        return;
    case SX_COMPONENT_DRAM:
        e->source = published ? "hwcomponents and Accelergy, by bit" : "Accelergy, by bit";
        sx_estimate_dram(c, estimator, e);
        return;
    default:
        e->source = published ? "Horowitz, ISSCC 2014, 45 nm" : "Aladdin, 40 nm";
        sx_estimate_logic(c, estimator, e);
        return;
    }
}

void sx_estimate_component(const sx_component *component, sx_estimator estimator, sx_estimate *out) {
    sx_estimate e = {.low = 1, .high = 1, .leak_low = 1, .leak_high = 1, .source = ""};
    if (estimator == SX_ESTIMATOR_PRESET)
        estimator = component->node > 0 ? SX_ESTIMATOR_ACCELERGY_04 : SX_ESTIMATOR_TIMELOOP;
    if (component->dummy || component->unknown) {
        e.source = component->dummy ? "its class costs nothing" : "unpriced";
        e.unpriced = !component->dummy;
        if (e.unpriced) e.leak = -1;
        if (e.unpriced) sx_estimate_say(&e, "no rule knows its class or size");
    } else if (estimator == SX_ESTIMATOR_TIMELOOP) {
        estimate_timeloop(component, &e);
    } else {
        sx_component c = complete_component(component, estimator, &e);
        estimate_by_rules(&c, estimator, &e);
        double *const figure[] = {&e.read, &e.write, &e.update, &e.leak, &e.area, &e.access};
        for (size_t i = 0; i < N(figure); i++) *figure[i] = sx_round_figure(*figure[i]);
    }
    *out = e;
}
