#include "support/cost_compare.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* A field of a struct: a double, or else an unsigned 64-bit count. */
typedef struct field {
    const char *name;
    size_t offset;
    bool is_double;
} field;

#define COUNT(type, name)                                                                                    \
    { #name, offsetof(type, name), false }
#define NUMBER(type, name)                                                                                   \
    { #name, offsetof(type, name), true }
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static const field cost_fields[] = {
    COUNT(sx_cost, computes),
    COUNT(sx_cost, compute_instances),
    COUNT(sx_cost, compute_cycles),
    NUMBER(sx_cost, compute_energy_pj),
};

static const field total_fields[] = {
    COUNT(sx_cost, cycles),       NUMBER(sx_cost, energy_pj),           NUMBER(sx_cost, edp),
    NUMBER(sx_cost, utilization), NUMBER(sx_cost, last_level_accesses),
};

static const field level_fields[] = {
    COUNT(sx_cost_level, instances), COUNT(sx_cost_level, clusters),    COUNT(sx_cost_level, cycles),
    NUMBER(sx_cost_level, slowdown), NUMBER(sx_cost_level, leakage_pj), NUMBER(sx_cost_level, energy_pj),
};

static const field tensor_fields[] = {
    COUNT(sx_cost_tensor, tile),
    COUNT(sx_cost_tensor, partition),
    COUNT(sx_cost_tensor, reads),
    COUNT(sx_cost_tensor, fills),
    COUNT(sx_cost_tensor, updates),
    COUNT(sx_cost_tensor, temporal_reductions),
    NUMBER(sx_cost_tensor, address_generations),
    NUMBER(sx_cost_tensor, energy_pj),
};

static const field net_fields[] = {
    COUNT(sx_cost_net_tensor, fanout),
    COUNT(sx_cost_net_tensor, multicast),
    NUMBER(sx_cost_net_tensor, ingresses),
    NUMBER(sx_cost_net_tensor, link_transfers),
    NUMBER(sx_cost_net_tensor, spatial_reductions),
    NUMBER(sx_cost_net_tensor, hops),
    NUMBER(sx_cost_net_tensor, energy_pj),
    NUMBER(sx_cost_net_tensor, link_energy_pj),
};

static const field network_fields[] = {NUMBER(sx_cost_network, energy_pj)};

bool sx_numbers_differ(double a, double b, double tolerance) {
    if (a == b) return false;
    return !(fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b)));
}

/* Compares some fields of two structs; describes the first difference under a heading. */
static bool fields_differ(const field *f, size_t n, const void *a, const void *b, double tolerance,
                          const char *where, char *text, size_t size) {
    for (size_t i = 0; i < n; i++) {
        const void *x = (const char *)a + f[i].offset, *y = (const char *)b + f[i].offset;
        if (f[i].is_double) {
            double p = *(const double *)x, q = *(const double *)y;
            if (!sx_numbers_differ(p, q, tolerance)) continue;
            snprintf(text, size, "%s%s: %.17g and %.17g", where, f[i].name, p, q);
        } else {
            unsigned long long p = *(const uint64_t *)x, q = *(const uint64_t *)y;
            if (p == q) continue;
            snprintf(text, size, "%s%s: %llu and %llu", where, f[i].name, p, q);
        }
        return true;
    }
    return false;
}

static bool levels_differ(const sx_cost *a, const sx_cost *b, int s, double tolerance, char *text,
                          size_t size) {
    char where[64];
    const sx_cost_level *p = &a->level[s], *q = &b->level[s];
    const sx_cost_network *x = &a->network[s], *y = &b->network[s];
    for (int v = 0; v < a->n_tensors; v++) {
        snprintf(where, sizeof where, "level %d, tensor %d: ", s, v);
        if (p->tensor[v].kept != q->tensor[v].kept) {
            snprintf(text, size, "%skept: %d and %d", where, p->tensor[v].kept, q->tensor[v].kept);
            return true;
        }
        if (fields_differ(tensor_fields, LENGTH(tensor_fields), &p->tensor[v], &q->tensor[v], tolerance,
                          where, text, size))
            return true;
        snprintf(where, sizeof where, "network %d, tensor %d: ", s, v);
        if (fields_differ(net_fields, LENGTH(net_fields), &x->tensor[v], &y->tensor[v], tolerance, where,
                          text, size))
            return true;
    }
    snprintf(where, sizeof where, "level %d: ", s);
    if (fields_differ(level_fields, LENGTH(level_fields), p, q, tolerance, where, text, size)) return true;
    snprintf(where, sizeof where, "network %d: ", s);
    return fields_differ(network_fields, LENGTH(network_fields), x, y, tolerance, where, text, size);
}

bool sx_costs_differ(const sx_cost *a, const sx_cost *b, double tolerance, char *text, size_t size) {
    if (a->n_levels != b->n_levels || a->n_tensors != b->n_tensors || a->perfect != b->perfect) {
        snprintf(text, size, "levels, tensors, perfect: %d, %d, %d and %d, %d, %d", a->n_levels, a->n_tensors,
                 a->perfect, b->n_levels, b->n_tensors, b->perfect);
        return true;
    }
    if (fields_differ(cost_fields, LENGTH(cost_fields), a, b, tolerance, "", text, size)) return true;
    for (int s = 0; s < a->n_levels; s++)
        if (levels_differ(a, b, s, tolerance, text, size)) return true;
    return fields_differ(total_fields, LENGTH(total_fields), a, b, tolerance, "", text, size);
}

bool sx_verdicts_differ(const sx_verdict *a, const sx_verdict *b, char *text, size_t size) {
    if (a->reason == b->reason && a->level == b->level && a->tensor == b->tensor && a->dim == b->dim &&
        !sx_numbers_differ(a->have, b->have, 1e-12) && !sx_numbers_differ(a->limit, b->limit, 1e-12))
        return false;
    snprintf(text, size,
             "verdict: %s (level %d, tensor %d, dim %d, have %g, limit %g) and %s (level %d, tensor %d, dim "
             "%d, have %g, "
             "limit %g)",
             sx_reason_name(a->reason), a->level, a->tensor, a->dim, a->have, a->limit,
             sx_reason_name(b->reason), b->level, b->tensor, b->dim, b->have, b->limit);
    return true;
}
