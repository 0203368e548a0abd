#include "support/random_systolic.h"

#include "support/expect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Einsums without sizes, and which of their dimensions are windows. */
static const struct {
    const char *einsum, *dims, *windows;
} shapes[] = {
    {"C[i,j] += A[i,k]*B[j,k]", "ijk", ""},
    {"C[j,i] += A[k,i]*B[k,j]", "ijk", ""},
    {"C[b,i,j] += A[b,i,k]*B[b,k,j]", "bijk", ""},
    {"C[i] += A[i,k]*B[k]", "ik", ""},
    {"C[i,j] += A[i,k,l]*B[k,l,j]", "ijkl", ""},
    {"C[i,j] += A[i]*B[j]", "ij", ""},
    {"C[i,j] += A[i,j]*B[i,j]", "ij", ""},
    {"C[i,j] += A[3*i,k]*B[j,k]", "ijk", ""},
    {"O[k,p,q] += I[c,p+r,q+s]*W[k,c,r,s]", "kpqcrs", "rs"},
    {"O[n,k,p,q] += I[n,c,2*p+r,3*q+2*s]*W[k,c,r,s]", "nkpqcrs", "rs"},
    {"O[n,c,p,q] += I[n,c,p+r,q+s]*W[c,r,s]", "ncpqrs", "rs"},
    {"O[n,g,k,p] += I[n,g,c,2*p+r]*W[g,k,c,r]", "ngkpcr", "r"},
    {"O[k,d,p,q] += I[c,d+t,p+r,q+2*s]*W[k,c,t,r,s]", "kdpqctrs", "trs"},
    {"O[p,q] += I[p+r,q+s]*W[p,q,r,s]", "pqrs", "rs"},
    {"O[p] += I[p+r]*W[r]", "pr", "r"},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

void sx_random_kernel(sx_rng *rng, uint32_t most, sx_systolic_kernel *out) {
    size_t shape = sx_rng_below(rng, N_SHAPES + 2);
    uint32_t size[6];
    for (int i = 0; i < 6; i++) size[i] = 1 + (uint32_t)sx_rng_below(rng, i < 4 ? most : 4);
    if (shape == N_SHAPES) {
        sx_expect_ok(sx_systolic_matrix(size[0], size[1], size[2], out));
        return;
    }
    if (shape > N_SHAPES) {
        sx_expect_ok(sx_systolic_convolution(size[0], size[1], size[2], size[3], size[4], size[5], out));
        return;
    }
    char text[400];
    sx_problem problem;
    int used = snprintf(text, sizeof text, "%s {", shapes[shape].einsum);
    double work = 1;
    for (const char *dim = shapes[shape].dims; *dim; dim++) {
        bool few = strchr(shapes[shape].windows, *dim) || work * most > 0x1p44;
        uint32_t own = 1 + (uint32_t)sx_rng_below(rng, few ? 4 : most);
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%c:%u",
                         dim == shapes[shape].dims ? "" : ",", *dim, own);
        work *= own;
    }
    snprintf(text + used, sizeof text - (size_t)used, "}");
    sx_expect_ok(sx_einsum_parse(text, &problem));
    sx_expect_ok(sx_systolic_kernel_of(&problem, out));
}

void sx_random_device(sx_rng *rng, sx_device *out) {
    static const double dsp_per_mac[] = {0.5, 1, 3, 5, 0.1, 0.7, 1.4, 0.3};
    sx_device device = {.name = "random", .n_elements = 1};
    sx_element *element = &device.element[0];
    strcpy(element->name, "word");
    element->bits = 8u << sx_rng_below(rng, 4);
    element->dsp_per_mac = dsp_per_mac[sx_rng_below(rng, 8)];
    element->add_latency = 1 + (uint32_t)sx_rng_below(rng, 12);
    device.port_bits = 64u << sx_rng_below(rng, 5);
    device.dsp = (double)(10 + sx_rng_below(rng, 12000));
    device.bram18k = (double)(10 + sx_rng_below(rng, 5000));
    device.share = sx_rng_below(rng, 2) ? 1 : 0.7;
    device.mhz = 300;
    device.row_cycles = (double)sx_rng_below(rng, 40);
    *out = device;
}

void sx_random_tiles(sx_rng *rng, const sx_systolic_kernel *kernel, sx_systolic_point *out) {
    sx_systolic_point point = {.design = (uint32_t)sx_rng_below(rng, sx_systolic_n_designs(kernel))};
    for (int d = 0; d < kernel->n_loops; d++) {
        uint32_t size = kernel->loop[d].size;
        bool power = d == kernel->simd || sx_rng_below(rng, 3) > 0;
        uint32_t inner = power ? 1u << sx_rng_below(rng, 6) : 1 + (uint32_t)sx_rng_below(rng, size);
        uint32_t parts = 1 + (uint32_t)sx_rng_below(rng, sx_rng_below(rng, 2) ? 4 : size / inner + 2);
        point.t1[d] = parts * inner;
        point.t2[d] = inner;
    }
    *out = point;
}

void sx_systolic_point_text(const sx_systolic_kernel *kernel, const sx_systolic_point *point, char *text,
                            size_t size) {
    sx_systolic_design design;
    char name[16];
    sx_systolic_design_at(kernel, point->design, &design);
    sx_systolic_design_name(&design, name, sizeof name);
    size_t used = (size_t)snprintf(text, size, "%s%s, design %s:", kernel->name,
                                   kernel->sliding ? " (sliding)" : "", name);
    for (int d = 0; d < kernel->n_loops && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, " %s(%x) %u/%u/%u", kernel->loop[d].name,
                                 kernel->loop[d].operands, kernel->loop[d].size, point->t1[d], point->t2[d]);
}
