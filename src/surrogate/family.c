/* Families of problems. A file says
 *
 *     family:
 *       name: conv2d
 *       einsum: Outputs[N,K,Q,P] += Weights[C,K,R,S] * Inputs[N,C,R+P,S+Q]
 *       ranges: {R: [1, 3, 5, 7], S: R, P: 7..223, Q: P, C: [3, 32..480/32], K: 32..480/32, N: [1, 2, 4]}
 *
 * where a size is a number, a range with or without a step, or the name of the dimension that has the same
 * size. */
#include "surrogate/family.h"

#include "base/text.h"
#include "frontend/einsum.h"
#include "frontend/section_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A family that is being read. */
typedef struct reading {
    sx_family *family;
    const sx_node *ranges;
    int dim;
} reading;

static const struct {
    const char *name, *about, *text;
} families[] = {
    /* Mind Mappings, section 5.5, and the ranges of its released code. */
    {"conv2d", "convolutions of stride 1, Mind Mappings' ranges",
     "family:\n"
     "  einsum: Outputs[N,K,Q,P] += Weights[C,K,R,S] * Inputs[N,C,R+P,S+Q]\n"
     "  ranges: {R: [1, 3, 5, 7], S: R, P: 7..223, Q: P, C: [3, 32..480/32], K: 32..480/32,\n"
     "           N: [1, 2, 4, 8, 16]}\n"},
    {"gemm", "matrix products of 32 to 4096",
     "family:\n"
     "  einsum: Outputs[M,N] += Weights[M,K] * Inputs[K,N]\n"
     "  ranges: {M: 32..4096/32, N: 32..4096/32, K: 32..4096/32}\n"},
    {"mttkrp", "tensors times Khatri-Rao products, Mind Mappings' ranges",
     "family:\n"
     "  einsum: A[I,J] += B[I,K,L] * C[J,K] * D[J,L]\n"
     "  ranges: {I: 128..3968/128, J: 128..3968/128, K: 128..3968/128, L: 128..3968/128}\n"},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

const char *sx_family_name(size_t index, const char **about) {
    if (index >= N_FAMILIES) return NULL;
    if (about) *about = families[index].about;
    return families[index].name;
}

/* The error for a size that cannot be read. */
static sx_status bad_size(sx_place place, const char *dim, const char *text) {
    return sx_error_hint(sx_error_at(place, "%s: '%s' is not a size", dim, text),
                         "sizes are numbers, ranges such as 7..223 or 32..480/32, or the name of an earlier "
                         "dimension");
}

/* Reads "low..high/step", "low..high" or a number. */
static bool read_range(const char *text, uint64_t *low, uint64_t *high, uint64_t *step) {
    char copy[SX_NAME_SIZE];
    if (strlen(text) >= sizeof copy) return false;
    strcpy(copy, text);
    char *dots = strstr(copy, ".."), *slash = strchr(copy, '/');
    *step = 1;
    if (slash) {
        if (!dots || slash < dots || !sx_text_u64(slash + 1, step)) return false;
        *slash = 0;
    }
    if (dots) *dots = 0;
    if (!sx_text_u64(copy, low)) return false;
    *high = *low;
    return !dots || sx_text_u64(dots + 2, high);
}

/* Takes one size, or range of sizes, of a dimension. */
static sx_status add_part(void *user, const char *text, sx_place place) {
    reading *r = user;
    sx_family_dim *dim = &r->family->dim[r->dim];
    const char *name = r->ranges->pair[r->dim].key;
    uint64_t low, high, step;
    for (int d = 0; d < r->dim; d++)
        if (strcmp(r->ranges->pair[d].key, text) == 0 && r->family->dim[d].same_as < 0) {
            if (dim->n_parts || dim->same_as >= 0)
                return sx_error_at(place, "%s has either sizes of its own or those of %s", name, text);
            dim->same_as = d;
            return SX_OK;
        }
    if (dim->same_as >= 0) return sx_error_at(place, "%s already has the size of another dimension", name);
    if (!read_range(text, &low, &high, &step)) return bad_size(place, name, text);
    if (low < 1 || high > SX_MAX_DIM_SIZE || step < 1 || step > SX_MAX_DIM_SIZE)
        return sx_error_at(place, "%s: sizes are from 1 to %u, and steps at least 1", name, SX_MAX_DIM_SIZE);
    if (low > high)
        return sx_error_hint(sx_error_at(place, "%s: no size is in the range %s", name, text),
                             "the smaller size comes first");
    if (dim->n_parts == SX_FAMILY_PARTS)
        return sx_error_at(place, "%s has more than %d ranges", name, SX_FAMILY_PARTS);
    dim->part[dim->n_parts++] = (sx_size_range){(uint32_t)low, (uint32_t)high, (uint32_t)step};
    dim->n_sizes += (high - low) / step + 1;
    return SX_OK;
}

/* The largest size of a dimension. */
static uint32_t largest_size(const sx_family *family, int d) {
    const sx_family_dim *dim = &family->dim[family->dim[d].same_as >= 0 ? family->dim[d].same_as : d];
    uint32_t most = 0;
    for (size_t i = 0; i < dim->n_parts; i++) {
        const sx_size_range *part = &dim->part[i];
        uint32_t last = part->high - (part->high - part->low) % part->step;
        if (last > most) most = last;
    }
    return most;
}

/* Reads the sizes of all dimensions. */
static sx_status read_ranges(reading *r) {
    if (r->ranges->n > SX_MAX_DIMS)
        return sx_error_at(r->ranges->place, "more than %d dimensions", SX_MAX_DIMS);
    for (r->dim = 0; r->dim < (int)r->ranges->n; r->dim++) {
        const sx_pair *pair = &r->ranges->pair[r->dim];
        sx_family_dim *dim = &r->family->dim[r->dim];
        dim->same_as = -1;
        SX_TRY(sx_node_names(pair->value, "sizes", add_part, r));
        if (!dim->n_parts && dim->same_as < 0)
            return sx_error_hint(sx_error_at(pair->place, "%s has no sizes", pair->key),
                                 "a dimension needs at least one size");
    }
    return SX_OK;
}

/* Makes the einsum with every dimension of its largest size. */
static sx_status make_problem(const reading *r, const char *einsum, sx_place place) {
    sx_text text = {0};
    char *whole;
    sx_text_add(&text, "%s {", einsum);
    for (int d = 0; d < (int)r->ranges->n; d++)
        sx_text_add(&text, "%s%s:%u", d ? "," : "", r->ranges->pair[d].key, largest_size(r->family, d));
    sx_text_add(&text, "}");
    SX_TRY(sx_text_take(&text, &whole));
    sx_status status = sx_einsum_parse_at(whole, place, NULL, &r->family->problem);
    free(whole);
    SX_TRY(status);
    memcpy(r->family->problem.name, r->family->name, SX_NAME_SIZE);
    return sx_error_place(sx_problem_check(&r->family->problem), place);
}

static const sx_key_rule family_rules[] = {
    SX_KEY("name", "text!", "its name"),
    SX_KEY("einsum", "text!", "the problem without sizes"),
    SX_KEY("ranges", "{any}!", "the sizes of each dimension"),
};
const sx_keys sx_keys_family = SX_KEYS("family", false, family_rules);

/* Reads the section of a family. */
static sx_status read_family(const sx_node *map, void *out) {
    sx_family *family = out;
    const sx_node *einsum, *ranges;
    const char *text;
    SX_TRY(sx_node_check_keys(NULL, map, "the family", &sx_keys_family));
    SX_TRY(sx_node_get_name(map, "name", family->name));
    SX_TRY(sx_node_require(map, "einsum", "the family", &einsum));
    SX_TRY(sx_node_require(map, "ranges", "the family", &ranges));
    SX_TRY(sx_node_expect(ranges, SX_NODE_MAP, "'ranges'"));
    SX_TRY(sx_node_text(einsum, "einsum", &text));
    reading r = {.family = family, .ranges = ranges};
    SX_TRY(read_ranges(&r));
    return make_problem(&r, text, einsum->place);
}

static const sx_section_file section = {
    "family",
    "a family has an einsum and ranges; docs/learning.md shows one",
    read_family,
};

/* The name of a file without its folder and ending. */
static void name_of(const char *path, char out[SX_NAME_SIZE]) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    if (length >= SX_NAME_SIZE) length = SX_NAME_SIZE - 1;
    memset(out, 0, SX_NAME_SIZE);
    memcpy(out, base, length);
}

