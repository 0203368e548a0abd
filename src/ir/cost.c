#include "sextant/cost.h"

#include "base/status.h"

#include <stdio.h>

static const char *const reason_names[] = {
    [SX_LEGAL] = "legal",
    [SX_BAD_SHAPE] = "shape",
    [SX_FACTOR_PRODUCT] = "factors",
    [SX_CAPACITY] = "capacity",
    [SX_UNDERUSED] = "min-utilization",
    [SX_MESH_X] = "mesh-x",
    [SX_MESH_Y] = "mesh-y",
    [SX_INSTANCES] = "instances",
    [SX_NOT_KEPT] = "not-kept",
    [SX_KEEP_FORBIDDEN] = "keep-forbidden",
    [SX_COUNT_OVERFLOW] = "overflow",
    [SX_BOUND_EXCEEDED] = "bound",
    [SX_NO_MEMORY] = "memory",
    [SX_LIMIT_CHILDREN] = "limit-children",
    [SX_LIMIT_CLASSES] = "limit-classes",
    [SX_LIMIT_BLOCKS] = "limit-blocks",
    [SX_LIMIT_WORDS] = "limit-words",
    [SX_LIMIT_CYCLES] = "limit-cycles",
    [SX_METADATA_CAPACITY] = "metadata-capacity",
    [SX_FEW_RANKS] = "few-ranks",
    [SX_FORMATS_DIFFER] = "formats-differ",
    [SX_NO_DECOMPRESSION] = "no-decompression",
    [SX_NO_COMPRESSION] = "no-compression",
    [SX_UNCOMPRESSED_PARENT] = "uncompressed-parent",
    [SX_SPARSE_UNDEFINED] = "sparse-undefined",
};

const char *sx_reason_name(sx_reason reason) {
    return reason_names[reason];
}

/* The name of a verdict's level, which may be the compute units. */
static const char *level_name(const sx_verdict *verdict, const sx_arch *arch) {
    if (verdict->level < 0) return "";
    return verdict->level < arch->n_levels ? arch->level[verdict->level].name : arch->compute.name;
}

/* The words for a limit of the model. */
static void limit_text(const sx_verdict *verdict, const char *level, const char *tensor, char *text,
                       size_t size) {
    double have = verdict->have, limit = verdict->limit;
    if (verdict->reason == SX_LIMIT_CHILDREN)
        snprintf(text, size, "%s: multicast of %s to %.0f children cannot be counted, the limit is %.0f",
                 level, tensor, have, limit);
    else if (verdict->reason == SX_LIMIT_CYCLES)
        snprintf(text, size, "%s: its bandwidth makes the mapping take %.3g cycles, the limit is 2^64", level,
                 have);
    else if (verdict->reason == SX_LIMIT_WORDS)
        snprintf(text, size, "%s: counting the distinct words of %s takes %.0f marks, the limit is %.0f",
                 level, tensor, have, limit);
    else
        snprintf(text, size, "%s: remainders make %.0f different %s for %s, the limit is %.0f", level, have,
                 verdict->reason == SX_LIMIT_CLASSES ? "kinds of children" : "blocks of iterations", tensor,
                 limit);
}

/* What is wrong with formats, in words. */
static void sparse_text(const sx_verdict *verdict, const char *level, const char *tensor, char *text,
                        size_t size) {
    switch (verdict->reason) {
    case SX_METADATA_CAPACITY:
        snprintf(text, size, "%s: metadata of %.0f bits exceed its storage of %.0f by %.0f", level,
                 verdict->have, verdict->limit, verdict->have - verdict->limit);
        break;
    case SX_FEW_RANKS:
        snprintf(text, size, "%s: the mapping needs more ranks than the format of %s has", level, tensor);
        break;
    case SX_FORMATS_DIFFER:
        snprintf(text, size, "%s: the inner ranks of %s are not those of the next inner level that keeps it",
                 level, tensor);
        break;
    case SX_NO_DECOMPRESSION:
        snprintf(text, size, "%s: %s comes compressed, but the level cannot decompress", level, tensor);
        break;
    case SX_NO_COMPRESSION:
        snprintf(text, size, "%s: %s is compressed outside, but the level cannot compress", level, tensor);
        break;
    case SX_UNCOMPRESSED_PARENT:
        snprintf(text, size, "%s: %s is compressed, but the next outer level that keeps it is not", level,
                 tensor);
        break;
    default:
        if (verdict->tensor < 0)
            snprintf(text, size, "Timeloop's rules for sparse tensors need exactly two operands");
        else
            snprintf(text, size, "%s: Timeloop's rules for sparse tensors give no result for %s", level,
                     tensor);
        break;
    }
}

