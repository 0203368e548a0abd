/* Any mapping, sound or not, is evaluated or refused. The first two bytes choose a problem and an
 * architecture; every four bytes that follow change the plainest mapping in one place: level, field,
 * dimension, value. */
#include "fuzz/fuzz.h"

static const char *const problems[] = {
    "O[m,n] += A[m,k]*B[k,n] {m:12,n:9,k:8}",
    "O[k,p] += I[c,p+r]*W[k,c,r] {k:6,c:4,p:10,r:3}",
    "O[p,q] += I[2*p+r,3*q+2*s]*W[r,s] {p:5,q:4,r:3,s:2}",
    "O[i,j] += B[i,k,l]*C[k,j]*D[l,j] {i:4,j:6,k:5,l:7}",
    "O[x] += I[x+y+z]*J[x+2*x] {x:7,y:4,z:3}",
    "O[m,n] += A[m,k]*B[k,n] {m:1000003,n:65536,k:46341}",
};
enum { N_PROBLEMS = sizeof problems / sizeof problems[0] };

/* How many architectures the catalog has. */
static size_t n_archs(void) {
    size_t n = 0;
    while (sx_catalog_arch_name(n, NULL)) n++;
    return n;
}

static void exchange(uint8_t *order, unsigned a, unsigned b) {
    uint8_t kept = order[a];
    order[a] = order[b];
    order[b] = kept;
}

/* Makes one change to a mapping. */
static void change(sx_mapping *mapping, const uint8_t *edit) {
    sx_mapping_level *level = &mapping->level[edit[0] % mapping->n_levels];
    unsigned dim = edit[2] % mapping->n_dims;
    uint8_t value = edit[3];
    switch (edit[1] % 13) {
    case 0:
        level->temporal[dim] = value;
        break;
    case 1:
        level->spatial[dim] = value;
        break;
    case 2:
        level->temporal[dim] *= value;
        break;
    case 3:
        exchange(level->temporal_order, dim, value % mapping->n_dims);
        break;
    case 4:
        exchange(level->spatial_order, dim, value % mapping->n_dims);
        break;
    case 5:
        level->split = (uint8_t)(value % (mapping->n_dims + 1u));
        break;
    case 6:
        level->keep = (uint8_t)(value % (1u << mapping->n_tensors));
        break;
    case 7:
        level->no_temporal_reuse = value;
        break;
    case 8:
        level->no_multicast = value;
        break;
    case 9:
        level->no_link_transfer = value;
        break;
    case 10:
        level->rmw_first_update = value;
        break;
    case 11:
        level->no_coalesce = value;
        break;
    default:
        level->temporal_order[dim] = value;
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static sx_problem problem;
    static sx_arch arch;
    static sx_mapping mapping;
    if (size < 2) return 0;
    promise(succeeded(sx_einsum_parse(problems[data[0] % N_PROBLEMS], &problem)));
    promise(succeeded(sx_catalog_arch(sx_catalog_arch_name(data[1] % n_archs(), NULL), &arch)));
    sx_mapping_init(&mapping, &problem, &arch);
    for (size_t i = 2; i + 4 <= size; i += 4) change(&mapping, data + i);
    check_cost(&mapping, &problem, &arch);
    return 0;
}