/* Reads a family from a text, or from a file where that is NULL. */
static sx_status read_named(const char *name, const char *text, size_t size, sx_family *out) {
    sx_family *family = calloc(1, sizeof *family);
    if (!family) return sx_error_memory();
    name_of(name, family->name);
    sx_status status = text ? sx_section_file_parse(&section, name, text, size, family)
                            : sx_section_file_read(&section, name, family);
    if (!status) *out = *family;
    free(family);
    return sx_error_place(status, (sx_place){name, 0, 0});
}

sx_status sx_family_parse(const char *name, const char *text, size_t size, sx_family *out) {
    return read_named(name, text, size, out);
}

/* The error for what is neither a family nor a file. */
static sx_status unknown_family(const char *name) {
    const char *names[N_FAMILIES];
    for (size_t i = 0; i < N_FAMILIES; i++) names[i] = families[i].name;
    sx_status error = sx_error_new(SX_ERR_USAGE, "there is no family and no file '%s'", name);
    const char *nearest = sx_text_nearest(name, names, N_FAMILIES);
    if (nearest) return sx_error_hint(error, "did you mean %s?", nearest);
    return sx_error_hint(error, "families: conv2d, gemm, mttkrp, or a file with a section 'family'");
}

sx_status sx_family_load(const char *name, sx_family *out) {
    for (size_t i = 0; i < N_FAMILIES; i++)
        if (strcmp(families[i].name, name) == 0)
            return sx_family_parse(name, families[i].text, strlen(families[i].text), out);
    struct stat info;
    if (stat(name, &info) != 0) return unknown_family(name);
    return read_named(name, NULL, 0, out);
}

