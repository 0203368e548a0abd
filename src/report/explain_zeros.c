/* Why zeros save accesses of a tensor at a level, or do not. */
#include "report/explain.h"

#include "ir/arch.h"
#include "report/figures.h"
#include "report/formats.h"
#include "report/loops.h"
#include "report/table.h"

#include <math.h>

/* What is known of a tensor's accesses at a level, words per instance. */
typedef struct zeros {
    const sx_evaluation *e;
    int level, tensor, child; /* child: the next inner level that keeps it; -1: compute units */
    const sx_cost_tensor *at;
    double dense, kind[SX_N_ACTION_KINDS];
} zeros;

static zeros zeros_of(const sx_evaluation *e, int level, int tensor) {
    const sx_cost_level *l = &e->cost.level[level];
    zeros z = {.e = e, .level = level, .tensor = tensor, .child = level - 1, .at = &l->tensor[tensor]};
    z.dense = (double)(z.at->reads + z.at->fills + z.at->updates) / (l->instances ? (double)l->instances : 1);
    for (int kind = 0; kind < SX_N_ACTION_KINDS; kind++)
        for (int a = 0; a < SX_N_ACCESSES; a++) z.kind[kind] += z.at->actions[kind][a];
    while (z.child >= 0 && !e->cost.level[z.child].tensor[tensor].kept) z.child--;
    return z;
}

double sx_dense_tile(const sx_evaluation *e, int level, int tensor) {
    if (level + 1 == e->cost.n_levels) return (double)sx_problem_words(&e->problem, tensor);
    return sx_box_words(&e->problem, &e->mapping, tensor, level, NULL);
}

static const char *name_of(const zeros *z, int tensor) {
    return z->e->problem.tensor[tensor].name;
}

/* Adds what the format leaves of accesses, in bits, and what a tile takes. */
static void add_compression(const zeros *z, const sx_tensor_format *format, sx_text *out) {
    const sx_evaluation *e = z->e;
    char name[SX_FORMAT_NAME_SIZE];
    double width = sx_element_bits(&e->arch.level[z->level], &e->problem.tensor[z->tensor]);
    double moved = z->kind[SX_RANDOM] + z->kind[SX_GATED] + z->kind[SX_SKIPPED];
    double exists = z->at->density > 0 ? moved / z->at->density : 0;
    double metadata = sx_metadata_traffic(&e->problem, &e->arch, &e->cost, z->level, z->tensor);
    double share = moved > 0 ? z->kind[SX_RANDOM] / moved : 1;
    double before = width * exists * share, after = width * z->kind[SX_RANDOM] + metadata;
    sx_format_name(&e->arch, format, name);
    sx_text_add(out,
                " Held as %s: of %s words that would be accessed %s are non-zeros, with %s bits of metadata.",
                name, sx_show_count(exists * share).text, sx_show_count(z->kind[SX_RANDOM]).text,
                sx_show_count(metadata).text);
    if (before > 0 && after <= before)
        sx_text_add(out, " That saves %s of the bits.", sx_show_percent(1 - after / before).text);
    else if (before > 0)
        sx_text_add(out, " That is %s more bits than uncompressed: the format costs more than it saves.",
                    sx_show_percent(after / before - 1).text);
    sx_text_add(out, " A tile takes at most %s words and %s bits of metadata instead of %s words.",
                sx_show_count((double)z->at->tile).text, sx_show_count((double)z->at->metadata_bits).text,
                sx_show_count(sx_dense_tile(e, z->level, z->tensor)).text);
}

/* Whether a loop makes the words larger on which a delivery depends: it indexes the condition and not the tensor. */
static bool widens_words(const zeros *z, int on, const sx_loop_line *line) {
    return !sx_dim_indexes(&z->e->problem, z->tensor, line->dim) &&
           sx_dim_indexes(&z->e->problem, on, line->dim);
}

/* Adds the loops that spread one delivery over many words of the condition; *n: how many there are. */
static void add_widening(const zeros *z, int on, bool spatial, int *n, sx_text *out) {
    sx_loop_line lines[SX_MAX_LOOP_LINES];
    bool moved = z->child < 0;
    int count = sx_loops_list(&z->e->mapping, &z->e->problem, lines);
    for (int i = count - 1; i >= 0; i--) {
        const sx_loop_line *line = &lines[i];
        if (line->level <= z->child || (line->spatial && line->level > z->level)) continue;
        if (!line->spatial) moved |= sx_dim_indexes(&z->e->problem, z->tensor, line->dim);
        if (line->spatial != spatial || !widens_words(z, on, line) || (!spatial && moved)) continue;
        sx_text_add(out, "%s%s (%s) of %s", (*n)++ ? ", " : "", z->e->problem.dim_name[line->dim],
                    sx_show_count(line->factor).text, sx_level_name(&z->e->arch, line->level));
    }
}