void sx_verdict_text(const sx_verdict *verdict, const sx_problem *problem, const sx_arch *arch, char *text,
                     size_t size) {
    const char *level = level_name(verdict, arch);
    const char *tensor = verdict->tensor >= 0 ? problem->tensor[verdict->tensor].name : "";
    const char *dim = verdict->dim >= 0 ? problem->dim_name[verdict->dim] : "";
    double have = verdict->have, limit = verdict->limit;
    bool on_x = verdict->reason == SX_MESH_X;
    switch (verdict->reason) {
    case SX_LEGAL:
        snprintf(text, size, "legal");
        break;
    case SX_BAD_SHAPE:
        snprintf(text, size, "the mapping was made for another problem or architecture");
        break;
    case SX_FACTOR_PRODUCT:
        snprintf(text, size, "the factors of dimension %s cover %.0f, but its size is %.0f", dim, have,
                 limit);
        break;
    case SX_CAPACITY:
        snprintf(text, size, "%s: tiles of %.0f words exceed its capacity of %.0f by %.0f%s%s", level, have,
                 limit, have - limit, *tensor ? "; the largest is of " : "", tensor);
        break;
    case SX_UNDERUSED:
        snprintf(text, size, "%s: tiles of %.0f words use less than the required minimum of %.0f", level,
                 have, limit);
        break;
    case SX_MESH_X:
    case SX_MESH_Y:
        snprintf(text, size, "%s: spatial loops spread over %.0f in %c, but its mesh is %.0f %s", level, have,
                 on_x ? 'X' : 'Y', limit, on_x ? "wide" : "high");
        break;
    case SX_INSTANCES:
        snprintf(text, size, "%s: spatial loops use %.0f instances, but there are %.0f", level, have, limit);
        break;
    case SX_NOT_KEPT:
        snprintf(text, size, "no level keeps %s", tensor);
        break;
    case SX_KEEP_FORBIDDEN:
        snprintf(text, size,
                 arch->level[verdict->level].transparent ? "%s is only a fan-out and cannot keep %s"
                                                         : "%s cannot keep %s",
                 level, tensor);
        break;
    case SX_COUNT_OVERFLOW:
        snprintf(text, size, "a count exceeds 2^62");
        break;
    case SX_BOUND_EXCEEDED:
        snprintf(text, size, "the given bound is exceeded");
        break;
    case SX_NO_MEMORY:
        snprintf(text, size, "out of memory");
        break;
    default:
        (verdict->reason > SX_NO_MEMORY ? limit_text : sparse_text)(verdict, level, tensor, text, size);
        break;
    }
}

sx_status sx_verdict_status(const sx_verdict *verdict, const sx_problem *problem, const sx_arch *arch) {
    if (verdict->reason < SX_NO_MEMORY) return SX_OK;
    if (verdict->reason == SX_NO_MEMORY) return sx_error_memory();
    const char *level = arch->level[verdict->level].name;
    char text[256];
    sx_verdict_text(verdict, problem, arch, text, sizeof text);
    sx_status error = sx_error_new(SX_ERR_LIMIT, "%s", text);
    if (verdict->reason == SX_LIMIT_CYCLES)
        return sx_error_hint(error, "bandwidths are in words per cycle: is that of %s in another unit?",
                             level);
    const char *tensor = problem->tensor[verdict->tensor].name;
    if (verdict->reason == SX_LIMIT_CHILDREN)
        return sx_error_hint(error, "use smaller spatial factors at %s", level);
    if (verdict->reason == SX_LIMIT_CLASSES)
        return sx_error_hint(error, "at %s, use spatial factors that divide the sizes of their dimensions",
                             level);
    return sx_error_hint(error, "use factors that divide the sizes of the dimensions that index %s", tensor);
}

sx_score sx_cost_score(const sx_cost *cost) {
    return (sx_score){
        .energy_pj = cost->energy_pj,
        .cycles = (double)cost->cycles,
        .utilization = cost->utilization,
        .last_level_accesses = cost->last_level_accesses,
        .latency = cost->latency,
    };
}
