#include "report/illegal.h"

#include "report/loops.h"
#include "report/table.h"

/* Adds the dimensions of a tensor that its tile at a level extends over, with how far; false where there are
 * none. */
static bool add_extents(const sx_evaluation *e, int level, int tensor, sx_text *out) {
    bool any = false;
    for (int d = 0; d < e->problem.n_dims; d++) {
        uint64_t extent = sx_mapping_extent(&e->mapping, level, d);
        if (extent == 1 || !sx_dim_indexes(&e->problem, tensor, d)) continue;
        sx_text_add(out, "%s%s (%s)", any ? ", " : "", e->problem.dim_name[d],
                    sx_show_count((double)extent).text);
        any = true;
    }
    return any;
}

static void cure_capacity(const sx_evaluation *e, sx_text *out) {
    int level = e->verdict.level, tensor = e->verdict.tensor;
    const char *name = sx_level_name(&e->arch, level);
    if (tensor < 0) {
        sx_text_add(out, "make factors at %s or inside it smaller, or let a tensor bypass it", name);
        return;
    }
    bool elsewhere = false;
    for (int s = level + 1; s < e->arch.n_levels; s++) elsewhere |= e->mapping.level[s].keep >> tensor & 1;
    sx_text_add(out, "move factors of ");
    if (!add_extents(e, level, tensor, out)) sx_text_add(out, "other tensors");
    sx_text_add(out, " from %s or inside it to a level outside", name);
    if (elsewhere) sx_text_add(out, ", or let %s bypass %s", e->problem.tensor[tensor].name, name);
}

/* Adds the spatial loops outside a level that lie on the given axes. */
static void add_spatial(const sx_evaluation *e, int level, bool x, bool y, sx_text *out) {
    sx_loop_line lines[SX_MAX_LOOP_LINES];
    int n = sx_loops_list(&e->mapping, &e->problem, lines);
    bool any = false;
    if (level == e->arch.n_levels) level = -1;
    for (int i = 0; i < n; i++) {
        bool wanted = lines[i].spatial && lines[i].level > level && (lines[i].on_y ? y : x);
        if (!wanted) continue;
        sx_text_add(out, "%s%s (%s) of %s", any ? ", " : "", e->problem.dim_name[lines[i].dim],
                    sx_show_count(lines[i].factor).text, e->arch.level[lines[i].level].name);
        any = true;
    }
}

static void cure_mesh(const sx_evaluation *e, bool x, bool y, sx_text *out) {
    sx_text_add(out, "make the spatial factors on %s smaller: ", x && y ? "X and Y" : x ? "X" : "Y");
    add_spatial(e, e->verdict.level, x, y, out);
    if (x != y) sx_text_add(out, "; or move one to %s by `split`", x ? "Y" : "X");
}

/* What helps where formats do not fit. */
static void cure_format(const sx_verdict *v, const char *level, const char *tensor, sx_text *out) {
    switch (v->reason) {
    case SX_METADATA_CAPACITY:
        sx_text_add(out, "make tiles at %s smaller, or give it a larger `metadata_storage_depth`", level);
        break;
    case SX_FEW_RANKS:
        sx_text_add(out, "give %s more ranks at %s, or ranks that flatten several loops", tensor, level);
        break;
    case SX_FORMATS_DIFFER:
        sx_text_add(out, "let the innermost ranks of %s at %s repeat those of the level inside", tensor,
                    level);
        break;
    case SX_NO_DECOMPRESSION:
    case SX_NO_COMPRESSION:
        sx_text_add(out, "give %s a compressed format for %s, or `%s_supported: true`", level, tensor,
                    v->reason == SX_NO_COMPRESSION ? "compression" : "decompression");
        break;
    case SX_UNCOMPRESSED_PARENT:
        sx_text_add(out, "compress %s at the level outside %s, too", tensor, level);
        break;
    case SX_SPARSE_UNDEFINED:
        sx_text_add(out, "leave out --sparse-semantics timeloop");
        break;
    default:
        break;
    }
}

void sx_illegal_cure(const sx_evaluation *e, sx_text *out) {
    const sx_verdict *v = &e->verdict;
    const char *level = v->level >= 0 ? sx_level_name(&e->arch, v->level) : "";
    const char *tensor = v->tensor >= 0 ? e->problem.tensor[v->tensor].name : "";
    const char *dim = v->dim >= 0 ? e->problem.dim_name[v->dim] : "";
    switch (v->reason) {
    case SX_CAPACITY:
        cure_capacity(e, out);
        break;
    case SX_UNDERUSED:
        sx_text_add(out, "make factors at %s or inside it larger, or keep more tensors there", level);
        break;
    case SX_MESH_X:
        cure_mesh(e, true, false, out);
        break;
    case SX_MESH_Y:
        cure_mesh(e, false, true, out);
        break;
    case SX_INSTANCES:
        cure_mesh(e, true, true, out);
        break;
    case SX_NOT_KEPT:
        sx_text_add(out, "add %s to `keep` at %s", tensor, sx_level_name(&e->arch, e->arch.n_levels - 1));
        break;
    case SX_KEEP_FORBIDDEN:
        sx_text_add(out, "list %s under `bypass` at %s", tensor, level);
        break;
    case SX_FACTOR_PRODUCT:
        sx_text_add(out, "choose factors of %s whose product over all levels is %u", dim,
                    v->dim >= 0 ? (unsigned)e->problem.size[v->dim] : 0);
        break;
    case SX_LEGAL:
    case SX_BAD_SHAPE:
    case SX_COUNT_OVERFLOW:
    case SX_BOUND_EXCEEDED:
    case SX_NO_MEMORY:
    case SX_LIMIT_CHILDREN:
    case SX_LIMIT_CLASSES:
    case SX_LIMIT_BLOCKS:
    case SX_LIMIT_WORDS:
    case SX_LIMIT_CYCLES:
        break;
    default:
        cure_format(v, level, tensor, out);
        break;
    }
}

void sx_illegal_print(const sx_evaluation *e, sx_text *out) {
    char sentence[512];
    sx_verdict_text(&e->verdict, &e->problem, &e->arch, sentence, sizeof sentence);
    sx_text_add(out, "illegal mapping: %s\n", sentence);
    sx_text cure = {0};
    sx_illegal_cure(e, &cure);
    if (cure.size) sx_text_add(out, "hint: %s\n", cure.data);
    out->failed |= cure.failed;
    sx_text_free(&cure);
}