/* Adds why the condition tensor's words are many. */
static void add_cause(const zeros *z, int on, sx_text *out) {
    const char *condition = name_of(z, on);
    sx_text loops = {0};
    int n = 0;
    add_widening(z, on, true, &n, &loops);
    if (n)
        sx_text_add(
            out,
            " The spatial loop%s %s hand%s the same word of %s to units that use other words of %s: all of "
            "them must be zeros.",
            n > 1 ? "s" : "", loops.data, n > 1 ? "" : "s", name_of(z, z->tensor), condition);
    sx_text_free(&loops);
    n = 0;
    add_widening(z, on, false, &n, &loops);
    if (n)
        sx_text_add(out, " What is delivered stays while %s run%s, with other words of %s.", loops.data,
                    n > 1 ? "" : "s", condition);
    sx_text_free(&loops);
    double tile = z->child >= 0 ? sx_box_words(&z->e->problem, &z->e->mapping, on, z->child, NULL) : 1;
    if (tile > 1)
        sx_text_add(out, " A tile of %s alone meets %s words of %s.", sx_level_name(&z->e->arch, z->child),
                    sx_show_count(tile).text, condition);
    const sx_storage *level = &z->e->arch.level[z->level];
    double bits = sx_element_bits(level, &z->e->problem.tensor[z->tensor]);
    double block = floor((double)level->block_size * level->word_bits / bits);
    if (block > 1 && z->child < 0)
        sx_text_add(out, " An access delivers a block of %s words, which must all be ineffectual.",
                    sx_show_count(block).text);
}

/* Adds one condition of the level's action. */
static void add_condition(const zeros *z, int on, bool skips, sx_text *out) {
    uint64_t words = z->at->condition_words[on];
    double empty = z->at->condition_empty[on];
    const char *condition = name_of(z, on), *verb = skips ? "Skipping" : "Gating";
    if (empty <= 0 && words == 1)
        sx_text_add(out, " %s on %s has no effect: it has no zeros.", verb, condition);
    else if (empty <= 0)
        sx_text_add(
            out, " %s on %s has no effect: the %s words of it that an access depends on are never all zeros.",
            verb, condition, sx_show_count((double)words).text);
    else if (words == 1)
        sx_text_add(out, " %s on %s: an access depends on one word of it, a zero with probability %s.", verb,
                    condition, sx_show_percent(empty).text);
    else
        sx_text_add(out, " %s on %s: an access depends on %s words of it, all zeros with probability %s.",
                    verb, condition, sx_show_count((double)words).text, sx_show_percent(empty).text);
    if (words > 1) add_cause(z, on, out);
}

/* Adds what the level's action leaves, in all. */
static void add_action(const zeros *z, sx_text *out) {
    double all = z->kind[SX_RANDOM] + z->kind[SX_GATED] + z->kind[SX_SKIPPED];
    double gone = z->kind[SX_GATED] + z->kind[SX_SKIPPED];
    if (gone <= 0 || all <= 0) return;
    sx_text_add(out, " In all %s of %s accesses are %s (%s).", sx_show_count(gone).text,
                sx_show_count(all).text, z->kind[SX_SKIPPED] > 0 ? "skipped" : "gated",
                sx_show_percent(gone / all).text);
}

/* Adds what actions of outer levels have removed before. */
static void add_before(const zeros *z, const sx_tensor_format *format, sx_text *out) {
    double all = z->kind[SX_RANDOM] + z->kind[SX_GATED] + z->kind[SX_SKIPPED];
    double density = format ? z->at->density : 1, share = z->dense > 0 ? all / density / z->dense : 1;
    if (share < 1 - 1e-9)
        sx_text_add(out, " Outer levels have removed %s of its accesses before.",
                    sx_show_percent(1 - share).text);
}

void sx_explain_zeros(const sx_evaluation *e, int level, int tensor, sx_text *out) {
    zeros z = zeros_of(e, level, tensor);
    const sx_tensor_format *format = sx_format_of(&e->arch, &e->problem, level, tensor);
    add_before(&z, format, out);
    if (format) add_compression(&z, format, out);
    bool skips = z.kind[SX_GATED] <= 0;
    for (int on = 0; on < e->cost.n_tensors; on++)
        if (z.at->condition_words[on]) add_condition(&z, on, skips, out);
    add_action(&z, out);
}