sx_status sx_family_text(const sx_family *family, char **out) {
    char *einsum;
    sx_text text = {0};
    SX_TRY(sx_einsum_text(&family->problem, &einsum));
    sx_text_add(&text, "%.*s{", (int)strcspn(einsum, "{"), einsum);
    sx_free(einsum);
    for (int d = 0; d < family->problem.n_dims; d++) {
        const sx_family_dim *dim = &family->dim[d];
        sx_text_add(&text, "%s%s: ", d ? "; " : "", family->problem.dim_name[d]);
        if (dim->same_as >= 0) sx_text_add(&text, "%s", family->problem.dim_name[dim->same_as]);
        for (size_t i = 0; i < dim->n_parts; i++) {
            const sx_size_range *part = &dim->part[i];
            sx_text_add(&text, "%s%u", i ? ", " : "", part->low);
            if (part->high > part->low) sx_text_add(&text, "..%u", part->high);
            if (part->step > 1 && part->high > part->low) sx_text_add(&text, "/%u", part->step);
        }
    }
    sx_text_add(&text, "}");
    return sx_text_take(&text, out);
}

/* Size number `index` of a dimension. */
static uint32_t size_at(const sx_family_dim *dim, uint64_t index) {
    for (size_t i = 0; i < dim->n_parts; i++) {
        const sx_size_range *part = &dim->part[i];
        uint64_t n = (part->high - part->low) / part->step + 1;
        if (index < n) return part->low + (uint32_t)index * part->step;
        index -= n;
    }
    return 1;
}

void sx_family_draw(const sx_family *family, sx_rng *rng, sx_problem *out) {
    *out = family->problem;
    for (int d = 0; d < out->n_dims; d++) {
        const sx_family_dim *dim = &family->dim[d];
        out->size[d] =
            dim->same_as >= 0 ? out->size[dim->same_as] : size_at(dim, sx_rng_below(rng, dim->n_sizes));
    }
}
